/**
 * Expressions. `lowerExpression` is the entry: it reads an expression and, where tree-sitter took a cast for an operator or a
 * comparison for template arguments, parses the text again with that place spelled differently of the same length.
 */
import type { Span } from '../source/types.js';
import { charLiteral, numberLiteral, stringLiteral, STRING_TYPE, type LiteralValue } from './lower-literal.js';
import { childOfType, fieldChild, holdsError, namedChildren, type Cst } from './cst.js';
import { checkpoint, MAX_CHAIN, MAX_DEPTH, NeedsPatch, type Lowering, type Patch } from './context.js';
import { comesApart, looseMacro, singleOperand, templateOperand } from './loose-macro.js';
import { lowerBinaryChain, lowerIndex, lowerAssignment, lowerUnary, lowerUpdate } from './lower-operator.js';
import { lowerCall } from './lower-call.js';
import { lowerComma } from './lower-comma.js';
import { lowerIdentifier, lowerMember, lowerQualified, lowerTemplateName } from './lower-name.js';
import { lowerLambda } from './lower-lambda.js';
import { lowerDelete, lowerNew, lowerPacked, lowerUserLiteral } from './lower-partly.js';
import { descriptorType, lowerType, namesType } from './lower-type.js';
import type { Expr, LiteralExpr, RecordDecl, TemplateArgument, Type } from './tree.js';
import { BOOL, UNKNOWN, ULONG, VOID, arithmeticType, decay, dependentType, isArithmetic, pointerTo, referenceCast, sameType, stripReference, unqualified } from './types.js';

/** An expression by itself: condition, initialiser, statement. */
export function lowerExpression(ctx: Lowering, node: Cst): Expr {
  return rooted(ctx, node, readExpression) ?? ctx.opaque(node, 'ambiguous expression');
}

function readExpression(root: Cst, ctx: Lowering): Expr {
  return expression(ctx, root);
}

/** Reads a node; if a place in it needs another reading, patches the text, parses it again and starts over. Null if that fails. */
export function rooted<T>(ctx: Lowering, node: Cst, read: (root: Cst, ctx: Lowering) => T): T | null {
  const undo = checkpoint(ctx.unit);
  const { depth, scope, override, text, original, notes, patches: outer } = ctx;
  let root = node;
  let patches: readonly Patch[] = outer;
  for (let attempt = 0; ; attempt++) {
    try {
      ctx.patches = patches;
      return read(root, ctx);
    } catch (error) {
      if (!(error instanceof NeedsPatch)) throw error;
      undo();
      Object.assign(ctx, { depth, scope, override, text, original, notes });
      if (attempt >= 8) return null;
      patches = [...patches, error.patch];
      const parsed = again(ctx, node, patched(text.slice(node.start, node.end), node.start, patches));
      if (parsed === null) return null;
      root = parsed;
    } finally {
      ctx.patches = outer;
    }
  }
}

function again(ctx: Lowering, node: Cst, text: string): Cst | null {
  const { snippets } = ctx.unit;
  if (node.type === 'argument_list') {
    const call = snippets.slice(text, node.start, 'f', '');
    return call === null ? null : fieldChild(call, 'arguments');
  }
  if (node.type === 'initializer_list') {
    const literal = snippets.slice(text, node.start, 'T', '');
    return literal === null ? null : fieldChild(literal, 'value');
  }
  return snippets.slice(text, node.start, '', '');
}

function patched(text: string, start: number, patches: readonly Patch[]): string {
  let result = text;
  for (const patch of patches) {
    const at = patch.at - start;
    if (at < 0 || at + patch.length > result.length) continue;
    result = result.slice(0, at) + patch.replacement.padEnd(patch.length) + result.slice(at + patch.length);
  }
  return result;
}

/** An expression inside another one. */
export function expression(ctx: Lowering, node: Cst): Expr {
  if (ctx.depth > MAX_DEPTH) return ctx.opaque(node, ctx.leftOut(node, 'nested too deeply'));
  ctx.depth++;
  const result = dispatch(ctx, node);
  ctx.depth--;
  return result;
}

function dispatch(ctx: Lowering, node: Cst): Expr {
  if (node.missing) return ctx.opaque(node, 'missing expression');
  // What the parser's recovery left beside the operands is a part of the expression that nobody reads.
  if (node.error && holdsError(node)) return ctx.opaque(node, 'syntax error');
  switch (node.type) {
    case 'identifier': case 'type_identifier': case 'field_identifier': case 'namespace_identifier': return lowerIdentifier(ctx, node);
    case 'primitive_type': return lowerIdentifier(ctx, node);
    case 'number_literal': case 'char_literal': case 'string_literal': case 'raw_string_literal': case 'concatenated_string':
    case 'true': case 'false': case 'null': case 'user_defined_literal':
      return lowerLiteral(ctx, node);
    case 'this': return lowerThis(ctx, node);
    case 'parenthesized_expression': return lowerParen(ctx, node);
    case 'binary_expression': return lowerBinaryChain(ctx, node, MAX_CHAIN);
    case 'comma_expression': return lowerComma(ctx, node);
    case 'unary_expression': case 'pointer_expression': return lowerUnary(ctx, node);
    case 'update_expression': return lowerUpdate(ctx, node);
    case 'assignment_expression': return lowerAssignment(ctx, node);
    case 'conditional_expression': return lowerConditional(ctx, node);
    case 'call_expression': return lowerCall(ctx, node);
    case 'subscript_expression': return lowerIndex(ctx, node);
    case 'field_expression': return lowerMember(ctx, node);
    case 'cast_expression': return lowerCast(ctx, node);
    case 'compound_literal_expression': return lowerCompoundLiteral(ctx, node);
    case 'initializer_list': return lowerInitList(ctx, node, UNKNOWN);
    case 'sizeof_expression': case 'alignof_expression': return lowerSizeof(ctx, node);
    case 'lambda_expression': return lowerLambda(ctx, node);
    case 'qualified_identifier': return lowerQualified(ctx, node);
    case 'template_function': case 'template_type': return lowerTemplateName(ctx, node);
    case 'type_descriptor': return lowerDescriptorValue(ctx, node);
    case 'extension_expression': {
      const inner = namedChildren(node)[0];
      return inner === undefined ? ctx.opaque(node, 'empty expression') : expression(ctx, inner);
    }
    case 'new_expression': return lowerNew(ctx, node);
    case 'delete_expression': return lowerDelete(ctx, node);
    case 'fold_expression': case 'parameter_pack_expansion': return lowerPacked(ctx, node);
    case 'ERROR': return ctx.opaque(node, 'syntax error');
    default: return ctx.opaque(node, node.type.replaceAll('_', ' '));
  }
}

/** A value in a template argument that tree-sitter took for a type. */
function lowerDescriptorValue(ctx: Lowering, node: Cst): Expr {
  const inner = fieldChild(node, 'type');
  if (inner === null || fieldChild(node, 'declarator') !== null) return ctx.opaque(node, 'type as expression');
  return expression(ctx, inner);
}

/** All of one shape, wherever the value comes from. */
function literal(span: Span, { value, type }: LiteralValue): LiteralExpr {
  return { kind: 'literal', span, value, type };
}

/** The other reading that was found for this very place, if any. */
export function patchAt(ctx: Lowering, at: number, kind: Patch['meaning']['kind']): Patch | undefined {
  return ctx.patches.length === 0 ? undefined : ctx.patches.find((patch) => patch.at === at && patch.meaning.kind === kind);
}

function lowerLiteral(ctx: Lowering, node: Cst): Expr {
  const text = ctx.slice(node);
  const patch = patchAt(ctx, node.start, 'value');
  if (patch?.meaning.kind === 'value') return patch.meaning.value;
  switch (node.type) {
    case 'number_literal': {
      // The grammar's numbers may carry a sign.
      if (text.startsWith('-') || text.startsWith('+')) return signedNumber(ctx, node, text);
      const number = numberLiteral(text);
      return number === null ? ctx.opaque(node, 'number literal') : literal(ctx.span(node), number);
    }
    case 'char_literal': {
      const char = charLiteral(text, ctx.unit.source.encoding);
      return char === null ? ctx.opaque(node, 'character literal') : literal(ctx.span(node), char);
    }
    case 'true': case 'false': return literal(ctx.span(node), { value: node.type === 'true', type: BOOL });
    case 'null': return literal(ctx.span(node), { value: null, type: pointerTo(VOID) });
    case 'concatenated_string': {
      const pieces = namedChildren(node);
      if (pieces.some((piece) => !piece.type.endsWith('string_literal'))) return ctx.opaque(node, 'string with macros', STRING_TYPE);
      return string(ctx, node, pieces.map((piece) => ctx.slice(piece)));
    }
    case 'user_defined_literal': {
      const number = numberLiteral(text);
      return number === null ? lowerUserLiteral(ctx, node) : literal(ctx.span(node), number);
    }
    default: return string(ctx, node, [text]);
  }
}

function string(ctx: Lowering, node: Cst, spellings: readonly string[]): Expr {
  const made = stringLiteral(spellings, ctx.unit.source.encoding);
  return made === null ? ctx.opaque(node, 'string literal', STRING_TYPE) : literal(ctx.span(node), made);
}

function signedNumber(ctx: Lowering, node: Cst, text: string): Expr {
  const number = numberLiteral(text.slice(1).trimStart());
  if (number === null) return ctx.opaque(node, 'number literal');
  const digits = node.end - text.slice(1).trimStart().length;
  const operand = literal(ctx.spanBetween(digits, node.end), number);
  return { kind: 'unary', op: text.startsWith('-') ? '-' : '+', span: ctx.span(node), operand, type: number.type };
}

export function thisType(ctx: Lowering): Type {
  for (let scope: typeof ctx.scope | null = ctx.scope; scope !== null; scope = scope.parent) {
    if (scope.kind === 'record' && scope.record !== null) return pointerTo({ kind: 'record', decl: scope.record });
  }
  return UNKNOWN;
}

function lowerThis(ctx: Lowering, node: Cst): Expr {
  return { kind: 'this', span: ctx.span(node), type: thisType(ctx) };
}

function lowerParen(ctx: Lowering, node: Cst): Expr {
  const [only] = namedChildren(node);
  if (only !== undefined && only.type !== 'parenthesized_expression' && only.type !== 'compound_statement' && ctx.depth < MAX_DEPTH) {
    const inside = expression(ctx, only);
    return { kind: 'paren', span: ctx.span(node), type: inside.type, inner: inside };
  }
  // Chains of parentheses are unwrapped in a loop; each level stays a node up to the depth that others can bear.
  const levels: Cst[] = [];
  let inner: Cst | undefined = node;
  while (inner?.type === 'parenthesized_expression') {
    levels.push(inner);
    inner = namedChildren(inner)[0];
  }
  if (inner === undefined) return ctx.opaque(node, 'empty parentheses');
  if (inner.type === 'compound_statement') return ctx.opaque(node, 'statement expression');
  if (levels.length + ctx.depth > MAX_DEPTH) return ctx.opaque(node, ctx.leftOut(node, 'nested too deeply'));
  let result = expression(ctx, inner);
  for (let i = levels.length - 1; i >= 0; i--) {
    const level = levels[i];
    if (level !== undefined) result = { kind: 'paren', span: ctx.span(level), type: result.type, inner: result };
  }
  return result;
}

function lowerConditional(ctx: Lowering, node: Cst): Expr {
  const condition = fieldChild(node, 'condition');
  const then = fieldChild(node, 'consequence');
  const otherwise = fieldChild(node, 'alternative');
  if (condition === null || then === null || otherwise === null) return ctx.opaque(node, 'conditional without arms');
  const test = expression(ctx, condition);
  const loose = looseMacro(test, 'condition');
  if (loose !== null) return comesApart(ctx, node, loose);
  if (ctx.fn !== null) ctx.fn.conditions++;
  const yes = expression(ctx, then);
  const no = expression(ctx, otherwise);
  if (ctx.fn !== null) ctx.fn.conditions--;
  return { kind: 'conditional', span: ctx.span(node), type: commonType(yes, no), condition: test, then: yes, else: no };
}

function commonType(yes: Expr, no: Expr): Type {
  if (sameType(yes.type, no.type)) return yes.type;
  if (isArithmetic(yes.type) && isArithmetic(no.type)) return arithmeticType(yes.type, no.type);
  const a = decay(yes.type);
  const b = decay(no.type);
  // What two types have in common only an instance tells.
  if (a.kind === 'dependent' || b.kind === 'dependent') return dependentType(null, '');
  if (a.kind === 'pointer') return b.kind === 'pointer' && a.to.kind === 'void' ? b : a;
  if (b.kind === 'pointer') return b;
  return sameType(a, b) ? a : UNKNOWN;
}

function lowerCast(ctx: Lowering, node: Cst): Expr {
  const typeNode = fieldChild(node, 'type');
  const value = fieldChild(node, 'value');
  if (typeNode === null || value === null) return ctx.opaque(node, 'cast');
  const named = valueInParentheses(ctx, node, typeNode, value);
  if (named !== null) throw new NeedsPatch({ at: node.start, length: value.start - node.start, replacement: '1', meaning: { kind: 'value', value: named } });
  const type = descriptorType(ctx, typeNode);
  const operand = expression(ctx, value);
  const loose = looseMacro(operand, 'unary');
  return loose !== null ? comesApart(ctx, node, loose) : { kind: 'cast', style: 'c', span: ctx.span(node), type: stripReference(type), operand, ...referenceCast(type) };
}

/** `(S::constant) + n` and `(float)(lane) + (w)` read as casts of `+n` and `+(w)`: the value in the parentheses, or null if it is a type indeed. */
function valueInParentheses(ctx: Lowering, node: Cst, typeNode: Cst, operand: Cst): Expr | null {
  if (operand.type !== 'unary_expression' && operand.type !== 'pointer_expression' && operand.type !== 'number_literal') return null;
  const name = fieldChild(typeNode, 'type');
  if ((name?.type !== 'qualified_identifier' && name?.type !== 'type_identifier') || typeNode.children.length !== 1 || isTypeName(ctx, name)) return null;
  const value = expression(ctx, name);
  if (value.kind !== 'ref' || value.decl === null) return null;
  const close = node.children.find((child) => child.type === ')');
  return { kind: 'paren', span: ctx.spanBetween(node.start, close?.end ?? name.end), type: value.type, inner: value };
}

function lowerCompoundLiteral(ctx: Lowering, node: Cst): Expr {
  const typeNode = fieldChild(node, 'type');
  const list = fieldChild(node, 'value');
  if (typeNode === null || list === null) return ctx.opaque(node, 'compound literal');
  const type = typeNode.type === 'type_descriptor' ? descriptorType(ctx, typeNode) : lowerType(ctx, typeNode);
  return { kind: 'construct', style: 'brace', span: ctx.span(node), type, arguments: namedChildren(list).map((child) => singleOperand(ctx, child, expression(ctx, child))) };
}

/** `{ a, b }` that initialises something of a known type. */
export function lowerInitList(ctx: Lowering, node: Cst, type: Type): Expr {
  if (ctx.depth > MAX_DEPTH) return ctx.opaque(node, ctx.leftOut(node, 'nested too deeply'));
  if (node.pending >= 0) return ctx.opaque(node, 'long initialiser', type);
  const target = unqualified(stripReference(type));
  const elements: Expr[] = [];
  ctx.depth++;
  for (const child of namedChildren(node)) {
    if (child.type === 'initializer_pair') {
      ctx.depth--;
      return ctx.opaque(node, 'designated initialiser', type);
    }
    const element = target.kind === 'array' ? target.of : target.kind === 'record' ? partAt(target.decl, elements.length) : UNKNOWN;
    elements.push(child.type === 'initializer_list' ? lowerInitList(ctx, child, element) : singleOperand(ctx, child, expression(ctx, child)));
  }
  ctx.depth--;
  return { kind: 'init-list', span: ctx.span(node), type: target, elements };
}

/** What an aggregate holds in its n-th place: bases come before members, `static` members are none. */
function partAt(record: RecordDecl, position: number): Type {
  return record.bases[position] ?? record.fields.filter((field) => field.storage === 'member')[position - record.bases.length]?.type ?? UNKNOWN;
}

function lowerSizeof(ctx: Lowering, node: Cst): Expr {
  const alignof = node.type === 'alignof_expression';
  const span = ctx.span(node);
  const typeNode = fieldChild(node, 'type') ?? childOfType(node, 'type_descriptor');
  if (typeNode !== null) {
    const inner = fieldChild(typeNode, 'type');
    if (inner?.type === 'type_identifier' && fieldChild(typeNode, 'declarator') === null && !namesType(ctx, ctx.slice(inner))) {
      const value = expression(ctx, inner);
      if (value.kind !== 'ref' || value.decl !== null) return { kind: 'sizeof', span, type: ULONG, operand: value, of: null, alignof };
    }
    return { kind: 'sizeof', span, type: ULONG, operand: null, of: descriptorType(ctx, typeNode), alignof };
  }
  const value = fieldChild(node, 'value') ?? namedChildren(node)[0] ?? null;
  if (value === null) return ctx.opaque(node, 'sizeof', ULONG);
  const bare = value.type === 'parenthesized_expression' ? namedChildren(value)[0] : undefined;
  if (bare !== undefined && isTypeName(ctx, bare)) return { kind: 'sizeof', span, type: ULONG, operand: null, of: lowerType(ctx, bare), alignof };
  return { kind: 'sizeof', span, type: ULONG, operand: expression(ctx, value), of: null, alignof };
}

/** Whether a node that was parsed as an expression names a type where lowering stands. */
export function isTypeName(ctx: Lowering, node: Cst): boolean {
  switch (node.type) {
    case 'identifier': case 'type_identifier': return namesType(ctx, ctx.slice(node));
    case 'primitive_type': case 'sized_type_specifier': case 'template_type': return true;
    case 'template_function': {
      const name = fieldChild(node, 'name');
      return name !== null && ctx.unit.lookup.lookup(ctx.scope, ctx.slice(name))?.kind === 'type';
    }
    case 'qualified_identifier': {
      const type = lowerType(ctx, node);
      return type.kind !== 'unknown' && type.kind !== 'dependent';
    }
    default: return false;
  }
}

/** `<int, 3, N>`; an empty list gives an empty array, no list gives an empty array too. */
export function templateArguments(ctx: Lowering, list: Cst | null): TemplateArgument[] {
  if (list === null) return [];
  return namedChildren(list).map((child) => templateArgument(ctx, child));
}

function templateArgument(ctx: Lowering, node: Cst): TemplateArgument {
  if (node.type === 'type_descriptor') {
    const inner = fieldChild(node, 'type');
    const plain = inner !== null && fieldChild(node, 'declarator') === null && node.children.length === 1;
    if (plain && (inner.type === 'type_identifier' || inner.type === 'qualified_identifier') && !isTypeName(ctx, inner)) {
      const value = templateOperand(ctx, inner, expression(ctx, inner));
      if (value.kind !== 'ref' || value.decl !== null) return { kind: 'value', value };
    }
    return { kind: 'type', type: descriptorType(ctx, node) };
  }
  if (isTypeName(ctx, node)) return { kind: 'type', type: lowerType(ctx, node) };
  // It may stand in a type, with no expression around it that could be read again.
  return { kind: 'value', value: templateOperand(ctx, node, lowerExpression(ctx, node)) };
}

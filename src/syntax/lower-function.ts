/** Functions: heads with their CUDA qualifiers and bounds, bodies, what was not understood in them. */
import { endsInReturns, IN_RETURNS } from '../source/index.js';
import type { OverlayNote, Span } from '../source/types.js';
import { splitArguments } from '../source/condition.js';
import { childOfType, fieldChild, namedChildren, type Cst } from './cst.js';
import type { FunctionState, Lowering, UnitState } from './context.js';
import { FunctionNode } from './function-node.js';
import { lowerExpression, rooted, templateArguments } from './lower-expression.js';
import { lowerArguments } from './lower-call.js';
import { lostAssignment } from './lower-comma.js';
import { descriptorType, lowerDeclarator, lowerSpecifiers, qualifiedName, type Declarator, type Specifiers } from './lower-type.js';
import { includeIn, unreadBody } from './lower-include.js';
import { brokenWordIn } from './broken-words.js';
import { doubtBody, duringDoubts, tellDoubts } from './lower-doubt.js';
import { lowerCompound } from './lower-statement.js';
import { Scope, memberScope } from './scope.js';
import type { Expr, FunctionDecl, MemberInitialiser, RecordDecl, TemplateArgument, TemplateParameterDecl, Type } from './tree.js';
import { VOID } from './types.js';

export interface FunctionPlace {
  /** Where the text before the function ended. */
  readonly before: number;
  readonly template: readonly TemplateParameterDecl[] | null;
  /** The template declaration around it. */
  readonly head?: Cst;
  /** The scope that gets the name, if it is not the current one (template parameters have one of their own). */
  readonly declareIn?: Scope;
}

/** A `function_definition`, or a `declaration` that declares a function. */
export function lowerFunction(ctx: Lowering, node: Cst, place: FunctionPlace | null): FunctionDecl | null {
  const declaratorNode = fieldChild(node, 'declarator');
  if (declaratorNode === null) return null;
  const where = place ?? { before: node.start, template: null };
  const declareIn = where.declareIn ?? ctx.scope;
  return ctx.inScope(new Scope('function', ownerScope(ctx, declaratorNode) ?? ctx.scope, '', null), () => {
    const specifiers = lowerSpecifiers(ctx, node);
    const declarator = lowerDeclarator(ctx, specifiers.type, declaratorNode);
    if (declarator.functionNode === null && declaratorNode.type !== 'operator_cast') return null;
    return declareFunction(ctx, node, fieldChild(node, 'body'), specifiers, declarator, where.before, where, declareIn);
  });
}

/** For `void S::f()`: the members of `S` are in scope from the parameters on. */
function ownerScope(ctx: Lowering, declarator: Cst): Scope | null {
  let node: Cst | null = declarator;
  while (node !== null && node.type !== 'qualified_identifier') {
    node = fieldChild(node, 'declarator') ?? (node.type === 'reference_declarator' || node.type === 'parenthesized_declarator' ? namedChildren(node)[0] ?? null : null);
  }
  if (node === null) return null;
  const { prefix } = qualifiedName(ctx, node);
  if (prefix.kind === 'record') return layered(memberScope(prefix.record), ctx.scope);
  if (prefix.kind === 'namespace') return layered(ctx.unit.names.space(prefix.path), ctx.scope);
  return null;
}

/** The owner's names, with the template parameters of the definition (which have their own names there) above them. */
function layered(owner: Scope | null, current: Scope): Scope | null {
  if (owner === null || current.kind !== 'template') return owner;
  const scope = new Scope('template', owner, '', null);
  for (const decl of [...current.types.values(), ...current.values.values()]) scope.declare(decl);
  return scope;
}

function headNotes(ctx: Lowering, start: number, end: number): OverlayNote[] {
  return ctx.notesBetween(start, end).filter((note) => note.kind === 'qualifier' || note.kind === 'bounds' || note.kind === 'macro');
}

/** Makes the declaration and queues the body. `ctx.scope` is the function's own scope if `place` is given. */
export function declareFunction(
  ctx: Lowering, node: Cst, body: Cst | null, specifiers: Specifiers, declarator: Declarator, before: number, place: FunctionPlace | null, declareIn: Scope = ctx.scope,
): FunctionDecl {
  const { nameNode, functionNode } = declarator;
  const scope = place === null ? new Scope('function', ctx.scope, '', null) : ctx.scope;
  const outerNode = place?.head ?? node;
  const headEnd = body?.start ?? node.end;
  const notes = headNotes(ctx, Math.min(before, outerNode.start), headEnd);
  const noted = new Set<string>();
  const said = (word: string): boolean => specifiers.words.has(word) || specifiers.attributes.has(word) || noted.has(word);
  const bounds: { name: string; arguments: Expr[] }[] = [];
  for (const note of notes) {
    if (note.kind === 'qualifier') noted.add(note.name);
    else if (note.kind === 'bounds') bounds.push({ name: note.name, arguments: ctx.inScope(scope, () => boundArguments(ctx, note.argumentsSpan.start, note.argumentsSpan.end)) });
    else if (note.kind === 'macro') {
      for (const meaning of note.standsFor) {
        if (meaning.argument === null) noted.add(meaning.name);
        else bounds.push({ name: meaning.name, arguments: ctx.inScope(scope, () => meaningArguments(ctx, node, meaning.argument ?? '')) });
      }
    }
  }
  const { name, owner, specialises, nameAt } = nameOf(ctx, node, nameNode, declareIn);
  const start = Math.min(outerNode.start, notes[0]?.span.start ?? outerNode.start);
  const type = declarator.type;
  const inline = said('inline') || said('__inline__') || said('forceinline');
  const decl = new FunctionNode({
    name, span: ctx.spanBetween(start, node.end), nameSpan: ctx.span(nameAt), file: ctx.unit.file,
    qualifiers: {
      global: said('global'), device: said('device'), host: said('host') || !(said('global') || said('device')),
      constexpr: said('constexpr'), static: said('static'), inline, extern: said('extern'),
    },
    parameters: declarator.parameters,
    returns: functionNode === null ? conversionType(ctx, node) ?? specifiers.type : type.kind === 'function' ? type.returns : VOID,
    template: place?.template ?? null, specialises, owner, bounds, headSpan: ctx.spanBetween(start, headEnd),
    directives: directivesIn(ctx.unit, start, node.end), inactive: inactiveIn(ctx, start, node.end),
  });
  if (owner === null || declareIn.kind === 'record') declareIn.declare(decl);
  else memberScope(owner)?.declare(decl);
  ctx.unit.functions.push(decl);
  if (name.startsWith('operator')) ctx.unit.names.operators.push(decl);
  if (owner !== null) ctx.unit.names.methods.add(name);
  if (childOfType(node, 'default_method_clause') !== null) decl.defaulted = true;
  if (said('virtual') || (functionNode !== null && childOfType(functionNode, 'virtual_specifier') !== null)) decl.virtual = true;
  if (isConstMethod(ctx, functionNode ?? nameNode)) decl.constant = true;
  if (body === null) {
    if (node.error && decl.qualifiers.global) {
      // What follows the head did not parse as a body: the kernel is known by its name only.
      decl.understood = false;
      decl.problems.push({ line: ctx.unit.source.line(ctx.span(node).start), message: 'the body was not understood' });
      ctx.unit.kernels.push(decl);
    }
    return decl;
  }
  decl.define({ names: ctx.unit.lookup, scope });
  if (decl.qualifiers.global) ctx.unit.kernels.push(decl);
  for (const parameter of decl.parameters) scope.declare(parameter);
  const later = ctx.later();
  later.scope = scope;
  ctx.unit.bodies.push({ decl, body, lower: () => duringDoubts(ctx.unit, decl.span, () => lowerBodyOf(later, node, body, decl)) });
  return decl;
}

function lowerBodyOf(ctx: Lowering, node: Cst, body: Cst, decl: FunctionNode): void {
  if (body.type !== 'compound_statement' || body.pending >= 0) return;
  const state: FunctionState = { decl, problems: decl.problems, loops: 0, conditions: 0 };
  ctx.fn = state;
  const broken = node.error || body.error;
  if (broken) {
    decl.understood = false;
    // The function does not know of errors in a body that was parsed by itself.
    reportErrors(ctx, node.error ? node : body);
  }
  const list = childOfType(node, 'field_initializer_list');
  if (list !== null) decl.initialisers = memberInitialisers(ctx, list);
  if (doubtBody(ctx, body, decl)) return;
  const wordAt = ctx.override === null ? brokenWordIn(ctx.unit.source, decl.span.start, body.end) : null;
  if (wordAt !== null) {
    decl.understood = false;
    decl.problems.push({ line: ctx.unit.source.line(wordAt), message: 'not understood: a line that ends in a backslash in the middle of a word (write the word on one line)' });
    decl.body = { kind: 'compound', span: ctx.span(body), body: [ctx.opaqueStmt(body, 'a word on two lines')] };
    return;
  }
  decl.body = lowerCompound(ctx, body);
  if (!broken && includeIn(ctx, body.start, body.end)) unreadBody(ctx, body, decl);
  tellDoubts(ctx, decl);
  if (state.misread) decl.understood = false;
  if (endsInReturns(ctx.unit.source)) {
    decl.understood = false;
    decl.problems.push({ line: 1, message: IN_RETURNS });
  }
  if (!broken && lostAssignment(ctx.notesBetween(body.start, body.end))) {
    decl.understood = false;
    ctx.problem(body, 'not understood: an assignment between parentheses');
  }
}

/** What `operator T*()` converts to; null if the node is no conversion function. */
/** `const` behind the parameters; those of a conversion function stand below its name. */
function isConstMethod(ctx: Lowering, node: Cst | null): boolean {
  const list = node?.type === 'operator_cast' ? fieldChild(node, 'declarator') : node;
  return list?.children.some((child) => child.type === 'type_qualifier' && ctx.slice(child) === 'const') ?? false;
}

function conversionType(ctx: Lowering, node: Cst): Type | null {
  const cast = childOfType(node, 'operator_cast');
  if (cast === null) return null;
  const type = descriptorType(ctx, cast);
  return type.kind === 'function' ? type.returns : type;
}

function memberInitialisers(ctx: Lowering, list: Cst): MemberInitialiser[] {
  return namedChildren(list).flatMap((node) => {
    const values = node.children.find((child) => child.type === 'argument_list' || child.type === 'initializer_list');
    const nameNode = namedChildren(node)[0];
    if (node.type !== 'field_initializer' || values === undefined || nameNode === undefined) return [];
    const last = nameNode.type === 'qualified_identifier' ? qualifiedName(ctx, nameNode).last : nameNode;
    return [{
      name: ctx.slice(last.type.startsWith('template_') ? fieldChild(last, 'name') ?? last : last), style: values.type === 'argument_list' ? 'paren' as const : 'brace' as const,
      arguments: rooted(ctx, values, (root) => lowerArguments(ctx, root)) ?? [ctx.opaque(values, 'ambiguous expression')], span: ctx.span(node),
    }];
  });
}

/** One problem for each error in the text, five at most. */
function reportErrors(ctx: Lowering, node: Cst): void {
  const pending: Cst[] = [node];
  let count = 0;
  while (pending.length > 0 && count < 5) {
    const current = pending.pop();
    if (current === undefined || !current.error) continue;
    if (current.missing) {
      ctx.problem(current, `missing \`${current.type}\``);
      count++;
    } else if (current.type === 'ERROR') {
      ctx.problem(current, `not understood: \`${shorten(ctx.slice(current))}\``);
      count++;
    } else {
      for (let i = current.children.length - 1; i >= 0; i--) {
        const child = current.children[i];
        if (child !== undefined) pending.push(child);
      }
    }
  }
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 40 ? line : `${line.slice(0, 39)}…`;
}

interface NameParts {
  readonly name: string;
  readonly owner: RecordDecl | null;
  readonly specialises: readonly TemplateArgument[] | null;
  readonly nameAt: Cst;
}

function nameOf(ctx: Lowering, node: Cst, nameNode: Cst | null, declareIn: Scope): NameParts {
  const enclosing = declareIn.kind === 'record' ? declareIn.record : null;
  if (nameNode === null) {
    const cast = childOfType(node, 'operator_cast') ?? node;
    return { name: cast === node ? '' : normalOperator(ctx.slice(cast)), owner: enclosing, specialises: null, nameAt: cast };
  }
  let owner = enclosing;
  let last = nameNode;
  if (nameNode.type === 'qualified_identifier') {
    const qualified = qualifiedName(ctx, nameNode);
    last = qualified.last;
    if (qualified.prefix.kind === 'record') owner = qualified.prefix.record;
  }
  let specialises: readonly TemplateArgument[] | null = null;
  let nameAt = last;
  if (last.type === 'template_function' || last.type === 'template_method') {
    specialises = templateArguments(ctx, fieldChild(last, 'arguments'));
    nameAt = fieldChild(last, 'name') ?? last;
  }
  const text = ctx.slice(nameAt);
  return { name: last.type === 'operator_name' || last.type === 'operator_cast' ? normalOperator(text) : text, owner, specialises, nameAt };
}

/** `operator + ` as `operator+`. */
function normalOperator(text: string): string {
  return text.replace(/^operator\s*(?=[^\w\s])/, 'operator').replace(/\s+/g, ' ').replace(/(?<=\W) | $/g, '');
}

function boundArguments(ctx: Lowering, start: number, end: number): Expr[] {
  // The overlay blanked them: they are read from the original.
  const inner = ctx.later();
  inner.text = ctx.original;
  const text = ctx.original.slice(start, end);
  const args: Expr[] = [];
  let from = 0;
  for (const piece of splitArguments(text)) {
    const at = text.indexOf(piece, from);
    from = at + piece.length;
    const parsed = piece === '' ? null : ctx.unit.snippets.slice(piece, start + at, '', '');
    if (parsed !== null) args.push(lowerExpression(inner, parsed));
  }
  return args;
}

function meaningArguments(ctx: Lowering, node: Cst, text: string): Expr[] {
  return splitArguments(text).flatMap((piece) => {
    const snippet = piece === '' ? null : ctx.unit.snippets.expression(piece);
    if (snippet === null) return [];
    const inner = ctx.later();
    inner.override = ctx.span(node);
    inner.text = snippet.text;
    inner.original = snippet.original;
    inner.notes = snippet.notes;
    return [lowerExpression(inner, snippet.root)];
  });
}

function directivesIn(unit: UnitState, start: number, end: number): FunctionDecl['directives'] {
  const all = unit.source.directives;
  let low = 0;
  let high = all.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((all[mid]?.start ?? Infinity) < start) low = mid + 1;
    else high = mid;
  }
  const found = [];
  for (let i = low; i < all.length; i++) {
    const directive = all[i];
    if (directive === undefined || directive.start >= end) break;
    found.push(directive);
  }
  return found;
}

function inactiveIn(ctx: Lowering, start: number, end: number): FunctionDecl['inactive'] {
  const found: { span: Span; condition: string }[] = [];
  for (const note of ctx.notesBetween(start, end)) if (note.kind === 'inactive') found.push({ span: note.span, condition: note.condition });
  return found;
}

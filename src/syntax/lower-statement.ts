/** Statements. */
import { childOfType, fieldChild, holdsError, namedChildren, type Cst } from './cst.js';
import { MAX_DEPTH, type Lowering } from './context.js';
import { argumentTexts } from './lower-call.js';
import { lowerCondition, type Head } from './lower-condition.js';
import { lowerAlias, lowerDeclaration, lowerTypedef, lowerUsing } from './lower-declaration.js';
import { lowerMisreadDeclaration, readsAsDeclaration } from './misread-declaration.js';
import { lowerExpression, lowerInitList, rooted } from './lower-expression.js';
import { stringValue } from './lower-literal.js';
import { macroHeadOf, type MacroHead } from './lower-head.js';
import { includeStatement } from './lower-include.js';
import { lowerLoop, unreadableHead, type LoopKind } from './lower-loop.js';
import { macroNamed, macroExpression, macroStatement } from './lower-macro.js';
import { throughMacros } from './lower-macro-use.js';
import { grouped } from './macro-arms.js';
import { lowerPreprocessor } from './lower-preprocessor.js';
import { lowerSwitch } from './lower-switch.js';
import { typesOnly } from './lower-type.js';
import type { AsmStmt, CompoundStmt, Expr, IfStmt, LoopPragma, Stmt } from './tree.js';
import { stripReference } from './types.js';

const LOOPS = new Set(['for_statement', 'while_statement', 'do_statement', 'for_range_loop']);
const BRANCHES = new Set(['if_statement', 'switch_statement', 'return_statement']);

/** Longest `else if` chain that is kept as nested statements. */
const MAX_ELSE_IF = 400;

const NO_PRAGMAS: readonly LoopPragma[] = [];

/** A block with a scope of its own. */
export function lowerCompound(ctx: Lowering, node: Cst): CompoundStmt {
  return ctx.inBlock(() => ({ kind: 'compound', span: ctx.span(node), body: lowerStatements(ctx, node.children, node.start) }));
}

/** The statements among these nodes, in the current scope; `from` is where the text before them ended. Pragmas that stand before a loop go to the loop. */
export function lowerStatements(ctx: Lowering, nodes: readonly Cst[], from: number): Stmt[] {
  const body: Stmt[] = [];
  let pragmas = NO_PRAGMAS;
  let before = from;
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at];
    if (node === undefined) break;
    if (node.type === 'preproc_call') {
      const text = ctx.slice(node).trimEnd();
      if (/^#\s*pragma\b/.test(text)) pragmas = [...pragmas, { span: ctx.spanBetween(node.start, node.start + text.length), text }];
      continue;
    }
    if (!node.named) continue;
    const statement = lowerStatement(ctx, node, pragmas, before);
    pragmas = NO_PRAGMAS;
    before = node.end;
    if (statement !== null) body.push(withSemicolon(ctx, statement, node, nodes[at + 1]));
  }
  return body;
}

/** `struct S { … };`: the grammar leaves the semicolon beside the type. */
function withSemicolon(ctx: Lowering, statement: Stmt, node: Cst, next: Cst | undefined): Stmt {
  if (statement.kind !== 'declare' || next?.type !== ';' || !node.type.endsWith('_specifier')) return statement;
  return { ...statement, span: ctx.spanBetween(node.start, next.end) };
}

/** One statement; null for what is none (directives, comments). `before` is where the previous statement ended. */
export function lowerStatement(ctx: Lowering, node: Cst, pragmas: readonly LoopPragma[], before: number): Stmt | null {
  if (ctx.depth > MAX_DEPTH) return ctx.opaqueStmt(node, ctx.leftOut(node, 'nested too deeply'));
  ctx.depth++;
  const result = ctx.override === null && ctx.unit.macroUses.within(node)
    ? throughMacros(ctx, node, () => dispatch(ctx, node, pragmas, before)) : dispatch(ctx, node, pragmas, before);
  ctx.depth--;
  return result;
}

function dispatch(ctx: Lowering, node: Cst, pragmas: readonly LoopPragma[], before: number): Stmt | null {
  const span = ctx.span(node);
  // What the parser's recovery left beside the parts is a part of the statement that nobody reads.
  if (node.error && (LOOPS.has(node.type) || BRANCHES.has(node.type)) && holdsError(node)) return ctx.opaqueStmt(node, 'syntax error');
  if (LOOPS.has(node.type)) return lowerLoop(ctx, node, node.type as LoopKind, [...pragmas, ...blankedPragmas(ctx, before, node.start)]);
  switch (node.type) {
    case 'compound_statement': return lowerCompound(ctx, node);
    case 'expression_statement': return lowerExpressionStatement(ctx, node);
    case 'declaration': return lowerDeclaration(ctx, node);
    case 'if_statement': return lowerIf(ctx, node);
    case 'switch_statement': return lowerSwitch(ctx, node);
    case 'break_statement': return { kind: 'break', span };
    case 'continue_statement': return { kind: 'continue', span };
    case 'return_statement': return lowerReturn(ctx, node);
    case 'goto_statement': {
      const label = fieldChild(node, 'label');
      return label === null ? ctx.opaqueStmt(node, 'goto') : { kind: 'goto', span, label: ctx.slice(label) };
    }
    case 'labeled_statement': return lowerLabel(ctx, node);
    case 'type_definition': return { kind: 'declare', span, variables: [], types: lowerTypedef(ctx, node) };
    case 'alias_declaration': return { kind: 'declare', span, variables: [], types: lowerAlias(ctx, node, null) };
    case 'struct_specifier': case 'class_specifier': case 'union_specifier': case 'enum_specifier':
      return { kind: 'declare', span, variables: [], types: typesOnly(ctx, node) };
    case 'using_declaration': case 'namespace_alias_definition':
      return { kind: 'declare', span, variables: [], types: [], brings: lowerUsing(ctx, node) };
    case 'static_assert_declaration':
      return { kind: 'declare', span, variables: [], types: [], brings: [] };
    case 'comment': case 'preproc_def': case 'preproc_function_def': case 'preproc_include':
      return null;
    case 'preproc_if': case 'preproc_ifdef': return lowerPreprocessor(ctx, node);
    case 'attributed_statement': {
      const inner = namedChildren(node).find((child) => child.type !== 'attribute_declaration');
      return inner === undefined ? { kind: 'empty', span } : lowerStatement(ctx, inner, pragmas, before);
    }
    case 'case_statement':
      ctx.irregularSwitch = true;
      return ctx.opaqueStmt(node, 'case label inside a statement');
    case 'try_statement': return lowerTry(ctx, node);
    case 'throw_statement': return includeStatement(ctx, node) ?? ctx.opaqueStmt(node, 'throw');
    case 'function_definition':
      return lowerBlockOfMacro(ctx, node);
    case 'ERROR':
      return ctx.opaqueStmt(node, 'syntax error');
    default: return ctx.opaqueStmt(node, node.type.replaceAll('_', ' '));
  }
}

/**
 * `EACH(i, n) { … }` with a macro that nobody defines here reads as a function, which C++ does not have in a block: how often the block
 * runs, and with which names, is not known. An error that swallowed a function reads so too (`recover.ts`).
 */
function lowerBlockOfMacro(ctx: Lowering, node: Cst): Stmt {
  const reason = 'function inside a function';
  if (node.error) return ctx.opaqueStmt(node, reason);
  const body = fieldChild(node, 'body');
  return ctx.misread(node, reason, `not understood: \`${shortHead(ctx, node.start, body?.start ?? node.end)} {\` can only be a macro with a block, and no definition that could be read is visible (--include and -D make one visible)`);
}

function shortHead(ctx: Lowering, start: number, end: number): string {
  const text = ctx.text.slice(start, end).replace(/\s+/g, ' ').trim();
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}

/** Pragmas that the overlay took out from before a loop. */
function blankedPragmas(ctx: Lowering, from: number, to: number): LoopPragma[] {
  if (ctx.notes.length === 0) return [];
  const found: LoopPragma[] = [];
  let end = to;
  for (let i = ctx.noteIndex(to) - 1; i >= 0; i--) {
    const note = ctx.notes[i];
    if (note === undefined || note.span.end > end || note.span.start < from) break;
    if (note.kind !== 'pragma') break;
    found.unshift({ span: ctx.override ?? note.span, text: note.text });
    end = note.span.start;
  }
  return found;
}

function lowerExpressionStatement(ctx: Lowering, node: Cst): Stmt {
  const span = ctx.span(node);
  const [inner] = namedChildren(node);
  if (inner === undefined) return { kind: 'empty', span };
  if (holdsError(node)) return ctx.opaqueStmt(node, 'syntax error');
  if (inner.type === 'gnu_asm_expression') return lowerAsm(ctx, node, inner);
  if (readsAsDeclaration(ctx, inner)) return lowerMisreadDeclaration(ctx, node);
  const macro = statementMacro(ctx, inner);
  // A `;` in the text belongs to the statement, whatever the macro stands for in this build; one that the overlay put there does not.
  if (macro !== null) return ctx.override === null && ctx.unit.source.text[node.end - 1] === ';' ? { ...macro, span } : macro;
  const loop = callBeforeStar(ctx, inner);
  if (loop !== null) return ctx.misread(node, 'product as a statement', `not understood: \`${shortHead(ctx, loop.start, loop.end)} *\` can only be a macro before a statement, and its definition is not visible (--include and -D make one visible)`);
  return { kind: 'expression', span, expression: lowerExpression(ctx, inner) };
}

/** `EACH(i, n) *p += x;` reads as a product that is assigned to: a call of a name that nothing visible declares, before a star. Null for anything else. */
function callBeforeStar(ctx: Lowering, statement: Cst): Cst | null {
  const target = statement.type === 'assignment_expression' ? fieldChild(statement, 'left') : statement;
  if (target?.type !== 'binary_expression' || childOfType(target, '*') === null) return null;
  const call = fieldChild(target, 'left');
  const name = call?.type === 'call_expression' ? fieldChild(call, 'function') : null;
  if (call === null || name?.type !== 'identifier') return null;
  return ctx.unit.lookup.lookup(ctx.scope, ctx.slice(name)) === null ? call : null;
}

/** `MACRO(…);` or `MACRO;` as a statement of its own. */
function statementMacro(ctx: Lowering, node: Cst): Stmt | null {
  const called = node.type === 'call_expression';
  const nameNode = called ? fieldChild(node, 'function') : node.type === 'identifier' ? node : null;
  if (nameNode === null || nameNode.type !== 'identifier') return null;
  const macro = macroNamed(ctx, nameNode, called);
  if (macro === null) return null;
  const list = called ? fieldChild(node, 'arguments') : null;
  const args = list === null ? null : argumentTexts(ctx, list);
  const expression = macroExpression(ctx, node, macro, args);
  if (expression !== null) return { kind: 'expression', span: ctx.span(node), expression };
  return macroStatement(ctx, node, macro, args);
}

function lowerAsm(ctx: Lowering, node: Cst, asm: Cst): AsmStmt {
  const code = fieldChild(asm, 'assembly_code');
  const pieces = code === null ? [] : code.type === 'concatenated_string' ? namedChildren(code) : [code];
  const operands = (field: string): Expr[] => {
    const list = fieldChild(asm, field);
    return list === null ? [] : namedChildren(list).flatMap((operand) => {
      const value = fieldChild(operand, 'value');
      return value === null ? [] : [lowerExpression(ctx, value)];
    });
  };
  return {
    kind: 'asm', span: ctx.span(node), volatile: childOfType(asm, 'gnu_asm_qualifier') !== null,
    text: pieces.map((piece) => stringValue(ctx.slice(piece))).join(''), outputs: operands('output_operands'), inputs: operands('input_operands'),
  };
}

function lowerReturn(ctx: Lowering, node: Cst): Stmt {
  const [value] = namedChildren(node);
  if (value === undefined) return { kind: 'return', span: ctx.span(node), value: null };
  const type = ctx.fn === null ? undefined : stripReference(ctx.fn.decl.returns);
  const lowered = value.type === 'initializer_list' && type !== undefined ? rooted(ctx, value, (root) => lowerInitList(ctx, root, type)) ?? ctx.opaque(value, 'ambiguous expression') : lowerExpression(ctx, value);
  return { kind: 'return', span: ctx.span(node), value: lowered };
}

function lowerLabel(ctx: Lowering, node: Cst): Stmt {
  const label = fieldChild(node, 'label');
  const inner = namedChildren(node).find((child) => child !== label);
  if (label === null) return ctx.opaqueStmt(node, 'label');
  const body = inner === undefined ? null : lowerStatement(ctx, inner, [], label.end);
  const end = ctx.spanBetween(node.end, node.end);
  return { kind: 'label', span: ctx.span(node), name: ctx.slice(label), body: body ?? { kind: 'empty', span: end } };
}

function lowerTry(ctx: Lowering, node: Cst): Stmt {
  // Launches inside are still found; where control goes is not understood.
  const body = fieldChild(node, 'body');
  if (body !== null) lowerCompound(ctx, body);
  for (const clause of node.children) {
    const handler = clause.type === 'catch_clause' ? fieldChild(clause, 'body') : null;
    if (handler !== null) lowerCompound(ctx, handler);
  }
  return ctx.opaqueStmt(node, 'try');
}

/** The statement of an arm or a loop body; it has a scope of its own. */
export function lowerBody(ctx: Lowering, node: Cst, before: number): Stmt {
  const statement = ctx.inBlock(() => lowerStatement(ctx, node, [], before));
  return statement ?? { kind: 'empty', span: ctx.span(node) };
}

interface Branch { readonly node: Cst; readonly elseNode: Cst | null; readonly elseWord: Cst | null; readonly last: Cst | null }

/** `if`, with a chain of `else if` walked in a loop. */
function lowerIf(ctx: Lowering, node: Cst): Stmt {
  const branches: Branch[] = [];
  let current: Cst = node;
  for (;;) {
    const alternative = fieldChild(current, 'alternative');
    const word = alternative === null ? null : childOfType(alternative, 'else');
    const rest = alternative === null ? null : namedChildren(alternative).find((child) => child.type !== 'preproc_call') ?? null;
    branches.push({ node: current, elseNode: alternative, elseWord: word, last: rest?.type === 'if_statement' ? null : rest });
    if (rest?.type !== 'if_statement') break;
    current = rest;
  }
  if (branches.length > MAX_ELSE_IF) return ctx.opaqueStmt(node, ctx.leftOut(node, 'chain too long'));
  return lowerBranch(ctx, branches, 0);
}

function lowerBranch(ctx: Lowering, branches: readonly Branch[], from: number): Stmt {
  // Conditions may declare names that all later arms see, so scopes nest; the nodes are put together from the end.
  const outer = ctx.scope;
  const parts: { branch: Branch; head: Head; headNode: Cst; then: Stmt }[] = [];
  try {
    for (const branch of branches.slice(from)) {
      const macro = macroHeadOf(ctx, branch.node);
      // Several heads before a statement that may have an `else`: which of them it belongs to, the text does not show.
      if (macro === 'unreadable' || (macro !== null && macro.chain.length > 1)) return unreadableHead(ctx, branch.node);
      const headNode = macro?.chain[0]?.node ?? branch.node;
      const clause = fieldChild(headNode, 'condition');
      const consequence = fieldChild(branch.node, 'consequence');
      if (clause === null || consequence === null) return ctx.opaqueStmt(branch.node, 'if without condition');
      const head = macro === null ? lowerCondition(ctx, clause) : macroCondition(ctx, macro, clause);
      if (ctx.fn !== null) ctx.fn.conditions++;
      const then = consequence.missing ? ctx.opaqueStmt(consequence, 'missing statement') : lowerBody(ctx, consequence, macro?.span.end ?? clause.end);
      parts.push({ branch, head, headNode, then });
    }
    const last = branches[branches.length - 1];
    let otherwise: Stmt | null = last?.last === null || last?.last === undefined ? null : lowerBody(ctx, last.last, last.elseWord?.end ?? last.last.start);
    if (last?.elseNode !== null && last?.elseNode !== undefined && otherwise === null) otherwise = { kind: 'empty', span: ctx.span(last.elseNode) };
    for (let i = parts.length - 1; i >= 0; i--) {
      const part = parts[i];
      if (part === undefined) continue;
      const made: IfStmt = {
        kind: 'if', span: ctx.span(part.branch.node), constexpr: childOfType(part.headNode, 'constexpr') !== null, init: part.head.init,
        conditionDecl: part.head.declaration, condition: part.head.condition, headSpan: part.head.span, then: part.then, else: otherwise,
        elseSpan: part.branch.elseWord === null ? null : ctx.span(part.branch.elseWord),
      };
      otherwise = grouped(ctx, part.branch.node, made);
    }
    return otherwise ?? ctx.opaqueStmt(branches[from]?.node ?? branches[0]?.node ?? fail(), 'if');
  } finally {
    ctx.scope = outer;
    if (ctx.fn !== null) ctx.fn.conditions -= parts.length;
  }
}

/** The condition of an `if` that stands in a macro; what its scope declares stays visible in the arms. */
function macroCondition(ctx: Lowering, macro: MacroHead, clause: Cst): Head {
  const head = macro.enter(() => lowerCondition(ctx, clause));
  return { ...head, condition: macro.wrap(head.condition) };
}

function fail(): never {
  throw new Error('internal: an if without branches');
}

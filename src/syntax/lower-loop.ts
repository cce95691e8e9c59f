/** Loops. */
import { childOfType, fieldChild, holdsError, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { lowerCondition } from './lower-condition.js';
import { bindingType, lowerConditionDeclaration, lowerDeclaration } from './lower-declaration.js';
import { lowerMisreadDeclaration, readsAsDeclaration } from './misread-declaration.js';
import { lowerExpression } from './lower-expression.js';
import { macroHeadOf, type MacroHead } from './lower-head.js';
import { lowerBody } from './lower-statement.js';
import { lowerDeclarator, lowerSpecifiers, deduceAuto } from './lower-type.js';
import { grouped } from './macro-arms.js';
import type { Expr, ForStmt, LoopPragma, Stmt, VariableDecl } from './tree.js';
import { UNKNOWN, decay, stripReference } from './types.js';

export type LoopKind = 'for_statement' | 'while_statement' | 'do_statement' | 'for_range_loop';

/** Where the head of a loop is read: in the loop itself, or in the expansion of a macro that stands for the head. */
interface LoopHead {
  readonly node: Cst;
  readonly kind: LoopKind;
  /** Runs what lowers a part of the head in the place the head is read from. */
  enter<T>(action: () => T): T;
  /** The macro's wrapper around an expression of the head. */
  wrap(expr: Expr): Expr;
  /** Lowers the body, whose text begins behind the end of the head. */
  body(headEnd: number): Stmt;
}

export function lowerLoop(ctx: Lowering, node: Cst, kind: LoopKind, pragmas: readonly LoopPragma[]): Stmt {
  const body = fieldChild(node, 'body');
  if (body === null || body.missing) return ctx.opaqueStmt(node, 'loop without body');
  const macro = macroHeadOf(ctx, node);
  if (macro === 'unreadable') return unreadableHead(ctx, node);
  if (macro !== null) return lowerChain(ctx, node, macro, body, pragmas, 0);
  return lowerLoopWith(ctx, node, { node, kind, enter: <T>(action: () => T): T => action(), wrap: (expr: Expr) => expr, body: (end) => lowerBody(ctx, body, end) }, pragmas);
}

/** The expansion of a macro before a statement is more than heads (or another configuration's): what it declares and does is not known. */
export function unreadableHead(ctx: Lowering, node: Cst): Stmt {
  const { start, end } = ctx.notes[ctx.noteIndex(node.start)]?.span ?? node;
  const text = ctx.unit.source.text.slice(start, end).replace(/\s+/g, ' ');
  return ctx.misread(node, 'head made by a macro', `not understood: \`${text}\` before a statement expands to more than the head of a loop or an if`);
}

/** The heads of a macro from `index` on, around the statement behind the invocation. */
function lowerChain(ctx: Lowering, node: Cst, macro: MacroHead, body: Cst, pragmas: readonly LoopPragma[], index: number): Stmt {
  const link = macro.chain[index];
  if (link === undefined) return lowerBody(ctx, body, macro.span.end);
  const rest = (): Stmt => lowerChain(ctx, node, macro, body, [], index + 1);
  const before = index === 0 ? [...pragmas, ...macro.pragmas] : [];
  if (link.kind !== 'if_statement') return lowerLoopWith(ctx, node, { node: link.node, kind: link.kind, enter: (action) => macro.enter(action), wrap: (expr) => macro.wrap(expr), body: rest }, before);
  const clause = fieldChild(link.node, 'condition');
  if (clause === null) return ctx.opaqueStmt(node, 'if without condition');
  return ctx.inBlock(() => {
    const head = macro.enter(() => lowerCondition(ctx, clause));
    if (ctx.fn !== null) ctx.fn.conditions++;
    const then = rest();
    if (ctx.fn !== null) ctx.fn.conditions--;
    return grouped(ctx, node, {
      kind: 'if', span: ctx.span(node), constexpr: childOfType(link.node, 'constexpr') !== null, init: head.init, conditionDecl: head.declaration,
      condition: macro.wrap(head.condition), headSpan: head.span, then, else: null, elseSpan: null,
    });
  });
}

function lowerLoopWith(ctx: Lowering, node: Cst, from: LoopHead, pragmas: readonly LoopPragma[]): Stmt {
  const outer = ctx.scope;
  if (ctx.fn !== null) ctx.fn.loops++;
  try {
    switch (from.kind) {
      case 'for_statement': return grouped(ctx, node, ctx.inBlock(() => lowerFor(ctx, node, from, pragmas)));
      case 'for_range_loop': return grouped(ctx, node, ctx.inBlock(() => lowerRangeFor(ctx, node, from, pragmas)));
      case 'while_statement': {
        const clause = fieldChild(from.node, 'condition');
        if (clause === null) return ctx.opaqueStmt(node, 'loop without condition');
        const head = from.enter(() => lowerCondition(ctx, clause));
        return grouped(ctx, node, {
          kind: 'while', span: ctx.span(node), pragmas, headSpan: head.span, conditionDecl: head.declaration, condition: from.wrap(head.condition),
          body: from.body(clause.end),
        });
      }
      default: {
        const clause = fieldChild(node, 'condition');
        if (clause === null) return ctx.opaqueStmt(node, 'loop without condition');
        const lowered = from.body(node.start + 2);
        const inner = clause.children.find((child) => child.named);
        const condition = inner === undefined || holdsError(clause) ? ctx.opaque(clause, inner === undefined ? 'missing condition' : 'syntax error') : lowerExpression(ctx, inner);
        return grouped(ctx, node, { kind: 'do', span: ctx.span(node), pragmas, headSpan: ctx.span(clause), condition, body: lowered });
      }
    }
  } finally {
    ctx.scope = outer;
    if (ctx.fn !== null) ctx.fn.loops--;
  }
}

function lowerFor(ctx: Lowering, node: Cst, from: LoopHead, pragmas: readonly LoopPragma[]): Stmt {
  const parts = from.enter(() => lowerForHead(ctx, from.node));
  if (parts === null) return ctx.opaqueStmt(node, 'for head');
  return {
    kind: 'for', span: ctx.span(node), pragmas, headSpan: parts.headSpan, init: parts.init, conditionDecl: parts.conditionDecl,
    condition: parts.condition === null ? null : from.wrap(parts.condition), step: parts.step === null ? null : from.wrap(parts.step),
    body: from.body(parts.end),
  };
}

type ForHead = Pick<ForStmt, 'headSpan' | 'init' | 'conditionDecl' | 'condition' | 'step'> & { readonly end: number };

function lowerForHead(ctx: Lowering, node: Cst): ForHead | null {
  const body = fieldChild(node, 'body');
  const open = childOfType(node, '(');
  const close = body === null ? undefined : [...node.children].reverse().find((child) => child.type === ')' && child.end <= body.start);
  if (open === null || close === undefined || open.missing || close.missing || holdsError(node)) return null;
  const initNode = fieldChild(node, 'initializer');
  let init: ForStmt['init'];
  const firstSemicolon = node.children.find((child) => child.type === ';');
  if (initNode === null) {
    init = { kind: 'empty', span: firstSemicolon === undefined ? ctx.span(open) : ctx.span(firstSemicolon) };
  } else if (initNode.type === 'declaration') {
    const declared = lowerDeclaration(ctx, initNode);
    if (declared === null || (declared.kind !== 'declare' && declared.kind !== 'expression')) return null;
    init = declared;
  } else if (readsAsDeclaration(ctx, initNode)) {
    const declared = lowerMisreadDeclaration(ctx, initNode);
    if (declared.kind !== 'declare') return null;
    init = declared;
  } else {
    const end = firstSemicolon?.end ?? initNode.end;
    init = { kind: 'expression', span: ctx.spanBetween(initNode.start, end), expression: lowerExpression(ctx, initNode) };
  }
  const conditionNode = fieldChild(node, 'condition');
  let conditionDecl: VariableDecl | null = null;
  let condition: Expr | null = null;
  if (conditionNode !== null && conditionNode.type === 'declaration') {
    ({ declaration: conditionDecl, condition } = lowerConditionDeclaration(ctx, conditionNode));
  } else if (conditionNode !== null) {
    condition = lowerExpression(ctx, conditionNode);
  }
  const update = fieldChild(node, 'update');
  const step = update === null ? null : lowerExpression(ctx, update);
  return { headSpan: ctx.spanBetween(open.start, close.end), init, conditionDecl, condition, step, end: close.end };
}

function lowerRangeFor(ctx: Lowering, node: Cst, from: LoopHead, pragmas: readonly LoopPragma[]): Stmt {
  const body = fieldChild(node, 'body');
  const open = childOfType(node, '(');
  const close = [...node.children].reverse().find((child) => child.type === ')' && body !== null && child.end <= body.start);
  const declaratorNode = fieldChild(node, 'declarator');
  const rangeNode = fieldChild(node, 'right');
  if (open === null || close === undefined || declaratorNode === null || rangeNode === null || fieldChild(node, 'initializer') !== null) {
    return ctx.opaqueStmt(node, 'range-for head');
  }
  const range = rangeNode.type === 'initializer_list' ? ctx.opaque(rangeNode, 'range list') : lowerExpression(ctx, rangeNode);
  const specifiers = lowerSpecifiers(ctx, node);
  const declarator = lowerDeclarator(ctx, specifiers.type, declaratorNode);
  const rangeType = decay(range.type);
  const element = rangeType.kind === 'pointer' && stripReference(range.type).kind === 'array' ? rangeType.to : UNKNOWN;
  const nameNode = declarator.nameNode ?? declarator.bindingNode ?? declaratorNode;
  const variable: VariableDecl = {
    kind: 'variable', name: declarator.nameNode === null ? '' : ctx.slice(declarator.nameNode), span: ctx.spanBetween(open.end, declaratorNode.end),
    nameSpan: ctx.span(nameNode), file: ctx.unit.file, type: specifiers.auto ? deduceAuto(declarator.type, element) : declarator.type, space: 'local',
    storage: 'automatic', constexpr: false, dynamicShared: false, init: null, initStyle: 'none', opaqueInit: true,
  };
  ctx.declare(variable);
  if (declarator.bindingNode !== null) {
    for (const child of declarator.bindingNode.children) {
      if (child.named) ctx.declare({ ...variable, name: ctx.slice(child), span: ctx.span(child), nameSpan: ctx.span(child), type: bindingType(declarator.type, element) });
    }
  }
  return {
    kind: 'range-for', span: ctx.span(node), pragmas, headSpan: ctx.spanBetween(open.start, close.end), variable, range, body: from.body(close.end),
  };
}

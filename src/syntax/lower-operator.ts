/** Operators: chains of binary operators, assignment, prefix and postfix, subscripts; overloaded ones become calls. */
import { fieldChild, holdsError, namedChildren, type Cst } from './cst.js';
import { NeedsPatch, type Lowering } from './context.js';
import { comesApart, looseMacro } from './loose-macro.js';
import { operatorCall } from './lower-overload.js';
import { expression, isTypeName, lowerInitList, patchAt } from './lower-expression.js';
import { lowerType } from './lower-type.js';
import type { AssignExpr, BinaryExpr, BinaryOperator, Expr, Type, UnaryExpr } from './tree.js';
import { BOOL, INT, LONG, UNKNOWN, arithmeticType, decay, dependentType, isArithmetic, pointerTo, promote, referenceCast, stripReference, unqualified } from './types.js';

const BINARY = new Map<string, BinaryOperator>([
  ['+', '+'], ['-', '-'], ['*', '*'], ['/', '/'], ['%', '%'], ['<<', '<<'], ['>>', '>>'], ['&', '&'], ['|', '|'], ['^', '^'], ['<', '<'], ['<=', '<='],
  ['>', '>'], ['>=', '>='], ['==', '=='], ['!=', '!='], ['&&', '&&'], ['||', '||'],
  ['and', '&&'], ['or', '||'], ['bitand', '&'], ['bitor', '|'], ['xor', '^'], ['not_eq', '!='],
]);

/** Operators that may also be unary: before them `(T)` may be a cast. */
const EITHER = new Set(['+', '-', '*', '&', '&&']);

/** Where the last operand of an expression stands that ends with one. */
const LAST_OPERAND: Readonly<Record<string, string | undefined>> = { binary_expression: 'right', unary_expression: 'argument', pointer_expression: 'argument', cast_expression: 'value' };

interface Link { readonly node: Cst; readonly left: Cst; readonly operator: Cst; readonly right: Cst }

/** `a + b - c …`: the left spine is walked in a loop, so that a chain of a thousand terms costs no stack. */
export function lowerBinaryChain(ctx: Lowering, node: Cst, limit: number): Expr {
  const last = linkAt(ctx, node);
  if (last === null) return ctx.opaque(node, 'binary expression');
  // Most chains are of two operands.
  if (last.left.type !== 'binary_expression') return makeBinary(ctx, last, expression(ctx, last.left), expression(ctx, last.right));
  const links = [last];
  let current = last.left;
  while (current.type === 'binary_expression') {
    const link = linkAt(ctx, current);
    if (link === null) return ctx.opaque(node, 'binary expression');
    links.push(link);
    current = link.left;
  }
  if (links.length > limit) return ctx.opaque(node, ctx.leftOut(node, 'chain too long'));
  let result = expression(ctx, current);
  for (let i = links.length - 1; i >= 0; i--) {
    const link = links[i];
    if (link === undefined) continue;
    result = makeBinary(ctx, link, result, expression(ctx, link.right));
  }
  return result;
}

/** Null if an operand or the operator is missing. */
function linkAt(ctx: Lowering, node: Cst): Link | null {
  const left = fieldChild(node, 'left');
  const right = fieldChild(node, 'right');
  const operator = left === null || right === null ? undefined : operatorBetween(node, left, right);
  if (left === null || right === null || operator === undefined || holdsError(node)) return null;
  if (EITHER.has(operator.type)) checkCast(ctx, left);
  return { node, left, operator, right };
}

/** The operator between two operands of a node. */
function operatorBetween(node: Cst, left: Cst, right: Cst): Cst | undefined {
  for (const child of node.children) if (!child.named && child.start >= left.end && child.end <= right.start) return child;
  return undefined;
}

/** If the operand that ends before a `-`, `+`, `*` or `&` is `(T)`, the operator is unary and `(T)` a cast. */
function checkCast(ctx: Lowering, left: Cst): void {
  let operand: Cst | null = left;
  // The last operand of a chain, behind what stands in front of it: `-(T)*p`, `~(T)&x`, `(int)(T)-x`.
  while (operand !== null) {
    const tail: string | undefined = LAST_OPERAND[operand.type];
    if (tail === undefined) break;
    operand = fieldChild(operand, tail);
  }
  if (operand?.type !== 'parenthesized_expression') return;
  const [inner] = namedChildren(operand);
  if (inner === undefined || !isTypeName(ctx, inner)) return;
  throw new NeedsPatch({
    at: operand.start, length: operand.end - operand.start, replacement: '~', meaning: { kind: 'cast', type: lowerType(ctx, inner) },
  });
}

function makeBinary(ctx: Lowering, link: Link, left: Expr, right: Expr): Expr {
  const patch = patchAt(ctx, link.operator.start, 'operator');
  const op = patch === undefined ? BINARY.get(link.operator.type) : '<';
  if (op === undefined) return ctx.opaque(link.node, `operator ${link.operator.type}`);
  const loose = left.kind !== 'macro' && right.kind !== 'macro' ? null : looseMacro(left, { op, side: 'left' }) ?? looseMacro(right, { op, side: 'right' });
  if (loose !== null) return comesApart(ctx, link.node, loose);
  const overloaded = operatorCall(ctx, link.node, link.operator, op, [left, right]);
  if (overloaded !== null) return overloaded;
  const made: BinaryExpr = {
    kind: 'binary', span: ctx.span(link.node), op, left, right, type: binaryType(op, left, right), opSpan: ctx.span(link.operator),
  };
  return made;
}

/** The type of a built-in binary operator. */
export function binaryType(op: BinaryOperator, left: Expr, right: Expr): Type {
  switch (op) {
    case ',': return right.type;
    case '<': case '<=': case '>': case '>=': case '==': case '!=': case '&&': case '||': return BOOL;
    case '<<': case '>>': {
      const type = promote(left.type);
      return type.kind === 'int' || type.kind === 'dependent' ? type : UNKNOWN;
    }
    default: break;
  }
  const a = decay(left.type);
  const b = decay(right.type);
  if (op === '+' || op === '-') {
    if (a.kind === 'pointer') return b.kind === 'pointer' ? (op === '-' ? LONG : UNKNOWN) : a;
    if (b.kind === 'pointer') return op === '+' ? b : UNKNOWN;
  }
  // half2 and bfloat162 have built-in operators, lane by lane.
  if (a.kind === 'record' && a.decl.vector !== null && isPairOfHalves(a)) return a;
  return arithmeticType(a, b);
}

function isPairOfHalves(type: Type): boolean {
  return type.kind === 'record' && type.decl.vector !== null && type.decl.vector.element.kind === 'float' && type.decl.vector.lanes === 2
    && (type.decl.vector.element.format === 'half' || type.decl.vector.element.format === 'bfloat16');
}

const UNARY: Record<string, UnaryExpr['op']> = { '+': '+', '-': '-', '!': '!', '~': '~', '*': '*', '&': '&', not: '!', compl: '~' };

export function lowerUnary(ctx: Lowering, node: Cst): Expr {
  const operand = fieldChild(node, 'argument');
  const operator = node.children.find((child) => !child.named);
  if (operand === null || operator === undefined) return ctx.opaque(node, 'unary expression');
  const cast = patchAt(ctx, operator.start, 'cast');
  if (cast?.meaning.kind === 'cast') {
    const value = expression(ctx, operand);
    const loose = looseMacro(value, 'unary');
    return loose !== null ? comesApart(ctx, node, loose) : { kind: 'cast', style: 'c', span: ctx.span(node), type: stripReference(cast.meaning.type), operand: value, ...referenceCast(cast.meaning.type) };
  }
  const op = UNARY[operator.type];
  if (op === undefined) return ctx.opaque(node, `operator ${operator.type}`);
  const value = expression(ctx, operand);
  const loose = looseMacro(value, 'unary');
  if (loose !== null) return comesApart(ctx, node, loose);
  const overloaded = operatorCall(ctx, node, operator, op, [value]);
  if (overloaded !== null) return overloaded;
  return { kind: 'unary', span: ctx.span(node), op, operand: value, type: unaryType(op, value) };
}

function unaryType(op: UnaryExpr['op'], operand: Expr): Type {
  switch (op) {
    case '!': return BOOL;
    case '&': return operand.type.kind === 'unknown' ? UNKNOWN : pointerTo(operand.type);
    case '*': {
      const type = decay(operand.type);
      if (type.kind === 'dependent') return dependentType(null, '');
      return type.kind === 'pointer' ? stripReference(type.to) : UNKNOWN;
    }
    default: {
      const type = promote(operand.type);
      return type.kind === 'int' || type.kind === 'float' || type.kind === 'dependent' || isPairOfHalves(type) ? type : UNKNOWN;
    }
  }
}

function withArgument(node: Cst, old: Cst, argument: Cst): Cst {
  return { ...node, end: argument.end, children: node.children.map((child) => (child === old ? argument : child)) };
}

export function lowerUpdate(ctx: Lowering, node: Cst): Expr {
  const operand = fieldChild(node, 'argument');
  const operator = node.children.find((child) => !child.named);
  if (operand === null || operator === undefined) return ctx.opaque(node, 'update expression');
  const op = operator.type === '--' ? '--' : '++';
  const prefix = operator.start < operand.start;
  // `-n++` steps n: the grammar takes what stands in front for a part of what is stepped.
  if (!prefix && operand.type === 'unary_expression') {
    const inner = fieldChild(operand, 'argument');
    return inner === null ? ctx.opaque(node, 'update expression') : lowerUnary(ctx, withArgument(operand, inner, { ...node, start: inner.start, field: 'argument', children: [inner, operator] }));
  }
  const target = expression(ctx, operand);
  const overloaded = operatorCall(ctx, node, operator, op, [target], prefix ? null : { kind: 'literal', value: 0n, span: ctx.spanBetween(node.end, node.end), type: INT });
  if (overloaded !== null) return overloaded;
  return { kind: 'update', span: ctx.span(node), op, prefix, target, type: unqualified(stripReference(target.type)) };
}

const ASSIGN: Record<string, AssignExpr['op']> = {
  '=': null, '+=': '+', '-=': '-', '*=': '*', '/=': '/', '%=': '%', '<<=': '<<', '>>=': '>>', '&=': '&', '|=': '|', '^=': '^',
  and_eq: '&', or_eq: '|', xor_eq: '^',
};

export function lowerAssignment(ctx: Lowering, node: Cst): Expr {
  const left = fieldChild(node, 'left');
  const right = fieldChild(node, 'right');
  if (left === null || right === null) return ctx.opaque(node, 'assignment');
  const operator = operatorBetween(node, left, right);
  if (operator === undefined) return ctx.opaque(node, 'assignment operator');
  // `c ? a : b = 1` assigns to `b`; the grammar takes the whole conditional for the target.
  if (left.type === 'conditional_expression') return ctx.opaque(node, 'assignment in a conditional');
  const target = expression(ctx, left);
  const value = right.type === 'initializer_list' ? lowerInitList(ctx, right, target.type) : expression(ctx, right);
  return makeAssignment(ctx, node, operator, target, value) ?? ctx.opaque(node, 'assignment operator');
}

/** Null if the operator is none of assignment. */
export function makeAssignment(ctx: Lowering, node: Cst, operator: Cst, target: Expr, value: Expr): Expr | null {
  const op = ASSIGN[operator.type];
  if (op === undefined) return null;
  const overloaded = operatorCall(ctx, node, operator, op === null ? '=' : `${op}=`, [target, value]);
  if (overloaded !== null) return overloaded;
  return { kind: 'assign', span: ctx.span(node), op, target, value, type: unqualified(stripReference(target.type)) };
}

export function lowerIndex(ctx: Lowering, node: Cst): Expr {
  const baseNode = fieldChild(node, 'argument');
  const list = fieldChild(node, 'indices');
  const [indexNode, more] = list === null ? [] : namedChildren(list);
  if (baseNode === null || list === null || indexNode === undefined || more !== undefined) return ctx.opaque(node, 'subscript');
  const base = expression(ctx, baseNode);
  const index = expression(ctx, indexNode);
  // `int (*p)[2] = a;`: a declaration that reads as the element of a number.
  if (base.kind === 'cast' && base.style === 'functional' && base.operand.kind === 'unary' && base.operand.op === '*' && isArithmetic(base.type)) return ctx.opaque(node, 'declaration of a pointer to an array');
  const loose = looseMacro(base, 'postfix');
  if (loose !== null) return comesApart(ctx, node, loose);
  const overloaded = operatorCall(ctx, node, list, '[]', [base, index]);
  if (overloaded !== null) return overloaded;
  const type = decay(base.type);
  let element: Type = UNKNOWN;
  if (type.kind === 'pointer') element = stripReference(type.to);
  else if (type.kind === 'dependent') element = dependentType(null, '');
  else {
    // `1[a]` is `a[1]`.
    const turned = decay(index.type);
    if (turned.kind === 'pointer' && type.kind === 'int') return { kind: 'index', span: ctx.span(node), base: index, index: base, type: stripReference(turned.to) };
  }
  return { kind: 'index', span: ctx.span(node), base, index, type: element };
}

/**
 * Issued warp-instructions of a region, by a static model (SEMANTICS 3).
 *
 * Weights: integer and float arithmetic 1 (a product and the sum it feeds are one instruction), integer division about 20, IEEE float division
 * 9, double division 25, memory 1 plus its addressing, built-ins from their table, calls their bodies, loops trips × (body + test + step). A
 * warp that enters is taken to execute both arms of a branch inside, unless `shares` knows better; short arms are predicated and cost no jump.
 * Coordinates, constants and variables in registers cost nothing.
 *
 * Not handled: common subexpressions, hoisting of invariant code and vectorised loads by the compiler, spills. Estimates agree with counted instructions
 * to within a factor, not a percent: use a profile or the compiler's output where it matters.
 */
import { builtin } from '../cuda/builtins.js';
import type { CallExpr, Expr, Stmt, Type } from '../syntax/tree.js';
import { unreachable } from '../syntax/tree.js';
import { calleesOf } from './call-sites.js';
import { isStmt, strip, type Node } from './children.js';
import { constantOf } from './constants.js';
import { lambdaOf } from './effects.js';
import type { Env } from './env.js';
import type { Cost, Loop } from './facts.js';
import { isAutomatic } from './function-index.js';
import { libraryCall } from './library-calls.js';
import { tripsOf } from './trips.js';

/** Up to this many operations the compiler predicates an arm instead of branching around it. */
export const PREDICATION_LIMIT = 7;
const INTEGER_DIVISION = 20;
const WIDE_DIVISION = 70;
const CONSTANT_DIVISION = 4;
const FLOAT_DIVISION = 9;
const DOUBLE_DIVISION = 25;
const UNKNOWN_CALL = 20;
const UNROLLED = 16;

/** Shares of warps that enter an arm of a condition, of those that reach it. Both 1 where lanes disagree in every warp. */
export type Shares = (condition: Expr) => { readonly then: number; readonly else: number };

interface Weight {
  readonly n: number;
  readonly assumed: boolean;
  /** A call, loop, barrier or expensive sequence inside: never predicated. */
  readonly long: boolean;
}

const NOTHING: Weight = { n: 0, assumed: false, long: false };
const both: Shares = () => ({ then: 1, else: 1 });

function plus(...weights: readonly Weight[]): Weight {
  let n = 0;
  let assumed = false;
  let long = false;
  for (const weight of weights) {
    n += weight.n;
    assumed ||= weight.assumed;
    long ||= weight.long;
  }
  return { n, assumed, long };
}

function add(weight: Weight, n: number): Weight {
  return n === 0 ? weight : { ...weight, n: weight.n + n };
}

function times(weight: Weight, factor: number): Weight {
  return { ...weight, n: weight.n * factor };
}

const models = new WeakMap<Env, Map<Shares, CostModel>>();

export function costOf(node: Stmt | Expr, env: Env, shares: Shares = both): Cost {
  const weight = modelOf(env, shares).weigh(node);
  return { instructions: weight.n, assumedTrips: weight.assumed, predicated: !weight.long && weight.n <= PREDICATION_LIMIT, provider: 'static' };
}

function modelOf(env: Env, shares: Shares): CostModel {
  let perEnv = models.get(env);
  if (perEnv === undefined) models.set(env, perEnv = new Map());
  let model = perEnv.get(shares);
  if (model === undefined) perEnv.set(shares, model = new CostModel(env, shares));
  return model;
}

function isWide(type: Type): boolean {
  return type.kind === 'int' && type.bits === 64;
}

/**
 * Could the expression fold to a constant without asking for definitions? The model asks for many nodes and needs only what the compiler sees at
 * once: literals, `const` names, template values and arithmetic on them.
 */
function looksConstant(written: Expr): boolean {
  const expr = strip(written);
  switch (expr.kind) {
    case 'literal': return typeof expr.value === 'bigint' || typeof expr.value === 'boolean';
    case 'sizeof': return true;
    case 'coordinate': return expr.base === 'warpSize' || expr.base === 'blockDim';
    case 'ref': return expr.decl !== null && (expr.decl.kind === 'enumerator' || expr.decl.kind === 'template-parameter' || (expr.decl.kind === 'variable' && (expr.decl.constexpr || expr.decl.type.const === true)));
    case 'unary': return expr.op !== '*' && expr.op !== '&' && looksConstant(expr.operand);
    case 'cast': return looksConstant(expr.operand);
    case 'binary': return looksConstant(expr.left) && looksConstant(expr.right);
    case 'conditional': return looksConstant(expr.condition);
    case 'construct': return expr.arguments.length === 1 && expr.arguments.every(looksConstant);
    default: return false;
  }
}

class CostModel {
  private readonly memo = new WeakMap<Node, Weight>();
  private readonly open = new Set<Node>();

  constructor(private readonly env: Env, private readonly shares: Shares) {}

  weigh(node: Stmt | Expr): Weight {
    const known = this.memo.get(node);
    if (known !== undefined) return known;
    if (this.open.has(node)) return { n: UNKNOWN_CALL, assumed: true, long: true };
    this.open.add(node);
    const weight = isStmt(node) ? this.statement(node) : this.value(node);
    this.open.delete(node);
    this.memo.set(node, weight);
    return weight;
  }

  private constant(expr: Expr): bigint | null {
    return looksConstant(expr) ? constantOf(expr, this.env) : null;
  }

  private all(nodes: readonly (Stmt | Expr)[]): Weight {
    return plus(...nodes.map((node) => this.weigh(node)));
  }

  private statement(node: Stmt): Weight {
    switch (node.kind) {
      case 'compound': return this.all(node.body);
      case 'declare': return plus(...node.variables.map((variable) => (variable.init === null ? NOTHING : this.weigh(variable.init))));
      case 'expression': return this.weigh(node.expression);
      case 'empty': case 'goto': case 'break': case 'continue': return NOTHING;
      case 'if': {
        const head = plus(node.init === null ? NOTHING : this.weigh(node.init), node.conditionDecl === null || node.conditionDecl.init === null ? NOTHING : this.weigh(node.conditionDecl.init), this.weigh(node.condition));
        const decided = this.constant(node.condition);
        if (node.constexpr || decided !== null) {
          // No run-time branch: one arm remains.
          const arm = decided === null ? null : decided !== 0n ? node.then : node.else;
          return decided === null ? plus(this.weigh(node.then), node.else === null ? NOTHING : this.weigh(node.else)) : arm === null ? NOTHING : this.weigh(arm);
        }
        const share = this.shares(node.condition);
        const then = this.weigh(node.then);
        const otherwise = node.else === null ? NOTHING : this.weigh(node.else);
        if (!then.long && !otherwise.long && then.n + otherwise.n <= PREDICATION_LIMIT) return plus(head, then, otherwise);
        return add(plus(head, times(then, share.then), times(otherwise, share.else)), 1);
      }
      case 'for': case 'while': case 'do': case 'range-for': return this.loop(node);
      case 'switch': {
        const arms = plus(...node.arms.map((arm) => this.all(arm.body)));
        // A chain of compares or a jump table.
        return add(plus(node.init === null ? NOTHING : this.weigh(node.init), this.weigh(node.condition), arms), Math.min(node.arms.length, 6) + 1);
      }
      case 'return': return node.value === null ? NOTHING : this.weigh(node.value);
      case 'label': return this.weigh(node.body);
      case 'asm': return plus({ n: Math.max(1, node.text.split(';').filter((part) => part.trim() !== '').length), assumed: false, long: true }, this.all(node.inputs));
      case 'preprocessor': return plus(...node.arms.filter((arm) => arm.active).map((arm) => this.all(arm.body)));
      case 'macro-statement': return this.weigh(node.expanded);
      case 'opaque': return { n: UNKNOWN_CALL, assumed: true, long: true };
      default: return unreachable(node);
    }
  }

  private loop(node: Loop): Weight {
    const trips = tripsOf(node, this.env);
    const body = this.weigh(node.body);
    const step = node.kind === 'for' && node.step !== null ? this.weigh(node.step) : NOTHING;
    const test = node.kind === 'range-for' || node.condition === null ? NOTHING : this.weigh(node.condition);
    const init = node.kind === 'for' ? this.weigh(node.init) : node.kind === 'range-for' ? this.weigh(node.range) : NOTHING;
    // The compiler unrolls short constant loops: their counters vanish.
    const unrolled = trips.origin === 'constant' && trips.count <= UNROLLED;
    const overhead = unrolled ? NOTHING : add(plus(test, step), 1);
    const weight = plus(init, times(plus(body, overhead), trips.count), unrolled ? NOTHING : add(test, 1));
    return { n: weight.n, assumed: weight.assumed || trips.origin === 'assumed', long: true };
  }

  private value(node: Expr): Weight {
    switch (node.kind) {
      case 'literal': case 'coordinate': case 'this': case 'sizeof': case 'lambda': return NOTHING;
      case 'ref': return this.inMemory(node) && node.type.kind !== 'array' ? { n: 1, assumed: false, long: false } : NOTHING;
      case 'paren': return this.weigh(node.inner);
      case 'macro': return this.weigh(node.expanded);
      case 'unary':
        if (node.op === '&') return this.address(node.operand);
        if (node.op === '*') return add(this.weigh(node.operand), 1);
        return add(this.weigh(node.operand), node.op === '+' || strip(node.operand).kind === 'literal' ? 0 : 1);
      case 'update': return plus(this.target(node.target), { n: this.inMemory(node.target) ? 3 : isWide(node.type) ? 2 : 1, assumed: false, long: false });
      case 'binary': return this.binary(node);
      case 'assign': {
        const memory = this.inMemory(node.target);
        const operation = node.op === null ? 0 : this.operation(node.op, node.target.type, node.value) + (memory ? 1 : 0);
        const fused = node.op === '+' || node.op === '-' ? (this.isProduct(node.value) ? 1 : 0) : 0;
        return add(plus(this.weigh(node.value), this.target(node.target)), Math.max(0, operation - fused) + (memory ? 1 : 0));
      }
      case 'conditional': return add(plus(this.weigh(node.condition), this.weigh(node.then), this.weigh(node.else)), 1);
      case 'call': return this.call(node);
      case 'index': case 'member': {
        if (node.kind === 'member' && !this.inMemory(node)) return this.weigh(node.object);
        return add(this.address(node), 1);
      }
      case 'cast': return add(this.weigh(node.operand), this.conversion(node.operand.type, node.type));
      case 'construct': return this.all(node.arguments);
      case 'init-list': return this.all(node.elements);
      case 'opaque': return { n: UNKNOWN_CALL, assumed: true, long: true };
      default: return unreachable(node);
    }
  }

  /** Does the lvalue live in memory rather than in registers? Small local arrays with constant indices are registers. */
  private inMemory(lvalue: Expr): boolean {
    const expr = strip(lvalue);
    switch (expr.kind) {
      case 'ref': {
        const { decl } = expr;
        if (decl === null || decl.kind !== 'variable' || decl.constexpr || decl.type.const === true) return false;
        return !isAutomatic(decl);
      }
      case 'index': return !(strip(expr.base).type.kind === 'array' && !this.inMemory(expr.base) && strip(expr.index).kind === 'literal');
      case 'member': return expr.arrow ? strip(expr.object).kind !== 'this' : this.inMemory(expr.object);
      case 'unary': return expr.op === '*';
      case 'cast': return this.inMemory(expr.operand);
      default: return false;
    }
  }

  /** What it takes to compute where an lvalue lies. */
  private address(lvalue: Expr): Weight {
    const expr = strip(lvalue);
    switch (expr.kind) {
      case 'index': {
        const constant = this.constant(expr.index) !== null;
        const base = strip(expr.base);
        const inner = base.type.kind === 'array' && base.kind !== 'ref' ? this.address(base) : base.kind === 'ref' ? NOTHING : this.weigh(base);
        return add(plus(inner, this.weigh(expr.index)), constant ? 0 : 1);
      }
      case 'member': return expr.arrow ? this.weigh(expr.object) : this.address(expr.object);
      case 'unary': return expr.op === '*' ? this.weigh(expr.operand) : this.weigh(expr);
      case 'ref': return NOTHING;
      case 'cast': return this.address(expr.operand);
      default: return this.weigh(expr);
    }
  }

  private target(lvalue: Expr): Weight {
    return this.inMemory(lvalue) ? this.address(lvalue) : NOTHING;
  }

  private isProduct(expr: Expr): boolean {
    const inner = strip(expr);
    return inner.kind === 'binary' && inner.op === '*' && !isWide(inner.type);
  }

  private binary(node: Expr & { readonly kind: 'binary' }): Weight {
    if (this.constant(node) !== null) return NOTHING;
    const operands = plus(this.weigh(node.left), this.weigh(node.right));
    if (node.op === ',') return operands;
    // A product that feeds a sum is one multiply-add.
    const fused = (node.op === '+' || node.op === '-') && (this.isProduct(node.left) || this.isProduct(node.right)) ? 1 : 0;
    const cost = this.operation(node.op, this.common(node), node.right);
    return { ...add(operands, Math.max(0, cost - fused)), long: operands.long || cost > PREDICATION_LIMIT };
  }

  /** The type the operator works in: a comparison has type bool whatever it compares. */
  private common(node: Expr & { readonly kind: 'binary' }): Type {
    const left = node.left.type;
    const right = node.right.type;
    if (left.kind === 'float' && left.format === 'double') return left;
    if (right.kind === 'float') return right;
    if (left.kind === 'float' || isWide(left)) return left;
    return isWide(right) ? right : node.type.kind === 'unknown' ? left : node.type;
  }

  private operation(op: string, type: Type, right: Expr): number {
    if (op === '/' || op === '%') {
      if (type.kind === 'float') return type.format === 'double' ? DOUBLE_DIVISION : FLOAT_DIVISION;
      const divisor = this.constant(right);
      if (divisor !== null) {
        if (divisor > 0n && (divisor & (divisor - 1n)) === 0n) return 1;
        return op === '/' ? CONSTANT_DIVISION : CONSTANT_DIVISION + 1;
      }
      return isWide(type) ? WIDE_DIVISION : INTEGER_DIVISION;
    }
    if (type.kind === 'record' && type.decl.vector !== null) return type.decl.vector.lanes;
    if (isWide(type)) return op === '*' ? 4 : 2;
    return 1;
  }

  private conversion(from: Type, to: Type): number {
    if (from.kind === 'float' || to.kind === 'float') return from.kind === to.kind && from.kind === 'float' && to.kind === 'float' && from.format === to.format ? 0 : 1;
    if (from.kind === 'int' && to.kind === 'int') return to.bits === 64 && from.bits < 64 && from.signed ? 1 : 0;
    return 0;
  }

  private call(node: CallExpr): Weight {
    const { callee } = node;
    if (callee.kind === 'builtin') {
      const entry = builtin(callee.name);
      const cost = entry?.cost ?? UNKNOWN_CALL;
      return { ...add(this.all(node.arguments), cost), long: cost > PREDICATION_LIMIT || (entry?.barrier ?? null) !== null || (entry?.collective ?? null) !== null || entry?.atomic === true };
    }
    const passed = this.all(node.arguments);
    if (libraryCall(node) !== null) return { ...add(passed, UNKNOWN_CALL), long: true };
    const lambda = callee.kind === 'value' ? lambdaOf(callee.value) : null;
    if (lambda !== null) return { ...plus(passed, this.weigh(lambda.body)), long: true };
    const bodies = calleesOf(node, this.env.program);
    if (bodies.length === 0) return { n: passed.n + UNKNOWN_CALL, assumed: true, long: true };
    let n = 0;
    let assumed = passed.assumed;
    for (const body of bodies) {
      const inside = this.body(body);
      n += inside.n;
      assumed ||= inside.assumed;
    }
    // Which overload is meant the name does not tell: their mean.
    return { n: passed.n + n / bodies.length, assumed, long: true };
  }

  private body(fn: ReturnType<typeof calleesOf>[number]): Weight {
    if (fn.body === null) return { n: UNKNOWN_CALL, assumed: true, long: true };
    if (this.open.has(fn.body)) return { n: UNKNOWN_CALL, assumed: true, long: true };
    const env = this.env.of(fn);
    if (env === null || env === this.env) return { n: UNKNOWN_CALL, assumed: true, long: true };
    this.open.add(fn.body);
    const weight = modelOf(env, this.shares).enter(fn.body, this.open);
    this.open.delete(fn.body);
    return weight;
  }

  /** Weighs a body for a caller whose open bodies must not be entered again (recursion over functions). */
  private enter(body: Stmt, opened: ReadonlySet<Node>): Weight {
    const known = this.memo.get(body);
    if (known !== undefined) return known;
    const added = [...opened].filter((node) => !this.open.has(node) && node !== body);
    for (const node of added) this.open.add(node);
    const weight = this.weigh(body);
    for (const node of added) this.open.delete(node);
    return weight;
  }
}

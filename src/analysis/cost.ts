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
import { lambdaOf } from './lambdas.js';
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

const both: Shares = () => ({ then: 1, else: 1 });

const models = new WeakMap<Env, Map<Shares, CostModel>>();

export function costOf(node: Stmt | Expr, env: Env, shares: Shares = both): Cost {
  const weight = modelOf(env, shares).weightOf(node);
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

/**
 * Counts are plain numbers; `assumed` and `long` are flags that whatever is counted raises, collected per statement. Statements are kept, since arms
 * are asked for one by one and as parts of what holds them.
 */
class CostModel {
  private readonly memo = new Map<Node, Weight>();
  /** Bodies of functions that are being weighed: recursion ends there. */
  private open: ReadonlySet<Node> = new Set();
  private assumed = false;
  private long = false;

  constructor(private readonly env: Env, private readonly shares: Shares) {}

  weightOf(node: Stmt | Expr): Weight {
    return isStmt(node) ? this.kept(node) : this.weigh(node);
  }

  private weigh(node: Stmt | Expr): Weight {
    const { assumed, long } = this;
    this.assumed = false;
    this.long = false;
    const n = isStmt(node) ? this.statement(node) : this.value(node);
    const weight: Weight = { n, assumed: this.assumed, long: this.long };
    this.assumed = assumed;
    this.long = long;
    return weight;
  }

  /** A statement with its flags; counted once. */
  private kept(node: Stmt): Weight {
    const known = this.memo.get(node);
    if (known !== undefined) return known;
    const weight = this.weigh(node);
    // A figure found inside of recursion is kept too: it is an estimate, and asking again for every call would grow with the call tree.
    this.memo.set(node, weight);
    return weight;
  }

  private count(node: Stmt): number {
    const weight = this.kept(node);
    this.assumed ||= weight.assumed;
    this.long ||= weight.long;
    return weight.n;
  }

  private constant(expr: Expr): bigint | null {
    return looksConstant(expr) ? constantOf(expr, this.env) : null;
  }

  private statements(nodes: readonly Stmt[]): number {
    let n = 0;
    for (const node of nodes) n += this.count(node);
    return n;
  }

  private values(nodes: readonly Expr[]): number {
    let n = 0;
    for (const node of nodes) n += this.value(node);
    return n;
  }

  private unknown(n = UNKNOWN_CALL): number {
    this.assumed = true;
    this.long = true;
    return n;
  }

  private initialised(declaration: { readonly init: Expr | null } | null): number {
    return declaration === null || declaration.init === null ? 0 : this.value(declaration.init);
  }

  private statement(node: Stmt): number {
    switch (node.kind) {
      case 'compound': return this.statements(node.body);
      case 'declare': return node.variables.reduce((n, variable) => n + this.initialised(variable), 0);
      case 'expression': return this.value(node.expression);
      case 'empty': case 'goto': case 'break': case 'continue': return 0;
      case 'if': return this.branch(node);
      case 'for': case 'while': case 'do': case 'range-for': return this.loop(node);
      case 'switch': {
        const arms = node.arms.reduce((n, arm) => n + this.statements(arm.body), 0);
        // A chain of compares or a jump table.
        return (node.init === null ? 0 : this.count(node.init)) + this.initialised(node.conditionDecl) + this.value(node.condition) + arms + Math.min(node.arms.length, 6) + 1;
      }
      case 'return': return node.value === null ? 0 : this.value(node.value);
      case 'label': return this.count(node.body);
      case 'asm':
        this.long = true;
        return Math.max(1, node.text.split(';').filter((part) => part.trim() !== '').length) + this.values(node.inputs);
      case 'preprocessor': return node.arms.reduce((n, arm) => n + (arm.active ? this.statements(arm.body) : 0), 0);
      case 'macro-statement': return this.count(node.expanded);
      case 'opaque': return this.unknown();
      default: return unreachable(node);
    }
  }

  private branch(node: Stmt & { readonly kind: 'if' }): number {
    const decided = this.constant(node.condition);
    // No run-time branch: one arm remains.
    if (decided !== null) return decided !== 0n ? this.count(node.then) : node.else === null ? 0 : this.count(node.else);
    const head = (node.init === null ? 0 : this.count(node.init)) + this.initialised(node.conditionDecl) + this.value(node.condition);
    const then = this.kept(node.then);
    const otherwise = node.else === null ? null : this.kept(node.else);
    const long = then.long || otherwise?.long === true;
    this.assumed ||= then.assumed || otherwise?.assumed === true;
    this.long ||= long;
    const sum = then.n + (otherwise?.n ?? 0);
    if (node.constexpr) return sum;
    if (!long && sum <= PREDICATION_LIMIT) return head + sum;
    const share = this.shares(node.condition);
    return head + then.n * share.then + (otherwise?.n ?? 0) * share.else + 1;
  }

  private loop(node: Loop): number {
    const trips = tripsOf(node, this.env);
    const body = this.count(node.body);
    const step = node.kind === 'for' && node.step !== null ? this.value(node.step) : 0;
    const test = node.kind === 'range-for' || node.condition === null ? 0 : this.value(node.condition);
    const init = node.kind === 'for' ? this.count(node.init) : node.kind === 'range-for' ? this.value(node.range) : 0;
    // The compiler unrolls short constant loops: their counters vanish.
    const unrolled = trips.origin === 'constant' && trips.count <= UNROLLED;
    if (trips.origin === 'assumed') this.assumed = true;
    this.long = true;
    return init + trips.count * (body + (unrolled ? 0 : test + step + 1)) + (unrolled ? 0 : test + 1);
  }

  private value(node: Expr): number {
    switch (node.kind) {
      case 'literal': case 'coordinate': case 'this': case 'sizeof': case 'lambda': return 0;
      case 'ref': return node.type.kind !== 'array' && this.inMemory(node) ? 1 : 0;
      case 'paren': return this.value(node.inner);
      case 'macro': return this.value(node.expanded);
      case 'unary':
        if (node.op === '&') return this.address(node.operand);
        if (node.op === '*') return this.value(node.operand) + 1;
        return this.value(node.operand) + (node.op === '+' || strip(node.operand).kind === 'literal' ? 0 : 1);
      case 'update': return this.target(node.target) + (this.inMemory(node.target) ? 3 : isWide(node.type) ? 2 : 1);
      case 'binary': return this.binary(node);
      case 'assign': {
        const memory = this.inMemory(node.target);
        const operation = node.op === null ? 0 : this.operation(node.op, node.target.type, node.value) + (memory ? 1 : 0);
        const fused = (node.op === '+' || node.op === '-') && this.isProduct(node.value) ? 1 : 0;
        return this.value(node.value) + this.target(node.target) + Math.max(0, operation - fused) + (memory ? 1 : 0);
      }
      case 'conditional': return this.value(node.condition) + this.value(node.then) + this.value(node.else) + 1;
      case 'call': return this.call(node);
      case 'index': case 'member': {
        if (node.kind === 'member' && !this.inMemory(node)) return this.value(node.object);
        return this.address(node) + 1;
      }
      case 'cast': return this.value(node.operand) + this.conversion(node.operand.type, node.type);
      case 'construct': return this.values(node.arguments);
      case 'init-list': return this.values(node.elements);
      case 'opaque': return this.unknown();
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
  private address(lvalue: Expr): number {
    const expr = strip(lvalue);
    switch (expr.kind) {
      case 'index': {
        const base = strip(expr.base);
        const inner = base.type.kind === 'array' && base.kind !== 'ref' ? this.address(base) : base.kind === 'ref' ? 0 : this.value(base);
        return inner + this.value(expr.index) + (this.constant(expr.index) !== null ? 0 : 1);
      }
      case 'member': return expr.arrow ? this.value(expr.object) : this.address(expr.object);
      case 'unary': return expr.op === '*' ? this.value(expr.operand) : this.value(expr);
      case 'ref': return 0;
      case 'cast': return this.address(expr.operand);
      default: return this.value(expr);
    }
  }

  private target(lvalue: Expr): number {
    return this.inMemory(lvalue) ? this.address(lvalue) : 0;
  }

  private isProduct(expr: Expr): boolean {
    const inner = strip(expr);
    return inner.kind === 'binary' && inner.op === '*' && !isWide(inner.type);
  }

  private binary(node: Expr & { readonly kind: 'binary' }): number {
    if (this.constant(node) !== null) return 0;
    const operands = this.value(node.left) + this.value(node.right);
    if (node.op === ',') return operands;
    // A product that feeds a sum is one multiply-add.
    const fused = (node.op === '+' || node.op === '-') && (this.isProduct(node.left) || this.isProduct(node.right)) ? 1 : 0;
    const cost = this.operation(node.op, this.common(node), node.right);
    if (cost > PREDICATION_LIMIT) this.long = true;
    return operands + Math.max(0, cost - fused);
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
    if (from.kind === 'float' || to.kind === 'float') return from.kind === 'float' && to.kind === 'float' && from.format === to.format ? 0 : 1;
    if (from.kind === 'int' && to.kind === 'int') return to.bits === 64 && from.bits < 64 && from.signed ? 1 : 0;
    return 0;
  }

  private call(node: CallExpr): number {
    const { callee } = node;
    const passed = this.values(node.arguments);
    if (callee.kind === 'builtin') {
      const entry = builtin(callee.name);
      const cost = entry?.cost ?? UNKNOWN_CALL;
      if (cost > PREDICATION_LIMIT || (entry?.barrier ?? null) !== null || (entry?.collective ?? null) !== null || entry?.atomic === true) this.long = true;
      return passed + cost;
    }
    this.long = true;
    if (libraryCall(node) !== null) return passed + UNKNOWN_CALL;
    const lambda = callee.kind === 'value' ? lambdaOf(callee.value) : null;
    if (lambda !== null) return passed + this.body(lambda.body, this);
    const bodies = calleesOf(node, this.env.program);
    if (bodies.length === 0) return passed + this.unknown();
    let n = 0;
    for (const fn of bodies) {
      const env = fn.body === null ? null : this.env.of(fn);
      n += fn.body === null || env === null ? this.unknown() : this.body(fn.body, env === this.env ? this : modelOf(env, this.shares));
    }
    // Which overload is meant the name does not tell: their mean.
    return passed + n / bodies.length;
  }

  /** The body of a callee, weighed by the model of its environment; recursion counts as an unknown call. */
  private body(body: Stmt, model: CostModel): number {
    const known = model.memo.get(body);
    if (known === undefined && this.open.has(body)) return this.unknown();
    let weight = known;
    if (weight === undefined) {
      const before = model.open;
      model.open = new Set([...this.open, body]);
      weight = model.kept(body);
      model.open = before;
    }
    this.assumed ||= weight.assumed;
    return weight.n;
  }
}

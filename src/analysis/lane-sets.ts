/**
 * Exactly which lanes satisfy a condition, by evaluating it for every thread of a block in its C++ types.
 *
 * No algebra: promotion, conversion and wrap-around are done by src/cuda/integers.ts, the module that the simulator is tested against,
 * so `threadIdx.x - 1 < 31u` is false for lane 0 alone. Variables are replaced by their definitions where they have one whole one.
 *
 * Not handled (null): conditions that hold anything else than thread coordinates, block dimensions and constants; a result that C++
 * leaves undefined; floating point; calls except `min`, `max`, `abs`.
 */
import { commonType, fitsIn, INT32, operate, operateNumber, promote, sameType, UINT32, wrap, wrapNumber, type IntegerOperator, type IntegerType } from '../cuda/integers.js';
import { constantOf } from './constants.js';
import { integerType } from './affine.js';
import type { BlockShape, LaneSet } from './facts.js';
import { variableOf } from './lvalues.js';
import { strip } from './children.js';
import type { Uniformity } from './uniformity.js';
import type { Expr } from '../syntax/tree.js';

/** Linear coordinates of the thread that is evaluated. */
interface Thread { x: number; y: number; z: number }

/** Values of types of up to 32 bits are numbers, those of 64 bits big integers, which cost ten times as much. */
type Value = number | bigint;
export type LaneValues = readonly Value[];

/** Null where C++ leaves the value undefined. */
type Evaluate = (thread: Thread) => Value | null;

interface Compiled { readonly type: IntegerType; readonly at: Evaluate }

const MAX_NODES = 400;

interface Known { readonly shape: BlockShape; readonly values: LaneValues | null }

const kept = new WeakMap<Uniformity, Map<Expr, Known>>();

/** The value of an integer expression for every thread of a block, in linear order; null if it depends on more than coordinates and constants. */
export function laneValuesOf(expr: Expr, shape: BlockShape, state: Uniformity): LaneValues | null {
  let of = kept.get(state);
  if (of === undefined) kept.set(state, of = new Map());
  // One shape is asked for again and again: by every access and every branch below a condition.
  const before = of.get(expr);
  if (before !== undefined && before.shape.x === shape.x && before.shape.y === shape.y && before.shape.z === shape.z) return before.values;
  const values = evaluated(expr, shape, state);
  of.set(expr, { shape, values });
  return values;
}

function evaluated(expr: Expr, shape: BlockShape, state: Uniformity): LaneValues | null {
  const compiled = new Compiler(shape, state).compile(expr);
  if (compiled === null) return null;
  const { at } = compiled;
  const values: Value[] = [];
  const thread: Thread = { x: 0, y: 0, z: 0 };
  for (thread.z = 0; thread.z < shape.z; thread.z++) {
    for (thread.y = 0; thread.y < shape.y; thread.y++) {
      for (thread.x = 0; thread.x < shape.x; thread.x++) {
        const value = at(thread);
        if (value === null) return null;
        values.push(value);
      }
    }
  }
  return values;
}

/** The lanes for which a condition with these values holds. */
export function laneSetOf(values: LaneValues, shape: BlockShape, lanes: 32 | 64): LaneSet {
  const holds = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) holds[i] = isZero(values[i] ?? 0) ? 0 : 1;
  const warps = Math.ceil(values.length / lanes);
  let divergentWarps = 0;
  for (let warp = 0; warp < warps; warp++) if (!agree(holds, warp, lanes)) divergentWarps++;
  return { shape, holds, divergentWarps, warps };
}

/** Does every warp hold one value? More than one truth: `tid & 3` is true in lanes 1, 2 and 3 with three values. */
export function warpsAgree(values: LaneValues, lanes: 32 | 64): boolean {
  for (let warp = 0; warp * lanes < values.length; warp++) if (!agree(values, warp, lanes)) return false;
  return true;
}

function agree<T>(values: ArrayLike<T>, warp: number, lanes: 32 | 64): boolean {
  const end = Math.min(values.length, (warp + 1) * lanes);
  for (let i = warp * lanes + 1; i < end; i++) if (values[i] !== values[warp * lanes]) return false;
  return true;
}

function isZero(value: Value): boolean {
  return value === 0 || value === 0n;
}

/** The value as one of this type. */
function converted(value: Value, type: IntegerType): Value {
  if (type.bits === 64) return wrap(BigInt(value), type);
  return typeof value === 'number' ? wrapNumber(value, type) : Number(wrap(value, type));
}

/** The expression converted to a type. */
function as({ type: from, at }: Compiled, type: IntegerType): Evaluate {
  if (sameType(from, type) || (type.bits < 64 && fitsIn(from, type))) return at;
  return (thread) => {
    const value = at(thread);
    return value === null ? null : converted(value, type);
  };
}

function constant(value: Value, type: IntegerType): Compiled {
  const made = converted(value, type);
  return { type, at: () => made };
}

/** One of two values, by whether the expression is zero; of type `int`. */
function truth({ at }: Compiled, ofZero: 0 | 1): Compiled {
  return {
    type: INT32,
    at: (thread) => {
      const value = at(thread);
      return value === null ? null : isZero(value) ? ofZero : 1 - ofZero;
    },
  };
}

const COMPARISONS: ReadonlySet<IntegerOperator> = new Set(['<', '<=', '>', '>=', '==', '!=']);

function arithmetic(op: IntegerOperator, left: Compiled, right: Compiled): Compiled {
  const shifts = op === '<<' || op === '>>';
  const type = shifts ? promote(left.type) : commonType(left.type, right.type);
  const first = as(left, type);
  const second = shifts ? right.at : as(right, type);
  const result = COMPARISONS.has(op) ? INT32 : type;
  if (type.bits === 64) {
    const amount = shifts ? right.type : type;
    return {
      type: result,
      at: (thread) => {
        const x = first(thread);
        const y = x === null ? null : second(thread);
        if (x === null || y === null) return null;
        const made = operate(op, { value: BigInt(x), type }, { value: BigInt(y), type: amount });
        return made.undefinedBecause === null ? converted(made.value, result) : null;
      },
    };
  }
  const { signed } = type;
  return {
    type: result,
    at: (thread) => {
      const x = first(thread);
      const y = x === null ? null : second(thread);
      return x === null || y === null ? null : operateNumber(op, Number(x), Number(y), signed);
    },
  };
}

class Compiler {
  private nodes = 0;
  /** Definitions that are being looked through, or were. */
  private readonly values = new Map<number, Compiled | null>();

  constructor(private readonly shape: BlockShape, private readonly state: Uniformity) {}

  compile(expr: Expr): Compiled | null {
    if (++this.nodes > MAX_NODES) return null;
    switch (expr.kind) {
      case 'paren': return this.compile(expr.inner);
      case 'macro': return this.compile(expr.expanded);
      case 'literal': return this.literal(expr);
      case 'coordinate': return this.coordinate(expr);
      case 'ref': return this.reference(expr);
      case 'unary': return this.unary(expr);
      case 'binary': return this.binary(expr);
      case 'conditional': {
        const condition = this.compile(expr.condition);
        const first = condition === null ? null : this.compile(expr.then);
        const second = first === null ? null : this.compile(expr.else);
        const type = integerType(expr.type);
        if (condition === null || first === null || second === null || type === null) return null;
        const then = as(first, type);
        const other = as(second, type);
        return {
          type,
          at: (thread) => {
            const test = condition.at(thread);
            return test === null ? null : isZero(test) ? other(thread) : then(thread);
          },
        };
      }
      case 'cast': return this.converted(this.compile(expr.operand), expr);
      case 'construct': {
        const only = expr.arguments.length === 1 ? expr.arguments[0] : undefined;
        return only === undefined ? null : this.converted(this.compile(only), expr);
      }
      case 'call': return this.call(expr);
      default: return this.constant(expr);
    }
  }

  private constant(expr: Expr): Compiled | null {
    const type = integerType(expr.type);
    const value = type === null ? null : constantOf(expr, this.state.env);
    return type === null || value === null ? null : constant(value, type);
  }

  private literal(expr: Expr & { kind: 'literal' }): Compiled | null {
    const type = integerType(expr.type);
    if (typeof expr.value === 'boolean') return constant(expr.value ? 1 : 0, INT32);
    return typeof expr.value !== 'bigint' || type === null ? null : constant(expr.value, type);
  }

  private coordinate(expr: Expr & { kind: 'coordinate' }): Compiled | null {
    if (expr.base === 'warpSize') return this.constant(expr);
    const axis = expr.axis;
    if (axis === null) return null;
    if (expr.base === 'blockDim') return constant(this.shape[axis], UINT32);
    return expr.base === 'threadIdx' ? { type: UINT32, at: (thread) => thread[axis] } : null;
  }

  private reference(ref: Expr & { kind: 'ref' }): Compiled | null {
    const decl = variableOf(ref.decl);
    if (decl === null) return this.constant(ref);
    const id = this.state.defUse.reads.get(ref) ?? -1;
    if (id < 0 || this.state.defUse.memoryReferences.has(decl)) return null;
    return this.value(id);
  }

  private value(id: number): Compiled | null {
    const known = this.values.get(id);
    if (known !== undefined) return known;
    this.values.set(id, null);
    const made = this.definition(id);
    this.values.set(id, made);
    return made;
  }

  private definition(id: number): Compiled | null {
    const value = this.state.defUse.values[id];
    const type = value === undefined ? null : integerType(value.decl.type);
    if (value === undefined || type === null) return null;
    const finish = (inner: Compiled | null): Compiled | null => (inner === null ? null : value.decl.type.kind === 'bool' ? truth(inner, 0) : { type, at: as(inner, type) });
    if (value.kind === 'declaration') return finish(this.compile(initialiser(value.init)));
    if (value.kind !== 'assignment' || !value.whole) return null;
    if (value.node.kind === 'update') {
      const before = this.value(value.previous);
      return before === null ? null : finish(arithmetic(value.node.op === '++' ? '+' : '-', before, constant(1, INT32)));
    }
    const assigned = this.compile(value.node.value);
    const op = value.node.op;
    if (op === null || assigned === null) return finish(assigned);
    const before = this.value(value.previous);
    return before === null ? null : finish(arithmetic(op, before, assigned));
  }

  private unary(expr: Expr & { kind: 'unary' }): Compiled | null {
    if (expr.op === '*' || expr.op === '&') return null;
    const operand = integerType(expr.operand.type) === null ? null : this.compile(expr.operand);
    if (operand === null) return null;
    const type = promote(operand.type);
    switch (expr.op) {
      case '!': return truth(operand, 1);
      case '+': return { type, at: as(operand, type) };
      case '-': return arithmetic('-', constant(0, type), operand);
      // All bits turned round.
      case '~': return arithmetic('^', constant(-1, type), operand);
    }
  }

  private binary(expr: Expr & { kind: 'binary' }): Compiled | null {
    const op = expr.op;
    if (op === ',') return null;
    const left = this.compile(expr.left);
    const right = left === null ? null : this.compile(expr.right);
    if (left === null || right === null) return null;
    if (op !== '&&' && op !== '||') return arithmetic(op, left, right);
    const other = truth(right, 0).at;
    // The value of the first that decides alone.
    const alone = op === '||';
    return {
      type: INT32,
      at: (thread) => {
        const value = left.at(thread);
        return value === null ? null : isZero(value) !== alone ? Number(alone) : other(thread);
      },
    };
  }

  private converted(inner: Compiled | null, expr: Expr): Compiled | null {
    const type = integerType(expr.type);
    if (inner === null || type === null) return null;
    return expr.type.kind === 'bool' ? truth(inner, 0) : { type, at: as(inner, type) };
  }

  private call(expr: Expr & { kind: 'call' }): Compiled | null {
    if (expr.callee.kind !== 'builtin') return this.constant(expr);
    const name = expr.callee.name;
    const operands: Compiled[] = [];
    for (const argument of expr.arguments) {
      const compiled = integerType(argument.type) === null ? null : this.compile(argument);
      if (compiled === null) return null;
      operands.push(compiled);
    }
    const [first, second] = operands;
    if ((name === 'min' || name === 'max') && first !== undefined && second !== undefined && operands.length === 2) {
      const own = integerType(expr.type);
      if (own === null && expr.templateArguments !== null) return null;
      const type = own ?? commonType(first.type, second.type);
      const a = as(first, type);
      const b = as(second, type);
      return {
        type,
        at: (thread) => {
          const x = a(thread);
          const y = b(thread);
          return x === null || y === null ? null : (x < y) === (name === 'min') ? x : y;
        },
      };
    }
    return null;
  }
}

function initialiser(init: Expr): Expr {
  const e = strip(init);
  const only = e.kind === 'init-list' && e.elements.length === 1 ? e.elements[0] : undefined;
  return only ?? e;
}

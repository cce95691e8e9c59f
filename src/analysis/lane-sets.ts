/**
 * Exactly which lanes satisfy a condition, by evaluating it for every thread of a block in its C++ types.
 *
 * No algebra: promotion, conversion and wrap-around are done by src/cuda/integers.ts, the module that the simulator is tested against,
 * so `threadIdx.x - 1 < 31u` is false for lane 0 alone. Variables are replaced by their definitions where they have one whole one.
 *
 * Not handled (null): conditions that hold anything else than thread coordinates, block dimensions and constants; a result that C++
 * leaves undefined; floating point; calls except `min`, `max`, `abs`.
 */
import { convert, integer, negate, complement, operate, promote, commonType, type Integer, type IntegerOperator, INT32, UINT32 } from '../cuda/integers.js';
import { constantOf } from './constants.js';
import { integerType } from './affine.js';
import type { BlockShape, LaneSet } from './facts.js';
import { variableOf } from './lvalues.js';
import { strip } from './children.js';
import type { Uniformity } from './uniformity.js';
import type { Expr } from '../syntax/tree.js';

/** Linear coordinates of the thread that is evaluated. */
interface Thread { x: number; y: number; z: number }

type Evaluate = (thread: Thread) => Integer | null;

const TRUE = integer(1, INT32);
const FALSE = integer(0, INT32);
const MAX_NODES = 400;

/** The value of an integer expression for every thread of a block, in linear order; null if it depends on more than coordinates and constants. */
export function laneValuesOf(expr: Expr, shape: BlockShape, state: Uniformity): readonly bigint[] | null {
  const compiled = new Compiler(shape, state).compile(expr);
  if (compiled === null) return null;
  const values: bigint[] = [];
  const thread: Thread = { x: 0, y: 0, z: 0 };
  for (thread.z = 0; thread.z < shape.z; thread.z++) {
    for (thread.y = 0; thread.y < shape.y; thread.y++) {
      for (thread.x = 0; thread.x < shape.x; thread.x++) {
        const value = compiled(thread);
        if (value === null) return null;
        values.push(value.value);
      }
    }
  }
  return values;
}

/** The lanes for which a condition with these values holds. */
export function laneSetOf(values: readonly bigint[], shape: BlockShape, lanes: 32 | 64): LaneSet {
  const holds = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) holds[i] = values[i] === 0n ? 0 : 1;
  const warps = Math.ceil(values.length / lanes);
  let divergentWarps = 0;
  for (let warp = 0; warp < warps; warp++) if (!agree(holds, warp, lanes)) divergentWarps++;
  return { shape, holds, divergentWarps, warps };
}

/** Does every warp hold one value? More than one truth: `tid & 3` is true in lanes 1, 2 and 3 with three values. */
export function warpsAgree(values: readonly bigint[], lanes: 32 | 64): boolean {
  for (let warp = 0; warp * lanes < values.length; warp++) if (!agree(values, warp, lanes)) return false;
  return true;
}

function agree<T>(values: ArrayLike<T>, warp: number, lanes: 32 | 64): boolean {
  const end = Math.min(values.length, (warp + 1) * lanes);
  for (let i = warp * lanes + 1; i < end; i++) if (values[i] !== values[warp * lanes]) return false;
  return true;
}

const POSITIONS: Integer[] = [];

/** The coordinates of one axis, from 0 to at least `size - 1`: the same for every block. */
function positions(size: number): readonly Integer[] {
  for (let i = POSITIONS.length; i < size; i++) POSITIONS.push(integer(i, UINT32));
  return POSITIONS;
}

class Compiler {
  private nodes = 0;
  private readonly values = new Map<number, Evaluate | null>();

  constructor(private readonly shape: BlockShape, private readonly state: Uniformity) {}

  compile(expr: Expr): Evaluate | null {
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
        const then = condition === null ? null : this.compile(expr.then);
        const other = then === null ? null : this.compile(expr.else);
        const type = integerType(expr.type);
        if (condition === null || then === null || other === null || type === null) return null;
        return (thread) => {
          const test = condition(thread);
          const value = test === null ? null : test.value !== 0n ? then(thread) : other(thread);
          return value === null ? null : convert(value, type);
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

  private constant(expr: Expr): Evaluate | null {
    const type = integerType(expr.type);
    const value = type === null ? null : constantOf(expr, this.state.env);
    if (type === null || value === null) return null;
    const made = integer(value, type);
    return () => made;
  }

  private literal(expr: Expr & { kind: 'literal' }): Evaluate | null {
    const type = integerType(expr.type);
    if (typeof expr.value === 'boolean') { const made = expr.value ? TRUE : FALSE; return () => made; }
    if (typeof expr.value !== 'bigint' || type === null) return null;
    const made = integer(expr.value, type);
    return () => made;
  }

  private coordinate(expr: Expr & { kind: 'coordinate' }): Evaluate | null {
    if (expr.base === 'warpSize') return this.constant(expr);
    const axis = expr.axis;
    if (axis === null) return null;
    if (expr.base === 'blockDim') { const made = integer(this.shape[axis], UINT32); return () => made; }
    if (expr.base !== 'threadIdx') return null;
    const table = positions(this.shape[axis]);
    return (thread) => table[thread[axis]] ?? null;
  }

  private reference(ref: Expr & { kind: 'ref' }): Evaluate | null {
    const decl = variableOf(ref.decl);
    if (decl === null) return this.constant(ref);
    const id = this.state.defUse.reads.get(ref) ?? -1;
    if (id < 0 || this.state.defUse.memoryReferences.has(decl)) return null;
    return this.value(id);
  }

  private value(id: number): Evaluate | null {
    const known = this.values.get(id);
    if (known !== undefined) return known;
    this.values.set(id, null);
    const made = this.definition(id);
    this.values.set(id, made);
    return made;
  }

  private definition(id: number): Evaluate | null {
    const value = this.state.defUse.values[id];
    const type = value === undefined ? null : integerType(value.decl.type);
    if (value === undefined || type === null) return null;
    const finish = (inner: Evaluate | null): Evaluate | null => inner === null ? null : value.decl.type.kind === 'bool' ? asBool(inner) : (thread) => {
      const result = inner(thread);
      return result === null ? null : convert(result, type);
    };
    if (value.kind === 'declaration') return finish(this.compile(initialiser(value.init)));
    if (value.kind !== 'assignment' || !value.whole) return null;
    if (value.node.kind === 'update') {
      const before = this.value(value.previous);
      const one = integer(1, INT32);
      const op = value.node.op === '++' ? '+' : '-';
      return before === null ? null : finish((thread) => apply(op, before(thread), one));
    }
    const assigned = this.compile(value.node.value);
    const op = value.node.op;
    if (op === null || assigned === null) return finish(assigned);
    const before = this.value(value.previous);
    return before === null ? null : finish((thread) => apply(op, before(thread), assigned(thread)));
  }

  private unary(expr: Expr & { kind: 'unary' }): Evaluate | null {
    if (expr.op === '*' || expr.op === '&') return null;
    const operand = integerType(expr.operand.type) === null ? null : this.compile(expr.operand);
    if (operand === null) return null;
    const op = expr.op;
    return (thread) => {
      const value = operand(thread);
      if (value === null) return null;
      switch (op) {
        case '!': return value.value === 0n ? TRUE : FALSE;
        case '+': return convert(value, promote(value.type));
        case '~': return complement(value);
        case '-': {
          const result = negate(value);
          return result.undefinedBecause === null ? result : null;
        }
      }
    };
  }

  private binary(expr: Expr & { kind: 'binary' }): Evaluate | null {
    const op = expr.op;
    if (op === ',') return null;
    const left = this.compile(expr.left);
    const right = left === null ? null : this.compile(expr.right);
    if (left === null || right === null) return null;
    if (op === '&&') {
      return (thread) => {
        const value = left(thread);
        if (value === null) return null;
        if (value.value === 0n) return FALSE;
        const other = right(thread);
        return other === null ? null : other.value === 0n ? FALSE : TRUE;
      };
    }
    if (op === '||') {
      return (thread) => {
        const value = left(thread);
        if (value === null) return null;
        if (value.value !== 0n) return TRUE;
        const other = right(thread);
        return other === null ? null : other.value === 0n ? FALSE : TRUE;
      };
    }
    return (thread) => apply(op, left(thread), right(thread));
  }

  private converted(inner: Evaluate | null, expr: Expr): Evaluate | null {
    const type = integerType(expr.type);
    if (inner === null || type === null) return null;
    if (expr.type.kind === 'bool') return asBool(inner);
    return (thread) => {
      const value = inner(thread);
      return value === null ? null : convert(value, type);
    };
  }

  private call(expr: Expr & { kind: 'call' }): Evaluate | null {
    if (expr.callee.kind !== 'builtin') return this.constant(expr);
    const name = expr.callee.name;
    const operands: Evaluate[] = [];
    for (const argument of expr.arguments) {
      const compiled = integerType(argument.type) === null ? null : this.compile(argument);
      if (compiled === null) return null;
      operands.push(compiled);
    }
    const [first, second] = operands;
    if ((name === 'min' || name === 'max') && first !== undefined && second !== undefined && operands.length === 2) {
      const own = integerType(expr.type);
      if (own === null && expr.templateArguments !== null) return null;
      return (thread) => {
        const a = first(thread);
        const b = second(thread);
        if (a === null || b === null) return null;
        const type = own ?? commonType(a.type, b.type);
        const x = convert(a, type);
        const y = convert(b, type);
        return (x.value < y.value) === (name === 'min') ? x : y;
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

function asBool(inner: Evaluate): Evaluate {
  return (thread) => {
    const value = inner(thread);
    return value === null ? null : value.value === 0n ? FALSE : TRUE;
  };
}

function apply(op: IntegerOperator, left: Integer | null, right: Integer | null): Integer | null {
  if (left === null || right === null) return null;
  const result = operate(op, left, right);
  return result.undefinedBecause === null ? result : null;
}


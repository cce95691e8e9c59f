/**
 * Everything the uniformity of one kernel's functions shares: environments, coordinates under the kernel's block shape, solved callees.
 */
import type { Env } from './env.js';
import type { BlockFact } from './facts.js';
import { CONSTANT, GEOMETRY, ON_BLOCK, WARP, BLOCK, GRID } from './taint.js';
import { Uniformity, sameEntry, type Entry } from './uniformity.js';
import { storesOfCall } from './uniformity-calls.js';
import type { CallExpr, CoordinateExpr, FunctionDecl } from '../syntax/tree.js';

/** More combinations of argument elements than this are joined into unknown. */
const MAX_ENTRIES = 64;
/** Calls nested deeper than this are unknown. */
const MAX_DEPTH = 24;

export class World {
  private readonly solved = new Map<FunctionDecl, Uniformity[]>();
  private readonly open = new Set<FunctionDecl>();
  private known: BlockFact | null = null;
  private coordinates: readonly [number, number, number] | null = null;

  constructor(readonly kernel: FunctionDecl | null, private readonly lanes: 32 | 64, private readonly block: () => BlockFact, private readonly envOf: (fn: FunctionDecl) => Env | null) {}

  get shape(): BlockFact {
    return (this.known ??= this.block());
  }

  env(fn: FunctionDecl): Env | null {
    return this.envOf(fn);
  }

  /** Is the function being solved, so that a call of it is recursion? */
  isOpen(fn: FunctionDecl): boolean {
    return this.open.has(fn);
  }

  /**
   * The solved callee for one combination of elements. Null if it cannot be known: no body, recursion, too deep. A solution asked for
   * while it is being made is recursion.
   */
  solve(fn: FunctionDecl, entry: Entry): Uniformity | null {
    if (fn.body === null) return null;
    let known = this.solved.get(fn);
    if (known === undefined) this.solved.set(fn, known = []);
    const found = known.find((state) => sameEntry(state.entry, entry));
    if (found !== undefined) return this.open.has(fn) ? null : found;
    if (this.open.has(fn) || this.open.size >= MAX_DEPTH || known.length >= MAX_ENTRIES) return null;
    const env = this.envOf(fn);
    if (env === null) return null;
    this.open.add(fn);
    const made = new Uniformity(this, env, entry);
    try {
      made.solve();
    } finally {
      this.open.delete(fn);
    }
    known.push(made);
    return made;
  }

  storesOfCall(call: CallExpr, state: Uniformity): number {
    return storesOfCall(call, state);
  }

  /** Element of a built-in variable (SEMANTICS 1, table of values). */
  coordinate(expr: CoordinateExpr): number {
    switch (expr.base) {
      case 'warpSize': return CONSTANT;
      case 'blockDim': case 'gridDim': return GRID;
      case 'blockIdx': return BLOCK;
      case 'threadIdx': {
        this.coordinates ??= threadCoordinates(this.shape, this.lanes);
        const [x, y, z] = this.coordinates;
        switch (expr.axis) {
          case 'x': return x;
          case 'y': return y;
          case 'z': return z;
          case null: return x | y | z;
        }
      }
    }
  }
}

/** Elements of `threadIdx.x`, `.y`, `.z`: rows are whole warps if x is a multiple of a warp's lanes, and a dimension of 1 has one value. */
export function threadCoordinates(fact: BlockFact, lanes: 32 | 64): [number, number, number] {
  const shape = fact.value;
  if (shape === null) {
    if (fact.oneDimensional) return [GEOMETRY, CONSTANT | ON_BLOCK, CONSTANT | ON_BLOCK];
    return fact.xMultipleOf32 ? [GEOMETRY, WARP | ON_BLOCK, WARP | ON_BLOCK] : [GEOMETRY, GEOMETRY, GEOMETRY];
  }
  const axis = (size: number, inner: number): number => {
    if (size === 1) return CONSTANT | ON_BLOCK;
    return inner % lanes === 0 ? WARP | ON_BLOCK : GEOMETRY;
  };
  return [axis(shape.x, 1), axis(shape.y, shape.x), axis(shape.z, shape.x * shape.y)];
}

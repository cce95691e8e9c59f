/**
 * Bytes that memory must move for a part of a kernel, per thread that runs it. Memory moves sectors of 32 bytes: neighbouring threads that read neighbouring
 * elements share them (`dense`), a thread whose address comes out of data or out of a product pays for a whole one (`scattered`).
 *
 *     x[i]              dense: the size of an element                    x[next[i]]        scattered: a sector
 *     x[(k * n) + i]    dense, in every iteration of the loop over k      x[i + k]          dense, once: a window that the next threads share
 *     x[i % n]          dense                                             x[0], x[k]        nothing: a warp shares it
 *
 * Not handled: sharing by the caches over longer ways, strides between one element and a sector are rounded to bytes, calls whose
 * function is not known count one dense element an access.
 */
import { isStmt, strip, walk, type Node } from '../../src/analysis/children.js';
import { atLeast, type Atom, type FunctionFacts, type Loop, type MemoryAccess, type Monomial } from '../../src/analysis/facts.js';
import type { CallExpr, Decl, Expr, Stmt, Type } from '../../src/syntax/tree.js';
import { SECTOR } from './machine.js';

export interface Traffic {
  /** Bytes a thread that its neighbours share sectors with. */
  readonly dense: number;
  /** Bytes a thread in sectors of its own. */
  readonly scattered: number;
}

/** Footprints up to this many bytes stay in the first cache. */
const CACHED = 64 * 1024;
/** Elements that lie next to each other in a sector of 4-byte values: lanes of which one active one moves all. */
const SHARERS = 8;

/** Bytes a thread, all threads counted, where a share of them runs the part, here and there. */
export function movedBytes({ dense, scattered }: Traffic, share = 1): number {
  return dense * (1 - (1 - share) ** SHARERS) + scattered * share;
}

/** What the nodes move; `without` are parts of them that are left out. */
export function trafficOf(facts: FunctionFacts, roots: readonly (Stmt | Expr)[], without: readonly Node[] = [], depth = 0): Traffic {
  const seen = new Set<string>();
  let dense = 0;
  let scattered = 0;
  const followed = new Set<CallExpr>();
  for (const { call, callees } of facts.calls) {
    const [callee] = callees;
    if (callee?.body == null || callees.length !== 1 || depth >= MOST_CALLS || without.some((part) => holds(part, call))) continue;
    const root = roots.find((one) => holds(one, call));
    // Whatever a pointer leads to is global memory in the callee's own words: one that may lead to another space is counted in the caller's.
    if (root === undefined || facts.effects(call).accesses.some((access) => access.through !== null && isNear(access))) continue;
    const inside = trafficOf(facts.callee(call, callee), [callee.body], [], depth + 1);
    const times = facts.loops(call).filter((loop) => holds(root, loop)).reduce((product, loop) => product * Math.max(1, facts.trips(loop).count), 1);
    followed.add(call);
    dense += inside.dense * times;
    scattered += inside.scattered * times;
  }
  for (const root of roots) {
    for (const access of facts.effects(root).accesses) {
      if (isNear(access)) continue;
      if (access.through !== null && followed.has(access.through)) continue;
      if (without.some((part) => part.span.start <= access.node.span.start && access.node.span.end <= part.span.end && access.through === null)) continue;
      const way = access.through === null ? wayOf(facts, access, root) : { kind: 'dense' as const, bytes: sizeOf(access.node.type), times: 1, key: null };
      if (way === null) continue;
      if (way.key !== null) {
        if (seen.has(way.key)) continue;
        seen.add(way.key);
      }
      if (way.kind === 'dense') dense += way.bytes * way.times;
      else scattered += way.bytes * way.times;
    }
  }
  return { dense, scattered };
}

/** Calls within calls that are followed. */
const MOST_CALLS = 3;

/** Not moved by memory. */
function isNear({ space }: MemoryAccess): boolean {
  return space === 'shared' || space === 'local' || space === 'constant';
}

function holds(outer: Node, inner: Node): boolean {
  return outer.span.start <= inner.span.start && inner.span.end <= outer.span.end;
}

interface Way { readonly kind: 'dense' | 'scattered'; readonly bytes: number; readonly times: number; readonly key: string | null }

function wayOf(facts: FunctionFacts, access: MemoryAccess, root: Node): Way | null {
  const size = sizeOf(access.node.type);
  const index = indexOf(access.node);
  if (index === null) return null;
  const range = facts.range(index);
  if (range.low !== null && range.high !== null && Number(range.high - range.low + 1n) * size <= CACHED) return null;
  const form = facts.affine(index);
  if (form === null) return { kind: 'scattered', bytes: SECTOR, times: timesOf(facts, access, root, null), key: null };
  const times = timesOf(facts, access, root, form.terms);
  const stride = strideOf(facts, form.terms);
  if (stride === null) return { kind: 'scattered', bytes: Math.max(SECTOR, size), times, key: null };
  // One address for the warp: its sector, for all of them.
  if (stride === 0) return { kind: 'dense', bytes: SECTOR / 32, times, key: keyOf(access, form.terms) };
  const bytes = Math.min(stride * size, Math.max(SECTOR, size));
  return { kind: bytes >= SECTOR && size < SECTOR ? 'scattered' : 'dense', bytes, times, key: keyOf(access, form.terms) };
}

/** Elements that the address moves from a lane to the next; null if they lie anywhere. */
function strideOf(facts: FunctionFacts, terms: readonly Monomial[], depth = 0): number | null {
  let stride = 0n;
  for (const { coefficient, atoms } of terms) {
    // A row of the block is a warp or more: its other sides differ between warps.
    if (atoms.every((atom) => atLeast(atom.scope, 'warp') || isOtherSide(atom))) continue;
    const [atom] = atoms;
    if (atom === undefined || atoms.length > 1) return null;
    const expr = strip(atom.expr);
    if (expr.kind === 'coordinate') {
      stride += coefficient;
      continue;
    }
    // A remainder or quotient by what the warp shares moves with what is divided, but for where it wraps.
    if (expr.kind !== 'binary' || (expr.op !== '%' && expr.op !== '/') || depth > 2 || !atLeast(facts.scope(expr.right).value, 'warp')) return null;
    const inner = facts.affine(expr.left);
    const moved = inner === null ? null : strideOf(facts, inner.terms, depth + 1);
    if (moved === null) return null;
    stride += coefficient * BigInt(Math.round(moved));
  }
  return Number(stride < 0n ? -stride : stride);
}

function isOtherSide({ expr }: Atom): boolean {
  const side = strip(expr);
  return side.kind === 'coordinate' && side.base === 'threadIdx' && side.axis !== 'x';
}

/** How often the access comes to other bytes in one run of the root. */
function timesOf(facts: FunctionFacts, access: MemoryAccess, root: Node, terms: readonly Monomial[] | null): number {
  let times = 1;
  for (const loop of facts.loops(access.node)) {
    if (loop.span.start < root.span.start || loop.span.end > root.span.end) break;
    if (terms === null || movesOn(facts, loop, terms)) times *= Math.max(1, facts.trips(loop).count);
  }
  return times;
}

/** Each iteration comes to bytes that no neighbour has read. */
function movesOn(facts: FunctionFacts, loop: Loop, terms: readonly Monomial[]): boolean {
  const rows = new Set(terms.flatMap((term) => coordinatesOf(term).map((atom) => restOf(term, atom))));
  for (const term of terms) {
    for (const atom of term.atoms) {
      if (!changesIn(facts, atom, loop)) continue;
      const strides = strip(atom.expr).kind !== 'binary';
      // A window: steps of a few elements, or of as much as a neighbour in another direction lies away.
      if (strides && term.atoms.length === 1 && (term.coefficient < 0n ? -term.coefficient : term.coefficient) < 32n) continue;
      if (strides && term.atoms.length > 1 && rows.has(restOf(term, atom))) continue;
      return true;
    }
  }
  return false;
}

function coordinatesOf(term: Monomial): readonly Atom[] {
  return term.atoms.filter(isOtherSide);
}

/** What a term multiplies one of its atoms with. */
function restOf(term: Monomial, atom: Atom): string {
  return term.atoms.filter((other) => other !== atom).map((other) => other.key).sort().join('*');
}

function changesIn(facts: FunctionFacts, atom: Atom, loop: Loop): boolean {
  let changes = false;
  const assigned = (decl: Decl | null): boolean => decl !== null && (decl.kind === 'variable' || decl.kind === 'parameter') && facts.assignments(decl, loop).length > 0;
  if (assigned(atom.decl)) return true;
  walk(atom.expr, (node) => {
    if (!isStmt(node) && node.kind === 'ref' && assigned(node.decl)) changes = true;
    return !changes;
  });
  return changes;
}

function keyOf(access: MemoryAccess, terms: readonly Monomial[]): string | null {
  if (access.base === null) return null;
  const place = terms.map((term) => `${term.coefficient}*${term.atoms.map((atom) => atom.key).sort().join('*')}`).sort().join('+');
  return `${access.base.name} ${access.base.span.start} ${access.kind} ${place}`;
}

/** The index of an element: `p[e]`, `p[e].f`, `*(p + e)`; null for anything else. */
function indexOf(lvalue: Expr): Expr | null {
  const expr = strip(lvalue);
  switch (expr.kind) {
    case 'index': return expr.index;
    case 'member': return expr.arrow ? null : indexOf(expr.object);
    case 'cast': return indexOf(expr.operand);
    case 'unary': {
      const pointer = expr.op === '*' ? strip(expr.operand) : null;
      return pointer !== null && pointer.kind === 'binary' && pointer.op === '+' ? pointer.right : null;
    }
    default: return null;
  }
}

/** Bytes of a value; 4 where the type does not tell. */
function sizeOf(type: Type): number {
  switch (type.kind) {
    case 'bool': return 1;
    case 'int': return type.bits / 8;
    case 'float': return type.format === 'double' ? 8 : type.format === 'float' ? 4 : 2;
    case 'pointer': return 8;
    case 'reference': return sizeOf(type.to);
    case 'record': return type.decl.vector === null ? 4 : type.decl.vector.lanes * sizeOf(type.decl.vector.element);
    default: return 4;
  }
}

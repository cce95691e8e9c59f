/**
 * Loops that every thread runs equally often although their counter starts at the thread's own number.
 *
 *   for (int i = threadIdx.x; i < 1024; i += 256)         blocks of 256: four rounds for each thread
 *   for (int i = threadIdx.x; i < n; i += blockDim.x)     equal exactly if n is a multiple of blockDim.x
 *
 * With a known block, constant bound and constant step the rounds are counted for every thread. Otherwise a counter that starts at a coordinate and
 * runs to a bound that the threads share in steps that they share is only *contingent*: `unless` says what would make the rounds equal. The counter is
 * the variable of a `for` head that nothing else in the loop assigns; everything else (while loops, several counters, unsigned
 * wrap-around of the bound) is not handled and gives no answer. A `break` at the edge is told by `leavesAtTheEdge`.
 */
import { strip } from './children.js';
import type { Affine, BlockShape, FunctionFacts, Loop, Variable } from './facts.js';
import { lanesOfWarp } from './platform.js';
import type { Expr } from '../syntax/tree.js';

export interface Rounds {
  /** The widest group that surely runs equally many rounds; null if not known. */
  readonly equal: 'block' | 'warp' | null;
  readonly unless: string | null;
}

export const EVEN_BOUND = 'the bound is such that every thread runs equally many rounds';
const NOT_KNOWN: Rounds = { equal: null, unless: null };
const MAX_ROUNDS = 1 << 20;

interface Head { readonly counter: Variable; /** Null: by thread coordinates, but no sum of them (`grid.thread_rank()`). */ readonly start: Affine | null; readonly bound: Expr; readonly inclusive: boolean; readonly step: Expr | bigint }

export function equalRounds(loop: Loop, facts: FunctionFacts): Rounds {
  const head = headOf(loop, facts);
  if (head === null) return NOT_KNOWN;
  const shape = facts.block.value;
  const bound = facts.constant(head.bound) ?? fixed(facts.affine(head.bound));
  const step = typeof head.step === 'bigint' ? head.step : facts.constant(head.step) ?? fixed(facts.affine(head.step));
  const start = shape === null || bound === null || step === null || head.start === null ? null : startsOf(head.start, shape);
  if (start !== null && bound !== null && step !== null && step > 0n) {
    const limit = head.inclusive ? bound + 1n : bound;
    const rounds = start.map((from) => (from >= limit ? 0n : (limit - from + step - 1n) / step));
    if (rounds.some((count) => count > MAX_ROUNDS)) return NOT_KNOWN;
    const lanes = lanesOfWarp(facts.program, facts.unit);
    if (rounds.every((count) => count === rounds[0])) return { equal: 'block', unless: null };
    return { equal: rounds.every((count, i) => count === rounds[i - (i % lanes)]) ? 'warp' : null, unless: null };
  }
  if (shared(head.bound, facts) && (typeof head.step === 'bigint' || shared(head.step, facts)) && !(step !== null && bound !== null && shape !== null)) {
    return { equal: null, unless: EVEN_BOUND };
  }
  return NOT_KNOWN;
}

function shared(expr: Expr, facts: FunctionFacts): boolean {
  const verdict = facts.scope(expr);
  return verdict.known && verdict.value !== 'lane';
}

function headOf(loop: Loop, facts: FunctionFacts): Head | null {
  if (loop.kind !== 'for' || loop.condition === null || loop.step === null) return null;
  const condition = strip(loop.condition);
  if (condition.kind !== 'binary' || (condition.op !== '<' && condition.op !== '<=' && condition.op !== '!=')) return null;
  const left = strip(condition.left);
  if (left.kind !== 'ref' || left.decl === null || (left.decl.kind !== 'variable' && left.decl.kind !== 'parameter')) return null;
  const counter = left.decl;
  const init = loop.init.kind === 'declare' ? loop.init.variables.find((variable) => variable === counter)?.init ?? null : assigned(loop.init.kind === 'expression' ? loop.init.expression : null, counter);
  const step = stepOf(loop.step, counter);
  if (init === null || step === null || facts.assignments(counter, loop.body).length > 0 || facts.addressTaken(counter)) return null;
  const start = facts.affine(init);
  if (start === null ? !byCoordinates(init, facts) : start.wraps !== 'never' && start.terms.some((term) => term.coefficient < 0n)) return null;
  return { counter, start, bound: condition.right, inclusive: condition.op === '<=', step };
}

function byCoordinates(expr: Expr, facts: FunctionFacts): boolean {
  const verdict = facts.scope(expr);
  return verdict.known && !verdict.sources.data;
}

/**
 * `if (index >= bound) break;` where the index starts at the thread's own number and moves by steps that all threads share: threads leave in different rounds unless the
 * bound is a multiple of what they move by together, as in the strided loops above.
 */
export function leavesAtTheEdge(condition: Expr, loop: Loop, facts: FunctionFacts): boolean {
  const test = strip(condition);
  if (test.kind !== 'binary') return false;
  if (test.op === '||' || test.op === '&&') return [test.left, test.right].every((part) => shared(part, facts) || leavesAtTheEdge(part, loop, facts));
  if (test.op !== '<' && test.op !== '<=' && test.op !== '>' && test.op !== '>=') return false;
  const index = shared(test.right, facts) ? test.left : shared(test.left, facts) ? test.right : null;
  const form = index === null || !byCoordinates(index, facts) ? null : facts.affine(index);
  if (form === null) return false;
  const atoms = form.terms.flatMap((term) => term.atoms);
  return atoms.some(({ decl, scope }) => scope !== 'lane' && decl !== null && (decl.kind === 'variable' || decl.kind === 'parameter') && facts.assignments(decl, loop).length > 0);
}

function assigned(expr: Expr | null, counter: Variable): Expr | null {
  const e = expr === null ? null : strip(expr);
  return e !== null && e.kind === 'assign' && e.op === null && isRef(e.target, counter) ? e.value : null;
}

function isRef(expr: Expr, counter: Variable): boolean {
  const e = strip(expr);
  return e.kind === 'ref' && e.decl === counter;
}

function stepOf(written: Expr, counter: Variable): Expr | bigint | null {
  const step = strip(written);
  if (step.kind === 'update') return step.op === '++' && isRef(step.target, counter) ? 1n : null;
  if (step.kind !== 'assign' || !isRef(step.target, counter)) return null;
  if (step.op === '+') return step.value;
  const sum = strip(step.value);
  if (step.op !== null || sum.kind !== 'binary' || sum.op !== '+') return null;
  return isRef(sum.left, counter) ? sum.right : isRef(sum.right, counter) ? sum.left : null;
}

/** The value of a form without symbols. */
function fixed(form: Affine | null): bigint | null {
  if (form === null || form.terms.some((term) => term.atoms.length > 0)) return null;
  return form.terms.reduce((sum, term) => sum + term.coefficient, 0n);
}

/** The value of a form of thread coordinates for every thread of the block; null if it holds anything else. */
function startsOf(form: Affine, shape: BlockShape): readonly bigint[] | null {
  const weight = { x: 0n, y: 0n, z: 0n };
  let constant = 0n;
  for (const term of form.terms) {
    const [atom, more] = term.atoms;
    if (atom === undefined) { constant += term.coefficient; continue; }
    const expr = strip(atom.expr);
    if (more !== undefined || expr.kind !== 'coordinate' || expr.base !== 'threadIdx' || expr.axis === null) return null;
    weight[expr.axis] += term.coefficient;
  }
  const starts: bigint[] = [];
  for (let z = 0; z < shape.z; z++) for (let y = 0; y < shape.y; y++) for (let x = 0; x < shape.x; x++) {
    starts.push(constant + weight.x * BigInt(x) + weight.y * BigInt(y) + weight.z * BigInt(z));
  }
  return starts;
}

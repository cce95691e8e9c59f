/**
 * Runs that have one iteration at most, which are written as an `if`, and runs that have none, which are not written.
 *
 *     for (; k < n && k < 1; k++) A          if (k < n) { A k++; }        where k starts at zero
 *     for (; k < n; k++) B                   if (k < n) B                 where the run in front of it went on while k < n - 1
 */
import { strip } from '../../src/analysis/children.js';
import { stepOf } from '../../src/analysis/induction.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { commaList, conjunctsOf, jumpsOf } from '../lib/loops.js';
import { add, constant, equal, interval, isConstant, linearIn, multiply, subtract, symbol, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import type { Reader } from '../lib/guards/reading.js';
import { visitLive, type Decisions } from '../lib/guards/simplify.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';
import type { TransformContext } from '../lib/types.js';
import type { Counter } from './counters.js';
import { entryValue } from './head-facts.js';
import type { Run, RunTest } from './range.js';

export interface Course {
  readonly context: TransformContext;
  readonly loop: PeelableLoop;
  readonly counter: Counter;
  readonly sym: Sym;
  readonly reader: Reader;
  /** Below zero where the loop's own tests hold. */
  readonly tested: readonly Poly[];
}

/** The runs without those that never run, and with `single` for those that are an `if`. */
export function shortened(course: Course, runs: readonly Run[]): readonly Run[] {
  const { counter, reader, loop, sym, tested } = course;
  if (!counter.monotone || counter.direction === 0 || runs.length < 2) return runs;
  const start = entryValue(reader, counter);
  const [first, ...later] = runs;
  if (first === undefined) return runs;
  if (start !== null && first.test !== null && holdsAt(course, first.test, start) === false) return shortened(course, later);
  const step = stepIn(course);
  return runs.map((run, i) => {
    const before = runs[i - 1];
    const certain = i === 0 && start !== null && run.test !== null && holdsAt(course, run.test, start) === true;
    if (step === null || jumps(course, run.decisions)) return run;
    const once = run.once === true || (before === undefined
      ? start !== null && run.test !== null && holdsAt(course, run.test, moved(course, start, step)) === false
      : before.test !== null && endsAfterOne(course, before.test, run, step));
    const entered = certain && loop.condition !== null && tested.length === conjunctsOf(loop.condition).length && tested.every((form) => interval(replaced(form, sym, start)).high < 0n);
    return once ? { ...run, single: { certain, entered } } : run;
  });
}

function moved({ counter }: Course, value: Poly, by: Poly): Poly {
  return counter.direction === 1 ? add(value, by) : subtract(value, by);
}

/** What a run's test says of a value of the counter; null if it is not known. */
function holdsAt({ sym }: Course, { side, changes, nearest }: RunTest, value: Poly): boolean | null {
  const each = changes.map(({ level, divisor }) => {
    const gap = interval(subtract(multiply(divisor, replaced(symbol(sym), sym, value)), level));
    const below = gap.high < 0n ? true : gap.low >= 0n ? false : null;
    return below === null ? null : below === (side === '<');
  });
  // Below the nearest of them is below all, and not below the farthest is not below any.
  const all = nearest === (side === '<');
  if (each.some((one) => one === !all)) return !all;
  return each.every((one) => one === all) ? all : null;
}

function replaced(poly: Poly, sym: Sym, value: Poly): Poly {
  const split = linearIn(poly, sym);
  return split === null ? poly : add(multiply(split.coefficient, value), split.rest);
}

/** The run begins where the one before ended, at its bound or past it: one step on, its own test fails, or the loop's. */
function endsAfterOne(course: Course, before: RunTest, run: Run, step: Poly): boolean {
  const { sym, counter, tested } = course;
  const [edge, more] = before.changes;
  if (edge === undefined || more !== undefined || !equal(edge.divisor, constant(1n)) || before.side !== (counter.direction === 1 ? '<' : '>=')) return false;
  // The nearest value at which the run may begin, one step on.
  const next = moved(course, counter.direction === 1 ? edge.level : subtract(edge.level, constant(1n)), step);
  if (run.test !== null && run.test.changes.length === 1 && run.test.side === before.side && holdsAt(course, run.test, next) === false) return true;
  return run.keepsLoopTest && tested.some((form) => {
    const split = linearIn(form, sym);
    if (split === null || !isConstant(split.coefficient)) return false;
    const rises = interval(split.coefficient).low > 0n;
    return rises === (counter.direction === 1) && interval(split.coefficient).high !== 0n && interval(replaced(form, sym, next)).low >= 0n;
  });
}

/** What each iteration moves the counter by, at least one; null if it need not move, or is not known. */
function stepIn({ context: { facts }, loop, counter, reader }: Course): Poly | null {
  const [update, more] = counter.updates;
  if (update === undefined || more !== undefined) return null;
  const statements = loop.body.kind === 'compound' ? loop.body.body : [loop.body];
  const inStep = loop.kind === 'for' && loop.step !== null && commaList(loop.step).some((part) => strip(part) === strip(update));
  const inBody = statements.some((stmt) => stmt.kind === 'expression' && commaList(stmt.expression).some((part) => strip(part) === strip(update)));
  if (!inStep && (!inBody || jumpsOf(loop.body).some((jump) => jump.kind === 'continue'))) return null;
  const step = stepOf(update, counter.variable);
  if (step === null || (step.op !== '+' && step.op !== '-')) return null;
  if (step.amount === null) return constant(1n);
  if (facts.effects(step.amount).unknownCalls.length > 0) return null;
  const amount = reader.read(step.amount);
  if (amount === null || !amount.exact || amount.assumed || (amount.needs ?? []).length > 0) return null;
  const fixed = symbolsOf(amount.poly).every(({ role }) => role !== 'inner' && role !== 'counter');
  return fixed && interval(amount.poly).low >= 1n ? amount.poly : null;
}

/** A `break` or `continue` of the loop is left in the run, or a jump to a label. */
function jumps({ context: { facts }, loop }: Course, decisions: Decisions): boolean {
  const own: ReadonlySet<Stmt> = new Set(jumpsOf(loop.body).filter((jump) => jump.kind !== 'return'));
  if (own.size === 0) return false;
  let found = false;
  visitLive(facts, loop.body, decisions, (stmt) => { found ||= own.has(stmt); });
  return found;
}

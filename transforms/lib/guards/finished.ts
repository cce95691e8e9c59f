/**
 * Recognises what peel has written: runs that follow each other with one counter, or two versions in the arms of an `if`, one of which
 * lacks the guards of the other. The one that keeps them is not peeled again.
 */
import { isStmt, walk, type Node } from '../../../src/analysis/children.js';
import type { FunctionFacts } from '../../../src/analysis/facts.js';
import type { Decl, IfStmt, Stmt } from '../../../src/syntax/tree.js';
import { codeOf } from '../equality.js';
import { isPeelable, type PeelableLoop } from './tested-loop.js';
import type { Guard } from './guards.js';

/** The loop beside this one that does its work without the guards; null if there is none. */
export function finishedBeside(facts: FunctionFacts, loop: PeelableLoop, guards: readonly Guard[]): PeelableLoop | null {
  return [...runsBeside(facts, loop), ...versionsBeside(facts, loop)].find((other) => lacks(facts, other, guards)) ?? null;
}

/** None of the comparisons stands in the body of the loop. */
export function lacks(facts: FunctionFacts, loop: PeelableLoop, guards: readonly Guard[]): boolean {
  const { source } = facts.unit;
  const texts = guards.map((guard) => codeOf(source, guard.comparison.span));
  const code = codeOf(source, loop.body.span);
  if (texts.every((text) => !code.includes(text))) return true;
  // `i < n` is a part of `2 * i < n` too.
  const compared = comparisonsIn(facts, loop);
  return texts.every((text) => !compared.has(text));
}

function comparisonsIn(facts: FunctionFacts, { body }: PeelableLoop): ReadonlySet<string> {
  const found = new Set<string>();
  walk(body, (node) => { if (node.kind === 'binary' && COMPARING.has(node.op)) found.add(codeOf(facts.unit.source, node.span)); });
  return found;
}

const COMPARING: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=']);

/** Does the guard stand in a loop inside `loop` that another one beside it does without it? Then it is decided where that can be, and stays for the rest. */
export function finishedInside(facts: FunctionFacts, loop: PeelableLoop, guard: Guard): boolean {
  for (let at = facts.parent(guard.comparison); at !== null && at !== loop; at = facts.parent(at)) {
    if (isStmt(at) && (at.kind === 'for' || at.kind === 'while') && isPeelable(at) && finishedBeside(facts, at, [guard]) !== null) return true;
  }
  return false;
}

/** Loops in front of and behind this one that go on with its counter. */
export function runsBeside(facts: FunctionFacts, loop: PeelableLoop): readonly PeelableLoop[] {
  const parent = facts.parent(loop);
  if (parent === null || parent.kind !== 'compound') return [];
  const index = parent.body.indexOf(loop);
  const result: PeelableLoop[] = [];
  for (const step of [-1, 1]) {
    let at = index + step;
    // Constants that a bound needs may stand between the runs, and single iterations.
    while (isBetween(facts, loop, parent.body[at])) at += step;
    const other = parent.body[at];
    if (other === undefined) continue;
    for (const run of loopsOf(other, false)) if (step < 0 ? continues(facts, loop, run) : continues(facts, run, loop)) result.push(run);
  }
  return result;
}

function isBetween(facts: FunctionFacts, loop: PeelableLoop, stmt: Stmt | undefined): boolean {
  if (stmt === undefined) return false;
  if (stmt.kind === 'declare') return true;
  if (stmt.kind !== 'if' || stmt.else !== null) return false;
  const last = stmt.then.kind === 'compound' ? stmt.then.body.at(-1) : stmt.then;
  return last !== undefined && last.kind === 'expression' && codeOf(facts.unit.source, last.expression.span) === movingCode(facts, loop);
}

/**
 * The second loop starts where the first one stopped: no initialiser, the same counter, the same step. A test that is constant, or about
 * something else, does not name the counter: then the body of the second loop moves what the first one tests.
 */
function continues(facts: FunctionFacts, second: PeelableLoop, first: PeelableLoop): boolean {
  if (second.kind !== first.kind || (second.kind === 'for' && second.init.kind !== 'empty')) return false;
  const shared = new Set<Decl>([...testedIn(second), ...facts.effects(second).assigns]);
  return sameStep(facts, second, first) && [...testedIn(first)].some((decl) => shared.has(decl));
}

/** One step in the head of both; loops without such a head move the same variable, wherever their bodies do, unless one ends in a jump. */
export function sameStep(facts: FunctionFacts, second: PeelableLoop, first: PeelableLoop): boolean {
  if (second.kind === 'for' && second.step !== null) return stepCode(facts, second) === stepCode(facts, first);
  if (stepCode(facts, second) === null || stepCode(facts, first) === null) return true;
  const [own, other] = [facts.effects(second).assigns, facts.effects(first).assigns];
  return [...testedIn(first)].some((decl) => decl.kind === 'variable' || decl.kind === 'parameter' ? own.has(decl) && other.has(decl) : false);
}

function testedIn(loop: PeelableLoop): ReadonlySet<Decl> {
  const decls = new Set<Decl>();
  if (loop.condition !== null) walk(loop.condition, (node) => { if (node.kind === 'ref' && node.decl !== null) decls.add(node.decl); });
  return decls;
}

/** What moves the counter: the step of a `for`, the last statement of another loop; null if that is a jump. */
export function stepCode(facts: FunctionFacts, loop: PeelableLoop): string | null {
  const { source } = facts.unit;
  if (loop.kind === 'for') return loop.step === null ? '' : codeOf(source, loop.step.span);
  const last = loop.body.kind === 'compound' ? loop.body.body.at(-1) : loop.body;
  if (last !== undefined && (last.kind === 'return' || last.kind === 'break' || last.kind === 'continue')) return null;
  return last === undefined ? '' : codeOf(source, last.span);
}

/** The step of a `for`, or the expression that ends the body of another loop. */
function movingCode(facts: FunctionFacts, loop: PeelableLoop): string | null {
  if (loop.kind === 'for') return stepCode(facts, loop);
  const last = loop.body.kind === 'compound' ? loop.body.body.at(-1) : loop.body;
  return last !== undefined && last.kind === 'expression' ? codeOf(facts.unit.source, last.expression.span) : null;
}

/**
 * Loops with the same step in the other arm of the `if` whose arm this loop is. Later edits may have put tests around either of them: such a loop beside
 * counts if it works on nothing that this one does not work on.
 */
export function versionsBeside(facts: FunctionFacts, loop: PeelableLoop): readonly PeelableLoop[] {
  const place = armOf(facts, loop);
  if (place === null) return [];
  const own = stepCode(facts, loop);
  const plain = place.untested ? loopsOf(place.other, false) : [];
  return loopsOf(place.other, true)
    .filter((other) => other.kind === loop.kind && (stepCode(facts, other) === own || sameStep(facts, loop, other)))
    .filter((other) => plain.includes(other) || namesNoMore(other, loop, place.branch));
}

/** The nearest `if` with two arms of which one is the loop and no other statement, and whether no further test stands around the loop there; null if there is none. */
function armOf(facts: FunctionFacts, loop: PeelableLoop): { readonly branch: IfStmt; readonly other: Stmt; readonly untested: boolean } | null {
  let at: Stmt = loop;
  for (let untested = true; ;) {
    const parent: Node | null = facts.parent(at);
    if (parent === null || !isStmt(parent)) return null;
    if (parent.kind === 'if') {
      if (parent.else !== null) return { branch: parent, other: parent.then === at ? parent.else : parent.then, untested };
      untested = false;
    } else if (parent.kind !== 'compound' || parent.body.length !== 1) {
      return null;
    }
    at = parent;
  }
}

/** The loop works on nothing that the other one does not work on; what stands in the arms themselves may have been added by later edits. */
export function namesNoMore(interior: PeelableLoop, whole: PeelableLoop, { then, else: other }: IfStmt): boolean {
  const inArms = (decl: Decl): boolean => [then, other].some((arm) => arm !== null && decl.span.start >= arm.span.start && decl.span.end <= arm.span.end);
  const known = namedIn(whole);
  return [...namedIn(interior)].every((decl) => known.has(decl) || inArms(decl));
}

function namedIn({ body }: PeelableLoop): ReadonlySet<Decl> {
  const decls = new Set<Decl>();
  walk(body, (node) => { if (node.kind === 'ref' && node.decl !== null) decls.add(node.decl); });
  return decls;
}

/** The loop that a statement is, or the loops that runs of it were split into since; with `tested`, those below a test without another arm too. */
function loopsOf(stmt: Stmt, tested: boolean): readonly PeelableLoop[] {
  if (stmt.kind === 'for' || stmt.kind === 'while') return isPeelable(stmt) ? [stmt] : [];
  if (stmt.kind === 'compound') return stmt.body.flatMap((child) => loopsOf(child, tested));
  if (stmt.kind !== 'if' || (stmt.else === null && !tested)) return [];
  return [...loopsOf(stmt.then, tested), ...(stmt.else === null ? [] : loopsOf(stmt.else, tested))];
}

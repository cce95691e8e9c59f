/**
 * Out of which loop a branch may be taken, and why. Starting at the innermost loop, the branch climbs as long as everything that
 * makes the step legal is proved for the next loop too.
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import { atLeast, joinScope, type Effects, type Loop, type Scope, type Verdict } from '../../src/analysis/facts.js';
import type { Decl, DeclareStmt, Expr, Stmt, VariableDecl } from '../../src/syntax/tree.js';
import { copyHazards, copySafe, declaredIn, namesResolve, noDirectiveAcross, noGoto, notInMacro } from '../lib/common-obligations.js';
import { contractionStable } from '../lib/contraction.js';
import { sameExpr, sameType } from '../lib/equality.js';
import { excerpt, lineOf, proved, provedUnder, refuted, unknown } from '../lib/obligation.js';
import { statementStart } from '../lib/text.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { entryOf } from './entry.js';
import { innerBreaks, lastJump, plain, testsOf, withTests, type Branch } from './shape.js';

/** Lines that the copies of one loop may take together. */
export const GROWTH_LIMIT = 400;

/** An entry test that stands in front of the conditions. */
export interface Guard {
  readonly text: string;
  readonly exprs: readonly Expr[];
}

/** The verdict for one loop. */
export interface Level {
  readonly loop: Loop;
  readonly branch: Branch;
  /** Entry tests under which the conditions are evaluated, outermost first. */
  readonly guards: readonly Guard[];
  /** `__shared__` declarations that move in front of the copies. */
  readonly shared: readonly DeclareStmt[];
  readonly obligations: readonly Obligation[];
  readonly legal: boolean;
}

/** Obligations of taking `branch` out of `loops[depth]`, given what was found for the loop inside it. */
export function levelAt(context: TransformContext, branch: Branch, loops: readonly Loop[], depth: number, inner: Level | null): Level {
  const loop = loops[depth];
  if (loop === undefined) throw new Error('internal: no loop at this depth');
  const { facts } = context;
  const line = lineOf(context, branch.stmt);
  const effects = facts.effects(loop);
  const cut = withTests(branch, invariantTests(context, branch, loop));
  const tests = testsOf(cut);
  const innerGuards = inner?.guards ?? [];
  const evaluated = [...tests, ...innerGuards.flatMap((guard) => guard.exprs)];

  const safe = safeEarly(context, cut, loop, evaluated, innerGuards.length > 0);
  const shared = movableShared(context, loop);
  const invariant = conditionInvariant(context, evaluated, loop);
  const obligations: Obligation[] = [
    noGoto(context),
    notInMacro(context, [loop, cut.stmt, ...tests]),
    ownText(context, cut, loop),
    noDirectiveAcross(context, { start: statementStart(loop), end: loop.span.end }),
    atRunTime(context, cut),
    invariant,
    conditionPure(context, evaluated),
    noBarrierUnderDivergence(context, evaluated, effects, line),
    copySafe(context, [loop], new Set(shared.flatMap((stmt) => stmt.variables))),
    alreadyDone(context, cut, loop),
    codeGrowth(context, cut, loop),
    contractionStable(context, loop),
  ];
  // What a condition that changes would mean in front of the loop is of no interest.
  if (invariant.status !== 'refuted') obligations.push(safe.obligation, namesResolve(context, tests, loop));
  if (cut.kind === 'switch') obligations.push(armsClosed(context, cut));
  if (cut.kind === 'ternary') obligations.push(armTypes(context, cut));
  if (shared.length > 0) obligations.push(sharedNamesFree(context, shared, loop));
  const guards = safe.guard === null ? innerGuards : [safe.guard, ...innerGuards];
  return { loop, branch: cut, guards, shared, obligations: merge(obligations), legal: obligations.every((o) => o.status === 'proved' || o.status === 'assumed') };
}

/** The first bad obligation of each id, else the first. */
function merge(obligations: readonly Obligation[]): readonly Obligation[] {
  const byId = new Map<string, Obligation>();
  for (const obligation of obligations) {
    const known = byId.get(obligation.id);
    if (known === undefined || (known.status === 'proved' && obligation.status !== 'proved')) byId.set(obligation.id, obligation);
  }
  return [...byId.values()];
}

/** How many tests of a chain may be taken out together: the leading ones that do not change, at least one. */
function invariantTests(context: TransformContext, branch: Branch, loop: Loop): number {
  const tests = testsOf(branch);
  let count = 1;
  while (count < tests.length) {
    const test = tests[count];
    if (test === undefined || conditionInvariant(context, [test], loop).status !== 'proved') break;
    if (conditionPure(context, [test]).status !== 'proved' || context.facts.effects(test).faults.length > 0) break;
    count++;
  }
  return count;
}

// --------------------------------------------------------------------------------------------------------- the condition

function atRunTime(context: TransformContext, branch: Branch): Obligation {
  const id = 'condition-at-run-time';
  const line = lineOf(context, branch.stmt);
  if (branch.kind === 'if' && branch.stmt.constexpr) return refuted(id, line, 'if constexpr is decided when the template is instantiated');
  if ((branch.kind === 'if' && !plain(branch.stmt)) || (branch.kind === 'switch' && (branch.stmt.init !== null || branch.stmt.conditionDecl !== null))) {
    return refuted(id, line, 'the condition declares a variable', 'declare the variable in a statement of its own in front of the loop');
  }
  for (const test of testsOf(branch)) {
    if (decidedByCompiler(context, test)) {
      return refuted(id, line, `${excerpt(context.unit.source, test)} is a constant: the compiler decides it and drops the other arm`);
    }
  }
  return proved(id, line, 'the condition is decided when the kernel runs');
}

/** The value is known when the kernel (or its instantiation) is compiled. */
function decidedByCompiler(context: TransformContext, test: Expr): boolean {
  if (context.facts.constant(test) !== null) return true;
  let fixed = true;
  walk(test, (node) => {
    if (isStmt(node)) fixed = false;
    else if (node.kind === 'ref') fixed &&= node.decl !== null && fixedDecl(context, node.decl);
    else if (node.kind !== 'literal' && node.kind !== 'paren' && node.kind !== 'macro' && node.kind !== 'unary' && node.kind !== 'binary' && node.kind !== 'conditional'
      && node.kind !== 'cast' && node.kind !== 'sizeof') fixed = false;
    else if (node.kind === 'unary' && (node.op === '*' || node.op === '&')) fixed = false;
    return fixed;
  });
  return fixed;
}

function fixedDecl(context: TransformContext, decl: Decl): boolean {
  switch (decl.kind) {
    case 'template-parameter': return decl.sort === 'value';
    case 'enumerator': return true;
    case 'variable': return decl.constexpr || (decl.type.const === true && decl.init !== null && context.facts.constant(decl.init) !== null);
    case 'parameter': case 'function': case 'record': case 'enum': case 'typedef': return false;
    default: {
      const never: never = decl;
      return never;
    }
  }
}

function conditionInvariant(context: TransformContext, evaluated: readonly Expr[], loop: Loop): Obligation {
  const id = 'condition-invariant';
  const inside = declaredIn(loop);
  const head = loop.kind === 'for' && loop.init.kind === 'declare' ? loop.init.variables : [];
  const under: string[] = [];
  for (const expr of evaluated) {
    const local = declaredInside(expr, inside, head);
    if (local !== null) return refuted(id, lineOf(context, expr), `${local.name} is declared in the loop`, `declare ${local.name} in front of the loop if its value is the same in every iteration`);
    const fact = context.facts.invariant(expr, loop);
    if (!fact.value) {
      // The first reason says what may change, the last one why.
      const what = fact.because[0];
      const why = fact.because.at(-1);
      const text = what === undefined ? `${excerpt(context.unit.source, expr)} may change in the loop` : why === undefined || why === what ? what.text : `${what.text}: ${why.text}`;
      return refuted(id, why?.line ?? lineOf(context, expr), text, 'load it into a variable in front of the loop if it does not change, or promise __restrict__');
    }
    under.push(...fact.under);
  }
  const first = evaluated[0];
  return provedUnder(id, first === undefined ? 0 : lineOf(context, first), 'the condition has one value all the while the loop runs', { under: [...new Set(under)] });
}

function declaredInside(expr: Expr, inside: ReadonlySet<Decl>, head: readonly Decl[]): Decl | null {
  let found: Decl | null = null;
  walk(expr, (node) => {
    if (node.kind === 'ref' && node.decl !== null && (inside.has(node.decl) || head.includes(node.decl))) found ??= node.decl;
    return found === null;
  });
  return found;
}

function conditionPure(context: TransformContext, evaluated: readonly Expr[]): Obligation {
  const id = 'condition-pure';
  for (const expr of evaluated) {
    const effects = context.facts.effects(expr);
    const impure = impurity(effects);
    if (impure !== null) return (effects.opaque.length + effects.unknownCalls.length > 0 ? unknown : refuted)(id, lineOf(context, expr), `the condition ${impure}`, 'evaluate it into a variable in front of the loop');
  }
  const first = evaluated[0];
  return proved(id, first === undefined ? 0 : lineOf(context, first), 'evaluating the condition has no effect');
}

/** What evaluating does besides giving a value; null if nothing. */
export function impurity(effects: Effects): string | null {
  if (effects.opaque.length > 0) return 'was not understood';
  if (effects.unknownCalls.length > 0) return 'calls something that is not visible';
  if (effects.assigns.size > 0) return 'assigns a variable';
  if (effects.accesses.some((access) => access.kind !== 'read')) return 'writes memory';
  if (effects.accesses.some((access) => access.volatile)) return 'reads volatile memory';
  if (effects.barriers.length + effects.collectives.length > 0) return 'holds a barrier or a collective';
  if (effects.fences.length + effects.atomics.length > 0) return 'holds a fence or an atomic';
  if (effects.visible.length > 0) return 'has a visible effect';
  if (effects.asm.length > 0) return 'holds inline asm';
  if (effects.exits.length > 0) return 'may leave the function';
  return null;
}

function safeEarly(context: TransformContext, branch: Branch, loop: Loop, evaluated: readonly Expr[], underGuard: boolean): { readonly obligation: Obligation; readonly guard: Guard | null } {
  const id = 'condition-safe-early';
  const { facts } = context;
  const line = lineOf(context, branch.stmt);
  const fault = evaluated.flatMap((expr) => facts.effects(expr).faults)[0];
  if (fault === undefined) return { obligation: proved(id, line, 'evaluating the condition cannot fault'), guard: null };
  const what = `${excerpt(context.unit.source, fault)} may fault`;
  const remedy = 'evaluate the condition into a variable in front of the loop, under a test that makes it safe';
  const obstacle = notReachedFirst(context, branch.stmt, loop);
  if (obstacle !== null) {
    return { obligation: refuted(id, lineOf(context, obstacle), `${what}, and ${excerpt(context.unit.source, obstacle)} may keep the first iteration from reaching it`, remedy), guard: null };
  }
  const entry = entryOf(facts, loop);
  switch (entry.kind) {
    case 'certain':
      return { obligation: proved(id, line, `${what}, but the first iteration evaluates it too: ${entry.why}`), guard: null };
    case 'unknown':
      return { obligation: refuted(id, line, `${what}, and the loop may not be entered: ${entry.why}`, remedy), guard: null };
    case 'tested': {
      const impure = entry.exprs.map((expr) => impurity(facts.effects(expr))).find((found) => found !== null);
      if (impure !== undefined) return { obligation: refuted(id, line, `${what}, and the loop's own test ${impure ?? ''}`, remedy), guard: null };
      if (branch.kind === 'switch') return { obligation: refuted(id, line, `${what}, and the loop may not be entered`, remedy), guard: null };
      const text = underGuard ? 'the tests of the inner loop are' : 'it is';
      return { obligation: proved(id, line, `${what}, so ${text} evaluated only if the loop is entered (${entry.text})`), guard: { text: entry.text, exprs: entry.exprs } };
    }
    default: {
      const never: never = entry;
      return never;
    }
  }
}

/** A statement of the first iteration that may keep it from reaching the branch; null if every path gets there. */
function notReachedFirst(context: TransformContext, branch: Stmt, loop: Loop): Stmt | null {
  const { facts } = context;
  let below: Stmt = branch;
  for (let at = facts.parent(branch); at !== null && below !== loop; at = facts.parent(at)) {
    if (!isStmt(at)) return below;
    if (at.kind === 'compound') {
      for (const earlier of at.body) {
        if (earlier === below) break;
        const effects = facts.effects(earlier);
        if (effects.exits.length + effects.visible.length + effects.unknownCalls.length + effects.asm.length + effects.opaque.length > 0) return earlier;
      }
    } else if (at !== loop && at.kind !== 'for' && at.kind !== 'while' && at.kind !== 'do' && at.kind !== 'range-for') {
      return at;
    } else if (at !== loop && entryOf(facts, at).kind !== 'certain' && entryOf(facts, at).kind !== 'tested') {
      return at;
    }
    below = at;
  }
  return below === loop ? null : below;
}

// ---------------------------------------------------------------------------------------------------------- convergence

function noBarrierUnderDivergence(context: TransformContext, tests: readonly Expr[], effects: Effects, line: number): Obligation {
  const id = 'no-barrier-under-divergence';
  const { facts } = context;
  const { source } = context.unit;
  const needs: { readonly scope: Scope; readonly what: string; readonly line: number; readonly sure: boolean }[] = [];
  const barrier = effects.barriers[0];
  if (barrier !== undefined) needs.push({ scope: 'block', what: `the barrier in line ${source.line(barrier.span.start)}`, line: source.line(barrier.span.start), sure: true });
  const collective = effects.collectives[0];
  if (collective !== undefined) needs.push({ scope: 'warp', what: `the collective in line ${source.line(collective.span.start)}`, line: source.line(collective.span.start), sure: true });
  const dark = [...effects.unknownCalls, ...effects.opaque, ...effects.asm][0];
  if (dark !== undefined) needs.push({ scope: 'block', what: `a barrier that ${excerpt(source, dark)} may hold`, line: source.line(dark.span.start), sure: false });
  if (needs.length === 0) return proved(id, line, 'no barrier and no collective in the loop');

  const verdict = joined(tests.map((test) => facts.scope(test)));
  for (const need of needs) {
    if (atLeast(verdict.value, need.scope)) continue;
    const text = `the condition ${verdict.known ? 'differs between the threads' : 'is not known to agree among the threads'} of a ${need.scope}, and two copies would part the threads at ${need.what}`;
    return need.sure && verdict.known ? refuted(id, need.line, text) : unknown(id, need.line, text, verdict.known ? null : 'make the condition understood, or annotate it with // divmod: uniform');
  }
  return provedUnder(id, line, `all threads of a ${verdict.value === 'warp' ? 'warp' : 'block'} take one copy, so barriers and collectives are reached by the same threads`, verdict);
}

function joined(verdicts: readonly Verdict[]): { readonly value: Scope; readonly known: boolean; readonly under: readonly string[] } {
  let value: Scope = 'constant';
  for (const verdict of verdicts) value = joinScope(value, verdict.known ? verdict.value : 'lane');
  return { value, known: verdicts.every((verdict) => verdict.known), under: [...new Set(verdicts.flatMap((verdict) => verdict.under))] };
}

// ---------------------------------------------------------------------------------------------------------------- copies

/** The loop and the branch are spelled out where the tree says: no macro stands for their keywords. */
function ownText(context: TransformContext, branch: Branch, loop: Loop): Obligation {
  const { text } = context.unit.source;
  const spelled = (stmt: Stmt, word: string): boolean => text.startsWith(word, stmt.span.start) && !/\w/.test(text[stmt.span.start + word.length] ?? '');
  const line = lineOf(context, branch.stmt);
  if (!spelled(loop, loop.kind === 'range-for' ? 'for' : loop.kind)) return refuted('not-in-macro', lineOf(context, loop), 'the head of the loop comes out of a macro');
  if ((branch.kind === 'if' || branch.kind === 'switch') && !spelled(branch.stmt, branch.kind)) return refuted('not-in-macro', line, 'the branch comes out of a macro');
  return proved('not-in-macro', line, 'loop and branch are written out');
}

function movableShared(context: TransformContext, loop: Loop): readonly DeclareStmt[] {
  const result = new Set<DeclareStmt>();
  for (const { node } of copyHazards([loop])) {
    if (node.kind !== 'declare' || node.types.length > 0) continue;
    if (node.variables.every((variable) => variable.space === 'shared' && variable.init === null && !variable.dynamicShared && lengthIsConstant(context, variable))) result.add(node);
  }
  return [...result];
}

function lengthIsConstant(context: TransformContext, decl: VariableDecl): boolean {
  for (let type = decl.type; type.kind === 'array'; type = type.of) {
    if (type.length === null || context.facts.constant(type.length) === null) return false;
  }
  return true;
}

/** Declarations that move in front of the loop meet no other declaration or use of their names. */
function sharedNamesFree(context: TransformContext, statements: readonly DeclareStmt[], loop: Loop): Obligation {
  const { body } = context.facts.function;
  const line = lineOf(context, loop);
  const shared = statements.flatMap((stmt) => stmt.variables);
  for (const decl of shared) {
    let other = context.facts.function.parameters.some((parameter) => parameter.name === decl.name);
    if (body !== null) {
      for (const declared of declaredIn(body)) if (declared !== decl && declared.name === decl.name) other = true;
      walk(body, (node) => {
        if (node.kind === 'ref' && node.name === decl.name && node.decl !== decl) other = true;
        return !other;
      });
    }
    if (other) return refuted('names-free', line, `${decl.name} is declared twice, so its __shared__ declaration cannot move in front of the loop`, `rename the inner ${decl.name}`);
  }
  return proved('names-free', line, `${shared.map((decl) => decl.name).join(', ')} may be declared in front of the loop`);
}

function alreadyDone(context: TransformContext, branch: Branch, loop: Loop): Obligation {
  const { facts } = context;
  const test = testsOf(branch)[0];
  const line = lineOf(context, branch.stmt);
  let below: Stmt | Expr = loop;
  for (let at = facts.parent(loop); test !== null && test !== undefined && at !== null; below = at, at = facts.parent(at)) {
    if (at.kind === 'if' && at.condition !== below && plain(at) && sameExpr(at.condition, test) && facts.invariant(test, at).value) {
      return refuted('already-done', lineOf(context, at), 'the loop already stands below this test', 'drop the inner test');
    }
  }
  return proved('already-done', line, 'no such test stands around the loop');
}

function codeGrowth(context: TransformContext, branch: Branch, loop: Loop): Obligation {
  const { source } = context.unit;
  const lines = source.line(loop.span.end) - source.line(loop.span.start) + 1;
  const copies = branch.kind === 'if' ? branch.links.length + 1 : branch.kind === 'switch' ? branch.stmt.arms.length + 1 : 2;
  const before = 2 ** onlyStatementDepth(context, loop);
  const total = lines * copies * before;
  const line = lineOf(context, loop);
  if (total <= GROWTH_LIMIT) return proved('code-growth', line, `${copies} copies of ${lines} ${lines === 1 ? 'line' : 'lines'}`);
  return refuted('code-growth', line, `${copies} copies of ${lines} lines${before > 1 ? `, in ${before} places,` : ''} are more than ${GROWTH_LIMIT} lines`, 'move the body into a __device__ function');
}

/** How many tests stand directly around the loop with nothing else in their arms: each has doubled the loop before. */
function onlyStatementDepth(context: TransformContext, loop: Loop): number {
  let depth = 0;
  for (let at = context.facts.parent(loop); at !== null; at = context.facts.parent(at)) {
    if (at.kind === 'if') depth++;
    else if (at.kind !== 'compound' || at.body.length !== 1) break;
  }
  return depth;
}

function armsClosed(context: TransformContext, branch: Extract<Branch, { kind: 'switch' }>): Obligation {
  const id = 'switch-arms-closed';
  const { arms } = branch.stmt;
  for (const [index, arm] of arms.entries()) {
    const inner = innerBreaks(arm)[0];
    if (inner !== undefined) return refuted(id, lineOf(context, inner), 'this break leaves the switch from the middle of an arm; in a copy it would leave the loop', 'write the arm with if and else');
    if (index < arms.length - 1 && lastJump(arm.body) === null) return refuted(id, lineOf(context, arm), 'the arm falls through into the next one', 'end every arm with break');
  }
  return proved(id, lineOf(context, branch.stmt), 'every arm ends in a jump and no other break leaves the switch');
}

function armTypes(context: TransformContext, branch: Extract<Branch, { kind: 'ternary' }>): Obligation {
  const id = 'arm-types-agree';
  const { expr } = branch;
  const line = lineOf(context, expr);
  if (sameType(expr.then.type, expr.else.type)) return proved(id, line, 'both arms have one type, so that neither is converted');
  return unknown(id, line, 'the arms of ?: have different or unknown types: alone, an arm would not be converted to their common type', 'convert one arm to the type of the other');
}

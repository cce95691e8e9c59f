/**
 * Out of which loop a branch may be taken, and why. Starting at the innermost loop, the branch climbs as long as everything that
 * makes the step legal is proved for the next loop too.
 */
import { strip, walk, type Node } from '../../src/analysis/children.js';
import { isHipSource } from '../../src/analysis/platform.js';
import { atLeast, joinScope, type Effects, type Loop, type Scope, type Verdict } from '../../src/analysis/facts.js';
import type { Span } from '../../src/source/types.js';
import type { CallExpr, ConditionalExpr, DeclareStmt, Expr, Stmt, VariableDecl } from '../../src/syntax/tree.js';
import { armStands, sameExactly } from '../lib/arm-value.js';
import { copyHazards, copySafe, declaredIn, namesResolve, noDirectiveAcross, noGoto, notInMacro, type Written } from '../lib/common-obligations.js';
import { contractionStable } from '../lib/contraction.js';
import { sameExpr, sameType } from '../lib/equality.js';
import { conjunctsOf } from '../lib/loops.js';
import { excerpt, lineOf, proved, provedUnder, refuted, unknown } from '../lib/obligation.js';
import { statementStart } from '../lib/text.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { localDeclarations } from '../lib/local-names.js';
import { bringsNames, wordsOf } from '../lib/words.js';
import { sharedAmongArms } from './braces.js';
import { atRunTime, conditionInvariant, conditionPure, safeEarly, type Guard } from './condition.js';
import { innerBreaks, lastJump, plain, polarity, testsOf, withTests, type Branch } from './shape.js';

/** Lines that the copies of one loop may take together. */
export const GROWTH_LIMIT = 400;

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
  if (invariant.status !== 'refuted') obligations.push(safe.obligation, namesInFront(context, cut, [...evaluated, ...labelsOf(cut)], safe.guard, shared, loop));
  if (cut.kind === 'switch') obligations.push(armsClosed(context, cut));
  if (cut.kind === 'ternary') obligations.push(armTypes(context, cut));
  if (shared.length > 0) obligations.push(sharedNamesFree(context, shared, loop));
  const guards = safe.guard === null ? innerGuards : [safe.guard, ...innerGuards];
  return { loop, branch: cut, guards, shared, obligations: merge(obligations), legal: obligations.every((o) => o.status === 'proved' || o.status === 'assumed') };
}

/** What comes to stand in front of the loop: the conditions, the entry tests around them, `__shared__` declarations. */
function writtenInFront(evaluated: readonly Expr[], guard: Guard | null, shared: readonly DeclareStmt[]): readonly Written[] {
  return [...evaluated, ...(guard?.exprs ?? []), ...shared].map((node) => ({ kind: 'copied', node }));
}

/** Values of the labels of a `switch`, which go in front with it. */
function labelsOf(branch: Branch): readonly Expr[] {
  if (branch.kind !== 'switch') return [];
  return branch.stmt.arms.flatMap((arm) => arm.labels.filter((label): label is Expr => label !== null));
}

function namesInFront(context: TransformContext, branch: Branch, evaluated: readonly Expr[], guard: Guard | null, shared: readonly DeclareStmt[], loop: Loop): Obligation {
  // What a using-declaration in the loop brings along is in no list of declarations.
  if (bringsNames(wordsOf(context.unit, [{ start: loop.span.start, end: branch.stmt.span.start }]))) {
    return refuted('names-resolve', lineOf(context, loop), 'a using-declaration in the loop may say what the names of the condition mean', 'move it in front of the loop');
  }
  return namesResolve(context, writtenInFront(evaluated, guard, shared), loop);
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

// ---------------------------------------------------------------------------------------------------------- convergence

function noBarrierUnderDivergence(context: TransformContext, tests: readonly Expr[], effects: Effects, line: number): Obligation {
  const id = 'no-barrier-under-divergence';
  const { facts } = context;
  const { source } = context.unit;
  const needs: { readonly scope: Scope; readonly what: string; readonly line: number; readonly sure: boolean }[] = [];
  const ofWarp = (call: CallExpr): boolean => call.callee.kind === 'builtin' && call.callee.name === '__syncwarp';
  const barrier = effects.barriers.find((call) => !ofWarp(call));
  if (barrier !== undefined) needs.push({ scope: 'block', what: `the barrier in line ${source.line(barrier.span.start)}`, line: source.line(barrier.span.start), sure: true });
  const collective = effects.collectives[0] ?? effects.barriers.find(ofWarp);
  const hip = isHipSource(facts.program, context.unit);
  if (collective !== undefined) {
    const at = source.line(collective.span.start);
    needs.push({ scope: hip ? 'block' : 'warp', what: `the collective in line ${at}${hip ? ' (wavefronts of HIP have 32 or 64 lanes)' : ''}`, line: at, sure: true });
  }
  const dark = [...effects.unknownCalls, ...effects.opaque, ...effects.asm][0];
  if (dark !== undefined) needs.push({ scope: 'block', what: `a barrier that ${excerpt(source, dark)} may hold`, line: source.line(dark.span.start), sure: false });
  if (needs.length === 0) return proved(id, line, 'no barrier and no collective in the loop');

  const other = elsewhereConfigured(context, tests);
  if (other !== null) {
    return unknown(id, source.line(other.start), 'text for another configuration has a say in the condition: whether threads agree on it there is not known', 'treat the configurations as separate functions');
  }
  const verdict = joined(tests.map((test) => facts.scope(test)));
  for (const need of needs) {
    if (atLeast(verdict.value, need.scope)) continue;
    const text = `the condition ${verdict.known ? 'differs between the threads' : 'is not known to agree among the threads'} of a ${need.scope}, and two copies would part the threads at ${need.what}`;
    const remedy = verdict.known
      ? need.sure ? `decide by a value that all threads of a ${need.scope} have, or leave ${need.scope === 'block' ? 'the barrier' : 'the collective'} out of the loop` : 'make the definition of what is called visible, e.g. with --include'
      : 'decide by something that is visible: a parameter of the kernel, a definition that --include finds, a load of __restrict__ const memory';
    return (need.sure && verdict.known ? refuted : unknown)(id, need.line, text, remedy);
  }
  return provedUnder(id, line, `all threads of a ${verdict.value === 'warp' ? 'warp' : 'block'} take one copy, so barriers and collectives are reached by the same threads`, verdict);
}

/** A part of the function that is taken out here and names something that the tests depend on; null if there is none. */
function elsewhereConfigured(context: TransformContext, tests: readonly Expr[]): Span | null {
  const { facts } = context;
  const { body, inactive } = facts.function;
  const parts: Span[] = inactive.map((part) => part.span);
  if (body !== null) {
    walk(body, (node) => {
      if (node.kind === 'preprocessor') for (const arm of node.arms) if (!arm.active) parts.push(arm.span);
    });
  }
  if (parts.length === 0 || body === null) return null;
  const names = new Set<string>();
  const pending: Node[] = [...tests];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    walk(node, (inner) => {
      if (inner.kind !== 'ref' || names.has(inner.name)) return;
      names.add(inner.name);
      if (inner.decl === null || (inner.decl.kind !== 'variable' && inner.decl.kind !== 'parameter')) return;
      if (inner.decl.kind === 'variable' && inner.decl.init !== null) pending.push(inner.decl.init);
      for (const definition of facts.assignments(inner.decl, body)) if ('node' in definition) pending.push(definition.node);
    });
  }
  const words = new RegExp(`\\b(?:${[...names].join('|')})\\b`);
  return names.size === 0 ? null : parts.find((part) => words.test(context.unit.source.text.slice(part.start, part.end))) ?? null;
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
  if (!spelled(loop, loop.kind === 'range-for' ? 'for' : loop.kind)) return refuted('not-in-macro', lineOf(context, loop), 'the head of the loop comes out of a macro', 'write the head out');
  if ((branch.kind === 'if' || branch.kind === 'switch') && !spelled(branch.stmt, branch.kind)) return refuted('not-in-macro', line, 'the branch comes out of a macro', 'write the branch out');
  return proved('not-in-macro', line, 'loop and branch are written out');
}

function movableShared(context: TransformContext, loop: Loop): readonly DeclareStmt[] {
  const result = new Set<DeclareStmt>();
  for (const { node, movable } of copyHazards([loop])) {
    if (movable === null || node.kind !== 'declare' || node.types.length > 0) continue;
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
    let other = context.facts.function.parameters.some((parameter) => parameter.name === decl.name)
      || localDeclarations(context).some(({ stmt: { brings } }) => brings !== undefined && brings !== 'any' && brings.includes(decl.name));
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
    if (at.kind !== 'if' || at.condition === below || !plain(at)) continue;
    // Every conjunct holds in the first arm; of the other arm only the whole condition is known.
    const known = below === at.then ? conjunctsOf(at.condition) : [at.condition];
    const { core } = polarity(test);
    if (known.some((conjunct) => sameExpr(polarity(conjunct).core, core)) && facts.invariant(test, at).value) {
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
  const shared = sharedAmongArms(context.unit, arms);
  if (shared !== null) {
    const what = shared.name === null ? 'what this arm declares' : `${shared.name} of this arm`;
    return refuted(id, lineOf(context, shared.at), `the arms share a scope, and ${what} is declared for the later arms too`, 'put braces around the statements of the arm');
  }
  return proved(id, lineOf(context, branch.stmt), 'every arm ends in a jump and no other break leaves the switch');
}

function armTypes(context: TransformContext, branch: Extract<Branch, { kind: 'ternary' }>): Obligation {
  const id = 'arm-types-agree';
  const { expr } = branch;
  const line = lineOf(context, expr);
  // Beside a value, the ?: makes a copy of a variable; alone, the reference would be bound to the variable itself.
  const variable = branch.stmt.kind === 'declare' ? branch.stmt.variables[0] : undefined;
  if (variable?.type.kind === 'reference' && !(isPlace(expr.then) && isPlace(expr.else))) {
    return unknown(id, line, `${variable.name} is a reference, and one arm of ?: may be a value: alone, the other arm would be bound itself and not a copy of it`, `declare ${variable.name} as a value`);
  }
  const same = sameType(expr.then.type, expr.else.type);
  const bound = variable?.type.kind === 'reference';
  if (same && (bound ? bindsAlike(expr) : armStands(context.facts, expr, expr.then) && armStands(context.facts, expr, expr.else))) {
    return proved(id, line, 'both arms have one type, so that neither is converted');
  }
  if (same) return unknown(id, line, 'the arms of ?: have one type, but what takes it may tell an arm itself from the value of the ?:', 'name the value of the ?: in a variable of that type');
  return unknown(id, line, 'the arms of ?: have different or unknown types: alone, an arm would not be converted to their common type', 'convert one arm to the type of the other');
}

/** Both arms are objects of one type with one set of qualifiers: the `?:` is the object itself, too. */
function bindsAlike({ then, else: other }: ConditionalExpr): boolean {
  return then.type.const === other.type.const && then.type.volatile === other.type.volatile && sameExactly(then.type, other.type);
}

/** The expression names an object: a variable, an element, a member, what a pointer points to. */
function isPlace(expr: Expr): boolean {
  const core = strip(expr);
  switch (core.kind) {
    case 'ref': return core.decl !== null && (core.decl.kind === 'variable' || core.decl.kind === 'parameter');
    case 'index': return core.base.type.kind === 'pointer' || isPlace(core.base);
    case 'member': return core.arrow || isPlace(core.object);
    case 'unary': return core.op === '*' && core.operand.type.kind === 'pointer';
    default: return false;
  }
}

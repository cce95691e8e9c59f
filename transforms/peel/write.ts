/**
 * The text of the runs.
 *
 *     for (int k = 0; k < K; k += T) {         int k = 0;
 *         if (k + tx < K) A                    const int kFull = K > reach ? K - reach : 0;
 *         B                            →       for (; k < kFull; k += T) { A B }
 *     }                                        for (; k < K; k += T) { if (k + tx < K) A; B }
 *
 * A counter that the head declares moves in front of the loops, into braces of its own if its name means something else there. The
 * run that keeps all guards stays where the loop stood, its body untouched.
 */
import type { Edit } from '../../src/source/types.js';
import { unreachable, type Expr, type ForStmt, type VariableDecl } from '../../src/syntax/tree.js';
import { shareBases } from '../lib/guards/bases.js';
import { boundOf, type Declaration, type Namer } from '../lib/guards/bound.js';
import { printOperand, typeOf, type Cpp } from '../lib/guards/cpp.js';
import { joinedName, namerFor } from '../lib/guards/names.js';
import { add, constant, constantValue, equal, namesOf, symbol, symbolsOf } from '../lib/guards/polynomial.js';
import { integerType } from '../lib/guards/reading.js';
import { simplify } from '../lib/guards/simplify.js';
import { isRepeatable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { declarationText, isFixed } from '../lib/guards/interior-text.js';
import { interiorTexts, isShadowed, readsOf, writeTwoVersions, type VersionTexts } from '../lib/guards/two-versions.js';
import { macroWords, wordIn, wordsOf } from '../lib/local-names.js';
import { lostComments } from '../lib/lost-comments.js';
import type { Written } from '../lib/names-resolve.js';
import { BINDING, bindingOf, operandText } from '../lib/operands.js';
import { mayStandBefore, placeOf } from '../lib/place.js';
import { declaredIn, scopeAt } from '../lib/scopes.js';
import { blockText, commentsIn, copyText, extentOf, indentAt, lineStartOf, joinLines, startsLine, styleOf, textOf, type Replacement, type Shift } from '../lib/text.js';
import type { Change, TransformContext } from '../lib/types.js';
import type { FoldPlan } from './fold.js';
import type { RangePlan, Run, RunTest } from './range.js';
import { diesWithLoop, doesNothing } from './run-body.js';
import type { VersionPlan } from './version.js';

export type PeelPlan = FoldPlan | RangePlan | VersionPlan;

/** What stands in front of the runs, and their tests. */
export interface RunTexts {
  readonly declarations: readonly Declaration[];
  /** `min` and `max` may not be CUDA's own there. */
  readonly shadowed: boolean;
  /** One for each run; null where the run has no test of its own. */
  readonly tests: readonly (string | null)[];
  readonly names: readonly string[];
}

/** Characters of a constant bound that needs no name. */
const SHORT_BOUND = 24;

/** Names, constants and tests of the runs; null if a bound has no C++ type that holds it. */
export function runTexts(context: TransformContext, plan: RangePlan): RunTexts | null {
  const names: string[] = [];
  const fresh = namerFor(context);
  const name: Namer = (wish) => {
    const made = fresh(wish);
    names.push(made);
    return made;
  };
  const shadowed = isShadowed(context, [...scopeAt(context.facts, plan.loop).keys(), ...headVariables(plan.loop).map(({ name }) => name)]);
  const declarations: Declaration[] = [];
  const written: { readonly test: RunTest; readonly text: string }[] = [];
  const tests: (string | null)[] = [];
  const declared: Declaration[] = [];
  const bases = shareBases(plan.runs.flatMap((run) => run.test?.changes.map((change) => change.level) ?? []), name, (word, axis) => joinedName(context, word, axis));
  declarations.push(...bases.declarations);
  for (const run of plan.runs) {
    if (run.test === null || run.single?.certain === true) { tests.push(null); continue; }
    const { test } = run;
    const same = written.find((other) => sameBound(other.test, test));
    if (same !== undefined) { tests.push(`${plan.sym.text} ${test.side} ${same.text}`); continue; }
    // `k >= bound` stands for the loop's own `k >= 0` only if the bound is never below zero.
    const leansOnZero = plan.nonNegative && test.side === '>=' && !run.keepsLoopTest;
    const inclusive = leansOnZero ? null : inclusiveBound(plan, test);
    if (inclusive !== null) { tests.push(`${plan.sym.text} ${test.side === '<' ? '<=' : '>'} ${inclusive}`); continue; }
    const bound = boundOf(test.changes.map((change) => ({ ...change, level: bases.replace(change.level) })), test.nearest, name, plan.nonNegative, declared);
    if (bound === null || !comparable(plan, run, bound.value)) return null;
    const value = leansOnZero ? bound.value : plain(plan, bound.value);
    // What the compiler knows is read best where it is tested.
    const inline = value.kind === 'number' || value.kind === 'symbol' || (isFixed(value) && printOperand(value, shadowed).length <= SHORT_BOUND);
    declarations.push(...bound.declarations);
    declared.push(...bound.declarations);
    let text = printOperand(value, shadowed);
    if (!inline) {
      const whole: Declaration = { name: name(wishFor(context, plan, run)), value };
      declarations.push(whole);
      text = whole.name;
    }
    written.push({ test, text });
    tests.push(`${plan.sym.text} ${test.side} ${text}`);
  }
  return { declarations, shadowed, tests, names };
}

/** `t <= last` in place of `t < last + 1`, which may overflow: a signed name, compared with a signed counter. */
function inclusiveBound(plan: RangePlan, { changes }: RunTest): string | null {
  const [change] = changes;
  const type = integerType(plan.counter.variable.type);
  if (change === undefined || changes.length !== 1 || type === null || !type.signed || constantValue(change.divisor) !== 1n) return null;
  const [sym, more] = symbolsOf(change.level);
  if (sym === undefined || more !== undefined || !sym.type.signed || !/^[\w:]+$/.test(sym.text)) return null;
  return equal(change.level, add(symbol(sym), constant(1n))) ? sym.text : null;
}

function sameBound(a: RunTest, b: RunTest): boolean {
  return a.changes.length === b.changes.length && a.nearest === b.nearest && a.changes.every((change, i) => change === b.changes[i]);
}

/** The test compares exactly: a counter that may be negative where it is tested needs a signed bound. */
function comparable(plan: RangePlan, run: Run, value: Cpp): boolean {
  const type = integerType(plan.counter.variable.type);
  if (type === null) return false;
  if (plan.counter.nonNegative || (plan.nonNegative && run.keepsLoopTest)) return true;
  return type.signed && typeOf(value).signed;
}

/** `n > 0 ? n : 0` is `n` where counter and bound are signed. */
function plain(plan: RangePlan, value: Cpp): Cpp {
  const type = integerType(plan.counter.variable.type);
  if (value.kind !== 'positive' || value.op !== '>' || value.right.kind !== 'number' || value.right.value !== 0n || value.then !== value.left) return value;
  const signed = type !== null && type.signed && typeOf(value.left).signed;
  return signed || (value.left.kind === 'symbol' && value.left.sym.low >= 0n) ? value.left : value;
}

function wishFor(context: TransformContext, plan: RangePlan, run: Run): string {
  const decided = run.decisions.size > 0;
  const first = plan.runs[0] === run;
  const word = decided ? 'full' : first ? 'safe' : 'end';
  return joinedName(context, plan.sym.text, word);
}

// --------------------------------------------------------------------------------------------------------------- edits

export function writePlan(context: TransformContext, plan: PeelPlan): Change {
  switch (plan.kind) {
    case 'fold': return writeFold(context, plan);
    case 'range': return writeRuns(context, plan);
    case 'version': return writeVersions(context, plan);
    default: return unreachable(plan);
  }
}

/** Names, constants and the test of the copy without guards. */
export function versionPlanTexts(context: TransformContext, plan: VersionPlan): VersionTexts {
  const test = plan.guards.length === 1 ? 'test' : 'tests';
  const who = plan.uniformGuards ? `the boundary ${test} ${plan.guards.length === 1 ? 'holds' : 'hold'}` : `${plan.ownBound ? 'this thread' : 'every thread of the block'} passes the boundary ${test}`;
  return interiorTexts(context, plan.tests, `// Interior: ${who} in all iterations.`);
}

function writeVersions(context: TransformContext, plan: VersionPlan): Change {
  const region = extentOf(context.unit.source, plan.loop);
  return { edits: writeTwoVersions(context, plan.loop, plan.decisions, versionPlanTexts(context, plan)), reads: readsOf(context, plan.guards, region) };
}

function writeFold(context: TransformContext, plan: FoldPlan): Change {
  const { loop } = plan;
  const { source } = context.unit;
  if (loop.condition === null) return { edits: [], reads: [] };
  const edits = [{ span: loop.condition.span, text: plan.test }, ...simplify(context.facts, loop.body, plan.decisions)];
  const file = source.realPath;
  const region = extentOf(source, loop);
  const indent = indentAt(source, region.start);
  const lost = lostComments(source, region, copyText(source, region, { from: '', to: '' }, edits)).map((comment) => `${comment}\n${indent}`).join('');
  const inFront = lost === '' ? [] : [{ file, span: { start: region.start, end: region.start }, text: lost }];
  return { edits: [...inFront, ...edits.map(({ span, text }) => ({ file, span, text }))], reads: readsOf(context, plan.guards, region) };
}

/**
 * What the text in front of the loop and in the heads of the runs is made of. The head of the loop stands between the two, so that the
 * names of its variables are taken there.
 */
export function writtenNames(plan: PeelPlan): readonly Written[] {
  switch (plan.kind) {
    case 'fold': return plan.written;
    case 'range': return [...plan.sym.names, ...plan.runs.flatMap((run) => run.test?.changes ?? []).flatMap(({ level, divisor }) => namesOf(level, divisor))];
    case 'version': return namesOf(...plan.tests);
    default: return unreachable(plan);
  }
}

/** Variables of a `for` head that later runs need too. */
export function headVariables(loop: PeelableLoop): readonly VariableDecl[] {
  return loop.kind === 'for' && loop.init.kind === 'declare' ? loop.init.variables : [];
}

/** One run that stays a loop keeps its head as it is; later runs go on with the counter, and an iteration in an `if` or a block has no head. */
export function losesHead({ runs }: RangePlan): boolean {
  return runs.length > 1 || runs.some((run) => run.single !== undefined);
}

/** The texts name what the head declares, maybe through a macro, or its values are more than numbers: the declaration must be there. */
function headIsNamed(context: TransformContext, loop: ForStmt, texts: readonly string[]): boolean {
  const { facts, unit } = context;
  const variables = headVariables(loop);
  if (loop.init.kind !== 'declare' || variables.length === 0) return false;
  if (loop.init.types.length > 0 || !variables.every(({ init, opaqueInit, type }) => !opaqueInit && integerType(type) !== null && (init === null || isRepeatable(facts, init)))) return true;
  const words = new Set(texts.flatMap((text) => text.match(/[A-Za-z_]\w*/g) ?? []));
  for (const word of [...words]) if (unit.macros.has(word)) for (const inner of macroWords(unit, word)) words.add(inner);
  return variables.some(({ name }) => words.has(name));
}

function writeRuns(context: TransformContext, plan: RangePlan): Change {
  const { loop, runs } = plan;
  const { source } = context.unit;
  const texts = runTexts(context, plan);
  if (texts === null) return { edits: [], reads: [] };
  const { unit } = styleOf(source, context.facts.function);
  const region = extentOf(source, loop);
  const reads = readsOf(context, plan.guards, region);
  const file = source.realPath;
  const { tests } = texts;
  const heads = runs.map((run, i) => headOf(context, plan, run, tests[i] ?? null, i, runs.length));
  const headGoes = losesHead(plan);
  const parent = context.facts.parent(loop);
  const inList = parent !== null && parent.kind === 'compound';
  // An `if` by itself below a head without braces would take the `else` behind it, and what sets the counter is a statement too.
  const braces = (!inList && (headGoes || texts.declarations.length > 0)) || (headGoes && headVariables(loop).length > 0 && !mayStandBefore(context.facts, loop, headVariables(loop)));
  // What stands where the loop stood: the last run that keeps all guards, else the last.
  const keeps = runs.map((run) => run.decisions.size === 0);
  const stays = keeps.includes(true) ? keeps.lastIndexOf(true) : runs.length - 1;
  const place = placeOf(context, loop, braces);
  const shift: Shift = { from: indentAt(source, loop.span.start), to: place.indent };
  const declarations = texts.declarations.map((declaration) => declarationText(declaration, { indent: place.indent, unit, shadowed: texts.shadowed }));
  const copy = (run: Run, i: number): string => stepOver(context, plan, run, tests[i] ?? null) ?? singleText(context, plan, run, tests[i] ?? null, shift) ?? copyText(source, region, shift, [...(heads[i] ?? []), ...simplify(context.facts, loop.body, run.decisions, shift)]);
  // A pragma at the edge of the page stays there.
  const atEdge = startsLine(source, region.start) && indentAt(source, region.start) === '';
  const indentOf = (piece: string): string => (atEdge && piece.startsWith('#') ? '' : place.indent);
  const copies = runs.map(copy);
  const moved = headGoes && loop.kind === 'for' && headIsNamed(context, loop, [...declarations, ...copies]) ? [movedText(context, loop)] : [];
  // Comments of a test that is gone from all runs, and of a run that is not written.
  const lost = lostComments(source, region, [...moved, ...copies].join('\n'));
  if (braces) {
    const pieces = [...lost, ...moved, ...declarations, ...copies];
    const text = pieces.map((piece, i) => (i === 0 ? piece : `\n${indentOf(piece)}${piece}`)).join('');
    return { edits: [...place.edits, { file, span: place.span, text: `${place.before}${text}${place.after}` }], reads };
  }
  const before = [...lost, ...moved, ...declarations, ...copies.slice(0, stays)];
  const after = copies.slice(stays + 1);
  const kept = runs[stays];
  const lineStart = startsLine(source, region.start) ? lineStartOf(source, region.start) : null;
  const edits: Edit[] = kept?.single !== undefined
    ? [{ file, span: { start: lineStart ?? region.start, end: region.end }, text: `${lineStart === null ? '' : place.indent}${copies[stays] ?? ''}` }]
    : [...(heads[stays] ?? []), ...(kept === undefined ? [] : simplify(context.facts, loop.body, kept.decisions))].map(({ span, text }) => ({ file, span, text }));
  if (before.length > 0) {
    // Whole lines in front of the loop's first line, which may be a pragma at the edge of the page.
    const lines = startsLine(source, region.start);
    const at = lines ? lineStartOf(source, region.start) : region.start;
    edits.push({ file, span: { start: at, end: at }, text: before.map((piece) => (lines ? `${indentOf(piece)}${piece}\n` : `${piece}\n${place.indent}`)).join('') });
  }
  if (after.length > 0) edits.push({ file, span: { start: region.end, end: region.end }, text: after.map((piece) => `\n${indentOf(piece)}${piece}`).join('') });
  return { edits, reads };
}

/** A run of one iteration at most, of which only the step of the loop is left. */
export function stepsOver(context: TransformContext, plan: RangePlan, run: Run): boolean {
  return stepOver(context, plan, run, '') !== null;
}

function stepOver(context: TransformContext, plan: RangePlan, run: Run, test: string | null): string | null {
  const { loop } = plan;
  if (run.once !== true || run.test === null || test === null || loop.kind !== 'for' || loop.step === null) return null;
  if (plan.runs[0] === run || !doesNothing(context, loop, run.decisions, null)) return null;
  return `if (${singleTest(context, plan, run, test)}) ${joinLines(textOf(context.unit.source, loop.step.span))};`;
}

function singleTest(context: TransformContext, { loop }: RangePlan, run: Run, test: string | null): string {
  const { source } = context.unit;
  const own = loop.condition === null || alwaysHolds(context, loop.condition) ? null : loop.condition;
  if (own === null) return test ?? 'true';
  if (test === null) return joinLines(textOf(source, own.span));
  return run.keepsLoopTest ? `${operandText(source, own, BINDING.and)} && ${test}` : test;
}

/** The one iteration of a run in an `if`, the step of the loop behind its body; null if the run may have more. */
function singleText(context: TransformContext, plan: RangePlan, run: Run, test: string | null, shift: Shift): string | null {
  if (run.single === undefined) return null;
  const { loop } = plan;
  const { source } = context.unit;
  const style = styleOf(source, context.facts.function);
  // What surely runs needs no test: a block, for what the body declares.
  const sure = run.single.entered;
  const head = sure ? '' : `if${style.keywordSpace}(${singleTest(context, plan, run, test)})`;
  // Nobody asks for the counter behind the last run.
  const last = plan.runs.at(-1) === run && diesWithLoop(context, loop);
  const step = loop.kind === 'for' && loop.step !== null && !last ? `${joinLines(textOf(source, loop.step.span))};` : null;
  const init = loop.kind === 'for' && plan.runs[0] === run && loop.init.kind === 'expression' ? `${joinLines(textOf(source, loop.init.expression.span))};\n${shift.to}` : '';
  const inner = shift.to + style.unit;
  const { body } = loop;
  if (body.kind === 'compound' && !(step !== null && hidesNamesOf(context, loop))) {
    const text = copyText(source, { start: sure ? body.span.start : loop.headSpan.end, end: body.span.end }, shift, simplify(context.facts, body, run.decisions, shift));
    if (step === null) return `${init}${head}${text}`;
    const open = text.slice(0, -1).trimEnd();
    return `${init}${head}${text.includes('\n') ? `${open}\n${inner}${step}\n${shift.to}}` : `${open} ${step} }`}`;
  }
  const own: Shift = { from: indentAt(source, body.span.start), to: inner };
  const text = copyText(source, extentOf(source, body), own, simplify(context.facts, body, run.decisions, own));
  return `${init}${blockText(style, shift.to, head, `${inner}${text}${step === null ? '' : `\n${inner}${step}`}`)}`;
}

/** The body declares a name that the step uses: at the end of its block the step would mean that one. */
function hidesNamesOf(context: TransformContext, { body, ...loop }: PeelableLoop): boolean {
  if (loop.kind !== 'for' || loop.step === null) return false;
  const own = new Set([...declaredIn(body)].map(({ name }) => name));
  const words = wordsOf(context);
  const { step } = loop;
  return [...own].some((name) => wordIn(words, name, step.span) !== null);
}

/** What changes in the head of the loop for one of the runs. */
function headOf(context: TransformContext, plan: RangePlan, run: Run, test: string | null, index: number, count: number): readonly Replacement[] {
  const { loop } = plan;
  if (loop.condition === null) return [];
  const edits: Replacement[] = [];
  // The head's initialiser runs once: a declaration in front of the first run, an assignment in its head.
  if (loop.kind === 'for' && count > 1 && loop.init.kind !== 'empty' && (loop.init.kind === 'declare' || index > 0)) {
    edits.push(withoutInit(context, loop, loop.condition));
  }
  if (test !== null) {
    const { source } = context.unit;
    if (!run.keepsLoopTest || alwaysHolds(context, loop.condition)) edits.push({ span: loop.condition.span, text: test });
    else if (bindingOf(loop.condition) < BINDING.and) edits.push({ span: loop.condition.span, text: `(${textOf(source, loop.condition.span)}) && ${test}` });
    else edits.push({ span: { start: loop.condition.span.end, end: loop.condition.span.end }, text: ` && ${test}` });
  }
  return edits;
}

/** The comments behind the initialiser belong to the test: they stay. */
function withoutInit({ unit: { source } }: TransformContext, loop: ForStmt, condition: Expr): Replacement {
  const { end } = loop.init.span;
  const [comment] = commentsIn(source, { start: end, end: condition.span.start });
  return { span: { start: loop.headSpan.start + 1, end: comment?.start ?? condition.span.start }, text: '; ' };
}

/** The declaration of the head with the comments in front of it. */
function movedText({ unit: { source } }: TransformContext, loop: ForStmt): string {
  const { init } = loop;
  const [comment] = commentsIn(source, { start: loop.headSpan.start + 1, end: init.span.start });
  return `${textOf(source, { start: comment?.start ?? init.span.start, end: init.span.end }).replace(/;\s*$/, '')};`;
}

/** `while (true)`: beside another test it says nothing. */
function alwaysHolds(context: TransformContext, test: Expr): boolean {
  const value = context.facts.constant(test);
  return value !== null && Number(value) !== 0;
}

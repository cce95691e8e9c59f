/**
 * Laws that every fixture of every transform obeys. A new transform is under them as soon as it stands in the registry and has a
 * folder in fixtures/. Law 11 (both parsers give one result) stands in laws-wasm.test.ts: a process has one parser.
 */
import { beforeAll, describe as group, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { walk } from '../src/analysis/children.js';
import { provedShapes } from '../src/analysis/launch-facts.js';
import { auditProgram } from '../src/audit/audit.js';
import { applyEdits } from '../src/rewrite/apply-edits.js';
import { editTouches, editsMeet, sortDisjoint } from '../src/rewrite/plan.js';
import { unifiedDiff } from '../src/rewrite/unified-diff.js';
import type { Edit } from '../src/source/types.js';
import { initParser } from '../src/syntax/parser.js';
import type { Shape } from '../src/simulate/index.js';
import type { Unit } from '../src/syntax/tree.js';
import { verifyEquivalent } from '../src/verify/index.js';
import { transforms } from '../transforms/index.js';
import { COMMON_OBLIGATION_IDS } from '../transforms/lib/common-obligations.js';
import { refusals } from '../transforms/lib/framework.js';
import type { Change, LaunchPlan, Outcome, Transform } from '../transforms/lib/types.js';
import { builtWith, fixturesOf, type Fixture } from './helpers/fixtures.js';
import { compile, nvccVersion } from './helpers/nvcc.js';
import { inTemporaryFolder } from './helpers/temporary.js';
import { applyAll, describe, load, outcomesOf, PATH, type Run, type RunOptions } from './helpers/transform.js';

/** Obligations that never refuse by themselves: where they do not hold, a longer text is written. */
const FALLBACKS: ReadonlySet<string> = new Set(['header-droppable']);

/** Common obligations that are checked on emitted edits: only a faulty transform breaks them. */
const INTERNAL: ReadonlySet<string> = new Set(['edit-disjoint', 'head-declared']);

/** Sizes of simulated problems: none, one, around a warp, around a tile. Small, so that a busy machine ends them in time too. */
const SIZES = [33, 0, 70, 1, 5, 31, 64];

beforeAll(async () => {
  await initParser();
});

const runs = new Map<string, Run>();

function runOf(transform: Transform, fixture: Fixture): Run {
  let run = runs.get(fixture.path);
  if (run === undefined) runs.set(fixture.path, run = applyAll(transform, fixture.text, fixture.options));
  return run;
}

function changesOf(outcomes: readonly Outcome[]): readonly Change[] {
  return outcomes.flatMap((outcome) => (outcome.status === 'applied' && outcome.change !== null ? [outcome.change] : []));
}

function troubles(unit: Unit): number {
  return unit.problems.length + unit.functions.filter((fn) => !fn.understood).length;
}

/** What a comment says; it may stand in lines of another length, or as a block in place of a line. */
function wordsOfComment(text: string): string {
  return text.replaceAll(/[\s/*]+/g, ' ').trim();
}

for (const transform of transforms) {
  const fixtures = fixturesOf(transform.name);
  const good = fixtures.filter((fixture) => fixture.kind === 'ok');
  const bad = fixtures.filter((fixture) => fixture.kind === 'refuse');

  group(`laws: ${transform.name}`, () => {
    test('there are fixtures of both kinds', () => {
      expect(good.length).toBeGreaterThanOrEqual(25);
      expect(bad.length).toBeGreaterThanOrEqual(25);
    });

    test('the example is applied and comes out as printed', () => {
      expect(applyAll(transform, transform.example.before).text).toBe(transform.example.after);
    });

    test.each(good.map((fixture) => [fixture.name, fixture] as const))('%s', (_name, fixture) => {
      const run = runOf(transform, fixture);
      if (run.rounds === 0) throw new Error(`nothing was applied:\n${describe(run.first)}`);
      expect(run.text).toBe(fixture.expected);

      // 1. The output is understood as far as the input was.
      const before = load(fixture.text, fixture.options.analysis);
      const after = load(run.text, fixture.options.analysis);
      expect(troubles(after.unit)).toBeLessThanOrEqual(troubles(before.unit));

      // 2. A second run plans nothing.
      expect(changesOf(outcomesOf(transform, after, fixture.options))).toEqual([]);

      for (const change of changesOf(run.first)) {
        // 4. Edits are disjoint.
        const sorted = sortDisjoint(change.edits);
        for (const edit of sorted) expect(edit.text).not.toContain('\r');
        // 3. Bytes outside the edits are equal, whatever the newline and the end of the file.
        for (const text of [fixture.text, fixture.text.replaceAll('\n', '\r\n'), fixture.text.trimEnd()]) outsideIsEqual(transform, text, fixture.options);
        // 5. The diff applies with git and yields the output.
        expect(gitApply(fixture.text, sorted)).toBe(applyEdits(fixture.text, sorted, '\n'));
      }

      // 4, 12. Changes that do not meet may be made in any order.
      anyOrder(fixture.text, changesOf(run.first));

      // 13. Every comment stands in the output, but for those that name a closing brace.
      const written = wordsOfComment(run.text);
      const lost = before.unit.source.comments.filter((comment) => !/\}\s*$/.test(fixture.text.slice(0, comment.start)))
        .map((comment) => wordsOfComment(fixture.text.slice(comment.start, comment.end))).filter((words) => !written.includes(words));
      expect(lost).toEqual([]);
    });

    // 6. A refusal changes nothing and names its obligation.
    test.each(bad.map((fixture) => [fixture.name, fixture] as const))('%s', (_name, fixture) => {
      const run = runOf(transform, fixture);
      expect(run.text).toBe(fixture.text);
      expect(fixture.refuses).not.toBeNull();
      const named = run.first.flatMap((outcome) => refusals(outcome).map((refusal) => refusal.id));
      if (!named.includes(fixture.refuses ?? '')) throw new Error(`${fixture.refuses ?? ''} is not among the reasons:\n${describe(run.first)}`);
    });

    test.each(fixtures.filter((fixture) => fixture.kind === 'missed').map((fixture) => [fixture.name, fixture] as const))('%s is still missed', (_name, fixture) => {
      expect(runOf(transform, fixture).text).toBe(fixture.text);
      expect(fixture.text).toMatch(/^\/\/ missed: \S/);
    });

    test.each(fixtures.filter((fixture) => fixture.kind === 'skip').map((fixture) => [fixture.name, fixture] as const))('%s is legal but does not pay', (_name, fixture) => {
      const run = runOf(transform, fixture);
      expect(run.text).toBe(fixture.text);
      expect(run.first.map((outcome) => outcome.status)).toContain('skipped');
      // Asked for, it is applied, and a second run plans nothing even so.
      expect(applyAll(transform, fixture.text, { ...fixture.options, evenIfItLoses: true }).rounds).toBeGreaterThan(0);
    });

    // 9. What compiled before compiles after.
    (nvccVersion() === null ? test.skip : test)('nvcc takes every fixture and every output', () => {
      const texts = fixtures.flatMap((fixture) => (fixture.kind === 'ok' ? [fixture.text, runOf(transform, fixture).text] : [fixture.text]));
      const names = fixtures.flatMap((fixture) => (fixture.kind === 'ok' ? [fixture.name, `${fixture.name} (output)`] : [fixture.name]));
      const answers = compile(texts);
      expect(answers.flatMap((answer, i) => (answer === null ? [] : [`${names[i] ?? ''}: ${answer}`]))).toEqual([]);
    }, 600_000);

    // 7. A fresh audit shows no new kind of hazard.
    test('no output has a hazard that its input had not', () => {
      for (const fixture of good) {
        const known = hazardsOf(fixture.text);
        expect([...hazardsOf(runOf(transform, fixture).text)].filter((id) => !known.has(id)).map((id) => `${fixture.name}: ${id}`)).toEqual([]);
      }
    });

    // 8. The simulator finds before and after equal.
    test('the simulator finds every output equal to its input', () => {
      const unverified: string[] = [];
      let equal = 0;
      const pairs = fixtures.flatMap((fixture) => {
        if (fixture.kind === 'ok') return [[fixture.name, fixture.text, runOf(transform, fixture), fixture.options] as const];
        return fixture.kind === 'skip' ? [[fixture.name, fixture.text, applyAll(transform, fixture.text, { ...fixture.options, evenIfItLoses: true }), fixture.options] as const] : [];
      });
      for (const [name, before, run, { analysis }] of pairs) {
        const old = load(before, analysis);
        const edited = load(run.text);
        for (const kernel of old.unit.kernels) {
          const blocks = provedShapes(kernel, old.program, analysis).map(({ x, y, z }): Shape => [x, y, z]);
          const verdict = verifyEquivalent(old.program, edited.program, kernel.name, { budgetMs: 200, sizes: SIZES, ...(blocks.length === 0 ? {} : { blocks }), ...planOf(run, kernel.name) });
          if (verdict.status === 'different') throw new Error(`${name}: ${verdict.counterexample.differences.join('; ')} (${verdict.counterexample.replay})`);
          if (verdict.status === 'equal') equal++;
          else unverified.push(`${name}: ${verdict.obstacles.map((obstacle) => obstacle.reason).join('; ')} ${verdict.notes.join('; ')}`);
        }
      }
      // What the simulator cannot run is said aloud, and is the exception.
      if (unverified.length > 0) process.stderr.write(`not verified by simulation:\n  ${unverified.join('\n  ')}\n`);
      expect(equal).toBeGreaterThanOrEqual(9 * unverified.length);
    }, 300_000);

    // 13. An edit holds for other values of constants that a build may set, or that another hand may change where they are defined.
    const built = good.flatMap((fixture) => fixture.builds.map((values) => [`${fixture.name} with ${[...values].map(([name, value]) => `${name}=${value}`).join(' ')}`, fixture, values] as const));
    (built.length === 0 ? test.skip.each([['no fixture lists builds', null, null] as const]) : test.each(built))('%s', (_name, fixture, values) => {
      if (fixture === null || values === null) return;
      const old = load(builtWith(fixture.text, values), fixture.options.analysis);
      const edited = load(builtWith(runOf(transform, fixture).text, values), fixture.options.analysis);
      for (const kernel of old.unit.kernels) {
        const blocks = provedShapes(kernel, old.program, fixture.options.analysis).map(({ x, y, z }): Shape => [x, y, z]);
        const verdict = verifyEquivalent(old.program, edited.program, kernel.name, { budgetMs: 400, sizes: SIZES, ...(blocks.length === 0 ? {} : { blocks }) });
        if (verdict.status !== 'equal') throw new Error(`${verdict.status}: ${JSON.stringify(verdict, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)).slice(0, 600)}`);
      }
    });

    // 10. No transform changes the tree.
    test('trees are not mutated', () => {
      for (const fixture of fixtures) {
        const loaded = load(fixture.text, fixture.options.analysis);
        for (const fn of loaded.unit.functions) if (fn.body !== null) walk(fn.body, (node) => { Object.freeze(node); });
        outcomesOf(transform, loaded, fixture.options);
      }
    });

    test('a function that is not looked at has no site', () => {
      for (const fixture of fixtures) {
        const loaded = load(fixture.text);
        for (const { site } of outcomesOf(transform, loaded)) expect(transform.mayMatch?.(site.function)).not.toBe(false);
      }
    });

    // 13. Every obligation is hit by some refusal.
    test('every obligation refuses something', () => {
      const hit = new Set(bad.flatMap((fixture) => runOf(transform, fixture).first.flatMap((outcome) => refusals(outcome).map((refusal) => refusal.id))));
      expect(transform.obligationIds.filter((id) => !hit.has(id) && !FALLBACKS.has(id))).toEqual([]);
    });

    test('only declared obligations are stated', () => {
      const known = new Set([...transform.obligationIds, ...COMMON_OBLIGATION_IDS, ...INTERNAL]);
      const stated = fixtures.flatMap((fixture) => runOf(transform, fixture).first.flatMap((outcome) => outcome.obligations.map((obligation) => obligation.id)));
      expect([...new Set(stated)].filter((id) => !known.has(id))).toEqual([]);
    });

    // 14. No two fixtures are the same.
    test('no duplicate fixtures', () => {
      const bodies = fixtures.map((fixture) => fixture.text.replace(/^\/\/.*\n/, '').replaceAll(/\s+/g, ' '));
      expect(bodies.filter((body, i) => bodies.indexOf(body) !== i)).toEqual([]);
    });
  });
}

test.skip.each(nvccVersion() === null ? ['law 9: nvcc is not installed, so no output was compiled'] : [])('%s', () => undefined);

/** Where a plan took the place of a kernel, it is what runs. */
function planOf(run: Run, kernel: string): { readonly plan?: LaunchPlan } {
  const plan = run.plans.get(kernel);
  return plan === undefined ? {} : { plan };
}

function hazardsOf(text: string): ReadonlySet<string> {
  const files = auditProgram(load(text).analysis);
  return new Set(files.flatMap((file) => file.kernels.flatMap((kernel) => kernel.hazards.map((hazard) => hazard.id))));
}

function outsideIsEqual(transform: Transform, text: string, options: RunOptions): void {
  const loaded = load(text, options.analysis);
  const newline = loaded.unit.source.newline;
  for (const change of changesOf(outcomesOf(transform, loaded, options))) {
    const out = applyEdits(text, change.edits, newline);
    if (newline === '\r\n') expect(out.replaceAll('\r\n', '')).not.toContain('\n');
    let at = 0;
    let rest = out;
    for (const edit of sortDisjoint(change.edits)) {
      const kept = text.slice(at, edit.span.start);
      expect(rest.startsWith(kept)).toBe(true);
      rest = rest.slice(kept.length + applyEdits('', [{ ...edit, span: { start: 0, end: 0 } }], newline).length);
      at = edit.span.end;
    }
    expect(rest).toBe(text.slice(at));
  }
}

function gitApply(text: string, edits: readonly Edit[]): string {
  return inTemporaryFolder('divmod-laws-', (folder) => {
    const path = PATH.slice(1);
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    writeFileSync(join(folder, 'change.diff'), unifiedDiff({ path, text, encoding: 'utf-8', bom: false, newline: '\n', edits }));
    const run = spawnSync('git', ['apply', 'change.diff'], { cwd: folder, encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`git apply: ${run.stderr}`);
    return readFileSync(join(folder, path), 'utf8');
  });
}

function anyOrder(text: string, changes: readonly Change[]): void {
  const taken: Change[] = [];
  for (const change of changes) {
    const meets = taken.some((other) => change.edits.some((a) => other.edits.some((b) => editsMeet(a.span, b.span)))
      || change.edits.some((edit) => other.reads.some((read) => read.file === edit.file && editTouches(edit.span, read)))
      || other.edits.some((edit) => change.reads.some((read) => read.file === edit.file && editTouches(edit.span, read))));
    if (!meets) taken.push(change);
  }
  const forward = applyEdits(text, taken.flatMap((change) => change.edits), '\n');
  const backward = applyEdits(text, [...taken].reverse().flatMap((change) => change.edits), '\n');
  expect(backward).toBe(forward);
}

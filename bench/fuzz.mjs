#!/usr/bin/env node
/**
 * Generates kernels without end, applies every transform to each, and holds every result to the simulator.
 *
 *   npm run fuzz -- --minutes 10 [--first 0] [--transform hoist,ballot:skip,compact:grid,order=keep] [--theme role] [--kernels 20000]
 *
 * Prints, for each transform, the edits applied and the refusals by obligation. A difference is printed with its seed, the smallest
 * stream of choices that still shows it, and both texts; the exit code is then 1.
 */
import { parseArgs } from 'node:util';
import { createAnalysis } from '../dist/src/analysis/analyse.js';
import { applyEdits } from '../dist/src/rewrite/apply-edits.js';
import { initParser, loadProgram } from '../dist/src/syntax/index.js';
import { verifyEquivalent } from '../dist/src/verify/index.js';
import { streamFromSeed } from '../dist/src/generate/choices.js';
import { kernelFrom } from '../dist/src/generate/kernel.js';
import { parseTransformSpecs } from '../dist/src/project/transform-spec.js';
import { transforms } from '../dist/transforms/index.js';
import { composePlans } from '../dist/transforms/lib/launch-compose.js';
import { contextFor, evaluateFunction, refusals } from '../dist/transforms/lib/framework.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' }, first: { type: 'string', default: '0' }, kernels: { type: 'string', default: '1000000' },
    transform: { type: 'string' }, theme: { type: 'string' }, stop: { type: 'boolean', default: false },
  },
});
await initParser();
// `ballot:skip` asks for a variant, `compact:grid,order=keep` for options too.
const asked = values.transform === undefined ? transforms.map(({ name }) => ({ name, variant: null, options: new Map() })) : parseTransformSpecs([values.transform]);
const chosen = asked.flatMap(({ name, variant, options }) => {
  const found = transforms.find((t) => t.name === name);
  const spec = [variant === null ? name : `${name}:${variant}`, ...[...options].map(([key, value]) => `${key}=${value}`)].join(',');
  return found === undefined ? [] : [{ ...found, name: spec, variant, options }];
});
const PATH = '/generated.cu';

function load(text) {
  const bytes = Buffer.from(text, 'utf8');
  const program = loadProgram([PATH], { readFile: () => bytes, realPath: (p) => (p === PATH ? p : null) });
  return { program, unit: program.units.get(PATH), analysis: createAnalysis(program) };
}

function outcomes(transform, { unit, analysis }) {
  return unit.functions.filter((fn) => fn.body !== null && (fn.qualifiers.global || fn.qualifiers.device)).flatMap((fn) =>
    evaluateFunction(transform, contextFor(fn.qualifiers.global ? analysis.kernel(fn) : analysis.everyCall(fn), unit, { variant: transform.variant, options: transform.options }), { evenIfItLoses: true }));
}

/** So many edits of one kernel are enough: each invariant in a nest of loops doubles the copies, also where it does not pay. */
const MOST_EDITS = 40;

/** The text after all edits, one a round; `edits` counts them. */
function applyAll(transform, text, note) {
  let current = text;
  const planned = [];
  for (let edits = 0; ; edits++) {
    const loaded = load(current);
    const all = outcomes(transform, loaded);
    if (edits === 0) for (const o of all) note(o);
    const next = all.find((o) => o.status === 'applied' && o.change !== null);
    if (next === undefined || edits === MOST_EDITS) return { text: current, edits, cut: next !== undefined, plans: composePlans(planned) };
    if (next.change.launches !== undefined) planned.push({ kernel: next.site.function.name, parameters: next.site.function.parameters.map((p) => p.name), plan: next.change.launches });
    current = applyEdits(current, next.change.edits.filter((e) => e.file === PATH), loaded.unit.source.newline);
  }
}

const contents = (distribution) => ({ kind: 'contents', distribution, length: null });
const ARGUMENTS = new Map([
  ['in', contents({ kind: 'uniform', low: -2, high: 2 })], ['key', contents({ kind: 'uniform', low: 0, high: 63 })], ['lut', contents({ kind: 'uniform', low: 0, high: 3 })],
  ['out', contents({ kind: 'constant', value: 0 })], ['outi', contents({ kind: 'constant', value: 0 })], ['total', contents({ kind: 'constant', value: 0 })],
]);

function verdictOf(kernel, after, plans) {
  const plan = plans.get(kernel.name);
  return verifyEquivalent(load(kernel.source).program, load(after).program, kernel.name, {
    blocks: [[kernel.block.x, kernel.block.y, kernel.block.z ?? 1]], grids: [kernel.sides ?? [kernel.grid, 1, 1]], sizes: [kernel.n, kernel.n + 1, 33, 0], seeds: [1, 2, 3, 4, 5], schedules: [0, 1],
    arguments: new Map([...ARGUMENTS, ['w', { kind: 'value', value: kernel.scalars.w }]]), budgetMs: 1500, ...(plan === undefined ? {} : { plan }),
  });
}

/** Shortens and lowers the stream while the difference stays. */
function minimise(stream, transform) {
  const differs = (s) => {
    try {
      const kernel = kernelFrom(s, values.theme);
      const { text, edits, plans } = applyAll(transform, kernel.source, () => undefined);
      return edits > 0 && verdictOf(kernel, text, plans).status === 'different';
    } catch { return false; }
  };
  let best = stream;
  const end = Date.now() + 30_000;
  for (let size = Math.ceil(best.length / 2); size >= 1 && Date.now() < end; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length && Date.now() < end; at += size) {
      for (const candidate of [[...best.slice(0, at), ...best.slice(at + size)], best.map((v, i) => (i >= at && i < at + size ? 0 : v))]) if (candidate.some((v, i) => v !== best[i]) && differs(candidate)) best = candidate;
    }
  }
  return best;
}

const end = Date.now() + Number(values.minutes) * 60_000;
const tally = new Map(chosen.map((t) => [t.name, { edits: 0, kernels: 0, equal: 0, unverified: new Map(), refused: new Map(), skipped: 0, cut: 0 }]));
let count = 0;
let different = 0;
for (let seed = Number(values.first); Date.now() < end && count < Number(values.kernels); seed++) {
  count++;
  const stream = streamFromSeed(seed, 160);
  const kernel = kernelFrom(stream, values.theme);
  for (const transform of chosen) {
    const t = tally.get(transform.name);
    const { text, edits, cut, plans } = applyAll(transform, kernel.source, (o) => {
      if (o.status === 'refused') for (const r of refusals(o)) t.refused.set(r.id, (t.refused.get(r.id) ?? 0) + 1);
    });
    if (edits === 0) continue;
    t.edits += edits;
    if (cut) t.cut++;
    t.kernels++;
    const verdict = verdictOf(kernel, text, plans);
    if (verdict.status === 'equal') t.equal++;
    else if (verdict.status === 'not-verified') {
      const reason = verdict.obstacles[0]?.reason ?? '';
      t.unverified.set(reason, (t.unverified.get(reason) ?? 0) + 1);
    } else {
      different++;
      const small = kernelFrom(minimise(stream, transform), values.theme);
      console.log(`seed ${seed}, ${transform.name}: ${verdict.counterexample.differences[0]} (${verdict.counterexample.replay})`);
      console.log(`--- before, minimised\n${small.source}--- after\n${applyAll(transform, small.source, () => undefined).text}`);
      if (values.stop) process.exit(1);
    }
  }
}
console.log(`${count} kernels, ${different} differences`);
for (const [name, t] of tally) {
  console.log(`${name}: ${t.edits} edits in ${t.kernels} kernels, ${t.equal} equal, ${t.cut} left after ${MOST_EDITS} edits${t.unverified.size === 0 ? '' : `, not verified: ${[...t.unverified].map(([r, n]) => `${n} ${r}`).join('; ')}`}`);
  console.log(`  refused: ${[...t.refused].sort((a, b) => b[1] - a[1]).map(([id, n]) => `${id} ${n}`).join(', ')}`);
}
process.exitCode = different > 0 ? 1 : 0;

#!/usr/bin/env node
/**
 * Runs divmod over a folder of real CUDA and reports what it found, edited and broke. The folder is copied first; nothing in it changes.
 *
 *   node bench/corpus.mjs FOLDER [--transforms hoist,peel] [--work DIR] [--no-compile] [--even-if-it-loses] [--sample 40] [--seed 1] [--defaults='-std=c++17 -IInc']
 *
 * Steps: audit (kernels found against `__global__` tokens, share understood, branches by class); apply (edits and refusals by
 * obligation); `git apply` of each file's diff on the untouched copy gives the written text; a second run plans nothing; every edited source
 * that compiled before compiles after, with its own program's flags. Random diffs are written to DIR/sample for reading.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { streamFromSeed } from '../dist/src/generate/choices.js';
import { globalTokens } from './lib/global-tokens.mjs';
import { compile, flagsFor, run } from './lib/nvcc.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transforms: { type: 'string', default: 'hoist,peel' }, work: { type: 'string' }, 'no-compile': { type: 'boolean', default: false },
    sample: { type: 'string', default: '40' }, seed: { type: 'string', default: '1' }, defaults: { type: 'string', default: '-std=c++17' },
    jobs: { type: 'string', default: '2' }, 'even-if-it-loses': { type: 'boolean', default: false },
  },
});
const folder = path.resolve(positionals[0] ?? '.');
const work = path.resolve(options.work ?? path.join(os.tmpdir(), 'divmod-corpus'));
const cli = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../dist/bundle/main.js');
const before = path.join(work, 'before');
const after = path.join(work, 'after');

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
for (const copy of [before, after]) cpSync(folder, copy, { recursive: true, filter: (from) => path.basename(from) !== '.git' });

const sources = (root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(cu|cuh)$/.test(f)).sort();
const files = sources(before);

async function divmod(args, cwd) {
  const out = path.join(work, 'out.json');
  rmSync(out, { force: true });
  const started = process.hrtime.bigint();
  const result = await run('node', ['--max-old-space-size=8000', cli, ...args, '--format', 'json', '--output', out, '.'], { cwd, timeout: 3_600_000 });
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  if (!existsSync(out)) throw new Error(`divmod ${args.join(' ')} wrote nothing (exit ${result.code}): ${result.stderr.slice(-2000)}`);
  return { code: result.code, seconds, stderr: result.stderr, report: JSON.parse(readFileSync(out, 'utf8')) };
}

const count = (items, key) => {
  const table = {};
  for (const item of items) for (const k of [key(item)].flat()) table[k] = (table[k] ?? 0) + 1;
  return Object.fromEntries(Object.entries(table).sort((a, b) => b[1] - a[1]));
};
const show = (title, value) => console.log(`${title}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);

// ---------------------------------------------------------------------------------------------------------------- audit
const audit = await divmod(['audit'], before);
const audited = audit.report.files;
const kernels = audited.flatMap((f) => f.kernels);
let expected = 0;
let found = 0;
const missed = [];
for (const file of files) {
  const tokens = globalTokens(readFileSync(path.join(before, file)));
  const entry = audited.find((f) => path.normalize(f.path) === file);
  expected += tokens.definitions;
  found += Math.min(tokens.definitions, entry?.kernels.length ?? 0);
  if ((entry?.kernels.length ?? 0) < tokens.definitions) missed.push(`${file} (${entry?.kernels.length ?? 0} of ${tokens.definitions})`);
}
const percent = (a, b) => `${a} of ${b} (${((100 * a) / Math.max(1, b)).toFixed(2)}%)`;
show('files', `${audited.length} of ${files.length} reported; ${JSON.stringify(count(audited, (f) => f.status))}; exit ${audit.code}; ${audit.seconds.toFixed(1)} s`);
show('kernels found', percent(found, expected));
show('kernels understood', percent(kernels.filter((k) => k.understood).length, kernels.length));
show('files with kernels missed', missed.slice(0, 40));
show('branches', count(kernels.flatMap((k) => k.branches), (b) => b.class));
show('hazards', count(kernels.flatMap((k) => k.hazards), (h) => `${h.severity} ${h.id}`));

// ---------------------------------------------------------------------------------------------------------------- apply
// Edits that are legal and do not pay must hold too.
const losing = options['even-if-it-loses'] ? ['--even-if-it-loses'] : [];
const applied = await divmod(['apply', '--transform', options.transforms, ...losing, '--write', '--allow-dirty'], after);
const edits = applied.report.edits;
show('apply', `exit ${applied.code}; ${applied.seconds.toFixed(1)} s`);
for (const name of new Set(edits.map((e) => e.transform))) {
  const own = edits.filter((e) => e.transform === name);
  show(`${name}`, count(own, (e) => e.status));
  show(`${name} refusals by obligation`, count(own.filter((e) => e.status === 'refused'), (e) => e.obligations.filter((o) => o.status === 'refuted' || o.status === 'unknown').map((o) => o.id)));
}

const changed = readdirSync(before, { recursive: true, encoding: 'utf8' })
  .filter((f) => /\.(cu|cuh|h|hpp|inl|hxx|hh|cpp|cc)$/.test(f))
  .filter((f) => !readFileSync(path.join(before, f)).equals(readFileSync(path.join(after, f))));
show('files changed', String(changed.length));

const dry = await run('node', ['--max-old-space-size=8000', cli, 'apply', '--transform', options.transforms, ...losing, '--output', path.join(work, 'all.diff'), '.'], { cwd: before, timeout: 3_600_000 });
const third = path.join(work, 'patched');
cpSync(before, third, { recursive: true });
await run('git', ['init', '-q', '.'], { cwd: third });
const gitApply = await run('git', ['apply', path.join(work, 'all.diff')], { cwd: third });
const differs = changed.filter((f) => !readFileSync(path.join(third, f)).equals(readFileSync(path.join(after, f))));
show('git apply', gitApply.code === 0 ? `accepted (exit of the dry run ${dry.code}); ${differs.length} files differ from what --write wrote` : gitApply.stderr.slice(0, 2000));

const again = await divmod(['apply', '--transform', options.transforms, ...losing], after);
const planned = again.report.edits.filter((e) => e.status === 'applied');
show('second run plans', planned.length === 0 ? 'nothing' : planned.map((e) => `${e.path}:${e.line} ${e.transform}`));

// --------------------------------------------------------------------------------------------------------------- sample
const done = edits.filter((e) => e.status === 'applied');
const order = streamFromSeed(Number(options.seed), done.length).map((value, k) => ({ value, k })).sort((a, b) => a.value - b.value);
mkdirSync(path.join(work, 'sample'));
for (const { k } of order.slice(0, Number(options.sample))) {
  const edit = done[k];
  const title = `${edit.path}:${edit.line} ${edit.transform} in ${edit.kernel}`;
  writeFileSync(path.join(work, 'sample', `${String(k).padStart(4, '0')}.diff`), `# ${title}\n${edit.diff}`);
}

// -------------------------------------------------------------------------------------------------------------- compile
if (!options['no-compile']) {
  const defaults = { flags: options.defaults.split(' ').filter(Boolean).map((f) => (f.startsWith('-I') ? '-I' + path.resolve(folder, f.slice(2)) : f)) };
  const toCompile = new Set();
  for (const file of changed) {
    if (file.endsWith('.cu')) toCompile.add(file);
    // A header is compiled through the sources beside it.
    else for (const other of files) if (other.endsWith('.cu') && path.dirname(other).startsWith(path.dirname(file))) toCompile.add(other);
  }
  const queue = [...toCompile];
  const outcome = { both: 0, neither: 0, broken: [] };
  const worker = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const original = path.join(before, file);
      const how = (await flagsFor(original)) ?? { folder: path.dirname(original), flags: defaults.flags };
      const first = await compile(original, how);
      if (!first.ok) { outcome.neither++; continue; }
      const edited = path.join(after, file);
      const rebase = (f) => f.replaceAll(before, after);
      const second = await compile(edited, { folder: rebase(how.folder), flags: how.flags.map(rebase) });
      if (second.ok) outcome.both++;
      else outcome.broken.push(`${file}: ${second.message.split('\n').find((l) => l.includes('error')) ?? second.message.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, worker));
  show('compiled before and after', String(outcome.both));
  show('did not compile before', String(outcome.neither));
  show('broken by an edit', outcome.broken.length === 0 ? 'none' : outcome.broken);
}
show('work folder', work);

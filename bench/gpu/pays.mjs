#!/usr/bin/env node
/**
 * Measures on a GPU what the transforms bring. For each program of bench/gpu/pays: divmod rewrites a copy as the program's first line says
 * (`// apply: ballot --even-if-it-loses`), nvcc compiles the original, the result and the version that was restructured by hand beside it
 * (`NAME.hand.cu`), and all three run on the same inputs.
 *
 *   node bench/gpu/pays.mjs [--only ballot] [--out DIR] [--write] [--no-sanitizer] [--no-run] [--arch native] [--jobs 8]
 *
 * Prints, for each: the bits of the outputs compared as compiled with -fmad=false, the largest difference in units of the last place with
 * default flags (outputs read as `float`), whether memcheck, racecheck and synccheck are clean on the result, the speed-up of the result and of the hand-written version
 * (medians of three interleaved runs, each a median of the program's own launches), and the estimate that divmod made before. `--write` keeps the table as
 * bench/gpu/pays/results.json. Exit code 1 if bits differ, a check complains, a program does not compile, or an estimate has the wrong sign.
 *
 * A program takes the file for its outputs as first argument and `small` as second for a run under the sanitizer; it prints `time_us=…`.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' }, out: { type: 'string' }, write: { type: 'boolean', default: false }, 'no-sanitizer': { type: 'boolean', default: false },
    'no-run': { type: 'boolean', default: false }, arch: { type: 'string', default: 'native' }, jobs: { type: 'string', default: '8' },
  },
});
const here = path.join(import.meta.dirname, 'pays');
const cli = path.resolve(import.meta.dirname, '../../dist/bundle/main.js');
const out = options.out === undefined ? mkdtempSync(path.join(tmpdir(), 'divmod-pays-')) : path.resolve(options.out);

const run = (command, args, cwd = out, timeout = 300_000) => new Promise((resolve) => {
  execFile(command, args, { cwd, timeout, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
    resolve({ code: error ? (typeof error.code === 'number' ? error.code : 1) : 0, stdout: String(stdout), stderr: String(stderr) });
  });
});

/** Runs the tasks, so many at a time. */
async function pool(tasks, width) {
  const left = [...tasks];
  await Promise.all(Array.from({ length: width }, async () => { for (let task = left.shift(); task !== undefined; task = left.shift()) await task(); }));
}

const programs = readdirSync(here).filter((f) => f.endsWith('.cu') && !f.endsWith('.hand.cu')).map((f) => f.slice(0, -3))
  .filter((name) => options.only === undefined || name.startsWith(options.only)).sort();
const VERSIONS = ['before', 'after', 'hand'];
const rows = new Map(programs.map((name) => [name, { name, apply: '', edits: 0, estimate: null, problems: [] }]));

async function prepare(name) {
  const row = rows.get(name);
  const folder = path.join(out, name);
  mkdirSync(folder, { recursive: true });
  const first = /^\/\/ apply: (.+)$/m.exec(readFileSync(path.join(here, `${name}.cu`), 'utf8'));
  if (first === null) { row.problems.push('the first line does not say `// apply: …`'); return; }
  row.apply = first[1].trim();
  const [spec, ...flags] = row.apply.split(/\s+/);
  for (const version of ['before', 'after']) copyFileSync(path.join(here, `${name}.cu`), path.join(folder, `${version}.cu`));
  const hand = path.join(here, `${name}.hand.cu`);
  if (existsSync(hand)) copyFileSync(hand, path.join(folder, 'hand.cu'));
  const result = await run('node', [cli, 'apply', '--transform', spec, ...flags, '--write', '--allow-dirty', '--format', 'json', 'after.cu'], folder);
  let report = null;
  try { report = JSON.parse(result.stdout); } catch { row.problems.push(`apply failed: ${result.stderr.trim().split('\n').at(-1) ?? ''}`); return; }
  const applied = (report.edits ?? []).filter((edit) => edit.status === 'applied');
  row.edits = applied.length;
  row.estimate = applied[0]?.estimate?.speedup ?? null;
  if (applied.length === 0) row.problems.push(`nothing was applied: ${(report.edits ?? []).map((e) => `${e.status} ${e.reason ?? e.obligations?.filter((o) => o.status === 'unknown' || o.status === 'refuted').map((o) => `${o.id}: ${o.text}`).join('; ')}`).join(' | ')}`);
}

const MODES = [{ name: 'exact', flags: ['-fmad=false'] }, { name: 'default', flags: [] }];

function builds(name) {
  const folder = path.join(out, name);
  return VERSIONS.filter((v) => existsSync(path.join(folder, `${v}.cu`))).flatMap((version) => MODES.map((mode) => async () => {
    const result = await run('nvcc', ['-O3', `-arch=${options.arch}`, '-std=c++17', '-lineinfo', ...mode.flags, `${version}.cu`, '-o', `${version}-${mode.name}`], folder);
    if (result.code !== 0) rows.get(name).problems.push(`${version} does not compile: ${result.stderr.split('\n').find((l) => /error/.test(l)) ?? result.stderr.slice(0, 200)}`);
  }));
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1] ?? NaN;

/** Largest distance in units of the last place, the words read as floats; infinite if one is NaN and the other not. */
function ulps(a, b) {
  const order = (bits) => (bits < 0 ? -(bits & 0x7fffffff) : bits);
  let most = 0;
  for (let i = 0; i + 4 <= Math.min(a.length, b.length); i += 4) {
    const x = a.readInt32LE(i);
    const y = b.readInt32LE(i);
    if (x !== y) most = Math.max(most, Math.abs(order(x) - order(y)));
  }
  return most;
}

async function measure(name) {
  const row = rows.get(name);
  const folder = path.join(out, name);
  const versions = VERSIONS.filter((v) => existsSync(path.join(folder, `${v}-default`)));
  const outputs = new Map();
  const times = new Map(versions.map((v) => [v, []]));
  for (const version of versions) for (const mode of MODES) {
    const result = await run(`./${version}-${mode.name}`, [`${version}-${mode.name}.bin`], folder);
    if (result.code !== 0) row.problems.push(`${version} (${mode.name}) ended with ${result.code}: ${(result.stderr || result.stdout).slice(0, 200)}`);
    else outputs.set(`${version}-${mode.name}`, readFileSync(path.join(folder, `${version}-${mode.name}.bin`)));
  }
  for (let round = 0; round < 3; round++) for (const version of versions) {
    const result = await run(`./${version}-default`, ['timed.bin'], folder);
    const time = /time_us=([\d.eE+-]+)/.exec(result.stdout);
    if (time !== null) times.get(version).push(Number(time[1]));
  }
  const [before, after, hand] = VERSIONS.map((v) => median(times.get(v) ?? []));
  const equal = (mode) => {
    const a = outputs.get(`before-${mode}`);
    const b = outputs.get(`after-${mode}`);
    return a !== undefined && b !== undefined && a.length > 0 && a.equals(b);
  };
  row.bitsEqual = equal('exact');
  if (!row.bitsEqual) row.problems.push('the outputs differ with -fmad=false');
  const [a, b] = [outputs.get('before-default'), outputs.get('after-default')];
  row.ulpsDefault = a === undefined || b === undefined ? null : ulps(a, b);
  row.handEqual = outputs.has('hand-exact') && (outputs.get('before-exact')?.equals(outputs.get('hand-exact')) ?? false);
  row.timeUs = { before, after, hand };
  row.speedup = before / after;
  row.handSpeedup = before / hand;
  row.ofHand = hand / after;
  if (row.estimate !== null && Math.abs(row.speedup - 1) > 0.03 && (row.estimate > 1) !== (row.speedup > 1)) row.problems.push(`the estimate ${row.estimate} has the wrong sign: measured ${row.speedup.toFixed(2)}`);
  if (options['no-sanitizer']) return;
  row.sanitizer = {};
  for (const tool of ['memcheck', 'racecheck', 'synccheck']) {
    const result = await run('compute-sanitizer', ['--tool', tool, '--error-exitcode', '9', './after-default', 'small.bin', 'small'], folder);
    const clean = result.code === 0;
    row.sanitizer[tool] = clean;
    if (!clean) row.problems.push(`${tool}: ${(result.stdout + result.stderr).split('\n').filter((l) => /error|hazard|Error|Invalid|Race|Barrier/i.test(l)).slice(0, 2).join(' ')}`);
  }
}

await pool(programs.map((name) => () => prepare(name)), Number(options.jobs));
await pool(programs.flatMap(builds), Number(options.jobs));
if (!options['no-run']) for (const name of programs) await measure(name);

const shown = (value, digits = 2) => (typeof value === 'number' && Number.isFinite(value) ? value.toFixed(digits) : '-');
for (const row of rows.values()) {
  console.log(`${row.name.padEnd(28)} edits ${row.edits}  bits ${row.bitsEqual === undefined ? '-' : row.bitsEqual ? 'equal' : 'DIFFER'}  ulps ${row.ulpsDefault ?? '-'}  speed-up ${shown(row.speedup)}  by hand ${shown(row.handSpeedup)}`
    + `  of hand ${shown(row.ofHand)}  estimated ${shown(row.estimate)}  ${row.sanitizer === undefined ? '' : Object.entries(row.sanitizer).map(([t, ok]) => `${t} ${ok ? 'clean' : 'NOT CLEAN'}`).join(', ')}`);
  for (const problem of row.problems) console.log(`    ${problem}`);
}
if (options.write) writeFileSync(path.join(here, 'results.json'), `${JSON.stringify([...rows.values()], null, 2)}\n`);
process.exitCode = [...rows.values()].some((row) => row.problems.length > 0) ? 1 : 0;

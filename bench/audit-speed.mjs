#!/usr/bin/env node
/**
 * Prints how long a full audit of a folder takes as a ratio to parsing the same files with tree-sitter alone, in the same process, on one
 * thread, one after the other, several times. Both by the clock and by processor time, which other work on the machine disturbs less;
 * processor time includes what the engine's helper threads do (compiling, collecting garbage).
 *
 *   node bench/audit-speed.mjs FOLDER [rounds] [--main-thread] [--no-turns]
 *
 * Both sides let the event loop turn now and then: the native binding frees a parsed tree only there, and what is never freed is paid for in page
 * faults by whichever side comes next. The command does not turn within a batch; `--no-turns` measures so.
 *
 * Both run on a thread with the young generation that the command gives the thread of a large batch; with `--main-thread` as the engine comes.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isMainThread, Worker } from 'node:worker_threads';
import { Project } from '../dist/src/index.js';
import { YOUNG_GENERATION_MB } from '../dist/src/project/workers.js';

if (isMainThread && !process.argv.includes('--main-thread')) {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } });
  process.exit(await new Promise((resolve) => worker.once('exit', resolve)));
}

const folder = path.resolve(process.argv[2] ?? 'fixtures');
const rounds = Number(process.argv.slice(3).find((word) => /^\d+$/.test(word)) ?? 3);
const require = createRequire(import.meta.url);
const Parser = require('tree-sitter');
const parser = new Parser();
parser.setLanguage(require('tree-sitter-cpp'));

const files = (statSync(folder).isFile() ? [folder] : readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((f) => path.join(folder, f)))
  .filter((f) => /\.(cu|cuh)$/.test(f));
/** Seconds by the clock and of the processor. */
const measure = async (work) => {
  const start = process.hrtime.bigint();
  const used = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(used);
  return { clock: Number(process.hrtime.bigint() - start) / 1e9, processor: (user + system) / 1e6 };
};

/** What one side has done since the loop turned last, in files or steps. */
let since = 0;
const turn = async () => {
  if (process.argv.includes('--no-turns') || ++since % 20 !== 0) return;
  await new Promise((resolve) => setImmediate(resolve));
};

/** Tree-sitter alone: read and parse, nothing else. */
async function parseOnly() {
  for (const file of files) {
    const text = readFileSync(file, 'latin1');
    parser.parse((at) => text.slice(at, at + 32_000));
    await turn();
  }
}

/** As the command line does it: each finding is let go once it has been seen. */
async function auditAll() {
  const project = await Project.open({ include: files });
  let branches = 0;
  for (const step of project.auditSteps()) {
    for (const file of step) for (const kernel of file.kernels) branches += kernel.branches.length;
    await turn();
  }
  return branches;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const parse = [];
const audit = [];
for (let round = 0; round <= rounds; round++) {
  const p = await measure(parseOnly);
  const a = await measure(auditAll);
  if (round > 0 || rounds === 0) {
    parse.push(p);
    audit.push(a);
  }
}
for (const [key, name] of [['clock', 'by the clock'], ['processor', 'processor time']]) {
  const ratios = audit.map((a, k) => a[key] / (parse[k] ?? a)[key]);
  console.log(`${files.length} files, ${name}: parse alone ${median(parse.map((p) => p[key])).toFixed(2)} s, audit ${median(audit.map((a) => a[key])).toFixed(2)} s; `
    + `audit / parse alone: min ${Math.min(...ratios).toFixed(2)}, median ${median(ratios).toFixed(2)}, max ${Math.max(...ratios).toFixed(2)}`);
}

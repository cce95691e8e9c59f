#!/usr/bin/env node
/**
 * What share of the kernels of a folder can the simulator run to the end with lazy memory, and what stops the rest, by frequency.
 *
 *   node bench/simulate-corpus.mjs FOLDER [--shard 0/1] [--seconds 5] [--include FOLDER]... [--json FILE]
 *
 * Each kernel runs once, over two blocks of the shape it is launched with (128 threads if that is not known), with sizes of 1000; where that
 * takes longer than the time given (nested loops over sizes), with 100, then with 33. A file is loaded with what it
 * includes; programs of several files are loaded together, folder by folder.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createAnalysis } from '../dist/src/analysis/analyse.js';
import { simulate } from '../dist/src/simulate/index.js';
import { initParser, loadProgram } from '../dist/src/syntax/index.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { shard: { type: 'string', default: '0/1' }, seconds: { type: 'string', default: '5' }, include: { type: 'string', multiple: true, default: [] }, json: { type: 'string' } },
});
const root = path.resolve(positionals[0] ?? '.');
const [shard, shards] = values.shard.split('/').map(Number);
const folders = new Map();
for (const file of readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(cu|cuh)$/.test(f)).sort()) {
  const folder = path.dirname(file);
  folders.set(folder, [...(folders.get(folder) ?? []), path.join(root, file)]);
}

await initParser();
const stopped = new Map();
const total = { kernels: 0, ran: 0, withFaults: 0, aborted: 0, unsupported: 0, crashed: 0 };
const stop = (reason) => stopped.set(reason, (stopped.get(reason) ?? 0) + 1);
/** Reasons that differ in names and numbers are one kind. */
const kindOf = (reason) => reason.replaceAll(/`[^`]*`|'[^']*'|"[^"]*"/g, '…').replaceAll(/\d+/g, 'N').slice(0, 90);

[...folders].forEach(([, files], index) => {
  if (index % shards !== shard) return;
  const program = loadProgram(files, { includeDirs: values.include.map((folder) => path.resolve(folder)) });
  const analysis = createAnalysis(program);
  for (const file of files) {
    const unit = program.units.get(file);
    for (const kernel of unit?.kernels ?? []) {
      total.kernels++;
      try {
        const shape = kernel.body === null ? null : analysis.kernel(kernel).block.value;
        const block = shape === null ? [128, 1, 1] : [shape.x, shape.y, shape.z];
        let result = null;
        for (const size of [1000, 100, 33]) {
          result = simulate(program, kernel, { grid: [2, 1, 1], block, sharedBytes: null }, { seed: 1, arguments: new Map(), size }, { timeBudget: Number(values.seconds) * 1000 });
          if (result.status !== 'aborted' || result.reason !== 'time-budget') break;
        }
        if (result.status === 'ran') {
          total.ran++;
          if (result.faults.some((f) => f.severity === 'error')) total.withFaults++;
        } else if (result.status === 'aborted') {
          total.aborted++;
          stop(`aborted: ${kindOf(result.message)}`);
        } else {
          total.unsupported++;
          stop(kindOf(result.construct));
        }
      } catch (error) {
        total.crashed++;
        stop(`internal error: ${kindOf(String(error))}`);
      }
    }
  }
});

console.log(`${total.ran} of ${total.kernels} kernels ran to the end (${((100 * total.ran) / Math.max(1, total.kernels)).toFixed(1)}%), ${total.withFaults} of them with faults; ${JSON.stringify(total)}`);
const reasons = [...stopped].sort((a, b) => b[1] - a[1]);
for (const [reason, count] of reasons.slice(0, 40)) console.log(`${String(count).padStart(5)}  ${reason}`);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ total, reasons }));

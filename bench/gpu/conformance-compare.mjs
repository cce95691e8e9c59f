#!/usr/bin/env node
/**
 * Simulates conformance.cu and compares every column with what a device gave; NaNs are equal whatever their payload.
 *
 *   node bench/gpu/conformance-compare.mjs OUT/conformance.bin [--digests fixtures/simulate/conformance.json]
 *
 * With `--digests` it writes one digest per column of what the device gave: what __tests__/simulate/conformance.test.ts holds to.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { initParser, loadProgram } from '../../dist/src/syntax/index.js';
import { simulate } from '../../dist/src/simulate/index.js';
import { ROWS, float32, float64, int32, int64 } from './conformance-inputs.mjs';

await initParser();
const bytes = readFileSync(process.argv[2] ?? 'agree/conformance.bin');
const program = loadProgram([path.join(path.dirname(fileURLToPath(import.meta.url)), 'conformance.cu')]);
const rows = Array.from({ length: ROWS }, (_, i) => i);
const contents = (values) => ({ kind: 'contents', distribution: { kind: 'values', values }, length: values.length });
const zeros = (n) => ({ kind: 'contents', distribution: { kind: 'constant', value: 0 }, length: n });
const int = (b) => contents(rows.map((i) => int32(b, i)));
const long = (b) => contents(rows.map((i) => int64(b, i)));
const float = (b) => contents(rows.map((i) => float32(b, i)));
const double = (b) => contents(rows.map((i) => float64(b, i)));
const seeded = contents(rows.flatMap((i) => [int32(0, i), ...new Array(31).fill(0)]));

const RUNS = [
  ['integers', { a: int(0), b: int(1), o: zeros(ROWS * 48) }, [['o', 48, 4]]],
  ['longs', { a: long(0), b: long(1), o: zeros(ROWS * 32) }, [['o', 32, 8]]],
  ['floats', { a: float(0), b: float(1), c: float(2), o: zeros(ROWS * 64), q: seeded }, [['o', 64, 4, 'f32'], ['q', 32, 4]]],
  ['doubles', { a: double(0), b: double(1), c: double(2), o: zeros(ROWS * 32), q: zeros(ROWS * 8) }, [['o', 32, 8, 'f64'], ['q', 8, 4]]],
  ['lanes', { a: int(0), f: float(0), o: zeros(ROWS * 32) }, [['o', 32, 4]]],
];

const digests = {};
/** FNV-1a over 64-bit words. */
const mix = (h, w) => BigInt.asUintN(64, (h ^ w) * 0x100000001b3n);

let at = 0;
let columns = 0;
let wrong = 0;
for (const [name, args, outputs] of RUNS) {
  const kernel = [...program.units.values()].flatMap((u) => u.kernels).find((k) => k.name === name);
  const result = simulate(program, kernel, { grid: [ROWS / 128, 1, 1], block: [128, 1, 1], sharedBytes: 0 }, { seed: 1, size: ROWS, arguments: new Map([...Object.entries(args), ['n', { kind: 'value', value: ROWS }]]) }, { counts: false });
  if (result.status !== 'ran') throw new Error(`${name}: ${result.construct ?? result.message}`);
  if (result.faults.length > 0) console.log(`${name}: ${result.faults.map((f) => `${f.kind} ×${f.count}`).join(', ')}`);
  for (const [buffer, width, size, format] of outputs) {
    const { segment } = result.buffers.find((b) => b.name === buffer);
    const columnDigests = [];
    for (let column = 0; column < width; column++) {
      columns++;
      const bad = [];
      let h = 0xcbf29ce484222325n;
      for (const row of rows) {
        const offset = (row * width + column) * size;
        const raw = 2 ** 20 + offset;
        const view = new DataView(segment.pages[Math.floor(raw / 4096)].bytes);
        const o = raw % 4096;
        const ours = size === 8 ? view.getBigUint64(o, true) : BigInt(view.getUint32(o, true));
        const theirs = size === 8 ? bytes.readBigUInt64LE(at + offset) : BigInt(bytes.readUInt32LE(at + offset));
        const nan = format === 'f32' ? Number.isNaN(bytes.readFloatLE(at + offset)) : format === 'f64' && Number.isNaN(bytes.readDoubleLE(at + offset));
        h = mix(h, nan ? 0x7fffn : theirs);
        if (ours === theirs) continue;
        if (format === 'f32' && Number.isNaN(view.getFloat32(o, true)) && Number.isNaN(bytes.readFloatLE(at + offset))) continue;
        if (format === 'f64' && Number.isNaN(view.getFloat64(o, true)) && Number.isNaN(bytes.readDoubleLE(at + offset))) continue;
        bad.push({ row, ours, theirs });
      }
      columnDigests.push(h.toString(16).padStart(16, '0'));
      if (bad.length === 0) continue;
      wrong++;
      const { row, ours, theirs } = bad[0];
      const given = Object.entries(args).filter(([k]) => k.length === 1 && !['o', 'q'].includes(k)).map(([k, v]) => `${k}=${v.distribution.values[row]}`).join(' ');
      console.log(`${name}.${buffer}[${column}]: ${bad.length} of ${ROWS} rows differ, first at row ${row} (${given}): ${ours.toString(16)}, the device has ${theirs.toString(16)}`);
    }
    digests[[name, buffer, size, format ?? 'int'].join('.')] = columnDigests;
    at += ROWS * width * size;
  }
}
const target = process.argv.indexOf('--digests');
if (target > 0) writeFileSync(process.argv[target + 1], `${JSON.stringify(digests, null, 1)}\n`);
console.log(`${columns - wrong} of ${columns} operations agree on ${ROWS} inputs each`);
process.exitCode = wrong === 0 ? 0 : 1;

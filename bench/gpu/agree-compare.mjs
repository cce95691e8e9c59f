#!/usr/bin/env node
/**
 * Simulates the kernels of agree-generate.mjs on the same inputs and compares every byte with what a device wrote.
 *
 *   node bench/gpu/agree-compare.mjs OUT/results.bin
 */
import { readFileSync } from 'node:fs';
import { initParser, loadProgram } from '../../dist/src/syntax/index.js';
import { simulate } from '../../dist/src/simulate/index.js';
import { streamFromSeed } from '../../dist/src/generate/choices.js';
import { kernelFrom } from '../../dist/src/generate/kernel.js';
import { inputs } from './inputs.mjs';

await initParser();
const bytes = readFileSync(process.argv[2] ?? 'agree/results.bin');
const contents = (array) => ({ kind: 'contents', distribution: { kind: 'values', values: [...array] }, length: array.length });
const zeros = (n) => ({ kind: 'contents', distribution: { kind: 'constant', value: 0 }, length: n });
const number = (value) => ({ kind: 'value', value: Number(value) });

/** 32-bit words of a buffer as the run left it. */
function words(result, name, count) {
  const { segment } = result.buffers.find((b) => b.name === name);
  const out = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const at = 2 ** 20 + i * 4;
    const page = segment.pages[Math.floor(at / 4096)];
    out[i] = page === undefined ? 0 : page.u32[(at % 4096) / 4];
  }
  return out;
}

const isNaNBits = (w) => (w & 0x7f800000) === 0x7f800000 && (w & 0x7fffff) !== 0;
let agreed = 0;
let compared = 0;
for (let at = 0; at < bytes.length;) {
  const seed = bytes.readUInt32LE(at);
  const kernel = kernelFrom(streamFromSeed(seed, 160));
  const { elements, scalars } = kernel;
  const device = new Uint32Array(bytes.buffer.slice(bytes.byteOffset + at + 4, bytes.byteOffset + at + 4 + (elements * 2 + 8) * 4));
  at += 4 + (elements * 2 + 8) * 4;
  const text = new TextEncoder().encode(kernel.source);
  const program = loadProgram(['/k.cu'], { readFile: () => text, realPath: (p) => (p === '/k.cu' ? p : null) });
  const given = inputs(elements, seed);
  const result = simulate(program, [...program.units.values()][0].kernels[0], { grid: [kernel.grid, 1, 1], block: [kernel.block.x, kernel.block.y, 1], sharedBytes: 0 }, {
    seed: 1, size: kernel.n,
    arguments: new Map([
      ['in', contents(given.in)], ['key', contents(given.key)], ['lut', contents(given.lut)], ['out', zeros(elements)], ['outi', zeros(elements)], ['total', zeros(8)],
      ['n', number(kernel.n)], ['m', number(scalars.m)], ['mode', number(scalars.mode)], ['flag', number(scalars.flag)], ['w', number(scalars.w)],
    ]),
  }, { counts: false, scheduleSeed: seed % 3 });
  compared++;
  if (result.status !== 'ran') {
    console.log(`kernel ${seed}: ${result.construct ?? result.message}`);
    continue;
  }
  const ours = [...words(result, 'out', elements), ...words(result, 'outi', elements), ...words(result, 'total', 8)];
  const wrong = ours.findIndex((w, i) => w !== device[i] && !(i < elements && isNaNBits(w) && isNaNBits(device[i])));
  if (wrong < 0 && result.faults.length === 0) agreed++;
  else if (wrong < 0) console.log(`kernel ${seed}: equal, with faults ${result.faults.map((f) => f.kind).join(', ')}`);
  else console.log(`kernel ${seed} (${kernel.theme}): word ${wrong} is ${ours[wrong].toString(16)}, the device has ${device[wrong].toString(16)}`);
}
console.log(`${agreed} of ${compared} kernels agree bit for bit`);
process.exitCode = agreed === compared ? 0 : 1;

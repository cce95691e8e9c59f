/**
 * Operations against a device: `bench/gpu/conformance.cu` ran on an H200 (CUDA 13.0, `-fmad=false`) on 4,096 rows of inputs, special
 * values first; `fixtures/simulate/conformance.json` holds a digest of every column it wrote. The simulator must give the same bits.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { simulate, type Argument } from '../../src/simulate/index.js';
import { initParser, kernelOf, programOf } from './helpers.js';

interface Inputs {
  readonly ROWS: number;
  readonly int32: (buffer: number, i: number) => number;
  readonly int64: (buffer: number, i: number) => bigint;
  readonly float32: (buffer: number, i: number) => number;
  readonly float64: (buffer: number, i: number) => number;
}

const digests = JSON.parse(readFileSync('fixtures/simulate/conformance.json', 'utf8')) as Readonly<Record<string, readonly string[]>>;
let inputs: Inputs;

beforeAll(async () => {
  await initParser();
  const specifier = pathToFileURL(path.resolve('bench/gpu/conformance-inputs.mjs')).href;
  inputs = (await import(specifier)) as Inputs;
});

/** FNV-1a over the words of a column, NaNs made one. */
function digest(words: Iterable<bigint>): string {
  let h = 0xcbf29ce484222325n;
  for (const w of words) h = BigInt.asUintN(64, (h ^ w) * 0x100000001b3n);
  return h.toString(16).padStart(16, '0');
}

const contents = (values: readonly (number | bigint)[]): Argument => ({ kind: 'contents', distribution: { kind: 'values', values }, length: values.length });

describe('bits of the device', () => {
  test.each(['integers', 'longs', 'floats', 'doubles', 'lanes'])('%s', (name) => {
    const { ROWS, int32, int64, float32, float64 } = inputs;
    const rows = Array.from({ length: ROWS }, (_, i) => i);
    const of = (f: (buffer: number, i: number) => number | bigint, buffer: number): Argument => contents(rows.map((i) => f(buffer, i)));
    const zeros: Argument = { kind: 'contents', distribution: { kind: 'constant', value: 0 }, length: null };
    const f = name === 'integers' || name === 'lanes' ? int32 : name === 'longs' ? int64 : name === 'floats' ? float32 : float64;
    const q: Argument = name === 'floats' ? contents(rows.flatMap((i) => [int32(0, i), ...new Array<number>(31).fill(0)])) : zeros;
    const given: [string, Argument][] = [['a', of(f, 0)], ['b', of(f, 1)], ['c', of(f, 2)], ['f', of(float32, 0)], ['o', zeros], ['q', q], ['n', { kind: 'value', value: ROWS }]];
    const program = programOf(readFileSync('bench/gpu/conformance.cu', 'utf8'));
    const result = simulate(program, kernelOf(program, name), { grid: [ROWS / 128, 1, 1], block: [128, 1, 1], sharedBytes: 0 }, { seed: 1, size: ROWS, arguments: new Map(given) }, { counts: false });
    if (result.status !== 'ran') throw new Error(JSON.stringify(result));
    for (const [key, expected] of Object.entries(digests)) {
      const [kernel, buffer, size, format] = key.split('.');
      if (kernel !== name) continue;
      const segment = result.buffers.find((b) => b.name === buffer)?.segment;
      const width = expected.length;
      const bytes = Number(size);
      const got = expected.map((_, column) => digest((function* () {
        for (const row of rows) {
          const raw = 2 ** 20 + (row * width + column) * bytes;
          const page = segment?.pages[Math.floor(raw / 4096)];
          const view = new DataView(page?.bytes ?? new ArrayBuffer(4096));
          const o = raw % 4096;
          const nan = format === 'f32' ? Number.isNaN(view.getFloat32(o, true)) : format === 'f64' && Number.isNaN(view.getFloat64(o, true));
          yield nan ? 0x7fffn : bytes === 8 ? view.getBigUint64(o, true) : BigInt(view.getUint32(o, true));
        }
      })()));
      expect(got).toEqual(expected);
    }
  });
});

#!/usr/bin/env node
/**
 * Prints how many lane-operations a second the simulator does on one core.
 *
 *   node bench/simulate.mjs [rounds]
 */
import { initParser, loadProgram } from '../dist/src/syntax/index.js';
import { prepareKernel, runPrepared } from '../dist/src/simulate/index.js';

const CASES = [
  // name, operations a lane does per turn of the loop (counter, comparison and conversions included), body
  ['integer and float arithmetic', 17, 'a = a * b + 0.5f; b = b * 0.999f - a * 0.001f; c = c * 1664525 + 1013904223; c ^= c >> 7; a = a - (float)(c & 3);', 'y[t] = a + b + c;'],
  ['64-bit index arithmetic', 9, 'long long q = (long long)i * n + t; c += (int)(q % 7) + (int)(q >> 3);', 'y[t] = c;'],
  ['divergent branch', 7, 'if ((t + i) & 1) a = a * b + 1.0f; else c = c * 3 + i;', 'y[t] = a + c;'],
  ['global loads and stores', 6, 'x[t] = x[t] * 0.5f + b; a += x[t];', 'y[t] = a;'],
  ['shared memory with barriers', 8, 's[threadIdx.x] = a; __syncthreads(); a = s[(threadIdx.x + 1) & 127] + 1.0f; __syncthreads();', 'y[t] = a;'],
  ['warp shuffles', 5, 'a += __shfl_xor_sync(0xffffffffu, a, 1 << (i & 3));', 'y[t] = a;'],
];

await initParser();
const rounds = Number(process.argv[2] ?? 3);
for (const [name, operations, body, end] of CASES) {
  const text = `__global__ void k(float* x, float* y, int n) {
    __shared__ float s[128];
    int t = blockIdx.x * blockDim.x + threadIdx.x, c = t; float a = t, b = 1.5f;
    for (int i = 0; i < n; ++i) { ${body} }
    ${end}
  }`;
  const bytes = new TextEncoder().encode(text);
  const program = loadProgram(['/k.cu'], { readFile: () => bytes, realPath: (p) => (p === '/k.cu' ? p : null) });
  const kernel = [...program.units.values()][0].kernels[0];
  const prepared = prepareKernel(program, kernel, false);
  let best = 0;
  for (let r = 0; r < rounds; r++) {
    const start = process.hrtime.bigint();
    const result = runPrepared(prepared, { grid: [4, 1, 1], block: [128, 1, 1], sharedBytes: 0 }, { seed: 1, arguments: new Map([['n', { kind: 'value', value: 2000 }]]), size: 2000 }, { turnBudget: 1e9 });
    if (result.status !== 'ran') throw new Error(`${name}: ${JSON.stringify(result)}`);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    best = Math.max(best, (4 * 128 * 2000 * operations) / seconds);
  }
  console.log(`${name.padEnd(32)} ${(best / 1e6).toFixed(1).padStart(8)} million lane-operations a second`);
}

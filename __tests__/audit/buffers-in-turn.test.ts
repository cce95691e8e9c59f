/** Buffers that take turns from round to round: with a barrier a round no race, whatever names the buffer; with none, one. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { checkPair, hazardsIn, kernel, type Pair } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

/** How a round names its buffer: what stands before the loop, its head, what the round begins and ends with, and the buffer. */
const TURNS: readonly (readonly [name: string, before: string, head: string, first: string, last: string, buffer: string])[] = [
  ['b ^= 1 in the body', 'int b = 0;', 'for (int k = 0; k < n; k++)', '', 'b ^= 1;', 's[b]'],
  ['b ^= 1 in the head', 'int b = 0;', 'for (int k = 0; k < n; k++, b ^= 1)', '', '', 's[b]'],
  ['b = 1 - b', 'int b = 1;', 'for (int k = 0; k < n; k++)', '', 'b = 1 - b;', 's[b]'],
  ['b = 1u - b', 'unsigned b = 0;', 'for (int k = 0; k < n; k++)', '', 'b = 1u - b;', 's[b]'],
  ['b = !b', 'bool b = false;', 'for (int k = 0; k < n; k++)', '', 'b = !b;', 's[b]'],
  ['three in turn', 'int b = 0;', 'for (int k = 0; k < n; k++)', '', 'b = (b + 1) % 3;', 's[b]'],
  ['three in turn by a test', 'int b = 0;', 'for (int k = 0; k < n; k++)', '', 'b = b == 2 ? 0 : b + 1;', 's[b]'],
  ['a rest of the counter', '', 'for (int k = 0; k < n; k++)', 'int b = k % 3;', '', 's[b]'],
  ['a rest of the counter in place', '', 'for (int k = 0; k < n; k++)', '', '', 's[k & 1]'],
  ['a while loop', 'int b = 0, k = 0;', 'while (k < n)', '', 'b ^= 1; k++;', 's[b]'],
  ['a do loop', 'int b = 0, k = 0;', 'do', '', 'b ^= 1;', 's[b]'],
  ['two indices that change places', 'int in = 0, out = 1, k = 0;', 'while (k++ < n)', '', 'int h = in; in = out; out = h;', 's[out]'],
];

const round = ([, before, head, first, last, buffer]: (typeof TURNS)[number], between: string): string =>
  `__shared__ int s[3][64]; int t = threadIdx.x; ${before}\n${head} {\n${first}\n${buffer}[t] = x[t + n];${between}\nx[t] += ${buffer}[63 - t]; // HERE\n${last}\n}${head === 'do' ? ' while (++k < n);' : ''}`;

const PAIRS: readonly Pair[] = [
  ...TURNS.map((turn): Pair => ({ name: turn[0], has: 'error shared-race', wrong: kernel(round(turn, '')), right: [kernel(round(turn, ' __syncthreads();'))] })),
  { name: 'offsets in turn', has: 'error shared-race',
    wrong: kernel('__shared__ int s[128]; int t = threadIdx.x;\nfor (int k = 0; k < n; k++) {\nint o = (k & 1) * 64; s[o + t] = x[k];\nx[t] += s[o + 63 - t]; // HERE\n}'),
    right: [
      kernel('__shared__ int s[128]; int t = threadIdx.x; for (int k = 0; k < n; k++) { int o = (k & 1) * 64; s[o + t] = x[k]; __syncthreads(); x[t] += s[o + 63 - t]; }'),
      kernel('__shared__ int s[128]; int t = threadIdx.x, o = 0; for (int k = 0; k < n; k++, o = 64 - o) { s[o + t] = x[k]; __syncthreads(); x[t] += s[o + 63 - t]; }'),
    ] },
  { name: 'an offset that nobody knows is one for both', has: 'error shared-race',
    wrong: kernel('__shared__ int s[4][64]; int t = threadIdx.x;\ns[0][n + t] = x[t];\nx[t] += s[0][n + 63 - t]; // HERE'),
    right: [kernel('__shared__ int s[128]; int t = threadIdx.x, b = n; s[b * 64 + t] = x[t]; b ^= 1; x[t] += s[b * 64 + 63 - t];')] },
  { name: 'a scan of two buffers', has: 'error shared-race',
    wrong: kernel('__shared__ int s[2][64]; int t = threadIdx.x, p = 0; s[0][t] = x[t]; __syncthreads();\nfor (int o = 1; o < 64; o *= 2) {\ns[p ^ 1][t] = s[p][t] + (t >= o ? s[p][t - o] : 0); // HERE\np ^= 1;\n}\nx[t] = s[p][t];'),
    right: [
      kernel('__shared__ int s[2][64]; int t = threadIdx.x, p = 0; s[0][t] = x[t]; __syncthreads(); for (int o = 1; o < 64; o *= 2) { s[p ^ 1][t] = s[p][t] + (t >= o ? s[p][t - o] : 0); p ^= 1; __syncthreads(); } x[t] = s[p][t];'),
      kernel('__shared__ int s[2][64]; int t = threadIdx.x, in = 0, out = 1; s[0][t] = x[t]; __syncthreads(); for (int o = 1; o < 64; o *= 2) { s[out][t] = s[in][t] + (t >= o ? s[in][t - o] : 0); __syncthreads(); int h = in; in = out; out = h; } x[t] = s[in][t];'),
    ] },
  { name: 'one buffer, one barrier a round', has: 'error shared-race',
    wrong: kernel('__shared__ int s[2][64]; int t = threadIdx.x;\nfor (int k = 0; k < n; k++) {\ns[1][t] = x[k]; // HERE\n__syncthreads();\nx[t] += s[1][63 - t];\n}'),
    right: [kernel('__shared__ int s[2][64]; int t = threadIdx.x; for (int k = 0; k < n; k++) { s[k & 1][t] = x[k]; __syncthreads(); x[t] += s[k & 1][63 - t]; }')] },
  { name: 'one writes and all read in each round', has: 'error shared-race',
    wrong: kernel('__shared__ int v; int t = threadIdx.x;\nfor (int k = 0; k < n; k++) {\nif (t == k % 64) v = x[k];\nx[t] += v; // HERE\n__syncthreads();\n}'),
    right: [kernel('__shared__ int v; int t = threadIdx.x; for (int k = 0; k < n; k++) { if (t == k % 64) v = x[k]; __syncthreads(); x[t] += v; __syncthreads(); }')] },
];

/** Right code in which the buffer of a round is not known, or another than the names suggest. */
const RIGHT: readonly (readonly [string, string])[] = [
  ['pointers that change places', '__shared__ int s[64], u[64]; int t = threadIdx.x, *a = s, *b = u; for (int k = 0; k < n; k++) { a[t] = x[k]; __syncthreads(); x[t] += a[63 - t]; int *h = a; a = b; b = h; }'],
  ['indices that a function exchanges', '__shared__ int s[2][64]; int t = threadIdx.x, a = 0, b = 1; for (int k = 0; k < n; k++) { s[a][t] = x[k]; __syncthreads(); x[t] += s[a][63 - t]; exchange(a, b); }'],
  ['a buffer changed under a condition', '__shared__ int s[2][64]; int t = threadIdx.x, b = 0; for (int k = 0; k < n; k++) { s[b][t] = x[k]; __syncthreads(); x[t] += s[b][63 - t]; if (k & 1) b ^= 1; __syncthreads(); }'],
  ['a buffer that is left behind by a jump', '__shared__ int s[2][64]; int t = threadIdx.x, b = 0; for (int k = 0; k < n; k++) { b ^= 1; if (n > 7) continue; s[b][t] = x[k]; __syncthreads(); x[t] += s[b][63 - t]; }'],
  ['a buffer that starts anew', '__shared__ int s[2][64]; int t = threadIdx.x; for (int k = 0; k < n; k++) { int b = 0; s[b][t] = x[k]; b ^= 1; x[t] += s[b][t]; __syncthreads(); }'],
  ['another buffer behind the step', '__shared__ int s[2][64]; int t = threadIdx.x, b = 0; for (int k = 0; k < n; k++) { s[b][t] = x[k]; b ^= 1; x[t] += s[b][63 - t]; __syncthreads(); }'],
  ['an index taken in front of the loop', '__shared__ int s[4][64]; int t = threadIdx.x, b = 0; int c = b + 3; for (int k = 0; k < n; k++) { s[c][t] = x[k]; __syncthreads(); x[t] += s[b][63 - t]; b ^= 1; }'],
  ['a buffer of a callee', '__shared__ int s[2][64]; int t = threadIdx.x, b = 0; for (int k = 0; k < n; k++) { put(s, b, x[k]); __syncthreads(); x[t] += s[b][63 - t]; b ^= 1; }'],
];

const HELPERS = '__device__ void exchange(int &a, int &b) { int h = a; a = b; b = h; }\n__device__ void put(int (*s)[64], int b, int v) { s[b][threadIdx.x] = v; }\n';

describe('buffers that take turns', () => {
  test.each(PAIRS)('$name', checkPair);

  test.each(RIGHT)('%s: nothing is said', (_, body) => {
    expect(hazardsIn(`${HELPERS}${kernel(body)}`).hazards.map((hazard) => `${hazard.severity} ${hazard.id}`)).toEqual([]);
  });

  test('the reasons name what tells the rounds apart', () => {
    const { hazards } = hazardsIn(kernel('__shared__ int s[2][64]; int t = threadIdx.x, p = 0; s[0][t] = x[t]; __syncthreads(); for (int o = 1; o < n; o *= 2) { s[p ^ 1][t] = s[p][t ^ 32]; p ^= 1; }'));
    expect(hazards.filter((hazard) => hazard.id === 'shared-race').flatMap((hazard) => hazard.because.map((reason) => reason.text.includes('`p` =')))).toEqual([true, true]);
  });
});

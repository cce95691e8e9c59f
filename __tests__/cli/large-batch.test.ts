/** Large batches are audited on a thread of their own, and on several: what comes out is the same, text, exit code and messages. */
import { expect, test } from '@jest/globals';
import { LARGE_BATCH } from '../../src/project/large-batch.js';
import { divmod, folderWith, type CliResult } from './run-cli.js';

const kernel = (i: number): string => `__global__ void k${i}(const int *a, int *o, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) o[t] = a[t] > ${i} ? a[t] * 3 : 0;
    if (threadIdx.x < ${i}) __syncthreads();
}
`;

test('one thread, its own, or several', () => {
  const names = Array.from({ length: LARGE_BATCH + 6 }, (_, i) => `f${i}.cu`);
  const cwd = folderWith({ ...Object.fromEntries(names.map((name, i) => [name, kernel(i)])), 'broken.cu': '__global__ void b(int *o) { o[0] = ; } }' });
  const run = (...more: string[]): CliResult => divmod(['audit', '--format', 'json', ...more], { cwd });
  const own = run('.');
  const several = run('--jobs', '2', '.');
  const few = names.slice(0, 4).map((name) => run(name));
  expect(own.code).toBe(several.code);
  expect(own.stderr).toBe(several.stderr);
  expect(own.stdout).toBe(several.stdout);
  const filesOf = (text: string): readonly { readonly path: string }[] => (JSON.parse(text) as { readonly files: readonly { readonly path: string }[] }).files;
  const all = filesOf(own.stdout);
  expect(all).toHaveLength(names.length + 1);
  for (const one of few) expect(all).toContainEqual(filesOf(one.stdout)[0]);
  // A kernel that none of them has is said as for a small batch.
  const wrong = run('--kernel', 'nowhere', '.');
  expect([wrong.code, wrong.stdout]).toEqual([2, '']);
  expect(wrong.stderr).toContain('nowhere');
});

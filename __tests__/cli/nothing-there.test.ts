/** `--at LINE` where a transform has no site: why it does not fit there, in the words of the field, with the function the line stands in. */
import { describe, expect, test } from '@jest/globals';
import { divmod, folderWith } from './run-cli.js';

const SOURCE = `__device__ float h(float v) {
  if (v > 1) v = 2;
  return v; }
__global__ void k(float *x, const int *f, int n, int mode) {
  int i = threadIdx.x;
  switch (mode) { case 1: x[i] = 1; break; default: x[i] = 2; }
  for (int k = 0; k < f[i]; k++) {
    if (x[k] > 3) x[k] = 2;
    if (i < 3) {
      if (mode == 2) x[k] = 7;
    }
  }
  do { if (i > n) x[0] = 1; n--; } while (n > 0);
  if constexpr (sizeof(int) == 4) x[2] = 1;
  x[i] = h(x[i]);
}
int main() {
  k<<<1, 32>>>(0, 0, 1, 2);
}
`;

describe('apply --at', () => {
  test.each([
    ['hoist', 2, 'h', 'the `if` on line 2 stands in no loop'],
    ['hoist', 6, 'k', 'the `switch` on line 6 stands in no loop'],
    ['peel', 6, 'k', 'the `switch` on line 6 stands in no loop'],
    ['peel', 7, 'k', 'the loop on line 7 has no guard that compares its counter with a fixed bound; its trip count is decided by data'],
    ['peel', 8, 'k', 'the `if` on line 8 is decided by data, not by a counter of the loop on line 7'],
    ['peel', 10, 'k', 'the `if` on line 10 does not compare a counter of the loop on line 7 with a fixed bound'],
    ['hoist', 10, 'k', 'stands below another branch of the loop on line 7'],
    ['hoist', 14, 'k', 'is decided at compile time (if constexpr)'],
    ['peel', 5, 'k', 'no branch of `k` begins there'],
    ['peel', 18, 'main', '`main` is a function of the host'],
  ])('%s on line %i', (transform, line, fn, text) => {
    const cwd = folderWith({ 'k.cu': SOURCE });
    const result = divmod(['apply', '--transform', transform, '--at', String(line), 'k.cu'], { cwd });
    expect(result.code).toBe(1);
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain(`k.cu:${line}: ${transform} in ${fn}: refused`);
    expect(result.stderr).toContain(text);
    const json = JSON.parse(divmod(['apply', '--transform', transform, '--at', String(line), '--format', 'json', 'k.cu'], { cwd }).stdout) as { edits: { kernel: string; path: string; obligations: { text: string }[] }[] };
    expect(json.edits[0]).toMatchObject({ path: 'k.cu', line, status: 'refused' });
    if (fn === 'k' && line !== 5) expect(json.edits[0]?.kernel).toBe('k');
  });

  test('each transform that was asked for says its own reason', () => {
    const result = divmod(['apply', '--transform', 'peel,hoist', '--at', '10', 'k.cu'], { cwd: folderWith({ 'k.cu': SOURCE }) });
    expect(result.stderr).toContain('peel in k: refused');
    expect(result.stderr).toContain('hoist in k: refused');
  });
});

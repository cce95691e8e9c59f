/** Text that the parser could not read, inside of statements that it could: what it was part of is not known. */
import { beforeAll, expect, test } from '@jest/globals';
import { branchesOf } from '../../src/analysis/branches.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

test.each([
  'if (n $ @ > 3) o[0] = 1;', 'if (n @ 4 > 2 && n > 1) o[0] = 1;', 'while (n @ 3) o[0] = 1;', 'switch (n @ 3) { case 1: o[0] = 1; }', 'do { o[0] = 1; } while (n @ 3);', 'int v = n @ 3; if (v > 3) o[0] = 1;',
  'int v @ = n; if (v > 3) o[0] = 1;', 'int v = n; v = n @ 3; if (v > 3) o[0] = 1;', 'if (max(n, n @ 3) > 3) o[0] = 1;', 'int v = (n @ 3); if (v) o[0] = 1;', 'int v = o[n @ 3]; if (v) o[0] = 1;',
  'int v[2] = {n @ 3, 4}; if (v[0]) o[0] = 1;', 'int v = n; v @ += 3; if (v) o[0] = 1;', 'int v = -@n; if (v) o[0] = 1;', 'int v = (int @)n; if (v) o[0] = 1;',
])('%s', (text) => {
  const { unit, analysis } = load(`__global__ void k(int *o, int n) { ${text} }`);
  const [fn] = unit.kernels;
  if (fn === undefined) throw new Error('no kernel');
  const [branch] = branchesOf(fn);
  if (branch === undefined) throw new Error('no branch');
  expect(fn.understood).toBe(false);
  expect(analysis.kernel(fn).scope(branch.condition).known).toBe(false);
});

test('a loop whose head could not be read whole is not understood', () => {
  const { unit } = load('__global__ void k(int *o, int n) { for (int i = 0; i < n @ 3; i++) o[i] = 1; for (int i = 0; i < n; i++ @) o[i] = 1; }');
  expect(unit.kernels[0]?.body?.body.map((stmt) => stmt.kind)).toEqual(['opaque', 'opaque']);
});

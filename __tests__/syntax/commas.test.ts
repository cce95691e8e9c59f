/** Assignments before a comma between parentheses, which the grammar takes for fold expressions. */
import { describe, expect, test } from '@jest/globals';
import { forEachExpr } from '../../src/syntax/walk.js';
import { printTree } from '../../src/syntax/print.js';
import type { Expr } from '../../src/syntax/tree.js';
import { functionNamed, unit } from './load.js';

interface Read { readonly assignments: readonly string[]; readonly commas: number; readonly understood: boolean; readonly outline: string }

async function read(statements: string, before = ''): Promise<Read> {
  const u = await unit(`${before}\n__global__ void k(int *p, int n, int c, int t, int s) {\n${statements}\n}\n`);
  const k = functionNamed(u, 'k');
  if (k.body === null) throw new Error('no body');
  const text = (e: Expr): string => u.source.text.slice(e.span.start, e.span.end);
  const assignments: string[] = [];
  let commas = 0;
  forEachExpr(k.body, (e) => {
    if (e.kind === 'assign') assignments.push(`${text(e.target)} ${e.op ?? ''}= ${text(e.value)}`);
    if (e.kind === 'binary' && e.op === ',') {
      commas++;
      if (!text(e).startsWith(text(e.left)) || !text(e).endsWith(text(e.right))) throw new Error(`span of ${text(e)}`);
    }
  });
  return { assignments, commas, understood: k.understood && k.problems.length === 0, outline: k.body.body.map((s) => printTree(s)).join('\n') };
}

describe('assignments in comma expressions', () => {
  const cases: readonly (readonly [string, readonly string[], number])[] = [
    ['if (n > 3 || (c -= 2, 1)) return;', ['c -= 2'], 1],
    ['if (n > 3 && (c += 2, t == 3)) return;', ['c += 2'], 1],
    ['switch ((s = t, n)) { case 1: return; }', ['s = t'], 1],
    ['while ((s = t, s += 1, s < n)) break;', ['s = t', 's += 1'], 2],
    ['for ((t = 1, n = 2); (t += 1, t < 5); (n++, t = 2)) c++;', ['t = 1', 'n = 2', 't += 1', 't = 2'], 3],
    ['(t <<= 2, p[t] ^= n ? c : s);', ['t <<= 2', 'p[t] ^= n ? c : s'], 1],
    ['(s = t = n, p[0] >>= 1, *p |= 2);', ['s = t = n', 't = n', 'p[0] >>= 1', '*p |= 2'], 2],
    ['s = n ? (t -= 1, 2) : c ? (t = 1, 3) : 4;', ['s = n ? (t -= 1, 2) : c ? (t = 1, 3) : 4', 't -= 1', 't = 1'], 2],
    ['if (n) (s /* , */ = t, t %= 2); else (c &= 1, s);', ['s /* , */ = t', 't %= 2', 'c &= 1'].map((x) => x.replace(' /* , */', '')), 2],
    ['auto f = [=](int a) { return (a = 2, a + n); };', ['a = 2'], 1],
    ['bool both(t && (s = t, n));', ['s = t'], 1],
  ];
  test.each(cases)('%s', async (text, assignments, commas) => {
    const result = await read(text);
    expect(result.understood).toBe(true);
    expect(result.outline).not.toMatch(/opaque|unknown:/);
    expect([...result.assignments].sort()).toEqual([...assignments].sort());
    expect(result.commas).toBe(commas);
  });

  test('arguments and default arguments keep their commas', async () => {
    const result = await read('int r = add(c = 1, 2); s = [](int a, int b) { return a + b; }(t = 1, 2);', '__device__ int add(int a = 1, int b = 2) { return a + b; }');
    expect(result.understood).toBe(true);
    expect(result.commas).toBe(0);
    expect(result.assignments).toContain('c = 1');
    expect(result.assignments).toContain('t = 1');
  });

  test('in macros', async () => {
    const result = await read('if (STEP(t, n)) return; s = KEEP((c = 2, n));', '#define STEP(a, b) (a += b, a > 3)\n#define KEEP(x) (x)');
    expect(result.understood).toBe(true);
    expect(result.outline).toMatch(/macro STEP : bool[^]*assign \+= : int[^]*macro KEEP : int[^]*assign = : int/);
  });

  test('an assignment in the last arm of a conditional is no assignment to the conditional', async () => {
    for (const text of ['(n ? s : t = 4, c++);', 'n ? s : t = 4;']) expect((await read(text)).assignments.filter((a) => a.includes('?'))).toEqual([]);
  });
});

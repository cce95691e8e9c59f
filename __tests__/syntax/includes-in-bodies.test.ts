/** `#include` between braces is text that was not read: a statement that may do and declare anything, never an empty line. */
import { describe, expect, test } from '@jest/globals';
import type { Stmt } from '../../src/syntax/tree.js';
import { functionNamed, program, unit } from './load.js';

async function bodyOf(text: string): Promise<{ readonly body: readonly Stmt[]; readonly understood: boolean; readonly problems: readonly string[] }> {
  const fn = functionNamed(await unit(text), 'k');
  if (fn.body === null || fn.body.kind !== 'compound') throw new Error('no body');
  return { body: fn.body.body, understood: fn.understood, problems: fn.problems.map(({ line, message }) => `${line}: ${message}`) };
}

describe('an #include between statements', () => {
  test('is an opaque statement, and the function is not understood', async () => {
    const { body, understood, problems } = await bodyOf('__global__ void k(int *o, int n) {\n  int i = n;\n#include "more.inc"\n  if (i > 2) o[0] = i;\n}\n');
    expect(body.map(({ kind }) => kind)).toEqual(['declare', 'opaque', 'if']);
    expect(understood).toBe(false);
    expect(problems).toEqual(['3: not understood: `#include "more.inc"` stands inside a function, and its text was not read there (write it out, or call a function)']);
  });

  test('may be the body of what stands in front of it, and go on behind that', async () => {
    for (const head of ['if (n > 3)', 'for (int j = 0; j < n; ++j)', 'while (o[0] < n)', 'if (n > 4) o[1] = 2; else']) {
      const { body } = await bodyOf(`__global__ void k(int *o, int n) {\n  ${head}\n#include "step.inc"\n  for (int i = 0; i < n; ++i) o[i] = i;\n}\n`);
      expect([head, ...body.map(({ kind }) => kind)]).toEqual([head, 'opaque', 'for']);
    }
  });

  test('may declare what is named behind it', async () => {
    const { body } = await bodyOf('__constant__ int c;\n__global__ void k(int *o, int n) {\n  int own = 1;\n#include <names.inc>\n  own = 2; n = 3; c = 4; { int n = 5; n = 6; }\n}\n');
    const names: string[] = [];
    for (const stmt of body) {
      if (stmt.kind !== 'expression' || stmt.expression.kind !== 'assign' || stmt.expression.target.kind !== 'ref') continue;
      names.push(`${stmt.expression.target.name} ${stmt.expression.target.decl === null ? 'unknown' : 'known'}`);
    }
    expect(names).toEqual(['own known', 'n unknown', 'c unknown']);
  });

  test('in a function that is called is an unknown effect of the call', async () => {
    const fn = functionNamed(await unit('__device__ int f(int x) {\n  int t[4] = {\n#include "table.inc"\n  };\n  return t[x & 3];\n}\n'), 'f');
    expect(fn.understood).toBe(false);
    expect(fn.body?.kind === 'compound' ? fn.body.body.map(({ kind }) => kind) : null).toEqual(['opaque']);
  });
});

describe('an #include in a list', () => {
  test('leaves the value of the variable unknown', async () => {
    const { variables } = await unit('__constant__ int table[] = {\n#include "table.inc"\n};\n__constant__ int plain[] = { 1, 2 };\n');
    expect(variables.map(({ name, opaqueInit }) => [name, opaqueInit])).toEqual([['table', true], ['plain', false]]);
  });

  test('leaves the enumerators behind it without a value', async () => {
    const { functions } = await unit('enum E { A,\n#include "list.inc"\n  B, C };\n__device__ int k() { return A + B; }\n');
    const [fn] = functions;
    const stmt = fn?.body?.kind === 'compound' ? fn.body.body[0] : undefined;
    const value = stmt?.kind === 'return' && stmt.value?.kind === 'binary' && stmt.value.right.kind === 'ref' ? stmt.value.right.decl : null;
    expect(value?.kind === 'enumerator' ? value.value?.kind : null).toBe('opaque');
  });
});

test('an #include at namespace scope is read as before', async () => {
  const loaded = await program({ 'a.cu': 'namespace n {\n#include "b.inc"\n}\n__global__ void k(int *o) { o[0] = n::f(); }\n', 'b.inc': '__device__ int f() { return 1; }\n' }, ['a.cu']);
  expect(loaded.units.get('/p/a.cu')?.kernels.map(({ understood }) => understood)).toEqual([true]);
});

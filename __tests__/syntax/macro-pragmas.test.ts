/** `push_macro`, `pop_macro` and `#undef`s of headers: a name means what it does where it stands, or nothing known. */
import { describe, expect, test } from '@jest/globals';
import { collectMacros, macroPragmas, sourceFromText, walkConditionals } from '../../src/source/index.js';
import { initParser } from '../../src/syntax/parser.js';
import { walk } from '../../src/analysis/children.js';
import type { Expr } from '../../src/syntax/tree.js';
import { functionNamed, program, unit } from './load.js';

/** What `return …;` of the function comes to. */
async function returned(text: string, name = 'f'): Promise<Expr> {
  const fn = functionNamed(await unit(text), name);
  let found: Expr | null = null;
  if (fn.body !== null) walk(fn.body, (node) => { if (node.kind === 'return') found = node.value; return true; });
  if (found === null) throw new Error('no value');
  return found;
}

const isUnknown = (expr: Expr): boolean => expr.kind === 'macro' && expr.expanded.kind === 'opaque';

describe('a name that is popped', () => {
  const f = '__device__ int f() { return N; }\n';
  const popped: Readonly<Record<string, string>> = {
    'by a line': `#pragma push_macro("N")\n#undef N\n#define N 3\n${f}#pragma pop_macro("N")\n`,
    'and used behind': `#pragma push_macro("N")\n#undef N\n#pragma pop_macro("N")\n${f}`,
    'by an operator': `_Pragma("push_macro(\\"N\\")")\n#undef N\n_Pragma("pop_macro(\\"N\\")")\n${f}`,
    'by a macro with an operator': `#define P(x) _Pragma(#x)\nP(push_macro("N"))\n#undef N\nP(pop_macro("N"))\n${f}`,
    'by a macro that is given the name': `#define P(x) _Pragma(#x)\n#define POP(x) P(pop_macro(#x))\n#undef N\nPOP(N)\n${f}`,
  };
  for (const [how, text] of Object.entries(popped)) {
    test(`${how} is neither the macro of the table nor the variable`, async () => {
      await initParser();
      expect(isUnknown(await returned(`__device__ int N;\n#define N 100\n${text}`))).toBe(true);
    });
  }

  test('where nothing was pushed that was defined', async () => {
    await initParser();
    expect(isUnknown(await returned(`__device__ int N;\n#pragma push_macro("N")\n#define N 3\n#pragma pop_macro("N")\n${f}`))).toBe(true);
  });

  test('in a header', async () => {
    await initParser();
    const loaded = await program({ 'a.cu': '__device__ int N;\n#include "a.cuh"\n__device__ int f() { return N; }\n', 'a.cuh': '#pragma push_macro("N")\n#define N 3\n#pragma pop_macro("N")\n' }, ['a.cu']);
    const made = loaded.units.get('/p/a.cu');
    if (made === undefined) throw new Error('no unit');
    expect(functionNamed(made, 'f').problems.map(({ message }) => message).join()).toContain('behind the pop_macro in line 3 of a.cuh');
  });

  test('others are not touched', async () => {
    await initParser();
    const other = await returned(`#define M 4\n#define N 1\n#pragma push_macro("N")\n#pragma pop_macro("N")\n__device__ int f() { return M; }\n`);
    expect(other.kind === 'macro' && other.expanded.kind).toBe('literal');
  });
});

test('conditions see what was kept', () => {
  const source = sourceFromText('a.cu', '/a.cu', '#define N 1\n#pragma push_macro("N")\n#undef N\n#define N 5\n#if N > 3\nint a;\n#endif\n#pragma pop_macro("N")\n#if N > 3\nint b;\n#endif\n#pragma push_macro("Q")\n#define Q 1\n#pragma pop_macro("Q")\n#ifdef Q\nint c;\n#endif\n');
  const groups = [...walkConditionals(source, collectMacros(source)).values()];
  expect(groups.map(({ arms }) => arms[0]?.active)).toEqual([true, false, false]);
});

test('where they stand', () => {
  const source = sourceFromText('a.cu', '/a.cu', '#define BACK _Pragma("pop_macro(\\"A\\")") int z;\n#pragma push_macro ( "A" )\nBACK\n__pragma(pop_macro("B"))\n#pragma unroll\n');
  expect(macroPragmas(source, collectMacros(source)).map(({ kind, name, isDirective }) => [kind, name, isDirective])).toEqual([['push', 'A', true], ['pop', 'A', false], ['pop', 'B', false]]);
});

describe('a header that undefines its macro', () => {
  const of = async (files: Readonly<Record<string, string>>): Promise<string> => {
    await initParser();
    const made = (await program(files, ['a.cu'])).units.get('/p/a.cu');
    if (made === undefined) throw new Error('no unit');
    const fn = functionNamed(made, 'f');
    let kind = '';
    if (fn.body !== null) walk(fn.body, (node) => { if (node.kind === 'return' && node.value !== null) kind = node.value.kind; return true; });
    return kind;
  };
  const use = '__device__ int f() { return N; }\n';

  test('leaves the name to whoever includes it', async () => {
    expect(await of({ 'a.cu': `#include "h.cuh"\n__device__ int N;\n${use}`, 'h.cuh': '#define N 3\n#undef N\n' })).toBe('ref');
  });

  test('until another defines it', async () => {
    expect(await of({ 'a.cu': `#include "h.cuh"\n#include "g.cuh"\n${use}`, 'h.cuh': '#define N 3\n#undef N\n', 'g.cuh': '#define N 3\n' })).toBe('macro');
    expect(await of({ 'a.cu': `#include "h.cuh"\n#define N 3\n${use}`, 'h.cuh': '#define N 3\n#undef N\n' })).toBe('macro');
  });

  test('and sees what its includer undefines further on', async () => {
    await initParser();
    const loaded = await program({ 'a.cu': '#define N 3\n#include "h.cuh"\n#undef N\n', 'h.cuh': use }, ['a.cu']);
    const made = loaded.units.get('/p/h.cuh');
    if (made === undefined) throw new Error('no unit');
    const { body } = functionNamed(made, 'f');
    expect(JSON.stringify(body?.kind === 'compound' ? body.body[0]?.kind : null)).toBe('"return"');
    let kind = '';
    if (body !== null) walk(body, (node) => { if (node.kind === 'return' && node.value !== null) kind = node.value.kind; return true; });
    expect(kind).toBe('macro');
  });
});

/** Statement macros as arms and bodies: C++ groups what they stand for, and so does the tree, or it says that it cannot. */
import { describe, expect, test } from '@jest/globals';
import type { FunctionDecl, Stmt } from '../../src/syntax/tree.js';
import { isStmt, walk } from '../../src/syntax/walk.js';
import { functionNamed, unit } from './load.js';

const MACROS = `
#define TWO(v) x += v; y++
#define TWO_ENDED(v) x += v; y++;
#define DECLARED(v) int t = v; x += t
#define CHECKED(v) static_assert(sizeof(v) > 0, ""); x += v
#define TWICE(v) TWO(v)
#define MAYBE(c) if (c) x++
#define MAYBE_ENDED(c) if (c) x++;
#define LATE(c) if (c) x++; else if (y) x--
#define ROUND(c) for (int q = 0; q < 2; q++) while (c) if (y) x++
#define EACH_ODD(i, n) for (int i = 0; i < n; i++) if (i & 1)
#define ONE(v) x += v;
#define EITHER(c) if (c) x++; else x--
#define BLOCK(v) { x += v; y++; }
#define WRAPPED(v) do { x += v; y++; } while (0)
#define COMMA(v) x += v, y++
#define UNROLLED(n) _Pragma("unroll") for (int q = 0; q < n; q++) x += q
#define NOTHING(v)
`;

async function kernel(body: string): Promise<FunctionDecl> {
  return functionNamed(await unit(`${MACROS}__global__ void k(int *o, int n) { int x = 0, y = 0; ${body} o[threadIdx.x] = x + y; }\n`), 'k');
}

function opaque(fn: FunctionDecl): Stmt[] {
  const found: Stmt[] = [];
  if (fn.body !== null) walk(fn.body, (node) => { if (isStmt(node) && node.kind === 'opaque') found.push(node); });
  return found;
}

describe('a macro of several statements', () => {
  test.each([
    ['if (n > 3) TWO(1);', 'TWO', 'if'],
    ['if (n > 3) TWO_ENDED(1);', 'TWO_ENDED', 'if'],
    ['if (n > 3) DECLARED(1);', 'DECLARED', 'if'],
    ['if (n > 3) CHECKED(1);', 'CHECKED', 'if'],
    ['if (n > 3) TWICE(1);', 'TWICE', 'if'],
    ['if (n > 3) x = 1; else TWO(1);', 'TWO', 'else'],
    ['if (n > 3) x = 1; else if (n > 2) TWO(1);', 'TWO', 'if'],
    ['for (int i = 0; i < n; i++) TWO(i);', 'TWO', 'for'],
    ['while (x < n) TWO(1);', 'TWO', 'while'],
    ['if (n > 3) here: TWO(1);', 'TWO', 'if'],
    ['EACH_ODD(i, n) TWO(i);', 'TWO', 'if'],
    ['for (int i = 0; i < n; i++) if (i > 3) TWO(i);', 'TWO', 'if'],
  ])('is not what governs it: %s', async (body, name, word) => {
    const fn = await kernel(body);
    const [stmt, more] = opaque(fn);
    expect(fn.problems.map(({ message }) => message)).toEqual([`not understood: ${name} stands for several statements, and \`${word}\` governs only the first of them (put braces around the invocation)`]);
    expect(more).toBeUndefined();
    // Nothing that stands around the invocation without braces is taken for understood: the last statements run behind it.
    expect(stmt?.kind === 'opaque' && fn.body?.body.includes(stmt)).toBe(true);
  });

  test.each(['if (n > 3) { TWO(1); }', 'TWO(1);', 'for (int i = 0; i < n; i++) { TWO(i); DECLARED(2); }', 'switch (n) { case 1: TWO(1); break; default: TWO(2); }'])('in a list is that list: %s', async (body) => {
    const fn = await kernel(body);
    expect(fn.problems).toEqual([]);
    expect(opaque(fn)).toEqual([]);
  });
});

describe('an else behind a macro that ends in an if of its own', () => {
  test.each([
    ['if (n > 3) MAYBE(y); else x = 2;', 'MAYBE'],
    ['if (n > 3) MAYBE_ENDED(y) else x = 2;', 'MAYBE_ENDED'],
    ['if (n > 3) LATE(y); else x = 2;', 'LATE'],
    ['if (n > 3) ROUND(x < n); else x = 2;', 'ROUND'],
    ['if (n > 3) for (int i = 0; i < n; i++) MAYBE(i); else x = 2;', 'MAYBE'],
    ['if (n > 3) EACH_ODD(i, n) x++; else x = 2;', 'EACH_ODD'],
    ['if (n > 3) x = 1; else if (n > 2) MAYBE(y); else x = 2;', 'MAYBE'],
  ])('is not of the if before: %s', async (body, name) => {
    const fn = await kernel(body);
    expect(fn.problems.map(({ message }) => message)).toEqual([`not understood: ${name} ends in an \`if\` of its own, which takes the \`else\` behind it (put braces around the arm)`]);
    expect(opaque(fn)).toHaveLength(1);
  });
});

test.each([
  'if (n > 3) ONE(1) if (n > 4) ONE(2);', 'if (n > 3) EITHER(y); else x = 2;', 'if (n > 3) BLOCK(1) else BLOCK(2)', 'if (n > 3) WRAPPED(1); else WRAPPED(2);', 'if (n > 3) COMMA(1); else COMMA(2);',
  'if (n > 3) UNROLLED(4);', 'if (n > 3) NOTHING(1); else NOTHING(2);', 'if (n > 3) MAYBE(y);', 'if (n > 3) x = 1; else MAYBE(y);', 'if (n > 3) { MAYBE(y); } else x = 2;', 'for (int i = 0; i < n; i++) MAYBE(i);',
])('one statement is one statement: %s', async (body) => {
  const fn = await kernel(body);
  expect(fn.problems).toEqual([]);
  expect(opaque(fn)).toEqual([]);
});

test.each(['NOTHING(1);', 'ONE(1);', 'COMMA(1);', 'WRAPPED(1) ;', 'TWO(1)\n;'])('the `;` behind an invocation is part of the statement, whatever it stands for: %s', async (text) => {
  const from = await unit(`${MACROS}__global__ void k(int *o, int n) { int x = 0, y = 0; ${text} o[0] = x + y; }\n`);
  const stmt = functionNamed(from, 'k').body?.body[1];
  expect(stmt === undefined ? null : from.source.text.slice(stmt.span.start, stmt.span.end)).toBe(text);
});

test('an invocation that brings its own end ends there', async () => {
  const from = await unit(`${MACROS}__global__ void k(int *o, int n) { int x = 0, y = 0; ONE(1) o[0] = x + y; }\n`);
  const stmt = functionNamed(from, 'k').body?.body[1];
  expect(stmt === undefined ? null : from.source.text.slice(stmt.span.start, stmt.span.end)).toBe('ONE(1)');
});

/**
 * What the head of a loop declared is declared wherever the text that an edit writes names it.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { walk } from '../../src/analysis/children.js';
import { initParser } from '../../src/syntax/parser.js';
import type { ForStmt } from '../../src/syntax/tree.js';
import { contextFor } from '../../transforms/lib/framework.js';
import { headDeclared } from '../../transforms/lib/head-declared.js';
import type { Obligation } from '../../transforms/lib/types.js';
import { load, PATH } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

/** The obligation for a loop that is written anew. */
function written(loop: string, text: string, before = ''): Obligation {
  const { unit, analysis } = load(`#define OWN(x) ((x) + i)\n__global__ void f(float *o, int n) {\n    float s = 0.f;\n    ${before}${loop}\n    o[0] = s;\n}\n`);
  const [fn] = unit.functions;
  if (fn?.body == null) throw new Error('no function');
  let found: ForStmt | null = null;
  walk(fn.body, (node) => { if (node.kind === 'for') found ??= node; });
  const { span } = found as ForStmt | null ?? { span: null };
  if (found === null || span === null) throw new Error('no loop');
  return headDeclared(contextFor(analysis.kernel(fn), unit), { edits: [{ file: PATH, span, text }], reads: [] }, found);
}

const LOOP = 'for (int i = 0; i < n; ++i) s += i;';

describe('the declaration reaches every use', () => {
  test.each([
    ['as it was', LOOP],
    ['in front of runs', 'int i = 0;\nfor (; i < 2; ++i) s += i;\nif (i < n) s += 3.f * i;'],
    ['in a block of its own', '{ int i=0; if (i < n) { s += i; } }'],
    ['two versions', 'if (n > 3) { for (int i = 0; i < n; ++i) s += i; } else for (int i = 0; i < n; ++i) if (i < 3) s += i; else s -= i;'],
    ['no use', 'if (n > 0) s += 1.f;'],
    ['a member of the name', 's.i += p->i + n::i;'],
    ['through a macro', '{ int i = 0; s += OWN(1); }'],
    ['the whole of a do loop', 'for (int i = 0; i < n; ++i) do { s += i; } while (s < i);'],
  ])('%s', (_name, text) => {
    expect(written(LOOP, text).status).toBe('proved');
  });

  test('another declaration further in, as the loop has it', () => {
    const loop = 'for (int i = 0; i < n; ++i) { for (float i = 2.f; i < 3.f; i += 1.f) s += i; }';
    expect(written(loop, 'if (n > 0) for (float i = 2.f; i < 3.f; i += 1.f) s += i;').status).toBe('proved');
    expect(written(loop, '{ for (float i = 2.f; i < 3.f; i += 1.f) s += i; s += i; }').status).toBe('refuted');
    expect(written(loop, 'for (float i = 0.f; i < 3.f; i += 1.f) s += i;').status).toBe('proved');
    expect(written(loop, 'for (double i = 2.f; i < 3.f; i += 1.f) s += i;').status).toBe('refuted');
  });
});

describe('the declaration is lost', () => {
  test.each([
    ['with the head', 'if (i < n) { s += i; }'],
    ['in a block', '{ s += 1.f + i; }'],
    ['behind the block that holds it', '{ int i = 0; s += i; } s += i;'],
    ['behind the loop that holds it', 'for (int i = 0; i < n; ++i) s += i;\nif (i < n) s += i;'],
    ['behind a loop whose body is an if', 'for (int i = 0; i < n; ++i) if (s > 1.f) s = 0.f; else s += i;\ns += i;'],
    ['in front of it', 'if (i < n) s = 1.f; int i = 0;'],
    ['with its value', 'int i; if (i < n) s += i;'],
    ['through a macro', 's += OWN(1);'],
    ['behind a return', 'if (n < 0) return i;'],
  ])('%s', (_name, text) => {
    const found = written(LOOP, text);
    expect(found).toMatchObject({ id: 'head-declared', status: 'refuted' });
    expect(found.text).toContain('names i');
  });

  test('although an outer variable has the name', () => {
    expect(written(LOOP, 'if (i < n) { s += i; }', 'int i = 7; ').status).toBe('refuted');
  });

  test('one of several', () => {
    expect(written('for (int i = 0, p = 3; i < n; ++i, ++p) s += p;', '{ int i = 0; if (i < n) s += p; }').status).toBe('refuted');
    expect(written('for (int i = 0, p = 3; i < n; ++i, ++p) s += p;', '{ int i = 0, p = 3; if (i < n) s += p; }').status).toBe('proved');
  });

  test('is not asked where the head declares nothing', () => {
    expect(written('for (; n > 0; --n) s += n;', 's += i;').status).toBe('proved');
  });
});

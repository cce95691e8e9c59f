/** A text without its long runs of spaces gives the tree of the text as it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { blankBodies, loadSource, makeOverlay } from '../../src/source/index.js';
import { everything, parseCst, parseSparse, type Cst } from '../../src/syntax/cst.js';
import { loadParser, type CppParser } from '../../src/syntax/parser.js';
import { Places, shrink } from '../../src/syntax/shrink.js';

const WIDE = ' '.repeat(400);

function outline(node: Cst): unknown {
  return [node.type, node.start, node.end, node.field, node.missing, node.error, node.pending >= 0, node.children.map(outline)];
}

/** Parses the text both ways; says whether anything was left out. */
function expectSame(parser: CppParser, text: string): boolean {
  const whole = parseCst(parser, text);
  const sparse = parseSparse(parser, text, everything);
  expect(outline(sparse.root)).toEqual(outline(whole.root));
  whole.release();
  sparse.release();
  return shrink(text) !== null;
}

describe('shrunk texts', () => {
  test('offsets lead back, from the back too', () => {
    const text = `int a;${WIDE}int b;\n${WIDE}\n  int c;`;
    const shrunk = shrink(text);
    expect(shrunk).not.toBeNull();
    if (shrunk === null) return;
    const offsets = [...shrunk.text].map((_, i) => i);
    for (const order of [offsets, [...offsets].reverse()]) {
      for (const offset of order) expect(text[shrunk.places.original(offset)]).toBe(shrunk.text[offset]);
    }
    expect(shrunk.places.original(shrunk.text.length)).toBe(text.length);
    expect(Places.shifted(7).original(3)).toBe(10);
  });

  test('little is not worth the account', () => {
    expect(shrink(`int a;${' '.repeat(100)}int b;`)).toBeNull();
    expect(shrink(`${'int a; '.repeat(1000)}${WIDE}int b;`)).toBeNull();
  });

  test.each(['native', 'wasm'] as const)('wherever the spaces stand (%s)', async (kind) => {
    const parser = await loadParser(kind);
    const texts = [
      `int a = 1,${WIDE}b;${WIDE}`, `${WIDE}void f(int x)${WIDE}{${WIDE}return x;${WIDE}}${WIDE}`, `const char* s = "a${WIDE}b"; int after;`, `auto r = R"x(a${WIDE}b)x"; int after;`,
      `#define A${WIDE}1\nint b;${WIDE}\n#if A\n${WIDE}int c;\n#endif\n${WIDE}`, `struct S {${WIDE}virtual void f()${WIDE}=${WIDE}0;${WIDE}};`, `int a = b <\\\n${WIDE} c;`, `int é =${WIDE}1;`, WIDE,
      // With errors too: recovery has the same tokens to choose from.
      `void f() {${WIDE}int x = ;${WIDE}}${WIDE}`,
    ];
    for (const text of texts) expect(expectSame(parser, text)).toBe(true);
  });

  test('fixtures without their comments and host bodies', async () => {
    const parser = await loadParser('native');
    const names = readdirSync('fixtures', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.cu')).sort();
    let shrunk = 0;
    for (const name of names) {
      const file = join('fixtures', name);
      const source = loadSource(file, file, readFileSync(file));
      const { text } = blankBodies(source, makeOverlay(source, new Map()), { body: 20, list: 30, wanted: () => false });
      if (expectSame(parser, text)) shrunk++;
    }
    expect(shrunk).toBeGreaterThan(100);
  });
});

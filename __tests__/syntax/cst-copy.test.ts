/** The copy that reads positions from the text is the copy that asks the parser for everything. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSource, makeOverlay, sourceFromText } from '../../src/source/index.js';
import { copyAsking, copyReading } from '../../src/syntax/cst-copy.js';
import { parseCst, type Cst } from '../../src/syntax/cst.js';
import { loadParser, type CppParser } from '../../src/syntax/parser.js';
import { Places } from '../../src/syntax/shrink.js';

/** What the tree hides, spells otherwise or leaves out. */
const TRICKY = [
  'void f() { ; ; { } return; }', 'int a , b = 1 /* c */ , c ; // end', 'void f(int a /* last */) { g ( a // why\n , 2 ) ; }', 'auto r = R"x(a, ) b)x"; int after;',
  'struct S { virtual void f() = 0; virtual ~S() = default; S& operator,(S) ; int operator()(int) const; void* operator new[](unsigned long); };',
  '#if A /* b */\nint a;\n#  elif defined(B) && \\\n C\nint b;\n# else\n#  endif\nint c;', 'void f() {\n#ifdef X\n  if (a) {\n#endif\n  }\n}\n#define M(x) x \\\n + 1\nint z;',
  'int a = b <\\\n c; char q = \'\\\'\', *s = "a" "b" u8"c"_x; int n = 1\'000;', 'template <class T, int N = (3 > 2)> struct V<T*, N> : public B<C<T>>, D { enum { E = 1, F, }; };',
  'int é = 1; int $x = é + $x; int y\\u00e9 = 2;', '\n\n  int x;  \n\n', '', ';', 'x = a ?: b; y = a ? b : c; z = sizeof(int) + sizeof a + alignof(T);',
  'void f() { for (int i = 0, j; ; ) ; for (auto& [k, v] : m) ; do x++; while (x); switch (x) { case 1: ; default: break; } l: goto l; }',
  'int (*p)(int, ...) , &&r = g(), q[3][N]; auto l = [=, &x](int a) mutable -> int { return a; }(1); new int[3]{1, 2, }; delete[] p; throw; asm("x" : "=r"(a) : "r"(b));',
  'extern "C" { int f(); } namespace a::b { using namespace c; using T = int; } typedef struct { int a : 3; } t; static_assert(1, "x");', 'const unsigned long long int x; a->b.c::d<int>(1).template e<2>();',
];

function differences(parser: CppParser, text: string): string[] {
  const first = parser.parse(text);
  if (first.hasError) return [];
  const asked = copyAsking(first.cursor, Places.shifted(5), false, () => true);
  first.release();
  const second = parser.parse(text);
  const read = copyReading(second.cursor, text, Places.shifted(5), () => true);
  second.release();
  const found: string[] = [];
  compare(asked, read, found);
  return found.slice(0, 3);
}

function compare(a: Cst, b: Cst, found: string[]): void {
  for (const key of ['type', 'start', 'end', 'field', 'named', 'missing', 'error', 'pending'] as const) {
    if (a[key] !== b[key]) found.push(`${a.type} at ${a.start}: ${key} is ${String(a[key])}, read as ${String(b[key])}`);
  }
  if (a.children.length !== b.children.length) found.push(`${a.type} at ${a.start}: ${a.children.map((c) => c.type).join(' ')} read as ${b.children.map((c) => c.type).join(' ')}`);
  else a.children.forEach((child, i) => { const other = b.children[i]; if (other !== undefined) compare(child, other, found); });
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:cu|cuh|h)$/.test(name)).map((name) => join(folder, name)).sort();
}

describe.each(['native', 'wasm'] as const)('copies of the tree of the %s parser', (kind) => {
  test('tricky texts', async () => {
    const parser = await loadParser(kind);
    for (const text of TRICKY) expect({ text, differences: differences(parser, text) }).toEqual({ text, differences: [] });
    // Most of them are read without errors, or this would say nothing.
    expect(TRICKY.filter((text) => !parseCst(parser, text).hasError).length).toBeGreaterThan(TRICKY.length - 4);
  });

  test('every fixture, as it is and as overlay', async () => {
    const parser = await loadParser(kind);
    let read = 0;
    for (const file of sources('fixtures')) {
      const source = loadSource(file, file, readFileSync(file));
      for (const text of [source.text, makeOverlay(sourceFromText(file, file, source.text), new Map()).text]) {
        if (text.length > 60_000) continue;
        read++;
        expect({ file, differences: differences(parser, text) }).toEqual({ file, differences: [] });
      }
    }
    expect(read).toBeGreaterThan(100);
  });
});

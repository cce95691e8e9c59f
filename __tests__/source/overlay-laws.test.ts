/** What holds for the overlay of any text, well-formed or not. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { blankInactiveArms, collectMacros, makeOverlay, sourceFromText, type Overlay, type SourceFile } from '../../src/source/index.js';
import { noted, overlaid, parsed } from './helpers.js';

const word = fc.constantFrom(
  '__global__ ', '__device__ ', '__shared__ ', '__launch_bounds__(256) ', 'void ', 'float ', 'k', '(', ')', '{', '}', ';', '\n', ' ', '<<<', '>>>', 'HD ', 'UNROLL ', 'EACH(i, n) ', 'CHECK(x)',
  'END ', '"a" ', 'NAME ', '\n#if A\n', '\n#else\n', '\n#elif defined(B)\n', '\n#endif\n', '\n#pragma unroll\n', '\n#define X(a) a\n', 'X(int)', '[=] ', 'template <class T> ', 'new T*[n]', 'typeid(int)', 'decltype(a)(b)',
  'if (a) ', 'else ', 'for (;;) ', '*', ', ', '= ', 'case 1: ', '// c\n', '/* d */', 'struct ', '__align__(16) ', 'class ', '\\\n', '\r\n', 'extern "C" ', '__restrict ', '_Pragma("x")',
);
const program = fc.array(word, { maxLength: 60 }).map((words) =>
  `#define HD __host__ __device__\n#define UNROLL _Pragma("unroll")\n#define EACH(i, n) for (int i = 0; i < n; ++i)\n#define CHECK(x) { f(x); }\n#define END }\n${words.join('')}`);

function make(text: string): { source: SourceFile; overlay: Overlay } {
  const source = sourceFromText('a.cu', '/a.cu', text);
  return { source, overlay: makeOverlay(source, collectMacros(source)) };
}

describe('any text', () => {
  test('has an overlay of its length with sorted notes inside of it', () => {
    fc.assert(fc.property(program, (text) => {
      const { overlay } = make(text);
      expect(overlay.text).toHaveLength(text.length);
      let last = 0;
      for (const note of overlay.notes) {
        expect(note.span.start).toBeGreaterThanOrEqual(last);
        expect(note.span.end).toBeLessThanOrEqual(text.length);
        last = note.span.start;
      }
    }), { numRuns: 500 });
  });

  test('differs from its overlay only under a note, in a directive, or by a semicolon in a blank', () => {
    fc.assert(fc.property(program, (text) => {
      const { source, overlay } = make(text);
      const covered = new Uint8Array(text.length);
      for (const { span } of overlay.notes) covered.fill(1, span.start, span.end);
      for (const { start, end } of source.directives) covered.fill(1, start, end);
      for (const note of overlay.notes) if (note.kind === 'inactive') covered.fill(1, note.span.start, note.span.end);
      for (let i = 0; i < text.length; i++) {
        const now = overlay.text.charAt(i);
        const before = text.charAt(i);
        if (now !== before && covered[i] === 0) expect([now, before.trim()]).toEqual([';', '']);
      }
    }), { numRuns: 500 });
  });

  test('has the same overlay again', () => {
    fc.assert(fc.property(program, (text) => {
      expect(make(text).overlay).toEqual(make(text).overlay);
    }), { numRuns: 200 });
  });

  test('keeps its length when all arms are reduced', () => {
    fc.assert(fc.property(program, (text) => {
      const { source, overlay } = make(text);
      const reduced = blankInactiveArms(source, overlay, { start: 0, end: text.length });
      expect(reduced.text).toHaveLength(text.length);
      expect(reduced.text).not.toMatch(/^[ \t]*#[ \t]*(if|elif|else)/m);
    }), { numRuns: 300 });
  });
});

describe('reducing arms on request', () => {
  const text = `
void f(int a) {
#if A
  g(a);
#elif !defined(B)
  h(a);
#else
  i(a);
#endif
}
void j() {
#ifdef C
  k<<<1, 2>>>();
#endif
}
`;
  test('keeps the active arm, notes the others, leaves the rest alone', () => {
    const before = overlaid(text);
    const reduced = blankInactiveArms(before.source, before.overlay, { start: 0, end: text.indexOf('void j') });
    expect(reduced.text).toContain('h(a);');
    expect(reduced.text).not.toContain('g(a);');
    expect(reduced.text).toContain('#ifdef C');
    expect(noted({ ...before, overlay: reduced }, 'inactive').map((arm) => arm.trim())).toEqual(['g(a);', 'i(a);']);
    expect(reduced.notes.flatMap((note) => (note.kind === 'inactive' ? [note.condition] : []))).toEqual(['A', '!(A) && !(!defined(B))']);
    expect(parsed(reduced.text).clean).toBe(true);
  });

  test('takes the notes of what it blanks away', () => {
    const before = overlaid(text);
    expect(before.overlay.notes.some((note) => note.kind === 'launch')).toBe(true);
    const reduced = blankInactiveArms(before.source, before.overlay, { start: text.indexOf('void j'), end: text.length });
    expect(reduced.notes.some((note) => note.kind === 'launch')).toBe(false);
  });

  test('is the same overlay where there is nothing to reduce', () => {
    const { source, overlay } = overlaid('void f() { g(); }');
    expect(blankInactiveArms(source, overlay, { start: 0, end: 17 })).toBe(overlay);
  });
});

describe('arms that are kept follow what the file defines', () => {
  test('a macro counts from where it stands', () => {
    const { overlay } = overlaid('int a[] = {\n#ifdef X\n1\n#else\n2\n#endif\n};\n#define X\nint b[] = {\n#ifdef X\n1\n#else\n2\n#endif\n};\n');
    expect(overlay.text.replace(/\s+/g, ' ').trim()).toBe('int a[] = { 2 }; int b[] = { 1 };');
  });

  test('a nested group in a kept arm of a broken one is judged by itself', () => {
    const { overlay, clean } = overlaid('void f(int a\n#if 1\n#ifdef Y\n, int b\n#endif\n, int c\n#endif\n) {}\n');
    expect(overlay.text.replace(/\s+/g, ' ').trim()).toBe('void f(int a , int c ) {}');
    expect(clean).toBe(true);
  });

  test('prose in an arm that is never kept is emptied, the directives stay', () => {
    const { overlay, clean } = overlaid("#if 0\nThis isn't code (\n#endif\nint a;\n");
    expect(overlay.text).toBe(`#if 0\n${' '.repeat("This isn't code (".length)}\n#endif\nint a;\n`);
    expect(clean).toBe(true);
  });

  test('braces of two configurations', () => {
    const { clean } = overlaid('#ifdef __cplusplus\nextern "C" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif\nvoid f() {\n#ifdef X\n  {\n#endif\n  g();\n#ifdef X\n  }\n#endif\n}\n');
    expect(clean).toBe(true);
  });

  test('a group without end is spaces', () => {
    expect(overlaid('#ifdef X\nint a;\n').overlay.text.trim()).toBe('');
    expect(overlaid('#ifndef X\nint a;\n').overlay.text.trim()).toBe('int a;');
  });
});

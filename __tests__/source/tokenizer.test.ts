import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TokenKind, sourceFromText, tokenize, tokenizeFragment, tokensOf } from '../../src/source/index.js';

/** Spellings, kinds left out. */
function spellings(text: string): string[] {
  const { tokens } = tokenize(text);
  return Array.from({ length: tokens.count }, (_, i) => tokens.spelling(i));
}

function kinds(text: string): number[] {
  const { tokens } = tokenize(text);
  return Array.from({ length: tokens.count }, (_, i) => tokens.kind(i));
}

/** Pieces of C++ and of what breaks it. */
const piece = fc.constantFrom(
  'a', ' ', '\n', '\r\n', '"', "'", '\\', '\\\n', '//', '/*', '*/', '#', '#if', '#define X', 'R"(', ')"', '<<<', '>>>', '(', ')', '{', '}', '1', "'", '.', '0x', 'é', '\t', ';', '#endif', 'L',
);
const soup = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

describe('tokens and gaps', () => {
  test('tokens are in order, not empty, and never overlap; the gaps hold only blanks, comments and continuations', () => {
    fc.assert(fc.property(soup, (text) => {
      const { tokens, comments } = tokenize(text);
      const free = [...text].map(() => true);
      let at = 0;
      for (let i = 0; i < tokens.count; i++) {
        expect(tokens.start(i)).toBeGreaterThanOrEqual(at);
        expect(tokens.end(i)).toBeGreaterThan(tokens.start(i));
        at = tokens.end(i);
        free.fill(false, tokens.start(i), at);
      }
      expect(at).toBeLessThanOrEqual(text.length);
      for (const comment of comments) free.fill(false, comment.start, comment.end);
      const gaps = text.split('').filter((_, i) => free[i]).join('');
      expect(gaps).toMatch(/^[\s\\]*$/);
    }), { numRuns: 2000 });
  });

  test('a directive has its opener before it, and every opener is one', () => {
    fc.assert(fc.property(soup, (text) => {
      const { directives } = tokenize(text);
      directives.forEach((directive, i) => {
        expect(directive.opener).toBeLessThanOrEqual(i);
        if (directive.opener >= 0) expect(['if', 'ifdef', 'ifndef']).toContain(directives[directive.opener]?.kind);
      });
    }));
  });

  test('a line of ten megabytes takes linear time', () => {
    const text = `int a = ${'1 + '.repeat(2_500_000)}1;`;
    const start = performance.now();
    expect(sourceFromText('a.cu', '/a.cu', text).lineCount).toBe(1);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe('what a token is', () => {
  test.each([
    ['a+++b', ['a', '++', '+', 'b']],
    ['k<<<g, b>>>(x)', ['k', '<<<', 'g', ',', 'b', '>>>', '(', 'x', ')']],
    ['a<b<c<d>>>>(x)', ['a', '<', 'b', '<', 'c', '<', 'd', '>>>>', '(', 'x', ')']],
    ['a >>= b <=> c << d', ['a', '>>=', 'b', '<=>', 'c', '<<', 'd']],
    ["1'000'000u + 0x1p-3f + .5e+2 + 0xE+1", ["1'000'000u", '+', '0x1p-3f', '+', '.5e+2', '+', '0xE', '+', '1']],
    ['x.y->z::w...', ['x', '.', 'y', '->', 'z', '::', 'w', '...']],
    ['u8"a" L\'b\' R"x(c)" )x" "d\\"e"', ['u8"a"', "L'b'", 'R"x(c)" )x"', '"d\\"e"']],
    ['a\\\nb', ['a', 'b']],
    ["'\\'' \"//\" '\"'", ["'\\''", '"//"', "'\"'"]],
    ['"open\nb', ['"open', 'b']],
    ['größe = naïve;', ['größe', '=', 'naïve', ';']],
  ])('%s', (text, expected) => {
    expect(spellings(text)).toEqual(expected);
  });

  test('literals have their own kinds', () => {
    expect(kinds('L"a" U\'b\' 1 x + R"(y)"')).toEqual([
      TokenKind.string, TokenKind.character, TokenKind.number, TokenKind.identifier, TokenKind.punctuation, TokenKind.string,
    ]);
  });

  test('a raw string may hold anything', () => {
    expect(spellings('f(R"cu(#if "\n// )" <<<)cu", 1)')).toEqual(['f', '(', 'R"cu(#if "\n// )" <<<)cu"', ',', '1', ')']);
  });
});

describe('comments', () => {
  test('are not seen in strings, and strings not in comments', () => {
    const { comments } = tokenize('a("// no", \'/*\'); // "yes" /*\nb(/* \' */ "*/");');
    expect(comments.map((comment) => comment.text)).toEqual([' "yes" /*', " ' "]);
  });

  test('a continuation carries a line comment on', () => {
    expect(spellings('a // b \\\n c\nd')).toEqual(['a', 'd']);
    expect(spellings('a // b \\\r\n c\r\nd')).toEqual(['a', 'd']);
    expect(tokenize('// a\r\nb').comments).toEqual([{ start: 0, end: 4, text: ' a' }]);
  });

  test('an open comment ends with the file', () => {
    expect(tokenize('a /* b').comments).toEqual([{ start: 2, end: 6, text: ' b' }]);
  });
});

describe('directives', () => {
  test('have their argument without comments and continuations', () => {
    const { directives } = tokenize('  # define  A(x) /* y */ x + \\\n  1 // z\n#if defined(A) /* a\n b */ && B\n#endif // A\n');
    expect(directives.map(({ kind, argument }) => [kind, argument.replace(/\s+/g, ' ')])).toEqual([
      ['define', 'A(x) x + 1'], ['if', 'defined(A) && B'], ['endif', ''],
    ]);
  });

  test('know their opener', () => {
    const { directives } = tokenize('#ifdef A\n#if B\n#elif C\n#endif\n#else\n#endif\n#endif\n#pragma once\n');
    expect(directives.map((directive) => directive.opener)).toEqual([0, 1, 1, 1, 0, 0, -1, -1]);
  });

  test('stand only at the start of a line', () => {
    expect(tokenize('a #if b\n').directives).toEqual([]);
    expect(tokenize('/* c */ #if b\n').directives).toHaveLength(1);
    expect(tokenize('"a\\\n#if b"\n').directives).toEqual([]);
  });

  test('an apostrophe in a message opens nothing', () => {
    const { directives } = tokenize("#error don't // really\n#define A 'x' \"//\"\nint a;");
    expect(directives.map((directive) => directive.argument)).toEqual(["don't", "A 'x' \"//\""]);
  });

  test('end before the newline, Windows or not', () => {
    const text = '#define A 1\r\n#include <a//b.h>\r\n';
    expect(tokenize(text).directives.map(({ start, end }) => text.slice(start, end))).toEqual(['#define A 1', '#include <a//b.h>']);
  });
});

test('tokens of a source are made once', () => {
  const source = sourceFromText('a.cu', '/a.cu', 'int a;');
  expect(tokensOf(source)).toBe(tokensOf(source));
});

test('outside of its range a list says nothing, whatever was read before and after it', () => {
  const before = tokenizeFragment('first "second" 3');
  const list = tokenizeFragment('a + b');
  const behind = tokenizeFragment('"last" words');
  expect(before.count + behind.count).toBe(5);
  for (const index of [-3, -2, -1]) expect([list.kind(index), list.start(index), list.end(index), list.spelling(index), list.code(index), list.isIdentifier(index), list.is(index, '3')]).toEqual([0, 0, 0, '', 0, false, false]);
  for (const index of [3, 4, 5]) expect([list.kind(index), list.start(index), list.end(index), list.spelling(index), list.code(index), list.isIdentifier(index), list.is(index, 'words')]).toEqual([0, 5, 5, '', 0, false, false]);
});

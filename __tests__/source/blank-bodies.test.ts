import { describe, expect, test } from '@jest/globals';
import { blankBodies, makeOverlay, sourceFromText } from '../../src/source/index.js';

function blanked(text: string, wanted: (start: number, open: number, end: number) => boolean = () => false) {
  const source = sourceFromText('a.cu', '/a.cu', text);
  const overlay = makeOverlay(source, new Map());
  return { overlay, ...blankBodies(source, overlay, { body: 20, list: 30, wanted }) };
}

describe('what the parser need not read', () => {
  test('bodies become spaces of the same length, between their braces', () => {
    const text = 'int before; void host(int n) { int a = n; a += 2; } int after;';
    const result = blanked(text);
    expect(result.text).toHaveLength(text.length);
    expect(result.text.replace(/ +/g, ' ')).toBe('int before; void host(int n) { } int after;');
    expect([...result.emptied]).toEqual([text.indexOf('{')]);
  });

  test('what is wanted stays; the question names the function from its head to its brace', () => {
    const text = 'int before; template <class T> static void host(T n) { int a = n; a += 2; }';
    const asked: string[][] = [];
    const result = blanked(text, (start, open, end) => {
      asked.push([text.slice(start, open), text.slice(open, end)]);
      return true;
    });
    expect(asked).toEqual([['template <class T> static void host(T n) ', '{ int a = n; a += 2; }']]);
    expect(result.text).toBe(text);
  });

  test('members and namespaces are looked into, blocks and lambdas at namespace level are not', () => {
    const member = 'namespace n { struct S { void f() const { int a = 1; a += 2; } int g; }; }';
    expect(blanked(member).text.replace(/ +/g, ' ')).toBe('namespace n { struct S { void f() const { } int g; }; }');
    const operators = 'S operator+(S a, S b) { int c = a; c += b; } struct T { int &operator[](int i) const { int a = i; a += 2; } void operator()(int i) { int a = i; a += 2; } };';
    expect(blanked(operators).text.replace(/ +/g, ' ')).toBe('S operator+(S a, S b) { } struct T { int &operator[](int i) const { } void operator()(int i) { } };');
    const lambda = 'auto f = [](int n) { int a = n; a += 2; return a; };';
    expect(blanked(lambda).text).toBe(lambda);
  });

  test('a conditional group that reaches out of a body keeps it', () => {
    const reaches = '#if A\nvoid f(int n) { int a = n; a += 2;\n#else\nvoid f(long n) { int a = 1;\n#endif\n a += 3; }\n';
    expect(blanked(reaches).emptied.size).toBe(0);
    const inside = 'void f(int n) { int a = n;\n#if A\n a += 2;\n#endif\n}\n';
    expect(blanked(inside).text.trimEnd()).toMatch(/^void f\(int n\) \{\s+\}$/);
  });

  test('long lists and comments go, comments inside of directives stay', () => {
    const list = 'int t[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }; // why';
    expect(blanked(list).text.replace(/ +/g, ' ').trim()).toBe('int t[] = { };');
    const directive = '#define A 1 /* one\n two */ + 2\nint a;';
    expect(blanked(directive).text).toBe(blanked(directive).overlay.text);
  });
});

/**
 * Comments and attributes of a branch go where the branch goes; copies hold what is true of them, and no blanks at the ends of lines.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { transforms } from '../../transforms/index.js';
import { applyAll } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function applied(name: string, body: string): string {
  const transform = transforms.find((one) => one.name === name);
  if (transform === undefined) throw new Error(`no ${name}`);
  return applyAll(transform, `__global__ void f(const float *a, float *o, int n, int flag, int m) {
    float s = 0.f;
${body}
    o[threadIdx.x] = s;
}
`, { evenIfItLoses: true }).text;
}

const count = (text: string, part: string): number => text.split(part).length - 1;

describe('hoist', () => {
  test('takes comments above the branch and behind its brace along, once, with the attribute', () => {
    const text = applied('hoist', `    for (int i = 0; i < n; ++i) {
        float v = a[i];  
        // squares where asked
        // (by the user)
        if (flag) [[likely]] {
            // the square
            s += v * v;
        } // if (flag)
        s *= 0.5f;\t
    }`);
    expect(text).toContain('    // squares where asked\n    // (by the user)\n    if (flag) [[likely]] {\n        for');
    expect(text).toContain('    } // if (flag)\n');
    for (const comment of ['// squares where asked', '// if (flag)', '// the square']) expect(count(text, comment)).toBe(1);
    expect(text).not.toMatch(/[ \t]\n/);
  });

  test('leaves a comment that a blank line parts from the branch, or that speaks of what stands before', () => {
    const text = applied('hoist', `    for (int i = 0; i < n; ++i) {
        // one more

        if (flag)
            s += a[i];
        s *= 0.5f; // half of it
        if (flag)
            s -= 1.f;
    }`);
    expect(count(text, '// one more')).toBe(2);
    expect(count(text, '// half of it')).toBe(2);
  });

  test('drops what is said above another test of the condition where its arm is gone', () => {
    const text = applied('hoist', `    for (int i = 0; i < n; ++i) {
        s *= 0.5f;
        if (flag)
            s += a[i];
        s *= 0.25f;
        // and once more
        if (flag)
            s += a[i] * a[i];
    }`);
    expect(count(text, '// and once more')).toBe(1);
    expect(text.indexOf('// and once more')).toBeLessThan(text.indexOf('else'));
  });

  test('turns the attribute where the condition is turned, and keeps that of an else', () => {
    const turned = applied('hoist', '    for (int i = 0; i < n; ++i) {\n        if (m == 3) [[unlikely]] { } else { s += a[i]; }\n    }');
    expect(turned).toContain('if (m != 3) [[likely]] {');
    const both = applied('hoist', '    for (int i = 0; i < n; ++i) {\n        if (m == 3) [[unlikely]] s += a[i]; else [[likely]] s -= a[i];\n    }');
    expect(both).toContain('if (m == 3) [[unlikely]] {');
    expect(both).toContain('} else [[likely]] {');
  });

  test('a line comment behind the brace swallows nothing', () => {
    const text = applied('hoist', '    for (int i = 0; i < n; ++i) {\n        if (flag) { s += a[i]; } // if\n    } s += 1.f;');
    expect(text).toMatch(/\} \/\/ if\n\s*s \+= 1\.f;/);
  });

  test('below heads without braces too', () => {
    const text = applied('hoist', '    for (int i = 0; i < n; ++i)\n        // only where asked\n        if (m == 7) {\n            s += a[i];\n        } // m == 7');
    expect(text).toContain('    // only where asked\n    if (m == 7) {\n        for (int i = 0; i < n; ++i) {\n            s += a[i];\n        }\n    } // m == 7\n');
  });
});

describe('peel', () => {
  const loop = (inner: string): string => `    for (int k = 0; k < n; k += 16) {\n        int i = k + threadIdx.x;\n${inner}\n        s *= 0.5f;\n    }`;

  test('leaves out what is said of the test, and keeps what is said of the work', () => {
    const text = applied('peel', loop('        // bounds check\n        if (i < n) {\n            s += a[i];\n        } // if (i < n)\n        // the next one\n        if (i < n)\n            s -= a[i];'));
    expect(count(text, '// bounds check')).toBe(1);
    expect(count(text, '// if (i < n)')).toBe(1);
    expect(count(text, '// the next one')).toBe(2);
    expect(text.indexOf('// bounds check')).toBeGreaterThan(text.lastIndexOf('for ('));
  });

  test('leaves out what is said above an arm that is gone', () => {
    const text = applied('peel', loop('        if (i < n) s += a[i];\n        // a penalty\n        if (i >= n)\n            s -= 1.f;'));
    expect(count(text, '// a penalty')).toBe(1);
  });

  test('converts no coordinate twice', () => {
    const text = applied('peel', '    for (int k = 0; k < n; k += 16) {\n        if (k + (int)threadIdx.x < n)\n            o[k + threadIdx.x] = a[k];\n    }');
    expect(text).toContain('k + (int)threadIdx.x < n; k += 16');
    expect(text).not.toContain('(int)(int)');
  });
});

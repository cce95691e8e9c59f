/** A statement beside an `#if` that belongs to another statement in one of the arms, or to an `#include`, stays as it is. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, refuses } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

function around(before: string, after = ''): string {
  return `__global__ void k(float *o, int n, int m) {\n    float s = 0.f;\n${before}\n    for (int i = 0; i < n; ++i) { if (m > 2) s += 1.f; else s += 100.f; if (i < 3) s += 2.f; }\n${after}\n    o[threadIdx.x] = s;\n}\n`;
}

describe('refused beside', () => {
  const cases: Readonly<Record<string, readonly [string, string?]>> = {
    'an arm that is the body of the if in front': ['if (m > 7)\n#ifdef BIG\n{ s += 3; }\n#endif'],
    'an empty arm that is not compiled': ['if (m > 7)\n#ifdef BIG\n#else\n{ s += 3; }\n#endif'],
    'an arm that ends in a head': ['#ifdef BIG\nif (m > 7)\n#endif'],
    'an arm that ends in else': ['#ifdef BIG\nif (m > 7) s += 4; else\n#endif'],
    'an else in an arm': ['if (m > 7) s += 4;\n#ifdef BIG\nelse\n#endif'],
    'an arm that opens a block': ['#ifdef BIG\n{ int n = 3; s += n;\n#endif', '#ifdef BIG\n}\n#endif'],
    'a head two groups in front': ['#ifdef BIG\nif (m > 7)\n#endif\n#ifdef DEEP\n#endif'],
    'an arm behind that closes a block': ['{', '#ifdef BIG\n} {\n#endif\n}'],
    'an else in an arm in which it is the first': ['if (m > 7) s += 4; else\n#ifdef BIG\ns += 1;\n#else', '#endif'],
  };
  for (const [name, [before, after]] of Object.entries(cases)) {
    test(name, () => {
      refuses(hoist, around(before, after), 'no-directive-across');
      refuses(peel, around(before, after), 'no-directive-across');
    });
  }

  test('an #include that may be the body of the if in front', () => {
    refuses(hoist, around('if (m > 7)\n#include "step.inc"'), 'parsed');
    refuses(hoist, around('int &r = m;\n#include "step.inc"'), 'parsed');
  });
});

describe('edited beside', () => {
  test('whole statements in all arms', () => {
    expect(applyAll(hoist, around('#ifdef BIG\ns += 3;\n#endif'), { evenIfItLoses: true }).text).toContain('if (m > 2) {');
  });

  test('an if whose body is one of two arms', () => {
    expect(applyAll(hoist, around('if (m > 7)\n#ifdef BIG\ns += 3;\n#else\ns += 4;\n#endif'), { evenIfItLoses: true }).text).toContain('if (m > 2) {');
  });
});

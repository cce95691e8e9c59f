/** Pragmas in text that is moved or copied: what they say of macros, of text behind them, of the next loop, of the compiler's reports. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { ballot } from '../../transforms/ballot.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, refuses } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const HEAD = '#define PRAGMA(x) _Pragma(#x)\n#define POPPED PRAGMA(pop_macro("STEP"))\n#define KEPT _Pragma("push_macro(\\"STEP\\")")\n';

function loop(inside: string, before = '', behind = ''): string {
  return `${HEAD}__global__ void k(const float *__restrict__ x, float *__restrict__ o, int n, int m) {\n    float s = 0.f;\n${before}\n    for (int i = 0; i < n; ++i) {\n${inside}\n        if (m > 2)\n            s += x[i];\n        else\n            s -= 2.f * x[i];\n        if (i < 3)\n            s += 2.f;\n    }\n${behind}\n    o[threadIdx.x] = s;\n}\n`;
}

describe('refused', () => {
  const cases: Readonly<Record<string, readonly [string, string?, string?]>> = {
    'a macro is popped': ['#pragma pop_macro("STEP")'],
    'a macro is pushed': ['#pragma push_macro("STEP")'],
    'popped by an operator': ['_Pragma("pop_macro(\\"STEP\\")")'],
    'popped by a macro': ['POPPED'],
    'pushed by a macro': ['KEPT'],
    'popped in front of the loop': ['', '#pragma pop_macro("STEP")'],
    'popped in front of the loop and its #pragma unroll': ['', '#pragma pop_macro("STEP")\n#pragma unroll 2'],
    'the packing of what is declared behind it': ['#pragma pack(push, 1)', '', '#pragma pack(pop)'],
    'reports pushed inside and popped behind': ['#pragma nv_diagnostic push\n#pragma nv_diag_suppress 177', '', '#pragma nv_diagnostic pop'],
    'a pragma that nobody knows': ['#pragma house_rule on'],
  };
  for (const [name, [inside, before, behind]] of Object.entries(cases)) {
    test(name, () => {
      refuses(hoist, loop(inside, before, behind), 'no-directive-across');
      refuses(peel, loop(inside, before, behind), 'no-directive-across');
    });
  }

  test('a vote is not put around one', () => {
    const nest = (pragma: string): string => `__global__ void k(const float *x, float *y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float sum = 0.f;\n    for (int d = -4; d <= 4; ++d) {\n${pragma}\n        if (i + d >= 0 && i + d < n) sum += x[i + d];\n    }\n    if (i < n) y[i] = sum;\n}\n`;
    refuses(ballot, nest('#pragma pop_macro("STEP")'), 'no-directive-across');
  });
});

describe('goes along', () => {
  test('unrolling of an inner loop, reports pushed and popped inside', () => {
    const { text } = applyAll(hoist, loop('#pragma nv_diagnostic push\n#pragma nv_diag_suppress 177\n#pragma unroll\n        for (int j = 0; j < 2; ++j) s += j;\n#pragma nv_diagnostic pop'), { evenIfItLoses: true });
    expect(text).toContain('if (m > 2) {');
    expect(text.match(/nv_diag_suppress 177/g)).toHaveLength(2);
    expect(text.match(/nv_diagnostic pop/g)).toHaveLength(2);
    expect(text.match(/#pragma unroll/g)).toHaveLength(2);
  });

  test('pragmas elsewhere in the function and the file', () => {
    const { text } = applyAll(hoist, `#pragma push_macro("STEP")\n${loop('', '#pragma pack(push, 1)\n    struct P { char c; int v; } p{1, n};\n#pragma pack(pop)\n    s += p.v;', '#pragma nv_diag_suppress 177')}#pragma pop_macro("STEP")\n`, { evenIfItLoses: true });
    expect(text).toContain('if (m > 2) {');
    expect(text.match(/pack/g)).toHaveLength(2);
  });
});

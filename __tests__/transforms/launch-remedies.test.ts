/** What is in the way of a launch that is to be rewritten, what is said to help, and that it does. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { refusals } from '../../transforms/lib/framework.js';
import type { Transform } from '../../transforms/lib/types.js';
import { split as typedSplit } from '../../transforms/split.js';
import { load, outcomesOf } from '../helpers/transform.js';

const split = typedSplit as Transform;

beforeAll(async () => { await initParser(); });

const KERNEL = `__global__ void k(const float *x, float *y, int n, bool s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (s) { y[i] = x[i] * 2.f; } else { y[i] = x[i]; }
}
`;
const TEMPLATE = `template <typename T, typename U> __global__ void k(const T *x, T *y, U by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n > 4) { y[i] = x[i] * T(by); } else { y[i] = x[i]; }
}
`;
const run = (body: string, parameters = 'const float *x, float *y, int n, bool s'): string => `void run(${parameters}) {\n${body}\n}\n`;

/** In the way; what is said of it, what is said to help, and the same with that done. */
const CASES: readonly (readonly [name: string, wrong: string, cause: RegExp, remedy: RegExp, right: string])[] = [
  ['a launch in an arm that is left out', KERNEL + run('#ifdef BIG\n    k<<<n / 1024, 1024>>>(x, y, n, s);\n#else\n    k<<<n / 256, 256>>>(x, y, n, s);\n#endif'), /:7 launched in an arm of #if/, /launch k once behind the #endif/,
    KERNEL + run('#ifdef BIG\n    const int block = 1024;\n#else\n    const int block = 256;\n#endif\n    k<<<n / block, block>>>(x, y, n, s);')],
  ['a name in an arm that is left out', KERNEL + run('#ifdef BIG\n    prepare((const void *)k);\n#endif\n    k<<<n / 256, 256>>>(x, y, n, s);'), /named in an arm of #if/, /name k outside of the #if/, KERNEL + run('    k<<<n / 256, 256>>>(x, y, n, s);')],
  ['an attribute in a branch', KERNEL + run('    if (s) cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1);\n    k<<<n / 256, 256>>>(x, y, n, s);'), /an attribute is set in a branch without braces/, /^put braces around the call that sets it$/,
    KERNEL + run('    if (s) { cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); }\n    k<<<n / 256, 256>>>(x, y, n, s);')],
  ['a deduced template argument', TEMPLATE + run('    k<<<n / 256, 256>>>(x, y, 3, n);', 'const float *x, float *y, int n'), /template argument U is deduced/, /^write all template arguments at the launch/,
    TEMPLATE + run('    k<float, int><<<n / 256, 256>>>(x, y, 3, n);', 'const float *x, float *y, int n')],
  ['a using-declaration', `namespace a { namespace b {\n${KERNEL}} }\nusing a::b::k;\n${run('    k<<<n / 256, 256>>>(x, y, n, s);')}`, /a using-declaration names it/, /name k with its namespace/,
    `namespace a { namespace b {\n${KERNEL}} }\n${run('    a::b::k<<<n / 256, 256>>>(x, y, n, s);')}`],
  ['a using-declaration in a function', `namespace a {\n${KERNEL}}\n${run('    using a::k;\n    k<<<n / 256, 256>>>(x, y, n, s);')}`, /a using-declaration names it/, /name k with its namespace/, `namespace a {\n${KERNEL}}\n${run('    a::k<<<n / 256, 256>>>(x, y, n, s);')}`],
  ['default arguments', KERNEL.replace('bool s', 'bool s = true') + run('    k<<<n / 256, 256>>>(x, y, n);'), /default arguments left out/, /give all arguments at the launch/, KERNEL.replace('bool s', 'bool s = true') + run('    k<<<n / 256, 256>>>(x, y, n, true);').replace('true', 's')],
  ['an address', KERNEL + run('    auto f = k;\n    k<<<n / 256, 256>>>(x, y, n, s);'), /its address is taken/, /launch k by its name/, KERNEL + run('    k<<<n / 256, 256>>>(x, y, n, s);')],
];

describe('launches in the way', () => {
  test.each(CASES)('%s', (_, wrong, cause, remedy, right) => {
    const [outcome, ...more] = outcomesOf(split, load(wrong), { evenIfItLoses: true });
    expect(more).toEqual([]);
    const found = outcome === undefined ? [] : refusals(outcome);
    expect(found).toHaveLength(1);
    expect(found[0]?.text).toMatch(cause);
    expect(found[0]?.remedy).toMatch(remedy);
    expect(outcomesOf(split, load(right), { evenIfItLoses: true }).map(({ status }) => status)).toEqual(['applied']);
  });

  test('one place is said once, and each remedy once', () => {
    const text = TEMPLATE + run('    k<<<n / 256, 256>>>(x, y, 3, n); k<float><<<n / 256, 256>>>(x, y, 3.0, n);', 'const float *x, float *y, int n');
    const [outcome] = outcomesOf(split, load(text), { evenIfItLoses: true });
    const [refusal] = outcome === undefined ? [] : refusals(outcome);
    expect(refusal?.text.match(/is deduced/g)).toHaveLength(1);
    expect(refusal?.remedy).not.toContain(';');
  });
});

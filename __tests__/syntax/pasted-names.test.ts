/** Names that macros make of pieces: launches by them are seen by nobody who looks for the name. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { pastedAt } from '../../src/syntax/pasted-names.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const KERNEL = '__global__ void relax(float *x) { x[threadIdx.x] = 1.f; }\nvoid plain(float *x) { relax<<<1, 32>>>(x); }\n';

describe('a name that is made of pieces', () => {
  test.each([
    ['of two arguments', '#define CAT(a, b) a##b\nvoid go(float *x) { CAT(re, lax)<<<1, 64>>>(x); }'],
    ['through another macro', '#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n#define HALF lax\nvoid go(float *x) { CAT(re, HALF)<<<1, 64>>>(x); }'],
    ['of a macro without parameters', '#define CAT(a, b) a##b\n#define WHICH CAT(re, lax)\nvoid go(float *x) { WHICH<<<1, 64>>>(x); }'],
    ['of one argument, with the whole launch', '#define RUN(how, ...) re##how<<<1, 64>>>(__VA_ARGS__)\nvoid go(float *x) { RUN(lax, x); }'],
    ['whose address is taken', '#define CAT(a, b) a##b\nvoid *go() { return (void *)CAT(re, lax); }'],
    ['that another build may make otherwise', '#define CAT(a, b) a##b\n#ifdef HARD\n#define HOW peat\n#else\n#define HOW lax\n#endif\n#define WHICH(a, b) CAT(a, b)\nvoid go(float *x) { WHICH(re, HOW)<<<1, 64>>>(x); }'],
    ['that is not known, but begins so', '#define CAT(a, b, ...) a##b __VA_OPT__(,)\nvoid go(float *x) { CAT(re, x)<<<1, 64>>>(x); }'],
  ])('%s', (_, text) => {
    const { unit, program } = load(KERNEL + text);
    expect(pastedAt(unit, 'relax')).not.toBeNull();
    const kernel = unit.kernels.find((fn) => fn.name === 'relax');
    expect(kernel === undefined || program.allLaunchesVisible(kernel)).toBe(false);
  });

  test.each([
    ['another name', '#define CAT(a, b) a##b\nvoid go(float *x) { CAT(re, lay)<<<1, 64>>>(x); }'],
    ['a macro that is not used', '#define CAT(a, b) a##b\n#define WHICH CAT(re, lax)'],
    ['a comma that goes with what follows it', '#define LOG(text, ...) printf(text, ##__VA_ARGS__)\nvoid go(float *x) { LOG("%p", relax); }'],
  ])('not of %s', (_, text) => {
    const { unit } = load(KERNEL + text);
    expect(pastedAt(unit, 'relax')).toBeNull();
  });
});

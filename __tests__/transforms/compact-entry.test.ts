/** What compact:block carries to the items, what it computes again there, and where the items' text stays. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { compact } from '../../transforms/compact.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

/** `front` stands before the branch, `inner` in front of it inside of its guard, `heavy` in it, `behind` after it. */
const kernel = (front: string, heavy: string, behind = '', inner = ''): string => `__global__ void k(const float *x, float *y, int n, int w, float p, float q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${front}
    if (i < n) {
        ${inner}
        if (x[i] > 0.25f) {
            float v = x[i];
            for (int j = 0; j < 50; ++j)
                v = v * 0.5f + sqrtf(fabsf(v) + 1.0f);
            ${heavy}
        }
        ${behind}
    }
}
void f(const float *x, float *y, int n, int w, float p, float q) { k<<<(n + 63) / 64, 64>>>(x, y, n, w, p, q); }
`;

function compacted(text: string): string {
  const run = applyAll(compact as Transform, text, { evenIfItLoses: true });
  expect(run.rounds).toBeGreaterThan(0);
  const { status } = verifyEquivalent(load(text).program, load(run.text).program, 'k', { blocks: [[64, 1, 1]] });
  expect(status).not.toBe('different');
  return run.text;
}

describe('values at the entry of the region', () => {
  test.each([
    ['a constant that the items change', 'int c = 3;', 'c += 2; y[i] = v + c;', 'y[i] += c;', ''],
    ['a constant among others', 'int b = 1, c = 3;', 'c += b; y[i] = v + c;', 'y[i] += c;', ''],
    ['a sum of parameters', 'float c = p * 2.0f;', 'y[i] = v + c;', '', ''],
    ['a quotient of parameters, assigned', 'float c;', 'y[i] = v + c;', '', 'c = p / q;'],
    ['a value of a value of parameters', 'float a, c;', 'y[i] = v + c;', '', 'a = p - 1.0f; c = a / q;'],
    ['a value of the item itself', '', 'y[i] = v + c;', '', 'int c = i * 2;'],
    ['a constant that is set again in the other arm', 'int c = 3;', 'c += 2; y[i] = v + c; } else { c = 5;', 'y[i] += c;', ''],
  ])('%s is computed again', (_, front, heavy, behind, inner) => {
    expect(compacted(kernel(front, heavy, behind, inner))).not.toMatch(/queue_c\[slot\] = c;/);
  });

  test.each([
    ['a value that may be changed before', 'int c = 3;', 'y[i] = v + c;', '', 'if (w > 3) c = 4;'],
    ['a value whose operand changes behind it', 'int a = w;', 'y[i] = v + c;', 'y[i] += a;', 'int c = a + 1; a = i;'],
    ['a value assigned twice', 'float c;', 'y[i] = v + c;', '', 'c = p; c = c * 2.0f;'],
    ['a loaded value', 'float c = 0.0f;', 'y[i] = v + c;', '', 'c = x[n - 1 - i];'],
    ['a value that is changed through its address', 'int c = 3; int *at = &c;', 'y[i] = v + c;', '', '*at = i;'],
    ['a value of another variable of that name', 'int t = i * 3; int c = t + 1;', 'y[i] = v + c + t;', '', 'int t = i;'],
  ])('%s is not', (_, front, heavy, behind, inner) => {
    const run = applyAll(compact as Transform, kernel(front, heavy, behind, inner), { evenIfItLoses: true });
    expect(run.rounds === 0 || /queue_c\[slot\] = c;/.test(run.text)).toBe(true);
    expect(verifyEquivalent(load(kernel(front, heavy, behind, inner)).program, load(run.text).program, 'k', { blocks: [[64, 1, 1]] }).status).not.toBe('different');
  });

  test('what is made of a constant in an earlier round of a loop comes along', () => {
    const text = `__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float c = 0.0f;
    for (int r = 0; r < 3; ++r) {
        float d = 1.0f;
        if (x[(i + r * 7) % n] > 0.25f) {
            for (int j = 0; j < 50; ++j) {
                c = c * 0.5f + sqrtf(fabsf(c) + d);
                d += 0.5f;
            }
        }
        c += d;
    }
    if (i < n)
        y[i] = c;
}
void f(const float *x, float *y, int n) { if (n > 0) k<<<(n + 63) / 64, 64>>>(x, y, n); }
`;
    const after = compacted(text);
    expect(after).toContain('queue_c[slot] = c;');
    expect(after).not.toContain('queue_d[slot] = d;');
  });

  test('declarations that only the items use go from the way to them', () => {
    const after = compacted(kernel('', 'y[i] = v + row;', '', 'int row = i + w;'));
    expect(after.match(/int row = i \+ w;/g)).toHaveLength(1);
  });
});

describe('the rest of a kernel', () => {
  const rest = (front: string, heavy = 'y[i] = v;'): string => `__global__ void k(const float *x, float *y, int n) {
    ${front}
    if (x[i] <= 0.25f)
        return;
    float v = x[i];
    for (int j = 0; j < 50; ++j)
        v = v * 0.5f + sqrtf(fabsf(v) + 1.0f);
    ${heavy}
}
void f(const float *x, float *y, int n) { k<<<(n + 63) / 64, 64>>>(x, y, n); }
`;
  const INDEX = 'int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;';

  test('stays where it is', () => {
    const after = compacted(rest(INDEX));
    expect(after).toContain(`    if (thread >= items)\n        return;\n    i = queue_i[thread];\n    float v = x[i];\n    for (`);
  });

  test('takes coordinates of the owner', () => {
    expect(compacted(rest(INDEX, 'y[i] = v + threadIdx.x;'))).toContain('    y[i] = v + owner_x;\n');
  });

  test.each([
    ['a constant', INDEX.replace('int i', 'const int i')],
    ['a reference to the variable', INDEX.replace('if (i', 'int &again = i;\n    if (again')],
  ])('goes into braces for %s', (_, front) => {
    const run = applyAll(compact as Transform, rest(front), { evenIfItLoses: true });
    expect(run.text).not.toContain('thread >= items');
  });

  test('is not compacted again', () => {
    const run = applyAll(compact as Transform, rest(INDEX, 'if (v > 2.0f) { for (int j = 0; j < 50; ++j) v = sqrtf(v + j); y[i] = v; }'), { evenIfItLoses: true });
    expect(run.rounds).toBe(1);
    expect(run.last.flatMap((outcome) => outcome.obligations.map(({ id }) => id))).toContain('already-done');
  });
});

describe('what is not needed', () => {
  const flag = (front: string): string => `__global__ void k(const float *x, float *y, int *hit, int n, float t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${front}
    if (i < n && x[i] > t) {
        for (int j = 0; j < 50; ++j)
            atomicAdd(hit, j);
    }
}
void f(const float *x, float *y, int *hit, int n, float t) { k<<<(n + 63) / 64, 64>>>(x, y, hit, n, t); }
`;

  test('items that take nothing along need no place in a queue', () => {
    const after = compacted(flag(''));
    expect(after).toContain('const unsigned int items = __syncthreads_count(active);');
    expect(after).not.toMatch(/__shared__|slot|votes|__syncthreads\(\)/);
    // It is known for what it is.
    expect(applyAll(compact as Transform, after, { evenIfItLoses: true }).rounds).toBe(0);
  });

  test('a branch in which a compaction prepares its vote is not compacted', () => {
    const text = `__global__ void k(const float *x, const int *m, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 1.0f;
    if (i < n && m[i] > 0) {
        float v = x[i];
        for (int j = 0; j < 50; ++j) v = v * 0.5f + sqrtf(fabsf(v) + 1.0f);
        if (v > 0.25f) {
            for (int j = 0; j < 50; ++j) v = v * 0.75f + sqrtf(fabsf(v) + 1.0f);
            y[i] = v;
        }
    }
}
void f(const float *x, const int *m, float *y, int n) { k<<<(n + 63) / 64, 64>>>(x, m, y, n); }
`;
    const { text: after } = applyAll(compact as Transform, text, { evenIfItLoses: true });
    expect(after).not.toMatch(/queue_(active|live|inside)/);
  });
});

describe('the rest behind a region', () => {
  test('stays where it is: threads that had left leave there', () => {
    const text = `__global__ void k(const float *x, float *y, int n, float t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return; // out
    float a = x[i], b = 0.f;
    if (a > t)
        for (int j = 0; j < 50; ++j) b = b * 0.5f + sqrtf(a + b);

    // what comes of it
    y[i] = a + b;
}
void f(const float *x, float *y, int n, float t) { k<<<(n + 63) / 64, 64>>>(x, y, n, t); }
`;
    const after = compacted(text);
    expect(after).toContain('float a, b;');
    expect(after).toContain('    if (!live) return;\n\n    // what comes of it\n    y[i] = a + b;\n}');
  });
});

describe('a second region of the kernel', () => {
  const work = (target: string): string => `for (int j = 0; j < 50; ++j) ${target} = ${target} * 0.5f + sqrtf(fabsf(${target}) + 1.0f);`;
  const twice = (first: string, second: string, between = '', front = ''): string => `__global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ${front}
    if (i < n) {
        float v = x[i], a = v, b = v;
        if (${first}) {
            ${work('a')}
        }
        ${between}
        if (${second}) {
            ${work('b')}
        }
        y[i] = a + b;
    }
}
void f(const float *x, float *y, int n) { k<<<(n + 63) / 64, 64>>>(x, y, n); }
`;
  const queues = (text: string): number => text.split('__syncthreads_count').length - 1;

  test.each([
    ['as it stands', twice('v > 0.25f', 'v > 0.25f')],
    ['in parentheses', twice('v > 0.25f', '(v  >  0.25f)')],
    ['what else changes does not matter', twice('v > 0.25f', 'v > 0.25f', 'a += 1.0f;')],
  ])('with the condition of the first is left: %s', (_name, code) => {
    const { text, last } = applyAll(compact as Transform, code, { evenIfItLoses: true });
    expect(queues(text)).toBe(1);
    expect(last.flatMap(({ obligations }) => obligations).filter(({ status }) => status === 'refuted').map(({ text: said }) => said).join()).toMatch(/for another branch/);
    compacted(code);
  });

  test.each([
    ['another condition', twice('v > 0.25f', 'v > 0.5f')],
    ['of a variable that changed', twice('v > 0.25f', 'v > 0.25f', 'v = a;')],
    ['that loads', twice('x[i] > 0.25f', 'x[i] > 0.25f')],
  ])('is numbered anew: %s', (_name, code) => {
    const text = compacted(code);
    expect(queues(text)).toBe(2);
    // The number of the thread, and who is there, are known.
    expect(text.split('= threadIdx.x;').length).toBe(2);
    expect(text).not.toContain('live2');
    expect(text.split('live = true').length).toBe(2);
  });

  test('a name that is declared again further in is not relied on', () => {
    const text = compacted(twice('v > 0.25f', 'v > 0.5f', 'for (int thread = 0; thread < 2; ++thread) a += thread;'));
    expect(queues(text)).toBe(2);
  });

  test('a number of the thread that the source keeps is taken', () => {
    const text = compacted(twice('v > 0.25f', 'v > 0.5f', '', 'const unsigned int t = threadIdx.x;'));
    expect(text).toContain('if (t < items)');
    expect(text).not.toContain('unsigned int thread');
  });
});

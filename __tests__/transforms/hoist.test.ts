import { beforeAll, describe as group, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import { refusals } from '../../transforms/lib/framework.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applies, applyAll, load, outcomesOf, refuses, skips } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => {
  await initParser();
});

/** A kernel around a body. */
function kernel(body: string, parameters = 'float *x, const float *a, int n, int m, bool flag, bool other'): string {
  const indented = body.trim().split('\n').map((line) => (line === '' ? line : `    ${line}`)).join('\n');
  return `__global__ void k(${parameters})\n{\n${indented}\n}\n`;
}

/** What comes out is looked at here, not whether it is worth its lines. */
function becomes(before: string, after: string): void {
  applies(hoist, kernel(before), kernel(after), { evenIfItLoses: true });
}

test('the manual at the head of the file is the tested example', () => {
  const head = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'transforms', 'hoist.ts'), 'utf8').split('*/')[0] ?? '';
  const block = (from: string, to: string): string => head.slice(head.indexOf(` * ${from}:`), head.indexOf(to)).split('\n').slice(2, -2)
    .map((line) => line.replace(/^ \*( {5})?/, '')).join('\n');
  expect(`${block('before', ' * after:')}\n`).toBe(hoist.example.before);
  expect(`${block('after', ' * Treated means')}\n`).toBe(hoist.example.after);
});

group('what comes out', () => {
  test('an if without else, with statements around it, makes two loops', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    float v = a[i];
    if (flag)
        v = -v;
    x[i] = v;
}`,
      `
if (flag) {
    for (int i = 0; i < n; ++i) {
        float v = a[i];
        v = -v;
        x[i] = v;
    }
} else {
    for (int i = 0; i < n; ++i) {
        float v = a[i];
        x[i] = v;
    }
}`,
    );
  });

  test('a negated guard with continue becomes a positive one around the loop', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    if (m == 0) continue;
    x[i] = a[i];
}`,
      `
if (m != 0) {
    for (int i = 0; i < n; ++i) {
        x[i] = a[i];
    }
}`,
    );
  });

  test('a floating comparison is negated whole: NaN is neither less nor not less', () => {
    applies(
      hoist,
      kernel(`
for (int i = 0; i < n; ++i) {
    if (limit < 1.f) continue;
    x[i] = a[i];
}`, 'float *x, const float *a, int n, float limit'),
      kernel(`
if (!(limit < 1.f)) {
    for (int i = 0; i < n; ++i) {
        x[i] = a[i];
    }
}`, 'float *x, const float *a, int n, float limit'),
    );
  });

  test('the test and its negation elsewhere in the loop are decided together', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    if (flag)
        x[i] = a[i];
    for (int j = 0; j < m; ++j) {
        if (a[j] > 0.f) {
            if (!flag)
                x[j] += 1.f;
        }
    }
}`,
      `
if (flag) {
    for (int i = 0; i < n; ++i) {
        x[i] = a[i];
        for (int j = 0; j < m; ++j) {
            if (a[j] > 0.f) {
            }
        }
    }
} else {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < m; ++j) {
            if (a[j] > 0.f) {
                x[j] += 1.f;
            }
        }
    }
}`,
    );
  });

  test('an inner loop that comes to nothing goes', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    x[i] = 0.f;
    for (int j = 0; j < m; ++j) {
        if (flag)
            x[i] += a[j];
    }
}`,
      `
if (flag) {
    for (int i = 0; i < n; ++i) {
        x[i] = 0.f;
        for (int j = 0; j < m; ++j) {
            x[i] += a[j];
        }
    }
} else {
    for (int i = 0; i < n; ++i) {
        x[i] = 0.f;
    }
}`,
    );
  });

  test('names of an arm that the loop head declares keep their block', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    if (flag) {
        float i = 2.f;
        x[0] += i;
    } else {
        x[i] = 1.f;
    }
}`,
      `
if (flag) {
    for (int i = 0; i < n; ++i) {
        {
            float i = 2.f;
            x[0] += i;
        }
    }
} else {
    for (int i = 0; i < n; ++i) {
        x[i] = 1.f;
    }
}`,
    );
  });

  test('statements behind a jump are not copied', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    x[i] = 1.f;
    if (flag) {
        x[i] = 2.f;
        break;
    }
    x[i] += a[i];
}`,
      `
if (flag) {
    for (int i = 0; i < n; ++i) {
        x[i] = 1.f;
        x[i] = 2.f;
        break;
    }
} else {
    for (int i = 0; i < n; ++i) {
        x[i] = 1.f;
        x[i] += a[i];
    }
}`,
    );
  });

  test('a braceless loop around a block takes over the block', () => {
    becomes(
      `
for (int i = 0; i < n; ++i)
    if (flag) {
        x[i] = 1.f;
        x[i + n] = 2.f;
    } else
        x[i] = 0.f;`,
      `
if (flag) {
    for (int i = 0; i < n; ++i) {
        x[i] = 1.f;
        x[i + n] = 2.f;
    }
} else {
    for (int i = 0; i < n; ++i)
        x[i] = 0.f;
}`,
    );
  });

  test('a condition over several lines keeps its lines', () => {
    becomes(
      `
for (int i = 0; i < n; ++i) {
    if (flag &&
        m > 3)
        x[i] = 1.f;
}`,
      `
if (flag &&
    m > 3) {
    for (int i = 0; i < n; ++i) {
        x[i] = 1.f;
    }
}`,
    );
  });

  test('tabs and CRLF are kept', () => {
    const before = kernel(`
for (int i = 0; i < n; ++i) {
    if (flag) // yes
        x[i] = 1.f;
    else // no
        x[i] = 2.f;
}`).replaceAll('    ', '\t').replaceAll('\n', '\r\n');
    const { text } = applyAll(hoist, before);
    expect(text).toContain('\tif (flag) {\r\n\t\tfor (int i = 0; i < n; ++i) {\r\n\t\t\t// yes\r\n\t\t\tx[i] = 1.f;\r\n');
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text).not.toMatch(/ {4}/);
  });
});

group('what stays', () => {
  test('an unknown name is never invariant', () => {
    refuses(hoist, kernel('for (int i = 0; i < n; ++i) { if (MYSTERY) x[i] = 1.f; }'), 'condition-invariant');
  });

  test('a loop with a barrier keeps a lane-varying test', () => {
    refuses(hoist, kernel(`
int t = threadIdx.x;
for (int i = 0; i < n; ++i) {
    if (t < 7) x[i] = 1.f;
    __syncthreads();
}`), 'no-barrier-under-divergence');
  });

  test('a pointer guarded by an earlier break is not read early', () => {
    const code = kernel(`
for (int i = 0; i < n; ++i) {
    if (!q) break;
    if (*q > 0) x[i] = 1.f;
}`, 'float *x, const int *__restrict__ q, int n');
    const site = outcomesOf(hoist, load(code)).find((outcome) => outcome.site.line === 5);
    expect(site?.status).toBe('refused');
    expect(site === undefined ? [] : refusals(site).map((refusal) => refusal.id)).toEqual(['condition-safe-early']);
    // Once the guard itself stands around the loop, the pointer is safe to read there.
    applies(hoist, code, kernel(`
if (q) {
    if (0 < n && *q > 0) {
        for (int i = 0; i < n; ++i) {
            x[i] = 1.f;
        }
    }
}`, 'float *x, const int *__restrict__ q, int n'));
  });

  test('a lane-varying test with much work around it is skipped', () => {
    skips(hoist, kernel(`
for (int i = 0; i < n; ++i) {
    float v = sinf(a[i * 32 + threadIdx.x]);
    v = v * v + cosf(v);
    if (threadIdx.x & 1) v = -v;
    x[i * 32 + threadIdx.x] = v;
}`));
  });

  test('one site for each branch that stands directly in a loop', () => {
    const code = kernel(`
for (int i = 0; i < n; ++i) {
    if (i & 1) { if (flag) x[i] = 0.f; }
    { if (i & 2) x[i] = 1.f; }
    switch (i) { case 0: x[0] = 2.f; break; }
}
if (flag) x[0] = 3.f;`);
    const sites = outcomesOf(hoist, load(code)).map((outcome) => outcome.site.line);
    expect(sites).toEqual([4, 5, 6]);
  });

  test('assumptions stop an edit when their grant is withdrawn', () => {
    const code = kernel(`
float s = 0.f;
for (int i = 0; i < n; ++i) {
    float p = a[i] * a[i];
    if (flag) s += p;
    else s -= p;
}
x[0] = s;`);
    expect(applyAll(hoist, code).rounds).toBe(1);
    refuses(hoist, code, 'contraction-stable', { grants: new Set() });
  });
});

/** Of docs/estimates.md: 1.00 to 1.01 for arguments, up to 1.24 beside barriers, 1.50 for the warp number, 1.11 and 0.99 for lanes with short and long arms. */
group('what does not pay', () => {
  function reasonOf(code: string): string {
    const outcome = outcomesOf(hoist, load(code)).find((found) => found.estimate !== null);
    expect(outcome?.status).toBe('skipped');
    return outcome?.estimate?.reason ?? '';
  }

  test('arms that lanes part over and that do nearly the same: the store would go out twice', () => {
    expect(reasonOf(`__global__ void fill(const float *__restrict__ seen, const float *__restrict__ base, const int *__restrict__ pick, float *__restrict__ out, int rows, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    int p = pick[c];
    for (int r = 0; r < rows; r += 1) {
        if (p == 0) {
            out[r * cols + c] = seen[c];
        } else {
            out[r * cols + c] = base[(r % 7) * cols + c];
        }
    }
}
`)).toContain('what both arms do alike');
  });

  test('a loop whose own test is work, which either copy would do', () => {
    expect(reasonOf(`__global__ void seek(const float *__restrict__ a, const int *__restrict__ pick, float *__restrict__ out)
{
    int c = threadIdx.x;
    int p = pick[c];
    float s = 1.f;
    while (a[c] * s < a[c + 1] + s * s) {
        if (p == 0) s += 1.f;
        else s *= 2.f;
    }
    out[c] = s;
}
`)).toContain('run twice');
  });

  test('a flag that is a constant at every call of a device function', () => {
    const code = (second: string, qualifier = '__forceinline__'): string => `__device__ ${qualifier} float total(const float *a, int n, bool square, const int *mask = nullptr)
{
    float s = 0.f;
    for (int i = 0; i < n; ++i) {
        float v = a[i];
        __syncthreads();
        if (square) v = v * v;
        else v += 1.f;
        s += v;
    }
    return s;
}
__global__ void sums(const float *a, float *o, int n, bool f)
{
    o[threadIdx.x] = total(a, n, true) + total(a + n, n, ${second});
}
`;
    expect(reasonOf(code('false'))).toMatch(/^a constant at every call/);
    expect(applyAll(hoist, code('f')).rounds).toBe(1);
    expect(applyAll(hoist, code('false', '__noinline__')).rounds).toBe(1);
  });
});

group('estimates agree in sign with what was measured', () => {
  const long = (op: string): string => `for (int t = 0; t < 64; ++t) s = s * 0.5f ${op} sqrtf(s + t);`;
  const kernel = (condition: string, then: string, otherwise: string, around = ''): string => `__global__ void k(const float *x, float *y, int n, int m, int flag)
{
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = x[i];
    bool lane = x[i] > 0.5f;
    for (int k = 0; k < m; ++k) {
        ${around}
        if (${condition}) {
            ${then}
        } else {
            ${otherwise}
        }
    }
    y[i] = lane ? s : s + tile[0];
}
`;
  const short = ['s = s * 0.5f + 1.f;', 's = s * 0.25f - 1.f;'] as const;
  test.each([
    ['an argument, short arms', kernel('flag', ...short), 1],
    ['an argument, long arms', kernel('flag', long('+'), long('-')), 1],
    ['an argument beside barriers', kernel('flag', 's += tile[threadIdx.x ^ 1];', 's -= tile[threadIdx.x ^ 2];', 'tile[threadIdx.x] = s; __syncthreads();').replace('    }\n    y', '        __syncthreads();\n    }\n    y'), 1.2],
    ['the number of the warp', kernel('(threadIdx.x / 32) % 2 == 0', ...short), 1.5],
    ['lanes, short arms', kernel('lane', ...short), 1.11],
    ['lanes, long arms', kernel('lane', long('+'), long('-')), 0.99],
  ])('%s', (_name, text, measured) => {
    const estimate = outcomesOf(hoist, load(text), { evenIfItLoses: true }).find((outcome) => outcome.estimate !== null)?.estimate ?? null;
    if (estimate === null) throw new Error('no estimate');
    if (Math.abs(measured - 1) > 0.03) expect(estimate.speedup > 1).toBe(measured > 1);
    else expect(Math.abs(estimate.speedup - 1)).toBeLessThanOrEqual(0.05);
  });
});

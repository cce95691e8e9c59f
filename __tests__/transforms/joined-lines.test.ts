/** Conditions over several lines, with comments and joined lines in them: an edit that writes them on one line must not lose what stands behind a comment. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { tokenize } from '../../src/source/tokenizer.js';
import { walk } from '../../src/analysis/children.js';
import { initParser } from '../../src/syntax/parser.js';
import { ballot } from '../../transforms/ballot.js';
import { compact } from '../../transforms/compact.js';
import { hoist } from '../../transforms/hoist.js';
import { peel } from '../../transforms/peel.js';
import { split } from '../../transforms/split.js';
import type { Transform } from '../../transforms/lib/types.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

/** What is put in front of the second operand of every operator. */
const GAPS: readonly (readonly [string, string])[] = [
  ['a comment to the end of the line', '// why\n        '], ['a comment within the line', '/* why */ '], ['a comment over two lines', '/* why\n   so */ '],
  ['a joined line', '\\\n        '], ['a comment over a joined line', '// why \\\n  so\n        '],
];

/** Code without comments and white space. */
function code(text: string): string {
  let bare = text;
  for (const { start, end } of [...tokenize(text).comments].reverse()) bare = `${bare.slice(0, start)} ${bare.slice(end)}`;
  return bare.replaceAll(/\\\n/g, '').replaceAll(/\s+/g, '');
}

function withGaps(text: string, gap: string): string {
  const places = new Set<number>();
  for (const { body } of load(text).unit.functions) {
    if (body !== null) walk(body, (node) => { if (node.kind === 'binary') places.add(node.right.span.start); });
  }
  return [...places].sort((a, b) => b - a).reduce((made, place) => made.slice(0, place) + gap + made.slice(place), text);
}

const BODY = (guard: string, loop = 'for (int d = -r; d <= r; ++d) { int j = i + d; if (j >= 0 && j < n) sum += x[j] * x[j]; }'): string => `__global__ void k(const float *__restrict__ x, const int *__restrict__ f, float *__restrict__ y, int n, int r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.f;
    ${guard} {
        ${loop}
        y[i] = sum;
    }
}
void run(const float *x, const int *f, float *y, int n, int r) { k<<<(n + 255) / 256, 256>>>(x, f, y, n, r); }
`;

const CASES: readonly (readonly [string, object, string, string])[] = [
  ['ballot below a condition of memory', ballot, '', BODY('if (i < n && f[i] > 0)')],
  ['ballot below a condition of variables', ballot, '', BODY('if (i < n && i % 3 > 0)')],
  ['ballot behind continue', ballot, '', BODY('for (int t = 0; t < 4; ++t)', 'if (i % 3 > 0 || i >= n) continue;\n        for (int d = -r; d <= r; ++d) { int j = i + d; if (j >= 0 && j < n) sum += x[j] * x[j]; }')],
  ['ballot that skips', ballot, 'skip', BODY('if (i < n)', 'for (int t = 0; t < r; ++t) { if (x[i] > t && t % 3 == i % 3) { sum += sinf(x[i] + t); sum *= cosf(sum + t); } }')],
  ['ballot of three ways', ballot, 'three-way', BODY('if (i < n)', 'for (int t = 0; t < r; ++t) { if (x[i] > t && t % 3 == i % 3) { sum += sinf(x[i] + t); sum *= cosf(sum + t); } }')],
  ['hoist', hoist, '', BODY('if (i < n)', 'for (int t = 0; t < n; ++t) { if (r > 3 && n > 4 * r) sum += x[t] * 2.f; else sum -= x[t]; }')],
  ['peel', peel, '', BODY('if (i < n)', 'for (int t = 0; t < r; ++t) { if (t >= 3 && t < n - 3) sum += x[t] * 2.f; else sum -= 1.f; }')],
  ['compact by blocks', compact, 'block', BODY('if (i < n && f[i] > 0 && i % 3 == 0)', 'for (int d = 0; d < 64; ++d) sum += sqrtf(x[i] + d);')],
  ['compact by a list', compact, 'grid', BODY('if (i < n && f[i] > 0)', 'for (int d = 0; d < 64; ++d) sum += sqrtf(x[i] + d);')],
  ['split by a parameter', split, '', BODY('if (r > 3 && n > 4 * r) y[i] = 2.f; else', 'if (i < n) sum += x[i];')],
  ['split by blocks', split, '', BODY('if (blockIdx.x < r + 2) { if (i < n) y[i] = 2.f; } else', 'if (i < n) sum += x[i];')],
  ['split of an interior', split, '', BODY('if (i > r && i < n - r)', 'for (int d = -1; d <= 1; ++d) sum += x[i + d];')],
];

describe('lines that are put together', () => {
  test.each(CASES)('%s', (_, transform, variant, text) => {
    const options = { evenIfItLoses: true, variant };
    const plain = applyAll(transform as Transform, text, options);
    expect(plain.rounds).toBeGreaterThan(0);
    for (const [name, gap] of GAPS) {
      const run = applyAll(transform as Transform, withGaps(text, gap), options);
      expect({ name, code: code(run.text) }).toEqual({ name, code: code(plain.text) });
    }
  });
});

test('parameters and instantiations with comments', () => {
  const text = `template <class T>
__global__ void k(const T *__restrict__ x, // what is read
                  T *__restrict__ y /* what is written */, int n, // how many
                  int mode // how
                  ) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (mode) { if (i < n) y[i] = x[i] * 2; } else { if (i < n) y[i] = x[i] + 1; }
}
template __global__ void k<float>(const float *x, // read
    float *y, int n, // how many
    int mode // how
);
void run(const float *x, float *y, int n, int mode) { k<float><<<(n + 255) / 256, 256>>>(x, y, n, mode); }
`;
  const plain = text.replaceAll(/ *(?:\/\/[^\n]*|\/\*[^*]*\*\/)/g, '');
  const [made, wanted] = [text, plain].map((one) => applyAll(split as Transform, one, { evenIfItLoses: true }));
  expect(wanted?.rounds).toBe(1);
  expect(code(made?.text ?? '')).toBe(code(wanted?.text ?? ''));
});

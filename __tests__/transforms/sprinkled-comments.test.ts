/**
 * Comments at every gap between the tokens of a kernel: each stands at least once in what a transform makes of it, the text still parses, and does
 * what it did.
 */
import { beforeAll, expect, test } from '@jest/globals';
import { tokenize } from '../../src/source/tokenizer.js';
import { initParser } from '../../src/syntax/parser.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { ballot } from '../../transforms/ballot.js';
import { hoist } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const bodies = (loop: string): string => `__global__ void kern(const float *a, float *o, int n, int m, int mode)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.f;
    ${loop}
    o[i] = s;
}
`;

const LOOPS: readonly string[] = [
  'for (int k = 0; k < n; k++) {\n        if (k < m) s += a[k];\n        else s -= 1.f;\n    }',
  'for (int k = 0; k < n; k++) {\n        if (k < m) { s += a[k]; s *= 2.f; } else { s -= 1.f; }\n        s += 3.f;\n    }',
  'for (int k = 0; k < n; k++) {\n        if (k >= m) continue;\n        s += a[k];\n    }',
  'for (int k = 0; k < n; k++) {\n        if (k + (int)threadIdx.x < m && a[k] > 0.f) s += a[k];\n        s *= 2.f;\n    }',
  'for (int k = 0; k < n; k++) {\n        s += k < m ? a[k] : 1.f;\n    }',
  'int k = 0;\n    while (k < n) {\n        if (k < m) s += a[k];\n        s += 1.f;\n        k++;\n    }',
  'for (int k = 0; k < n; k++) {\n        if (k >= m) break;\n        s += a[k];\n    }',
  'for (int k = -2; k <= 2; k++) {\n        int j = i + k;\n        if (j >= 0 && j < n) s += a[j];\n    }',
  'for (int k = 0; k < n; k++) {\n        if (mode > 2) s += a[k];\n        else s -= a[k];\n    }',
  'for (int k = 0; k < n; k++) {\n        s += mode > 2 ? a[k] : 1.f;\n    }',
  'for (int k = 0; k < n; k++) {\n        if (mode > 2) { s += a[k]; } else if (mode > 1) { s -= a[k]; }\n        s *= 2.f;\n    }',
];

/** A comment in every gap for which `chosen` holds; `line`: one to the end of the line. */
function sprinkle(text: string, line: boolean, chosen: (gap: number) => boolean): { readonly text: string; readonly comments: readonly string[] } {
  const { tokens } = tokenize(text);
  const comments: string[] = [];
  let out = '';
  let at = 0;
  // The head of the kernel stays as it is.
  const from = text.indexOf('float s');
  for (let i = 0; i < tokens.count; i++) {
    out += text.slice(at, tokens.start(i));
    at = tokens.start(i);
    if (at < from || !chosen(i)) continue;
    const name = `note${i}q`;
    comments.push(name);
    out += line ? `// ${name}\n` : `/* ${name} */ `;
  }
  return { text: out + text.slice(at), comments };
}

test.each<readonly [string, Transform, number]>([['peel', peel, 40], ['hoist', hoist, 15], ['ballot', ballot, 5]])('%s keeps every comment', (name, transform, least) => {
  let applied = 0;
  const lost: string[] = [];
  for (const [index, loop] of LOOPS.entries()) {
    const plain = bodies(loop);
    for (const line of [false, true]) for (const every of [1, 3, 5]) for (const first of every === 5 ? [0, 2] : [0]) {
      const before = sprinkle(plain, line, (gap) => gap % every === first);
      const run = applyAll(transform, before.text, { evenIfItLoses: true });
      if (run.rounds === 0) continue;
      applied++;
      const gone = before.comments.filter((comment) => !run.text.includes(comment));
      if (gone.length > 0) lost.push(`${name} of loop ${index}, ${line ? 'lines' : 'blocks'}, each ${every}: ${gone.join(', ')}\n${before.text}\n${run.text}`);
      const [old, made] = [load(plain), load(run.text)];
      expect(made.unit.kernels.every((kernel) => kernel.understood)).toBe(true);
      if (every > 1 && first === 0) continue;
      const verdict = verifyEquivalent(old.program, made.program, 'kern', { budgetMs: 40, blocks: [[48, 1, 1]], grids: [[2, 1, 1]], sizes: [33, 0, 70] });
      if (verdict.status === 'different') throw new Error(`${verdict.counterexample.differences.join('; ')}\n${before.text}\n${run.text}`);
    }
  }
  if (lost.length > 0) throw new Error(`${lost.length} lost\n${lost.slice(0, 3).join('\n')}`);
  expect(applied).toBeGreaterThanOrEqual(least);
}, 120_000);

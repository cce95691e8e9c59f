/** Types that no loaded file declares: a condition of one may be a call, its operators are taken for arithmetic and every edit says so. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist } from '../../transforms/hoist.js';
import { refusals } from '../../transforms/lib/framework.js';
import { grantsInForce } from '../../transforms/lib/grants.js';
import type { Outcome, Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

function only(condition: string, parameter: string, before = '', deny: readonly string[] = []): Outcome {
  const text = `${before}\n__global__ void k(float *o, ${parameter}, int n) { float s = 0.f; for (int i = 0; i < n; ++i) { if (${condition}) s += o[i]; else s -= 1.f; } o[threadIdx.x] = s; }\n`;
  const [outcome] = outcomesOf(hoist as Transform, load(text), { evenIfItLoses: true, grants: grantsInForce([], deny) });
  if (outcome === undefined) throw new Error('no site');
  return outcome;
}

function stated(outcome: Outcome): string | null {
  return outcome.obligations.find(({ grant }) => grant === 'arithmetic-types')?.text ?? null;
}

describe('a condition as it stands', () => {
  test.each(['flag', '!flag', '(flag)', 'flag && n > 3', 'n > 3 || !flag'])('%s may be a call', (condition) => {
    expect(refusals(only(condition, 'Flag flag')).map(({ id }) => id)).toContain('condition-pure');
  });

  test.each([['bool flag', ''], ['const float *flag', ''], ['Flag *flag', ''], ['Flag flag', 'typedef int Flag;'], ['Flag flag', 'enum Flag { A, B };'], ['uint8_t flag', ''], ['unsigned flag', '']])('%s %s is none', (parameter, before) => {
    const outcome = only('flag', parameter, before);
    expect(outcome.status).toBe('applied');
    expect(stated(outcome)).toBeNull();
  });

  test('a name of numbers is taken for one, and that is said', () => {
    const outcome = only('flag', 'flag_t flag');
    expect(outcome.status).toBe('applied');
    expect(stated(outcome)).toBe('type flag_t is not declared in any loaded file; taken for arithmetic');
  });
});

describe('other operators', () => {
  test.each(['mode > 3', 'mode == 3', '(mode & 1) != 0', '-mode < 3'])('%s is arithmetic by the default grant', (condition) => {
    const outcome = only(condition, 'Real mode');
    expect(outcome.status).toBe('applied');
    expect(stated(outcome)).toBe('type Real is not declared in any loaded file; taken for arithmetic');
    expect(refusals(only(condition, 'Real mode', '', ['arithmetic-types'])).map(({ id, remedy }) => [id, remedy])).toContainEqual(['types-known', '--allow arithmetic-types']);
  });

  test('those of a function that is called count too', () => {
    const outcome = only('n > 3 && ask(3)', 'int m', '__device__ bool ask(int v) { Real r = v; return r * 2 > 3; }');
    expect(stated(outcome)).toBe('type Real is not declared in any loaded file; taken for arithmetic');
  });
});

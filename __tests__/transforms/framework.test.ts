import { beforeAll, describe as group, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { assumed, proved, provedUnder, refuted } from '../../transforms/lib/obligation.js';
import { contextFor, evaluateFunction, refusals } from '../../transforms/lib/framework.js';
import { GRANTS, grantFor, grantsInForce } from '../../transforms/lib/grants.js';
import type { Estimate, Obligation, Outcome, Transform } from '../../transforms/lib/types.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const ESTIMATE: Estimate = { speedup: 1.2, low: 1, high: 1.5, instructionsBefore: 12, instructionsAfter: 10, traffic: 0, breakEven: null, provider: 'static', pays: true, reason: 'test' };

/** A transform with one site a kernel, that replaces the kernel's name. */
function made(obligations: readonly Obligation[], estimate: Estimate = ESTIMATE, edits = 1): Transform {
  return {
    name: 'test', summary: '', variants: [], obligationIds: [], example: { before: '', after: '' },
    match: ({ facts }) => (facts.function.body === null ? [] : [{ function: facts.function, node: facts.function.body, branch: facts.function.body, line: 1, summary: '', shape: null }]),
    obligations: () => obligations,
    estimate: () => estimate,
    emit: (site) => ({ edits: Array.from({ length: edits }, () => ({ file: site.function.file, span: site.function.nameSpan, text: 'renamed' })), reads: [] }),
  };
}

function outcome(transform: Transform, grants?: ReadonlySet<string>, evenIfItLoses = false, code = '__global__ void k(int *x) { x[0] = 1; }'): Outcome {
  const { unit, analysis } = load(code);
  const kernel = unit.kernels[0];
  if (kernel === undefined) throw new Error('no kernel');
  const found = evaluateFunction(transform, contextFor(analysis.kernel(kernel), unit, grants === undefined ? {} : { grants }), { evenIfItLoses })[0];
  if (found === undefined) throw new Error('no outcome');
  return found;
}

group('what becomes of a site', () => {
  test('all proved: applied, with the edit', () => {
    const result = outcome(made([proved('a', 1, '')]));
    expect(result.status).toBe('applied');
    expect(result.change?.edits).toHaveLength(1);
  });

  test('an assumption needs its grant', () => {
    const transform = made([assumed('a', 'noalias', 1, '')]);
    const denied = outcome(transform);
    expect(denied.status).toBe('refused');
    expect(denied.change).toBeNull();
    expect(refusals(denied)).toMatchObject([{ id: 'a', status: 'unknown', remedy: '--allow noalias' }]);
    expect(outcome(transform, grantsInForce(['noalias'])).status).toBe('applied');
  });

  test('no grant overrules what was refuted', () => {
    const everything = grantsInForce(GRANTS.map((grant) => grant.name));
    expect(outcome(made([refuted('a', 1, ''), assumed('a', 'noalias', 1, '')]), everything).status).toBe('refused');
  });

  test('legal without gain is skipped, and applied when asked for', () => {
    const transform = made([proved('a', 1, '')], { ...ESTIMATE, pays: false, reason: 'no gain' });
    expect(outcome(transform)).toMatchObject({ status: 'skipped', reason: 'no gain' });
    expect(outcome(transform, undefined, true).status).toBe('applied');
  });

  test('edits that touch each other, or none at all, are refused', () => {
    expect(refusals(outcome(made([], ESTIMATE, 2))).map((o) => o.id)).toEqual(['edit-disjoint']);
    expect(refusals(outcome(made([], ESTIMATE, 0))).map((o) => o.id)).toEqual(['edit-disjoint']);
  });
});

group('grants', () => {
  test('default grants can be withdrawn', () => {
    expect(grantsInForce().has('contract')).toBe(true);
    expect(grantsInForce([], ['contract']).has('contract')).toBe(false);
    expect(grantsInForce().has('approximate')).toBe(false);
  });

  test('assumptions of the analyses are discharged by the grant that names them', () => {
    expect(grantFor('blockDim.x % 32 == 0')).toBe('launch-shape');
    expect(grantFor('no other launches')).toBe('all-launches-visible');
    expect(grantFor('every call of `f` is visible')).toBe('all-launches-visible');
    expect(grantFor('no other block writes the memory meanwhile')).toBe('exclusive-memory');
    expect(grantFor('something else')).toBeNull();
    expect(provedUnder('a', 1, '', { under: [] }).status).toBe('proved');
    expect(provedUnder('a', 1, '', { under: ['blockDim.x % 32 == 0'] })).toMatchObject({ status: 'assumed', grant: 'launch-shape' });
    expect(provedUnder('a', 1, '', { under: ['the moon is full'] }).status).toBe('unknown');
  });
});

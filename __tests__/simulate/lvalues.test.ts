/** Every way to write an lvalue: the object that C++ means changes, or the kernel is not simulated. Nothing is silently left undone. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DECLARATIONS, FORMS, VARIABLES } from './lvalue-forms.js';
import { contents, initParser, run } from './helpers.js';

beforeAll(async () => { await initParser(); });

describe('lvalues', () => {
  test.each(FORMS)('%s', (form, expected) => {
    const result = run(`${DECLARATIONS}\n__global__ void k(int *o, int n) { ${VARIABLES} ${form} o[0] = s; }`, { block: [1, 1, 1], args: ['n=1'], size: 8 });
    if (result.status === 'unsupported') {
      expect(typeof expected).toBe('object');
      return;
    }
    const [value] = contents(result, 'o', 1);
    expect(value).toBe(typeof expected === 'number' ? expected : expected.value);
  });
});

/** An edit whose site comes up again as it was has done nothing, or is not known for what it is: it is taken back and refused, after one copy. */
import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project } from '../../src/index.js';
import { temporaryFolder } from '../helpers/temporary.js';

/** Puts a declaration in front of every \`if\` of a kernel, and does not see that it is there. */
const FORGETFUL = `
let count = 0;
export default {
  name: 'forgetful', summary: 'adds a name', variants: [], obligationIds: [], example: { before: '', after: '' },
  match: ({ facts, unit }) => (facts.function.body?.body ?? []).filter((stmt) => stmt.kind === 'if' && facts.function.name !== 'spared').map((stmt) => ({
    function: facts.function, node: stmt, branch: stmt, line: unit.source.line(stmt.span.start), summary: 'an if', shape: stmt,
  })),
  obligations: () => [],
  estimate: () => ({ speedup: 2, low: 2, high: 2, instructionsBefore: 2, instructionsAfter: 1, traffic: 0, breakEven: 'none', provider: 'static', pays: true, reason: 'it is a test' }),
  emit: ({ shape, function: { name } }, { unit }) => ({
    edits: name === 'settles'
      ? [{ file: unit.source.realPath, span: shape.span, text: 'o[0] = 1;' }]
      : [{ file: unit.source.realPath, span: { start: shape.span.start, end: shape.span.start }, text: 'const int made' + ++count + ' = 0;\\n    ' }],
    reads: [],
  }),
};
`;

const kernel = (name: string): string => `__global__ void ${name}(int *o, int n) {
    o[1] = n;
    if (n > 3) o[0] = 1;
}
`;

test('an edit whose site comes up again is taken back, and others of its round are made all the same', async () => {
  const cwd = temporaryFolder('divmod-again-');
  const before = kernel('runaway') + kernel('settles') + kernel('spared');
  writeFileSync(join(cwd, 'a.cu'), before);
  writeFileSync(join(cwd, 'forgetful.mjs'), FORGETFUL);
  const project = await Project.open({ include: ['a.cu'], cwd, settings: { plugins: ['./forgetful.mjs'] } });
  const { sites, faults } = project.apply(['forgetful'], { evenIfItLoses: true });
  expect(faults).toEqual([]);
  expect(sites.map((site) => [site.kernel, site.status])).toEqual([['runaway', 'refused'], ['settles', 'applied']]);
  expect(sites[0]?.obligations.at(-1)?.text).toContain('came up again');
  await project.save();
  expect(readFileSync(join(cwd, 'a.cu'), 'utf8')).toBe(before.replace(/(settles[^}]*)if \(n > 3\) /, '$1'));
});

test('what an edit has left of a condition is another site', async () => {
  const cwd = temporaryFolder('divmod-again-');
  writeFileSync(join(cwd, 'a.cu'), `__global__ void f(const float *a, float *o, int n, int m) {
    float s = 0.f;
    if (m > 1)
        for (int i = 2; i < n; i += 8) { if (i + 1 < n && i == 2) { s += a[i]; } }
    o[threadIdx.x] = s;
}
`);
  const project = await Project.open({ include: ['a.cu'], cwd, settings: {} });
  const { sites } = project.apply(['peel'], { evenIfItLoses: true });
  expect(sites.map((site) => site.status)).toEqual(['applied', 'applied']);
  await project.save();
  expect(project.apply(['peel'], { evenIfItLoses: true }).sites.filter((site) => site.status === 'applied')).toEqual([]);
});

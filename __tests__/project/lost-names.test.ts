/** An edit that leaves a local without its declaration is taken back, whichever transform wrote it. */
import { expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project } from '../../src/index.js';
import { temporaryFolder } from '../helpers/temporary.js';

/** Takes the head of a loop away, and what it declares with it. */
const HEADLESS = `
export default {
  name: 'headless', summary: 'loses a name', variants: [], obligationIds: [], example: { before: '', after: '' },
  match: ({ facts, unit }) => (facts.function.body?.body ?? []).filter((stmt) => stmt.kind === 'for').map((stmt) => ({
    function: facts.function, node: stmt, branch: stmt, line: unit.source.line(stmt.span.start), summary: 'a loop', shape: stmt,
  })),
  obligations: () => [],
  estimate: () => ({ speedup: 2, low: 2, high: 2, instructionsBefore: 2, instructionsAfter: 1, traffic: 0, breakEven: 'none', provider: 'static', pays: true, reason: 'it is a test' }),
  emit: ({ shape }, { unit }) => ({ edits: [{ file: unit.source.realPath, span: { start: shape.span.start, end: shape.body.span.start }, text: '' }], reads: [] }),
};
`;

const BEFORE = `__global__ void loses(int *o, int n) {
    for (int i = 0; i < n; ++i) { o[i] = 1; }
}
__global__ void keeps(int *o, int n) {
    int i = 3;
    for (int z = 0; z < n; ++z) { o[i] = min(i, UNKNOWN); }
}
__global__ void never_knew(int *o, int n) {
    for (int i = 0; i < n; ++i) { o[j] = 1; }
    { int j = 3; o[j] = 2; }
}
`;

test('the edit is refused, and others of its round are made', async () => {
  const cwd = temporaryFolder('divmod-lost-');
  writeFileSync(join(cwd, 'a.cu'), BEFORE);
  writeFileSync(join(cwd, 'headless.mjs'), HEADLESS);
  const project = await Project.open({ include: ['a.cu'], cwd, settings: { plugins: ['./headless.mjs'] } });
  const { sites, faults } = project.apply(['headless'], { evenIfItLoses: true });
  expect(faults).toEqual([]);
  expect(sites.map((site) => [site.kernel, site.status])).toEqual([['loses', 'refused'], ['keeps', 'applied'], ['never_knew', 'applied']]);
  expect(sites[0]?.obligations.at(-1)).toMatchObject({ id: 'parsed', status: 'refuted' });
  expect(sites[0]?.obligations.at(-1)?.text).toContain('i is named where nothing declares it');
  await project.save();
  expect(readFileSync(join(cwd, 'a.cu'), 'utf8')).toBe(BEFORE.replace(/for \(int z[^)]*\) |(?<=never_knew[^}]*)for \(int i[^)]*\) /g, ''));
});

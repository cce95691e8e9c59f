/** Whatever round an edit belongs to, words and numbers name lines of the file as it was read. */
import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Project } from '../../src/index.js';
import { OriginalLines } from '../../src/project/original-lines.js';
import { temporaryFolder } from '../helpers/temporary.js';

const kernel = (name: string): string => `__global__ void ${name}(float *out, const float *in, int n, int mode, int other) {
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    if (mode > 0) {
      if (other > 2) sum += in[k];
      else if (in[k] > sum) break;
    } else if (other < 7) {
      if (k == 5) continue;
      sum -= in[k];
    } else {
      sum *= 0.5f;
    }
  }
  out[threadIdx.x] = sum;
}
`;

test('lines in words are lines of the original, in every round', async () => {
  const cwd = temporaryFolder('divmod-lines-');
  const text = ['one', 'two', 'three', 'four'].map(kernel).join('\n');
  writeFileSync(join(cwd, 'a.cu'), text);
  const lines = text.split('\n');
  const project = await Project.open({ include: ['a.cu'], cwd });
  const { sites } = project.apply(['hoist'], { evenIfItLoses: true });
  expect(sites.filter((site) => site.status === 'applied').length).toBeGreaterThanOrEqual(8);
  expect(Math.max(...sites.map((site) => site.round))).toBeGreaterThan(1);
  let loops = 0;
  for (const site of sites) {
    expect(lines[site.line - 1]).toMatch(/\b(if|for)\b/);
    const words = [site.summary, site.reason ?? '', site.estimate?.reason ?? '', ...site.obligations.flatMap(({ text: said, remedy }) => [said, remedy ?? ''])];
    for (const said of words) for (const [, line] of said.matchAll(/\blines? (\d+)/g)) expect(Number(line)).toBeLessThanOrEqual(lines.length);
    for (const { line } of site.obligations) expect(line).toBeLessThanOrEqual(lines.length);
    const loop = /the loop of line (\d+)/.exec(site.summary);
    if (loop === null) continue;
    loops++;
    expect(lines[Number(loop[1]) - 1]).toMatch(/\bfor\b/);
    // The loop of the same kernel, not of one above or below.
    const start = lines.slice(0, site.line).findLastIndex((line) => line.startsWith('__global__'));
    expect(Number(loop[1])).toBe(start + 3);
  }
  expect(loops).toBeGreaterThanOrEqual(8);
});

test('lists, and lines of other files', () => {
  const workspace = {
    source: (file: string) => ({ lineCount: file === '/p/a.cu' ? 90 : 40, lineStart: (line: number) => line }),
    originalLine: (file: string, offset: number) => ({ line: file === '/p/a.cu' ? offset + 100 : offset + 500, exact: true }),
    fileNamed: (path: string) => (path === 'b.cu' ? '/p/b.cu' : null),
  };
  const of = new OriginalLines(workspace, '/p/a.cu');
  expect(of.text('the loop of line 7 at 4 times')).toBe('the loop of line 107 at 4 times');
  expect(of.text('it rests on the launches of line 3, 5, b.cu:8, and on there being no others')).toBe('it rests on the launches of line 103, 105, b.cu:508, and on there being no others');
  expect(of.text('in the way: b.cu:4 launch; c.cu:5 launch; on line 9, 3 threads wait')).toBe('in the way: b.cu:504 launch; c.cu:5 launch; on line 109, 3 threads wait');
  expect(of.text('lines 3 and 4; line 95; online 3; 2 lines 3')).toBe('lines 103 and 104; line 95; online 3; 2 lines 103');
  expect(of.line(2)).toBe(102);
});

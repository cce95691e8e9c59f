/** The first command of the README prints the diff that the README speaks of. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { buildCli } from './run-cli.js';

test('the first command of the README prints a diff of a tiled kernel', () => {
  const words = /npm run --silent divmod -- ([^\n]+)/.exec(readFileSync('README.md', 'utf8'))?.[1]?.trim().split(/\s+/) ?? [];
  expect(words[0]).toBe('apply');
  const { status, stdout } = spawnSync(process.execPath, [buildCli(), ...words], { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stdout).toContain('+++ b/fixtures/peel/ok-tiled-matmul.cu');
}, 60_000);

/** Tests leave nothing behind: folders are made in one place, which removes them. */
import { expect, test } from '@jest/globals';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTemporaryFolder } from './temporary.js';

test('a folder is removed when what uses it throws, read-only parts included', () => {
  let folder = '';
  expect(() => inTemporaryFolder('divmod-temporary-', (made) => {
    folder = made;
    mkdirSync(join(made, 'inner'));
    writeFileSync(join(made, 'inner', 'file'), '');
    chmodSync(join(made, 'inner'), 0o500);
    expect(existsSync(made)).toBe(true);
    throw new Error('a test fails');
  })).toThrow('a test fails');
  expect(existsSync(folder)).toBe(false);
});

test('no other file of the tests makes temporary folders', () => {
  const tests = join(dirname(fileURLToPath(import.meta.url)), '..');
  const makers = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && readFileSync(join(tests, file), 'utf8').includes(`mkdtemp${'Sync'}`));
  expect(makers).toEqual([join('helpers', 'temporary.ts')]);
});

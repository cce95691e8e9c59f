import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { uncommittedFiles } from '../../src/rewrite/git-guard.js';
import { writeFilesAtomically, WriteError } from '../../src/rewrite/write.js';
import { temporaryFolder } from '../helpers/temporary.js';

let folder = '';
beforeAll(() => {
  folder = temporaryFolder('divmod-write-');
});

describe('writeFilesAtomically', () => {
  test('keeps mode and symbolic link, leaves no temporary file', () => {
    const target = join(folder, 'real.cu');
    const link = join(folder, 'link.cu');
    writeFileSync(target, 'old');
    chmodSync(target, 0o640);
    symlinkSync('real.cu', link);
    writeFilesAtomically([{ path: link, bytes: Buffer.from('new'), expected: Buffer.from('old') }]);
    expect(readFileSync(target, 'utf8')).toBe('new');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).filter((name) => name.endsWith('tmp'))).toEqual([]);
  });

  test('writes nothing at all if one file cannot be written', () => {
    const first = join(folder, 'first.cu');
    writeFileSync(first, 'old');
    const gone = join(folder, 'gone.cu');
    expect(() => writeFilesAtomically([
      { path: first, bytes: Buffer.from('new'), expected: null },
      { path: gone, bytes: Buffer.from('new'), expected: null },
    ])).toThrow(WriteError);
    expect(readFileSync(first, 'utf8')).toBe('old');
    expect(readdirSync(folder).filter((name) => name.endsWith('tmp'))).toEqual([]);
  });

  test('does not overwrite what changed in the meantime', () => {
    const path = join(folder, 'raced.cu');
    writeFileSync(path, 'theirs');
    expect(() => writeFilesAtomically([{ path, bytes: Buffer.from('ours'), expected: Buffer.from('read') }])).toThrow(/changed while/);
    expect(readFileSync(path, 'utf8')).toBe('theirs');
  });
});

describe('uncommittedFiles', () => {
  test('lists changed and untracked files, not clean, ignored or foreign ones', () => {
    const tree = join(folder, 'tree');
    mkdirSync(tree);
    const run = (...args: string[]): void => {
      expect(spawnSync('git', ['-C', tree, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args]).status).toBe(0);
    };
    const file = (name: string, text: string): string => {
      writeFileSync(join(tree, name), text);
      return join(tree, name);
    };
    run('init', '-q');
    const clean = file('clean.cu', 'a');
    const changed = file('changed é.cu', 'a');
    file('.gitignore', 'ignored.cu\n');
    run('add', '.');
    run('commit', '-q', '-m', 'start');
    file('changed é.cu', 'b');
    const untracked = file('new.cu', 'a');
    const ignored = file('ignored.cu', 'a');
    const outside = join(folder, 'real.cu');
    writeFileSync(outside, 'a');
    expect(uncommittedFiles([clean, changed, untracked, ignored, outside])).toEqual([changed, untracked].sort());
  });
});

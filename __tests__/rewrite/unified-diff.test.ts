import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { applyEdits } from '../../src/rewrite/apply-edits.js';
import { quotePath, unifiedDiff } from '../../src/rewrite/unified-diff.js';
import type { Edit } from '../../src/source/types.js';
import { temporaryFolder } from '../helpers/temporary.js';
import { randomCase, type RandomCase } from './random-edits.js';

let folder = '';
beforeAll(() => {
  folder = temporaryFolder('divmod-diff-');
  expect(spawnSync('git', ['init', '-q', folder]).status).toBe(0);
  // A machine may convert line ends by default; the diff is about bytes.
  spawnSync('git', ['-C', folder, 'config', 'core.autocrlf', 'false']);
});

const bytesOf = (c: Pick<RandomCase, 'encoding' | 'bom'>, text: string): Buffer =>
  Buffer.concat([Buffer.from(c.bom ? [0xef, 0xbb, 0xbf] : []), Buffer.from(text, c.encoding === 'latin1' ? 'latin1' : 'utf8')]);

const hasPatch = spawnSync('patch', ['--version']).status === 0;

function roundTrip(path: string, c: RandomCase): void {
  const before = bytesOf(c, c.text);
  const after = bytesOf(c, applyEdits(c.text, c.edits, c.newline));
  const diff = unifiedDiff({ path, text: c.text, encoding: c.encoding, bom: c.bom, newline: c.newline, edits: c.edits });
  expect(diff.length === 0).toBe(before.equals(after));
  if (diff.length === 0) return;
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  for (const [command, args] of [['git', ['apply', '--whitespace=nowarn']], ['patch', ['-p1', '-s', '--no-backup-if-mismatch']]] as const) {
    if (command === 'patch' && !hasPatch) continue;
    writeFileSync(file, before);
    const result = spawnSync(command, [...args], { cwd: folder, input: diff });
    if (result.status !== 0) throw new Error(`${command}: ${result.stderr.toString()}${result.stdout.toString()}\n${Buffer.from(diff).toString('latin1')}`);
    // patch removes a file that becomes empty; that is its habit, not the diff's.
    if (command === 'patch' && after.length === 0) continue;
    expect(readFileSync(file).equals(after)).toBe(true);
  }
}

describe('unifiedDiff', () => {
  test('git apply and patch make the new file of any file', () => {
    fc.assert(fc.property(randomCase, (c) => roundTrip('src/k.cu', c)), { numRuns: 120 });
  }, 120_000);

  test.each(['a b.cu', 'ü/kernel.cu', 'q"uote\\.cu', 'tab\there.cu'])('a path such as %j', (path) => {
    roundTrip(path, { text: 'a\nb\n', edits: [{ file: path, span: { start: 0, end: 1 }, text: 'c' }], encoding: 'utf-8', bom: false, newline: '\n' });
  });

  test('is minimal: an edit that repeats old lines shows only the new ones', () => {
    const text = 'one\ntwo\nthree\nfour\nfive\nsix\n';
    const edit: Edit = { file: 'k.cu', span: { start: 0, end: text.length }, text: 'one\ntwo\n2.5\nthree\nfour\nfive\nsix\n' };
    const diff = unifiedDiff({ path: 'k.cu', text, encoding: 'utf-8', bom: false, newline: '\n', edits: [edit] }).toString();
    expect(diff).toBe('--- a/k.cu\n+++ b/k.cu\n@@ -1,5 +1,6 @@\n one\n two\n+2.5\n three\n four\n five\n');
  });

  test('a big file with changes everywhere takes no time worth speaking of', () => {
    const text = Array.from({ length: 40_000 }, (_, i) => `line ${i} of the file\n`).join('');
    const edits: Edit[] = [];
    for (let at = text.indexOf('\n'), i = 0; at >= 0; at = text.indexOf('\n', at + 1), i++) {
      if (i % 3 === 0) edits.push({ file: 'k.cu', span: { start: at, end: at }, text: ' changed' });
    }
    const start = performance.now();
    const diff = unifiedDiff({ path: 'k.cu', text, encoding: 'utf-8', bom: false, newline: '\n', edits });
    expect(performance.now() - start).toBeLessThan(3000);
    expect(diff.length).toBeGreaterThan(text.length);
  });

  test('quotes as git does', () => {
    expect(quotePath('a/plain.cu')).toBe('a/plain.cu');
    expect(quotePath('a/é".cu')).toBe('"a/\\303\\251\\".cu"');
  });
});

/** The help of a command names the formats that the command takes, and no others. */
import { beforeAll, expect, test } from '@jest/globals';
import { commands } from '../../src/cli/commands.js';
import { divmod, folderWith, HOISTABLE } from './run-cli.js';

const ALL = ['text', 'json', 'sarif', 'markdown', 'html'];

let cwd = '';
beforeAll(() => {
  cwd = folderWith({ 'k.cu': HOISTABLE });
  divmod(['audit', '--format', 'json', '--output', 'a.json', 'k.cu'], { cwd });
});

const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  audit: ['k.cu'], plan: ['k.cu'], apply: ['--transform', 'peel', 'k.cu'], explain: ['k.cu:5'], simulate: ['k.cu'], verify: ['k.cu', 'k.cu'], merge: ['a.json'], transforms: [], config: ['print'],
};

test.each(commands.map((command) => String(command.command).split(' ')[0] ?? ''))('%s', (name) => {
  const help = divmod([name, '--help'], { cwd }).stdout;
  const line = help.split('\n').find((text) => text.includes('--format ')) ?? '';
  const named = ALL.filter((format) => new RegExp(`\\b${format}\\b`).test(line));
  const taken = ALL.filter((format) => {
    const { code, stderr } = divmod([name, '--format', format, ...ARGUMENTS[name] ?? []], { cwd });
    if (code !== 2) return true;
    expect(stderr).toContain(format);
    return false;
  });
  expect(named).toEqual(taken);
  expect(taken.length).toBeGreaterThan(0);
}, 120_000);

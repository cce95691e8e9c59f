/** A file imports only from its own room or from rooms to its left (CONTRIBUTING.md), and packages only where they belong. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = process.cwd();

/** What each room may import, besides itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  source: [],
  cuda: [],
  syntax: ['source', 'cuda'],
  analysis: ['source', 'cuda', 'syntax'],
  audit: ['source', 'cuda', 'syntax', 'analysis'],
  transforms: ['source', 'cuda', 'syntax', 'analysis', 'audit'],
  plan: ['source', 'cuda', 'syntax', 'analysis', 'audit', 'transforms'],
  rewrite: ['source', 'cuda', 'syntax', 'analysis', 'audit', 'transforms', 'plan'],
  simulate: ['source', 'cuda', 'syntax'],
  generate: [],
  profile: ['source', 'cuda', 'syntax'],
  verify: ['source', 'cuda', 'syntax', 'simulate'],
  project: ['source', 'cuda', 'syntax', 'analysis', 'audit', 'transforms', 'plan', 'rewrite', 'simulate', 'profile', 'verify'],
  report: ['source', 'cuda', 'syntax', 'analysis', 'audit', 'transforms', 'plan', 'rewrite', 'simulate', 'profile', 'verify', 'project'],
  cli: ['source', 'cuda', 'syntax', 'analysis', 'audit', 'transforms', 'plan', 'rewrite', 'simulate', 'profile', 'verify', 'project', 'report', 'index'],
  index: ['source', 'cuda', 'syntax', 'analysis', 'audit', 'transforms', 'plan', 'rewrite', 'simulate', 'profile', 'verify', 'project', 'report'],
};

/** Rooms that may use a package. Packages that are not listed may be used by `cli` alone. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'tree-sitter': ['syntax'],
  'tree-sitter-cpp': ['syntax'],
  'web-tree-sitter': ['syntax'],
  'magic-string': ['rewrite'],
  diff: ['rewrite', 'report'],
  ignore: ['project'],
  tinyglobby: ['project'],
  picocolors: ['report', 'cli'],
  yargs: ['cli'],
};

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return sources(full);
    return entry.name.endsWith('.ts') ? [full] : [];
  });
}

function roomOf(file: string): string {
  const parts = path.relative(root, file).split(path.sep);
  if (parts[0] === 'transforms') return 'transforms';
  const second = parts[1] ?? '';
  return second.endsWith('.ts') || second.endsWith('.js') ? second.replace(/\.[jt]s$/, '') : second;
}

const files = [...sources(path.join(root, 'src')), ...sources(path.join(root, 'transforms'))];
const imports = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g)].map((m) => ({
    file: path.relative(root, file),
    room: roomOf(file),
    specifier: m[1] ?? m[2] ?? '',
    absolute: path.resolve(path.dirname(file), m[1] ?? m[2] ?? ''),
  })),
);

describe('the rooms of the house', () => {
  test('there is something to check', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(imports.length).toBeGreaterThan(50);
  });

  test('every file stands in a known room', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => !(room in ROOMS))).toEqual([]);
  });

  test('imports run one way', () => {
    const wrong = imports.filter(({ room, specifier, absolute }) => {
      if (!specifier.startsWith('.')) return false;
      const target = roomOf(absolute);
      return target !== room && !(ROOMS[room] ?? []).includes(target);
    });
    expect(wrong.map((w) => `${w.file} imports ${w.specifier}`)).toEqual([]);
  });

  test('packages are used where they belong', () => {
    const wrong = imports.filter(({ room, specifier }) => {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) return false;
      return !(PACKAGES[specifier.split('/')[0] ?? ''] ?? ['cli']).includes(room);
    });
    expect(wrong.map((w) => `${w.file} imports ${w.specifier}`)).toEqual([]);
  });

  test('one transform does not know another', () => {
    const wrong = imports.filter(({ file, room, specifier, absolute }) => {
      if (room !== 'transforms' || !specifier.startsWith('.')) return false;
      const own = file.split(path.sep)[1]?.replace(/\.ts$/, '') ?? '';
      const target = path.relative(root, absolute).split(path.sep);
      if (own === 'index' || own === 'lib' || target[0] !== 'transforms') return own === 'lib' && target[0] === 'transforms' && target[1] !== 'lib';
      const name = target[1]?.replace(/\.js$/, '') ?? '';
      return name !== 'lib' && name !== own;
    });
    expect(wrong.map((w) => `${w.file} imports ${w.specifier}`)).toEqual([]);
  });
});

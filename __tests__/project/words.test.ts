import { describe, expect, test } from '@jest/globals';
import { parseShard } from '../../src/project/files.js';
import { nameMatcher } from '../../src/project/scope.js';
import { parseBlock, parsePairs, parseShape } from '../../src/project/settings.js';
import { parseLaunch } from '../../src/project/simulation.js';
import { editDistance, nearest } from '../../src/project/suggest.js';
import { parseTransformSpecs } from '../../src/project/transform-spec.js';

describe('words of the command line', () => {
  test('transforms with variants and options', () => {
    const of = (...words: string[]): unknown => parseTransformSpecs(words).map(({ name, variant, options }) => [name, variant, Object.fromEntries(options)]);
    expect(of('peel,hoist')).toEqual([['peel', null, {}], ['hoist', null, {}]]);
    expect(of('compact:grid,order=keep,peel')).toEqual([['compact', 'grid', { order: 'keep' }], ['peel', null, {}]]);
    expect(of('compact:order=keep', './mine.mjs')).toEqual([['compact', null, { order: 'keep' }], ['./mine.mjs', null, {}]]);
    expect(() => parseTransformSpecs(['order=keep'])).toThrow(/follows no transform/);
    expect(() => parseTransformSpecs([','])).toThrow(/which one/);
  });

  test('shapes, launches, pairs, shards', () => {
    expect(parseShape('32x8', 'grid')).toEqual({ x: 32, y: 8, z: 1 });
    expect(parseBlock('256', 'block')).toEqual({ x: 256, y: 1, z: 1 });
    for (const wrong of ['', '0', '8x', 'x8', '1x1x1x1', '-4', '1e3']) expect(() => parseShape(wrong, 'grid')).toThrow(/no shape/);
    expect(() => parseBlock('1x1x128', 'block')).toThrow(/at most 64/);
    expect(parseLaunch('4,2x16,16')).toEqual({ grid: [4, 2, 1], block: [16, 16, 1] });
    expect(() => parseLaunch('4')).toThrow(/GRIDxBLOCK/);
    expect(Object.fromEntries(parsePairs(['A', 'B=2', 'C=x=y'], '-D', '1'))).toEqual({ A: '1', B: '2', C: 'x=y' });
    expect(() => parsePairs(['p@3'], '--assume', null)).toThrow(/NAME=VALUE/);
    expect(parseShard('2/3')).toEqual({ index: 2, count: 3 });
    for (const wrong of ['0/3', '4/3', '1', '1/0', 'a/b']) expect(() => parseShard(wrong)).toThrow(/expected i\/n/);
  });

  test('names of kernels', () => {
    expect(nameMatcher([])('anything')).toBe(true);
    expect(nameMatcher(['mat*'])('matmul')).toBe(true);
    expect(nameMatcher(['mat*'])('my_matmul')).toBe(false);
    expect(nameMatcher(['k?', 'a.b'])('k1')).toBe(true);
    expect(nameMatcher(['a.b'])('axb')).toBe(false);
  });

  test('suggestions are near, or not made', () => {
    expect(editDistance('hosit', 'hoist')).toBe(1);
    expect(nearest('peeel', ['hoist', 'peel'])).toBe('peel');
    expect(nearest('comp', ['compact', 'hoist'])).toBe('compact');
    expect(nearest('xyz', ['hoist', 'peel'])).toBe(null);
  });
});

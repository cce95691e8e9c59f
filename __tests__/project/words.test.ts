import { describe, expect, test } from '@jest/globals';
import { parseShard } from '../../src/project/files.js';
import { nameMatcher } from '../../src/project/scope.js';
import { parseBlock, parsePairs, parseShape } from '../../src/project/settings.js';
import { parseLaunch } from '../../src/project/simulation.js';
import { editDistance, nearest } from '../../src/project/suggest.js';
import { parseTransformSpecs, resolveTransforms } from '../../src/project/transform-spec.js';
import { transforms } from '../../transforms/index.js';
import type { Transform } from '../../transforms/lib/types.js';


describe('words of the command line', () => {
  test('transforms with variants and options', () => {
    const of = (...words: string[]): unknown => parseTransformSpecs(words).map(({ name, variant, options }) => [name, variant, Object.fromEntries(options)]);
    expect(of('peel,hoist')).toEqual([['peel', null, {}], ['hoist', null, {}]]);
    expect(of('compact:grid,order=keep,peel')).toEqual([['compact', 'grid', { order: 'keep' }], ['peel', null, {}]]);
    expect(of('compact:order=keep', './mine.mjs')).toEqual([['compact', null, { order: 'keep' }], ['./mine.mjs', null, {}]]);
    expect(() => parseTransformSpecs(['order=keep'])).toThrow(/follows no transform/);
    expect(() => parseTransformSpecs([','])).toThrow(/which one/);
  });

  test('options of transforms are those that are documented', () => {
    const asked = (word: string, known: readonly Transform[] = transforms): unknown => resolveTransforms(parseTransformSpecs([word]), known, new Map()).map(({ transform, variant, options }) => [transform.name, variant, Object.fromEntries(options)]);
    expect(asked('compact:loop,depth=8')).toEqual([['compact', 'loop', { depth: '8' }]]);
    for (const { name, variants, options } of transforms) {
      // What is documented is taken, and every transform says what it takes.
      if (options === undefined) throw new Error(`${name} does not say what it takes`);
      for (const option of options) for (const value of option.values) expect(asked(`${name}:${option.variant ?? variants[0]?.name ?? ''},${option.name}=${value}`)).toHaveLength(1);
      expect(() => asked(`${name},nothing=1`)).toThrow(/takes no options|unknown option/);
      for (const variant of variants) expect(() => asked(`${name}:${variant.name},nothing=1`)).toThrow(/takes no options|unknown option/);
    }
    for (const wrong of ['3', '', '08', '4.0', '32', '-4', 'four']) expect(() => asked(`compact:loop,depth=${wrong}`)).toThrow(/expected depth=4/);
    expect(() => asked('compact:grid,order=Keep')).toThrow(/expected order=free, order=keep/);
    expect(() => asked('compact:grid,oder=keep')).toThrow(/did you mean "order"/);
    expect(() => asked('compact,order=keep')).toThrow(/an option of compact:grid/);
    expect(() => asked('compact:grid,depth=4')).toThrow(/an option of compact:loop/);
    expect(() => asked('all,order=keep')).toThrow(/"all" takes no options/);
    // A transform of the user's own that does not say what it takes gets everything.
    const own = { ...transforms[0], name: 'mine', options: undefined } as unknown as Transform;
    expect(asked('mine,x=1', [own])).toEqual([['mine', null, { x: '1' }]]);
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

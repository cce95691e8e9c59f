/** What a name would mean, were it written in a function, and the shortest spelling that means a declaration there. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { meaningIn, pathOf, spellingIn } from '../../src/syntax/look-up.js';
import { initParser } from '../../src/syntax/parser.js';
import type { Decl, FunctionDecl } from '../../src/syntax/tree.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const TEXT = `
namespace a { constexpr int R = 1; constexpr int ONLY = 2; namespace b { constexpr int R = 3; constexpr int DEEP = 4; } inline namespace v { constexpr int NEW = 5; } namespace { constexpr int HID = 6; } }
constexpr int R = 7;
namespace c { constexpr int X = 8; } namespace d { constexpr int X = 9; }
using namespace c;
using a::ONLY;
enum Side { LEFT, RIGHT };
enum class Edge { NEAR, FAR };
struct Base { static constexpr int INHERITED = 10; };
struct Box : Base { static constexpr int R = 11; enum { DEPTH = 12 }; enum class Way { IN, OUT }; struct Row { static constexpr int W = 13; }; __device__ int method() { return 0; } };
template <class T> struct Of { static constexpr int W = 14; };
struct Strange : Unseen { __device__ int method() { return 0; } };
typedef Box Alias;
namespace other = a::b;
__global__ void k(int *o) { o[0] = 0; }
namespace a { __global__ void inside(int *o) { o[0] = 0; } namespace b { __global__ void deep(int *o) { o[0] = 0; } } }
template <int R> __global__ void templated(int *o) { o[0] = R; }
namespace e { using namespace d; constexpr int Y = 15; __global__ void used(int *o) { o[0] = 0; } }
constexpr int LATE = 16;
`;

interface Setting { fn(name: string, owner?: string): FunctionDecl; named(spelling: string): Decl }

function setting(): Setting {
  const { unit } = load(TEXT);
  const fn = (name: string, owner?: string): FunctionDecl => {
    const found = unit.functions.find((one) => one.name === name && (owner === undefined || one.owner?.name === owner));
    if (found === undefined) throw new Error(`no function ${name}`);
    return found;
  };
  // From the global scope on nothing hides anything.
  const named = (spelling: string): Decl => {
    const found = meaningIn(fn('k'), spelling) ?? unit.variables.find((one) => one.name === spelling);
    if (found === undefined) throw new Error(`nothing is ${spelling}`);
    return found;
  };
  return { fn, named };
}

function valueOf(decl: Decl | null): string | null {
  if (decl === null) return null;
  if (decl.kind === 'enumerator') return decl.value?.kind === 'literal' ? String(decl.value.value) : decl.name;
  const init = decl.kind === 'variable' ? decl.init : null;
  return init?.kind === 'literal' ? String(init.value) : decl.kind;
}

describe('a name', () => {
  test.each([
    ['k', 'R', '7'], ['k', '::R', '7'], ['k', 'a::R', '1'], ['k', 'a::b::R', '3'], ['k', 'b::R', null], ['inside', 'R', '1'], ['inside', '::R', '7'], ['inside', 'b::R', '3'],
    ['deep', 'R', '3'], ['deep', 'ONLY', '2'], ['deep', 'DEEP', '4'], ['k', 'other::DEEP', '4'], ['k', 'ONLY', '2'], ['k', 'a::NEW', '5'], ['k', 'a::HID', '6'],
    ['k', 'LEFT', 'LEFT'], ['k', 'Side::LEFT', 'LEFT'], ['k', 'Edge::FAR', 'FAR'], ['k', 'FAR', null], ['k', 'Box::DEPTH', '12'], ['k', 'Box::Row::W', '13'],
    ['k', 'Box::Way::OUT', 'OUT'], ['k', 'Alias::R', '11'], ['k', 'Box::INHERITED', '10'], ['k', 'Of::W', null], ['k', 'nothing::R', null], ['k', 'no such', null], ['k', '', null],
    // A using-directive puts its names beside those of the global scope.
    ['k', 'X', '8'], ['used', 'X', null], ['used', 'd::X', '9'], ['used', 'Y', '15'],
  ])('in %s, %s is %s', (fn, spelling, value) => {
    const { fn: find } = setting();
    expect(valueOf(meaningIn(find(fn), spelling))).toBe(value);
  });

  test('is that of a member in a method, of a template parameter below its head', () => {
    const { fn } = setting();
    expect(valueOf(meaningIn(fn('method', 'Box'), 'R'))).toBe('11');
    expect(valueOf(meaningIn(fn('method', 'Box'), 'INHERITED'))).toBe('10');
    expect(valueOf(meaningIn(fn('method', 'Box'), '::R'))).toBe('7');
    expect(meaningIn(fn('templated'), 'R')?.kind).toBe('template-parameter');
  });

  test('is not known where a base is not seen', () => {
    const { fn } = setting();
    expect(meaningIn(fn('method', 'Strange'), 'R')).toBeNull();
    expect(valueOf(meaningIn(fn('method', 'Strange'), '::R'))).toBe('7');
  });
});

describe('the shortest spelling', () => {
  test.each([
    ['k', 'a::R', 'a::R'], ['k', '::R', 'R'], ['inside', 'a::R', 'R'], ['inside', '::R', '::R'], ['deep', 'a::R', 'a::R'], ['deep', '::R', '::R'], ['inside', 'a::b::DEEP', 'b::DEEP'],
    ['templated', '::R', '::R'], ['k', 'a::NEW', 'a::NEW'], ['k', 'Edge::FAR', 'Edge::FAR'], ['k', 'Box::Way::OUT', 'Box::Way::OUT'], ['k', 'Side::LEFT', 'LEFT'], ['k', 'ONLY', 'ONLY'],
    ['used', 'd::X', 'd::X'], ['used', 'c::X', 'c::X'], ['k', 'Box::Row::W', 'Box::Row::W'],
  ])('in %s of %s is %s', (fn, decl, spelling) => {
    const { fn: find, named } = setting();
    expect(spellingIn(find(fn), named(decl), () => true)).toBe(spelling);
  });

  test('goes round what the place hides', () => {
    const { fn, named } = setting();
    expect(spellingIn(fn('k'), named('a::b::R'), (spelling) => !spelling.startsWith('a'))).toBe('::a::b::R');
    expect(spellingIn(fn('k'), named('R'), () => false)).toBeNull();
  });

  test('there is none for what stands behind the function, nor for a member of a class template', () => {
    const { fn, named } = setting();
    expect(spellingIn(fn('k'), named('LATE'), () => true)).toBeNull();
    expect(pathOf(named('a::b::R'))).toEqual(['a', 'b', 'R']);
  });
});

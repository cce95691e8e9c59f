/** What a variable was declared with is not its value once others know its address, nor what an object was made from the number that its conversion gives. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hazardsIn, kernel } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

const DECLARATIONS = `struct Box { int *p; };
struct Keeper { int *p; __device__ Keeper(int *q) : p(q) {} __device__ void put(int v) { *p = v; } };
struct Pair { int a, b; };
struct Number { int given; __device__ operator int() const { return threadIdx.x; } };
struct Truth { int given; __device__ operator bool() const { return threadIdx.x & 1; } };
struct Child : Number { int more; };
__device__ void store(int *p) { *p = threadIdx.x; }
__device__ void assign(int &r) { r = threadIdx.x; }
__device__ int *same(int *p) { return p; }
__device__ void both(int *p, int &r) { *p = threadIdx.x; r += 0; }
`;

/** Statements that make `q` the thread's number. */
const CHANGES: readonly (readonly [string, string])[] = [
  ['a pointer', 'int q = 0; int *p = &q; *p = threadIdx.x;'], ['a subscript', 'int q = 0; int *const p = &q; p[0] = threadIdx.x;'],
  ['a pointer that is set later', 'int q = 0; int *p; p = &q; *p += threadIdx.x;'], ['a pointer in a struct', 'int q = 0; Box box{&q}; *box.p = threadIdx.x;'],
  ['a pointer to one of two', 'int q = 0, o = 0; int *p = n > 3 ? &q : &o; *p = threadIdx.x;'], ['a pointer to a pointer', 'int q = 0; int *p = &q; int **pp = &p; **pp = threadIdx.x;'],
  ['a pointer without its const', 'int q = 0; const int *p = &q; *const_cast<int *>(p) = threadIdx.x;'], ['a pointer of another type', 'int q = 0; unsigned *p = reinterpret_cast<unsigned *>(&q); *p = threadIdx.x;'],
  ['a reference', 'int q = 0; int &r = q; r = threadIdx.x;'], ['a reference that counts', 'int q = 0; int &r = q; r += threadIdx.x;'],
  ['a reference to what a pointer leads to', 'int q = 0; int *p = &q; int &r = *p; r = threadIdx.x;'],
  ['a call that takes the address', 'int q = 0; store(&q);'], ['a call that takes a reference', 'int q = 0; assign(q);'], ['a call that passes a pointer on', 'int q = 0; int *p = same(&q); *p = threadIdx.x;'],
  ['a call that takes both', 'int q = 0; both(&q, q);'], ['an object that keeps the address', 'int q = 0; Keeper keeper(&q); keeper.put(threadIdx.x);'],
  ['a lambda that takes a reference', 'int q = 0; auto f = [&q]() { q = threadIdx.x; }; f();'], ['a lambda that takes all references', 'int q = 0; auto f = [&]() { q = threadIdx.x; }; f();'],
  ['an atomic', 'int q = 0; atomicAdd(&q, (int)threadIdx.x);'], ['a copy of bytes', 'int q = 0; int t = threadIdx.x; memcpy(&q, &t, sizeof q);'],
  ['a member', 'Pair pair{0, 0}; pair.a = threadIdx.x; int q = pair.a;'], ['a member by a pointer', 'Pair pair{0, 0}; int *p = &pair.a; *p = threadIdx.x; int q = pair.a;'],
  ['a member by a reference', 'Pair pair{0, 0}; int &r = pair.a; r = threadIdx.x; int q = pair.a;'],
  ['a conversion', 'Number c{0}; int q = c;'], ['a conversion that is written', 'Number c{0}; const int q = (int)c;'], ['a conversion to a condition', 'Truth c{0}; int q = c ? 9 : 0;'],
  ['a conversion of a base', 'Child c{}; int q = c;'], ['a conversion in a sum', 'Number c{0}; int q = c + 1;'],
];

const found = (before: string, guarded: string): readonly string[] => hazardsIn(`${DECLARATIONS}${kernel(`${before} if (q > 5) { ${guarded} }`)}`).hazards.map((hazard) => hazard.id);

describe('a value that threads do not share', () => {
  test.each(CHANGES)('%s: a barrier', (_, change) => {
    expect(found(change, '__syncthreads(); x[threadIdx.x] = 1;')).toEqual(expect.arrayContaining(['barrier-divergent']));
  });

  test.each(CHANGES)('%s: a full mask', (_, change) => {
    expect(found(change, 'x[threadIdx.x] = __shfl_xor_sync(FULL, x[threadIdx.x], 1);').length).toBeGreaterThan(0);
  });
});

describe('a value that threads share', () => {
  test.each([
    ['a constant', 'int q = 7;'], ['a value of the warp', 'int q = (int)(threadIdx.x / 32) * 8;'], ['an assignment', 'int q; q = 3;'], ['a reference to it', 'int v = 7; const int &r = v; int q = r;'],
    ['an argument', 'int q = 0; q = n;'],
  ])('%s', (_, before) => {
    expect(found(before, 'x[threadIdx.x] = __shfl_xor_sync(FULL, x[threadIdx.x], 1);')).toEqual([]);
  });
});

test('a mask that a pointer changes is no constant', () => {
  const use = 'x[threadIdx.x] = __shfl_sync(m, x[threadIdx.x], 0);';
  expect(hazardsIn(kernel(`unsigned m = 1u; ${use}`)).hazards.length).toBeGreaterThan(0);
  expect(hazardsIn(kernel(`unsigned m = 1u; unsigned *p = &m; *p = FULL; ${use}`)).hazards).toEqual([]);
});

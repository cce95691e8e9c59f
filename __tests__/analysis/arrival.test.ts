/** Who comes to a place: full sets, votes with where they are taken, exits apart from skips. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { arrivalSets, type ArrivalSet } from '../../src/analysis/arrival.js';
import { initParser } from '../../src/syntax/parser.js';
import { Text } from './program.js';

beforeAll(async () => { await initParser(); });

/** `full`, `vote(!(i >= n) && v > 0)` or `unknown`, for lanes and threads, and the number of exits. */
function at(text: string, mark = 'here();'): { lanes: string; threads: string; exits: number } {
  const loaded = new Text(`__device__ void here();\n${text}`);
  const arrival = arrivalSets(loaded.kernel()).at(loaded.stmt(mark));
  const { source } = loaded.unit;
  const show = (set: ArrivalSet): string => (set.kind !== 'vote' ? set.kind : `vote(${set.decisions.map((decision) => {
    const condition = source.text.slice(decision.condition.span.start, decision.condition.span.end);
    return decision.holds === false ? `!(${condition})` : condition;
  }).join(' && ')})`);
  return { lanes: show(arrival.lanes), threads: show(arrival.threads), exits: arrival.exits.length };
}

describe('arrival sets', () => {
  test('a return of the kernel is an exit and keeps the set full', () => {
    expect(at('__global__ void k(int *y, int n) { if (y[threadIdx.x] > n) return; here(); }')).toEqual({ lanes: 'full', threads: 'full', exits: 1 });
  });

  test('a branch is a vote taken above it', () => {
    expect(at('__global__ void k(int *y) { int v = y[threadIdx.x]; if (v > 0) { here(); } }')).toEqual({ lanes: 'vote(v > 0)', threads: 'vote(v > 0)', exits: 0 });
    expect(at('__global__ void k(int *y) { int v = y[threadIdx.x]; if (v > 0) ; else here(); }').lanes).toBe('vote(!(v > 0))');
  });

  test('continue keeps those for which the condition failed, until the end of the body', () => {
    const text = '__global__ void k(int *y) { for (int i = 0; i < 4; i++) { if (y[threadIdx.x + i] < 0) continue; here(); } __syncthreads(); }';
    expect(at(text).lanes).toBe('vote(!(y[threadIdx.x + i] < 0))');
    expect(at(text, '__syncthreads();').lanes).toBe('full');
  });

  test('nested branches are votes one after the other', () => {
    expect(at('__global__ void k(int *y) { int v = y[threadIdx.x]; if (v > 0) if (v & 1) here(); }').lanes).toBe('vote(v > 0 && v & 1)');
  });

  test('what only warps differ in is full for the warp, not for the block', () => {
    expect(at('__global__ void k(int *y) { if (threadIdx.x / 32 == 1) here(); }\nvoid run(int *y) { k<<<1, 64>>>(y); }')).toEqual({ lanes: 'full', threads: 'vote(threadIdx.x / 32 == 1)', exits: 0 });
  });

  test('a condition that holds for the whole block is none', () => {
    expect(at('__global__ void k(int *y) { if (threadIdx.x < 64) here(); }\nvoid run(int *y) { k<<<1, 64>>>(y); }').threads).toBe('full');
  });

  test('loops from the thread number with equal rounds keep everyone together', () => {
    const text = (bound: number): string => `__global__ void k(int *y) { for (int i = threadIdx.x; i < ${bound}; i += 64) here(); }\nvoid run(int *y) { k<<<1, 64>>>(y); }`;
    expect(at(text(256)).threads).toBe('full');
    expect(at(text(250)).lanes).toBe('vote(i < 250)');
    expect(at(text(224)).lanes).toBe('full');
    expect(at(text(224)).threads).toBe('vote(i < 224)');
  });

  test('a loop left by break is a set that no one condition names', () => {
    expect(at('__global__ void k(int *y) { for (int i = 0; i < 9; i++) { here(); if (y[threadIdx.x + i]) break; } }').lanes).toBe('unknown');
  });

  test('a callee is seen through the call, and its own return is a skip', () => {
    const loaded = new Text(`__device__ int f(int v) { if (v < 0) return 0; __syncwarp(); return 1; }
__global__ void k(int *y) { int v = y[threadIdx.x]; if (v > 3) y[0] = f(v); }`);
    const kernel = loaded.kernel();
    const call = kernel.calls[0]?.call;
    const callee = kernel.calls[0]?.callees[0];
    if (call === undefined || callee === undefined) throw new Error('no call');
    const outer = arrivalSets(kernel);
    const arrival = arrivalSets(kernel.callee(call, callee), { sets: outer, call }).at(loaded.stmt('__syncwarp();', 'f'));
    expect(arrival.skips.map((partition) => `${partition.by} ${partition.depth}`)).toEqual(['branch 1', 'jump 0']);
    expect(arrival.exits).toEqual([]);
  });

  test('a goto over a place skips it', () => {
    const loaded = new Text('__global__ void k(int *y) { if (y[threadIdx.x] < 0) goto out; __syncthreads(); out: y[0] = 1; }');
    expect(arrivalSets(loaded.kernel()).at(loaded.stmt('__syncthreads();')).partitions.map((partition) => `${partition.kind} ${partition.by} ${partition.known}`)).toEqual(['skip goto true']);
  });
});

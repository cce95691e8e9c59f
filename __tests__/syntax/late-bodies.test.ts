/** Bodies of headers are lowered when they are asked for, with the same result as at once. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser, loadProgram } from '../../src/syntax/index.js';
import { printFunction } from '../../src/syntax/print.js';
import type { FunctionDecl } from '../../src/syntax/tree.js';
import { walk } from '../../src/syntax/walk.js';

beforeAll(async () => { await initParser(); });

const HEADER = `#pragma once
#define TWICE(x) ((x) + (x))
__device__ float scaled(float value, int times);
struct Pair {
  float first, second;
  __device__ float sum() const { float total = first; total += second; return TWICE(total) * 0.5f; }
};
__device__ float folded(const Pair *pairs, int count) { float total = 0.0f; for (int i = 0; i < count; i++) { total += scaled(pairs[i].sum(), i); } return total; }
__device__ int broken(int a) { int result = a * 3; result = result + ; return result + a + a + a; }
__device__ int chosen(int a) {
#ifdef WIDE
  int result = a * 4; result += a; return result;
#else
  int result = a * 2; result -= a; return result;
#endif
}
__global__ void child(int *data) { data[threadIdx.x] = data[threadIdx.x + 1] + data[threadIdx.x + 2]; }
__device__ void spawn(int *data) { int threads = 32 * 2; if (data[0] > 7) { child<<<1, threads>>>(data); } data[0] = 1; }
typedef void (*kernel_t)(int *);
inline kernel_t address() { kernel_t result = nullptr; if (result == nullptr) { result = child; } return result; }
`;
const OTHER = '__device__ float scaled(float value, int times) { float result = value; result *= times; return result; }\n';
const MAIN = '#include "lib.h"\n__global__ void k(const Pair *p, float *out, int n) { out[threadIdx.x] = folded(p, n); }\n';

function load(roots: readonly string[]): Map<string, FunctionDecl> {
  const files = new Map([['/p/lib.h', HEADER], ['/p/other.cu', OTHER], ['/p/main.cu', MAIN]]);
  const program = loadProgram(roots, {
    readFile: (path) => new TextEncoder().encode(files.get(path) ?? ''),
    realPath: (path) => (files.has(path) ? path : null),
  });
  const found = new Map<string, FunctionDecl>();
  for (const unit of program.units.values()) for (const fn of unit.functions) if (!found.has(fn.name) || fn.nameSpan.start > (found.get(fn.name)?.nameSpan.start ?? 0)) found.set(fn.name, fn);
  const [kernel] = program.units.get('/p/main.cu')?.kernels ?? [];
  if (kernel !== undefined) found.set('k', kernel);
  const child = found.get('child');
  if (child !== undefined) {
    expect(program.launchesOf(child)).toHaveLength(1);
    // `address` hands the kernel on, whether or not anybody reads that function.
    expect(program.allLaunchesVisible(child)).toBe(false);
  }
  return found;
}

describe('bodies that wait', () => {
  test('give the tree that they give when the header itself is asked for', () => {
    const late = load(['/p/main.cu', '/p/other.cu']);
    const whole = load(['/p/main.cu', '/p/other.cu', '/p/lib.h']);
    for (const name of ['sum', 'folded', 'chosen', 'child', 'spawn', 'address']) {
      const [a, b] = [late.get(name), whole.get(name)];
      if (a === undefined || b === undefined) throw new Error(`${name} is missing`);
      expect(a.body).not.toBeNull();
      expect(printFunction(a)).toBe(printFunction(b));
      expect(a.body?.span).toEqual(b.body?.span);
      expect(a.understood).toBe(true);
    }
  });

  test('say what was not understood, whichever of their properties is read first', () => {
    expect(load(['/p/main.cu']).get('broken')?.understood).toBe(false);
    expect(load(['/p/main.cu']).get('broken')?.problems).toHaveLength(1);
    expect(load(['/p/main.cu']).get('folded')?.understood).toBe(true);
  });

  test('call the definitions of other files', () => {
    const body = load(['/p/main.cu', '/p/other.cu']).get('folded')?.body;
    const files: string[] = [];
    if (body !== null && body !== undefined) walk(body, (node) => { if (node.kind === 'call' && node.callee.kind === 'function') files.push(...node.callee.candidates.map((c) => c.file)); });
    expect(files).toContain('/p/other.cu');
  });
});

/** Macros whose text makes a statement another one than its spelling says: what they change is seen, or nothing rests on the function. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hoist as typed } from '../../transforms/hoist.js';
import type { Transform } from '../../transforms/lib/types.js';
import { load, outcomesOf } from '../helpers/transform.js';

const hoist = typed as Transform;

beforeAll(async () => { await initParser(); });

const kernel = (head: string, before: string, statement: string): string => `${head}
__global__ void scale(const float *a, float *out, int n, int start, int other) {
  int level = start;
  int rest = other;
  int *at = &rest;
  ${before}
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    float x = a[i];
    if (level > 3) sum += x; else sum += x * x * 3.0f + sqrtf(x);
    ${statement}
  }
  out[threadIdx.x] = sum + rest;
}
`;

const isHoisted = (text: string): boolean => outcomesOf(hoist, load(text), { evenIfItLoses: true }).some((outcome) => outcome.status === 'applied');

describe('a macro changes the condition', () => {
  test.each([
    ['#define BUMP ++', '', 'BUMP level;'],
    ['#define BUMP ++', '', 'BUMP level, rest;'],
    ['#define AGAIN BUMP\n#define BUMP ++', '', 'AGAIN level;'],
    ['#define BUMP (level)++,', '', 'BUMP rest;'],
    ['#define THROUGH ++*', 'at = &level;', 'THROUGH at;'],
    ['#define SETS level = 1 +', '', 'SETS rest;'],
    ['#define SETS level = 2', '', 'SETS * rest;'],
    ['#define SETS level = 2', '', 'SETS & rest;'],
    ['#define SETS level = 2', '', 'SETS && rest;'],
    ['#define STEP level++', '', 'STEP * rest;'],
    ['#define STEP(v) v++', '', 'STEP(level) * rest;'],
    ['#define INTO name =', 'int &name = level;', 'INTO rest;'],
    ['#define INTO level =', '', 'INTO {rest};'],
    ['#define ADDS level +=', '', 'ADDS -rest;'],
    ['#define ADDS level +=', '', 'ADDS (rest);'],
    ['#define NAME fresh = level++', '', 'int NAME;'],
    ['#define NAME fresh = level++; int last', '', 'int NAME;'],
    ['#define NUMBER int one = level++, two', '', 'NUMBER; rest += one;'],
    ['#define NUMBER level++; int', '', 'NUMBER fresh = 1;'],
    ['#define NUMBER level++; float', '', 'const NUMBER *none = 0;'],
    ['#define VALUE 1; level++', '', 'int fresh = VALUE;'],
    ['#define VALUE 1; level++', '', 'rest = VALUE;'],
    ['struct Pair { int z; };\n#define first z, level++', 'Pair p{1};', 'p.first;'],
    ['struct Pair { int z; };\n#define first z; level++', 'Pair p{1};', 'p.first;'],
    ['#define ONE 1: level++; case 2', '', 'switch (rest) { case ONE: rest++; break; default: break; }'],
    ['#define SIZED int) + (level++', '', 'rest = sizeof(SIZED);'],
    ['#define AS int)(level++),(int', '', 'rest = (AS)rest;'],
    ['template <int N> __device__ int scaled(int v) { return v; }\n#define BOTH 3>(level++), scaled<4', '', 'rest = scaled<BOTH>(2);'],
    ['__device__ void drop(int v) {}\n#define DROP level = 1; drop', '', 'DROP(rest);'],
    ['__device__ void give(int &x, int y) { x = y; }\n__device__ void give(int y) {}\n#define PAIR level, rest', '', 'give(PAIR);'],
    ['#define BUMP ++', '', 'for (BUMP level; rest < 3; rest++) sum += 1.0f;'],
    ['#define STEP level++, int', '', 'while (STEP v = rest < 3) rest++;'],
    ['#define TEST int v = level++; rest', '', 'if (TEST) rest++;'],
    ['#define NAMED int; level++', '', 'using Count = NAMED;'],
    ['#define unsigned level++; int', '', 'unsigned fresh;'],
    ['#define break level++; break', '', 'if (rest) break;'],
    ['#define true level++', '', 'rest = true;'],
    ['#define INTEGER int &', '', 'INTEGER one = level; one++;'],
    ['#define POINTER int *', '', 'POINTER one = &level, two = 0; *one = 4;'],
    ['namespace inner { __device__ void up(int &x) { x++; } __device__ void down(int x) {} }\n#define down up', '', 'inner::down(level);'],
  ])('%s … %s %s', (head, before, statement) => {
    expect(isHoisted(kernel(head, before, statement))).toBe(false);
  });
});

describe('a macro that leaves the condition alone does not stand in the way', () => {
  test.each([
    ['#define REAL float', '', 'REAL y = x; sum += y;'],
    ['#define REAL const float', '', 'REAL y = x; sum += y;'],
    ['#define POINTER float *', '', 'POINTER y = out; y[0] = 1.0f;'],
    ['#define BUMP ++', '', 'BUMP rest;'],
    ['#define SETS rest = 1 +', '', 'SETS other;'],
    ['#define STEP rest++', '', 'STEP * other;'],
    ['#define NAME fresh', '', 'int NAME = rest; sum += fresh; sum += NAME;'],
    ['struct Pair { int z; };\n#define first z', 'Pair p{1};', 'rest += p.first;'],
    ['#define COUNT 4', '', 'int many[COUNT]; many[0] = rest; rest = many[0];'],
    ['#define ADD rest++; sum += 1.0f', '', 'ADD;'],
    ['__device__ int next(int v) { return v + 1; }\n#define NEXT next', '', 'rest = NEXT(rest);'],
  ])('%s … %s %s', (head, before, statement) => {
    expect(isHoisted(kernel(head, before, statement))).toBe(true);
  });
});

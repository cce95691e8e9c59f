/** What a function stores through a pointer is found by the callees that it hands an address of the same object to: by pointer, by reference, in an object, as the object of a method. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { initParser } from '../../src/syntax/parser.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const HEAD = `
struct H { int *p; __device__ int look() { if (*p > 3) return 1; return 0; } };
struct Made { int r; __device__ Made(int *p) { r = *p; } };
struct V { int x; __device__ int look() { if (x > 3) return 1; return 0; } };
struct I { int t; V n; __device__ int look() { if (n.x > 3) return 1; return 0; } };
__device__ void store(int *p, int v) { *p = v; }
__device__ int *same(int *p) { return p; }
__device__ int at(int *p) { if (*p > 3) return 1; return 0; }
__device__ int of(int &x) { if (x > 3) return 1; return 0; }
__device__ int in(H h) { if (*h.p > 3) return 1; return 0; }
__device__ int inRef(const H &h) { if (*h.p > 3) return 1; return 0; }
__device__ int behind(H *h) { if (*h->p > 3) return 1; return 0; }
__device__ int part(V *v) { if (v->x > 3) return 1; return 0; }
__device__ int deep(int *p) { return at(p); }
`;

/** Scopes of all conditions that compare with 3. */
function scopes(code: string): readonly string[] {
  const { program, unit } = load(`${HEAD}\n__device__ void f(int *p, int *q, H h, I *i, int n) { ${code} }\n__global__ void k(int *out, int n) { int v = n; I i; i.t = n; i.n.x = n; f(&v, &v, H{&v}, &i, n); }\n`);
  const kernel = unit.kernels[0];
  if (kernel === undefined) throw new Error('no kernel');
  const found: string[] = [];
  const visit = (facts: FunctionFacts, depth: number): void => {
    for (const { condition } of facts.branches) if (unit.source.text.slice(condition.span.start, condition.span.end).endsWith('> 3')) found.push(facts.scope(condition).value);
    if (depth < 4) for (const { call, callees } of facts.calls) for (const callee of callees) visit(facts.callee(call, callee), depth + 1);
  };
  visit(createAnalysis(program, {}).kernel(kernel), 0);
  return found;
}

const STORES = ['*p = V;', 'p[0] = V;', 'store(p, V);', 'int *r = p; *r = V;', 'int &r = *p; r = V;', '*h.p = V;'];
const LOOKS = ['at(q);', 'deep(q);', 'of(*q);', 'at(h.p);', 'in(h);', 'inRef(h);', 'h.look();', 'at(same(q));', 'int *s = q; at(s);', 'Made m(q); if (m.r > 3) n = 1;', 'if (*q > 3) n = 1;', 'int w[1] = {*q}; at(w);'];

describe.each(STORES)('%s', (store) => {
  test.each(LOOKS)('%s', (look) => {
    expect(new Set(scopes(`${store.replace('V', 'threadIdx.x')} ${look}`))).toEqual(new Set(['lane']));
  });
});

test.each(['part(&i->n);', 'V *v = &i->n; part(v);', 'at(&i->n.x);', 'i->n.look();', 'i->look();', 'V &v = i->n; part(&v);', 'of(i->n.x);'])('a part of an object: %s', (look) => {
  expect(new Set(scopes(`i->n.x = threadIdx.x; ${look}`))).toEqual(new Set(['lane']));
});

test.each(['at(q);', 'in(h);', 'h.look();', 'int *s = q; at(s);', 'part(&i->n);'])('what is stored is one value for all: %s', (look) => {
  expect(new Set(scopes(`*p = n; i->n.x = n; ${look}`))).toEqual(new Set(['grid']));
});

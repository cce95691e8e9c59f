/** Def-use, liveness, invariance, affine forms, lane sets, calls and arrival of small functions. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AnalysisOptions, FunctionFacts, Loop } from '../../src/analysis/facts.js';
import { walk } from '../../src/analysis/children.js';
import { initParser } from '../../src/syntax/parser.js';
import type { Expr, RefExpr, Stmt } from '../../src/syntax/tree.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

interface View {
  readonly facts: FunctionFacts;
  /** The expression with this text, the n-th in the order of the text. */
  expr(text: string, n?: number): Expr;
  /** The statement that begins with this text. */
  stmt(text: string): Stmt;
}

function view(facts: FunctionFacts): View {
  const source = facts.unit.source.text;
  const body = facts.function.body;
  if (body === null) throw new Error('no body');
  const find = (accept: (text: string, node: Expr | Stmt) => boolean, n: number): Expr | Stmt => {
    const found: (Expr | Stmt)[] = [];
    walk(body, (node) => { if (accept(source.slice(node.span.start, node.span.end), node)) found.push(node); });
    const one = found[n];
    if (one === undefined) throw new Error('not found');
    return one;
  };
  return {
    facts,
    expr: (text, n = 0) => {
      const found = find((candidate, node) => candidate === text && 'type' in node, n);
      if (!('type' in found)) throw new Error('a statement');
      return found;
    },
    stmt: (text) => {
      const found = find((candidate, node) => candidate.startsWith(text) && !('type' in node), 0);
      if ('type' in found) throw new Error('an expression');
      return found;
    },
  };
}

function kernel(body: string, options: AnalysisOptions = {}, before = ''): View {
  const { unit, analysis } = load(`${before}\n__global__ void k(const float *__restrict__ x, float *y, int n)\n{\n${body}\n}\n`, options);
  const fn = unit.kernels[0];
  if (fn === undefined) throw new Error('no kernel');
  return view(analysis.kernel(fn));
}

function ref(expr: Expr): RefExpr {
  if (expr.kind !== 'ref') throw new Error(`a ${expr.kind}`);
  return expr;
}

describe('definitions', () => {
  test('joins list every definition that reaches a use', () => {
    const k = kernel('int v = 1; if (n > 2) v = 2; y[v] = 0;');
    expect(k.facts.definitions(ref(k.expr('v', 1))).map((definition) => definition.kind).sort()).toEqual(['assignment', 'declaration']);
  });
  test('a plain assignment hides what was before', () => {
    const k = kernel('int v = 1; v = 2; y[v] = 0;');
    expect(k.facts.definitions(ref(k.expr('v', 1))).map((definition) => definition.kind)).toEqual(['assignment']);
  });
  test('a loop brings back what its body assigns', () => {
    const k = kernel('int v = 1; for (int i = 0; i < n; i++) { y[v] = 0; v = i; }');
    expect(k.facts.definitions(ref(k.expr('v', 0))).map((definition) => definition.kind).sort()).toEqual(['assignment', 'declaration']);
  });
  test('names of two scopes are two variables', () => {
    const k = kernel('int v = 1; { int v = 2; y[v] = 0; } y[v] = 1;');
    const inner = k.facts.definitions(ref(k.expr('v', 0)))[0];
    const outer = k.facts.definitions(ref(k.expr('v', 1)))[0];
    expect(inner?.decl).not.toBe(outer?.decl);
  });
  test('addresses are noticed', () => {
    const k = kernel('int v = 1, w = 2; int *p = &v; *p = 3; y[w] = v;');
    const decl = ref(k.expr('v', 1)).decl;
    const other = ref(k.expr('w')).decl;
    expect(decl?.kind === 'variable' && k.facts.addressTaken(decl)).toBe(true);
    expect(other?.kind === 'variable' && k.facts.addressTaken(other)).toBe(false);
  });
});

describe('liveness', () => {
  const live = (body: string, stmt: string): boolean => {
    const k = kernel(body);
    const decl = ref(k.expr('v')).decl;
    if (decl?.kind !== 'variable') throw new Error('no variable');
    return k.facts.liveAfter(decl, k.stmt(stmt));
  };
  test('read later', () => { expect(live('int v = 1; v = 2; y[0] = v;', 'v = 2')).toBe(true); });
  test('overwritten first', () => { expect(live('int v = 1; v = 2; v = 3; y[0] = v;', 'v = 2')).toBe(false); });
  test('never read', () => { expect(live('int v = 1; y[0] = v; v = 2;', 'v = 2')).toBe(false); });
  test('read in the next round', () => { expect(live('int v = 1; for (int i = 0; i < n; i++) { y[i] = v; v = i; }', 'v = i')).toBe(true); });
  test('overwritten on one way only', () => { expect(live('int v = 1; v = 2; if (n) v = 3; y[0] = v;', 'v = 2')).toBe(true); });
  test('its scope ends', () => { expect(live('for (int i = 0; i < n; i++) { int v = i; y[i] = v; v = 3; }', 'v = 3')).toBe(false); });
  test('a jump goes round the overwriting', () => { expect(live('int v = 1; for (;;) { v = 2; if (n) break; v = 3; } y[0] = v;', 'v = 2')).toBe(true); });
});

describe('invariance', () => {
  const invariant = (body: string, expr: string): boolean => {
    const k = kernel(body);
    return k.facts.invariant(k.expr(expr), k.stmt('for')).value;
  };
  test('parameters', () => { expect(invariant('for (int i = 0; i < n; i++) if (n > 3) y[i] = 0;', 'n > 3')).toBe(true); });
  test('the counter', () => { expect(invariant('for (int i = 0; i < n; i++) if (i > 3) y[i] = 0;', 'i > 3')).toBe(false); });
  test('a load that nothing writes', () => { expect(invariant('for (int i = 0; i < n; i++) if (x[n] > 3) y[i] = 0;', 'x[n] > 3')).toBe(true); });
  test('a load that the loop writes', () => { expect(invariant('for (int i = 0; i < n; i++) if (y[n] > 3) y[i] = 0;', 'y[n] > 3')).toBe(false); });
  test('a value declared inside', () => { expect(invariant('for (int i = 0; i < n; i++) { int v = n; if (v > 3) y[i] = 0; }', 'v > 3')).toBe(false); });
  test('a call', () => { expect(invariant('for (int i = 0; i < n; i++) if (mystery(n)) y[i] = 0;', 'mystery(n)')).toBe(false); });
});

describe('affine forms', () => {
  test('definitions are followed', () => {
    const k = kernel('int i = blockIdx.x * blockDim.x + threadIdx.x; int j = 2 * i + 3; if (j < n) y[j] = 0;');
    const form = k.facts.affine(k.expr('j'));
    const terms = new Map(form?.terms.map((term) => [term.atoms.map((atom) => atom.key).join('*'), term.coefficient]));
    expect(terms).toEqual(new Map([['blockDim.x*blockIdx.x', 2n], ['threadIdx.x', 2n], ['', 3n]]));
  });
  test('a known block is a constant', () => {
    const k = kernel('int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 0;', { block: { x: 64, y: 1, z: 1 } });
    const form = k.facts.affine(k.expr('i'));
    expect(new Map(form?.terms.map((term) => [term.atoms.map((atom) => atom.key).join('*'), term.coefficient]))).toEqual(new Map([['blockIdx.x', 64n], ['threadIdx.x', 1n]]));
  });
  test('a truth is no number', () => {
    const k = kernel('bool b = threadIdx.x; if (b & 32) y[0] = 0;', { block: { x: 64, y: 1, z: 1 } });
    expect(k.facts.affine(k.expr('b'))?.terms[0]?.atoms[0]?.key).not.toBe('threadIdx.x');
  });
});

describe('lane sets', () => {
  test('promotion and wrap-around as in C++', () => {
    const k = kernel('if (threadIdx.x - 1 < 31u) y[0] = 0;', { block: { x: 32, y: 1, z: 1 } });
    const set = k.facts.laneSet(k.expr('threadIdx.x - 1 < 31u'));
    expect([...(set?.holds ?? [])]).toEqual([0, ...Array.from({ length: 31 }, () => 1)]);
    expect(set?.divergentWarps).toBe(1);
  });
  test.each<[string, (lane: number) => boolean]>([
    ['(long long)threadIdx.x - 1 < 31', () => true],
    ['threadIdx.x - 1 < 31ull', (lane) => lane !== 0],
    ['(int)threadIdx.x - 1ll < 31u', () => true],
    ['((1ll << threadIdx.x) & 0x7fffffff) != 0', (lane) => lane < 31],
    ['(unsigned char)(threadIdx.x * 16) == 0', (lane) => lane % 16 === 0],
    ['(signed char)(threadIdx.x * 8) < 0', (lane) => lane >= 16],
    ['-(int)threadIdx.x / 4 == 0', (lane) => lane < 4],
    ['-(int)threadIdx.x % 4 == -1', (lane) => lane % 4 === 1],
    ['(~threadIdx.x >> 2) * 4 + 3 == ~0u', (lane) => lane < 4],
    ['!(threadIdx.x & 5) || threadIdx.x > 29', (lane) => (lane & 5) === 0 || lane > 29],
    ['(threadIdx.x < 3 ? threadIdx.x : -1) < 2', (lane) => lane < 2],
    ['min(threadIdx.x, 7u) == 7', (lane) => lane >= 7],
    ['threadIdx.x * 0x80000000u == 0', (lane) => lane % 2 === 0],
  ])('in the types of C++, of 32 and of 64 bits: %s', (condition, holds) => {
    const k = kernel(`if (${condition}) y[0] = 0;`, { block: { x: 32, y: 1, z: 1 } });
    expect([...(k.facts.laneSet(k.expr(condition))?.holds ?? [])]).toEqual(Array.from({ length: 32 }, (_, lane) => Number(holds(lane))));
  });
  test.each(['(int)threadIdx.x + 0x7ffffff0 > 0', '1 / threadIdx.x > 0', '(1 << (threadIdx.x + 1)) > 0', '(int)(threadIdx.x + 1) * 0x7fffffff > 0', '(long long)threadIdx.x + 0x7ffffffffffffff0 > 0'])('what is undefined for some lane is no set: %s', (condition) => {
    const k = kernel(`if (${condition}) y[0] = 0;`, { block: { x: 32, y: 1, z: 1 } });
    expect(k.facts.laneSet(k.expr(condition))).toBeNull();
  });
  test('nothing is guessed', () => {
    const k = kernel('if (threadIdx.x < n) y[0] = 0;', { block: { x: 32, y: 1, z: 1 } });
    expect(k.facts.laneSet(k.expr('threadIdx.x < n'))).toBeNull();
  });
});

describe('loops, calls, arrival', () => {
  test('a loop that lanes leave one by one has a uniform condition and a lane-varying exit', () => {
    const k = kernel('int i; for (i = 0; i < n; i++) { if (x[threadIdx.x + i] > 0) break; } y[i] = 0;');
    const loop = k.stmt('for') as Loop;
    expect(k.facts.scope(k.expr('i < n')).value).toBe('grid');
    expect(k.facts.loopExit(loop).value).toBe('lane');
    expect(k.facts.loopExit(loop).sources).toEqual({ geometry: false, data: true });
  });
  test('arrival in an arm, after a jump and after the loop', () => {
    const k = kernel('for (int i = 0; i < n; i++) { if (threadIdx.x > i) continue; y[1] = 0; } y[2] = 0; if ((int)threadIdx.x >= n) return; y[3] = 0;');
    expect(k.facts.arrival(k.stmt('y[1]')).value).toBe('lane');
    expect(k.facts.arrival(k.stmt('y[2]')).value).toBe('constant');
    expect(k.facts.arrival(k.stmt('y[3]')).value).toBe('lane');
  });
  test('over all calls a parameter is the join of what they pass, and says so', () => {
    const { unit, analysis } = load('__device__ int f(int a, int b) { return a > 2 ? b : 0; }\n__global__ void k(int *y, int n) { y[0] = f(n, n); y[1] = f(n, threadIdx.x); }\n');
    const fn = unit.functions.find((candidate) => candidate.name === 'f');
    if (fn === undefined) throw new Error('no function');
    const f = view(analysis.everyCall(fn));
    const a = f.facts.scope(f.expr('a > 2'));
    expect(a.value).toBe('grid');
    expect(a.under.join()).toContain('every call of `f` is visible');
    expect(f.facts.scope(f.expr('b')).value).toBe('lane');
  });
  test('the chain of reasons goes from the condition to its cause', () => {
    const k = kernel('int i = threadIdx.x;\nfloat v = x[i];\nif (v > 0.f) y[i] = 0;');
    const because = k.facts.scope(k.expr('v > 0.f')).because;
    expect(because.map((reason) => reason.line)).toEqual([6, 5, 4, 4]);
    expect(because[1]?.text).toBe('`v` differs between lanes: loaded from `x[i]`');
  });
});

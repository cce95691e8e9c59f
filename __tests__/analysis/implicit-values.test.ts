/**
 * Values that code leaves behind which runs without being named: a member's own assignment, a constructor that a cast, a list or a lambda runs, a copy that a
 * lambda keeps, a destructor. What a thread's number may come into is not uniform. In the twins the same objects are made and assigned, and nothing but what is
 * alike for all threads gets into them.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

const HEAD = `
struct Plain { int z; };
struct Keeps { int z; Keeps() = default; __device__ Keeps(int a) : z(a) {} Keeps(const Keeps &) = default; __device__ Keeps &operator=(const Keeps &) { return *this; } };
struct Lane { int z; Lane() = default; __device__ Lane(int a) : z(a) {} Lane(const Lane &) = default; __device__ Lane &operator=(const Lane &) { z = threadIdx.x; return *this; } };
struct Copied { int z; __device__ Copied(int a) : z(a) {} __device__ Copied(const Copied &o) : z(threadIdx.x) {} };
struct Through { int *p; __device__ Through &operator=(const Through &) { *p = threadIdx.x; return *this; } };
struct Ends { int *p; __device__ ~Ends() { *p = threadIdx.x; } };
struct Makes { int z; __device__ Makes(int *q) : z(0) { *q = threadIdx.x; } };
struct Binds { int z; __device__ Binds(int &q) : z(0) { q = threadIdx.x; } };
struct Heir : Makes { using Makes::Makes; };
struct Reads { int z; __device__ Reads(const int *q) : z(*q) {} };
template <class T> struct Held { T part; };
template <class T> struct Row { T parts[2]; };
template <class T> struct Below : T { int more; };
`;

function isUniform(code: string, condition: string): boolean {
  const { program, unit } = load(`${HEAD}\n__global__ void k(int *out, int n) {\n    ${code}\n    if (${condition} > 3)\n        out[threadIdx.x] = 1;\n}\n`);
  const [kernel] = unit.kernels;
  if (kernel === undefined) throw new Error('no kernel');
  const facts = createAnalysis(program, {}).kernel(kernel);
  const branch = facts.branches.at(-1);
  if (branch === undefined) throw new Error('no branch');
  const scope = facts.scope(branch.condition).value;
  return scope !== 'lane';
}

describe('what code without a name writes differs between threads', () => {
  test.each([
    ['an assignment of a member that keeps what was there', 'Held<Keeps> s{(int)threadIdx.x}, u{3}; s = u;', 's.part.z'],
    ['an assignment of elements that keeps it', 'struct S { Keeps k[2]; }; S s{(int)threadIdx.x, 1}, u{3, 3}; s = u;', 's.k[0].z'],
    ['an assignment below a base that keeps it', 'struct S : Keeps { int t; }; S s, u; s.z = threadIdx.x; u.z = n; s = u;', 's.z'],
    ['an assignment from braces that keeps it', 'struct S { Keeps k; int t; }; S s{(int)threadIdx.x, 1}; s = {3, 4};', 's.k.z'],
    ['an assignment of a member of a member', 'struct S { Held<Keeps> h; }; S s; s.h.part.z = threadIdx.x; Held<Keeps> u{3}; s.h = u;', 's.h.part.z'],
    ['an assignment of a member that reads the thread', 'struct S { Lane k; int t; }; S s{1, 1}, u{3, 1}; s = u;', 's.k.z'],
    ['the same in an instance of a template', 'Held<Lane> s{1}, u{3}; s = u;', 's.part.z'],
    ['an assignment that writes through a pointer', 'int m = n; Row<Through> s{{{&m}, {&m}}}, u = s; s = u;', 'm'],
    ['a copy of a member', 'struct S { Copied c; }; S s{1}; S u = s;', 'u.c.z'],
    ['a copy that a lambda keeps', 'Copied s(1); auto f = [s] { return s.z; }; int q = f();', 'q'],
    ['a copy that a lambda keeps unasked', 'Copied s(1); auto f = [=] { return s.z; }; int q = f();', 'q'],
    ['the end of elements', 'int m = n; { Ends e[2]{{&m}, {&m}}; }', 'm'],
    ['the end of a member of an instance', 'int m = n; { Held<Ends> e{{&m}}; }', 'm'],
    ['a constructor of elements', 'int m = n; Makes w[2] = {&m, &m};', 'm'],
    ['a constructor of a member', 'int m = n; struct S { Makes k; int t; }; S w{&m, 3};', 'm'],
    ['a cast', 'int m = n; (Makes)&m;', 'm'],
    ['a static_cast', 'int m = n; static_cast<Makes>(&m);', 'm'],
    ['a parameter of a lambda', 'int m = n; auto f = [](Makes k) { return k.z; }; f(&m);', 'm'],
    ['an inherited constructor', 'int m = n; Heir w(&m);', 'm'],
    ['a reference that binds in elements', 'int m = n; Binds w[2] = {m, m};', 'm'],
    ['a reference that binds in a cast', 'int m = n; static_cast<Binds>(m);', 'm'],
    ['a reference that binds in an instance', 'int m = n; Held<Binds> w{m};', 'm'],
    ['a reference that binds in an instance of an instance', 'int m = n; Held<Held<Binds>> w{m};', 'm'],
    ['a reference that binds in a result of a lambda', 'int m = n; auto f = [&]() -> Binds { return m; }; f();', 'm'],
  ])('%s', (_what, code, condition) => { expect(isUniform(code, condition)).toBe(false); });
});

describe('what is alike for all threads stays so', () => {
  test.each([
    ['an assignment that nobody wrote', 'Plain s{(int)threadIdx.x}, u{3}; s = u;', 's.z'],
    ['an assignment of a member that nobody wrote', 'Held<Plain> s{{(int)threadIdx.x}}, u{{3}}; s = u;', 's.part.z'],
    ['an assignment that keeps the same', 'Held<Keeps> s{1}, u{3}; s = u;', 's.part.z'],
    ['a cast that reads', 'int m = n; Reads w = (Reads)&m;', 'n'],
    ['elements that are given', 'Plain w[2] = {{1}, {n}};', 'w[1].z'],
    ['an instance that binds nothing', 'int m = n; Held<int> w{m};', 'm'],
    ['a copy of a plain object that a lambda keeps', 'int m = n; Plain p{m}; auto f = [p] { return 0; };', 'm'],
  ])('%s', (_what, code, condition) => { expect(isUniform(code, condition)).toBe(true); });
});

/** Barriers and collectives that a call reaches without naming them, beside twins that are right: under a condition of the block, or with nothing inside that waits. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { hazardsIn, kernel } from './hazard-pairs.js';

beforeAll(async () => { await initParser(); });

/** `WAIT` stands for what is hidden, `STEP` is the call that leads to it; in `text` stands what is declared in front of the kernel. */
interface Way { readonly name: string; readonly text: string; readonly step: string; readonly says?: string }

const WAYS: readonly Way[] = [
  { name: 'a lambda given to a template', text: 'template <class F> __device__ void each(F f) { f(); }', step: 'each([&] { WAIT; });' },
  { name: 'a lambda in a variable', text: 'template <class F> __device__ void each(const F &f) { f(); }', step: 'auto body = [&] { WAIT; }; each(body);' },
  { name: 'a lambda with a parameter, forwarded', text: 'template <class F> __device__ void each(F &&f, int v) { std::forward<F>(f)(v); }', step: 'each([&](int v) { x[v] += 1; WAIT; }, 3);' },
  { name: 'a lambda through two templates', text: 'template <class F> __device__ void inner(F f) { f(); } template <class F> __device__ void outer(F f) { inner(f); }', step: 'outer([&] { WAIT; });' },
  { name: 'a lambda that a generic lambda calls', text: 'template <class F, class G> __device__ void both(F f, G g) { f(g); }', step: 'both([](auto g) { g(); }, [&] { WAIT; });' },
  { name: 'one of two lambdas', text: 'template <class F, class G> __device__ void two(F f, G g) { f(); g(); }', step: 'two([&] { x[0] = 1; }, [&] { WAIT; });' },
  { name: 'a functor', text: 'struct Op { __device__ void operator()(int *x, int n) const { WAIT; } }; template <class F> __device__ void each(F f, int *x, int n) { f(x, n); }', step: 'each(Op(), x, n);' },
  { name: 'a functor named by its type', text: 'struct Op { __device__ void operator()(int *x, int n) const { WAIT; } }; template <class F> __device__ void each(int *x, int n) { F f; f(x, n); }', step: 'each<Op>(x, n);' },
  { name: 'a member that is a lambda', text: 'template <class F> struct Loop { F f; __device__ void run() { f(); } }; template <class F> __device__ Loop<F> make(F f) { return {f}; }', step: 'make([&] { WAIT; }).run();' },
  { name: 'a member that a constructor takes', text: 'template <class F> struct Loop { F f; __device__ Loop(F g) : f(g) {} __device__ void run() { f(); } };', step: 'auto body = [&] { WAIT; }; Loop<decltype(body)> loop(body); loop.run();' },
  { name: 'a static function of the type', text: 'struct Odd { static __device__ void step(int *x, int n) { WAIT; } }; template <class P> __device__ void go(int *x, int n) { P::step(x, n); }', step: 'go<Odd>(x, n);' },
  { name: 'a static function of the type of a class', text: 'struct Odd { static __device__ void step(int *x, int n) { WAIT; } }; template <class P> struct Go { static __device__ void run(int *x, int n) { P::step(x, n); } };', step: 'Go<Odd>::run(x, n);' },
  { name: 'a method of the base that is a parameter', text: 'struct Part { __device__ void step(int *x, int n) { WAIT; } }; template <class B> struct Whole : B { __device__ void run(int *x, int n) { this->step(x, n); } };', step: 'Whole<Part> w; w.run(x, n);' },
  { name: 'a method of an object of any type', text: 'struct Part { __device__ void step(int *x, int n) { WAIT; } }; template <class T> __device__ void go(T &t, int *x, int n) { t.step(x, n); }', step: 'Part p; go(p, x, n);' },
  { name: 'a function as a template argument', text: '__device__ void bar(int *x, int n) { WAIT; } template <void (*F)(int *, int)> __device__ void go(int *x, int n) { F(x, n); }', step: 'go<bar>(x, n);' },
  { name: 'a pointer to a function', text: '__device__ void bar(int *x, int n) { WAIT; } __device__ void go(void (*f)(int *, int), int *x, int n) { f(x, n); }', step: 'go(&bar, x, n);' },
  { name: 'a pointer in a variable', text: '__device__ void bar(int *x, int n) { WAIT; }', step: 'void (*f)(int *, int) = bar; f(x, n);' },
  { name: 'a virtual method of an object that is seen', text: 'struct Base { __device__ virtual void step(int *, int) {} }; struct Sub : Base { __device__ void step(int *x, int n) override { WAIT; } }; __device__ void go(Base &b, int *x, int n) { b.step(x, n); }', step: 'Sub s; go(s, x, n);' },
  { name: 'a specialisation', text: 'template <class T> struct Tr; template <> struct Tr<int> { static __device__ void go(int *x, int n) { WAIT; } };', step: 'Tr<int>::go(x, n);' },
  { name: 'a template that calls itself', text: 'template <int N> struct U { template <class F> static __device__ void go(F f) { f(); U<N - 1>::go(f); } }; template <> struct U<0> { template <class F> static __device__ void go(F) {} };', step: 'U<3>::go([&] { WAIT; });' },
  { name: 'an iterator', text: 'struct Seq { struct It { int i; int *x; int n; __device__ int operator*() const { WAIT; return i; } __device__ It &operator++() { ++i; return *this; } __device__ bool operator!=(It o) const { return i != o.i; } }; int *x; int n; __device__ It begin() const { return {0, x, n}; } __device__ It end() const { return {2, x, n}; } };', step: 'for (int v : Seq{x, n}) x[v] = 1;' },
  { name: 'a fold of calls', text: '__device__ void step(int *x, int n, int) { WAIT; } template <class... T> __device__ void go(int *x, int n, T... t) { (step(x, n, t), ...); }', step: 'go(x, n, 1, 2);' },
  { name: 'a fold of callables', text: 'template <class... F> __device__ void all(F... f) { (f(), ...); }', step: 'all([&] { x[0] = 1; }, [&] { WAIT; });' },
  { name: 'a fold of a pack that is handed on', text: '__device__ void step(int *x, int n, int) { WAIT; } template <class... T> __device__ void in(int *x, int n, T... t) { (step(x, n, t), ...); } template <class... T> __device__ void go(int *x, int n, T... t) { in(x, n, t...); }', step: 'go(x, n, 1);' },
  { name: 'an expanded call', text: '__device__ int step(int *x, int n, int a) { WAIT; return a; } __device__ int sum(int a, int b) { return a + b; } template <class... T> __device__ int go(int *x, int n, T... t) { return sum(step(x, n, t)...); }', step: 'x[1] = go(x, n, 1, 2);' },
  { name: 'std::invoke of a function', text: '__device__ void bar(int *x, int n) { WAIT; }', step: 'std::invoke(bar, x, n);' },
  { name: 'std::invoke of a method', text: 'struct Op { __device__ void go(int *x, int n) { WAIT; } };', step: 'Op op; cuda::std::invoke(&Op::go, op, x, n);' },
  { name: 'std::invoke of a lambda', text: '', step: 'std::invoke([&] { WAIT; });' },
  { name: 'new', text: 'struct Op { __device__ Op(int *x, int n) { WAIT; } };', step: 'Op *op = new Op(x, n);' },
  { name: 'new in a place', text: 'struct Op { __device__ Op(int *x, int n) { WAIT; } };', step: 'char place[8]; Op *op = new (place) Op(x, n);' },
  { name: 'delete', text: 'struct Op { int *x; int n; __device__ ~Op() { WAIT; } }; __device__ Op *find(int);', step: 'delete find(n);' },
  { name: 'a literal operator', text: '__device__ int operator""_w(unsigned long long a) { int n = 8; int *x = nullptr; WAIT; return 1; }', step: 'x[1] = 3_w;' },
  { name: 'an initialiser of a capture', text: '__device__ int step(int *x, int n) { WAIT; return 1; }', step: 'auto f = [p = step(x, n)] { return p; };' },
  { name: 'a lambda with an initialised capture', text: 'template <class F> __device__ void each(F f) { f(); }', step: 'each([p = x, x, n] { WAIT; });' },
  { name: 'a lambda of the file', text: 'constexpr auto wait = [] __device__(int *x, int n) { WAIT; };', step: 'wait(x, n);' },
];

const BARRIERS: Readonly<Record<string, string>> = { __syncthreads: '__syncthreads()', '__syncthreads under one value': 'if (n > 7) __syncthreads()', 'PTX in a macro': 'BARRIER()' };
const HARMLESS = 'x[blockIdx.x] += 2';
const DIVERGENT = 'if (threadIdx.x < 8)';
const UNIFORM = 'if (n > 3)';

function whole({ text, step }: Way, wait: string, condition: string): string {
  const fill = (part: string): string => part.replaceAll('WAIT', wait);
  return `#define BARRIER() asm volatile("bar.sync 0;")\n${fill(text)}\n${kernel(`${condition} { ${fill(step)} }`)}`;
}

function errors(text: string): readonly string[] {
  return hazardsIn(text).hazards.filter(({ severity }) => severity === 'error').map(({ id }) => id);
}

describe('a barrier behind', () => {
  for (const way of WAYS) {
    test(way.name, () => {
      for (const wait of Object.values(BARRIERS)) {
        expect([wait, ...errors(whole(way, wait, DIVERGENT))]).toContain('barrier-divergent');
        expect([wait, ...errors(whole(way, wait, UNIFORM))]).toEqual([wait]);
      }
      expect(errors(whole(way, HARMLESS, DIVERGENT))).toEqual([]);
    });
  }
});

describe('told apart', () => {
  test('packs without elements, bodies of lambdas that are not called, what is only ended', () => {
    const fold = '__device__ void step(int) { __syncthreads(); } template <class... T> __device__ void go(T... t) { (step(t), ...); }\n';
    expect(errors(`${fold}${kernel('if (threadIdx.x < 8) go();')}`)).toEqual([]);
    expect(errors(`${fold}${kernel('if (threadIdx.x < 8) go(1);')}`)).toEqual(['barrier-divergent']);
    expect(errors(kernel('if (threadIdx.x < 8) { auto f = [p = x] { __syncthreads(); }; }'))).toEqual([]);
    expect(errors(`struct Op { int v; __device__ Op() {} __device__ ~Op() { __syncthreads(); } };\n${kernel('if (threadIdx.x < 8) { Op *op = new Op(); }')}`)).toEqual([]);
    expect(errors(kernel('if (threadIdx.x < 8) { int *p = new int(3); delete p; }'))).toEqual([]);
  });

  test('the path is told', () => {
    const found = hazardsIn(`template <class F> __device__ void inner(F f) { f(); }\ntemplate <class F> __device__ void outer(F f) { inner(f); }\n${kernel('if (threadIdx.x < 8) outer([] { __syncthreads(); });')}`).hazards.find(({ id, severity }) => id === 'barrier-divergent' && severity === 'error');
    const said = found?.because.map(({ text }) => text).join('\n') ?? '';
    expect(said).toContain('threadIdx.x < 8');
    expect(said).toContain('`inner` is called here');
    expect(said).toContain('`outer` is called here');
  });

  test('each call has its own lambda', () => {
    const each = 'template <class F> __device__ void each(F f) { f(); }\n';
    expect(errors(`${each}${kernel('each([] { __syncthreads(); }); if (threadIdx.x < 8) each([&] { x[0] = 1; });')}`)).toEqual([]);
    expect(errors(`${each}${kernel('if (threadIdx.x < 8) each([] { __syncthreads(); }); each([&] { x[0] = 1; });')}`)).toEqual(['barrier-divergent']);
  });

  test('a condition in the template that calls', () => {
    const each = (condition: string): string => `template <class F> __device__ void each(F f, int v) { if (${condition}) f(); }\n`;
    expect(errors(`${each('threadIdx.x < 8')}${kernel('each([] { __syncthreads(); }, n);')}`)).toEqual(['barrier-divergent']);
    expect(errors(`${each('v < 8')}${kernel('each([] { __syncthreads(); }, n);')}`)).toEqual([]);
    expect(errors(`${each('v < 8')}${kernel('each([] { __syncthreads(); }, threadIdx.x);')}`)).toEqual(['barrier-divergent']);
  });

  test('a condition in the lambda, of what it captures', () => {
    const each = 'template <class F> __device__ void each(F f) { f(); }\n';
    expect(errors(`${each}${kernel('each([] { if (threadIdx.x < 8) __syncthreads(); });')}`)).toEqual(['barrier-divergent']);
    expect(errors(`${each}${kernel('int b = blockIdx.x; each([=] { if (b < 8) __syncthreads(); });')}`)).toEqual([]);
    expect(errors(`${each}${kernel('int b = blockIdx.x; each([&] { if (b < n) { x[b] = 1; __syncthreads(); } });')}`)).toEqual([]);
    expect(errors(`template <class F> __device__ void each(F f) { for (int i = 0; i < 4; i++) f(i); }\n${kernel('each([&](int i) { if (i > 2) __syncthreads(); });')}`)).toEqual([]);
  });

  test('one of several that may run is no error', () => {
    const bars = '__device__ void bar() { __syncthreads(); } __device__ void none() {} ';
    expect(errors(`${bars}${kernel('void (*f)() = n > 3 ? bar : none; if (threadIdx.x < 8) f();')}`)).toEqual([]);
    expect(hazardsIn(`${bars}${kernel('void (*f)() = n > 3 ? bar : none; if (threadIdx.x < 8) f();')}`).hazards.map(({ severity, id }) => `${severity} ${id}`)).toContain('caution barrier-divergent');
    expect(errors(`${bars}${kernel('void (*f)() = bar; f = none; if (threadIdx.x < 8) f();')}`)).toEqual([]);
    expect(errors(`struct Base { __device__ virtual void step() {} }; struct Sub : Base { __device__ void step() override { __syncthreads(); } }; __device__ Base *find(int);\n${kernel('Base *b = find(n); if (threadIdx.x < 8) b->step();')}`)).toEqual([]);
    expect(errors(`template <int N> struct U { static __device__ void go() { __syncthreads(); } }; template <> struct U<0> { static __device__ void go() {} };\n${kernel('if (threadIdx.x < 8) U<0>::go();')}`)).toEqual([]);
    expect(errors(`template <class T, int N> struct U { static __device__ void go() {} }; template <class T> struct U<T, 1> { static __device__ void go() { __syncthreads(); } };\n${kernel('if (threadIdx.x < 8) U<int, 2>::go();')}`)).toEqual([]);
  });

  test('an arm that the call decides', () => {
    const byTemplate = 'template <bool S> __device__ void inner() { if (S) __syncthreads(); }\ntemplate <bool S> __device__ void outer() { inner<S>(); }\n';
    expect(errors(`${byTemplate}${kernel('if (threadIdx.x < 8) outer<false>();')}`)).toEqual([]);
    expect(errors(`${byTemplate}${kernel('if (threadIdx.x < 8) outer<true>();')}`)).toEqual(['barrier-divergent']);
    const byValue = '__device__ void step(int *x, bool s) { if (!s) x[0] = 1; else __syncthreads(); }\n';
    expect(errors(`${byValue}${kernel('step(x, n > 3); if (threadIdx.x < 8) step(x, false);')}`)).toEqual([]);
    expect(errors(`${byValue}${kernel('if (threadIdx.x < 8) step(x, true);')}`)).toEqual(['barrier-divergent']);
    const functor = 'template <bool B> struct Step { __device__ void operator()() const { if (B) __syncthreads(); } }; template <class F> __device__ void call(F f) { f(); }\n';
    expect(errors(`${functor}${kernel('call(Step<true>()); if (threadIdx.x < 8) call(Step<false>());')}`)).toEqual([]);
    expect(errors(`${functor}${kernel('if (threadIdx.x < 8) call(Step<true>());')}`)).toEqual(['barrier-divergent']);
    expect(errors(`__device__ void step(bool s) { s = threadIdx.x < 4; if (s) __syncthreads(); }\n${kernel('step(false);')}`)).toEqual(['barrier-divergent']);
    expect(errors(`${kernel('auto f = [&](bool s) { if (s) __syncthreads(); x[0] = 1; }; f(n > 3); if (threadIdx.x < 8) f(false);')}`)).toEqual([]);
  });

  test('lambdas that are called where they are written', () => {
    const each = 'template <class F> __device__ void each(F f) { f(); }\n';
    expect(errors(`#define BARRIER() asm volatile("bar.sync 0;")\n${kernel('auto f = [&] { BARRIER(); }; if (threadIdx.x < 8) f();')}`)).toEqual(['barrier-divergent']);
    expect(errors(`${each}${kernel('auto f = [&] { each([] { __syncthreads(); }); }; if (threadIdx.x < 8) f();')}`)).toEqual(['barrier-divergent']);
    expect(errors(kernel('auto g = [] { __syncthreads(); }; auto f = [&] { g(); }; if (threadIdx.x < 8) f();'))).toEqual(['barrier-divergent']);
    expect(errors(kernel('auto f = [&] { if (threadIdx.x < 8) __syncthreads(); }; f();'))).toEqual(['barrier-divergent']);
    const said = hazardsIn(kernel('int b = blockIdx.x; auto f = [&] { if (b < 8) __syncthreads(); x[b] = 1; }; f();'));
    expect(said.hazards).toEqual([]);
  });

  test('a specialisation that a parameter chooses', () => {
    const text = 'template <bool B> struct Wait { static __device__ void go() { __syncthreads(); } }; template <> struct Wait<false> { static __device__ void go() {} };\n';
    expect(errors(`${text}template <bool B> __device__ void f() { Wait<B>::go(); }\n${kernel('if (threadIdx.x < 8) f<false>();')}`)).toEqual([]);
    expect(errors(`${text}template <class W> __device__ void f() { W::go(); }\n${kernel('if (threadIdx.x < 8) f<Wait<false>>();')}`)).toEqual([]);
    expect(errors(`${text}enum { NO = 0 };\n${kernel('if (threadIdx.x < 8) Wait<NO>::go();')}`)).toEqual([]);
    expect(errors(`${text}${kernel('if (threadIdx.x < 8) Wait<0>::go();')}`)).toEqual([]);
    expect(errors(`${text}${kernel('if (threadIdx.x < 8) Wait<true>::go();')}`)).toEqual(['barrier-divergent']);
  });

  test('a parameter that the function changes', () => {
    expect(errors(`__device__ void bar() { __syncthreads(); } __device__ void none() {} __device__ void go(void (*f)()) { f = none; f(); }\n${kernel('if (threadIdx.x < 8) go(bar);')}`)).toEqual([]);
  });

  test('the condition around a group in a template', () => {
    expect(errors(`template <class G> __device__ void meet(G g) { if (threadIdx.x < 8) g.sync(); }\n${kernel('meet(cg::this_thread_block());')}`)).toEqual(['group-divergent']);
    expect(errors(`template <class G> __device__ void meet(G g, int n) { if (n < 8) g.sync(); }\n${kernel('meet(cg::this_thread_block(), n);')}`)).toEqual([]);
  });

  test('the same call in both arms', () => {
    const each = 'template <class F> __device__ int each(F f, int v) { return f(v); }\n';
    const both = (other: string): string => kernel(`auto f = [](int v) { return __shfl_xor_sync(FULL, v, 1); }; int v = x[threadIdx.x]; if (v > 3) v = each(f, v); else v = ${other}; x[threadIdx.x] = v;`);
    expect(errors(each + both('each(f, v)'))).toEqual([]);
    expect(errors(each + both('each([](int w) { return w; }, v)'))).toEqual(['mask-full-under-divergence']);
  });

  test('what cannot be seen is no error', () => {
    expect(errors(kernel('__shared__ int s[64]; s[threadIdx.x] = n; __syncthreads(); if (threadIdx.x < 8) cub::detail::step(x); x[threadIdx.x] = s[63 - threadIdx.x];'))).toEqual([]);
    expect(errors(`__device__ void (*table[4])();\n${kernel('__syncthreads(); if (threadIdx.x < 8) table[n & 3]();')}`)).toEqual([]);
  });

  test('a full mask, and the mask of those who come', () => {
    const each = 'template <class F> __device__ void each(F f) { f(); }\n';
    expect(errors(`${each}${kernel('if (threadIdx.x < 8) each([&] { x[threadIdx.x] = __shfl_sync(FULL, x[threadIdx.x], 0); });')}`)).toEqual(['mask-full-under-divergence']);
    expect(errors(`${each}${kernel('if (threadIdx.x < 8) each([&] { x[threadIdx.x] = __shfl_sync(0xff, x[threadIdx.x], 0); });', 32)}`)).toEqual([]);
    expect(errors(`${each}${kernel('if (threadIdx.x < 32) each([&] { x[threadIdx.x] = __shfl_sync(FULL, x[threadIdx.x], 0); });')}`)).toEqual([]);
    expect(errors(`template <class F> __device__ void each(unsigned m, F f) { f(m); }\n${kernel('unsigned m = __ballot_sync(FULL, threadIdx.x < 8); if (threadIdx.x < 8) each(m, [&](unsigned q) { x[threadIdx.x] = __shfl_sync(q, x[threadIdx.x], 0); });', 32)}`)).toEqual([]);
  });
});

describe('names that are spelled otherwise', () => {
  const ways: Readonly<Record<string, readonly [string, string]>> = {
    'pasted': ['#define CAT(a, b) a##b\n', 'CAT(__sync, threads)();'], 'brought by a using-declaration': ['namespace N { using ::__syncthreads; }\n', 'N::__syncthreads();'],
    'by their address': ['', 'auto wait = &__syncthreads; wait();'], 'PTX in a macro': ['#define BARRIER asm volatile("bar.sync 0;" ::: "memory")\n', 'BARRIER;'],
  };
  for (const [name, [text, step]] of Object.entries(ways)) {
    test(name, () => {
      expect(errors(`${text}${kernel(`if (threadIdx.x < 8) { ${step} }`)}`)).toEqual(['barrier-divergent']);
      expect(errors(`${text}${kernel(`if (n > 8) { ${step} }`)}`)).toEqual([]);
    });
  }
});

test('a default value that calls a method which stands behind it', () => {
  const text = (inside: string): string => `struct Box { int v = first(); static __device__ int first() { ${inside} return 1; } };\n`;
  for (const made of ['Box b;', 'Box b{};', 'Box b[2]{};']) {
    expect(errors(`${text('__syncthreads();')}${kernel(`if (threadIdx.x < 8) { ${made} x[0] = 1; }`)}`)).toEqual(['barrier-divergent']);
    expect(errors(`${text('__syncthreads();')}${kernel(`if (n < 8) { ${made} x[0] = 1; }`)}`)).toEqual([]);
    expect(errors(`${text('')}${kernel(`__syncthreads(); if (threadIdx.x < 8) { ${made} x[0] = 1; }`)}`)).toEqual([]);
  }
});

describe('groups in templates', () => {
  const text = 'template <class G> __device__ void meet(G g) { g.sync(); }\ntemplate <class G> __device__ void join(const G &g) { cg::sync(g); }\n';
  test('the block', () => {
    for (const call of ['meet(g)', 'join(g)', 'meet(cg::this_thread_block())']) {
      expect(errors(`${text}${kernel(`auto g = cg::this_thread_block(); if (threadIdx.x < 8) ${call};`)}`)).toEqual(['group-divergent']);
      expect(errors(`${text}${kernel(`auto g = cg::this_thread_block(); if (n > 8) ${call};`)}`)).toEqual([]);
    }
  });

  test('a loop that the template makes of the group, or of what it calls, is no hazard', () => {
    const reduce = 'template <class G> __device__ int reduce(G g, int v) { for (int o = g.size() / 2; o > 0; o /= 2) v += g.shfl_down(v, o); return v; }\n';
    const said = (body: string): readonly string[] => hazardsIn(`${reduce}${kernel(body)}`).hazards.map(({ severity, id }) => `${severity} ${id}`);
    expect(said('auto t = cg::tiled_partition<32>(cg::this_thread_block()); x[threadIdx.x] = reduce(t, x[threadIdx.x]);')).toEqual([]);
    expect(said('auto t = cg::tiled_partition<16>(cg::this_thread_block()); if (threadIdx.x < 16) x[threadIdx.x] = reduce(t, x[threadIdx.x]);')).toEqual([]);
    expect(said('auto t = cg::tiled_partition<32>(cg::this_thread_block()); if (threadIdx.x < 8) x[threadIdx.x] = reduce(t, x[threadIdx.x]);')).toEqual(['error group-divergent']);
    const algorithm = 'struct Sync { static __device__ void sync() { __syncthreads(); } }; template <class P> struct Algorithm { template <class F> __device__ void run(F f, int n) { for (int i = 0; i < n; ++i) { f(i); P::sync(); } } };\n';
    expect(hazardsIn(`${algorithm}${kernel('Algorithm<Sync> a; a.run([&](int i) { x[i] = 1; }, n);')}`).hazards).toEqual([]);
  });

  test('a tile, and whoever is there', () => {
    expect(errors(`${text}${kernel('auto g = cg::tiled_partition<32>(cg::this_thread_block()); if (threadIdx.x < 32) meet(g);')}`)).toEqual([]);
    expect(errors(`${text}${kernel('auto g = cg::tiled_partition<8>(cg::this_thread_block()); if (threadIdx.x < 8) meet(g);')}`)).toEqual([]);
    expect(errors(`${text}${kernel('if (threadIdx.x < 8) { auto g = cg::coalesced_threads(); meet(g); }')}`)).toEqual([]);
    expect(errors(`${text}${kernel('if (threadIdx.x < 8) { meet(cg::coalesced_threads()); }')}`)).toEqual([]);
  });
});

test('a destructor at the end of the block waits behind the returns in front of its object', () => {
  const end = 'struct End { __device__ ~End() { __syncthreads(); } };\n';
  const said = (body: string): readonly string[] => hazardsIn(`${end}${kernel(body)}`).hazards.map(({ severity, id }) => `${severity} ${id}`);
  expect(said('if (threadIdx.x > 40) return; End e; x[threadIdx.x] = 1;')).toContain('caution barrier-after-exit');
  expect(said('End e; x[threadIdx.x] = 1;')).toEqual([]);
  expect(said('if (n > 3) return; End e; x[threadIdx.x] = 1;')).toEqual([]);
});

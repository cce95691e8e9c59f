/** What an audit leaves out of host functions changes nothing that it is told by their launches. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { argumentValues, blockFact, gridFact, templateValues } from '../../src/analysis/launch-facts.js';
import { initParser, loadProgram, type LoadedProgram } from '../../src/syntax/index.js';

beforeAll(async () => { await initParser(); });

const HEAD = `struct Keeper { Keeper(int &v); int *to; };
struct Plain { int v; };
typedef int number;
void changes(int &v); void reads(int v); int give(); template <typename T> void any(T &&v);
#define SIZE 256
#define OR_ELSE(x) ((x) > 0 ? (x) : SIZE)
#define STEP n++
#define CHECK(call) do { if ((call) != 0) printf("failed\\n"); } while (0)
#define CHECKED(call) { int status = call; if (status != 0) printf("failed: %s\\n", #call); }
#define OUTER(call) CHECK((call))
#define KEEP(x) Keeper x
#define AFTER(x) q = 5; n = x
#define SET(v, x) v = x
#define COPY(v, x) do { v = x; } while (0)
#define PLUS +=
#define N n
#define NOTHING
#define STEPS ++
typedef int &count_t; struct keeper_t { int &r; };
#define JOIN(a, b) a##b
__global__ void k(int *data, int count, number width) { data[threadIdx.x] = count + width; }
template <int N> __global__ void t(int *data) { data[threadIdx.x] = N; }
void use(void *);
`;

function load(text: string, hostCode: 'whole' | 'launches'): LoadedProgram {
  return loadProgram(['/p/a.cu'], { hostCode, realPath: (path) => (path === '/p/a.cu' ? path : null), readFile: () => new TextEncoder().encode(text) });
}

/** Everything that launches say of the kernels. */
function told(program: LoadedProgram): unknown {
  const kernels = [...program.units.values()].flatMap((unit) => unit.kernels);
  return kernels.map((kernel) => {
    const { alternatives, maxThreads, xMultipleOf32, oneDimensional, origin, value } = blockFact(kernel, program, {});
    return {
      name: kernel.name, alternatives, maxThreads, xMultipleOf32, oneDimensional, origin, value, grid: gridFact(kernel, program, {}).value, visible: program.allLaunchesVisible(kernel),
      arguments: kernel.parameters.map((parameter) => argumentValues(kernel, parameter, program)?.map(String) ?? null),
      template: kernel.template?.map((parameter) => templateValues(kernel, parameter, program)?.map(({ value: v }) => String(v)) ?? null) ?? [],
      launches: program.launchesOf(kernel).map(({ span, form, inLoop, conditional, arguments: given, function: fn }) => ({ span, form, inLoop, conditional, types: given.map(({ type }) => type.kind), in: fn?.name ?? null })),
    };
  });
}

/** How many characters of a host function were not read. */
function leftOut(text: string, name = 'host'): number {
  const size = (program: LoadedProgram): number => {
    let sum = 0;
    for (const unit of program.units.values()) for (const fn of unit.functions) if (fn.name === name) for (const statement of fn.body?.body ?? []) sum += statement.span.end - statement.span.start;
    return sum;
  };
  return size(load(text, 'whole')) - size(load(text, 'launches'));
}

function host(body: string): string {
  return `${HEAD}\nint host(int argc, char **argv) {\n${body}\n}\n`;
}

function expectSame(body: string): void {
  const text = host(body);
  expect(told(load(text, 'launches'))).toEqual(told(load(text, 'whole')));
}

const LAUNCH = 'k<<<4, n>>>(data, m, 3);';
const START = 'int n = 64; int m = 7; int q = 7; if (argc > 2) q = 96; int *data; cudaMalloc(&data, n);';

describe('statements on which a launch depends stay', () => {
  // What comes between the declarations and the launch may change `n`, hand it out, or hide it.
  const middles: readonly string[] = [
    'n = 128;', 'if (argc > 1) n = 128;', 'n += 64;', 'n++;', '--n;', 'changes(n);', 'reads(n);', 'any(n);', 'Keeper keeper(n);', 'Keeper keeper{n};', 'Keeper keeper = n;', 'Keeper keeper; keeper = n;',
    'Keeper many[1] = {n};', 'const Keeper &keeper = n;', '(Keeper)n;', 'unseen(n);', 'Unseen object(n);', 'Unseen object = n;', 'use(&n);', 'int *p = &n; *p = 3;', 'int &r = n; r = 3;', 'auto &r = n; r = 3;', 'auto &&r = n; r = 3;',
    'const int &r = n; changes(const_cast<int &>(r));', 'STEP;', 'SET(n, 96);', 'CHECK(give());', 'CHECK(cudaMemcpy(data, data, n, 0));', 'CHECK((n = 3));', '(n) = 3;', '(argc ? n : m) = 3;', '(m, n) = 3;', 'm = n = 32;',
    'for (n = 0; n < 4; n++) reads(m);', 'for (int n = 0; n < 4; n++) { use(data); }', 'while (n > 4) n--;', 'do { n = 32; } while (argc);', 'switch (argc) { case 1: n = 32; break; default: n = 96; }',
    'if (argc) { int n = 5; reads(n); }', 'std::cin >> n;', 'scanf("%d", &n);', 'std::tie(n, m) = pair();', 'std::swap(n, m);', 'auto f = [&] { n = 3; }; f();', 'goto end; n = 32; end: reads(m);', 'try { n = 32; } catch (...) {}',
    'struct Local { int v; } local; local.v = n;', 'typedef float number; number q = n;', '#ifdef WIDE\nn = 32;\n#endif', '#define MORE n = 32\nMORE;', 'asm("" : "=r"(n));', 'delete [] data; n = 32;', 'float *more = new float[n];',
    'int JOIN(n, n) = 3; n = JOIN(n, n);', 'n = OR_ELSE(m);', 'm = SIZE; n = m;', 'int a = 32, b = a; n = b;', 'int *q, r = 96; n = r;', 'dim3 g(n); n = g.x;', 'Plain plain = {n}; n = plain.v;', 'extern int n;', 'using std::n;',
    'n = argc > 2 ? 32 : 64;', 'if (argc < 2) { printf("usage\\n"); return 1; } else n = 128;', 'if (argc) use(data); else n = 32;', '#pragma omp parallel for\nfor (int i = 0; i < 4; i++) n = 32;', 'int n2 = n * m; n = n2;',
    'cudaOccupancyMaxPotentialBlockSize(&m, &n, k, 0, 0);', 'int printf(n); n = printf;', 'number w = n; n = w;', 'union { int a; float b; } u; u.a = n; n = u.a;', 'reads(n = 96);', 'n <<= 1;', 'n and_eq 96;',
    // Another variable, that no launch names, gives it its value.
    'n = q;', 'SET(n, q);', 'COPY(n, q);', 'AFTER(q);', '(n) = q;', '(argc ? n : m) = q;', 'n = argc ? q : 64;', 'n = OR_ELSE(q);', 'n PLUS q;', 'KEEP(n);', 'KEEP(free(n));', 'float f = q; n = (int)f;', 'double f; f = q; n = f;', 'int w = 0; CHECK(w = q); n = w;', 'for (int i = 0; i < 3; i++) n = q;',
    'if ((n = q)) use(data);', 'n = (use(data), q);', 'int p2 = q; n = p2;', 'dim3 s(q, 2); n = s.x;', 'std::tie(n, m) = std::make_pair(q, 1);', 'auto [a, b] = pair(); n = a;', '{ auto [n, b] = pair(); k<<<1, n>>>(data, b, 2); }', '{ int (n) = 5; k<<<1, n>>>(data, 1, 2); }', '{ float n = 5; use(&n); }',
    // Arguments of calls within calls.
    'CHECK(cudaMemcpy(data, data, n, 0));', 'CHECKED(cudaMemcpy(data, data, n * q, 0));', 'OUTER(cudaMemset(data, 0, n));', 'CHECK(changes(n));', 'unseen(cudaMemset(data, 0, n));', 'unseen(cudaMemset(data, 0, n), n);', 'CHECK(scanf("%d", &n));', 'CHECKED(cudaMallocHost(&n, 4));', 'unseen(Keeper(n));', 'CHECK(n);', 'CHECKED(n);', 'KEEP(cudaFree(n));',
    'printf("%d %s\\n", n, argc ? "yes" : "no");', 'scanf("%d", argc ? &n : &m);', 'scanf("%d", &(argc ? n : m));', 'scanf("%d", &(m, n));', 'use(&(m, n));', 'printf("%d\\n", (argc ? n : m) = 3);', 'printf("%d\\n", n = q);', 'printf("%d\\n", argc ? n : changes(n));', 'hipMemcpy(data, data, n, 0);', 'assert(n > 0);', 'assert(n = q);',
    'int &r = (m, n); r = 3;', 'auto &r = (m, n); r = 3;', 'auto &&r = argc ? n : m; r = 3;', 'Keeper keeper = (m, n);', 'float *more = new float[n * q]();', 'int *more = new int[2]{n, q};', 'Keeper *more = new Keeper(n);', 'Keeper *more = new Keeper[n];', 'Keeper **more = new Keeper *[n]; delete [] more;', 'new (data) int(n);',
    // Macros that stand for a variable, an operator or nothing.
    'N = q;', 'N += 3;', 'N++;', 'changes(N);', 'use(&N);', 'scanf("%d", &N);', 'if (N = 33) use(data);', 'while (N-- > 33) use(data);', 'Keeper keeper(N);', 'printf("%d", N++);', 'n NOTHING = q;', 'n STEPS;', 'NOTHING n = q;',
    // What looks like the library's.
    'auto time = [](int &v) { v = 33; }; time(n);', 'count_t t = n; t = 33;', 'keeper_t r = n; use(&r);', 'int m2 = -n++;', 'int m2 = !n++;',
    // A head's own variable.
    'if (int z = q) n = z;', 'switch (int z = q; argc) { case 0: n = z; }', 'if (int z = q; z > 3) n = z;', 'while (int z = q) { n = z; break; }', 'for (int z = q; z > 3; z--) n = z;', 'for (int z = q, y = z; argc; argc--) n = y;', 'for (int i = q; i < 3; i++) reads(i); n = 32;',
    // Lambdas.
    'auto f = [=] { return n; }; use(&f);', 'auto f = [&n, q] { n = q; }; f();', 'auto f = [w = n]() mutable { w++; }; f();', 'auto f = [&] { int n = 3; changes(n); }; f();', 'std::for_each(data, data + n, [&](int v) { n += v; });', 'auto f = [&](int n) { k<<<2, n>>>(data, n, q); }; f(q);', 'auto f = [] { for (int i = 0; i < 3; i++) { if (i) return 1; } return 2; }; n = f();',
    'auto f = [&r = n](int v) { r = v; }; f(3);', 'auto f = [&] {\n#ifdef WIDE\nn = 32;\n#endif\n}; f();', 'int z[] = {n, q}; n = z[1];', '[&] { n = 32; }();', 'auto [f, g] = std::make_pair([&] { n = 3; }, 2);', 'auto &[f, g] = twice; f = n;',
    // Groups of whole statements, and others.
    '#ifdef WIDE\nn = 32;\n#else\nn = 96;\n#endif', '#if SIZE > 3\nuse(data);\n#elif SIZE > 2\nn = q;\n#endif', '#ifdef WIDE\nif (argc) {\n#endif\nn = 32;\n#ifdef WIDE\n}\n#endif', 'n = 3 +\n#ifdef WIDE\n5\n#else\n6\n#endif\n;', 'if (argc)\n#ifdef WIDE\nn = 32;\n#else\nn = 96;\n#endif', 'if (argc) use(data);\n#ifdef WIDE\nelse n = 32;\n#endif',
    '#ifdef WIDE\nint z = n;\n#ifdef HIGH\nn = z * 2;\n#endif\nuse(data);\n#endif', '#ifdef WIDE\nchanges(n)\n#else\nreads(n)\n#endif\n;', '#if 0\nn = 32;\n#endif', '#ifdef WIDE\n#define LATER n = 32\n#else\n#define LATER\n#endif\nLATER;', 'switch (argc) {\n#ifdef WIDE\ncase 1: n = 32; break;\n#endif\ndefault: n = q; }',
    '#ifdef WIDE\nk<<<2, q>>>(data, n, 4);\n#endif', '#pragma unroll\n#ifdef WIDE\nfor (int i = 0; i < n; i++) reads(i);\n#endif', '#ifdef WIDE\n{\n#else\n{ n = 32;\n#endif\nreads(m); }', '#error no\nn = 32;', 'int &r(n); r = 3;', 'int &r{n}; r = 3;',
  ];
  test.each(middles)('%s', (middle) => { expectSame(`${START}\n${middle}\n${LAUNCH}\nreturn 0;`); });
  test.each(middles)('behind the launch, in a loop: %s', (middle) => { expectSame(`${START}\nfor (int round = 0; round < 3; round++) {\n${LAUNCH}\n${middle}\n}\nreturn 0;`); });
});

describe('what is known of a kernel stays known', () => {
  test.each([
    ['its address goes somewhere', `${START} void (*f)(int *, int, int) = k; use((void *)f); ${LAUNCH}`],
    ['its address goes to a function', `${START} use((void *)k); ${LAUNCH}`],
    ['its attributes are set', `${START} cudaFuncSetAttribute(k, 1, 2); ${LAUNCH}`],
    ['the runtime launches it', `${START} void *list[] = {&data, &n, &m}; cudaLaunchKernel((void *)k, dim3(2), dim3(n), list, 0, 0);`],
    ['a reference to a component', `${START} dim3 block(32, 2); unsigned &r = block.x; r = 64; k<<<1, block>>>(data, n, m);`],
    ['a component that is kept', `${START} dim3 block(32, 2); Keeper keeper = block.x; k<<<1, block>>>(data, n, m);`],
    ['a component that is handed out', `${START} dim3 block(32, 2); changes(block.y); k<<<1, block>>>(data, n, m);`],
    ['an operator writes its operand', `P one; one << n; ${START} ${LAUNCH} }\nstruct P {}; P &operator<<(P &, int &v) { v = 3; }\nint more(int argc) { P one; ${START} one << n; ${LAUNCH}`],
    ['an operator of a class keeps its operand', `}\nstruct Q { int *to; Q &operator+(int &v) { to = &v; return *this; } };\nint more(int argc) { Q one; ${START} one + n; *one.to = 3; ${LAUNCH}`],
    ['an operand becomes an object that keeps it', `}\nstruct Q {}; Q operator+(Q, Keeper);\nint more(int argc) { Q one; ${START} one + n; ${LAUNCH}`],
    ['an operator of a template', `}\nstruct Q {}; template <typename T> Q &operator*(Q &, T &v) { v = 3; }\nint more(int argc) { Q one; ${START} one * n; ${LAUNCH}`],
    ['a variable of a head hides another', `}\nconst int q = 5;\nint more(int argc) { ${START} if (int z = q) n = z; ${LAUNCH}`],
    ['components of a dim3', `${START} dim3 block; block.x = 16; block.y = n / 16; printf("%d\\n", n); k<<<1, block>>>(data, n, m);`],
    ['a dim3 of another', `${START} dim3 one(32, 2); dim3 two = one; two.x = one.y; k<<<two, one>>>(data, n, m);`],
    ['a value of a template', `${START} t<64><<<1, n>>>(data); t<SIZE><<<1, 2 * n>>>(data);`],
    ['a launch by a macro', `#define RUN(s) k<<<1, s>>>(data, n, m)\n${START} RUN(32); RUN(n);`],
    ['a launch in a head', `${START} if (n > 3) for (int i = 0; i < 2; i++) while (m-- > 0) ${LAUNCH}`],
    ['a local that hides the kernel', `${START} { int k = 3; printf("%d\\n", k); } ${LAUNCH}`],
    ['a local that hides the kernel later', `${START} ${LAUNCH} { int k = 3; n = k; }`],
    ['a function of the same name as one of the library', `void cudaShrink(int &v);\n}\nvoid cudaTouch(int &v) { v = 3; }\nint more(int argc) { ${START} cudaTouch(n); ${LAUNCH}`],
  ])('%s', (_, body) => { expectSame(body); });
});

describe('of a long function that launches nothing, what names a kernel is read', () => {
  const LONG = 'printf("nothing of k, \'k\' or data.k is said here\\n"); // k\n'.repeat(12);
  const USES: readonly string[] = [
    'use((void *)k);', 'void (*f)(int *, int, int) = k; use((void *)f);', 'auto f = &k;', 'if (argc) { use((void *)&k); }', 'for (auto f : {k, k}) use((void *)f);', 'USE_K;', 'USE(k);', 'GIVEN(use, k);', 'use((void *)KERNEL);', 'TAIL(use((void *), ));', 'PASTED(, k);',
    'switch (argc) { case 1: use((void *)k); }', '#ifdef WIDE\nuse((void *)k);\n#endif', 'auto f = [] { use((void *)k); };', 'struct Local { void go() { use((void *)k); } } local; local.go();', 'return use((void *)k);', 'goto end; use((void *)k); end: ;', 'cudaFuncSetAttribute(k, 1, 2);', 'cudaOccupancyMaxPotentialBlockSize(&argc, &argc, k, 0, 0);',
    'int k = 3; reads(k);', 'data.k = 3;', '{ int k = 3; } use((void *)k);', 'k(argc);', 'AMBIGUOUS(3);', 'reads(3);', 'use((void *)t<3>);', 'space::k();',
  ];
  test.each(USES)('%s', (use) => {
    const text = `#define USE_K use((void *)k)\n#define USE(x) use((void *)x)\n#define GIVEN(f, k) f((void *)k)\n#define KERNEL INNER\n#define INNER k\n#define PASTED(a, b) use((void *)a##b)\n#ifdef WIDE\n#define AMBIGUOUS(x) reads(x)\n#else\n#define AMBIGUOUS(x) use((void *)k)\n#endif
${HEAD}\nnamespace space { void k(); }\nvoid k(int more);\nint other(int argc) {\n${LONG}\n${use}\n${LONG}\n}\nint host(int argc) { ${START} ${LAUNCH} t<64><<<1, n>>>(data); }\n`;
    expect(told(load(text, 'launches'))).toEqual(told(load(text, 'whole')));
  });
  test('and nothing else', () => {
    expect(leftOut(`${HEAD}\nint other(int argc) {\n${LONG}\nuse((void *)k);\n}\nint host(int argc) { ${START} ${LAUNCH} }\n`, 'other')).toBeGreaterThan(500);
  });
  test.each(['use((void *)k);', 'USE_K;', 'USE(k);', 'use((void *)INNER);', 'PASTED(, k);'])('its launches are not all: %s', (use) => {
    const text = `#define USE_K use((void *)k)\n#define USE(x) use((void *)x)\n#define INNER k\n#define PASTED(a, b) use((void *)a##b)\n${HEAD}\nint other(int argc) {\n${LONG}\n${use}\n}\nint host(int argc) { ${START} ${LAUNCH} }\n`;
    for (const mode of ['launches', 'whole'] as const) {
      const program = load(text, mode);
      expect([...program.units.values()].flatMap((unit) => unit.kernels).filter((kernel) => kernel.name === 'k').map((kernel) => program.allLaunchesVisible(kernel))).toEqual([false]);
    }
  });
});

describe('shapes of blocks', () => {
  const SHAPES: readonly (readonly [string, readonly number[] | null])[] = [
    ['int n = 33; int *p = &n; n = 32; *p = 33;', null], ['int n = 33; int &p = n; n = 32; p = 33;', null], ['int n = 8; auto f = [&] { n = 33; }; n = 32; f();', [32, 33]], ['int m = 33; const int n = m; m = 16;', [16, 33]], ['int n = 16; std::cin >> n;', null],
    ['int n = 16, m = 2; std::cin >> m >> n;', null], ['int n = 16; int m = -n++;', null], ['int n = 16; bool m = !n--;', null], ['int n = 33; n = 16;', [16]],
    ['dim3 n(3); auto f = [&] { n.x = 33; }; n.x = 32; f();', [32, 33]], ['dim3 n(3); unsigned &x = n.x; n = dim3(16); x = 33;', null], ['dim3 n(16); n.dim3::x = 33;', null], ['dim3 n(16); unsigned dim3::*m = &dim3::x; n.*m = 33;', null],
    ['int n = 8, m = 3; (argc > 0 ? n : m) = 33;', null], ['int n = 8, m = 3; (argc > 0 ? n : m)++;', null], ['int n = 8; static int &r = n; r = 33;', null], ['int n = 16; delete [] (data + n++);', null], ['int n = 16; float *g = new float[n += 3];', null], ['int n = 16; float *g = new float[n];', [16]], ['int n = 16; if (argc > 1) N = atoi(argv[1]);', null],
  ];
  test.each(SHAPES)('%s', (body, expected) => {
    const text = `${HEAD}\nint host(int argc, char **argv) { int *data; ${body} k<<<1, n>>>(data, 1, 2); return 0; }\n`;
    for (const mode of ['launches', 'whole'] as const) {
      const program = load(text, mode);
      const [kernel] = [...program.units.values()].flatMap((unit) => unit.kernels);
      if (kernel === undefined) throw new Error('no kernel');
      const { alternatives } = blockFact(kernel, program, {});
      expect(alternatives.map(({ x }) => x).sort((a, b) => a - b)).toEqual(expected ?? []);
    }
  });
});

test('what a launch does not depend on is left out', () => {
  const body = `${START}
  float *results = (float *)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) { results[i] = i * 0.5f; if (i > 3) results[i] += 1.0f; }
  cudaMemcpy(data, results, n * sizeof(float), cudaMemcpyHostToDevice);
  ${LAUNCH}
  cudaDeviceSynchronize();
  double sum = 0; for (int i = 0; i < n; i++) sum += results[i];
  printf("%d %f\\n", n, sum);
  free(results);
  return 0;`;
  expectSame(body);
  expect(leftOut(host(body))).toBeGreaterThan(250);
});

test.each([
  ['blocks', '{'.repeat(8000) + 'reads(m);' + '}'.repeat(8000)],
  ['else-ifs', `${'if (argc) reads(m); else '.repeat(8000)} reads(m);`],
  ['loops without braces', `${'while (argc) '.repeat(8000)} reads(m);`],
  ['pragmas', `${'#pragma unroll\n'.repeat(20000)}reads(m);`],
])('%s nested without end are no fault', (_, middle) => {
  const text = host(`${START}\n${middle}\n${LAUNCH}\nreturn 0;`);
  const program = load(text, 'launches');
  const [kernel] = [...program.units.values()].flatMap((unit) => unit.kernels);
  if (kernel === undefined) throw new Error('no kernel');
  expect(program.launchesOf(kernel)).toHaveLength(1);
});

// --------------------------------------------------------------------------------------------------------------- at random

const NAMES = ['n', 'm', 'b', 'w', 'q'];
const name = fc.constantFrom(...NAMES);
const value: fc.Arbitrary<string> = fc.oneof(fc.constantFrom('1', '32', '64', '100', 'SIZE', 'argc', 'give()', 'g.x'), name, fc.tuple(name, fc.constantFrom('+', '*', '/', '-', '&', '<<', ','), name).map(([a, op, c]) => `(${a} ${op} ${c})`), name.map((a) => `(int)(${a})`), name.map((a) => `OR_ELSE(${a})`));
const simple: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(name, fc.constantFrom('=', '+=', '<<='), value).map(([a, op, v]) => `${a} ${op} ${v};`),
  fc.tuple(fc.constantFrom('int', 'number', 'const int', 'auto', 'int &', 'const int &', 'Keeper', 'float', 'dim3'), fc.constantFrom(...NAMES, 'fresh'), fc.constantFrom(' = X;', '(X);', '{X};'), value).map(([type, a, form, v]) => `{ ${type} ${a}${form.replace('X', v)} ${type === 'int &' ? `${a} = 3;` : ''} }`),
  fc.tuple(fc.constantFrom('changes', 'reads', 'any', 'unseen', 'printf', 'cudaFree', 'use', 'std::max', 'Keeper', 'sizeof'), fc.constantFrom('', '&'), name).map(([f, and, a]) => `${f}(${and}${a});`),
  fc.tuple(name, fc.constantFrom('data[A] = A;', 'data[A++] = 1;', 'cudaMemcpy(data, data, A * 4, A);', 'std::cout << A;', 'std::cin >> A;', 'g.y = A;', 'dim3 h(A); g = h;', 'STEP;', 'SET(A, 96);', 'CHECK(A);', 'k<<<g, A>>>(data, A, 2);', 't<32><<<A, g>>>(data);', ';', 'return A;', 'p = &A;', '*p = A;', 'int fresh = A, A = 3;', 'delete [] data;', 'p = new int[A];')).map(([a, text]) => text.replaceAll('A', a)),
  fc.tuple(name, name, fc.constantFrom('SET(A, B);', 'COPY(A, B);', '(A) = B;', '(A ? A : B) = 3;', 'A = argc ? B : A;', 'CHECK(cudaMalloc(&A, B));', 'unseen(cudaFree(A), B);', 'CHECKED(A = B);', 'int &r = (A, B); r = 4;', 'A PLUS B;', 'printf("%d", argc ? A : B++);', 'float f = A; B = f;', 'auto [A, other] = pair();', 'KEEP(A);')).map(([a, b, text]) => text.replaceAll('A', a).replaceAll('B', b)),
);
const statement: fc.Arbitrary<string> = fc.letrec<{ statement: string; block: string }>((tie) => ({
  statement: fc.oneof({ maxDepth: 3 }, { weight: 6, arbitrary: simple }, {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom('if (A < B) S', 'if (A) S else S2', 'for (int i = 0; i < A; i++) S', 'for (A = 0; A < B; ++A) S', 'while (A-- > B) S', 'do S while (A < B);', 'switch (A) { case 1: S break; default: S2 }', '\n#ifdef WIDE\nS\n#else\nS2\n#endif\n', '\n#if SIZE > 3\nS S2\n#endif\n', 'if (A)\n#ifdef WIDE\nS\n#else\nS2\n#endif\n', '#pragma unroll\nfor (int A = 0; A < 3; A++) S'), name, name, tie('statement'), tie('block'))
      .map(([form, a, b, one, two]) => form.replaceAll('A', a).replaceAll('B', b).replace('S2', () => two).replace('S', () => one)),
  }, { weight: 1, arbitrary: tie('block') }),
  block: fc.array(tie('statement'), { maxLength: 4 }).map((list) => `{ ${list.join('\n')} }`),
})).statement;

test('generated host code', () => {
  let sliced = 0;
  fc.assert(fc.property(fc.array(statement, { minLength: 1, maxLength: 9 }), (list) => {
    const body = `int n = 64, m = 32, q = 7; int b(16), w = n * 2; int *data, *p = nullptr; dim3 g(8, n);\n${list.join('\n')}\nk<<<m, n>>>(data, b, w);\nreturn 0;`;
    expectSame(body);
    if (leftOut(host(body)) > 0) sliced++;
  }), { numRuns: Number(process.env['DIVMOD_HOST_BODIES'] ?? 300) });
  expect(sliced).toBeGreaterThan(30);
});

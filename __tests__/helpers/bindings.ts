/** Ways to bind a variable to something that may change it where nothing names a reference, and the same ways to write what leaves it alone. */

/** Functions and classes that change what they are given; every one of them compiles with nvcc 13. */
export const BINDERS = `
struct Inc { int k; __device__ Inc(int &x) : k(++x) {} };
struct Inc0 { int k; __device__ Inc0() : k(0) {} __device__ Inc0(int &x) : k(++x) {} };
struct IncAs { __device__ IncAs() {} __device__ IncAs &operator=(int &x) { ++x; return *this; } };
struct IncMore { __device__ IncMore(int &x, int by = 1) { x += by; } };
struct IncAny { template <class T> __device__ IncAny(T &x) { ++x; } };
struct IncFwd { template <class T> __device__ IncFwd(T &&x) { ++x; } };
struct IncPack { template <class... T> __device__ IncPack(T &&...x) { int z[] = {(++x, 0)...}; (void)z; } };
struct Unseen { __device__ Unseen(int &x); };
__device__ __noinline__ Unseen::Unseen(int &x) { ++x; }
struct Hold { Inc i; __device__ Hold(int &x) : i(x) {} };
struct Take { int k; __device__ Take(Inc i) : k(i.k) {} };
struct Agg { Inc i; };
struct Agg2 { int a; Inc i; };
struct Deep { Agg a; int b; };
struct Arr { Inc i[2]; };
struct Inh : Inc { using Inc::Inc; };
struct Inh2 : Inc { using Inc::Inc; __device__ Inh2(float *p) : Inc((int &)*p) {} };
struct RefAgg { int &r; };
struct Keep { int &r; __device__ Keep(int &x) : r(x) {} __device__ void go() const { ++r; } };
struct KeepP { int *p; __device__ KeepP(int &x) : p(&x) {} __device__ void go() const { ++*p; } };
template <class T> struct Box { T v; __device__ Box(T x) : v(x) { ++v; } static __device__ void st(T x) { ++x; } __device__ void add(T x) { ++x; } };
template <class T> struct BoxD { T v; __device__ BoxD(T x) : v(x) {} __device__ void inc() { ++v; } };
template <class T = int &> struct Dfl { static __device__ void st(T x) { ++x; } };
template <class T> struct Fn { void (*f)(T); __device__ void operator()(T x) const { f(x); } };
template <class T> struct Tt { typedef T &ref; typedef T val; };
template <class T> struct Id { typedef T type; };
typedef int &IntRef;
template <class T> using Ref = T &;
__device__ void take(Inc) {}
__device__ void takec(const Inc &) {}
__device__ void taker(Inc &&) {}
__device__ void take2(int, Inc) {}
__device__ void takeany(IncAny) {}
__device__ void takefwd(IncFwd) {}
__device__ void takeu(Unseen) {}
__device__ void takeagg(Agg) {}
__device__ void over(Inc) {}
__device__ void over(const char *) {}
__device__ Inc mk(int &x) { return x; }
__device__ Agg mkagg(int &x) { return {x}; }
__device__ void up(int &x) { ++x; }
template <class T> __device__ void tv(T x) { ++x; }
template <class T, class U> __device__ void two(U, T x) { ++x; }
template <class T> __device__ void td(typename Tt<T>::ref x) { ++x; }
template <class T> __device__ void tid(T, typename Id<T>::type x) { ++x; }
template <class T> __device__ void fwd(T &&x) { ++x; }
template <class... T> __device__ void pack(T &&...x) { int z[] = {(++x, 0)...}; (void)z; }
template <class... T> __device__ void packv(T... x) { int z[] = {(++x, 0)...}; (void)z; }
template <class A> __device__ void viaptr(void (*f)(A), typename Id<A>::type x) { f(x); }
template <class T> __device__ void nest(T &x) { tv<T &>(x); }
template <class T> __device__ void thru(T &&x) { tv<T>(static_cast<T &&>(x)); }
__device__ void alias(IntRef x) { ++x; }
__device__ void alias2(Ref<int> x) { ++x; }
__device__ void arr1(int (&x)[1]) { ++x[0]; }
__device__ void arrp(int (*x)[1]) { ++(*x)[0]; }
__device__ void par(int(&x)) { ++x; }
namespace na {
struct T { int v; friend __device__ void both(T, int &x) { ++x; } };
struct D : T {};
template <class X> struct W { X v; };
enum E { E0 };
enum class Ec { A };
__device__ void adl(const T &, int &x) { ++x; }
__device__ void adl(E, int &x) { ++x; }
__device__ void adlc(Ec, int &x) { ++x; }
__device__ void adlw(const T &, int &x) { ++x; }
template <class X> __device__ void adlt(const X &, int &x) { ++x; }
__device__ T &operator,(T &o, int &x) { ++x; return o; }
__device__ T &operator<<(T &o, int &x) { ++x; return o; }
__device__ T &operator+=(T &o, int &x) { ++x; return o; }
__device__ bool operator==(const T &, Inc) { return true; }
__device__ int operator|(int &x, const T &) { return ++x; }
__device__ int operator-(E, int &x) { return ++x; }
__device__ void min(const T &, int &x) { ++x; }
struct M { int v; __device__ int operator+(float) const { return 0; } };
__device__ int operator+(const M &, int &x) { return ++x; }
struct N { int v; __device__ N &operator<<(double) { return *this; } };
__device__ N &operator<<(N &o, int &x) { ++x; return o; }
}
__device__ void adl(int, int) {}
__device__ void adlc(int, int) {}
__device__ void adlw(...) {}
__device__ void adlt(float, int) {}
__device__ void both(int, int) {}
namespace nb { __device__ void run(const na::T &t, int &x) { adlw(t, x); } }
template <class X> __device__ void indep(X t, int &x) { adl(t, x); }
struct Conv { int *p; __device__ operator int() const { return ++*p; } };
`;

/** `in front of the loop ~~ in the loop`, or what stands in the loop alone: by a constructor that converts. */
export const CONVERSIONS: readonly string[] = [
  'take(m);', 'takec(m);', 'taker(m);', 'take2(1, m);', 'takeany(m);', 'takefwd(m);', 'takeu(m);', 'over(m);', 'take({m});', 'takeagg({m});', 'takeagg({{m}});', 'mk(m);', 'mkagg(m);',
  'Inc x = m;', 'Inc x(m);', 'Inc x{m};', 'Inc x = {m};', 'auto x = Inc(m);', 'Inc x = Inc(m);', '(void)(Inc)m;', '(void)static_cast<Inc>(m);', 'const Inc &x = m;', 'Inc &&x = m;',
  'const Inc &x{m};', 'const Inc &x = Inc(m);', 'Inc x[1] = {m};', 'Inc x[2] = {m, m};', 'Inc x[1][1] = {{m}};', 'Agg x{m};', 'Agg x = {m};', 'Agg x{{m}};', 'Agg2 x{1, m};',
  'Agg2 x = {1, m};', 'Deep x{{m}, 1};', 'Deep x{m, 1};', 'Deep x[1] = {{{m}, 1}};', 'Arr x{{m, m}};', 'Arr x = {m, m};', 'Hold x(m);', 'Hold x = m;', 'Take x(m);', 'Take x{m};',
  'Inh x = m;', 'Inh x(m);', 'Inh2 x{m};', 'Inh2 x = m;', 'IncMore x = m;', 'IncMore x(m, 2);', 'IncAny x = m;', 'IncFwd x = m;', 'IncFwd x(m);', 'IncPack x = m;', 'IncPack x(m, m);',
  'Inc0 x; x = m;', 'IncAs x; x = m;', 'Unseen x = m;', 'const Inc x = n > 4 ? Inc(m) : m;', 'Inc x = (s++, m);', 'Inc x = n > 4 ? m : u;', 'if (Inc x = m; x.k > 90) s++;',
  'for (Inc x = m; s < 0;) break;', 'auto f = [](Inc) {}; f(m);', 'auto f = [](int &x) -> Inc { return x; }; f(m);', 'auto f = [&]() -> Inc { return m; }; f();', 'RefAgg x{m}; ++x.r;',
  'RefAgg x = {m}; x.r = i;', 'Keep x(m); x.go();', 'Keep x = m; x.go();', 'KeepP x = m; x.go();', 'const Keep &x = m; x.go();', 'Keep x(m); ~~ x.go();', 'Keep x = m; ~~ x.go();',
  'KeepP x = m; ~~ x.go();', 'RefAgg x{m}; ~~ x.r = i;', 'Keep x[1] = {m}; ~~ x[0].go();', 'int w[1] = {m}; ~~ for (Inc x : w) s += x.k; m = w[0];', 'Inc *x = new Inc(m); delete x;',
  'return void(Inc(m));',
];

/** By template arguments that make a parameter a reference. */
export const TEMPLATES: readonly string[] = [
  'tv<int &>(m);', 'tv<IntRef>(m);', 'tv<Ref<int>>(m);', 'tv<Tt<int>::ref>(m);', 'tv<decltype((m))>(m);', 'two<int &>(3, m);', 'two<int &, int>(3, m);', 'td<int>(m);', 'fwd(m);',
  'fwd<int &>(m);', 'pack(m, m);', 'pack<int &>(m);', 'packv<int &>(m);', 'viaptr(up, m);', 'nest(m);', 'thru(m);', 'tid<int &>(m, m);', 'Box<int &>::st(m);', 'Box<int &> x(m);',
  'Box<int &> x{m};', 'Box<int &> x = m;', 'Box<int> x(1); Box<int &> y(u); y.add(m);', 'BoxD<int &> x(m); x.inc();', 'BoxD<int &> x(m); ~~ x.inc();', 'Dfl<>::st(m);',
  'Fn<int &> f{up}; f(m);', 'Fn<int &> f{up}; ~~ f(m);', 'typedef Box<int &> B; B::st(m);', 'using B = Box<int &>; B x(m);', 'alias(m);', 'alias2(m);',
];

/** By functions and operators that only the types of the arguments lead to. */
export const ASSOCIATED: readonly string[] = [
  'na::T x; adl(x, m);', 'na::D x; adl(x, m);', 'adl(na::T{}, m);', 'adl(na::E0, m);', 'na::E e = na::E0; adl(e, m);', 'adlc(na::Ec::A, m);', 'na::T x; adlw(x, m);', 'na::T x; adlt(x, m);',
  'na::W<na::T> x; adlt(x, m);', 'na::T x; both(x, m);', 'indep(na::T{}, m);', 'na::T x; nb::run(x, m);', 'na::T x; min(x, m);', 'na::T x; x, m;', 'na::T x; x << m;',
  'na::T x; x << m << m;', 'na::T x; x += m;', 'na::T x; s += x == m;', 'na::T x; s += m | x;', 's += na::E0 - m;', 'na::M x{1}; s += x + m;', 'na::N x{1}; x << m;',
  'using na::adl; na::T x; adl(x, m);', 'na::T x[1]; adl(x[0], m);', 'na::T x, *p = &x; adl(*p, m);',
];

/** By declarators that are not plainly those of a reference. */
export const DECLARATORS: readonly string[] = [
  'int (&x) = m; ++x;', 'int ((&x)) = m; ++x;', 'int (&x)(m); ++x;', 'int (&x){m}; ++x;', 'int (&(x)) = m; ++x;', 'int &x(m); ++x;', 'int &x{m}; ++x;', 'int &&x = (int &&)m; ++x;',
  'int (&&x) = (int &&)m; ++x;', 'auto (&x) = m; ++x;', 'auto &&x = m; ++x;', 'decltype(auto) x = (m); ++x;', 'unsigned (&x) = (unsigned &)m; ++x;', 'IntRef x = m; ++x;',
  'IntRef (x) = m; ++x;', 'Ref<int> x = m; ++x;', 'Tt<int>::ref x = m; ++x;', 'Ref<int> (x)(m); ++x;', 'int (&x)[1] = *(int (*)[1])&m; x[0]++;', 'int (&x)[1] = *(int (*)[1])&m; arr1(x);',
  'int (*x)[1] = (int (*)[1])&m; (*x)[0]++;', 'int (*x)[1] = (int (*)[1])&m; arrp(x);', 'int (&x)[1] = (int (&)[1])m; x[0]++;', 'int k = 3, (&x) = m; x += k;', 'int k = 3, &x = m; x += k;',
  'int *(&x) = p0; ++*x;', 'int *p = &m, *(&x) = p; ++*x;', 'void (&f)(int &) = up; f(m);', 'void (*f)(int &) = up; f(m);', 'void (*(&f))(int &) = pf; f(m);', 'par(m);',
  'int *(x) = &m; ++*x;', 'int *x[1] = {&m}; ++*x[0];', 'int (*x) = &m; ++*x;', 'for (int (&x) = m; x >= 0;) { ++x; break; }', 'for (int &x = m; ;) { ++x; break; }',
  'if (int (*x) = &m) ++*x;', 'int (&x) = m; ~~ ++x;', 'int ((&x)) = m; ~~ x += 1;', 'int (&x)(m); ~~ x += 1;', 'int (&x)[1] = *(int (*)[1])&m; ~~ x[0]++;',
  'int (*x)[1] = (int (*)[1])&m; ~~ (*x)[0]++;', 'int (*x)[1] = (int (*)[1])&m; ~~ arrp(x);', 'auto (&x) = m; ~~ ++x;', 'auto f = [&x = m] { ++x; }; ~~ f();',
  'auto f = [p = &m] { ++*p; }; ~~ f();', 'int k = 3, (&x) = m; ~~ x += k;', 'auto *x = new int *(&m); ~~ ++**x;', 'RefAgg x = {.r = m}; ~~ x.r++;',
  'auto x = [q = KeepP(m)] { q.go(); }; ~~ x();',
];

/** Functions and classes that only take values and const references. */
export const TAKERS = `
struct Val { int k; __device__ Val(int x) : k(x) {} };
struct Val0 { int k; __device__ Val0() : k(0) {} __device__ Val0(int x) : k(x) {} };
struct Cst { int k; __device__ Cst(const int &x) : k(x) {} };
struct ValAs { int k; __device__ ValAs() {} __device__ ValAs &operator=(int x) { k = x; return *this; } };
struct ValAny { int k; template <class T> __device__ ValAny(T x) : k(x) {} };
struct ValC { int k; template <class T> __device__ ValC(const T &x) : k(x) {} };
struct AggV { Val i; };
struct Plain { int a, b; };
struct PlainD { Plain p; int c; };
struct InhV : Val { using Val::Val; };
struct Flt { __device__ Flt(float &x) { x += 1.f; } __device__ Flt(int) {} };
template <class T> struct BoxV { T v; __device__ BoxV(T x) : v(x) {} static __device__ int st(T x) { return x; } __device__ int add(T x) const { return v + x; } };
template <class T> struct FnV { int (*f)(T); __device__ int operator()(T x) const { return f(x); } };
__device__ int same(int x) { return x; }
__device__ void takev(Val) {}
__device__ void takevc(const Val &) {}
__device__ void takevr(Val &&) {}
__device__ void takeagv(AggV) {}
__device__ void overv(Val) {}
__device__ void overv(const char *) {}
__device__ Val mkv(int x) { return x; }
__device__ Val mkvc(const int &x) { return x; }
template <class T> __device__ void tvv(T x) { ++x; }
template <class T> __device__ void tcv(const T &x) { (void)x; }
template <class T, class U> __device__ void twov(U, T x) { ++x; }
namespace nc {
struct T { int v; };
enum E { E0 };
__device__ void adlv(const T &, int x) { ++x; }
__device__ void adlv(E, int x) { ++x; }
template <class X> __device__ void adlvt(const X &, int x) { ++x; }
__device__ T &operator<<(T &o, int x) { o.v += x; return o; }
__device__ T &operator+=(T &o, const int &x) { o.v += x; return o; }
__device__ bool operator==(const T &, Val) { return true; }
__device__ T operator+(const T &a, const T &b) { return T{a.v + b.v}; }
}
__device__ void adlv(int, int) {}
__device__ void parv(const int(&x)) { (void)x; }
`;

/** Nothing here changes `m`. */
export const HARMLESS: readonly string[] = [
  'takev(m);', 'takevc(m);', 'takevr(m);', 'takeagv(AggV{m});', 'overv(m);', 'mkv(m);', 'mkvc(m);', 'Val x = m;', 'Val x(m);', 'Val x{m};', 'Val x = {m};', 'auto x = Val(m); s += x.k;',
  'Val x = Val(m);', '(void)(Val)m;', '(void)static_cast<Val>(m);', 'const Val &x = m; s += x.k;', 'Val &&x = m; s += x.k;', 'Val x[1] = {m};', 'Val x[2] = {m, m};', 'AggV x{m};',
  'AggV x = {m};', 'AggV x{{m}};', 'Plain x{m, m};', 'Plain x = {m, 1};', 'PlainD x{{m, 1}, m};', 'PlainD x = {m, 1, m};', 'Plain x[1] = {{m, 1}};', 'Plain x[1] = {m, 1};', 'InhV x = m;',
  'InhV x(m);', 'Cst x = m;', 'Cst x(m);', 'ValC x = m;', 'ValC x(m);', 'ValAny x = m;', 'ValAny x(m);', 'Val0 x; x = m;', 'ValAs x; x = m;',
  'const Val x = n > 4 ? Val(m) : Val(1); s += x.k;', 'Flt x = m;', 'Flt x(m);', 'int w[1] = {m}; for (Val x : w) s += x.k;', 'int w[2] = {m, n}; s += w[i & 1];', 'int x = m; ++x;',
  'int x(m); ++x;', 'int x{m}; ++x;', 'int (x) = m; s += x;', 'int (x)(m); s += x;', 'float x = m; s += x;', 'const int &x = m; s += x;', 'const int (&x) = m; s += x;',
  'const auto &x = m; s += x;', 'auto x = m; ++x;', 'auto x = (m); ++x;', 'int x = m, y = x; ++y;', 'unsigned x = (unsigned)m; ++x;', 'const float &x = m; s += x;', 'float &&x = m; s += x;',
  'tvv(m);', 'tvv<int>(m);', 'tcv(m);', 'tcv<int>(m);', 'twov<int>(3, m);', 'twov<int, int>(3, m);', 'twov(3, m);', 's += BoxV<int>::st(m);', 'BoxV<int> x(m); s += x.v;',
  'BoxV<int> x{m}; s += x.add(m);', 'BoxV<int> x = m; s += x.v;', 'BoxV<int> x(1); s += x.add(m);', 's += same(m);', 'parv(m);', 'nc::T x{1}; adlv(x, m);', 'adlv(nc::E0, m);',
  'adlv(nc::T{1}, m);', 'nc::T x{1}; adlvt(x, m);', 'nc::T x{1}; x << m; s += x.v;', 'nc::T x{1}; x << m << m; s += x.v;', 'nc::T x{1}; x += m; s += x.v;', 'nc::T x{1}; s += x == m;',
  'nc::T x{1}; s += (x + x).v + m;', 'adlv(1, m);', 'int2 x = make_int2(m, m); s += x.x;', 'int2 x = {m, m}; s += x.y;', 'int2 x{m, m}; s += x.y;',
  'float4 x = make_float4(m, m, 0.f, 0.f); s += x.x;', 'dim3 x(m); s += x.x;', 'dim3 x = m; s += x.x;', 'int3 x[1] = {{m, m, m}}; s += x[0].z;', 's += min(m, 4);', 's += max(m, n);',
  's += abs(m);', 's += __popc(m);', 's += (float)m;', 's += float(m);', 's += static_cast<float>(m);', 's += m;', 'o[0] = m;', 'o[m & 3] = s;', 'u = m;', 'u += m;',
  'int w[1]; w[0] = m; s += w[0];', 'int (*x)[2] = nullptr; s += x == nullptr ? m : 1;', 'int w[2] = {m, n}; int (&x)[2] = w; x[0] += 1; s += x[0];',
  'int w[2] = {m, n}; int (*x)[2] = &w; (*x)[1]++; s += w[1];', 'int y = m; int (&x) = y; ++x; s += y;', 'int y = m; int (&x)(y); ++x; s += y;', 'int y = m; int *x = &y; ++*x; s += y;',
];

/** Is a name surely used where it stands, by the tokens around it? Where it may be declared, the answer is no. */
import { expect, test } from '@jest/globals';
import { tokenizeFragment } from '../../src/source/tokenizer.js';
import { isSurelyUsed } from '../../transforms/lib/token-use.js';

function ofLast(text: string): boolean {
  const tokens = tokenizeFragment(text);
  for (let i = tokens.count - 1; i >= 0; i--) if (tokens.is(i, 'LIM')) return isSurelyUsed(tokens, i);
  throw new Error('the name is not there');
}

test.each([
  'x = LIM;', 'a + LIM', 'float v[LIM];', 'float v[2][LIM];', 'float v[2 * LIM];', 'float v[N * LIM];', 'return LIM;', 'case LIM:', 'if (LIM > 3)', 'f(LIM, a)', 'if (LIM) g();', 'Q<LIM> q;', 'Q<float, LIM> q;',
  'p->LIM = 3', 'p.LIM', 'w::LIM + 1', 'std::array<std::array<int, LIM>> v;', 'x = (int)LIM;', 'static_assert(LIM == 4, "");', 'c ? LIM : 0', 'k<<<LIM, 32>>>(x)',
])('used: %s', (text) => {
  expect(ofLast(text)).toBe(true);
});

test.each([
  'LIM', 'int LIM;', 'int a, LIM;', 'int a = 1, LIM = 2;', 'int *LIM;', 'int **LIM;', 'const int &LIM = a;', 'T *LIM;', 'x; T &LIM = a;', 'f(T *LIM)', 'f(a, T *LIM)', 'auto &&LIM = a;', 'int (LIM);', 'int (LIM)[3];',
  'int (*LIM)(int);', 'std::vector<int> LIM;', 'std::vector<std::vector<int>> LIM;', 'enum { LIM };', 'enum { A, LIM };', 'enum E { A, LIM, B };', 'struct LIM {', 'class LIM;', 'using LIM = int;', 'using w::LIM;', 'using ::LIM;',
  'using typename B<T>::LIM;', 'using a::b, c::LIM;', 'namespace LIM {', 'namespace a::LIM {', 'typedef int LIM;', 'typedef int (LIM);', 'typedef T *LIM;', 'template <int LIM>', 'template <class LIM>', 'template <class A, class LIM>', '[LIM = e]', 'f([LIM = e] { })',
  'auto [LIM, b] = p;', 'auto [a, LIM] = p;', 'auto &[LIM, b] = p;', '; LIM:', '; LIM = 3;', '{ LIM, 3 }', 'decltype(a) LIM;', 'decltype(a) *LIM;', '__align__(16) LIM;', 'alignas(8) int LIM;', 'goto LIM;', 'extern int LIM;', 'int LIM(int);', 'int C::*LIM;',
])('perhaps declared: %s', (text) => {
  expect(ofLast(text)).toBe(false);
});

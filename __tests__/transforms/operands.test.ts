/**
 * Expressions as operands of new text. Random expressions over all operators are put in every place where edits put them; the tree of what comes
 * out must be the tree that was meant. Bounds and guards made of them, peeled and voted on, must do what the loops did.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { initParser } from '../../src/syntax/parser.js';
import { strip, type BinaryOperator, type Expr } from '../../src/syntax/tree.js';
import { verifyEquivalent } from '../../src/verify/index.js';
import { ballot } from '../../transforms/ballot.js';
import { bindingOf, bindingOfOperator, BINDING, grouped, negated, operandText, type Binding } from '../../transforms/lib/operands.js';
import { codeOnly, joinLines, textOf } from '../../transforms/lib/text.js';
import { peel } from '../../transforms/peel.js';
import { applyAll, load } from '../helpers/transform.js';

beforeAll(async () => {
  await initParser();
});

const OPERATORS: readonly BinaryOperator[] = ['+', '-', '*', '/', '%', '<<', '>>', '&', '|', '^', '<', '<=', '>', '>=', '==', '!=', '&&', '||', ','];

/** A stream of choices from a seed (mulberry32). */
function chooser(seed: number): <T>(items: readonly T[]) => T {
  let state = seed >>> 0;
  return <T>(items: readonly T[]): T => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    const item = items[((t ^ (t >>> 14)) >>> 0) % items.length];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  };
}

/** An expression as people write them, with or without parentheses where it needs none. */
function draw(one: ReturnType<typeof chooser>, depth: number): string {
  // An assignment takes all that stands left of it for its target.
  const inner = (): string => {
    const text = draw(one, depth - 1);
    return /^a (\+|\|)?= /.test(text) ? `(${text})` : text;
  };
  if (depth === 0) return one(['a', 'b', 'c', '3', '-7', 'NAME', 'SUM', 'EITHER', 'p[a]', "'\t'", 'f(a, b)']);
  switch (one(['binary', 'binary', 'binary', 'binary', 'unary', 'cast', 'choice', 'assign', 'paren'] as const)) {
    case 'binary': return `${one([inner, () => `(${inner()})`])()} ${one([...OPERATORS, 'bitand', 'bitor', 'xor', 'and', 'or'])} ${one([inner, () => `(${inner()})`])()}`;
    case 'unary': return `${one(['-', '!', '~', '+', 'not '])}${one(['a', `(${inner()})`])}`;
    case 'cast': return `${one(['(int)', '(unsigned)'])}${one(['a', `(${inner()})`])}`;
    case 'choice': return `(${inner()}) ? ${inner()} : (${inner()})`;
    case 'assign': return `a ${one(['=', '+=', '|='])} (${inner()})`;
    case 'paren': return `(${inner()})`;
  }
}

const HEAD = '#define NAME 5\n#define SUM b + 3\n#define EITHER a || c\n__device__ int f(int x, int y) { return x + y; }\n';

/** The right side of `o[0] = …`. */
function parsed(text: string): { readonly expr: Expr; readonly source: ReturnType<typeof load>['unit']['source'] } | null {
  const { unit } = load(`${HEAD}__global__ void k(int *o, const int *p, int a, int b, int c) {\n    o[0] = (${text});\n}\n`);
  const kernel = unit.kernels[0];
  const stmt = kernel?.body?.body[0];
  if (stmt?.kind !== 'expression' || stmt.expression.kind !== 'assign' || stmt.expression.value.kind !== 'paren') return null;
  return { expr: stmt.expression.value.inner, source: unit.source };
}

/** The tree without parentheses and macros, as text; null if a part was not understood. */
function shape(expr: Expr): string | null {
  const e = strip(expr);
  const of = (...parts: readonly Expr[]): string | null => {
    const texts = parts.map(shape);
    return texts.includes(null) ? null : texts.join(' ');
  };
  const node = (name: string, inner: string | null): string | null => (inner === null ? null : `(${name} ${inner})`);
  switch (e.kind) {
    case 'literal': return String(e.value);
    case 'ref': return e.name;
    case 'unary': return node(`unary${e.op}`, of(e.operand));
    case 'binary': return node(e.op, of(e.left, e.right));
    case 'assign': return node(`${e.op ?? ''}=`, of(e.target, e.value));
    case 'conditional': return node('?', of(e.condition, e.then, e.else));
    case 'index': return node('[]', of(e.base, e.index));
    case 'cast': return node(`cast ${e.type.kind === 'int' ? String(e.type.signed) : '?'}`, of(e.operand));
    case 'call': return node('call', of(...e.arguments));
    default: return null;
  }
}

describe('the printer of operands', () => {
  /** A place: the text around the operand, and the tree that is meant. */
  const PLACES: readonly (readonly [string, (text: string, expr: Expr) => string, (tree: string) => string])[] = [
    ...OPERATORS.flatMap((op): typeof PLACES => {
      const own = bindingOfOperator(op);
      const next = (own + 1) as Binding;
      return [
        [`… ${op} b`, (text, expr) => `${grouped(text, expr, own)} ${op} b`, (tree) => `(${op} ${tree} b)`],
        [`b ${op} …`, (text, expr) => `b ${op} ${grouped(text, expr, next)}`, (tree) => `(${op} b ${tree})`],
      ];
    }),
    ['!…', (text, expr) => negated(text, expr), (tree) => `(unary! ${tree})`],
    ['(int)…', (text, expr) => `(int)${grouped(text, expr, BINDING.unary)}`, (tree) => `(cast true ${tree})`],
    ['f(…, b)', (text, expr) => `f(${grouped(text, expr, BINDING.assignment)}, b)`, (tree) => `(call ${tree} b)`],
    ['c = …', (text, expr) => `c = ${grouped(text, expr, BINDING.assignment)}`, (tree) => `(= c ${tree})`],
    ['p[…]', (text) => `p[${text}]`, (tree) => `([] p ${tree})`],
  ];

  test('the tree of an operand in its place is the tree that was meant', () => {
    let checked = 0;
    for (let seed = 0; seed < 90; seed++) {
      const one = chooser(seed);
      const first = parsed(draw(one, one([1, 2, 3])));
      const meant = first === null ? null : shape(first.expr);
      if (first === null || meant === null) continue;
      for (let i = 0; i < 6; i++) {
        const [name, text, tree] = one(PLACES);
        const written = text(joinLines(textOf(first.source, first.expr.span)), first.expr);
        const again = parsed(written);
        const found = again === null ? null : shape(again.expr);
        if (found !== tree(meant)) throw new Error(`seed ${seed}, ${name}: ${written}\n${String(found)}\n${tree(meant)}`);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(250);
  }, 120_000);

  test('names of macros bind as what stands behind them', () => {
    const of = (text: string): Binding | null => {
      const one = parsed(text);
      return one === null ? null : bindingOf(one.expr);
    };
    expect(of('NAME')).toBe(BINDING.closed);
    expect(of('SUM')).toBe(BINDING.sum);
    expect(of('EITHER')).toBe(BINDING.or);
    expect(of('a bitand b')).toBe(BINDING.bitAnd);
  });
});

describe('text on one line', () => {
  test('only the gaps between tokens change', () => {
    expect(joinLines("a ==\n    '\t' && \"x  y\" [0]")).toBe("a == '\t' && \"x  y\" [0]");
    expect(joinLines('a && // left\n  b /* right */ || c // last')).toBe('a && /* left */ b /* right */ || c /* last */');
    expect(joinLines('a // odd */ end\n+ b')).toBe('a /* odd * / end */ + b');
    expect(joinLines('R"(one\n  two)" + x')).toBe('R"(one\n  two)" + x');
    expect(joinLines('a + \\\n   b')).toBe('a + b');
    expect(codeOnly("a  /* gone */ + // gone\n\t' '")).toBe("a + ' '");
    expect(codeOnly('f(x)')).toBe('f(x)');
  });

  test('a comment inside an operand does not swallow what follows', () => {
    const one = parsed('a // first\n || b');
    expect(one === null ? null : `${operandText(one.source, one.expr, BINDING.and)} && c`).toBe('(a /* first */ || b) && c');
  });
});

/** Bounds over all operators, as guards, ends of loops and windows. */
function kernel(seed: number): string {
  const one = chooser(seed + 1000);
  const value = (): string => one([
    'm & 31', 'm | 5', 'm ^ 12', 'm << 1', 'm >> 1', '-m', '~m', 'm % 17', 'm / 3', 'm bitand 15', 'm xor 3', '-(-m)', 'm - -3', '(m & 7) * 3', '3 * (m | 1)', 'm & 31 | 8', 'm + (b ^ 1)',
    'LOOSE', '-LOOSE', '(LOOSE) - 2', "m / '\t'", '(int)(m & 6)', 'm & (b | 12)', 'min(m & 31, b | 3)', 'm & 31 & b', '(m, b)', 'm - (b - 3)', 'm >> 1 & 15', '-7', 'm * -1',
  ]);
  const [x, y] = [value(), value()];
  const guard = one([`k < (${x})`, `k >= (${x})`, `k + tx < (${x})`, `(${x}) > k`, `k - (${x}) < tx`, `k < (${x}) && k >= (${y})`, `k + (${x}) < (${y})`, `(${x}) + k >= (${y})`, `k <= (${x})`, `k == (${x})`, `2 * k < (${x})`]);
  const loop = one([`int k = 0; k < n; k++`, `int k = (${y}); k < n; k++`, `int k = 0; k < (${y}); k += 2`, 'int k = -3; k <= 3; k++', `int k = 0; k < n && k != (${y}); k++`, 'int k = 0; k < n ? 1 : 0; k++']);
  const body = one([`if (${guard}) s += a[k & 63];`, `if (${guard}) s += a[k & 63]; else s ^= 5;`, `s = s * 3 + (${guard} ? a[k & 63] : 1);`, `if (${guard} && a[k & 63] > 1) s += k;\n        s *= 3;`, `if (!(${guard})) break;\n        s += a[k & 63];`]);
  return `#define LOOSE m & 12\n__global__ void kern(const int *a, int *o, int n, int m0, int b0)\n{\n    int m = m0 % 256, b = b0 % 16;\n    int tx = threadIdx.x;\n    int s = 1;\n    for (${loop}) {\n        ${body}\n    }\n    o[blockIdx.x * blockDim.x + threadIdx.x] = s;\n}\n`;
}

test.each([['peel', peel, 12], ['ballot', ballot, 0]] as const)('%s keeps bounds of all operators whole', (_name, transform, least) => {
  let applied = 0;
  for (let seed = 0; seed < 80; seed++) {
    const before = kernel(seed);
    const run = applyAll(transform, before, { evenIfItLoses: true });
    if (run.rounds === 0) continue;
    applied++;
    const verdict = verifyEquivalent(load(before).program, load(run.text).program, 'kern', { budgetMs: 100, blocks: [[48, 1, 1]], grids: [[2, 1, 1]], sizes: [33, 0, 70, 1, 5] });
    if (verdict.status === 'different') throw new Error(`seed ${seed}: ${verdict.counterexample.differences.join('; ')}\n${before}\n${run.text}`);
  }
  expect(applied).toBeGreaterThanOrEqual(least);
}, 120_000);

test('a remainder and a masked value lie where they say: no version waits for one that is below zero', () => {
  const kernelOf = (edge: string): string => `__global__ void kern(const int *a, int *o, int n, int m, int b)
{
    int s = 0;
    for (int k = -3; k <= 3; k++) {
        int x = (int)threadIdx.x + k;
        if (x >= ${edge} && x < m) s += a[x & 63];
    }
    o[threadIdx.x] = s;
}
`;
  for (const edge of ['(b & 3)', '(7 & b)', '(int)((unsigned)b % 9u)']) {
    const run = applyAll(peel, kernelOf(edge), { evenIfItLoses: true });
    expect(run.text).not.toContain('2 < 0');
  }
});

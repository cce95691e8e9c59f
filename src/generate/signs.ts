/**
 * Loops whose counters go below zero or near the end of their type: starts in front of the array (`blockIdx.x * 8 - 2`), counters that fall, steps and
 * bounds in other types than the counter's, unsigned differences that become an `int`, mixtures of 32 and 64 bits. What is undefined does not
 * happen: steps in the counter's own signed type stay far from its end, all others are defined there.
 */
import type { Choices } from './choices.js';
import { deeper, type GenerateContext } from './context.js';
import { ELEMENTS } from './expressions.js';
import { update, type Lines } from './statements.js';

interface CounterType { readonly name: string; readonly signed: boolean; readonly bits: 8 | 16 | 32 | 64 }

const TYPES: readonly [CounterType, ...CounterType[]] = [
  { name: 'int', signed: true, bits: 32 }, { name: 'int', signed: true, bits: 32 }, { name: 'unsigned', signed: false, bits: 32 }, { name: 'long long', signed: true, bits: 64 },
  { name: 'size_t', signed: false, bits: 64 }, { name: 'int', signed: true, bits: 32 }, { name: 'short', signed: true, bits: 16 }, { name: 'unsigned char', signed: false, bits: 8 },
];

/** A loop, as its pieces: which statements stand in front of it, its head, and what stands at the end of the body. */
interface Head { readonly before: Lines; readonly type: CounterType; readonly start: string; readonly test: string; readonly step: string; readonly rounds: string; readonly far: boolean }

/** Small numbers, some of them negative, that no analysis knows. */
function small(choose: Choices): string {
  return choose.pick(['(m & 7)', '12', '-3', '(mode & 3) - 2', '-(m & 3)', '(n & 15)', '0', '5', 'lut[blockIdx.x & 7] - 2', '(int)blockIdx.x - 1', '-6', '1']);
}

/** In another type, with the same value where that can hold it. */
function retyped(choose: Choices, text: string): string {
  return choose.pick([text, text, text, `(unsigned)(${text})`, `(long long)(${text})`, `(size_t)(${text})`, `(short)(${text})`]);
}

function stepOf(choose: Choices, type: CounterType, far: boolean, up: boolean): { readonly amount: string; readonly one: boolean } {
  const [one, ...others] = ['1', '2', '3', '5u', 'blockDim.x', '(((unsigned)m & 7u) | 1u)', '((mode & 3) + 1)', 'sizeof(float)', '2ll', '(threadIdx.x + 1)', 'by'] as const;
  // Near the end only what is small, or is not computed in the counter's own signed type.
  // An int that rises past its end by block and thread numbers or constants is what the grant `index-range` assumes away.
  const amounts = far && type.signed && type.bits === 64 ? (['2', '3', '(mode & 3) + 1', '5ull'] as const) : far && up && type.name === 'int' ? (['2', '3', '(((unsigned)m & 7u) | 1u)', '((mode & 3) + 1)', '(unsigned)(lut[2] & 3) + 4u'] as const) : others;
  return choose.rarely(3) ? { amount: one, one: true } : { amount: choose.pick(amounts as unknown as readonly [string, ...string[]]), one: false };
}

/** Where a counter of the type starts if it is to meet its end: close to it, or at a distance that steps in its own type cannot cover. */
function farStart(choose: Choices, type: CounterType, up: boolean, own: boolean): string {
  const some = choose.pick(['lut[tid & 7]', 'lut[3]', '(m & 3)', '(int)(threadIdx.x & 3u)']);
  const table: Readonly<Record<string, readonly [string, string]>> = own
    ? { int: ['2147483000', '-2147483000'], unsigned: ['4294967290u', '2u'], 'long long': ['9223372036854775000ll', '-9223372036854775000ll'], size_t: ['18446744073709551600ull', '3ull'], short: ['32760', '-32760'], 'unsigned char': ['250', '3'] }
    : { int: ['2147483620', '-2147483620'], unsigned: ['4294967280u', '12u'], 'long long': ['9223372036854775000ll', '-9223372036854775000ll'], size_t: ['18446744073709551600ull', '12ull'], short: ['32750', '-32750'], 'unsigned char': ['240', '12'] };
  const [high, low] = table[type.name] ?? ['0', '0'];
  return up ? `${high} + ${some}` : type.signed ? `${low} - ${some}` : `${low} + ${some}`;
}

function head(c: GenerateContext, t: string): Head {
  const { choose } = c;
  const type = choose.pick(TYPES);
  const up = choose.rarely(2);
  const far = choose.rarely(3);
  const by = `${t}by`;
  const { amount, one } = stepOf(choose, type, far, up);
  const byType = choose.pick(far ? ['unsigned', 'const unsigned', 'unsigned long long'] : ['unsigned', 'int', 'const unsigned', 'long long']);
  const before = amount === 'by' ? [`${c.indent}${byType} ${by} = ${choose.pick(['blockDim.x', 'blockDim.x * 2', '(m & 3) + 1', 'gridDim.x + 1'])};`] : [];
  const amountText = amount === 'by' ? by : amount;
  const own = type.signed && type.bits >= 32 && (one || ['2', '3', '((mode & 3) + 1)'].includes(amount) || (amount === 'by' && (byType === 'int' || byType === 'long long')));
  const op = up ? '+' : '-';
  const step = one ? choose.pick([`${op}${op}${t}`, `${t}${op}${op}`, `${t} ${op}= 1`]) : choose.pick([`${t} ${op}= ${amountText}`, `${t} ${op}= ${amountText}`, `${t} = ${t} ${op} ${amountText}`]);
  const rounds = `${t}r`;
  const start = far ? farStart(choose, type, up, own) : choose.pick([
    retyped(choose, small(choose)), 'threadIdx.x - 4', 'blockIdx.x * 8 - 2', '(int)(blockIdx.x * blockDim.x) - (m & 7)', 'n - 8u', '(n & 31) - 1', 'tid - (m & 7)', 'i - 2', '(int)threadIdx.x - 3', `${small(choose)} + (int)threadIdx.x`,
  ]);
  const bound = far
    ? choose.pick(type.bits === 64 ? (up ? ['n', '9223372036854775807ll', '-1'] : ['n', '2', '-9223372036854775807ll']) as [string, ...string[]]
      : (up ? ['2147483647', '2147483640', '4294967295u', '(long long)n + 4294967296ll', type.bits === 8 ? '255' : '32767', 'n'] : ['-2147483640', '(-2147483647 - 1)', '-2147483647 + lut[2]', '(long long)n - 4294967296ll', type.signed ? '-32768' : '2', 'n']) as [string, ...string[]])
    : retyped(choose, choose.pick([small(choose), '(n & 31)', `${small(choose)} + 6`, up ? '14' : '-9', up ? 'n' : '-(n & 31)']));
  const order = choose.pick(up ? ['<', '<', '<='] : ['>', '>', '>=']);
  const compared = far && choose.rarely(3) ? `${t} != ${bound}` : choose.rarely(4) ? `${bound} ${order === '<' ? '>' : order === '<=' ? '>=' : order === '>' ? '<' : '<='} ${t}` : `${t} ${order} ${bound}`;
  // Small starts and bounds in int end by themselves; all else after some rounds.
  const ends = !far && type.name === 'int' && !/unsigned|size_t|long|\bn\b|\bi\b|8u|short/.test(start + bound) && /^(?:1|2|3)$/.test(amount);
  const test = ends && choose.rarely(2) ? compared : choose.pick([`${compared} && ${rounds} < 9`, `${rounds} < 7 && ${compared}`]);
  return { before, type, start, test, step, rounds, far };
}

/** An index of the counter, and a test of it against an edge. */
function guard(c: GenerateContext, t: string, far: boolean): { readonly declared: Lines; readonly test: string; readonly index: string } {
  const { choose } = c;
  const j = `${t}j`;
  const wide = c.indent + '    ';
  const form = far
    ? choose.pick(['', `long long ${j} = ${t};`, `unsigned ${j} = (unsigned)${t} + 3u;`, `auto ${j} = ${t};`, `int ${j} = ${t};`])
    : choose.pick(['', '', `int ${j} = ${t} + (int)threadIdx.x;`, `int ${j} = base + ${t};`, `auto ${j} = base + ${t};`, `long long ${j} = (long long)${t} * 2 - 5;`, `unsigned ${j} = ${t} - 2;`, `int ${j} = ${t} * 2 + tid;`, `int ${j} = i + ${t};`, `size_t ${j} = base + ${t};`, `int ${j} = (int)(${t} - threadIdx.x);`]);
  const index = form === '' ? t : j;
  const edge = choose.pick(['n', '(m & 7)', '4', '0', '-2', 'top', '(unsigned)n', '(long long)top', '(mode & 3)', '(size_t)n', '7u']);
  const window = far ? [`${index} >= 0 && ${index} < ${edge}`, `(unsigned)${index} < (unsigned)top`] : [`${index} >= 0 && ${index} < ${edge}`, `(unsigned)${index} < (unsigned)top`, `${index} >= -1 && ${index} + 2 <= top`, `0 <= ${index} && ${index} <= top`];
  const test = choose.pick([`${index} < ${edge}`, `${index} >= ${edge}`, choose.pick(window as [string, ...string[]]), `${index} > ${edge}`, `${edge} >= ${index}`, `${index} == ${edge}`, `${index} != ${edge}`, choose.pick(window as [string, ...string[]])]);
  return { declared: form === '' ? [] : [wide + form], test, index };
}

/** What the loop does where the guard holds, where it does not, and in each iteration. */
function body(c: GenerateContext, t: string, far: boolean): Lines {
  const { choose } = c;
  const inner = deeper(c, { arrival: 'lanes', depth: 0 });
  const { declared, test, index } = guard(c, t, far);
  const value = `in[(unsigned)${index} & ${ELEMENTS - 1}u]`;
  const invariant = choose.pick(['flag', '(mode & 1) == 0', `lut[${t}q] > 1`, 'base > 0', `16 / ${t}q > 3`]);
  const heavy = [`${inner.indent}    float h = ${value};`, `${inner.indent}    for (int s = 0; s < 5; ++s)`, `${inner.indent}        h = h * 0.5f + sqrtf(fabsf(h) + s);`, `${inner.indent}    ${t}late += h;`];
  const work = ((): Lines => {
    switch (choose.below(9)) {
      case 1: return [`${inner.indent}acc += (${test}) ? ${value} : 0.0f;`];
      case 2: return [`${inner.indent}if (${test}) {`, `${inner.indent}    acc += ${value} * w;`, `${inner.indent}} else {`, `${inner.indent}    cnt += 3;`, `${inner.indent}}`];
      case 3: return [`${inner.indent}if (!(${test}))`, `${inner.indent}    cnt ^= 5;`, `${inner.indent}else`, `${inner.indent}    acc = acc * 0.5f + ${value};`];
      case 4: return [`${inner.indent}if (${invariant})`, `${inner.indent}    acc += ${value};`, `${inner.indent}else`, `${inner.indent}    cnt++;`];
      case 5: return [`${inner.indent}if (${value} > 0.4f) {`, ...heavy, `${inner.indent}}`];
      case 6: return [`${inner.indent}if (${test} && ${value} > 0.0f) {`, ...heavy, `${inner.indent}}`];
      case 7: return [`${inner.indent}if (${test}) {`, `${inner.indent}    acc += ${value};`, `${inner.indent}    if (${invariant})`, `${inner.indent}        cnt += 2;`, `${inner.indent}}`];
      default: return [`${inner.indent}if (${test})`, `${inner.indent}    acc += ${value} * ${choose.pick(['w', '0.25f'])};`];
    }
  })();
  const rest = choose.pick([[], [`${inner.indent}hash = hash * 31u + (unsigned)${t};`], update(inner)] as [Lines, ...Lines[]]);
  return [...declared, ...work, ...rest];
}

/** A window whose counter meets the end of its type: what lies behind it fails the guard that all before it pass. */
function farWindow(c: GenerateContext): Lines {
  const { choose } = c;
  const [t, j, r] = [c.fresh('t'), c.fresh('j'), c.fresh('r')];
  const [type, up, start, bound, index, guarded] = choose.pick<readonly [string, boolean, string, string, string, string]>([
    ['short', true, '32764', '32768 + (m & 7)', `i + ${t}`, `${j} >= 0 && ${j} < 70000`], ['unsigned char', true, '250', '256 + (m & 7)', `tid + ${t} - 200`, `${j} >= 0 && ${j} < 5000`],
    ['short', false, '-32764', '-32769 - (m & 7)', `${t} - tid`, `${j} < 0 && ${j} > -70000`], ['int', false, '-2147483620 - (m & 7)', '-2147483647 + lut[2]', t, `${j} < 0 && ${j} <= (mode & 7)`],
    ['unsigned', true, '4294967290u', '(long long)4294967290ll + (m & 31)', `(long long)${t} - 4294967000ll`, `${j} >= 0 && ${j} < 5000`], ['unsigned char', false, '3', '-1 - (m & 3)', `tid + ${t}`, `${j} < 200 && ${j} >= 0`],
    ['int', false, '-2147483620 - (m & 7)', '-2147483647 + lut[2]', t, `${j} ${choose.pick(['<', '>='])} ${choose.pick(['7', 'n', '-4'])}`],
    ['unsigned', false, '5u', '-1ll - (m & 7)', `(long long)${t} + tid`, `${j} < 5000 && ${j} >= 0`], ['int', false, '(m & 3) - 2', '(unsigned)(mode & 3) + 2u', t, `${j} >= 0 && ${j} < 5000`],
  ]);
  const amount = choose.pick(['1u', '2u', 'blockDim.x', '3u', '(((unsigned)m & 1u) | 1u)']);
  const step = type !== 'int' && choose.rarely(3) ? `${up ? '++' : '--'}${t}` : `${t} ${up ? '+' : '-'}= ${amount}`;
  return [
    `${c.indent}int ${r} = 0;`, `${c.indent}for (${type} ${t} = ${start}; ${t} ${up ? '<' : '>'} ${bound} && ${r} < 9; ${step}) {`, `${c.indent}    long long ${j} = ${index};`,
    `${c.indent}    if (${guarded})`, `${c.indent}        acc += in[(unsigned)${j} & ${ELEMENTS - 1}u] * 0.25f;`, `${c.indent}    ++${r};`, `${c.indent}}`,
  ];
}

/** Loops around an index whose edges are guarded, as a stencil or a search has them; all end by themselves, or after nine rounds. */
function windowNest(c: GenerateContext): Lines {
  const { choose } = c;
  if (choose.rarely(4)) return farWindow(c);
  const [t, j, y, r] = [c.fresh('t'), c.fresh('j'), c.fresh('y'), c.fresh('r')];
  const type = choose.pick(TYPES);
  const up = choose.rarely(2);
  const least = choose.pick(['0', '2', '(m & 3)', '(mode & 3)', '1'] as [string, ...string[]]);
  const most = choose.pick(['5', '(m & 7)', '(n & 7) + 1', '6', '(mode & 3) + 3'] as [string, ...string[]]);
  const below = choose.pick(['-3', '-(m & 3)', '(mode & 3) - 2', '-2', 'lut[blockIdx.x & 7] - 3', least] as [string, ...string[]]);
  const low = type.signed || !up ? choose.pick([below, below, least]) : least;
  const cast = choose.pick(['', '', '', '', '(short)', '(long long)', up ? '(unsigned)' : '(int)', up ? '(size_t)' : '(long long)']);
  const bound = up ? (cast === '' ? most : `${cast}(${most})`) : cast === '' ? (type.signed ? low : least) : `${cast}(${type.signed ? low : least})`;
  const start = up ? choose.pick([low, low, `${low} + (int)(threadIdx.x & 1u)`, 'blockIdx.x & 1u']) : choose.pick([most, most, `${most} - (int)(threadIdx.x & 1u)`, '6u']);
  const amount = choose.pick(['1', '1', '2', '1u', '2u', '(((unsigned)m & 1u) | 1u)', '3ll', '(threadIdx.x & 1) + 1', 'gridDim.x']);
  const step = amount === '1' ? choose.pick(up ? [`++${t}`, `${t}++`] : [`--${t}`, `${t}--`]) : `${t} ${up ? '+' : '-'}= ${amount}`;
  const op = choose.pick(up ? ['<', '<', '<='] : ['>', '>', '>=']);
  const test = choose.rarely(4) ? `${bound} ${op === '<' ? '>' : op === '<=' ? '>=' : op === '>' ? '<' : '<='} ${t}` : `${t} ${op} ${bound}`;
  // What falls in a type without a sign may go on at the top.
  const cut = !up && (!type.signed || choose.rarely(4));
  const twice = choose.rarely(3);
  const place = choose.pick(['i + T', 'i + T', 'base + T + tid', 'base + T', 'i - T', 'i + 2 * T', '(int)(base + T) + tid', 'T + (int)threadIdx.x - 3', 'base + threadIdx.x + T', 'n - i + T']).replace('T', t);
  const form = choose.pick(['int', 'int', 'int', 'unsigned', 'long long', 'auto', 'size_t']);
  const edge = choose.pick(['n', 'top', '(m & 15) + 9', '(unsigned)n', '(long long)top', '40', '2 * n']);
  const guarded = choose.pick([`${j} >= 0 && ${j} < ${edge}`, `${j} >= 0 && ${j} < ${edge}`, `(unsigned)${j} < (unsigned)${edge}`, `${j} < ${edge}`, `${j} >= 0`, `${edge} > ${j} && ${j} > -1`, `${j} >= 2 && ${j} <= ${edge} - 2`]);
  const at = c.indent + (twice ? '    ' : '');
  const value = `in[(unsigned)${j} & ${ELEMENTS - 1}u]`;
  const work = choose.pick<Lines>([
    [`${at}    if (${guarded})`, `${at}        acc += ${value} * 0.25f;`], [`${at}    acc += (${guarded}) ? ${value} : 0.0f;`], [`${at}    if (!(${guarded}))`, `${at}        continue;`, `${at}    acc = acc * 0.5f + ${value};`, `${at}    cnt++;`],
  ]);
  return [
    ...(cut ? [`${c.indent}int ${r} = 0;`] : []), ...(twice ? [`${c.indent}for (int ${y} = -1; ${y} <= 1; ++${y})`] : []),
    `${at}for (${type.name} ${t} = ${start}; ${test}${cut ? ` && ${r} < 9` : ''}; ${step}${cut ? `, ++${r}` : ''}) {`, `${at}    ${form} ${j} = ${place}${twice ? ` + ${choose.pick(['5', '2', '-3'])} * ${y}` : ''};`, ...work, `${at}}`,
  ];
}

/** A loop whose counter meets its edges, and a nest of them, in many spellings. */
export function signedLoops(c: GenerateContext): Lines {
  const { choose } = c;
  const base = choose.pick([
    'const int base = blockIdx.x * 8 - 2', 'int base = blockIdx.x * blockDim.x - (m & 3)', 'unsigned base = blockIdx.x * 4 - 2', 'long long base = (long long)blockIdx.x * 8 - 3', 'size_t base = blockIdx.x * 8 - 3',
    'const int base = blockIdx.x * blockDim.x', 'int base = (int)(blockIdx.x * 16u) - (int)threadIdx.x',
  ]);
  const top = choose.pick(['int top = n', 'const int top = (m & 15) + 3', 'unsigned top = n', 'long long top = n - 3', 'int top = -(m & 3)']);
  const which = choose.below(3);
  return [`${c.indent}${base};`, `${c.indent}${top};`, `${c.indent}(void)base; (void)top;`, ...(which === 1 ? [] : signedLoop(c)), ...(which === 0 ? [] : windowNest(c))];
}

/** One loop, or a nest of two, in one of the spellings. */
function signedLoop(c: GenerateContext): Lines {
  const { choose } = c;
  const t = c.fresh('t');
  const made = head(c, t);
  const nested = choose.rarely(4);
  const inner = nested ? deeper(c) : c;
  const around = c.indent;
  const { indent } = inner;
  // A value that makes what is read by it fault where the loop is not entered.
  const entered = made.test.replaceAll(new RegExp(`\\b${made.rounds}\\b`, 'g'), '0');
  const lines: string[] = [`${indent}int ${made.rounds} = 0;`, ...made.before.map((line) => indent + line.trim())];
  const whole = body(inner, t, made.far);
  const uses = whole.some((line) => line.includes(`${t}q`));
  if (uses) lines.push(`${indent}int ${t}q;`, `${indent}{`, `${indent}    ${made.type.name} ${t} = ${made.start};`, `${indent}    ${t}q = ${entered} ? 3 : 0;`, `${indent}    ${t}q = ${t}q == 0 ? ${whole.some((line) => line.includes('16 /')) ? '0' : '99999999'} : ${t}q;`, `${indent}}`);
  if (whole.some((line) => line.includes(`${t}late`))) lines.push(`${indent}float ${t}late = 0.5f;`);
  const count = `${indent}    ${made.rounds}++;`;
  switch (choose.below(5)) {
    case 1: lines.push(`${indent}${made.type.name} ${t} = ${made.start};`, `${indent}for (; ${made.test}; ${made.step}) {`, ...whole, count, `${indent}}`, `${indent}cnt += (int)${t} & 1023;`); break;
    case 2: lines.push(`${indent}${made.type.name} ${t} = ${made.start};`, `${indent}while (${made.test}) {`, ...whole, `${indent}    ${made.step};`, count, `${indent}}`, `${indent}cnt += (int)${t} & 255;`); break;
    case 3: lines.push(`${indent}${made.type.name} ${t};`, `${indent}for (${t} = ${made.start}; ${made.test}; ${made.step}) {`, ...whole, count, `${indent}}`); break;
    case 4: lines.push(`${indent}for (${made.type.name} ${t} = ${made.start}; ${made.test}; ${made.step}, ${made.rounds}++) {`, ...whole, `${indent}}`); break;
    default: lines.push(`${indent}for (${made.type.name} ${t} = ${made.start}; ${made.test}; ${made.step}) {`, ...whole, count, `${indent}}`);
  }
  if (lines.some((line) => line.includes(`float ${t}late`))) lines.push(`${indent}acc += ${t}late;`);
  if (!nested) return lines;
  const o = c.fresh('o');
  return [`${around}for (int ${o} = ${choose.pick(['-1', '0', '1 - (m & 1)'])}; ${o} <= 1; ++${o}) {`, ...lines, `${around}}`];
}

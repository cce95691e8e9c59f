/**
 * What the two kernels of a split are called: after the block's role, or after what is known of the condition in each of them.
 *
 *     if (weighted)           _weighted         _not_weighted
 *     if (mask != nullptr)    _with_mask        _no_mask
 *     if (mode == 2)          _mode_2           _mode_not_2
 *     if (n < 64)             _n_below_64       _n_from_64
 *     if (up && n > 64)       _up               _other
 *     if (blockIdx.x == 0)    _first_block      _rest
 *
 * A chain of tests of one value goes on from the kernel that it began with: `_mode_0`, `_mode_1`, `_mode_not_0_or_1`.
 */
import { strip } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { BinaryOperator, Expr } from '../../src/syntax/tree.js';
import { freshKernelName } from '../lib/kernel-names.js';
import type { TransformContext } from '../lib/types.js';
import { allButOne, type LaunchCondition } from './condition.js';
import { soleValue } from './host-text.js';
import type { SplitBranch } from './shape.js';

/** Longer than this a word says less than a general one. */
const LONGEST = 24;

export function kernelNames(context: TransformContext, branch: SplitBranch, condition: Exclude<LaunchCondition, { kind: 'not-known' | 'interior' }>): { readonly then: string; readonly else: string } {
  const { facts } = context;
  const { name } = facts.function;
  const made = condition.kind === 'role' ? roleNames(name, condition.first === '1', condition.first === allButOne(condition.axis), condition.thenFirst) : choiceNames(facts, name, branch.stmt.condition);
  const then = freshKernelName(context, made[0], []);
  return { then, else: freshKernelName(context, made[1], [then]) };
}

function roleNames(name: string, one: boolean, last: boolean, thenFirst: boolean): readonly [string, string] {
  const [front, behind] = last ? ['rest', 'last_block'] : [one ? 'first_block' : 'first_blocks', 'rest'];
  return thenFirst ? [`${name}_${front}`, `${name}_${behind}`] : [`${name}_${behind}`, `${name}_${front}`];
}

function choiceNames(facts: FunctionFacts, kernel: string, condition: Expr): readonly [string, string] {
  const words = wordsOf(facts, condition, 0);
  const [holds, fails] = [shortOf(words.holds), shortOf(words.fails)];
  const [then, otherwise] = holds === null && fails === null ? ['then', 'else'] : [holds ?? 'other', fails ?? 'other'];
  return chained(kernel, words) ?? [`${kernel}_${then}`, `${kernel}_${otherwise}`];
}

function shortOf(word: string | null): string | null {
  return word === null || word.length > LONGEST ? null : word;
}

/** The next test of a value in a chain: the kernel is what the tests before it left over. */
function chained(kernel: string, { equal }: Words): readonly [string, string] | null {
  if (equal === null || equal.negated) return null;
  const { name, value } = equal;
  const before = new RegExp(`^(\\w+)_${name}_(?:not_(\\w+)|other\\d*)$`).exec(kernel);
  if (before === null) return null;
  const left = before[2] === undefined ? null : shortOf(`${name}_not_${before[2]}_or_${value}`);
  return [`${before[1] ?? kernel}_${name}_${value}`, `${before[1] ?? kernel}_${left ?? `${name}_other`}`];
}

/** What may be said where a condition holds, and where it does not; null where no short word says it. */
interface Words {
  readonly holds: string | null;
  readonly fails: string | null;
  /** How much the words tell: an equality more than a flag, a flag more than a limit. */
  readonly telling: 0 | 1 | 2 | 3;
  readonly equal: { readonly name: string; readonly value: string; readonly negated: boolean } | null;
}

const NOTHING: Words = { holds: null, fails: null, telling: 0, equal: null };
const MIRRORED: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };
const LIMITS: Readonly<Partial<Record<BinaryOperator, readonly [string, string]>>> = { '<': ['below', 'from'], '<=': ['up_to', 'above'], '>': ['above', 'up_to'], '>=': ['from', 'below'] };

function wordsOf(facts: FunctionFacts, condition: Expr, depth: number): Words {
  const e = strip(condition);
  switch (e.kind) {
    case 'unary': return e.op === '!' ? negated(wordsOf(facts, e.operand, depth)) : NOTHING;
    case 'cast': return wordsOf(facts, e.operand, depth);
    case 'ref': case 'member': return flagWords(facts, e, depth);
    case 'binary': return binaryWords(facts, e, depth);
    default: return NOTHING;
  }
}

function negated({ holds, fails, telling, equal }: Words): Words {
  return { holds: fails, fails: holds, telling, equal: equal === null ? null : { ...equal, negated: !equal.negated } };
}

function binaryWords(facts: FunctionFacts, e: Extract<Expr, { kind: 'binary' }>, depth: number): Words {
  switch (e.op) {
    case '&&': case '||': {
      // All of them hold, or none does: the most telling one speaks for the others.
      const parts = [wordsOf(facts, e.left, depth), wordsOf(facts, e.right, depth)];
      const [best = NOTHING] = parts.filter((part) => (e.op === '&&' ? part.holds : part.fails) !== null).sort((a, b) => b.telling - a.telling);
      return e.op === '&&' ? { ...best, fails: null, equal: null } : { ...best, holds: null, equal: null };
    }
    case '==': {
      const rest = ofZero(facts, e);
      return rest === null ? equalWords(facts, e) : negated(rest);
    }
    case '!=': return ofZero(facts, e) ?? negated(equalWords(facts, e));
    case '<': case '<=': case '>': case '>=': {
      for (const [side, limit, op] of [[e.left, e.right, e.op], [e.right, e.left, MIRRORED[e.op] ?? e.op]] as const) {
        const name = nameOf(side);
        const value = wordOfValue(facts, limit);
        const pair = LIMITS[op];
        if (name !== null && value === null && pair !== undefined) return op.startsWith('<') ? { holds: `low_${name}`, fails: `high_${name}`, telling: 1, equal: null } : { holds: `high_${name}`, fails: `low_${name}`, telling: 1, equal: null };
        if (name !== null && value !== null && pair !== undefined) return { holds: `${name}_${pair[0]}_${value}`, fails: `${name}_${pair[1]}_${value}`, telling: 1, equal: null };
      }
      return NOTHING;
    }
    case '&': return bitWords(facts, e);
    case '%': return restWords(facts, e);
    default: return NOTHING;
  }
}

/** `if (n % 4)`: there is a rest. */
function restWords(facts: FunctionFacts, e: Extract<Expr, { kind: 'binary' }>): Words {
  const name = nameOf(e.left);
  const value = wordOfValue(facts, e.right);
  if (name === null || value === null) return NOTHING;
  return value === '2' ? { holds: `odd_${name}`, fails: `even_${name}`, telling: 2, equal: null } : { holds: `${name}_not_by_${value}`, fails: `${name}_by_${value}`, telling: 2, equal: null };
}

/** `(flags & FAST) != 0`, `n % 4 != 0`. */
function ofZero(facts: FunctionFacts, e: Extract<Expr, { kind: 'binary' }>): Words | null {
  const side = strip(e.left);
  if (side.kind !== 'binary' || wordOfValue(facts, e.right) !== '0') return null;
  return side.op === '&' ? bitWords(facts, side) : side.op === '%' ? restWords(facts, side) : null;
}

/** `if (flags & FAST)`. */
function bitWords(facts: FunctionFacts, e: Extract<Expr, { kind: 'binary' }>): Words {
  const name = nameOf(e.left);
  const value = wordOfValue(facts, e.right);
  if (name === null || value === null) return NOTHING;
  return /^[a-z]/.test(value) ? { holds: value, fails: `not_${value}`, telling: 2, equal: null } : { holds: `${name}_has_${value}`, fails: `${name}_without_${value}`, telling: 2, equal: null };
}

function equalWords(facts: FunctionFacts, e: Extract<Expr, { kind: 'binary' }>): Words {
  for (const [side, other] of [[e.left, e.right], [e.right, e.left]] as const) {
    const name = nameOf(side);
    const s = strip(side);
    if (name === null) continue;
    if (s.type.kind === 'pointer' && isNull(other)) return negated(pointerWords(name));
    const o = strip(other);
    if (o.kind === 'literal' && typeof o.value === 'boolean') return o.value ? flagWords(facts, s, 9) : negated(flagWords(facts, s, 9));
    const value = wordOfValue(facts, other);
    if (value === null && o.kind === 'binary' && o.op === '-' && wordOfValue(facts, o.right) === '1') return { holds: `last_${name}`, fails: `not_last_${name}`, telling: 3, equal: null };
    if (value === null) continue;
    // `mode == MODE_FAST` is mode_fast, not mode_mode_fast.
    const short = value.startsWith(`${name.toLowerCase()}_`) ? value.slice(name.length + 1) : value;
    return { holds: `${name}_${short}`, fails: `${name}_not_${short}`, telling: 3, equal: { name, value: short, negated: false } };
  }
  return NOTHING;
}

function pointerWords(name: string): Words {
  return { holds: `with_${name}`, fails: `no_${name}`, telling: 2, equal: null };
}

/** A flag by its name; a number or a pointer as a flag. */
function flagWords(facts: FunctionFacts, e: Expr, depth: number): Words {
  if (e.kind === 'ref' && e.decl?.kind === 'variable' && e.type.kind !== 'bool' && depth < 4) {
    const value = soleValue(facts, e.decl);
    const words = value === null ? NOTHING : wordsOf(facts, value, depth + 1);
    if (words.telling > 0) return words;
  }
  const name = nameOf(e);
  if (name === null) return NOTHING;
  if (e.type.kind === 'pointer') return pointerWords(name);
  // is_last, hasMask: what is, and what there is.
  const prefix = /^(is|has|have|use|with|do)(?:_|(?=[A-Z]))(\w+)$/.exec(name);
  const [, verb, rest = ''] = prefix ?? [];
  const word = prefix === null ? name : rest.charAt(0).toLowerCase() + rest.slice(1);
  if (!/^[A-Za-z]/.test(word)) return { holds: name, fails: `not_${name}`, telling: 2, equal: null };
  if (verb === undefined || verb === 'is') return { holds: word, fails: `not_${word}`, telling: 2, equal: null };
  return { holds: verb === 'do' ? word : `with_${word}`, fails: `no_${word}`, telling: 2, equal: null };
}

/** The name of a parameter, of a variable or of a field, without underscores at its ends. */
function nameOf(expr: Expr): string | null {
  const e = strip(expr);
  if (e.kind === 'coordinate' && (e.base === 'blockDim' || e.base === 'gridDim')) return `${e.base === 'blockDim' ? 'block' : 'grid'}${e.axis === null || e.axis === 'x' ? '' : `_${e.axis}`}`;
  const name = e.kind === 'ref' && (e.decl?.kind === 'parameter' || e.decl?.kind === 'variable' || e.decl?.kind === 'template-parameter') ? e.name : e.kind === 'member' ? e.name : e.kind === 'cast' ? nameOf(e.operand) : null;
  if (name === null) return null;
  const word = name.replace(/^_+|_+$/g, '');
  return /^[A-Za-z]/.test(word) ? word : null;
}

/** A constant as part of a name: its own name where it has one, else the number. */
function wordOfValue(facts: FunctionFacts, expr: Expr): string | null {
  let at = expr;
  while (at.kind === 'paren' || at.kind === 'cast') at = at.kind === 'paren' ? at.inner : at.operand;
  if (at.kind === 'macro') return at.span.end - at.span.start === at.name.length ? worded(at.name) : null;
  const e = strip(at);
  if (e.kind === 'ref') return e.decl?.kind === 'enumerator' || e.decl?.kind === 'parameter' || e.decl?.kind === 'variable' ? worded(e.name) : null;
  const value = facts.constant(e);
  if (value === null || (e.kind !== 'literal' && e.kind !== 'unary')) return null;
  return value < 0n ? `minus_${-value}` : `${value}`;
}

function worded(name: string): string | null {
  const word = name.replace(/^.*::/, '').toLowerCase().replace(/^_+|_+$/g, '');
  return /^[a-z]\w*$/.test(word) ? word : null;
}

function isNull(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'cast') return isNull(e.operand);
  return e.kind === 'literal' && (e.value === null || e.value === 0n);
}

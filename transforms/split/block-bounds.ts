/**
 * From bounds of coordinate forms to numbers of blocks: along each axis, how many blocks stand before the interior and how many are in it, as
 * values of a launch plan. All of it is computed in 64 bits: no size of a launch leaves them, and wider parameters are tested before they are
 * changed.
 */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr } from '../../src/syntax/tree.js';
import { spokenByMacros } from '../lib/launch-checks.js';
import { spelledIn } from '../lib/launch-mentions.js';
import type { LaunchStep } from '../lib/types.js';
import type { Axis } from './condition.js';
import { limitsOf, type CoordinateForm, type HostTerm, type Within } from './coordinate-forms.js';
import { Stop } from './host-text.js';

/** What one comparison says of a form. */
export interface Bound {
  readonly form: CoordinateForm;
  /** A form without coordinates. */
  readonly edge: CoordinateForm;
  readonly sort: 'at-least' | 'less';
  /** The largest value that the edge can have in the type of the comparison, for `less`. */
  readonly high: bigint | null;
  /** More than the comparison asks for: only for an axis that has a lower edge too. */
  readonly weak: boolean;
  readonly at: Expr;
}

export interface AxisBox {
  readonly axis: Axis;
  /** Blocks before the interior: a number or a value of the plan; null if it begins with the first one. */
  readonly before: string | null;
  /** Blocks in it: a value of the plan. */
  readonly inside: string;
  /** False if it goes on to the last block. */
  readonly bounded: boolean;
  /** The code compares with both of its edges: no limit of a type stands for one. */
  readonly twoSided: boolean;
}

export interface Rectangle {
  /** From z to x. */
  readonly axes: readonly AxisBox[];
  readonly values: readonly Extract<LaunchStep, { kind: 'value' }>[];
}

/** `coefficient of blockIdx * blockIdx + thread * threadIdx` with positive factors, and what it is compared with. */
interface Side {
  readonly axis: Axis;
  readonly plain: bigint;
  readonly perThread: bigint;
  readonly thread: bigint;
  readonly constant: bigint;
  readonly terms: readonly HostTerm[];
  readonly at: Expr;
}

/** Throws `Stop` if no rectangle of blocks follows. */
export function rectangleOf(facts: FunctionFacts, bounds: readonly Bound[], ranges: readonly Within[], gates: readonly string[], at: Expr): Rectangle {
  const lower: Side[] = [];
  const upper: Side[] = [];
  const take = (form: CoordinateForm, edge: { readonly constant: bigint; readonly terms: readonly HostTerm[] }, less: boolean, where: Expr): void => {
    // form < edge, or form >= edge: what is no coordinate goes to the other side.
    const constant = edge.constant - form.constant;
    const terms = merged([...edge.terms, ...form.terms.map((term) => ({ ...term, coefficient: -term.coefficient }))]);
    const axis = form.axis;
    if (axis === null) return;
    const down = form.plain < 0n || form.perThread < 0n || form.thread < 0n;
    if (down && (form.plain > 0n || form.perThread > 0n || form.thread > 0n)) throw new Stop({ sort: 'edge', why: 'it counts up with the block and down with the thread', expr: where });
    const side: Side = down
      ? { axis, plain: -form.plain, perThread: -form.perThread, thread: -form.thread, constant: 1n - constant, terms: terms.map((term) => ({ ...term, coefficient: -term.coefficient })), at: where }
      : { axis, plain: form.plain, perThread: form.perThread, thread: form.thread, constant, terms, at: where };
    (less !== down ? upper : lower).push(side);
  };
  for (const bound of bounds) take(bound.form, bound.edge, bound.sort === 'less', bound.at);
  const explicit = [...lower, ...upper];
  const tests = [...gates];
  const seen: Within[] = [];
  for (const range of ranges) {
    const { form } = range;
    if (seen.some((other) => other.low === range.low && other.high === range.high && sameForm(other.form, form))) continue;
    seen.push(range);
    const [least, most] = extremes(form);
    const wide = form.terms.some((term) => term.type.bits === 64);
    if (!(most <= range.high || (!wide && range.high >= FAR))) {
      const implied = bounds.map((bound) => atMost(range, bound)).filter((under) => under !== null).sort((a, b) => a.length - b.length)[0];
      if (implied === undefined) take(form, { constant: range.high + 1n, terms: [] }, true, at);
      else tests.push(...implied.filter((test) => !tests.includes(test)));
    }
    if (!(least >= range.low || (!wide && range.low <= -FAR))) take(form, { constant: range.low, terms: [] }, false, at);
  }

  const namer = new Names(facts);
  const axes: AxisBox[] = [];
  const values: Extract<LaunchStep, { kind: 'value' }>[] = [];
  for (const axis of ['x', 'y', 'z'] as const) {
    const writer = new AxisWriter(axis, namer, values, facts.block.value !== null && facts.block.origin === 'launch');
    const low = lower.filter((side) => side.axis === axis && !(side.terms.length === 0 && side.constant <= 0n));
    const high = upper.filter((side) => side.axis === axis);
    if (low.length === 0 && high.length === 0) continue;
    if (low.length === 0 && bounds.some((bound) => bound.weak && bound.form.axis === axis)) throw new Stop({ sort: 'block', why: 'the blocks of one population do not stand together', expr: at });
    const compared = (sort: 'lower' | 'upper'): boolean => explicit.some((side) => side.axis === axis && (sort === 'lower' ? low : high).includes(side));
    axes.push({ ...writer.box(low, high, axes.length === 0 ? tests : []), twoSided: compared('lower') && compared('upper') });
  }
  if (axes.length === 0) throw new Stop({ sort: 'edge', why: 'it has no edge that a block could lie inside of', expr: at });
  return { axes: axes.reverse(), values };
}

/** Equal terms together; those that cancel go. */
function merged(terms: readonly HostTerm[]): readonly HostTerm[] {
  const out: HostTerm[] = [];
  for (const term of terms) {
    const at = out.findIndex((other) => other.host.text === term.host.text);
    const other = out[at];
    if (other === undefined) out.push(term);
    else out[at] = { ...other, coefficient: other.coefficient + term.coefficient };
  }
  return out.filter((term) => term.coefficient !== 0n);
}

function sameForm(a: CoordinateForm, b: CoordinateForm): boolean {
  return a.axis === b.axis && a.plain === b.plain && a.perThread === b.perThread && a.thread === b.thread && a.constant === b.constant
    && a.terms.length === b.terms.length && a.terms.every((term, i) => sameTerm(term, b.terms[i]));
}

function sameTerm(a: HostTerm, b: HostTerm | undefined): boolean {
  return b !== undefined && a.host.text === b.host.text && a.coefficient === b.coefficient;
}

/**
 * What must be tested for the upper limit of a range to follow from a comparison; null if it does not. Its form is nowhere larger than one that
 * stays below a number of its type, if what that one adds is not negative.
 */
function atMost({ form, high }: Within, bound: Bound): readonly string[] | null {
  const { form: other } = bound;
  if (bound.sort !== 'less' || bound.high === null || other.axis !== form.axis) return null;
  if (other.plain < form.plain || other.perThread < form.perThread || other.thread < form.thread || form.plain < 0n || form.perThread < 0n || form.thread < 0n) return null;
  if (form.terms.some((term, i) => !sameTerm(term, other.terms[i]))) return null;
  const added = other.terms.slice(form.terms.length);
  const above = other.constant - form.constant;
  // other <= bound.high: the edge itself lies in its type, and was made one larger for `<=`.
  if (above < 0n || bound.high - above > high || added.some((term) => term.coefficient < 0n)) return null;
  return added.flatMap((term) => (term.type.signed && term.coefficient > 0n ? [`${operand(term)} >= 0`] : []));
}

/** Limits of a form, from those of the launch: 2^31 - 1 blocks along x, 65,535 along the others, 1,024 threads. */
function extremes(form: CoordinateForm): readonly [bigint, bigint] {
  const blocks = form.axis === 'x' ? (1n << 31n) - 2n : 65_534n;
  const parts: readonly (readonly [bigint, bigint, bigint])[] = [
    [form.plain, 0n, blocks], [form.perThread, 0n, blocks * 1024n], [form.thread, 0n, 1023n],
    ...form.terms.map((term) => [term.coefficient, limitsOf(term.type).low, limitsOf(term.type).high] as const),
  ];
  let [low, high] = [form.constant, form.constant];
  for (const [factor, least, most] of parts) {
    low += factor * (factor > 0n ? least : most);
    high += factor * (factor > 0n ? most : least);
  }
  return [low, high];
}

class Names {
  readonly #taken = new Set<string>();

  constructor(private readonly facts: FunctionFacts) {}

  fresh(base: string): string {
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}${n}`;
      // What the kernel spells may be a constant that the plan calls by its name.
      if (this.#taken.has(name) || spelledIn(this.facts.unit.source, this.facts.function.span, name) || spokenByMacros(this.facts.unit, name)) continue;
      this.#taken.add(name);
      return name;
    }
  }
}

class AxisWriter {
  #size: string | null = null;

  /** `launched`: the blocks of all launches are known, so that none is empty. */
  constructor(private readonly axis: Axis, private readonly names: Names, private readonly values: Extract<LaunchStep, { kind: 'value' }>[], private readonly launched: boolean) {}

  /** Threads of a block as a divisor: the runtime calls a launch of empty blocks an error, which must not become a division by zero. */
  get #threads(): string {
    const size = `blockDim.${this.axis}`;
    return (this.#size ??= this.launched ? size : this.#value('threads', 'unsigned', `${size} > 0 ? ${size} : 1`));
  }

  #value(base: string, type: string, value: string): string {
    const name = this.names.fresh(`${base}_${this.axis}`);
    this.values.push({ kind: 'value', name, type, value });
    return name;
  }

  box(low: readonly Side[], high: readonly Side[], gates: readonly string[]): Omit<AxisBox, 'twoSided'> {
    let before: string | null = null;
    for (const side of low) {
      const first = this.#first(side);
      before = before === null ? first : this.#value('first', 'long long', `${first} > ${before} ? ${first} : ${before}`);
    }
    let last: string | null = null;
    for (const side of high) {
      const text = this.#last(side);
      const name: string = this.#value('last', 'long long', text);
      last = last === null ? name : this.#value('last', 'long long', `${name} < ${last} ? ${name} : ${last}`);
    }
    const all = `gridDim.${this.axis}`;
    const tests = [...gates, ...(last === null ? [] : [`${last} > ${before ?? '0'}`]), ...(before === null ? [] : [`${all} > ${before}`])];
    const end = last === null ? all : `(${last} < ${all} ? ${last} : ${all})`;
    const inside = this.#value('inside', 'unsigned', `${tests.join(' && ')} ? ${before === null ? end : `${end} - ${before}`} : 0`);
    return { axis: this.axis, before, inside, bounded: last !== null };
  }

  /** The first block whose first thread is not below the edge: a number, or the name of a value. */
  #first(side: Side): string {
    const { constant, terms } = side;
    if (terms.length === 0 && side.perThread === 0n) return String((constant + side.plain - 1n) / side.plain);
    if (terms.length === 0 && constant === 1n) return '1';
    const per = this.#perBlock(side);
    if (terms.length === 0) return this.#value('first', 'unsigned', `(${per} + ${constant - 1n}) / ${per}`);
    const [only] = terms;
    const plain = terms.length === 1 && constant === 0n && only?.coefficient === 1n && (only.type.bits < 64 || only.type.signed);
    if (!plain && terms.some((term) => term.type.bits === 64)) throw new Stop({ sort: 'arithmetic', why: 'an edge of 64 bits is changed before it is compared', expr: side.at });
    if (plain && only !== undefined && only.type.bits < 64 && /^[\w.]+$/.test(only.host.text)) {
      const ceiling = per === '1' ? only.host.text : `((long long)${only.host.text} + ${per} - 1) / ${per}`;
      return this.#value('first', 'long long', only.type.signed ? `${only.host.text} <= 0 ? 0 : ${ceiling}` : ceiling);
    }
    const edge = this.#value('begin', 'long long', sumText(constant, terms));
    if (only?.type.bits === 64) return this.#value('first', 'long long', `${edge} <= 0 ? 0 : (${edge} - 1) / ${per} + 1`);
    return this.#value('first', 'long long', `${edge} <= 0 ? 0 : (${edge} + ${per} - 1) / ${per}`);
  }

  /** Blocks whose last thread is below the edge, counted from the first. Negative or 0 if there is none. */
  #last(side: Side): string {
    const { plain, perThread, thread, terms } = side;
    const per = this.#perBlock(side);
    // From b * per + thread * (blockDim - 1) < edge: (edge - thread * (blockDim - 1) + per - 1) / per.
    const constant = side.constant + plain + thread - 1n;
    const more = perThread - thread;
    const sizes = more === 0n ? '' : ` ${more < 0n ? '-' : '+'} ${more === 1n || more === -1n ? '' : `${more < 0n ? -more : more} * `}${this.#threads}`;
    const wide = terms.filter((term) => term.type.bits === 64);
    const [only] = terms;
    let text: string;
    if (wide.length === 0) {
      text = sumText(constant, terms);
    } else {
      if (only === undefined || terms.length > 1 || only.coefficient !== 1n || sizes !== '') throw new Stop({ sort: 'arithmetic', why: 'an edge of 64 bits is changed before it is compared', expr: side.at });
      const name = operand(only);
      if (constant === 0n) text = `(long long)${name}`;
      else if (constant < 0n) text = `(long long)(${name} > ${-constant} ? ${name} - ${-constant} : 0)`;
      else text = `(long long)(${name} < ${FAR} ? ${name} + ${constant} : ${FAR})`;
    }
    // A number alone is divided as it is: what it is divided by is not negative.
    const sum = `${text}${sizes}`.replace(/^\(long long\)(\d{1,9})$/, '$1');
    if (per === '1') return sum;
    return `${/^(\(long long\))?(\(unsigned\))?(\w+(\.\w+)?|\([^()]*\))$/.test(sum) ? sum : `(${sum})`} / ${per}`;
  }

  /** What `blockIdx` is multiplied with. */
  #perBlock({ plain, perThread }: Side): string {
    if (perThread === 0n) return String(plain);
    const size = this.#threads;
    const product = perThread === 1n ? size : `${perThread} * ${size}`;
    return plain === 0n && perThread === 1n ? size : `(${product}${plain === 0n ? '' : ` + ${plain}`})`;
  }
}

/** 2^52: more than any launch has threads, and exact in every arithmetic. */
const FAR = 4_503_599_627_370_496n;

/** A term as an operand: what is no name, and no conversion of something in parentheses, gets some. */
function operand({ host: { text, primary } }: HostTerm): string {
  return primary || /^[\w.]+$|^\([a-z ]+\)(\w+|\([^()]*\))$/.test(text) ? text : `(${text})`;
}

/** A sum in 64 bits. */
function sumText(constant: bigint, terms: readonly HostTerm[]): string {
  const sorted = [...terms].filter((term) => term.coefficient !== 0n).sort((a, b) => (a.coefficient > 0n ? 0 : 1) - (b.coefficient > 0n ? 0 : 1));
  let text = '';
  const add = (negative: boolean, piece: string): void => {
    text = text === '' ? (negative ? `-${piece}` : piece) : `${text} ${negative ? '-' : '+'} ${piece}`;
  };
  if (sorted[0] === undefined || sorted[0].coefficient < 0n) {
    if (constant !== 0n || sorted.length === 0) add(constant < 0n, sorted.length === 0 ? `(long long)${constant < 0n ? -constant : constant}` : String(constant < 0n ? -constant : constant));
  }
  const begun = text !== '';
  sorted.forEach((term, i) => {
    const size = term.coefficient < 0n ? -term.coefficient : term.coefficient;
    const name = operand(term);
    const cast = i === 0 || size !== 1n ? `(long long)${name}` : name;
    add(term.coefficient < 0n, size === 1n ? cast : `${size} * ${cast}`);
  });
  if (!begun && constant !== 0n && sorted.length > 0) add(constant < 0n, String(constant < 0n ? -constant : constant));
  return text;
}

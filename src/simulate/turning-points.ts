/**
 * Where comparisons over a kernel's inputs turn: the values at which `m > 3`, `m / 2 == k`, `in[i] * 2 < LIMIT` are just no longer what they were, found by evaluating both sides over a
 * few values and halving the distance between two that differ. Calls of functions are followed with what they are given. Only test values depend on it, no verdict.
 */
import { strip, type Decl, type Expr, type FunctionDecl } from '../syntax/tree.js';
import { operate } from '../cuda/integers.js';
import { integerTypeOf, toScalar, type ConstantValue } from './constants.js';
import { bindTemplate, type Env } from './resolve.js';
import { callScope } from './made-with.js';
import { kernelScope, type Scope } from './term-scope.js';
import { scalarOf, termOf, type Atom, type Term } from './terms.js';
import { isFloating, Unsupported, type Scalar } from './types.js';
import { walkExpr, walkStmt } from './walk.js';

/** A comparison, and values of the inputs around which it turns. */
export interface TurningPoints {
  /** Tells comparisons apart, of two texts too; names of parameters stand between `@`. */
  readonly key: string;
  /** Values of scalar parameters, those that make both sides equal first. */
  readonly settings: readonly Readonly<Record<string, number>>[];
  /** Values of elements of a buffer, and the pointer's name. */
  readonly elements: readonly number[];
  readonly buffer?: string;
  readonly floating: boolean;
  /** Only one of two versions makes the comparison. */
  readonly alone?: true;
}

/** Calls that are followed, comparisons that are kept, values of one comparison. */
const MOST_CALLS = 200;
const MOST_COMPARISONS = 96;
const MOST_POINTS = 6;
/** What other inputs of a comparison hold meanwhile. */
const OTHERS = [40, 5, 12];
const COMPARISONS: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '!=']);

/** `stored`: variables that the code stores in, whose values are its own. */
export function turningPoints(kernel: FunctionDecl, env: Env, stored: ReadonlySet<Decl> = new Set()): readonly TurningPoints[] {
  const found = new Map<string, TurningPoints>();
  const add = (op: string, left: Term | null, right: Term | null): void => {
    if (left === null || right === null || found.size >= MOST_COMPARISONS) return;
    const key = `${left.key}${op}${right.key}`;
    if (found.has(key)) return;
    const atoms = new Set([...left.atoms, ...right.atoms]);
    if (atoms.size === 0 || atoms.size > 4) return;
    found.set(key, { key, ...solve(left, right, [...atoms]) });
  };
  let calls = 0;
  const visit = (f: FunctionDecl, scope: Scope): void => {
    const zero: Term = { key: '0', atoms: new Set(), constants: new Set([0]), value: () => ({ kind: 'integer', value: 0n, type: { bits: 32, signed: true } }) };
    const tested = (e: Expr): void => {
      const x = strip(e);
      if (x.kind === 'binary' && (COMPARISONS.has(x.op) || x.op === '&&' || x.op === '||')) return;
      if (x.kind === 'unary' && x.op === '!') return;
      if (scalarOf(x.type, scope.env) === 'bool' && x.kind !== 'cast') return;
      add('!=', termOf(x, scope), zero);
    };
    const visitor = {
      stmt: (s: Parameters<NonNullable<Parameters<typeof walkStmt>[1]['stmt']>>[0]): void => {
        if (s.kind === 'if' || s.kind === 'while' || s.kind === 'do') tested(s.condition);
        if (s.kind === 'for' && s.condition !== null) tested(s.condition);
        if (s.kind !== 'switch') return;
        const on = termOf(s.condition, scope);
        for (const arm of s.arms) for (const label of arm.labels) if (label !== null) add('==', on, termOf(label, scope));
      },
      expr: (e: Expr): void => {
        switch (e.kind) {
          case 'binary':
            if (COMPARISONS.has(e.op)) add(e.op, termOf(e.left, scope), termOf(e.right, scope));
            else if (e.op === '&&' || e.op === '||') { tested(e.left); tested(e.right); }
            break;
          case 'conditional': tested(e.condition); break;
          case 'unary': if (e.op === '!') tested(e.operand); break;
          case 'call': {
            const [a, b] = e.arguments;
            if (e.callee.kind === 'builtin' && /^f?(min|max)f?$|^u?(ll)?(min|max)$/.test(e.callee.name) && a !== undefined && b !== undefined) add(e.callee.name, termOf(a, scope), termOf(b, scope));
            if (e.callee.kind !== 'function' && e.callee.kind !== 'method') break;
            for (const callee of e.callee.candidates) {
              if (callee.body === null || scope.depth >= 8 || ++calls > MOST_CALLS) continue;
              visit(callee, callScope(e, callee, scope, instance(callee, e.templateArguments, scope.env)));
            }
            break;
          }
          default: break;
        }
      },
    };
    for (const i of f.initialisers ?? []) for (const a of i.arguments) walkExpr(a, visitor);
    if (f.body !== null) walkStmt(f.body, visitor);
  };
  visit(kernel, kernelScope(kernel, env, stored));
  return [...found.values()].filter((t) => t.settings.length > 0 || t.elements.length > 0);
}

/** The comparisons of two versions, those of one alone first, in the names of the first. */
export function jointTurningPoints(before: readonly TurningPoints[], after: readonly TurningPoints[], rename: (name: string) => string): TurningPoints[] {
  const first = (name: string): string => {
    const root = /^[^.[]*/.exec(name)?.[0] ?? name;
    return rename(root) + name.slice(root.length);
  };
  const renamed = after.map((t): TurningPoints => ({
    ...t, key: t.key.replace(/@([^@]*)@/g, (_, name: string) => `@${first(name)}@`), settings: t.settings.map((s) => Object.fromEntries(Object.entries(s).map(([name, v]) => [first(name), v]))),
  }));
  const own = new Set(before.map((t) => t.key));
  const others = new Set(renamed.map((t) => t.key));
  const alone = [...renamed.filter((t) => !own.has(t.key)), ...before.filter((t) => !others.has(t.key))].map((t): TurningPoints => ({ ...t, alone: true }));
  return [...alone, ...before.filter((t) => others.has(t.key))];
}

function instance(callee: FunctionDecl, given: Parameters<typeof bindTemplate>[1] | null, env: Env): Env {
  if (callee.template === null) return env;
  try {
    return bindTemplate(callee.template, given ?? [], env);
  } catch (error) {
    if (error instanceof Unsupported) return env;
    throw error;
  }
}

let moment = 0;

function solve(left: Term, right: Term, atoms: readonly Atom[]): Omit<TurningPoints, 'key'> {
  const constants = [...left.constants, ...right.constants];
  const settings: Readonly<Record<string, number>>[] = [];
  const elements: number[] = [];
  const elementAtoms = atoms.filter((a) => a.of === 'element');
  const none = { settings, elements, floating: false };
  if (elementAtoms.length > 1) return none;
  for (const target of atoms) {
    if (target.scalar === 'bool') continue;
    // One input alone, or each with ordinary values of the others.
    for (const value of atoms.length === 1 ? [0] : OTHERS) {
      const others = new Map(atoms.filter((a) => a !== target).map((a, i) => [a, value + 2 * i] as const));
      for (const [atom, v] of others) atom.value = toScalar({ kind: 'integer', value: BigInt(v), type: { bits: 32, signed: true } }, atom.scalar);
      const points = pointsOf(target, () => order(left, right), constants).slice(0, atoms.length === 1 ? MOST_POINTS : 3);
      if (target.of === 'element') elements.push(...points);
      else for (const p of points) settings.push(Object.fromEntries([[target.name, p], ...[...others].filter(([a]) => a.of === 'parameter').map(([a, v]) => [a.name, v] as const)]));
    }
  }
  for (const a of atoms) a.value = null;
  const [element] = elementAtoms;
  return { settings: settings.slice(0, 2 * MOST_POINTS), elements: [...new Set(elements)], ...(element === undefined ? {} : { buffer: element.name }), floating: atoms.some((a) => isFloating(a.scalar)) };
}

/** -1, 0, 1 as the left side is less, equal, greater; null if a side has no value. */
function order(left: Term, right: Term): number | null {
  moment++;
  const a = left.value(moment);
  const b = right.value(moment);
  if (a === null || b === null) return null;
  if (a.kind === 'integer' && b.kind === 'integer') return operate('==', a, b).value === 1n ? 0 : operate('<', a, b).value === 1n ? -1 : 1;
  const x = Number(a.value);
  const y = Number(b.value);
  return x === y ? 0 : x < y ? -1 : x > y ? 1 : null;
}

/** Values of one input around which the order turns: where it is equal, then the neighbours, the least first. */
function pointsOf(atom: Atom, compare: () => number | null, constants: readonly number[]): number[] {
  const floating = isFloating(atom.scalar);
  const at = (v: number): number | null => { atom.value = valueOf(v, atom.scalar); return atom.value === null ? null : compare(); };
  const samples = (floating ? FLOATS : INTEGERS).filter((v) => floating || valueOf(v, atom.scalar) !== null);
  for (const c of constants) for (const v of [c - 1, c, c + 1]) if (Math.abs(v) < 2 ** 53 && valueOf(v, atom.scalar) !== null) samples.push(v);
  samples.sort((a, b) => a - b);
  const equal: number[] = [];
  const beside: number[] = [];
  let last: { readonly v: number; readonly sign: number | null } | null = null;
  for (const v of new Set(samples)) {
    const sign = at(v);
    if (last !== null && last.sign !== null && sign !== null && sign !== last.sign) {
      const turn = halve(last.v, v, last.sign, at, atom.scalar);
      turned(turn.before, turn.after, at, equal, beside);
      // Over it altogether: equality may lie between, or only be jumped.
      if (at(turn.after) !== sign) {
        const second = halve(turn.after, v, at(turn.after), at, atom.scalar);
        // Where many floats make both sides equal, the number that is meant lies in their middle.
        if (floating && second.before > turn.after) turned((turn.after + second.before) / 2, second.before, at, equal, beside);
        turned(second.before, second.after, at, equal, beside);
      }
    }
    last = { v, sign };
  }
  // Halving towards zero ends among numbers that say no more than zero does.
  const telling = (v: number): boolean => !floating || v === 0 || Math.abs(v) > 1e-20;
  const near = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => Number(a < 0) - Number(b < 0) || Math.abs(a) - Math.abs(b));
  const first = near(equal).sort((a, b) => (floating ? digits(a) - digits(b) : 0)).slice(0, 2);
  return [...new Set([...first, ...near(beside), ...near(equal)])].filter(telling).slice(0, 2 * MOST_POINTS);
}

/** Digits that a number is written with: few are what a program means. */
const digits = (v: number): number => `${v}`.length;

function turned(before: number, after: number, at: (v: number) => number | null, equal: number[], beside: number[]): void {
  for (const v of [before, after]) (at(v) === 0 ? equal : beside).push(v);
}

/** Two neighbours between which the sign is no longer that of the lower end. */
function halve(low: number, high: number, sign: number | null, at: (v: number) => number | null, s: Scalar): { readonly before: number; readonly after: number } {
  let a = low;
  let b = high;
  for (let i = 0; i < 80; i++) {
    const middle = between(a, b, s);
    if (middle === null) break;
    if (at(middle) === sign) a = middle;
    else b = middle;
  }
  return { before: a, after: b };
}

function between(a: number, b: number, s: Scalar): number | null {
  if (!isFloating(s)) { const m = Math.floor((a + b) / 2); return m <= a || m >= b ? null : m; }
  const v = toScalar({ kind: 'float', value: a / 2 + b / 2, format: 'double' }, s);
  const m = Number(v.value);
  return m <= a || m >= b ? null : m;
}

function valueOf(v: number, s: Scalar): ConstantValue | null {
  if (isFloating(s)) return toScalar({ kind: 'float', value: v, format: 'double' }, s);
  const type = integerTypeOf(s);
  if (type === null || !Number.isInteger(v)) return null;
  const least = type.signed ? -(2 ** (type.bits - 1)) : 0;
  const beyond = type.signed ? 2 ** (type.bits - 1) : 2 ** type.bits;
  return v < least || v >= beyond ? null : { kind: 'integer', value: BigInt(v), type };
}

/** One by one near zero, then farther apart. */
const INTEGERS: readonly number[] = [...Array.from({ length: 73 }, (_, i) => i - 4), ...Array.from({ length: 52 }, (_, i) => Math.floor(72 * 1.4 ** i)), ...Array.from({ length: 24 }, (_, i) => -Math.floor(6 * 2.3 ** i))].filter((v) => Math.abs(v) < 2 ** 31);
const FLOATS: readonly number[] = [0, ...Array.from({ length: 40 }, (_, i) => 2 ** (i - 12)).flatMap((v) => [v, -v, 1.5 * v, -1.5 * v])];

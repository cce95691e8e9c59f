/**
 * What the code does with its inputs, as far as the choice of test values cares: which integers become indices or loop bounds, which
 * constants are compared with. Flow-insensitive and by name of declaration; only test values depend on it, no verdict.
 */
import { evaluate } from './constants.js';
import { EMPTY_ENV, type Env } from './resolve.js';
import { jointTurningPoints, turningPoints, type TurningPoints } from './turning-points.js';
import { strip, type Decl, type Expr, type FunctionDecl, type Type } from '../syntax/tree.js';
import { walkCode } from './run-code.js';
import { walkExpr, walkStmt } from './walk.js';

export interface Usage {
  /** Names whose value, or whose elements' values, may become an index, a bound or a shift. Names, so that one version's usage serves another. */
  readonly indices: ReadonlySet<string>;
  /** Of these, the names that may decide how often a loop turns. */
  readonly bounds: ReadonlySet<string>;
  /** Pointers that are tested for null. */
  readonly nullable: ReadonlySet<string>;
  /** Constants that values are compared with, or that stand among the arguments of a call (`min(x, 1000)`). */
  readonly integers: readonly number[];
  readonly reals: readonly number[];
  /** Constants that are compared with what a thread's place gives: with `threadIdx.x`, `blockDim.x` …, or a value computed from them. */
  readonly places: readonly Place[];
  /**
   * Numbers from which on a value made of a thread's place no longer fits a type of 8 or 16 bits that it is converted to (128, 256, 32768, 65536),
   * ascending: only grids with more threads show where it wraps.
   */
  readonly narrow?: readonly number[];
  /** The like for variables in conditions of loops: they reach such numbers however few threads there are. */
  readonly strided?: readonly number[];
  /** Names of variables outside of functions that the code may store in: others keep what the host gave them. */
  readonly stored?: ReadonlySet<string>;
  /** Small negative numbers that elements are compared with although they become indices (`next[i] < 0`), by the pointer's name: ends of lists, neighbours that are none. */
  readonly sentinels?: ReadonlyMap<string, readonly number[]>;
  /** Where comparisons over the inputs turn. */
  readonly turns?: readonly TurningPoints[];
}

/** What a constant is compared with, and on which axis. `index` mixes several: an element's number, mostly. */
export interface Place { readonly of: 'thread' | 'block' | 'blockDim' | 'gridDim' | 'index'; readonly axis: 'x' | 'y' | 'z'; readonly value: number }

/** Constants kept of one kernel. */
const MOST_CONSTANTS = 96;

const cache = new WeakMap<FunctionDecl, WeakMap<Env, Usage>>();

/** `env`: the template arguments of the instance that is meant. */
export function usageOf(kernel: FunctionDecl, env: Env = EMPTY_ENV): Usage {
  let instances = cache.get(kernel);
  if (instances === undefined) cache.set(kernel, instances = new WeakMap());
  const known = instances.get(env);
  if (known !== undefined) return known;
  const functions = reachable(kernel);
  const integers = new Set<number>();
  const reals = new Set<number>();
  const nullable = new Set<string>();
  const tested = (e: Expr): void => {
    const x = strip(e);
    if (x.kind === 'ref' && (x.decl?.kind === 'parameter' || x.decl?.kind === 'variable') && x.decl.type.kind === 'pointer') nullable.add(x.name);
  };
  /** What flows into each variable: the declarations its values mention. */
  const flows = new Map<Decl, Set<Decl>>();
  const sinks = new Set<Decl>();
  const turns = new Set<Decl>();
  const mentioned = (e: Expr): Decl[] => {
    const out: Decl[] = [];
    walkExpr(e, { expr: (x) => { if (x.kind === 'ref' && x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter')) out.push(x.decl); } });
    return out;
  };
  const flow = (to: Decl, e: Expr): void => {
    let set = flows.get(to);
    if (set === undefined) flows.set(to, set = new Set());
    for (const d of mentioned(e)) set.add(d);
  };
  const flowFrom = (to: Decl, from: Decl): void => {
    let set = flows.get(to);
    if (set === undefined) flows.set(to, set = new Set());
    set.add(from);
  };
  const sink = (e: Expr): void => { for (const d of mentioned(e)) sinks.add(d); };
  const turn = (e: Expr): void => { for (const d of mentioned(e)) { sinks.add(d); turns.add(d); } };
  const root = (e: Expr): Decl | null => {
    const x = strip(e);
    switch (x.kind) {
      case 'ref': return x.decl;
      case 'index': return root(x.base);
      case 'member': return root(x.object);
      case 'unary': return root(x.operand);
      default: return null;
    }
  };
  const constant = (e: Expr): number | null => {
    const folded = evaluate(e, env);
    if (folded === null) return null;
    const value = Number(folded.value);
    if (!Number.isFinite(value)) return null;
    if (folded.kind === 'integer' && Number.isSafeInteger(value)) integers.add(value);
    reals.add(value);
    return value;
  };
  const stored = new Set<Decl>();
  const stores = (e: Expr): void => { const to = root(e); if (to !== null) stored.add(to); };
  const compared: { readonly value: number; readonly with: Expr }[] = [];
  const comparison = (left: Expr, right: Expr): void => {
    const a = constant(left);
    const b = constant(right);
    if (a !== null && b === null && Number.isInteger(a)) compared.push({ value: a, with: right });
    if (b !== null && a === null && Number.isInteger(b)) compared.push({ value: b, with: left });
  };
  /** Coordinates that each variable's value is made of, its own initialiser and assignments alone. */
  const coordinates = new Map<Decl, Coordinate[]>();
  const placed = (to: Decl, e: Expr): void => {
    const found = coordinatesOf(e);
    if (found.length > 0) coordinates.set(to, [...coordinates.get(to) ?? [], ...found]);
  };
  const narrowed: { readonly limit: number; readonly from: Expr; readonly to: Decl | null }[] = [];
  const loops = new Set<Decl>();
  const narrows = (to: Type, from: Expr, decl: Decl | null = null): void => {
    if (to.kind === 'int' && to.bits < 32) narrowed.push({ limit: 2 ** (to.signed ? to.bits - 1 : to.bits), from, to: decl });
  };
  for (const f of functions) {
    if (f.body === null) continue;
    walkStmt(f.body, {
      variable: (v) => { if (v.init !== null) { flow(v, v.init); placed(v, v.init); narrows(v.type, v.init, v); } },
      stmt: (s) => {
        if ((s.kind === 'for' || s.kind === 'while' || s.kind === 'do') && s.condition !== null) { turn(s.condition); for (const d of mentioned(s.condition)) loops.add(d); }
        if (s.kind === 'for' && s.step !== null) turn(s.step);
        if (s.kind === 'if') tested(s.condition);
        if (s.kind === 'switch') for (const arm of s.arms) for (const label of arm.labels) if (label !== null) constant(label);
      },
      expr: (e) => {
        switch (e.kind) {
          case 'index': sink(e.index); break;
          case 'assign': {
            const to = root(e.target);
            stores(e.target);
            if (to !== null) { flow(to, e.value); placed(to, e.value); }
            narrows(e.target.type, e.value, to);
            break;
          }
          case 'cast': narrows(e.type, e.operand); break;
          case 'conditional': tested(e.condition); break;
          case 'unary':
            if (e.op === '!') tested(e.operand);
            else if (e.op === '&') stores(e.operand);
            break;
          case 'update': stores(e.target); break;
          case 'binary':
            if (e.op === '==' || e.op === '!=' || e.op === '&&' || e.op === '||') { tested(e.left); tested(e.right); }
            if (['<', '<=', '>', '>=', '==', '!='].includes(e.op)) comparison(e.left, e.right);
            if ((e.op === '+' || e.op === '-') && (e.left.type.kind === 'pointer' || e.left.type.kind === 'array')) sink(e.right);
            if (e.op === '<<' || e.op === '>>') sink(e.right);
            break;
          case 'call':
            for (const a of e.arguments) constant(a);
            if (e.callee.kind === 'function') {
              for (const c of e.callee.candidates) for (const [i, p] of c.parameters.entries()) {
                const a = e.arguments[i];
                if (a === undefined) continue;
                flow(p, a);
                placed(p, a);
                narrows(p.type, a);
                if (p.type.kind === 'reference') stores(a);
                // What the callee writes through it arrives at the caller.
                const to = p.type.kind === 'pointer' || p.type.kind === 'reference' ? root(a) : null;
                if (to !== null) flowFrom(to, p);
              }
            } else if (e.callee.kind === 'unknown' || e.callee.kind === 'value') { e.arguments.forEach(sink); e.arguments.forEach(stores); }
            break;
          default: break;
        }
      },
    });
  }
  // What flows into a sink is one.
  const closure = (of: Set<Decl>): ReadonlySet<string> => {
    const work = [...of];
    for (let d = work.pop(); d !== undefined; d = work.pop()) {
      for (const from of flows.get(d) ?? []) if (!of.has(from)) { of.add(from); work.push(from); }
    }
    return new Set([...of].map((d) => d.name));
  };
  const places = compared.flatMap((c): Place[] => {
    const found = [...coordinatesOf(c.with), ...mentioned(c.with).flatMap((d) => coordinates.get(d) ?? [])];
    const [first] = found;
    if (first === undefined || c.value < 0) return [];
    const mixed = found.some((f) => f.of !== first.of || f.axis !== first.axis);
    return [{ of: mixed ? 'index' : first.of, axis: first.axis, value: c.value }];
  });
  const ofPlace = (from: Expr): boolean => {
    if (coordinatesOf(from).length > 0) return true;
    const seen = new Set<Decl>(mentioned(from));
    for (const d of seen) {
      if (coordinates.has(d)) return true;
      for (const other of flows.get(d) ?? []) seen.add(other);
    }
    return false;
  };
  const narrow = new Set(narrowed.filter(({ from }) => ofPlace(from)).map(({ limit }) => limit));
  const strided = new Set(narrowed.filter(({ to }) => to !== null && loops.has(to)).map(({ limit }) => limit));
  const points = turningPoints(kernel, env, stored);
  for (const t of points) for (const v of t.elements.slice(0, t.floating ? 3 : 2)) {
    reals.add(v);
    if (!t.floating) integers.add(v);
  }
  const ordered = (values: ReadonlySet<number>): number[] => [...values].sort((a, b) => a - b).slice(0, MOST_CONSTANTS);
  const indices = closure(sinks);
  const sentinels = new Map<string, number[]>();
  for (const { buffer, elements } of points) {
    const below = elements.filter((v) => v < 0 && v >= -8);
    if (buffer !== undefined && below.length > 0 && indices.has(buffer)) sentinels.set(buffer, [...sentinels.get(buffer) ?? [], ...below]);
  }
  const usage: Usage = { indices, bounds: closure(turns), nullable, integers: ordered(integers), reals: ordered(reals), places, narrow: ordered(narrow), strided: ordered(strided), stored: new Set([...stored].map((d) => d.name)), sentinels, turns: points };
  instances.set(env, usage);
  return usage;
}

type Coordinate = Pick<Place, 'of' | 'axis'>;

function coordinatesOf(e: Expr): Coordinate[] {
  const out: Coordinate[] = [];
  walkExpr(e, {
    expr: (x) => {
      if (x.kind !== 'coordinate' || x.axis === null || x.base === 'warpSize') return;
      out.push({ of: x.base === 'threadIdx' ? 'thread' : x.base === 'blockIdx' ? 'block' : x.base, axis: x.axis });
    },
  });
  return out;
}

/**
 * Usage of two versions of a kernel for one choice of inputs: constants of both (those of one alone first, for they tell the two
 * apart), and the names of the first. `rename` gives a name of the second in the first. What only the second uses as an index is
 * not kept in range: that it leaves its range is a difference.
 */
export function jointUsage(before: Usage, after: readonly Usage[], rename: (name: string) => string): Usage {
  const join = (a: readonly number[], others: readonly (readonly number[])[]): number[] => {
    const first = new Set(a);
    const second = new Set(others.flat());
    return [...[...second].filter((v) => !first.has(v)), ...[...first].filter((v) => !second.has(v)), ...[...first].filter((v) => second.has(v))].slice(0, MOST_CONSTANTS);
  };
  return {
    indices: new Set([...before.indices, ...after.flatMap((u) => [...u.bounds].map(rename))]),
    bounds: new Set([...before.bounds, ...after.flatMap((u) => [...u.bounds].map(rename))]),
    nullable: before.nullable,
    integers: join(before.integers, after.map((u) => u.integers)),
    reals: join(before.reals, after.map((u) => u.reals)),
    places: [...after.flatMap((u) => u.places), ...before.places],
    stored: new Set([before, ...after].flatMap((u) => [...u.stored ?? []])),
    strided: [...new Set([...before.strided ?? [], ...after.flatMap((u) => u.strided ?? [])])],
    ...(before.sentinels === undefined ? {} : { sentinels: before.sentinels }),
    turns: jointTurningPoints(before.turns ?? [], after.flatMap((u) => u.turns ?? []), rename),
    narrow: [...new Set([...before.narrow ?? [], ...after.flatMap((u) => u.narrow ?? [])])].sort((a, b) => a - b),
  };
}

function reachable(kernel: FunctionDecl): FunctionDecl[] {
  const seen = new Set<FunctionDecl>([kernel]);
  const work = [kernel];
  for (let f = work.pop(); f !== undefined && seen.size < 200; f = work.pop()) {
    for (const c of walkCode(f, {})) if (!seen.has(c)) { seen.add(c); work.push(c); }
  }
  return [...seen];
}

/**
 * What the code does with its inputs, as far as the choice of test values cares: which integers become indices or loop bounds, which
 * constants are compared with. Flow-insensitive and by name of declaration; only test values depend on it, no verdict.
 */
import { strip, type Decl, type Expr, type FunctionDecl } from '../syntax/tree.js';
import { walkExpr, walkStmt } from './walk.js';

export interface Usage {
  /** Names whose value, or whose elements' values, may become an index, a bound or a shift. Names, so that one version's usage serves another. */
  readonly indices: ReadonlySet<string>;
  /** Pointers that are tested for null. */
  readonly nullable: ReadonlySet<string>;
  readonly integers: readonly number[];
  readonly reals: readonly number[];
}

const cache = new WeakMap<FunctionDecl, Usage>();

export function usageOf(kernel: FunctionDecl): Usage {
  const known = cache.get(kernel);
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
  const sink = (e: Expr): void => { for (const d of mentioned(e)) sinks.add(d); };
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
  const constant = (e: Expr): void => {
    const x = strip(e);
    const negative = x.kind === 'unary' && x.op === '-';
    const literal = negative ? strip(x.operand) : x;
    if (literal.kind !== 'literal') return;
    if (typeof literal.value === 'bigint' && literal.value < 100000n) integers.add((negative ? -1 : 1) * Number(literal.value));
    if (typeof literal.value === 'bigint' && literal.value < 100000n) reals.add((negative ? -1 : 1) * Number(literal.value));
    if (typeof literal.value === 'number' && Math.abs(literal.value) < 1e6) reals.add((negative ? -1 : 1) * literal.value);
  };
  for (const f of functions) {
    if (f.body === null) continue;
    walkStmt(f.body, {
      variable: (v) => { if (v.init !== null) flow(v, v.init); },
      stmt: (s) => {
        if ((s.kind === 'for' || s.kind === 'while' || s.kind === 'do') && s.condition !== null) sink(s.condition);
        if (s.kind === 'for' && s.step !== null) sink(s.step);
        if (s.kind === 'if') tested(s.condition);
        if (s.kind === 'switch') for (const arm of s.arms) for (const label of arm.labels) if (label !== null) constant(label);
      },
      expr: (e) => {
        switch (e.kind) {
          case 'index': sink(e.index); break;
          case 'assign': {
            const to = root(e.target);
            if (to !== null) flow(to, e.value);
            break;
          }
          case 'conditional': tested(e.condition); break;
          case 'unary': if (e.op === '!') tested(e.operand); break;
          case 'binary':
            if (e.op === '==' || e.op === '!=' || e.op === '&&' || e.op === '||') { tested(e.left); tested(e.right); }
            if (['<', '<=', '>', '>=', '==', '!='].includes(e.op)) { constant(e.left); constant(e.right); }
            if ((e.op === '+' || e.op === '-') && (e.left.type.kind === 'pointer' || e.left.type.kind === 'array')) sink(e.right);
            if (e.op === '<<' || e.op === '>>') sink(e.right);
            break;
          case 'call':
            if (e.callee.kind === 'function') {
              for (const c of e.callee.candidates) for (const [i, p] of c.parameters.entries()) { const a = e.arguments[i]; if (a !== undefined) flow(p, a); }
            } else if (e.callee.kind === 'unknown' || e.callee.kind === 'value') e.arguments.forEach(sink);
            break;
          default: break;
        }
      },
    });
  }
  // What flows into a sink is one.
  const work = [...sinks];
  for (let d = work.pop(); d !== undefined; d = work.pop()) {
    for (const from of flows.get(d) ?? []) if (!sinks.has(from)) { sinks.add(from); work.push(from); }
  }
  const usage: Usage = { indices: new Set([...sinks].map((d) => d.name)), nullable, integers: [...integers].sort((a, b) => a - b).slice(0, 64), reals: [...reals].sort((a, b) => a - b).slice(0, 64) };
  cache.set(kernel, usage);
  return usage;
}

function reachable(kernel: FunctionDecl): FunctionDecl[] {
  const seen = new Set<FunctionDecl>([kernel]);
  const work = [kernel];
  for (let f = work.pop(); f !== undefined && seen.size < 200; f = work.pop()) {
    if (f.body === null) continue;
    walkStmt(f.body, {
      expr: (e) => {
        if (e.kind !== 'call' || (e.callee.kind !== 'function' && e.callee.kind !== 'method')) return;
        for (const c of e.callee.candidates) if (!seen.has(c)) { seen.add(c); work.push(c); }
      },
    });
  }
  return [...seen];
}

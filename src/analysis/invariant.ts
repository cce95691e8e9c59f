/**
 * Does an expression have one value all the while a statement runs?
 *
 * Its variables are declared outside and not assigned inside, its loads give one value meanwhile (stability.ts), and it holds nothing
 * with an effect or a value of its own: no call but pure built-ins, no assignment, no `volatile`. In each case the first thing found
 * that speaks against it is the reason.
 */
import { builtin } from '../cuda/builtins.js';
import { forEachChild, isStmt, type Node } from './children.js';
import type { Env } from './env.js';
import type { Fact, Reason } from './facts.js';
import { indexFunction } from './function-index.js';
import { isMember, rootOf, variableOf } from './lvalues.js';
import { stableWithin } from './stability.js';
import { leadsBehind, structureOf } from './structure.js';
import { isConstantObject } from './uniformity-loads.js';
import type { Expr, Stmt } from '../syntax/tree.js';
import { whyNameless } from '../syntax/tree.js';

interface Found { readonly node: Node; readonly text: string; readonly chain: readonly Reason[] }

export function invariantWithin(expr: Expr, within: Stmt, env: Env): Fact<boolean> {
  const under = new Set<string>();
  const against = search(expr, within, env, under);
  const source = env.unit.source;
  const at = (node: Node, text: string): Reason => ({ path: source.realPath, line: source.line(node.span.start), text });
  const reads = [expr.span, within.span].map((span) => ({ file: source.realPath, start: span.start, end: span.end }));
  const text = source.text.slice(expr.span.start, expr.span.end).replaceAll('\n', ' ');
  if (against === null) return { value: true, because: [at(expr, `\`${text}\` does not change here: nothing in it is assigned`)], under: [...under], reads };
  return { value: false, because: [at(expr, `\`${text}\` may change`), at(against.node, against.text), ...against.chain], under: [...under], reads };
}

function search(expr: Expr, within: Stmt, env: Env, under: Set<string>): Found | null {
  const own = direct(expr, within, env, under);
  if (own !== null) return own;
  if (expr.kind === 'sizeof') return null;
  let found: Found | null = null;
  forEachChild(expr, (child) => { if (found === null && !isStmt(child)) found = search(child, within, env, under); });
  return found;
}

function direct(expr: Expr, within: Stmt, env: Env, under: Set<string>): Found | null {
  if (expr.type.kind === 'record' && indexFunction(env.function).conversions.has(expr)) return { node: expr, text: 'a conversion function may give another value', chain: [] };
  if (expr.type.volatile === true) return { node: expr, text: 'every read of what is volatile may give another value', chain: [] };
  switch (expr.kind) {
    case 'ref': return name(expr, within, env, under);
    case 'this': return null;
    case 'assign': case 'update': return { node: expr, text: 'it assigns', chain: [] };
    case 'opaque': return { node: expr, text: 'text that is not understood', chain: [] };
    case 'lambda': return { node: expr, text: 'a lambda', chain: [] };
    case 'call': {
      const entry = expr.callee.kind === 'builtin' ? builtin(expr.callee.name) : undefined;
      if (entry === undefined) return { node: expr, text: 'a call may give another value', chain: [] };
      if (entry.pure) return null;
      if (entry.scope.kind === 'load' && !entry.volatile && entry.collective === null) return load(expr, within, env, under);
      return { node: expr, text: `\`${entry.name}\` may give another value`, chain: [] };
    }
    case 'index': case 'member': case 'unary': {
      if (expr.kind === 'unary' && expr.op !== '*') return null;
      // A reference member lies wherever it was bound.
      if (expr.kind === 'member' && expr.field !== null && expr.field.storage === 'member' && expr.field.type.kind === 'reference') return load(expr, within, env, under);
      // Values, addresses and parts of variables are judged by their names; what is spelled like a part and leads through something unseen is not: `auto p = f(x); *p`.
      if (rootOf(expr) !== null && leadsBehind(expr)) return load(expr, within, env, under);
      if (expr.type.kind === 'array' || rootOf(expr) !== null || (expr.kind === 'member' && !expr.arrow)) return expr.kind === 'member' && rootOf(expr) === null ? load(expr, within, env, under) : null;
      return load(expr, within, env, under);
    }
    default: return null;
  }
}

function name(ref: Expr & { kind: 'ref' }, within: Stmt, env: Env, under: Set<string>): Found | null {
  const decl = ref.decl;
  if (decl === null) return { node: ref, text: ref.argument === undefined ? `\`${ref.name}\` is not known` : whyNameless(ref), chain: [] };
  const variable = variableOf(decl);
  if (variable !== null) {
    if (variable.type.kind === 'reference' && variable.kind === 'variable') return { node: ref, text: `\`${ref.name}\` is a reference`, chain: [] };
    const assigned = env.assignments(variable, within)[0];
    if (assigned !== undefined) {
      const node = assigned.kind === 'assignment' || assigned.kind === 'unknown' ? assigned.node : ref;
      return { node, text: assigned.kind === 'declaration' ? `\`${ref.name}\` is declared inside` : `\`${ref.name}\` is assigned here`, chain: [] };
    }
    // It names an object of the caller's, which pointers and other references may lead to as well.
    return variable.type.kind === 'reference' ? load(ref, within, env, under) : null;
  }
  if (isMember(decl)) return structureOf(env.function).assignsThis ? { node: ref, text: 'the method assigns its object', chain: [] } : null;
  if (decl.kind !== 'variable' || decl.type.kind === 'array' || isConstantObject(decl)) return null;
  return load(ref, within, env, under);
}

function load(expr: Expr, within: Stmt, env: Env, under: Set<string>): Found | null {
  const stable = stableWithin(expr, within, env);
  for (const assumption of stable.under) under.add(assumption);
  return stable.value ? null : { node: expr, text: 'what it loads may change', chain: stable.because };
}

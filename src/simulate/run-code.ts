/**
 * What a function may run beside its own text, for the questions that are asked of whole functions: member initialisers, default arguments, default values of fields,
 * and every function of the records whose objects it makes or names, of their bases and members. More than runs is named, never less.
 */
import { strip, type FunctionDecl, type RecordDecl, type Type } from '../syntax/tree.js';
import { walkExpr, walkStmt, type Visitor } from './walk.js';

/** Walks the code of a function; gives the functions that it may call. */
export function walkCode(decl: FunctionDecl, visitor: Visitor): ReadonlySet<FunctionDecl> {
  const callees = new Set<FunctionDecl>();
  const records = new Set<RecordDecl>();
  /** An object: its constructors, destructor and conversions may run, and those of its bases and members, with the default values of fields. */
  const object = (type: Type): void => {
    if (type.kind === 'array') { object(type.of); return; }
    if (type.kind !== 'record' || type.decl.vector !== null || records.has(type.decl)) return;
    records.add(type.decl);
    for (const m of type.decl.methods) callees.add(m);
    type.decl.bases.forEach(object);
    for (const field of type.decl.fields) {
      object(field.type);
      if (field.init !== null) walkExpr(field.init, all);
    }
  };
  const defaults = (candidates: readonly FunctionDecl[], given: number): void => {
    for (const c of candidates) for (const p of c.parameters.slice(given)) if (p.default !== null) walkExpr(p.default, all);
  };
  const all: Visitor = {
    expr(e) {
      visitor.expr?.(e);
      object(e.type);
      if (e.kind === 'construct' && e.type.kind === 'record') {
        const record = e.type.decl;
        defaults(record.methods.filter((m) => m.name === record.name), e.arguments.length);
      }
      if (e.kind !== 'call') return;
      if (e.callee.kind === 'function' || e.callee.kind === 'method') {
        for (const c of e.callee.candidates) callees.add(c);
        defaults(e.callee.candidates, e.arguments.length);
      } else if (e.callee.kind === 'value') {
        const v = strip(e.callee.value);
        if (v.type.kind === 'record') for (const m of v.type.decl.methods) callees.add(m);
      }
      for (const a of e.arguments) {
        const x = strip(a);
        if (x.kind === 'ref' && x.decl?.kind === 'function') callees.add(x.decl);
      }
    },
    stmt(s) { visitor.stmt?.(s); },
    variable(v) {
      visitor.variable?.(v);
      object(v.type);
    },
  };
  if (decl.body === null) return callees;
  for (const p of decl.parameters) {
    object(p.type);
    if (p.default !== null) walkExpr(p.default, all);
  }
  if (decl.owner !== null && decl.name === decl.owner.name) object({ kind: 'record', decl: decl.owner });
  for (const i of decl.initialisers ?? []) for (const a of i.arguments) walkExpr(a, all);
  walkStmt(decl.body, all);
  return callees;
}

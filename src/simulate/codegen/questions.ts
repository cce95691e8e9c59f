/** Questions about whole functions that must be answered before their code is generated. */
import { builtin } from '../../cuda/builtins.js';
import { strip, type Decl, type Expr, type FunctionDecl, type Stmt, type Type } from '../../syntax/tree.js';
import { isGroupFunction } from './groups.js';
import { walkCode } from '../run-code.js';
import { walkExpr, walkStmt, type Visitor } from '../walk.js';

/** The body, and the initialisers of a constructor. */
function walkFunction(decl: FunctionDecl, body: Stmt, visitor: Visitor): void {
  for (const i of decl.initialisers ?? []) for (const a of i.arguments) walkExpr(a, visitor);
  walkStmt(body, visitor);
}

const yields = new WeakMap<FunctionDecl, boolean>();

function direct(decl: FunctionDecl): { readonly yields: boolean; readonly callees: ReadonlySet<FunctionDecl> } {
  // Only declared here: the definition may be anywhere.
  let found = decl.body === null;
  const volatileParameter = decl.parameters.some((p) => p.type.volatile === true || (p.type.kind === 'pointer' && p.type.to.volatile === true));
  const callees = walkCode(decl, {
    expr(e) {
      if (e.type.volatile === true) found = true;
      if (e.kind !== 'call') return;
      switch (e.callee.kind) {
        case 'builtin': {
          const b = builtin(e.callee.name);
          if (b !== undefined && (b.collective !== null || b.atomic || b.fence !== null || b.volatile || b.barrier !== null)) found = true;
          break;
        }
        case 'function': case 'method':
          if (e.callee.candidates.length === 0) found = true;
          // The program's overloads may stand beside a built-in of that name, which is what the call then means.
          if (e.callee.kind === 'function' && builtin(e.callee.name)?.pure === false) found = true;
          break;
        case 'value':
          if (strip(e.callee.value).type.kind !== 'record') found = true;
          break;
        case 'unknown':
          // `Policy::f(x)`: which function it is, only the instance tells.
          if (isGroupFunction(e.callee.name) || e.callee.name.includes('::')) found = true;
          break;
      }
    },
    variable(v) { if (v.type.volatile === true) found = true; },
  });
  return { yields: found || volatileParameter, callees };
}

/** Whether another warp may run before the function ends: it holds a barrier, collective, atomic or volatile access, or calls one that does. */
export function mayYield(decl: FunctionDecl): boolean {
  const known = yields.get(decl);
  if (known !== undefined) return known;
  const seen = new Set<FunctionDecl>();
  const visit = (d: FunctionDecl): boolean => {
    const k = yields.get(d);
    if (k !== undefined) return k;
    if (seen.has(d)) return false;
    seen.add(d);
    const own = direct(d);
    if (own.yields) return true;
    for (const callee of own.callees) if (visit(callee)) return true;
    return false;
  };
  const result = visit(decl);
  yields.set(decl, result);
  return result;
}

const addressed = new WeakMap<FunctionDecl, ReadonlySet<Decl>>();

/** Locals whose address is taken, or to which a reference may bind: they live in memory. */
export function addressedIn(decl: FunctionDecl): ReadonlySet<Decl> {
  const known = addressed.get(decl);
  if (known !== undefined) return known;
  const result = new Set<Decl>();
  /** The variables that an lvalue may be. */
  const mark = (e: Expr): void => {
    const x = strip(e);
    switch (x.kind) {
      case 'ref': if (x.decl !== null && (x.decl.kind === 'variable' || x.decl.kind === 'parameter')) result.add(x.decl); return;
      case 'conditional': mark(x.then); mark(x.else); return;
      case 'binary': if (x.op === ',') mark(x.right); return;
      case 'assign': mark(x.target); return;
      case 'update': if (x.prefix) mark(x.target); return;
      case 'cast': if (x.reference !== undefined) mark(x.operand); return;
      default: return;
    }
  };
  /** A variable by itself may stay in a register when it is assigned to; one of several needs an address. */
  const markTarget = (e: Expr): void => {
    const x = strip(e);
    if (x.kind === 'conditional') mark(x);
    else if (x.kind === 'binary' && x.op === ',') markTarget(x.right);
    else if (x.kind === 'cast' && x.reference !== undefined) mark(x.operand);
  };
  const markArguments = (candidates: readonly FunctionDecl[], args: readonly Expr[]): void => {
    for (const c of candidates) {
      for (const [i, p] of c.parameters.entries()) {
        const given = args[i];
        if (given !== undefined) bind(p.type, given);
      }
    }
  };
  /** A reference, to `const` too, is bound to the object itself, which may change while it lasts; so may a constructor be that makes an object of the value. */
  const bind = (type: Type, given: Expr): void => {
    if (type.kind === 'reference' || (type.kind === 'record' && type.decl.vector === null)) mark(given);
  };
  if (decl.body !== null) {
    walkFunction(decl, decl.body, {
      expr(e) {
        if (e.kind === 'unary' && e.op === '&') mark(e.operand);
        if (e.kind === 'cast' && e.reference !== undefined) mark(e.operand);
        if (e.kind === 'assign' || e.kind === 'update') markTarget(e.target);
        if (e.kind === 'assign') bind(e.target.type, e.value);
        if (e.kind === 'cast') bind(e.type, e.operand);
        if ((e.kind === 'construct' || e.kind === 'init-list') && e.type.kind === 'record' && e.type.decl.vector === null) {
          const record = e.type.decl;
          const constructors = record.methods.filter((m) => m.name === record.name);
          const given = e.kind === 'construct' ? e.arguments : e.elements;
          if (constructors.length > 0) markArguments(constructors, given);
          else given.forEach(mark);
        }
        if (e.kind !== 'call') return;
        if (e.callee.kind === 'function' || e.callee.kind === 'method') markArguments(e.callee.candidates, e.arguments);
        else if (e.callee.kind === 'value') {
          const v = strip(e.callee.value);
          const lambda = v.kind === 'ref' && v.decl?.kind === 'variable' && v.decl.init !== null ? strip(v.decl.init) : null;
          if (lambda?.kind === 'lambda') for (const [i, p] of lambda.parameters.entries()) { const given = e.arguments[i]; if (given !== undefined) bind(p.type, given); }
          else for (const a of e.arguments) mark(a);
        }
      },
      variable(v) {
        if (v.init !== null) bind(v.type, v.init);
      },
      stmt(s) { if (s.kind === 'return' && s.value !== null) bind(decl.returns, s.value); },
    });
    for (const { arguments: given } of decl.initialisers ?? []) given.forEach(mark);
  }
  addressed.set(decl, result);
  return result;
}


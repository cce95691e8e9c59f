/**
 * What may be evaluated in front of the launches that replace one: whose value outlives the expression that it comes from, and which parts of a
 * launch change what others read. `<<<…>>>` is evaluated before the arguments; among the arguments, and among the parts of the
 * configuration, C++ fixes no order.
 */
import { isStmt, strip, walk, type Node } from '../../src/analysis/children.js';
import type { CallExpr, Decl, Expr, FunctionDecl, Type } from '../../src/syntax/tree.js';

// ------------------------------------------------------------------------------------------------------------ lifetimes

/** Members that give a view of the object that they are called for, and only read it. */
const ACCESSOR = /^(data|get|size|length|stream)$/;
/** Functions that pass on what they get, or whose result belongs to nobody: no owner dies behind it. */
const PASSES_ON = /(^|::)(raw_pointer_cast|getCurrentCUDAStream|getDefaultCUDAStream)$/;
const SMALLER_OR_LARGER = /(^|::)(min|max)$/;

/**
 * Why the value must not be kept in a variable: it belongs to an object that dies with the expression; null if it may. A number is free of what it
 * was computed from; a pointer, a handle or an object that converts to one is not. `held`: the variable has the type of the expression, so
 * that an object which is its value lives as long.
 */
export function diesWith(expr: Expr, wanted: 'number' | 'pointer', held = false): string | null {
  const whole = strip(expr);
  let why: string | null = null;
  walk(expr, (node) => {
    if (node.kind === 'opaque') why = 'it was not understood';
    if (why !== null || isStmt(node)) return false;
    switch (node.kind) {
      case 'call': {
        if ((node === whole && held) || givesReference(node)) break;
        const name = calleeName(node);
        if (isObject(node.type)) why = `the object that ${name} returns ends with the expression`;
        else if (wanted === 'pointer' && isUnclear(node.type) && !viewOfNamed(node)) why = `what ${name} returns may be an object that ends with the expression`;
        break;
      }
      case 'construct':
        if (node === whole && held) break;
        if (isObject(node.type) || (wanted === 'pointer' && isUnclear(node.type))) why = 'the object that is made there ends with the expression';
        break;
      case 'lambda': why = 'it was not understood'; break;
      default: break;
    }
    return why === null;
  });
  return why;
}

/** The object that it returns lives elsewhere. */
function givesReference({ callee }: CallExpr): boolean {
  return (callee.kind === 'function' || callee.kind === 'method') && callee.candidates.length > 0 && callee.candidates.every(({ returns }) => returns.kind === 'reference');
}

function calleeName(call: CallExpr): string {
  return call.callee.kind === 'value' ? 'the call' : call.callee.name;
}

/** Of a class: anything but numbers, pointers and the vectors of CUDA. */
function isObject(type: Type): boolean {
  return type.kind === 'record' && type.decl.vector === null;
}

function isUnclear(type: Type): boolean {
  return type.kind === 'unknown' || type.kind === 'dependent';
}

/** `v.data()` of a variable, `raw_pointer_cast(v.data())`. */
function viewOfNamed(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind !== 'call') return isNamed(e) || (e.kind === 'unary' && e.op === '&' && isNamed(e.operand));
  switch (e.callee.kind) {
    case 'method': return ACCESSOR.test(e.callee.name) && e.arguments.length === 0 && (isNamed(e.callee.object) || viewOfNamed(e.callee.object));
    case 'function': case 'unknown': case 'builtin': return SMALLER_OR_LARGER.test(e.callee.name) || (PASSES_ON.test(e.callee.name) && e.arguments.every(viewOfNamed));
    case 'value': return false;
    default: {
      const never: never = e.callee;
      return never;
    }
  }
}

/** A variable, a member or an element of one, or what one points to. */
function isNamed(expr: Expr): boolean {
  const e = strip(expr);
  switch (e.kind) {
    case 'ref': case 'this': return true;
    case 'member': return isNamed(e.object);
    case 'index': return isNamed(e.base);
    case 'unary': return e.op === '*' && isNamed(e.operand);
    default: return false;
  }
}

// -------------------------------------------------------------------------------------------------------------- effects

interface Effects {
  /** Variables that it sets, or passes where they may be set. */
  readonly writes: ReadonlySet<Decl>;
  /** It may change anything that is not a function's own variable. */
  readonly anything: boolean;
  readonly reads: ReadonlySet<Decl>;
  /** It reads memory, or calls what may. */
  readonly readsMemory: boolean;
}

const known = new WeakMap<Expr, Effects>();

/** True if evaluating `first` may change the value or the effects of `second`. */
export function changes(first: Expr, second: Expr, fn: FunctionDecl): boolean {
  if (first === second) return false;
  const [a, b] = [effectsOf(first), effectsOf(second)];
  for (const decl of a.writes) if (b.reads.has(decl) || b.writes.has(decl)) return true;
  if (!a.anything) return false;
  return b.anything || b.readsMemory || [...b.reads].some((decl) => !isOwn(decl, fn));
}

function effectsOf(expr: Expr): Effects {
  const made = known.get(expr);
  if (made !== undefined) return made;
  const writes = new Set<Decl>();
  const reads = new Set<Decl>();
  let anything = false;
  let readsMemory = false;
  const write = (target: Expr): void => {
    const e = strip(target);
    if (e.kind === 'ref' && e.decl !== null && e.decl.kind !== 'function') writes.add(e.decl);
    else if (e.kind === 'member' && !e.arrow) write(e.object);
    else anything = true;
  };
  walk(expr, (node) => {
    if (node.kind === 'opaque') anything = true;
    if (isStmt(node)) return true;
    switch (node.kind) {
      case 'ref':
        if (node.decl === null) readsMemory = true;
        else reads.add(node.decl);
        break;
      case 'update': case 'assign': write(node.target); break;
      case 'call': {
        if (isReading(node)) { readsMemory ||= node.callee.kind === 'method'; break; }
        anything = true;
        if (node.callee.kind === 'method') write(node.callee.object);
        for (const [i, argument] of node.arguments.entries()) if (mayBeSet(node, i)) write(argument);
        break;
      }
      case 'unary': if (node.op === '*') readsMemory = true; break;
      case 'index': case 'this': readsMemory = true; break;
      case 'member': if (node.arrow) readsMemory = true; break;
      case 'construct': if (isObject(node.type) || isUnclear(node.type)) anything = true; break;
      case 'lambda': anything = true; break;
      default: break;
    }
    return true;
  });
  const effects = { writes, anything, reads, readsMemory };
  known.set(expr, effects);
  return effects;
}

function isReading(call: CallExpr): boolean {
  switch (call.callee.kind) {
    case 'method': return ACCESSOR.test(call.callee.name) && call.arguments.length === 0;
    case 'function': case 'unknown': case 'builtin': return SMALLER_OR_LARGER.test(call.callee.name) || PASSES_ON.test(call.callee.name);
    case 'value': return false;
    default: {
      const never: never = call.callee;
      return never;
    }
  }
}

/** An argument that the callee may take by reference. */
function mayBeSet(call: CallExpr, index: number): boolean {
  const argument = call.arguments[index];
  if (argument === undefined || !isNamed(argument)) return false;
  if (call.callee.kind !== 'function' && call.callee.kind !== 'method') return true;
  if (call.callee.candidates.length === 0) return true;
  return call.callee.candidates.some((callee) => {
    const parameter = callee.parameters[index];
    return parameter === undefined || parameter.pack || parameter.type.kind === 'reference' || parameter.type.kind === 'unknown' || parameter.type.kind === 'dependent';
  });
}

/** A variable that nothing but the function's own text can change. */
function isOwn(decl: Decl, fn: FunctionDecl): boolean {
  switch (decl.kind) {
    case 'enumerator': case 'function': case 'typedef': case 'record': case 'enum': case 'template-parameter': return true;
    case 'variable':
      if (decl.type.const === true) return true;
      return decl.storage === 'automatic' && decl.space === 'local' && decl.type.kind !== 'reference' && !exposedIn(fn).has(decl);
    case 'parameter': return decl.type.kind !== 'reference' && !exposedIn(fn).has(decl);
    default: {
      const never: never = decl;
      return never;
    }
  }
}

const exposed = new WeakMap<FunctionDecl, ReadonlySet<Decl>>();

/** Variables whose address is taken, to which a reference is bound, or which a lambda mentions. */
function exposedIn(fn: FunctionDecl): ReadonlySet<Decl> {
  const made = exposed.get(fn);
  if (made !== undefined) return made;
  const found = new Set<Decl>();
  const all = (root: Node): void => {
    walk(root, (node) => { if (!isStmt(node) && node.kind === 'ref' && node.decl !== null) found.add(node.decl); return true; });
  };
  if (fn.body !== null) {
    walk(fn.body, (node) => {
      if (node.kind === 'unary' && node.op === '&') all(node.operand);
      else if (node.kind === 'lambda') all(node);
      else if (node.kind === 'declare') for (const variable of node.variables) if (variable.type.kind === 'reference' && variable.init !== null) all(variable.init);
      return true;
    });
  }
  exposed.set(fn, found);
  return found;
}

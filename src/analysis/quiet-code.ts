/**
 * Which functions are *quiet*: they only compute from their parameters, their own object and constants, and change nothing else. Of the code that runs
 * without being named nearly all is, and is left out there (implicit-code.ts).
 *
 * A function that is being looked at is taken for quiet where it meets itself (the name of an object in its own copy constructor may copy it): what is found
 * on the way rests on that, and is kept only once the whole round is through (Tarjan's lowest point of a strongly connected component).
 */
import { builtin } from '../cuda/builtins.js';
import { codeOf } from './function-code.js';
import { implicitIn, mayRunMore } from './implicit-code.js';
import { forEachPart, type Node } from './parts.js';
import type { Decl, Expr, FunctionDecl, Type } from '../syntax/tree.js';
import { strip } from '../syntax/tree.js';

const quiet = new WeakMap<FunctionDecl, boolean>();
const inProgress = new Map<FunctionDecl, number>();
/** The outermost function on which an answer rests that is not there yet. */
let lowest = Infinity;

/** What `compute` gives, and whether it may be kept: false if it rests on a function that is being looked at. */
export function settled<T>(compute: () => T): { readonly value: T; readonly keep: boolean } {
  const outer = lowest;
  lowest = Infinity;
  const value = compute();
  const keep = lowest === Infinity;
  lowest = Math.min(outer, lowest);
  return { value, keep };
}

/** Does a function only compute from its parameters, its own object and constants, and change nothing else? Without a body nothing is known. */
export function isQuiet(fn: FunctionDecl): boolean {
  const known = quiet.get(fn);
  if (known !== undefined) return known;
  const open = inProgress.get(fn);
  if (open !== undefined) { lowest = Math.min(lowest, open); return true; }
  const outer = lowest;
  const position = inProgress.size;
  lowest = Infinity;
  inProgress.set(fn, position);
  const code = codeOf(fn);
  const answer = code !== null && isQuietNode(code);
  inProgress.delete(fn);
  // What is loud is so whatever becomes of the others.
  const rests = answer && lowest < position;
  if (!rests) quiet.set(fn, answer);
  lowest = rests ? Math.min(outer, lowest) : outer;
  return answer;
}

function isQuietNode(node: Node): boolean {
  if (!isQuietAlone(node)) return false;
  if (mayRunMore(node) && implicitIn(node).length > 0) return false;
  let fine = true;
  forEachPart(node, (part) => { fine &&= isQuietNode(part); });
  return fine;
}

function isQuietAlone(node: Node): boolean {
  if ('type' in node && isVolatile(node.type)) return false;
  switch (node.kind) {
    case 'coordinate': return node.base === 'warpSize';
    case 'ref': return isQuietName(node.decl);
    case 'member': return node.field === null || !isVolatile(node.field.type);
    case 'assign': case 'update': return isOwn(node.target);
    case 'construct': return node.type.kind !== 'unknown';
    case 'call': {
      const { callee } = node;
      if (callee.kind === 'builtin') { const entry = builtin(callee.name); return entry !== undefined && entry.pure && entry.collective === null && !entry.volatile; }
      return (callee.kind === 'function' || callee.kind === 'method') && callee.candidates.length > 0 && callee.candidates.every(isQuiet);
    }
    case 'asm': case 'opaque': case 'lambda': case 'range-for': case 'goto': case 'label': return false;
    default: return true;
  }
}

function isVolatile(type: Type): boolean {
  if (type.volatile === true) return true;
  switch (type.kind) {
    case 'pointer': case 'reference': return isVolatile(type.to);
    case 'array': return isVolatile(type.of);
    default: return false;
  }
}

/** A parameter, a variable of the function, a field, a constant. */
function isQuietName(decl: Decl | null): boolean {
  if (decl === null) return false;
  if (decl.kind !== 'variable') return true;
  if (decl.storage === 'member' || decl.constexpr) return true;
  if (decl.storage === 'automatic') return decl.space === 'local' || decl.space === 'host';
  return decl.type.const === true && decl.type.kind !== 'pointer' && decl.space !== 'shared' && decl.space !== 'device' && decl.space !== 'managed';
}

/** An lvalue that is a variable of the function or a part of its own object, not through a pointer. */
function isOwn(target: Expr): boolean {
  for (let e = strip(target); ;) {
    switch (e.kind) {
      case 'ref': return e.decl !== null && (e.decl.kind === 'parameter' || e.decl.kind === 'variable') && e.decl.type.kind !== 'reference' && isQuietName(e.decl);
      case 'this': return true;
      case 'member': { const object = strip(e.object); if (e.field?.type.kind === 'reference' || (e.arrow && object.kind !== 'this')) return false; e = object; break; }
      case 'index': { const base = strip(e.base); if (base.type.kind !== 'array') return false; e = base; break; }
      case 'unary': { const inner = strip(e.operand); if (e.op !== '*' || inner.kind !== 'this') return false; e = inner; break; }
      case 'cast': e = strip(e.operand); break;
      default: return false;
    }
  }
}


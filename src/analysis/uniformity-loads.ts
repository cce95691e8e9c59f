/**
 * Elements of what is read from memory, and of addresses (SEMANTICS 1, rules R1 to R4).
 *
 * A load has the element of its address as far as the memory is stable; stability.ts decides that from places, writes and barriers.
 * An object in `__shared__` memory is a different one in each block. A pointer that may lead to a thread's own object carries the
 * element of the object's contents (taint.ts, LOCAL), joined here with everything stored through such pointers.
 */
import { strip } from './children.js';
import { isFixed } from './const-promise.js';
import { mayHoldAddress, variableOf } from './lvalues.js';
import { stableLoad, type Stability } from './stability.js';
import { BLOCK, CONSTANT, DATA, GEOMETRY_BIT, GRID, isLane, LANE, LOCAL, ON_MEMORY, scopeOf, SCOPE_BITS, UNKNOWN, WARP } from './taint.js';
import type { Env } from './env.js';
import type { Scope } from './facts.js';
import { returnedPlace } from './uniformity-calls.js';
import { taintOf } from './uniformity-values.js';
import type { Uniformity } from './uniformity.js';
import type { Decl, Expr, VariableDecl } from '../syntax/tree.js';

/** Element of an object's identity: which object a name stands for. */
export function objectTaint(decl: VariableDecl): number {
  return decl.space === 'shared' ? BLOCK : CONSTANT;
}

/** A constant that needs no memory: `constexpr`, or `const` with a visible scalar initialiser. */
export function isConstantObject(decl: VariableDecl): boolean {
  return decl.constexpr || (isFixed(decl.type) && decl.space !== 'shared' && decl.init !== null && decl.type.kind !== 'pointer' && decl.type.kind !== 'reference');
}

/** What an lvalue in memory goes through: subscripts, pointers, objects. For an lvalue in a variable: its subscripts. */
export function placeTaint(lvalue: Expr, state: Uniformity): number {
  const e = strip(lvalue);
  switch (e.kind) {
    case 'ref': {
      const decl: Decl | null = e.decl;
      // It may be the name of a pointer to anything.
      if (decl === null) return UNKNOWN | LOCAL;
      const variable = variableOf(decl);
      if (variable !== null) return variable.type.kind === 'reference' ? taintOf(e, state) : CONSTANT;
      return decl.kind !== 'variable' ? UNKNOWN : decl.storage === 'member' ? (state.ownGoesOut ? state.valueTaint(state.defUse.reads.get(e) ?? -1) | LOCAL : CONSTANT) : objectTaint(decl);
    }
    case 'member': return e.arrow ? taintOf(e.object, state) : placeTaint(e.object, state);
    case 'index': {
      const base = strip(e.base);
      const inner = base.type.kind === 'array' && isNamedObject(base) ? placeTaint(base, state) : isElementOfVariable(base) ? placeTaint(base, state) : taintOf(base, state);
      return inner | taintOf(e.index, state);
    }
    case 'unary': return e.op === '*' ? taintOf(e.operand, state) : UNKNOWN;
    case 'cast': return placeTaint(e.operand, state);
    case 'conditional': return taintOf(e.condition, state) | placeTaint(e.then, state) | placeTaint(e.else, state);
    case 'assign': case 'update': return placeTaint(e.target, state);
    case 'binary': return e.op === ',' ? placeTaint(e.right, state) : UNKNOWN;
    case 'this': return CONSTANT;
    case 'call': return taintOf(e, state) | returnedPlace(e, state);
    default: return taintOf(e, state);
  }
}

/** An array that is (a part of) a named object, not what a pointer leads to. */
function isNamedObject(base: Expr): boolean {
  const e = strip(base);
  if (e.kind === 'ref') return !(e.decl !== null && e.decl.kind === 'parameter' && e.decl.type.kind !== 'reference');
  if (e.kind === 'index') return isNamedObject(e.base) || strip(e.base).type.kind === 'array';
  if (e.kind === 'member') return true;
  return e.kind === 'unary' && e.op === '*';
}

function isElementOfVariable(base: Expr): boolean {
  if (base.kind === 'ref') {
    const decl = variableOf(base.decl);
    return decl !== null && (base.type.kind === 'record' || base.type.kind === 'unknown' || base.type.kind === 'dependent');
  }
  return false;
}

/** Element of the value loaded from an lvalue in memory. */
export function loadTaint(lvalue: Expr, state: Uniformity): number {
  const address = placeTaint(lvalue, state);
  return loaded(lvalue, address, state);
}

/** The value at an address with a known element. `load` is the lvalue, or the call of a loading built-in. */
export function loaded(load: Expr, address: number, state: Uniformity): number {
  if ((address & LOCAL) !== 0) {
    // The thread's own object: its contents came with the pointer. A pointer found there may lead anywhere, to another of its objects too.
    const contents = (address & ~LOCAL) | state.localStore;
    if (state.mayBeLed(load.type)) return contents | UNKNOWN | LOCAL;
    return load.type.kind === 'pointer' ? contents | UNKNOWN | LOCAL : mayHoldAddress(load.type) ? contents | LOCAL : contents;
  }
  if (state.mayBeLed(load.type)) return address | UNKNOWN | LOCAL;
  // What varies with the address is data, whatever the address came from.
  if (isLane(address)) return (address & ~GEOMETRY_BIT) | DATA;
  const scope = stableScope(load, scopeOf(address), state.env);
  return address | scope;
}

const WANTED: readonly Scope[] = ['grid', 'block', 'warp'];
const ELEMENTS: Readonly<Record<string, number>> = { grid: GRID, block: BLOCK, warp: WARP };

interface Found { readonly taint: number; readonly stability: Stability }

const found = new WeakMap<Env, Map<Expr, Map<Scope, Found>>>();

/** The widest scope, not wider than `scope`, at which the memory is stable. Lane (data) if it is not. */
function stableScope(load: Expr, scope: Scope, env: Env): number {
  return stability(load, scope, env).taint;
}

/** The same with B's chain of reasons. */
export function stability(load: Expr, scope: Scope, env: Env): Found {
  let ofEnv = found.get(env);
  if (ofEnv === undefined) found.set(env, ofEnv = new Map());
  let ofLoad = ofEnv.get(load);
  if (ofLoad === undefined) ofEnv.set(load, ofLoad = new Map());
  const known = ofLoad.get(scope);
  if (known !== undefined) return known;
  const made = search(load, scope, env);
  ofLoad.set(scope, made);
  return made;
}

function search(load: Expr, scope: Scope, env: Env): Found {
  let last: Stability | null = null;
  for (const wanted of WANTED) {
    if (scope === 'warp' && wanted !== 'warp') continue;
    if (scope === 'block' && wanted === 'grid') continue;
    const answer = stableLoad(load, wanted, env, scope);
    last = answer;
    if (!answer.value) continue;
    if (answer.own) return { taint: UNKNOWN, stability: answer };
    const element = ELEMENTS[wanted] ?? LANE;
    return { taint: element | (answer.under.length > 0 ? ON_MEMORY : 0), stability: answer };
  }
  const none = last ?? stableLoad(load, 'warp', env, scope);
  if (env.options.trustSharedLoads === true) return { taint: (ELEMENTS[scope] ?? GRID) | ON_MEMORY, stability: none };
  return { taint: DATA, stability: none };
}

/** A local reference bound to memory: what it reads is what the memory held, if that never changes. */
export function memoryReferenceTaint(init: Expr, state: Uniformity): number {
  return boundTaint(init, state);
}

/** Element of an lvalue in memory read at some later time: stable for good (R1), or data. */
export function boundTaint(lvalue: Expr, state: Uniformity): number {
  const address = placeTaint(lvalue, state);
  if ((address & LOCAL) !== 0 || isLane(address)) return loaded(lvalue, address, state);
  if (state.mayBeLed(lvalue.type)) return address | UNKNOWN | LOCAL;
  const lasting = stability(strip(lvalue), 'grid', state.env);
  return (lasting.taint & SCOPE_BITS) === GRID || state.env.options.trustSharedLoads === true ? address | lasting.taint : address | DATA;
}

/** A name that is memory: `__shared__`, `__device__`, `__constant__`, static, namespace scope. */
export function memoryNameTaint(ref: Expr & { kind: 'ref' }, decl: Decl, state: Uniformity): number {
  if (decl.kind !== 'variable') return UNKNOWN;
  if (decl.type.kind === 'array') return objectTaint(decl); // decays to its address
  if (isConstantObject(decl)) return CONSTANT;
  if (decl.space === 'host') return UNKNOWN;
  return loaded(ref, objectTaint(decl), state);
}

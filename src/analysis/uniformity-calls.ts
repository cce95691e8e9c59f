/**
 * Elements of what calls return and leave behind.
 *
 * A visible callee is solved for the elements of its arguments (world.ts); several candidates are joined. Built-ins follow the scope
 * rules of the one table (src/cuda/builtins.ts):
 *
 *   votes and reductions  one value among the lanes that the mask names. A mask that is itself one value per warp names every lane that
 *                         arrives with it (else the call is undefined), so the result is one value per warp;
 *   legacy votes          act on the lanes that happen to be together: one value per warp only if whole warps arrive;
 *   `__shfl_sync`         one value per warp if mask and source lane are, for full width, if the source is there (shuffle-sources.ts);
 *   up, down, xor         one value per warp only if the shuffled value is one and every lane that may be read is there.
 *
 * Queries of cooperative groups follow library-calls.ts. Everything else that is not visible is unknown, by name.
 */
import { builtin, type Builtin } from '../cuda/builtins.js';
import { strip } from './children.js';
import { constUse, SELF } from './const-promise.js';
import { constantOf } from './constants.js';
import { callHidesValue } from './hidden-values.js';
import { isImplicit } from './implicit-code.js';
import { groupOf, libraryCall } from './library-calls.js';
import { addressedBy, byReference, carriesAddress, mayHoldAddress, rootOf, rootsOf, valueType } from './lvalues.js';
import { isOwnPart, leadsToOwn } from './own-object.js';
import { lanesOfWarp } from './platform.js';
import { structureOf } from './structure.js';
import { leavesOut, neighboursAreThere, sourceIsThere } from './shuffle-sources.js';
import { bodiesOf } from './summaries.js';
import type { CallOutput } from './call-outputs.js';
import { BLOCK, CONSTANT, DATA, GEOMETRY, GRID, isLane, LOCAL, taintOfScope, UNKNOWN, WARP } from './taint.js';
import { isTemplate } from './template-instances.js';
import { handsForeign } from './template-types.js';
import { boundTaint, isConstantObject, loaded } from './uniformity-loads.js';
import type { Variable } from './facts.js';
import { convertedTaint } from './uniformity-objects.js';
import type { Entry, Uniformity } from './uniformity.js';
import { joined, taintOf } from './uniformity-values.js';
import type { CallExpr, Callee, Expr, FunctionDecl, Program, Type } from '../syntax/tree.js';

export function callTaint(call: CallExpr, state: Uniformity): number {
  if (callHidesValue(call)) return UNKNOWN;
  const callee = call.callee;
  switch (callee.kind) {
    case 'builtin': {
      const entry = builtin(callee.name);
      if (entry === undefined) return UNKNOWN;
      // `memcpy` gives back where it has written.
      const taint = builtinTaint(entry, call, state);
      return call.type.kind === 'pointer' ? taint | (joined(call.arguments, state) & LOCAL) : taint;
    }
    case 'function': case 'method': {
      const library = libraryTaint(call, state);
      if (library !== null) return library;
      return candidatesTaint(callee.candidates, call, state);
    }
    case 'value': {
      const operators = functorOperators(callee.value);
      return operators.length > 0 ? candidatesTaint(operators, call, state) : UNKNOWN;
    }
    case 'unknown': return libraryTaint(call, state) ?? (isOperator(callee.name) ? operatorTaint(call, state) : UNKNOWN);
  }
}

/** An operator of a record that is not visible (`int3 + int3` of a header that was not found). */
function isOperator(name: string): boolean {
  return name.startsWith('operator') && OPERATORS.has(name.slice('operator'.length).trim());
}

const OPERATORS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>', '==', '!=', '<', '<=', '>', '>=', '!', '~', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=']);

/** It depends on its operands: if they vary, so may it, and that is all that has to be known. Of operands that do not vary nothing follows. */
function operatorTaint(call: CallExpr, state: Uniformity): number {
  const taint = joined(call.arguments, state) & ~LOCAL;
  return isLane(taint) ? taint : UNKNOWN;
}

/** `op(a, b)` for an object whose record is visible. */
function functorOperators(value: Expr): readonly FunctionDecl[] {
  const e = strip(value);
  return e.type.kind === 'record' ? e.type.decl.methods.filter((method) => method.name === 'operator()') : [];
}

function candidatesTaint(candidates: readonly FunctionDecl[], call: CallExpr, state: Uniformity): number {
  if (candidates.length === 0) return UNKNOWN;
  let taint = CONSTANT;
  const hidden = call.callee.kind === 'function' ? builtin(call.callee.name) : undefined;
  if (hidden === undefined) {
    const known = knownCallees(candidates, call, state);
    if (known === null) return UNKNOWN;
    for (const solved of known) taint |= solved.returned();
    return taint;
  }
  // An overload of a built-in that calls the built-in looks like recursion.
  for (const solved of solvedCallees(candidates, call, state)) taint |= solved === null ? builtinTaint(hidden, call, state) : solved.returned();
  return taint;
}

/** A solution for every body that the candidates may run; null for one that is not visible or not to be solved. */
export function solvedCallees(candidates: readonly FunctionDecl[], call: CallExpr, state: Uniformity): readonly (Uniformity | null)[] {
  if (candidates.length === 0) return NONE;
  return state.solvedCallees(call, () => bodiesOfAny(candidates, state.env.program).map((fn) => (fn === null ? null : state.world.solve(fn, entryOf(fn, call, state)))));
}

/**
 * The same for those who can say nothing where one is not known, whatever the others do: null then. The others are not solved for that: overloads that call
 * each other would be, in every order in which they do.
 */
function knownCallees(candidates: readonly FunctionDecl[], call: CallExpr, state: Uniformity): readonly Uniformity[] | null {
  for (const fn of bodiesOfAny(candidates, state.env.program)) if (fn === null || state.world.isOpen(fn)) return null;
  const solved = solvedCallees(candidates, call, state);
  return solved.every((one): one is Uniformity => one !== null) ? solved : null;
}

/** Bodies that the candidates may run, each once; null for those of a candidate that are not visible. */
function bodiesOfAny(candidates: readonly FunctionDecl[], program: Program): readonly (FunctionDecl | null)[] {
  if (candidates.every((fn) => fn.body !== null)) return candidates;
  // A declaration among them may mean what stands there as well.
  const found = new Set<FunctionDecl | null>();
  for (const candidate of candidates) {
    const bodies = bodiesOf(candidate, program);
    if (bodies.length === 0) found.add(null);
    for (const fn of bodies) found.add(fn);
  }
  return [...found];
}

const NONE: readonly Uniformity[] = [];
const NO_ROOTS: readonly { readonly decl: Variable; readonly written: boolean }[] = [];

/** Elements of the arguments of a call, as the callee's parameters get them. */
export function entryOf(fn: FunctionDecl, call: CallExpr, state: Uniformity): Entry {
  const count = Math.max(fn.parameters.length, call.arguments.length);
  const parameters = new Array<number>(count).fill(UNKNOWN);
  let roots = NO_ROOTS;
  let shared = false;
  // Two ways to one object: what is stored through one is read through the other.
  const lend = (lvalue: Expr, written: boolean): void => {
    const decl = lentBy(lvalue, state);
    if (decl === null) return;
    shared ||= roots.some((other) => other.decl === decl && (written || other.written));
    roots = [...roots, { decl, written }];
  };
  if (call.callee.kind === 'method' && !call.callee.arrow) lend(call.callee.object, !leavesOwn(fn));
  else if (call.callee.kind === 'method' && leadsToOwn(call.callee.object)) lend(call.callee.object, !leavesOwn(fn));
  else if (call.callee.kind === 'value') lend(call.callee.value, !leavesOwn(fn));
  const hidden = callHidesValue(call);
  for (let i = 0; i < count; i++) {
    const parameter = fn.parameters[Math.min(i, fn.parameters.length - 1)];
    const argument = call.arguments[i];
    if (argument === undefined) {
      if (parameter !== undefined && parameter.default !== null) parameters[i] = hidden ? UNKNOWN : defaultTaint(parameter.default);
      continue;
    }
    // `{}` makes an object of whatever type the parameter is.
    if (hidden && strip(argument).kind === 'init-list') continue;
    if (parameter !== undefined && byReference(parameter)) {
      const root = rootOf(argument);
      lend(argument, parameter.type.kind === 'reference' && (parameter.type.to.const !== true || constUse(fn, i) !== 'read'));
      parameters[i] = isMadeFor(argument, parameter.type) ? convertedTaint(argument, parameter.type, state) : referenceTaint(argument, state) | (root !== null && isLedTo(root.decl, call, state) ? LOCAL : CONSTANT);
    } else parameters[i] = parameter === undefined ? taintOf(argument, state) : convertedTaint(argument, parameter.type, state);
  }
  let self = CONSTANT;
  if (isImplicit(call) || hidden) self = UNKNOWN | LOCAL;
  else if (call.callee.kind === 'method') self = call.callee.arrow ? pointedObject(call.callee.object, state) : referenceTaint(call.callee.object, state);
  else if (call.callee.kind === 'value') self = referenceTaint(call.callee.value, state);
  else if (fn.owner !== null && state.function.owner !== null) self = state.selfTaint();
  if (call.callee.kind === 'method' && objectIsLedTo(call, call.callee, state)) self |= LOCAL;
  if (shared) { parameters.fill(UNKNOWN); self |= UNKNOWN; }
  for (let i = 0; i < count; i++) parameters[i] = withStores(parameters[i] ?? UNKNOWN, state);
  self = withStores(self, state);
  return { parameters, self, arrival: state.arrivalAt(call), foreign: (state.entry.foreign && isTemplate(fn)) || handsForeign(call, state.env.program), leaked: state.leaked };
}

/** What a callee finds behind an address: what the object held, and what has been stored through pointers meanwhile. */
export function withStores(taint: number, state: Uniformity): number {
  return (taint & LOCAL) !== 0 ? taint | state.localStore : taint;
}

/** The variable that a reference is bound to, for the method's own object `this`; null for memory. */
function lentBy(lvalue: Expr, { structure, defUse }: Uniformity): Variable | null {
  const root = rootOf(lvalue);
  if (root === null) return isOwnPart(lvalue) || leadsToOwn(lvalue) ? defUse.self : null;
  let { decl } = root;
  for (let next = structure.aliases.get(decl); next !== undefined; next = structure.aliases.get(decl)) decl = next.decl;
  return structure.ownAliases.has(decl) ? defUse.self : decl;
}

/** Does a method leave the object alone that it runs on? */
function leavesOwn(fn: FunctionDecl): boolean {
  if (fn.constant === true && constUse(fn, SELF) === 'read') return true;
  const { assignsThis, ownEscapes } = structureOf(fn);
  return !assignsThis && !ownEscapes;
}

/** May a pointer lead to the object of a method while the call runs? */
function objectIsLedTo(call: CallExpr, callee: Callee & { kind: 'method' }, state: Uniformity): boolean {
  if (leadsToOwn(callee.object) || isOwnPart(callee.object)) return state.ownIsLedTo || call.arguments.some(leadsToOwn);
  const decl = callee.arrow ? null : lentBy(callee.object, state);
  return decl !== null && (decl === state.defUse.self ? state.ownIsLedTo : isLedTo(decl, call, state));
}

/** May a pointer lead to the variable while the call runs: one that was handed out before, or one that this call gets too? */
function isLedTo(decl: Variable, call: CallExpr, state: Uniformity): boolean {
  if (state.structure.escaped.has(decl)) return true;
  return state.structure.outputs.get(call)?.some((output) => output.root.decl === decl && output.how !== 'reference') ?? false;
}

/** A reference to an object that a constructor makes of a number or a pointer. */
function isMadeFor(argument: Expr, type: Type): boolean {
  const { kind } = strip(argument).type;
  return type.kind === 'reference' && type.to.kind === 'record' && kind !== 'record' && kind !== 'unknown' && kind !== 'dependent';
}

/** A default argument stands in the callee's scope: only what is constant everywhere is known. */
export function defaultTaint(expr: Expr): number {
  const e = strip(expr);
  switch (e.kind) {
    case 'literal': case 'sizeof': return CONSTANT;
    case 'unary': return e.op === '*' || e.op === '&' ? UNKNOWN : defaultTaint(e.operand);
    case 'cast': return defaultTaint(e.operand);
    case 'binary': return defaultTaint(e.left) | defaultTaint(e.right);
    case 'ref':
      if (e.decl === null) return UNKNOWN;
      return e.decl.kind === 'enumerator' || e.decl.kind === 'template-parameter' || (e.decl.kind === 'variable' && isConstantObject(e.decl)) ? CONSTANT : UNKNOWN;
    default: return UNKNOWN;
  }
}

/** What a reference parameter is bound to: the contents of a variable, or memory that must not change meanwhile. */
function referenceTaint(argument: Expr, state: Uniformity): number {
  let e = strip(argument);
  while (e.kind === 'cast' && e.reference !== undefined) e = strip(e.operand);
  const root = rootOf(e);
  // `x = v` stands for the variable, whatever it holds later.
  if (root !== null) return e.kind === 'assign' ? taintOf(e, state) | state.valueTaint(state.defUse.reads.get(root.ref) ?? -1) : taintOf(e, state);
  if (e.kind === 'index' || (e.kind === 'unary' && e.op === '*') || (e.kind === 'member' && !isOfValue(e))) {
    return e.type.kind === 'array' ? taintOf(e, state) : boundTaint(e, state);
  }
  if (e.kind === 'ref' && e.decl !== null && e.decl.kind === 'variable' && e.decl.storage !== 'member' && e.type.kind !== 'array' && !e.decl.constexpr) return boundTaint(e, state);
  return taintOf(e, state);
}

function isOfValue(expr: Expr & { kind: 'member' }): boolean {
  const object = strip(expr.object);
  return !expr.arrow && (object.kind === 'call' || object.kind === 'construct');
}

/** Contents of the object that a pointer leads to. */
function pointedObject(pointer: Expr, state: Uniformity): number {
  const e = strip(pointer);
  if (e.kind === 'this') return state.selfTaint();
  const taint = taintOf(pointer, state);
  if ((taint & LOCAL) !== 0) return taint | state.localStore;
  return (isLane(taint) ? DATA | taint : UNKNOWN) | (state.leaked ? UNKNOWN | LOCAL : CONSTANT);
}

function callsOperator(call: CallExpr): boolean {
  return call.callee.kind === 'unknown' && isOperator(call.callee.name);
}

/** Does the call run an instance whose classes may bring along operators, constructors and destructors that do anything? */
export function isForeignCall(call: CallExpr, state: Uniformity): boolean {
  const { callee } = call;
  if (callee.kind === 'builtin' || callee.kind === 'unknown') return false;
  if (handsForeign(call, state.env.program)) return true;
  return state.entry.foreign && callee.kind !== 'value' && callee.candidates.some(isTemplate);
}

/** Element of what a call leaves in a variable of the caller; `previous` is what it held. */
export function outputTaint(call: CallExpr, output: CallOutput, previous: number, state: Uniformity): number {
  const left = leftBehind(call, output, previous, state);
  if (state.mayBeLed(valueType(output.root.decl.type))) return left | UNKNOWN | LOCAL;
  return mayHoldAddress(valueType(output.root.decl.type)) ? left : left & ~LOCAL;
}

function leftBehind(call: CallExpr, output: CallOutput, previous: number, state: Uniformity): number {
  if (callHidesValue(call) || isForeignCall(call, state)) return UNKNOWN;
  if (output.how === 'unknown') {
    const library = libraryCall(call);
    if (library !== null && !library.writesArguments) return previous;
    return callsOperator(call) && isLane(previous | joined(call.arguments, state)) ? previous | operatorTaint(call, state) : UNKNOWN;
  }
  const callee = call.callee;
  if (callee.kind === 'builtin') {
    const entry = builtin(callee.name);
    if (entry === undefined || entry.atomic) return UNKNOWN;
    return previous | joined(call.arguments, state) & ~LOCAL | (entry.scope.kind === 'fixed' ? taintOfScope(entry.scope.scope) : CONSTANT) | (entry.collective === 'warp' ? WARP : CONSTANT);
  }
  const candidates = callee.kind === 'function' || callee.kind === 'method' ? callee.candidates : [];
  if (candidates.length === 0) return UNKNOWN;
  const known = knownCallees(candidates, call, state);
  if (known === null) return UNKNOWN;
  let taint = output.how === 'address' || candidates.length > 1 ? previous : CONSTANT;
  for (const solved of known) {
    if (output.how === 'address') { taint |= solved.localStore; continue; }
    const parameter = output.argument < 0 ? solved.defUse.self : solved.function.parameters[output.argument];
    if (parameter === undefined || (output.argument >= 0 && !byReference(parameter))) taint |= previous;
    else taint |= solved.finalTaint(parameter) | (output.root.whole ? CONSTANT : previous);
  }
  return taint;
}

/** Does a call store through pointers that it is not given, where the address of an own object may lie anywhere? */
export function storesUnasked(call: CallExpr, state: Uniformity): boolean {
  const { callee } = call;
  switch (callee.kind) {
    case 'builtin': return builtin(callee.name) === undefined;
    case 'function': case 'method':
      return callee.candidates.length === 0 || callHidesValue(call) || isForeignCall(call, state) || knownCallees(callee.candidates, call, state)?.some((solved) => solved.storesThere) !== false;
    case 'value': case 'unknown': return libraryCall(call)?.writesArguments !== false;
  }
}

/** Does a call put the address of an own object, which it is given, where it is not followed? One that is not seen may store through it at once (`storesOfCall`). */
export function leaksByCall(call: CallExpr, state: Uniformity): boolean {
  const { callee } = call;
  switch (callee.kind) {
    case 'builtin': {
      const entry = builtin(callee.name);
      if (entry === undefined) return true;
      if (entry.writes.length === 0) return false;
      return call.arguments.some((argument, i) => !entry.writes.includes(i) && carriesAddress(entry.reads.includes(i) ? copiedType(argument) : argument.type) && (taintOf(argument, state) & LOCAL) !== 0);
    }
    case 'function': case 'method':
      return solvedCallees(callee.candidates, call, state).some((solved) => solved !== null && (solved.leaked
        || (callee.kind === 'method' && (callee.arrow ? addressedBy(callee.object) : rootsOf(callee.object)).length === 0 && solved.keepsAddress(solved.defUse.self))
        || solved.function.parameters.some((parameter, i) => {
          const argument = call.arguments[i];
          return byReference(parameter) && argument !== undefined && rootOf(argument) === null && solved.keepsAddress(parameter);
        })));
    case 'value': case 'unknown': return false;
  }
}

/** What lies where a copy by bytes begins, whatever the address was cast to. */
function copiedType(pointer: Expr): Type {
  let e = strip(pointer);
  while (e.kind === 'cast') e = strip(e.operand);
  return e.type.kind === 'pointer' ? e.type.to : e.type;
}

/** What a call may store through pointers to the caller's own objects. */
export function storesOfCall(call: CallExpr, state: Uniformity): number {
  if (callHidesValue(call) || isForeignCall(call, state)) return UNKNOWN;
  const callee = call.callee;
  switch (callee.kind) {
    case 'builtin': {
      const entry = builtin(callee.name);
      if (entry === undefined) return UNKNOWN;
      if (entry.atomic) return DATA;
      return entry.writes.length === 0 ? CONSTANT : joined(call.arguments, state) & ~LOCAL;
    }
    case 'function': case 'method': {
      const known = callee.candidates.length === 0 ? null : knownCallees(callee.candidates, call, state);
      if (known === null) return UNKNOWN;
      // An object that is no variable of this function, nor a part of one, is changed where the pointer leads.
      const led = callee.kind === 'method' && (callee.arrow ? addressedBy(callee.object) : rootsOf(callee.object)).every(({ decl }) => state.memoryBehind(decl) !== null);
      let taint = CONSTANT;
      for (const solved of known) taint |= solved.localStore | (led ? solved.finalTaint(solved.defUse.self) & ~LOCAL : CONSTANT);
      return taint;
    }
    case 'value': case 'unknown': {
      const library = libraryCall(call);
      return library !== null && !library.writesArguments ? CONSTANT : UNKNOWN;
    }
  }
}

/** Where the references lie that a call may return: LOCAL if one may be to the thread's own objects. What it returns by value lies nowhere. */
export function returnedPlace(call: CallExpr, state: Uniformity): number {
  const { callee } = call;
  switch (callee.kind) {
    case 'builtin': return CONSTANT;
    case 'function': case 'method': {
      const known = callee.candidates.length === 0 ? null : knownCallees(callee.candidates, call, state);
      if (known === null) return UNKNOWN | LOCAL;
      let taint = CONSTANT;
      for (const solved of known) taint |= solved.returnedPlace();
      return taint;
    }
    case 'value': case 'unknown': return libraryCall(call) !== null ? CONSTANT : UNKNOWN | LOCAL;
  }
}

// ---------------------------------------------------------------------------------------------------------------- built-ins

function builtinTaint(entry: Builtin, call: CallExpr, state: Uniformity): number {
  const argument = (index: number): number => {
    const expr = call.arguments[index];
    return expr === undefined ? CONSTANT : taintOf(expr, state);
  };
  const mask = entry.mask === null ? CONSTANT : argument(entry.mask);
  switch (entry.scope.kind) {
    case 'arguments': return joined(call.arguments, state) & ~LOCAL;
    case 'fixed': return entry.scope.scope === 'lane' ? DATA : taintOfScope(entry.scope.scope);
    case 'named-lanes': {
      if (entry.mask === null) return wholeWarps(call, state);
      return isLane(mask) || leavesOut(call, entry.mask, state) ? mask & ~LOCAL | DATA : WARP;
    }
    case 'shuffle': {
      const value = argument(entry.scope.value);
      const source = argument(entry.scope.lane);
      if (isLane(mask) || isLane(source) || !fullWidth(call, entry.scope.width, state)) return value | source | (isLane(value) ? value : DATA);
      if (!sourceIsThere(call, entry.mask, entry.scope.lane, state)) return value | source | DATA;
      return isLane(value) ? WARP : value;
    }
    case 'lane-shuffle': {
      const value = argument(entry.scope.value);
      if (isLane(value)) return value | DATA;
      return isLane(mask) || isLane(argument(entry.scope.lane)) || !neighboursAreThere(call, entry.mask, state) ? DATA : value | WARP;
    }
    case 'load': {
      const address = argument(entry.scope.address);
      if (entry.family === 'texture') return joinedLoad(joined(call.arguments, state));
      // `__ldg` and its kin read through the read-only cache: the program promises that nothing writes there.
      if (entry.name === '__ldg') return (address & LOCAL) !== 0 ? UNKNOWN : joinedLoad(address) | (isLane(address) ? CONSTANT : GRID);
      return loaded(call, address, state);
    }
    case 'unknown': return UNKNOWN;
  }
}

function joinedLoad(address: number): number {
  return isLane(address) ? DATA | (address & ~GEOMETRY) : address;
}

/** The lanes that are together are whole warps only if every condition on the way here is one value per warp. */
function wholeWarps(call: CallExpr, state: Uniformity): number {
  const arrival = state.arrivalAt(call);
  return isLane(arrival) ? arrival | DATA : WARP;
}

function fullWidth(call: CallExpr, index: number, state: Uniformity): boolean {
  const width = call.arguments[index];
  return width === undefined || constantOf(width, state.env) === BigInt(lanesOfWarp(state.env.program, state.env.unit)) || (strip(width).kind === 'coordinate' && taintOf(width, state) === CONSTANT);
}

/** Cooperative groups: ranks are thread coordinates, sizes are the launch's. Null if the call is none of them. */
function libraryTaint(call: CallExpr, state: Uniformity): number | null {
  const library = libraryCall(call);
  if (library === null) return null;
  const callee = call.callee;
  const name = callee.kind === 'method' ? callee.name : '';
  const group = callee.kind === 'method' ? groupOf(callee.object) : null;
  const tile = callee.kind === 'method' && group === 'warp' ? tileOf(callee.object, lanesOfWarp(state.env.program, state.env.unit)) : null;
  // A vote of a tile of as many threads as a warp has is a vote of the warp.
  if (library.kind !== 'query') return tile === 'warp' && (name === 'any' || name === 'all' || name === 'ballot') ? WARP : DATA;
  switch (name) {
    case 'thread_rank': case 'thread_index': return GEOMETRY;
    // Tiles of that size are the warps.
    case 'meta_group_rank': return tile === 'warp' ? WARP : tile === 'other' ? GEOMETRY : UNKNOWN;
    case 'group_index': case 'block_rank': case 'block_index': return BLOCK;
    case 'size': case 'num_threads': case 'group_dim': case 'dim_threads': case 'num_blocks': case 'dim_blocks': case 'meta_group_size':
      return group === 'block' || group === 'grid' || tile !== null ? GRID : UNKNOWN;
    case 'is_valid': return GRID;
    // Making a group: a handle that is only used through the queries above.
    case '': return GEOMETRY;
    default: return UNKNOWN;
  }
}

/** Is the group a tile of fixed size, and is the size a warp's? Null for groups of whatever lanes are together. */
function tileOf(object: Expr, lanes: 32 | 64): 'warp' | 'other' | null {
  let e = strip(object);
  for (let depth = 0; depth < 4; depth++) {
    const spelled = e.kind === 'ref' && e.decl !== null && (e.decl.kind === 'variable' || e.decl.kind === 'parameter') ? e.decl.type : e.type;
    const type = spelled.kind === 'reference' ? spelled.to : spelled;
    if (type.kind === 'unknown' && type.text.includes('thread_block_tile')) return type.text.replaceAll(' ', '').includes(`thread_block_tile<${lanes}>`) ? 'warp' : 'other';
    if (e.kind === 'call') {
      const name = e.callee.kind === 'value' ? '' : e.callee.name;
      if (!name.includes('tiled_partition')) return null;
      const size = e.templateArguments?.[0];
      const literal = size?.kind === 'value' ? strip(size.value) : null;
      return literal?.kind === 'literal' && literal.value === BigInt(lanes) ? 'warp' : 'other';
    }
    if (e.kind !== 'ref' || e.decl?.kind !== 'variable' || e.decl.init === null) return null;
    e = strip(e.decl.init);
  }
  return null;
}

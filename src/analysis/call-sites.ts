/**
 * Who calls whom below one kernel: every call site of every function that the kernel reaches, so that what a callee's pointer parameter
 * stands for can be said in terms of the kernel (the join over its call sites).
 *
 * Not handled: calls through function pointers, and functors passed to templates; those calls reach no body and are unknown calls in
 * the effects.
 */
import type { CallExpr, FunctionDecl, Program, Stmt } from '../syntax/tree.js';
import { isStmt, strip, walk, type Node } from './children.js';
import { codeOf } from './function-code.js';
import { indexFunction } from './function-index.js';
import { endsOf } from './object-lives.js';
import { placeKey, UNKNOWN_PLACE, type Place } from './places.js';
import { bodiesOf, substitute } from './summaries.js';

export interface CallSite { readonly caller: FunctionDecl; readonly call: CallExpr }

const MAX_FUNCTIONS = 2000;
const MAX_PLACES = 16;

const memo = new WeakMap<FunctionDecl, ReadonlyMap<FunctionDecl, readonly CallSite[]>>();

/** Bodies that a call may enter. */
export function calleesOf(call: CallExpr, program: Program): readonly FunctionDecl[] {
  const callee = call.callee;
  if (callee.kind !== 'function' && callee.kind !== 'method') return [];
  const only = callee.candidates[0];
  if (only !== undefined && callee.candidates.length === 1) return bodiesOf(only, program);
  return callee.candidates.flatMap((candidate) => bodiesOf(candidate, program));
}

/** Bodies that may run because of a node: those of a call, of `operator()` of an object too, and the destructors of what it declares. */
export function calleesAt(node: Node, program: Program): readonly FunctionDecl[] {
  if (node.kind === 'declare') return node.variables.flatMap((variable) => endsOf(variable.type)).flatMap((fn) => bodiesOf(fn, program));
  if (isStmt(node) || node.kind !== 'call') return NONE;
  if (node.callee.kind !== 'value') return calleesOf(node, program);
  const { type } = strip(node.callee.value);
  return type.kind === 'record' ? type.decl.methods.filter((method) => method.name === 'operator()').flatMap((method) => bodiesOf(method, program)) : NONE;
}

const NONE: readonly FunctionDecl[] = [];

/** Functions that the roots reach by name, through objects, or without naming them, each with its code. */
export function functionsReached(roots: readonly Node[], program: Program): ReadonlyMap<FunctionDecl, Stmt> {
  const found = new Map<FunctionDecl, Stmt>();
  forEachReached(roots, program, () => undefined, found);
  return found;
}

/** Calls `visit` for the nodes of everything that the roots reach, with the node of theirs through which they do. The roots themselves are left out. */
export function forEachReached(roots: readonly Node[], program: Program, visit: (node: Node, where: FunctionDecl, from: Node) => void, seen: Map<FunctionDecl, Stmt> = new Map()): void {
  const enter = (fn: FunctionDecl, from: Node): void => {
    const code = codeOf(fn);
    if (code === null || seen.has(fn)) return;
    seen.set(fn, code);
    walk(code, (node) => {
      visit(node, fn, from);
      for (const callee of calleesAt(node, program)) enter(callee, from);
    });
  };
  for (const root of roots) walk(root, (node) => { for (const callee of calleesAt(node, program)) enter(callee, node); });
}

/** Call sites of every function reachable from the kernel (the kernel itself has none). */
export function callSitesBelow(kernel: FunctionDecl, program: Program): ReadonlyMap<FunctionDecl, readonly CallSite[]> {
  const known = memo.get(kernel);
  if (known !== undefined) return known;
  const sites = new Map<FunctionDecl, CallSite[]>();
  const queue: FunctionDecl[] = [kernel];
  const visited = new Set<FunctionDecl>(queue);
  for (let caller = queue.shift(); caller !== undefined && visited.size < MAX_FUNCTIONS; caller = queue.shift()) {
    for (const call of indexFunction(caller).calls) {
      for (const callee of calleesOf(call, program)) {
        const list = sites.get(callee);
        if (list === undefined) sites.set(callee, [{ caller, call }]);
        else list.push({ caller, call });
        if (!visited.has(callee)) {
          visited.add(callee);
          queue.push(callee);
        }
      }
    }
  }
  memo.set(kernel, sites);
  return sites;
}

/** A place of `fn` in terms of the kernel: every place that it may stand for over all call sites. Unknown if there are none, or on recursion. */
export function placesInKernel(place: Place, fn: FunctionDecl, kernel: FunctionDecl, program: Program): readonly Place[] {
  if (fn === kernel) return [place];
  let ofKernel = climbed.get(kernel);
  if (ofKernel === undefined) climbed.set(kernel, ofKernel = new Map());
  let ofFunction = ofKernel.get(fn);
  if (ofFunction === undefined) ofKernel.set(fn, ofFunction = new Map());
  const key = `${placeKey(place)}${place.readOnly ? 'c' : ''}`;
  const known = ofFunction.get(key);
  if (known !== undefined) return known;
  const made = climb(place, fn, kernel, program, new Set());
  ofFunction.set(key, made);
  return made;
}

const climbed = new WeakMap<FunctionDecl, Map<FunctionDecl, Map<string, readonly Place[]>>>();

function climb(place: Place, fn: FunctionDecl, kernel: FunctionDecl, program: Program, visiting: ReadonlySet<string>): readonly Place[] {
  if (fn === kernel) return [place];
  const base = place.base;
  if (base === null || (base !== 'this' && base.kind !== 'parameter')) return [place];
  if (base !== 'this' && !fn.parameters.includes(base)) return [{ ...UNKNOWN_PLACE }];
  const key = placeKey(place);
  if (visiting.has(key)) return [];
  const inside = new Set([...visiting, key]);
  const found = new Map<string, Place>();
  for (const site of callSitesBelow(kernel, program).get(fn) ?? []) {
    for (const outer of substitute(place, fn.parameters, site.call, { index: indexFunction(site.caller), function: site.caller })) {
      for (const top of climb(outer, site.caller, kernel, program, inside)) found.set(placeKey(top), top);
      if (found.size > MAX_PLACES) return [UNKNOWN_PLACE];
    }
  }
  return found.size === 0 ? [UNKNOWN_PLACE] : [...found.values()];
}

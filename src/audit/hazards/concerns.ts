/**
 * Which functions hold something that hazards are about: calls and inline PTX that take several threads, shared memory; in themselves, in what they call by name
 * (once for a function), or, on one path of calls, behind calls that name no function (callables.ts).
 */
import { builtin } from '../../cuda/builtins.js';
import { asmMeaning } from '../../analysis/asm-text.js';
import { bindingOf, boundBy, type Binding } from '../../analysis/call-paths.js';
import { behindCall, isOpen, mayHide, type Behind } from '../../analysis/callables.js';
import { calleesOf } from '../../analysis/call-sites.js';
import { forEachChild, type Node } from '../../analysis/children.js';
import type { FunctionFacts } from '../../analysis/facts.js';
import { codeOf } from '../../analysis/function-code.js';
import { indexFunction } from '../../analysis/function-index.js';
import { libraryCall } from '../../analysis/library-calls.js';
import type { CallExpr, FunctionDecl, Program } from '../../syntax/tree.js';

const concerned = new WeakMap<FunctionDecl, boolean>();

/** Does the function, or one that it calls, take several threads or touch shared memory? Most device functions do not. */
export function concerns(fn: FunctionDecl, program: Program): boolean {
  const known = concerned.get(fn);
  if (known !== undefined) return known;
  concerned.set(fn, false); // recursion ends here, on the side that asks again
  const index = indexFunction(fn);
  const answer = index.calls.some((call) => {
    if (call.callee.kind === 'builtin') {
      const entry = builtin(call.callee.name);
      return entry !== undefined && (entry.collective !== null || entry.name.startsWith('atomicCAS') || entry.name === 'atomicExch');
    }
    return libraryCall(call) !== null || calleesOf(call, program).some((callee) => callee !== fn && concerns(callee, program));
  }) || holding(fn) !== 'nothing';
  concerned.set(fn, answer);
  return answer;
}

type Holding = 'shared' | 'collective asm' | 'nothing';

const held = new WeakMap<FunctionDecl, Holding>();

/** What the body names itself: a `__shared__` variable, or else inline PTX that takes several threads. */
function holding(fn: FunctionDecl): Holding {
  let known = held.get(fn);
  if (known === undefined) held.set(fn, known = fn.body === null ? 'nothing' : heldBy(codeOf(fn) ?? fn.body));
  return known;
}

function heldBy(body: Node): Holding {
  let found: Holding = 'nothing';
  const visit = (node: Node): void => {
    if (found === 'shared') return;
    if (node.kind === 'ref') { if (node.decl !== null && node.decl.kind === 'variable' && node.decl.space === 'shared') found = 'shared'; } else if (node.kind === 'asm' && asmMeaning(node.text).collective) found = 'collective asm';
    forEachChild(node, visit);
  };
  visit(body);
  return found;
}

export function namesShared(fn: FunctionDecl): boolean {
  return holding(fn) === 'shared';
}

/** Does the kernel hold anything that hazards are about? */
export function isScene({ function: fn, program }: FunctionFacts): boolean {
  return fn.body !== null && (concerns(fn, program) || hidesSome(fn, program));
}

const hiding = new WeakMap<FunctionDecl, boolean>();

function hidesSome(kernel: FunctionDecl, program: Program): boolean {
  let known = hiding.get(kernel);
  if (known === undefined) hiding.set(kernel, known = leadsToHidden(bindingOf(kernel), program, new Set()));
  return known;
}

const MAX_HIDDEN = 8;
/** Paths of calls that are looked at for one kernel. */
const MAX_PATHS = 4000;

const leading = new WeakMap<Binding, boolean>();
const paths = new WeakMap<FunctionDecl, number>();

/** Does a function, as it is called on this path, come to something that takes several threads through calls that name no function? */
export function leadsToHidden(at: Binding, program: Program, path: ReadonlySet<FunctionDecl>): boolean {
  const { function: fn } = at;
  if (!mayHide(fn, (call) => calleesOf(call, program)) || path.size > MAX_HIDDEN || path.has(fn)) return false;
  let known = leading.get(at);
  if (known !== undefined) return known;
  let root = at;
  while (root.outer !== null) root = root.outer;
  const looked = (paths.get(root.function) ?? 0) + 1;
  paths.set(root.function, looked);
  if (looked > MAX_PATHS) return false;
  leading.set(at, known = comesToHidden(at, program, path));
  return known;
}

function comesToHidden(at: Binding, program: Program, path: ReadonlySet<FunctionDecl>): boolean {
  const { function: fn } = at;
  const below = new Set(path).add(fn);
  return indexFunction(fn).calls.some((call) => {
    if (isOpen(call)) return behindCall(call, at, program).some((behind) => matters(behind, call, at, program, below));
    return calleesOf(call, program).some((callee) => callee.body !== null && leadsToHidden(boundBy(callee, call, at), program, below));
  });
}

/** Does what a call runs take several threads? */
export function matters(behind: Behind, call: CallExpr, at: Binding, program: Program, path: ReadonlySet<FunctionDecl>): boolean {
  switch (behind.kind) {
    case 'builtin': return behind.entry.collective !== null;
    case 'library': return behind.call.kind !== 'query';
    case 'function': return synchronises(behind.function, program) || leadsToHidden(boundBy(behind.function, call, at, behind), program, path);
  }
}

const synchronising = new WeakMap<FunctionDecl, boolean>();

/** As `concerns`, for calls and inline PTX that take several threads: shared memory of code that is not followed by name is left alone. */
function synchronises(fn: FunctionDecl, program: Program): boolean {
  const known = synchronising.get(fn);
  if (known !== undefined) return known;
  synchronising.set(fn, false);
  const answer = concerns(fn, program) && (holding(fn) === 'collective asm' || indexFunction(fn).calls.some((call) => {
    if (call.callee.kind === 'builtin') return (builtin(call.callee.name)?.collective ?? null) !== null;
    const library = libraryCall(call);
    return library !== null ? library.kind !== 'query' : calleesOf(call, program).some((callee) => callee !== fn && synchronises(callee, program));
  }));
  synchronising.set(fn, answer);
  return answer;
}

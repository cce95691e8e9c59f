/**
 * Templates that a copy would instantiate anew. Each lambda expression has a type of its own, so a second copy of `each(n, [&](int i) { … })` calls a second
 * instance of `each`, with `__shared__` and static variables of its own.
 */
import { strip, walk } from '../../src/analysis/children.js';
import type { CallExpr, Decl, Expr, FunctionDecl } from '../../src/syntax/tree.js';

const MOST_FUNCTIONS = 64;

/** A variable that would exist twice if the call were copied with the lambda that it is given; null if there is none. */
export function doubledByInstance(call: CallExpr, closures: ReadonlySet<Decl>): string | null {
  const given = call.arguments.map(strip).some((argument) => isClosure(argument, closures));
  if (!given || (call.callee.kind !== 'function' && call.callee.kind !== 'method')) return null;
  const pending: FunctionDecl[] = [...call.callee.candidates];
  const seen = new Set<FunctionDecl>(pending);
  for (let fn = pending.pop(); fn !== undefined && seen.size < MOST_FUNCTIONS; fn = pending.pop()) {
    if (fn.body === null || !isTemplate(fn)) continue;
    let found: string | null = null;
    walk(fn.body, (node) => {
      if (node.kind === 'declare') {
        const own = node.variables.find((variable) => variable.storage === 'static' || (variable.space === 'shared' && !variable.dynamicShared));
        if (own !== undefined) found = own.name;
      }
      if (node.kind === 'call' && (node.callee.kind === 'function' || node.callee.kind === 'method')) {
        for (const callee of node.callee.candidates) {
          if (seen.has(callee)) continue;
          seen.add(callee);
          pending.push(callee);
        }
      }
      return found === null;
    });
    if (found !== null) return found;
  }
  return null;
}

function isTemplate(fn: FunctionDecl): boolean {
  return fn.template !== null || (fn.owner !== null && fn.owner.template !== null);
}

function isClosure(argument: Expr, closures: ReadonlySet<Decl>): boolean {
  return argument.kind === 'lambda' || (argument.kind === 'ref' && argument.decl !== null && closures.has(argument.decl));
}

/** Variables of the node that hold a lambda written there. */
export function closuresIn(root: Parameters<typeof walk>[0]): ReadonlySet<Decl> {
  const result = new Set<Decl>();
  walk(root, (node) => {
    if (node.kind === 'declare') for (const variable of node.variables) if (variable.init !== null && strip(variable.init).kind === 'lambda') result.add(variable);
    return true;
  });
  return result;
}

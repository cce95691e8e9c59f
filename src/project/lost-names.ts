/**
 * Locals whose declaration an edit has lost: a name that the function declared before stands where nothing declares it now. Such text parses, and does
 * not compile. Asked of functions whose text has changed only, once a round.
 */
import { isStmt, walk } from '../analysis/children.js';
import type { FunctionDecl, Unit } from '../syntax/tree.js';

/** The first such name with its function; null if there is none. */
export function lostName(before: Unit, after: Unit): { readonly fn: string; readonly name: string } | null {
  const old = new Map<string, FunctionDecl[]>();
  for (const fn of before.functions) old.set(fn.name, [...old.get(fn.name) ?? [], fn]);
  for (const fn of after.functions) {
    const olds = old.get(fn.name);
    if (fn.body === null || olds === undefined || !fn.understood) continue;
    const text = after.source.text.slice(fn.span.start, fn.span.end);
    if (olds.some(({ span }) => before.source.text.slice(span.start, span.end) === text)) continue;
    const unexplained = namesIn(fn).unexplained;
    if (unexplained.size === 0) continue;
    const known = olds.map(namesIn);
    for (const name of unexplained) if (known.some(({ locals }) => locals.has(name)) && !known.some((one) => one.unexplained.has(name))) return { fn: fn.name, name };
  }
  return null;
}

/** Names that locals of the function have, and those that no declaration explains. */
function namesIn(fn: FunctionDecl): { readonly locals: ReadonlySet<string>; readonly unexplained: ReadonlySet<string> } {
  const locals = new Set(fn.parameters.map(({ name }) => name));
  const unexplained = new Set<string>();
  if (fn.body !== null) {
    walk(fn.body, (node) => {
      if (isStmt(node)) {
        if (node.kind === 'declare') for (const { name } of node.variables) locals.add(name);
      } else if (node.kind === 'ref' && node.decl === null && node.qualifier === undefined) unexplained.add(node.name);
      return true;
    });
  }
  return { locals, unexplained };
}

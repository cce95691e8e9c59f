/**
 * Loops that run by what is volatile or atomic: a counter, a bound, or a condition that ends them. How often it is read, and when, is for the
 * programmer to say: such a loop waits for other threads, for the host, or is kept from the compiler on purpose. No transform splits one, copies
 * one, or moves what stands in one.
 *
 * Seen: `volatile` variables, parameters, members and memory, also behind calls; `std::atomic`, `cuda::atomic`, their references and flags, by type
 * or, where no loaded file declares them, by name. Not seen: a type parameter that an instance makes volatile.
 */
import { forEachChild, isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts, Loop } from '../../src/analysis/facts.js';
import type { Expr, Stmt, Type } from '../../src/syntax/tree.js';
import { jumpsOf } from './loops.js';
import { excerpt, lineOf, proved, refuted } from './obligation.js';
import type { Obligation, Site, TransformContext } from './types.js';

/** No loop around the site, in it or beside it in a loop is ended or counted by a volatile or atomic object; null if there is no loop. */
export function noVolatileLoop(context: TransformContext, { node, branch }: Pick<Site, 'node' | 'branch'>): Obligation | null {
  const id = 'no-volatile-loop';
  const loops = loopsOf(context.facts, node, branch);
  const [first] = loops;
  if (first === undefined) return null;
  for (const loop of loops) {
    for (const part of controlOf(context.facts, loop)) {
      const found = volatileIn(context.facts, part);
      if (found === null) continue;
      return refuted(id, lineOf(context, found.node), `the loop of line ${lineOf(context, loop)} runs by ${excerpt(context.unit.source, found.node)}, which is ${found.what}`, 'read it once, into a plain local variable in front of the loop');
    }
  }
  return proved(id, lineOf(context, first), 'no loop here counts or ends by what is volatile or atomic');
}

function isLoop(node: Node): node is Loop {
  return isStmt(node) && (node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for');
}

/** Loops in the site, and all of the outermost loop around it: a barrier that is put into a loop holds up whoever waits elsewhere in it. */
function loopsOf(facts: FunctionFacts, node: Node, branch: Node): ReadonlySet<Loop> {
  const loops = new Set<Loop>();
  for (const site of [node, branch]) {
    let root = site;
    for (let at: Node | null = site; at !== null; at = facts.parent(at)) if (isLoop(at)) root = at;
    walk(root, (inner) => {
      if (isLoop(inner)) loops.add(inner);
      return true;
    });
  }
  return loops;
}

/** What the loop counts and ends by: its head, and the conditions around its breaks. */
function controlOf(facts: FunctionFacts, loop: Loop): readonly Node[] {
  const parts: Node[] = [];
  forEachChild(loop, (child) => { if (child !== loop.body) parts.push(child); });
  for (const jump of jumpsOf(loop.body)) {
    if (jump.kind !== 'break') continue;
    for (let at: Node | null = facts.parent(jump); at !== null && at !== loop; at = facts.parent(at)) if (isStmt(at) && (at.kind === 'if' || at.kind === 'switch')) parts.push(at.condition);
  }
  return parts;
}

function volatileIn(facts: FunctionFacts, part: Node): { readonly node: Expr | Stmt; readonly what: string } | null {
  if (isStmt(part) && part.kind === 'declare') {
    const variable = part.variables.find(({ type }) => isVolatile(type));
    if (variable !== undefined) return { node: part, what: 'volatile' };
  }
  const access = facts.effects(part).accesses.find(({ volatile }) => volatile);
  if (access !== undefined) return { node: access.through ?? access.node, what: 'volatile' };
  let found: Expr | null = null;
  walk(part, (node) => {
    if (found !== null) return false;
    if (!isStmt(node) && isAtomic(node.type)) found = node;
    return found === null;
  });
  return found === null ? null : { node: found, what: 'atomic' };
}

function isVolatile(type: Type): boolean {
  return type.volatile === true || (type.kind === 'reference' && isVolatile(type.to)) || (type.kind === 'array' && isVolatile(type.of));
}

/** `std::atomic<T>`, `cuda::atomic_ref<T>`, `std::atomic_flag`, and what is derived from them. */
function isAtomic(type: Type): boolean {
  switch (type.kind) {
    case 'reference': return isAtomic(type.to);
    case 'pointer': return isAtomic(type.to);
    case 'array': return isAtomic(type.of);
    case 'record': return isAtomicName(type.decl.name) || type.decl.bases.some(isAtomic);
    case 'unknown': case 'dependent': return isAtomicName(type.text);
    default: return false;
  }
}

/** The name in front of the template's arguments, behind its namespaces. */
function isAtomicName(text: string): boolean {
  const name = (text.split('<')[0] ?? '').split('::').at(-1)?.trim() ?? '';
  return name === 'atomic' || name.startsWith('atomic_');
}

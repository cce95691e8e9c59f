/**
 * Whether the two populations of a kernel may run one after the other: no block waits for one of the other population, none counts how
 * many have come, and none reads in place what the other writes.
 */
import { forEachReached } from '../../src/analysis/call-sites.js';
import { isStmt, strip, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts, MemoryAccess } from '../../src/analysis/facts.js';
import { groupOf, makesGridGroup } from '../../src/analysis/library-calls.js';
import type { CallExpr, Decl, Expr, Stmt } from '../../src/syntax/tree.js';
import { excerpt } from '../lib/obligation.js';
import type { Axis } from './condition.js';

export interface Dependence {
  readonly node: Node;
  readonly text: string;
  readonly remedy: string | null;
  readonly known: boolean;
}

/** What ties the populations together; null if nothing does. `arms` are their own statements. */
export function dependenceOf(facts: FunctionFacts, arms: readonly [readonly Node[], readonly Node[]], axis: Axis): Dependence | null {
  const { body } = facts.function;
  if (body === null) return null;
  const effects = facts.effects(body);
  const stop = (node: Node, text: string, remedy: string | null, known = true): Dependence => ({ node, text, remedy, known });
  const fence = effects.fences.find((call) => !('name' in call.callee && call.callee.name === '__threadfence_block'));
  if (fence !== undefined) return stop(fence, 'blocks pass data on behind a fence: those of one population may wait for, or count, those of the other', 'give each population counters and flags of its own, in kernels of their own');
  const [opaque] = effects.opaque;
  if (opaque !== undefined) return stop(opaque, 'part of the kernel was not understood', 'write it in a form that is understood, or expand its macro by hand', false);
  const [asm] = effects.asm;
  if (asm !== undefined) return stop(asm, 'inline assembly may talk to other blocks', 'use the intrinsic in its place', false);
  const [call] = effects.unknownCalls;
  if (call !== undefined) return stop(call, `what ${excerpt(facts.unit.source, call)} does is not known`, 'make the definition visible, e.g. with --include', false);
  const polled = effects.accesses.find((access) => access.volatile && access.space !== 'local' && access.space !== 'shared');
  if (polled !== undefined) return stop(polled.node, 'volatile memory is how blocks poll each other', 'let the launches follow each other instead of polling');
  const grid = gridObject(facts);
  if (grid !== null) return stop(grid, 'the kernel works with the grid or the cluster as a whole', 'launch the part that needs the whole grid by itself');
  const waits = waiting(facts, body);
  if (waits !== null) return waits;
  return inPlace(facts, arms, axis);
}

/** `this_grid()`, `this_cluster()`: groups beyond the block. */
function gridObject(facts: FunctionFacts): Node | null {
  let found: Node | null = null;
  const test = (node: Node): boolean => {
    if (node.kind === 'call') return makesGridGroup(node) || node.arguments.some((argument) => groupOf(argument) === 'grid');
    return node.kind === 'ref' && groupOf(node) === 'grid';
  };
  const { body } = facts.function;
  if (body === null) return null;
  walk(body, (node) => { if (found === null && test(node)) found = node; return found === null; });
  forEachReached([body], facts.program, (node, _where, from) => { if (found === null && test(node)) found = from; });
  return found;
}

/** Loops that may go on until another block has done something. */
function waiting(facts: FunctionFacts, body: Stmt): Dependence | null {
  const written = new Set<Decl | null>();
  for (const access of facts.effects(body).accesses) if (access.kind !== 'read' && shared(access)) written.add(access.base);
  let found: Dependence | null = null;
  walk(body, (node) => {
    if (found !== null) return false;
    if (!isStmt(node) || (node.kind !== 'for' && node.kind !== 'while' && node.kind !== 'do')) return true;
    const ticket = facts.effects(node).atomics.find((atomic) => resultUsed(facts, atomic));
    if (ticket !== undefined) {
      found = { node: ticket, text: 'a loop goes on as an atomic of all blocks tells it: one population could wait for the other', remedy: 'take the loop out, or give each population an atomic of its own in kernels of their own', known: true };
      return false;
    }
    if (node.condition === null) return true;
    const read = facts.effects(node.condition).accesses.find((access) => access.kind === 'read' && shared(access) && (access.base === null || written.has(access.base)));
    if (read !== undefined) found = { node: read.node, text: 'a loop tests memory that the kernel writes: one population could wait for the other', remedy: 'read the value once, before the loop', known: true };
    return found === null;
  });
  return found;
}

function shared(access: MemoryAccess): boolean {
  return access.space !== 'local' && access.space !== 'shared' && access.space !== 'constant';
}

function resultUsed(facts: FunctionFacts, call: CallExpr): boolean {
  let at: Node | null = facts.parent(call);
  while (at !== null && (at.kind === 'paren' || at.kind === 'macro' || (at.kind === 'cast' && at.type.kind === 'void'))) at = facts.parent(at);
  return at === null || !isStmt(at) || at.kind !== 'expression';
}

/** An array that one arm writes and the other reads, unless every access is to the thread's own element. */
function inPlace(facts: FunctionFacts, arms: readonly [readonly Node[], readonly Node[]], axis: Axis): Dependence | null {
  const accesses = arms.map((arm) => arm.flatMap((node) => facts.effects(node).accesses.filter(shared)));
  for (const [one, other] of [[accesses[0] ?? [], accesses[1] ?? []], [accesses[1] ?? [], accesses[0] ?? []]] as const) {
    for (const write of one) {
      if (write.kind === 'read') continue;
      const met = other.find((access) => access.base === write.base || access.base === null || write.base === null);
      if (met === undefined) continue;
      if (met.kind === 'atomic' && write.kind === 'atomic' && !resultOf(facts, met) && !resultOf(facts, write)) continue;
      if (write.base === null || met.base === null) {
        return { node: (write.base === null ? write : met).node, text: 'it is not known which memory is accessed here', remedy: 'index a parameter of the kernel', known: false };
      }
      // Whatever is read from a pointer that is only read stays; elsewhere each thread has its own element.
      const all = [...one, ...other].filter((access) => access.base === write.base);
      if (all.every((access) => access.kind === 'write') || (axis === 'x' && sameOwnElement(facts, all))) continue;
      return {
        node: write.node, text: `one arm writes ${write.base.name} and the other ${met.kind === 'read' ? 'reads' : 'changes'} it, not only at the thread's own element`,
        remedy: `let the arms work on different arrays`, known: true,
      };
    }
  }
  return null;
}

function resultOf(facts: FunctionFacts, access: MemoryAccess): boolean {
  return access.node.kind !== 'call' || resultUsed(facts, access.node);
}

/** Every access is to the one element that is the thread's own. */
function sameOwnElement(facts: FunctionFacts, accesses: readonly MemoryAccess[]): boolean {
  const elements = new Set(accesses.map((access) => ownElement(facts, access)));
  return elements.size === 1 && !elements.has(null);
}

/**
 * `x[i + c]` with an index that no two threads of the grid share: `i` is the thread's number in the grid. Answers with what is added to it, null
 * for any other access.
 */
function ownElement(facts: FunctionFacts, access: MemoryAccess): string | null {
  const node = strip(access.node);
  if (access.through !== null) return null;
  const index: Expr | null = node.kind === 'index' ? node.index : null;
  if (index === null || node.kind !== 'index' || strip(node.base).kind !== 'ref') return null;
  const form = facts.affine(index);
  if (form === null) return null;
  const added: string[] = [];
  // threadIdx.x + blockDim.x * blockIdx.x + anything that is one for the grid.
  let thread = false;
  let block = false;
  for (const term of form.terms) {
    const keys = term.atoms.map((atom) => {
      const e = strip(atom.expr);
      return e.kind === 'coordinate' ? `${e.base}.${e.axis ?? ''}` : atom.scope === 'grid' || atom.scope === 'constant' ? 'grid' : 'other';
    }).sort();
    const name = keys.join('*');
    if (name === 'threadIdx.x' && term.coefficient === 1n) thread = true;
    else if (name === 'blockDim.x*blockIdx.x' && term.coefficient === 1n) block = true;
    else if (name === 'blockIdx.x' && facts.block.value !== null && facts.block.oneDimensional && term.coefficient >= BigInt(facts.block.value.x)) block = true;
    else if (keys.some((key) => key !== 'grid')) return null;
    else added.push(`${term.coefficient}:${term.atoms.map((atom) => atom.key).sort().join('*')}`);
  }
  // A second side of the block would make threads share the number.
  return thread && block && facts.block.oneDimensional ? added.sort().join('+') : null;
}

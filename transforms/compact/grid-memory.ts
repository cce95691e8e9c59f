/**
 * Memory that the two kernels share: what may be read again later, and what must not pass between threads.
 *
 * The kernel over the list starts when all of the first one is done. Without a barrier behind the branch, no thread of the original could rely on
 * what another one had or had not done by then: what passes between threads without one is a race (CUDA C++ Programming Guide, memory model), and
 * what passes over a barrier in front of the branch keeps its order. Left are exchanges that tolerate the race; where the text shows one (one
 * pointer read here and written there, at elements that are not the thread's own), it is refused.
 */
import { walk, type Node } from '../../src/analysis/children.js';
import type { Affine, Effects, FunctionFacts, MemoryAccess, Variable } from '../../src/analysis/facts.js';
import { placeOfAccess } from '../../src/analysis/effects-tables.js';
import { strip, type CallExpr, type Decl, type Expr, type Stmt, type Type } from '../../src/syntax/tree.js';
import { excerpt } from '../lib/obligation.js';
import { axisOf } from './grid-index.js';

export interface Found { readonly node: Node; readonly text: string }

/** All that a list of nodes may do. */
export function effectsOfAll(facts: FunctionFacts, nodes: readonly Node[]): Effects {
  const all = nodes.map((node) => facts.effects(node));
  const union = <T>(pick: (effects: Effects) => readonly T[]): readonly T[] => all.flatMap((effects) => [...pick(effects)]);
  const sets = (pick: (effects: Effects) => ReadonlySet<Variable>): ReadonlySet<Variable> => new Set(all.flatMap((effects) => [...pick(effects)]));
  return {
    accesses: union((e) => e.accesses), assigns: sets((e) => e.assigns), uses: sets((e) => e.uses), barriers: union((e) => e.barriers), collectives: union((e) => e.collectives),
    fences: union((e) => e.fences), atomics: union((e) => e.atomics), unknownCalls: union((e) => e.unknownCalls), visible: union((e) => e.visible), exits: union((e) => e.exits),
    asm: union((e) => e.asm), opaque: union((e) => e.opaque), faults: union((e) => e.faults),
  };
}

/** The element that an access goes to, as far as it tells threads apart. */
interface Element { readonly base: Decl; readonly stride: bigint; readonly offset: bigint; readonly rest: string }

function elementOf(facts: FunctionFacts, access: MemoryAccess): Element | null {
  if (access.through !== null || access.base === null) return null;
  let lvalue: Expr = strip(access.node);
  while (lvalue.kind === 'member' && !lvalue.arrow) lvalue = strip(lvalue.object);
  if (lvalue.kind === 'call' && lvalue.arguments[0] !== undefined) {
    const [pointer] = lvalue.arguments;
    const inner = strip(pointer);
    if (inner.kind !== 'unary' || inner.op !== '&') return null;
    lvalue = strip(inner.operand);
  }
  if (lvalue.kind !== 'index') return null;
  const base = strip(lvalue.base);
  if (base.kind !== 'ref' || base.decl !== access.base || !neverAssigned(facts, base.decl)) return null;
  const form = facts.affine(lvalue.index);
  return form === null ? null : split(facts, form, lvalue.index, access.base);
}

function neverAssigned(facts: FunctionFacts, decl: Decl): boolean {
  const { body } = facts.function;
  if (decl.kind !== 'parameter' && decl.kind !== 'variable') return false;
  if (decl.kind === 'variable' && decl.storage !== 'automatic') return decl.type.kind === 'array';
  return body !== null && facts.assignments(decl, body).every((definition) => definition.kind === 'parameter' || definition.kind === 'declaration');
}

/** `stride · x + rest`, with x the number along the grid and rest the same for all threads; in two axes the whole form stands for the element. */
function split(facts: FunctionFacts, form: Affine, index: Expr, base: Decl): Element | null {
  if (axisOf(facts, index) === 'x') return { base, stride: 1n, offset: 0n, rest: '' };
  let offset = 0n;
  let thread: bigint | null = null;
  let block: bigint | null = null;
  let other = false;
  const rest: string[] = [];
  for (const { coefficient, atoms } of form.terms) {
    const names = atoms.map((atom) => { const e = strip(atom.expr); return e.kind === 'coordinate' && e.axis !== null ? `${e.base}.${e.axis}` : atom.key; }).sort();
    if (names.length === 0) offset = coefficient;
    else if (names.length === 1 && names[0] === 'threadIdx.x') thread = coefficient;
    else if (names.length === 2 && names[0] === 'blockDim.x' && names[1] === 'blockIdx.x') block = coefficient;
    else if (names.length === 1 && names[0] === 'blockIdx.x' && facts.block.value !== null) block = coefficient / BigInt(facts.block.value.x);
    else {
      if (atoms.some((atom) => atom.scope !== 'constant' && atom.scope !== 'grid')) other = true;
      rest.push(`${coefficient}*${names.join('*')}`);
    }
  }
  if (thread === null || block === null || thread !== block || thread <= 0n) return null;
  const y = rest.some((term) => term.includes('threadIdx.y')) && rest.some((term) => term.includes('blockIdx.y'));
  if (other && !y) return null;
  return { base, stride: thread, offset, rest: rest.sort().join('+') };
}

/** No two threads meet at these two elements. */
function apart(a: Element, b: Element): boolean {
  if (a.base !== b.base || a.stride !== b.stride || a.rest !== b.rest) return false;
  const distance = a.offset > b.offset ? a.offset - b.offset : b.offset - a.offset;
  return distance < a.stride;
}

/** Memory beyond the thread's own: what other threads could see. */
function outside(access: MemoryAccess): boolean {
  return access.space !== 'local';
}

/** An exchange between the first kernel and the one over the list that the text shows; null if there is none. */
export function exchange(facts: FunctionFacts, first: Effects, list: Effects): Found | null {
  const of = (effects: Effects): readonly MemoryAccess[] => effects.accesses.filter((access) => outside(access) && access.space !== 'constant' && access.space !== 'shared');
  const wrote = (access: MemoryAccess): boolean => access.kind === 'write';
  const one = of(first);
  const two = of(list);
  const elements = new Map<MemoryAccess, Element | null>();
  const element = (access: MemoryAccess): Element | null => {
    let known = elements.get(access);
    if (known === undefined) elements.set(access, known = elementOf(facts, access));
    return known;
  };
  for (const a of one) {
    for (const b of two) {
      if (a.kind === 'atomic' && b.kind === 'atomic') {
        if (facts.mayAlias(a, b) && a.base !== null && a.base === b.base && !sameAtomic(a, b)) return { node: b.node, text: `different atomics meet at ${a.base.name}` };
        continue;
      }
      const reads = a.kind === 'read' || b.kind === 'read';
      const writes = wrote(a) || wrote(b) || a.kind === 'atomic' || b.kind === 'atomic';
      if (!writes || (!reads && a.kind !== 'atomic' && b.kind !== 'atomic')) continue;
      if (a.base === null || b.base === null) {
        if (facts.mayAlias(a, b)) return { node: a.base === null ? a.node : b.node, text: 'memory is reached through a pointer whose origin is not known' };
        continue;
      }
      if (a.base !== b.base || separateFields(a, b)) continue;
      if (!facts.mayAlias(a, b)) continue;
      const x = element(a);
      const y = element(b);
      if (x !== null && y !== null && apart(x, y)) continue;
      return { node: b.node, text: `${a.base.name} is ${a.kind === 'read' ? 'read' : 'written'} by threads that are not heavy and ${b.kind === 'read' ? 'read' : 'written'} by heavy ones, not only at the thread's own element` };
    }
  }
  return null;
}

/** Two fields of one parameter, as `p.in` and `p.out`: as far apart as two parameters would be. */
function separateFields(a: MemoryAccess, b: MemoryAccess): boolean {
  const x = placeOfAccess(a).steps;
  const y = placeOfAccess(b).steps;
  if (!x.startsWith('.') || !y.startsWith('.') || x.startsWith(y) || y.startsWith(x)) return false;
  return a.base !== null && (a.base.kind === 'parameter' || a.base.kind === 'variable') && !holdsUnion(a.base.type, 0);
}

function holdsUnion(type: Type, depth: number): boolean {
  if (type.kind === 'pointer' || type.kind === 'reference') return false;
  if (type.kind === 'array') return holdsUnion(type.of, depth);
  return type.kind === 'record' && (depth > 4 || !type.decl.complete || type.decl.sort === 'union' || type.decl.overlaid === true || type.decl.fields.some((field) => holdsUnion(field.type, depth + 1)));
}

function sameAtomic(a: MemoryAccess, b: MemoryAccess): boolean {
  const x = atomicName(a.node);
  return x !== null && x === atomicName(b.node);
}

function atomicName(node: Expr): string | null {
  const call = strip(node);
  return call.kind === 'call' && call.callee.kind === 'builtin' ? call.callee.name : null;
}

/** What makes threads wait for each other or see each other's progress; null if nothing does. */
export function synchronises(facts: FunctionFacts, effects: Effects): Found | null {
  const { source } = facts.unit;
  const fence = effects.fences[0];
  if (fence !== undefined) return { node: fence, text: `${excerpt(source, fence)} orders memory between threads` };
  const watched = effects.accesses.find((access) => access.volatile && outside(access));
  if (watched !== undefined) return { node: watched.node, text: `${excerpt(source, watched.node)} is volatile: other threads may be watched through it` };
  const asm = effects.asm[0];
  if (asm !== undefined) return { node: asm, text: 'what the asm does is not known' };
  const opaque = effects.opaque[0];
  if (opaque !== undefined) return { node: opaque, text: `not understood: ${excerpt(source, opaque)}` };
  const unknownCall = effects.unknownCalls[0];
  if (unknownCall !== undefined) return { node: unknownCall, text: `what ${excerpt(source, unknownCall)} does is not known` };
  return null;
}

/** Atomics whose outcome depends on the order in which threads come: results that are used, floating sums, exchanges. */
export function orderedAtomic(facts: FunctionFacts, effects: Effects): Found | null {
  const { source } = facts.unit;
  for (const call of effects.atomics) {
    const name = call.callee.kind === 'builtin' ? call.callee.name : '';
    if (!/^atomic(Add|Sub|Min|Max|And|Or|Xor|Inc)(_block|_system)?$/.test(name) || name.startsWith('atomicInc')) return { node: call, text: `${excerpt(source, call)} depends on the order in which threads come` };
    const value = call.arguments[1];
    if (value !== undefined && pointedToIsFloat(call) && !/^atomic(Min|Max)/.test(name)) return { node: call, text: `the sum of ${excerpt(source, call)} depends on the order in which threads come` };
    if (resultUsed(facts, call)) return { node: call, text: `${excerpt(source, call)} tells threads apart by the order in which they come` };
  }
  return null;
}

function pointedToIsFloat(call: CallExpr): boolean {
  const pointer = call.arguments[0];
  const type = pointer === undefined ? null : strip(pointer).type;
  const target = type === null ? null : type.kind === 'pointer' ? type.to : type.kind === 'array' ? type.of : null;
  return target === null || target.kind !== 'int';
}

/** Is what the call returns looked at? Calls in a device function are taken to be. */
export function resultUsed(facts: FunctionFacts, call: CallExpr): boolean {
  let node: Node = call;
  for (let parent = facts.parent(node); parent !== null; node = parent, parent = facts.parent(parent)) {
    if (parent.kind === 'paren' || parent.kind === 'macro') continue;
    if (parent.kind === 'expression') return false;
    if (parent.kind === 'cast' && parent.type.kind === 'void') continue;
    return true;
  }
  return true;
}

/** Atomics that decide who goes on: a lock, a ticket, a last block. They stand in a condition or in a loop's test. */
export function decidingAtomic(facts: FunctionFacts, root: Node, effects: Effects): Found | null {
  const inside = new Set<Node>(effects.atomics);
  let found: Found | null = null;
  walk(root, (node) => {
    if (found !== null) return false;
    const test = node.kind === 'if' || node.kind === 'while' || node.kind === 'do' || node.kind === 'switch' || node.kind === 'conditional' ? node.condition : node.kind === 'for' ? node.condition : null;
    if (test !== null) walk(test, (part) => { if (inside.has(part)) found ??= { node: part, text: `${excerpt(facts.unit.source, part)} decides which thread goes on` }; });
    return found === null;
  });
  return found;
}

/** Why a statement in front of the branch may not run again in the kernel over the list; null if it may. */
export function unstableLoad(facts: FunctionFacts, stmt: Stmt, whole: Effects, own: readonly Stmt[]): string | null {
  const { source } = facts.unit;
  const barrier = whole.barriers.length > 0;
  const writes = (barrier ? whole : effectsOfAll(facts, own)).accesses.filter((access) => access.kind !== 'read' && outside(access));
  const others = whole.accesses.filter((access) => access.kind !== 'read' && outside(access));
  for (const load of facts.effects(stmt).accesses) {
    if (load.kind !== 'read' || load.space === 'local' || load.space === 'constant') continue;
    if (load.volatile) return `${excerpt(source, load.node)} is volatile`;
    const write = writes.find((access) => facts.mayAlias(load, access));
    if (write !== undefined) return `${excerpt(source, load.node)} may be written meanwhile (line ${source.line(write.node.span.start)})`;
    // Other threads write through the same pointer: only at their own elements.
    for (const access of others) {
      if (access.base !== null && load.base !== null && (access.base !== load.base || separateFields(access, load))) continue;
      if (!facts.mayAlias(load, access)) continue;
      const x = elementOf(facts, load);
      const y = elementOf(facts, access);
      if (x === null || y === null || !apart(x, y)) return `${excerpt(source, load.node)} may be written by another thread (line ${source.line(access.node.span.start)})`;
    }
  }
  return null;
}

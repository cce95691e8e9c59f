/**
 * compact:loop, what it moves: a heavy part of a loop that a lane may put off to a later iteration, with the values it needs then.
 *
 *     for (k …) {
 *         float v = x[i + k];        v and k belong to the item: they are held
 *         if (v > t)
 *             sum += heavy(v, k);    sum is touched by heavy parts alone: it stays where it is
 *     }
 *
 * A lane's heavy parts keep their order. What may not be is that anything else in the loop sees whether they have run yet (feedback).
 */
import { isStmt, type Node } from '../../src/analysis/children.js';
import type { Effects, Loop, MemoryAccess, Variable } from '../../src/analysis/facts.js';
import type { Decl, Expr, RefExpr, Stmt } from '../../src/syntax/tree.js';
import { declaredIn } from '../lib/common-obligations.js';
import { constantsAskedFor } from '../lib/local-names.js';
import { excerpt, lineOf } from '../lib/obligation.js';
import type { TransformContext } from '../lib/types.js';
import { maskAt } from '../lib/votes.js';
import { reachedUnnamed } from './reached.js';
import { effectsOfAll } from './region-checks.js';
import { isInside, isLoop, walkAll, type Region } from './region.js';
import { spelledType } from './region-types.js';

export interface Held {
  readonly decl: Variable;
  /** C++ text of its type, without `const`. */
  readonly type: string;
}

/** Why a heavy part may not be put off. */
export interface Obstacle {
  readonly id: 'no-feedback' | 'types-known' | 'queue-drained' | 'no-collective-inside';
  readonly known: boolean;
  readonly line: number;
  readonly text: string;
  readonly remedy: string | null;
}

export interface LoopPlan {
  readonly region: Region;
  readonly loop: Loop;
  /** What runs in an iteration besides the heavy part. */
  readonly rest: readonly (Stmt | Expr)[];
  /** In the order of their declarations. */
  readonly held: readonly Held[];
  /** Items for which each lane has room. */
  readonly depth: number;
  readonly obstacles: readonly Obstacle[];
}

/** `compact:loop,depth=8`: a power of two. */
export const DEPTHS: readonly number[] = [4, 2, 8, 16];

function depthOf({ options }: TransformContext): number {
  const asked = Number(options.get('depth') ?? DEPTHS[0]);
  return DEPTHS.includes(asked) ? asked : 4;
}

/**
 * The outermost loop over which the heavy part may be put off, else what stands in the way in the innermost one. Null if the region stands in no loop, or in
 * a form that has nothing to put off.
 */
export function planLoop(context: TransformContext, region: Region): LoopPlan | null {
  if (region.jump !== null && region.jump.kind !== 'continue') return null;
  // `if (c) { heavy; continue; } light`: the light part would have to move.
  if (region.form === 'rest' && region.holds && region.light !== null) return null;
  let innermost: LoopPlan | null = null;
  for (const [frame, { owner }] of region.frames.entries()) {
    if (owner === null || !isLoop(owner)) continue;
    const plan = new Finder(context, region, owner, restOf(region, owner, frame)).find();
    if (plan.obstacles.length === 0 && together(context, owner)) return plan;
    innermost = plan;
  }
  return innermost;
}

/** The lanes that come to the loop can be named: whoever runs the last items behind it needs no vote, but a loop in a loop of the lanes' own is not worth it. */
function together(context: TransformContext, loop: Loop): boolean {
  return maskAt(context, loop).kind === 'mask';
}

/** What runs in an iteration of the loop besides the heavy part. */
function restOf(region: Region, loop: Loop, frame: number): readonly (Stmt | Expr)[] {
  const rest: (Stmt | Expr)[] = [region.predicate, ...(region.light?.stmts ?? []), ...headOf(loop)];
  region.frames.slice(frame).forEach((at, i) => {
    const last = frame + i === region.frames.length - 1;
    at.list.forEach((stmt, index) => {
      if (index < at.index || (index > at.index && !(last && region.form === 'rest'))) rest.push(stmt);
    });
    const inner = last ? undefined : at.list[at.index];
    if (inner === undefined) return;
    if (inner.kind === 'if') {
      rest.push(inner.condition);
      const next = region.frames[frame + i + 1];
      const other = next?.arm === 'then' ? inner.else : inner.then;
      if (other !== null) rest.push(other);
    } else if (inner.kind === 'switch') {
      rest.push(inner.condition, ...inner.arms.flatMap((arm) => arm.body).filter((stmt) => !isInside(region.stmt, [stmt])));
    } else if (isLoop(inner)) {
      rest.push(...headOf(inner), ...(inner.kind === 'for' ? [inner.init] : []));
    }
  });
  return rest;
}

/** What the head of a loop does in each iteration. */
function headOf(loop: Loop): readonly (Stmt | Expr)[] {
  if (loop.kind === 'range-for') return [loop];
  const parts: (Stmt | Expr)[] = [];
  if (loop.condition !== null) parts.push(loop.condition);
  if (loop.kind === 'for' && loop.step !== null) parts.push(loop.step);
  return parts;
}

class Finder {
  private readonly obstacles: Obstacle[] = [];

  constructor(private readonly context: TransformContext, private readonly region: Region, private readonly loop: Loop, private readonly rest: readonly (Stmt | Expr)[]) {}

  find(): LoopPlan {
    const { region, loop, rest } = this;
    this.exchange();
    this.memory();
    const held = this.values();
    return { region, loop, rest, held, depth: depthOf(this.context), obstacles: this.obstacles };
  }

  private obstacle(id: Obstacle['id'], node: Node, text: string, remedy: string | null, known = true): void {
    this.obstacles.push({ id, known, line: lineOf(this.context, node), text, remedy });
  }

  /** Nothing in the loop waits, orders memory, or leaves it with items waiting. */
  private exchange(): void {
    const { facts, unit } = this.context;
    const effects = effectsOfAll(facts, [...this.rest, ...this.region.heavy.stmts]);
    const [barrier] = [...effects.barriers, ...effects.fences, ...effects.collectives];
    if (barrier !== undefined) this.obstacle('no-collective-inside', barrier, `${excerpt(unit.source, barrier)} in the loop: work that is put off would come behind it`, 'take the exchange between lanes out of the loop');
    const dark = effects.unknownCalls[0] ?? effects.opaque[0] ?? effects.asm[0];
    if (dark !== undefined) this.obstacle('no-feedback', dark, `${excerpt(unit.source, dark)} is not understood: it may see what the heavy part does`, 'make it visible, e.g. with --include', false);
    const seen = effects.visible[0];
    if (seen !== undefined) this.obstacle('no-feedback', seen, `${excerpt(unit.source, seen)} tells the order in which things happen`, 'take it out of the loop');
    const poll = effects.accesses.find((access) => access.volatile);
    if (poll !== undefined) this.obstacle('no-feedback', poll.node, `${excerpt(unit.source, poll.node)} is volatile`, null);
    const exit = effects.exits.find((stmt) => stmt.kind === 'return' || stmt.kind === 'goto');
    if (exit !== undefined) this.obstacle('queue-drained', exit, 'a lane that leaves the function here would leave its item behind', 'leave the loop with a break, and the function behind it');
    const jump = effectsOfAll(facts, this.region.heavy.stmts).exits.find((stmt) => stmt.kind === 'break' || stmt.kind === 'continue');
    if (jump !== undefined) this.obstacle('no-feedback', jump, `${jump.kind} in the heavy part decides how the loop goes on`, 'keep the loop\'s course out of the heavy part');
  }

  /** Memory that the heavy part writes is not seen by the rest of the loop, and the other way round. */
  private memory(): void {
    const { facts, unit } = this.context;
    const heavy = effectsOfAll(facts, this.region.heavy.stmts).accesses;
    const rest = effectsOfAll(facts, this.rest).accesses;
    const own = new Set([...this.region.heavy.stmts].flatMap((stmt) => [...declaredIn(stmt)]));
    for (const inner of heavy) {
      if (inner.base !== null && own.has(inner.base)) continue;
      for (const outer of rest) {
        if ((inner.kind === 'read' && outer.kind === 'read') || !facts.mayAlias(inner, outer) || (inner.kind === 'atomic' && outer.kind === 'atomic' && commute(inner, outer))) continue;
        this.obstacle('no-feedback', inner.node, `${excerpt(unit.source, inner.node)} in the heavy part and ${excerpt(unit.source, outer.node)} in line ${lineOf(this.context, outer.node)} may be one element`, 'use other arrays, or declare the pointers __restrict__');
        return;
      }
    }
  }

  /** Variables of the loop that the heavy part reaches by another name than theirs: a pointer, a capture. They are something else when it runs. */
  private hidden(heavy: Effects, rest: Effects, named: ReadonlySet<Variable>, own: ReadonlySet<Decl>): void {
    const { loop, region } = this;
    const changes = (decl: Variable): boolean => !own.has(decl) && (rest.assigns.has(decl) || within(decl, loop));
    const direct = [...heavy.uses, ...heavy.assigns].find((decl) => !named.has(decl) && changes(decl));
    // What is read from somewhere may be read from any variable that others reach.
    const blind = heavy.accesses.find(({ base, space }) => space === 'unknown' && (base === null || (base.kind !== 'parameter' && !own.has(base))));
    const found = direct ?? (blind === undefined ? undefined : [...reachedUnnamed(this.context.facts)].find(changes));
    if (found === undefined) return;
    const at = direct === undefined && blind !== undefined ? blind.node : region.heavy.stmts[0] ?? region.stmt;
    this.obstacle('no-feedback', at, `${found.name} is reached in the heavy part by another name, and changes in the loop`, `copy what is needed of ${found.name} into a variable of its own in front of the branch`, direct !== undefined);
  }

  private values(): readonly Held[] {
    const { facts } = this.context;
    const { region, loop } = this;
    const own = new Set(region.heavy.stmts.flatMap((stmt) => [...declaredIn(stmt)]));
    const heavy = effectsOfAll(facts, region.heavy.stmts);
    const rest = effectsOfAll(facts, this.rest);
    const uses = new Map<Variable, RefExpr>();
    walkAll(region.heavy.stmts, (node) => {
      if (isStmt(node)) return;
      if (node.kind === 'this') this.obstacle('no-feedback', node, 'the heavy part uses the object that the function is called on', 'use a local variable');
      if (node.kind !== 'ref' || node.decl === null || own.has(node.decl) || (node.decl.kind !== 'variable' && node.decl.kind !== 'parameter')) return;
      if (node.decl.kind === 'variable' && (node.decl.space !== 'local' || node.decl.storage !== 'automatic')) {
        if (within(node.decl, loop)) this.obstacle('no-feedback', node, `${node.name} is declared in the loop, and the work that is put off stands behind it too`, `declare ${node.name} in front of the loop`);
        return;
      }
      if (!uses.has(node.decl)) uses.set(node.decl, node);
    });
    this.hidden(heavy, rest, new Set(uses.keys()), own);
    const held: Held[] = [];
    for (const [decl, ref] of [...uses].sort(([a], [b]) => a.span.start - b.span.start)) {
      // What the loop declares is gone behind it, where the last items run.
      const changes = rest.assigns.has(decl) || within(decl, loop);
      const written = heavy.assigns.has(decl);
      if (decl.type.kind === 'reference' || facts.addressTaken(decl)) {
        this.obstacle('no-feedback', ref, `${decl.name} is reached by a reference or an address`, `copy ${decl.name} into a variable of its own`, false);
        continue;
      }
      if (decl.type.kind === 'array') {
        if (within(decl, loop)) this.obstacle('no-feedback', ref, `the array ${decl.name} is made anew in each iteration`, `fill ${decl.name} in the heavy part`);
        continue;
      }
      if (!changes) {
        // An accumulator: only heavy parts may touch it.
        if (written && rest.uses.has(decl)) this.obstacle('no-feedback', ref, `${decl.name} is set in the heavy part and read in the rest of the loop`, `read ${decl.name} behind the loop, or keep a copy of its own`);
        continue;
      }
      if (written && this.livesOn(decl)) {
        this.obstacle('no-feedback', ref, `${decl.name} is set in the heavy part and in the rest of the loop`, `use a variable of its own in the heavy part`);
        continue;
      }
      const type = spelledType(this.context, decl);
      if (type === null) { this.obstacle('types-known', ref, `the type of ${decl.name} cannot be spelled for a copy`, null, false); continue; }
      held.push({ decl, type });
    }
    constantsAskedFor(region.heavy.stmts, (ref) => {
      if (ref.kind === 'ref' && held.some(({ decl }) => decl === ref.decl)) this.obstacle('types-known', ref, `${ref.name} must be a constant here, and is the value of an item`, `declare ${ref.name} constexpr in front of the loop`);
    });
    return held;
  }

  /** What the heavy part makes of the variable may be read once it is over. */
  private livesOn(decl: Variable): boolean {
    const { region } = this;
    const last = region.form === 'rest' && !region.holds ? region.heavy.stmts.at(-1) ?? region.stmt : region.stmt;
    return this.context.facts.liveAfter(decl, last);
  }
}

function within(decl: Variable, loop: Loop): boolean {
  return decl.span.start >= loop.span.start && decl.span.end <= loop.span.end;
}

/** Two sums of integers to one place may come in any order; their old values are asked about by `order-free`. */
function commute(a: MemoryAccess, b: MemoryAccess): boolean {
  const name = (access: MemoryAccess): string => (access.node.kind === 'call' && access.node.callee.kind === 'builtin' ? access.node.callee.name : '');
  return name(a) !== '' && name(a) === name(b) && /^atomic(?:Add|Sub|Min|Max|And|Or|Xor)$/.test(name(a)) && a.node.type.kind === 'int';
}

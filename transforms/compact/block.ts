/**
 * compact:block, what must hold. Ranks are made by a prefix sum over the whole block: votes of each warp, then the totals of the warps
 * before it in shared memory. So all threads of the block must come to the votes and to the barriers behind them; those that had left by
 * an early return stay, and the return becomes a predicate.
 */
import { arrivalSets } from '../../src/analysis/arrival.js';
import { isStmt, walk } from '../../src/analysis/children.js';
import { libraryCall } from '../../src/analysis/library-calls.js';
import type { Expr, Stmt, Type } from '../../src/syntax/tree.js';
import { isInternal } from '../lib/linkage.js';
import { noDirectiveAcross, noGoto, notInMacro } from '../lib/common-obligations.js';
import { contractionStable } from '../lib/contraction.js';
import { lineOf, proved, provedUnder, refuted, unknown } from '../lib/obligation.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { behind, partOf, walkAll } from './region.js';
import { emitBlock } from './block-emit.js';
import { estimateBlock } from './block-estimate.js';
import { MAX_SHARED, planBlock, sharedBytes, type BlockPlan } from './block-shape.js';
import {
  effectsOfAll, lightHeavyIndependent, noCollectiveInside, orderFree, predicateFromData, threadFree, troubleObligation,
} from './region-checks.js';
import { sizeOf } from './region-types.js';
import { travelWords } from './region-values.js';
import type { CompactVariant } from './variant.js';

export const block: CompactVariant = {
  name: 'block',
  summary: 'the active threads of a block hand their items to its first threads (default)',
  obligationIds: [
    'in-kernel', 'predicate-data-dependent', 'no-collective-inside', 'thread-free', 'order-free', 'light-heavy-independent', 'index-map-complete',
    'recompute-stable', 'prefix-population', 'queue-capacity', 'item-ends-inside', 'shared-memory-budget',
  ],
  prepare(context, region) {
    const plan = planBlock(context, region);
    return {
      summary: 'the block lines up its active threads',
      obligations: obligationsOfBlock(context, plan),
      estimate: () => estimateBlock(context, plan),
      emit: () => emitBlock(context, plan),
    };
  },
};

function obligationsOfBlock(context: TransformContext, plan: BlockPlan): readonly Obligation[] {
  const { region, values } = plan;
  const line = lineOf(context, region.stmt);
  const { function: fn } = context.facts;
  const predicate = predicateFromData(context, region);
  if (predicate.status === 'refuted') return [predicate];
  if (!fn.qualifiers.global) {
    return [predicate, refuted('in-kernel', line, `${fn.name} is called by threads that need not come together: its block cannot vote there`, 'do it in the kernel, around the call')];
  }
  const at = plan.region.frames[plan.base];
  const changed = at === undefined ? region.stmt.span : { start: at.list[plan.first]?.span.start ?? region.stmt.span.start, end: at.list[plan.end - 1]?.span.end ?? region.stmt.span.end };
  return [
    proved('in-kernel', line, 'the region stands in the kernel itself'),
    predicate,
    noGoto(context),
    notInMacro(context, [region.stmt]),
    noDirectiveAcross(context, changed, 'loops'),
    noCollectiveInside(context, region),
    threadFree(context, region, values.troubles),
    orderFree(context, region),
    lightHeavyIndependent(context, region),
    troubleObligation('types-known', values.troubles, line, 'the types of all values that travel are known'),
    troubleObligation('recompute-stable', values.troubles, line, 'what is computed again reads no memory and rests on values that do not change'),
    troubleObligation('index-map-complete', values.troubles, line, `each active thread puts one item on the queue, and the thread of the item's number runs it; ${travelWords(context, values.travels)}`),
    namesResolve(context, plan, line),
    prefixPopulation(context, plan, line),
    itemEnds(context, plan, line),
    queueCapacity(context, plan, line),
    budget(context, plan, line),
    contractionStable(context, fn.body ?? region.stmt),
  ];
}

// ----------------------------------------------------------------------------------------------------------- population

/** All threads of the block come to the vote: the lanes that it counts are all there are. */
function prefixPopulation(context: TransformContext, plan: BlockPlan, line: number): Obligation {
  const id = 'prefix-population';
  const { facts, unit } = context;
  if (plan.kept !== null) {
    const where = plan.kept.partition?.at ?? plan.kept.at;
    const loop = plan.kept.partition?.by === 'loop' || plan.region.frames.some((frame) => frame.owner !== null && frame.owner.kind === 'for');
    return refuted(id, unit.source.line(where.span.start), `${plan.kept.text}, so that the block cannot number its active threads there`, loop ? 'give all threads of a block the same number of rounds and put the bound into the condition' : 'take the branch to a place that all threads of the block reach');
  }
  const moved = movedStatements(plan);
  const effects = effectsOfAll(facts, [...moved, plan.region.predicate]);
  const exchange = effects.barriers[0] ?? effects.collectives[0] ?? groupOf(moved);
  if (exchange !== undefined && plan.gates.length > 0) {
    return refuted(id, lineOf(context, exchange), 'a barrier or collective stands between an early exit and the region: threads that had left would be missing there', 'put it in front of the exit');
  }
  const exit = strayExit(context, plan);
  if (exit !== null) {
    return refuted(id, lineOf(context, exit), `a thread may leave on line ${lineOf(context, exit)}, and the barriers would miss it`, 'make it the last statement of an `if` of its own in front of the region');
  }
  const arrival = arrivalSets(facts).at(plan.region.stmt);
  const exits = plan.gates.filter((gate) => gate.kind === 'exit').length;
  const text = exits > 0 ? 'all threads of the block come to the vote: early exits become predicates' : arrival.partitions.length === 0 ? 'all threads of the block come to the vote' : 'all threads of the block come to the vote, which stands behind the branches around the region';
  return proved(id, line, text);
}

/** Statements that come to stand under a predicate, the heavy part left out. */
function movedStatements(plan: BlockPlan): readonly Stmt[] {
  const { region } = plan;
  const result: Stmt[] = [];
  region.frames.forEach((frame, i) => {
    if (i < plan.base) return;
    const from = i === plan.base ? plan.first : 0;
    result.push(...frame.list.slice(from, frame.index).filter((stmt) => stmt.kind !== 'if' || !plan.gates.some((gate) => gate.stmt === stmt)));
    if (plan.flagged.has(i)) result.push(...behind(region, i));
  });
  for (const gate of plan.gates) {
    if (gate.kind === 'exit') result.push(...partOf(gate.stmt.then).stmts);
    else result.push(...otherArm(plan, gate.stmt));
  }
  result.push(...(region.light?.stmts ?? []));
  return result;
}

/** The arm of a gate that does not lead to the region. */
function otherArm(plan: BlockPlan, gate: Stmt): readonly Stmt[] {
  if (gate.kind !== 'if') return [];
  const inner = plan.region.frames.find((frame) => frame.owner === gate);
  const other = inner?.arm === 'then' ? gate.else : gate.then;
  return other === null ? [] : [other];
}

function groupOf(stmts: readonly Stmt[]): Expr | undefined {
  let found: Expr | undefined;
  walkAll(stmts, (node) => {
    if (node.kind === 'call' && libraryCall(node) !== null) found ??= node;
    return found === undefined;
  });
  return found;
}

/** A jump out of the text in front of the votes that is not the end of a gate. */
function strayExit(context: TransformContext, plan: BlockPlan): Stmt | null {
  const { region } = plan;
  const closing = new Set<Stmt>();
  for (const gate of plan.gates) {
    const last = gate.kind === 'exit' ? partOf(gate.stmt.then).stmts.at(-1) : undefined;
    if (last !== undefined) closing.add(last);
  }
  if (region.jump !== null) closing.add(region.jump);
  const later = new Set<Stmt>([...plan.flagged].flatMap((i) => [...behind(region, i)]));
  for (const stmt of movedStatements(plan)) {
    if (later.has(stmt)) continue;
    for (const exit of context.facts.effects(stmt).exits) if (!closing.has(exit)) return exit;
    if (closing.has(stmt)) continue;
  }
  return null;
}

/** `item-ends-inside`: a jump out of the heavy part ends the item and nothing else. */
function itemEnds(context: TransformContext, plan: BlockPlan, line: number): Obligation {
  const id = 'item-ends-inside';
  const { region } = plan;
  const exits = effectsOfAll(context.facts, region.heavy.stmts).exits;
  const exit = exits[0];
  if (exit === undefined) return proved(id, line, 'no jump leads out of the heavy part');
  const where = lineOf(context, exit);
  const frame = region.frames[plan.base];
  const inLoopBody = plan.loops && frame?.owner !== null && frame?.owner !== undefined && (frame.owner.kind === 'for' || frame.owner.kind === 'while' || frame.owner.kind === 'do');
  const left = exits.find((one) => !(one.kind === 'return' && !plan.loops) && !(one.kind === 'continue' && inLoopBody));
  if (left !== undefined) return refuted(id, lineOf(context, left), `the ${left.kind} in the heavy part leaves more than the item`, 'let the heavy part set a flag, and jump behind the branch');
  const results = plan.values.travels.some((travel) => travel.result);
  const more = results || plan.barrierAfter || plan.flagged.size > 0 || (frame !== undefined && plan.end < frame.list.length) || followsOutside(plan);
  if (more) return refuted(id, where, `the ${exit.kind} in the heavy part would keep the thread that runs the item from what it has to do behind it`, 'leave the heavy part at its end only');
  return proved(id, where, `the ${exit.kind} in the heavy part ends the item, and nothing follows it`);
}

/** Does anything follow the base's list before the function (or the round of the loop) ends? */
function followsOutside(plan: BlockPlan): boolean {
  for (let i = plan.base; i >= 0; i--) {
    const frame = plan.region.frames[i];
    if (frame === undefined) return true;
    if (i < plan.base && frame.index < frame.list.length - 1) return true;
    if (frame.owner === null) return false;
    if (frame.owner.kind === 'for' || frame.owner.kind === 'while' || frame.owner.kind === 'do') return false;
    if (frame.owner.kind !== 'if' && frame.owner.kind !== 'compound') return true;
  }
  return true;
}

// --------------------------------------------------------------------------------------------------------------- queue

function queueCapacity(context: TransformContext, plan: BlockPlan, line: number): Obligation {
  const id = 'queue-capacity';
  const { block } = context.facts;
  const launched = plan.capacityFrom === 'launches' || (block.origin === 'launch' && block.alternatives.length > 0);
  const queue = plan.capacityName === null ? `${plan.capacity}` : `${plan.capacityName}`;
  const origin = plan.capacityName !== null ? `${plan.capacityFrom === 'bound' ? 'the launch bound' : 'the block of every launch'}; ${plan.capacity} in this build` : block.value !== null ? `blocks of ${block.value.x}×${block.value.y}×${block.value.z}` : block.origin === 'launch-bounds' ? 'the launch bound' : launched ? 'the largest block launched' : 'no block has more';
  return provedUnder(id, line, `at most ${queue} threads put one item each on a queue of ${queue} (${origin})`, { under: [...block.under, ...(launched && !isInternal(context.facts.function) ? ['no other launches'] : [])] });
}

/** Threads of the largest block. */
const MOST_THREADS = 1024;

function budget(context: TransformContext, plan: BlockPlan, line: number): Obligation {
  const id = 'shared-memory-budget';
  const own = sharedBytes(plan);
  const remedy = plan.capacity > 256 ? 'give the block size with --block or __launch_bounds__, so that the queue becomes smaller' : null;
  const { known, bytes, what } = sharedInUse(context);
  if (!known) return unknown(id, line, `how much shared memory ${what} takes is not known, and the queue takes ${own} bytes more`, 'make the size of the array, or the shared bytes of the launch, a constant');
  if (own + bytes > MAX_SHARED) return refuted(id, line, `the queue takes ${own} bytes of shared memory${bytes === 0 ? '' : ` besides ${bytes} in use`}, and a block has ${MAX_SHARED}`, remedy ?? 'carry less: compute values again inside the branch');
  const larger = plan.capacityName !== null && (own / plan.capacity) * MOST_THREADS + bytes > MAX_SHARED ? ` with a ${plan.capacityName} of ${plan.capacity}; with one that is too large the compiler stops` : '';
  return proved(id, line, `the queue takes ${own} of ${MAX_SHARED} bytes of shared memory${bytes === 0 ? '' : `, ${bytes} are in use`}${larger}`);
}

/** Shared memory of the kernel and of what it calls, and the dynamic part of its launches. */
function sharedInUse(context: TransformContext): { readonly known: boolean; readonly bytes: number; readonly what: string } {
  const { facts } = context;
  let bytes = 0;
  let what: string | null = null;
  let dynamic = false;
  const visit = (stmt: Stmt): void => {
    walk(stmt, (node) => {
      if (!isStmt(node) || node.kind !== 'declare') return;
      for (const variable of node.variables) {
        if (variable.space !== 'shared') continue;
        if (variable.dynamicShared) { dynamic = true; continue; }
        const size = staticSize(context, variable.type);
        if (size === null) what ??= variable.name;
        else bytes += Math.ceil(size / 16) * 16;
      }
    });
  };
  if (facts.function.body !== null) visit(facts.function.body);
  for (const { callees } of facts.calls) for (const callee of callees) if (callee.body !== null) visit(callee.body);
  // A launch may ask for dynamic memory that the kernel does not name: it counts all the same.
  const asked = facts.launches.some(({ sharedBytes: size }) => size !== null && facts.constant(size) !== 0n);
  if (dynamic || asked) {
    if (facts.launches.length === 0 || !facts.program.allLaunchesVisible(facts.function)) what ??= 'the dynamic array';
    let most = 0;
    for (const launch of facts.launches) {
      const size = launch.sharedBytes === null ? 0n : facts.constant(launch.sharedBytes);
      if (size === null) what ??= 'the dynamic array';
      else most = Math.max(most, Number(size));
    }
    bytes += most;
  }
  return { known: what === null, bytes, what: what ?? '' };
}

function staticSize(context: TransformContext, type: Type): number | null {
  if (type.kind !== 'array') return sizeOf(type);
  const length = type.length === null ? null : context.facts.constant(type.length);
  const inner = staticSize(context, type.of);
  return length === null || inner === null ? null : Number(length) * inner;
}

// --------------------------------------------------------------------------------------------------------------- names

function namesResolve(context: TransformContext, plan: BlockPlan, line: number): Obligation {
  const id = 'names-resolve';
  const trouble = plan.values.troubles.find((found) => found.id === id);
  if (trouble !== undefined) return refuted(id, trouble.line, trouble.text, trouble.remedy);
  const stuck = plan.stuck[0];
  if (stuck !== undefined) return refuted(id, lineOf(context, stuck.decl), `${stuck.text}, and it is needed in front of the branches`, `declare ${stuck.decl.name} on its own in front of the branches`);
  const lost = plan.moving.stuck;
  if (lost !== null) return refuted(id, context.unit.source.line(lost.span.start), lost.text, lost.remedy);
  const names = new Set(plan.values.travels.map((travel) => travel.decl.name));
  for (const stmt of plan.region.heavy.stmts) {
    if (stmt.kind !== 'declare') continue;
    const twice = stmt.variables.find((variable) => names.has(variable.name));
    if (twice !== undefined) return refuted(id, lineOf(context, stmt), `the heavy part declares another ${twice.name}`, `rename the inner ${twice.name}`);
  }
  return proved(id, line, 'every name means the same declaration at its new place');
}

/**
 * What a split gains: registers. A kernel takes as many for all of its blocks as its hungriest arm needs; alone, the light arm keeps more
 * warps on a multiprocessor. A branch that the whole block takes costs next to nothing by itself.
 *
 *     T(arm) = memory / min(1, resident / needed) + instructions         in issue slots of a warp (lib/machine.ts)
 *
 * More warps help only where those that are there do not keep memory busy: `needed` threads have latency × bandwidth bytes on their way (Little's law). A
 * thread that follows links has a whole sector on its way, so that a quarter of the threads is enough, and none of 96 registers a thread was felt
 * (0.99 and 1.01 measured). A role takes a second launch, interior and border one for each axis; the border's kernel keeps both arms and the test.
 *
 * Measured on one H200: a light stencil divided into interior and border 0.93 to 0.95 (two launches, each with a tail of its own); a role by block
 * 0.88 (light) to 0.99; a choice by a parameter 1.01 where the arms are long, 1.16 where they are a handful of instructions. What that last one
 * gains besides the test (1.01 to 1.02 here) is not known.
 *
 * Not known: how large the populations are (half each, unless p is said), registers (as many as variables, spilled or not), loads that unrolling brings together.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { threadsOf } from '../../src/analysis/launch-facts.js';
import type { FunctionDecl, Stmt, Type } from '../../src/syntax/tree.js';
import { compiledLength } from '../lib/compiled-length.js';
import { launchSites } from '../lib/launch-sites.js';
import { launchSlots, memorySlots, passSlots, residentThreads, SECTOR, tailSlots, threadsInFlight } from '../lib/machine.js';
import { activeShare, percentOf } from '../lib/stated-share.js';
import { movedBytes, trafficOf } from '../lib/traffic.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import { onlyArm } from './decide.js';
import type { SplitShape } from './legal.js';

/** Registers of a kernel that hardly does anything. */
const LEAST = 16;
/** More than this a thread cannot have: the rest is spilled. */
const MOST = 255;
/** Share of the threads in the first arm where nothing is said. */
const USUAL = 0.5;
/** Share of the threads in blocks that lie inside whole, where nothing is said: an index space is many blocks wide. */
const INSIDE = 0.95;
/** Instructions of a test of a parameter: the comparison and the jump. */
const LEAST_TEST = 2;
/** Threads of a block whose shape is not known. */
const USUAL_BLOCK = 256;
/** Speed-up below which it is not worth an edit. */
const WORTH = 1.03;

/** What one population runs. */
interface Population {
  readonly share: number;
  readonly instructions: number;
  /** Slots a warp for its memory, and bytes that a thread has on their way at a time. */
  readonly memory: number;
  readonly onTheWay: number;
  readonly registers: number;
}

export function estimateSplit(context: TransformContext, shape: SplitShape): Estimate {
  const { facts } = context;
  const { stmt, list, form } = shape.branch;
  const { body } = facts.function;
  const whole = body === null ? stmt : body;
  const second = form === 'return' && list !== null ? list.body.slice(list.body.indexOf(stmt) + 1) : stmt.else === null ? [] : [stmt.else];
  const arms = [[stmt.then], second];
  const outer = registersOf(facts, [whole], arms.flat()) - LEAST;
  const aroundLength = Math.max(0, compiledLength(facts, [whole]) - compiledLength(facts, arms.flat()));
  const around = trafficOf(facts, [whole], arms.flat());
  const { condition } = shape;
  const interior = condition.kind === 'interior' ? condition : null;
  const first = activeShare(context, stmt, true, interior === null ? USUAL : interior.thenInside ? INSIDE : 1 - INSIDE);
  const [then, otherwise] = arms.map((arm, i): Population => {
    const own = trafficOf(facts, arm);
    return {
      share: i === 0 ? first.share : 1 - first.share,
      instructions: aroundLength + compiledLength(facts, arm),
      memory: memorySlots(movedBytes(around) + movedBytes(own)),
      onTheWay: onTheWay(facts, arm),
      registers: Math.min(MOST, registersOf(facts, arm) + outer),
    };
  });
  if (then === undefined || otherwise === undefined) throw new Error('internal: a split without arms');
  const together = Math.max(then.registers, otherwise.registers);
  const threads = facts.block.value === null ? USUAL_BLOCK : threadsOf(facts.block.value);
  const test = Math.max(LEAST_TEST, Math.round(facts.cost(stmt.condition).instructions));
  const launches = interior === null ? (condition.kind === 'role' ? 1 : 0) : interior.axes.length;
  const inside = interior === null ? null : interior.thenInside ? then : otherwise;
  const time = (registersOfArm: (arm: Population) => number, tested: (arm: Population) => number): number =>
    launchSlots() + [then, otherwise].reduce((sum, arm) => sum + arm.share * (slots(arm, registersOfArm(arm), threads) + tested(arm)), 0);
  const before = time(() => together, () => test);
  // Of interior and border one kernel is made lighter, the interior's.
  const changed = (arm: Population): boolean => inside === null || arm === inside;
  const after = time((arm) => (changed(arm) ? arm.registers : together), (arm) => (changed(arm) ? 0 : test))
    + passSlots(launches, 0) + launches * tailSlots(Math.min(then.instructions, otherwise.instructions));
  const speedup = before / after;
  const light = inside ?? (then.registers <= otherwise.registers ? then : otherwise);
  const crowded = residentThreads(together, threads);
  const alone = residentThreads(light.registers, threads);
  const needed = Math.round(threadsInFlight(light.onTheWay));
  const kept = `of the ${inside === null ? 'light arm' : 'interior’s arm'} ${alone} threads fit a multiprocessor (about ${light.registers} registers each), ${crowded} beside the other (${together})`;
  const issued = Math.max(1, Math.round(then.share * then.instructions + otherwise.share * otherwise.instructions));
  const base = {
    speedup: round(speedup), low: launches > 0 ? round(Math.min(0.88, speedup)) : 1, high: round(Math.max(speedup, launches > 0 ? 1 : 1 + test / issued)),
    instructionsBefore: issued + test, instructionsAfter: issued, traffic: 0, provider: facts.cost(stmt).provider,
    breakEven: `${kept}; it pays where that is fewer than the about ${needed} that keep memory busy, and the ${inside === null ? 'light population' : 'interior'} takes a good part of the time (${percentOf(light.share)} of the threads, ${first.origin})`,
  };
  const only = condition.kind === 'choice' ? onlyArm(facts, stmt.condition, launchSites(context).sites) : null;
  if (only !== null) return { ...base, speedup: 1, low: 1, pays: false, reason: `no visible launch takes the ${only === 'then' ? 'second' : 'first'} arm` };
  if (speedup < WORTH) {
    const enough = crowded >= Math.min(alone, needed);
    const why = enough ? `both arms fit the multiprocessor together: ${crowded === alone ? `${crowded} threads` : `${kept}, and about ${needed} keep it busy`}` : `${kept}, which shows little in the whole`;
    const reason = interior !== null
      ? `${why}, so that ${launches === 1 ? 'the second launch costs' : `${launches} more launches cost`} more than the test (a light stencil measured 0.93 to 0.95)`
      : launches > 0
      ? `${why}, so that the second launch costs more than the branch (measured 0.88 to 0.99)`
      : `${why}; what goes is the test, ${test} of ${issued + test} instructions`;
    return { ...base, pays: false, reason };
  }
  return { ...base, pays: true, reason: `${kept}; about ${needed} keep it busy` };
}

/** Slots a warp of a population whose kernel takes so many registers. */
function slots({ memory, instructions, onTheWay: bytes }: Population, registers: number, block: number): number {
  const resident = residentThreads(registers, block);
  return memory / Math.min(1, resident / threadsInFlight(bytes)) + instructions / Math.min(1, resident / threadsInFlight(0));
}

/** Bytes that the loads of an arm have on their way, each counted once: more than there are where one waits for another, so that no gain is seen where none is. */
function onTheWay(facts: FunctionFacts, arm: readonly Stmt[]): number {
  const loads = arm.flatMap((stmt) => facts.effects(stmt).accesses.filter((access) => access.kind === 'read' && access.space !== 'shared' && access.space !== 'local'));
  let bytes = 0;
  for (const { node, through } of loads) {
    if (through !== null) { bytes += SECTOR / 8; continue; }
    const { dense, scattered } = trafficOf(facts, [node]);
    // A sector of its own, or an element of one that neighbours share.
    bytes += scattered > 0 ? SECTOR : Math.min(dense, SECTOR);
  }
  return bytes;
}

/** About as many registers as a region's variables take: scalars once, short arrays that stay in registers, the largest call inside. */
function registersOf(facts: FunctionFacts, roots: readonly Node[], without: readonly Node[] = []): number {
  return Math.min(MOST, LEAST + roots.reduce((sum, root) => sum + words(facts, root, without, new Set()), 0));
}

function words(facts: FunctionFacts, root: Node, without: readonly Node[], active: Set<FunctionDecl>): number {
  let own = 0;
  let inner = 0;
  walk(root, (node) => {
    if (without.includes(node)) return false;
    if (node.kind === 'declare') {
      for (const variable of node.variables) if (variable.space === 'local') own += wordsOf(facts, variable.type);
    } else if (!isStmt(node) && node.kind === 'call' && (node.callee.kind === 'function' || node.callee.kind === 'method')) {
      for (const callee of node.callee.candidates) {
        if (callee.body === null || active.has(callee)) continue;
        active.add(callee);
        inner = Math.max(inner, words(facts, callee.body, [], active));
        active.delete(callee);
      }
    }
    return true;
  });
  return own + inner;
}

/** Elements of an array up to this many bytes can stay in registers. */
const LARGEST_ARRAY = 256;

function wordsOf(facts: FunctionFacts, type: Type): number {
  switch (type.kind) {
    case 'int': return type.bits === 64 ? 2 : 1;
    case 'float': return type.format === 'double' ? 2 : 1;
    case 'bool': case 'enum': return 1;
    case 'pointer': case 'reference': return 2;
    case 'array': {
      const length = type.length === null ? null : facts.constant(type.length);
      if (length === null) return 0;
      const all = Number(length) * wordsOf(facts, type.of);
      return all * 4 <= LARGEST_ARRAY * 4 ? all : 0;
    }
    case 'record': return type.decl.vector !== null ? type.decl.vector.lanes : type.decl.fields.reduce((sum, field) => sum + wordsOf(facts, field.type), 0);
    case 'void': case 'function': case 'dependent': case 'unknown': return 0;
    default: {
      const never: never = type;
      return never;
    }
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

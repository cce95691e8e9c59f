/**
 * Arms of a branch with their costs and shares, and the figures that follow (SEMANTICS 3).
 *
 * An `if` that jumps away has a second arm even without `else`: what follows up to the end of the construct it leaves. A loop's arm is its body over all
 * its trips; lanes that leave early wait for the others. `lostSlots` counts per warp of the kernel: what one arrival loses, times how often
 * the branch is reached.
 */
import { efficiencyOf, lostSlotsOf, overheadOf, type ArmCost } from '../analysis/divergence-cost.js';
import type { BranchSite, Costs, Loop } from '../analysis/facts.js';
import type { Expr, Stmt } from '../syntax/tree.js';
import type { Classification } from './classify.js';
import type { Divergence } from './divergence.js';
import type { Frame, Reach } from './frame.js';
import type { BranchFinding } from './types.js';

export interface Arm extends ArmCost { readonly label: string }

export interface BranchCost {
  readonly cost: BranchFinding['cost'];
  readonly arms: readonly Arm[];
  readonly executions: number;
  /** A trip count inside was assumed. */
  readonly assumedTrips: boolean;
}

export function branchCost(site: BranchSite, found: Classification, divergence: Divergence, frame: Frame, { executions }: Reach, costs: Costs | null): BranchCost {
  const counter = new Counter(frame, costs);
  const arms = armsOf(site, found, divergence, counter, frame);
  const provider = counter.provider;
  // A predicated arm is issued whole whoever takes it.
  const predicated = isPredicated(site, counter);
  return {
    cost: {
      arms: arms.map((arm) => ({ label: arm.label, instructions: round(arm.instructions), share: round(arm.share) })),
      overhead: divergence.rate === 0 ? 1 : round(overheadOf(arms)), efficiency: round(efficiencyOf(arms)), lostSlots: round(lostSlotsOf(arms) * executions), provider, predicated, executions,
    },
    arms, executions, assumedTrips: counter.assumedTrips,
  };
}

/** Three significant digits are more than a static model is worth. */
function round(value: number): number {
  return value >= 0 && (value < 10_000 && Number.isInteger(value) || value < 1 && Number.isInteger(value * 16)) ? value : Number(value.toPrecision(4));
}

/** Counts instructions of parts, from a better provider where it has them. */
class Counter {
  assumedTrips = false;
  provider: BranchFinding['cost']['provider'] = 'static';

  constructor(private readonly frame: Frame, private readonly costs: Costs | null) {}

  of(node: Stmt | Expr): number {
    const { source } = this.frame.facts.unit;
    const outside = this.costs?.lines(source.realPath, source.line(node.span.start), source.line(node.span.end)) ?? null;
    if (outside !== null && this.costs !== null) {
      this.provider = this.costs.provider;
      return outside;
    }
    const cost = this.frame.facts.cost(node);
    if (cost.assumedTrips) this.assumedTrips = true;
    return cost.instructions;
  }

  all(nodes: readonly (Stmt | Expr)[]): number {
    return nodes.reduce((sum, node) => sum + this.of(node), 0);
  }

  predicated(node: Stmt | Expr): boolean {
    return this.frame.facts.cost(node).predicated;
  }
}

function isPredicated(site: BranchSite, counter: Counter): boolean {
  const { node } = site;
  switch (node.kind) {
    case 'if': return site.exits.length === 0 && counter.predicated(node.then) && (node.else === null || counter.predicated(node.else));
    case 'conditional': return counter.predicated(node.then) && counter.predicated(node.else);
    case 'binary': return counter.predicated(node.right);
    default: return false;
  }
}

function arm(label: string, instructions: number, share: number, warps: number): Arm {
  return { label, instructions, share, warps };
}

function armsOf(site: BranchSite, found: Classification, divergence: Divergence, counter: Counter, frame: Frame): readonly Arm[] {
  const { node } = site;
  const { p, someTrue, someFalse } = divergence;
  switch (node.kind) {
    case 'if': {
      const arms = [arm('then', counter.of(node.then), p, someTrue)];
      if (node.else !== null) arms.push(arm('else', counter.of(node.else), 1 - p, someFalse));
      const leavesThen = alwaysLeaves(node.then);
      const leavesElse = node.else !== null && alwaysLeaves(node.else);
      if (leavesThen !== leavesElse) {
        const rest = counter.all(following(node, leavesThen ? node.then : node.else ?? node.then, frame));
        if (rest > 0) arms.push(leavesThen ? arm('rest', rest, 1 - p, someFalse) : arm('rest', rest, p, someTrue));
      }
      return arms;
    }
    case 'conditional': return [arm('then', counter.of(node.then), p, someTrue), arm('else', counter.of(node.else), 1 - p, someFalse)];
    case 'binary': return node.op === '&&' ? [arm('right', counter.of(node.right), p, someTrue)] : [arm('right', counter.of(node.right), 1 - p, someFalse)];
    case 'switch': return switchArms(node, found, divergence, counter, frame);
    case 'for': case 'while': case 'do': case 'range-for': return [loopArm(node, found, divergence, counter, frame)];
    default: return [];
  }
}

function switchArms(node: Stmt & { readonly kind: 'switch' }, found: Classification, divergence: Divergence, counter: Counter, frame: Frame): readonly Arm[] {
  const { source } = frame.facts.unit;
  const count = Math.max(1, node.arms.length);
  const share = 1 / count;
  // Unless measured, arms are taken evenly.
  const warps = found.class === 'uniform' ? share : divergence.origin === 'measured' || divergence.origin === 'simulated' ? Math.min(1, share + divergence.rate * (1 - share)) : 1 - (1 - share) ** 32;
  return node.arms.map((entry) => {
    const label = entry.labels.map((value) => (value === null ? 'default' : `case ${source.text.slice(value.span.start, value.span.end)}`)).join(', ');
    return arm(label === '' ? 'arm' : label, counter.all(entry.body), share, warps);
  });
}

/** Lanes with fewer iterations wait for the one with the most. */
function loopArm(node: Loop, found: Classification, divergence: Divergence, counter: Counter, frame: Frame): Arm {
  const known = frame.facts.trips(node);
  const trips = Math.max(0, known.count);
  if (known.origin === 'assumed') counter.assumedTrips = true;
  const head = node.kind === 'range-for' ? 0 : (node.condition === null ? 0 : counter.of(node.condition)) + (node.kind === 'for' && node.step !== null ? counter.of(node.step) : 0) + 1;
  const whole = trips * (counter.of(node.body) + head);
  switch (found.class) {
    case 'uniform': return arm('body', whole, 1, 1);
    // At most one iteration more or less.
    case 'boundary': return arm('body', whole, 1 - divergence.rate / 2, 1);
    // Trip counts spread evenly from none to twice the mean: the longest of a warp runs nearly twice as long as the mean.
    case 'geometry': case 'data': case 'unknown': return arm('body', 2 * whole, Math.max(0, Math.min(1, divergence.origin === 'assumed' ? 0.5 : divergence.p)), 1);
  }
}

/** Does control never go on behind the statement? */
function alwaysLeaves(node: Stmt): boolean {
  switch (node.kind) {
    case 'return': case 'break': case 'continue': case 'goto': return true;
    case 'compound': return node.body.some(alwaysLeaves);
    case 'if': return node.else !== null && alwaysLeaves(node.then) && alwaysLeaves(node.else);
    case 'macro-statement': return alwaysLeaves(node.expanded);
    case 'label': return alwaysLeaves(node.body);
    default: return false;
  }
}

/** The jump that a statement ends in. */
function jumpOf(node: Stmt): 'return' | 'break' | 'continue' {
  switch (node.kind) {
    case 'break': case 'continue': return node.kind;
    case 'compound': {
      const last = node.body.find(alwaysLeaves);
      return last === undefined ? 'return' : jumpOf(last);
    }
    case 'if': return jumpOf(node.then);
    case 'macro-statement': return jumpOf(node.expanded);
    default: return 'return';
  }
}

/** Statements behind an `if`, up to the end of what the jump in `leaving` leaves. */
function following(node: Stmt, leaving: Stmt, frame: Frame): readonly Stmt[] {
  const jump = jumpOf(leaving);
  const rest: Stmt[] = [];
  let below: Stmt | Expr = node;
  for (let above = frame.facts.parent(node); above !== null; below = above, above = frame.facts.parent(above)) {
    if (above.kind === 'compound') {
      const position = above.body.findIndex((statement) => statement === below);
      if (position >= 0) rest.push(...above.body.slice(position + 1));
    }
    const loop = above.kind === 'for' || above.kind === 'while' || above.kind === 'do' || above.kind === 'range-for';
    if (loop && jump !== 'return') return rest;
    if (above.kind === 'switch' && jump === 'break') return rest;
  }
  // The body of the function is nobody's child.
  const body = frame.facts.function.body;
  if (body !== null && below !== body && !('type' in below)) {
    const position = body.body.findIndex((statement) => statement === below);
    if (position >= 0 && !rest.includes(body.body[position + 1] ?? below)) rest.push(...body.body.slice(position + 1));
  }
  return rest;
}

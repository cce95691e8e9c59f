/**
 * `__activemask()` says which lanes happen to be together, not which should be: `mask-activemask`, and the note `mask-activemask-opportunistic`.
 *
 * One capture whose users do not care how the warp is cut into pieces (each piece elects a leader, counts itself and adds once) is legal and only costs. A
 * second question may get another answer; a shuffle by distance reads lanes that may be in another piece; a loop of votes on a captured set waits for a
 * set that the hardware chose. Source: CUDA C++ Programming Guide, "Warp Vote Functions"; SEMANTICS 5.3.
 */
import { isStmt, type Node } from '../../analysis/children.js';
import { structureOf } from '../../analysis/structure.js';
import type { Expr } from '../../syntax/tree.js';
import type { Severity } from '../types.js';
import { maskOf } from './masks.js';
import { isHip } from './platform.js';
import { resultOf, type Whereabouts } from './results.js';
import { reason, type Finding, type Report } from './report.js';
import type { Collective, Scene } from './scene.js';

const REPAIR = 'take the mask where the whole warp comes: `__ballot_sync(0xffffffff, condition)` above the branch, or `0xffffffff` where nothing is divergent';

export function activeMasks(scene: Scene, report: Report): void {
  const asked = scene.collectives.filter((call) => call.name === '__activemask');
  if (asked.length === 0) return;
  const users = new Map<Expr, Collective[]>();
  for (const call of scene.collectives) {
    const given = call.builtin === null || call.builtin.mask === null ? undefined : call.node.arguments[call.builtin.mask];
    const mask = given === undefined ? null : maskOf(given, call.spot);
    if (mask === null || mask.kind !== 'activemask') continue;
    users.set(mask.call, [...(users.get(mask.call) ?? []), call]);
  }
  const sites = new Set(asked.map((call) => call.node));
  for (const call of asked) {
    const finding = judge(call, users.get(call.node) ?? [], sites.size);
    // Wavefronts of HIP run in step: who is together follows from the text.
    if (finding !== null) report.add(call.node, call.spot, finding.severity === 'error' && isHip(call.spot) ? { ...finding, severity: 'caution' } : finding);
  }
}

function judge(call: Collective, users: readonly Collective[], sites: number): Finding | null {
  const use = useOf(call);
  const because = [reason(call.node, call.spot, 'asks which lanes are together at this moment'), ...users.map((user) => reason(user.node, user.spot, `\`${user.name}\` takes it as its mask`))];
  const say = (severity: Severity, message: string, id = 'mask-activemask'): Finding => ({ id, severity, message, because, repair: REPAIR });
  const divergent = call.spot.sets.at(call.node).skips.some((partition) => partition.known);
  const distance = users.filter((user) => user.name.startsWith('__shfl_') && user.name !== '__shfl_sync');
  if (use === 'captured') {
    if (distance.length > 0) return say(divergent ? 'error' : 'caution', 'a shuffle by distance reads lanes that need not be in the set that happened to be together');
    // Rounds that may be equal keep the warp together.
    const parts = call.spot.sets.at(call.node).skips.some((partition) => partition.known && partition.unless === null);
    const told = users.map((user) => ({ user, where: whatHappensTo(user) })).filter((one) => one.where !== 'nothing');
    const kept = told.find((one) => one.where === 'kept');
    if (kept !== undefined) return say(parts ? 'error' : 'caution', `the result of \`${kept.user.name}\` is stored, and it depends on which lanes happened to be together`);
    const later = users.find((user) => loopsBeyond(call, user));
    if (later !== undefined) return say('caution', `the set that happened to be together is kept, and \`${later.name}\` in a loop waits for all of it`);
    if (told.length > 0) return say('caution', `the result of \`${told[0]?.user.name ?? ''}\` depends on which lanes happened to be together`);
    return users.length === 0 && !countsLanes(call) ? null : say('note', 'the lanes that happen to be together act as one group; right as long as the result does not depend on how the warp was cut', 'mask-activemask-opportunistic');
  }
  if (use === 'value') return say('caution', 'the answer depends on which lanes happen to be together');
  if (users.length > 0 && users.every((user) => user.name.startsWith('__match'))) {
    return say('note', 'the lanes that happen to be together act as one group; right as long as the result does not depend on how the warp was cut', 'mask-activemask-opportunistic');
  }
  if (users.some((user) => user.name === '__syncwarp')) return say('caution', 'waits for the lanes that happen to be together, which need not be those that should be');
  if (sites > 1) return say('error', 'asked anew, it may answer with another set of lanes than the other calls of `__activemask()` in this kernel');
  return say(divergent && users.length > 0 ? 'error' : 'caution', 'the result depends on which lanes happen to be together');
}

/**
 * Where the result of a question about the group goes, if the answer depends on who is in it: a sum or extreme of all its lanes, or whether all of them agree. What goes into
 * an atomic is put together again there, whatever the pieces were; bits of a vote are the group itself.
 */
function whatHappensTo(user: Collective): Whereabouts {
  if (user.name.startsWith('__reduce_')) return resultOf(user.node, user.spot, 'value');
  return user.name === '__ballot_sync' || user.name === '__all_sync' || user.name === '__any_sync' ? resultOf(user.node, user.spot, 'truth') : 'nothing';
}

/** `captured`: kept in a variable or returned; `lanes`: used on the spot as a mask or to count or find lanes; `value`: anything else. */
function useOf(call: Collective): 'captured' | 'lanes' | 'value' {
  const { parents } = structureOf(call.spot.facts.function);
  let node: Node = call.node;
  for (;;) {
    const up: Node | undefined = parents.get(node);
    if (up === undefined) return 'value';
    if (isStmt(up)) return up.kind === 'declare' ? 'captured' : up.kind === 'return' ? 'lanes' : 'value';
    if (up.kind === 'assign') return 'captured';
    if (up.kind === 'call') {
      if (up.callee.kind === 'function') return 'captured'; // as a parameter
      return up.callee.kind === 'builtin' && (up.callee.name.endsWith('_sync') || COUNTS.has(up.callee.name)) ? 'lanes' : 'value';
    }
    node = up;
  }
}

const COUNTS: ReadonlySet<string> = new Set(['__popc', '__ffs', '__clz', '__fns', '__brev', '__syncwarp']);

/** Is a kept mask used to find a leader or a rank? Then it is a group, with or without a collective. */
function countsLanes(call: Collective): boolean {
  const { parents, uses } = structureOf(call.spot.facts.function);
  const up = parents.get(call.node);
  const declared = up !== undefined && up.kind === 'declare' ? up.variables.find((variable) => variable.init !== null && covers(variable.init, call.node)) : undefined;
  if (declared === undefined) return false;
  return (uses.get(declared) ?? []).some((use) => {
    for (let n = parents.get(use); n !== undefined && !isStmt(n); n = parents.get(n)) if (n.kind === 'call' && n.callee.kind === 'builtin' && COUNTS.has(n.callee.name)) return true;
    return false;
  });
}

function covers(outer: Node, inner: Node): boolean {
  return outer.span.start <= inner.span.start && outer.span.end >= inner.span.end;
}

/** Does the user stand in a loop that the question does not stand in? */
function loopsBeyond(call: Collective, user: Collective): boolean {
  if (call.spot.facts !== user.spot.facts) return user.spot.facts.loops(user.node).length > 0;
  const around = call.spot.facts.loops(call.node);
  return user.spot.facts.loops(user.node).some((loop) => !around.includes(loop));
}

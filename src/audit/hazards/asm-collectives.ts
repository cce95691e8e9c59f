/**
 * Barriers, shuffles and votes written in inline PTX: `barrier-divergent`, `barrier-after-exit`, `mask-full-under-divergence`, `mask-not-a-mask`, as of the calls they stand for.
 *
 *   if (x[i] > 0) asm volatile("bar.sync 0;");                                       a barrier of the block under a condition
 *   if (x[i] > 0) asm("shfl.sync.bfly.b32 %0, %1, 1, 31, 0xffffffff;" …);             names lanes that do not come
 *   asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p bar.sync 0; }" :: "r"(c));  the condition stands in the template
 *
 * A barrier of PTX is a number, not a place: threads that wait for one number in two places meet, so what is said where several do is a caution. Barriers for a counted part of the
 * block are named-barriers.ts. Not handled: masks and numbers that are made in the template, shuffles that read exited lanes. Source: PTX ISA, "bar, barrier", "shfl.sync",
 * "vote.sync", "match.sync", "bar.warp.sync".
 */
import { asmCollective, asmMeaning, type AsmCollective, type PtxInstruction, type PtxOperand } from '../../analysis/asm-text.js';
import type { Verdict } from '../../analysis/facts.js';
import { joinScope } from '../../analysis/facts.js';
import type { AsmStmt, Expr } from '../../syntax/tree.js';
import { maskOf } from './masks.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import type { Scene, Spot } from './scene.js';
import { caveat, weigh } from './severity.js';
import { votedMask } from './voted-masks.js';

interface Place { readonly node: AsmStmt; readonly spot: Spot; readonly instruction: PtxInstruction; readonly meant: AsmCollective }

export function asmCollectives(scene: Scene, report: Report): void {
  const places: Place[] = [];
  for (const event of scene.events) {
    if (event.kind !== 'unknown' || event.node.kind !== 'asm') continue;
    const { node, spot } = event;
    for (const instruction of asmMeaning(node.text).instructions) {
      const meant = asmCollective(instruction);
      if (meant !== null) places.push({ node, spot, instruction, meant });
    }
  }
  for (const place of places) {
    if (place.meant.kind === 'warp') warp(place, place.meant.mask, report);
    else if (place.meant.threads === null) block(place, place.meant.which, places, scene, report);
  }
}

// ---------------------------------------------------------------------------------------------------------------- block

function block(place: Place, which: PtxOperand, places: readonly Place[], scene: Scene, report: Report): void {
  const { node, spot, instruction } = place;
  const arrival = spot.sets.at(node);
  const weighed = weigh(arrival.partitions.filter((partition) => partition.kind === 'skip'), spot, null);
  const under = predicateOf(place);
  const repair = 'move it to where every thread of the block comes, without a condition; a barrier for a part of the block needs its number of threads';
  if (weighed !== null) {
    // Another place that waits for this number may be where the others come.
    const alone = which.kind === 'number' && !places.some((other) => other !== place && other.meant.kind === 'block' && isSame(other.meant.which, which)) && !(which.value === 0n && scene.collectives.some((call) => call.builtin?.collective === 'block'));
    report.add(node, spot, {
      id: 'barrier-divergent', severity: alone ? weighed.severity : 'caution', message: `\`${instruction.opcode}\` without a count waits for every live thread of the block, and not all reach it${alone ? caveat(weighed) : ', unless the others wait for the same number elsewhere'}`,
      because: reasonsOf(weighed.partitions), repair,
    });
    return;
  }
  if (under !== null && (under.scope === 'lane' || under.scope === 'warp')) {
    report.add(node, spot, {
      id: 'barrier-divergent', severity: under.known ? 'error' : 'caution', message: `\`${instruction.opcode}\` waits for every live thread of the block, and its predicate differs between them${under.known ? '' : ', as far as is understood'}`,
      because: [reason(node, spot, `\`${instruction.opcode}\` runs under a predicate`), ...under.because], repair,
    });
    return;
  }
  const exits = arrival.exits.filter((partition) => partition.known);
  if (exits.length === 0) return;
  report.add(node, spot, {
    id: 'barrier-after-exit', severity: 'caution', message: `threads may have left the kernel before \`${instruction.opcode}\`: 7.0 and later do not wait for them, the programming guide does not promise it`,
    because: reasonsOf(exits), repair: 'turn the early return into a condition around the work, so that every thread reaches the barrier',
  });
}

function isSame(a: PtxOperand, b: PtxOperand): boolean {
  return a.kind !== 'number' || b.kind !== 'number' || a.value === b.value;
}

// ----------------------------------------------------------------------------------------------------------------- warp

function warp(place: Place, mask: PtxOperand | null, report: Report): void {
  const { node, spot, instruction } = place;
  const arrival = spot.sets.at(node);
  const named = mask === null ? { kind: 'full' } as const : maskOfOperand(mask, place);
  if (named === null) return;
  const call = { node, spot, name: instruction.opcode };
  if (named.kind === 'vote') {
    if (named.predicate !== null && instruction.predicate === null) votedMask(call, arrival, named.call, named.predicate, named.spot, report);
    return;
  }
  if (named.kind !== 'full') return;
  const weighed = weigh(arrival.skips, spot, 32);
  const repair = `take \`unsigned mask = __ballot_sync(0xffffffff, condition);\` above the branch and pass it in, or move \`${instruction.opcode}\` to where all lanes of the warp come`;
  if (weighed !== null) {
    report.add(node, spot, {
      id: 'mask-full-under-divergence', severity: weighed.severity, message: `\`${instruction.opcode}\` ${mask === null ? 'is executed by whole warps' : 'names all 32 lanes'}, and not all that are alive come here${caveat(weighed)}`,
      because: reasonsOf(weighed.partitions), repair,
    });
    return;
  }
  const under = predicateOf(place);
  if (under === null || under.scope !== 'lane') return;
  report.add(node, spot, {
    id: 'mask-full-under-divergence', severity: under.known ? 'error' : 'caution', message: `\`${instruction.opcode}\` names all 32 lanes, and its predicate differs between them${under.known ? '' : ', as far as is understood'}`,
    because: [reason(node, spot, `\`${instruction.opcode}\` runs under a predicate`), ...under.because], repair,
  });
}

function maskOfOperand(operand: PtxOperand, place: Place): ReturnType<typeof maskOf> | null {
  if (operand.kind === 'number') return BigInt.asUintN(32, operand.value) === 0xffffffffn ? { kind: 'full' } : { kind: 'constant', lanes: Number(BigInt.asUintN(32, operand.value)) };
  const expr = operand.kind === 'operand' ? exprOf(operand.index, place) : undefined;
  return expr === undefined ? null : maskOf(expr, place.spot);
}

function exprOf(index: number, { node }: Place): Expr | undefined {
  return index < node.outputs.length ? undefined : node.inputs[index - node.outputs.length];
}

// ----------------------------------------------------------------------------------------------------------- predicates

interface Under { readonly scope: Verdict['value']; readonly known: boolean; readonly because: Verdict['because'] }

const LANES: ReadonlySet<string> = new Set(['%tid.x', '%laneid', '%lanemask_lt', '%lanemask_le', '%lanemask_gt', '%lanemask_ge', '%lanemask_eq']);
const WIDE: ReadonlySet<string> = new Set(['%ctaid.x', '%ctaid.y', '%ctaid.z', '%ntid.x', '%ntid.y', '%ntid.z', '%nctaid.x', '%nctaid.y', '%nctaid.z']);

/** How widely the predicate of an instruction is one value: what the template makes it of, followed to the operands of the statement. Null if it runs under none. */
function predicateOf(place: Place): Under | null {
  const { predicate } = place.instruction;
  if (predicate === null) return null;
  const { instructions } = asmMeaning(place.node.text);
  const because: Verdict['because'][number][] = [];
  let scope: Verdict['value'] = 'constant';
  let known = true;
  const seen = new Set<string>();
  const follow = (operand: PtxOperand): void => {
    if (operand.kind === 'number') return;
    if (operand.kind === 'operand') {
      const expr = exprOf(operand.index, place);
      const verdict = expr === undefined ? null : place.spot.facts.scope(expr);
      if (expr === undefined || verdict === null || !verdict.known) { known = false; scope = 'lane'; return; }
      if (verdict.value === 'lane' || verdict.value === 'warp') because.push(reason(expr, place.spot, `\`${textOf(expr, place.spot)}\` decides`), ...verdict.because.slice(0, 3));
      scope = joinScope(scope, verdict.value);
      return;
    }
    if (operand.kind === 'name' && LANES.has(operand.text)) { scope = 'lane'; return; }
    if (operand.kind === 'name' && WIDE.has(operand.text)) { scope = joinScope(scope, 'block'); return; }
    if (operand.kind !== 'name' || seen.has(operand.text)) { if (operand.kind !== 'name') { known = false; scope = 'lane'; } return; }
    seen.add(operand.text);
    const makers = instructions.filter((one) => one !== place.instruction && one.operands[0]?.kind === 'name' && one.operands[0].text === operand.text);
    if (makers.length !== 1) { known = false; scope = 'lane'; return; }
    for (const maker of makers) {
      // Answers of other lanes, memory: not followed.
      if (!isPlain(maker.opcode)) { known = false; scope = 'lane'; return; }
      maker.operands.slice(1).forEach(follow);
    }
  };
  follow(predicate);
  return { scope, known, because };
}

const PLAIN: ReadonlySet<string> = new Set(['setp', 'mov', 'and', 'or', 'xor', 'not', 'add', 'sub', 'shl', 'shr', 'cvt']);

function isPlain(opcode: string): boolean {
  return PLAIN.has(opcode.split('.')[0] ?? '');
}

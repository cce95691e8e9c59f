/**
 * Barriers of the grid that not every block reaches: `group-divergent`.
 *
 *   if (blockIdx.x == 0) grid.sync();            block 0 waits for blocks that never come
 *   if (blockIdx.x * 256 >= n) return;           whole blocks have left: the others wait for ever
 *   grid.sync();
 *
 * Conditions that threads of one block differ in are judged in barriers.ts; here are those that are one value for the block and another for the next. Certain is what names `blockIdx`;
 * what is one value for a block for other reasons (shared memory, a count of the block) may be one for the grid as well: a caution, as are loops, whose rounds may be equal. Not handled:
 * `goto`. Source: CUDA C++ Programming Guide, "Grid Synchronization".
 */
import { forEachChild, isStmt, type Node } from '../../analysis/children.js';
import type { Control } from '../../analysis/control-flow.js';
import { defUseOf } from '../../analysis/def-use-builder.js';
import { structureOf } from '../../analysis/structure.js';
import type { Expr } from '../../syntax/tree.js';
import { originOf } from './masks.js';
import { reason, textOf, type Report } from './report.js';
import type { Collective, Spot } from './scene.js';

interface Apart { readonly condition: Expr; readonly spot: Spot; readonly control: Control; readonly named: boolean }

export function gridSync(call: Collective, report: Report): void {
  if (call.library === null || call.library.participants !== 'grid' || call.library.kind !== 'barrier' || isCluster(call)) return;
  const found: Apart[] = [];
  for (let spot: Spot | null = call.spot, node: Node = call.node; spot !== null; spot = spot.outer) {
    for (let control = controlOf(node, spot); control !== null; control = control.parent) {
      for (const condition of conditionsOf(control, 0)) {
        const verdict = spot.facts.scope(condition);
        if (verdict.known && verdict.value === 'block') found.push({ condition, spot, control, named: namesBlock(condition, spot, 0) });
      }
    }
    if (spot.frame.call === null) break;
    node = spot.frame.call;
  }
  const sure = found.find((one) => one.named && one.control.kind !== 'loop');
  const first = sure ?? found[0];
  if (first === undefined) return;
  const leaves = first.control.kind === 'jump' && first.control.target?.kind === 'return';
  report.add(call.node, call.spot, {
    id: 'group-divergent', severity: sure === undefined ? 'caution' : 'error',
    message: `\`${call.name}\` waits for every block of the grid, and ${leaves ? 'some have left' : 'not all come here'}${sure === undefined ? ', if what decides differs between blocks' : ''}`,
    because: [reason(first.condition, first.spot, `\`${textOf(first.condition, first.spot)}\` is one value for a block and ${first.named ? 'another for the next' : 'may be another for the next'}`), ...first.spot.facts.scope(first.condition).because.slice(0, 3)],
    repair: 'let every block reach it: guard the work on both sides of it instead of the barrier, and turn early returns into conditions',
  });
}

function isCluster(call: Collective): boolean {
  const object = call.node.callee.kind === 'method' ? call.node.callee.object : call.node.arguments[0];
  const type = object === undefined ? null : object.type.kind === 'reference' ? object.type.to : object.type;
  const origin = object === undefined ? null : originOf(object, call.spot).expr;
  const text = type !== null && (type.kind === 'unknown' || type.kind === 'dependent') ? type.text : '';
  return text.endsWith('cluster_group') || (origin !== null && origin.kind === 'call' && origin.callee.kind !== 'value' && origin.callee.name.endsWith('this_cluster'));
}

function controlOf(node: Node, spot: Spot): Control | null {
  const { controlOf: controls } = defUseOf(spot.facts.function);
  const { parents } = structureOf(spot.facts.function);
  for (let n: Node | undefined = node; n !== undefined; n = parents.get(n)) {
    const found = controls.get(n);
    if (found !== undefined) return found;
  }
  return null;
}

const MAX_DEPTH = 6;

/** Conditions that decide who comes past a control. */
function conditionsOf(control: Control, depth: number): readonly Expr[] {
  if (depth > MAX_DEPTH) return [];
  switch (control.kind) {
    case 'branch': return control.condition === null ? [] : [control.condition];
    case 'jump': return control.deps.flatMap((inner) => (inner === control ? [] : conditionsOf(inner, depth + 1)));
    case 'loop': {
      const { loop } = control;
      if (loop === null) return [];
      return [...(loop.condition === null ? [] : [loop.condition]), ...[...loop.breaks, ...loop.leaves].flatMap((inner) => (inner === control || inner.kind === 'loop' ? [] : conditionsOf(inner, depth + 1)))];
    }
    case 'unknown': return [];
  }
}

/** Does the value follow from the number of the block? */
function namesBlock(node: Node, spot: Spot, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (node.kind === 'coordinate') return node.base === 'blockIdx';
  if (node.kind === 'ref') {
    const origin = originOf(node, spot);
    return origin.expr !== node && namesBlock(origin.expr, origin.spot, depth + 1);
  }
  let found = false;
  if (!isStmt(node)) forEachChild(node, (child) => { found ||= namesBlock(child, spot, depth); });
  return found;
}

/**
 * Collectives and barriers in the body of a lambda that is called by name (or on the spot) where not all threads come: `barrier-divergent`,
 * `mask-full-under-divergence`, and `collective-behind-call` at the call, as for a device function.
 *
 *   auto wait = [] { __syncthreads(); };
 *   if (threadIdx.x > 3) wait();
 *
 * What decides is the call: conditions inside the lambda are not looked at. Not handled: lambdas handed on to other functions, calls in the body of another lambda.
 */
import { builtin } from '../../cuda/builtins.js';
import { forEachChild, type Node } from '../../analysis/children.js';
import { lambdaOf } from '../../analysis/lambdas.js';
import { libraryCall } from '../../analysis/library-calls.js';
import { structureOf } from '../../analysis/structure.js';
import type { CallExpr } from '../../syntax/tree.js';
import { maskOf } from './masks.js';
import { isHip } from './platform.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import { calleeName, type Scene, type Spot } from './scene.js';
import { caveat, weigh } from './severity.js';

export function lambdaCalls(scene: Scene, report: Report): void {
  for (const spot of scene.spots) {
    for (const call of structureOf(spot.facts.function).calls) {
      const lambda = call.callee.kind === 'value' ? lambdaOf(call.callee.value) : null;
      if (lambda === null) continue;
      const arrival = spot.sets.at(call);
      if (arrival.partitions.some((partition) => partition.by === 'lambda')) continue;
      for (const inner of callsIn(lambda.body)) held(inner, call, spot, report);
    }
  }
}

/** The calls of a lambda's body; bodies of lambdas inside run elsewhere. */
function callsIn(body: Node): readonly CallExpr[] {
  const found: CallExpr[] = [];
  const visit = (node: Node): void => {
    if (node.kind === 'lambda') return;
    if (node.kind === 'call') found.push(node);
    forEachChild(node, visit);
  };
  visit(body);
  return found;
}

function held(inner: CallExpr, call: CallExpr, spot: Spot, report: Report): void {
  const entry = inner.callee.kind === 'builtin' ? builtin(inner.callee.name) : undefined;
  const library = entry === undefined ? libraryCall(inner) : null;
  const isBlock = entry?.collective === 'block' || (library !== null && library.kind === 'barrier' && library.participants === 'block');
  const given = entry?.collective === 'warp' && !entry.legacy && entry.mask !== null ? inner.arguments[entry.mask] : undefined;
  const isFull = given !== undefined && maskOf(given, spot).kind === 'full';
  if (!isBlock && !isFull) return;
  const arrival = spot.sets.at(call);
  const weighed = isBlock ? weigh(arrival.partitions.filter((partition) => partition.kind === 'skip'), spot, null, 'counted') : weigh(arrival.skips, spot, 32);
  if (weighed === null) return;
  const name = calleeName(inner);
  const because = [reason(call, spot, `\`${textOf(call, spot)}\` calls the lambda`), ...reasonsOf(weighed.partitions)];
  const severity = isFull && isHip(spot) ? 'caution' : weighed.severity;
  if (isBlock) {
    report.add(inner, spot, {
      id: library === null ? 'barrier-divergent' : 'group-divergent', severity, message: `not every live thread of the block reaches this \`${name}\`, which a lambda holds${caveat(weighed)}`, because,
      repair: 'call the lambda where the whole block comes, and guard the work inside',
    });
  } else {
    report.add(inner, spot, {
      id: 'mask-full-under-divergence', severity, message: `\`${name}\` names all 32 lanes, and not all that are alive call the lambda that holds it${caveat(weighed)}`, because,
      repair: 'give the lambda the mask of the lanes that come, or call it where the whole warp comes',
    });
  }
  report.add(call, spot, {
    id: 'collective-behind-call', severity: 'caution', message: `the lambda holds \`${name}\`, which all threads it is for must reach; not all come here`, because: reasonsOf(weighed.partitions),
    repair: 'call the lambda where all of them come, and guard the work inside',
  });
}

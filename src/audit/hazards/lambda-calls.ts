/**
 * Collectives and barriers in the body of a lambda that is called by name (or on the spot) where not all threads come: `barrier-divergent`,
 * `mask-full-under-divergence`, and `collective-behind-call` at the call, as for a device function.
 *
 *   auto wait = [] { __syncthreads(); };
 *   if (threadIdx.x > 3) wait();
 *
 * Copies of a lambda are the lambda, and barriers of the block in functions that it calls are its own. What decides is the call: conditions inside the lambda are not looked at. Lambdas
 * that are handed on to other functions are entered like those (scene.ts). Not handled: calls in the body of another lambda, masks in functions that a lambda calls.
 */
import { builtin } from '../../cuda/builtins.js';
import { calleesOf, forEachReached } from '../../analysis/call-sites.js';
import { forEachChild, strip, type Node } from '../../analysis/children.js';
import { implicitIn } from '../../analysis/implicit-code.js';
import { lambdaOf } from '../../analysis/lambdas.js';
import { libraryCall } from '../../analysis/library-calls.js';
import { structureOf } from '../../analysis/structure.js';
import type { CallExpr, Expr, Program } from '../../syntax/tree.js';
import { maskOf } from './masks.js';
import { isHip } from './platform.js';
import { reason, reasonsOf, textOf, type Report } from './report.js';
import { calleeName, concerns, type Scene, type Spot } from './scene.js';
import { caveat, weigh } from './severity.js';

export function lambdaCalls(scene: Scene, report: Report): void {
  for (const spot of scene.spots) {
    for (const call of structureOf(spot.facts.function).calls) {
      const lambda = call.callee.kind === 'value' ? original(call.callee.value, 0) : null;
      if (lambda === null) continue;
      const arrival = spot.sets.at(call);
      if (arrival.partitions.some((partition) => partition.by === 'lambda')) continue;
      for (const inner of callsIn(lambda.body)) {
        held(inner, inner, call, spot, report);
        const behind = barrierBehind(inner, scene.program);
        if (behind !== null) held(behind, inner, call, spot, report);
      }
    }
  }
}

/** The lambda that a value is, or is a copy of. */
function original(value: Expr, depth: number): (Expr & { readonly kind: 'lambda' }) | null {
  const found = lambdaOf(value);
  const ref = strip(value);
  if (found !== null || depth > MAX_COPIES || ref.kind !== 'ref' || ref.decl === null || ref.decl.kind !== 'variable' || ref.decl.init === null) return found;
  return original(ref.decl.init, depth + 1);
}

const MAX_COPIES = 8;

/** A barrier of the block in the functions that a call leads to. */
function barrierBehind(call: CallExpr, program: Program): CallExpr | null {
  if (!calleesOf(call, program).some((callee) => concerns(callee, program))) return null;
  let found: CallExpr | null = null;
  forEachReached([call], program, (node) => { if (found === null && node.kind === 'call' && ofBlock(node)) found = node; });
  return found;
}

/** Is it a barrier that every thread of the block must reach? */
function ofBlock(call: CallExpr): boolean {
  if (call.callee.kind === 'builtin') return builtin(call.callee.name)?.collective === 'block';
  const library = libraryCall(call);
  return library !== null && library.kind === 'barrier' && library.participants === 'block';
}

/** The calls of a lambda's body; bodies of lambdas inside run elsewhere. */
function callsIn(body: Node): readonly CallExpr[] {
  const found: CallExpr[] = [];
  const visit = (node: Node): void => {
    // What it captures is copied here all the same.
    if (node.kind === 'lambda') { found.push(...implicitIn(node)); return; }
    if (node.kind === 'call') found.push(node);
    forEachChild(node, visit);
  };
  visit(body);
  return found;
}

/** `inner` is what must be reached, `at` where it is said: in the lambda's body, in which it stands or is called. */
function held(inner: CallExpr, at: CallExpr, call: CallExpr, spot: Spot, report: Report): void {
  const entry = inner.callee.kind === 'builtin' ? builtin(inner.callee.name) : undefined;
  const library = entry === undefined ? libraryCall(inner) : null;
  const isBlock = ofBlock(inner);
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
    report.add(at, spot, {
      id: library === null ? 'barrier-divergent' : 'group-divergent', severity, message: `not every live thread of the block reaches this \`${name}\`, which a lambda holds${caveat(weighed)}`, because,
      repair: 'call the lambda where the whole block comes, and guard the work inside',
    });
  } else {
    report.add(at, spot, {
      id: 'mask-full-under-divergence', severity, message: `\`${name}\` names all 32 lanes, and not all that are alive call the lambda that holds it${caveat(weighed)}`, because,
      repair: 'give the lambda the mask of the lanes that come, or call it where the whole warp comes',
    });
  }
  report.add(call, spot, {
    id: 'collective-behind-call', severity: 'caution', message: `the lambda holds \`${name}\`, which all threads it is for must reach; not all come here`, because: reasonsOf(weighed.partitions),
    repair: 'call the lambda where all of them come, and guard the work inside',
  });
}

/**
 * Lanes that left a loop (or jumped over the rest of a round) between the vote that named them and a collective of later rounds.
 *
 *   m = __ballot_sync(full, i < n);
 *   if (i < n) for (…) { if (x[i + k] == key) break;  v = __shfl_sync(m, v, 0); }      who broke away is still in `m`
 *
 * A vote in front of a loop cannot know what a lane will find in it: what decides is looked at in the round, so it is told by a value that is made in the loop or loaded there. A
 * condition that rests on answers of collectives alone is one value for the lanes named, and one that the vote asked is no news.
 */
import type { Partition } from '../../analysis/arrival.js';
import { forEachChild, strip, type Node } from '../../analysis/children.js';
import type { Definition, Loop } from '../../analysis/facts.js';
import { builtin } from '../../cuda/builtins.js';
import { libraryCall } from '../../analysis/library-calls.js';
import type { CallExpr, Expr } from '../../syntax/tree.js';
import { spotOf } from './guards.js';
import type { Spot } from './scene.js';

/** Does the partition keep lanes away in later rounds of a loop that the vote stands in front of, by something that this loop decides? */
export function leftSince(partition: Partition, from: Spot, vote: CallExpr, where: Spot): boolean {
  if (partition.kind !== 'skip' || (partition.by !== 'loop' && partition.by !== 'jump') || partition.conditions.length === 0) return false;
  const spot = spotOf(partition, from);
  const around = partition.loop === null ? spot.facts.loops(partition.conditions[0] ?? vote) : [partition.loop];
  const loop = around.find((one) => spot.facts !== where.facts || !holds(one, vote));
  return loop !== undefined && partition.conditions.some((condition) => isNews(condition, loop, spot) && restsOnTheLane(condition, spot, new Set(), 0));
}

function holds(loop: Loop, node: Node): boolean {
  return loop.span.start <= node.span.start && node.span.end <= loop.span.end;
}

/** Is the condition about something that is made or loaded in the loop? */
function isNews(node: Node, loop: Loop, spot: Spot): boolean {
  if (node.kind === 'index' || (node.kind === 'unary' && node.op === '*')) return true;
  if (node.kind === 'ref' && node.decl !== null && (node.decl.kind === 'variable' || node.decl.kind === 'parameter') && spot.facts.definitions(node).some((definition) => holds(loop, placeOf(definition)))) return true;
  let found = false;
  forEachChild(node, (child) => { found ||= isNews(child, loop, spot); });
  return found;
}

function placeOf(definition: Definition): Node {
  return definition.kind === 'assignment' || definition.kind === 'unknown' ? definition.node : definition.decl.kind === 'variable' && definition.decl.init !== null ? definition.decl.init : { kind: 'empty', span: definition.decl.span };
}

/** Conditions around an assignment that do not stand around the use as well. */
function conditionsOf(node: Node, use: Node, spot: Spot): readonly Expr[] {
  const around = new Set(spot.sets.at(use).partitions.map((partition) => partition.at));
  return spot.sets.at(node).skips.filter((partition) => partition.facts === spot.facts && !around.has(partition.at)).flatMap((partition) => partition.conditions);
}

const MAX_DEPTH = 8;

/** Does the value follow from something that surely belongs to the lane: its coordinate, a load that differs between lanes? What collectives answer is not looked into. */
function restsOnTheLane(node: Expr, spot: Spot, seen: Set<object>, depth: number): boolean {
  const expr = strip(node);
  if (depth > MAX_DEPTH || seen.has(expr)) return false;
  seen.add(expr);
  const verdict = spot.facts.scope(expr);
  if (!verdict.known || verdict.value !== 'lane') return false;
  const below = (inner: Expr): boolean => restsOnTheLane(inner, spot, seen, depth + 1);
  switch (expr.kind) {
    case 'coordinate': return true;
    case 'index': return below(expr.index) || below(expr.base);
    case 'ref':
      if (expr.decl === null || (expr.decl.kind !== 'variable' && expr.decl.kind !== 'parameter')) return false;
      return spot.facts.definitions(expr).some((definition) => {
        switch (definition.kind) {
          case 'declaration': return definition.decl.init !== null && !definition.decl.opaqueInit && below(definition.decl.init);
          // A flag that only some lanes set is theirs as well.
          case 'assignment': return definition.node.kind === 'assign' && (below(definition.node.value) || conditionsOf(definition.node, expr, spot).some(below));
          case 'parameter': {
            const argument = spot.frame.call?.arguments[definition.decl.index];
            return argument !== undefined && spot.outer !== null && restsOnTheLane(argument, spot.outer, seen, depth + 1);
          }
          case 'unknown': return false;
        }
      });
    case 'call': {
      const collective = expr.callee.kind === 'builtin' ? (builtin(expr.callee.name)?.collective ?? null) !== null : libraryCall(expr) !== null;
      return !collective && expr.arguments.some(below);
    }
    case 'conditional': return below(expr.condition) || below(expr.then) || below(expr.else);
    case 'binary': return below(expr.left) || below(expr.right);
    case 'unary': return below(expr.operand);
    case 'cast': return below(expr.operand);
    case 'member': return below(expr.object);
    default: return false;
  }
}

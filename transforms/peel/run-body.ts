/**
 * What is left of a loop's body in a run, and of the loop when it is over: whether a run does anything at all, and whether anybody would see that it
 * is missing.
 */
import { isStmt, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { DeclareStmt, Expr, Stmt, Type } from '../../src/syntax/tree.js';
import { isRepeatable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import { valueOf, type Decisions } from '../lib/guards/simplify.js';
import { variableOf } from '../lib/loops.js';
import type { TransformContext } from '../lib/types.js';
import type { Counter } from './counters.js';

/** Nothing that the loop's head changes is used after it. */
export function diesWithLoop(context: TransformContext, loop: PeelableLoop): boolean {
  if (loop.kind !== 'for' || loop.step === null) return false;
  const { facts } = context;
  const effects = facts.effects(loop.step);
  if (effects.accesses.some((access) => access.kind !== 'read') || effects.unknownCalls.length > 0) return false;
  return [...effects.assigns].every((variable) => !facts.liveAfter(variable, loop));
}

/** Nothing but decided tests, jumps to the step, and what moves the counter, is left of the body. */
export function doesNothing({ facts }: TransformContext, loop: PeelableLoop, decisions: Decisions, counter: Counter | null): boolean {
  const rest = (stmt: Stmt): 'idle' | 'jump' | 'work' => {
    switch (stmt.kind) {
      case 'empty': return 'idle';
      case 'declare': return isPureDeclaration(facts, stmt) ? 'idle' : 'work';
      case 'continue': return 'jump';
      case 'compound': {
        for (const inner of stmt.body) {
          const result = rest(inner);
          if (result !== 'idle') return result;
        }
        return 'idle';
      }
      case 'if': {
        const value = stmt.init === null && stmt.conditionDecl === null ? valueOf(facts, stmt.condition, decisions) : null;
        if (value === null) return 'work';
        const kept = value ? stmt.then : stmt.else;
        return kept === null ? 'idle' : rest(kept);
      }
      case 'expression': {
        const { expression } = stmt;
        const moves = (expression.kind === 'update' || expression.kind === 'assign') && counter !== null && variableOf(expression.target) === counter.variable;
        return moves ? 'idle' : 'work';
      }
      default: return 'work';
    }
  };
  return rest(loop.body) !== 'work';
}

/** Names of numbers, made without effects. */
function isPureDeclaration(facts: FunctionFacts, { variables, types }: DeclareStmt): boolean {
  return types.length === 0 && variables.every(({ init, type, storage, space, opaqueInit }) => !opaqueInit && storage === 'automatic' && space === 'local' && PLAIN.has(type.kind) && (init === null || isRepeatable(facts, init)));
}

const PLAIN: ReadonlySet<Type['kind']> = new Set(['bool', 'int', 'float', 'pointer', 'enum']);

/** No comparison that is decided takes out the arm of an `if` that the expression stands in. */
export function isReached(facts: FunctionFacts, loop: PeelableLoop, expr: Expr, decisions: Decisions): boolean {
  let at: Node = expr;
  for (let parent = facts.parent(at); parent !== null && at !== loop; at = parent, parent = facts.parent(at)) {
    if (!isStmt(parent) || parent.kind !== 'if' || at === parent.condition) continue;
    if (valueOf(facts, parent.condition, decisions) === (at === parent.else)) return false;
  }
  return true;
}

/** A run with these decisions is left by a break before it does anything. */
export function breaksAtOnce({ facts }: TransformContext, loop: PeelableLoop, decisions: Decisions): boolean {
  // The loop's test goes with the run: it must have no effects, which `induction-simple` demands.
  const leaves = (stmt: Stmt): boolean | null => {
    switch (stmt.kind) {
      case 'break': return true;
      case 'empty': return null;
      case 'declare': return isPureDeclaration(facts, stmt) ? null : false;
      case 'compound': {
        for (const inner of stmt.body) {
          const result = leaves(inner);
          if (result !== null) return result;
        }
        return null;
      }
      case 'if': {
        const value = stmt.init === null && stmt.conditionDecl === null ? valueOf(facts, stmt.condition, decisions) : null;
        if (value === null) return false;
        const kept = value ? stmt.then : stmt.else;
        return kept === null ? null : leaves(kept);
      }
      default: return false;
    }
  };
  return leaves(loop.body) === true;
}

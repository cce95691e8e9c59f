/**
 * Control dependence on the structured tree.
 *
 * A `Control` is one reason why some threads arrive at a place and others do not. Controls form a tree by `parent`: the threads that
 * arrive are decided by all controls from the innermost up to the function. Three kinds:
 *
 *   branch  the arm of an `if`, `switch`, `?:`, `&&`, `||`;
 *   loop    the body (and header) of a loop: which iterations a thread runs, that is, all of the loop's exits;
 *   jump    what follows a statement that some threads left by `break`, `continue` or `return`: the text after
 *           `if (c) continue;` depends on `c` until the end of the loop's body.
 *
 * At a join the values depend on the controls that lie between the join and the jumps that lead to it (sync dependence, as in LLVM's
 * GenericUniformityImpl: only jumps to *this* join count; threads that left for an outer target do not come here). The
 * structured tree replaces the general computation of disjoint paths.
 *
 *        if (c)            <- branch c                  for (;;) {            <- loop: exits {d}
 *          continue;                                      if (d) break;       <- branch d
 *        x = 1;            <- jump {c}                    y = ..;             <- jump {d} until the loop ends
 *      }                   <- join of x: {c}            }                     <- exit of y: {d}
 *
 * Not handled: `goto`. A function that has one is *unstructured*: every variable that is assigned and every place behind the first
 * label or goto depends on all conditions of the function.
 */
import type { Node } from './children.js';
import type { Loop } from './facts.js';
import type { Expr } from '../syntax/tree.js';

export interface Control {
  /** Position in the list of controls of the function. */
  readonly id: number;
  readonly parent: Control | null;
  readonly kind: 'branch' | 'loop' | 'jump' | 'unknown';
  /** For `branch`. */
  readonly condition: Expr | null;
  /** The arm is run if the condition is true (`then`) or false (`else`); `case` for an arm of a switch. */
  readonly sense: 'then' | 'else' | 'case' | null;
  readonly node: Node;
  /** For `loop`. */
  readonly loop: LoopFlow | null;
  /** For `jump`: the controls of the jumps, up to the statement that holds them. */
  readonly deps: readonly Control[];
  /** For `jump`: where the jumps lead. */
  readonly target: Target | null;
}

export interface LoopFlow {
  readonly loop: Loop;
  readonly condition: Expr | null;
  /** What decides which threads leave by `break`, besides the condition. */
  readonly breaks: Control[];
  /** What decides which threads leave the loop for an outer target (`return`, `break` of an outer switch). */
  readonly leaves: Control[];
}

/** Where jumps lead: the end of a loop's body, the end of a loop or switch, the end of the function. Deeper is further in. */
export interface Target {
  readonly depth: number;
  readonly kind: 'continue' | 'break' | 'return';
}

/**
 * True if a jump to `jump` keeps a thread away from a join at `join`: it leads further out. A `continue` joins the others again
 * before the loop is left, so it bears on both ends of its loop.
 */
export function leadsPast(jump: Target, join: Target): boolean {
  if (jump.depth !== join.depth) return jump.depth < join.depth;
  return join.kind === 'continue' && jump.kind === 'break';
}

/** The controls from `from` up to, and without, `until`, as far as they bear on a join at `target`. */
export function collectControls(from: Control | null, until: Control | null, target: Target | null, into: Control[]): void {
  for (let c = from; c !== null && c !== until; c = c.parent) {
    if (c.kind === 'jump' && target !== null && c.target !== null && leadsPast(c.target, target)) continue;
    if (!into.includes(c)) into.push(c);
  }
}

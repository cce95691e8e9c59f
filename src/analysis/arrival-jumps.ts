/**
 * Forward jumps over a place: the `goto`s that stand before a node and whose label stands behind it.
 *
 * A forward `goto` whose label follows in the text is a skip of everything between (the structured tree has no edge for it). That is all that is read of
 * `goto`: a backward jump makes a loop of text that is not one in the tree, and a label inside a nested statement makes an entry that is not at its top; with
 * either, who comes to a place behind the first label or jump is not known (null).
 */
import type { Node } from './children.js';
import { structureOf } from './structure.js';
import type { FunctionDecl, GotoStmt } from '../syntax/tree.js';

/** The jumps over `node`; null if the function's jumps are not all forward and to its own top level. */
export function gotosOver(node: Node, fn: FunctionDecl): readonly GotoStmt[] | null {
  const { gotos, labels } = structureOf(fn);
  const over: GotoStmt[] = [];
  for (const jump of gotos) {
    const label = labels.find((candidate) => candidate.name === jump.label);
    if (label === undefined || label.span.start < jump.span.start || fn.body === null || !fn.body.body.includes(label)) return null;
    if (jump.span.end <= node.span.start && label.span.start >= node.span.end) over.push(jump);
  }
  return over;
}

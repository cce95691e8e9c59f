/**
 * The branches of a function: one per condition (SEMANTICS 2), in the order of the text.
 *
 * A statement's own branch comes first, then those inside its head, then those in its arms. The branch of `&&` and `||` is decided by
 * the left operand: the right one is skipped. `for (;;)` has no condition and is no branch. `exits` are the jumps anywhere in the
 * arms that leave a construct around the condition; loops have none of their own.
 */
import { forEachChild, isStmt, strip, type Node } from './children.js';
import type { BranchSite } from './facts.js';
import { indexBody } from './function-index.js';
import type { FunctionDecl } from '../syntax/tree.js';

type Exit = 'return' | 'break' | 'continue';

const memo = new WeakMap<FunctionDecl, readonly BranchSite[]>();

/** Branches of a function; the same for every context, so kept by identity. */
export function branchesOf(fn: FunctionDecl): readonly BranchSite[] {
  const known = memo.get(fn);
  if (known !== undefined) return known;
  const sites: BranchSite[] = [];
  if (fn.body !== null) {
    for (const node of indexBody(fn.body, fn.returns).branching) {
      const site = siteOf(node);
      if (site !== null) sites.push(site);
    }
  }
  memo.set(fn, sites);
  return sites;
}

function siteOf(node: Node): BranchSite | null {
  switch (node.kind) {
    case 'if': return { kind: 'if', node, condition: node.condition, exits: exitsOf([node.then, ...(node.else === null ? [] : [node.else])]) };
    case 'switch': return { kind: 'switch', node, condition: node.condition, exits: exitsOf(node.arms.flatMap((arm) => arm.body), 'switch') };
    case 'conditional': return { kind: 'ternary', node, condition: node.condition, exits: [] };
    case 'binary':
      if (node.op === '&&') return { kind: 'and', node, condition: node.left, exits: [] };
      return node.op === '||' ? { kind: 'or', node, condition: node.left, exits: [] } : null;
    case 'for': return node.condition === null ? null : { kind: 'for', node, condition: node.condition, exits: [] };
    case 'while': return { kind: 'while', node, condition: node.condition, exits: [] };
    // `do { … } while (0)` runs once: statement macros are written so.
    case 'do': return isZero(node.condition) ? null : { kind: 'do', node, condition: node.condition, exits: [] };
    default: return null;
  }
}

function isZero(condition: Node & { kind: string }): boolean {
  if (isStmt(condition)) return false;
  const e = strip(condition);
  return e.kind === 'literal' && (e.value === 0n || e.value === false);
}

const NONE: readonly Exit[] = [];

/** Jumps in the arms that lead out of the construct; inside a loop or switch its own jumps do not. */
function exitsOf(arms: readonly Node[], around: 'if' | 'switch' = 'if'): readonly Exit[] {
  const found = new Set<Exit>();
  for (const arm of arms) jumps(arm, around === 'switch', false, found);
  return found.size === 0 ? NONE : [...found];
}

function jumps(node: Node, ownBreak: boolean, ownContinue: boolean, found: Set<Exit>): void {
  switch (node.kind) {
    case 'return': found.add('return'); return;
    case 'break': if (!ownBreak) found.add('break'); return;
    case 'continue': if (!ownContinue) found.add('continue'); return;
    case 'for': case 'while': case 'do': case 'range-for': jumps(node.body, true, true, found); return;
    case 'switch': for (const arm of node.arms) for (const inner of arm.body) jumps(inner, true, ownContinue, found); return;
    default:
      if (isStmt(node) && node.kind !== 'expression' && node.kind !== 'declare') forEachChild(node, (child) => { if (isStmt(child)) jumps(child, ownBreak, ownContinue, found); });
  }
}

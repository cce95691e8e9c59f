/**
 * Guards of a loop: integer comparisons that stand, alone or in a chain of `&&`, `||` and `!`, where they decide a statement or a value.
 */
import { isStmt, forEachChild, strip, type Node } from '../../../src/analysis/children.js';
import type { FunctionFacts, Loop } from '../../../src/analysis/facts.js';
import { sameExpr } from '../equality.js';
import { conjunctsOf, describeLoop } from '../loops.js';
import { expected, isChecked, isUserCheck } from './user-checks.js';
import type { BinaryExpr, ConditionalExpr, Expr, IfStmt, Stmt } from '../../../src/syntax/tree.js';

export type ComparisonOperator = '<' | '<=' | '>' | '>=' | '==' | '!=';

export interface Comparison extends BinaryExpr { readonly op: ComparisonOperator }

/** What the comparison's chain decides. */
export type Owner =
  | { readonly kind: 'if'; readonly node: IfStmt }
  | { readonly kind: 'ternary'; readonly node: ConditionalExpr }
  /** The test of a loop inside the one that is peeled. */
  | { readonly kind: 'loop'; readonly node: Loop }
  /** A flag or an operand: `bool ok = j < n`. */
  | { readonly kind: 'value'; readonly node: Node };

export interface Guard {
  readonly comparison: Comparison;
  /** The whole chain that the comparison stands in. */
  readonly chain: Expr;
  readonly owner: Owner;
  /** The value in the interior of the work: what lets the work happen, or keeps a `continue` from happening. */
  readonly wanted: boolean;
  /** True if the comparison's text comes out of a macro. */
  readonly inMacro: boolean;
}

/** Every guard in the body of the loop, in the order of the text; bodies of lambdas are left out. */
export function guardsIn(facts: FunctionFacts, loop: Loop): readonly Guard[] {
  const guards: Guard[] = [];
  const visit = (node: Node, inMacro: boolean): void => {
    if (node.kind === 'lambda' || isUserCheck(node)) return;
    if (!isStmt(node) && node.kind === 'binary' && isComparison(node)) {
      const guard = guardOf(facts, node, inMacro);
      if (guard !== null) guards.push(guard);
    }
    const below = inMacro || node.kind === 'macro' || node.kind === 'macro-statement';
    forEachChild(node, (child) => visit(child, below));
  };
  visit(loop.body, false);
  return guards;
}

function isComparison(node: BinaryExpr): node is Comparison {
  return ['<', '<=', '>', '>=', '==', '!='].includes(node.op) && node.left.type.kind !== 'pointer' && node.left.type.kind !== 'float';
}

function guardOf(facts: FunctionFacts, comparison: Comparison, inMacro: boolean): Guard | null {
  let chain: Expr = comparison;
  // The truth of the comparison that makes the chain so far say "do it".
  let wanted = true;
  for (;;) {
    const parent = facts.parent(chain);
    if (parent === null) return null;
    if (isStmt(parent)) {
      // What the user checks of a flag would say nothing of one that is decided.
      if (parent.kind === 'declare' && parent.variables.some((variable) => variable.init === chain && isChecked(facts, variable))) return null;
      const owner = statementOwner(parent, chain);
      if (owner === null || (owner.kind === 'loop' && isOwnTest(facts, owner.node, chain, comparison))) return null;
      const skips = owner.kind === 'if' && owner.node.else === null && (leaves(owner.node.then) || masks(facts, owner.node));
      return { comparison, chain, owner, wanted: skips ? !wanted : wanted, inMacro };
    }
    if (parent.kind === 'paren' || parent.kind === 'macro') chain = parent;
    else if (parent.kind === 'unary' && parent.op === '!') {
      wanted = !wanted;
      chain = parent;
    } else if ((parent.kind === 'binary' && (parent.op === '&&' || parent.op === '||')) || joinsTruths(parent) || expected(parent) === chain) {
      chain = parent;
    } else if (parent.kind === 'conditional' && parent.condition === chain) {
      if (isBoundOfRun(facts, parent)) return null;
      return { comparison, chain, owner: { kind: 'ternary', node: parent }, wanted: isTrivial(parent.then) && !isTrivial(parent.else) ? !wanted : wanted, inMacro };
    } else {
      return { comparison, chain, owner: { kind: 'value', node: parent }, wanted, inMacro };
    }
  }
}

/** `(a < b) & (c < d)`: both sides are asked, neither has effects that the other could see. */
export function joinsTruths(node: Expr): node is BinaryExpr {
  return node.kind === 'binary' && (node.op === '&' || node.op === '|') && node.left.type.kind === 'bool' && node.right.type.kind === 'bool';
}

/** The comparison that an inner loop counts by, or its whole test. */
function isOwnTest(facts: FunctionFacts, loop: Loop, chain: Expr, comparison: Comparison): boolean {
  if (conjunctsOf(chain).length < 2) return true;
  const induction = describeLoop(facts, loop);
  return !induction.simple || strip(induction.test) === comparison;
}

/** `const int k_full = n > reach ? n - reach : 0;` as peel writes it: a constant that only tests of loops use. */
function isBoundOfRun(facts: FunctionFacts, node: ConditionalExpr): boolean {
  const parent = facts.parent(node);
  if (parent === null || parent.kind !== 'declare' || node.else.kind !== 'literal') return false;
  const decl = parent.variables.find((variable) => variable.init === node);
  if (decl === undefined || decl.type.const !== true) return false;
  const uses = facts.uses(decl);
  return uses.length > 0 && uses.every((use) => {
    for (let at: Node | null = use; at !== null && !isStmt(at); at = facts.parent(at)) {
      const above = facts.parent(at);
      if (above !== null && isStmt(above)) return (above.kind === 'for' || above.kind === 'while') && above.condition === at;
    }
    return false;
  });
}

function statementOwner(parent: Stmt, chain: Expr): Owner | null {
  switch (parent.kind) {
    // Beside a declaration in its head a test cannot go without taking the declaration along.
    case 'if': return parent.constexpr || parent.init !== null || parent.conditionDecl !== null || parent.condition !== chain ? null : { kind: 'if', node: parent };
    case 'for': case 'while': case 'do': return parent.condition === chain ? { kind: 'loop', node: parent } : null;
    case 'declare': return { kind: 'value', node: parent };
    default: return null;
  }
}

/** A literal, such as the zero of a zero fill. */
function isTrivial(expr: Expr): boolean {
  let inner = expr;
  while (inner.kind === 'paren' || inner.kind === 'cast' || (inner.kind === 'unary' && inner.op === '-')) inner = inner.kind === 'paren' ? inner.inner : inner.operand;
  return inner.kind === 'literal' || (inner.kind === 'construct' && inner.arguments.every(isTrivial)) || inner.kind === 'macro' || (inner.kind === 'ref' && inner.name === 'INFINITY');
}

/**
 * `v = -INFINITY;`, `ok = false;`: a value that stands for "outside", in a variable of the thread or where the statements in front have just put another. A store that
 * is all there is to do, `if (i < n) count[i] = 0;`, is the work itself.
 */
function masks(facts: FunctionFacts, branch: IfStmt): boolean {
  const { then, span } = branch;
  const only = then.kind === 'compound' ? (then.body.length === 1 ? then.body[0] : undefined) : then;
  const store = only?.kind === 'expression' ? only.expression : undefined;
  if (only === undefined || store?.kind !== 'assign' || store.op !== null || !isTrivial(store.value)) return false;
  const around = facts.parent(branch);
  if (around?.kind !== 'compound') return false;
  const others = around.body.filter((stmt) => stmt.span.start !== span.start && stmt.kind !== 'empty');
  const target = strip(store.target);
  if (target.kind === 'ref' && target.decl?.kind === 'variable' && target.decl.space === 'local') return others.length > 0;
  return others.some((stmt) => stmt.span.end <= span.start && stmt.kind === 'expression' && stmt.expression.kind === 'assign' && sameExpr(stmt.expression.target, target));
}

/** `continue;`, `break;` or `return;`, alone or as the last statement of a block. */
function leaves(stmt: Stmt): boolean {
  if (stmt.kind === 'compound') {
    const last = stmt.body.at(-1);
    return last !== undefined && leaves(last);
  }
  return stmt.kind === 'continue' || stmt.kind === 'break' || stmt.kind === 'return';
}

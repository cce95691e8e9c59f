/**
 * What else an arm's kernel knows: the condition of the branch has one value there, so that other branches on it, on its opposite, on parts of it, or on another value of the same
 * parameter are decided too. What the launch knows never changes in the kernel.
 *
 *     if (mode == 2) X else Y;  …  if (mode == 2) V;  if (mode == 3) W;          k_mode_2: X; … V;          k_mode_not_2: Y; … if (mode == 3) W;
 */
import { isStmt, strip, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Span } from '../../src/source/types.js';
import type { Expr, Stmt } from '../../src/syntax/tree.js';
import { sameExpr } from '../lib/equality.js';
import { valueOf, type Decisions } from '../lib/guards/simplify.js';
import type { TransformContext } from '../lib/types.js';
import type { LaunchCondition } from './condition.js';
import type { SplitBranch } from './shape.js';
import { versionsIn } from './versions.js';

interface Known { readonly expr: Expr; readonly value: boolean }

/** Conditions outside of the branch's own that are decided in the kernel of an arm. A role is told by block numbers, which one of the kernels writes anew: there nothing else is looked at. */
export function decisionsOf({ facts }: TransformContext, branch: SplitBranch, condition: LaunchCondition, arm: 'then' | 'else'): Decisions {
  const decisions = new Map<Expr, boolean>();
  const { body } = facts.function;
  if (body === null || condition.kind !== 'choice') return decisions;
  const known = impliedBy(branch.stmt.condition, arm === 'then');
  walk(body, (node) => {
    if (node.kind === 'lambda' || node.kind === 'macro' || node.kind === 'macro-statement' || node === branch.stmt.condition) return false;
    if (isStmt(node) || !isTest(facts, node, branch)) return true;
    // The test that chooses between two versions of a loop shows that the loop was peeled.
    if (isVersions(facts, node)) return false;
    const value = decide(facts, node, known);
    if (value !== null) decisions.set(node, value);
    return value === null;
  });
  return decisions;
}

/** Parts of the text that go with decided tests: the tests, and arms that are never taken. */
export function goneWith(facts: FunctionFacts, decisions: Decisions): readonly Span[] {
  const gone: Span[] = [...decisions.keys()].map(({ span }) => span);
  const { body } = facts.function;
  if (body === null || decisions.size === 0) return gone;
  walk(body, (node) => {
    if (node.kind === 'lambda' || node.kind === 'macro' || node.kind === 'macro-statement') return false;
    if (!isStmt(node) || node.kind !== 'if' || node.init !== null || node.conditionDecl !== null || node.constexpr) return true;
    const value = valueOf(facts, node.condition, decisions);
    if (value === null) return true;
    gone.push(node.condition.span);
    const dead: Stmt | null = value ? node.else : node.then;
    if (dead !== null) gone.push(dead.span);
    return true;
  });
  return gone;
}

/** The expressions whose values follow from a condition's. */
function impliedBy(condition: Expr, value: boolean): readonly Known[] {
  const expr = strip(condition);
  const whole: Known = { expr, value };
  if (expr.kind === 'unary' && expr.op === '!') return [whole, ...impliedBy(expr.operand, !value)];
  if (expr.kind === 'binary' && ((expr.op === '&&' && value) || (expr.op === '||' && !value))) return [whole, ...impliedBy(expr.left, value), ...impliedBy(expr.right, value)];
  return [whole];
}

/** The expression is asked for its truth alone: a condition, or a part of one; not of what stands around the branch, which keeps its head. */
function isTest(facts: FunctionFacts, expr: Expr, { stmt }: SplitBranch): boolean {
  let at: Expr = expr;
  for (;;) {
    const parent: Node | null = facts.parent(at);
    if (parent === null) return false;
    if (isStmt(parent)) return !(parent.span.start <= stmt.span.start && stmt.span.end <= parent.span.end) && (parent.kind === 'if' || parent.kind === 'while' || parent.kind === 'do' || parent.kind === 'for') && parent.condition === at;
    if (parent.kind === 'conditional') return parent.condition === at;
    const link = parent.kind === 'paren' || (parent.kind === 'unary' && parent.op === '!') || (parent.kind === 'binary' && (parent.op === '&&' || parent.op === '||'));
    if (!link) return false;
    at = parent;
  }
}

function isVersions(facts: FunctionFacts, test: Expr): boolean {
  const parent = facts.parent(test);
  return parent !== null && isStmt(parent) && parent.kind === 'if' && parent.condition === test && versionsIn(facts, parent) !== null;
}

const OPPOSITE: Readonly<Record<string, string>> = { '==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>' };
const TURNED: Readonly<Record<string, string>> = { '==': '==', '!=': '!=', '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

function decide(facts: FunctionFacts, written: Expr, known: readonly Known[]): boolean | null {
  const expr = strip(written);
  for (const { expr: other, value } of known) {
    if (sameExpr(expr, other)) return value;
    if (expr.kind !== 'binary' || other.kind !== 'binary' || OPPOSITE[expr.op] === undefined || OPPOSITE[other.op] === undefined || !isWhole(expr.left) || !isWhole(expr.right)) continue;
    // The same two sides, as they stand or turned round.
    const op = sameExpr(expr.left, other.left) && sameExpr(expr.right, other.right) ? expr.op : sameExpr(expr.left, other.right) && sameExpr(expr.right, other.left) ? TURNED[expr.op] : undefined;
    if (op === other.op) return value;
    if (op !== undefined && op === OPPOSITE[other.op]) return !value;
    const equal = (other.op === '==' && value) || (other.op === '!=' && !value);
    const otherValue = equal ? comparedWith(facts, expr, other) : null;
    if (otherValue !== null) return otherValue;
  }
  return null;
}

/** `p == 3` where `p` is 2. Both compare the same value with a constant, and in one type. */
function comparedWith(facts: FunctionFacts, expr: Extract<Expr, { kind: 'binary' }>, other: Extract<Expr, { kind: 'binary' }>): boolean | null {
  const [is, wanted] = [facts.constant(other.right), facts.constant(expr.right)];
  if (is === null || wanted === null || !sameExpr(expr.left, other.left)) return null;
  const { type } = strip(expr.left);
  // Narrower than int, or of another sign than the constant, it would be converted first.
  if (type.kind !== 'int' || type.bits < 32 || strip(expr.right).type.kind !== 'int' || (!type.signed && (is < 0n || wanted < 0n))) return null;
  switch (expr.op) {
    case '==': return is === wanted;
    case '!=': return is !== wanted;
    case '<': return is < wanted;
    case '<=': return is <= wanted;
    case '>': return is > wanted;
    case '>=': return is >= wanted;
    default: return null;
  }
}

function isWhole(expr: Expr): boolean {
  const { type } = strip(expr);
  return type.kind === 'int' || type.kind === 'bool' || type.kind === 'enum' || type.kind === 'pointer';
}

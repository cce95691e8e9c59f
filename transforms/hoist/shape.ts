/**
 * Where hoist's shape occurs: a branch that stands directly in the body of a loop, possibly below further loops that stand directly
 * in each other's bodies.
 *
 *     for (…) { A; if (c) B else C; D }          any part may be empty; plain blocks around the branch count as part of the body
 *
 * A branch below another branch of the loop is not of this shape: whether it is reached depends on that one.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import type { Loop } from '../../src/analysis/facts.js';
import type { CompoundStmt, ConditionalExpr, DeclareStmt, Expr, ExprStmt, IfStmt, Stmt, SwitchArm, SwitchStmt } from '../../src/syntax/tree.js';
import { sameExpr } from '../lib/equality.js';

/** An `if` with the `else if`s behind it, as far as they are treated together. */
export interface IfBranch {
  readonly kind: 'if';
  readonly stmt: IfStmt;
  /** The chain: `stmt` and the `else if`s that belong to it; each tests its own condition. */
  readonly links: readonly IfStmt[];
}

export interface SwitchBranch {
  readonly kind: 'switch';
  readonly stmt: SwitchStmt;
}

/** A `?:` that decides a whole statement: `x = c ? a : b;`, `T x = c ? a : b;`, `c ? f() : g();`. */
export interface TernaryBranch {
  readonly kind: 'ternary';
  readonly stmt: ExprStmt | DeclareStmt;
  readonly expr: ConditionalExpr;
  /** The expression with the parentheses around it: what an arm replaces. */
  readonly outer: Expr;
}

export type Branch = IfBranch | SwitchBranch | TernaryBranch;

/** A branch with the loops it may leave, innermost first. */
export interface Candidate {
  readonly branch: Branch;
  readonly loops: readonly Loop[];
}

/** All candidates of a function body, in the order of the text. */
export function candidatesIn(body: CompoundStmt): readonly Candidate[] {
  const result: Candidate[] = [];
  const visit = (stmt: Stmt, loops: readonly Loop[]): void => {
    switch (stmt.kind) {
      case 'compound':
        for (const inner of stmt.body) visit(inner, loops);
        return;
      case 'for': case 'while': case 'do': case 'range-for':
        visit(stmt.body, [stmt, ...loops]);
        return;
      case 'if':
        if (loops.length > 0 && hasWork(stmt)) result.push({ branch: { kind: 'if', stmt, links: chainOf(stmt) }, loops });
        visitArms(stmt);
        return;
      case 'switch':
        if (loops.length > 0) result.push({ branch: { kind: 'switch', stmt }, loops });
        for (const arm of stmt.arms) for (const inner of arm.body) visit(inner, []);
        return;
      case 'expression': case 'declare': {
        const branch = loops.length > 0 ? ternaryOf(stmt) : null;
        if (branch !== null) result.push({ branch, loops });
        return;
      }
      case 'preprocessor':
        for (const arm of stmt.arms) if (arm.active) for (const inner of arm.body) visit(inner, loops);
        return;
      case 'label': visit(stmt.body, loops); return;
      case 'macro-statement': visit(stmt.expanded, loops); return;
      case 'empty': case 'break': case 'continue': case 'return': case 'goto': case 'asm': case 'opaque':
        return;
      default: {
        const never: never = stmt;
        return never;
      }
    }
  };
  const visitArms = (stmt: IfStmt): void => {
    visit(stmt.then, []);
    if (stmt.else === null) return;
    if (stmt.else.kind === 'if') visitArms(stmt.else);
    else visit(stmt.else, []);
  };
  visit(body, []);
  return result;
}

/** The `if` and the plain `else if`s below it. */
function chainOf(stmt: IfStmt): readonly IfStmt[] {
  const links = [stmt];
  for (let at = stmt.else; at !== null && at.kind === 'if' && plain(at); at = at.else) links.push(at);
  return links;
}

/** An `if` whose condition is an expression evaluated when the program runs. */
export function plain(stmt: IfStmt): boolean {
  return !stmt.constexpr && stmt.init === null && stmt.conditionDecl === null;
}

function hasWork(stmt: IfStmt): boolean {
  return !isEmpty(stmt.then) || (stmt.else !== null && !isEmpty(stmt.else));
}

/** True for `;`, `{}` and blocks of these. */
export function isEmpty(stmt: Stmt): boolean {
  return stmt.kind === 'empty' || (stmt.kind === 'compound' && stmt.body.every(isEmpty));
}

function ternaryOf(stmt: ExprStmt | DeclareStmt): TernaryBranch | null {
  let outer: Expr;
  if (stmt.kind === 'declare') {
    const variable = stmt.variables[0];
    if (stmt.variables.length !== 1 || variable === undefined || variable.init === null || variable.initStyle !== 'equals' || variable.opaqueInit) return null;
    if (variable.space !== 'local' || variable.storage !== 'automatic') return null;
    outer = variable.init;
  } else {
    const inner = unwrap(stmt.expression);
    outer = inner.kind === 'assign' ? inner.value : inner;
  }
  const expr = unwrap(outer);
  return expr.kind === 'conditional' ? { kind: 'ternary', stmt, expr, outer } : null;
}

/** Without parentheses; a macro is kept whole. */
function unwrap(expr: Expr): Expr {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.inner;
  return inner;
}

/** The conditions that a branch tests, in the order in which they are evaluated. */
export function testsOf(branch: Branch): readonly Expr[] {
  switch (branch.kind) {
    case 'if': return branch.links.map((link) => link.condition);
    case 'switch': return [branch.stmt.condition];
    case 'ternary': return [branch.expr.condition];
    default: {
      const never: never = branch;
      return never;
    }
  }
}

/** The branch cut to its first `count` tests. */
export function withTests(branch: Branch, count: number): Branch {
  return branch.kind === 'if' && count < branch.links.length ? { ...branch, links: branch.links.slice(0, count) } : branch;
}

/** An `if` of the loop that tests what a hoisted condition tests, and which of its arms runs when that condition holds. */
export interface Decided {
  readonly stmt: IfStmt;
  readonly negated: boolean;
}

/** Every `if` in the loop whose condition is `test` or its negation, the branch itself included; none below lambdas and macros. */
export function decidedBy(test: Expr, loop: Loop): readonly Decided[] {
  const { core, negated } = polarity(test);
  const result: Decided[] = [];
  walk(loop, (node) => {
    if (!isStmt(node)) return false;
    if (node.kind === 'macro-statement') return false;
    if (node.kind === 'if' && plain(node)) {
      const own = polarity(node.condition);
      if (sameExpr(own.core, core)) result.push({ stmt: node, negated: own.negated !== negated });
    }
    return true;
  });
  return result;
}

/** `!!x` is `x`; `!x` is `x` negated. */
export function polarity(expr: Expr): { readonly core: Expr; readonly negated: boolean } {
  let core = strip(expr);
  let negated = false;
  while (core.kind === 'unary' && core.op === '!') {
    core = strip(core.operand);
    negated = !negated;
  }
  return { core, negated };
}

/** The statement that ends an arm for good: `break`, `continue`, `return` at its end; null if control may leave it at the bottom. */
export function lastJump(body: readonly Stmt[]): Stmt | null {
  const last = body.at(-1);
  if (last === undefined) return null;
  if (last.kind === 'break' || last.kind === 'continue' || last.kind === 'return') return last;
  return last.kind === 'compound' ? lastJump(last.body) : null;
}

/** Statements of an arm: of a block its parts, else the statement itself; none for `;` and null. */
export function partsOf(arm: Stmt | null): readonly Stmt[] {
  if (arm === null || arm.kind === 'empty') return [];
  return arm.kind === 'compound' ? arm.body : [arm];
}

/** `break`s that leave the switch from inside an arm, other than the one that closes it. */
export function innerBreaks(arm: SwitchArm): readonly Stmt[] {
  const closing = lastJump(arm.body);
  const result: Stmt[] = [];
  for (const stmt of arm.body) {
    walk(stmt, (node) => {
      if (!isStmt(node)) return false;
      if (node.kind === 'break' && node !== closing) result.push(node);
      return node.kind !== 'for' && node.kind !== 'while' && node.kind !== 'do' && node.kind !== 'range-for' && node.kind !== 'switch';
    });
  }
  return result;
}

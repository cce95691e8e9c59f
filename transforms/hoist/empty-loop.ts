/**
 * Which copies of a loop would do nothing. In one of the copies every test of the hoisted condition has a known truth; a copy whose
 * body comes to nothing is not written, if the loop's own head may be dropped too.
 */
import type { FunctionFacts, Loop } from '../../src/analysis/facts.js';
import { strip, type Expr, type IfStmt, type Stmt, type SwitchArm, type SwitchStmt, type Type, type VariableDecl } from '../../src/syntax/tree.js';
import { endIsSeen } from './braces.js';
import { impurity } from './condition.js';
import { lastJump } from './shape.js';

/** What one copy knows. */
export interface Outcome {
  /** `if`s whose condition has a known value in this copy. */
  readonly truth: ReadonlyMap<IfStmt, boolean>;
  /** The arm that a hoisted `switch` takes; null if none of its labels fits. */
  readonly taken: { readonly stmt: SwitchStmt; readonly arm: SwitchArm | null } | null;
  /** Declarations that moved in front of the copies. */
  readonly moved: ReadonlySet<VariableDecl>;
}

/**
 * What is left of a statement in a copy: something, nothing (`falls`), or nothing but a jump of the enclosing loop that skips what
 * stands behind it (`jumps`).
 */
export type Rest = 'something' | 'falls' | 'jumps';

export function restOf(facts: FunctionFacts, stmt: Stmt, outcome: Outcome): Rest {
  switch (stmt.kind) {
    case 'empty': return 'falls';
    case 'continue': case 'break': return 'jumps';
    case 'compound': return restOfList(facts, stmt.body, outcome);
    case 'declare': return stmt.types.length === 0 && stmt.variables.length > 0 && stmt.variables.every((variable) => outcome.moved.has(variable)) ? 'falls' : 'something';
    case 'if': {
      const truth = outcome.truth.get(stmt);
      if (truth === undefined) return 'something';
      const arm = truth ? stmt.then : stmt.else;
      return arm === null ? 'falls' : restOf(facts, arm, outcome);
    }
    case 'switch': {
      if (outcome.taken?.stmt !== stmt) return 'something';
      const { arm } = outcome.taken;
      if (arm === null) return 'falls';
      const body = lastJump(arm.body)?.kind === 'break' ? withoutClosingBreak(arm.body) : arm.body;
      return restOfList(facts, body, outcome);
    }
    case 'for': case 'while': case 'do': case 'range-for':
      return restOf(facts, stmt.body, outcome) !== 'something' && headDroppable(facts, stmt) ? 'falls' : 'something';
    case 'expression': case 'return': case 'goto': case 'label': case 'asm': case 'preprocessor': case 'macro-statement': case 'opaque':
      return 'something';
    default: {
      const never: never = stmt;
      return never;
    }
  }
}

function restOfList(facts: FunctionFacts, list: readonly Stmt[], outcome: Outcome): Rest {
  for (const stmt of list) {
    const rest = restOf(facts, stmt, outcome);
    if (rest !== 'falls') return rest;
  }
  return 'falls';
}

/** An arm without the `break` that closes it, in a block or not. */
export function withoutClosingBreak(body: readonly Stmt[]): readonly Stmt[] {
  const last = body.at(-1);
  if (last === undefined) return body;
  if (last.kind === 'break') return body.slice(0, -1);
  if (last.kind === 'compound') return [...body.slice(0, -1), { ...last, body: withoutClosingBreak(last.body) }];
  return body;
}

/** The head of the loop has no effects, and nothing that it assigns is read afterwards. */
export function headDroppable(facts: FunctionFacts, loop: Loop): boolean {
  const parts: (Stmt | Expr)[] = [];
  const own = new Set<VariableDecl>();
  switch (loop.kind) {
    case 'for':
      if (loop.conditionDecl !== null) return false;
      parts.push(loop.init);
      if (loop.condition !== null) parts.push(loop.condition);
      if (loop.step !== null) parts.push(loop.step);
      if (loop.init.kind === 'declare') {
        // Making an object and its end may do something too.
        if (loop.init.types.length > 0 || loop.init.variables.some((variable) => variable.opaqueInit || endIsSeen(variable))) return false;
        for (const variable of loop.init.variables) if (variable.type.kind !== 'reference') own.add(variable);
      }
      break;
    case 'while':
      if (loop.conditionDecl !== null) return false;
      parts.push(loop.condition);
      break;
    case 'do': parts.push(loop.condition); break;
    case 'range-for':
      // Over anything but an array of numbers it calls begin, end, ++, *, or makes an object of each element.
      if (!isOverNumbers(loop)) return false;
      parts.push(loop.range);
      own.add(loop.variable);
      break;
    default: {
      const never: never = loop;
      return never;
    }
  }
  // An empty loop without an end would hang; dropping it would not.
  if (loop.kind !== 'range-for') {
    const constant = loop.condition === null ? 1n : facts.constant(loop.condition);
    if (constant !== null && constant !== 0n) return false;
  }
  for (const part of parts) {
    const effects = facts.effects(part);
    if (impurity({ ...effects, assigns: new Set() }) !== null) return false;
    for (const variable of effects.assigns) {
      if (variable.kind === 'variable' && own.has(variable)) continue;
      if (variable.kind === 'variable' && (variable.storage !== 'automatic' || variable.space !== 'local')) return false;
      if (facts.liveAfter(variable, loop)) return false;
    }
  }
  return true;
}

/** The range is an array of numbers, pointers and the like, and the variable of the loop is one, or a reference to one or to a row of them. */
function isOverNumbers({ range, variable }: Extract<Loop, { kind: 'range-for' }>): boolean {
  const { type } = strip(range);
  if (type.kind !== 'array') return false;
  let own = variable.type.kind === 'reference' ? variable.type.to : variable.type;
  if (variable.type.kind === 'reference') while (own.kind === 'array') own = own.of;
  let element: Type = type.of;
  while (element.kind === 'array') element = element.of;
  return isPlain(element) && isPlain(own);
}

function isPlain(type: Type): boolean {
  switch (type.kind) {
    case 'bool': case 'int': case 'float': case 'pointer': case 'enum': return true;
    case 'record': return type.decl.vector !== null;
    case 'void': case 'reference': case 'array': case 'function': case 'dependent': case 'unknown': return false;
    default: {
      const never: never = type;
      return never;
    }
  }
}

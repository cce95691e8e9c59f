/**
 * What makes a condition fit to be evaluated once, in front of a loop: it is decided at run time, has one value all the while the loop
 * runs, has no effects, and cannot fault where it would not have been evaluated.
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import type { Effects, Fact, FunctionFacts, Loop, MemoryAccess } from '../../src/analysis/facts.js';
import type { CallExpr, Decl, Expr, Stmt, Type } from '../../src/syntax/tree.js';
import { declaredIn } from '../lib/common-obligations.js';
import { assumed, excerpt, lineOf, proved, provedUnder, refuted, unknown } from '../lib/obligation.js';
import type { Obligation, TransformContext } from '../lib/types.js';
import { unsetIn } from '../lib/unset.js';
import { entryOf } from './entry.js';
import { plain, testsOf, type Branch } from './shape.js';

/** An entry test that stands in front of the conditions. */
export interface Guard {
  readonly text: string;
  readonly exprs: readonly Expr[];
  /** The loop that it admits to. */
  readonly loop: Loop;
}

export function atRunTime(context: TransformContext, branch: Branch): Obligation {
  const id = 'condition-at-run-time';
  const line = lineOf(context, branch.stmt);
  if (branch.kind === 'if' && branch.stmt.constexpr) return refuted(id, line, 'if constexpr is decided when the template is instantiated', 'nothing is to be done: only one arm is compiled');
  if ((branch.kind === 'if' && !plain(branch.stmt)) || (branch.kind === 'switch' && (branch.stmt.init !== null || branch.stmt.conditionDecl !== null))) {
    return refuted(id, line, 'the condition declares a variable', 'declare the variable in a statement of its own in front of the loop');
  }
  for (const test of testsOf(branch)) {
    if (decidedByCompiler(context, test)) {
      return refuted(id, line, `${excerpt(context.unit.source, test)} is a constant: the compiler decides it and drops the other arm`, 'nothing is to be done: only one arm is compiled');
    }
  }
  return proved(id, line, 'the condition is decided when the kernel runs');
}

/** The value is known when the kernel (or its instantiation) is compiled, given that those of `known` are. */
export function decidedByCompiler(context: TransformContext, test: Expr, known: ReadonlySet<Decl> = new Set()): boolean {
  if (context.facts.constant(test) !== null) return true;
  let fixed = true;
  walk(test, (node) => {
    if (isStmt(node)) fixed = false;
    else if (node.kind === 'ref') fixed &&= node.decl !== null && (known.has(node.decl) || fixedDecl(context, node.decl));
    else if (node.kind !== 'literal' && node.kind !== 'paren' && node.kind !== 'macro' && node.kind !== 'unary' && node.kind !== 'binary' && node.kind !== 'conditional'
      && node.kind !== 'cast' && node.kind !== 'sizeof') fixed = false;
    else if (node.kind === 'unary' && (node.op === '*' || node.op === '&')) fixed = false;
    return fixed;
  });
  return fixed;
}

function fixedDecl(context: TransformContext, decl: Decl): boolean {
  switch (decl.kind) {
    case 'template-parameter': return decl.sort === 'value';
    case 'enumerator': return true;
    case 'variable': return decl.constexpr || (decl.type.const === true && decl.init !== null && context.facts.constant(decl.init) !== null);
    case 'parameter': case 'function': case 'record': case 'enum': case 'typedef': return false;
    default: {
      const never: never = decl;
      return never;
    }
  }
}

export function conditionInvariant(context: TransformContext, evaluated: readonly Expr[], loop: Loop): Obligation {
  const id = 'condition-invariant';
  const inside = declaredIn(loop);
  const head = loop.kind === 'for' && loop.init.kind === 'declare' ? loop.init.variables : [];
  const under: string[] = [];
  let aliased: Obligation | null = null;
  for (const expr of evaluated) {
    const local = declaredInside(expr, inside, head);
    if (local !== null) return ofLoop(context, id, expr, local, loop, head);
    const fact = invariance(context, expr, loop);
    if (!fact.value) {
      const pair = aliasOnly(context, expr, loop);
      if (pair !== null) {
        const { source } = context.unit;
        aliased ??= assumed(id, 'noalias', lineOf(context, pair.write.node), `the condition keeps its value if ${excerpt(source, pair.write.node)} is never ${excerpt(source, pair.load.node)}`);
        continue;
      }
      // The first reason says what may change, the last one why.
      const what = fact.because[0];
      const why = fact.because.at(-1);
      const text = what === undefined ? `${excerpt(context.unit.source, expr)} may change in the loop` : why === undefined || why === what ? what.text : `${what.text}: ${why.text}`;
      return refuted(id, why?.line ?? lineOf(context, expr), text, 'load it into a variable in front of the loop if it does not change, or promise __restrict__');
    }
    under.push(...fact.under);
  }
  if (aliased !== null) return aliased;
  const first = evaluated[0];
  return provedUnder(id, first === undefined ? 0 : lineOf(context, first), 'the condition has one value all the while the loop runs', { under: [...new Set(under)] });
}

/** The condition names something that the loop declares: its counter, what is made anew in each iteration, or a value that could as well stand in front. */
function ofLoop(context: TransformContext, id: string, expr: Expr, local: Decl, loop: Loop, head: readonly Decl[]): Obligation {
  const line = lineOf(context, expr);
  const moves = local.kind === 'variable' && local.storage === 'automatic' && (context.facts.addressTaken(local) || context.facts.assignments(local, loop).some((definition) => definition.kind !== 'declaration'));
  if ((moves && head.includes(local)) || (loop.kind === 'range-for' && loop.variable === local)) {
    return refuted(id, line, `${local.name} has another value in each iteration: it is the loop's own counter`, 'leave the test to peel, which takes the iterations apart where a comparison of the counter changes');
  }
  if (local.kind !== 'variable' || (!moves && !local.opaqueInit && local.init !== null && context.facts.invariant(local.init, loop).value)) {
    return refuted(id, line, `${local.name} is declared in the loop`, `declare ${local.name} in front of the loop: its value is the same in every iteration`);
  }
  return refuted(id, line, `${local.name} is made anew in each iteration`, `leave the test where it is, unless ${local.name} has one value all the while: then declare it in front of the loop`);
}

/**
 * Invariance, calls looked through: a call of visible functions that read no memory and have no effects gives one value for one list of
 * arguments, so it is invariant if they are.
 */
export function invariance(context: TransformContext, expr: Expr, loop: Loop): Fact<boolean> {
  const direct = context.facts.invariant(expr, loop);
  if (direct.value) return direct;
  const parts: Fact<boolean>[] = [];
  const visit = (node: Expr): boolean => {
    const own = context.facts.invariant(node, loop);
    if (own.value) {
      parts.push(own);
      return true;
    }
    switch (node.kind) {
      case 'paren': return visit(node.inner);
      case 'cast': return visit(node.operand);
      case 'unary': return node.op !== '*' && node.op !== '&' && visit(node.operand);
      case 'binary': return visit(node.left) && visit(node.right);
      case 'conditional': return visit(node.condition) && visit(node.then) && visit(node.else);
      case 'call': return isFunctionOfArguments(context, node) && node.arguments.every(visit);
      default: return false;
    }
  };
  if (!visit(expr)) return direct;
  return { value: true, because: direct.because, under: [...new Set(parts.flatMap((part) => part.under))], reads: parts.flatMap((part) => part.reads) };
}

/** All functions that the call may reach are visible, read no memory but their parameters and do nothing but return a value. */
function isFunctionOfArguments(context: TransformContext, call: CallExpr): boolean {
  if (call.callee.kind !== 'function' || !call.callee.candidates.every((callee) => callee.body !== null && callee.parameters.every((parameter) => isScalar(parameter.type)))) return false;
  const effects = context.facts.effects(call);
  return effects.accesses.length === 0 && impurity(effects) === null;
}

function isScalar(type: Type): boolean {
  return type.kind === 'bool' || type.kind === 'int' || type.kind === 'float' || type.kind === 'enum';
}

/**
 * A load and a store that alone keep the condition from being invariant: they go through two pointers that may overlap. Null if
 * anything else does too (assignments, barriers, atomics, calls, volatile memory), or if a pointer is not known.
 */
function aliasOnly(context: TransformContext, expr: Expr, loop: Loop): { readonly load: MemoryAccess; readonly write: MemoryAccess } | null {
  const { facts } = context;
  const own = facts.effects(expr);
  const inside = facts.effects(loop);
  if (own.accesses.length === 0 || impurity(own) !== null) return null;
  for (const variable of own.uses) if (facts.addressTaken(variable) || facts.assignments(variable, loop).length > 0) return null;
  if (inside.barriers.length + inside.collectives.length + inside.fences.length + inside.atomics.length + inside.unknownCalls.length + inside.asm.length + inside.opaque.length > 0) return null;
  let found: { readonly load: MemoryAccess; readonly write: MemoryAccess } | null = null;
  for (const load of own.accesses) {
    for (const write of inside.accesses) {
      if (write.kind === 'read' || !facts.mayAlias(load, write)) continue;
      if (write.kind === 'atomic' || write.volatile || !isPointer(load.base) || !isPointer(write.base) || load.base === write.base) return null;
      found ??= { load, write };
    }
  }
  return found;
}

function isPointer(decl: Decl | null): boolean {
  return decl !== null && (decl.kind === 'parameter' || decl.kind === 'variable') && decl.type.kind === 'pointer';
}

function declaredInside(expr: Expr, inside: ReadonlySet<Decl>, head: readonly Decl[]): Decl | null {
  let found: Decl | null = null;
  walk(expr, (node) => {
    if (node.kind === 'ref' && node.decl !== null && (inside.has(node.decl) || head.includes(node.decl))) found ??= node.decl;
    return found === null;
  });
  return found;
}

export function conditionPure(context: TransformContext, evaluated: readonly Expr[]): Obligation {
  const id = 'condition-pure';
  for (const expr of evaluated) {
    if (readsVolatile(expr)) return refuted(id, lineOf(context, expr), 'the condition reads a volatile variable', 'copy it into a variable in front of the loop');
    const effects = context.facts.effects(expr);
    const impure = impurity(effects);
    if (impure !== null) return (effects.opaque.length + effects.unknownCalls.length > 0 ? unknown : refuted)(id, lineOf(context, expr), `the condition ${impure}`, 'evaluate it into a variable in front of the loop');
  }
  const first = evaluated[0];
  return proved(id, first === undefined ? 0 : lineOf(context, first), 'evaluating the condition has no effect');
}

function readsVolatile(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    if (!isStmt(node) && node.type.volatile === true) found = true;
    if (node.kind === 'ref' && node.decl !== null && (node.decl.kind === 'variable' || node.decl.kind === 'parameter') && node.decl.type.volatile === true) found = true;
    return !found;
  });
  return found;
}

/** What evaluating does besides giving a value; null if nothing. */
export function impurity(effects: Effects): string | null {
  if (effects.opaque.length > 0) return 'was not understood';
  if (effects.unknownCalls.length > 0) return 'calls something that is not visible';
  if (effects.assigns.size > 0) return 'assigns a variable';
  if (effects.accesses.some((access) => access.kind !== 'read')) return 'writes memory';
  if (effects.accesses.some((access) => access.volatile)) return 'reads volatile memory';
  if (effects.barriers.length + effects.collectives.length > 0) return 'holds a barrier or a collective';
  if (effects.fences.length + effects.atomics.length > 0) return 'holds a fence or an atomic';
  if (effects.visible.length > 0) return 'has a visible effect';
  if (effects.asm.length > 0) return 'holds inline asm';
  if (effects.exits.length > 0) return 'may leave the function';
  return null;
}

export function safeEarly(context: TransformContext, branch: Branch, loop: Loop, evaluated: readonly Expr[], underGuard: boolean): { readonly obligation: Obligation; readonly guard: Guard | null } {
  const id = 'condition-safe-early';
  const { facts } = context;
  const line = lineOf(context, branch.stmt);
  const fault = evaluated.flatMap((expr) => facts.effects(expr).faults)[0] ?? evaluated.map((expr) => unsetIn(facts, expr)).find((ref) => ref !== null) ?? undefined;
  if (fault === undefined) {
    const overflow = evaluated.map((expr) => mayOverflow(expr, facts)).find((found) => found !== null) ?? null;
    if (overflow === null || entryOf(facts, loop).kind === 'certain') return { obligation: proved(id, line, 'evaluating the condition cannot fault'), guard: null };
    return { obligation: assumed(id, 'index-range', line, `evaluating the condition cannot fault; ${excerpt(context.unit.source, overflow)} is taken not to overflow where the loop does not run either`), guard: null };
  }
  const what = `${excerpt(context.unit.source, fault)} ${fault.kind === 'ref' ? 'may have no value yet' : 'may fault'}`;
  const remedy = 'evaluate the condition into a variable in front of the loop, under a test that makes it safe';
  const obstacle = notReachedFirst(context, branch.stmt, loop);
  if (obstacle !== null) {
    return { obligation: refuted(id, lineOf(context, obstacle), `${what}, and ${excerpt(context.unit.source, obstacle)} may keep the first iteration from reaching it`, remedy), guard: null };
  }
  const entry = entryOf(facts, loop);
  switch (entry.kind) {
    case 'certain':
      return { obligation: proved(id, line, `${what}, but the first iteration evaluates it too: ${entry.why}`), guard: null };
    case 'unknown':
      return { obligation: refuted(id, line, `${what}, and the loop may not be entered: ${entry.why}`, remedy), guard: null };
    case 'tested': {
      const impure = entry.exprs.map((expr) => impurity(facts.effects(expr))).find((found) => found !== null);
      if (impure !== undefined) return { obligation: refuted(id, line, `${what}, and the loop's own test ${impure ?? ''}`, remedy), guard: null };
      if (branch.kind === 'switch') return { obligation: refuted(id, line, `${what}, and the loop may not be entered`, remedy), guard: null };
      const text = underGuard ? 'the tests of the inner loop are' : 'it is';
      return { obligation: proved(id, line, `${what}, so ${text} evaluated only if the loop is entered (${entry.text})`), guard: { text: entry.text, exprs: entry.exprs, loop } };
    }
    default: {
      const never: never = entry;
      return never;
    }
  }
}

/** A signed sum, difference or product that the ranges of its operands do not keep in its type; null if there is none. */
function mayOverflow(expr: Expr, facts: FunctionFacts): Expr | null {
  let found: Expr | null = null;
  walk(expr, (node) => {
    if (found !== null || isStmt(node)) return false;
    if (node.kind !== 'binary' || (node.op !== '+' && node.op !== '-' && node.op !== '*') || node.type.kind !== 'int' || !node.type.signed) return true;
    const a = facts.range(node.left);
    const b = facts.range(node.right);
    const limit = 1n << BigInt(node.type.bits - 1);
    const bounds = a.low === null || a.high === null || b.low === null || b.high === null ? null
      : node.op === '+' ? [a.low + b.low, a.high + b.high] : node.op === '-' ? [a.low - b.high, a.high - b.low] : [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
    if (bounds === null || bounds.some((bound) => bound >= limit || bound < -limit)) found = node;
    return found === null;
  });
  return found;
}

/** A statement of the first iteration that may keep it from reaching the branch; null if every path gets there. */
function notReachedFirst(context: TransformContext, branch: Stmt, loop: Loop): Stmt | null {
  const { facts } = context;
  let below: Stmt = branch;
  for (let at = facts.parent(branch); at !== null && below !== loop; at = facts.parent(at)) {
    if (!isStmt(at)) return below;
    if (at.kind === 'compound') {
      for (const earlier of at.body) {
        if (earlier === below) break;
        const effects = facts.effects(earlier);
        if (effects.exits.length + effects.visible.length + effects.unknownCalls.length + effects.asm.length + effects.opaque.length > 0) return earlier;
      }
    } else if (at !== loop && at.kind !== 'for' && at.kind !== 'while' && at.kind !== 'do' && at.kind !== 'range-for') {
      return at;
    } else if (at !== loop && entryOf(facts, at).kind !== 'certain' && entryOf(facts, at).kind !== 'tested') {
      return at;
    }
    below = at;
  }
  return below === loop ? null : below;
}

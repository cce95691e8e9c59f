/**
 * A loop's entry test, restated in front of the loop: what its test says when the loop is reached, with the counters' first values
 * put in. A condition that may fault is evaluated early only under this test.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import type { FunctionFacts, Loop, Variable } from '../../src/analysis/facts.js';
import { fits, integer, operate } from '../../src/cuda/integers.js';
import type { Expr, RefExpr, Type } from '../../src/syntax/tree.js';
import { sameType } from '../lib/equality.js';
import { provenanceOf } from '../lib/guards/named-constants.js';
import { commaList, conjunctsOf, describeLoop, variableOf } from '../lib/loops.js';
import { BINDING, bindingOf, grouped } from '../lib/operands.js';
import { copyText, type Replacement } from '../lib/text.js';

export type Entry =
  /** The first iteration surely runs. */
  | { readonly kind: 'certain'; readonly why: string }
  /** It runs exactly if `text` holds; `exprs` are what the text is made of. */
  | { readonly kind: 'tested'; readonly text: string; readonly exprs: readonly Expr[] }
  | { readonly kind: 'unknown'; readonly why: string };

/** What decides whether the loop is entered. */
export function entryOf(facts: FunctionFacts, loop: Loop): Entry {
  if (loop.kind === 'do') return { kind: 'certain', why: 'a do loop runs at least once' };
  if (loop.kind === 'range-for') return { kind: 'unknown', why: 'the range may be empty' };
  if (loop.conditionDecl !== null) return { kind: 'unknown', why: 'the test declares a variable' };
  const test = loop.condition;
  if (test === null) return { kind: 'certain', why: 'the loop has no test of its own' };
  if (facts.constant(test) !== null && facts.constant(test) !== 0n) return { kind: 'certain', why: 'the test is constant' };
  if (surelyEntered(facts, loop)) return { kind: 'certain', why: 'the counter starts inside its bound' };

  const values = loop.kind === 'for' ? firstValues(loop) : new Map<Variable, Expr>();
  if (values === null) return { kind: 'unknown', why: 'the values on entry cannot be restated in front of the loop' };
  // What surely holds on entry need not be asked there.
  const asked = conjunctsOf(test).filter((conjunct) => !surelyHolds(facts, conjunct, values));
  if (asked.length === 0) return { kind: 'certain', why: 'the counter starts inside its bound' };
  return restated(facts, asked.length === conjunctsOf(test).length ? [test] : asked, values);
}

/** The tests with the values that the counters have on entry. */
function restated(facts: FunctionFacts, tests: readonly Expr[], values: ReadonlyMap<Variable, Expr>): Entry {
  const entries = tests.map((test) => restatedTest(facts, test, values));
  const failed = entries.find((entry) => entry.kind !== 'tested');
  if (failed !== undefined) return failed;
  const tested = entries.filter((entry) => entry.kind === 'tested');
  return { kind: 'tested', text: tested.map(({ text }) => text).join(' && '), exprs: tested.flatMap(({ exprs }) => exprs) };
}

/** Both sides are known on entry, whatever build or instance this is, and the comparison holds of them. */
function surelyHolds(facts: FunctionFacts, test: Expr, values: ReadonlyMap<Variable, Expr>): boolean {
  const inner = strip(test);
  if (inner.kind !== 'binary' || !isComparison(inner.op)) return false;
  const { op } = inner;
  const [left, right] = [inner.left, inner.right].map((side) => {
    const use = strip(side);
    const start = use.kind === 'ref' && use.decl !== null && (use.decl.kind === 'variable' || use.decl.kind === 'parameter') ? values.get(use.decl) : undefined;
    const { type } = side;
    const found = type.kind === 'int' ? possibleValues(facts, start ?? side) : null;
    return found === null || type.kind !== 'int' || !found.every((value) => fits(value, type)) ? null : found.map((value) => integer(value, type));
  });
  return left !== null && left !== undefined && right !== null && right !== undefined && left.every((a) => right.every((b) => operate(op, a, b).value === 1n));
}

type ComparisonOperator = '<' | '<=' | '>' | '>=' | '!=' | '==';

function isComparison(op: string): op is ComparisonOperator {
  return ['<', '<=', '>', '>=', '!=', '=='].includes(op);
}

/** All values that a constant may have in this build and others: of a choice those of both arms. Null if there may be more. */
function possibleValues(facts: FunctionFacts, expr: Expr): readonly bigint[] | null {
  const inner = strip(expr);
  if (provenanceOf(inner, facts.unit, facts.program) !== 'open') {
    const value = facts.constant(inner);
    return value === null ? null : [value];
  }
  if (inner.kind === 'conditional') {
    const [a, b] = [possibleValues(facts, inner.then), possibleValues(facts, inner.else)];
    return a === null || b === null ? null : [...a, ...b];
  }
  const decl = inner.kind === 'ref' ? inner.decl : null;
  // An initialiser that names its own variable is no constant.
  return decl?.kind === 'variable' && decl.constexpr && decl.init !== null && decl.init.span.end <= expr.span.start ? possibleValues(facts, decl.init) : null;
}

function restatedTest(facts: FunctionFacts, test: Expr, values: ReadonlyMap<Variable, Expr>): Entry {
  const uses = usesOf(test, values);
  const { source } = facts.unit;
  const rest = partsWithout(test, uses);
  if (rest === null) return { kind: 'unknown', why: 'the test uses the counter as more than an operand of arithmetic' };
  const replacements: Replacement[] = [];
  const exprs: Expr[] = [...rest];
  for (const use of uses) {
    const value = values.get(variableIn(use));
    if (value === undefined) continue;
    const cast = sameMeaning(facts, value, use, test) ? '' : conversion(value.type, use.type);
    if (cast === null) return { kind: 'unknown', why: `the type of ${use.name} or of its first value is not a known integer type` };
    if (facts.effects(value).assigns.size > 0) return { kind: 'unknown', why: `the first value of ${use.name} has effects` };
    const other = cast === '' ? besideZero(facts, value, use) : null;
    if (other !== null) {
      replacements.push(other);
      continue;
    }
    const text = source.text.slice(value.span.start, value.span.end);
    const whole = grouped(text, value, BINDING.closed);
    replacements.push({ span: use.span, text: `${cast}${whole}` });
    exprs.push(value);
  }
  for (const [variable, value] of values) {
    for (const other of values.values()) if (other !== value && usesVariable(other, variable)) return { kind: 'unknown', why: 'one first value depends on another' };
  }
  const text = copyText(source, test.span, { from: '', to: '' }, replacements);
  return { kind: 'tested', text: needsParentheses(test) ? `(${text})` : text, exprs };
}

/** `0 + x` is `x` where that is of the same type: what goes is the zero, the operator, and parentheses around both. */
function besideZero(facts: FunctionFacts, value: Expr, use: RefExpr): Replacement | null {
  const sum = facts.parent(use);
  if (strip(value).kind !== 'literal' || facts.constant(value) !== 0n || sum === null || isStmt(sum) || sum.kind !== 'binary' || sum.op !== '+') return null;
  const other = sum.left === use ? sum.right : sum.left;
  if (bindingOf(other) < BINDING.closed || !sameType(other.type, sum.type)) return null;
  const around = facts.parent(sum);
  const whole = around !== null && !isStmt(around) && around.kind === 'paren' ? around : sum;
  return { span: whole.span, text: facts.unit.source.text.slice(other.span.start, other.span.end) };
}

/** The test holds of the value that the counter is given, each converted as C++ converts it. */
function surelyEntered(facts: FunctionFacts, loop: Loop): boolean {
  const count = describeLoop(facts, loop);
  if (!count.simple || count.start === null || count.otherTests.length > 0) return false;
  const { type } = count.bound;
  const start = facts.constant(count.start);
  const bound = facts.constant(count.bound);
  if (start === null || bound === null || type.kind !== 'int' || (count.start.type.kind !== 'int' && count.start.type.kind !== 'bool')) return false;
  return operate(count.comparison, integer(start, count.counterType), integer(bound, type)).value === 1n;
}

/** Variables that the head of a `for` gives a value, with it; null if the head does something else. */
function firstValues(loop: Extract<Loop, { kind: 'for' }>): ReadonlyMap<Variable, Expr> | null {
  const values = new Map<Variable, Expr>();
  if (loop.init.kind === 'declare') {
    for (const variable of loop.init.variables) {
      if (variable.init === null || variable.opaqueInit || variable.initStyle !== 'equals') return null;
      values.set(variable, variable.init);
    }
  } else if (loop.init.kind === 'expression') {
    for (const part of commaList(loop.init.expression)) {
      const target = part.kind === 'assign' && part.op === null ? variableOf(part.target) : null;
      if (part.kind !== 'assign' || target === null || values.has(target)) return null;
      values.set(target, part.value);
    }
  }
  return values;
}

function usesOf(test: Expr, values: ReadonlyMap<Variable, Expr>): readonly RefExpr[] {
  const result: RefExpr[] = [];
  walk(test, (node) => {
    if (!isStmt(node) && node.kind === 'ref' && node.decl !== null && (node.decl.kind === 'variable' || node.decl.kind === 'parameter') && values.has(node.decl)) result.push(node);
    return true;
  });
  return result;
}

/**
 * The largest parts of a test that hold none of the uses. Null if what joins them is more than arithmetic and comparison: then the
 * test with values put in could do what its parts do not (load, fault, call).
 */
function partsWithout(test: Expr, uses: readonly RefExpr[]): readonly Expr[] | null {
  const within = (expr: Expr): boolean => uses.some((use) => use.span.start >= expr.span.start && use.span.end <= expr.span.end);
  const parts: Expr[] = [];
  const visit = (expr: Expr): boolean => {
    if (uses.some((use) => use === expr)) return true;
    if (!within(expr)) {
      parts.push(expr);
      return true;
    }
    switch (expr.kind) {
      case 'paren': return visit(expr.inner);
      case 'unary': return expr.op !== '*' && expr.op !== '&' && visit(expr.operand);
      case 'cast': return visit(expr.operand);
      case 'binary': return expr.op !== '/' && expr.op !== '%' && expr.op !== '<<' && expr.op !== '>>' && visit(expr.left) && visit(expr.right);
      default: return false;
    }
  };
  return visit(test) ? parts : null;
}

function variableIn(use: RefExpr): Variable {
  if (use.decl === null || (use.decl.kind !== 'variable' && use.decl.kind !== 'parameter')) throw new Error(`internal: ${use.name} is not a variable`);
  return use.decl;
}

function usesVariable(expr: Expr, variable: Variable): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === 'ref' && node.decl === variable) found = true;
    return !found;
  });
  return found;
}

/**
 * The value may stand in the test in place of the variable: they have one type, or the value is a small literal that a comparison
 * converts like the variable.
 */
function sameMeaning(facts: FunctionFacts, value: Expr, use: RefExpr, test: Expr): boolean {
  const variable = use.type;
  if (sameType(value.type, variable)) return true;
  const constant = facts.constant(value);
  if (constant === null || constant < 0n || constant > 0x7fffffffn || variable.kind !== 'int' || value.type.kind !== 'int' || !fits(constant, variable)) return false;
  const partner = partnerOf(test, use);
  return partner !== null && sameType(partner, variable);
}

const INT_NAMES: Readonly<Record<number, readonly [string, string]>> = {
  8: ['signed char', 'unsigned char'], 16: ['short', 'unsigned short'], 32: ['int', 'unsigned'], 64: ['long long', 'unsigned long long'],
};

/** The cast that storing a value in a variable stands for; null if the types are not known integers. */
function conversion(from: Type, to: Type): string | null {
  if (from.kind !== 'int' || to.kind !== 'int') return null;
  const name = INT_NAMES[to.bits]?.[to.signed ? 0 : 1];
  return name === undefined ? null : `(${name})`;
}

/** Type of what the use is compared with, if it stands directly in a comparison. */
function partnerOf(test: Expr, use: RefExpr): Type | null {
  let result: Type | null = null;
  walk(test, (node) => {
    if (node.kind === 'binary' && (node.op === '<' || node.op === '<=' || node.op === '>' || node.op === '>=' || node.op === '!=')) {
      if (node.left === use) result = node.right.type;
      else if (node.right === use) result = node.left.type;
    }
    return result === null;
  });
  return result;
}

/** True if the text binds less tightly than `&&`, on either side of it. */
export function needsParentheses(expr: Expr): boolean {
  return bindingOf(expr) < BINDING.and;
}

/**
 * How a loop counts. `describeLoop` recognises one counter that the loop's test compares with a bound and that one update per
 * iteration changes, in the forms that people write: `for`, `while` with the update last, `do`, counters declared outside, several
 * updates, inclusive and swapped comparisons, conjunctions, `i = i + s`, steps by `*`, `/`, `<<`, `>>`.
 *
 * Anything else is *not simple*, with the reason: a counter that the body changes too, an address of it, an update that `continue`
 * passes by, a test with effects (`while (n--)`). Nothing is said about overflow; that is for whoever uses the description.
 */
import { isStmt, strip, walk, type Node } from '../../src/analysis/children.js';
import type { Fact, FunctionFacts, Loop, Variable } from '../../src/analysis/facts.js';
import type { AssignExpr, Expr, ExprStmt, IntType, Stmt, UpdateExpr } from '../../src/syntax/tree.js';

export type Comparison = '<' | '<=' | '>' | '>=' | '!=';

export interface Step {
  /** `add`: the counter grows by `amount` times `sign`; others as named, `sign` is 1. */
  readonly kind: 'add' | 'multiply' | 'divide' | 'shift-left' | 'shift-right';
  readonly sign: 1 | -1;
  /** Null for `++` and `--`: one. */
  readonly amount: Expr | null;
  /** `amount` as a constant, if it has one. */
  readonly constant: bigint | null;
  /** The expression that updates the counter. */
  readonly node: UpdateExpr | AssignExpr;
  /** The statement that holds it, if it stands at the end of the body and not in the head. */
  readonly statement: ExprStmt | null;
}

export interface Induction {
  readonly simple: true;
  readonly loop: Loop;
  readonly counter: Variable;
  readonly counterType: IntType;
  /** True if the head of the `for` declares the counter, so that it ends with the loop. */
  readonly declaredInHead: boolean;
  /** The value on entry, as the head's initialiser or assignment gives it; null if it comes from before the loop. */
  readonly start: Expr | null;
  /** The counter stands on the left: `n > i` is given as `<`. */
  readonly comparison: Comparison;
  readonly bound: Expr;
  /** The comparison itself, one conjunct of the loop's test. */
  readonly test: Expr;
  /** Other conjuncts of the test, in order. `testFirst` tells whether the comparison is the first one. */
  readonly otherTests: readonly Expr[];
  readonly testFirst: boolean;
  readonly step: Step;
  /** Other updates in the head of a `for`, in order. */
  readonly otherUpdates: readonly Expr[];
  /** False for `do`: the first iteration runs untested. */
  readonly testedOnEntry: boolean;
  readonly boundInvariant: Fact<boolean>;
  readonly stepInvariant: Fact<boolean> | null;
}

export interface NotSimple {
  readonly simple: false;
  readonly loop: Loop;
  readonly reason: string;
  readonly line: number;
}

const FLIPPED: Readonly<Record<string, Comparison>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '!=': '!=' };

const described = new WeakMap<FunctionFacts, Map<Loop, Induction | NotSimple>>();

/** How the loop counts, or why that is not known. Cached. */
export function describeLoop(facts: FunctionFacts, loop: Loop): Induction | NotSimple {
  let known = described.get(facts);
  if (known === undefined) described.set(facts, known = new Map());
  let result = known.get(loop);
  if (result === undefined) known.set(loop, result = describe(facts, loop));
  return result;
}

function describe(facts: FunctionFacts, loop: Loop): Induction | NotSimple {
  const no = (reason: string, node: Node = loop): NotSimple => ({ simple: false, loop, reason, line: facts.unit.source.line(node.span.start) });
  if (loop.kind === 'range-for') return no('a loop over a range has no counter');
  if (loop.kind !== 'do' && loop.conditionDecl !== null) return no('the test declares a variable');
  if (loop.condition === null) return no('the loop has no test of its own');

  const conjuncts = conjunctsOf(loop.condition);
  const updates = loop.kind === 'for' && loop.step !== null ? commaList(loop.step) : [];
  const trailing = trailingUpdate(loop);
  let failure: NotSimple | null = null;
  for (const [index, conjunct] of conjuncts.entries()) {
    for (const candidate of comparisonsIn(conjunct)) {
      const inHead = updates.find((update) => updatedVariable(update) === candidate.counter);
      const inBody = inHead === undefined && trailing !== null && updatedVariable(trailing.expression) === candidate.counter ? trailing : null;
      const node = inHead ?? inBody?.expression;
      if (node === undefined) {
        failure ??= no(`${candidate.counter.name} is not updated in the head or at the end of the body`);
        continue;
      }
      const step = stepOf(facts, node, candidate.counter, inBody);
      if (step === null) {
        failure = no(`the step of ${candidate.counter.name} is not of a known form`, node);
        continue;
      }
      const { counter } = candidate;
      if (counter.type.kind !== 'int') {
        failure = no(`the type of ${counter.name} is not a known integer type`);
        continue;
      }
      if (facts.addressTaken(counter)) {
        failure = no(`the address of ${counter.name} is taken`);
        continue;
      }
      if (counter.kind === 'variable' && (counter.space !== 'local' || counter.storage === 'static' || counter.type.volatile === true)) {
        failure = no(`${counter.name} is memory, not a variable of the thread`);
        continue;
      }
      const start = startOf(loop, counter);
      const others = facts.assignments(counter, loop).filter((definition) => !isOwn(definition, step, start.node, counter));
      const other = others[0];
      if (other !== undefined) {
        failure = no(`${counter.name} is changed at another place too`, 'node' in other ? other.node : loop);
        continue;
      }
      if (inBody !== null && hasContinue(loop.body)) {
        failure = no(`a continue passes by the update of ${counter.name}`);
        continue;
      }
      const amount = step.amount;
      return {
        simple: true, loop, counter, counterType: counter.type,
        declaredInHead: start.declared, start: start.value,
        comparison: candidate.comparison, bound: candidate.bound, test: conjunct,
        otherTests: conjuncts.filter((c) => c !== conjunct), testFirst: index === 0,
        step, otherUpdates: updates.filter((update) => update !== inHead),
        testedOnEntry: loop.kind !== 'do',
        boundInvariant: facts.invariant(candidate.bound, loop),
        stepInvariant: amount === null ? null : facts.invariant(amount, loop),
      };
    }
  }
  return failure ?? no('the test does not compare a counter with a bound', loop.condition);
}

/** Conjuncts of `a && b && c`, left to right, parentheses looked through; macro invocations are kept whole. */
export function conjunctsOf(expr: Expr): readonly Expr[] {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.inner;
  if (inner.kind === 'binary' && inner.op === '&&') return [...conjunctsOf(inner.left), ...conjunctsOf(inner.right)];
  return [expr];
}

/** Parts of `a, b, c`. */
export function commaList(expr: Expr): readonly Expr[] {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.inner;
  if (inner.kind === 'binary' && inner.op === ',') return [...commaList(inner.left), ...commaList(inner.right)];
  return [inner];
}

interface Candidate {
  readonly counter: Variable;
  readonly comparison: Comparison;
  readonly bound: Expr;
}

/** Readings of a conjunct as a comparison of a variable with something: `a < b` may count by `a` or by `b`. */
function comparisonsIn(conjunct: Expr): readonly Candidate[] {
  const test = strip(conjunct);
  if (test.kind !== 'binary') return [];
  const flipped = FLIPPED[test.op];
  if (flipped === undefined) return [];
  const result: Candidate[] = [];
  const left = variableOf(test.left);
  const right = variableOf(test.right);
  const back = FLIPPED[flipped];
  if (left !== null && back !== undefined) result.push({ counter: left, comparison: back, bound: test.right });
  if (right !== null) result.push({ counter: right, comparison: flipped, bound: test.left });
  return result;
}

/** The variable that an expression is, parentheses aside. */
export function variableOf(expr: Expr): Variable | null {
  const e = strip(expr);
  if (e.kind !== 'ref' || e.decl === null) return null;
  return e.decl.kind === 'variable' || e.decl.kind === 'parameter' ? e.decl : null;
}

function updatedVariable(expr: Expr): Variable | null {
  if (expr.kind === 'update' || expr.kind === 'assign') return variableOf(expr.target);
  return null;
}

/** The last statement of the body, if it updates something. */
function trailingUpdate(loop: Loop): ExprStmt | null {
  if (loop.body.kind !== 'compound') return null;
  const last = loop.body.body.at(-1);
  if (last === undefined || last.kind !== 'expression') return null;
  return last.expression.kind === 'update' || last.expression.kind === 'assign' ? last : null;
}

function stepOf(facts: FunctionFacts, node: Expr, counter: Variable, statement: ExprStmt | null): Step | null {
  if (node.kind === 'update') return { kind: 'add', sign: node.op === '++' ? 1 : -1, amount: null, constant: 1n, node, statement };
  if (node.kind !== 'assign') return null;
  const make = (op: string, amount: Expr): Step | null => {
    const constant = facts.constant(amount);
    switch (op) {
      case '+': return { kind: 'add', sign: 1, amount, constant, node, statement };
      case '-': return { kind: 'add', sign: -1, amount, constant, node, statement };
      case '*': return { kind: 'multiply', sign: 1, amount, constant, node, statement };
      case '/': return { kind: 'divide', sign: 1, amount, constant, node, statement };
      case '<<': return { kind: 'shift-left', sign: 1, amount, constant, node, statement };
      case '>>': return { kind: 'shift-right', sign: 1, amount, constant, node, statement };
      default: return null;
    }
  };
  if (mentions(node.value, counter) !== (node.op === null)) return null;
  if (node.op !== null) return make(node.op, node.value);
  const value = strip(node.value);
  if (value.kind !== 'binary') return null;
  if (variableOf(value.left) === counter && !mentions(value.right, counter)) return make(value.op, value.right);
  if ((value.op === '+' || value.op === '*') && variableOf(value.right) === counter && !mentions(value.left, counter)) return make(value.op, value.left);
  return null;
}

/** True if the expression names the variable. */
export function mentions(expr: Node, variable: Variable): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === 'ref' && node.decl === variable) found = true;
    return !found;
  });
  return found;
}

interface Start {
  readonly declared: boolean;
  readonly value: Expr | null;
  readonly node: Expr | null;
}

function startOf(loop: Loop, counter: Variable): Start {
  if (loop.kind === 'for') {
    if (loop.init.kind === 'declare') {
      const own = loop.init.variables.find((variable) => variable === counter);
      if (own !== undefined) return { declared: true, value: own.init, node: null };
    } else if (loop.init.kind === 'expression') {
      for (const part of commaList(loop.init.expression)) {
        if (part.kind === 'assign' && part.op === null && variableOf(part.target) === counter) return { declared: false, value: part.value, node: part };
      }
    }
  }
  return { declared: false, value: null, node: null };
}

function isOwn(definition: ReturnType<FunctionFacts['assignments']>[number], step: Step, start: Expr | null, counter: Variable): boolean {
  switch (definition.kind) {
    case 'declaration': return definition.decl === counter;
    case 'parameter': return true;
    case 'assignment': return definition.node === step.node || definition.node === start;
    case 'unknown': return false;
    default: {
      const never: never = definition;
      return never;
    }
  }
}

/** True if a `continue` of this loop stands in its body. */
export function hasContinue(body: Stmt): boolean {
  return jumpsOf(body).some((jump) => jump.kind === 'continue');
}

/** `break`, `continue` and `return` in a loop's body that act on this loop or leave it; those of inner loops and lambdas left out. */
export function jumpsOf(body: Stmt): readonly Stmt[] {
  const result: Stmt[] = [];
  const visit = (node: Node, inLoop: boolean, inSwitch: boolean): void => {
    if (node.kind === 'lambda') return;
    if (!isStmt(node)) return;
    switch (node.kind) {
      case 'break': if (!inLoop && !inSwitch) result.push(node); return;
      case 'continue': if (!inLoop) result.push(node); return;
      case 'return': case 'goto': result.push(node); return;
      case 'for': case 'while': case 'do': case 'range-for': visit(node.body, true, false); return;
      case 'switch': for (const arm of node.arms) for (const statement of arm.body) visit(statement, inLoop, true); return;
      case 'if': visit(node.then, inLoop, inSwitch); if (node.else !== null) visit(node.else, inLoop, inSwitch); return;
      case 'compound': for (const statement of node.body) visit(statement, inLoop, inSwitch); return;
      case 'label': visit(node.body, inLoop, inSwitch); return;
      case 'preprocessor': for (const arm of node.arms) for (const statement of arm.body) visit(statement, inLoop, inSwitch); return;
      case 'macro-statement': visit(node.expanded, inLoop, inSwitch); return;
      case 'declare': case 'expression': case 'empty': case 'asm': case 'opaque': return;
      default: {
        const never: never = node;
        return never;
      }
    }
  };
  visit(body, false, false);
  return result;
}

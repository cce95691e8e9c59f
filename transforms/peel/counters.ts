/**
 * What a loop counts by, as far as peel needs it: which variables it changes, in which direction, and whether a guard sees the value
 * that the variable has when the loop's test is taken.
 *
 * The decided run tests the counter in every iteration, so a step need not be constant nor a start known. Only a run that relies on
 * "once past the edge, always past it" needs a counter that moves one way and does not wrap around.
 */
import type { Node } from '../../src/analysis/children.js';
import type { Definition, FunctionFacts, Loop, Variable } from '../../src/analysis/facts.js';
import { maximum, type IntegerType } from '../../src/cuda/integers.js';
import type { Expr, Stmt } from '../../src/syntax/tree.js';
import { commaList, mentions, variableOf } from '../lib/loops.js';
import { isPlainNumber } from '../lib/guards/differences.js';
import { passingOf } from '../lib/guards/ends.js';
import { integerType, isThreadsOwn, Reader } from '../lib/guards/reading.js';
import { provenanceOf } from '../lib/guards/named-constants.js';
import { interval } from '../lib/guards/polynomial.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';

export interface Counter {
  readonly variable: Variable;
  /** 1 up, -1 down, 0 not known. */
  readonly direction: 1 | -1 | 0;
  /** At least zero whenever the loop's test is taken. */
  readonly nonNegative: boolean;
  /** It moves one way and does not pass the end of its type on the way. */
  readonly monotone: boolean;
  /** It moves up and does not pass the end of its type; `round` if it may start as a difference below zero in a type that shows it far above. */
  readonly rises: 'no' | 'round' | 'yes';
  /** The head of the loop tests or steps it. */
  readonly inHead: boolean;
  /** It starts at least at zero, or moves as it does, only if sums of block and thread numbers, and what rises by them, do not wrap around. */
  readonly assumed: boolean;
  /** Where the loop changes it. */
  readonly updates: readonly Expr[];
  /** Its value on entry, if the head of a `for` gives it, or a statement in front of the loop. */
  readonly start: Expr | null;
  /** What its direction and its sign rest on of constants that other builds may give other values. */
  readonly stated: readonly string[];
}

/** Variables that the loop itself (not a loop inside it) counts by. */
export function countersOf(facts: FunctionFacts, loop: PeelableLoop): readonly Counter[] {
  const result: Counter[] = [];
  const seen = new Set<Variable>();
  for (const node of updatesIn(loop)) {
    const variable = variableOf(node.target);
    if (variable === null || seen.has(variable)) continue;
    seen.add(variable);
    const counter = counterOf(facts, loop, variable);
    if (counter !== null) result.push(counter);
  }
  return result;
}

/** Assignments and increments that stand in the step, or in a statement of the body that is not inside another loop. */
function updatesIn(loop: PeelableLoop): readonly (Extract<Expr, { kind: 'update' | 'assign' }>)[] {
  const result: Extract<Expr, { kind: 'update' | 'assign' }>[] = [];
  if (loop.kind === 'for' && loop.step !== null) for (const part of commaList(loop.step)) if (part.kind === 'update' || part.kind === 'assign') result.push(part);
  const statements = loop.body.kind === 'compound' ? loop.body.body : [loop.body];
  for (const statement of statements) {
    if (statement.kind !== 'expression') continue;
    for (const part of commaList(statement.expression)) if (part.kind === 'update' || part.kind === 'assign') result.push(part);
  }
  return result;
}

function counterOf(facts: FunctionFacts, loop: PeelableLoop, variable: Variable): Counter | null {
  const type = integerType(variable.type);
  if (type === null || type.bits < 32 || !isThreadsOwn(variable) || facts.addressTaken(variable)) return null;
  // A variable of the body is made anew in every iteration, and the head cannot name it.
  if (loop.body.span.start <= variable.span.start && variable.span.end <= loop.body.span.end) return null;
  const head = headOf(facts, loop, variable);
  const updates: Expr[] = [];
  let direction: 1 | -1 | 0 | null = null;
  const granted: Granted = { used: false, stated: new Set() };
  for (const definition of facts.assignments(variable, loop)) {
    if (definition.kind === 'unknown') return null;
    if (definition.kind !== 'assignment' || definition.node === head.node) continue;
    updates.push(definition.node);
    // Halving and doubling strides are the business of reductions.
    if (scales(definition.node)) return null;
    const one = movesBy(facts, loop, definition.node, variable, granted);
    direction = direction === null || direction === one ? one : 0;
  }
  if (direction === null) return null;
  const passing = direction === 0 ? 'may' : passingOf(facts, loop, variable, updates, direction);
  granted.used ||= passing === 'index';
  const nonNegative = !type.signed || (direction === 1 && passing !== 'may' && startsNonNegative(facts, loop, variable, head, granted));
  return {
    variable, direction, updates, stated: [...granted.stated], start: head.value, assumed: granted.used, nonNegative, monotone: passing !== 'may',
    rises: direction !== 1 || passing === 'may' ? 'no' : startsPlain(facts, variable, head, type) ? 'yes' : 'round',
    inHead: (loop.condition !== null && mentions(loop.condition, variable)) || (loop.kind === 'for' && loop.step !== null && mentions(loop.step, variable)),
  };
}

function scales(node: Expr): boolean {
  return node.kind === 'assign' && (node.op === '*' || node.op === '/' || node.op === '<<' || node.op === '>>' || (node.op === null && scalesBy(node.value)));
}

function scalesBy(value: Expr): boolean {
  let inner = value;
  while (inner.kind === 'paren') inner = inner.inner;
  return inner.kind === 'binary' && ['*', '/', '<<', '>>', '%', '&'].includes(inner.op);
}

interface Head { readonly value: Expr | null; readonly node: Expr | null }

function headOf(facts: FunctionFacts, loop: PeelableLoop, variable: Variable): Head {
  if (loop.kind !== 'for') return { value: setInFront(facts, loop, variable), node: null };
  if (loop.init.kind === 'declare') {
    const own = loop.init.variables.find((other) => other === variable);
    return { value: own?.init ?? null, node: null };
  }
  if (loop.init.kind === 'expression') {
    for (const part of commaList(loop.init.expression)) {
      if (part.kind === 'assign' && part.op === null && variableOf(part.target) === variable) return { value: part.value, node: part };
    }
  }
  return { value: setInFront(facts, loop, variable), node: null };
}

/** What the last statement in front of the loop that touches the variable sets it to, where nothing that this names changes up to the loop; null if there is no such statement. */
function setInFront(facts: FunctionFacts, loop: PeelableLoop, variable: Variable): Expr | null {
  const parent = facts.parent(loop);
  if (parent === null || parent.kind !== 'compound') return null;
  const changed = new Set<Variable>();
  for (let at = parent.body.indexOf(loop) - 1; at >= 0; at--) {
    const statement = parent.body[at];
    if (statement === undefined || statement.kind === 'label' || statement.kind === 'opaque' || statement.kind === 'preprocessor') return null;
    const set = valueSet(statement, variable);
    if (set !== null) return [...changed].some((other) => mentions(set, other)) ? null : set;
    for (const assigned of facts.effects(statement).assigns) changed.add(assigned);
    if (changed.has(variable) || (statement.kind === 'declare' && statement.variables.some((other) => other === variable))) return null;
  }
  return null;
}

/** `v = x;`, or `T v = x;` where nothing else is declared; null for all else. */
function valueSet(statement: Stmt, variable: Variable): Expr | null {
  if (statement.kind === 'declare') {
    const [only, more] = statement.variables;
    return only === variable && more === undefined && only.kind === 'variable' && !only.opaqueInit && only.storage === 'automatic' ? only.init : null;
  }
  if (statement.kind !== 'expression') return null;
  const { expression } = statement;
  return expression.kind === 'assign' && expression.op === null && variableOf(expression.target) === variable && !mentions(expression.value, variable) ? expression.value : null;
}

/** What the answers rest on. */
interface Granted {
  /** The grant `index-range` was needed. */
  used: boolean;
  /** What readings say of constants that another build may define otherwise. */
  readonly stated: Set<string>;
}

/** Which way an update moves the variable: by at least nothing, in the programmer's integers. */
function movesBy(facts: FunctionFacts, loop: Loop, node: Expr, variable: Variable, granted: Granted): 1 | -1 | 0 {
  if (node.kind === 'update') return node.op === '++' ? 1 : -1;
  if (node.kind !== 'assign') return 0;
  const signed = (amount: Expr): 1 | 0 => (isNonNegative(facts, loop, amount, variable, granted) ? 1 : 0);
  if (node.op === '+') return signed(node.value);
  if (node.op === '-') return signed(node.value) === 1 ? -1 : 0;
  if (node.op !== null) return 0;
  let value = node.value;
  while (value.kind === 'paren') value = value.inner;
  if (value.kind !== 'binary' || (value.op !== '+' && value.op !== '-')) return 0;
  if (variableOf(value.left) === variable && !mentions(value.right, variable)) return value.op === '+' ? signed(value.right) : signed(value.right) === 1 ? -1 : 0;
  if (value.op === '+' && variableOf(value.right) === variable && !mentions(value.left, variable)) return signed(value.left);
  return 0;
}

/**
 * At least zero once it is in the variable's type: an unsigned number counts only if it is proved to fit, or is a sum of products of block and thread numbers
 * (`int i = n - 8` starts below zero for a small unsigned n).
 */
function isNonNegative(facts: FunctionFacts, loop: Loop, expr: Expr, variable: Variable, granted: Granted): boolean {
  const type = integerType(variable.type);
  if (type === null) return false;
  // Ranges rest on the values that constants have here.
  const range = provenanceOf(expr, facts.unit, facts.program) === 'open' ? null : facts.range(expr);
  if (range !== null && range.low !== null && range.low >= 0n && range.high !== null && range.high <= maximum(type)) return true;
  const reader = new Reader(facts, loop, null, false);
  const reading = reader.read(expr);
  if (reading === null) return false;
  const exact = reading.exact && !reading.assumed && (reading.needs ?? []).length === 0 && interval(reading.poly).low >= 0n && interval(reading.poly).high <= maximum(type);
  if (!exact && !reader.isSumOfCoordinates(reading.poly, type)) return false;
  granted.used ||= !exact || reader.leansOnIndexRange;
  for (const text of reader.stated) granted.stated.add(text);
  return true;
}

/** Every value it can have on entry is at least zero: the head's, or else all that the function ever gives it. */
function startsNonNegative(facts: FunctionFacts, loop: PeelableLoop, variable: Variable, head: Head, granted: Granted): boolean {
  if (head.value !== null) return isNonNegative(facts, loop, head.value, variable, granted);
  const { body } = facts.function;
  if (body === null || variable.kind === 'parameter') return false;
  return facts.assignments(variable, body).every((definition) => definitionKeepsNonNegative(facts, loop, definition, variable, granted));
}

/** No value that it has on entry is a difference gone round. */
function startsPlain(facts: FunctionFacts, variable: Variable, head: Head, type: IntegerType): boolean {
  if (head.value !== null) return isPlainNumber(facts, head.value, type);
  const { body } = facts.function;
  return variable.kind === 'parameter' || (body !== null && facts.assignments(variable, body).every((definition) => {
    if (definition.kind === 'declaration') return definition.decl.init === null ? !definition.decl.opaqueInit : isPlainNumber(facts, definition.decl.init, type);
    if (definition.kind !== 'assignment') return false;
    const { node } = definition;
    return node.kind === 'update' ? node.op === '++' : node.kind === 'assign' && (node.op === null || node.op === '+') && isPlainNumber(facts, node.value, type, new Set([variable]));
  }));
}

function definitionKeepsNonNegative(facts: FunctionFacts, loop: Loop, definition: Definition, variable: Variable, granted: Granted): boolean {
  switch (definition.kind) {
    case 'parameter': case 'unknown': return false;
    // Without initialiser it has no value until it is assigned.
    case 'declaration': return definition.decl.opaqueInit ? false : definition.decl.init === null || isNonNegative(facts, loop, definition.decl.init, variable, granted);
    case 'assignment': {
      const { node } = definition;
      if (node.kind === 'assign' && node.op === null && !mentions(node.value, variable)) return isNonNegative(facts, loop, node.value, variable, granted);
      if (movesBy(facts, loop, node, variable, granted) !== 1) return false;
      const [inner = loop] = facts.loops(node);
      const passing = passingOf(facts, inner, variable, [node], 1);
      granted.used ||= passing === 'index';
      return passing !== 'may';
    }
    default: {
      const never: never = definition;
      return never;
    }
  }
}

/**
 * True if the guard sees the value that the counter had when the loop's test was taken: all updates come later in the iteration.
 * An update in an inner loop around the guard comes before the guard of that loop's next round.
 */
export function seesHeadValue(facts: FunctionFacts, loop: PeelableLoop, counter: Counter, guard: Node): boolean {
  const around = facts.loops(guard);
  const inner = around.slice(0, around.indexOf(loop));
  return counter.updates.every((update) => {
    if (loop.kind === 'for' && loop.step !== null && update.span.start >= loop.step.span.start && update.span.end <= loop.step.span.end) return true;
    if (update.span.start < guard.span.end) return false;
    return !facts.loops(update).some((at) => inner.includes(at));
  });
}

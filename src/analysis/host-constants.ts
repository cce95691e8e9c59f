/**
 * Constants of host code, as far as launches need them: integers and `dim3` values of launch configurations.
 *
 * A local variable has the values of everything that is assigned to it in its function, without regard to order, except that a plain
 * assignment standing straight in the block of the declaration, before the use, hides what was assigned before it, unless a `goto` leads past it. That finds `int threads = 256;`,
 * `dim3 block; block.x = 32;`, `if (n > 1000) threads = 512;` (two values), and gives up on loops that step a variable.
 *
 * Not handled: parameters of host functions (their callers are not all visible), globals that are not const, and members of objects.
 */
import type { Expr, FunctionDecl, Stmt, TemplateArgument, VariableDecl } from '../syntax/tree.js';
import { isStmt, strip } from './children.js';
import { indexFunction, isAutomatic, type VariableWrite } from './function-index.js';
import { convertAll, evaluate, int, integerType, singleReturn, union, type Resolver, type Values } from './integer-values.js';

/** Values of the dimensions of a `dim3`, each null if not known. */
export interface DimensionValues {
  readonly x: Values | null;
  readonly y: Values | null;
  readonly z: Values | null;
}

const ONE: Values = [int(1)];
const UNKNOWN: DimensionValues = { x: null, y: null, z: null };

/** A place in host code where a value is asked for. */
export interface HostPlace {
  /** The function around it; null at namespace scope. */
  readonly function: FunctionDecl | null;
  readonly offset: number;
  /** Values in this build: defaults of macros that another build may replace count. Else only what every build agrees on. */
  readonly thisBuild?: true;
}

/** Values of an integer expression of host code. */
export function hostValues(expr: Expr, place: HostPlace): Values | null {
  return evaluate(expr, resolverAt(place, new Set()));
}

export function hostTemplateValues(argument: TemplateArgument | undefined, place: HostPlace): Values | null {
  return argument === undefined || argument.kind !== 'value' ? null : hostValues(argument.value, place);
}

/** A launch dimension: `dim3`, anything that converts to one, or an integer (then y and z are 1 whatever its value). */
export function hostDimensions(expr: Expr, place: HostPlace): DimensionValues {
  return dimensions(expr, place, new Set());
}

function resolverAt(place: HostPlace, visiting: ReadonlySet<VariableDecl>): Resolver {
  return Object.assign((leaf: Expr): Values | null => {
    const expr = strip(leaf);
    if (expr.kind === 'member' && (expr.name === 'x' || expr.name === 'y' || expr.name === 'z')) {
      const object = strip(expr.object);
      return isDim3(object) ? dimensions(object, place, visiting)[expr.name] : null;
    }
    if (expr.kind !== 'ref' || expr.decl === null || expr.decl.kind !== 'variable') return null;
    const decl = expr.decl;
    if (visiting.has(decl) || !isAutomatic(decl) || place.function === null || integerType(decl.type) === null && decl.type.kind !== 'unknown') return null;
    const inside = new Set([...visiting, decl]);
    let values: Values | null = [];
    for (const write of writesBefore(decl, place)) {
      if ((write.kind !== 'init' && write.kind !== 'assign') || write.value === null) return null;
      values = union(values, convertAll(evaluate(write.value, resolverAt({ ...place, offset: write.node.span.start }, inside)), decl.type));
      if (values === null) return null;
    }
    return values.length === 0 ? null : values;
  }, { at: (offset: number) => resolverAt({ ...place, offset }, visiting) }, place.thisBuild === true ? {} : { everyBuild: true } as const);
}

/** Without parentheses and macros that mean the same in every build that is asked about. */
function bare(written: Expr, { thisBuild }: HostPlace): Expr {
  let expr = written;
  for (;;) {
    if (expr.kind === 'paren') expr = expr.inner;
    else if (expr.kind === 'macro' && !expr.definition.ambiguous && (thisBuild === true || !expr.definition.replaceable)) expr = expr.expanded;
    else return expr;
  }
}

function isDim3(expr: Expr): boolean {
  const { type } = expr;
  if (type.kind === 'record') return type.decl.name === 'dim3' || type.decl.vector !== null;
  return type.kind === 'unknown' && type.text === 'dim3';
}

function dimensions(written: Expr, place: HostPlace, visiting: ReadonlySet<VariableDecl>): DimensionValues {
  const expr = bare(written, place);
  // Another definition may be no number at all; a default that a build replaces stays one.
  if (expr.kind === 'macro' && expr.definition.ambiguous) return UNKNOWN;
  if (integerType(expr.type) !== null) return { x: evaluate(expr, resolverAt(place, visiting)), y: ONE, z: ONE };
  const component = (argument: Expr | undefined): Values | null => (argument === undefined ? ONE : evaluate(argument, resolverAt(place, visiting)));
  switch (expr.kind) {
    case 'construct': {
      const only = expr.arguments[0];
      if (expr.arguments.length === 1 && only !== undefined && isDim3(bare(only, place))) return dimensions(only, place, visiting);
      return isDim3(expr) && expr.arguments.length <= 3 ? { x: component(expr.arguments[0]), y: component(expr.arguments[1]), z: component(expr.arguments[2]) } : UNKNOWN;
    }
    case 'init-list': return expr.elements.length <= 3 ? { x: component(expr.elements[0]), y: component(expr.elements[1]), z: component(expr.elements[2]) } : UNKNOWN;
    case 'cast': return dimensions(expr.operand, place, visiting);
    case 'conditional': return joinDimensions(dimensions(expr.then, place, visiting), dimensions(expr.else, place, visiting));
    case 'call': {
      if (expr.callee.kind !== 'function' && expr.callee.kind !== 'method') return UNKNOWN;
      const only = expr.callee.candidates[0];
      const value = expr.callee.candidates.length === 1 && only !== undefined ? singleReturn(only) : null;
      // Its parameters are not bound here, so only dimensions that do not depend on them come out.
      return value === null ? UNKNOWN : dimensions(value, { ...place, function: only ?? null, offset: value.span.start }, visiting);
    }
    case 'ref': {
      if (expr.decl === null || expr.decl.kind !== 'variable') return UNKNOWN;
      return variableDimensions(expr.decl, place, visiting);
    }
    case 'literal': return typeof expr.value === 'bigint' ? { x: evaluate(expr, () => null), y: ONE, z: ONE } : UNKNOWN;
    default: return evaluated(expr, place, visiting);
  }
}

/** An expression of a type that the syntax does not tell: if it folds to an integer, it is one. */
function evaluated(expr: Expr, place: HostPlace, visiting: ReadonlySet<VariableDecl>): DimensionValues {
  const values = evaluate(expr, resolverAt(place, visiting));
  return values === null ? UNKNOWN : { x: values, y: ONE, z: ONE };
}

function joinDimensions(a: DimensionValues, b: DimensionValues): DimensionValues {
  return { x: union(a.x, b.x), y: union(a.y, b.y), z: union(a.z, b.z) };
}

function variableDimensions(decl: VariableDecl, place: HostPlace, visiting: ReadonlySet<VariableDecl>): DimensionValues {
  if (visiting.has(decl)) return UNKNOWN;
  const inside = new Set([...visiting, decl]);
  if (!isDim3Variable(decl)) {
    const values = convertAll(evaluate({ kind: 'ref', name: decl.name, decl, span: decl.nameSpan, type: decl.type }, resolverAt(place, visiting)), decl.type);
    return integerType(decl.type) !== null || values !== null ? { x: values, y: ONE, z: ONE } : UNKNOWN;
  }
  if (!isAutomatic(decl) || place.function === null) {
    return decl.type.const === true && decl.init !== null ? initial(decl, decl.init, { ...place, function: null, offset: decl.span.start }, inside) : UNKNOWN;
  }
  let result: DimensionValues | null = null;
  if (decl.init === null && !writesBefore(decl, place).some((write) => write.kind === 'assign')) result = { x: ONE, y: ONE, z: ONE };
  const parts: { readonly axis: 'x' | 'y' | 'z'; readonly values: Values | null; readonly sure: boolean; readonly late: boolean }[] = [];
  const fn = place.function;
  for (const write of writesBefore(decl, place)) {
    const at: HostPlace = { ...place, offset: write.node.span.start };
    if ((write.kind === 'init' || write.kind === 'assign') && write.value !== null) {
      const value = initial(decl, write.value, at, inside);
      result = result === null ? value : joinDimensions(result, value);
    } else if (write.kind === 'part' && write.node.kind === 'assign') {
      const target = strip(write.node.target);
      if (write.node.op !== null || target.kind !== 'member' || (target.name !== 'x' && target.name !== 'y' && target.name !== 'z')) return UNKNOWN;
      parts.push({ axis: target.name, values: evaluate(write.node.value, resolverAt(at, inside)), sure: isStraight(decl, write, place), late: mayRunLater(write, fn) });
    } else return UNKNOWN;
  }
  if (result === null) return UNKNOWN;
  const merged = { x: result.x, y: result.y, z: result.z };
  for (const part of parts) if (!part.late) merged[part.axis] = part.sure ? part.values : union(merged[part.axis], part.values);
  for (const part of parts) if (part.late) merged[part.axis] = union(merged[part.axis], part.values);
  return merged;
}

function isDim3Variable(decl: VariableDecl): boolean {
  const { type } = decl;
  return type.kind === 'record' ? type.decl.name === 'dim3' || type.decl.vector !== null : type.kind === 'unknown' && (type.text === 'dim3' || type.text === 'const dim3');
}

/** `dim3 block(16, 16)`, `dim3 block = {16, 16}`, `dim3 block = 256`, `dim3 block(256)`. */
function initial(decl: VariableDecl, value: Expr, place: HostPlace, visiting: ReadonlySet<VariableDecl>): DimensionValues {
  const init = bare(value, place);
  if (init.kind === 'macro' && init.definition.ambiguous) return UNKNOWN;
  if (init.kind === 'init-list' || isDim3(init) || init.kind === 'conditional') return dimensions(init, place, visiting);
  const scalar = integerType(init.type) !== null || init.type.kind === 'float';
  if (scalar || decl.initStyle === 'equals') return { x: evaluate(init, resolverAt(place, visiting)), y: ONE, z: ONE };
  return dimensions(init, place, visiting);
}

/** Writes that may decide the value at a place; those hidden by a later straight assignment are left out. */
function writesBefore(decl: VariableDecl, place: HostPlace): readonly VariableWrite[] {
  if (place.function === null) return [];
  const writes = indexFunction(place.function).writes.get(decl) ?? [];
  let hiding = -1;
  writes.forEach((write, position) => { if (write.kind === 'assign' && isStraight(decl, write, place)) hiding = position; });
  if (hiding < 0) return writes;
  const fn = place.function;
  return writes.filter((write, position) => position >= hiding || write.node.span.start > place.offset || mayRunLater(write, fn));
}

/** May it be done again behind where it stands? Whoever has the address may write, and a lambda that captured the variable. */
function mayRunLater({ kind, node: { span } }: VariableWrite, fn: FunctionDecl): boolean {
  return kind === 'escape' || indexFunction(fn).lambdas.some((lambda) => lambda.span.start <= span.start && span.end <= lambda.span.end);
}

/** Does the write stand straight in the block of the declaration, before the place? Then every path to the place runs through it. */
function isStraight(decl: VariableDecl, write: VariableWrite, place: HostPlace): boolean {
  if (place.function === null || place.function.body === null || write.node.span.end > place.offset || !('type' in write.node) || write.node.kind === 'variable') return false;
  const block = blockOf(decl, place.function.body);
  if (block === null || jumpsPast(write, place, place.function)) return false;
  return block.map(behindLabels).some((statement) => statement.kind === 'expression' && strip(statement.expression) === write.node);
}

function behindLabels(statement: Stmt): Stmt {
  return statement.kind === 'label' ? behindLabels(statement.body) : statement;
}

/** Does a `goto` in front of the write lead to a label between it and the place? A label that is not seen may stand there. */
function jumpsPast(write: VariableWrite, place: HostPlace, fn: FunctionDecl): boolean {
  const { gotos, labels } = indexFunction(fn);
  const between = (offset: number): boolean => offset >= write.node.span.end && offset <= place.offset;
  return gotos.some((jump) => {
    if (jump.span.start >= write.node.span.start) return false;
    const targets = labels.filter((label) => label.name === jump.label);
    return targets.length === 0 || targets.some((label) => between(label.span.start));
  });
}

const blocks = new WeakMap<VariableDecl, { readonly body: readonly Stmt[] | null }>();

/** The statements of the block that a variable is declared in. */
function blockOf(decl: VariableDecl, body: Stmt): readonly Stmt[] | null {
  const known = blocks.get(decl);
  if (known !== undefined) return known.body;
  let found: readonly Stmt[] | null = null;
  const visit = (node: Stmt): void => {
    if (found !== null || node.span.start > decl.span.start || node.span.end < decl.span.end) return;
    if (node.kind === 'compound') {
      if (node.body.some((statement) => statement.kind === 'declare' && statement.variables.includes(decl))) { found = node.body; return; }
      node.body.forEach(visit);
    } else {
      for (const child of statementsBelow(node)) visit(child);
    }
  };
  visit(body);
  blocks.set(decl, { body: found });
  return found;
}

function statementsBelow(node: Stmt): readonly Stmt[] {
  switch (node.kind) {
    case 'if': return node.else === null ? [node.then] : [node.then, node.else];
    case 'for': case 'while': case 'do': case 'range-for': return [node.body];
    case 'switch': return node.arms.flatMap((arm) => arm.body);
    case 'preprocessor': return node.arms.filter((arm) => arm.active).flatMap((arm) => arm.body);
    case 'label': return [node.body];
    case 'macro-statement': return isStmt(node.expanded) ? [node.expanded] : [];
    default: return [];
  }
}

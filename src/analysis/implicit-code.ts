/**
 * Code that runs without being named: the one room that tells what it is, so that effects, call graph, hazards and the searches of transforms see the same.
 *
 *   f(x)                 default arguments of the parameters that get none, conversions, copies and ends of by-value parameters, the end of a temporary result
 *   T t;  T t{a};  T(a)  constructors of `T`, of its bases and members, default values of fields; the destructors where the scope ends
 *   T w[2]{a};  (T)a     constructors that convert what is given for elements and members; those without arguments for what is given nothing
 *   t                    conversion functions of `t`, its copy and move constructors: where an object is named, either may run
 *   t = u                the assignments of bases and members of which that of `T` is made (one that is written is a call of the tree)
 *   new T(a)  delete p   the same, and `operator new` or `operator delete` of the class
 *   [t]  [=]  f(a)       copies and ends of what a lambda captures; conversions to its parameters and to its result where it is called
 *   for (T t : r)        copies of the elements or conversions of them
 *
 * Each is a call node of its own at the place where it runs, with the span of what makes it run and without arguments; its callee has the body. A default
 * argument is a function that returns it, the constructor that nobody wrote is one with an empty body, before which function-code.ts puts the fields. The
 * same node gives the same calls each time. What an object of a class may run is told by object-lives.ts.
 *
 * What only computes from its own object, its parameters and constants is *quiet*, and left out: most constructors are. A record of which a part is not seen
 * makes a call of something unknown. Not handled: types that are not declared at all or that depend on a template's parameters (`undeclaredIn` tells whoever
 * rests on them), operators of iterators that are no members, and conversions by constructors in a `return`, which count where the function is called.
 */
import { defaults, constructorsFor, endsOf, isWhollyGiven, lifeOf, recordTypeOf } from './object-lives.js';
import { forEachPart, type Node } from './parts.js';
import { isQuiet, settled } from './quiet-code.js';
import type { CallExpr, Decl, DeclareStmt, Expr, FunctionDecl, LambdaExpr, OpaqueExpr, RangeForStmt, RecordType, Stmt, Type, VariableDecl } from '../syntax/tree.js';
import { strip } from '../syntax/tree.js';

const NO_CALLS: readonly CallExpr[] = [];
const implicit = new WeakMap<Node, readonly CallExpr[]>();
const made = new WeakSet<CallExpr>();

/** Does a call stand for code that the text does not name? Its object and its arguments are not known. */
export function isImplicit(call: CallExpr): boolean {
  return made.has(call);
}

/** Can there be anything to look for at a node of this kind and type? Asked without tables, behind `forEachPart`. */
export function mayRunMore(node: Node): boolean {
  switch (node.kind) {
    case 'ref': case 'index': case 'member': case 'unary': case 'construct': case 'cast': case 'conditional': return node.type.kind === 'record';
    case 'init-list': return mayHaveLife(node.type);
    case 'lambda': return mayCopy(node);
    case 'opaque': return 'type' in node && node.life !== undefined;
    case 'call': return (node.callee.kind !== 'builtin' && node.callee.kind !== 'unknown' && !made.has(node)) || node.type.kind === 'record';
    case 'assign': return node.target.type.kind === 'record';
    case 'declare': return hasObject(node);
    case 'compound': for (const statement of node.body) if (statement.kind === 'declare' && hasObject(statement)) return true; return false;
    case 'if': case 'for': case 'while': case 'switch': return (node.conditionDecl !== null && mayHaveLife(node.conditionDecl.type)) || (node.kind !== 'while' && node.init?.kind === 'declare' && hasObject(node.init));
    case 'range-for': return mayHaveLife(node.variable.type) || strip(node.range).type.kind === 'record';
    default: return false;
  }
}

function hasObject(declaration: DeclareStmt): boolean {
  for (const { type, opaqueInit } of declaration.variables) if (opaqueInit || mayHaveLife(type)) return true;
  return false;
}

function mayHaveLife(type: Type): boolean {
  return recordTypeOf(type.kind === 'reference' ? type.to : type) !== null;
}

/** Calls that run at the node itself without being written. */
export function implicitIn(node: Node): readonly CallExpr[] {
  const known = implicit.get(node);
  if (known !== undefined) return known;
  const found: CallExpr[] = [];
  const noted = new Set<FunctionDecl>();
  const { keep } = settled(() => {
    collect(node, (functions, unseen) => {
      if (unseen !== null) found.push(standIn(node, { kind: 'unknown', name: unseen }, { kind: 'unknown', text: '' }));
      for (const fn of functions) {
        if (noted.has(fn)) continue;
        noted.add(fn);
        found.push(standIn(node, { kind: 'function', name: fn.name, candidates: [fn] }, fn.returns));
      }
    });
  });
  const calls = found.length === 0 ? NO_CALLS : found;
  if (keep) implicit.set(node, calls);
  return calls;
}

type Note = (functions: readonly FunctionDecl[], unseen: string | null) => void;

function collect(node: Node, note: Note): void {
  switch (node.kind) {
    case 'call': called(node, note); return;
    case 'construct': case 'init-list': {
      const type = recordTypeOf(node.type);
      if (type === null) return;
      given(node.type, type, node.kind === 'construct' ? node.arguments : node.elements, note);
      ended(node.type, note);
      if (node.type.kind === 'record') note(lifeOf(node.type).conversions, null);
      return;
    }
    case 'declare':
      for (const variable of node.variables) if (variable.opaqueInit) taken(variable, note); else declared(variable, note);
      return;
    // Where the scope ends; every way out of it runs them too.
    case 'compound': for (const statement of [...node.body].reverse()) endedBehind(statement, note); return;
    case 'if': case 'for': case 'while': case 'switch': {
      const { conditionDecl } = node;
      if (conditionDecl !== null) { declared(conditionDecl, note); ended(conditionDecl.type, note); }
      if (node.kind !== 'while' && node.init !== null) endedBehind(node.init, note);
      return;
    }
    case 'range-for': element(node, note); return;
    case 'assign':
      converted(node.target.type, node.value, note);
      if (node.target.type.kind === 'record' && node.op === null) note(lifeOf(node.target.type).assigns, null);
      if (node.type.kind === 'record') note(lifeOf(node.type).conversions, null);
      return;
    case 'cast':
      converted(node.type, node.operand, note);
      if (node.type.kind !== 'record') return;
      note(lifeOf(node.type).conversions, null);
      if (node.reference === undefined || converts(node.type, node.operand)) ended(node.type, note);
      return;
    case 'ref': case 'index': case 'member': case 'unary': case 'conditional': {
      if (node.type.kind !== 'record') return;
      const life = lifeOf(node.type);
      note(life.conversions, null);
      note(life.copies, null);
      if (node.kind === 'conditional') for (const side of [node.then, node.else]) converted(node.type, side, note);
      return;
    }
    case 'opaque': if ('type' in node && node.life !== undefined) lives(node.life, note); return;
    case 'lambda':
      for (const { type } of copied(node)) {
        const captured = recordTypeOf(type.kind === 'reference' ? type.to : type);
        if (captured === null) continue;
        note(lifeOf(captured).copies, null);
        note(lifeOf(captured).ends, null);
      }
      return;
    default:
  }
}

/** `new` and `delete`: the operator of the class, and what begins or ends with the memory. */
function lives({ type, given: values }: NonNullable<OpaqueExpr['life']>, note: Note): void {
  const record = recordTypeOf(type);
  if (record === null) return;
  const operator = values === null ? 'operator delete' : 'operator new';
  note(record.decl.methods.filter(({ name }) => name.startsWith(operator)).filter((fn) => !isQuiet(fn)), null);
  if (values === null) ended(type, note);
  else if (values.length === 0) begun(type, 0, note);
  else given(type, record, values, note);
}

/** Arguments that become parameters, parameters that are not given, and the result. */
function called(node: CallExpr, note: Note): void {
  if (made.has(node)) return;
  for (const fn of defaultsOf(node)) note([fn], null);
  const targets: readonly Pick<FunctionDecl, 'parameters' | 'returns'>[] = candidatesOf(node);
  const lambda = lambdaCalled(node);
  for (const target of lambda === null ? targets : [{ parameters: lambda.parameters, returns: lambda.returns ?? node.type }]) {
    target.parameters.forEach((parameter, position) => { passed(parameter.type, node.arguments[position] ?? null, note); });
    if (target.returns.kind !== 'reference') converted(target.returns, null, note);
  }
  // The assignment that somebody asked for by `= default` has no body of its own.
  if (node.callee.kind === 'method' && node.callee.name === 'operator=' && node.callee.object.type.kind === 'record' && node.callee.candidates.some((fn) => fn.defaulted === true)) note(lifeOf(node.callee.object.type).assigns, null);
  const result = lambda?.returns ?? node.type;
  if (result.kind !== 'record') return;
  const lasts = lambda !== null ? lambda.returns?.kind === 'reference' : node.callee.kind !== 'unknown' && targets.length > 0 && targets.every(({ returns }) => returns.kind === 'reference');
  const { conversions, copies } = lifeOf(result);
  note(conversions, null);
  if (lasts) note(copies, null); else ended(result, note);
}

/** A variable whose life ends with its scope. */
function isObject(variable: VariableDecl): boolean {
  return variable.storage === 'automatic' && variable.type.kind !== 'reference' && variable.space !== 'shared';
}

function endedBehind(statement: Stmt, note: Note): void {
  if (statement.kind === 'declare') for (const variable of [...statement.variables].reverse()) if (isObject(variable)) ended(variable.type, note);
}

function declared(variable: VariableDecl, note: Note): void {
  const { init } = variable;
  if (variable.type.kind === 'reference') {
    if (init === null || !converts(variable.type, init)) return;
    converted(variable.type, init, note);
    ended(variable.type.to, note);
    return;
  }
  const value = init === null ? null : strip(init);
  if (value === null) begun(variable.type, 0, note);
  // What is made by the initialiser counts there.
  else if (value.kind !== 'construct' && value.kind !== 'init-list') converted(variable.type, value, note);
}

/** A structured binding makes an object that has no name of the array that it is given; one of a class is copied where that is named. */
function taken(variable: VariableDecl, note: Note): void {
  const { init } = variable;
  const bound = init === null ? null : strip(init).type;
  if (bound === null || recordTypeOf(variable.type) !== null) { declared(variable, note); return; }
  const type = recordTypeOf(bound);
  if (type === null) return;
  note(lifeOf(type).copies, null);
  ended(type, note);
}

/** `begin` and `end` of a range that is no array, `!=`, `++` and `*` of what they return, as far as they are members. */
function iterated(range: Type, note: Note): void {
  if (range.kind !== 'record' || range.decl.vector !== null) return;
  const ends = range.decl.methods.filter(({ name }) => name === 'begin' || name === 'end');
  note(ends.filter((fn) => !isQuiet(fn)), null);
  for (const { returns } of ends) if (returns.kind === 'record') note(returns.decl.methods.filter((fn) => STEPS.has(fn.name) && !isQuiet(fn)), null);
}

const STEPS: ReadonlySet<string> = new Set(['operator!=', 'operator++', 'operator*']);

/** The variable of a range-for is made anew of each element. */
function element(node: RangeForStmt, note: Note): void {
  iterated(strip(node.range).type, note);
  const { type } = node.variable;
  const wanted = recordTypeOf(type.kind === 'reference' ? type.to : type);
  if (wanted === null) return;
  const range = strip(node.range).type;
  const from = range.kind === 'array' ? range.of : null;
  const same = from?.kind === 'record' && from.decl === wanted.decl;
  if (same && type.kind === 'reference') return;
  if (same) note(lifeOf(wanted).copies, null); else anyOf(wanted, note);
  ended(wanted, note);
}

function begun(type: Type, count: number, note: Note): void {
  const record = recordTypeOf(type);
  if (record === null) return;
  const life = lifeOf(record);
  note(life.parts, life.unseen ? record.decl.name : null);
  note(constructorsFor(record, count).flatMap((one) => [...life.written.filter((fn) => fn === one), ...loudDefaults(one, count)]), null);
}

/** An object that is made of so many values as nobody tells. */
function anyOf(type: RecordType, note: Note): void {
  const life = lifeOf(type);
  if (type.decl.vector !== null || life.unseen) return;
  note(life.parts, null);
  note(life.written, null);
  note(life.makers, null);
  for (const fn of type.decl.methods) if (fn.name === type.decl.name) note(loudDefaults(fn, 0), null);
}

/** An object, or an array of objects of `type`, that is made of these values, which stand in braces or in parentheses. */
function given(wanted: Type, type: RecordType, values: readonly Expr[], note: Note): void {
  const life = lifeOf(type);
  if (wanted.kind !== 'array') {
    if (isWhollyGiven(type.decl, values.length)) return;
    begun(type, values.length, note);
    if (values.some((value) => isLoose(value, type))) note(life.makers, null);
    return;
  }
  const loose = values.some((value) => isLoose(value, type));
  if (loose) { note(life.makers, null); begun(type, 1, note); }
  const length = wanted.length === null ? null : strip(wanted.length);
  const isFull = !loose && wanted.of.kind !== 'array' && (length === null || (length.kind === 'literal' && length.value === BigInt(values.length)));
  if (!isFull) begun(type, 0, note);
}

/** May the value be one that a constructor of a part converts? One that makes its own object counts there. */
function isLoose(value: Expr, type: RecordType): boolean {
  const e = strip(value);
  if (e.kind === 'construct') return recordTypeOf(e.type) === null;
  if (e.kind === 'init-list') return recordTypeOf(e.type) === null;
  return e.type.kind !== 'record' || e.type.decl !== type.decl;
}

function ended(type: Type, note: Note): void {
  note(endsOf(type), null);
}

/** Is a value one of another type, so that an object has to be made of it? */
function converts(wanted: Type, value: Expr): boolean {
  const type = wanted.kind === 'reference' ? wanted.to : wanted;
  const from = strip(value).type;
  return type.kind === 'record' && !(from.kind === 'record' && from.decl === type.decl);
}

/** A value where an object of the type is wanted: a constructor may convert it. A null value is of a type that is not known. */
function converted(wanted: Type, value: Expr | null, note: Note): void {
  const type = wanted.kind === 'reference' ? wanted.to : wanted;
  if (type.kind !== 'record' || type.decl.vector !== null || (value !== null && !converts(wanted, value)) || lifeOf(type).unseen) return;
  const from = value === null ? null : strip(value);
  // A list whose type is not told yet: `f({3, 4})`.
  if (from === null) anyOf(type, note);
  else if (from.kind === 'init-list') given(type, type, from.elements, note);
  else begun(type, 1, note);
}

/** A parameter that is an object of its own, or a reference to one that is made for it. */
function passed(type: Type, argument: Expr | null, note: Note): void {
  if (argument !== null) {
    converted(type, argument, note);
    if (type.kind === 'reference' && converts(type, argument)) ended(type.to, note);
  }
  if (type.kind === 'record') ended(type, note);
}

export function candidatesOf(call: CallExpr): readonly FunctionDecl[] {
  const { callee } = call;
  switch (callee.kind) {
    case 'function': case 'method': return callee.candidates;
    case 'value': return callee.value.type.kind === 'record' ? callee.value.type.decl.methods.filter((method) => method.name === 'operator()') : [];
    case 'builtin': case 'unknown': return [];
  }
}

function lambdaCalled({ callee }: CallExpr): LambdaExpr | null {
  if (callee.kind !== 'value') return null;
  const value = strip(callee.value);
  const held = value.kind === 'ref' && value.decl?.kind === 'variable' && value.decl.init !== null ? strip(value.decl.init) : value;
  return held.kind === 'lambda' ? held : null;
}

/** Functions that stand for the default arguments which a call evaluates. */
export function defaultsOf(call: CallExpr): readonly FunctionDecl[] {
  const count = call.arguments.length;
  const found = candidatesOf(call).flatMap((candidate) => loudDefaults(candidate, count));
  const lambda = lambdaCalled(call);
  return lambda === null ? found : [...found, ...defaults(lambda.parameters, count, 'a lambda')];
}

function loudDefaults(fn: FunctionDecl, count: number): readonly FunctionDecl[] {
  return fn.parameters.length > count ? defaults(fn.parameters, count, fn.name) : [];
}

/** Does a lambda make copies of anything? */
function mayCopy(node: LambdaExpr): boolean {
  return node.captureDefault === 'copy' || node.captures.some((capture) => !capture.byReference);
}

/** What a lambda makes copies of. */
function copied(node: LambdaExpr): readonly Extract<Decl, { kind: 'variable' | 'parameter' }>[] {
  const named = node.captures.flatMap(({ byReference, decl }) => (!byReference && (decl?.kind === 'variable' || decl?.kind === 'parameter') ? [decl] : []));
  if (node.captureDefault !== 'copy') return named;
  const inner = new Set<Decl>(node.parameters);
  for (const { byReference, decl } of node.captures) if (byReference && decl !== null) inner.add(decl);
  const used = new Set(named);
  const visit = (at: Node): void => {
    if (at.kind === 'ref' && (at.decl?.kind === 'parameter' || (at.decl?.kind === 'variable' && at.decl.storage === 'automatic' && at.decl.space !== 'shared'))) used.add(at.decl);
    for (const decl of declaredBy(at)) inner.add(decl);
    forEachPart(at, visit);
  };
  visit(node.body);
  return [...used].filter((decl) => !inner.has(decl));
}

function declaredBy(node: Node): readonly Decl[] {
  switch (node.kind) {
    case 'declare': return node.variables;
    case 'lambda': return node.parameters;
    case 'range-for': return [node.variable];
    case 'if': case 'for': case 'while': case 'switch': return node.conditionDecl === null ? [] : [node.conditionDecl];
    default: return [];
  }
}

function standIn(node: Node, callee: CallExpr['callee'], type: Type): CallExpr {
  const call: CallExpr = { kind: 'call', span: node.span, type, callee, calleeSpan: node.span, arguments: [], templateArguments: null };
  made.add(call);
  return call;
}

/**
 * Code that runs without being named: the one room that tells what it is, so that effects, call graph, hazards and the searches of transforms see the same.
 *
 *   f(x)                 default arguments of the parameters that get none, copies and ends of by-value parameters, the end of a temporary result
 *   T t;  T t{a};  T(a)  constructors of `T`, of its bases and members, default values of fields; the destructors where the scope ends
 *   t                    conversion functions of `t`, its copy and move constructors: where an object is named, either may run
 *   t = u  [t] {…}       assignment operators of members and bases where nobody wrote the class's own; copies of what a lambda captures
 *   T t[2]{a};  T t{a}   the same for each element of an array, and for each member of a class without constructors that is made from what stands in the list
 *
 * Each is a call node of its own at the place where it runs, with the span of what makes it run and without arguments; its callee has the body. A default
 * argument is a function that returns it, the constructor that nobody wrote is one with an empty body, before which function-code.ts puts the fields. The
 * same node gives the same calls each time.
 *
 * What only computes from its own object, its parameters and constants is *quiet*, and left out: most constructors are. A record of which a part is not seen
 * makes a call of something unknown. Not handled: types that are not declared at all or that depend on a template's parameters (`undeclaredIn` tells whoever
 * rests on them), and conversions by constructors in a `return`, which count where the function is called.
 */
import { builtin } from '../cuda/builtins.js';
import { codeOf } from './function-code.js';
import { forEachPart, type Node } from './parts.js';
import { isConversion } from './record-members.js';
import type { CallExpr, CompoundStmt, Decl, DeclareStmt, Expr, FunctionDecl, LambdaExpr, ParameterDecl, RecordDecl, TemplateArgument, Type, VariableDecl } from '../syntax/tree.js';
import { strip } from '../syntax/tree.js';

/** What the life of an object may run, quiet functions left out. Members and bases are included. */
export interface Life {
  /** Constructors that were written, of the record itself. */
  readonly written: readonly FunctionDecl[];
  /** What every constructor may run besides its own body: default values of fields, constructors of bases and members. */
  readonly parts: readonly FunctionDecl[];
  readonly copies: readonly FunctionDecl[];
  /** Assignment operators of members and bases, which assign the object where its own operator is the compiler's. */
  readonly assigns: readonly FunctionDecl[];
  /** Constructors of members and bases that a list of values may call, or an inherited constructor. */
  readonly given: readonly FunctionDecl[];
  readonly ends: readonly FunctionDecl[];
  readonly conversions: readonly FunctionDecl[];
  /** A base or the record itself is not seen. */
  readonly unseen: boolean;
}

const NOTHING: Life = { written: [], parts: [], copies: [], assigns: [], given: [], ends: [], conversions: [], unseen: false };
const NO_CALLS: readonly CallExpr[] = [];
const lives = new WeakMap<RecordDecl, Life>();
const implicit = new WeakMap<Node, readonly CallExpr[]>();
const made = new WeakSet<CallExpr>();

/** Does a call stand for code that the text does not name? Its object and its arguments are not known. */
export function isImplicit(call: CallExpr): boolean {
  return made.has(call);
}

/** Can there be anything to look for at a node of this kind and type? Asked without tables, behind `forEachPart`. */
export function mayRunMore(node: Node): boolean {
  switch (node.kind) {
    case 'ref': case 'index': case 'member': case 'unary': case 'cast': case 'conditional': return node.type.kind === 'record';
    case 'construct': case 'init-list': return mayHaveLife(node.type);
    case 'lambda': return node.captureDefault === 'copy' || node.captures.length > 0;
    case 'call': return (node.callee.kind !== 'builtin' && node.callee.kind !== 'unknown' && !made.has(node)) || node.type.kind === 'record';
    case 'assign': return node.target.type.kind === 'record';
    case 'declare': return hasObject(node);
    case 'compound': for (const statement of node.body) if (statement.kind === 'declare' && hasObject(statement)) return true; return false;
    case 'if': case 'for': case 'while': case 'switch': return (node.conditionDecl !== null && mayHaveLife(node.conditionDecl.type)) || (node.kind === 'for' && node.init.kind === 'declare' && hasObject(node.init));
    case 'range-for': return mayHaveLife(node.variable.type);
    default: return false;
  }
}

function hasObject(declaration: DeclareStmt): boolean {
  for (const { type } of declaration.variables) if (mayHaveLife(type)) return true;
  return false;
}

function mayHaveLife(type: Type): boolean {
  return recordOf(type) !== null;
}

/** Calls that run at the node itself without being written. */
export function implicitIn(node: Node): readonly CallExpr[] {
  const known = implicit.get(node);
  if (known !== undefined) return known;
  const found: CallExpr[] = [];
  collect(node, (functions, unseen) => {
    if (unseen !== null) found.push(standIn(node, { kind: 'unknown', name: unseen }, { kind: 'unknown', text: '' }));
    for (const fn of functions) found.push(standIn(node, { kind: 'function', name: fn.name, candidates: [fn] }, fn.returns));
  });
  const calls = found.length === 0 ? NO_CALLS : found;
  implicit.set(node, calls);
  return calls;
}

type Note = (functions: readonly FunctionDecl[], unseen: string | null) => void;

function collect(node: Node, note: Note): void {
  switch (node.kind) {
    case 'call': {
      if (made.has(node)) return;
      for (const fn of defaultsOf(node)) note([fn], null);
      for (const candidate of candidatesOf(node)) {
        candidate.parameters.forEach((parameter, position) => { passed(parameter.type, node.arguments[position] ?? null, note); });
        if (candidate.returns.kind !== 'reference') converted(candidate.returns, null, note);
        if (candidate.defaulted === true && candidate.name === 'operator=' && candidate.owner !== null) note(lifeOf(candidate.owner).assigns, null);
      }
      const lambda = lambdaCalled(node);
      if (lambda !== null) {
        lambda.parameters.forEach((parameter, position) => { passed(parameter.type, node.arguments[position] ?? null, note); });
        if (lambda.returns !== undefined && lambda.returns.kind !== 'reference') converted(lambda.returns, null, note);
      }
      if (node.type.kind === 'record') {
        const lasts = candidatesOf(node).every(({ returns }) => returns.kind === 'reference') && node.callee.kind !== 'unknown';
        const { conversions, copies } = lifeOf(node.type.decl);
        note(conversions, null);
        if (lasts) note(copies, null); else ended(node.type, note);
      }
      return;
    }
    case 'construct': case 'init-list': {
      const values = node.kind === 'construct' ? node.arguments : node.elements;
      if (node.type.kind === 'array') { listed(node.type, values, note); return; }
      if (node.type.kind !== 'record') return;
      begun(node.type, values.length, note);
      ended(node.type, note);
      note(lifeOf(node.type.decl).conversions, null);
      return;
    }
    case 'declare': for (const variable of node.variables) declared(variable, note); return;
    // Where the scope ends; every way out of it runs them too.
    case 'compound':
      for (const statement of [...node.body].reverse()) if (statement.kind === 'declare') for (const variable of [...statement.variables].reverse()) if (isObject(variable)) ended(variable.type, note);
      return;
    case 'if': case 'for': case 'while': case 'switch': {
      const { conditionDecl } = node;
      if (conditionDecl !== null) { declared(conditionDecl, note); ended(conditionDecl.type, note); }
      if (node.kind === 'for' && node.init.kind === 'declare') for (const variable of node.init.variables) if (isObject(variable)) ended(variable.type, note);
      return;
    }
    case 'range-for': declared(node.variable, note); ended(node.variable.type, note); return;
    case 'lambda': captured(node, note); return;
    case 'assign':
      converted(node.target.type, node.value, note);
      assigned(node.target.type, note);
      if (node.type.kind === 'record') note(lifeOf(node.type.decl).conversions, null);
      return;
    case 'cast':
      converted(node.type, node.operand, note);
      if (node.type.kind === 'record') note(lifeOf(node.type.decl).conversions, null);
      return;
    case 'ref': case 'index': case 'member': case 'unary': case 'conditional': {
      if (node.type.kind !== 'record') return;
      const life = lifeOf(node.type.decl);
      note(life.conversions, null);
      note(life.copies, null);
      return;
    }
    default:
  }
}

/** A variable whose life ends with its scope. */
function isObject(variable: VariableDecl): boolean {
  return variable.storage === 'automatic' && variable.type.kind !== 'reference' && variable.space !== 'shared';
}

function declared(variable: VariableDecl, note: Note): void {
  const { init } = variable;
  if (variable.type.kind === 'reference') { if (init !== null) converted(variable.type, init, note); return; }
  const value = init === null ? null : strip(init);
  if (value === null) begun(variable.type, 0, note);
  // What is made by the initialiser counts there.
  else if (value.kind !== 'construct' && value.kind !== 'init-list') converted(variable.type, value, note);
}

function begun(type: Type, count: number, note: Note): void {
  const record = recordOf(type);
  if (record === null) return;
  const life = lifeOf(record);
  note(life.parts, life.unseen ? record.name : null);
  const constructors = constructorsFor(record, count);
  note(constructors.flatMap((one) => [...life.written.filter((fn) => fn === one), ...missing(one, count)]), null);
  // Of a class without one for it: its members are made from the list, or a base's constructor is inherited.
  if (count > 0 && !constructors.some((one) => !isCopy(one, record))) note(life.given, null);
}

/** Elements of an array: those that are listed by the constructors that take a value, the others by those that take none. */
function listed(type: Type, values: readonly Expr[], note: Note): void {
  begun(type, 0, note);
  if (values.some((value) => { const { type: from } = strip(value); return from.kind !== 'record' || from.decl !== recordOf(type); })) begun(type, 1, note);
  ended(type, note);
}

/** `t = u`: what assigns the members, and what a class template's arguments may be, of which members are. */
function assigned(type: Type, note: Note): void {
  if (type.kind !== 'record' || type.decl.vector !== null) return;
  note(lifeOf(type.decl).assigns, null);
  for (const one of type.templateArguments ?? []) {
    const record = one.kind === 'type' ? recordOf(one.type) : null;
    if (record !== null) note(assignmentsOf(record), null);
  }
}

/** What assigning an object runs: its own operators, else those of its parts. */
function assignmentsOf(record: RecordDecl): readonly FunctionDecl[] {
  const own = record.methods.filter((method) => method.name === 'operator=' && method.defaulted !== true && !isQuiet(method));
  return [...own, ...lifeOf(record).assigns];
}

/** Copies of the objects that a lambda captures by value, which end with it. */
function captured(lambda: LambdaExpr, note: Note): void {
  const copy = (decl: Decl | null): void => {
    const record = decl !== null && (decl.kind === 'variable' || decl.kind === 'parameter') && (decl.kind === 'parameter' || decl.storage === 'automatic') ? recordOf(decl.type.kind === 'reference' ? decl.type.to : decl.type) : null;
    if (record === null) return;
    const { copies, ends } = lifeOf(record);
    note(copies, null);
    note(ends, null);
  };
  for (const { byReference, decl } of lambda.captures) if (!byReference) copy(decl);
  if (lambda.captureDefault !== 'copy') return;
  const named = new Set<Decl>();
  const visit = (node: Node): void => { if (node.kind === 'ref' && node.decl !== null && node.type.kind === 'record' && !isWithin(node.decl, lambda)) named.add(node.decl); forEachPart(node, visit); };
  visit(lambda.body);
  for (const decl of named) copy(decl);
}

function isWithin({ span }: Decl, lambda: LambdaExpr): boolean {
  return span.start >= lambda.span.start && span.end <= lambda.span.end;
}

/** The lambda that a call runs, as far as the text shows it. */
function lambdaCalled({ callee }: CallExpr): LambdaExpr | null {
  if (callee.kind !== 'value') return null;
  const value = strip(callee.value);
  const held = value.kind === 'ref' && value.decl?.kind === 'variable' && value.decl.init !== null ? strip(value.decl.init) : value;
  return held.kind === 'lambda' ? held : null;
}

function ended(type: Type, note: Note): void {
  note(endsOf(type), null);
}

/** Destructors that the end of an object of the type runs. */
export function endsOf(type: Type): readonly FunctionDecl[] {
  const record = recordOf(type);
  return record === null ? [] : lifeOf(record).ends;
}

/** A value where an object of the type is wanted: a constructor may convert it. A null value is of a type that is not known. */
function converted(wanted: Type, value: Expr | null, note: Note): void {
  const type = wanted.kind === 'reference' ? wanted.to : wanted;
  if (type.kind !== 'record') return;
  const from = value === null ? null : strip(value);
  if (from !== null && from.type.kind === 'record' && from.type.decl === type.decl) return;
  if (type.decl.vector === null && !lifeOf(type.decl).unseen) begun(type, 1, note);
}

/** A parameter that is an object of its own. */
function passed(type: Type, argument: Expr | null, note: Note): void {
  if (argument !== null) converted(type, argument, note);
  if (type.kind === 'record') ended(type, note);
}

function candidatesOf(call: CallExpr): readonly FunctionDecl[] {
  const { callee } = call;
  switch (callee.kind) {
    case 'function': case 'method': return callee.candidates;
    case 'value': return callee.value.type.kind === 'record' ? callee.value.type.decl.methods.filter((method) => method.name === 'operator()') : [];
    case 'builtin': case 'unknown': return [];
  }
}

/** Functions that stand for the default arguments which a call evaluates. */
export function defaultsOf(call: CallExpr): readonly FunctionDecl[] {
  const count = call.arguments.length;
  const found = candidatesOf(call).flatMap((candidate) => missing(candidate, count));
  const lambda = lambdaCalled(call);
  return lambda === null ? found : [...found, ...defaults(lambda.parameters, count, 'a lambda')];
}

function missing(fn: FunctionDecl, count: number): readonly FunctionDecl[] {
  return fn.parameters.length > count ? defaults(fn.parameters, count, fn.name) : [];
}

const thunks = new WeakMap<ParameterDecl, FunctionDecl | null>();

function defaults(parameters: readonly ParameterDecl[], count: number, name: string): readonly FunctionDecl[] {
  const found: FunctionDecl[] = [];
  for (const parameter of parameters.slice(count)) {
    const { default: value } = parameter;
    if (value === null) continue;
    let thunk = thunks.get(parameter);
    if (thunk === undefined) {
      const body: CompoundStmt = { kind: 'compound', span: value.span, body: [{ kind: 'return', span: value.span, value }] };
      const fn = synthetic(name, parameter.file, parameter, body, parameter.type, null);
      thunks.set(parameter, thunk = isQuiet(fn) ? null : fn);
    }
    if (thunk !== null) found.push(thunk);
  }
  return found;
}

function synthetic(name: string, file: string, at: Decl, body: CompoundStmt, returns: Type, owner: RecordDecl | null): FunctionDecl {
  return {
    kind: 'function', name, span: at.span, nameSpan: at.nameSpan, file, qualifiers: { global: false, device: true, host: true, constexpr: false, static: false, inline: true, extern: false },
    parameters: [], returns, template: null, specialises: null, owner, bounds: [], body, headSpan: at.nameSpan, understood: true, problems: [], directives: [], inactive: [],
  };
}

/** The record of an object or of an array of them; null for CUDA's vectors, references and what is no object. */
function recordOf(type: Type): RecordDecl | null {
  let inner = type;
  while (inner.kind === 'array') inner = inner.of;
  return inner.kind === 'record' && inner.decl.vector === null ? inner.decl : null;
}

/** Constructors that take so many arguments. */
export function constructorsFor(record: RecordDecl, count: number): readonly FunctionDecl[] {
  return record.methods.filter((method) => method.name === record.name && (method.parameters.length >= count || method.parameters.at(-1)?.pack === true)
    && method.parameters.slice(count).every((parameter) => parameter.default !== null || parameter.pack));
}

/** What the objects of a record may run; once for each record. */
export function lifeOf(record: RecordDecl): Life {
  if (record.vector !== null) return NOTHING;
  const known = lives.get(record);
  if (known !== undefined) return known;
  lives.set(record, NOTHING); // a record is no part of itself
  const { name, methods, bases } = record;
  const loud = (fn: FunctionDecl): boolean => fn.defaulted !== true && !isQuiet(fn);
  const constructors = methods.filter((method) => method.name === name);
  const parts: FunctionDecl[] = [];
  const copies = constructors.filter((fn) => isCopy(fn, record) && loud(fn));
  const assigns: FunctionDecl[] = [];
  const given: FunctionDecl[] = [];
  const ends = methods.filter((method) => method.name.startsWith('~') && loud(method));
  const conversions = methods.filter((method) => isConversion(method) && loud(method));
  let unseen = !record.complete || record.specialised === true;
  const values = implicitConstructor(record);
  if (values !== null && !isQuiet(values)) parts.push(values);
  const inside = [...bases, ...record.fields.filter((field) => field.storage === 'member').map((field) => field.type)];
  inside.forEach((type, position) => {
    const inner = recordOf(type);
    if (inner === null) { if (position < bases.length && type.kind === 'unknown') unseen = true; return; }
    const life = lifeOf(inner);
    parts.push(...life.parts, ...life.written.filter((fn) => constructorsFor(inner, 0).includes(fn)), ...constructorsFor(inner, 0).flatMap((fn) => missing(fn, 0)));
    copies.push(...life.copies);
    assigns.push(...assignmentsOf(inner));
    given.push(...life.written, ...life.given, ...inner.methods.filter((method) => method.name === inner.name).flatMap((method) => missing(method, 0)));
    ends.push(...life.ends);
    if (position < bases.length) conversions.push(...life.conversions);
    unseen ||= life.unseen;
  });
  const written = constructors.filter(loud);
  const nothing = written.length + parts.length + copies.length + assigns.length + given.length + ends.length + conversions.length === 0 && !unseen;
  const life: Life = nothing ? NOTHING : { written, parts: [...new Set(parts)], copies: [...new Set(copies)], assigns: [...new Set(assigns)], given: [...new Set(given)], ends: [...new Set(ends)], conversions, unseen };
  lives.set(record, life);
  return life;
}

const hiding = new WeakMap<RecordDecl, boolean>();

/**
 * May making an object of the type, or of a part of it, put values into it that nobody wrote at that place (a default argument or a default value that reads
 * `threadIdx`)? What is held then is not followed. Types that a template is given count: its members may be of them. Once for each record.
 * Objects of a template's own parameter type inside its body are told by template-types.ts.
 */
export function hidesValue(type: Type): boolean {
  let inner = type;
  while (inner.kind === 'array' || inner.kind === 'reference') inner = inner.kind === 'array' ? inner.of : inner.to;
  if (inner.kind !== 'record' || inner.decl.vector !== null) return false;
  return recordHidesValue(inner.decl) || (inner.templateArguments !== undefined && anyHidesValue(inner.templateArguments));
}

/** Is one of the arguments of a template such a type? */
export function anyHidesValue(args: readonly TemplateArgument[]): boolean {
  return args.some((arg) => arg.kind === 'type' && hidesValue(pointee(arg.type)));
}

function pointee(type: Type): Type {
  let inner = type;
  while (inner.kind === 'pointer') inner = inner.to;
  return inner;
}

export function recordHidesValue(record: RecordDecl): boolean {
  const known = hiding.get(record);
  if (known !== undefined) return known;
  hiding.set(record, false); // a record is no part of itself
  const { written, parts, assigns } = lifeOf(record);
  const answer = written.length > 0 || parts.length > 0 || assigns.length > 0
    || record.methods.some((method) => method.name === record.name && defaults(method.parameters, 0, method.name).length > 0)
    || record.bases.some(hidesValue) || record.fields.some((field) => field.storage === 'member' && hidesValue(field.type));
  hiding.set(record, answer);
  return answer;
}

const hidingCalls = new WeakMap<CallExpr, boolean>();

/** Does a call get, make or run on such an object, as far as types tell? Once for each call. */
export function callHidesValue(call: CallExpr): boolean {
  const known = hidingCalls.get(call);
  if (known !== undefined) return known;
  const answer = call.callee.kind !== 'builtin' && !made.has(call) && handlesHidden(call);
  hidingCalls.set(call, answer);
  return answer;
}

function handlesHidden(call: CallExpr): boolean {
  const { callee } = call;
  if (hidesValue(call.type) || (call.templateArguments !== null && anyHidesValue(call.templateArguments))) return true;
  // What a template is called with may be a pointer, and it may make objects of what that leads to.
  if (call.arguments.some((argument) => hidesValue(pointee(argument.type)))) return true;
  if (callee.kind === 'method' && hidesValue(pointee(callee.object.type))) return true;
  if (callee.kind === 'value' && hidesValue(callee.value.type)) return true;
  return candidatesOf(call).some(({ parameters, template }) => parameters.some((parameter) => hidesValue(parameter.type))
    || (template !== null && anyHidesValue(template.flatMap((parameter) => parameter.default === null ? [] : [parameter.default]))));
}

/** The default values of fields as a constructor that nobody wrote; null if there are none. */
function implicitConstructor(record: RecordDecl): FunctionDecl | null {
  if (!record.fields.some((field) => field.storage === 'member' && field.init !== null)) return null;
  const body: CompoundStmt = { kind: 'compound', span: record.nameSpan, body: [] };
  return synthetic(record.name, record.file, record, body, { kind: 'void' }, record);
}

function isCopy(fn: FunctionDecl, record: RecordDecl): boolean {
  const first = fn.parameters[0];
  if (first === undefined || first.type.kind !== 'reference' || !fn.parameters.slice(1).every((parameter) => parameter.default !== null)) return false;
  const { to } = first.type;
  return to.kind === 'record' ? to.decl === record : to.kind === 'dependent' || to.kind === 'unknown';
}

function standIn(node: Node, callee: CallExpr['callee'], type: Type): CallExpr {
  const call: CallExpr = { kind: 'call', span: node.span, type, callee, calleeSpan: node.span, arguments: [], templateArguments: null };
  made.add(call);
  return call;
}

const quiet = new WeakMap<FunctionDecl, boolean>();

/** Does a function only compute from its parameters, its own object and constants, and change nothing else? Without a body nothing is known. */
export function isQuiet(fn: FunctionDecl): boolean {
  const known = quiet.get(fn);
  if (known !== undefined) return known;
  quiet.set(fn, false); // recursion
  const code = codeOf(fn);
  const answer = code !== null && isQuietNode(code);
  quiet.set(fn, answer);
  return answer;
}

function isQuietNode(node: Node): boolean {
  if (!isQuietAlone(node)) return false;
  if (mayRunMore(node) && implicitIn(node).length > 0) return false;
  let fine = true;
  forEachPart(node, (part) => { fine &&= isQuietNode(part); });
  return fine;
}

function isQuietAlone(node: Node): boolean {
  if ('type' in node && isVolatile(node.type)) return false;
  switch (node.kind) {
    case 'coordinate': return node.base === 'warpSize';
    case 'ref': return isQuietName(node.decl);
    case 'member': return node.field === null || !isVolatile(node.field.type);
    case 'assign': case 'update': return isOwn(node.target);
    case 'construct': return node.type.kind !== 'unknown';
    case 'call': {
      const { callee } = node;
      if (callee.kind === 'builtin') { const entry = builtin(callee.name); return entry !== undefined && entry.pure && entry.collective === null && !entry.volatile; }
      return (callee.kind === 'function' || callee.kind === 'method') && callee.candidates.length > 0 && callee.candidates.every(isQuiet);
    }
    case 'asm': case 'opaque': case 'lambda': case 'range-for': case 'goto': case 'label': return false;
    default: return true;
  }
}

function isVolatile(type: Type): boolean {
  if (type.volatile === true) return true;
  switch (type.kind) {
    case 'pointer': case 'reference': return isVolatile(type.to);
    case 'array': return isVolatile(type.of);
    default: return false;
  }
}

/** A parameter, a variable of the function, a field, a constant. */
function isQuietName(decl: Decl | null): boolean {
  if (decl === null) return false;
  if (decl.kind !== 'variable') return true;
  if (decl.storage === 'member' || decl.constexpr) return true;
  if (decl.storage === 'automatic') return decl.space === 'local' || decl.space === 'host';
  return decl.type.const === true && decl.type.kind !== 'pointer' && decl.space !== 'shared' && decl.space !== 'device' && decl.space !== 'managed';
}

/** An lvalue that is a variable of the function or a part of its own object, not through a pointer. */
function isOwn(target: Expr): boolean {
  for (let e = strip(target); ;) {
    switch (e.kind) {
      case 'ref': return e.decl !== null && (e.decl.kind === 'parameter' || e.decl.kind === 'variable') && e.decl.type.kind !== 'reference' && isQuietName(e.decl);
      case 'this': return true;
      case 'member': { const object = strip(e.object); if (e.field?.type.kind === 'reference' || (e.arrow && object.kind !== 'this')) return false; e = object; break; }
      case 'index': { const base = strip(e.base); if (base.type.kind !== 'array') return false; e = base; break; }
      case 'unary': { const inner = strip(e.operand); if (e.op !== '*' || inner.kind !== 'this') return false; e = inner; break; }
      case 'cast': e = strip(e.operand); break;
      default: return false;
    }
  }
}


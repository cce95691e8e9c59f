/**
 * What runs behind a call that names no function: a parameter that is called, `F::go()` of a template parameter, a method of a base that is one, a function
 * pointer, a virtual method, a specialisation. Known where the call of the function is: its arguments tell, through all calls on the way.
 *
 *   template <class F> void each(F f) { f(); }          each([] { __syncthreads(); })         the lambda
 *   template <void (*F)()> void run() { F(); }          run<wait>()                           wait
 *   template <class T> void go() { T::step(); }         go<Odd>()                             Odd::step
 *
 * Values are followed through variables with one value, parameters, members of an object that is made in sight, `std::forward`, `std::move` and functions that
 * return them; types through explicit arguments, deduction and the object of a method. `sure` is false where one of several may run. Not handled: values in
 * memory, variables that a loop changes, partial specialisations, and whatever is given through more than twelve steps.
 */
import { builtin, type Builtin } from '../cuda/builtins.js';
import type { CallExpr, Expr, FunctionDecl, LambdaExpr, LiteralExpr, ParameterDecl, Program, RecordDecl, RecordType, TemplateParameterDecl, Type, VariableDecl } from '../syntax/tree.js';
import { boundBy, recordIn, typeIn, type Binding } from './call-paths.js';
import { strip, walk, type Node } from './children.js';
import { codeOf } from './function-code.js';
import { indexFunction } from './function-index.js';
import { libraryCall, type LibraryCall } from './library-calls.js';
import { bodiesOf } from './summaries.js';
import { asBase } from './template-instances.js';

export type Behind =
  | { readonly kind: 'function'; readonly function: FunctionDecl; readonly home: Binding | null; readonly self: RecordType | null; readonly sure: boolean }
  | { readonly kind: 'builtin'; readonly entry: Builtin }
  | { readonly kind: 'library'; readonly call: LibraryCall; readonly name: string; /** The object or group as it was made, and where. */ readonly group: Expr; readonly at: Binding };

const NOTHING: readonly Behind[] = [];
const MAX_STEPS = 12;

// --------------------------------------------------------------------------------------------------------------- calls

const open = new WeakMap<FunctionDecl, readonly CallExpr[]>();

/** Calls of a function, and of lambdas in it, that name no function whose body is seen. A bare name that nothing declares may be a method only in a class. */
export function openCallsOf(fn: FunctionDecl): readonly CallExpr[] {
  let known = open.get(fn);
  if (known === undefined) open.set(fn, known = fn.body === null ? [] : indexFunction(fn).calls.filter((call) => isOpen(call) && (fn.owner !== null || call.callee.kind !== 'unknown' || call.callee.name.includes('::'))));
  return known;
}

/** Does a call not tell by itself what it runs? */
export function isOpen(call: CallExpr): boolean {
  const { callee } = call;
  switch (callee.kind) {
    case 'value': return true;
    case 'method': return callee.candidates.length === 0 && libraryCall(call) === null;
    case 'unknown': return libraryCall(call) === null;
    case 'function': case 'builtin': return false;
  }
}

/** What an open call runs on this path; empty if that is not known. */
export function behindCall(call: CallExpr, at: Binding, program: Program): readonly Behind[] {
  const { callee } = call;
  switch (callee.kind) {
    case 'value': return valueBehind(callee.value, at, program, true, 0);
    case 'method': return methodBehind(call, at, program);
    case 'unknown': return namedBehind(call, callee.name, at, program);
    case 'function': case 'builtin': return NOTHING;
  }
}

/** The template's own members may not be those of an instance of which there are specialisations. */
function functions(found: readonly FunctionDecl[], program: Program, self: RecordType | null, sure: boolean, isChosen = false): readonly Behind[] {
  const bodies = found.flatMap((fn) => bodiesOf(fn, program));
  return bodies.map((fn) => ({ kind: 'function', function: fn, home: null, self, sure: sure && bodies.length === 1 && (isChosen || fn.owner?.specialised !== true) }));
}

function methodBehind(call: CallExpr, at: Binding, program: Program): readonly Behind[] {
  const { callee } = call;
  if (callee.kind !== 'method') return NOTHING;
  const object = strip(callee.object);
  const made = object.kind === 'this' ? null : origin(object, at, 0);
  if (made !== null && made.expr !== object) {
    const as: CallExpr = { ...call, callee: { ...callee, object: made.expr } };
    const library = libraryCall(as);
    if (library !== null) return [{ kind: 'library', call: library, name: callee.name, group: made.expr, at: made.at }];
  }
  const written = object.kind === 'this' ? at.self : recordIn(typeIn(object.type, at, 0));
  const exact = made === null ? null : exactType(made.expr, made.at);
  const record = exact ?? written;
  if (record === null) return NOTHING;
  const own = membersNamed(record, callee.name, call.arguments.length, 0);
  if (exact !== null || !own.some(({ fn }) => fn.virtual === true)) return own.flatMap(({ fn, self }) => functions([fn], program, self, own.length === 1));
  return overriders(record.decl, callee.name, call.arguments.length, program).flatMap((fn) => functions([fn], program, null, false));
}

/** The type that an object has, not only one of its bases: null behind pointers and references of which nothing tells what they lead to. */
function exactType(expr: Expr, at: Binding): RecordType | null {
  if (expr.kind === 'unary' && (expr.op === '&' || expr.op === '*')) return exactType(strip(expr.operand), at);
  if (expr.kind === 'ref' && expr.decl !== null && (expr.decl.kind === 'variable' || expr.decl.kind === 'parameter') && expr.decl.type.kind === 'record') return recordIn(typeIn(expr.type, at, 0));
  return expr.kind === 'construct' || expr.kind === 'init-list' ? recordIn(typeIn(expr.type, at, 0)) : null;
}

interface Member { readonly fn: FunctionDecl; readonly self: RecordType }

/** Methods of a record, or else of its bases, that take so many arguments. */
function membersNamed(record: RecordType, name: string, count: number, depth: number): readonly Member[] {
  const own = record.decl.methods.filter((method) => method.name === name && takesCount(method, count));
  if (own.length > 0 || depth > MAX_STEPS) return own.map((fn) => ({ fn, self: record }));
  return record.decl.bases.flatMap((base) => {
    const inner = recordIn(substituted(base, record));
    return inner === null ? [] : membersNamed(inner, name, count, depth + 1);
  });
}

function takesCount(fn: FunctionDecl, count: number): boolean {
  return fn.parameters.at(-1)?.pack === true || (fn.parameters.length >= count && fn.parameters.slice(count).every((parameter) => parameter.default !== null));
}

/** A type as the class spells it, for this instance of the class. */
function substituted(type: Type, self: RecordType): Type {
  if (type.kind !== 'dependent' || type.decl === null || type.text !== type.decl.name || self.decl.template?.includes(type.decl) !== true) return type;
  const argument = self.templateArguments?.[type.decl.index] ?? type.decl.default;
  return argument?.kind === 'type' ? argument.type : type;
}

function overriders(record: RecordDecl, name: string, count: number, program: Program): readonly FunctionDecl[] {
  const found: FunctionDecl[] = [];
  for (const unit of program.units.values()) {
    for (const fn of unit.functions) {
      if (fn.name === name && fn.owner !== null && fn.body !== null && fn.parameters.length === count && asBase({ kind: 'record', decl: fn.owner }, record, 0) !== null) found.push(fn);
    }
  }
  return found;
}

/** `F::go`, `Tr<int>::go`, `N::__syncthreads`, `cg::sync(g)`. */
function namedBehind(call: CallExpr, name: string, at: Binding, program: Program): readonly Behind[] {
  const first = call.arguments[0];
  const made = first === undefined ? null : origin(strip(first), at, 0);
  if (made !== null && made.expr !== first) {
    const as: CallExpr = { ...call, arguments: [made.expr, ...call.arguments.slice(1)] };
    const library = libraryCall(as);
    if (library !== null) return [{ kind: 'library', call: library, name, group: made.expr, at: made.at }];
  }
  const cut = name.lastIndexOf('::');
  if (cut < 0) return ownBehind(name, call.arguments.length, at, program);
  const last = name.slice(cut + 2);
  const head = name.slice(0, cut);
  // Names that begin with two underscores are nobody's own: a using-declaration has brought it there.
  const entry = last.startsWith('__') ? builtin(last) : undefined;
  if (entry !== undefined) return [{ kind: 'builtin', entry }];
  const parameter = parameterNamed(head, at);
  if (parameter !== null) {
    const record = recordIn(typeIn({ kind: 'dependent', decl: parameter, text: head }, at, 0));
    if (record === null) return NOTHING;
    const found = membersNamed(record, last, call.arguments.length, 0);
    return found.flatMap(({ fn, self }) => functions([fn], program, self, found.length === 1));
  }
  return head.includes('<') ? specialised(head, last, call.arguments.length, program) : NOTHING;
}

/** A method of the class itself that stands behind the default value of a field which calls it: of a class all is seen in there. */
function ownBehind(name: string, count: number, at: Binding, program: Program): readonly Behind[] {
  for (let here: Binding | null = at; here !== null; here = here.home) {
    const { self, function: { owner } } = here;
    const found = owner === null ? [] : membersNamed(self ?? { kind: 'record', decl: owner }, name, count, 0);
    if (found.length > 0) return found.flatMap(({ fn, self: inside }) => functions([fn], program, inside, found.length === 1));
  }
  return NOTHING;
}

function parameterNamed(name: string, at: Binding): TemplateParameterDecl | null {
  for (let here: Binding | null = at; here !== null; here = here.home) {
    const found = [...(here.function.template ?? []), ...(here.function.owner?.template ?? [])].find((one) => one.name === name && one.sort === 'type');
    if (found !== undefined) return found;
  }
  return null;
}

/** A method of a class template with specialisations: of the one with the arguments of the call, else of the template itself; of any where that cannot be told. */
function specialised(head: string, name: string, count: number, program: Program): readonly Behind[] {
  const cut = head.indexOf('<');
  const [record, wanted] = [head.slice(head.lastIndexOf('::', cut) < 0 ? 0 : head.lastIndexOf('::', cut) + 2, cut), head.slice(cut).replace(/\s+/g, '')];
  const found: { readonly fn: FunctionDecl; readonly written: string }[] = [];
  for (const unit of program.units.values()) {
    for (const fn of unit.functions) {
      if (fn.name !== name || fn.owner?.name !== record || fn.body === null || !takesCount(fn, count)) continue;
      found.push({ fn, written: argumentsBehind(program.units.get(fn.owner.file)?.source.text ?? '', fn.owner.nameSpan.start + record.length) });
    }
  }
  const value = literals(wanted);
  const values = found.map(({ written }) => (written === '' ? '' : literals(written)));
  // A name among the arguments may stand for anything.
  const chosen = value === null || values.includes(null) ? found : found.filter((_, i) => values[i] === (values.includes(value) ? value : ''));
  return chosen.flatMap(({ fn }) => functions([fn], program, null, chosen.length === 1 && value !== null && !values.includes(null), true));
}

const WORDS: ReadonlySet<string> = new Set(['int', 'float', 'double', 'bool', 'char']);

/** Template arguments that mean the same wherever they are written alike: numbers, truth values, the plainest types; null if there are others. */
function literals(text: string): string | null {
  const parts = text.slice(1, -1).split(',').map((part) => (part === 'true' ? '1' : part === 'false' ? '0' : part));
  return parts.every((part) => /^(?:0|[1-9]\d*)$/.test(part) || WORDS.has(part)) ? parts.join() : null;
}

/** `<0>` in `struct U<0> {`, without blanks; the empty string if there is none. */
function argumentsBehind(text: string, offset: number): string {
  const rest = text.slice(offset, offset + 400);
  if (!rest.trimStart().startsWith('<')) return '';
  let depth = 0;
  for (let i = rest.indexOf('<'); i < rest.length; i++) {
    if (rest[i] === '<') depth++;
    else if (rest[i] === '>' && --depth === 0) return rest.slice(rest.indexOf('<'), i + 1).replace(/\s+/g, '');
  }
  return '';
}

// --------------------------------------------------------------------------------------------------------------- values

/** `loose`: made so, but something may have changed it since. */
interface Origin { readonly expr: Expr; readonly at: Binding; readonly loose?: true }

const FORWARDING = /^(?:std::|cuda::std::)?(?:forward|move|ref|cref)$/;

/** A value followed to where it is made; where that cannot be told, as far as it can. */
function origin(written: Expr, from: Binding, depth: number): Origin {
  let expr = strip(written);
  let at = from;
  for (let step = depth; step < MAX_STEPS; step++) {
    if (expr.kind === 'cast') expr = strip(expr.operand);
    else if (expr.kind === 'call' && (expr.callee.kind === 'unknown' || expr.callee.kind === 'function') && FORWARDING.test(expr.callee.name) && expr.arguments[0] !== undefined) expr = strip(expr.arguments[0]);
    else if (expr.kind === 'ref' && expr.decl !== null && expr.decl.kind === 'parameter') {
      const home = ownerOf(expr.decl, at);
      const argument = home?.call?.arguments[expr.decl.index] ?? expr.decl.default;
      if (home?.outer == null || argument === null || expr.decl.pack || isChanged(expr.decl, home.function)) break;
      expr = strip(argument);
      at = home.outer;
    } else if (expr.kind === 'ref' && expr.decl !== null && expr.decl.kind === 'variable' && expr.decl.type.kind !== 'record') {
      const value = soleInit(expr.decl, at);
      if (value === null) break;
      expr = strip(value);
    } else break;
  }
  return { expr, at };
}

/** A condition that the calls on the path decide: a template argument or an argument that is written as a number; null for any other. */
export function truthIn(condition: Expr, at: Binding): boolean | null {
  const made = origin(condition, at, 0);
  const { expr } = made;
  if (expr.kind === 'unary' && expr.op === '!') { const inside = truthIn(expr.operand, made.at); return inside === null ? null : !inside; }
  // What the function writes itself is read as it stands.
  if (expr.kind === 'literal') return made.at === at ? null : literalTruth(expr);
  if (expr.kind !== 'ref' || expr.decl === null || expr.decl.kind !== 'template-parameter') return null;
  const { decl } = expr;
  for (let here: Binding | null = made.at; here !== null; here = here.home) {
    const own = here.function.template?.includes(decl) === true;
    const argument = own ? here.call?.templateArguments?.[decl.index] : here.self?.decl.template?.includes(decl) === true ? here.self.templateArguments?.[decl.index] : undefined;
    if (argument?.kind !== 'value' || here.outer === null) continue;
    const value = strip(argument.value);
    return value.kind === 'literal' ? literalTruth(value) : truthIn(value, here.outer);
  }
  return null;
}

function literalTruth({ value }: LiteralExpr): boolean | null {
  return typeof value === 'string' || value === null ? null : value !== 0n && value !== 0 && value !== false;
}

/** The function on the path, or around its lambda, whose parameter it is. */
function ownerOf(parameter: ParameterDecl, at: Binding): Binding | null {
  for (let here: Binding | null = at; here !== null; here = here.home) if (here.function.parameters.includes(parameter)) return here;
  return null;
}

/**
 * Have the packs that are named in these expressions elements, on this path? All that are expanded together have as many. `unknown` where the calls do not
 * tell: nothing but types or numbers are expanded.
 */
export function elementsIn(parts: readonly Expr[], at: Binding): 'none' | 'some' | 'unknown' {
  let found: 'none' | 'some' | 'unknown' = 'unknown';
  const note = (node: Node): void => {
    if (node.kind === 'ref' && node.decl?.kind === 'parameter' && node.decl.pack) {
      const home = ownerOf(node.decl, at);
      if (home?.call == null || home.outer === null) return;
      const given = home.call.arguments.slice(node.decl.index).map(strip);
      const handedOn = given.flatMap((argument) => (argument.kind === 'opaque' && argument.packed === true ? [argument.parts ?? []] : []));
      const [only] = handedOn;
      if (given.length === 0) found = 'none';
      else if (handedOn.length < given.length) found = 'some';
      else if (only !== undefined && handedOn.length === 1) found = elementsIn(only, home.outer);
    }
  };
  for (const part of parts) walk(part, note);
  return found;
}

/** May a parameter be something else than what the call gives? */
function isChanged(parameter: ParameterDecl, fn: FunctionDecl): boolean {
  if (fn.body === null || parameter.type.kind === 'reference') return false;
  return (indexFunction(fn).writes.get(parameter) ?? []).some(({ kind }) => kind !== 'escape' || parameter.type.kind === 'pointer');
}

/** The only value that a variable has; of objects what they are made of, whatever their methods do. */
function soleInit(variable: VariableDecl, at: Binding): Expr | null {
  if (variable.init === null || variable.opaqueInit) return null;
  if (variable.storage !== 'automatic') return variable.constexpr || variable.type.const === true || strip(variable.init).kind === 'lambda' ? variable.init : null;
  for (let here: Binding | null = at; here !== null; here = here.home) {
    if (here.function.body === null) return null;
    const index = indexFunction(here.function);
    if (index.declared.has(variable)) return (index.writes.get(variable) ?? []).every(({ kind }) => kind === 'init' || (kind === 'escape' && (variable.type.kind === 'record' || (variable.init !== null && strip(variable.init).kind === 'lambda')))) ? variable.init : null;
  }
  return null;
}

/** What runs when a value is called. */
function valueBehind(written: Expr, from: Binding, program: Program, sure: boolean, depth: number): readonly Behind[] {
  if (depth > MAX_STEPS) return NOTHING;
  const { expr, at } = origin(written, from, depth);
  const again = (next: Expr, where: Binding = at, isSure = sure): readonly Behind[] => valueBehind(next, where, program, isSure, depth + 1);
  switch (expr.kind) {
    case 'lambda': return [{ kind: 'function', function: functionOf(expr, at.function), home: at, self: at.self, sure }];
    // One that captures by initialisers: what those give is not followed.
    case 'opaque': { const made = expr.parts?.find((part) => part.kind === 'lambda' && part.made !== undefined); return made === undefined ? NOTHING : again(made); }
    case 'unary': return expr.op === '&' || expr.op === '*' ? again(expr.operand) : NOTHING;
    case 'conditional': return [...again(expr.then, at, false), ...again(expr.else, at, false)];
    case 'ref': {
      const { decl } = expr;
      if (decl === null) { const entry = builtin(expr.name); return entry === undefined ? NOTHING : [{ kind: 'builtin', entry }]; }
      if (decl.kind === 'function') return functions([decl], program, null, sure);
      if (decl.kind === 'template-parameter') return givenValue(decl, at, program, sure, depth);
      if (decl.kind === 'parameter' && decl.pack) {
        const home = ownerOf(decl, at);
        const { outer } = home ?? { outer: null };
        if (home?.call != null && outer !== null) return home.call.arguments.slice(decl.index).flatMap((argument) => again(argument, outer));
      }
      if (decl.kind === 'variable' && decl.storage === 'member') { const held = heldIn(decl, at, program, depth); if (held !== null) return again(held.expr, held.at, sure && held.loose !== true); }
      return objectBehind(expr.type, at, program, sure);
    }
    case 'member': {
      const held = expr.field === null ? null : strip(expr.object).kind === 'this' ? heldIn(expr.field, at, program, depth) : partOf(expr.field, origin(expr.object, at, depth), program, depth);
      return held !== null ? again(held.expr, held.at, sure && held.loose !== true) : objectBehind(expr.type, at, program, sure);
    }
    case 'call': {
      const made = returnedBy(expr, at, program);
      return made !== null ? again(made.expr, made.at) : objectBehind(expr.type, at, program, sure);
    }
    default: return objectBehind(expr.type, at, program, sure);
  }
}

/** `operator()` of an object's class. */
function objectBehind(type: Type, at: Binding, program: Program, sure: boolean): readonly Behind[] {
  const resolved = typeIn(type, at, 0);
  const record = resolved.kind === 'reference' ? recordIn(resolved) : resolved.kind === 'record' ? resolved : null;
  if (record === null) return NOTHING;
  const found = operatorsOf(record, 0);
  return found.flatMap(({ fn, self }) => functions([fn], program, self, sure && found.length === 1));
}

function operatorsOf(record: RecordType, depth: number): readonly Member[] {
  const own = record.decl.methods.filter((method) => method.name === 'operator()');
  if (own.length > 0 || depth > MAX_STEPS) return own.map((fn) => ({ fn, self: record }));
  return record.decl.bases.flatMap((base) => { const inner = recordIn(substituted(base, record)); return inner === null ? [] : operatorsOf(inner, depth + 1); });
}

function givenValue(parameter: TemplateParameterDecl, at: Binding, program: Program, sure: boolean, depth: number): readonly Behind[] {
  for (let here: Binding | null = at; here !== null; here = here.home) {
    const own = here.function.template?.includes(parameter) === true;
    const argument = own ? here.call?.templateArguments?.[parameter.index] : here.self?.decl.template?.includes(parameter) === true ? here.self.templateArguments?.[parameter.index] : undefined;
    if (argument?.kind === 'value') return valueBehind(argument.value, here.outer ?? here, program, sure, depth + 1);
  }
  return NOTHING;
}

/** What a member of the method's own object holds, by how the object is made. */
function heldIn(field: VariableDecl, at: Binding, program: Program, depth: number): Origin | null {
  for (let here: Binding | null = at; here !== null; here = here.home) {
    if (here.function.owner === null || here.call === null || here.outer === null) continue;
    const { callee } = here.call;
    const object = callee.kind === 'method' ? callee.object : callee.kind === 'value' ? callee.value : null;
    if (object === null) return null;
    return strip(object).kind === 'this' ? heldIn(field, here.outer, program, depth + 1) : partOf(field, origin(object, here.outer, depth), program, depth);
  }
  return null;
}

/** A member of an object that is made in sight. */
function partOf(field: VariableDecl, made: Origin, program: Program, depth: number): Origin | null {
  if (depth > MAX_STEPS) return null;
  const { expr, at } = made;
  if (expr.kind === 'unary' && (expr.op === '&' || expr.op === '*')) return partOf(field, origin(expr.operand, at, depth), program, depth + 1);
  if (expr.kind === 'ref' && expr.decl !== null && expr.decl.kind === 'variable') {
    const init = soleInit(expr.decl, at);
    const part = init === null ? null : partOf(field, origin(init, at, depth), program, depth + 1);
    return part === null || part.expr.kind === 'lambda' ? part : { ...part, loose: true };
  }
  if (expr.kind === 'call') {
    const value = returnedBy(expr, at, program);
    return value === null ? null : partOf(field, origin(value.expr, value.at, depth), program, depth + 1);
  }
  if (expr.kind !== 'construct' && expr.kind !== 'init-list') return null;
  const record = recordIn(typeIn(expr.type, at, 0))?.decl;
  if (record === undefined || record.bases.length > 0) return null;
  const given = expr.kind === 'construct' ? expr.arguments : expr.elements;
  const [only] = record.methods.filter((method) => method.name === record.name && method.parameters.length === given.length && method.initialisers !== undefined);
  if (only === undefined) {
    const position = record.fields.filter(({ storage }) => storage === 'member').indexOf(field);
    const value = given[position];
    return value === undefined ? null : origin(value, at, depth);
  }
  const initial = only.initialisers?.find(({ name }) => name === field.name)?.arguments[0];
  if (initial === undefined) return null;
  const value = strip(initial);
  const argument = value.kind === 'ref' && value.decl !== null && value.decl.kind === 'parameter' ? given[value.decl.index] : undefined;
  return argument === undefined ? null : origin(argument, at, depth);
}

/** What a function that is seen returns, if it returns one value. */
function returnedBy(call: CallExpr, at: Binding, program: Program): Origin | null {
  const { callee } = call;
  if (callee.kind !== 'function' && callee.kind !== 'method') return null;
  const [fn, other] = callee.candidates.flatMap((candidate) => bodiesOf(candidate, program));
  if (fn === undefined || other !== undefined || fn.body === null) return null;
  const values: Expr[] = [];
  walk(fn.body, (node) => {
    if (node.kind === 'return' && node.value !== null) values.push(node.value);
    return node.kind !== 'lambda';
  });
  const [value] = values;
  return value === undefined || values.length > 1 ? null : { expr: value, at: boundBy(fn, call, at) };
}

const lambdas = new WeakMap<LambdaExpr, FunctionDecl>();

/** A lambda as a function, so that it can be entered like one; what it captures is not its own. */
export function functionOf(lambda: LambdaExpr, home: FunctionDecl): FunctionDecl {
  const known = lambdas.get(lambda);
  if (known !== undefined) return known;
  const span = { start: lambda.span.start, end: lambda.body.span.end };
  const made: FunctionDecl = {
    kind: 'function', name: 'lambda', span, nameSpan: { start: span.start, end: span.start + 1 }, file: home.file,
    qualifiers: { global: false, device: true, host: false, constexpr: false, static: false, inline: true, extern: false },
    parameters: lambda.parameters, returns: lambda.returns ?? { kind: 'unknown', text: 'auto' }, template: null, specialises: null, owner: null, bounds: [], body: lambda.body,
    headSpan: { start: span.start, end: lambda.body.span.start }, understood: true, problems: [], directives: [], inactive: [],
  };
  lambdas.set(lambda, made);
  return made;
}

// -------------------------------------------------------------------------------------------------------------- reached

const hides = new WeakMap<FunctionDecl, boolean>();

/** Does the function, or one that it calls by name, make open calls? */
export function mayHide(fn: FunctionDecl, calleesOf: (call: CallExpr) => readonly FunctionDecl[]): boolean {
  const known = hides.get(fn);
  if (known !== undefined) return known;
  hides.set(fn, false); // recursion
  const answer = fn.body !== null && codeOf(fn) !== null && (openCallsOf(fn).length > 0 || indexFunction(fn).calls.some((call) => calleesOf(call).some((callee) => callee !== fn && mayHide(callee, calleesOf))));
  hides.set(fn, answer);
  return answer;
}

/**
 * What the life of an object may run: constructors, copies, assignments and destructors of its class, of its bases and of its members, default values of
 * fields, default arguments. Once for each class, and for each instance of a class template in which a member's type depends on the arguments.
 *
 * Which constructor or assignment runs is told by the number of arguments alone. The one that nobody wrote is made of those of the members:
 *
 *   struct S { K k; A a[2]; };   S s{3};  s = S{};   runs `K(int)`, and `A::operator=` for each element
 *   struct D : B { using B::B; };   D d(3);          runs `B(int)`
 *
 * Quiet functions (quiet-code.ts) are left out.
 */
import { isQuiet, settled } from './quiet-code.js';
import { isConversion } from './record-members.js';
import type { CompoundStmt, Decl, FunctionDecl, ParameterDecl, RecordDecl, RecordType, Type } from '../syntax/tree.js';
import { bindings, substitute } from '../syntax/types.js';

/** What the life of an object may run, quiet functions left out. Members and bases are included. */
export interface Life {
  /** Constructors that were written, of the record itself and those that it inherits by name. */
  readonly written: readonly FunctionDecl[];
  /** What every constructor may run besides its own body: default values of fields, constructors of bases and members. */
  readonly parts: readonly FunctionDecl[];
  /** Constructors of members, members' members and bases that convert a value which an aggregate is given for them. */
  readonly makers: readonly FunctionDecl[];
  readonly copies: readonly FunctionDecl[];
  /** Copy and move assignments: the record's own, or if it has none those of its bases and members. */
  readonly assigns: readonly FunctionDecl[];
  readonly ends: readonly FunctionDecl[];
  readonly conversions: readonly FunctionDecl[];
  /** A base or the record itself is not seen. */
  readonly unseen: boolean;
}

const NONE: readonly FunctionDecl[] = [];
const NOTHING: Life = { written: NONE, parts: NONE, makers: NONE, copies: NONE, assigns: NONE, ends: NONE, conversions: NONE, unseen: false };
const UNSEEN: Life = { ...NOTHING, unseen: true };

/** Instances of templates inside of instances are followed so far: `template <int N> struct R { R<N - 1> rest; }` has no end. */
const MAX_DEPTH = 8;

/** With quiet functions. */
const whole = new WeakMap<RecordDecl | RecordType, Life>();
const lives = new WeakMap<Life, Life>();

/** What the objects of a type may run. */
export function lifeOf(type: RecordType): Life {
  return loudIn(wholeOf(type, 0));
}

/** The same where only the class is known. */
export function lifeOfRecord(record: RecordDecl): Life {
  return record.vector === null ? loudIn(wholeOf({ kind: 'record', decl: record }, 0)) : NOTHING;
}

/** Does an assignment that the text does not name leave nothing but a copy behind? Not where somebody wrote the one of a member, however quiet: it may keep what was there. */
export function assignmentCopies(type: Type): boolean {
  const record = recordTypeOf(type);
  return record === null || wholeOf(record, 0).assigns.length === 0;
}

function loudIn(life: Life): Life {
  if (life === NOTHING || life === UNSEEN) return life;
  const known = lives.get(life);
  if (known !== undefined) return known;
  const { value, keep } = settled(() => {
    const written = loud(life.written), parts = loud(life.parts), makers = loud(life.makers), copies = loud(life.copies), assigns = loud(life.assigns), ends = loud(life.ends), conversions = loud(life.conversions);
    const nothing = written.length + parts.length + makers.length + copies.length + assigns.length + ends.length + conversions.length === 0;
    return nothing ? life.unseen ? UNSEEN : NOTHING : { written, parts, makers, copies, assigns, ends, conversions, unseen: life.unseen };
  });
  if (keep) lives.set(life, value);
  return value;
}

function loud(functions: readonly FunctionDecl[]): readonly FunctionDecl[] {
  return functions.length === 0 ? NONE : functions.filter((fn) => !isQuiet(fn));
}

function wholeOf(type: RecordType, depth: number): Life {
  const { decl } = type;
  if (decl.vector !== null) return NOTHING;
  const key = isInstance(type) && depth < MAX_DEPTH ? type : decl;
  const known = whole.get(key);
  if (known !== undefined) return known;
  whole.set(key, NOTHING); // a record is no part of itself
  const made = live(key === decl ? { kind: 'record', decl } : type, depth);
  whole.set(key, made);
  return made;
}

/** Is it an instance of a template in which the type of a member or base hangs on the arguments? */
function isInstance({ decl, templateArguments }: RecordType): boolean {
  return templateArguments !== undefined && decl.template !== null && dependsOnArguments(decl);
}

const depending = new WeakMap<RecordDecl, boolean>();

function dependsOnArguments(record: RecordDecl): boolean {
  let known = depending.get(record);
  if (known === undefined) depending.set(record, known = record.bases.some(isDependent) || record.fields.some((field) => field.storage === 'member' && isDependent(field.type)));
  return known;
}

function isDependent(type: Type): boolean {
  switch (type.kind) {
    case 'dependent': return true;
    case 'array': return isDependent(type.of);
    case 'record': return type.templateArguments?.some((argument) => argument.kind === 'type' && isDependent(argument.type)) === true;
    default: return false;
  }
}

/** Types of bases, in front, and of members, with the arguments of the template in them. */
function partsOf(type: RecordType): readonly Type[] {
  const { decl, templateArguments } = type;
  const written = [...decl.bases, ...decl.fields.filter((field) => field.storage === 'member').map((field) => field.type)];
  if (!isInstance(type) || templateArguments === undefined || decl.template === null) return written;
  const bound = bindings(decl.template, templateArguments);
  return written.map((one) => (isDependent(one) ? substitute(one, bound) : one));
}

function live(type: RecordType, depth: number): Life {
  const { decl: record } = type;
  const { name, methods, bases } = record;
  const written = methods.filter((method) => method.defaulted !== true);
  const constructors = written.filter((method) => method.name === name);
  const values = implicitConstructor(record);
  const parts: FunctionDecl[] = values === null ? [] : [values];
  const makers: FunctionDecl[] = [];
  const copies = constructors.filter((fn) => isCopy(fn, record));
  const assigns = written.filter((method) => method.name === 'operator=');
  const assigned = assigns.some((fn) => isOf(fn, record));
  const ends = written.filter((method) => method.name.startsWith('~'));
  const conversions = written.filter(isConversion);
  let unseen = !record.complete || record.specialised === true;
  partsOf(type).forEach((part, position) => {
    const inner = recordTypeOf(part);
    if (inner === null) { if (position < bases.length && part.kind === 'unknown') unseen = true; return; }
    const life = wholeOf(inner, depth + 1);
    const defaulted = constructorsFor(inner, 0);
    parts.push(...life.parts, ...life.written.filter((fn) => defaulted.includes(fn)), ...defaulted.flatMap((fn) => defaultsAfter(fn, 0)));
    const converting = constructorsFor(inner, 1);
    makers.push(...life.makers, ...life.written.filter((fn) => converting.includes(fn) && !isCopy(fn, inner.decl)), ...converting.flatMap((fn) => defaultsAfter(fn, 1)));
    copies.push(...life.copies);
    if (!assigned) assigns.push(...life.assigns);
    ends.push(...life.ends);
    if (position < bases.length) {
      conversions.push(...life.conversions);
      if (record.inherits === true) constructors.push(...life.written);
    }
    unseen ||= life.unseen;
  });
  const once = (functions: readonly FunctionDecl[]): readonly FunctionDecl[] => (functions.length === 0 ? NONE : [...new Set(functions)]);
  const nothing = constructors.length + parts.length + makers.length + copies.length + assigns.length + ends.length + conversions.length === 0;
  if (nothing) return unseen ? UNSEEN : NOTHING;
  return {
    written: once(constructors), parts: once(parts), makers: isAggregate(record) ? once(makers) : NONE, copies: once(copies), assigns: once(assigns), ends: once(ends), conversions: once(conversions), unseen,
  };
}

/** Is each member given a value, so that no default value is used? Only where none may be for a part of a member. */
export function isWhollyGiven(record: RecordDecl, count: number): boolean {
  if (count === 0 || record.bases.length > 0 || !record.complete || record.specialised === true || !isAggregate(record)) return false;
  const members = record.fields.filter((field) => field.storage === 'member');
  return count >= members.length && members.every(({ type }) => type.kind === 'bool' || type.kind === 'int' || type.kind === 'float' || type.kind === 'enum' || type.kind === 'pointer');
}

/** May its members be given one by one? */
function isAggregate(record: RecordDecl): boolean {
  return record.inherits !== true && !record.methods.some((method) => method.name === record.name);
}

/** Constructors that take so many arguments, inherited ones included. */
export function constructorsFor(type: RecordType, count: number): readonly FunctionDecl[] {
  const { decl } = type;
  const own = decl.methods.filter((method) => method.name === decl.name && (method.parameters.length >= count || method.parameters.at(-1)?.pack === true)
    && method.parameters.slice(count).every((parameter) => parameter.default !== null || parameter.pack));
  if (decl.inherits !== true || count === 0) return own;
  return [...own, ...partsOf(type).slice(0, decl.bases.length).flatMap((base) => (base.kind === 'record' && base.decl !== decl ? constructorsFor(base, count) : NONE))];
}

/** Functions that stand for the default arguments of a function that is given so many. */
export function defaultsAfter(fn: FunctionDecl, count: number): readonly FunctionDecl[] {
  return fn.parameters.length > count ? defaultsIn(fn.parameters, count, fn.name) : NONE;
}

/** The same for any parameters, quiet ones left out. */
export function defaults(parameters: readonly ParameterDecl[], count: number, name: string): readonly FunctionDecl[] {
  return loud(defaultsIn(parameters, count, name));
}

const thunks = new WeakMap<ParameterDecl, FunctionDecl>();

function defaultsIn(parameters: readonly ParameterDecl[], count: number, name: string): readonly FunctionDecl[] {
  const found: FunctionDecl[] = [];
  for (const parameter of parameters.slice(count)) {
    const { default: value } = parameter;
    if (value === null) continue;
    let thunk = thunks.get(parameter);
    if (thunk === undefined) {
      const body: CompoundStmt = { kind: 'compound', span: value.span, body: [{ kind: 'return', span: value.span, value }] };
      thunks.set(parameter, thunk = synthetic(name, parameter.file, parameter, body, parameter.type, null));
    }
    found.push(thunk);
  }
  return found;
}

/** The record of an object or of an array of them; null for CUDA's vectors, references and what is no object. */
export function recordTypeOf(type: Type): RecordType | null {
  let inner = type;
  while (inner.kind === 'array') inner = inner.of;
  return inner.kind === 'record' && inner.decl.vector === null ? inner : null;
}

/** Destructors that the end of an object of the type runs. */
export function endsOf(type: Type): readonly FunctionDecl[] {
  const record = recordTypeOf(type);
  return record === null ? NONE : lifeOf(record).ends;
}

/** The default values of fields as a constructor that nobody wrote; null if there are none. */
function implicitConstructor(record: RecordDecl): FunctionDecl | null {
  if (!record.fields.some((field) => field.storage === 'member' && field.init !== null)) return null;
  const body: CompoundStmt = { kind: 'compound', span: record.nameSpan, body: [] };
  return synthetic(record.name, record.file, record, body, { kind: 'void' }, record);
}

function isCopy(fn: FunctionDecl, record: RecordDecl): boolean {
  return fn.parameters[0]?.type.kind === 'reference' && isOf(fn, record);
}

/** Does it take an object of the record, and nothing else that has no default? */
function isOf(fn: FunctionDecl, record: RecordDecl): boolean {
  const first = fn.parameters[0];
  if (first === undefined || !fn.parameters.slice(1).every((parameter) => parameter.default !== null)) return false;
  const type = first.type.kind === 'reference' ? first.type.to : first.type;
  return type.kind === 'record' ? type.decl === record : type.kind === 'dependent' || type.kind === 'unknown';
}

function synthetic(name: string, file: string, at: Decl, body: CompoundStmt, returns: Type, owner: RecordDecl | null): FunctionDecl {
  return {
    kind: 'function', name, span: at.span, nameSpan: at.nameSpan, file, qualifiers: { global: false, device: true, host: true, constexpr: false, static: false, inline: true, extern: false },
    parameters: [], returns, template: null, specialises: null, owner, bounds: [], body, headSpan: at.nameSpan, understood: true, problems: [], directives: [], inactive: [],
  };
}

/**
 * Functions as they are called on one path, from a kernel on: what stands there for the parameters of templates, and of which class the object of a method is.
 *
 *   template <class F> void each(F f)      called with a functor of type Op: F is Op
 *   void Loop<F>::run()                    of an object of type Loop<Op>: F is Op
 *
 * Explicit arguments count first, then what is deduced from the types of the arguments, then defaults; the object of a method tells the parameters of its class.
 * Not handled: packs, values among the arguments (callables.ts asks for them where they are called or tested).
 */
import type { CallExpr, FunctionDecl, RecordDecl, RecordType, TemplateParameterDecl, Type } from '../syntax/tree.js';
import { strip } from './children.js';
import { asBase, match } from './template-instances.js';

/** A function as it is called on one path. */
export interface Binding {
  readonly function: FunctionDecl;
  /** Null for where the path begins. */
  readonly call: CallExpr | null;
  readonly outer: Binding | null;
  /** Where a lambda is written: what its captures are is told there. */
  readonly home: Binding | null;
  /** The class of a method's object, with what stands for its parameters; null if not known. */
  readonly self: RecordType | null;
}

const MAX_STEPS = 12;
const roots = new WeakMap<FunctionDecl, Binding>();
const inner = new WeakMap<Binding, Map<CallExpr, Map<FunctionDecl, Binding>>>();

export function bindingOf(kernel: FunctionDecl): Binding {
  let known = roots.get(kernel);
  if (known === undefined) roots.set(kernel, known = { function: kernel, call: null, outer: null, home: null, self: null });
  return known;
}

/** The binding of a function that a call leads to: one for each path. */
export function boundBy(fn: FunctionDecl, call: CallExpr, outer: Binding, behind: { readonly home: Binding | null; readonly self: RecordType | null } | null = null): Binding {
  let ofOuter = inner.get(outer);
  if (ofOuter === undefined) inner.set(outer, ofOuter = new Map());
  let ofCall = ofOuter.get(call);
  if (ofCall === undefined) ofOuter.set(call, ofCall = new Map());
  const known = ofCall.get(fn);
  if (known !== undefined) return known;
  const made: Binding = behind !== null ? { function: fn, call, outer, home: behind.home, self: behind.self } : { function: fn, call, outer, home: null, self: fn.owner === null ? null : receiverOf(fn.owner, call, outer) };
  ofCall.set(fn, made);
  return made;
}

function receiverOf(owner: RecordDecl, { callee }: CallExpr, outer: Binding): RecordType | null {
  let type: Type | null = null;
  if (callee.kind === 'method') type = strip(callee.object).kind === 'this' ? outer.self : typeIn(strip(callee.object).type, outer, 0);
  else if (callee.kind === 'function') type = callee.scope !== undefined ? typeIn(callee.scope, outer, 0) : outer.self;
  else if (callee.kind === 'value') type = typeIn(strip(callee.value).type, outer, 0);
  const record = recordIn(type);
  return record === null ? null : baseOf(record, owner) ?? (owner.template === null ? { kind: 'record', decl: owner } : null);
}

export function recordIn(type: Type | null): RecordType | null {
  if (type === null) return null;
  if (type.kind === 'reference' || type.kind === 'pointer') return recordIn(type.to);
  return type.kind === 'record' ? type : null;
}

/** The base that a record has of this class, dependent bases included. */
function baseOf(record: RecordType, owner: RecordDecl): RecordType | null {
  return record.decl === owner ? record : asBase(record, owner, 0);
}

/** A type on this path; as it is written where nothing tells more. */
export function typeIn(type: Type, at: Binding, depth: number): Type {
  if (depth > MAX_STEPS) return type;
  switch (type.kind) {
    case 'reference': case 'pointer': { const to = typeIn(type.to, at, depth + 1); return to === type.to ? type : { ...type, to }; }
    case 'record': {
      const given = type.templateArguments;
      if (given === undefined) return at.self !== null && at.self.decl === type.decl ? at.self : type;
      if (!given.some((one) => one.kind === 'type' && one.type.kind === 'dependent')) return type;
      return { ...type, templateArguments: given.map((one) => (one.kind === 'type' ? { kind: 'type', type: typeIn(one.type, at, depth + 1) } : one)) };
    }
    case 'dependent': return type.decl === null || type.text !== type.decl.name ? type : given(type.decl, at, depth) ?? type;
    default: return type;
  }
}

function given(parameter: TemplateParameterDecl, at: Binding, depth: number): Type | null {
  for (let here: Binding | null = at; here !== null; here = here.home) {
    const { function: fn, call, outer, self } = here;
    if (self?.decl.template?.includes(parameter) === true) {
      const argument = self.templateArguments?.[parameter.index] ?? parameter.default;
      return argument?.kind === 'type' && !(argument.type.kind === 'dependent' && argument.type.decl === parameter) ? argument.type : null;
    }
    if (fn.template?.includes(parameter) !== true || call === null || outer === null) continue;
    const explicit = call.templateArguments?.[parameter.index];
    if (explicit?.kind === 'type') return typeIn(explicit.type, outer, depth + 1);
    for (const [i, { type, pack }] of fn.parameters.entries()) {
      const argument = call.arguments[i];
      const found = argument === undefined || pack ? null : match(type, typeIn(strip(argument).type, outer, depth + 1), parameter);
      if (found !== null) return found;
    }
    return parameter.default?.kind === 'type' ? parameter.default.type : null;
  }
  return null;
}

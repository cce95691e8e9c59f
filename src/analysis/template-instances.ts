/**
 * What stands for the parameters of templates: the types with which the program makes instances of device functions, kernels and methods of class templates.
 *
 * Read off the launches of kernels and the calls of functions: explicit arguments, else what is deduced from the arguments' types, else defaults. For the
 * parameters of a class template the object tells, or the record before `::`, through bases (`struct D : B<int>`); a method that is called from the class
 * itself has the caller's. Operators of functors (`op(x)`) count. Not seen, and open: packs, functions that are passed as values, constructors and what else runs
 * without a call of the tree.
 */
import type { CallExpr, Expr, FunctionDecl, Program, RecordDecl, RecordType, TemplateArgument, TemplateParameterDecl, Type } from '../syntax/tree.js';
import { bindings, substitute } from '../syntax/types.js';
import { calleesAt } from './call-sites.js';
import { strip } from './children.js';
import { indexFunction } from './function-index.js';

/** A type as the function names it. */
export interface Seen { readonly type: Type; readonly within: FunctionDecl | null }

interface Site { readonly explicit: readonly TemplateArgument[] | null; readonly arguments: readonly Expr[]; readonly object: Type | null; readonly within: FunctionDecl | null }

interface Tables {
  readonly sites: Map<FunctionDecl, Site[]>;
  /** Functions whose calls stand in `sites`. */
  readonly read: Set<FunctionDecl>;
  readonly parameters: Map<FunctionDecl, Map<TemplateParameterDecl, Instances>>;
}

const tables = new WeakMap<Program, Tables>();

function tablesOf(program: Program): Tables {
  let known = tables.get(program);
  if (known === undefined) tables.set(program, known = { sites: new Map(), read: new Set(), parameters: new Map() });
  return known;
}

const NOWHERE: readonly number[] = [];

/**
 * Calls of a template by device code; those of the host make no instance that runs on the device. Bodies are read only where the name stands in their text or
 * in a macro's: most are not read for anything else either.
 */
function sitesOf(fn: FunctionDecl, program: Program): readonly Site[] {
  const { sites, read } = tablesOf(program);
  const unnamed = isCalledUnnamed(fn);
  for (const unit of program.units.values()) {
    // A macro may spell the call.
    const anywhere = unnamed || [...unit.macros.values()].some(({ body }) => wordsIn(body, fn.name).length > 0);
    const named = anywhere ? NOWHERE : wordsIn(unit.source.text, fn.name);
    if (!anywhere && named.length === 0) continue;
    for (const caller of unit.functions) {
      const { qualifiers: { global, device, constexpr }, span } = caller;
      if (!(global || device || constexpr) || read.has(caller) || !(anywhere || named.some((at) => at >= span.start && at < span.end)) || caller.body === null) continue;
      read.add(caller);
      for (const call of indexFunction(caller).calls) {
        for (const callee of calleesAt(call, program)) {
          if (!isTemplate(callee)) continue;
          const list = sites.get(callee) ?? [];
          if (list.length === 0) sites.set(callee, list);
          list.push({ explicit: call.templateArguments, arguments: call.arguments, object: objectOf(call), within: caller });
        }
      }
    }
  }
  return sites.get(fn) ?? [];
}

/** Do calls of the function not spell its name? Operators, constructors and destructors run unnamed, functors under the names of variables. */
function isCalledUnnamed({ name, owner }: FunctionDecl): boolean {
  return name.startsWith('operator') || name.startsWith('~') || name === owner?.name;
}

/** Where a text holds the name as a word, in order. */
function wordsIn(text: string, name: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) {
    if (!isWordPart(text.charCodeAt(at - 1)) && !isWordPart(text.charCodeAt(at + name.length))) found.push(at);
  }
  return found;
}

function isWordPart(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36 || code >= 128;
}

/** The class to which the object of a call belongs, or the one before `::`. */
export function objectOf(call: CallExpr): Type | null {
  const { callee } = call;
  switch (callee.kind) {
    case 'function': return callee.scope ?? null;
    case 'method': { const { type } = strip(callee.object); return type.kind === 'pointer' || type.kind === 'reference' ? type.to : type; }
    case 'value': { const { type } = strip(callee.value); return type.kind === 'reference' ? type.to : type; }
    case 'builtin': case 'unknown': return null;
  }
}

/** Is the function a template, or a method of one? */
export function isTemplate(fn: FunctionDecl): boolean {
  return fn.template !== null || (fn.owner !== null && fn.owner.template !== null);
}

export interface Instances { readonly types: readonly Seen[]; readonly open: boolean }

/** What stands for a template parameter of a function in the program. */
export function typesOf(parameter: TemplateParameterDecl, fn: FunctionDecl, program: Program): Instances {
  const { parameters } = tablesOf(program);
  let ofFunction = parameters.get(fn);
  if (ofFunction === undefined) parameters.set(fn, ofFunction = new Map());
  const known = ofFunction.get(parameter);
  if (known !== undefined) return known;
  const types: Seen[] = [];
  let open = parameter.sort !== 'type' || parameter.pack;
  const owner = fn.template?.includes(parameter) === true ? null : fn.owner;
  const launched = fn.qualifiers.global
    ? program.launchesOf(fn).map((launch): Site => ({ explicit: launch.templateArguments, arguments: launch.arguments, object: null, within: null }))
    : sitesOf(fn, program);
  if (fn.qualifiers.global ? !program.allLaunchesVisible(fn) : launched.length === 0) open = true;
  for (const site of launched) {
    const argument = owner !== null ? ofClass(parameter, owner, site) : site.explicit?.[parameter.index] ?? deduced(parameter, fn, site) ?? parameter.default ?? undefined;
    if (argument === undefined || argument.kind !== 'type') open = true;
    else types.push({ type: argument.type, within: site.within });
  }
  const made = { types, open };
  ofFunction.set(parameter, made);
  return made;
}

/** The argument that the object of a call has for a parameter of the method's class. */
function ofClass(parameter: TemplateParameterDecl, owner: RecordDecl, site: Site): TemplateArgument | undefined {
  const { object, within } = site;
  const self = within?.owner ?? null;
  let record = object?.kind === 'record' ? object : null;
  // Inside of a class its name stands for the instance itself.
  if (record === null || (record.templateArguments === undefined && record.decl === self)) record = self === null ? record : itself(self);
  const base = record === null ? null : asBase(record, owner, 0);
  return base === null ? undefined : base.templateArguments?.[parameter.index] ?? parameter.default ?? undefined;
}

function itself(decl: RecordDecl): RecordType {
  if (decl.template === null) return { kind: 'record', decl };
  return { kind: 'record', decl, templateArguments: decl.template.map((one): TemplateArgument => ({ kind: 'type', type: { kind: 'dependent', decl: one, text: one.name } })) };
}

/** The record as the base that a method belongs to. */
export function asBase(record: RecordType, owner: RecordDecl, depth: number): RecordType | null {
  const { decl, templateArguments } = record;
  if (decl === owner) return templateArguments === undefined && decl.template !== null ? null : record;
  if (depth > 8) return null;
  for (const base of decl.bases) {
    const here = decl.template === null || templateArguments === undefined ? base : substitute(base, bindings(decl.template, templateArguments));
    const found = here.kind === 'record' ? asBase(here, owner, depth + 1) : null;
    if (found !== null) return found;
  }
  return null;
}

function deduced(parameter: TemplateParameterDecl, fn: FunctionDecl, site: Site): TemplateArgument | undefined {
  for (const [i, { type, pack }] of fn.parameters.entries()) {
    const argument = site.arguments[i];
    if (argument === undefined || pack) continue;
    const found = match(type, argument.type, parameter);
    if (found !== null) return { kind: 'type', type: found };
  }
  return undefined;
}

/** The type that stands for the parameter where the pattern is that of a value; qualifiers below a pointer are kept, since they go into the instance. */
export function match(pattern: Type, actual: Type, parameter: TemplateParameterDecl): Type | null {
  if (pattern.kind === 'reference') return match(pattern.to, actual.kind === 'reference' ? actual.to : actual, parameter);
  const value = actual.kind === 'reference' ? actual.to : actual;
  if (pattern.kind === 'dependent') {
    if (pattern.decl !== parameter || pattern.text !== parameter.name) return null;
    return value.kind === 'array' ? { kind: 'pointer', to: value.of } : value;
  }
  if (pattern.kind === 'array') return value.kind === 'array' ? match(pattern.of, value.of, parameter) : null;
  if (pattern.kind === 'pointer') {
    if (value.kind === 'pointer') return match(pattern.to, value.to, parameter);
    return value.kind === 'array' ? match(pattern.to, value.of, parameter) : null;
  }
  if (pattern.kind === 'record' && value.kind === 'record' && pattern.decl === value.decl) {
    for (const [i, inner] of (pattern.templateArguments ?? []).entries()) {
      const given = value.templateArguments?.[i];
      const found = inner.kind === 'type' && given?.kind === 'type' ? match(inner.type, given.type, parameter) : null;
      if (found !== null) return found;
    }
  }
  return null;
}

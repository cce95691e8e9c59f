/**
 * What the types that depend on template parameters are in the instances that the program makes: the one answer for effects, uniformity and transforms to
 * the question whether an operator of a template is that of numbers.
 *
 * The types are read off the launches of kernels and the calls of device functions (explicit arguments, else deduced from the arguments' types, else
 * defaults), through calling templates up to the kernels. A type of which one instance is a class with operators that do more than compute from their
 * operands, or is volatile or leads to what is, is *foreign*: nothing is known of what its operators do. Classes whose operators only compute are as good as
 * numbers. A type of which some instance cannot be told is *open*: whoever rests on its being a number must say so.
 *
 * Not seen, and open: packs, members of template parameters (`typename T::value_type`), arguments that depend on a template of the host.
 */
import { builtin } from '../cuda/builtins.js';
import type { CallExpr, EnumDecl, Expr, FunctionDecl, Program, RecordDecl, TemplateArgument, TemplateParameterDecl, Type, Unit, VariableDecl } from '../syntax/tree.js';
import { calleesOf } from './call-sites.js';
import { forEachChild, isStmt, strip, type Node } from './children.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { isMember, rootOf } from './lvalues.js';

/** What is known of a type over all instances. */
export interface Judgement {
  /** An instance whose operators may do anything, in words; null if there is none. */
  readonly foreign: string | null;
  /** Some instance is not known. */
  readonly open: boolean;
}

const NUMBER: Judgement = { foreign: null, open: false };
const OPEN: Judgement = { foreign: null, open: true };

/** Does a type depend on a template parameter, seen as the type of an expression? */
export function isDependent(type: Type): boolean {
  return type.kind === 'dependent' || (type.kind === 'reference' && type.to.kind === 'dependent');
}

/** A type as the function names it. */
interface Seen { readonly type: Type; readonly within: FunctionDecl | null }

interface Site { readonly explicit: readonly TemplateArgument[] | null; readonly arguments: readonly Expr[]; readonly object: Type | null; readonly within: FunctionDecl | null }

interface Tables {
  readonly sites: Map<FunctionDecl, Site[]>;
  /** Functions whose calls stand in `sites`. */
  readonly read: Set<FunctionDecl>;
  /** Operators outside of classes that device code may call. */
  readonly operators: readonly FunctionDecl[];
  readonly parameters: Map<TemplateParameterDecl, { readonly types: readonly Seen[]; readonly open: boolean }>;
  readonly judgements: Map<FunctionDecl, Map<string, Judgement>>;
  readonly operands: Map<FunctionDecl, Operands>;
}

const tables = new WeakMap<Program, Tables>();

function tablesOf(program: Program): Tables {
  const known = tables.get(program);
  if (known !== undefined) return known;
  const operators: FunctionDecl[] = [];
  for (const unit of program.units.values()) {
    for (const fn of unit.functions) if (fn.owner === null && fn.name.startsWith('operator') && (fn.qualifiers.device || fn.qualifiers.constexpr)) operators.push(fn);
  }
  const made: Tables = { sites: new Map(), read: new Set(), operators, parameters: new Map(), judgements: new Map(), operands: new Map() };
  tables.set(program, made);
  return made;
}

/**
 * Calls of a template by device code; those of the host make no instance that runs on the device. Bodies are read only where the name stands in their text or
 * in a macro's: most are not read for anything else either.
 */
function sitesOf(fn: FunctionDecl, program: Program): readonly Site[] {
  const { sites, read } = tablesOf(program);
  for (const unit of program.units.values()) {
    // A macro may spell the call.
    const inMacro = [...unit.macros.values()].some(({ body }) => body.includes(fn.name));
    for (const caller of unit.functions) {
      const { global, device, constexpr } = caller.qualifiers;
      if (!(global || device || constexpr) || read.has(caller) || !(inMacro || mayCall(caller, fn, unit)) || caller.body === null) continue;
      read.add(caller);
      for (const call of indexFunction(caller).calls) {
        for (const callee of calleesOf(call, program)) {
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

/** Whether a function may call the other one, as far as its text and its parameters tell. */
function mayCall(caller: FunctionDecl, fn: FunctionDecl, unit: Unit): boolean {
  const { name, owner } = fn;
  // Operators, constructors and destructors run unnamed; what is passed as a function is called by another name.
  if (name.startsWith('operator') || name.startsWith('~') || name === owner?.name || caller.parameters.some(({ type }) => mayBeCalled(type))) return true;
  return unit.source.text.slice(caller.span.start, caller.span.end).includes(name);
}

function mayBeCalled(type: Type): boolean {
  switch (type.kind) {
    case 'function': case 'dependent': case 'unknown': case 'record': return true;
    case 'pointer': case 'reference': return mayBeCalled(type.to);
    case 'array': return mayBeCalled(type.of);
    default: return false;
  }
}

function objectOf(call: CallExpr): Type | null {
  if (call.callee.kind !== 'method') return null;
  const { type } = strip(call.callee.object);
  return type.kind === 'pointer' || type.kind === 'reference' ? type.to : type;
}

function isTemplate(fn: FunctionDecl): boolean {
  return fn.template !== null || (fn.owner !== null && fn.owner.template !== null);
}

/** What a type of an expression of the function is in all instances. */
export function judge(type: Type, fn: FunctionDecl, program: Program): Judgement {
  const { judgements } = tablesOf(program);
  let ofFunction = judgements.get(fn);
  if (ofFunction === undefined) judgements.set(fn, ofFunction = new Map());
  const inner = type.kind === 'reference' ? type.to : type;
  const key = inner.kind === 'dependent' ? inner.text : null;
  const known = key === null ? undefined : ofFunction.get(key);
  if (known !== undefined) return known;
  if (key !== null && !isTemplate(fn)) return OPEN;
  const made = judgeSeen({ type, within: fn }, program, new Set());
  if (key !== null) ofFunction.set(key, made);
  return made;
}

function both(a: Judgement, b: Judgement): Judgement {
  return { foreign: a.foreign ?? b.foreign, open: a.open || b.open };
}

function judgeSeen({ type, within }: Seen, program: Program, visiting: Set<TemplateParameterDecl>): Judgement {
  if (type.volatile === true) return { foreign: 'volatile', open: false };
  switch (type.kind) {
    case 'void': case 'bool': case 'int': case 'float': case 'function': return NUMBER;
    case 'pointer': case 'reference': return judgeSeen({ type: type.to, within }, program, visiting);
    case 'array': return judgeSeen({ type: type.of, within }, program, visiting);
    case 'enum': return operatorsCompute(type.decl, program, new Set()) ? NUMBER : { foreign: `${type.decl.name}, with operators of its own`, open: false };
    case 'record': return isComputing(type.decl, program, new Set()) ? NUMBER : { foreign: `${type.decl.name}, a class whose operators may do more than compute`, open: false };
    case 'unknown': return OPEN;
    case 'dependent': break;
  }
  if (within === null) return OPEN;
  const { decl } = type;
  if (decl !== null) return type.text === decl.name ? judgeParameter(decl, within, program, visiting) : OPEN;
  if (type.text !== '') return OPEN;
  // The result of an operation in the template: of whatever its types are.
  let made = NUMBER;
  let any = false;
  for (const parameter of [...within.template ?? [], ...within.owner?.template ?? []]) {
    if (parameter.sort === 'value') continue;
    any = true;
    made = both(made, judgeParameter(parameter, within, program, visiting));
  }
  return any ? made : OPEN;
}

function judgeParameter(parameter: TemplateParameterDecl, within: FunctionDecl, program: Program, visiting: Set<TemplateParameterDecl>): Judgement {
  // A template that calls itself adds no types by that.
  if (visiting.has(parameter)) return NUMBER;
  visiting.add(parameter);
  const { types, open } = typesOf(parameter, within, program);
  let made: Judgement = open ? OPEN : NUMBER;
  for (const seen of types) {
    const here = judgeSeen(seen, program, visiting);
    made = both(made, here.foreign === null || here.foreign.startsWith('in an instance') ? here : { ...here, foreign: `in an instance, ${parameter.name} is ${here.foreign}` });
  }
  visiting.delete(parameter);
  return made;
}

/** What stands for a template parameter of a function in the program. */
function typesOf(parameter: TemplateParameterDecl, fn: FunctionDecl, program: Program): { readonly types: readonly Seen[]; readonly open: boolean } {
  const { parameters } = tablesOf(program);
  const known = parameters.get(parameter);
  if (known !== undefined) return known;
  const types: Seen[] = [];
  let open = parameter.sort !== 'type' || parameter.pack;
  const ofClass = fn.template?.includes(parameter) !== true;
  const launched = fn.qualifiers.global
    ? program.launchesOf(fn).map((launch): Site => ({ explicit: launch.templateArguments, arguments: launch.arguments, object: null, within: null }))
    : sitesOf(fn, program);
  if (fn.qualifiers.global ? !program.allLaunchesVisible(fn) : launched.length === 0) open = true;
  for (const site of launched) {
    const argument = ofClass
      ? (site.object?.kind === 'record' ? site.object.templateArguments?.[parameter.index] : undefined)
      : site.explicit?.[parameter.index] ?? deduced(parameter, fn, site) ?? parameter.default ?? undefined;
    if (argument === undefined || argument.kind !== 'type') open = true;
    else types.push({ type: argument.type, within: site.within });
  }
  const made = { types, open };
  parameters.set(parameter, made);
  return made;
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
function match(pattern: Type, actual: Type, parameter: TemplateParameterDecl): Type | null {
  if (pattern.kind === 'reference') return match(pattern.to, actual.kind === 'reference' ? actual.to : actual, parameter);
  const value = actual.kind === 'reference' ? actual.to : actual;
  if (pattern.kind === 'dependent') {
    if (pattern.decl !== parameter || pattern.text !== parameter.name) return null;
    return value.kind === 'array' ? { kind: 'pointer', to: value.of } : value;
  }
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

// ------------------------------------------------------------------------------------------------- classes whose operators only compute

/** Do all operators outside of classes that take such an operand only compute? */
function operatorsCompute(decl: RecordDecl | EnumDecl, program: Program, visiting: Set<object>): boolean {
  for (const fn of tablesOf(program).operators) {
    const takes = fn.parameters.some(({ type }) => {
      const value = type.kind === 'reference' ? type.to : type;
      return value.kind === 'dependent' || value.kind === 'unknown' || ((value.kind === 'record' || value.kind === 'enum') && value.decl === decl);
    });
    if (takes && !onlyComputes(fn, program, visiting)) return false;
  }
  return true;
}

/** Is an object of the record as good as a number: no member of it does more than compute from what it is given? */
function isComputing(record: RecordDecl, program: Program, visiting: Set<object>): boolean {
  if (visiting.has(record)) return true;
  visiting.add(record);
  if (!operatorsCompute(record, program, visiting)) return false;
  if (record.vector !== null) return true;
  if (!record.complete || record.specialised === true) return false;
  for (const base of record.bases) if (base.kind !== 'record' || !isComputing(base.decl, program, visiting)) return false;
  for (const { type } of record.fields) {
    let inner = type;
    while (inner.kind === 'array') inner = inner.of;
    if (inner.volatile === true || (inner.kind === 'record' && !isComputing(inner.decl, program, visiting))) return false;
  }
  for (const method of record.methods) {
    // A call of the object is a call of the tree, and so is one of a method that has a name.
    const special = method.name === record.name || method.name.startsWith('~') || (method.name.startsWith('operator') && method.name !== 'operator()');
    if (special && method.defaulted !== true && !onlyComputes(method, program, visiting)) return false;
  }
  return true;
}

/** Does the function do nothing but compute a value from its parameters, its object and constants? A constructor may set its members. */
function onlyComputes(fn: FunctionDecl, program: Program, visiting: Set<object>): boolean {
  if (visiting.has(fn)) return true;
  visiting.add(fn);
  if (fn.body === null || fn.virtual === true) return false;
  const makes = fn.owner !== null && fn.name === fn.owner.name;
  if (makes && (fn.initialisers ?? []).some((one) => one.arguments.some((argument) => !computes(argument, program, visiting, makes)))) return false;
  return computes(fn.body, program, visiting, makes);
}

function computes(node: Node, program: Program, visiting: Set<object>, makes: boolean): boolean {
  if (!isStmt(node) && node.type.volatile === true) return false;
  switch (node.kind) {
    case 'assign': case 'update': {
      const target = rootOf(node.target)?.decl ?? memberOf(node.target);
      const own = target !== null && ((isAutomatic(target) && target.type.kind !== 'reference' && target.type.kind !== 'pointer') || (makes && isMember(target)));
      if (!own) return false;
      break;
    }
    case 'call': {
      const { callee } = node;
      if (callee.kind === 'builtin') { if (builtin(callee.name)?.pure !== true) return false; break; }
      if ((callee.kind !== 'function' && callee.kind !== 'method') || callee.candidates.length === 0 || callee.candidates.some((candidate) => !onlyComputes(candidate, program, visiting))) return false;
      break;
    }
    case 'construct': case 'init-list':
      if (node.type.kind === 'unknown' || node.type.kind === 'dependent' || (node.type.kind === 'record' && !isComputing(node.type.decl, program, visiting))) return false;
      break;
    case 'ref': {
      const { decl } = node;
      if (decl === null) return false;
      if (decl.kind === 'variable' && !decl.constexpr && decl.storage !== 'member' && !isAutomatic(decl)) return false;
      break;
    }
    case 'unary': if (node.op === '*' && strip(node.operand).kind !== 'this') return false; break;
    case 'index': if (strip(node.base).type.kind !== 'array') return false; break;
    case 'member': if (node.arrow && strip(node.object).kind !== 'this') return false; break;
    case 'coordinate': case 'asm': case 'opaque': case 'lambda': case 'range-for': case 'goto': case 'macro-statement': return false;
    default:
  }
  let fine = true;
  forEachChild(node, (child) => { fine &&= computes(child, program, visiting, makes); });
  return fine;
}

function memberOf(target: Expr): VariableDecl | null {
  const e = strip(target);
  if (e.kind === 'ref' && e.decl !== null && e.decl.kind === 'variable' && isMember(e.decl)) return e.decl;
  return e.kind === 'member' && e.arrow && strip(e.object).kind === 'this' ? e.field : null;
}

// ------------------------------------------------------------------------------------------------------------- whole functions

/** Operands of dependent types in a function and in those that it calls. */
export interface Operands {
  /** The first that is no number in some instance. */
  readonly foreign: { readonly node: Node; readonly within: FunctionDecl; readonly why: string } | null;
  /** Names of the types of which some instance is not known. */
  readonly open: ReadonlySet<string>;
}

export function templateOperands(fn: FunctionDecl, program: Program): Operands {
  const { operands } = tablesOf(program);
  const known = operands.get(fn);
  if (known !== undefined) return known;
  const seen = new Set<FunctionDecl>();
  const open = new Set<string>();
  let foreign: Operands['foreign'] = null;
  const of = (within: FunctionDecl): void => {
    if (seen.has(within) || within.body === null) return;
    seen.add(within);
    const templated = isTemplate(within);
    const visit = (node: Node): void => {
      if (templated && !isStmt(node) && isDependent(node.type)) {
        const found = judge(node.type, within, program);
        if (found.foreign !== null) foreign ??= { node, within, why: found.foreign };
        if (found.open) for (const name of namesOf(node.type, within)) open.add(name);
      }
      if (node.kind === 'call') for (const callee of calleesOf(node, program)) of(callee);
      forEachChild(node, visit);
    };
    visit(within.body);
  };
  of(fn);
  const made: Operands = { foreign, open };
  operands.set(fn, made);
  return made;
}

function namesOf(type: Type, fn: FunctionDecl): readonly string[] {
  const inner = type.kind === 'reference' ? type.to : type;
  if (inner.kind !== 'dependent') return [];
  if (inner.text !== '') return [inner.text];
  return [...fn.template ?? [], ...fn.owner?.template ?? []].filter((parameter) => parameter.sort !== 'value').map((parameter) => parameter.name);
}

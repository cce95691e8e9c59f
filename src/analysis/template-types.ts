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
import { typeOfDecl } from '../syntax/lower-type.js';
import { memberScope } from '../syntax/scope.js';
import type { CallExpr, DependentType, FunctionDecl, Program, RecordDecl, RecordType, TemplateArgument, TemplateParameterDecl, Type } from '../syntax/tree.js';
import { bindings, substitute } from '../syntax/types.js';
import { calleesAt, calleesOf } from './call-sites.js';
import { forEachChild, isStmt, type Node } from './children.js';
import { isComputing, operatorsCompute } from './computing-classes.js';
import { declaredOfInstances, dependentAmong, dependentIn } from './instance-operands.js';
import { isTemplate, objectOf, typesOf, type Seen } from './template-instances.js';

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

interface Tables {
  readonly judgements: Map<FunctionDecl, Map<string, Judgement>>;
  readonly operands: Map<FunctionDecl, Operands>;
  readonly calls: Map<CallExpr, boolean>;
}

const tables = new WeakMap<Program, Tables>();

function tablesOf(program: Program): Tables {
  let known = tables.get(program);
  if (known === undefined) tables.set(program, known = { judgements: new Map(), operands: new Map(), calls: new Map() });
  return known;
}

/** What a type of an expression of the function is in all instances. */
export function judge(type: Type, fn: FunctionDecl, program: Program): Judgement {
  const { judgements } = tablesOf(program);
  let ofFunction = judgements.get(fn);
  if (ofFunction === undefined) judgements.set(fn, ofFunction = new Map());
  const inner = type.kind === 'reference' ? type.to : type;
  const key = inner.kind === 'dependent' && type.volatile !== true && inner.volatile !== true ? inner.text : null;
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
    case 'enum': return operatorsCompute(type.decl, program) ? NUMBER : { foreign: `${type.decl.name}, with operators of its own`, open: false };
    case 'record': return isComputing(type.decl, program) ? NUMBER : { foreign: `${type.decl.name}, a class whose operators may do more than compute`, open: false };
    case 'unknown': return OPEN;
    case 'dependent': break;
  }
  if (within === null) return OPEN;
  const { decl } = type;
  if (decl !== null) return type.text === decl.name ? judgeParameter(decl, within, program, visiting) : OPEN;
  if (type.member !== undefined) return judgeMember(type.member, within, program, visiting);
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

/** A type that stands for a parameter: what looks like a value of it is another name for something where it is a reference. */
function judgeArgument(seen: Seen, program: Program, visiting: Set<TemplateParameterDecl>): Judgement {
  const { type } = seen;
  if (type.kind === 'reference') return { foreign: 'a reference', open: false };
  return judgeSeen(seen, program, visiting);
}

function judgeParameter(parameter: TemplateParameterDecl, within: FunctionDecl, program: Program, visiting: Set<TemplateParameterDecl>): Judgement {
  // A template that calls itself adds no types by that.
  if (visiting.has(parameter)) return NUMBER;
  visiting.add(parameter);
  const { types, open } = typesOf(parameter, within, program);
  let made: Judgement = open ? OPEN : NUMBER;
  for (const seen of types) {
    const here = judgeArgument(seen, program, visiting);
    made = both(made, here.foreign === null || here.foreign.startsWith('in an instance') ? here : { ...here, foreign: `in an instance, ${parameter.name} is ${here.foreign}` });
  }
  visiting.delete(parameter);
  return made;
}

/** A type that a class stands for under a name: `typename T::name`. */
function judgeMember({ of, name }: NonNullable<DependentType['member']>, within: FunctionDecl, program: Program, visiting: Set<TemplateParameterDecl>): Judgement {
  const parameter = of.decl;
  if (parameter === null || of.text !== parameter.name || visiting.has(parameter)) return OPEN;
  visiting.add(parameter);
  const { types, open } = typesOf(parameter, within, program);
  let made: Judgement = open ? OPEN : NUMBER;
  for (const seen of types) {
    const type = memberOf(seen.type, name);
    made = both(made, type === null ? OPEN : judgeArgument({ type, within: seen.within }, program, visiting));
  }
  visiting.delete(parameter);
  return made;
}

function memberOf(type: Type, name: string): Type | null {
  if (type.kind === 'dependent') return { kind: 'dependent', decl: null, text: `${type.text}::${name}`, member: { of: type, name } };
  if (type.kind !== 'record') return null;
  const { decl, templateArguments } = type;
  const found = decl.specialised === true ? undefined : memberScope(decl)?.types.get(name);
  const made = found === undefined ? decl.bases.map((base) => (base.kind === 'record' ? memberOf(base, name) : null)).find((one) => one !== null) : typeOfDecl(found);
  if (made === undefined || made === null) return null;
  return decl.template === null || templateArguments === undefined ? made : substitute(made, bindings(decl.template, templateArguments));
}

// --------------------------------------------------------------------------------------------------------- instances of one call

/**
 * Is a callee's instance one with a foreign type among its arguments: given to the template, deduced from an argument, a default, or given to the class of the
 * object? Types that depend on the caller's own parameters are left to who knows the caller's instance. Once for each call.
 */
export function handsForeign(call: CallExpr, program: Program): boolean {
  const { calls } = tablesOf(program);
  let known = calls.get(call);
  if (known === undefined) calls.set(call, known = givesCallee(call, program));
  return known;
}

function givesCallee(call: CallExpr, program: Program): boolean {
  if (typesIn(call.templateArguments ?? []).some((type) => isForeign(type, program))) return true;
  const object = objectOf(call);
  if (object?.kind === 'record' && givesForeign(object, program)) return true;
  return calleesAt(call, program).some(({ template, parameters }) => template !== null && (
    template.some((one) => one.default?.kind === 'type' && isForeign(one.default.type, program))
    || call.arguments.some(({ type }, i) => { const parameter = parameters[i] ?? parameters.at(-1); return parameter !== undefined && hasDependent(parameter.type) && isForeign(type, program); })));
}

function hasDependent(type: Type): boolean {
  switch (type.kind) {
    case 'dependent': case 'unknown': return true;
    case 'pointer': case 'reference': return hasDependent(type.to);
    case 'array': return hasDependent(type.of);
    case 'record': return typesIn(type.templateArguments ?? []).some(hasDependent);
    default: return false;
  }
}

function typesIn(args: readonly TemplateArgument[]): readonly Type[] {
  return args.flatMap((arg) => (arg.kind === 'type' ? [arg.type] : []));
}

/** Is an object of the type, or one that its template is given, none of a number's kind? */
export function isForeign(type: Type, program: Program): boolean {
  if (type.volatile === true) return true;
  switch (type.kind) {
    case 'pointer': case 'reference': return isForeign(type.to, program);
    case 'array': return isForeign(type.of, program);
    case 'enum': return !operatorsCompute(type.decl, program);
    case 'record': return !isComputing(type.decl, program) || givesForeign(type, program);
    default: return false;
  }
}

/** Is a class template, or one that the class has for a base, given a foreign type? */
export function givesForeign(type: RecordType, program: Program): boolean {
  if (type.templateArguments === undefined && type.decl.bases.length === 0) return false;
  // `struct S : Base<S>`: the question is being asked already.
  if (asked.has(type.decl)) return false;
  asked.add(type.decl);
  try {
    return typesIn(type.templateArguments ?? []).some((inner) => isForeign(inner, program))
      || type.decl.bases.some((base) => base.kind === 'record' && givesForeign(base, program));
  } finally {
    asked.delete(type.decl);
  }
}

/** Records whose arguments and bases are being looked at. */
const asked = new Set<RecordDecl>();

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
      const hold = (type: Type): void => {
        const found = judge(type, within, program);
        if (found.foreign !== null) foreign ??= { node, within, why: found.foreign };
        if (found.open) for (const name of namesOf(type, within)) open.add(name);
      };
      if (templated && !isStmt(node) && isDependent(node.type)) hold(node.type);
      // An object that nothing names is made and ended all the same.
      if (templated) for (const { type } of declaredOfInstances(node)) for (const one of type.kind === 'reference' && type.to.kind === 'dependent' ? [type] : dependentIn(type)) hold(one);
      if (templated && node.kind === 'call' && node.templateArguments !== null) for (const one of dependentAmong(node.templateArguments)) hold(one);
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

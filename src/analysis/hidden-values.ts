/**
 * Objects that hold values which nobody wrote at the place where they are made or assigned, told by their types: who follows values asks here, and takes
 * what such an object holds for not known.
 */
import { candidatesOf, isImplicit } from './implicit-code.js';
import { defaults, lifeOf, lifeOfRecord } from './object-lives.js';
import type { CallExpr, RecordDecl, TemplateArgument, Type } from '../syntax/tree.js';

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
  if (recordHidesValue(inner.decl)) return true;
  const { decl, templateArguments } = inner;
  return templateArguments !== undefined && (anyHidesValue(templateArguments) || lifeOf(inner).assigns.some((fn) => fn.owner !== decl));
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
  const { written, parts, assigns } = lifeOfRecord(record);
  // An assignment that a member brings along is none that the text names.
  const answer = written.length > 0 || parts.length > 0 || assigns.some((fn) => fn.owner !== record)
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
  const answer = call.callee.kind !== 'builtin' && !isImplicit(call) && handlesHidden(call);
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


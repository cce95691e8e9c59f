/**
 * Elements of objects that are made: aggregates hold what they are given; a constructor may put anything into its object.
 *
 * The tree has the bodies of constructors but not their member-initialiser lists. A list is accepted if every name in it is a parameter, a
 * field, a base or a scalar type, so that it can only hand on its arguments; any other name (`linear_tid(threadIdx.x)`, a call) makes the
 * object unknown. So do records whose body is not visible, and default values of fields that are no literals.
 */
import { strip } from './children.js';
import { CONSTANT, LOCAL, UNKNOWN } from './taint.js';
import { taintOf } from './uniformity-values.js';
import type { Uniformity } from './uniformity.js';
import type { Expr, FunctionDecl, RecordDecl, Type } from '../syntax/tree.js';

/** Element of an object of a type made from these arguments. */
export function constructedTaint(type: Type, args: readonly Expr[], state: Uniformity): number {
  let given = CONSTANT;
  for (const argument of args) given |= taintOf(argument, state);
  switch (type.kind) {
    case 'record': return type.decl.vector !== null ? given : given | recordTaint(type.decl, args, given, state, 0);
    case 'unknown': return given | UNKNOWN;
    case 'array': return given | constructedTaint(type.of, [], state);
    default: return given;
  }
}

function recordTaint(record: RecordDecl, args: readonly Expr[], given: number, state: Uniformity, depth: number): number {
  if (record.vector !== null) return CONSTANT;
  if (!record.complete || depth > 8) return UNKNOWN;
  let taint = CONSTANT;
  for (const base of record.bases) taint |= base.kind === 'record' ? recordTaint(base.decl, [], given, state, depth + 1) : UNKNOWN;
  for (const field of record.fields) {
    if (field.storage !== 'member') continue;
    if (field.init !== null && !isLiteral(field.init)) return UNKNOWN;
    // A field whose own type has a constructor is made by it unless the list says otherwise.
    if (field.type.kind === 'record') taint |= recordTaint(field.type.decl, [], given, state, depth + 1);
  }
  for (const constructor of constructorsOf(record, args.length)) {
    taint |= constructorTaint(constructor, record, args, given, state);
  }
  return taint;
}

/** Constructors that take so many arguments. */
function constructorsOf(record: RecordDecl, count: number): readonly FunctionDecl[] {
  return record.methods.filter((method) => method.name === record.name && method.parameters.length >= count
    && method.parameters.slice(count).every((parameter) => parameter.default !== null || parameter.pack));
}

function constructorTaint(fn: FunctionDecl, record: RecordDecl, args: readonly Expr[], given: number, state: Uniformity): number {
  // Defaulted: copies, or leaves the fields as they are.
  if (fn.body === null) return CONSTANT;
  if (!handsOn(fn, record, state)) return UNKNOWN;
  if (fn.body.body.length === 0) return CONSTANT;
  const parameters = fn.parameters.map((_, i) => { const argument = args[i]; return argument === undefined ? given : taintOf(argument, state); });
  const solved = state.world.solve(fn, { parameters, self: given & ~LOCAL, arrival: CONSTANT });
  return solved === null ? UNKNOWN : solved.finalTaint(solved.defUse.self);
}

const SCALARS: ReadonlySet<string> = new Set(['int', 'unsigned', 'float', 'double', 'char', 'short', 'long', 'bool', 'size_t', 'static_cast', 'this', 'true', 'false', 'nullptr', 'NULL', 'f', 'u', 'F', 'U']);

/** Does the member-initialiser list, if there is one, name nothing but parameters and fields? */
function handsOn(fn: FunctionDecl, record: RecordDecl, state: Uniformity): boolean {
  const source = state.env.program.units.get(fn.file)?.source;
  const body = fn.body;
  if (source === undefined || body === null) return false;
  const from = fn.parameters.reduce((end, parameter) => Math.max(end, parameter.span.end), fn.nameSpan.end);
  const text = source.text.slice(from, body.span.start);
  const colon = text.indexOf(':');
  if (colon < 0) return true;
  const known = new Set<string>([...SCALARS, ...fn.parameters.map((parameter) => parameter.name), ...record.fields.map((field) => field.name), record.name]);
  for (const base of record.bases) if (base.kind === 'record') known.add(base.decl.name);
  return identifiers(text.slice(colon + 1)).every((name) => known.has(name));
}

function identifiers(text: string): string[] {
  const found: string[] = [];
  let word = '';
  for (const c of `${text} `) {
    const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c === '_';
    if (letter || (word !== '' && c >= '0' && c <= '9')) { word += c; continue; }
    if (word !== '') found.push(word);
    word = '';
  }
  return found;
}

function isLiteral(expr: Expr): boolean {
  const e = strip(expr);
  switch (e.kind) {
    case 'literal': case 'sizeof': return true;
    case 'unary': return e.op !== '*' && e.op !== '&' && isLiteral(e.operand);
    case 'cast': return isLiteral(e.operand);
    case 'binary': return isLiteral(e.left) && isLiteral(e.right);
    case 'init-list': return e.elements.every(isLiteral);
    case 'ref': return e.decl !== null && (e.decl.kind === 'enumerator' || e.decl.kind === 'template-parameter');
    default: return false;
  }
}

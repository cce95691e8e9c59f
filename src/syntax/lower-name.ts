/** Names and members: identifiers, qualified names, `a.b`, `threadIdx.x`. */
import type { Span } from '../source/types.js';
import { fieldChild, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { comesApart, looseMacro } from './loose-macro.js';
import { expression, thisType } from './lower-expression.js';
import { throwTemplateReading } from './lower-call.js';
import { macroExpression, macroNamed, otherName, unreadOperand } from './lower-macro.js';
import { isDefinition, pointerOf } from './lower-overload.js';
import { enumeratorType } from './lower-enum.js';
import { qualifiedName } from './lower-type.js';
import { standardConstant } from './standard-constants.js';
import { isTemplateVariable, type Found } from './scope.js';
import type { CoordinateExpr, Expr, FunctionDecl, MemberExpr, RecordDecl, RecordType, RefExpr, TemplateArgument, TemplateParameterDecl, Type, VariableDecl } from './tree.js';
import { INT, UINT, UNKNOWN, bindings, dependentType, stripReference, substitute } from './types.js';
import { DIM3, UINT3 } from './vector-types.js';

const COORDINATES = new Map<string, { readonly base: CoordinateExpr['base']; readonly type: Type }>([
  ['threadIdx', { base: 'threadIdx', type: UINT3 }], ['blockIdx', { base: 'blockIdx', type: UINT3 }],
  ['blockDim', { base: 'blockDim', type: DIM3 }], ['gridDim', { base: 'gridDim', type: DIM3 }],
  ['warpSize', { base: 'warpSize', type: INT }],
]);

export function lowerIdentifier(ctx: Lowering, node: Cst): Expr {
  const name = ctx.slice(node);
  const macro = macroNamed(ctx, node, false);
  if (macro !== null) {
    const operand = macroExpression(ctx, node, macro, null) ?? unreadOperand(ctx, node, macro, null);
    if (operand !== null) return operand;
    return { kind: 'ref', span: ctx.span(node), type: UNKNOWN, name, decl: null };
  }
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  if (ctx.expanding.length > 0 && isNumbered(name, found !== null)) return { kind: 'opaque', span: ctx.span(node), type: UNKNOWN, reason: `the name that \`${name}\` becomes` };
  if (found !== null) return referTo(ctx, node, name, found);
  if (ctx.unit.lookup.mayBeOther(name)) return { kind: 'ref', span: ctx.span(node), type: UNKNOWN, name, decl: null };
  const constant = standardConstant(name);
  if (constant !== null) return { kind: 'literal', span: ctx.span(node), ...constant };
  const coordinate = COORDINATES.get(name);
  if (coordinate !== undefined) return { kind: 'coordinate', span: ctx.span(node), type: coordinate.type, base: coordinate.base, axis: null };
  return { kind: 'ref', span: ctx.span(node), type: UNKNOWN, name, decl: null };
}

/** Is a name pasted together with a number that only the compiler knows: of the line, or one more each time? It may be that of any variable; one of the same line is found. */
function isNumbered(name: string, found: boolean): boolean {
  return name.includes('__COUNTER__') || (!found && name.length > '__LINE__'.length && name.includes('__LINE__'));
}

/** The type of an expression that names this declaration. */
function declType(found: Found): Type {
  if (found.kind === 'type') return UNKNOWN;
  if (found.kind === 'functions') {
    const decl = found.decls.length === 1 ? found.decls[0] : undefined;
    return decl === undefined ? UNKNOWN : functionType(decl);
  }
  const decl = found.decl;
  switch (decl.kind) {
    case 'enumerator': return enumeratorType(decl);
    case 'template-parameter': return decl.type === null ? dependentType(decl, decl.name) : stripReference(decl.type);
    default: return stripReference(decl.type);
  }
}

export function functionType(decl: FunctionDecl): Type {
  return { kind: 'function', returns: decl.returns, parameters: decl.parameters.map((p) => p.type) };
}

/** A reference to what a look-up found; a member found without an object belongs to `this`. */
export function referTo(ctx: Lowering, node: Cst, name: string, found: Found): Expr {
  const span = ctx.span(node);
  if (found.kind === 'value' && found.member !== null && found.decl.kind === 'variable' && found.decl.storage === 'member') {
    const at = { start: span.start, end: span.start };
    return {
      kind: 'member', span, type: stripReference(found.decl.type), object: { kind: 'this', span: at, type: thisType(ctx) }, arrow: true, name, field: found.decl,
    };
  }
  if (found.kind === 'functions') {
    for (const decl of found.decls) if (decl.qualifiers.global) ctx.unit.escapes.push(decl);
    return { kind: 'ref', span, type: declType(found), name, decl: definitionFirst(found.decls) };
  }
  if (found.kind === 'value' && found.decl.kind === 'template-parameter' && namesObject(found.decl)) return { kind: 'ref', span, type: declType(found), name, decl: null, argument: found.decl };
  const inherited = found.kind === 'value' && found.member !== null && found.member.template !== null ? heir(ctx, found.member) : null;
  return reference(span, declType(found), name, found.decl, inherited, null);
}

/**
 * Is what stands for a template parameter an object, not a value? `template <int &R>`: R is another name for whatever each argument names, which other code reads and writes under its own. What a
 * type that is not known here stands for may be a reference too; functions do not change.
 */
function namesObject({ type }: TemplateParameterDecl): boolean {
  return type !== null && (type.kind === 'reference' ? type.to.kind !== 'function' : type.kind === 'unknown' && type.text !== 'auto');
}

/** Of each make one shape: objects that are spread together get one of their own each, and everything that reads references is slower for it. */
function reference(span: Span, type: Type, name: string, decl: RefExpr['decl'], scope: RecordType | null, qualifier: string | null): RefExpr {
  if (qualifier === null) return scope === null ? { kind: 'ref', span, type, name, decl } : { kind: 'ref', span, type, name, decl, scope };
  return scope === null ? { kind: 'ref', span, type, name, decl, qualifier } : { kind: 'ref', span, type, name, decl, scope, qualifier };
}

/** The record around, as an instance sees it, if a member that is found by its bare name comes from a base template of it. */
function heir(ctx: Lowering, owner: RecordDecl): RecordType | null {
  for (let scope: typeof ctx.scope | null = ctx.scope; scope !== null; scope = scope.parent) {
    if (scope.kind !== 'record' || scope.record === null) continue;
    const { record } = scope;
    if (record === owner) return null;
    const own = record.template?.map((parameter): TemplateArgument => {
      if (parameter.sort !== 'value') return { kind: 'type', type: dependentType(parameter, parameter.name) };
      return { kind: 'value', value: { kind: 'ref', span: parameter.span, type: parameter.type === null ? dependentType(parameter, parameter.name) : stripReference(parameter.type), name: parameter.name, decl: parameter } };
    });
    return { kind: 'record', decl: record, ...(own === undefined ? {} : { templateArguments: own }) };
  }
  return null;
}

function definitionFirst(decls: readonly FunctionDecl[]): FunctionDecl | null {
  return decls.find(isDefinition) ?? decls[0] ?? null;
}

/** What a qualified name means, or null. */
export function findQualified(ctx: Lowering, node: Cst): { readonly name: string; readonly last: Cst; readonly found: Found | null; readonly scopes: readonly string[]; readonly record: RecordType | null } {
  const { prefix, last, scopes } = qualifiedName(ctx, node);
  const nameNode = last.type === 'template_function' || last.type === 'template_type' || last.type === 'template_method' ? fieldChild(last, 'name') ?? last : last;
  const name = ctx.slice(nameNode);
  let found: Found | null = null;
  if (prefix.kind === 'namespace') found = ctx.unit.lookup.inNamespace(prefix.path, name);
  else if (prefix.kind === 'record') found = ctx.unit.lookup.memberOf(prefix.record, name);
  else if (prefix.kind === 'enum') {
    const decl = prefix.decl.enumerators.find((e) => e.name === name);
    found = decl === undefined ? null : { kind: 'value', decl, member: null };
  }
  return { name, last, found, scopes, record: prefix.kind === 'record' && prefix.type.kind === 'record' ? prefix.type : null };
}

export function lowerQualified(ctx: Lowering, node: Cst): Expr {
  const { name, last, found, record } = findQualified(ctx, node);
  if (found !== null && found.kind !== 'type') {
    const qualifier = ctx.text.slice(node.start, last.start).replace(/\s+/g, ' ').replace(/ ?:: ?/g, '::').trim();
    // `Record::member` outside of an object is a static member or an enumerator.
    if (found.kind === 'value' && found.member !== null && found.decl.kind === 'variable' && found.decl.storage !== 'member') {
      return reference(ctx.span(node), stripReference(found.decl.type), name, found.decl, record, qualifier);
    }
    const refers = referTo(ctx, node, name, found);
    if (refers.kind !== 'ref') return refers;
    const scope = found.kind === 'value' && found.decl.kind === 'enumerator' && record !== null ? record : refers.scope ?? null;
    return reference(refers.span, refers.type, name, refers.decl, scope, qualifier);
  }
  return { kind: 'ref', span: ctx.span(node), type: UNKNOWN, name: ctx.slice(node), decl: null };
}

/** `f<int>` as a value. */
export function lowerTemplateName(ctx: Lowering, node: Cst): Expr {
  const nameNode = fieldChild(node, 'name');
  if (nameNode === null) return ctx.opaque(node, 'template name');
  const name = ctx.slice(nameNode);
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  // `(x < 0 || x >= n)`: tree-sitter reads `x<0 || x>` and an assignment. A variable or a macro has no template arguments, and an
  // unknown template that is not called is less likely than a comparison.
  const args = fieldChild(node, 'arguments');
  const comparison = args !== null && namedChildren(args).some((child) => child.type === 'binary_expression');
  if (found === null ? comparison : found.kind === 'value' && !isTemplateVariable(found.decl)) throwTemplateReading(ctx, node);
  if (found === null || found.kind === 'type') return { kind: 'ref', span: ctx.span(node), type: UNKNOWN, name, decl: null };
  return referTo(ctx, node, name, found);
}

/** The record an object expression has, through references (and one pointer for `->`). */
export function objectRecord(type: Type, arrow: boolean): { readonly record: RecordDecl; readonly type: Type } | null {
  let t = stripReference(type);
  if (arrow) {
    if (t.kind !== 'pointer') return null;
    t = stripReference(t.to);
  }
  return t.kind === 'record' ? { record: t.decl, type: t } : null;
}

/** The type of a member, template arguments of the object's type put in. */
export function memberType(field: VariableDecl, objectType: Type): Type {
  const type = stripReference(field.type);
  if (objectType.kind !== 'record' || objectType.templateArguments === undefined || objectType.decl.template === null) return type;
  return substitute(type, bindings(objectType.decl.template, objectType.templateArguments));
}

export function lowerMember(ctx: Lowering, node: Cst): Expr {
  const objectNode = fieldChild(node, 'argument');
  const fieldNode = fieldChild(node, 'field');
  if (objectNode === null || fieldNode === null) return ctx.opaque(node, 'member access');
  if (fieldNode.missing) return ctx.opaque(node, 'missing member');
  const operator = node.children.find((child) => !child.named && child.start >= objectNode.end && child.end <= fieldNode.start);
  if (operator?.type === '.*' || operator?.type === '->*') return ctx.opaque(node, 'pointer to member');
  const arrow = operator?.type === '->';
  const name = fieldName(ctx, fieldNode);
  const object = arrow && operator !== undefined ? pointerOf(ctx, objectNode, operator, expression(ctx, objectNode)) : expression(ctx, objectNode);
  const loose = looseMacro(object, 'postfix');
  if (loose !== null) return comesApart(ctx, node, loose);
  return makeMember(ctx, node, object, arrow, name);
}

export function fieldName(ctx: Lowering, fieldNode: Cst): string {
  let node = fieldNode;
  if (node.type === 'dependent_name') node = namedChildren(node)[0] ?? node;
  if (node.type === 'template_method') node = fieldChild(node, 'name') ?? node;
  return otherName(ctx, node) ?? ctx.slice(node);
}

function makeMember(ctx: Lowering, node: Cst, object: Expr, arrow: boolean, name: string): Expr {
  const span = ctx.span(node);
  if (!arrow) {
    const base = coordinateOf(object);
    if (base !== null && (name === 'x' || name === 'y' || name === 'z')) return { kind: 'coordinate', span, type: UINT, base, axis: name };
  }
  const owner = objectRecord(object.type, arrow);
  if (owner !== null) {
    const found = ctx.unit.lookup.memberOf(owner.record, name);
    if (found?.kind === 'value' && found.decl.kind === 'variable') {
      const type = memberType(found.decl, owner.type);
      const constant = owner.type.const === true && found.decl.storage === 'member' && type.const !== true;
      return { kind: 'member', span, type: constant ? { ...type, const: true } : type, object, arrow, name, field: found.decl };
    }
  }
  const dependent = stripReference(object.type).kind === 'dependent';
  const made: MemberExpr = { kind: 'member', span, type: dependent ? dependentType(null, '') : UNKNOWN, object, arrow, name, field: null };
  return made;
}

/** `threadIdx` itself, also through a macro or parentheses. */
function coordinateOf(object: Expr): CoordinateExpr['base'] | null {
  let e = object;
  while (e.kind === 'paren' || e.kind === 'macro') e = e.kind === 'paren' ? e.inner : e.expanded;
  return e.kind === 'coordinate' && e.axis === null && e.base !== 'warpSize' ? e.base : null;
}

/** Structs, classes and unions. */
import { childOfType, fieldChild, fieldChildren, namedChildren, type Cst } from './cst.js';
import type { Lowering, Mutable } from './context.js';
import { declareVariables, lowerAlias, lowerTypedef, lowerUsing } from './lower-declaration.js';
import { lowerExpression } from './lower-expression.js';
import { lowerFunction } from './lower-function.js';
import { lowerTemplateParameters, templateScope } from './lower-parameters.js';
import { preprocessorArms } from './lower-preprocessor.js';
import { lowerType, qualifiedName } from './lower-type.js';
import { Scope, memberScope, setMemberScope } from './scope.js';
import type { FunctionDecl, RecordDecl, TemplateParameterDecl, Type, VariableDecl } from './tree.js';

interface OpenRecord extends Mutable<RecordDecl> { fields: VariableDecl[]; methods: FunctionDecl[]; bases: Type[] }

/**
 * Declares a record where lowering stands; a mention without a body finds the record that is declared already. Null for a name
 * that cannot be declared here (`struct a::b x`).
 */
export function lowerRecord(ctx: Lowering, node: Cst, template: readonly TemplateParameterDecl[] | null): RecordDecl | null {
  const nameNode = fieldChild(node, 'name');
  const body = fieldChild(node, 'body');
  const specialised = nameNode?.type === 'template_type';
  let name = '';
  if (nameNode !== null) {
    const last = nameNode.type === 'qualified_identifier' ? qualifiedName(ctx, nameNode).last : nameNode;
    name = ctx.slice(specialised || last.type === 'template_type' ? fieldChild(last, 'name') ?? last : last);
  }
  if (body === null) {
    if (name === '') return null;
    if (nameNode?.type === 'qualified_identifier' || specialised) {
      const type = nameNode === null ? null : lowerType(ctx, nameNode);
      return type?.kind === 'record' ? type.decl : null;
    }
    const known = ctx.unit.lookup.lookupType(ctx.scope, name);
    if (known?.kind === 'record') return known;
  }
  const sort = node.type === 'union_specifier' ? 'union' : node.type === 'class_specifier' ? 'class' : 'struct';
  const decl: OpenRecord = {
    kind: 'record', sort, name, span: ctx.span(node), nameSpan: ctx.span(nameNode ?? node), file: ctx.unit.file, fields: [], methods: [], bases: [],
    template, complete: body !== null && !body.error, alignment: alignment(ctx, node), vector: null,
  };
  // A specialisation has its own members, but the name stands for the primary template.
  if (!specialised) ctx.declare(decl);
  else {
    const primary = ctx.unit.lookup.lookupType(ctx.scope, name);
    if (primary?.kind === 'record') (primary as Mutable<RecordDecl>).specialised = true;
  }
  const scope = new Scope('record', ctx.scope, '', decl);
  setMemberScope(decl, scope);
  const bases = childOfType(node, 'base_class_clause');
  for (const base of bases === null ? [] : namedChildren(bases)) {
    if (base.type !== 'access_specifier' && base.type !== 'attribute_declaration') decl.bases.push(lowerType(ctx, base));
  }
  if (body !== null) ctx.inScope(scope, () => lowerMembers(ctx, body.children, body.start + 1, decl));
  return decl;
}

function alignment(ctx: Lowering, node: Cst): RecordDecl['alignment'] {
  const body = fieldChild(node, 'body');
  for (const note of ctx.notesBetween(node.start, body?.start ?? node.end)) {
    if (note.kind !== 'bounds' || note.name !== 'align') continue;
    const { start, end } = note.argumentsSpan;
    const inner = ctx.later();
    inner.text = ctx.original;
    const parsed = ctx.unit.snippets.slice(ctx.original.slice(start, end), start, '', '');
    if (parsed !== null) return lowerExpression(inner, parsed);
  }
  return null;
}

function lowerMembers(ctx: Lowering, nodes: readonly Cst[], from: number, record: OpenRecord): void {
  let before = from;
  for (const node of nodes) {
    lowerMember(ctx, node, before, record);
    before = node.end;
  }
}

function lowerMember(ctx: Lowering, node: Cst, before: number, record: OpenRecord): void {
  switch (node.type) {
    case 'field_declaration': case 'declaration': {
      const typeNode = fieldChild(node, 'type');
      if (fieldChildren(node, 'declarator').length === 0 && (typeNode?.type === 'struct_specifier' || typeNode?.type === 'union_specifier')
        && fieldChild(typeNode, 'name') === null) {
        anonymousMembers(ctx, typeNode, record);
        return;
      }
      const methods = ctx.unit.functions.length;
      record.fields.push(...declareVariables(ctx, node, before, 'record').variables);
      takeMethods(ctx, methods, record);
      return;
    }
    case 'function_definition': {
      const methods = ctx.unit.functions.length;
      lowerFunction(ctx, node, { before, template: null });
      takeMethods(ctx, methods, record);
      return;
    }
    case 'template_declaration': {
      const list = fieldChild(node, 'parameters');
      if (list === null) return;
      const recordScope = ctx.scope;
      const methods = ctx.unit.functions.length;
      ctx.inScope(templateScope(ctx), () => {
        const template = lowerTemplateParameters(ctx, list);
        for (const inner of namedChildren(node)) {
          if (inner.type === 'function_definition' || inner.type === 'declaration') lowerFunction(ctx, inner, { before, template, head: node, declareIn: recordScope });
          else if (inner.type === 'struct_specifier' || inner.type === 'class_specifier') {
            const decl = lowerRecord(ctx, inner, template);
            if (decl !== null) recordScope.declare(decl);
          } else if (inner.type === 'friend_declaration') befriend(ctx, inner, recordScope);
          else if (inner.type === 'alias_declaration') {
            for (const alias of lowerAlias(ctx, inner, template)) recordScope.declare(alias);
          }
        }
      });
      takeMethods(ctx, methods, record);
      return;
    }
    case 'friend_declaration': befriend(ctx, node, ctx.scope); return;
    case 'alias_declaration': lowerAlias(ctx, node, null); return;
    case 'type_definition': lowerTypedef(ctx, node); return;
    case 'using_declaration':
      if (namesConstructors(ctx, node)) record.inherits = true;
      lowerUsing(ctx, node);
      return;
    case 'preproc_if': case 'preproc_ifdef':
      for (const arm of [...preprocessorArms(ctx, node)].sort((a, b) => Number(a.active) - Number(b.active))) {
        // Fields of an arm that is left out are no members, but its methods are found.
        const kept = arm.active ? record : { ...record, fields: [] };
        lowerMembers(ctx, arm.children, arm.node.start, kept);
      }
      return;
    default:
  }
}

/** `using Base::Base;`, `using a::Base<T>::Base;`: the last two names are one. */
function namesConstructors(ctx: Lowering, node: Cst): boolean {
  const names = ctx.slice(node).replace(/^\s*using\b/, '').replace(/;\s*$/, '').replace(/<[^;]*>/g, '').split('::').map((name) => name.trim());
  return names.length > 1 && names.at(-1) === names.at(-2);
}

/** `friend void f(T, int &) { … }` */
function befriend(ctx: Lowering, node: Cst, record: Scope): void {
  for (const declaration of namedChildren(node)) {
    if (declaration.type !== 'function_definition' && declaration.type !== 'declaration') continue;
    for (let inner = fieldChild(declaration, 'declarator'); inner !== null; inner = fieldChild(inner, 'declarator') ?? (inner.type === 'reference_declarator' ? namedChildren(inner)[0] ?? null : null)) {
      if (inner.type === 'identifier' || inner.type === 'operator_name') record.befriend(ctx.slice(inner).replaceAll(' ', ''));
    }
  }
}

function takeMethods(ctx: Lowering, from: number, record: OpenRecord): void {
  for (const decl of ctx.unit.functions.slice(from)) if (decl.owner?.name === record.name && decl.owner.span === record.span) record.methods.push(decl);
}

/** Members of an anonymous struct or union are members of the record around it. */
function anonymousMembers(ctx: Lowering, node: Cst, record: OpenRecord): void {
  const inner = lowerRecord(ctx, node, null);
  if (inner === null) return;
  if (inner.overlaid === true || (inner.fields.length > 1 && (inner.sort === 'union') !== (record.sort === 'union'))) record.overlaid = true;
  const scope = memberScope(inner);
  for (const field of inner.fields) {
    record.fields.push(field);
    ctx.declare(field);
  }
  for (const type of scope?.types.values() ?? []) ctx.declare(type);
}

/** Parameters of functions, lambdas and templates. */
import { fieldChild, namedChildren, type Cst } from './cst.js';
import type { Lowering, Mutable } from './context.js';
import { mayRefer } from './decltype.js';
import { lowerExpression } from './lower-expression.js';
import { lowerDeclarator, lowerSpecifiers, lowerType } from './lower-type.js';
import { Scope } from './scope.js';
import type { ParameterDecl, TemplateParameterDecl, Type } from './tree.js';
import { UNKNOWN, pointerTo, referenceTo, unknownType } from './types.js';

/** An array parameter is a pointer. */
function adjusted(type: Type): Type {
  if (type.kind === 'array') return pointerTo(type.of);
  if (type.kind === 'function') return pointerTo(type);
  return type;
}

/** `(int n, float *p = nullptr, …)`; `(void)` has none. */
export function lowerParameters(ctx: Lowering, list: Cst): ParameterDecl[] {
  const parameters: ParameterDecl[] = [];
  for (const child of list.children) {
    if (child.type === '...') {
      parameters.push({
        kind: 'parameter', name: '', span: ctx.span(child), nameSpan: ctx.span(child), file: ctx.unit.file, type: UNKNOWN, index: parameters.length,
        default: null, pack: true,
      });
      continue;
    }
    if (!child.type.endsWith('parameter_declaration')) continue;
    const { type: base } = lowerSpecifiers(ctx, child);
    const declaratorNode = fieldChild(child, 'declarator');
    if (declaratorNode === null && base.kind === 'void' && list.children.filter((c) => c.named).length === 1) continue;
    const declarator = declaratorNode === null ? null : lowerDeclarator(ctx, base, declaratorNode);
    const value = fieldChild(child, 'default_value');
    const nameNode = declarator?.nameNode ?? null;
    parameters.push({
      kind: 'parameter',
      name: nameNode === null ? '' : ctx.slice(nameNode),
      span: ctx.span(child),
      nameSpan: nameNode === null ? ctx.span(child) : ctx.span(nameNode),
      file: ctx.unit.file,
      type: adjusted(declarator?.type ?? base),
      index: parameters.length,
      default: value === null ? null : lowerExpression(ctx, value),
      pack: child.type === 'variadic_parameter_declaration' || (declarator?.pack ?? false),
    });
  }
  return parameters;
}

/** `<typename T, int N = 3, class... R>`; the parameters are declared in the scope where lowering stands. */
export function lowerTemplateParameters(ctx: Lowering, list: Cst): TemplateParameterDecl[] {
  const parameters: TemplateParameterDecl[] = [];
  const children = namedChildren(list);
  for (const [i, child] of children.entries()) {
    const decl = templateParameter(ctx, child, parameters.length);
    if (decl === null) continue;
    // The grammar has no declarators in default types: `class T = int &`.
    const rest = children[i + 1];
    if (rest?.type === 'ERROR' && decl.default?.kind === 'type') decl.default = { kind: 'type', type: declaredAs(decl.default.type, ctx.slice(rest).trim()) };
    parameters.push(decl);
    ctx.declare(decl);
  }
  return parameters;
}

function declaredAs(type: Type, declarator: string): Type {
  switch (declarator) {
    case '&': return referenceTo(type, false);
    case '&&': return referenceTo(type, true);
    case '*': return pointerTo(type);
    default: return unknownType(declarator);
  }
}

function templateParameter(ctx: Lowering, node: Cst, index: number): Mutable<TemplateParameterDecl> | null {
  const make = (nameNode: Cst | null, sort: TemplateParameterDecl['sort'], pack: boolean): Mutable<TemplateParameterDecl> => ({
    kind: 'template-parameter', name: nameNode === null ? '' : ctx.slice(nameNode), span: ctx.span(node),
    nameSpan: ctx.span(nameNode ?? node), file: ctx.unit.file, sort, type: null, index, default: null, pack,
  });
  switch (node.type) {
    case 'type_parameter_declaration': case 'variadic_type_parameter_declaration':
      return make(namedChildren(node)[0] ?? null, 'type', node.type.startsWith('variadic'));
    case 'optional_type_parameter_declaration': {
      const decl = make(fieldChild(node, 'name'), 'type', false);
      const value = fieldChild(node, 'default_type');
      if (value !== null) decl.default = { kind: 'type', type: lowerType(ctx, value) };
      return decl;
    }
    case 'template_template_parameter_declaration': {
      const inner = namedChildren(node).at(-1);
      const name = inner === undefined ? null : namedChildren(inner)[0] ?? null;
      return make(name, 'template', inner?.type.startsWith('variadic') ?? false);
    }
    case 'parameter_declaration': case 'optional_parameter_declaration': case 'variadic_parameter_declaration': {
      const { type } = lowerSpecifiers(ctx, node);
      const declaratorNode = fieldChild(node, 'declarator');
      const declarator = declaratorNode === null ? null : lowerDeclarator(ctx, type, declaratorNode);
      const decl = make(declarator?.nameNode ?? null, 'value', node.type.startsWith('variadic'));
      decl.type = mayRefer(node) && type.kind !== 'reference' ? unknownType('decltype') : adjusted(declarator?.type ?? type);
      const value = fieldChild(node, 'default_value');
      if (value !== null) decl.default = { kind: 'value', value: lowerExpression(ctx, value) };
      return decl;
    }
    default: return null;
  }
}

/** A scope for template parameters inside the current one. */
export function templateScope(ctx: Lowering): Scope {
  return new Scope('template', ctx.scope, '', null);
}

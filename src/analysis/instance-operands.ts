/**
 * Values that a template gives to what its instances bring along: initialisers and operands where the type depends on a parameter.
 *
 *   R x(m);   R x[1] = {m};   const R &x = m;   Box<R> x(m);   f<R>(m)   (R)m   R{m}   return m;   r + m   c ? r : m
 *
 * With a class for `R` a constructor or an operator may take the value by reference, and change it or keep the reference. Whether an instance is of such a
 * class is told by template-types.ts. Not handled: arguments of calls whose template arguments are deduced, which are judged with the call.
 */
import type { Node } from './parts.js';
import type { DependentType, Expr, TemplateArgument, Type, VariableDecl } from '../syntax/tree.js';

const NOTHING: readonly Expr[] = [];

export function givenToInstances(node: Node, returns: Type): readonly Expr[] {
  switch (node.kind) {
    case 'declare': {
      let found = NOTHING;
      for (const variable of node.variables) if (variable.init !== null && isOfInstance(variable.type)) found = [...found, variable.init];
      return found;
    }
    case 'if': case 'for': case 'while': case 'switch': return initialiser(node.conditionDecl);
    case 'range-for': return isOfInstance(node.variable.type) ? [node.range] : NOTHING;
    case 'return': return node.value !== null && isOfInstance(returns) ? [node.value] : NOTHING;
    case 'call': return node.templateArguments !== null && dependentAmong(node.templateArguments).length > 0 ? node.arguments : NOTHING;
    case 'construct': return isOfInstance(node.type) ? node.arguments : NOTHING;
    case 'init-list': return isOfInstance(node.type) ? node.elements : NOTHING;
    case 'cast': return isOfInstance(node.type) ? [node.operand] : NOTHING;
    case 'conditional': return isOfInstance(node.type) ? [node.then, node.else] : NOTHING;
    case 'assign': return isOfInstance(node.target.type) ? [node.value] : NOTHING;
    case 'binary': return isOfInstance(node.left.type) || isOfInstance(node.right.type) ? [node.left, node.right] : NOTHING;
    default: return NOTHING;
  }
}

function initialiser(declared: VariableDecl | null): readonly Expr[] {
  return declared !== null && declared.init !== null && isOfInstance(declared.type) ? [declared.init] : NOTHING;
}

/** The variables that a node declares, with types that depend on a parameter or are made of one that does. */
export function declaredOfInstances(node: Node): readonly VariableDecl[] {
  switch (node.kind) {
    case 'declare': return node.variables.filter(({ type }) => isOfInstance(type));
    case 'if': case 'for': case 'while': case 'switch': return node.conditionDecl !== null && isOfInstance(node.conditionDecl.type) ? [node.conditionDecl] : [];
    case 'range-for': return isOfInstance(node.variable.type) ? [node.variable] : [];
    default: return [];
  }
}

function isOfInstance(type: Type): boolean {
  return dependentIn(type).length > 0;
}

const NONE: readonly DependentType[] = [];

/** The types that depend on a parameter which a type is made of. */
export function dependentIn(type: Type): readonly DependentType[] {
  switch (type.kind) {
    case 'dependent': return [type];
    case 'reference': return dependentIn(type.to);
    case 'array': return dependentIn(type.of);
    case 'record': return type.templateArguments === undefined ? NONE : dependentAmong(type.templateArguments);
    default: return NONE;
  }
}

export function dependentAmong(args: readonly TemplateArgument[]): readonly DependentType[] {
  return args.flatMap((argument) => (argument.kind === 'type' ? dependentIn(argument.type) : NONE));
}

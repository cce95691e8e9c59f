/** Declarations with parentheses around the name, which the grammar takes for calls, elements and assignments. */
import { fieldChild, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { declareVariables } from './lower-declaration.js';
import { isTypeName } from './lower-expression.js';
import { macroNamed } from './lower-macro.js';
import type { Stmt } from './tree.js';

/** `int (&x) = m;`, `int (*p)[2] = a;`, `T (&x)(m);` read as expressions; in C++ a statement that can be a declaration is one. */
export function readsAsDeclaration(ctx: Lowering, statement: Cst): boolean {
  for (let node: Cst | null = statement; node !== null;) {
    switch (node.type) {
      case 'comma_expression': case 'assignment_expression': node = fieldChild(node, 'left'); break;
      case 'subscript_expression': node = fieldChild(node, 'argument'); break;
      case 'binary_expression': {
        const left = fieldChild(node, 'left');
        const right = fieldChild(node, 'right');
        const op = node.children.find((child) => !child.named)?.type;
        return left?.type === 'identifier' && right?.type === 'assignment_expression' && (op === '*' || op === '&' || op === '&&') && isTypeName(ctx, left) && macroNamed(ctx, left, false) === null;
      }
      case 'call_expression': {
        const fn = fieldChild(node, 'function');
        const list = fieldChild(node, 'arguments');
        if (fn === null || list === null) return false;
        if (fn.type === 'call_expression' || fn.type === 'subscript_expression') { node = fn; break; }
        const [only, more] = namedChildren(list);
        if (only === undefined || more !== undefined || !isDeclarator(only) || (node === statement && only.type === 'identifier')) return false;
        return isTypeName(ctx, fn) && macroNamed(ctx, fn, true) === null;
      }
      default: return false;
    }
  }
  return false;
}

/** Could the expression be read as a declarator: a name below `*`, `&`, parentheses and subscripts? */
function isDeclarator(expression: Cst): boolean {
  let node: Cst | null | undefined = expression;
  while (node !== null && node !== undefined) {
    switch (node.type) {
      case 'identifier': return true;
      case 'pointer_expression': case 'subscript_expression': node = fieldChild(node, 'argument'); break;
      case 'parenthesized_expression': node = namedChildren(node)[0]; break;
      default: return false;
    }
  }
  return false;
}

/** The declaration that the statement, or the first part of a loop's head, is; opaque if it cannot be read as one. */
export function lowerMisreadDeclaration(ctx: Lowering, node: Cst): Stmt {
  const declaration = ctx.unit.snippets.declaration(ctx.text.slice(node.start, node.end).replace(/;?\s*$/, ';'), node.start);
  if (declaration === null) return ctx.opaqueStmt(node, 'a declaration that reads as an expression');
  return { ...declareVariables(ctx, declaration, node.start, 'function'), span: ctx.span(node) };
}

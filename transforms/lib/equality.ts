/**
 * When two pieces of a program are the same code. Equality of text and declarations only: it says nothing about values at different
 * times, which is for the facts to say.
 */
import { strip } from '../../src/analysis/children.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import type { Expr, Type } from '../../src/syntax/tree.js';
import { codeOnly } from './text.js';

/**
 * Two expressions are the same text about the same declarations, parentheses and macros aside. Says nothing about their values
 * at different times.
 */
export function sameExpr(a: Expr, b: Expr): boolean {
  const x = strip(a);
  const y = strip(b);
  if (x === y) return true;
  switch (x.kind) {
    case 'literal': return y.kind === 'literal' && x.value === y.value && sameType(x.type, y.type);
    case 'ref': return y.kind === 'ref' && x.decl !== null && x.decl === y.decl;
    case 'coordinate': return y.kind === 'coordinate' && x.base === y.base && x.axis === y.axis;
    case 'this': return y.kind === 'this';
    case 'unary': return y.kind === 'unary' && x.op === y.op && sameExpr(x.operand, y.operand);
    case 'binary': return y.kind === 'binary' && x.op === y.op && sameExpr(x.left, y.left) && sameExpr(x.right, y.right);
    case 'conditional': return y.kind === 'conditional' && sameExpr(x.condition, y.condition) && sameExpr(x.then, y.then) && sameExpr(x.else, y.else);
    case 'index': return y.kind === 'index' && sameExpr(x.base, y.base) && sameExpr(x.index, y.index);
    case 'member': return y.kind === 'member' && x.name === y.name && x.arrow === y.arrow && sameExpr(x.object, y.object);
    case 'cast': return y.kind === 'cast' && x.type.kind !== 'unknown' && sameType(x.type, y.type) && sameExpr(x.operand, y.operand);
    case 'call':
      return y.kind === 'call' && x.callee.kind === 'builtin' && y.callee.kind === 'builtin' && x.callee.name === y.callee.name
        && x.templateArguments === null && y.templateArguments === null
        && x.arguments.length === y.arguments.length && x.arguments.every((argument, i) => { const other = y.arguments[i]; return other !== undefined && sameExpr(argument, other); });
    // Assignments, updates, constructions, lambdas and what was not understood equal nothing.
    case 'update': case 'assign': case 'construct': case 'init-list': case 'sizeof': case 'lambda': case 'opaque': case 'paren': case 'macro':
      return false;
    default: {
      const never: never = x;
      return never;
    }
  }
}

/** Types equal up to qualifiers. Records, enums and dependent types by declaration; unknown types equal nothing. */
export function sameType(a: Type, b: Type): boolean {
  switch (a.kind) {
    case 'void': case 'bool': return a.kind === b.kind;
    case 'int': return b.kind === 'int' && a.bits === b.bits && a.signed === b.signed;
    case 'float': return b.kind === 'float' && a.format === b.format;
    case 'pointer': return b.kind === 'pointer' && sameType(a.to, b.to);
    case 'reference': return b.kind === 'reference' && sameType(a.to, b.to);
    case 'record': return b.kind === 'record' && a.decl === b.decl && a.templateArguments === undefined && b.templateArguments === undefined;
    case 'enum': return b.kind === 'enum' && a.decl === b.decl;
    case 'dependent': return b.kind === 'dependent' && a.decl !== null && a.decl === b.decl && a.text === b.text;
    case 'array': case 'function': case 'unknown': return false;
    default: {
      const never: never = a;
      return never;
    }
  }
}

/** Code tokens of a span, comments and white space left out: two texts with equal token lists are the same code. */
export function codeOf(source: SourceFile, span: Span): string {
  return codeOnly(source.text.slice(span.start, span.end));
}

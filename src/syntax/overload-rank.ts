/**
 * How well an argument suits a parameter, and which of two overloads that makes the better one. Source: ISO C++ 17, [over.ics.rank], [over.match.best], [conv.prom].
 *
 *   exact > qualification (`T *` to `const T *`) > promotion (`short` to `int`, `float` to `double`) > conversion
 *
 * `long` and `long long` are two types, as are `char` and `signed char`. What types do not tell (objects, null pointers, what hangs on a template's parameters) is not ranked: then neither
 * of two overloads is said to be the better one.
 */
import type { Expr, FunctionDecl, ParameterDecl, Type } from './tree.js';
import { strip } from './tree.js';
import { decay, enumValues, isArithmetic, printType, promote, sameType, stripReference, unqualified } from './types.js';

/** What a parameter may be bound to; null for one that is missing. */
export type Binding = 'value' | 'constant' | 'object' | 'temporary';

export function bindingOf(parameter: ParameterDecl | undefined): Binding | null {
  if (parameter === undefined || parameter.pack) return null;
  if (parameter.type.kind !== 'reference') return 'value';
  if (parameter.type.rvalue === true) return 'temporary';
  return parameter.type.to.const === true ? 'constant' : 'object';
}

/** Smaller is better; `none`: the function cannot be called so. Null: not known. */
export type Rank = 0 | 1 | 2 | 3 | 'none' | null;

function rankOf(wanted: Type, from: Type): Rank {
  if (isArithmetic(wanted) && isArithmetic(from)) return arithmeticRank(wanted, from);
  if (wanted.kind === 'pointer' && from.kind === 'pointer') {
    if (isUncertain(wanted.to) || isUncertain(from.to)) return null;
    if (sameType(wanted, from)) return 0;
    const same = sameType(unqualified(wanted.to), unqualified(from.to));
    return same ? wanted.to.const === true ? 1 : 'none' : isArithmetic(wanted.to) && isArithmetic(from.to) ? 'none' : null;
  }
  return wanted.kind === 'record' && sameType(wanted, from) && wanted.templateArguments === undefined ? 0 : null;
}

/** Of a number, or a value of an enum, for a parameter that is one. */
export function arithmeticRank(wanted: Type, from: Type): Rank {
  if (isUncertain(wanted) || isUncertain(from)) return null;
  if (sameType(wanted, from)) return 0;
  if (wanted.kind === 'enum') return 'none';
  if (from.kind === 'enum') {
    if (from.decl.scoped === true) return 'none';
    const values = enumValues(from.decl);
    return values === null ? null : sameType(wanted, values) || sameType(wanted, promote(values)) ? 2 : 3;
  }
  // Classes with conversions of their own.
  if (isHalf(wanted) || isHalf(from)) return null;
  if (from.kind === 'float') return from.format === 'float' && wanted.kind === 'float' ? 2 : 3;
  return sameType(wanted, promote(from)) ? 2 : 3;
}

function isHalf(type: Type): boolean {
  return type.kind === 'float' && (type.format === 'half' || type.format === 'bfloat16');
}

function isUncertain(type: Type): boolean {
  return type.kind === 'int' && type.named === 'uncertain';
}

/** Can the function not be called with the argument, for what types alone tell? */
export function isRefused(decl: FunctionDecl, arg: Expr, i: number): boolean {
  const parameter = decl.parameters[i];
  if (parameter === undefined || parameter.pack) return false;
  const rank = rankOf(unqualified(stripReference(parameter.type)), decay(arg.type));
  if (rank === 'none') return true;
  // A reference to a number that may be written binds to an object of its type alone.
  return bindingOf(parameter) === 'object' && rank !== 0 && rank !== null && isArithmetic(stripReference(parameter.type));
}

/**
 * Is `other` out of question beside `decl`, which is a function, no template? Every argument suits `decl` at least as well, and one suits it better, or `other` is a template. A template is taken for
 * one that could be an exact match wherever its parameters are not told.
 */
export function isBeaten(other: FunctionDecl, decl: FunctionDecl, args: readonly Expr[]): boolean {
  // A specialisation stands for its template.
  if (decl.template !== null || (decl.specialises !== null && other.template === null)) return false;
  let better = other.template !== null && other.specialises === null;
  for (const [i, arg] of args.entries()) {
    const order = compare(decl.parameters[i], other.parameters[i], arg, other.template !== null);
    if (order === null) return false;
    if (order === 'better') better = true;
  }
  return better;
}

function compare(own: ParameterDecl | undefined, other: ParameterDecl | undefined, arg: Expr, template: boolean): 'better' | 'equal' | null {
  const [binding, rival] = [bindingOf(own), bindingOf(other)];
  if (own === undefined || other === undefined || binding === null || rival === null) return null;
  const [wanted, wantedThere] = [unqualified(stripReference(own.type)), unqualified(stripReference(other.type))];
  if (binding === rival && isTold(wanted) && printType(own.type) === printType(other.type) && sameType(wanted, wantedThere)) return 'equal';
  const from = decay(arg.type);
  const rank = rankOf(wanted, from);
  if (rank === null || rank === 'none' || binding === 'temporary' || (binding === 'object' && (rank > 1 || !isWritable(arg)))) return null;
  const there: Rank = isTold(wantedThere) ? rankOf(wantedThere, from) : template ? 0 : null;
  if (there === null) return null;
  if (there === 'none' || rank < there) return 'better';
  if (rank > there) return null;
  // `T &` is nearer to an object that is not const, `T &&` to a temporary: which the argument is, is not told here.
  return (binding === 'constant' && (rival === 'object' || rival === 'temporary')) || (binding === 'object' && rival === 'constant' && !template) ? null : 'equal';
}

function isTold(type: Type): boolean {
  switch (type.kind) {
    case 'dependent': case 'unknown': return false;
    case 'pointer': case 'reference': return isTold(type.to);
    case 'array': return isTold(type.of);
    case 'record': return type.templateArguments === undefined;
    case 'function': return false;
    default: return true;
  }
}

/** An object that may be written, for sure: a member only through an object that is in sight, as a method may be const. */
function isWritable(arg: Expr): boolean {
  const x = strip(arg);
  if (x.type.const === true) return false;
  switch (x.kind) {
    case 'ref': return x.decl !== null && (x.decl.kind === 'parameter' || (x.decl.kind === 'variable' && x.decl.storage !== 'member'));
    case 'index': return x.base.type.kind === 'pointer' || isWritable(x.base);
    case 'member': return x.arrow ? x.object.type.kind === 'pointer' && x.object.type.to.const !== true && strip(x.object).kind !== 'this' : isWritable(x.object);
    case 'unary': return x.op === '*';
    default: return false;
  }
}

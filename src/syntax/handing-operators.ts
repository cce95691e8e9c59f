/**
 * Operators of the files that may keep or write a number they are given (`s << n` with `S &operator<<(S &, int &)`): where there is one, no operand of host
 * code is a mere read.
 */
import type { FileNames } from './scope.js';
import type { FunctionDecl, Type } from './tree.js';

/** May an operator that one of these files declares hand out a number? */
export function operatorHandsOut(visible: readonly FileNames[]): boolean {
  return visible.some(({ operators }) => operators.some(({ parameters }) => parameters.some(({ type }) => bindsNumber(type) || isMadeOfBound(type))));
}

/** A reference through which a number may be written. Streams are known by their names: no file of a program declares them. */
function bindsNumber(type: Type): boolean {
  if (type.kind !== 'reference' || type.to.const === true) return false;
  switch (type.to.kind) {
    // A `dim3` is made of numbers that launches ask for.
    case 'record': return type.to.decl.name === 'dim3' || type.to.decl.vector !== null;
    case 'array': case 'function': return false;
    case 'unknown': return !/stream\b/.test(type.to.text);
    default: return true;
  }
}

/** An object whose constructor takes such a reference: an operand may become one. */
function isMadeOfBound(type: Type): boolean {
  const made = type.kind === 'reference' ? type.to : type;
  if (made.kind !== 'record') return false;
  const { decl } = made;
  return decl.methods.some((method: FunctionDecl) => method.name === decl.name && method.parameters.some((parameter) => bindsNumber(parameter.type)));
}

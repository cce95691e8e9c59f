/**
 * Which kernel of one text is which of the other. Kernels of one name may stand in several namespaces, be overloads or templates, or be static in several files: they are
 * told apart by what they take, and alike ones by their order, where there are as many in both texts.
 */
import { printType } from '../syntax/types.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';

/** Kernels of a program by name, those with a body. */
export function kernelsNamed(program: Program, name: string): readonly FunctionDecl[] {
  return [...program.units.values()].flatMap((unit) => unit.kernels.filter((kernel) => kernel.name === name && kernel.body !== null));
}

/** The kernel of `after` that stands for this one of `before`; null if there is none of the name, `ambiguous` if it cannot be told. */
export function counterpart(before: Program, kernel: FunctionDecl, after: Program, name: string): FunctionDecl | null | 'ambiguous' {
  const mates = kernelsNamed(after, name);
  const peers = kernelsNamed(before, kernel.name);
  const [only] = mates;
  if (only === undefined) return null;
  if (mates.length === 1 && peers.length === 1) return only;
  const olds = peers.filter((other) => isAlike(other, kernel));
  const news = mates.filter((other) => isAlike(other, kernel));
  return olds.length === news.length ? news[olds.indexOf(kernel)] ?? 'ambiguous' : 'ambiguous';
}

function isAlike(a: FunctionDecl, b: FunctionDecl): boolean {
  return a.template?.length === b.template?.length && a.parameters.length === b.parameters.length
    && a.parameters.every((parameter, i) => { const other = b.parameters[i]; return other !== undefined && printType(parameter.type) === printType(other.type); });
}

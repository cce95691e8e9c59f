/** An edit must hold in every configuration: no name that the function uses is declared otherwise in an arm of `#if` that a build may choose. */
import { ambiguousNames } from '../../src/syntax/ambiguous-names.js';
import { unknown } from './obligation.js';
import type { Obligation, TransformContext } from './types.js';

export const ARMS_AGREE = 'arms-agree';

/** Null if the function names nothing of the kind. */
export function armsAgree({ facts: { function: fn, program }, unit }: TransformContext): Obligation | null {
  const found = ambiguousNames(unit, program)?.firstIn(fn) ?? null;
  if (found === null) return null;
  const { name, at } = found;
  return unknown(ARMS_AGREE, unit.source.line(at), name.text, `let ${name.name} mean one thing for all builds, say with -D ${name.decides} what it is if they all define it, or give the configurations functions of their own`);
}

/**
 * Names for the constants that peel writes: free in the function, and not the name of a macro or in the body of one.
 */
import type { TransformContext } from '../types.js';

/** Makes names that are free in the function of the context, each once. */
export function namerFor(context: TransformContext): (wish: string) => string {
  const taken = new Set<string>();
  return (wish) => {
    for (let n = 1; ; n++) {
      const name = n === 1 ? wish : `${wish}${n}`;
      if (taken.has(name) || !isFree(context, name)) continue;
      taken.add(name);
      return name;
    }
  };
}

export function isFree({ facts, unit }: TransformContext, name: string): boolean {
  const word = new RegExp(`\\b${name}\\b`);
  const { span } = facts.function;
  if (word.test(unit.source.text.slice(span.start, span.end))) return false;
  for (const macro of unit.macros.values()) if (macro.name === name || word.test(macro.body)) return false;
  // A file that includes this one may define the macro first.
  for (const other of facts.program.units.values()) if (other.macros.has(name)) return false;
  return true;
}

/** True if the function's names are joined by underscores more often than by capitals. */
export function prefersUnderscores({ facts, unit }: TransformContext): boolean {
  const { span } = facts.function;
  const text = unit.source.text.slice(span.start, span.end);
  const snake = (text.match(/\b[a-z][a-z0-9]*_[a-z0-9_]+\b/g) ?? []).length;
  const camel = (text.match(/\b[a-z]+[A-Z]\w*\b/g) ?? []).filter((word) => !/^(?:thread|block|grid)(?:Idx|Dim)$/.test(word)).length;
  return snake >= camel;
}

/** Two words as one name, in the function's way. */
export function joinedName(context: TransformContext, first: string, second: string): string {
  return prefersUnderscores(context) ? `${first}_${second}` : `${first}${second.charAt(0).toUpperCase()}${second.slice(1)}`;
}

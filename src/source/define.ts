/** Reads the argument of a `#define`. */
import type { MacroDefinition } from './types.js';
import { tokenizeFragment } from './tokenizer.js';

/** A name with a blank or nothing behind it: most macros, told without looking at what they stand for. */
const OBJECT = /^[ \t\v\f\r\n]*([A-Za-z_$][\w$]*)(?=[ \t\v\f\r\n]|$)/;

/** Null if it is malformed. `argument` has its comments and continuations removed already. */
export function parseDefine(argument: string, file: string, line: number): MacroDefinition | null {
  const [head, plain] = OBJECT.exec(argument) ?? [];
  if (head !== undefined && plain !== undefined) return { name: plain, parameters: null, variadic: false, body: argument.slice(head.length).trim(), file, line, ambiguous: false };
  const tokens = tokenizeFragment(argument);
  if (!tokens.isIdentifier(0)) return null;
  const name = tokens.spelling(0);
  const objectLike = !tokens.is(1, '(') || tokens.start(1) !== tokens.end(0);
  if (objectLike) return { name, parameters: null, variadic: false, body: argument.slice(tokens.end(0)).trim(), file, line, ambiguous: false };
  const parameters: string[] = [];
  let variadic = false;
  let at = 2;
  for (; at < tokens.count && !tokens.is(at, ')'); at++) {
    if (tokens.is(at, '...')) {
      variadic = true;
      // `args...` names the rest itself; a bare `...` is __VA_ARGS__.
      if (!tokens.isIdentifier(at - 1)) parameters.push('__VA_ARGS__');
    } else if (tokens.isIdentifier(at)) {
      parameters.push(tokens.spelling(at));
    } else if (!tokens.is(at, ',')) {
      return null;
    }
  }
  if (at >= tokens.count) return null;
  return { name, parameters, variadic, body: argument.slice(tokens.end(at)).trim(), file, line, ambiguous: false };
}

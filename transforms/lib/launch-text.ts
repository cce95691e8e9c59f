/** Pieces of host text: types by their names, negations, lists of arguments, shapes. */
import type { Type } from '../../src/syntax/tree.js';
import { isBareName } from './launch-names.js';

/** A fundamental type by a name that means the same everywhere. */
export function typeText(type: Type): string {
  if (type.kind === 'float') return type.format === 'half' ? '__half' : type.format === 'bfloat16' ? '__nv_bfloat16' : type.format;
  if (type.kind !== 'int') return 'bool';
  const words = { 8: 'char', 16: 'short', 32: 'int', 64: 'long long' } as const;
  if (type.signed) return type.bits === 8 ? 'signed char' : words[type.bits];
  return type.bits === 32 ? 'unsigned' : `unsigned ${words[type.bits]}`;
}

/** The condition under which something is not left out. */
export function negated(text: string): string {
  const inner = /^!\((.*)\)$/s.exec(text)?.[1];
  if (inner !== undefined && balanced(`(${inner})`)) return inner;
  return isBareName(text) ? `!${text}` : `!(${text})`;
}

/** True if the first parenthesis is closed by the last character. */
export function balanced(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    if (depth === 0 && i < text.length - 1 && text.slice(0, i + 1).includes('(')) return false;
  }
  return depth === 0;
}

/** `dim3(x, 1, 1)` is `x`. */
export function simpleShape(text: string): string {
  const inner = /^dim3\s*\((.*)\)$/s.exec(text)?.[1];
  if (inner === undefined) return text;
  const [first = text, ...others] = argumentsOf(inner);
  return others.length === 2 && others.every((side) => side === '1') ? first : text;
}

/** Parts of a list between commas of its own. */
export function argumentsOf(list: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const c of list) {
    if (c === ',' && depth === 0) { parts.push(''); continue; }
    if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) depth--;
    parts[parts.length - 1] += c;
  }
  return parts.map((part) => part.trim());
}

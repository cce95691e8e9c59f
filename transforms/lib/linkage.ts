/** Linkage of functions: that of C, by `extern "C"` in front of it or around it; and none outside of the file. */
import type { FunctionDecl, Unit } from '../../src/syntax/tree.js';
import { fileTokens } from './launch-mentions.js';

const LINKAGE = /\bextern\s*"C"/;

/** Macros that hide it count wherever they are spelled before the function: taken for C, it only stays where it is. */
export function hasLinkageOfC(unit: Unit, fn: FunctionDecl): boolean {
  if (fn.template !== null || fn.owner !== null) return false;
  const { source } = unit;
  const hidden = new Set([...unit.macros].filter(([, macro]) => LINKAGE.test(macro.body)).map(([name]) => name));
  if (!LINKAGE.test(source.text) && hidden.size === 0) return false;
  const tokens = fileTokens(source);
  let depth = 0;
  let own = true;
  for (let i = tokens.count - 1; i >= 0; i--) {
    if (tokens.start(i) >= fn.nameSpan.start) continue;
    const text = tokens.spelling(i);
    if (hidden.has(text)) return true;
    if (text === '}') depth++;
    const opens = text === '{' && depth-- === 0;
    if (opens) depth = 0;
    // `extern "C" {` around it, or `extern "C"` at the start of its own declaration.
    if (opens && tokens.spelling(i - 1) === '"C"' && tokens.spelling(i - 2) === 'extern') return true;
    if (own && text === '"C"' && tokens.spelling(i - 1) === 'extern') return true;
    if (text === ';' || text === '}' || text === '{') own = false;
  }
  return false;
}

/** A source that is compiled by itself, in contrast to one that others include. */
const MAIN = /\.(?:cu|hip|c|cc|cpp|cxx)$/i;

/** No other file can name the kernel. */
export function isInternal(kernel: FunctionDecl): boolean {
  return kernel.qualifiers.static && MAIN.test(kernel.file);
}

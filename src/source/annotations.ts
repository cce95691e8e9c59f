/** `// divmod: key` and `// divmod: key=value` comments. */
import type { Annotation, SourceFile } from './types.js';
import { tokensOf } from './source-file.js';

/**
 * Annotations in order of their place. A comment may hold several, separated by commas outside of brackets; words
 * after a blank are a remark, up to the end. One beside code speaks
 * about its own line; one on a line without code about the next line that has some (its own line if none follows).
 */
export function annotationsOf(source: SourceFile): Annotation[] {
  const result: Annotation[] = [];
  for (const comment of source.comments) {
    const text = comment.text.trim();
    if (!text.startsWith('divmod:')) continue;
    const line = spokenLine(source, comment.start, comment.end);
    for (const item of splitItems(text.slice('divmod:'.length))) {
      const [, key, value, remark] = /^\s*([\w-]+)\s*(?:=\s*(\S+))?\s*(.*)$/s.exec(item) ?? [];
      if (key !== undefined) result.push({ line, key, value: value ?? null });
      // What follows a remark is prose: a comma in it starts no further annotation, which might grant something.
      if (remark !== '') break;
    }
  }
  return result;
}

function spokenLine(source: SourceFile, start: number, end: number): number {
  const tokens = tokensOf(source);
  const next = tokens.at(end);
  const line = source.line(start);
  const last = source.line(end);
  const before = next > 0 && source.line(tokens.end(next - 1)) === line;
  const after = next < tokens.count && source.line(tokens.start(next)) === last;
  if (before) return line;
  if (after) return last;
  return next < tokens.count ? source.line(tokens.start(next)) : line;
}

function splitItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text.charAt(i);
    if (c === '(' || c === '[' || c === '{') depth++;
    else if (c === ')' || c === ']' || c === '}') depth--;
    else if (i === text.length || (c === ',' && depth <= 0)) {
      items.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return items;
}

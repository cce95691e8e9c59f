/** Text that begins and does not end (`#if` without `#endif`, a comment, a raw string): what follows is not what its writer meant, and nothing in the tree shows it. */
import { tokenize } from '../source/tokenizer.js';
import { TokenKind } from '../source/tokens.js';
import type { Problem, SourceFile } from '../source/types.js';

export function openTextOf(source: SourceFile): readonly Problem[] {
  return [...openConditionals(source), ...openLiterals(source)];
}

/** A conditional that nothing ends takes the rest of the file with it if its condition does not hold. */
function openConditionals(source: SourceFile): Problem[] {
  const open: number[] = [];
  for (const { kind, start } of source.directives) {
    if (kind === 'if' || kind === 'ifdef' || kind === 'ifndef') open.push(start);
    else if (kind === 'endif') open.pop();
  }
  const [first] = open;
  return first === undefined ? [] : [{ line: source.line(first), message: '`#if` without `#endif`' }];
}

/** A comment or a raw string that goes on to the end of the file: what stands in it is no code, and mostly was meant to be. */
function openLiterals(source: SourceFile): Problem[] {
  const last = source.comments.at(-1);
  const { text } = source;
  if (last !== undefined && text.startsWith('/*', last.start) && (last.end - last.start < 4 || !text.endsWith('*/', last.end))) {
    return [{ line: source.line(last.start), message: '`/*` without `*/`: the rest of the file is a comment' }];
  }
  if (!text.includes('R"')) return [];
  const { tokens } = tokenize(text);
  const i = tokens.count - 1;
  const raw = i < 0 || tokens.kind(i) !== TokenKind.string ? null : /^\w*R"([^(\s\\]*)\(/.exec(tokens.spelling(i));
  if (raw === null || tokens.spelling(i).endsWith(`)${raw[1] ?? ''}"`)) return [];
  return [{ line: source.line(tokens.start(i)), message: 'a raw string without an end: the rest of the file belongs to it' }];
}

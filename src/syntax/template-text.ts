/**
 * Templates of a file, by its tokens: where they stand, and which names an instance looks up once more where it is made, behind everything that its
 * unit declares up to there (ISO C++ [temp.point], [temp.dep.candidate]): calls without a scope, operators, and templates that may be specialised.
 */
import { tokensOf } from '../source/source-file.js';
import { TokenKind, type Tokens } from '../source/tokens.js';
import type { SourceFile, Span } from '../source/types.js';

export interface TemplateText {
  /** In the order of the text, none inside of another. */
  readonly spans: readonly Span[];
  /** Names in front of `(` or `<`, behind no `.`, `->` or `::`. */
  readonly called: ReadonlySet<string>;
  /** All names. */
  readonly names: ReadonlySet<string>;
  /** Punctuation, which may be operators. */
  readonly operators: ReadonlySet<string>;
}

const known = new WeakMap<SourceFile, { readonly text: TemplateText | null }>();

/** Null if the file holds no template. */
export function templateTextOf(source: SourceFile): TemplateText | null {
  let found = known.get(source);
  if (found === undefined) known.set(source, found = { text: /\b(?:template|auto)\b/.test(source.text) ? search(source) : null });
  return found.text;
}

/** Does a part of the file stand in a template, or hold one? */
export function touchesTemplate(source: SourceFile, { start, end }: Span): boolean {
  return templateTextOf(source)?.spans.some((span) => span.start < end && start < span.end) ?? false;
}

function search(source: SourceFile): TemplateText | null {
  const tokens = tokensOf(source);
  const spans: Span[] = [];
  const called = new Set<string>();
  const names = new Set<string>();
  const operators = new Set<string>();
  for (let i = 0; i < tokens.count; i++) {
    if (!opensTemplate(tokens, i)) continue;
    const end = templateEnd(tokens, i);
    spans.push({ start: tokens.start(i), end: tokens.end(end) });
    for (; i <= end; i++) {
      const kind = tokens.kind(i);
      if (kind === TokenKind.punctuation) operators.add(tokens.spelling(i));
      else if (tokens.isIdentifier(i)) {
        const name = tokens.spelling(i);
        names.add(name);
        if ((tokens.is(i + 1, '(') || tokens.is(i + 1, '<')) && !tokens.is(i - 1, '.') && !tokens.is(i - 1, '->') && !tokens.is(i - 1, '::')) called.add(name);
      }
    }
    i = end;
  }
  return spans.length === 0 ? null : { spans, called, names, operators };
}

/** `template <` with parameters, or a parameter of type `auto`. */
function opensTemplate(tokens: Tokens, i: number): boolean {
  if (tokens.is(i, 'template')) return tokens.is(i + 1, '<') && !tokens.is(i + 2, '>');
  if (!tokens.is(i, 'auto')) return false;
  const before = tokens.is(i - 1, 'const') ? i - 2 : i - 1;
  return tokens.is(before, '(') || tokens.is(before, ',');
}

/** The last token of the declaration: its `;`, or the `}` of its body. Braces in front of a body belong to its initialisers. */
function templateEnd(tokens: Tokens, from: number): number {
  let depth = 0;
  for (let i = from; i < tokens.count; i++) {
    if (tokens.is(i, '{')) depth++;
    else if (tokens.is(i, '}')) {
      if (--depth <= 0 && !tokens.is(i + 1, '{') && !tokens.is(i + 1, ',') && !tokens.is(i + 1, ')')) return i;
    } else if (tokens.is(i, ';') && depth <= 0) return i;
  }
  return tokens.count - 1;
}

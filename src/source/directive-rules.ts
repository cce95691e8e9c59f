/** Directives that the C++ grammar takes only between statements, or not as they are written. The choice of arms is in `arms`. */
import type { Directive } from './types.js';
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { TokenKind, type Tokens } from './tokens.js';
import { tokenizeFragment } from './tokenizer.js';
import { OPERATOR_WORDS } from './words.js';

/** `i` is the token, `index` its number in `SourceFile.directives`. */
export function directiveRule(stream: Stream, patches: Patches, i: number, index: number): void {
  const directive = stream.source.directives[index];
  if (!directive) return;
  if (directive.opener >= 0) {
    conditionalRule(stream, patches, directive);
    return;
  }
  if (directive.kind === 'include' && stream.container(i) !== 'namespace') {
    includeRule(stream, patches, i, directive);
    return;
  }
  if (directive.kind !== 'pragma') {
    // Known from the source room, so the tree need not hold them; and the grammar lets a `#define` without a body or an `#include`
    // that ends in a blank swallow the line after it.
    patches.blank(directive.start, directive.end);
    return;
  }
  const container = stream.container(i);
  const between = (container === 'block' || container === 'namespace' || container === 'record') && stream.endsStatement(stream.previous(i));
  // A pragma after a label is a statement to the grammar and would take the label's place before the loop.
  const labelled = stream.tokens.is(stream.previous(i), ':');
  if (between && !labelled) return;
  const { start, end } = directive;
  patches.blank(start, end);
  patches.note({ kind: 'pragma', span: { start, end }, text: stream.source.text.slice(start, end) });
}

/** A statement that lowering knows by the text in the file; it fits in place of the shortest directive. */
const OPAQUE_STATEMENT = 'throw 0;';

/**
 * An `#include` between braces is text of another file: statements, the body of the `if` in front of it, parts of a list. Where a statement may stand it
 * reads as one, so that what follows is not taken for the body; what it is, lowering says (lower-include.ts).
 */
function includeRule(stream: Stream, patches: Patches, i: number, { start, end }: Directive): void {
  const text = stream.source.text.slice(start, end);
  if (stream.container(i) === 'block' && end - start >= OPAQUE_STATEMENT.length && !/[\n\r]/.test(text)) patches.replace(start, end, OPAQUE_STATEMENT);
  else patches.blank(start, end);
  patches.note({ kind: 'include', span: { start, end }, text });
}

/** A condition that the grammar cannot read becomes `1`; words after `#else` and `#endif` go. Which arm is kept was decided before. */
function conditionalRule(stream: Stream, patches: Patches, directive: Directive): void {
  const words = directive.kind === 'else' || directive.kind === 'endif';
  if (words ? directive.argument === '' : directive.kind !== 'if' && directive.kind !== 'elif') return;
  if (!words && isPlainCondition(tokenizeFragment(directive.argument))) return;
  const text = stream.source.text.slice(directive.start, directive.end);
  const head = /^#\s*\w+/.exec(text)?.[0].length ?? 1;
  const span = { start: directive.start + head, end: directive.end };
  if (!words && span.end - span.start < 2) return;
  patches.replace(span.start, span.end, words ? '' : ' 1');
  patches.note({ kind: 'other', span, text: stream.source.text.slice(span.start, span.end) });
}

function isPlainCondition(tokens: Tokens): boolean {
  for (let i = 0; i < tokens.count; i++) {
    switch (tokens.kind(i)) {
      case TokenKind.identifier:
        if (OPERATOR_WORDS.has(tokens.spelling(i)) || tokens.spelling(i).startsWith('__has_')) return false;
        break;
      case TokenKind.punctuation:
        if (!/^(?:[-+*/%()!~<>|&^,]|==|!=|<=|>=|&&|\|\||<<|>>)$/.test(tokens.spelling(i))) return false;
        break;
      case TokenKind.number:
      case TokenKind.character: break;
      default: return false;
    }
  }
  return tokens.count > 0;
}

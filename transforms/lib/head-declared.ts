/**
 * `head-declared`: where an edit takes the head of a `for` away, or copies it, every use of what that head declared still stands where a declaration of it
 * reaches. Asked of the text that comes out, whatever the writer thought: a counter that lost its declaration does not compile, or, where
 * an outer variable has the name, reads that one.
 */
import { TokenKind, type Tokens } from '../../src/source/tokens.js';
import { tokenizeFragment } from '../../src/source/tokenizer.js';
import type { ForStmt } from '../../src/syntax/tree.js';
import { macroWords } from './local-names.js';
import { lineOf, proved, refuted } from './obligation.js';
import { copyText, extentOf } from './text.js';
import type { Change, Obligation, TransformContext } from './types.js';

/** Every name of the head of `loop` in the text that the change makes of it is declared there. */
export function headDeclared(context: TransformContext, change: Change, loop: ForStmt): Obligation {
  const { source } = context.unit;
  const line = lineOf(context, loop);
  if (loop.init.kind !== 'declare') return proved('head-declared', line, 'the head of the loop declares nothing');
  const edits = change.edits.filter((edit) => edit.file === source.realPath);
  const region = extentOf(source, loop);
  const start = Math.min(region.start, ...edits.map(({ span }) => span.start));
  const end = Math.max(region.end, ...edits.map(({ span }) => span.end));
  // What is put in front of a place comes before what takes the place.
  const text = copyText(source, { start, end }, { from: '', to: '' }, [...edits].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end));
  const names = new Set(loop.init.variables.map(({ name }) => name));
  const init = spellings(tokenizeFragment(source.text.slice(loop.init.span.start, loop.init.span.end).replace(/;\s*$/, '')));
  const lost = undeclared(tokenizeFragment(text), { init, names, further: declarationsIn(tokenizeFragment(source.text.slice(loop.init.span.end, loop.span.end)), names) }, (word) => (context.unit.macros.has(word) ? macroWords(context.unit, word) : null));
  if (lost === null) return proved('head-declared', line, `${[...names].join(', ')}: declared wherever the new text names ${names.size === 1 ? 'it' : 'them'}`);
  return refuted('head-declared', line, `the new text names ${lost}, which the head of the loop declared, where no declaration of it is left`, 'please report it: this is a fault of divmod');
}

function spellings(tokens: Tokens): readonly string[] {
  return Array.from({ length: tokens.count }, (_, i) => tokens.spelling(i));
}

/** What may declare the names: the head's own declaration, word for word, and declarations further in that the loop has, each as the three tokens around the name. */
interface Declared { readonly init: readonly string[]; readonly names: ReadonlySet<string>; readonly further: ReadonlySet<string> }

function declarationsIn(tokens: Tokens, names: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (let i = 1; i < tokens.count; i++) if (names.has(tokens.spelling(i)) && declares(tokens, i)) found.add(around(tokens, i));
  return found;
}

function around(tokens: Tokens, i: number): string {
  return [i - 1, i, i + 1].map((at) => tokens.spelling(at)).join(' ');
}

/** The first of the names that stands outside the scopes of all declarations; null if there is none. */
function undeclared(tokens: Tokens, { init, names, further }: Declared, replaced: (word: string) => ReadonlySet<string> | null): string | null {
  const covered: { readonly names: ReadonlySet<string>; readonly from: number; readonly to: number }[] = [];
  for (let i = 0; i < tokens.count; i++) {
    if (init.every((word, k) => tokens.spelling(i + k) === word)) covered.push({ names, from: i, to: scopeEnd(tokens, i) });
    else if (names.has(tokens.spelling(i)) && declares(tokens, i) && further.has(around(tokens, i))) covered.push({ names: new Set([tokens.spelling(i)]), from: i, to: scopeEnd(tokens, i) });
  }
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) !== TokenKind.identifier || /^(?:\.|->|::)$/.test(tokens.spelling(i - 1))) continue;
    const word = tokens.spelling(i);
    const said = names.has(word) ? [word] : [...replaced(word) ?? []].filter((inner) => names.has(inner));
    const lost = said.find((name) => !covered.some((scope) => scope.names.has(name) && scope.from <= i && i < scope.to));
    if (lost !== undefined) return lost;
  }
  return null;
}

/** A word that is no statement's own stands in front of the name: its type. (`auto &i` counts as a use, for which the edit is refused.) */
function declares(tokens: Tokens, i: number): boolean {
  return tokens.isIdentifier(i - 1) && !/^(?:return|else|do|case|goto|sizeof|throw|new|delete|co_return|co_yield|and|or|not)$/.test(tokens.spelling(i - 1));
}

/** Where what is declared at `i` ends: with the `for` in whose head it stands, or with the block. */
function scopeEnd(tokens: Tokens, i: number): number {
  let depth = 0;
  for (let at = i - 1; at >= 0; at--) {
    if (tokens.is(at, ')') || tokens.is(at, '}') || tokens.is(at, ']')) depth++;
    else if (tokens.is(at, '(') || tokens.is(at, '[') || tokens.is(at, '{')) {
      if (depth-- > 0) continue;
      if (tokens.is(at, '(')) return tokens.is(at - 1, 'for') || tokens.is(at - 1, 'if') || tokens.is(at - 1, 'while') || tokens.is(at - 1, 'switch') ? statementEnd(tokens, at - 1) : closing(tokens, at);
      return closing(tokens, at);
    }
  }
  return tokens.count;
}

/** Behind the bracket that closes the one at `open`. */
function closing(tokens: Tokens, open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.count; at++) {
    if (tokens.is(at, '(') || tokens.is(at, '[') || tokens.is(at, '{')) depth++;
    else if ((tokens.is(at, ')') || tokens.is(at, ']') || tokens.is(at, '}')) && --depth === 0) return at + 1;
  }
  return tokens.count;
}

/** Behind the statement that begins at `i`. */
function statementEnd(tokens: Tokens, i: number): number {
  while (tokens.kind(i) === TokenKind.directive) i++;
  if (tokens.is(i, '{')) return closing(tokens, i);
  switch (tokens.spelling(i)) {
    case 'for': case 'while': case 'switch': return statementEnd(tokens, closing(tokens, i + 1));
    case 'do': {
      const body = statementEnd(tokens, i + 1);
      return closing(tokens, body + 1) + 1;
    }
    case 'if': {
      const open = tokens.is(i + 1, 'constexpr') ? i + 2 : i + 1;
      const then = statementEnd(tokens, closing(tokens, open));
      return tokens.is(then, 'else') ? statementEnd(tokens, then + 1) : then;
    }
    default: {
      for (let at = i; at < tokens.count; at++) {
        if (tokens.is(at, ';')) return at + 1;
        if (tokens.is(at, '(') || tokens.is(at, '[') || tokens.is(at, '{')) at = closing(tokens, at) - 1;
      }
      return tokens.count;
    }
  }
}

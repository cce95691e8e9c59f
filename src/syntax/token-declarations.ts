/**
 * What a range of tokens declares, read from the tokens: the tree holds one arm of every `#if`, and comparing arms needs the others as well. Names are
 * kept with the words of their declaration. Reads too much rather than too little: what is taken for a declaration and is none is compared in vain.
 */
import type { Stream } from '../source/stream.js';
import { TokenKind } from '../source/tokens.js';
import { KEYWORDS } from '../source/words.js';

export interface TokenDeclaration {
  readonly name: string;
  /** A field or a method: only what stands behind `.`, `->` or `::` means it. */
  readonly member: boolean;
  readonly sort: 'record' | 'function' | 'other';
  /** Tokens of the whole declaration, `last` included. */
  readonly first: number;
  readonly last: number;
  /** Token of the name. */
  readonly at: number;
}

export type Surroundings = 'namespace' | 'record' | 'enum' | 'block' | 'parenthesis';

/** Declarations among the tokens from `first` to `last`, both included, in the order of the text. Bodies of functions are not entered. */
export function declarationsIn(stream: Stream, first: number, last: number, surroundings: Surroundings): readonly TokenDeclaration[] {
  const found: TokenDeclaration[] = [];
  if (surroundings === 'enum') enumerators(stream, first, last, first, last, found);
  else new Reader(stream, found).read(first, last, surroundings);
  return found;
}

/** Words that stand between a head and a name in expressions and statements. */
const NO_TYPE = new Set(['return', 'goto', 'else', 'do', 'case', 'new', 'delete', 'throw', 'sizeof', 'if', 'while', 'for', 'switch', 'not', 'and', 'or', 'namespace', 'template']);
const TYPE_HEADS = new Set(['struct', 'class', 'union', 'enum']);
const NAME_ENDS = new Set([';', ',', '=', '[', '(', '{', ':', ')']);

class Reader {
  constructor(private readonly stream: Stream, private readonly found: TokenDeclaration[]) {}

  read(first: number, last: number, surroundings: Surroundings): void {
    const { stream } = this;
    const { tokens } = stream;
    let start = first;
    for (let i = first; i <= last; i++) {
      if (tokens.kind(i) === TokenKind.directive || tokens.is(i, ';')) { start = i + 1; continue; }
      if (surroundings === 'record' && tokens.is(i, ':') && ACCESS.has(tokens.spelling(i - 1))) { start = i + 1; continue; }
      if (!tokens.is(i, '{')) {
        i = this.piece(start, i, last, surroundings);
        continue;
      }
      const close = stream.match(i) > i ? Math.min(stream.match(i), last) : last;
      const kind = stream.brackets.braces.get(i);
      if (kind === 'namespace') {
        this.read(i + 1, close - 1, 'namespace');
        i = close;
        start = close + 1;
      } else if (kind === 'record' || kind === 'enum') {
        i = this.type(start, i, close, last, kind, surroundings);
        start = i + 1;
      } else {
        i = close;
        // A body ends what it belongs to, a list of values does not.
        if (kind === 'block') start = close + 1;
      }
    }
  }

  /** One token of a declaration; the token to go on behind. */
  private piece(start: number, i: number, last: number, surroundings: Surroundings): number {
    const { stream } = this;
    const { tokens } = stream;
    if (tokens.is(i, '<') && (tokens.is(i - 1, 'template') || tokens.isIdentifier(i - 1))) return angleEnd(stream, i, last);
    if (tokens.is(i, '(') || tokens.is(i, '[')) {
      const close = stream.match(i) > i ? stream.match(i) : i;
      // `void (*name)(int)`, `int (&name)[4] = …`.
      if (tokens.is(i, '(') && (tokens.is(i + 1, '*') || tokens.is(i + 1, '&'))) {
        let name = close - 1;
        while (name > i && !tokens.isIdentifier(name)) name--;
        if (name > i) this.add(name, start, last, surroundings, 'other');
      }
      return Math.min(close, last);
    }
    if (tokens.is(i, '=')) {
      // The value: to the next name of the list.
      let at = i + 1;
      for (; at <= last && !tokens.is(at, ';') && !tokens.is(at, ',') && tokens.kind(at) !== TokenKind.directive; at++) {
        const close = tokens.is(at, '(') || tokens.is(at, '[') || tokens.is(at, '{') ? stream.match(at) : -1;
        if (close > at) at = close;
      }
      return Math.min(at - 1, last);
    }
    if (!tokens.isIdentifier(i) || KEYWORDS.has(tokens.spelling(i)) && !tokens.is(i, 'operator')) return i;
    if (tokens.is(i, 'operator')) {
      if (surroundings !== 'block') this.add(i, start, last, surroundings, 'function');
      let open = i + 1;
      while (open < last && !tokens.is(open, '(')) open++;
      return tokens.is(open + 1, ')') && tokens.is(open + 2, '(') ? open + 1 : Math.max(i, open - 1);
    }
    const next = i + 1 > last ? ';' : tokens.kind(i + 1) === TokenKind.directive ? ';' : tokens.spelling(i + 1);
    if (!NAME_ENDS.has(next) || (next === ':' && surroundings !== 'record')) return i;
    if (i === start && surroundings !== 'record') return i;
    const before = i - 1;
    // The head of a type, or a type named with its kind.
    if (TYPE_HEADS.has(tokens.spelling(before))) return i;
    const isNamed = tokens.isIdentifier(before) ? !NO_TYPE.has(tokens.spelling(before)) : tokens.is(before, '*') || tokens.is(before, '&') || tokens.is(before, '&&') || tokens.is(before, '>') || tokens.is(before, '>>') || tokens.is(before, ',')
      || (surroundings !== 'block' && (tokens.is(before, ')') || tokens.is(before, '::') || tokens.is(before, '}')));
    if (!isNamed && i !== start) return i;
    this.add(i, start, last, surroundings, next === '(' && surroundings !== 'block' && surroundings !== 'parenthesis' ? 'function' : 'other');
    return i;
  }

  private add(name: number, start: number, last: number, surroundings: Surroundings, sort: TokenDeclaration['sort']): void {
    this.found.push({ name: this.stream.tokens.spelling(name), member: surroundings === 'record', sort, first: start, last: this.end(name, last, surroundings), at: name });
  }

  /** The last token of the declaration that a name belongs to. */
  private end(name: number, last: number, surroundings: Surroundings): number {
    const { stream } = this;
    const { tokens } = stream;
    for (let i = name + 1; i <= last; i++) {
      if (tokens.is(i, ';')) return i - 1;
      if (surroundings === 'parenthesis' && (tokens.is(i, ',') || tokens.is(i, ')'))) return i - 1;
      const close = tokens.is(i, '{') || tokens.is(i, '(') || tokens.is(i, '[') ? stream.match(i) : -1;
      if (close <= i) continue;
      if (tokens.is(i, '{') && stream.brackets.braces.get(i) === 'block') return Math.min(close, last);
      i = close;
    }
    return last;
  }

  /** A record or enum with its body; what stands behind `}` is declared too. */
  private type(start: number, open: number, close: number, last: number, kind: 'record' | 'enum', surroundings: Surroundings): number {
    const { stream } = this;
    const { tokens } = stream;
    let end = close;
    while (end < last && !tokens.is(end, ';') && !tokens.is(end, '(') && tokens.kind(end + 1) !== TokenKind.directive) end++;
    const member = surroundings === 'record';
    const name = typeName(stream, start, open);
    if (name >= 0) this.found.push({ name: tokens.spelling(name), member, sort: kind === 'record' ? 'record' : 'other', first: start, last: end, at: name });
    for (let i = close + 1; i <= end; i++) if (tokens.isIdentifier(i)) this.found.push({ name: tokens.spelling(i), member, sort: kind === 'record' ? 'record' : 'other', first: start, last: end, at: i });
    if (kind === 'record') this.read(open + 1, close - 1, 'record');
    else enumerators(stream, open + 1, close - 1, start, close, this.found);
    return end;
  }
}

const ACCESS = new Set(['public', 'private', 'protected']);

/** The name in the head of a record or enum: the last one in front of the body or of its bases. -1 if it has none. */
export function typeName(stream: Stream, start: number, open: number): number {
  const { tokens } = stream;
  let name = -1;
  for (let i = start; i < open; i++) {
    if (tokens.is(i, ':')) break;
    if (tokens.is(i, '(') && stream.match(i) > i) i = stream.match(i);
    else if (tokens.is(i, '<')) i = angleEnd(stream, i, open - 1);
    else if (tokens.isIdentifier(i) && !KEYWORDS.has(tokens.spelling(i)) && !tokens.is(i, 'final') && !tokens.is(i + 1, '(')) name = i;
  }
  return name;
}

/** An enumerator's value comes from those in front of it: the declaration is the whole enum. */
function enumerators(stream: Stream, first: number, last: number, from: number, to: number, found: TokenDeclaration[]): void {
  const { tokens } = stream;
  for (let i = first; i <= last; i++) {
    const close = tokens.is(i, '(') || tokens.is(i, '{') ? stream.match(i) : -1;
    if (close > i) { i = close; continue; }
    const begins = i === first || tokens.is(i - 1, ',') || tokens.is(i - 1, '{') || tokens.kind(i - 1) === TokenKind.directive;
    if (begins && tokens.isIdentifier(i)) found.push({ name: tokens.spelling(i), member: false, sort: 'other', first: from, last: to, at: i });
  }
}

function angleEnd(stream: Stream, open: number, last: number): number {
  const { tokens } = stream;
  let depth = 0;
  for (let i = open; i <= last; i++) {
    if (tokens.is(i, '<')) depth++;
    else if (tokens.is(i, '>') && --depth <= 0) return i;
    else if (tokens.is(i, '>>') && (depth -= 2) <= 0) return i;
    else if (tokens.is(i, ';') || tokens.is(i, '{') || tokens.kind(i) === TokenKind.directive) return open;
    else if (tokens.is(i, '(') && stream.match(i) > i) i = stream.match(i);
  }
  return open;
}

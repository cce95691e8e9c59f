/** One file's tokens with its brackets and conditional groups: what every rule of the overlay reads. */
import type { MacroDefinition, SourceFile } from './types.js';
import { matchBrackets, type BraceKind, type Brackets } from './brackets.js';
import { walkConditionals, type Group } from './conditionals.js';
import { MacroRoles } from './macro-roles.js';
import { tokensOf } from './source-file.js';
import { TokenKind, type Tokens } from './tokens.js';
import { KEYWORDS, QUALIFIERS } from './words.js';

export type Container = BraceKind | 'parenthesis' | 'bracket';

export class Stream {
  readonly tokens: Tokens;
  readonly groups: ReadonlyMap<number, Group>;
  readonly brackets: Brackets;
  readonly roles: MacroRoles;
  /** Token index of each directive. */
  readonly directiveTokens: readonly number[];
  /** Tokens that a rule has made spaces of: the rules that come after do not take them for types. */
  readonly removed = new Set<number>();
  /** Last tokens of invocations that a rule has ended with a `;` of its own. */
  readonly ended = new Set<number>();
  #after: Int32Array | null = null;

  constructor(readonly source: SourceFile, macros: ReadonlyMap<string, MacroDefinition>) {
    this.tokens = tokensOf(source);
    this.groups = source.directives.length > 0 ? walkConditionals(source, macros) : new Map<number, Group>();
    this.brackets = matchBrackets(this.tokens, this.groups, source.directives.map((directive) => directive.kind));
    this.roles = new MacroRoles(macros);
    this.directiveTokens = source.directives.map((directive) => this.tokens.at(directive.start));
  }

  /** Index, in the source, of the directive that a token is; -1 for another token. */
  directiveAt(token: number): number {
    const { directiveTokens } = this;
    let low = 0;
    let high = directiveTokens.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((directiveTokens[mid] ?? Infinity) < token) low = mid + 1;
      else high = mid;
    }
    return directiveTokens[low] === token ? low : -1;
  }

  /** Partner of a bracket; -1 if it has none. */
  match(i: number): number {
    return i < 0 ? -1 : (this.brackets.match[i] ?? -1);
  }

  /** Token before, directives and arms that are not kept skipped. */
  previous(i: number): number {
    return i < 0 ? -1 : (this.brackets.previous[i] ?? -1);
  }

  /** Token before that still stands in the overlay and is no qualifier of CUDA. */
  previousWord(i: number): number {
    let at = this.previous(i);
    for (let steps = 0; steps < 32 && at >= 0 && (this.removed.has(at) || this.isQualifier(at)); steps++) at = this.previous(at);
    return at;
  }

  isQualifier(i: number): boolean {
    return this.tokens.isIdentifier(i) && this.tokens.code(i) === 95 && QUALIFIERS.has(this.tokens.spelling(i));
  }

  /** Marks the tokens from `first` to `last`, both included, as gone. */
  remove(first: number, last: number): void {
    for (let i = first; i <= last; i++) this.removed.add(i);
  }

  /** Token after, directives skipped. */
  next(i: number): number {
    const at = i + 1;
    return this.tokens.kind(at) === TokenKind.directive ? (this.#afterDirectives()[at] ?? this.tokens.count) : at;
  }

  /** For each directive the first token after it that is none: long runs of directives are not walked again and again. */
  #afterDirectives(): Int32Array {
    if (this.#after) return this.#after;
    const after = new Int32Array(this.tokens.count);
    let next = this.tokens.count;
    for (let i = this.tokens.count - 1; i >= 0; i--) {
      after[i] = next;
      if (this.tokens.kind(i) !== TokenKind.directive) next = i;
    }
    this.#after = after;
    return after;
  }

  /** What the innermost open bracket around the token is; a file's top level counts as a namespace. */
  container(i: number): Container {
    const open = this.brackets.enclosing[i] ?? -1;
    if (open < 0) return 'namespace';
    const c = this.tokens.code(open);
    return c === 40 ? 'parenthesis' : c === 91 ? 'bracket' : (this.brackets.braces.get(open) ?? 'block');
  }

  /** True if a statement or declaration may begin after token `before`. */
  endsStatement(before: number, depth = 0): boolean {
    const { tokens } = this;
    if (before < 0 || this.ended.has(before)) return true;
    if (tokens.kind(before) === TokenKind.punctuation) {
      switch (tokens.spelling(before)) {
        case ';': return true;
        case '{': return isBody(this.brackets.braces.get(before));
        case '}': return this.#bodyEnds(before);
        case ':': return this.#labelEnds(before);
        case ')': return depth < 4 && this.#statementMacro(this.previous(this.match(before)), depth);
        default: return false;
      }
    }
    if (!tokens.isIdentifier(before) || depth >= 4) return false;
    return this.#statementMacro(before, depth);
  }

  /** True if a statement (not only one after a boundary: also the body of an `if`) may begin after token `before`. */
  startsStatement(before: number): boolean {
    const { tokens } = this;
    if (this.endsStatement(before)) return true;
    if (tokens.is(before, 'else') || tokens.is(before, 'do')) return true;
    return tokens.is(before, ')') && this.isHead(before);
  }

  /** True if the `)` closes the head of an `if`, a loop or a `switch`. */
  isHead(close: number): boolean {
    const word = this.previous(this.match(close));
    const { tokens } = this;
    if (tokens.is(word, 'if') || tokens.is(word, 'for') || tokens.is(word, 'switch')) return true;
    if (tokens.is(word, 'constexpr')) return tokens.is(this.previous(word), 'if');
    if (!tokens.is(word, 'while')) return false;
    const before = this.previous(word);
    return !(tokens.is(before, '}') && tokens.is(this.previous(this.match(before)), 'do'));
  }

  #bodyEnds(close: number): boolean {
    const open = this.match(close);
    if (open < 0) return true;
    return isBody(this.brackets.braces.get(open)) && !this.tokens.is(this.previous(open), 'do');
  }

  #labelEnds(colon: number): boolean {
    const { tokens } = this;
    let at = this.previous(colon);
    const word = tokens.spelling(at);
    if (word === 'public' || word === 'private' || word === 'protected' || word === 'default') return true;
    for (let steps = 0; at >= 0 && steps < 32; steps++) {
      if (tokens.is(at, 'case')) return true;
      if (tokens.is(at, '?') || tokens.is(at, ';') || tokens.is(at, '{') || tokens.is(at, '}')) break;
      const open = tokens.is(at, ')') ? this.match(at) : -1;
      at = this.previous(open >= 0 ? open : at);
    }
    // A plain label: a name alone after a boundary.
    const name = this.previous(colon);
    return tokens.isIdentifier(name) && !KEYWORDS.has(word) && this.container(name) === 'block' && this.endsStatement(this.previous(name), 3);
  }

  /** A macro's name, at the start of a statement, whose invocation is a statement by itself. */
  #statementMacro(name: number, depth: number): boolean {
    const { tokens } = this;
    if (!tokens.isIdentifier(name)) return false;
    const macro = this.roles.has(tokens.spelling(name));
    return macro !== undefined && this.endsStatement(this.previous(name), depth + 1);
  }
}

function isBody(kind: BraceKind | undefined): boolean {
  return kind === 'block' || kind === 'record' || kind === 'namespace';
}

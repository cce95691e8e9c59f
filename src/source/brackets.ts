/**
 * Brackets of a token stream that holds preprocessor directives: which opener belongs to which closer, what every brace is for, and
 * which token precedes every directive.
 *
 * Every arm of an `#if` starts from the state before the `#if`; what follows the `#endif` continues from the arm that the default
 * configuration keeps. One pass; the state saved at an `#if` is as deep as the nesting.
 */
import type { Group } from './conditionals.js';
import { TokenKind, type Tokens } from './tokens.js';
import { DECLARATION_WORDS } from './words.js';

export type BraceKind = 'namespace' | 'record' | 'enum' | 'block' | 'initializer';

export interface ArmShape {
  /** Opened and closed the same brackets, none of the surrounding ones. */
  readonly balanced: boolean;
  /** First and last token of the arm, directives left out; -1 if it has none. */
  readonly first: number;
  readonly last: number;
}

export interface Brackets {
  /** Partner of a bracket token; -1 for other tokens and for brackets without one. */
  readonly match: Int32Array;
  /** The token before, along the configuration that is kept; directives are skipped. -1 at the start. */
  readonly previous: Int32Array;
  /** The innermost bracket that is open before the token; -1 at top level. */
  readonly enclosing: Int32Array;
  readonly braces: ReadonlyMap<number, BraceKind>;
  /** By the directive that opens the arm (index in `SourceFile.directives`). */
  readonly arms: ReadonlyMap<number, ArmShape>;
}

interface State {
  readonly stack: readonly number[];
  readonly previous: number;
}

interface Frame {
  readonly group: Group;
  readonly before: State;
  arm: number;
  lowest: number;
  first: number;
  kept: State | null;
}

export function matchBrackets(tokens: Tokens, groups: ReadonlyMap<number, Group>, directiveKinds: readonly string[]): Brackets {
  return new Matcher(tokens, groups, directiveKinds).run();
}

class Matcher {
  readonly #match: Int32Array;
  readonly #previous: Int32Array;
  readonly #enclosing: Int32Array;
  readonly #braces = new Map<number, BraceKind>();
  readonly #arms = new Map<number, ArmShape>();
  readonly #frames: Frame[] = [];
  #stack: number[] = [];
  /** The last element of the stack; -1 if it is empty. */
  #top = -1;
  #last = -1;
  /** True until the open arms have seen their first token. */
  #awaitsFirst = false;

  constructor(private readonly tokens: Tokens, private readonly groups: ReadonlyMap<number, Group>, private readonly directiveKinds: readonly string[]) {
    this.#match = new Int32Array(tokens.count).fill(-1);
    this.#previous = new Int32Array(tokens.count);
    this.#enclosing = new Int32Array(tokens.count);
  }

  run(): Brackets {
    const { tokens } = this;
    const previous = this.#previous;
    const enclosing = this.#enclosing;
    let directive = 0;
    for (let i = 0; i < tokens.count; i++) {
      const kind = tokens.kind(i);
      if (kind === TokenKind.directive) this.#directive(directive++);
      previous[i] = this.#last;
      enclosing[i] = this.#top;
      if (kind === TokenKind.directive) continue;
      if (this.#awaitsFirst) this.#firstOfArm(i);
      if (kind === TokenKind.punctuation) this.#punctuation(i);
      this.#last = i;
    }
    return { match: this.#match, previous, enclosing, braces: this.#braces, arms: this.#arms };
  }

  #firstOfArm(i: number): void {
    for (const frame of this.#frames) if (frame.first < 0) frame.first = i;
    this.#awaitsFirst = false;
  }

  #punctuation(i: number): void {
    switch (this.tokens.code(i)) {
      case 40: // (
      case 91: // [
        this.#stack.push(i);
        this.#top = i;
        return;
      case 123: // {
        this.#braces.set(i, this.#braceKind(i));
        this.#stack.push(i);
        this.#top = i;
        return;
      case 41: return this.#close(i, 40);
      case 93: return this.#close(i, 91);
      case 125: return this.#close(i, 123);
      case 59: { // ; — a brace that holds statements is no initialiser, whatever stands before it
        if (this.#braces.get(this.#top) === 'initializer') this.#braces.set(this.#top, 'block');
        return;
      }
      default:
    }
  }

  /** A `}` closes the innermost `{` even if parentheses inside were left open; a `)` never closes a brace. */
  #close(i: number, opener: number): void {
    const stack = this.#stack;
    let depth = stack.length - 1;
    if (opener === 123) while (depth >= 0 && this.tokens.code(stack[depth] ?? -1) !== 123) depth--;
    const open = stack[depth] ?? -1;
    if (depth < 0 || this.tokens.code(open) !== opener) return;
    while (stack.length > depth) stack.pop();
    this.#top = stack[depth - 1] ?? -1;
    for (const frame of this.#frames) frame.lowest = Math.min(frame.lowest, depth);
    this.#match[open] = i;
    this.#match[i] = open;
  }

  #directive(index: number): void {
    const kind = this.directiveKinds[index];
    if (kind === 'if' || kind === 'ifdef' || kind === 'ifndef') {
      const group = this.groups.get(index);
      if (!group) return;
      this.#frames.push({ group, before: this.#state(), arm: 0, lowest: this.#stack.length, first: -1, kept: null });
      this.#awaitsFirst = true;
    } else if (kind === 'elif' || kind === 'else') {
      const frame = this.#frames[this.#frames.length - 1];
      if (!frame) return;
      this.#endArm(frame);
      frame.arm++;
      this.#restore(frame.before);
      frame.lowest = this.#stack.length;
      frame.first = -1;
      this.#awaitsFirst = true;
    } else if (kind === 'endif') {
      const frame = this.#frames.pop();
      if (!frame) return;
      this.#endArm(frame);
      this.#restore(frame.kept ?? frame.before);
      const outer = this.#frames[this.#frames.length - 1];
      if (outer) outer.lowest = Math.min(outer.lowest, this.#stack.length);
    }
  }

  #endArm(frame: Frame): void {
    const arm = frame.group.arms[frame.arm];
    if (!arm) return;
    const depth = frame.before.stack.length;
    const balanced = frame.lowest >= depth && this.#stack.length === depth;
    this.#arms.set(arm.directive, { balanced, first: frame.first, last: frame.first < 0 ? -1 : this.#last });
    if (arm.active) frame.kept = this.#state();
  }

  #state(): State {
    return { stack: [...this.#stack], previous: this.#last };
  }

  #restore(state: State): void {
    this.#stack = [...state.stack];
    this.#top = state.stack[state.stack.length - 1] ?? -1;
    this.#last = state.previous;
  }

  #braceKind(i: number): BraceKind {
    const { tokens } = this;
    const before = this.#last;
    const inInitializer = this.#braces.get(this.#top) === 'initializer';
    switch (tokens.kind(before)) {
      case TokenKind.punctuation: {
        const c = tokens.spelling(before);
        if (c === ')') return this.#afterParenthesis(before);
        if (c === ']') return this.#isSubscript(this.#match[before] ?? -1) ? 'initializer' : 'block';
        if (c === '{' || c === '}' || c === ';' || c === ':') return inInitializer ? 'initializer' : 'block';
        return c === '>' ? this.#byHead(before) : 'initializer';
      }
      case TokenKind.identifier: {
        const word = tokens.spelling(before);
        if (word === 'else' || word === 'do' || word === 'try') return 'block';
        return word === 'return' ? 'initializer' : this.#byHead(before);
      }
      case TokenKind.string: return this.#byHead(before);
      default: return before < 0 ? 'block' : i < 0 ? 'initializer' : this.#byHead(before);
    }
  }

  /** `f(…) {` is a body, `(T) {` after an operator a compound literal. */
  #afterParenthesis(close: number): BraceKind {
    const { tokens } = this;
    const open = this.#match[close] ?? -1;
    const before = open < 0 ? -1 : (this.#previous[open] ?? -1);
    if (tokens.kind(before) !== TokenKind.punctuation) return tokens.is(before, 'return') ? 'initializer' : this.#byHead(close, 'block');
    if (tokens.is(this.#previous[before] ?? -1, 'operator')) return 'block';
    const c = tokens.spelling(before);
    return c === '=' || c === ',' || c === '(' || c === '?' ? 'initializer' : this.#byHead(close, 'block');
  }

  #isSubscript(open: number): boolean {
    const before = open < 0 ? -1 : (this.#previous[open] ?? -1);
    return this.tokens.isIdentifier(before) ? !this.tokens.is(before, 'return') : this.tokens.is(before, ']');
  }

  /** Reads back to the start of the statement for the word that says what the brace belongs to. */
  #byHead(from: number, fallback: BraceKind = 'initializer'): BraceKind {
    const { tokens } = this;
    let parenthesis = false;
    let named = false;
    for (let at = from, steps = 0; at >= 0 && steps < 96; at = this.#previous[at] ?? -1, steps++) {
      if (tokens.kind(at) === TokenKind.punctuation) {
        const c = tokens.code(at);
        if (c === 41 || c === 93) {
          const open = this.#match[at] ?? -1;
          if (open < 0) break;
          parenthesis ||= c === 41 && !isAttribute(tokens, this.#previous[open] ?? -1);
          at = open;
        } else if (c === 59 || c === 123 || c === 125 || c === 40 || c === 91) {
          break;
        } else if (c === 61 && !parenthesis) {
          return 'initializer';
        }
      } else if (tokens.kind(at) === TokenKind.identifier) {
        const word = tokens.spelling(at);
        if (word === 'namespace') return 'namespace';
        if (word === 'extern' && tokens.kind(from) === TokenKind.string) return 'namespace';
        if (word === 'enum' && !parenthesis) return 'enum';
        if ((word === 'struct' || word === 'class' || word === 'union') && !parenthesis && !this.#inTemplateHead(at)) return 'record';
        named ||= !DECLARATION_WORDS.has(word);
      }
    }
    return parenthesis ? 'block' : named ? fallback : 'block';
  }

  /** `template <class T> … {`: the word introduces a parameter, not the thing that the brace belongs to. */
  #inTemplateHead(at: number): boolean {
    const before = this.#previous[at] ?? -1;
    return this.tokens.is(before, '<') || this.tokens.is(before, ',');
  }
}

function isAttribute(tokens: Tokens, at: number): boolean {
  const word = tokens.spelling(at);
  return word === 'alignas' || word === '__declspec' || word.startsWith('__align') || word.startsWith('__attribute') || word.startsWith('__builtin_align');
}

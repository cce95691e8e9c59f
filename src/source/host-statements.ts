/**
 * Statements of a host function as tokens: how they nest, which variables each may declare, assign or hand out, and which it only reads.
 *
 * Nothing is resolved here: a name counts for every variable of that name, and what is not plainly a read counts as a write. A read is an operand of arithmetic, of a
 * comparison or of a subscript, or an argument of a function of C or of the CUDA runtime, which take values. Null where the nesting is not plain: labels, `try`,
 * types of the function's own, macros that open or close something, directives other than groups of whole statements.
 */
import type { MacroDefinition } from './types.js';
import { readMacro } from './host-macros.js';
import { lengthOfNew } from './new-array.js';
import type { Stream } from './stream.js';
import { TokenKind, type Tokens } from './tokens.js';
import { takesValues } from './value-functions.js';
import { CONTROL_WORDS as CONTROL, KEYWORDS, PRIMITIVE_TYPES, SPECIFIERS } from './words.js';

/** A statement, or the head of one that holds others. */
export interface HostStatement {
  /** First and last token, of what it holds too. */
  readonly first: number;
  readonly last: number;
  /** A `{…}` or an arm of `#if`: nothing of its own. */
  readonly block: boolean;
  readonly parts: readonly HostStatement[];
  readonly own: Mentions;
}

/** What a statement does with a name: flags that add up. A name without any is only mentioned. */
export const Use = {
  /** It may be a variable. */
  names: 1,
  /** The variable may have another value afterwards, or its address or a reference to it may be kept. */
  writes: 2,
  /** The statement itself declares or assigns it. */
  assigns: 4,
  declares: 8,
  /** What a head declares is surely its own. */
  scopes: 16,
  /** It is declared as a pointer or a floating-point number. */
  noInteger: 32,
  /** It is declared as what may be something else. */
  integer: 64,
  /** A function whose arguments were taken for reads. */
  calls: 128,
} as const;

export interface Mentions {
  /** Every name, through macros; those behind `.` and `->` too. */
  readonly uses: ReadonlyMap<string, number>;
  /** To be left where it is, whatever it says. */
  readonly fixed: boolean;
}

class MentionsMade implements Mentions {
  readonly uses = new Map<string, number>();
  fixed = false;

  add(name: string, use: number): void {
    const before = this.uses.get(name);
    if (before === undefined || (before & use) !== use) this.uses.set(name, (before ?? 0) | use);
  }
}

const NOTHING: Mentions = new MentionsMade();

/** The statements between the brace at token `open` and its partner. */
export function hostStatements(stream: Stream, open: number, macros: ReadonlyMap<string, MacroDefinition>): readonly HostStatement[] | null {
  try {
    return new StatementReader(stream, macros).block(open + 1, stream.match(open));
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

class NotPlain extends Error {}

/** What may happen to a variable that brackets hold: it is an operand; it is an argument that is taken as a value; it is kept or written; it is text of a macro. */
const enum Fate { read, given, written, text }

/** Statements nested deeper (each `else if` is one) are not taken apart: whoever walks them does so by recursion. */
const MAX_NESTING = 200;

/** Where one of these stands, the body is not taken apart. */
const STRANGE: ReadonlySet<string> = new Set([
  'goto', 'asm', '__asm__', '__asm', 'try', 'catch', 'struct', 'class', 'union', 'enum', 'template', 'operator', 'namespace', 'typedef', 'co_await', 'co_yield', 'co_return', '_Pragma', '__pragma', 'this',
]);
/** Statements that say what names mean. */
const MEANINGS: ReadonlySet<string> = new Set(['using', 'extern', 'static_assert', '_Static_assert']);
/** With one of these in it, a statement may hand out whatever it names. */
const LOUD_WORDS: ReadonlySet<string> = new Set(['throw', 'bitand', 'and_eq', 'or_eq', 'xor_eq']);
/** Parentheses behind one of these hold operands. */
const QUIET_HEADS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch', 'return', 'sizeof', 'alignof', 'constexpr']);
const DECLARING_HEADS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch']);
const ASSIGNMENTS: ReadonlySet<string> = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', '++', '--']);
/** A variable that the statement gives a value. */
const ASSIGNED = Use.names | Use.writes | Use.assigns;
const BEFORE_DECLARED: ReadonlySet<string> = new Set(['*', '&', '&&', '>', ',']);
const BEHIND_DECLARED: ReadonlySet<string> = new Set(['=', ';', ',', '(', '{', '[', ')', ':']);

/** Of a subscript. */
function inside(outer: Fate | undefined): Fate {
  return outer === Fate.written || outer === Fate.text ? outer : Fate.read;
}

class StatementReader {
  readonly #tokens: Tokens;
  #depth = 0;

  constructor(private readonly stream: Stream, private readonly macros: ReadonlyMap<string, MacroDefinition>) {
    this.#tokens = stream.tokens;
  }

  /** Statements from token `from` up to `end`, the brace that closes. */
  block(from: number, end: number): HostStatement[] {
    if (end < 0) throw new NotPlain();
    const found: HostStatement[] = [];
    let at = from;
    for (;;) {
      at = this.#skip(at);
      if (at >= end) break;
      const statement = this.#tokens.kind(at) === TokenKind.directive ? this.#group(at, end) : this.#statement(at, end);
      found.push(statement);
      at = statement.last + 1;
    }
    return found;
  }

  /** The first token from here that is no pragma. */
  #skip(at: number): number {
    let next = at;
    while (this.#tokens.kind(next) === TokenKind.directive && this.#isPragma(next)) next++;
    return next;
  }

  #isPragma(directive: number): boolean {
    return this.stream.source.directives[this.stream.directiveAt(directive)]?.kind === 'pragma';
  }

  /** `#if` to `#endif`, as a head with its arms behind it. Every arm must hold whole statements. */
  #group(from: number, end: number): HostStatement {
    const { directiveTokens, groups } = this.stream;
    const group = groups.get(this.stream.directiveAt(from));
    const last = group === undefined ? -1 : directiveTokens[group.end] ?? -1;
    if (group === undefined || last < 0 || last >= end || this.#depth >= MAX_NESTING) throw new NotPlain();
    this.#depth++;
    const parts = group.arms.map(({ directive, closer }): HostStatement => {
      const [first, behind] = [directiveTokens[directive] ?? -1, directiveTokens[closer] ?? -1];
      return { first, last: behind - 1, block: true, parts: this.block(first + 1, behind), own: NOTHING };
    });
    this.#depth--;
    return { first: from, last, block: false, parts, own: NOTHING };
  }

  #statement(from: number, end: number): HostStatement {
    const at = this.#skip(from);
    if (at >= end || this.#depth >= MAX_NESTING || this.#tokens.kind(at) === TokenKind.directive) throw new NotPlain();
    this.#depth++;
    const made = this.#nested(at, end);
    this.#depth--;
    return made;
  }

  #nested(at: number, end: number): HostStatement {
    const tokens = this.#tokens;
    if (tokens.is(at, '{')) {
      const last = this.#partner(at, end);
      return { first: at, last, block: true, parts: this.block(at + 1, last), own: NOTHING };
    }
    if (tokens.is(at, 'if') || tokens.is(at, 'while') || tokens.is(at, 'for') || tokens.is(at, 'switch')) {
      const open = tokens.is(at + 1, 'constexpr') ? at + 2 : at + 1;
      if (!tokens.is(open, '(')) throw new NotPlain();
      const close = this.#partner(open, end);
      const then = this.#statement(close + 1, end);
      if (!tokens.is(at, 'if') || !tokens.is(then.last + 1, 'else')) return { first: at, last: then.last, block: false, parts: [then], own: this.#mentions(at, close) };
      const otherwise = this.#statement(then.last + 2, end);
      return { first: at, last: otherwise.last, block: false, parts: [then, otherwise], own: this.#mentions(at, close) };
    }
    if (tokens.is(at, 'do')) {
      const body = this.#statement(at + 1, end);
      const open = body.last + 2;
      if (!tokens.is(body.last + 1, 'while') || !tokens.is(open, '(')) throw new NotPlain();
      const close = this.#partner(open, end);
      if (!tokens.is(close + 1, ';')) throw new NotPlain();
      return { first: at, last: close + 1, block: false, parts: [body], own: this.#mentions(body.last + 1, close + 1) };
    }
    if (tokens.is(at, 'else') || (tokens.isIdentifier(at) && tokens.is(at + 1, ':') && !tokens.is(at, 'default'))) throw new NotPlain();
    if (tokens.is(at, 'case') || tokens.is(at, 'default')) {
      let colon = at + 1;
      while (colon < end && !tokens.is(colon, ':')) colon = tokens.is(colon, '(') ? this.#partner(colon, end) + 1 : colon + 1;
      const inner = this.#statement(colon + 1, end);
      return { first: at, last: inner.last, block: false, parts: [inner], own: this.#mentions(at, colon) };
    }
    let last = at;
    while (last < end && !tokens.is(last, ';')) {
      // Behind something that is no statement by itself, as far as is seen here.
      if (last > at && tokens.isIdentifier(last) && CONTROL.has(tokens.spelling(last))) throw new NotPlain();
      last = tokens.is(last, '(') || tokens.is(last, '[') || tokens.is(last, '{') ? this.#partner(last, end) + 1 : last + 1;
    }
    if (last >= end) {
      // What an arm does not end goes on behind it.
      if (tokens.kind(end) === TokenKind.directive) throw new NotPlain();
      last = end - 1;
    }
    return { first: at, last, block: false, parts: [], own: this.#mentions(at, last) };
  }

  #partner(open: number, end: number): number {
    const close = this.stream.match(open);
    if (close < 0 || close >= end + 1) throw new NotPlain();
    return close;
  }

  /** Of the tokens from `first` to `last`, both included. */
  #mentions(first: number, last: number): Mentions {
    const tokens = this.#tokens;
    const found = new MentionsMade();
    /** For each open bracket, what may happen to what it holds. */
    const around: Fate[] = [];
    const plainType = this.#isPlainType(first);
    let all = false;
    /** `[` of the `new T[…]` that was met last. */
    let counted = -1;
    for (let i = first; i <= last; i++) {
      const kind = tokens.kind(i);
      if (kind === TokenKind.directive) {
        if (!this.#isPragma(i)) throw new NotPlain();
        continue;
      }
      if (kind === TokenKind.punctuation) {
        const mark = tokens.spelling(i);
        switch (mark) {
          case '(': around.push(this.#fateIn(i, around.at(-1) ?? Fate.read, found)); break;
          case '[':
            // Names that a structured binding declares.
            if (tokens.is(i - 1, 'auto')) throw new NotPlain();
            // What a lambda captures and names is handed out.
            if (i !== counted && !tokens.isIdentifier(i - 1) && !tokens.is(i - 1, ')') && !tokens.is(i - 1, ']')) all = true;
            around.push(inside(around.at(-1)));
            break;
          case '{': around.push(around.at(-1) === Fate.text ? Fate.text : Fate.written); break;
          case ')':
            around.pop();
            if (tokens.is(i + 1, '.') || tokens.is(i + 1, '->') || tokens.is(i + 1, '[')) all = true;
            break;
          case ']': case '}': around.pop(); break;
          // Which of two is meant; of two values that are given there is nothing to tell.
          case '?': case ':': if (around.at(-1) !== Fate.given) all = true; break;
          case '<:': case '<%': case '...': all = true; break;
          case '&': if (tokens.is(i + 1, '(')) all = true; break;
          default: if (ASSIGNMENTS.has(mark) && this.#isOfMore(i, mark)) all = true;
        }
        continue;
      }
      if (kind !== TokenKind.identifier) continue;
      const name = tokens.spelling(i);
      if (this.macros.has(name)) {
        const macro = readMacro(name, this.macros);
        if (macro.opens) throw new NotPlain();
        if (macro.fixed) found.fixed = true;
        found.add(name, 0);
        for (const word of macro.words) {
          if (STRANGE.has(word)) found.fixed = true;
          // What happens to a name for which the macro stands is not looked at.
          found.add(word, KEYWORDS.has(word) || this.macros.has(word) ? 0 : ASSIGNED);
        }
        // What calls in its arguments are given is theirs, if they stay calls in it and it is all that stands here.
        if (!macro.constant && !(macro.keepsArguments && i === first && this.stream.match(i + 1) >= last - 1 && tokens.is(i + 1, '('))) all = true;
        continue;
      }
      if (KEYWORDS.has(name)) {
        if (STRANGE.has(name) && !this.#isOnlyNamed(i, name)) throw new NotPlain();
        if (MEANINGS.has(name)) found.fixed = true;
        if (LOUD_WORDS.has(name)) all = true;
        if (name === 'new') {
          counted = lengthOfNew(tokens, i);
          // What a constructor is given may be kept.
          if (counted < 0) all = true;
        }
        found.add(name, 0);
        continue;
      }
      if (tokens.is(i - 1, '.') || tokens.is(i - 1, '->')) {
        found.add(name, 0);
        continue;
      }
      if (this.#variable(i, first, name, found, around, plainType)) all = true;
    }
    if (all) for (const [name, use] of found.uses) if ((use & Use.names) !== 0) found.add(name, ASSIGNED);
    return found;
  }

  /** True if it is declared as a reference: to whatever the statement names. */
  #variable(i: number, first: number, name: string, found: MentionsMade, around: readonly Fate[], plainType: boolean): boolean {
    const tokens = this.#tokens;
    const fate = around.at(-1);
    let use: number = fate === Fate.written ? Use.names | Use.writes : fate === Fate.text ? ASSIGNED : Use.names;
    const behind = this.#behindParts(i);
    const before = tokens.spelling(i - 1);
    if (ASSIGNMENTS.has(tokens.spelling(behind)) || before === '++' || before === '--' || this.#isMacro(behind) || this.#isMacro(i - 1)) use |= ASSIGNED;
    // Not among the arguments of a call.
    const mayDeclare = around.length === 0 || (around.length === 1 && DECLARING_HEADS.has(tokens.spelling(first)));
    const declares = mayDeclare && BEHIND_DECLARED.has(tokens.spelling(i + 1))
      && (tokens.isIdentifier(i - 1) ? !KEYWORDS.has(before) || PRIMITIVE_TYPES.has(before) || SPECIFIERS.has(before) : BEFORE_DECLARED.has(before));
    if (declares) {
      const isPointer = before === '*' && this.#isPointer(i, first, around.length);
      use |= ASSIGNED | Use.declares | (isPointer || (before !== '*' && around.length === 0 && this.#isFloating(first)) ? Use.noInteger : Use.integer);
      if (around.length === 1 && !tokens.is(i + 1, ';') && !tokens.is(i + 1, ')') && this.#isLed(first + 2, i)) use |= Use.scopes;
    }
    // An address, a reference, or `&` of two numbers; `cin >> n`.
    if (before === '&' || before === '>>') use |= Use.writes;
    // What becomes an object of another type as it stands may be kept by it.
    const ends = tokens.is(behind, ';') || behind >= tokens.count;
    const alone = ends || tokens.is(behind, ',') || tokens.is(behind, ')');
    const only = (before === '(' || before === ',') && alone && !ends && fate !== Fate.given;
    if ((before === '=' && alone && !plainType) || before === 'return' || only || (before === ')' && !this.#isCast(i - 1))) use |= Use.writes;
    found.add(name, use);
    return declares && (before === '&' || before === '&&');
  }

  /** It may hide an operator, or nothing. */
  #isMacro(i: number): boolean {
    return this.#tokens.isIdentifier(i) && this.macros.has(this.#tokens.spelling(i));
  }

  /** `struct timeval t` declares no type. */
  #isOnlyNamed(i: number, word: string): boolean {
    const tokens = this.#tokens;
    return (word === 'struct' || word === 'class' || word === 'union' || word === 'enum') && tokens.isIdentifier(i + 1) && (tokens.isIdentifier(i + 2) || tokens.is(i + 2, '*'));
  }

  /** `float *a, *b`: does a type, and nothing else, stand in front of the name, or in front of the first one of its declaration? */
  #isPointer(i: number, first: number, depth: number): boolean {
    const tokens = this.#tokens;
    let type = first;
    while (tokens.is(type, '::') || (tokens.isIdentifier(type) && (!KEYWORDS.has(tokens.spelling(type)) || PRIMITIVE_TYPES.has(tokens.spelling(type)) || SPECIFIERS.has(tokens.spelling(type))))) type++;
    if (type === first || !tokens.is(type, '*')) return false;
    let at = i - 1;
    while (tokens.is(at, '*')) at--;
    return at === type - 1 || (depth === 0 && tokens.is(at, ','));
  }

  /** Does the statement begin with `float`, `const double`, and no other word of a type? */
  #isFloating(first: number): boolean {
    const tokens = this.#tokens;
    let at = first;
    while (tokens.is(at, 'const') || tokens.is(at, 'static')) at++;
    return (tokens.is(at, 'float') || tokens.is(at, 'double')) && (!tokens.isIdentifier(at + 1) || !KEYWORDS.has(tokens.spelling(at + 1)));
  }

  /** Do nothing but words of a type stand from here to the name? */
  #isLed(from: number, name: number): boolean {
    const tokens = this.#tokens;
    for (let i = from; i < name; i++) {
      const word = tokens.spelling(i);
      if (tokens.isIdentifier(i) ? KEYWORDS.has(word) && !PRIMITIVE_TYPES.has(word) && !SPECIFIERS.has(word) : i === from || (word !== '*' && word !== '&' && word !== '&&' && word !== '::')) return false;
    }
    return from < name;
  }

  /** The token behind a name and its subscripts and members. */
  #behindParts(i: number): number {
    const tokens = this.#tokens;
    let at = i + 1;
    for (;;) {
      if (tokens.is(at, '[') && this.stream.match(at) > at) at = this.stream.match(at) + 1;
      // `b.dim3::x` too.
      else if ((tokens.is(at, '.') || tokens.is(at, '->') || (at > i + 1 && tokens.is(at, '::'))) && tokens.isIdentifier(at + 1)) at += 2;
      else return at;
    }
  }

  /** Is what is assigned or stepped here more than a name with subscripts and members? */
  #isOfMore(i: number, mark: string): boolean {
    const tokens = this.#tokens;
    const isStep = mark === '++' || mark === '--';
    if (isStep && (tokens.is(i + 1, '(') || tokens.is(i + 1, '*') || tokens.is(i + 1, '&') || tokens.is(i + 1, '+') || tokens.is(i + 1, '++') || tokens.is(i + 1, '--') || tokens.is(i + 1, '::'))) return true;
    let at = i - 1;
    while (tokens.is(at, ']')) at = this.stream.match(at) - 1;
    return tokens.is(at, ')');
  }

  /** `(float)`, `(unsigned char *)`, `(size_t)`. */
  #isCast(close: number): boolean {
    const open = this.stream.match(close);
    if (open < 0 || open + 1 === close || this.#tokens.isIdentifier(open - 1)) return false;
    for (let i = open + 1; i < close; i++) if (!this.#tokens.is(i, '*') && !this.#tokens.is(i, 'const') && !isNumberType(this.#tokens.spelling(i))) return false;
    return true;
  }

  /** Does the statement begin with a type of numbers, or `auto`, and no reference to it? */
  #isPlainType(first: number): boolean {
    const tokens = this.#tokens;
    let at = tokens.is(first, 'for') ? first + 2 : first;
    if (!tokens.isIdentifier(at)) return false;
    let any = false;
    for (; tokens.isIdentifier(at) && (isNumberType(tokens.spelling(at)) || tokens.is(at, 'const') || tokens.is(at, 'static')); at++) any ||= isNumberType(tokens.spelling(at));
    return any && !tokens.is(at, '&') && !tokens.is(at, '&&');
  }

  /** What may happen to what these parentheses hold, which stand in something of which `outer` is known? */
  #fateIn(open: number, outer: Fate, found: MentionsMade): Fate {
    const tokens = this.#tokens;
    const before = open - 1;
    if (this.#isCallByValue(open, found)) return Fate.given;
    if (outer === Fate.text || (tokens.isIdentifier(before) && this.#isText(tokens.spelling(before)))) return Fate.text;
    if (outer === Fate.written || tokens.is(before, ')') || tokens.is(before, ']') || tokens.is(before, '>')) return Fate.written;
    if (!tokens.isIdentifier(before)) return Fate.read;
    const name = tokens.spelling(before);
    return QUIET_HEADS.has(name) || PRIMITIVE_TYPES.has(name) ? Fate.read : Fate.written;
  }

  /** A macro whose arguments may end up anywhere. */
  #isText(name: string): boolean {
    return this.macros.has(name) && !readMacro(name, this.macros).constant;
  }

  /** Do these parentheses hold arguments that are taken as values? What comes back is a value too: it leads to none of them. */
  #isCallByValue(open: number, found: MentionsMade): boolean {
    const tokens = this.#tokens;
    const before = open - 1;
    if (!tokens.isIdentifier(before)) return false;
    const name = tokens.spelling(before);
    if (this.macros.has(name) || KEYWORDS.has(name) || tokens.is(before - 1, '.') || tokens.is(before - 1, '->')) return false;
    // `int free(n);` declares a variable.
    if (tokens.isIdentifier(before - 1) && !tokens.is(before - 1, 'return') && !tokens.is(before - 1, 'else') && !tokens.is(before - 1, 'do')) return false;
    if (tokens.is(before - 1, '*') || tokens.is(before - 1, '&') || tokens.is(before - 1, '>')) return false;
    const qualified = tokens.is(before - 1, '::');
    if (qualified && (!tokens.is(before - 2, 'std') || tokens.is(before - 3, '::'))) return false;
    if (!takesValues(name)) return false;
    found.add(name, Use.calls);
    return true;
  }
}

function isNumberType(word: string): boolean {
  return (PRIMITIVE_TYPES.has(word) && word !== 'void') || /^(?:u?int(?:_least|_fast)?(?:8|16|32|64)|u?intptr|u?intmax|s?size|ptrdiff|off|time|clock|wchar|char(?:8|16|32)|(?:cuda|hip|cublas|cusparse)[A-Z]\w*)_t$/.test(word);
}

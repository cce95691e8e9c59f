/**
 * Textual macro expansion by Prosser's algorithm (hide sets), the one behind the C standard's text: arguments are expanded before
 * they are substituted unless `#` or `##` stands beside them, the result is scanned again together with what follows, and a name
 * never expands inside its own expansion.
 *
 * Refused (null): a wrong number of arguments, `__VA_OPT__`, a paste that makes no single token, output beyond `LIMIT` tokens.
 */
import type { MacroDefinition } from './types.js';
import { TokenKind, type Tokens } from './tokens.js';
import { tokenizeFragment } from './tokenizer.js';

/** More tokens than any macro that a person reads; stops exponential definitions. */
const LIMIT = 50_000;

export interface ExpandOptions {
  /**
   * Whether names *inside* the expansion that have several definitions are replaced by the one that the default configuration
   * chooses. Otherwise they stay, so that whoever reads the result sees an unknown name.
   */
  readonly expandAmbiguous?: boolean;
}

interface Piece {
  readonly text: string;
  readonly kind: number;
  readonly space: boolean;
  readonly hide: ReadonlySet<string>;
}

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** Text that `name(arguments)` (or `name`, for null) stands for, fully expanded; null if there is no such macro or it is refused. */
export function expandMacro(name: string, argumentTexts: readonly string[] | null, table: ReadonlyMap<string, MacroDefinition>, options?: ExpandOptions): string | null {
  const macro = table.get(name);
  if (!macro || (macro.parameters === null) !== (argumentTexts === null)) return null;
  const expander = new Expander(table, options?.expandAmbiguous ?? false);
  try {
    const given = argumentTexts?.map((text) => pieces(tokenizeFragment(text), NOTHING_HIDDEN)) ?? null;
    return join(expander.expandAll(expander.replace(macro, given, new Set([name]))));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Expands every macro in a fragment of text. Null if refused. */
export function expandText(text: string, table: ReadonlyMap<string, MacroDefinition>, options?: ExpandOptions): string | null {
  const expander = new Expander(table, options?.expandAmbiguous ?? false);
  try {
    return join(expander.expandAll(pieces(tokenizeFragment(text), NOTHING_HIDDEN)));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

class Refusal extends Error {}

class Expander {
  #budget = LIMIT;

  constructor(private readonly table: ReadonlyMap<string, MacroDefinition>, private readonly expandAmbiguous: boolean) {}

  expandAll(input: readonly Piece[]): readonly Piece[] {
    if (!input.some((piece) => this.#macroAt(piece) !== undefined)) {
      if (this.#budget < input.length) throw new Refusal();
      this.#budget -= input.length;
      return input;
    }
    const output: Piece[] = [];
    // The rest of the input, reversed, so that a replacement is pushed in front of it in time proportional to its own length.
    const rest = [...input].reverse();
    for (let piece = rest.pop(); piece; piece = rest.pop()) {
      if (this.#budget-- <= 0) throw new Refusal();
      const macro = this.#macroAt(piece);
      if (!macro) {
        output.push(piece);
        continue;
      }
      const call = macro.parameters === null ? null : takeArguments(rest);
      if (macro.parameters !== null && call === null) {
        output.push(piece);
        continue;
      }
      const hide = new Set(call === null ? piece.hide : [...piece.hide].filter((name) => call.closing.hide.has(name)));
      hide.add(macro.name);
      const replaced = this.replace(macro, call?.given ?? null, hide);
      const first = replaced[0];
      if (first && first.space !== piece.space) replaced[0] = { ...first, space: piece.space };
      for (let i = replaced.length - 1; i >= 0; i--) {
        const next = replaced[i];
        if (next) rest.push(next);
      }
    }
    return output;
  }

  /** The replacement list with arguments substituted, not yet scanned again. */
  replace(macro: MacroDefinition, given: readonly (readonly Piece[])[] | null, hide: ReadonlySet<string>): Piece[] {
    const body = bodyOf(macro);
    const bound = bind(macro, given);
    const output: Piece[] = [];
    for (let i = 0; i < body.length; i++) {
      const piece = body[i];
      if (!piece) continue;
      const next = body[i + 1];
      const argument = bound.get(piece.text);
      if (piece.text === '__VA_OPT__' && macro.variadic) throw new Refusal();
      if (piece.text === '#' && macro.parameters !== null && piece.kind === TokenKind.punctuation) {
        const named = next ? bound.get(next.text) : undefined;
        if (!named) throw new Refusal();
        output.push({ text: stringify(named), kind: TokenKind.string, space: piece.space, hide: NOTHING_HIDDEN });
        i++;
      } else if (piece.text === '##' && output.length > 0 && next) {
        const right = bound.get(next.text) ?? [next];
        i++;
        if (right.length === 0) dropComma(output, macro, next.text);
        else if (isVariadic(macro, next.text) && output[output.length - 1]?.text === ',') output.push(...right);
        else paste(output, right);
      } else if (argument) {
        const pasted = next?.text === '##';
        const inserted = pasted ? argument : this.expandAll(argument);
        // An empty operand of ## pastes as nothing: a placemarker keeps the left neighbour from being taken instead.
        if (pasted && inserted.length === 0) output.push({ text: '', kind: TokenKind.none, space: piece.space, hide: NOTHING_HIDDEN });
        inserted.forEach((part, k) => output.push(k === 0 ? { ...part, space: piece.space } : part));
      } else {
        output.push(piece);
      }
      if (output.length > LIMIT) throw new Refusal();
    }
    return hidden(output, hide);
  }

  #macroAt({ kind, text, hide }: Piece): MacroDefinition | undefined {
    return kind === TokenKind.identifier && !hide.has(text) ? this.#lookup(text) : undefined;
  }

  #lookup(name: string): MacroDefinition | undefined {
    const macro = this.table.get(name);
    return macro && (this.expandAmbiguous || !macro.ambiguous) ? macro : undefined;
  }
}

const bodies = new WeakMap<MacroDefinition, readonly Piece[]>();

/** The replacement list in pieces. */
function bodyOf(macro: MacroDefinition): readonly Piece[] {
  const known = bodies.get(macro);
  if (known !== undefined) return known;
  const made = pieces(tokenizeFragment(macro.body), NOTHING_HIDDEN);
  bodies.set(macro, made);
  return made;
}

/** The pieces, less placemarkers, with `hide` hidden in each. Most pieces hide one of few sets: their unions are made once. */
function hidden(list: readonly Piece[], hide: ReadonlySet<string>): Piece[] {
  const result: Piece[] = [];
  let last: ReadonlySet<string> = NOTHING_HIDDEN;
  let both = hide;
  for (const { text, kind, space, hide: own } of list) {
    if (kind === TokenKind.none) continue;
    if (own !== last) {
      last = own;
      both = union(own, hide);
    }
    result.push({ text, kind, space, hide: both });
  }
  return result;
}

function pieces(tokens: Tokens, hide: ReadonlySet<string>): Piece[] {
  const result: Piece[] = [];
  for (let i = 0; i < tokens.count; i++) {
    result.push({ text: tokens.spelling(i), kind: tokens.kind(i), space: i > 0 && tokens.end(i - 1) < tokens.start(i), hide });
  }
  return result;
}

/** Takes `( … )` off the end of the reversed rest; null, and nothing taken, if it does not start with `(` or never ends. */
function takeArguments(rest: Piece[]): { given: Piece[][]; closing: Piece } | null {
  if (rest[rest.length - 1]?.text !== '(') return null;
  const given: Piece[][] = [];
  let current: Piece[] = [];
  let depth = 0;
  for (let i = rest.length - 1; i >= 0; i--) {
    const piece = rest[i];
    if (!piece) return null;
    const text = piece.kind === TokenKind.punctuation ? piece.text : '';
    if (text === ')' && depth === 1) {
      given.push(current);
      rest.length = i;
      return { given, closing: piece };
    }
    if (text === '(') depth++;
    if (text === ')') depth--;
    if (text === ',' && depth === 1) {
      given.push(current);
      current = [];
    } else if (depth > 1 || text !== '(') {
      current.push(piece);
    }
  }
  return null;
}

function bind(macro: MacroDefinition, given: readonly (readonly Piece[])[] | null): ReadonlyMap<string, readonly Piece[]> {
  const bound = new Map<string, readonly Piece[]>();
  if (macro.parameters === null || given === null) return bound;
  const parameters = macro.parameters;
  const named = macro.variadic ? parameters.length - 1 : parameters.length;
  const arguments_ = given.length === 0 && parameters.length > 0 ? [[]] : given;
  const empty = parameters.length === 0 && arguments_.every((argument) => argument.length === 0) && arguments_.length <= 1;
  if (!empty && (arguments_.length < named || (!macro.variadic && arguments_.length > named))) throw new Refusal();
  for (let i = 0; i < named; i++) bound.set(parameters[i] ?? '', arguments_[i] ?? []);
  if (macro.variadic) {
    const rest: Piece[] = [];
    arguments_.slice(named).forEach((argument, i) => {
      if (i > 0) rest.push({ text: ',', kind: TokenKind.punctuation, space: false, hide: NOTHING_HIDDEN });
      rest.push(...argument);
    });
    bound.set(parameters[named] ?? '__VA_ARGS__', rest);
  }
  return bound;
}

function isVariadic(macro: MacroDefinition, name: string): boolean {
  return macro.variadic && macro.parameters?.[macro.parameters.length - 1] === name;
}

/** GNU: `, ## __VA_ARGS__` drops the comma when nothing was given. */
function dropComma(output: Piece[], macro: MacroDefinition, name: string): void {
  if (isVariadic(macro, name) && output[output.length - 1]?.text === ',') output.pop();
}

function paste(output: Piece[], right: readonly Piece[]): void {
  const left = output.pop();
  const first = right[0];
  if (!left || !first) return;
  const text = left.text + first.text;
  const tokens = tokenizeFragment(text);
  if (tokens.count !== 1) throw new Refusal();
  output.push({ text, kind: tokens.kind(0), space: left.space, hide: union(left.hide, first.hide) }, ...right.slice(1));
}

function stringify(argument: readonly Piece[]): string {
  let text = '';
  argument.forEach((piece, i) => {
    const quoted = piece.kind === TokenKind.string || piece.kind === TokenKind.character;
    text += (i > 0 && piece.space ? ' ' : '') + (quoted ? piece.text.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : piece.text);
  });
  return `"${text}"`;
}

function union(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  return new Set([...a, ...b]);
}

function join(list: readonly Piece[]): string {
  let text = '';
  let last: Piece | null = null;
  for (const piece of list) {
    if (last && (piece.space || wouldFuse(last, piece))) text += ' ';
    text += piece.text;
    last = piece;
  }
  return text;
}

/** The same tokens with as few spaces as C++ allows. */
export function compact(text: string): string {
  return join(pieces(tokenizeFragment(text), NOTHING_HIDDEN).map((piece) => ({ ...piece, space: false })));
}

const SINGLE = new Set(['(', ')', '[', ']', '{', '}', ',', ';', '?', '~']);

/** True if the two tokens, written without a space between, might be read as other tokens. */
function wouldFuse(left: Piece, right: Piece): boolean {
  const leftOperator = left.kind === TokenKind.punctuation;
  const rightOperator = right.kind === TokenKind.punctuation;
  if (leftOperator !== rightOperator) return (left.text === '.' && right.kind === TokenKind.number) || (left.kind === TokenKind.number && right.text.startsWith('.'));
  return leftOperator ? !SINGLE.has(left.text) && !SINGLE.has(right.text) : true;
}

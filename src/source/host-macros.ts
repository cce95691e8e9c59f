/**
 * What host code says by the macros that it uses, by their bodies: whether they are constants, which names they bring, and whether a call that is given as an
 * argument stays one.
 */
import { tokenizeFragment } from './tokenizer.js';
import { TokenKind, type Tokens } from './tokens.js';
import type { MacroDefinition } from './types.js';
import { CONTROL_WORDS } from './words.js';

/** A macro, with those that its body uses. */
export interface MacroReading {
  /** Identifiers of the bodies, less parameters: what is given for those stands where the macro is used. */
  readonly words: ReadonlySet<string>;
  /** Numbers and strings with arithmetic between them, and names. */
  readonly constant: boolean;
  /** A body is not one expression or statement by itself: what stands around it may mean something else than it seems to. */
  readonly opens: boolean;
  /** There may be another definition, or a name that is pasted. */
  readonly fixed: boolean;
  /** A call `f(x)` that is given for a parameter is an expression of its own wherever the bodies name it: it declares nothing and is no method's. */
  readonly keepsArguments: boolean;
}

/** What a macro may be made of without naming anything. */
const CONSTANT_MARKS: ReadonlySet<string> = new Set(['(', ')', '+', '-', '*', '/', '%', '<<']);
/** What may stand in front of a parameter that stands for an expression. */
const BEFORE_EXPRESSIONS: ReadonlySet<string> = new Set(['', '(', ',', '=', ';', '{', '}', '!', '#', 'return']);

export function readMacro(name: string, macros: ReadonlyMap<string, MacroDefinition>): MacroReading {
  const words = new Set<string>();
  const seen = new Set<string>();
  let [constant, opens, fixed, keepsArguments] = [true, false, false, true];
  const pending = [name];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const macro = seen.has(next) ? undefined : macros.get(next);
    seen.add(next);
    if (macro === undefined) continue;
    const body = bodyOf(macro);
    if (macro.ambiguous || macro.popped !== undefined || macro.varies !== undefined || macro.undoneIn !== undefined || body.pastes) fixed = true;
    constant &&= body.constant;
    opens ||= body.opens;
    keepsArguments &&= body.keepsArguments;
    for (const word of body.words) {
      words.add(word);
      if (macros.has(word)) pending.push(word);
    }
  }
  return { words, constant, opens, fixed, keepsArguments };
}

interface Body extends Pick<MacroReading, 'words' | 'constant' | 'opens' | 'keepsArguments'> { readonly pastes: boolean }

const bodies = new Map<string, Body>();
/** Bodies that are remembered: macros of headers come again with every file. */
const MOST_BODIES = 4000;

function bodyOf({ body, parameters, variadic }: MacroDefinition): Body {
  const key = `${parameters?.join() ?? ''}) ${body}`;
  const known = bodies.get(key);
  if (known !== undefined) return known;
  const made = readBody(body, new Set([...parameters ?? [], ...(variadic ? ['__VA_ARGS__'] : [])]));
  if (bodies.size >= MOST_BODIES) bodies.clear();
  bodies.set(key, made);
  return made;
}

function readBody(body: string, parameters: ReadonlySet<string>): Body {
  const tokens = tokenizeFragment(body);
  const words = new Set<string>();
  let [constant, structured, keepsArguments] = [true, false, true];
  let depth = 0;
  let lowest = 0;
  for (let i = 0; i < tokens.count; i++) {
    const text = tokens.spelling(i);
    if (tokens.isIdentifier(i)) {
      if (parameters.has(text)) keepsArguments &&= BEFORE_EXPRESSIONS.has(tokens.spelling(i - 1));
      else words.add(text);
      if (CONTROL_WORDS.has(text)) structured = true;
      // A type and a name declare something.
      if (tokens.isIdentifier(i - 1)) constant = false;
    } else if (tokens.kind(i) === TokenKind.punctuation) {
      if (!CONSTANT_MARKS.has(text)) constant = false;
      if (text === ';' || text === '{' || text === '}' || text === '[' || text === ']') structured = true;
      if (text === '(' || text === '[' || text === '{') depth++;
      else if (text === ')' || text === ']' || text === '}') lowest = Math.min(lowest, --depth);
    }
  }
  // `do {…} while (0)` and `{…}` are statements by themselves.
  const closed = (tokens.is(0, 'do') && tokens.is(1, '{')) || (tokens.is(0, '{') && tokens.is(tokens.count - 1, '}'));
  return { words, constant, opens: depth !== 0 || lowest < 0 || (structured && !closed && !isSubscripted(tokens)), keepsArguments, pastes: body.includes('##') };
}

/** `a[(i) * n]`: brackets, and nothing else that makes a statement. */
function isSubscripted(tokens: Tokens): boolean {
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.is(i, ';') || tokens.is(i, '{') || tokens.is(i, '}') || CONTROL_WORDS.has(tokens.spelling(i))) return false;
    if (tokens.is(i, '[') && !tokens.isIdentifier(i - 1) && !tokens.is(i - 1, ')') && !tokens.is(i - 1, ']')) return false;
  }
  return true;
}

/** Small texts parsed by themselves: expansions of macros, arguments of bounds, second readings of ambiguous places. */
import { makeOverlay, sourceFromText } from '../source/index.js';
import type { OverlayNote } from '../source/types.js';
import type { Snippet, SnippetStore } from './context.js';
import { childOfType, fieldChild, namedChildren, parseCst, everything, type Cst } from './cst.js';
import type { CppParser } from './parser.js';

const EXPRESSION_HEAD = 'auto x=(';
const STATEMENT_HEAD = 'void f(){';
const TYPE_HEAD = 'using x=';
/** A storage class can only begin a declaration, and this one says nothing of the variable. */
const DECLARATION_HEAD = `${STATEMENT_HEAD}register `;

/** Longest cache; entries are dropped all at once beyond it. */
const MAX_ENTRIES = 20_000;

function memo<T>(make: (text: string) => T): (text: string) => T {
  const known = keyed<T>();
  return (text) => known(text, () => make(text));
}

function keyed<T>(): (key: string, make: () => T) => T {
  const known = new Map<string, T>();
  return (key, make) => {
    const old = known.get(key);
    if (old !== undefined || known.has(key)) return old as T;
    if (known.size >= MAX_ENTRIES) known.clear();
    const made = make();
    known.set(key, made);
    return made;
  };
}

/** CUDA's own spelling inside a snippet goes through the overlay like that of a file. */
function overlaid(text: string): { readonly text: string; readonly notes: readonly OverlayNote[] } {
  return text.includes('<<') || text.includes('__') || text.includes('_Pragma') ? overlay(text) : { text, notes: [] };
}

function overlay(text: string): { readonly text: string; readonly notes: readonly OverlayNote[] } {
  const made = makeOverlay(sourceFromText('<macro>', '<macro>', text), new Map());
  return { text: made.text, notes: made.notes };
}

/** The expression between the head's parenthesis and the last one, or null. */
function expressionOf(root: Cst): Cst | null {
  const [declaration, more] = namedChildren(root);
  if (declaration === undefined || more !== undefined || declaration.type !== 'declaration') return null;
  const init = childOfType(declaration, 'init_declarator');
  const value = init === null ? null : fieldChild(init, 'value');
  if (value === null || value.type !== 'parenthesized_expression' || value.end !== root.end - 1) return null;
  const [inner] = namedChildren(value);
  // `{ … }` between the parentheses is a block, which only the statement reading knows, and so is `asm`.
  return inner === undefined || inner.type === 'compound_statement' || inner.type === 'gnu_asm_expression' ? null : inner;
}

/** No expression begins so: the parser need not be asked. */
const STATEMENT_START = /^\s*(?:\{|(?:do|if|for|while|switch|return|goto|break|continue)\b)/;

/** Constants are what macros stand for most often. */
const NUMBER = /^(?:0[xX][\da-fA-F]+|\d+)[uUlL]{0,3}$|^\d+\.\d*[fF]?$/;

function numberSnippet(text: string): Snippet {
  const start = EXPRESSION_HEAD.length;
  const whole = `${EXPRESSION_HEAD}${text}\n);`;
  const root: Cst = { type: 'number_literal', start, end: start + text.length, field: null, named: true, missing: false, error: false, children: [], pending: -1 };
  return { root, notes: [], text: whole, original: whole };
}

const stores = new WeakMap<CppParser, SnippetStore>();

/** The store of a parser; expansions recur from program to program. */
export function snippetsOf(parser: CppParser): SnippetStore {
  const known = stores.get(parser);
  if (known !== undefined) return known;
  const made = makeSnippets(parser);
  stores.set(parser, made);
  return made;
}

function makeSnippets(parser: CppParser): SnippetStore {
  const parse = (text: string, delta = 0): Cst | null => {
    const tree = parseCst(parser, text, everything, delta);
    tree.release();
    return tree.hasError ? null : tree.root;
  };
  const snippet = (head: string, tail: string, pick: (root: Cst) => Cst | null) => memo((text: string): Snippet | null => {
    const whole = head + text + tail;
    const first = overlaid(whole);
    const root = parse(first.text);
    if (root !== null) {
      const picked = pick(root);
      return picked === null ? null : { root: picked, ...first, original: whole };
    }
    // An assignment before a comma is plain C++ that only the overlay makes readable.
    if (first.text !== whole || !text.includes('=') || !text.includes(',')) return null;
    const second = overlay(whole);
    const again = second.text === whole ? null : parse(second.text);
    const picked = again === null ? null : pick(again);
    // A comma between no parentheses of its own may separate arguments.
    return picked === null || picked.type === 'comma_expression' ? null : { root: picked, ...second, original: whole };
  });
  const sliced = keyed<Cst | null>();
  const declared = keyed<Cst | null>();
  const parsedExpression = snippet(EXPRESSION_HEAD, '\n);', expressionOf);
  return {
    expression: (text) => (STATEMENT_START.test(text) ? null : NUMBER.test(text) ? numberSnippet(text) : parsedExpression(text)),
    statements: snippet(STATEMENT_HEAD, '\n;}', (root) => {
      const [fn, more] = namedChildren(root);
      const body = fn?.type === 'function_definition' && more === undefined ? fieldChild(fn, 'body') : null;
      if (body === null || body.end !== root.end) return null;
      // The semicolon of the tail is not the macro's.
      const children = body.children.filter((child) => child.type !== 'expression_statement' || child.start < body.end - 2 || child.children.length > 1);
      return { ...body, children };
    }),
    type: snippet(TYPE_HEAD, ';', (root) => {
      const [alias, more] = namedChildren(root);
      return alias?.type === 'alias_declaration' && more === undefined ? fieldChild(alias, 'type') : null;
    }),
    // An expansion is read again at the same offset wherever its macro is used.
    slice: (text, start, prefix, suffix) => sliced(`${start} ${prefix} ${suffix} ${text}`, () => {
      const head = EXPRESSION_HEAD + prefix;
      const root = parse(`${head}${text}${suffix});`, start - head.length);
      return root === null ? null : expressionOf(root);
    }),
    declaration: (text, start) => declared(`${start} ${text}`, () => {
      const root = parse(`${DECLARATION_HEAD}${text}}`, start - DECLARATION_HEAD.length);
      const fn = root === null ? undefined : namedChildren(root)[0];
      const [only, more] = fn === undefined ? [] : namedChildren(fieldChild(fn, 'body') ?? fn);
      return only?.type === 'declaration' && more === undefined ? only : null;
    }),
  };
}

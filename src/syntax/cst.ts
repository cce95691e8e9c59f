/**
 * The concrete syntax tree as plain objects, copied from a tree-sitter cursor in one walk (`cst-copy`). Bodies that nobody asked for stay
 * unexpanded until `expand` is called.
 */
import { copyAsking, copyReading } from './cst-copy.js';
import type { CppParser, ParsedText } from './parser.js';
import { Places, shrink } from './shrink.js';

export interface Cst {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly field: string | null;
  readonly named: boolean;
  /** Inserted by the parser's error recovery; zero wide. */
  readonly missing: boolean;
  /** An ERROR or missing node lies in here (only known for what is expanded). */
  error: boolean;
  /** Commas and comments are left out, and punctuation that the span of the node implies. Empty if not expanded. */
  children: readonly Cst[];
  /** -1 if the children are there; else the place to find them at. */
  pending: number;
}

/** Whether the block or initialiser list that begins here should be copied now. `parent` is the node it stands in. */
export type Wanted = (type: string, start: number, end: number, parentType: string, parentStart: number) => boolean;

export interface CstTree {
  readonly root: Cst;
  readonly hasError: boolean;
  /** Fills in the children of a node that was left unexpanded. */
  expand(node: Cst): void;
  release(): void;
}

/** Everything is wanted. */
export const everything: Wanted = () => true;

/**
 * Parses a text and copies its tree, leaving out subtrees that are not `wanted`. Offsets are shifted by `delta`, so a slice of a
 * file may be parsed by itself and keep the file's offsets.
 */
export function parseCst(parser: CppParser, text: string, wanted: Wanted = everything, delta = 0): CstTree {
  return copied(parser.parse(text), text, Places.shifted(delta), wanted);
}

/** The same for a text with long runs of spaces (see shrink.ts). */
export function parseSparse(parser: CppParser, text: string, wanted: Wanted): CstTree {
  const shrunk = shrink(text);
  if (shrunk === null) return parseCst(parser, text, wanted);
  return copied(parser.parse(shrunk.text), shrunk.text, shrunk.places, wanted);
}

function copied(parsed: ParsedText, text: string, places: Places, wanted: Wanted): CstTree {
  const { cursor, hasError } = parsed;
  const copy = (choice: Wanted): Cst => (hasError ? copyAsking(cursor, places, true, choice) : copyReading(cursor, text, places, choice));
  const root = copy(wanted);
  let released = false;
  return {
    root,
    hasError,
    expand(node) {
      if (node.pending < 0) return;
      if (released) throw new Error('internal: a released tree cannot be expanded');
      cursor.gotoDescendant(node.pending);
      // A cursor that stands inside the tree must not climb past the node it started from: the copy counts its own levels.
      const full = copy(everything);
      node.children = full.children;
      node.error = node.error || full.error;
      node.pending = -1;
    },
    release() {
      if (released) return;
      released = true;
      parsed.release();
    },
  };
}

/** The child in a field, or null. */
export function fieldChild(node: Cst, field: string): Cst | null {
  for (const child of node.children) if (child.field === field) return child;
  return null;
}

/** All children in a field. */
export function fieldChildren(node: Cst, field: string): Cst[] {
  return node.children.filter((child) => child.field === field);
}

/** Named children (punctuation and keywords left out): mostly all of them, or none. */
export function namedChildren({ children }: Cst): readonly Cst[] {
  let count = 0;
  for (const child of children) if (child.named) count++;
  return count === children.length ? children : count === 0 ? NO_CHILDREN : children.filter((child) => child.named);
}

const NO_CHILDREN: readonly Cst[] = [];

/** The first child of a type, or null. */
export function childOfType(node: Cst, type: string): Cst | null {
  for (const child of node.children) if (child.type === type) return child;
  return null;
}

/** Did the parser's recovery leave text among the direct parts that it could not read? */
export function holdsError(node: Cst): boolean {
  return node.error && node.children.some((child) => child.type === 'ERROR');
}

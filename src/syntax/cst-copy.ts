/**
 * Copies a tree-sitter tree, node by node with a cursor, into plain objects.
 *
 * Every question to the cursor crosses into the parser and costs as much as dozens of steps here, so the copy of a tree without errors asks for little more than
 * the types: nodes end where their last child ends, a sibling begins after the blanks behind the one before, a word ends with its last
 * letter, no node begins with a comma or with what closes its parent, and parents of a fixed shape tell the fields of their children and when they are
 * complete. Where the text does not
 * tell (comments, continued lines, characters beyond ASCII, tokens that the tree hides) the cursor is asked. A tree with errors is
 * copied by asking for everything.
 */
import type { Cst, Wanted } from './cst.js';
import { CLOSER, ERROR_TYPE, fieldOf, infoOf, type TypeInfo } from './cst-types.js';
import type { TreeCursor } from './parser.js';
import type { Places } from './shrink.js';

interface OpenNode extends Cst { end: number; children: readonly Cst[]; readonly info: TypeInfo }

/** Its children are collected in place. */
interface GrowingNode extends OpenNode { children: Cst[] }

const NONE: Cst[] = [];

/** Copies the node the cursor stands on, asking for every position. Iterative: a tree may be tens of thousands of levels deep. */
export function copyAsking(cursor: TreeCursor, places: Places, hasError: boolean, wanted: Wanted): Cst {
  const stack: GrowingNode[] = [];
  let parent: GrowingNode | undefined;
  // A node begins where its first child begins.
  let firstStart = -1;
  for (;;) {
    const id = cursor.nodeTypeId;
    const info = infoOf(cursor, id);
    const { name, named } = info;
    const leaf = info.leaf || (info.textual && !hasError);
    let closes = false;
    let opened: GrowingNode | null = null;
    if (!named && !hasError && parent?.info.implied?.has(name) === true) {
      if (parent.info.closer === name) closes = true;
    } else if (!info.skip) {
      const start = firstStart >= 0 ? firstStart : places.original(cursor.startIndex);
      const missing = hasError && cursor.nodeIsMissing;
      const end = missing ? start : named ? places.original(cursor.endIndex) : start + name.length;
      const node: GrowingNode = {
        type: name, start, end, field: named && parent !== undefined && !parent.info.plain ? fieldOf(cursor) : null, named, missing,
        error: missing || id === ERROR_TYPE, children: leaf ? NONE : [], pending: -1, info,
      };
      if (parent !== undefined) {
        parent.children.push(node);
        if (node.error) parent.error = true;
        if (!named && !hasError && parent.info.closer === name) closes = true;
      }
      if (!leaf) {
        if (parent === undefined || wanted(name, start, end, parent.type, parent.start)) opened = node;
        else node.pending = cursor.currentDescendantIndex;
      } else if (parent === undefined) {
        return node;
      }
    }
    if (opened !== null) {
      if (cursor.gotoFirstChild()) {
        stack.push(opened);
        parent = opened;
        firstStart = hasError ? -1 : opened.start;
        continue;
      }
      if (parent === undefined) return opened;
    }
    firstStart = -1;
    while (closes || !cursor.gotoNextSibling()) {
      closes = false;
      const closed = stack.pop();
      if (closed === undefined) throw new Error('internal: the walk lost its root');
      cursor.gotoParent();
      parent = stack[stack.length - 1];
      if (parent === undefined) return closed;
      if (closed.error) parent.error = true;
    }
  }
}

/** The same for a tree without errors, positions read from its text; `places` says which they are in the copy. */
export function copyReading(cursor: TreeCursor, text: string, places: Places, wanted: Wanted): Cst {
  const stack: OpenNode[] = [];
  let parent: OpenNode | undefined;
  /** Children of all open nodes, those of the innermost last: a node gets an array of its size when it is complete. */
  const children: Cst[] = [];
  /** How many there are: what stands behind is left from nodes that are complete (to shorten an array is a slow call of the engine's). */
  let count = 0;
  /** Where those of each open node begin. */
  const begins: number[] = [];
  let begin = 0;
  /** Where each open node ends in the text, as far as that is known. */
  const ends: number[] = [];
  /** Where the last token ended, in the text. */
  let at = 0;
  /** Where the node that the cursor stands on begins; -1 if the text does not tell. */
  let known = cursor.startIndex;
  for (;;) {
    const info = infoOf(cursor, cursor.nodeTypeId);
    const { name, named } = info;
    const start = known >= 0 ? known : cursor.startIndex;
    let opened: OpenNode | null = null;
    let openedEnd = 0;
    // `;` alone closes what it opens.
    let closes = !named && parent !== undefined && parent.info.closer === name;
    if (!named && parent?.info.implied?.has(name) === true) {
      at = start + name.length;
    } else if (info.skip) {
      at = named ? cursor.endIndex : start + 1;
    } else {
      const leaf = info.leaf || info.textual;
      // The end of a node with children is known when they are.
      let end = named ? (info.word ? afterWord(text, start) : -1) : start + name.length;
      if (end < 0) end = leaf || info.optional || info.hidesTokens ? cursor.endIndex : start;
      at = !named && info.hidesTokens ? cursor.endIndex : end;
      const node: OpenNode = {
        type: name, start: places.original(start), end: places.original(end), field: parent === undefined ? null : fieldIn(parent, count - begin, named, cursor), named, missing: false, error: false,
        children: NONE, pending: -1, info,
      };
      if (parent !== undefined) children[count++] = node;
      if (leaf) {
        if (parent === undefined) return node;
      } else if (parent === undefined || !info.optional || wanted(name, node.start, node.end, parent.type, parent.start)) {
        opened = node;
        openedEnd = end;
      } else {
        node.pending = cursor.currentDescendantIndex;
      }
    }
    if (opened !== null) {
      const { opener } = info;
      if (opener !== null && text.startsWith(opener, start)) {
        // Its first child is this token.
        at = start + opener.length;
        const next = afterBlanks(text, at);
        if (parent !== undefined && next >= 0 && text.charCodeAt(next) === info.closerCode) {
          at = next + 1;
          opened.end = places.original(at);
        } else {
          cursor.gotoFirstChild();
          stack.push(opened);
          parent = opened;
          begins.push(begin = count);
          ends.push(openedEnd);
        }
      } else if (cursor.gotoFirstChild()) {
        stack.push(opened);
        parent = opened;
        begins.push(begin = count);
        ends.push(openedEnd);
        // A node begins where its first child begins.
        known = start;
        continue;
      } else {
        at = cursor.endIndex;
        opened.end = places.original(at);
        if (parent === undefined) return opened;
      }
    }
    // On to the next sibling, or to that of the nearest node around that has one.
    for (;;) {
      if (parent === undefined) throw new Error('internal: the walk lost its root');
      const { shape, closer, closerCode } = parent.info;
      let complete = closes || (shape !== null && count - begin === shape.length);
      closes = false;
      if (!complete) {
        known = parent.info.hidesTokens ? -1 : afterBlanks(text, at);
        const code = known < 0 ? -1 : text.charCodeAt(known);
        if (code >= 0 && code === closerCode && closer !== null) {
          at = known + 1;
          if (parent.info.implied?.has(closer) !== true) children[count++] = token(closer, places.original(known));
          complete = true;
        } else if (cursor.gotoNextSibling()) {
          // A comma behind the last child is one of the node around.
          if (code !== COMMA) break;
          at = known + 1;
          continue;
        }
      }
      cursor.gotoParent();
      const closed = parent;
      stack.pop();
      parent = stack[stack.length - 1];
      if (count > begin) closed.children = children.slice(begin, count);
      count = begin;
      begins.pop();
      begin = begins[begins.length - 1] ?? 0;
      const told = ends.pop() ?? 0;
      if (closed.info.hidesTokens) at = told;
      else closed.end = places.original(at);
      if (parent === undefined) {
        // What the tree of a whole text spans is not what its tokens span.
        closed.end = places.original(cursor.endIndex);
        return closed;
      }
    }
  }
}

const COMMA = 44;

/** The field of the child at a position. */
function fieldIn({ info }: OpenNode, position: number, named: boolean, cursor: TreeCursor): string | null {
  if (!named || info.plain) return null;
  return info.shape === null ? fieldOf(cursor) : info.shape[position] ?? null;
}

/** A closing token that the cursor did not have to visit. */
function token(name: string, start: number): OpenNode {
  return { type: name, start, end: start + name.length, field: null, named: false, missing: false, error: false, children: NONE, pending: -1, info: CLOSER };
}

/** The first offset from `at` that is no blank; -1 if something may stand there that the tree leaves out, or that only the parser can tell. */
function afterBlanks(text: string, at: number): number {
  for (let i = at; ; i++) {
    const code = text.charCodeAt(i);
    if (code === 32 || (code >= 9 && code <= 13)) continue;
    // Not ASCII (or the end of the text), a line continuation, a comment.
    if (!(code < 128) || code === 92) return -1;
    if (code === 47) {
      const next = text.charCodeAt(i + 1);
      if (next === 47 || next === 42 || next === 92) return -1;
    }
    return i;
  }
}

/** Where the word that begins at `start` ends; -1 if it holds anything but ASCII letters, digits and `_`. */
function afterWord(text: string, start: number): number {
  for (let i = start; ; i++) {
    const code = text.charCodeAt(i);
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || (code >= 48 && code <= 57)) continue;
    // `$`, a universal character name or a continued line, characters beyond ASCII.
    return code === 36 || code === 92 || code >= 128 || i === start ? -1 : i;
  }
}

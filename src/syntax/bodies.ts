/**
 * Which bodies of a file are lowered at once, which when somebody asks for them, and which never.
 *
 * At once: what the tree of the file holds. When asked for: functions that the parser saw without their body (most functions of
 * headers); they can launch nothing. Never: long host functions without launches. A body that mentions a kernel is lowered at once
 * whatever it is: the kernel's address may go somewhere.
 */
import type { Overlay } from '../source/types.js';
import type { QueuedBody, UnitState } from './context.js';
import { everything, fieldChild, parseCst, type Cst, type CstTree } from './cst.js';
import type { Selection } from './lower-unit.js';
import { cppParser } from './parser.js';

/** Types of their own have methods, which belong to the functions of the file: such a body does not wait. */
const DECLARES_TYPES = /\b(?:struct|class|union)\b/;

/** Lowers the queued bodies of a file, or prepares them to be lowered later. `mentions` says whether a text names a kernel that the file sees. */
export function lowerBodies(state: UnitState, tree: CstTree, selection: Selection, mentions: (text: string) => boolean): void {
  for (let i = 0; i < state.bodies.length; i++) {
    const queued = state.bodies[i];
    if (queued !== undefined) settle(state, queued, tree, selection, mentions);
  }
  state.bodies.length = 0;
}

function settle(state: UnitState, queued: QueuedBody, tree: CstTree, selection: Selection, mentions: (text: string) => boolean): void {
  const { body, decl } = queued;
  if (body.pending < 0) {
    queued.lower();
    return;
  }
  const text = state.overlay.text.slice(body.start, body.end);
  const mentioned = mentions(text);
  const waits = selection.late.has(body.start);
  if (!waits && !mentioned) return;
  if (waits && !mentioned && !DECLARES_TYPES.test(text)) {
    decl.readLater(() => lowerLate(state, queued));
    return;
  }
  if (selection.emptied.has(body.start)) readBody(body, state.overlay);
  else tree.expand(body);
  queued.lower();
}

/** Lowers one body when the program is loaded already: its calls are linked to definitions of other files by themselves. */
function lowerLate(state: UnitState, queued: QueuedBody): void {
  const from = state.openCalls.length;
  readBody(queued.body, state.overlay);
  queued.lower();
  for (const call of state.openCalls.splice(from)) state.link?.(call);
}

/** Parses a body that the tree of the file holds without its contents. */
function readBody(body: Cst, overlay: Overlay): void {
  const head = 'void f()';
  const tree = parseCst(cppParser(), head + overlay.text.slice(body.start, body.end), everything, body.start - head.length);
  const [fn, more] = tree.root.children;
  const read = fn?.type === 'function_definition' && more === undefined ? fieldChild(fn, 'body') : null;
  tree.release();
  if (read === null || read.end !== body.end) return;
  body.children = read.children;
  body.error ||= read.error;
  body.pending = -1;
}

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
import type { Mentions } from './kernel-mentions.js';
import type { Selection } from './lower-unit.js';
import { cppParser } from './parser.js';

/** Types of their own have methods, which belong to the functions of the file: such a body does not wait. */
const DECLARES_TYPES = /\b(?:struct|class|union)\b/;

/** Lowers the queued bodies of a file, or prepares them to be lowered later. `mentions` knows the kernels and functions that the file sees. */
export function lowerBodies(state: UnitState, tree: CstTree, selection: Selection, mentions: Mentions): void {
  for (let i = 0; i < state.bodies.length; i++) {
    const queued = state.bodies[i];
    if (queued !== undefined) settle(state, queued, tree, selection, mentions);
  }
  state.bodies.length = 0;
}

function settle(state: UnitState, queued: QueuedBody, tree: CstTree, selection: Selection, mentions: Mentions): void {
  const { body, decl } = queued;
  const slice = selection.sliced.get(body.start);
  if (slice !== undefined && !(mentions.any(slice.names, slice.callees) && readBody(body, state.overlay))) {
    state.escapes.push(...mentions.kernelsAmong(slice.names));
    // Nobody comes to look through these.
    for (const hole of slice.holes) state.macroUses.settle(hole);
  }
  if (body.pending < 0) {
    queued.lower();
    return;
  }
  const text = state.overlay.text.slice(body.start, body.end);
  const mentioned = mentions.kernel(text);
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

/** Parses a body that the tree of the file holds without its contents, or without some of them. False if it cannot be read by itself. */
function readBody(body: Cst, overlay: Overlay): boolean {
  const head = 'void f()';
  const tree = parseCst(cppParser(), head + overlay.text.slice(body.start, body.end), everything, body.start - head.length);
  const [fn, more] = tree.root.children;
  const read = fn?.type === 'function_definition' && more === undefined ? fieldChild(fn, 'body') : null;
  tree.release();
  if (read === null || read.end !== body.end) return false;
  body.children = read.children;
  body.error ||= read.error;
  body.pending = -1;
  return true;
}

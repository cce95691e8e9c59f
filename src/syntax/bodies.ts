/**
 * Which bodies of a file are lowered at once, which when somebody asks for them, and which never.
 *
 * At once: what the tree of the file holds. When asked for: functions that the parser saw without their body (most functions of
 * headers); they can launch nothing. Never: long host functions without launches. A body that mentions a kernel is lowered at once
 * whatever it is: the kernel's address may go somewhere. For an audit, of a long host function only the statements are that do mention one.
 */
import { namingSlice, streamOf, withoutHoles } from '../source/index.js';
import type { Span } from '../source/types.js';
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
  const unusable = slice !== undefined && mentions.any(slice.names, slice.callees);
  if (slice !== undefined && !(unusable && readBody(body, state))) {
    // What the slice left out is not known then: any kernel may be launched otherwise.
    if (unusable) state.escapes.push(...mentions.kernels());
    // Nobody comes to look through these.
    for (const hole of slice.holes) state.macroUses.settle(hole);
  }
  if (body.pending < 0) {
    queued.lower();
    return;
  }
  const mentioned = mentions.kernel(state.overlay, body);
  const waits = selection.late.has(body.start);
  if (!waits && !mentioned) return;
  if (waits && !mentioned && !DECLARES_TYPES.test(state.overlay.text.slice(body.start, body.end))) {
    decl.readLater(() => lowerLate(state, queued));
    return;
  }
  if (selection.emptied.has(body.start)) {
    const holes = waits || !selection.inParts ? [] : holesOf(body, state, mentions);
    // Nobody comes to look through these.
    if (readBody(body, state, holes)) for (const hole of holes) state.macroUses.settle(hole);
    else if (mentioned && !readBody(body, state)) state.escapes.push(...mentions.kernels());
  } else {
    tree.expand(body);
  }
  queued.lower();
}

/** What of a host function without launches mentions no kernel. */
function holesOf(body: Cst, { overlay, macros }: UnitState, mentions: Mentions): readonly Span[] {
  const stream = streamOf(overlay);
  return stream === null ? [] : namingSlice(stream, stream.tokens.at(body.start), macros, mentions.words) ?? [];
}

/** Lowers one body when the program is loaded already: its calls are linked to definitions of other files by themselves. */
function lowerLate(state: UnitState, queued: QueuedBody): void {
  const from = state.openCalls.length;
  readBody(queued.body, state);
  queued.lower();
  for (const call of state.openCalls.splice(from)) state.link?.(call);
}

/** Parses a body, less some holes, that the tree of the file holds without its contents, or without some of them. False if it cannot be read by itself. */
function readBody(body: Cst, { source, overlay }: UnitState, holes: readonly Span[] = []): boolean {
  const head = 'void f()';
  const text = holes.length === 0 ? overlay.text : withoutHoles(source, overlay.text, holes);
  const tree = parseCst(cppParser(), head + text.slice(body.start, body.end), everything, body.start - head.length);
  const [fn, more] = tree.root.children;
  const read = fn?.type === 'function_definition' && more === undefined ? fieldChild(fn, 'body') : null;
  tree.release();
  if (read === null || read.end !== body.end) return false;
  body.children = read.children;
  body.error ||= read.error;
  body.pending = -1;
  return true;
}

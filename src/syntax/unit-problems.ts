/** What of a file was not understood, where that costs more than the place itself. */
import type { Problem } from '../source/types.js';
import type { UnitState } from './context.js';
import type { Cst } from './cst.js';

/** The text of a file that defines nothing, as far as it was understood: no C++, or cut off in the middle. (Elsewhere an error costs what it stands in.) */
export function unread(state: UnitState, root: Cst): Problem[] {
  if (state.bodies.length > 0 || state.kernels.length > 0) return [];
  const pending: Cst[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.missing || node.type === 'ERROR') {
      const text = state.source.text.slice(node.start, node.end).replace(/\s+/g, ' ').trim();
      return [{ line: state.source.line(node.start), message: node.missing ? `not understood: missing \`${node.type}\`` : `not understood: \`${text.length <= 60 ? text : `${text.slice(0, 59)}…`}\`` }];
    }
    if (node.error) pending.push(...[...node.children].reverse());
  }
  return [];
}

/** A `__global__` that no function came of (an unclosed brace swallows the rest of a file): said aloud, never passed over. */
export function lostKernels(state: UnitState): Problem[] {
  return state.overlay.notes.flatMap((note) => {
    const global = (note.kind === 'qualifier' && note.name === 'global') || (note.kind === 'macro' && note.standsFor.some((meaning) => meaning.name === 'global'));
    if (!global || state.functions.some((fn) => fn.span.start <= note.span.start && note.span.start < fn.span.end)) return [];
    return [{ line: state.source.line(note.span.start), message: 'a kernel begins here, and what follows was not understood (a brace or parenthesis may be missing)' }];
  });
}

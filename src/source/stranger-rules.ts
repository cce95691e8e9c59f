/** Names that no visible definition explains but that can only be macros where they stand. */
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';

/** The index to go on from, or 0 if the name is an ordinary one. */
export function strangerRule(stream: Stream, patches: Patches, i: number): number {
  void stream;
  void patches;
  void i;
  return 0;
}

/** Names of what compact:grid adds: kernels, the function of the light part, temporaries. All are free in the kernel's file. */
import { freshName } from '../lib/text.js';
import type { TransformContext } from '../lib/types.js';
import type { Slice } from './grid-slice.js';

export interface GridNames {
  readonly all: {
    /** The first kernel, and the one over the list. */
    readonly first: string;
    readonly heavy: string;
    /** The light part of one item; says whether the item is heavy. */
    readonly light: string;
    /** What the kernel over the list does with one item, where that is a function. */
    readonly itemFunction: string;
    readonly items: string;
    readonly count: string;
    readonly flags: string;
    readonly item: string;
    readonly at: string;
    readonly width: string;
    readonly counts: string;
    readonly slot: string;
    readonly votes: string;
    readonly thread: string;
    readonly isHeavy: string;
    readonly capacity: string;
    /** Sides of the original grid. */
    readonly blocksX: string;
    readonly blocksY: string;
  };
  /** Arrays of carried values, in the order of the slice. */
  readonly carried: readonly string[];
}

export function namesFor(context: TransformContext, slice: Slice): GridNames {
  const { source } = context.unit;
  const { name } = context.facts.function;
  const taken = new Set<string>();
  const fresh = (base: string): string => {
    const made = freshName(source, base, taken);
    taken.add(made);
    return made;
  };
  return {
    all: {
      first: fresh(`${name}_light`), heavy: fresh(`${name}_heavy`), light: fresh(`${name}_is_heavy`), itemFunction: fresh(`${name}_item`),
      items: fresh('items'), count: fresh('count'), flags: fresh('flags'), item: fresh('item'), at: fresh('at'), width: fresh('width'), counts: fresh('counts'), slot: fresh('slot'),
      votes: fresh('votes'), thread: fresh('thread'), isHeavy: fresh('heavy'), capacity: fresh('capacity'),
      blocksX: fresh('blocks_x'), blocksY: fresh('blocks_y'),
    },
    carried: slice.carried.map(({ decl }) => fresh(`${decl.name}_of`)),
  };
}

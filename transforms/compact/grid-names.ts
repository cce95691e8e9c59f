/** Names of what compact:grid adds: kernels, the function of the light part, temporaries.  */
import { freshKernelName } from '../lib/kernel-names.js';
import { spokenByMacros } from '../lib/launch-checks.js';
import { spelledIn } from '../lib/launch-mentions.js';
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
    readonly end: string;
    readonly width: string;
    readonly counts: string;
    readonly slot: string;
    readonly votes: string;
    readonly thread: string;
    /** In the sum over the warps: what came before, the warp, its own count. */
    readonly sum: string;
    readonly warp: string;
    readonly own: string;
    readonly isHeavy: string;
    readonly capacity: string;
    readonly heavyBlocks: string;
    /** Sides of the original grid. */
    readonly blocksX: string;
    readonly blocksY: string;
  };
  /** Arrays of carried values, in the order of the slice. */
  readonly carried: readonly string[];
}

export function namesFor(context: TransformContext, slice: Slice): GridNames {
  const { unit } = context;
  const { function: kernel } = context.facts;
  const taken = new Set<string>();
  // Functions must be new in the program; parameters and variables of the new kernels only beside what the kernel's own text names.
  const inProgram = (base: string): string => {
    const made = freshKernelName(context, base, [...taken]);
    taken.add(made);
    return made;
  };
  const local = (base: string): string => {
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}${n}`;
      if (taken.has(name) || spokenByMacros(unit, name) || spelledIn(unit.source, kernel.span, name)) continue;
      taken.add(name);
      return name;
    }
  };
  const { name } = kernel;
  return {
    all: {
      first: inProgram(`${name}_light`), heavy: inProgram(`${name}_heavy`), light: inProgram(`${name}_is_heavy`), itemFunction: inProgram(`${name}_item`),
      items: local('items'), count: local('count'), flags: local('flags'), item: local('item'), at: local('at'), end: local('end'), width: local('width'), counts: local('counts'),
      slot: local('slot'), votes: local('votes'), thread: local('thread'), sum: local('sum'), warp: local('warp'), own: local('own'), isHeavy: local('heavy'), capacity: local('capacity'), heavyBlocks: local('heavy_blocks'),
      blocksX: local('blocks_x'), blocksY: local('blocks_y'),
    },
    carried: slice.carried.map(({ decl }) => local(`${decl.name}_of`)),
  };
}

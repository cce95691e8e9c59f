/** What a number as the length of a queue rests on, for those who read the kernel: who launches larger blocks must know. */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { unreachable } from '../../src/syntax/tree.js';

/** A sentence for a comment in front of the queue. */
export function capacityReason({ block, launches }: FunctionFacts, capacity: number): string {
  const said = (): string => {
    switch (block.origin) {
      case 'option': return `${capacity}, as --block said`;
      case 'annotation': return `${capacity}, as the annotation says`;
      case 'block-size': return `${capacity}, as __block_size__ says`;
      case 'launch-bounds': return `${capacity}, the launch bound`;
      case 'launch': return block.value === null ? `no launch has more than ${capacity}` : launches.length === 1 ? `the launch has ${capacity}` : `all launches have ${capacity}`;
      case 'unknown': return `none has more than ${capacity}`;
      default: return unreachable(block.origin);
    }
  };
  return `A place for each thread of a block: ${said()}.`;
}

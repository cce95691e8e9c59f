/** What a builder of statements may use where it stands: names in scope, and which threads arrive together. */
import type { Choices } from './choices.js';

/** Who surely arrives together: decides whether a barrier or a full-mask collective may stand here. */
export type Arrival = 'block' | 'warp' | 'lanes';

export interface Counter {
  readonly name: string;
  /** Inclusive largest value, to keep index arithmetic small. */
  readonly max: number;
}

export interface GenerateContext {
  readonly choose: Choices;
  readonly arrival: Arrival;
  /** Enclosing loop counters, innermost first. */
  readonly counters: readonly Counter[];
  /** Statements may still nest this deep. */
  readonly depth: number;
  /** Inside a loop whose counter nobody depends on after a jump: `break` and `continue` allowed. */
  readonly inLoop: boolean;
  /** Threads in x; the block is one-dimensional unless `rows` > 1. */
  readonly threads: number;
  readonly rows: number;
  readonly fresh: (stem: string) => string;
  /** Device functions that were asked for. */
  readonly helpers: Set<string>;
  readonly indent: string;
}

export function deeper(context: GenerateContext, change: Partial<GenerateContext> = {}): GenerateContext {
  return { ...context, depth: context.depth - 1, indent: context.indent + '    ', ...change };
}

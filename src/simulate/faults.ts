/** What a simulated kernel can do wrong: each a finding with its place and the lanes that did it. */
import type { FileSpan } from '../source/types.js';

export type FaultKind =
  | 'mask-names-absent-lane' | 'caller-not-in-mask' | 'shuffle-inactive-source' | 'mask-disagreement' | 'barrier-divergent' | 'barrier-after-exit'
  | 'race-shared' | 'race-global' | 'same-value-race' | 'uninitialised-shared' | 'uninitialised-local' | 'uninitialised-global' | 'division-by-zero' | 'shift-amount'
  | 'array-out-of-bounds' | 'shared-out-of-bounds' | 'global-out-of-bounds' | 'null-dereference' | 'wild-pointer' | 'foreign-local' | 'misaligned' | 'write-to-constant'
  | 'assertion' | 'trap' | 'missing-return' | 'recursion-limit';

export type FaultSeverity = 'error' | 'caution' | 'note';

export interface Fault {
  readonly kind: FaultKind;
  readonly severity: FaultSeverity;
  readonly message: string;
  /** Where it happened; null if no statement was running. */
  readonly at: FileSpan | null;
  /** Lanes of the first warp that showed it, as a mask. */
  lanes: number;
  /** Block (linear) and warp of the first occurrence. */
  readonly block: number;
  readonly warp: number;
  /** The buffer or variable, where one is known. */
  readonly object: string | null;
  count: number;
}

const SEVERITY: Partial<Record<FaultKind, FaultSeverity>> = {
  'barrier-after-exit': 'caution', 'same-value-race': 'note', 'shift-amount': 'caution', 'division-by-zero': 'error',
};

export function severityOf(kind: FaultKind): FaultSeverity {
  return SEVERITY[kind] ?? 'error';
}

/** Collects faults, one entry per kind, place and object. Places are compared by identity: a run has one object per place. */
export class FaultLog {
  readonly faults: Fault[] = [];
  readonly #byPlace = new Map<FileSpan | null, Fault[]>();

  record(kind: FaultKind, at: FileSpan | null, lanes: number, block: number, warp: number, object: string | null, message: () => string, severity: FaultSeverity = severityOf(kind)): void {
    let here = this.#byPlace.get(at);
    if (here === undefined) this.#byPlace.set(at, here = []);
    for (const known of here) {
      if (known.kind !== kind || known.object !== object) continue;
      known.count++;
      if (known.block === block && known.warp === warp) known.lanes |= lanes;
      return;
    }
    const fault: Fault = { kind, severity, message: message(), at, lanes, block, warp, object, count: 1 };
    here.push(fault);
    this.faults.push(fault);
  }
}

/** Stops a run: budgets, memory, endless loops. Not a finding about one lane but about the whole run. */
export class RunAborted extends Error {
  constructor(readonly reason: 'loop-budget' | 'time-budget' | 'memory-budget' | 'deadlock' | 'trap' | 'recursion', message: string, readonly at: FileSpan | null) {
    super(message);
  }
}

/** What an audit says. The JSON of `divmod audit` is these values; field names are a contract (docs/interface.md). */
import type { BlockShape, FunctionFacts, Scope } from '../analysis/facts.js';
import type { BranchSite } from '../analysis/facts.js';
import type { FunctionDecl } from '../syntax/tree.js';

export type BranchClass = 'uniform' | 'geometry' | 'boundary' | 'data' | 'unknown';

export interface BranchFinding {
  readonly id: string;
  readonly path: string;
  readonly function: string;
  readonly via: readonly { readonly path: string; readonly line: number }[];
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly kind: BranchSite['kind'];
  readonly exits: readonly ('return' | 'break' | 'continue')[];
  /** Source text. */
  readonly condition: string;
  readonly class: BranchClass;
  readonly scope: Scope;
  readonly because: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly under: readonly string[];
  readonly divergence: {
    /** Share of warps that diverge among those that arrive. */
    readonly rate: number;
    /** Share of threads for which the condition holds. */
    readonly p: number;
    readonly origin: 'computed' | 'measured' | 'simulated' | 'annotated' | 'assumed';
  };
  readonly cost: {
    readonly arms: readonly { readonly label: string; readonly instructions: number; readonly share: number }[];
    readonly overhead: number;
    readonly efficiency: number;
    readonly lostSlots: number;
    readonly provider: 'static' | 'ptx' | 'sass' | 'profile';
    readonly predicated: boolean;
    /** How often a thread gets there: the product of the trip counts around it. `lostSlots` counts all of them. */
    readonly executions?: number;
  };
  readonly advice: 'leave' | 'consider';
  /** The source says `// divmod: ignore` at its line: it is listed, and fails nothing. */
  readonly ignored?: true;
  readonly reason: string;
  /** Not part of the JSON. */
  readonly site: BranchSite;
  readonly facts: FunctionFacts;
}

export type Severity = 'error' | 'caution' | 'note';

export interface Hazard {
  readonly id: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Severity;
  readonly message: string;
  readonly because: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly repair: string;
  /** The source says `// divmod: ignore` at its line: it is listed, and fails nothing. */
  readonly ignored?: true;
}

export interface KernelAudit {
  readonly kernel: FunctionDecl;
  readonly name: string;
  readonly line: number;
  readonly endLine: number;
  readonly understood: boolean;
  readonly block: (BlockShape & { readonly origin: string }) | null;
  /** What was said of its blocks by hand is not what a launch has. */
  readonly contradiction?: string;
  readonly branches: readonly BranchFinding[];
  readonly hazards: readonly Hazard[];
}

export interface FileAudit {
  readonly path: string;
  readonly status: 'ok' | 'partial' | 'failed';
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly kernels: readonly KernelAudit[];
}

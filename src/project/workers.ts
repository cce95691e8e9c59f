/**
 * Audits on threads of their own (`--jobs N`, and one for a large batch): each takes whole groups, since only within a group files depend on each other.
 *
 * Such a thread may be given a young generation that holds the trees of a group: in the engine's usual one (3 × 16 MB) most of a tree is copied twice before it is let go.
 */
import { Worker } from 'node:worker_threads';
import type { InputFile } from './files.js';
import type { PlainFile } from './plain-audit.js';
import type { InternalFault } from './session.js';
import type { Settings } from './settings.js';

/** Megabytes of the young generation: three times the half-space that V8 copies into. */
export const YOUNG_GENERATION_MB = 192;

export interface WorkerTask {
  readonly groups: readonly (readonly InputFile[])[];
  readonly settings: Settings;
  readonly cwd: string;
}

export interface WorkerAnswer {
  readonly files: readonly PlainFile[];
  /** Faults of divmod, errors as their stacks. */
  readonly faults: readonly InternalFault[];
  readonly kernelNames: readonly string[];
  /** As `Session.kernelsBeside`. */
  readonly kernelsBeside: readonly (readonly [string, number])[];
}

/** Splits the groups evenly by size and audits them. Rejects if a worker dies. */
export async function auditOnThreads(groups: readonly { readonly files: readonly InputFile[]; readonly size: number }[], settings: Settings, cwd: string, jobs: number): Promise<readonly WorkerAnswer[]> {
  const shares = Array.from({ length: Math.min(jobs, groups.length) }, () => ({ groups: [] as (readonly InputFile[])[], size: 0 }));
  // The largest first, each to the worker with the least to do.
  for (const group of [...groups].sort((a, b) => b.size - a.size)) {
    const least = shares.reduce((a, b) => (b.size < a.size ? b : a));
    least.groups.push(group.files);
    least.size += group.size;
  }
  return Promise.all(shares.map((share) => runWorker({ groups: share.groups, settings, cwd })));
}

function runWorker(task: WorkerTask): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./audit-worker.js', import.meta.url), { workerData: task, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB } });
    worker.once('message', (answer: WorkerAnswer) => resolve(answer));
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (code !== 0) reject(new Error(`a worker ended with ${code}`));
    });
  });
}

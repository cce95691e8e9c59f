/** Audits on several threads (`--jobs N`): each takes whole groups, since only within a group files depend on each other. */
import { Worker } from 'node:worker_threads';
import type { InputFile } from './files.js';
import type { PlainFile } from './plain-audit.js';
import type { InternalFault } from './session.js';
import type { Settings } from './settings.js';

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
    const worker = new Worker(new URL('./audit-worker.js', import.meta.url), { workerData: task });
    worker.once('message', (answer: WorkerAnswer) => resolve(answer));
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (code !== 0) reject(new Error(`a worker ended with ${code}`));
    });
  });
}

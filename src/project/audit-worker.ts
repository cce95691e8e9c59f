/** The thread behind `auditOnThreads`. */
import { parentPort, workerData } from 'node:worker_threads';
import { plainAudit, type PlainFile } from './plain-audit.js';
import { Session } from './session.js';
import type { WorkerAnswer, WorkerTask } from './workers.js';

const { groups, settings, cwd } = workerData as WorkerTask;
const session = await Session.read({ files: groups.flat(), failures: [], given: new Map(), settings, cwd, groups: groups.map((group) => group.map((file) => file.realPath)) });
const files: PlainFile[] = [];
for (const step of session.auditSteps({ checkKernels: false })) for (const file of step) files.push(plainAudit(file));
const answer: WorkerAnswer = {
  files,
  faults: session.faults.map(({ path, where, error }) => ({ path, where, error: error instanceof Error ? Object.assign(new Error(error.message), { stack: error.stack }) : String(error) })),
  kernelNames: session.kernelNames,
  kernelsBeside: [...session.kernelsBeside],
};
parentPort?.postMessage(answer);

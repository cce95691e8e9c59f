/** `--fail-on`: what makes an audit exit with 1. */
import type { BranchClass, Severity } from '../audit/types.js';
import type { PlainFile } from '../project/plain-audit.js';
import { UsageError } from '../project/errors.js';
import { didYouMean } from '../project/suggest.js';

const CLASSES: readonly BranchClass[] = ['uniform', 'geometry', 'boundary', 'data', 'unknown'];
const SEVERITIES: readonly Severity[] = ['error', 'caution', 'note'];

/** docs/interface.md lists them. */
export const HAZARD_IDS: readonly string[] = [
  'mask-activemask', 'mask-activemask-opportunistic', 'mask-after-exit', 'mask-full-under-divergence', 'mask-not-a-mask', 'shuffle-inactive-source',
  'shuffle-partial-warp', 'collective-short-circuit', 'collective-behind-call', 'collective-in-both-arms', 'group-divergent', 'barrier-divergent',
  'barrier-after-exit', 'exit-skips-shared-write', 'shared-uninitialised', 'shared-stale', 'leader-may-not-arrive', 'depends-on-configuration',
  'prefix-mask', 'legacy-intrinsic', 'lockstep-without-syncwarp', 'broadcast-uninitialised', 'lane-spin', 'shared-race',
];

const WORDS: readonly string[] = [...CLASSES, ...SEVERITIES, ...HAZARD_IDS, 'divergent', 'consider', 'hazard'];

/** Throws `UsageError` for a word that names nothing. */
export function checkFailOn(words: readonly string[]): void {
  for (const word of words) {
    if (!WORDS.includes(word)) throw new UsageError(`--fail-on ${word}: no class, severity or hazard${didYouMean(word, WORDS)}; classes are ${CLASSES.join(', ')}, divergent and consider; severities are ${SEVERITIES.join(', ')}`);
  }
}

/** Does a finding that the baseline does not hold match one of the words? */
export function offends(files: readonly PlainFile[], words: readonly string[], known: ReadonlySet<string> | null): boolean {
  if (words.length === 0) return false;
  const wanted = new Set(words);
  // A severity stands for itself and everything worse.
  const worst = Math.max(...SEVERITIES.map((severity, i) => (wanted.has(severity) ? i : -1)), wanted.has('hazard') ? SEVERITIES.length - 1 : -1);
  return files.some((file) => file.kernels.some((kernel) =>
    kernel.branches.some((branch) => branch.ignored !== true && !(known?.has(branch.id) ?? false)
      && (wanted.has(branch.class) || (wanted.has('divergent') && branch.class !== 'uniform' && branch.class !== 'unknown') || (wanted.has('consider') && branch.advice === 'consider')))
    || kernel.hazards.some((hazard) => hazard.ignored !== true && !(known?.has(`${hazard.id}\0${hazard.message}`) ?? false) && (wanted.has(hazard.id) || SEVERITIES.indexOf(hazard.severity) <= worst))));
}

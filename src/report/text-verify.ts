/** Verdicts of comparisons. What was not verified is said as such, with the construct that stood in the way. */
import type { Verification } from '../project/simulation.js';
import { count, styleFor } from './style.js';

export function verificationText(verifications: readonly Verification[], color: boolean): string {
  const style = styleFor(color);
  const out: string[] = [];
  for (const { kernel, path, verdict } of verifications) {
    const head = `${path}: ${style.bold(kernel)}`;
    switch (verdict.status) {
      case 'equal':
        out.push(`${head}: ${style.green('equal')} over ${count(verdict.runs, 'run')}`);
        break;
      case 'different':
        out.push(`${head}: ${style.red('different')} after ${count(verdict.runs, 'run')}`);
        for (const difference of verdict.counterexample.differences) out.push(`  ${difference}`);
        out.push(`  replay: divmod simulate FILE --kernel ${kernel} ${verdict.counterexample.replay}`);
        break;
      case 'not-verified':
        out.push(`${head}: ${style.yellow('not verified')}`);
        for (const obstacle of verdict.obstacles) out.push(`  ${obstacle.side}: ${obstacle.reason}`);
    }
    for (const note of verdict.notes) out.push(`  ${style.dim('note')} ${note}`);
  }
  return out.length === 0 ? '' : `${out.join('\n')}\n`;
}

export function verificationJson(verifications: readonly Verification[]): unknown {
  return verifications.map(({ kernel, path, verdict }) => ({
    kernel, path, status: verdict.status, runs: verdict.runs, notes: verdict.notes,
    ...(verdict.status === 'different' ? { differences: verdict.counterexample.differences, replay: verdict.counterexample.replay } : {}),
    ...(verdict.status === 'not-verified' ? { obstacles: verdict.obstacles.map(({ side, reason }) => ({ side, reason })) } : {}),
  }));
}

/** The plan for people. */
import type { Proposal } from '../plan/rank.js';
import { count, styleFor } from './style.js';

export function planText(proposals: readonly Proposal[], looked: { readonly kernels: number; readonly files: number; readonly refused: number }, color: boolean): string {
  const style = styleFor(color);
  const out: string[] = [];
  for (const proposal of proposals) {
    const { expected } = proposal;
    const gain = `${expected.speedup.toFixed(2)}x (${expected.low.toFixed(2)} to ${expected.high.toFixed(2)})`;
    out.push(`${String(proposal.rank).padStart(3)}. ${proposal.recommended ? style.green(gain) : style.dim(gain)}  ${style.bold(proposal.transform)}  ${proposal.path}:${proposal.line}  ${proposal.function}`);
    out.push(`     ${proposal.summary}`, `     ${style.dim(proposal.recommended ? '' : 'not recommended: ')}${proposal.reason}`);
    if (proposal.breakEven !== null) out.push(`     ${style.dim('break-even')} ${proposal.breakEven}`);
    for (const tradeoff of proposal.tradeoffs) out.push(`     ${style.yellow('!')} ${tradeoff}`);
  }
  if (out.length > 0) out.push('');
  const recommended = proposals.filter((proposal) => proposal.recommended).length;
  out.push(`${count(proposals.length, 'legal site')}, ${recommended} recommended; ${count(looked.refused, 'site')} refused (${count(looked.kernels, 'kernel')} in ${count(looked.files, 'file')} looked at)`);
  return `${out.join('\n')}\n`;
}

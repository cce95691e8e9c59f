/**
 * The audit for people: kernel by kernel, the branches that may diverge with the line of code they stand in, and one line for all
 * that cannot.
 */
import type { BranchClass } from '../audit/types.js';
import type { PlainBranch, PlainFile, PlainKernel } from '../project/plain-audit.js';
import { count, quantity, share, styleFor, type Style } from './style.js';
import { summarise } from './summary.js';
import { hazardsText } from './text-hazards.js';
import { clip, place } from './text-places.js';

export interface TextAuditOptions {
  readonly color: boolean;
  /** Show every step of the chains, not only the first. */
  readonly explain: boolean;
  /** Text of a line (from 1) of a file as the findings name it; null if it is not at hand. */
  readonly lineOf: (path: string, line: number) => string | null;
}

export function auditText(files: readonly PlainFile[], options: TextAuditOptions): string {
  const style = styleFor(options.color);
  const out: string[] = [];
  const said = new Set<string>();
  for (const file of files) {
    if (file.kernels.length === 0 && file.status === 'ok') continue;
    out.push(style.bold(file.path) + (file.status === 'ok' ? '' : style.yellow(`  ${file.status}`)));
    for (const problem of file.problems) out.push(`  ${style.yellow('!')} ${problem.line > 0 ? `line ${problem.line}: ` : ''}${problem.message}`);
    for (const kernel of file.kernels) out.push('', ...kernelText(kernel, file.path, said, style, options));
    out.push('');
  }
  out.push(...summaryText(files, style));
  return `${out.join('\n')}\n`;
}

function kernelText(kernel: PlainKernel, path: string, said: Set<string>, style: Style, options: TextAuditOptions): string[] {
  const { block } = kernel;
  const shape = block === null ? style.dim('block shape not known') : style.dim(`block ${[block.x, block.y, block.z].join('x').replace(/(x1)+$/, '')} (${block.origin})`);
  const out = [`  ${style.cyan(style.bold(kernel.name))}  ${style.dim(`line ${kernel.line}`)}  ${shape}`];
  if (!kernel.understood) {
    out.push(`    ${style.yellow('not understood: nothing is said about it and nothing will touch it')}`);
    return out;
  }
  const may = kernel.branches.filter((branch) => branch.class !== 'uniform');
  const uniform = kernel.branches.filter((branch) => branch.class === 'uniform');
  for (const branch of [...may].sort((a, b) => Number(b.advice === 'consider') - Number(a.advice === 'consider') || b.cost.lostSlots - a.cost.lostSlots || a.line - b.line)) {
    out.push(...branchText(branch, path, style, options));
  }
  out.push(...hazardsText(kernel.hazards, path, said, style, options));
  if (uniform.length > 0) out.push(`    ${style.dim(`${count(uniform.length, 'uniform branch', 'uniform branches')}: ${uniformText(uniform, path)}`)}`);
  if (kernel.branches.length === 0 && kernel.hazards.length === 0) out.push(`    ${style.dim('no branches')}`);
  return out;
}

function uniformText(branches: readonly PlainBranch[], path: string): string {
  const shown = branches.slice(0, 12).map((branch) => `${place(branch, path)} ${branch.scope}`);
  return shown.join(', ') + (branches.length > shown.length ? `, and ${branches.length - shown.length} more` : '');
}

const KIND: Readonly<Record<PlainBranch['kind'], string>> = { if: 'if', switch: 'switch', ternary: '?:', and: '&&', or: '||', for: 'for', while: 'while', do: 'do' };

function branchText(branch: PlainBranch, path: string, style: Style, options: TextAuditOptions): string[] {
  const { cost, divergence } = branch;
  const advice = branch.advice === 'consider' ? style.bold(style.yellow('consider')) : style.dim('leave');
  const figures = branch.class === 'unknown'
    ? ''
    : `  E ${share(cost.efficiency)}  lost ${quantity(cost.lostSlots)} slots  ${style.dim(`diverges in ${share(divergence.rate)} of warps, true for ${share(divergence.p)} of threads (${divergence.origin})`)}`;
  const head = `    ${style.bold(place(branch, path).padStart(4))}  ${KIND[branch.kind].padEnd(6)} ${classText(branch.class, style)} ${branch.scope.padEnd(5)}${figures}  ${advice}`;
  const out = [head];
  const code = options.lineOf(branch.path, branch.line);
  if (code !== null) out.push(`          ${style.dim('|')} ${clip(code)}`);
  if (branch.path !== path || branch.via.length > 0) out.push(`          ${style.dim(`in ${branch.function}, called from ${branch.via.map((call) => place(call, path)).join(' → ')}`)}`);
  // The first step says again what the head says; the next ones say where it comes from.
  const steps = options.explain ? branch.because : branch.because.length > 1 ? branch.because.slice(1, 3) : branch.because.slice(0, 1);
  for (const [i, reason] of steps.entries()) {
    if (i === 0 || options.explain) out.push(`          ${style.dim('because')} ${reason.text} ${style.dim(`(${place(reason, path)})`)}`);
    else out[out.length - 1] += `, ${reason.text} ${style.dim(`(${place(reason, path)})`)}`;
  }
  if (branch.under.length > 0) out.push(`          ${style.dim(`if ${branch.under.join(' and ')}`)}`);
  if (branch.reason !== '') out.push(`          ${branch.advice === 'consider' ? branch.reason : style.dim(branch.reason)}`);
  return out;
}

function classText(name: BranchClass, style: Style): string {
  const padded = name.padEnd(8);
  switch (name) {
    case 'uniform': return style.green(padded);
    case 'boundary': return style.blue(padded);
    case 'geometry': return style.cyan(padded);
    case 'data': return style.red(padded);
    case 'unknown': return style.magenta(padded);
  }
}

function summaryText(files: readonly PlainFile[], style: Style): string[] {
  const summary = summarise(files);
  const { classes, hazards } = summary;
  const parts = (['uniform', 'boundary', 'geometry', 'data', 'unknown'] as const).filter((name) => classes[name] > 0).map((name) => `${classes[name]} ${name}`);
  const out = [style.bold(summary.text) + (parts.length > 0 ? style.dim(`  (${parts.join(', ')})`) : '')];
  if (summary.toConsider > 0) out.push(`${count(summary.toConsider, 'branch', 'branches')} worth a look; all branches together lose about ${quantity(summary.lostSlots)} issue slots per warp`);
  const found = (['error', 'caution', 'note'] as const).filter((severity) => hazards[severity] > 0).map((severity) => count(hazards[severity], severity));
  if (found.length > 0) out.push(`hazards: ${found.join(', ')}`);
  return out;
}

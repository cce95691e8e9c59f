/** What a simulation saw: efficiency beside the source, branch by branch, and every fault. */
import type { Program } from '../syntax/tree.js';
import type { LaunchShape, SimulationResult } from '../simulate/index.js';
import { quantity, share, styleFor } from './style.js';

export interface SimulatedKernel {
  readonly name: string;
  readonly path: string;
  readonly line: number;
  readonly launch: LaunchShape;
  readonly result: SimulationResult;
  readonly program: Program;
}

type Ran = Extract<SimulationResult, { status: 'ran' }>;

interface LineCount { readonly line: number; issued: number; threads: number }

function linesOf(kernel: SimulatedKernel, result: Ran): readonly LineCount[] {
  const lines = new Map<number, LineCount>();
  for (const statement of result.counts?.statements ?? []) {
    const source = kernel.program.units.get(statement.at.file)?.source;
    if (source === undefined || statement.issued === 0 || source.path !== kernel.path) continue;
    const line = source.line(statement.at.start);
    const sum = lines.get(line) ?? { line, issued: 0, threads: 0 };
    sum.issued += statement.issued * statement.weight;
    sum.threads += statement.threads * statement.weight;
    lines.set(line, sum);
  }
  return [...lines.values()].sort((a, b) => a.line - b.line);
}

function place(kernel: SimulatedKernel, at: { readonly file: string; readonly start: number } | null): { readonly path: string; readonly line: number; readonly column: number } | null {
  const source = at === null ? undefined : kernel.program.units.get(at.file)?.source;
  return source === undefined || at === null ? null : { path: source.path, ...source.position(at.start) };
}

const lanesText = (lanes: number): string => (lanes === 0 ? '' : ` (lanes 0x${(lanes >>> 0).toString(16).padStart(8, '0')})`);

export function simulationText(kernels: readonly SimulatedKernel[], lineOf: (path: string, line: number) => string | null, color: boolean): string {
  const style = styleFor(color);
  const out: string[] = [];
  for (const kernel of kernels) {
    const { launch, result } = kernel;
    out.push(`${style.bold(kernel.name)}  ${style.dim(`${kernel.path}:${kernel.line}  grid ${launch.grid.join('x')}, block ${launch.block.join('x')}`)}`);
    switch (result.status) {
      case 'unsupported': {
        const where = place(kernel, result.at);
        out.push(`  ${style.yellow('cannot be simulated')}: ${result.construct}${where === null ? '' : ` (${where.path}:${where.line})`}`, '');
        continue;
      }
      case 'aborted': {
        const where = place(kernel, result.at);
        out.push(`  ${style.yellow('stopped')}: ${result.message}${where === null ? '' : ` (${where.path}:${where.line})`}`, '');
        continue;
      }
      case 'ran':
    }
    const { counts } = result;
    if (counts !== null) {
      out.push(`  efficiency ${share(counts.efficiency)}: ${quantity(counts.issued)} warp instructions issued, ${quantity(counts.threads)} thread instructions`);
      for (const line of linesOf(kernel, result)) {
        out.push(`  ${String(line.line).padStart(5)}  E ${share(line.threads / (32 * line.issued))}  ${quantity(line.issued).padStart(10)}  ${style.dim('|')} ${(lineOf(kernel.path, line.line) ?? '').trimEnd()}`);
      }
      for (const branch of counts.branches) {
        if (branch.warps === 0) continue;
        const where = place(kernel, { file: branch.at.file, start: branch.node.span.start });
        if (where === null) continue;
        const rate = branch.rate > 0 ? style.yellow(`diverges in ${share(branch.rate)} of warps`) : style.dim('never diverges');
        out.push(`  branch ${where.path === kernel.path ? '' : `${where.path}:`}${where.line} ${branch.kind}: ${rate}${branch.p === null ? '' : `, true for ${share(branch.p)} of threads`}`);
      }
    }
    for (const fault of result.faults) {
      const where = place(kernel, fault.at);
      const paint = fault.severity === 'error' ? style.red : fault.severity === 'caution' ? style.yellow : style.dim;
      out.push(`  ${paint(fault.severity)} ${fault.kind}${where === null ? '' : ` line ${where.line}`}: ${fault.message}${lanesText(fault.lanes)}, ${fault.count} times`);
    }
    for (const line of result.printed) out.push(`  ${style.dim('printed')} ${line.trimEnd()}`);
    out.push('');
  }
  return `${out.join('\n').trimEnd()}\n`;
}

export function simulationJson(kernels: readonly SimulatedKernel[]): unknown {
  return kernels.map((kernel) => {
    const { result, launch } = kernel;
    const base = { name: kernel.name, path: kernel.path, line: kernel.line, launch: { grid: launch.grid, block: launch.block }, status: result.status };
    switch (result.status) {
      case 'unsupported': return { ...base, reason: result.construct, at: place(kernel, result.at) };
      case 'aborted': return { ...base, reason: result.message, at: place(kernel, result.at), faults: faultsJson(kernel, result.faults) };
      case 'ran': return {
        ...base,
        efficiency: result.counts?.efficiency ?? null, issued: result.counts?.issued ?? null, threads: result.counts?.threads ?? null,
        scalars: Object.fromEntries([...result.scalars].map(([name, value]) => [name, String(value)])),
        branches: (result.counts?.branches ?? []).map((branch) => ({ ...place(kernel, { file: branch.at.file, start: branch.node.span.start }), kind: branch.kind, p: branch.p, rate: branch.rate, warps: branch.warps, threads: branch.threads })),
        lines: linesOf(kernel, result).map(({ line, issued, threads }) => ({ line, issued, threads, efficiency: threads / (32 * issued) })),
        faults: faultsJson(kernel, result.faults),
        printed: result.printed,
      };
    }
  });
}

function faultsJson(kernel: SimulatedKernel, faults: Ran['faults']): unknown {
  return faults.map((fault) => ({ kind: fault.kind, severity: fault.severity, message: fault.message, at: place(kernel, fault.at), lanes: fault.lanes >>> 0, block: fault.block, warp: fault.warp, object: fault.object, count: fault.count }));
}

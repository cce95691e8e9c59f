/** What the simulator found, for people (beside the source) and for programs. */
import type { BranchCount, Fault, SimulationResult } from '../simulate/index.js';
import type { FileSpan } from '../source/types.js';
import type { Obstacle, Tried, Verdict } from '../verify/index.js';
import { count, quantity, share, styleFor, type Style } from './style.js';

/** Where offsets become lines. */
export interface SourceView {
  /** Line and column, from 1, of a place; null if its file is not at hand. */
  readonly position: (at: FileSpan) => { readonly line: number; readonly column: number } | null;
  /** Text of a line, from 1. */
  readonly lineOf: (file: string, line: number) => string | null;
  /** The name to show for a file. */
  readonly nameOf: (file: string) => string;
}

export interface SimulationReport {
  readonly kernel: string;
  readonly path: string;
  /** Template arguments of the instance that ran; empty for a kernel that is no template. */
  readonly instance: string;
  /** About the choice of instances. */
  readonly notes: readonly string[];
  readonly seed: number;
  readonly schedule: number;
  readonly result: SimulationResult;
}

export interface SimulationTextOptions { readonly color: boolean }

/** Lanes of a mask as ranges: `0-3, 7`. */
export function laneRanges(mask: number): string {
  const parts: string[] = [];
  for (let l = 0; l < 32; l++) {
    if ((mask >>> l & 1) === 0) continue;
    let end = l;
    while (end < 31 && (mask >>> (end + 1) & 1) !== 0) end++;
    parts.push(end === l ? `${l}` : `${l}-${end}`);
    l = end;
  }
  return parts.join(', ');
}

function where(at: FileSpan | null, view: SourceView): string {
  const position = at === null ? null : view.position(at);
  return at === null || position === null ? '' : `${view.nameOf(at.file)}:${position.line}`;
}

export function simulationText(report: SimulationReport, view: SourceView, options: SimulationTextOptions): string {
  const style = styleFor(options.color);
  const out: string[] = [];
  const { result } = report;
  const title = `${style.cyan(style.bold(report.kernel))}${report.instance === '' ? '' : ` with ${report.instance}`}`;
  switch (result.status) {
    case 'unsupported':
      out.push(`${title}  ${style.yellow('not simulated')}: ${result.construct}${at(result.at, view)}`);
      break;
    case 'aborted':
      out.push(`${title}  ${style.yellow('stopped')}: ${result.message}${at(result.at, view)}`);
      for (const fault of result.faults) out.push(faultText(fault, view, style));
      break;
    case 'ran': {
      const { grid, block } = result.launch;
      const shape = (s: readonly number[]): string => s.join('x').replace(/(x1)+$/, '');
      out.push(`${title}  ${style.dim(`grid ${shape(grid)}, block ${shape(block)}, seed ${report.seed}${report.schedule === 0 ? '' : `, schedule ${report.schedule}`}`)}`);
      const scalars = [...result.scalars].map(([name, value]) => `${name}=${value}`);
      if (scalars.length > 0) out.push(`  ${style.dim(scalars.join('  '))}`);
      if (result.counts !== null) {
        const { counts } = result;
        out.push(`  efficiency ${style.bold(share(counts.efficiency))}  ${style.dim(`${quantity(counts.issued)} issue slots, ${quantity(counts.threads)} thread slots`)}`);
        out.push(...beside(report, view, style), ...counts.branches.filter((b) => b.warps > 0).map((b) => branchText(b, view, style)));
      }
      if (result.faults.length === 0) out.push(`  ${style.green('no faults')}`);
      else out.push(`  ${count(result.faults.length, 'fault')}:`, ...result.faults.map((f) => faultText(f, view, style)));
      for (const line of result.printed.slice(0, 10)) out.push(`  ${style.dim('printf')} ${line.replace('\u0000', ' ← ').trim()}`);
      break;
    }
  }
  out.push(...report.notes.map((note) => `  ${style.dim(`note: ${note}`)}`));
  return `${out.join('\n')}\n`;
}

function at(place: FileSpan | null, view: SourceView): string {
  const text = where(place, view);
  return text === '' ? '' : `  (${text})`;
}

function faultText(fault: Fault, view: SourceView, style: Style): string {
  const paint = fault.severity === 'error' ? style.red : fault.severity === 'caution' ? style.yellow : style.dim;
  const times = fault.count > 1 ? style.dim(`  ×${fault.count.toLocaleString('en-US')}`) : '';
  return `    ${paint(fault.severity)} ${fault.kind}${at(fault.at, view)}: ${fault.message}  ${style.dim(`block ${fault.block}, warp ${fault.warp}, lanes ${laneRanges(fault.lanes)}`)}${times}`;
}

/** Counts beside the lines they belong to. */
function beside(report: SimulationReport, view: SourceView, style: Style): string[] {
  const { result } = report;
  if (result.status !== 'ran' || result.counts === null) return [];
  const lines = new Map<string, { file: string; line: number; issued: number; slots: number; threads: number }>();
  for (const s of result.counts.statements) {
    const position = view.position(s.at);
    if (position === null || s.issued === 0) continue;
    const key = `${s.at.file}\u0000${position.line}`;
    const entry = lines.get(key) ?? { file: s.at.file, line: position.line, issued: 0, slots: 0, threads: 0 };
    entry.issued = Math.max(entry.issued, s.issued);
    entry.slots += s.issued * s.weight;
    entry.threads += s.threads * s.weight;
    lines.set(key, entry);
  }
  const sorted = [...lines.values()].sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const width = Math.max(5, ...sorted.map((l) => quantity(l.slots).length));
  return [
    `  ${style.dim(`${'slots'.padStart(width)}  warps     E  line`)}`,
    ...sorted.map((l) => {
      const e = l.threads / (32 * l.slots);
      const text = `${quantity(l.slots).padStart(width)} ${quantity(l.issued).padStart(6)}  ${share(e).padStart(5)}  ${String(l.line).padStart(4)}`;
      const source = view.lineOf(l.file, l.line) ?? '';
      return `  ${e < 0.5 ? style.yellow(text) : text}  ${style.dim(l.file === report.path ? source : `${view.nameOf(l.file)}: ${source.trim()}`)}`;
    }),
  ];
}

function branchText(b: BranchCount, view: SourceView, style: Style): string {
  const p = b.p === null ? (b.arms ?? []).map((n) => share(b.threads === 0 ? 0 : n / b.threads)).join(' / ') : share(b.p);
  return `    ${style.dim('branch')} ${where(b.at, view)} ${b.kind}: taken by ${p} of threads, ${share(b.rate)} of ${quantity(b.warps)} warps diverge`;
}

export function simulationJson(report: SimulationReport, view: SourceView): Record<string, unknown> {
  const { result } = report;
  const place = (p: FileSpan | null): Record<string, unknown> | null => {
    const position = p === null ? null : view.position(p);
    return p === null || position === null ? null : { path: view.nameOf(p.file), ...position };
  };
  const fault = (f: Fault): Record<string, unknown> => ({
    kind: f.kind, severity: f.severity, message: f.message, ...place(f.at), lanes: laneRanges(f.lanes), block: f.block, warp: f.warp, object: f.object, count: f.count,
  });
  const base = { kernel: report.kernel, path: view.nameOf(report.path), instance: report.instance === '' ? null : report.instance, notes: report.notes, seed: report.seed, schedule: report.schedule, status: result.status };
  switch (result.status) {
    case 'unsupported': return { ...base, construct: result.construct, at: place(result.at) };
    case 'aborted': return { ...base, reason: result.reason, message: result.message, at: place(result.at), faults: result.faults.map(fault) };
    case 'ran': return {
      ...base,
      launch: { grid: result.launch.grid, block: result.launch.block, sharedBytes: result.launch.sharedBytes },
      scalars: Object.fromEntries([...result.scalars].map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value])),
      faults: result.faults.map(fault),
      ...(result.counts === null ? {} : {
        efficiency: result.counts.efficiency, issued: result.counts.issued, threads: result.counts.threads,
        statements: result.counts.statements.map((s) => ({ ...place(s.at), issued: s.issued, threads: s.threads, weight: s.weight })),
        branches: result.counts.branches.map((b) => ({
          ...place(b.at), kind: b.kind, threads: b.threads, taken: b.taken, warps: b.warps, entered: b.entered, diverged: b.diverged, p: b.p, rate: b.rate, arms: b.arms,
        })),
      }),
      printed: result.printed.map((line) => line.replace('\u0000', ' ')),
    };
  }
}

// ------------------------------------------------------------------------------------------------------- verification

export function verdictText(kernel: string, verdict: Verdict, view: SourceView, options: SimulationTextOptions): string {
  const style = styleFor(options.color);
  const out: string[] = [];
  const title = style.cyan(style.bold(kernel));
  switch (verdict.status) {
    case 'equal':
      out.push(`${title}  ${style.green('equal')} over ${count(verdict.runs, 'run')}`, `    ${style.dim(triedText(verdict.tried))}`);
      break;
    case 'not-verified':
      out.push(`${title}  ${style.yellow('not verified')}`);
      for (const o of verdict.obstacles) out.push(`    ${o.side}: ${o.reason}${at(o.at, view)}`);
      break;
    case 'different': {
      out.push(`${title}  ${style.red('different')}`);
      for (const d of verdict.counterexample.differences) out.push(`    ${d}`);
      out.push(`    replay with ${verdict.counterexample.replay}`);
      break;
    }
  }
  for (const note of verdict.notes) out.push(`    ${style.dim(note)}`);
  return `${out.join('\n')}\n`;
}

/** What was run, so that "equal" is not read as a proof. */
function triedText(t: Tried): string {
  const shown = t.blocks.slice(0, 6);
  const parts = [
    `tried, not proved: ${t.sizes.least === t.sizes.greatest ? `size ${t.sizes.least}` : `sizes ${t.sizes.least} to ${t.sizes.greatest}`}`,
    `${t.blocks.length === 1 ? 'block' : 'blocks'} ${shown.join(' ')}${t.blocks.length > shown.length ? ` and ${t.blocks.length - shown.length} more` : ''}`,
    count(t.seeds, 'seed'), count(t.schedules, 'schedule'),
    ...(t.unequalSizes > 0 ? [`unequal extents in ${count(t.unequalSizes, 'run')}`] : []), ...(t.fullRange > 0 ? [`full-range values in ${t.fullRange}`] : []),
    ...(t.special > 0 ? [`infinities and NaNs in ${t.special}`] : []), ...(t.aliased.length > 0 ? [`at one address: ${t.aliased.join(', ')}`] : []),
    ...(t.kernels !== undefined && t.kernels.length > 1 ? [t.kernels.map(({ name, runs }) => `${name} with blocks in ${count(runs, 'run')}`).join(', ')] : []),
    ...(t.instances.length > 0 ? [`instances ${t.instances.join(' | ')}`] : []),
  ];
  return parts.join('; ');
}

export function verdictJson(kernel: string, verdict: Verdict, view: SourceView): Record<string, unknown> {
  const base = { kernel, status: verdict.status, runs: verdict.runs, notes: verdict.notes };
  switch (verdict.status) {
    case 'equal': return { ...base, tried: verdict.tried };
    case 'not-verified': return { ...base, obstacles: verdict.obstacles.map((o: Obstacle) => ({ side: o.side, reason: o.reason, ...(o.at === null ? {} : view.position(o.at) ?? {}) })) };
    case 'different': {
      const { counterexample: c } = verdict;
      return { ...base, counterexample: { seed: c.setting.seed, size: c.setting.size, grid: c.setting.grid, block: c.setting.block, sharedBytes: c.setting.sharedBytes, schedule: c.setting.scheduleSeed, alias: c.setting.alias, scalars: c.scalars, differences: c.differences, replay: c.replay } };
    }
  }
}

/** Kernels from text, and what a run left in a buffer. */
import { loadProgram, initParser } from '../../src/syntax/index.js';
import type { FunctionDecl, Program } from '../../src/syntax/tree.js';
import { parseArgument, type Argument } from '../../src/simulate/arguments.js';
import type { Buffer } from '../../src/simulate/inputs.js';
import { simulate, type Shape, type SimulationOptions, type SimulationResult } from '../../src/simulate/simulate.js';

export { initParser };

export function programOf(text: string): Program {
  const bytes = new TextEncoder().encode(text);
  return loadProgram(['/k.cu'], { readFile: () => bytes, realPath: (p) => (p === '/k.cu' ? p : null) });
}

export function kernelOf(program: Program, name?: string): FunctionDecl {
  for (const unit of program.units.values()) {
    for (const k of unit.kernels) if (name === undefined || k.name === name) return k;
  }
  throw new Error(`no kernel ${name ?? ''}`);
}

export interface Run { readonly grid?: Shape; readonly block?: Shape; readonly args?: readonly string[]; readonly size?: number; readonly seed?: number; readonly kernel?: string; readonly options?: SimulationOptions; readonly shared?: number }

export function run(text: string, r: Run = {}): SimulationResult {
  const program = programOf(text);
  const args = new Map<string, Argument>();
  for (const a of r.args ?? []) {
    const parsed = parseArgument(a);
    if (parsed === null) throw new Error(`argument ${a}`);
    args.set(parsed.name, parsed.argument);
  }
  return simulate(program, kernelOf(program, r.kernel), { grid: r.grid ?? [1, 1, 1], block: r.block ?? [32, 1, 1], sharedBytes: r.shared ?? null }, { seed: r.seed ?? 1, arguments: args, size: r.size ?? 32 }, r.options ?? {});
}

export type Ran = Extract<SimulationResult, { status: 'ran' }>;

export function ran(result: SimulationResult): Ran {
  if (result.status !== 'ran') throw new Error(result.status === 'unsupported' ? `unsupported: ${result.construct}` : `aborted: ${result.message}`);
  return result;
}

function bufferOf(result: SimulationResult, name: string): Buffer {
  const b = ran(result).buffers.find((x) => x.name === name);
  if (b === undefined) throw new Error(`no buffer ${name}`);
  return b;
}

/** Elements of a buffer of 4-byte (default) or other elements. */
export function contents(result: SimulationResult, name: string, count: number, kind: 'i32' | 'u32' | 'f32' | 'f64' | 'i64' | 'u64' | 'u8' = 'i32'): (number | bigint)[] {
  const b = bufferOf(result, name);
  const out: (number | bigint)[] = [];
  const width = kind === 'f64' || kind === 'i64' || kind === 'u64' ? 8 : kind === 'u8' ? 1 : 4;
  for (let i = 0; i < count; i++) {
    const raw = 2 ** 20 + i * width;
    const page = b.segment.pages[Math.floor(raw / 4096)];
    if (page === undefined) { out.push(NaN); continue; }
    const view = new DataView(page.bytes);
    const o = raw % 4096;
    out.push(kind === 'i32' ? view.getInt32(o, true) : kind === 'u32' ? view.getUint32(o, true) : kind === 'f32' ? view.getFloat32(o, true) : kind === 'f64' ? view.getFloat64(o, true)
      : kind === 'i64' ? view.getBigInt64(o, true) : kind === 'u64' ? view.getBigUint64(o, true) : view.getUint8(o));
  }
  return out;
}

export function faultKinds(result: SimulationResult): string[] {
  return ran(result).faults.map((f) => f.kind);
}

/**
 * Executes a launch plan in place of the kernel it replaces: several kernels in order on one memory, with temporaries, fills, and
 * the library passes select, scan and radix sort done directly. Expressions see the parameters of the original kernel by name (those of its
 * template too, where they are integers), the temporaries, and `gridDim`/`blockDim` (`grid`, `block`) of the original launch.
 */
import type { Program } from '../syntax/tree.js';
import { RunAborted } from './faults.js';
import { evaluateHost, HostExpressionError, truth, type HostValue } from './host-expression.js';
import { filled, inputOptions, normalise, prepareGlobals, prepareInputs, type Buffer, type ParameterValue } from './inputs.js';
import type { Machine } from './machine.js';
import { EMPTY_ENV, type Env } from './resolve.js';
import { runGrid } from './schedule.js';
import {
  dynamicBytes, failure, newMachine, prepareInstance, prepareKernel, prepareStrings, type LaunchShape, type PreparedKernel, type Shape, type SimulationInputs, type SimulationOptions, type SimulationResult,
} from './simulate.js';
import { F32, F64, I32, I64, isFloating, sizeOf, U32, U64, U8, Unsupported, type ScalarType, type SimType } from './types.js';
import { usageOf } from './usage.js';
import type { Wide } from './values.js';

/** The same shape as the transforms' launch plans. */
export type PlanStep =
  | { readonly kind: 'value'; readonly name: string; readonly type: string; readonly value: string }
  | { readonly kind: 'temporary'; readonly name: string; readonly element: string; readonly count: string }
  | { readonly kind: 'fill'; readonly buffer: string; readonly value: string; readonly count: string }
  | { readonly kind: 'kernel'; readonly kernel: string; readonly grid: string; readonly block: string; readonly arguments: readonly string[]; readonly unless: string | null; readonly shared?: string; readonly anyGrid?: true }
  | { readonly kind: 'select'; readonly flags: string; readonly output: string; readonly count: string; readonly selected: string }
  | { readonly kind: 'scan'; readonly input: string; readonly output: string; readonly count: string; readonly exclusive: boolean }
  | { readonly kind: 'sort'; readonly keys: string; readonly values: string; readonly count: string; readonly bits: number };

export interface Plan {
  readonly steps: readonly PlanStep[];
  /** Constants that the texts name, with their values in this build. */
  readonly constants?: readonly { readonly name: string; readonly value: string }[];
}

const ELEMENTS: ReadonlyMap<string, ScalarType> = new Map([
  ['int', I32], ['int32_t', I32], ['unsigned', U32], ['unsigned int', U32], ['uint32_t', U32], ['float', F32], ['double', F64], ['size_t', U64], ['unsigned long long', U64], ['uint64_t', U64], ['long long', I64], ['int64_t', I64],
  ['char', { k: 'scalar', s: 'i8' }], ['unsigned char', U8], ['bool', { k: 'scalar', s: 'bool' }], ['short', { k: 'scalar', s: 'i16' }], ['unsigned short', { k: 'scalar', s: 'u16' }],
]);

/** Blocks of one launch of a plan. */
const MOST_BLOCKS = 2 ** 20;

/** Kernels of a plan, compiled. Throws `Unsupported`. */
export class PlannedKernels {
  readonly #prepared = new Map<string, PreparedKernel>();
  /** `environment`: template arguments of the original, which the plan's kernels get by name. */
  constructor(readonly program: Program, readonly environment: Env = EMPTY_ENV) {}

  named(name: string): PreparedKernel {
    let prepared = this.#prepared.get(name);
    if (prepared !== undefined) return prepared;
    const named = [...this.program.units.values()].flatMap((unit) => unit.kernels.filter((kernel) => kernel.name === name && kernel.body !== null));
    if (named.length > 1) throw new Unsupported(`${named.length} kernels are called ${name}: which of them the plan launches is not known`, null);
    const [found] = named;
    if (found === undefined) throw new Unsupported(`the plan's kernel ${name} does not exist`, null);
    const bound = found.template?.every((p) => this.environment.types.has(p.name) || this.environment.values.has(p.name)) ?? false;
    prepared = bound ? prepareInstance(this.program, found, false, this.environment) : prepareKernel(this.program, found, false);
    this.#prepared.set(name, prepared);
    return prepared;
  }
}

export interface PlanOptions extends SimulationOptions {
  /** One block for kernels that take any number: each thread then goes round its loop more than once. */
  readonly oneBlock?: boolean;
  /** Only find out which kernels have blocks: nothing runs. */
  readonly launchesOnly?: boolean;
}

interface State { readonly D: Machine; readonly values: Map<string, ParameterValue>; readonly launch: LaunchShape; readonly environment: Env; readonly constants: ReadonlyMap<string, string> }

export function runPlan(kernels: PlannedKernels, plan: Plan, original: PreparedKernel, launch: LaunchShape, inputs: SimulationInputs, options: PlanOptions = {}): SimulationResult {
  const D = newMachine(original, inputs, options);
  try {
    const usage = inputs.usage ?? usageOf(original.kernel);
    const o = inputOptions(inputs);
    const params = prepareInputs(D, original.kernel, original.compiled.entry.parameters, usage, o);
    const made = new Map<string, Buffer>();
    // Variables of the original first, so that they lie where they lay.
    prepareGlobals(D, original.compiled.globals, usage, o, made);
    const launched: string[] = [];
    const state: State = { D, values: new Map(params.values), launch, environment: kernels.environment, constants: new Map((plan.constants ?? []).map((constant) => [constant.name, constant.value])) };
    for (const step of plan.steps) {
      if (step.kind === 'value') { state.values.set(step.name, hostValue(state, step)); continue; }
      if (step.kind !== 'kernel') { if (options.launchesOnly !== true) hostStep(state, step); continue; }
      if (step.unless !== null && truth(value(state, step.unless))) continue;
      const wanted = shape(state, step.grid);
      const grid: Shape = options.oneBlock === true && step.anyGrid === true && wanted.every((v) => v > 0) ? [1, 1, 1] : wanted;
      if (grid.some((v) => v === 0)) continue; // a launch of nothing: the runtime runs none, whether or not the host text tests for it
      launched.push(step.kernel);
      if (options.launchesOnly === true) continue;
      const prepared = kernels.named(step.kernel);
      const { compiled } = prepared;
      D.sites = compiled.sites;
      prepareGlobals(D, compiled.globals, usage, o, made);
      prepareStrings(D, compiled);
      const block = shape(state, step.block);
      // A bound that was not cut to the original's grid: nothing that a comparison launches has so many.
      const blocks = grid[0] * grid[1] * grid[2];
      if (blocks > MOST_BLOCKS) throw new RunAborted('memory-budget', `${step.kernel} is launched with ${blocks} blocks`, null);
      const args = step.arguments.map((text, i) => argument(state, text, compiled.entry.parameters[i], step.kernel));
      if (args.length !== compiled.entry.parameters.length) throw new Unsupported(`${step.kernel} takes ${compiled.entry.parameters.length} arguments, the plan gives ${args.length}`, null);
      D.races.since = ++D.races.now;
      runGrid(D, {
        kernel: prepared.make(D), generator: compiled.entry.generator, parameters: () => args.map((a) => filled(a.type, a.value)()), grid, block,
        sharedBytes: D.dynamicAt + (step.shared !== undefined ? number(state, step.shared) : launch.sharedBytes ?? dynamicBytes(compiled, block[0] * block[1] * block[2])), sharedGranule: compiled.sharedGranule, random: D.options.random, scheduleSeed: options.scheduleSeed ?? 0,
      });
    }
    return { status: 'ran', faults: D.log.faults, buffers: [...params.buffers, ...made.values()], scalars: params.scalars, launch, counts: null, printed: D.printed, launched };
  } catch (error) {
    if (error instanceof HostExpressionError) return { status: 'unsupported', construct: `launch plan: ${error.message}`, at: null };
    return failure(error, D);
  }
}

function lookup(state: State, name: string): HostValue | null {
  const [base, axis] = name.split('.');
  const shaped = base === 'gridDim' || base === 'grid' ? state.launch.grid : base === 'blockDim' || base === 'block' ? state.launch.block : null;
  if (shaped !== null && !state.values.has(name) && !state.constants.has(name)) {
    if (axis === undefined) return { kind: 'shape', value: shaped };
    const i = 'xyz'.indexOf(axis);
    return i < 0 ? null : { kind: 'number', value: shaped[i] ?? 1, floating: false };
  }
  const v = state.values.get(name) ?? field(state, name);
  if (v === undefined) {
    const constant = state.constants.get(name);
    if (constant !== undefined) return { kind: 'number', value: Number(constant), floating: false };
    // A template parameter that is a number.
    const given = state.environment.values.get(name);
    return given?.kind === 'integer' ? { kind: 'number', value: Number(given.value), floating: false } : null;
  }
  if (v.type.k === 'pointer') return { kind: 'pointer', address: Number(v.value), size: sizeOf(v.type.to) };
  if (v.type.k === 'scalar') return { kind: 'number', value: Number(v.value), floating: isFloating(v.type.s) };
  return { kind: 'pointer', address: Number(v.value), size: 1 }; // a struct by value: its copy
}

/** A member of a struct that is passed by value: `p.mode`. */
function field(state: State, name: string): ParameterValue | undefined {
  const [base = '', ...members] = name.split('.');
  const whole = state.values.get(base);
  if (whole === undefined || members.length === 0) return undefined;
  let { type } = whole;
  let address = Number(whole.value);
  for (const member of members) {
    const found: { readonly type: SimType; readonly offset: number } | undefined = type.k === 'record' ? type.layout.fields.find((f) => f.name === member) : undefined;
    if (found === undefined) return undefined;
    address += found.offset;
    ({ type } = found);
  }
  return type.k === 'scalar' ? { type, value: read(state.D, address, type) } : undefined;
}

function value(state: State, text: string): HostValue {
  return evaluateHost(text, (name) => lookup(state, name));
}

function number(state: State, text: string): number {
  const v = value(state, text);
  if (v.kind !== 'number') throw new HostExpressionError(`${text} is no number`);
  return v.value;
}

function shape(state: State, text: string): Shape {
  const v = value(state, text);
  // `dim3` has no sign: one less than no blocks are 2^32 - 1.
  if (v.kind === 'shape') return [v.value[0] >>> 0, v.value[1] >>> 0, v.value[2] >>> 0];
  if (v.kind === 'number') return [v.value >>> 0, 1, 1];
  throw new HostExpressionError(`${text} is no launch shape`);
}

function argument(state: State, text: string, type: SimType | undefined, kernel: string): { readonly type: SimType; readonly value: Wide } {
  if (type === undefined) throw new Unsupported(`${kernel} takes fewer arguments than the plan gives`, null);
  // A bare name passes as it is: 64-bit values and structs keep every bit.
  const direct = state.values.get(text.trim());
  if (direct !== undefined && (direct.type.k !== 'scalar' || type.k !== 'scalar' || direct.type.s === type.s)) return { type, value: direct.value };
  const v = value(state, text);
  if (v.kind === 'pointer') return { type, value: v.address };
  if (v.kind === 'number' && type.k === 'scalar') return { type, value: isFloating(type.s) ? v.value : normalise(Math.trunc(v.value), type.s) };
  if (v.kind === 'number' && type.k === 'pointer') return { type, value: v.value };
  throw new HostExpressionError(`argument ${text} of ${kernel}`);
}

function pointer(state: State, text: string): { readonly address: number; readonly element: ScalarType } {
  const v = value(state, text);
  if (v.kind !== 'pointer') throw new HostExpressionError(`${text} is no buffer`);
  const name = /^[A-Za-z_]\w*/.exec(text.trim())?.[0] ?? '';
  const known = state.values.get(name);
  const element = known?.type.k === 'pointer' && known.type.to.k === 'scalar' ? known.type.to : U32;
  return { address: v.address, element };
}

function read(D: Machine, address: number, t: ScalarType): Wide {
  switch (t.s) {
    case 'bool': case 'u8': return D.ldu8(address, 0, 0);
    case 'i8': return D.ldi8(address, 0, 0);
    case 'i16': return D.ldi16(address, 0, 0);
    case 'u16': return D.ldu16(address, 0, 0);
    case 'i32': return D.ldi32(address, 0, 0);
    case 'u32': return D.ldu32(address, 0, 0);
    case 'i64': return D.ldi64(address, 0, 0);
    case 'u64': return D.ldu64(address, 0, 0);
    case 'f32': return D.ldf32(address, 0, 0);
    case 'f64': return D.ldf64(address, 0, 0);
    case 'f16': return D.ldf16(address, 0, 0);
    case 'bf16': return D.ldbf16(address, 0, 0);
  }
}

function write(D: Machine, address: number, t: ScalarType, v: Wide): void {
  switch (t.s) {
    case 'bool': case 'u8': case 'i8': D.sti8(address, Number(v), 0, 0); break;
    case 'i16': case 'u16': D.sti16(address, Number(v), 0, 0); break;
    case 'i32': case 'u32': D.sti32(address, Number(v), 0, 0); break;
    case 'i64': case 'u64': D.sti64(address, v, 0, 0); break;
    case 'f32': D.stf32(address, Number(v), 0, 0); break;
    case 'f64': D.stf64(address, Number(v), 0, 0); break;
    case 'f16': D.stf16(address, Number(v), 0, 0); break;
    case 'bf16': D.stbf16(address, Number(v), 0, 0); break;
  }
}

/** A value of the plan in its C++ type. */
function hostValue(state: State, step: Extract<PlanStep, { kind: 'value' }>): ParameterValue {
  const type = ELEMENTS.get(step.type.replace(/^const\s+/, '').trim());
  if (type === undefined) throw new HostExpressionError(`a value of ${step.type}`);
  const v = number(state, `(${step.type.replace(/^const\s+/, '')})(${step.value})`);
  return { type, value: isFloating(type.s) ? v : normalise(v, type.s) };
}

function hostStep(state: State, step: Exclude<PlanStep, { kind: 'kernel' | 'value' }>): void {
  const { D } = state;
  const count = number(state, step.count);
  if (count > 2 ** 24) throw new RunAborted('memory-budget', `a plan over ${count} elements`, null);
  const each = (p: { readonly address: number; readonly element: ScalarType }, i: number): number => p.address + i * sizeOf(p.element);
  switch (step.kind) {
    case 'temporary': {
      const element = ELEMENTS.get(step.element.replace(/^const\s+/, '').trim());
      if (element === undefined) throw new HostExpressionError(`a temporary of ${step.element}`);
      // What cudaMalloc gives: bytes that mean nothing.
      const segment = D.add(step.name, 'global', Math.max(0, count) * sizeOf(element), (page) => { page.u32.fill(0xffbadbad); }, true, sizeOf(element) === 1 ? 1 : sizeOf(element) === 2 ? 2 : 4);
      state.values.set(step.name, { type: { k: 'pointer', to: element }, value: segment.base });
      return;
    }
    case 'fill': {
      const p = pointer(state, step.buffer);
      const v = value(state, step.value);
      if (v.kind !== 'number') throw new HostExpressionError(`a fill with ${step.value}`);
      for (let i = 0; i < count; i++) write(D, each(p, i), p.element, v.value);
      return;
    }
    case 'select': {
      const flags = pointer(state, step.flags);
      const output = pointer(state, step.output);
      const selected = pointer(state, step.selected);
      let n = 0;
      for (let i = 0; i < count; i++) if (read(D, each(flags, i), flags.element) !== 0) write(D, each(output, n++), output.element, i);
      write(D, selected.address, selected.element, n);
      return;
    }
    case 'scan': {
      const input = pointer(state, step.input);
      const output = pointer(state, step.output);
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const v = Number(read(D, each(input, i), input.element));
        if (!step.exclusive) sum += v;
        write(D, each(output, i), output.element, sum);
        if (step.exclusive) sum += v;
      }
      return;
    }
    case 'sort': {
      const keys = pointer(state, step.keys);
      const values = pointer(state, step.values);
      const rows = Array.from({ length: Math.max(0, count) }, (_, i) => ({ key: read(D, each(keys, i), keys.element), value: read(D, each(values, i), values.element) }));
      // A radix sort looks at the low bits only; signed keys order by their value over all bits.
      const whole = step.bits >= sizeOf(keys.element) * 8;
      const mask = (1n << BigInt(step.bits)) - 1n;
      const rank = (k: Wide): bigint | number => (whole ? k : BigInt.asUintN(64, BigInt(k)) & mask);
      rows.sort((a, b) => (rank(a.key) < rank(b.key) ? -1 : rank(a.key) > rank(b.key) ? 1 : 0));
      rows.forEach((r, i) => { write(D, each(keys, i), keys.element, r.key); write(D, each(values, i), values.element, r.value); });
      return;
    }
  }
}

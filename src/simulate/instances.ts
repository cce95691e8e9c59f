/** Which instances of a kernel template the text launches, and the values of template parameters in each. */
import type { FunctionDecl, Launch, Program, TemplateArgument } from '../syntax/tree.js';
import { deduce } from './codegen/calls.js';
import type { ConstantValue } from './constants.js';
import { bindTemplate, EMPTY_ENV, resolve, type Env } from './resolve.js';
import { callableOf, typeKey, Unsupported, type SimType } from './types.js';

/** A kernel with its template parameters bound, and the launches that ask for it. */
export interface Instance {
  readonly environment: Env;
  /** `T = float, B = 64`; empty for a kernel that is no template. */
  readonly label: string;
  readonly launches: readonly Launch[];
}

/** Instances of a template that are run; more are named as left out. */
export const MOST_INSTANCES = 12;

export interface Instances {
  readonly instances: readonly Instance[];
  /** What is said about instances that could not be told or are guesses. */
  readonly notes: readonly string[];
}

/** Every instance that a launch in the text asks for; one by guess if none can be told. Throws `Unsupported`. */
export function instancesOf(program: Program, kernel: FunctionDecl, given?: readonly TemplateArgument[]): Instances {
  const launches = program.launchesOf(kernel);
  const { template } = kernel;
  if (template === null) return { instances: [{ environment: EMPTY_ENV, label: '', launches }], notes: [] };
  if (given !== undefined) {
    const environment = kernelEnvironment(program, kernel, given);
    return { instances: [{ environment, label: labelOf(kernel, environment), launches }], notes: [] };
  }
  const found = new Map<string, { environment: Env; label: string; launches: Launch[] }>();
  let open = 0;
  for (const launch of launches) {
    const environment = launchEnvironment(kernel, launch);
    if (!template.every((p) => environment.types.has(p.name) || environment.values.has(p.name))) { open++; continue; }
    const label = labelOf(kernel, environment);
    const known = found.get(label);
    if (known === undefined) found.set(label, { environment, label, launches: [launch] });
    else known.launches.push(launch);
  }
  const notes = open === 0 || found.size === 0 ? [] : [`${open === 1 ? 'the template arguments of one launch' : `the template arguments of ${open} launches`} cannot be told: what they instantiate was not run`];
  if (found.size > 0) return { instances: [...found.values()], notes };
  const environment = kernelEnvironment(program, kernel, undefined);
  const label = labelOf(kernel, environment);
  return { instances: [{ environment, label, launches }], notes: [`no instantiation of the template is visible: run with ${label} alone`] };
}

/** Template arguments by position, so that renamed parameters are told to be the same. */
export function labelOf(kernel: FunctionDecl, environment: Env): string {
  return (kernel.template ?? []).map((p) => {
    const type = environment.types.get(p.name);
    const value = environment.values.get(p.name);
    return `${p.name} = ${type !== undefined ? spell(type) : value === undefined ? '?' : `${value.value}`}`;
  }).join(', ');
}

const PLAIN: Readonly<Record<string, string>> = { f32: 'float', f64: 'double', i32: 'int', u32: 'unsigned', i64: 'long long', u64: 'unsigned long long', i8: 'signed char', u8: 'unsigned char', i16: 'short', u16: 'unsigned short', f16: 'half', bf16: 'bfloat16', bool: 'bool' };

function spell(type: SimType): string {
  if (type.k === 'scalar') return `${type.volatile === true ? 'volatile ' : ''}${PLAIN[type.s] ?? type.s}`;
  if (type.k === 'callable') { const of = callableOf(type); return of !== undefined && 'name' in of && typeof of.name === 'string' ? of.name : 'a lambda'; }
  return type.k === 'pointer' ? `${spell(type.to)}*` : type.k === 'record' ? type.layout.name : typeKey(type);
}

/** The same arguments for another version of the kernel; null if they hold declarations of the first text (records, functions). */
export function transferred(environment: Env, from: FunctionDecl, to: FunctionDecl): Env | null {
  const types = new Map<string, SimType>();
  const values = new Map<string, ConstantValue>();
  for (const [i, p] of (from.template ?? []).entries()) {
    const name = to.template?.[i]?.name;
    if (name === undefined) return null;
    const type = environment.types.get(p.name);
    const value = environment.values.get(p.name);
    if (type !== undefined && !isPlain(type)) return null;
    if (type !== undefined) types.set(name, type);
    if (value !== undefined) values.set(name, value);
  }
  return { types, values };
}

function isPlain(type: SimType): boolean {
  return type.k === 'scalar' || type.k === 'void' || ((type.k === 'pointer' || type.k === 'array') && isPlain(type.k === 'pointer' ? type.to : type.of));
}

/** The environment of a kernel template: the given arguments, else those of the first launch that has some, else plain guesses. */
export function kernelEnvironment(program: Program, kernel: FunctionDecl, given: readonly TemplateArgument[] | undefined): Env {
  if (kernel.template === null) return EMPTY_ENV;
  let env = EMPTY_ENV;
  if (given !== undefined) env = bindTemplate(kernel.template, given, EMPTY_ENV);
  else for (const launch of program.launchesOf(kernel)) {
    env = launchEnvironment(kernel, launch);
    if (kernel.template.every((p) => env.types.has(p.name) || env.values.has(p.name))) break;
  }
  const types = new Map(env.types);
  const numbers = new Map(env.values);
  for (const p of kernel.template) {
    if (p.pack) throw new Unsupported('a kernel with a parameter pack', p.span, p.file);
    if (p.sort === 'type' && !types.has(p.name)) types.set(p.name, { k: 'scalar', s: 'f32' });
    if (p.sort === 'value' && !numbers.has(p.name)) numbers.set(p.name, { kind: 'integer', value: p.type?.kind === 'bool' ? 1n : /block|thread|size/i.test(p.name) ? 128n : 4n, type: { bits: 32, signed: true } });
    if (p.sort === 'template') throw new Unsupported('a kernel with a template template parameter', p.span, p.file);
  }
  return { types, values: numbers };
}

/** What a launch says about the template parameters: its explicit arguments, and what its arguments deduce. */
function launchEnvironment(kernel: FunctionDecl, launch: Launch): Env {
  const parameters = kernel.template ?? [];
  const types = new Map<string, SimType>();
  const values = new Map<string, ConstantValue>();
  for (const [i, p] of parameters.entries()) {
    const arg = launch.templateArguments?.[i];
    if (arg === undefined) continue;
    try {
      const bound = bindTemplate([p], [arg], { types, values });
      for (const [name, t] of bound.types) types.set(name, t);
      for (const [name, v] of bound.values) values.set(name, v);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error; // depends on a template of the host
    }
  }
  const names = new Set(parameters.map((p) => p.name));
  for (const [i, p] of kernel.parameters.entries()) {
    const given = launch.arguments[i];
    if (given === undefined) continue;
    try {
      deduce(p.type, resolve(given.type, EMPTY_ENV), names, types, values);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
  }
  // Defaults last: what an argument deduces comes before them.
  for (const p of parameters) {
    if (p.default === null || types.has(p.name) || values.has(p.name)) continue;
    try {
      const bound = bindTemplate([p], [p.default], { types, values });
      for (const [name, t] of bound.types) types.set(name, t);
      for (const [name, v] of bound.values) values.set(name, v);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
  }
  return { types, values };
}

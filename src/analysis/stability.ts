/**
 * When does a load of one address give all threads of a group one value? SEMANTICS 1, rules R1 to R4.
 *
 * R1: nothing in the kernel or its callees may write the memory. R2: every write that may touch it is in another barrier interval (phases.ts).
 * R3: memory that is a thread's own has the scope of its contents, which the caller must join (`own`). R4: `volatile` and atomics never.
 * Shared memory belongs to one block, so no load from it is wider than `block`; global memory that the kernel writes is never
 * stable by R2, because other blocks do not take part in the barrier.
 *
 * Not handled: disjointness of indices (`p[blockIdx.x]` written by its own block only), and writes by other kernels or the host that run at
 * the same time, which CUDA's memory model makes a race.
 */
import { lanesOfWarp } from './platform.js';
import { builtin } from '../cuda/builtins.js';
import type { FileSpan } from '../source/types.js';
import type { Expr, FunctionDecl, Program, Stmt } from '../syntax/tree.js';
import { grantsOf, NO_GRANTS, placesAlias, type AliasGrants } from './alias.js';
import { asmMeaning } from './asm-text.js';
import { placesInKernel } from './call-sites.js';
import { strip } from './children.js';
import { collectEffects, effectsOf } from './effects.js';
import { placeOfAccess } from './effects-tables.js';
import type { Env } from './env.js';
import { atLeast, type Effects, type Fact, type MemoryAccess, type Reason, type Scope, type Variable } from './facts.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { phasesOf } from './phases.js';
import { placeKey, placesOf, targetsOf, type Place } from './places.js';

export interface Stability extends Fact<boolean> {
  /** The memory is the thread's own: the value has the scope of what was stored there. */
  readonly own: boolean;
}

interface KernelWrites {
  readonly writes: readonly { readonly place: Place; readonly access: MemoryAccess }[];
  /** Something that may write anything: an unknown call, opaque text, `asm`; null if there is none. */
  readonly anything: { readonly node: Expr | Stmt; readonly text: string } | null;
}

const kernelWrites = new WeakMap<FunctionDecl, KernelWrites>();

function unknownWriter(effects: Pick<Effects, 'unknownCalls' | 'opaque' | 'asm'>): KernelWrites['anything'] {
  const call = effects.unknownCalls[0];
  if (call !== undefined) return { node: call, text: 'a call whose body is not known may write it' };
  const opaque = effects.opaque[0];
  if (opaque !== undefined) return { node: opaque, text: 'text that was not understood may write it' };
  for (const statement of effects.asm) if (statement.kind === 'asm' && !asmMeaning(statement.text).pure) return { node: statement, text: 'inline asm may write it' };
  return null;
}

function writesOf(kernel: FunctionDecl, program: Program): KernelWrites {
  const known = kernelWrites.get(kernel);
  if (known !== undefined) return known;
  const made: KernelWrites = kernel.body === null ? { writes: [], anything: null } : collect(kernel, kernel.body, program);
  kernelWrites.set(kernel, made);
  return made;
}

function collect(kernel: FunctionDecl, body: Stmt, program: Program): KernelWrites {
  const effects = collectEffects(body, { index: indexFunction(kernel), function: kernel, instance: kernel, program });
  const writes = new Map<string, { place: Place; access: MemoryAccess }>();
  for (const access of effects.accesses) {
    if (access.kind === 'read') continue;
    const place = placeOfAccess(access);
    const key = placeKey(place);
    if (!writes.has(key)) writes.set(key, { place, access });
  }
  return { writes: [...writes.values()], anything: unknownWriter(effects) };
}

/** The places a load reads, in terms of its own function. */
function readPlaces(load: Expr, env: Env): readonly Place[] {
  // One load is asked about for several scopes in a row.
  if (lastLoad === load && lastFunction === env.function) return lastPlaces;
  lastPlaces = findReadPlaces(load, env);
  lastLoad = load;
  lastFunction = env.function;
  return lastPlaces;
}

let lastLoad: Expr | null = null;
let lastFunction: FunctionDecl | null = null;
let lastPlaces: readonly Place[] = [];

function findReadPlaces(load: Expr, env: Env): readonly Place[] {
  const context = { index: indexFunction(env.function), function: env.function };
  const expr = strip(load);
  if (expr.kind === 'call' && expr.callee.kind === 'builtin') {
    const entry = builtin(expr.callee.name);
    const pointer = entry === undefined ? undefined : expr.arguments[entry.reads[0] ?? -1];
    return pointer === undefined || entry === undefined || entry.atomic || entry.volatile || entry.family === 'texture' ? [] : targetsOf(pointer, context);
  }
  return placesOf(expr, context);
}

function reasonAt(node: Expr | Stmt, file: string, env: Env, text: string): Reason {
  const source = env.program.units.get(file)?.source ?? env.unit.source;
  const inside = node.span.start <= source.text.length;
  return { path: source.realPath, line: inside ? source.line(node.span.start) : 1, text };
}

function spanOf(node: Expr | Stmt, env: Env): FileSpan {
  return { file: env.unit.source.realPath, start: node.span.start, end: node.span.end };
}

/** Most answers are asked for their value alone: lines and words are found when they are read. */
class Answer implements Stability {
  readonly under: readonly string[] = NOTHING;

  constructor(readonly value: boolean, readonly own: boolean, private readonly why: () => readonly Reason[], private readonly where: () => readonly FileSpan[]) {}

  get because(): readonly Reason[] {
    return this.why();
  }

  get reads(): readonly FileSpan[] {
    return this.where();
  }
}

const NOTHING: readonly string[] = [];

function answer(value: boolean, own: boolean, because: () => readonly Reason[], reads: () => readonly FileSpan[]): Stability {
  return new Answer(value, own, because, reads);
}

function nameOf(place: Place): string {
  return place.base === null ? 'memory that is not known' : place.base === 'this' ? 'the object' : `\`${place.base.name}\``;
}

/** True if the place is an automatic object of the thread itself. */
function isOwn(place: Place): boolean {
  return place.base !== null && place.base !== 'this' && (place.base.kind === 'variable' || place.base.kind === 'parameter') && isAutomatic(place.base) && !place.steps.includes('*');
}

function isVolatileLoad(load: Expr): boolean {
  const expr = strip(load);
  if (expr.type.volatile === true) return true;
  if (expr.kind === 'index' || (expr.kind === 'unary' && expr.op === '*')) {
    const pointer = strip(expr.kind === 'index' ? expr.base : expr.operand);
    if (pointer.type.kind === 'pointer') return pointer.type.to.volatile === true;
    if (pointer.type.kind === 'array') return pointer.type.of.volatile === true || isVolatileLoad(pointer);
  }
  if (expr.kind === 'member') {
    const object = strip(expr.object);
    if (expr.arrow) return object.type.kind === 'pointer' && object.type.to.volatile === true;
    return object.type.volatile === true || isVolatileLoad(object);
  }
  return false;
}

/** Loads through the read-only path: what they read may not be written while the kernel runs (CUDA C++ Programming Guide, `__ldg`, texture functions). */
function readOnlyPath(load: Expr): string | null {
  const expr = strip(load);
  if (expr.kind !== 'call' || expr.callee.kind !== 'builtin') return null;
  const entry = builtin(expr.callee.name);
  if (entry === undefined || entry.atomic || entry.volatile || entry.writes.length > 0) return null;
  if (expr.callee.name === '__ldg') return '`__ldg` reads what is not written while the kernel runs';
  return entry.family === 'texture' && entry.scope.kind === 'load' ? 'textures are not written while the kernel runs' : null;
}

/**
 * Do all threads of every group of scope `wanted` read one value if they load from one address here? For memory of the thread's own the answer is
 * true with `own` set. `load` is the lvalue, or the call of a loading built-in (`__ldg`). `address` is the scope of the address: if several warps of a block
 * share it, what keeps one warp's accesses apart does not order those of the others.
 */
export function stableLoad(load: Expr, wanted: Scope, env: Env, address: Scope = 'warp'): Stability {
  const reads = (): readonly FileSpan[] => [spanOf(load, env)];
  const promised = readOnlyPath(load);
  if (promised !== null) return answer(atLeast('grid', wanted), false, () => [reasonAt(load, env.function.file, env, promised)], reads);
  const places = readPlaces(load, env);
  if (isVolatileLoad(load)) return answer(false, false, () => [reasonAt(load, env.function.file, env, 'volatile: every load may see another value')], reads);
  if (places.length === 0) return answer(false, false, () => [reasonAt(load, env.function.file, env, 'what is read here is not known')], reads);
  let own = places.length > 0;
  const parts: Stability[] = [];
  for (const place of places) {
    if (isOwn(place)) continue;
    own = false;
    const kernel = env.kernel;
    const tops = kernel === null ? [place] : placesInKernel(place, env.function, kernel, env.program);
    for (const top of tops) {
      if (isOwn(top)) {
        // A pointer or reference to a variable of some caller: what it holds is not followed from here.
        if (kernel !== null && top.base !== null && top.base !== 'this' && kernel.parameters.some((parameter) => parameter === top.base)) continue;
        return answer(false, false, () => [reasonAt(load, env.function.file, env, `${nameOf(top)} is a thread's own variable of a caller`)], reads);
      }
      const one = stablePlace(load, top, wanted, env, address);
      if (!one.value) return one;
      parts.push(one);
    }
  }
  return answer(true, own, () => parts.flatMap((part) => part.because), reads);
}

/**
 * A pointer that lies in memory which the kernel never writes was put there by the host, so it leads to global memory: `rows[i]` of a parameter
 * `float **rows`, `view->data`.
 */
function hostMade(place: Place, kernel: FunctionDecl, program: Program, grants: AliasGrants): boolean {
  const last = place.steps.lastIndexOf('*');
  const holder = place.steps.slice(0, Math.max(0, last));
  const { base } = place;
  if (last < 0 || base === null || base === 'this') return false;
  if (!holder.includes('*')) return base.kind === 'parameter' ? kernel.parameters.includes(base) : base.kind === 'variable' && base.space === 'constant';
  const all = writesOf(kernel, program);
  const at: Place = { ...place, steps: holder, space: 'device', restrict: false, readOnly: false };
  return all.anything === null && hostMade(at, kernel, program, grants) && !all.writes.some((write) => placesAlias(at, write.place, grants));
}

function stablePlace(load: Expr, found: Place, wanted: Scope, env: Env, address: Scope): Stability {
  const reads = (): readonly FileSpan[] => [spanOf(load, env)];
  const made = found.space === 'unknown' && env.kernel !== null && hostMade(found, env.kernel, env.program, grantsOf(env.kernel, env.program));
  const place: Place = made ? { ...found, space: 'device' } : found;
  const at = (text: () => string) => (): readonly Reason[] => [reasonAt(load, env.function.file, env, text())];
  if (place.space === 'constant') return answer(atLeast('grid', wanted), false, at(() => `${nameOf(place)} is constant memory`), reads);
  const kernel = env.kernel;
  if (kernel === null) return answer(false, false, at(() => 'which kernels run this is not known, so neither is what they write'), reads);
  if (place.base === null || place.base === 'this') return answer(false, false, at(() => 'what is read here is not known'), reads);
  const widest: Scope = place.space === 'shared' ? 'block' : 'grid';
  if (!atLeast(widest, wanted)) return answer(false, false, at(() => 'each block has its own shared memory'), reads);
  if (place.space === 'local' || place.space === 'unknown') {
    // Could be a thread's own memory: nothing says that lanes look at one object.
    return answer(false, false, at(() => `${nameOf(place)} may be memory of the thread's own`), reads);
  }
  const all = writesOf(kernel, env.program);
  const grants = grantsOf(kernel, env.program);
  const clash = all.writes.find((write) => placesAlias(place, write.place, grants));
  const promised = place.restrict && place.readOnly;
  if (clash === undefined && (all.anything === null || promised)) {
    return answer(true, false, at(() => promised ? `${nameOf(place)} is const __restrict__ and not written by the kernel` : `nothing in \`${kernel.name}\` writes ${nameOf(place)}`), reads);
  }
  if (place.space === 'shared') return separated(load, place, wanted, env, grants, address);
  if (clash !== undefined) {
    const same = clash.place.base === place.base;
    return answer(false, false, () => [...at(() => `${nameOf(place)} is memory that the kernel may write`)(), reasonAt(clash.access.node, kernel.file, env, same ? `written here` : `${nameOf(clash.place)} is written and may overlap ${nameOf(place)}`)], reads);
  }
  const { anything } = all;
  return answer(false, false, anything === null ? at(() => 'not known') : () => [reasonAt(anything.node, kernel.file, env, anything.text)], reads);
}

/** Has every block at most one warp? */
function isOneWarp({ block, program, unit }: Env): boolean {
  const lanes = lanesOfWarp(program, unit);
  return block.under.length === 0 && (block.maxThreads <= lanes || (block.alternatives.length > 0 && block.alternatives.every(({ x, y, z }) => x * y * z <= lanes)));
}

/** R2 for shared memory. */
function separated(load: Expr, place: Place, wanted: Scope, env: Env, grants: AliasGrants, address: Scope): Stability {
  const reads = (): readonly FileSpan[] => [spanOf(load, env)];
  const kernel = env.kernel;
  const beside = kernel === null ? null : phasesOf(kernel, env.program).writesBeside(load, (wanted === 'warp' || wanted === 'lane') && (address === 'warp' || address === 'lane' || isOneWarp(env)) ? 'warp' : 'block');
  if (beside === null) return answer(false, false, () => [reasonAt(load, env.function.file, env, `${nameOf(place)} is shared and written, and the order of its writes is not known`)], reads);
  const clash = beside.find((write) => placesAlias(place, write, grants));
  if (clash !== undefined) return answer(false, false, () => [reasonAt(load, env.function.file, env, `no barrier separates this load from every write of ${nameOf(place)}`)], reads);
  return answer(true, false, () => [reasonAt(load, env.function.file, env, `barriers separate this load from every write of ${nameOf(place)}`)], reads);
}

/**
 * Does a load give one value all the while `within` runs (same address)? True if nothing in the kernel writes the memory, or if `within` holds no
 * write that may touch it, no barrier, fence, atomic, collective, volatile access or unknown call.
 */
export function stableWithin(load: Expr, within: Stmt, env: Env): Stability {
  const reads = (): readonly FileSpan[] => [spanOf(load, env), spanOf(within, env)];
  if (isVolatileLoad(load)) return answer(false, false, () => [reasonAt(load, env.function.file, env, 'volatile: every load may see another value')], reads);
  const places = readPlaces(load, env);
  if (places.length === 0) return answer(false, false, () => [reasonAt(load, env.function.file, env, 'what is read here is not known')], reads);
  const effects = effectsOf(within, env);
  const grants = env.kernel === null ? NO_GRANTS : grantsOf(env.kernel, env.program);
  const orders = effects.barriers[0] ?? effects.fences[0] ?? effects.atomics[0] ?? effects.collectives[0];
  const anything = unknownWriter(effects);
  const volatileAccess = effects.accesses.find((access) => access.volatile);
  for (const place of places) {
    if (place.restrict && place.readOnly) continue;
    if (place.space === 'constant') continue;
    if (isCallersOwn(place, env)) continue;
    const clash = effects.accesses.find((access) => access.kind !== 'read' && placesAlias(place, placeOfAccess(access), grants));
    if (clash !== undefined) {
      return answer(false, false, () => [reasonAt(clash.node, env.function.file, env, `${nameOf(placeOfAccess(clash))} is written here and may be what ${nameOf(place)} holds`)], reads);
    }
    if (place.hidden) continue;
    const own = writtenOwn(place, effects.assigns, env);
    if (own !== null) return answer(false, false, () => [reasonAt(within, env.function.file, env, `\`${own.name}\` is assigned here and may be what is read`)], reads);
    if (anything !== null) return answer(false, false, () => [reasonAt(anything.node, env.function.file, env, anything.text)], reads);
    if (orders === undefined && volatileAccess === undefined) continue;
    // Other threads may write between: only what nobody writes stays.
    const everywhere = env.kernel === null ? null : stableLoad(load, 'lane', env);
    const nobody = everywhere !== null && everywhere.value && place.space !== 'shared';
    if (!nobody) return answer(false, false, () => [reasonAt(orders ?? volatileAccess?.node ?? within, env.function.file, env, `other threads may write ${nameOf(place)} between here and the next iteration`)], reads);
  }
  return answer(true, false, () => [reasonAt(load, env.function.file, env, 'nothing that runs meanwhile writes it')], reads);
}

/** Is it, in every call below the kernel, a variable of a caller's that no pointer leads to? */
function isCallersOwn(place: Place, { function: fn, kernel, program }: Env): boolean {
  const { base } = place;
  if (kernel === null || kernel === fn || base === null || base === 'this' || base.kind !== 'parameter' || base.type.kind !== 'reference' || place.steps.indexOf('*') !== place.steps.lastIndexOf('*')) return false;
  return placesInKernel(place, fn, kernel, program).every((top) => isOwn(top) && top.hidden);
}

/** A variable of the function that is assigned and that the place is, or may be: its address or a reference to it was handed out. */
function writtenOwn(place: Place, assigns: ReadonlySet<Variable>, env: Env): Variable | null {
  const { base } = place;
  const object = base !== null && base !== 'this' && (base.kind === 'variable' || base.kind === 'parameter') && isAutomatic(base) ? base : null;
  const follows = place.steps.indexOf('*');
  if (object !== null && follows < 0) return assigns.has(object) ? object : null;
  if (place.space !== 'unknown' && place.space !== 'local') return null;
  // What a parameter leads to was there before the variables of the function were; what a kernel finds behind it, the host put there.
  const given = base === 'this' || (object !== null && object.kind === 'parameter');
  if (given && (follows === place.steps.lastIndexOf('*') || env.function.qualifiers.global)) return null;
  const { exposed, lent } = indexFunction(env.function);
  for (const variable of assigns) if (exposed.has(variable) || lent.has(variable)) return variable;
  return null;
}

/** May the two accesses touch one byte, for different threads too? Both are accesses of the environment's function. */
export function mayAlias(a: MemoryAccess, b: MemoryAccess, env: Env): boolean {
  return placesAlias(placeOfAccess(a), placeOfAccess(b), env.kernel === null ? grantsOf(env.function, env.program) : grantsOf(env.kernel, env.program));
}

/**
 * Compiles a kernel and everything it calls to JavaScript: one function per instance (declaration, template arguments, type of
 * `this`), numbered counters and branches, and the list of objects that memory must hold before the launch.
 */
import type { FileSpan, Span } from '../../source/types.js';
import type { Decl, Expr, FunctionDecl, ParameterDecl, Program, Stmt, VariableDecl } from '../../syntax/tree.js';
import { sameSignature } from '../../syntax/lower-overload.js';
import { strip } from '../../syntax/tree.js';
import { resolve, type Env } from '../resolve.js';
import { alignOf, callableNumber, sizeOf, typeKey, Unsupported, VOID, type SimType } from '../types.js';
import { FunctionContext, type ReturnTarget, type Slot } from './context.js';
import { addressedIn, mayYield } from './questions.js';
import { weightOf } from './weights.js';
import { block, statements } from './statements.js';
import type { Val } from './operators.js';
import { boundSlot } from './calls.js';
import { isConstructor, memberInitialisers } from './construct.js';

export interface Instance {
  readonly name: string;
  readonly generator: boolean;
  readonly parameters: readonly SimType[];
  readonly returns: SimType;
}

/** A namespace-scope or static variable that the code touches. */
export interface GlobalObject { readonly decl: VariableDecl; readonly type: SimType; readonly env: Env }

export interface CounterInfo { readonly at: FileSpan; readonly weight: number; readonly node: Stmt | Expr }
export type BranchKind = 'if' | 'switch' | 'ternary' | 'and' | 'or' | 'for' | 'while' | 'do';
export interface BranchInfo { readonly at: FileSpan; readonly condition: Span; readonly kind: BranchKind; readonly node: Stmt | Expr }

export interface CompiledKernel {
  readonly source: string;
  readonly entry: Instance;
  readonly sites: readonly FileSpan[];
  readonly counters: readonly CounterInfo[];
  readonly branches: readonly BranchInfo[];
  readonly globals: readonly GlobalObject[];
  readonly strings: readonly string[];
  /** Bytes of static shared memory; dynamic shared memory starts behind them. */
  readonly sharedBytes: number;
  readonly sharedObjects: readonly { readonly name: string; readonly offset: number; readonly bytes: number }[];
  readonly sharedGranule: 1 | 2 | 4;
  readonly dynamicElement: SimType | null;
}

/** Bytes of static shared memory that the assembler grants a block, and of local memory that a device grants a thread. CUDA C++ Programming Guide, technical specifications. */
const MOST_STATIC_SHARED = 48 * 1024;
const MOST_LOCAL = 512 * 1024;

/** Issue slots of a kernel's entry and exit. */
const ENTRY_WEIGHT = 6;

export class Compiler {
  readonly #functions: string[] = [];
  readonly #instances = new Map<FunctionDecl, Map<string, Instance>>();
  readonly #stack: { readonly instance: Instance; readonly ctx: FunctionContext }[] = [];
  readonly #sites: FileSpan[] = [];
  readonly #siteIndex = new Map<string, number>();
  readonly #counters: CounterInfo[] = [];
  readonly #counterIndex = new Map<Stmt | Expr, number>();
  readonly #branches: BranchInfo[] = [];
  readonly #branchIndex = new Map<Stmt | Expr, number>();
  readonly #globals: GlobalObject[] = [];
  readonly #globalIndex = new Map<VariableDecl, number>();
  readonly #strings: string[] = [];
  readonly #shared = new Map<VariableDecl, Map<string, number>>();
  readonly #sharedObjects: { name: string; offset: number; bytes: number }[] = [];
  #sharedBytes = 0;
  #sharedGranule: 1 | 2 | 4 = 4;
  #dynamicElement: SimType | null = null;
  /** Bodies being compiled in place. */
  readonly inlining = new Set<object>();
  #next = 0;

  constructor(readonly program: Program, readonly counts: boolean) {}

  unique(): number {
    return this.#next++;
  }

  compile(kernel: FunctionDecl, env: Env): CompiledKernel {
    const entry = this.instance(kernel, env, null);
    if (this.#sharedBytes > MOST_STATIC_SHARED) throw new Unsupported(`${this.#sharedBytes} bytes of static shared memory, where a block may have ${MOST_STATIC_SHARED}`, kernel.nameSpan, kernel.file);
    return {
      source: `"use strict";\n${this.#functions.join('\n')}\nreturn ${entry.name};`,
      entry, sites: this.#sites, counters: this.#counters, branches: this.#branches, globals: this.#globals, strings: this.#strings,
      sharedBytes: this.#sharedBytes, sharedObjects: this.#sharedObjects, sharedGranule: this.#sharedGranule, dynamicElement: this.#dynamicElement,
    };
  }

  // ------------------------------------------------------------------------------------------------------- instances

  instance(decl: FunctionDecl, env: Env, self: SimType | null): Instance {
    const key = `${self === null ? '' : typeKey(self)}|${[...(decl.owner?.template ?? []), ...(decl.template ?? [])].map((p) => { const t = env.types.get(p.name); return t === undefined ? String(env.values.get(p.name)?.value) : typeKey(t); }).join(',')}`;
    let byKey = this.#instances.get(decl);
    if (byKey === undefined) this.#instances.set(decl, byKey = new Map());
    const known = byKey.get(key);
    if (known !== undefined) {
      const at = this.#stack.findIndex((s) => s.instance === known);
      if (at >= 0) for (const s of this.#stack.slice(at)) s.ctx.recursive = true;
      return known;
    }
    if (!decl.understood) throw new Unsupported(`${decl.name}: ${decl.problems[0]?.message ?? 'not understood'}`, decl.nameSpan, decl.file);
    const parameters = decl.parameters.map((p) => this.#parameterType(p, env));
    const returns = isConstructor(decl) ? VOID : resolve(decl.returns, env);
    const instance: Instance = { name: `f${this.unique()}`, generator: mayYield(decl), parameters, returns: returns.k === 'scalar' ? { k: 'scalar', s: returns.s } : returns };
    byKey.set(key, instance);
    this.#define(instance, decl, env, self);
    return instance;
  }

  #parameterType(p: ParameterDecl, env: Env): SimType {
    if (p.name === '') return this.#unnamedType(p, env);
    const t = resolve(p.type, env);
    return t.k === 'array' ? { k: 'pointer', to: t.of } : t;
  }

  /** A parameter without a name is never read: its type need not be known (tags such as `std::true_type`). */
  #unnamedType(p: ParameterDecl, env: Env): SimType {
    try {
      const t = resolve(p.type, env);
      return t.k === 'array' ? { k: 'pointer', to: t.of } : t;
    } catch (error) {
      if (error instanceof Unsupported) return VOID;
      throw error;
    }
  }

  #define(instance: Instance, decl: FunctionDecl, env: Env, self: SimType | null): void {
    if (decl.body === null) throw new Unsupported(`${decl.name} has no body here`, decl.nameSpan, decl.file);
    const kernel = decl.qualifiers.global;
    const returns: ReturnTarget = {
      mask: 'ret', t: instance.returns, kernel,
      array: instance.returns.k === 'void' || instance.returns.k === 'record' ? null : 'R',
      address: instance.returns.k === 'record' ? '(rb+l*rs)' : null,
    };
    const ctx = new FunctionContext(this, instance.name, decl.file, env, instance.generator, returns, new Set(addressedIn(decl)));
    this.#stack.push({ instance, ctx });
    try {
      const names: string[] = [];
      if (self !== null) { names.push('self'); ctx.self = { array: 'self', t: self }; ctx.constantObject = decl.constant === true; }
      for (const [i, p] of decl.parameters.entries()) {
        const t = instance.parameters[i];
        if (t === undefined) continue;
        names.push(`p${i}`);
        ctx.slots.set(p, boundSlot(ctx, p, t, `p${i}`));
      }
      if (instance.returns.k === 'record') names.push('rb', 'rs');
      else if (instance.returns.k !== 'void') names.push('R');
      ctx.flush();
      if (isConstructor(decl) && self?.k === 'record') memberInitialisers(ctx, decl, self, 'self');
      ctx.flush();
      const body = decl.body;
      if (kernel) {
        // Special registers, parameters, the exit: what every warp issues besides the statements.
        const entry = this.counter(ctx, body, ENTRY_WEIGHT);
        if (entry !== null) ctx.emit(`D.count(${entry},m);`);
      }
      block(ctx, 'm', () => statements(ctx, body.body));
      ctx.flush();
      if (instance.returns.k !== 'void') ctx.emit(`if((m&~ret)!==0){D.site=${this.site(ctx, decl.nameSpan)};W.fellOff(m&~ret,${JSON.stringify(decl.name)});}`);
      this.#finish(ctx, decl, instance, names);
    } catch (error) {
      if (error instanceof Unsupported && error.file === null) throw new Unsupported(error.construct, error.span ?? decl.nameSpan, ctx.file);
      throw error;
    } finally {
      this.#stack.pop();
    }
  }

  #finish(ctx: FunctionContext, decl: FunctionDecl, instance: Instance, names: readonly string[]): void {
    const perActivation = instance.generator || ctx.recursive;
    const frame = Math.ceil(ctx.frame / 16) * 16;
    if (frame > MOST_LOCAL) throw new Unsupported(`${frame} bytes of local memory a thread, where a device has ${MOST_LOCAL}`, decl.nameSpan, decl.file);
    const head = [
      ...(perActivation ? ctx.statics : []), 'let ret=0;', ...ctx.prologue,
      ...(frame > 0 ? [`const FS=${frame},fb=W.push(${frame * 32});`] : []),
      ...(ctx.recursive ? ['W.enter();'] : []),
    ];
    const tail = [...(ctx.recursive ? ['W.leave();'] : []), ...(frame > 0 ? ['W.pop(fb);'] : [])];
    if (!perActivation) this.#functions.push(...ctx.statics);
    this.#functions.push(`function${instance.generator ? '*' : ''} ${instance.name}(${['W', 'm', ...names].join(',')}){\n${[...head, ...ctx.lines, ...tail].join('\n')}\n}`);
  }

  /** A body compiled into the caller: lambdas, and functions that take one. */
  inlineBody(
    ctx: FunctionContext, body: { readonly body: readonly Stmt[] }, bindings: readonly { readonly parameter: Decl; readonly slot: Slot }[], returns: SimType, env: Env,
    self: { readonly array: string; readonly t: SimType } | null, file: string, addressed: ReadonlySet<Decl>,
  ): Val {
    const saved = { returns: ctx.returns, jumps: ctx.jumps, env: ctx.env, self: ctx.self, constantObject: ctx.constantObject, file: ctx.file };
    for (const b of bindings) ctx.slots.set(b.parameter, b.slot);
    for (const d of addressed) ctx.addressed.add(d);
    const mask = ctx.fresh('m');
    const ret = ctx.fresh('r');
    let result: Val = { t: returns, js: '' };
    let array: string | null = null;
    let address: string | null = null;
    if (returns.k === 'record') {
      address = ctx.frameAddress(ctx.frameSlot(returns));
      result = { t: returns, js: address };
    } else if (returns.k !== 'void') {
      array = ctx.array(returns);
      result = { t: returns, js: `${array}[l]` };
    }
    ctx.emit(`let ${mask}=${ctx.mask},${ret}=0;`);
    ctx.returns = { mask: ret, t: returns, array, address, kernel: false };
    ctx.jumps = { breakMask: null, continueMask: null };
    ctx.env = env;
    ctx.constantObject = self === ctx.self ? ctx.constantObject : null;
    ctx.self = self;
    ctx.file = file;
    try {
      block(ctx, mask, () => statements(ctx, body.body));
    } finally {
      Object.assign(ctx, saved);
    }
    return result;
  }

  /** The definition of a function that is only declared where it is called. */
  definitionOf(decl: FunctionDecl): FunctionDecl | null {
    const found: FunctionDecl[] = [];
    for (const unit of this.program.units.values()) {
      for (const f of unit.functions) {
        if (f.name === decl.name && f.body !== null && f.parameters.length === decl.parameters.length && f.constant === decl.constant && (f.owner?.name ?? null) === (decl.owner?.name ?? null)) found.push(f);
      }
    }
    const exact = found.filter((f) => sameSignature(f, decl));
    const all = exact.length > 0 ? exact : found;
    // Files may each have one of their own.
    const here = all.length > 1 ? all.filter((f) => f.file === decl.file) : all;
    return here.length === 1 ? here[0] ?? null : null;
  }

  addressedIn(decl: FunctionDecl): ReadonlySet<Decl> {
    return addressedIn(decl);
  }

  callableId(of: object): number {
    return callableNumber(of);
  }

  // --------------------------------------------------------------------------------------------------------- objects

  /** Where a variable that is no local lives; undefined for ordinary host variables. */
  globalSlot(ctx: FunctionContext, decl: VariableDecl): Slot | undefined {
    if (decl.space === 'shared') return this.#sharedSlot(ctx, decl);
    const constant = (decl.constexpr || decl.type.const === true || (decl.type.kind === 'array' && decl.type.of.const === true)) && decl.init !== null;
    const reachable = decl.space === 'constant' || decl.space === 'device' || decl.space === 'managed' || (decl.storage === 'static' && decl.space !== 'host') || (constant && decl.storage !== 'automatic');
    if (!reachable) return undefined;
    let index = this.#globalIndex.get(decl);
    if (index === undefined) {
      index = this.#globals.length;
      let type = resolve(decl.type, ctx.env);
      if (type.k === 'array' && type.length === null && decl.init !== null) {
        const list = strip(decl.init);
        if (list.kind === 'init-list') type = { k: 'array', of: type.of, length: list.elements.length };
      }
      this.#globals.push({ decl, type, env: ctx.env });
      this.#globalIndex.set(decl, index);
    }
    const object = this.#globals[index];
    if (object === undefined) return undefined;
    return { kind: 'fixed', address: `D.g[${index}]`, t: object.type, name: decl.name, shared: false };
  }

  #sharedSlot(ctx: FunctionContext, decl: VariableDecl): Slot {
    const type = resolve(decl.type, ctx.env);
    const width = leastWidth(type);
    if (width < this.#sharedGranule) this.#sharedGranule = width === 2 ? 2 : width === 1 ? 1 : 4;
    if (decl.dynamicShared || (type.k === 'array' && type.length === null)) {
      this.#dynamicElement ??= type.k === 'array' ? type.of : type;
      return { kind: 'fixed', address: '(W.shared+D.dynamicAt)', t: type, name: decl.name, shared: true };
    }
    // Every instance of a template has its own.
    const key = `${typeKey(type)}|${environmentKey(ctx.env)}`;
    let offsets = this.#shared.get(decl);
    if (offsets === undefined) this.#shared.set(decl, offsets = new Map());
    let offset = offsets.get(key);
    if (offset === undefined) {
      const align = Math.max(alignOf(type), 4);
      offset = Math.ceil(this.#sharedBytes / align) * align;
      this.#sharedBytes = offset + sizeOf(type);
      offsets.set(key, offset);
      this.#sharedObjects.push({ name: decl.name, offset, bytes: sizeOf(type) });
    }
    return { kind: 'fixed', address: offset === 0 ? 'W.shared' : `(W.shared+${offset})`, t: type, name: decl.name, shared: true };
  }

  stringAddress(value: string): string {
    let index = this.#strings.indexOf(value);
    if (index < 0) index = this.#strings.push(value) - 1;
    return `D.strings[${index}]`;
  }

  /** A literal naming the object of an access, for messages. */
  objectName(e: Expr): string {
    const x = strip(e);
    const name = x.kind === 'ref' ? x.name : x.kind === 'member' ? x.name : x.kind === 'index' ? JSON.parse(this.objectName(x.base)) as string : '';
    return JSON.stringify(name);
  }

  // ---------------------------------------------------------------------------------------------------------- places

  site(ctx: FunctionContext, span: Span): number {
    const key = `${ctx.file}:${span.start}:${span.end}`;
    let index = this.#siteIndex.get(key);
    if (index === undefined) {
      index = this.#sites.push({ file: ctx.file, start: span.start, end: span.end }) - 1;
      this.#siteIndex.set(key, index);
    }
    return index;
  }

  weight(expressions: readonly (Expr | null)[]): number {
    return expressions.reduce((sum, e) => sum + (e === null ? 0 : weightOf(e)), 0);
  }

  /** The number of a statement's counter; null if nothing is counted. */
  counter(ctx: FunctionContext, node: Stmt | Expr, weight: number): number | null {
    if (!this.counts) return null;
    let index = this.#counterIndex.get(node);
    if (index === undefined) {
      index = this.#counters.push({ at: { file: ctx.file, start: node.span.start, end: node.span.end }, weight, node }) - 1;
      this.#counterIndex.set(node, index);
    }
    return index;
  }

  branch(ctx: FunctionContext, node: Stmt | Expr, kind: BranchKind, condition: Expr): number | null {
    if (!this.counts) return null;
    let index = this.#branchIndex.get(node);
    if (index === undefined) {
      index = this.#branches.push({ at: { file: ctx.file, start: node.span.start, end: node.span.end }, condition: condition.span, kind, node }) - 1;
      this.#branchIndex.set(node, index);
    }
    return index;
  }
}

function environmentKey(env: Env): string {
  return [...[...env.types].map(([name, t]) => `${name}=${typeKey(t)}`), ...[...env.values].map(([name, v]) => `${name}=${v.value}`)].sort().join(',');
}

function leastWidth(t: SimType): number {
  switch (t.k) {
    case 'scalar': return Math.min(4, sizeOf(t));
    case 'array': return leastWidth(t.of);
    case 'record': return Math.min(4, ...t.layout.fields.map((f) => leastWidth(f.type)));
    default: return 4;
  }
}

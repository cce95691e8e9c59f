/**
 * State of the compilation of one function instance. A warp runs a function as one JavaScript function; a register variable is an
 * array of 32 lanes; straight-line code is a *lane loop* over the lanes of the current mask, and everything that lanes do together
 * (calls, collectives, barriers, branches) stands between lane loops. Inside a lane loop `l` is the lane.
 */
import type { Span } from '../../source/types.js';
import type { Decl, FunctionDecl, LambdaExpr } from '../../syntax/tree.js';
import type { Env } from '../resolve.js';
import { alignOf, sizeOf, Unsupported, type SimType } from '../types.js';
import type { Compiler } from './compiler.js';
import { destructorOf } from './lifetime.js';
import { laneArray, type Val } from './operators.js';

/** Where a variable lives. */
export type Slot =
  /** One array element per lane. `unset` names a mask of the lanes that have a value, if that is in doubt. */
  | { readonly kind: 'register'; readonly array: string; readonly t: SimType; readonly set: string | null; readonly name: string }
  | { readonly kind: 'frame'; readonly offset: number; readonly t: SimType; readonly name: string }
  /** A reference: the array holds addresses of a `t`. */
  | { readonly kind: 'reference'; readonly array: string; readonly t: SimType; readonly name: string }
  /** Text of an address that all lanes share. */
  | { readonly kind: 'fixed'; readonly address: string; readonly t: SimType; readonly name: string; readonly shared: boolean }
  | { readonly kind: 'lambda'; readonly lambda: LambdaExpr; readonly captured: ReadonlyMap<Decl, Slot> }
  | { readonly kind: 'function'; readonly decl: FunctionDecl };

/** The innermost construct that `break` and `continue` leave, by the names of their masks. */
export interface JumpTargets { readonly breakMask: string | null; readonly continueMask: string | null }

/** What `return` does: which mask collects the lanes, where the value goes. */
export interface ReturnTarget { readonly mask: string; readonly t: SimType; readonly array: string | null; readonly address: string | null; readonly kernel: boolean }

export class FunctionContext {
  readonly slots = new Map<Decl, Slot>();
  /** Declarations at the head of the function. */
  readonly prologue: string[] = [];
  /** Declarations that may be shared by all activations, because none is ever interrupted. */
  readonly statics: string[] = [];
  /** Depth of lane text that is being captured: the lane loop must not end there. */
  nested = 0;
  /** Inside an arm whose statements are counted at its branch. */
  predicated = false;
  /** The open lane loop notes branches inside expressions. */
  noted = false;
  lines: string[] = [];
  #lane: string[] | null = null;
  mask = 'm';
  label = 'L0';
  frame = 0;
  /** Set when an activation may be live while another begins. */
  recursive = false;
  jumps: JumpTargets = { breakMask: null, continueMask: null };
  returns: ReturnTarget;
  /** `this`: the array of addresses and the record. */
  self: { readonly array: string; readonly t: SimType } | null = null;
  /** Is the object of the method const? Null if it is not known. */
  constantObject: boolean | null = null;
  /** The lambda whose body is being compiled in place. */
  lambda: LambdaExpr | null = null;
  site = 0;

  constructor(
    readonly compiler: Compiler, readonly name: string, public file: string, public env: Env, readonly generator: boolean, returns: ReturnTarget,
    /** Locals that must live in memory because their address is taken. */
    readonly addressed: Set<Decl>,
  ) {
    this.returns = returns;
  }

  fresh(prefix: string): string {
    return `${prefix}${this.compiler.unique()}`;
  }

  unsupported(construct: string, span: Span | null): never {
    throw new Unsupported(construct, span, this.file);
  }

  // ------------------------------------------------------------------------------------------------------------ text

  /** One statement of the warp; ends the lane loop that is open. */
  emit(line: string): void {
    this.flush();
    this.lines.push(line);
  }

  /** One statement of every active lane. */
  lane(line: string): void {
    (this.#lane ??= []).push(line);
  }

  get laneOpen(): boolean {
    return this.#lane !== null;
  }

  flush(): void {
    const lane = this.#lane;
    if (lane === null) return;
    this.#lane = null;
    this.lines.push(`D.site=${this.site};for(let l=0;l<32;l++){if((${this.mask}>>>l&1)===0)continue;${lane.join('')}}${this.noted ? 'D.bits();' : ''}`);
    this.noted = false;
  }

  /** Collects the lane statements that `body` emits instead of appending them. Null if `body` had to end the lane loop. */
  captureLane(body: () => Val): { readonly value: Val; readonly text: string } {
    const outer = this.#lane;
    this.#lane = [];
    this.nested++;
    const value = body();
    this.nested--;
    const inner: readonly string[] | null = this.#lane;
    if (inner === null) throw new Error('internal: a lane expression ended its lane loop');
    const text = inner.join('');
    this.#lane = outer;
    return { value, text };
  }

  /** Runs `body` under another mask; lane loops do not cross. */
  under(mask: string, body: () => void): void {
    this.flush();
    const outer = this.mask;
    this.mask = mask;
    body();
    this.flush();
    this.mask = outer;
  }

  // ------------------------------------------------------------------------------------------------------- temporaries

  array(t: SimType): string {
    const name = this.fresh('T');
    this.statics.push(`const ${name}=${laneArray(t)};`);
    return name;
  }

  /** A lane constant: evaluated once, valid until the lane loop ends. */
  hold(v: Val): Val {
    if (/^[\w$.]+$/.test(v.js) && !/^T\d/.test(v.js)) return v;
    const name = this.fresh('t');
    this.lane(`const ${name}=${v.js};`);
    return { t: v.t, js: name };
  }

  /** A value that outlives the lane loop. */
  spill(v: Val): Val {
    if (/^-?[\d.]+n?$/.test(v.js)) return v;
    if (v.t.k === 'void') { this.lane(`${v.js};`); return v; }
    const array = this.array(v.t);
    this.lane(`${array}[l]=${v.js};`);
    return { t: v.t, js: `${array}[l]` };
  }

  /** Room for an object in this activation's frame: its address for lane `l`. `endsHere`: C++ ends the object in this function. */
  frameSlot(t: SimType, endsHere = true): number {
    const destructor = endsHere ? destructorOf(t) : null;
    if (destructor !== null) throw new Unsupported(`the destructor of ${destructor.owner?.name ?? 'an object'}`, destructor.nameSpan, destructor.file);
    const align = alignOf(t);
    this.frame = Math.ceil(this.frame / align) * align;
    const offset = this.frame;
    this.frame += sizeOf(t);
    return offset;
  }

  frameAddress(offset: number): string {
    return `(fb+l*FS+${offset})`;
  }

  /** Runs body with a new line buffer and returns what it wrote. */
  capture(body: () => void): string[] {
    this.flush();
    const outer = this.lines;
    this.lines = [];
    body();
    this.flush();
    const inner = this.lines;
    this.lines = outer;
    return inner;
  }

  /** Compiles something and forgets the text: what type would it have? */
  scratch<T>(body: () => T): T {
    const { lines, mask, nested, noted } = this;
    const lane = this.#lane;
    this.lines = [];
    this.#lane = null;
    this.nested = 0;
    try {
      return body();
    } finally {
      this.lines = lines;
      this.#lane = lane;
      this.mask = mask;
      this.nested = nested;
      this.noted = noted;
    }
  }

  /** Compiles something that may turn out not to be possible, signalled by an error of the class: then null, and no text is left. */
  attempt<T>(body: () => T, signal: new () => Error): T | null {
    const { lines, mask, nested, noted, frame } = this;
    const lane = this.#lane;
    this.lines = [...lines];
    this.#lane = lane === null ? null : [...lane];
    try {
      return body();
    } catch (error) {
      if (!(error instanceof signal)) throw error;
      Object.assign(this, { lines, mask, nested, noted, frame });
      this.#lane = lane;
      return null;
    }
  }

  slotOf(decl: Decl): Slot | undefined {
    return this.slots.get(decl);
  }
}

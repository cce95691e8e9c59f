/**
 * The tables behind the def-use walk: current values of variables, frames that take changes back, joins of ways, controls, jumps.
 *
 * What an arm changes is noted in a frame and taken back when the arm ends, so that branches cost what they change and not what is in
 * scope. A jump takes along what changed since its target began.
 */
import type { Node } from './children.js';
import { collectControls, type Control, type Target } from './control-flow.js';
import type { Region, Step, Value } from './def-use.js';
import type { Variable } from './facts.js';
import { keptIn } from './address-fate.js';
import { structureOf, type Structure } from './structure.js';
import type { Expr, FunctionDecl, ParameterDecl } from '../syntax/tree.js';

export type Delta = ReadonlyMap<Variable, number>;
export const NOTHING: Delta = new Map();

/** One way into a join: what it changed; null if it never arrives. */
export type Way = Delta | null;

export interface Jump {
  readonly control: Control | null;
  readonly target: Target;
  readonly delta: Delta;
}

/** Omits the discriminating fields that `add` fills in. */
export type NewValue = Value extends infer V ? V extends Value ? Omit<V, 'id'> : never : never;

export class DefUseTables {
  protected readonly structure: Structure;
  protected readonly values: Value[] = [];
  protected readonly controls: Control[] = [];
  protected readonly steps: Step[] = [];
  /** Steps of the outermost loops. */
  protected readonly regions: Region[] = [];
  protected readonly cells = new Map<Variable, Value & { kind: 'cell' }>();
  protected readonly env = new Map<Variable, number>();
  /** What the open arms have changed, with the values before; null for nothing yet, which most leave it at. */
  protected readonly frames: (Map<Variable, number> | null)[] = [];
  protected jumps: Jump[] = [];
  protected control: Control | null = null;
  protected dead = false;
  protected cyclic = false;
  protected readonly self: ParameterDecl;
  protected readonly unstructured: boolean;
  /** Variables whose address outlives a call of a visible function. */
  protected readonly kept: ReadonlySet<Variable>;

  constructor(protected readonly fn: FunctionDecl) {
    this.structure = structureOf(fn);
    this.unstructured = this.structure.gotos.length > 0;
    this.kept = keptIn(this.structure);
    this.self = {
      kind: 'parameter', name: 'this', span: fn.nameSpan, nameSpan: fn.nameSpan, file: fn.file, type: fn.owner === null ? { kind: 'unknown', text: 'this' } : { kind: 'record', decl: fn.owner }, index: -1, default: null, pack: false,
    };
  }

  protected add(value: NewValue): Value {
    // The caller's object becomes the value: a copy for each would be what the walk spends most on.
    const made = value as Value & { id: number };
    made.id = this.values.length;
    this.values.push(made);
    this.steps.push({ value: made, control: null });
    return made;
  }

  protected addControl(control: Omit<Control, 'id'>): Control {
    const made = control as Control & { id: number };
    made.id = this.controls.length;
    this.controls.push(made);
    this.steps.push({ value: null, control: made });
    return made;
  }

  /** Makes `value` the current one of the variable; of an escaped variable it becomes one of many. */
  protected define(decl: Variable, value: Value): void {
    const cell = this.cells.get(decl);
    if (cell !== undefined) {
      if (value !== cell) cell.inputs.push(value.id);
      if (this.control !== null && !cell.controls.includes(this.control)) cell.controls.push(this.control);
      return;
    }
    this.set(decl, value.id);
  }

  protected set(decl: Variable, id: number): void {
    const top = this.frames.length - 1;
    if (top >= 0) {
      const frame = (this.frames[top] ??= new Map());
      if (!frame.has(decl)) frame.set(decl, this.env.get(decl) ?? -1);
    }
    this.env.set(decl, id);
  }

  protected current(decl: Variable): number {
    return this.env.get(decl) ?? -1;
  }

  /** A variable comes into scope. */
  protected declareAs(decl: Variable, value: NewValue): void {
    if (this.needsCell(decl)) {
      const cell = this.add({ kind: 'cell', decl, inputs: [], controls: [], addressed: this.isAddressed(decl) });
      if (cell.kind === 'cell') this.cells.set(decl, cell);
      this.cyclic = true;
      this.set(decl, cell.id);
      // The first value is no choice between values: what decides whether the declaration is reached does not matter.
      if (cell.kind === 'cell') cell.inputs.push(this.add(value).id);
      return;
    }
    this.set(decl, this.add(value).id);
  }

  private needsCell(decl: Variable): boolean {
    if (this.isAddressed(decl)) return true;
    if (!this.unstructured) return false;
    if (decl === this.self) return this.structure.assignsThis;
    return this.assignedSomewhere().has(decl) || this.insideGotoLoop(decl);
  }

  /** May something that does not name the variable write it? */
  private isAddressed(decl: Variable): boolean {
    return decl === this.self ? this.structure.ownEscapes : this.structure.escaped.has(decl) || this.kept.has(decl);
  }

  private assignedSet: Set<Variable> | null = null;
  private assignedSomewhere(): Set<Variable> {
    this.assignedSet ??= new Set(this.structure.assignments.map((assignment) => assignment.decl));
    return this.assignedSet;
  }

  /** With `goto`, a declaration between a label and a later goto runs again and again. */
  private insideGotoLoop(decl: Variable): boolean {
    return this.structure.labels.some((label) => decl.span.start >= label.span.start
      && this.structure.gotos.some((jump) => jump.label === label.name && jump.span.start >= decl.span.start));
  }

  protected pushFrame(): void {
    this.frames.push(null);
  }

  /** Takes back what the frame changed and returns the changes. */
  protected popFrame(): Delta {
    const frame = this.frames.pop() ?? null;
    if (frame === null) return NOTHING;
    const delta = new Map<Variable, number>();
    for (const [decl, old] of frame) {
      const now = this.env.get(decl);
      if (now !== undefined && now !== old) delta.set(decl, now);
      if (old === -1) this.env.delete(decl);
      else this.env.set(decl, old);
    }
    return delta;
  }

  protected deltaSince(depth: number): Delta {
    if (this.frames.length === depth) return NOTHING;
    const delta = new Map<Variable, number>();
    for (let i = depth; i < this.frames.length; i++) {
      const frame = this.frames[i];
      if (frame !== undefined && frame !== null) for (const decl of frame.keys()) delta.set(decl, this.current(decl));
    }
    return delta;
  }

  /** Several ways meet: one value per variable, a new one where they differ. */
  protected join(ways: readonly Way[], controls: readonly Control[], at: Node): void {
    const live: Delta[] = [];
    for (const way of ways) if (way !== null) live.push(way);
    if (live.length === 0) { this.dead = true; return; }
    this.dead = false;
    const only = live.length === 1 ? live[0] : undefined;
    if (only !== undefined) {
      for (const [decl, id] of only) if (this.env.has(decl)) this.set(decl, id);
      return;
    }
    const changed = new Set<Variable>();
    for (const way of live) for (const decl of way.keys()) changed.add(decl);
    for (const decl of changed) {
      const before = this.env.get(decl);
      if (before === undefined) continue; // declared inside: out of scope here
      const inputs: number[] = [];
      for (const way of live) {
        const id = way.get(decl) ?? before;
        if (!inputs.includes(id)) inputs.push(id);
      }
      const first = inputs[0];
      if (inputs.length === 1 && first !== undefined) this.set(decl, first);
      else this.set(decl, this.add({ kind: 'join', decl, inputs, controls, at }).id);
    }
  }

  protected branch(condition: Expr, sense: 'then' | 'else' | 'case', node: Node): Control {
    return this.addControl({ parent: this.control, kind: 'branch', condition, sense, node, loop: null, deps: [], target: null });
  }

  /** What follows a statement depends on the jumps that left it for a target further out. */
  protected afterJumps(since: number, node: Node): void {
    if (since === this.jumps.length) return;
    const byTarget = new Map<string, { target: Target; deps: Control[] }>();
    for (let i = since; i < this.jumps.length; i++) {
      const jump = this.jumps[i];
      if (jump === undefined) continue;
      const key = `${jump.target.depth}${jump.target.kind}`;
      let entry = byTarget.get(key);
      if (entry === undefined) byTarget.set(key, entry = { target: jump.target, deps: [] });
      collectControls(jump.control, this.control, null, entry.deps);
    }
    for (const { target, deps } of byTarget.values()) {
      if (deps.length === 0) continue; // unconditional: nothing follows
      this.control = this.addControl({ parent: this.control, kind: 'jump', condition: null, sense: null, node, loop: null, deps, target });
    }
  }

  protected takeJumps(since: number, target: (jump: Jump) => boolean): Jump[] {
    const taken: Jump[] = [];
    const kept: Jump[] = [];
    for (let i = since; i < this.jumps.length; i++) {
      const jump = this.jumps[i];
      if (jump !== undefined) (target(jump) ? taken : kept).push(jump);
    }
    this.jumps.length = since;
    this.jumps.push(...kept);
    return taken;
  }
}

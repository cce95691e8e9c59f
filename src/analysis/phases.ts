/**
 * Which writes may run in the same barrier interval as a load: the *phases* of a kernel.
 *
 * The kernel with all its visible callees is unfolded into one graph of events: accesses to memory, and barriers. Two events may happen in
 * parallel if both can be reached from one barrier (or from the start) without passing another one; that covers writes before and after the load,
 * around loop back edges, and in the other arm of a branch (compare the non-concurrency analysis of Jeremiassen & Eggers, 1994, for
 * barrier programs). Barriers that do not run on every path do not count on the paths without them, because paths are followed one by one.
 *
 * Not handled: `goto`, recursion, and kernels whose unfolding exceeds {@link MAX_EVENTS} events: no phase is known, so nothing is separated.
 * Two barriers in opposite arms of a condition that threads of a block do not share are undefined behaviour and are not told apart from one.
 */
import { builtin } from '../cuda/builtins.js';
import type { CallExpr, Expr, FunctionDecl, Program, Stmt, Type } from '../syntax/tree.js';
import { asmMeaning } from './asm-text.js';
import { calleesOf } from './call-sites.js';
import { forEachChild, isStmt, strip, type Node } from './children.js';
import { collectEffects } from './effects.js';
import { mayBeClass } from './implicit-calls.js';
import { endsOf } from './object-lives.js';
import { lambdaOf } from './lambdas.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { libraryCall } from './library-calls.js';
import { placesOf, targetsOf, UNKNOWN_PLACE, type Place, type PlaceContext } from './places.js';
import { substitute } from './summaries.js';
import { givesForeign, isDependent, judge } from './template-types.js';

const MAX_EVENTS = 20_000;
const MAX_DEPTH = 12;

interface Event {
  readonly barrier: 'block' | 'warp' | null;
  readonly writes: readonly Place[];
  readonly successors: number[];
}

/** Where a function of the unfolding was called from. */
interface Frame {
  readonly function: FunctionDecl | null;
  /** The function around: a lambda stands in one. */
  readonly instance: FunctionDecl | null;
  readonly context: PlaceContext;
  readonly call: CallExpr | null;
  readonly parameters: FunctionDecl['parameters'];
  readonly outer: Frame | null;
  readonly depth: number;
}

export interface Phases {
  /** Places written in a phase that the load is in; null if not known. `level` says which barriers count. */
  writesBeside(load: Expr, level: 'block' | 'warp'): readonly Place[] | null;
}

const memo = new WeakMap<FunctionDecl, Phases>();

export function phasesOf(kernel: FunctionDecl, program: Program): Phases {
  const known = memo.get(kernel);
  if (known !== undefined) return known;
  const made = new Builder(program).build(kernel);
  memo.set(kernel, made);
  return made;
}

class Builder {
  private readonly events: Event[] = [];
  private readonly loads = new Map<Expr, number[]>();
  private broken = false;
  /** Ends of jumps, innermost last. */
  private readonly breaks: number[][] = [];
  private readonly continues: number[][] = [];
  private readonly returns: number[][] = [];

  constructor(private readonly program: Program) {}

  build(kernel: FunctionDecl): Phases {
    const start = this.add({ barrier: 'block', writes: [], successors: [] }, []);
    if (kernel.body === null) this.broken = true;
    else {
      const frame: Frame = { function: kernel, instance: kernel, context: { index: indexFunction(kernel), function: kernel }, call: null, parameters: kernel.parameters, outer: null, depth: 0 };
      this.returns.push([]);
      this.statement(kernel.body, start, frame);
      this.returns.pop();
    }
    return new Answers(this.events, this.loads, this.broken);
  }

  private add(event: Event, from: readonly number[]): number[] {
    if (this.events.length > MAX_EVENTS) { this.broken = true; return []; }
    const id = this.events.length;
    this.events.push(event);
    for (const before of from) this.events[before]?.successors.push(id);
    return [id];
  }

  /** An event without meaning that joins ends; keeps loop heads addressable. */
  private join(from: readonly number[]): number[] {
    return this.add({ barrier: null, writes: [], successors: [] }, from);
  }

  /** Both sets of ends, without duplicates; many become one. */
  private merge(a: readonly number[], b: readonly number[]): number[] {
    const ends = [...new Set([...a, ...b])];
    return ends.length > 4 ? this.join(ends) : ends;
  }

  private link(from: readonly number[], to: readonly number[]): void {
    for (const before of from) this.events[before]?.successors.push(...to);
  }

  private statement(node: Stmt, from: number[], frame: Frame): number[] {
    if (this.broken) return from;
    switch (node.kind) {
      case 'compound': return node.body.reduce((ends, inner) => this.statement(inner, ends, frame), from);
      case 'if': {
        let ends = node.init === null ? from : this.statement(node.init, from, frame);
        if (node.conditionDecl !== null) { this.outlived(node.conditionDecl.type, frame); if (node.conditionDecl.init !== null) ends = this.expression(node.conditionDecl.init, ends, frame); }
        ends = this.expression(node.condition, ends, frame);
        const then = this.statement(node.then, ends, frame);
        return this.merge(then, node.else === null ? ends : this.statement(node.else, ends, frame));
      }
      case 'for': case 'while': case 'do': case 'range-for': return this.loop(node, from, frame);
      case 'switch': {
        let ends = node.init === null ? from : this.statement(node.init, from, frame);
        if (node.conditionDecl !== null) { this.outlived(node.conditionDecl.type, frame); if (node.conditionDecl.init !== null) ends = this.expression(node.conditionDecl.init, ends, frame); }
        ends = this.expression(node.condition, ends, frame);
        this.breaks.push([]);
        let falling: number[] = [];
        for (const arm of node.arms) falling = arm.body.reduce((now, inner) => this.statement(inner, now, frame), this.merge(ends, falling));
        return this.join([...falling, ...(this.breaks.pop() ?? []), ...ends]);
      }
      case 'break': this.breaks.at(-1)?.push(...from); return [];
      case 'continue': this.continues.at(-1)?.push(...from); return [];
      case 'return': {
        const ends = node.value === null ? from : this.expression(node.value, from, frame);
        this.returns.at(-1)?.push(...ends);
        return [];
      }
      case 'goto': case 'label': this.broken = true; return from;
      case 'opaque': return this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, from);
      case 'asm': {
        const meaning = asmMeaning(node.text);
        return meaning.pure ? from : this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, from);
      }
      case 'declare': {
        let ends = from;
        for (const variable of node.variables) {
          if (variable.init !== null) ends = this.expression(variable.init, ends, frame);
          let { type } = variable;
          while (type.kind === 'array') type = type.of;
          // An object of a type that nothing declares may write through the address that it is given until its scope ends.
          if (mayBeClass(type) && variable.init !== null && isAddress(strip(variable.init).type)) this.broken = true;
          if (type.kind !== 'record' && type.kind !== 'dependent') continue;
          this.outlived(type, frame);
          ends = this.made(node, ends, frame);
        }
        return ends;
      }
      default: {
        let ends = from;
        forEachChild(node, (child) => { ends = isStmt(child) ? this.statement(child, ends, frame) : this.expression(child, ends, frame); });
        return ends;
      }
    }
  }

  private loop(node: Stmt & { readonly kind: 'for' | 'while' | 'do' | 'range-for' }, from: number[], frame: Frame): number[] {
    let ends = from;
    if (node.kind === 'for') ends = this.statement(node.init, ends, frame);
    if (node.kind === 'range-for') ends = this.expression(node.range, ends, frame);
    const head = this.join(ends);
    const condition = node.kind === 'range-for' ? null : node.condition;
    const declaration = node.kind === 'range-for' ? node.variable : node.kind === 'do' ? null : node.conditionDecl;
    if (declaration !== null) this.outlived(declaration.type, frame);
    const declared = node.kind === 'range-for' ? null : declaration?.init ?? null;
    const entered = declared === null ? head : this.expression(declared, head, frame);
    const tested = node.kind === 'do' || condition === null ? entered : this.expression(condition, entered, frame);
    this.breaks.push([]);
    this.continues.push([]);
    const body = this.statement(node.body, tested, frame);
    let tail = this.join([...body, ...(this.continues.pop() ?? [])]);
    if (node.kind === 'do') tail = this.expression(node.condition, tail, frame);
    if (node.kind === 'for' && node.step !== null) tail = this.expression(node.step, tail, frame);
    this.link(tail, head);
    const left = this.breaks.pop() ?? [];
    const after = node.kind === 'do' ? tail : node.kind === 'for' && condition === null ? [] : tested;
    return this.join([...after, ...left]);
  }

  private expression(node: Expr, from: number[], frame: Frame): number[] {
    if (this.broken) return from;
    const ends = this.evaluated(node, from, frame);
    return isDependent(node.type) && this.isForeign(node.type, frame) ? this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, ends) : ends;
  }

  private evaluated(node: Expr, from: number[], frame: Frame): number[] {
    switch (node.kind) {
      case 'lambda': return from;
      case 'binary': {
        const left = this.expression(node.left, from, frame);
        const right = this.expression(node.right, left, frame);
        return node.op === '&&' || node.op === '||' ? this.merge(left, right) : right;
      }
      case 'conditional': {
        const test = this.expression(node.condition, from, frame);
        return this.merge(this.expression(node.then, test, frame), this.expression(node.else, test, frame));
      }
      case 'call': return this.call(node, from, frame);
      case 'construct': case 'init-list': {
        let ends = from;
        forEachChild(node, (child: Node) => { if (!isStmt(child)) ends = this.expression(child, ends, frame); });
        return this.made(node, ends, frame);
      }
      case 'opaque': return this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, from);
      case 'assign': {
        let ends = this.expression(node.value, from, frame);
        ends = this.expression(node.target, ends, frame);
        return this.write(placesOf(node.target, frame.context), ends, frame);
      }
      case 'update': return this.write(placesOf(node.target, frame.context), this.expression(node.target, from, frame), frame);
      default: {
        let ends = from;
        forEachChild(node, (child: Node) => { if (!isStmt(child)) ends = this.expression(child, ends, frame); });
        return this.isLoad(node) ? this.load(node, ends) : ends;
      }
    }
  }

  /** A destructor runs where the scope ends, on every way out of it. */
  private outlived(type: Type, frame: Frame): void {
    if (endsOf(type).length > 0 || this.isForeign(type, frame)) this.broken = true;
  }

  /** Does the type stand for a class that may run anything where it is used, or for a template's instance with one? */
  private isForeign(type: Type, { instance }: Frame): boolean {
    if (type.kind === 'record') return givesForeign(type, this.program);
    return instance !== null && isDependent(type) && judge(type, instance, this.program).foreign !== null;
  }

  /** What the constructors of an object write is not followed: it may be anything. */
  private made(node: Expr | Stmt, from: number[], frame: Frame): number[] {
    const { function: fn, instance } = frame;
    const effects = collectEffects(node, { index: frame.context.index, function: fn, instance, program: this.program });
    const hidden = effects.unknownCalls.length > 0 || effects.opaque.length > 0 || effects.asm.length > 0 || effects.atomics.length > 0 || effects.accesses.some((access) => access.kind !== 'read' && access.through !== null);
    return hidden ? this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, from) : from;
  }

  /** Every lvalue in memory counts as a load; those that are only written are asked about by nobody. */
  private isLoad(node: Expr): boolean {
    if (node.kind === 'index' || node.kind === 'member' || (node.kind === 'unary' && node.op === '*')) return true;
    return node.kind === 'ref' && node.decl !== null && node.decl.kind === 'variable' && (!isAutomatic(node.decl) || node.decl.type.kind === 'reference');
  }

  private load(node: Expr, from: number[]): number[] {
    const id = this.add({ barrier: null, writes: [], successors: [] }, from);
    const list = this.loads.get(node);
    if (list === undefined) this.loads.set(node, [...id]);
    else list.push(...id);
    return id;
  }

  private write(places: readonly Place[], from: number[], frame: Frame): number[] {
    const outer = places.flatMap((place) => this.inKernel(place, frame));
    if (outer.every((place) => place.base !== null && place.base !== 'this' && isAutomatic(place.base) && !place.steps.includes('*'))) return from;
    return this.add({ barrier: null, writes: outer, successors: [] }, from);
  }

  private inKernel(place: Place, frame: Frame): readonly Place[] {
    if (frame.outer === null || frame.call === null) return [place];
    const base = place.base;
    if (base === null || (base !== 'this' && base.kind !== 'parameter')) return [place];
    const { outer } = frame;
    return substitute(place, frame.parameters, frame.call, outer.context).flatMap((up) => this.inKernel(up, outer));
  }

  private call(node: CallExpr, from: number[], frame: Frame): number[] {
    let ends = from;
    forEachChild(node, (child: Node) => { if (!isStmt(child)) ends = this.expression(child, ends, frame); });
    const callee = node.callee;
    if (callee.kind === 'builtin') {
      const entry = builtin(callee.name);
      if (entry === undefined) return this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, ends);
      const pointers = (positions: readonly number[]): readonly Place[] => positions.flatMap((position) => {
        const argument = node.arguments[position];
        return argument === undefined ? [] : targetsOf(argument, frame.context);
      });
      if (entry.reads.length > 0) ends = this.load(node, ends);
      if (entry.writes.length > 0 && entry.family !== 'texture') ends = this.write(pointers(entry.writes), ends, frame);
      return entry.barrier === null ? ends : this.add({ barrier: entry.barrier, writes: [], successors: [] }, ends);
    }
    const library = libraryCall(node);
    if (library !== null) {
      if (library.kind !== 'barrier') return ends;
      // What a block-wide call does inside lies between its own barriers.
      if (library.writesArguments) ends = this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, ends);
      return this.add({ barrier: library.participants === 'warp' ? 'warp' : 'block', writes: [], successors: [] }, ends);
    }
    const lambda = callee.kind === 'value' ? lambdaOf(callee.value) : null;
    if (lambda !== null) return this.inline(lambda.body, null, lambda.parameters, frame.context, node, ends, frame);
    const bodies = calleesOf(node, this.program);
    if (bodies.length === 0) return this.add({ barrier: null, writes: [UNKNOWN_PLACE], successors: [] }, ends);
    return bodies.reduce<number[]>((all, body) => this.merge(all, body.body === null ? ends : this.inline(body.body, body, body.parameters, { index: indexFunction(body), function: body }, node, ends, frame)), []);
  }

  private inline(body: Stmt, fn: FunctionDecl | null, parameters: FunctionDecl['parameters'], context: PlaceContext, call: CallExpr, from: number[], frame: Frame): number[] {
    let recursive = false;
    for (let up: Frame | null = frame; up !== null; up = up.outer) if (fn !== null && up.function === fn) recursive = true;
    if (recursive || frame.depth >= MAX_DEPTH) { this.broken = true; return from; }
    this.returns.push([]);
    const breaks = this.breaks.splice(0);
    const continues = this.continues.splice(0);
    const ends = this.statement(body, from, { function: fn, instance: fn ?? frame.instance, context, call, parameters, outer: frame, depth: frame.depth + 1 });
    this.breaks.push(...breaks);
    this.continues.push(...continues);
    return this.join([...ends, ...(this.returns.pop() ?? [])]);
  }
}

function isAddress({ kind }: Type): boolean {
  return kind === 'pointer' || kind === 'array';
}

class Answers implements Phases {
  private readonly predecessors: number[][];
  private readonly reach = new Map<string, readonly Place[]>();

  constructor(private readonly events: readonly Event[], private readonly loads: ReadonlyMap<Expr, readonly number[]>, private readonly broken: boolean) {
    this.predecessors = events.map(() => []);
    if (!broken) events.forEach((event, id) => { for (const next of event.successors) this.predecessors[next]?.push(id); });
  }

  writesBeside(load: Expr, level: 'block' | 'warp'): readonly Place[] | null {
    const ids = this.loads.get(strip(load));
    if (this.broken || ids === undefined) return null;
    const starts = new Set<number>();
    const seen = new Set<number>();
    const stack = [...ids];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      const event = this.events[id];
      if (event !== undefined && this.separates(event, level)) { starts.add(id); continue; }
      stack.push(...(this.predecessors[id] ?? []));
    }
    return [...starts].flatMap((start) => [...this.writesFrom(start, level)]);
  }

  private separates(event: Event, level: 'block' | 'warp'): boolean {
    return event.barrier === 'block' || (level === 'warp' && event.barrier === 'warp');
  }

  /** What may be written after a barrier before the next one. */
  private writesFrom(start: number, level: 'block' | 'warp'): readonly Place[] {
    const key = `${level}${start}`;
    const known = this.reach.get(key);
    if (known !== undefined) return known;
    const found = new Set<Place>();
    const seen = new Set<number>();
    const stack = [...(this.events[start]?.successors ?? [])];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      const event = this.events[id];
      if (event === undefined || this.separates(event, level)) continue;
      for (const place of event.writes) found.add(place);
      stack.push(...event.successors);
    }
    const list = [...found];
    this.reach.set(key, list);
    return list;
  }
}

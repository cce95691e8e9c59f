/**
 * A kernel as the hazards see it: its calls that take several threads and its accesses to shared memory, callees unfolded in their context, in the order of the
 * text, between the marks of the loops they stand in.
 *
 * The unfolding enters a visible callee if it (or what it calls) takes several threads, touches shared memory, or is handed a pointer to some. What the
 * unfolding cannot follow is said: `complete` is false where callees were cut or ambiguous, `escaped` holds shared arrays that something unknown may touch.
 *
 * Calls that name no function (lambdas, functors, pointers, methods of a template's types) are followed where the path of calls tells what they run (callables.ts), if that
 * takes several threads; of shared memory in there nothing is said. Arms that a template argument or a literal argument decides are left out.
 */
import { builtin, type Builtin } from '../../cuda/builtins.js';
import { arrivalSets, type ArrivalSets } from '../../analysis/arrival.js';
import { asmMeaning } from '../../analysis/asm-text.js';
import { bindingOf, boundBy, type Binding } from '../../analysis/call-paths.js';
import { behindCall, elementsIn, isOpen, truthIn } from '../../analysis/callables.js';
import { calleesOf } from '../../analysis/call-sites.js';
import { forEachChild, isStmt, strip, type Node } from '../../analysis/children.js';
import type { Analysis, FunctionFacts, Loop } from '../../analysis/facts.js';
import { codeOf } from '../../analysis/function-code.js';
import { implicitIn, mayRunMore } from '../../analysis/implicit-code.js';
import { libraryCall, type LibraryCall } from '../../analysis/library-calls.js';
import type { AsmStmt, CallExpr, Expr, FunctionDecl, Program, VariableDecl } from '../../syntax/tree.js';
import type { Frame } from '../frame.js';
import { concerns, isScene, leadsToHidden, matters, namesShared } from './concerns.js';
import { sharedPlace, type SharedPlace } from './shared-places.js';

/** A function in one context, with who arrives where in it. */
export interface Spot {
  readonly facts: FunctionFacts;
  readonly sets: ArrivalSets;
  readonly frame: Frame;
  readonly outer: Spot | null;
  /** False if nothing here can lead to shared memory: neither this function nor one that called it names any. */
  readonly shared: boolean;
  /** The path of calls as callables.ts follows it. */
  readonly binding: Binding;
  /** Another function may run in place of this one, or of one on the way to it: nothing in it is sure. */
  readonly unsure: boolean;
  /** Entered only for what is found through calls that name no function: what else is not known of it is not said. */
  readonly hidden: boolean;
}

interface EventBase { readonly spot: Spot }

/** A call that takes several threads. */
export interface Collective extends EventBase {
  readonly kind: 'collective';
  readonly node: CallExpr;
  readonly name: string;
  /** `group`: of a library's object, whose participants are named there. */
  readonly builtin: Builtin | null;
  readonly library: LibraryCall | null;
  readonly barrier: 'block' | 'warp' | null;
  /** Of a library's object that a template is given: how it was made. */
  readonly group?: { readonly expr: Expr; readonly spot: Spot };
}

export interface Access extends EventBase {
  readonly kind: 'access';
  readonly node: Expr;
  readonly mode: 'read' | 'write' | 'atomic';
  readonly place: SharedPlace;
}

/** Something that may order threads or touch memory in ways that are not known. */
export interface Unknown extends EventBase { readonly kind: 'unknown'; readonly node: Node }

export interface LoopMark extends EventBase { readonly kind: 'loop-begin' | 'loop-end'; readonly node: Loop }

export type Event = Collective | Access | Unknown | LoopMark;

export interface Scene {
  readonly kernel: Spot;
  readonly analysis: Analysis;
  readonly program: Program;
  readonly spots: readonly Spot[];
  readonly events: readonly Event[];
  readonly collectives: readonly Collective[];
  readonly accesses: readonly Access[];
  readonly escaped: ReadonlySet<VariableDecl>;
  readonly complete: boolean;
}

const MAX_EVENTS = 6000;
const MAX_DEPTH = 12;

/** The kernel unfolded; null if it holds nothing that hazards are about. */
export function sceneOf(facts: FunctionFacts, analysis: Analysis): Scene | null {
  if (!isScene(facts)) return null;
  const kernel: Spot = { facts, sets: arrivalSets(facts), frame: { facts, call: null, outer: null }, outer: null, shared: namesShared(facts.function), binding: bindingOf(facts.function), unsure: false, hidden: false };
  const builder = new Builder();
  builder.enter(kernel, 0);
  return {
    kernel, analysis, program: facts.program, spots: builder.spots, events: builder.events, escaped: builder.escaped, complete: builder.complete,
    collectives: builder.events.filter((event) => event.kind === 'collective'), accesses: builder.events.filter((event) => event.kind === 'access'),
  };
}

/** Nodes whose parts are visited one by one, so that what runs there without being named is left to visit. */
const WALKED: ReadonlySet<Node['kind']> = new Set(['opaque', 'call', 'assign', 'construct', 'init-list', 'declare', 'ref', 'index', 'member', 'unary', 'lambda']);

class Builder {
  readonly events: Event[] = [];
  readonly spots: Spot[] = [];
  readonly escaped = new Set<VariableDecl>();
  complete = true;
  /** Behind how many calls that name no function: what is captured there is not known, so nothing is said of its memory. */
  private quiet = 0;
  /** Visits a part of the function that is being unfolded. */
  private read: (node: Node) => void = () => undefined;

  enter(spot: Spot, depth: number): void {
    this.spots.push(spot);
    const body = codeOf(spot.facts.function);
    const { read } = this;
    this.read = (node) => { this.visit(node, spot, depth, 'read'); };
    if (body !== null) this.visit(body, spot, depth, 'read');
    this.read = read;
  }

  private add(event: Event): void {
    if (this.quiet > 0 && event.kind === 'access') return;
    if (this.events.length >= MAX_EVENTS) { this.complete = false; return; }
    this.events.push(event);
  }

  private visit(node: Node, spot: Spot, depth: number, mode: 'read' | 'write' | 'both' | 'address'): void {
    if (this.events.length >= MAX_EVENTS) { this.complete = false; return; }
    if (node.kind === 'literal' || node.kind === 'coordinate') return;
    // Default arguments come before the call, destructors after what they end.
    const unnamed = WALKED.has(node.kind) && mayRunMore(node) ? implicitIn(node) : [];
    if (node.kind === 'call') for (const call of unnamed) this.call(call, spot, depth);
    this.written(node, spot, depth, mode);
    if (node.kind !== 'call') for (const call of unnamed) this.call(call, spot, depth);
  }

  /** What is written at a node; what runs there without being named follows. */
  private written(node: Node, spot: Spot, depth: number, mode: 'read' | 'write' | 'both' | 'address'): void {
    switch (node.kind) {
      case 'for': case 'while': case 'do': case 'range-for':
        if (node.kind === 'for') this.visit(node.init, spot, depth, 'read');
        this.add({ kind: 'loop-begin', node, spot });
        forEachChild(node, (child) => { if (node.kind !== 'for' || child !== node.init) this.visit(child, spot, depth, 'read'); });
        this.add({ kind: 'loop-end', node, spot });
        return;
      case 'assign':
        this.visit(node.value, spot, depth, 'read');
        this.visit(node.target, spot, depth, node.op === null ? 'write' : 'both');
        return;
      case 'update': this.visit(node.target, spot, depth, 'both'); return;
      case 'call': this.call(node, spot, depth); return;
      case 'if': {
        const truth = truthIn(node.condition, spot.binding);
        if (truth === null) break;
        // The other arm is no code of this instance, or never runs for this call.
        forEachChild(node, (child) => { if (child !== (truth ? node.else : node.then)) this.visit(child, spot, depth, 'read'); });
        return;
      }
      case 'asm': this.asm(node, spot, depth); return;
      case 'opaque': this.partly(node, spot, depth); return;
      case 'lambda': this.lambda(node, spot); return;
      case 'construct': case 'init-list': this.made(node, spot, depth); return;
      case 'goto': this.complete = false; return;
      case 'paren': this.visit(node.inner, spot, depth, mode); return;
      case 'macro': this.visit(node.expanded, spot, depth, mode); return;
      case 'unary':
        if (node.op === '&') { this.visit(node.operand, spot, depth, 'address'); return; }
        if (node.op === '*') { this.lvalue(node, spot, depth, mode); return; }
        break;
      case 'ref': case 'index': case 'member': this.lvalue(node, spot, depth, mode); return;
      case 'declare':
        for (const variable of node.variables) {
          if (variable.init === null) continue;
          const bound = variable.type.kind === 'reference' || variable.type.kind === 'pointer';
          this.visit(variable.init, spot, depth, bound ? 'address' : 'read');
        }
        return;
      default:
    }
    forEachChild(node, this.read);
  }

  /** An lvalue: an access if it is in shared memory; subscripts are read in any case. */
  private lvalue(node: Expr, spot: Spot, depth: number, mode: 'read' | 'write' | 'both' | 'address'): void {
    this.subscripts(node, spot, depth);
    const place = sharedPlace(node, spot);
    if (place === null) return;
    // The name of an array, or of a row of one, is an address; where it goes, places follow it (parameters, pointers) or it escapes.
    if (mode === 'address' || node.type.kind === 'array') return;
    if (place.pointer) return;
    if (mode === 'read' || mode === 'both') this.add({ kind: 'access', node, mode: 'read', place, spot });
    if (mode === 'write' || mode === 'both') this.add({ kind: 'access', node, mode: 'write', place, spot });
  }

  private subscripts(written: Expr, spot: Spot, depth: number): void {
    const node = strip(written);
    switch (node.kind) {
      case 'index': this.subscripts(node.base, spot, depth); this.visit(node.index, spot, depth, 'read'); return;
      case 'member': this.subscripts(node.object, spot, depth); return;
      case 'unary': if (node.op === '*' || node.op === '&') this.subscripts(node.operand, spot, depth); else this.visit(node, spot, depth, 'read'); return;
      case 'cast':
        this.subscripts(node.operand, spot, depth);
        if (mayRunMore(node)) for (const call of implicitIn(node)) this.call(call, spot, depth);
        return;
      case 'ref': case 'this': return;
      case 'binary': this.subscripts(node.left, spot, depth); this.subscripts(node.right, spot, depth); return;
      default: this.visit(node, spot, depth, 'read');
    }
  }

  private call(node: CallExpr, spot: Spot, depth: number): void {
    const { callee } = node;
    if (callee.kind === 'method') this.visit(callee.object, spot, depth, 'address');
    if (callee.kind === 'value') this.visit(callee.value, spot, depth, 'read');
    const entry = callee.kind === 'builtin' ? builtin(callee.name) : undefined;
    node.arguments.forEach((argument, i) => {
      const points = entry !== undefined && (entry.writes.includes(i) || entry.reads.includes(i) || entry.atomic);
      this.visit(argument, spot, depth, points || entry === undefined && isPointer(argument) ? 'address' : 'read');
      if (entry === undefined || !points) return;
      const place = sharedPlace(argument, spot);
      if (place === null) return;
      const target: SharedPlace = { ...place, pointer: false };
      if (entry.atomic) { if (i === 0) this.add({ kind: 'access', node, mode: 'atomic', place: target, spot }); return; }
      if (entry.reads.includes(i)) this.add({ kind: 'access', node, mode: 'read', place: { ...target, exact: false }, spot });
      if (entry.writes.includes(i)) this.add({ kind: 'access', node, mode: 'write', place: { ...target, exact: false }, spot });
    });
    if (entry !== undefined) {
      if (entry.collective !== null) this.add({ kind: 'collective', node, name: entry.name, builtin: entry, library: null, barrier: entry.barrier, spot });
      return;
    }
    const library = libraryCall(node);
    if (library !== null) {
      if (library.kind !== 'query') this.add({ kind: 'collective', node, name: calleeName(node), builtin: null, library, barrier: library.kind === 'barrier' ? (library.participants === 'warp' ? 'warp' : 'block') : null, spot });
      if (library.writesArguments) for (const argument of node.arguments) this.escape(argument, spot);
      if (callee.kind === 'method') this.escape(callee.object, spot);
      return;
    }
    const { program } = spot.facts;
    const callees = calleesOf(node, program);
    if (callees.length === 0) {
      if (callee.kind === 'unknown' || callee.kind === 'value' || callee.kind === 'method') {
        this.add({ kind: 'unknown', node, spot });
        for (const argument of node.arguments) this.escape(argument, spot);
        if (isOpen(node)) this.hidden(node, spot, depth);
      }
      return;
    }
    if (callees.length > 1) this.complete = false;
    for (const target of callees) {
      // A launch from device code is no call: its threads are others.
      if (target.body === null || target.qualifiers.global) continue;
      const handed = node.arguments.some((argument) => sharedPlace(argument, spot) !== null);
      const binding = boundBy(target, node, spot.binding);
      const isHidden = !handed && !concerns(target, program);
      if (isHidden && !leadsToHidden(binding, program, NOWHERE)) continue;
      this.follow(node, target, binding, spot, depth, { unsure: false, hidden: isHidden });
    }
  }

  private follow(node: CallExpr, target: FunctionDecl, binding: Binding, spot: Spot, depth: number, how: { readonly unsure: boolean; readonly hidden: boolean }): void {
    if (depth >= MAX_DEPTH || isOnPath(spot, target)) { this.complete = false; return; }
    const facts = spot.facts.callee(node, target);
    const frame: Frame = { facts, call: node, outer: spot.frame };
    this.enter({ facts, sets: arrivalSets(facts, { sets: spot.sets, call: node }), frame, outer: spot, shared: spot.shared || namesShared(target), binding, unsure: how.unsure || spot.unsure, hidden: how.hidden || spot.hidden }, depth + 1);
  }

  /** What runs behind a call that names no function, if it takes several threads. */
  private hidden(node: CallExpr, spot: Spot, depth: number): void {
    const { program } = spot.facts;
    this.quiet++;
    for (const behind of behindCall(node, spot.binding, program)) {
      if (!matters(behind, node, spot.binding, program, NOWHERE)) continue;
      switch (behind.kind) {
        case 'builtin': this.add({ kind: 'collective', node, name: behind.entry.name, builtin: behind.entry, library: null, barrier: behind.entry.barrier, spot }); break;
        case 'library': {
          const { call: library, name, group, at } = behind;
          let home: Spot = spot;
          while (home.binding !== at && home.outer !== null) home = home.outer;
          this.add({ kind: 'collective', node, name, builtin: null, library, barrier: library.kind === 'barrier' ? (library.participants === 'warp' ? 'warp' : 'block') : null, spot, ...(home.binding === at ? { group: { expr: group, spot: home } } : {}) });
          break;
        }
        case 'function': this.follow(node, behind.function, boundBy(behind.function, node, spot.binding, behind), spot, depth, { unsure: !behind.sure, hidden: true }); break;
      }
    }
    this.quiet--;
  }

  /** What an object is made of may be touched by its constructor, which is entered without its arguments. */
  private made(node: Expr & { readonly kind: 'construct' | 'init-list' }, spot: Spot, depth: number): void {
    for (const argument of node.kind === 'construct' ? node.arguments : node.elements) {
      this.visit(argument, spot, depth, isPointer(argument) ? 'address' : 'read');
      if (node.type.kind === 'record' || node.type.kind === 'unknown') this.escape(argument, spot);
    }
  }

  /** Text that is not understood as a whole: parts that are run there, in it, unless the packs in them have no elements on this path. */
  private partly(node: Node & { readonly kind: 'opaque' }, spot: Spot, depth: number): void {
    this.add({ kind: 'unknown', node, spot });
    this.complete = false;
    if (!('type' in node) || node.parts === undefined) return;
    const runs = node.packed === true ? elementsIn(node.parts, spot.binding) : 'some';
    if (runs === 'none') return;
    const inside = runs === 'some' ? spot : { ...spot, unsure: true };
    for (const part of node.parts) this.visit(part, inside, depth, isPointer(part) ? 'address' : 'read');
    for (const part of node.parts) this.escape(part, spot);
  }

  private asm(node: AsmStmt, spot: Spot, depth: number): void {
    for (const input of node.inputs) { this.visit(input, spot, depth, 'read'); this.escape(input, spot); }
    for (const output of node.outputs) this.visit(output, spot, depth, 'write');
    if (!asmMeaning(node.text).pure) this.add({ kind: 'unknown', node, spot });
  }

  private lambda(node: Expr & { readonly kind: 'lambda' }, spot: Spot): void {
    this.escape(node.body, spot);
    this.add({ kind: 'unknown', node, spot });
  }

  /** Shared arrays named in it may be touched by something that is not followed. */
  private escape(node: Node, spot: Spot): void {
    if (!isStmt(node)) {
      const place = sharedPlace(node, spot);
      if (place !== null) this.escaped.add(place.base);
    }
    if (node.kind === 'ref' && node.decl !== null && node.decl.kind === 'variable' && node.decl.space === 'shared') this.escaped.add(node.decl);
    forEachChild(node, (child) => this.escape(child, spot));
  }
}

function isPointer(expr: Expr): boolean {
  const type = strip(expr).type;
  return type.kind === 'pointer' || type.kind === 'array' || type.kind === 'unknown';
}

export function calleeName(call: CallExpr): string {
  return call.callee.kind === 'value' ? 'a call through a value' : call.callee.name;
}

const NOWHERE: ReadonlySet<FunctionDecl> = new Set();

function isOnPath(spot: Spot, callee: FunctionDecl): boolean {
  for (let here: Spot | null = spot; here !== null; here = here.outer) if (here.facts.function === callee) return true;
  return false;
}

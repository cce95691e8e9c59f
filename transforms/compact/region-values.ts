/**
 * What an item needs when another thread than its owner runs it, and what it leaves behind for its owner.
 *
 *     float v = x[i];                v and i are read in the heavy part: they travel with the item
 *     if (v > t) {
 *         float h = v;               h is the item's own
 *         for (…) h = f(h, i);
 *         sum += h;                  sum travels there and back
 *     }
 *     y[i] = sum;
 *
 * A value that every thread of the block has anyway stays where it is. A value computed from those and from what travels by a few
 * operations without memory is recomputed; so is one that only the heavy part changes, and that is a constant before. All others are carried. Arrays of the owner and addresses of its variables can do neither.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import { atLeast, type Variable, type Verdict } from '../../src/analysis/facts.js';
import { structureOf } from '../../src/analysis/structure.js';
import type { Span } from '../../src/source/types.js';
import { strip, type CoordinateExpr, type Decl, type DeclareStmt, type Expr, type RefExpr, type Stmt } from '../../src/syntax/tree.js';
import { declaredIn } from '../lib/common-obligations.js';
import { constantsAskedFor, isConstantHere, localDeclarations, namesTypesOfValues, wordIn, wordsOf } from '../lib/local-names.js';
import { excerpt, lineOf } from '../lib/obligation.js';
import type { TransformContext } from '../lib/types.js';
import { isInside, walkAll, type Region } from './region.js';
import { threadAskedFor } from './region-checks.js';
import { entryValue, type EntryValue } from './region-entry.js';
import { sizeOf, spelledType } from './region-types.js';

/** A variable of the owner that the heavy part uses. */
export interface Travel {
  readonly decl: Variable;
  /** C++ text of its type, without `const`. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** `carry`: the owner's value goes along; `recompute`: its initialiser is evaluated again; `declare`: the heavy part sets it before it reads it. */
  readonly how: 'carry' | 'recompute' | 'declare';
  /** The owner uses what the heavy part made of it. */
  readonly result: boolean;
  /** For `recompute`: the value that is evaluated again, and the declaration of this variable alone that it stands in. */
  readonly value: Expr | null;
  readonly declaration: DeclareStmt | null;
}

/** Why something cannot travel. */
export interface Trouble {
  readonly id: 'index-map-complete' | 'recompute-stable' | 'thread-free' | 'names-resolve' | 'types-known';
  readonly known: boolean;
  readonly line: number;
  readonly text: string;
  readonly remedy: string | null;
}

export interface Values {
  /** In the order of their declarations. */
  readonly travels: readonly Travel[];
  /** `threadIdx.x` and the like, read in the heavy part's own text: their owner's values must travel. */
  readonly coordinates: readonly CoordinateExpr[];
  readonly troubles: readonly Trouble[];
}

/** Instructions up to which arithmetic is done again rather than carried; and where it rests on nothing that belongs to a thread. */
const CHEAP = 4;
const CHEAP_FOR_ALL = 32;
/** Values that one value is computed from again, each from the next. */
const DEEPEST = 3;

/**
 * `gated` is the text that not every thread of the block runs (from the first gate on): a value made there is not there for all, even
 * if all that have it agree.
 */
export function valuesOf(context: TransformContext, region: Region, gated: Span): Values {
  return new Finder(context, region, gated).find();
}

class Finder {
  private readonly heavy: readonly Stmt[];
  private readonly own = new Set<Decl>();
  private readonly assigned = new Set<Variable>();
  private used: readonly Variable[] = [];
  private readonly troubles: Trouble[] = [];

  constructor(private readonly context: TransformContext, private readonly region: Region, private readonly gated: Span) {
    this.heavy = region.heavy.stmts;
    for (const stmt of this.heavy) for (const decl of declaredIn(stmt)) this.own.add(decl);
  }

  find(): Values {
    const uses = new Map<Variable, RefExpr[]>();
    const coordinates: CoordinateExpr[] = [];
    walkAll(this.heavy, (node) => {
      if (isStmt(node)) return;
      if (node.kind === 'coordinate' && node.base === 'threadIdx') coordinates.push(node);
      if (node.kind === 'this') this.trouble('thread-free', node, 'the heavy part uses the object that the function is called on', null);
      if (node.kind !== 'ref') return;
      if (node.decl !== null && this.outOfSight(node.decl)) {
        this.trouble('names-resolve', node, `${node.name} is declared where the items cannot see it`, `declare ${node.name} in front of the branches around it`);
      }
      if (node.decl === null || this.own.has(node.decl) || !ofThread(node.decl)) return;
      const list = uses.get(node.decl);
      if (list === undefined) uses.set(node.decl, [node]);
      else list.push(node);
    });
    this.hiddenCoordinates(coordinates);
    this.hiddenUses(uses);
    this.hiddenNames(uses);
    this.used = [...uses.keys()];
    const travels = this.decide(uses);
    this.constants(travels);
    return { travels, coordinates, troubles: this.troubles };
  }

  private trouble(id: Trouble['id'], node: Node, text: string, remedy: string | null, known = true): void {
    this.troubles.push({ id, known, line: lineOf(this.context, node), text, remedy });
  }

  /** Variables of the owner that the heavy part reaches through their address, or from inside what it calls. */
  private hiddenUses(named: ReadonlyMap<Variable, readonly RefExpr[]>): void {
    for (const stmt of this.heavy) {
      const effects = this.context.facts.effects(stmt);
      for (const decl of [...effects.uses, ...effects.assigns]) {
        if (named.has(decl) || this.own.has(decl) || !ofThread(decl) || isInside(decl, this.heavy)) continue;
        this.trouble('thread-free', stmt, `${decl.name} of the thread that owns the item is reached through its address`, `copy ${decl.name} into a variable of its own inside the branch`);
        return;
      }
    }
  }

  /** Coordinates that a macro writes cannot be replaced by their owner's. */
  private hiddenCoordinates(coordinates: readonly CoordinateExpr[]): void {
    for (const node of coordinates) {
      for (let at: Node | null = this.context.facts.parent(node); at !== null; at = this.context.facts.parent(at)) {
        if (at.kind === 'macro' || at.kind === 'macro-statement') {
          this.trouble('thread-free', node, `${at.name} hides threadIdx: the items would take the number of the thread that runs them`, 'compute it into a variable in front of the branch');
          return;
        }
      }
      if (node.axis === null) this.trouble('thread-free', node, 'the heavy part takes threadIdx as a whole', 'use its components');
    }
  }

  /** Variables of the owner that only a type or a capture names: nothing says what they are where the items run. */
  private hiddenNames(named: ReadonlyMap<Variable, readonly RefExpr[]>): void {
    const { text } = this.context.unit.source;
    for (const stmt of this.heavy) {
      if (!namesTypesOfValues(text, stmt.span)) continue;
      const words = wordsOf(this.context);
      for (const { stmt: other, scope } of localDeclarations(this.context)) {
        if (other.span.end > stmt.span.start || scope.end <= stmt.span.start || !within(other.span, this.gated)) continue;
        const lost = other.variables.find((variable) => ofThread(variable) && !named.has(variable) && wordIn(words, variable.name, stmt.span) !== null);
        if (lost === undefined) continue;
        this.trouble('names-resolve', stmt, `${lost.name} is named here, but its value is not used: it is not declared where the items run`, `name the type itself in place of ${lost.name}, or declare ${lost.name} in front of the branches around it`);
        return;
      }
    }
  }

  /** The length of an array, or the argument of a template, that would be no constant any more. */
  private constants(travels: readonly Travel[]): void {
    if (travels.length === 0) return;
    constantsAskedFor(this.heavy, (ref) => {
      const travel = ref.kind === 'ref' ? travels.find(({ decl }) => decl === ref.decl) : undefined;
      if (travel === undefined) return;
      this.trouble('names-resolve', ref, `${travel.decl.name} must be a constant here, and is the value of an item`, `declare ${travel.decl.name} constexpr`);
    });
  }

  /** Shared arrays and static variables declared inside the gated text: the items stand outside of it. Types and constants move (moves-along.ts). */
  private outOfSight(decl: Decl): boolean {
    const { file, span } = decl;
    if (this.own.has(decl) || decl.kind !== 'variable' || isConstantHere(decl) || isPrivate(decl) || file !== this.context.unit.source.realPath) return false;
    return within(span, this.gated);
  }

  private decide(uses: ReadonlyMap<Variable, readonly RefExpr[]>): readonly Travel[] {
    const { facts } = this.context;
    const { assigned } = this;
    for (const stmt of this.heavy) for (const decl of facts.effects(stmt).assigns) assigned.add(decl);
    const after = this.endOfHeavy();
    const kept: Variable[] = [];
    const pending: Variable[] = [];
    for (const [decl, refs] of uses) {
      if (!assigned.has(decl) && this.everyThreadHas(decl, refs)) kept.push(decl);
      else pending.push(decl);
    }
    const travels = new Map<Variable, Travel>();
    // What must be carried in any case first: what is recomputed may rest on it.
    const open: Variable[] = [];
    for (const decl of pending.sort((a, b) => a.span.start - b.span.start)) {
      const refs = uses.get(decl) ?? [];
      if (this.keptAddress(decl)) continue;
      if (decl.type.kind === 'reference' || (!assigned.has(decl) && this.givenValue(decl) !== null)) { open.push(decl); continue; }
      const result = assigned.has(decl) && after !== null && facts.liveAfter(decl, after);
      this.carry(decl, refs, assigned.has(decl), result, travels);
    }
    for (const decl of open) {
      if (this.recompute(decl, new Set([...kept, ...travels.keys()]), travels)) continue;
      if (decl.type.kind === 'reference') {
        this.trouble('recompute-stable', decl.kind === 'variable' && decl.init !== null ? decl.init : this.region.stmt, `the reference ${decl.name} cannot be bound again to the same object`, `use the object itself in place of ${decl.name}`);
        continue;
      }
      this.carry(decl, uses.get(decl) ?? [], false, false, travels);
    }
    // In the order in which they rest on each other.
    const place = ({ decl, value }: Travel): number => (value ?? decl).span.start;
    return [...travels.values()].sort((a, b) => place(a) - place(b));
  }

  /** The statement behind which the owner goes on when its item is done; null if it returns. */
  private endOfHeavy(): Stmt | null {
    const { form, jump, stmt, frames } = this.region;
    if (form === 'arm') return stmt;
    return jump?.kind === 'return' ? null : frames.at(-1)?.list.at(-1) ?? stmt;
  }

  private carry(decl: Variable, refs: readonly RefExpr[], written: boolean, result: boolean, into: Map<Variable, Travel>): void {
    if (decl.type.kind === 'array') {
      this.trouble('index-map-complete', refs[0] ?? this.region.stmt, `the array ${decl.name} belongs to the thread that owns the item`, `keep ${decl.name} in shared memory, or fill it inside the branch`);
      return;
    }
    const type = spelledType(this.context, decl);
    const size = sizeOf(decl.type);
    if (type === null || size === null) {
      this.trouble('types-known', refs[0] ?? this.region.stmt, `${decl.name} has a type that cannot be kept in shared memory`, null, false);
      return;
    }
    const needed = this.readFirst(decl, refs) || (result && !this.surelyAssigned(decl) && this.hasValue(decl));
    const again = needed && written ? this.again(decl, new Set(), new Map(), 0) : null;
    if (again !== null) into.set(decl, { ...again, size, result: written && result });
    else into.set(decl, { decl, type, size, how: needed ? 'carry' : 'declare', result: written && result, value: null, declaration: null });
  }

  /** Every thread of the block has this value: no need to carry it. */
  private everyThreadHas(decl: Variable, refs: readonly RefExpr[]): boolean {
    const { facts } = this.context;
    const { body } = facts.function;
    if (body === null || decl.type.kind === 'reference' || decl.type.kind === 'array' || this.assigned.has(decl)) return false;
    const written = facts.assignments(decl, body).filter((definition) => definition.kind !== 'declaration');
    if (decl.kind === 'parameter' && written.length === 0) return true;
    if (facts.addressTaken(decl) || within(decl.span, this.gated)) return false;
    if (written.some((definition) => 'node' in definition && within(definition.node.span, this.gated))) return false;
    // Where it gets its values, too: below `if (threadIdx.y == 0)` a row agrees among those that came, and not among those that run items.
    const shared = (verdict: Verdict): boolean => verdict.known && atLeast(verdict.value, 'block') && verdict.under.length === 0;
    if (decl.kind === 'parameter' || (decl.init !== null && !shared(facts.scope(decl.init)))) return false;
    if (!written.every((definition) => definition.kind === 'assignment' && shared(facts.scope(definition.node)) && shared(facts.arrival(definition.node)))) return false;
    return refs.every((ref) => shared(facts.scope(ref)));
  }

  /** The declaration of a variable that is given its value there and nowhere else. */
  private singleDefinition(decl: Variable): DeclareStmt | null {
    const { facts } = this.context;
    const { body } = facts.function;
    if (body === null || decl.kind !== 'variable' || decl.init === null || decl.opaqueInit) return null;
    if (facts.assignments(decl, body).some((definition) => definition.kind !== 'declaration')) return null;
    let found: DeclareStmt | null = null;
    walk(body, (node) => {
      if (node.kind === 'declare' && node.variables.includes(decl)) found = node;
      return found === null;
    });
    return found;
  }

  /** Evaluates the variable's value again in the item, and those that it rests on, if that is cheaper than carrying and gives the same. */
  private recompute(decl: Variable, known: ReadonlySet<Variable>, into: Map<Variable, Travel>): boolean {
    const staged = new Map<Variable, Travel>();
    const travel = this.again(decl, known, staged, 0);
    if (travel === null) return false;
    for (const [other, made] of staged) if (!into.has(other)) into.set(other, made);
    into.set(decl, travel);
    return true;
  }

  private again(decl: Variable, known: ReadonlySet<Variable>, staged: Map<Variable, Travel>, depth: number): Travel | null {
    const { facts } = this.context;
    const given = this.givenValue(decl);
    if (given === null || depth > DEEPEST) return null;
    const { value } = given;
    // Of what it rests on, each must be there for the item, with the value that it had then.
    let stable = threadAskedFor([value], facts.program) === null;
    let forAll = true;
    walk(value, (node) => {
      if (isTied(node)) stable = false;
      else if (node.kind === 'ref' && node.decl !== null && ofThread(node.decl)) {
        stable &&= node.decl !== decl && this.meansTheSame(node.name, node.decl) && this.staysSince(node.decl, given.stmt) && this.isThere(node, node.decl, known, staged, depth);
        forAll &&= this.everyThreadHas(node.decl, [node]) || (!known.has(node.decl) && staged.get(node.decl)?.how !== 'carry');
      } else if (node.kind === 'ref' && node.decl !== null) {
        stable &&= !this.outOfSight(node.decl) && this.meansTheSame(node.name, node.decl);
      }
      return stable;
    });
    if (!stable) return null;
    const effects = facts.effects(value);
    const bound = decl.type.kind === 'reference';
    if (effects.accesses.length > 0 || effects.assigns.size > 0 || effects.atomics.length + effects.collectives.length + effects.barriers.length > 0) return null;
    if (effects.unknownCalls.length + effects.opaque.length + effects.asm.length + effects.visible.length > 0) return null;
    if (!bound && facts.cost(value).instructions > (forAll ? CHEAP_FOR_ALL : CHEAP)) return null;
    const type = bound ? '' : spelledType(this.context, decl);
    return type === null ? null : { decl, type, size: 0, how: 'recompute', result: false, value, declaration: given.declaration };
  }

  /** No other declaration of the name is in force where the items are. */
  private meansTheSame(name: string, decl: Decl): boolean {
    return [...this.own, ...this.used].every((other) => other === decl || other.name !== name);
  }

  private givenValue(decl: Variable): EntryValue | null {
    const declaration = this.singleDefinition(decl);
    if (declaration !== null && declaration.variables.length === 1 && decl.kind === 'variable' && decl.init !== null) return { value: decl.init, declaration, stmt: declaration };
    return entryValue(this.context, this.region, decl);
  }

  /** Every thread has the operand, it travels, or it can be computed again in turn. */
  private isThere(ref: RefExpr, operand: Variable, known: ReadonlySet<Variable>, staged: Map<Variable, Travel>, depth: number): boolean {
    if (known.has(operand) || staged.has(operand) || this.everyThreadHas(operand, [ref])) return true;
    if (this.assigned.has(operand)) return false;
    const travel = this.again(operand, known, staged, depth + 1);
    if (travel === null) return false;
    staged.set(operand, travel);
    return true;
  }

  /** The operand is not assigned behind the statement, where the value at the statement might be another than the item's. */
  private staysSince(operand: Variable, stmt: Stmt): boolean {
    const { facts } = this.context;
    const { body } = facts.function;
    if (body === null || facts.addressTaken(operand)) return false;
    const written = facts.assignments(operand, body).filter((definition) => definition.kind !== 'declaration' && definition.kind !== 'parameter');
    if (written.length === 0) return true;
    // Given its value once, on the way to the statement.
    const given = operand.kind === 'variable' && operand.init === null ? entryValue(this.context, this.region, operand) : null;
    return given !== null && written.length === 1 && given.stmt.span.end <= stmt.span.start && isInside(given.value, [given.stmt]) && written.every((definition) => 'node' in definition && isInside(definition.node, [given.stmt]));
  }

  /** Does the heavy part read the variable with a value from outside? */
  private readFirst(decl: Variable, refs: readonly RefExpr[]): boolean {
    return refs.some((ref) => {
      if (this.isTarget(ref)) return false;
      const definitions = this.context.facts.definitions(ref);
      if (definitions.length === 0) return true;
      return definitions.some((definition) => {
        if (definition.kind === 'parameter') return true;
        if (definition.kind === 'declaration') return !uninitialised(definition.decl);
        return !isInside(definition.node, this.heavy);
      });
    }) || this.isTouchedElsewhere(decl);
  }

  /** References and addresses make reads that no name shows. */
  private isTouchedElsewhere(decl: Variable): boolean {
    return this.context.facts.addressTaken(decl) && this.hasValue(decl);
  }

  /** The whole variable on the left of `=`. */
  private isTarget(ref: RefExpr): boolean {
    let at: Node = ref;
    let up = this.context.facts.parent(ref);
    while (up !== null && (up.kind === 'paren' || up.kind === 'macro')) {
      at = up;
      up = this.context.facts.parent(up);
    }
    return up !== null && up.kind === 'assign' && up.op === null && up.target === at;
  }

  private surelyAssigned(decl: Variable): boolean {
    const { facts } = this.context;
    if (this.heavy.some((stmt) => facts.effects(stmt).exits.length > 0)) return false;
    return this.heavy.some((stmt) => {
      if (stmt.kind !== 'expression') return false;
      const expr = strip(stmt.expression);
      if (expr.kind !== 'assign' || expr.op !== null) return false;
      const target = strip(expr.target);
      return target.kind === 'ref' && target.decl === decl;
    });
  }

  /** Has anything in front of the region given the variable a value? */
  private hasValue(decl: Variable): boolean {
    const { facts } = this.context;
    const { body } = facts.function;
    if (decl.kind === 'parameter' || !uninitialised(decl) || body === null) return true;
    return facts.assignments(decl, body).some((definition) => 'node' in definition && !isInside(definition.node, this.heavy));
  }

  /** An address of the variable that outlives the expression it stands in: who uses it cannot be told. */
  private keptAddress(decl: Variable): boolean {
    const structure = structureOf(this.context.facts.function);
    const alias = [...structure.aliases].some(([name, root]) => root.decl === decl && !this.own.has(name));
    if (!structure.escaped.has(decl) && !alias) return false;
    this.trouble('thread-free', decl.kind === 'variable' && decl.init !== null ? decl.init : this.region.stmt, `the address of ${decl.name} is kept, so that what is done with it cannot move to another thread`, `copy ${decl.name} into a variable of its own inside the branch`);
    return true;
  }
}

/** What only the thread itself, or the place where it stands, can evaluate. */
function isTied(node: Node): boolean {
  return node.kind === 'lambda' || node.kind === 'opaque' || node.kind === 'this' || isStmt(node) || (node.kind === 'coordinate' && node.base === 'threadIdx');
}

function within(inner: Span, outer: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/** An automatic variable or parameter: each thread has its own. */
export function isPrivate(decl: Decl): decl is Variable {
  if (decl.kind === 'parameter') return true;
  return decl.kind === 'variable' && decl.space === 'local' && decl.storage === 'automatic' && !decl.constexpr;
}

/** Private, and no constant: what an item has to bring along. */
function ofThread(decl: Decl): decl is Variable {
  return isPrivate(decl) && !(decl.kind === 'variable' && isConstantHere(decl));
}

function uninitialised(decl: Variable): boolean {
  return decl.kind === 'variable' && decl.init === null && decl.initStyle === 'none' && !decl.opaqueInit
    && decl.type.kind !== 'record' && decl.type.kind !== 'array' && decl.type.kind !== 'reference';
}

/** For messages. */
export function travelWords(context: TransformContext, travels: readonly Travel[]): string {
  const names = travels.filter((travel) => travel.how === 'carry').map((travel) => travel.decl.name);
  const again = travels.filter((travel) => travel.how === 'recompute').map((travel) => excerpt(context.unit.source, travel.decl));
  return `${names.length === 0 ? 'nothing is carried' : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} carried`}${again.length === 0 ? '' : `; computed again: ${again.join(', ')}`}`;
}

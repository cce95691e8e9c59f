/**
 * What the kernel over the list must know of an item: variables that were set before the heavy code. A variable is *recomputed* from the
 * item's index where the statements that set it only compute, and read nothing that may have changed; else its value at the
 * branch is *carried* in an array with one element an item.
 *
 * The statements to repeat are a backward slice over the statements that every heavy item has run: those of the blocks around the branch
 * that stand before it. They are repeated whole and in order.
 */
import { walk, type Node } from '../../src/analysis/children.js';
import type { Effects, FunctionFacts, Variable } from '../../src/analysis/facts.js';
import type { Span } from '../../src/source/types.js';
import { strip, type Decl, type DeclareStmt, type Stmt, type Type, type VariableDecl } from '../../src/syntax/tree.js';
import { constantsAskedFor, isConstantHere, localDeclarations, namedIn, namesTypesOfValues, wordIn, wordsOf, type LocalDeclaration } from '../lib/local-names.js';
import type { TransformContext } from '../lib/types.js';
import { continuation, type GridShape } from './grid-shape.js';

export interface Slice {
  /** Repeated before the heavy code, in order. */
  readonly statements: readonly Stmt[];
  /** Carried variables, in the order of their declarations, with why they are not recomputed. */
  readonly carried: readonly Carried[];
  /** A name of the heavy part that the kernel over the list would not know; null if there is none. */
  readonly lost: { readonly span: Span; readonly text: string; readonly remedy: string } | null;
}

export interface Carried {
  readonly decl: VariableDecl;
  readonly line: number;
  readonly why: string;
}

/** Instructions of repeated statements up to which recomputing is preferred to a store and a load of the values. */
const CHEAP = 40;

/** `unstable` says why a statement may not be repeated later, null if it may. */
export function sliceFor(context: TransformContext, shape: GridShape, unstable: (stmt: Stmt) => string | null): Slice {
  return new Slicer(context, shape, unstable).slice();
}

class Slicer {
  private readonly facts: FunctionFacts;
  private readonly before: readonly Stmt[];
  private readonly declared = new Map<Decl, Stmt>();
  /** Types, constants and names from elsewhere, which text names without a reference. */
  private readonly locals: readonly LocalDeclaration[];
  private readonly carried = new Map<VariableDecl, Carried>();
  private lost: Slice['lost'] = null;

  constructor(private readonly context: TransformContext, private readonly shape: GridShape, private readonly unstable: (stmt: Stmt) => string | null) {
    this.facts = context.facts;
    this.before = shape.before.flat();
    for (const stmt of this.before) if (stmt.kind === 'declare') for (const variable of stmt.variables) this.declared.set(variable, stmt);
    this.locals = localDeclarations(context).filter(({ stmt, plain }) => !plain && this.before.includes(stmt));
  }

  slice(): Slice {
    for (;;) {
      const statements = this.once();
      if (statements === null) continue;
      const slice = { statements, carried: [...this.carried.values()].sort((a, b) => a.decl.span.start - b.decl.span.start) };
      return { ...slice, lost: this.lost ?? this.noConstant(slice.carried) ?? this.outOfSight(statements) };
    }
  }

  /** Null if another variable turned out to have to be carried. */
  private once(): readonly Stmt[] | null {
    const { facts } = this;
    const needed = new Set<Decl>();
    const named = new Set<Stmt>();
    const isCarried = (decl: Decl): boolean => decl.kind === 'variable' && this.carried.has(decl);
    const need = (node: Node): void => {
      for (const decl of [...namesIn(facts, node, this.declared), ...this.inTypes(node)]) if (!isCarried(decl)) needed.add(decl);
      for (const { stmt } of this.localsIn(node)) named.add(stmt);
    };
    for (const node of continuation(this.shape)) need(node);
    const chosen: Stmt[] = [];
    /** Set by a statement behind the one that is looked at. */
    const later = new Set<Decl>();
    for (const stmt of [...this.before].reverse()) {
      const local = named.has(stmt) ? this.locals.find((one) => one.stmt === stmt) : undefined;
      if (local?.tied === null) {
        chosen.unshift(stmt);
        need(stmt);
        continue;
      }
      const effects = facts.effects(stmt);
      const all = setBy(stmt, effects);
      const set = all.filter((decl) => needed.has(decl));
      const older = [...effects.uses].find((decl) => isCarried(decl) && later.has(decl)) ?? [...effects.assigns].find(isCarried) ?? null;
      for (const decl of all) later.add(decl);
      if (set.length === 0 && local === undefined) continue;
      const why = obstacle(stmt, effects) ?? this.unstable(stmt) ?? (older === null ? null : `it rests on an older value of ${older.name}`) ?? tooLong(facts, stmt, set);
      if (why !== null && (set.length > 0 || local !== undefined)) {
        let grown = false;
        for (const decl of set) {
          if (decl.kind !== 'variable' || this.carried.has(decl)) continue;
          this.carried.set(decl, { decl, line: facts.unit.source.line(stmt.span.start), why });
          grown = true;
        }
        if (grown) return null;
        if (local !== undefined && declaresMore(local.stmt, set)) this.lost ??= { span: stmt.span, text: `${wordsOfNames(local)} is declared with a variable that cannot be computed again (${why})`, remedy: 'declare it on its own' };
        // A parameter that is changed by what cannot be repeated: nothing to carry it in. The caller sees it as not declared.
        continue;
      }
      chosen.unshift(stmt);
      need(stmt);
    }
    return chosen;
  }

  /** Declarations that the text of a node names, as far as they come before it and are still in scope. */
  private localsIn(node: Node): readonly LocalDeclaration[] {
    if (this.locals.length === 0) return [];
    const words = wordsOf(this.context);
    return this.locals.filter((local) => local.stmt !== node && local.stmt.span.end <= node.span.start && node.span.start < local.scope.end && namedIn(words, local, node.span) !== null);
  }

  /** Variables that only a type or a capture names: `decltype(v)`. */
  private inTypes(node: Node): readonly Decl[] {
    if (!namesTypesOfValues(this.context.unit.source.text, node.span)) return [];
    const words = wordsOf(this.context);
    return [...this.declared.keys()].filter((decl) => decl.span.end <= node.span.start && wordIn(words, decl.name, node.span) !== null);
  }

  /** The length of an array, or the argument of a template, that would be no constant any more. */
  private noConstant(carried: readonly Carried[]): Slice['lost'] {
    let lost: Slice['lost'] = null;
    constantsAskedFor(continuation(this.shape), (ref) => {
      const one = ref.kind === 'ref' ? carried.find(({ decl }) => decl === ref.decl) : undefined;
      if (one !== undefined) lost ??= { span: ref.span, text: `${one.decl.name} must be a constant here, and is the value of an item`, remedy: `declare ${one.decl.name} constexpr` };
    });
    return lost;
  }

  /** A declaration of another sort, such as one behind a directive or in a macro, that a name of the heavy part may mean. */
  private outOfSight(statements: readonly Stmt[]): Slice['lost'] {
    const words = wordsOf(this.context);
    const texts = [...continuation(this.shape), ...statements];
    for (const local of localDeclarations(this.context)) {
      const own = texts.some(({ span }) => span.start <= local.stmt.span.start && local.stmt.span.end <= span.end);
      if (local.plain || own || this.before.includes(local.stmt)) continue;
      const text = texts.find((node) => local.stmt.span.end <= node.span.start && node.span.start < local.scope.end && namedIn(words, local, node.span) !== null);
      if (text === undefined) continue;
      return { span: local.stmt.span, text: `${wordsOfNames(local)} is declared where the kernel over the list does not see it${local.tied === null ? '' : `, and ${local.tied}`}`, remedy: 'declare it on its own in front of the branches' };
    }
    return null;
  }
}

/** Besides the variables that are carried. */
function declaresMore(stmt: DeclareStmt, carried: readonly Decl[]): boolean {
  return stmt.types.length > 0 || stmt.brings !== undefined || stmt.variables.some((variable) => isConstantHere(variable) || !carried.includes(variable));
}

function wordsOfNames({ names }: LocalDeclaration): string {
  return names === 'any' ? 'what a using-directive names' : names.join(', ');
}

/** A declaration of several variables cannot be repeated for some of them only where one of the others is carried: it would be declared twice. */
export function declaresCarried(stmt: Stmt, slice: Slice): boolean {
  return stmt.kind === 'declare' && stmt.variables.some((variable) => slice.carried.some(({ decl }) => decl === variable));
}

/** Variables that a statement sets, those that it declares included. */
export function setBy(stmt: Stmt, effects: Effects): readonly Variable[] {
  const set = new Set<Variable>(effects.assigns);
  if (stmt.kind === 'declare') for (const variable of stmt.variables) set.add(variable);
  return [...set];
}

/** Why a statement may not run twice; null if it only computes. */
function obstacle(stmt: Stmt, effects: Effects): string | null {
  if (effects.accesses.some((access) => access.kind !== 'read' && access.space !== 'local')) return 'what sets it also writes memory';
  if (effects.atomics.length > 0) return 'it comes from an atomic';
  if (effects.barriers.length + effects.collectives.length + effects.fences.length > 0) return 'it comes from a collective';
  if (effects.unknownCalls.length + effects.opaque.length + effects.asm.length > 0) return 'what sets it was not understood';
  if (effects.visible.length > 0) return 'what sets it has effects that others see';
  if (effects.exits.length > 0) return 'it is set where a thread may leave';
  if (stmt.kind === 'declare' && stmt.variables.some((variable) => variable.space !== 'local' || variable.storage !== 'automatic')) return 'it is shared';
  if (effects.accesses.some((access) => access.space === 'shared')) return 'it comes from shared memory, which ends with the block';
  return null;
}

/** Long computations of few values are cheaper to carry, where they can be. */
function tooLong(facts: FunctionFacts, stmt: Stmt, set: readonly Variable[]): string | null {
  if (facts.cost(stmt).instructions <= CHEAP || !set.every((decl) => decl.kind === 'variable' && carriedType(decl.type) !== null)) return null;
  return 'computing it again costs more than carrying it';
}

/** Variables of the blocks around the branch, and parameters, that a node refers to, and constants that it spells. */
function namesIn(facts: FunctionFacts, node: Node, declared: ReadonlyMap<Decl, Stmt>): ReadonlySet<Decl> {
  const found = new Set<Decl>();
  const visit = (root: Node): void => walk(root, (inner) => {
    if (inner.kind === 'ref' && inner.decl !== null && (declared.has(inner.decl) || inner.decl.kind === 'parameter')) found.add(inner.decl);
    if (inner.kind === 'sizeof' && inner.operand !== null) visit(inner.operand);
    return true;
  });
  visit(node);
  const text = facts.unit.source.text.slice(node.span.start, node.span.end);
  for (const [decl, stmt] of declared) {
    if (found.has(decl) || decl.kind !== 'variable' || decl.type.const !== true || isConstantHere(decl)) continue;
    if (stmt.span.start < node.span.start && new RegExp(`\\b${decl.name}\\b`).test(text)) found.add(decl);
  }
  return found;
}

/** Types of one element of an array of carried values, as CUDA spells them; null for what cannot be carried. */
export function carriedType(type: Type): string | null {
  switch (type.kind) {
    case 'bool': return 'bool';
    case 'int': {
      const names = { 8: ['char', 'unsigned char'], 16: ['short', 'unsigned short'], 32: ['int', 'unsigned'], 64: ['long long', 'unsigned long long'] } as const;
      return names[type.bits][type.signed ? 0 : 1];
    }
    case 'float': return type.format === 'float' || type.format === 'double' ? type.format : null;
    case 'void': case 'pointer': case 'reference': case 'array': case 'record': case 'enum': case 'function': case 'dependent': case 'unknown': return null;
    default: {
      const never: never = type;
      return never;
    }
  }
}

/** The initialiser of a variable without parentheses; null without one. */
export function initOf(decl: VariableDecl): ReturnType<typeof strip> | null {
  return decl.init === null ? null : strip(decl.init);
}

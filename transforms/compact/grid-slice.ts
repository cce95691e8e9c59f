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
import { strip, type Decl, type Stmt, type Type, type VariableDecl } from '../../src/syntax/tree.js';
import { continuation, type GridShape } from './grid-shape.js';

export interface Slice {
  /** Repeated before the heavy code, in order. */
  readonly statements: readonly Stmt[];
  /** Carried variables, in the order of their declarations, with why they are not recomputed. */
  readonly carried: readonly Carried[];
}

export interface Carried {
  readonly decl: VariableDecl;
  readonly line: number;
  readonly why: string;
}

/** Instructions of repeated statements up to which recomputing is preferred to a store and a load of the values. */
const CHEAP = 40;

/** `unstable` says why a statement may not be repeated later, null if it may. */
export function sliceFor(facts: FunctionFacts, shape: GridShape, unstable: (stmt: Stmt) => string | null): Slice {
  const before = shape.before.flat();
  const declared = new Map<Decl, Stmt>();
  for (const stmt of before) if (stmt.kind === 'declare') for (const variable of stmt.variables) declared.set(variable, stmt);
  const last = continuation(shape);
  const carried = new Map<VariableDecl, Carried>();
  for (;;) {
    const round = sliceOnce(facts, before, last, declared, carried, unstable);
    if (round !== null) return round;
  }
}

function sliceOnce(
  facts: FunctionFacts, before: readonly Stmt[], last: readonly Node[], declared: ReadonlyMap<Decl, Stmt>, carried: Map<VariableDecl, Carried>, unstable: (stmt: Stmt) => string | null,
): Slice | null {
  const needed = new Set<Decl>();
  const need = (node: Node): void => { for (const decl of namesIn(facts, node, declared)) if (!isCarried(decl)) needed.add(decl); };
  const isCarried = (decl: Decl): boolean => decl.kind === 'variable' && carried.has(decl);
  for (const node of last) need(node);
  const chosen: Stmt[] = [];
  /** Set by a statement behind the one that is looked at. */
  const later = new Set<Decl>();
  for (const stmt of [...before].reverse()) {
    const effects = facts.effects(stmt);
    const all = setBy(stmt, effects);
    const set = all.filter((decl) => needed.has(decl));
    const older = [...effects.uses].find((decl) => isCarried(decl) && later.has(decl)) ?? [...effects.assigns].find(isCarried) ?? null;
    for (const decl of all) later.add(decl);
    const types = stmt.kind === 'declare' ? stmt.types.filter((type) => needed.has(type)) : [];
    if (set.length === 0 && types.length === 0) continue;
    const why = set.length === 0 ? null : obstacle(stmt, effects) ?? unstable(stmt) ?? (older === null ? null : `it rests on an older value of ${older.name}`) ?? tooLong(facts, stmt, set);
    if (why !== null) {
      let grown = false;
      for (const decl of set) {
        if (decl.kind !== 'variable' || carried.has(decl)) continue;
        carried.set(decl, { decl, line: facts.unit.source.line(stmt.span.start), why });
        grown = true;
      }
      if (grown) return null;
      // A parameter that is changed by what cannot be repeated: nothing to carry it in. The caller sees it as not declared.
      continue;
    }
    chosen.unshift(stmt);
    need(stmt);
  }
  return { statements: chosen, carried: [...carried.values()].sort((a, b) => a.decl.span.start - b.decl.span.start) };
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

/**
 * Declarations of the blocks around the branch, and parameters, that a node names. Names in array lengths, template arguments and `sizeof` are no
 * parts of the tree: constants are taken by their spelling, which at worst repeats one too many.
 */
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
    if (found.has(decl) || decl.kind !== 'variable' || !(decl.constexpr || decl.type.const === true)) continue;
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

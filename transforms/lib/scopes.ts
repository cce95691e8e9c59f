/**
 * Which local declarations a name can mean at a place of a function: C++'s blocks, heads and lambdas on the typed tree. Conditional
 * text (`#if`) and macros open no scope of their own.
 */
import { walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Decl, Stmt } from '../../src/syntax/tree.js';

/** Every declaration made in the node. */
export function declaredIn(root: Node): ReadonlySet<Decl> {
  const result = new Set<Decl>();
  walk(root, (node) => {
    if (node.kind === 'declare') {
      for (const variable of node.variables) result.add(variable);
      for (const type of node.types) {
        result.add(type);
        if (type.kind === 'enum') for (const enumerator of type.enumerators) result.add(enumerator);
      }
    } else if (node.kind === 'range-for') {
      result.add(node.variable);
    } else if (node.kind === 'lambda') {
      for (const parameter of node.parameters) result.add(parameter);
    }
    if ('conditionDecl' in node && node.conditionDecl !== null) result.add(node.conditionDecl);
  });
  return result;
}

/** Local declarations in scope right before a statement (or in an expression); of two with one name, the inner one. */
export function declarationsVisibleAt(facts: FunctionFacts, place: Node): ReadonlySet<Decl> {
  return new Set(scopeAt(facts, place).values());
}

/** What each local name means at a place; names that are not in the map mean what they mean outside of the function. */
export function scopeAt(facts: FunctionFacts, place: Node): ReadonlyMap<string, Decl> {
  const byName = new Map<string, Decl>();
  const add = (decl: Decl): void => {
    if (!byName.has(decl.name)) byName.set(decl.name, decl);
  };
  let below: Node = place;
  for (let at: Node | null = facts.parent(place); at !== null; below = at, at = facts.parent(at)) {
    for (const statement of [...statementsBefore(at, below)].reverse()) for (const decl of declarationsOf(statement)) add(decl);
    if (at.kind === 'declare') for (const decl of [...at.variables].reverse()) if (decl.span.start < below.span.start) add(decl);
    if ('conditionDecl' in at && at.conditionDecl !== null) add(at.conditionDecl);
    if (at.kind === 'for' && at.init.kind === 'declare' && at.init !== below) for (const decl of at.init.variables) add(decl);
    if ((at.kind === 'if' || at.kind === 'switch') && at.init !== null && at.init.kind === 'declare' && at.init !== below) for (const decl of at.init.variables) add(decl);
    if (at.kind === 'range-for' && at.range !== below) add(at.variable);
    if (at.kind === 'lambda') for (const parameter of at.parameters) add(parameter);
  }
  for (const parameter of facts.function.parameters) add(parameter);
  return byName;
}

/** What a statement declares for those behind it, the last one first. */
function declarationsOf(statement: Stmt): readonly Decl[] {
  switch (statement.kind) {
    case 'declare': {
      const types = statement.types.flatMap((type): readonly Decl[] => (type.kind === 'enum' ? [type, ...type.enumerators] : [type]));
      return [...types, ...statement.variables].reverse();
    }
    case 'preprocessor': return statement.arms.flatMap((arm) => (arm.active ? [...arm.body].reverse().flatMap(declarationsOf) : []));
    case 'macro-statement': return statement.expanded.kind === 'compound' ? [...statement.expanded.body].reverse().flatMap(declarationsOf) : declarationsOf(statement.expanded);
    case 'label': return declarationsOf(statement.body);
    default: return [];
  }
}

function statementsBefore(parent: Node, child: Node): readonly Stmt[] {
  if (parent.kind === 'compound') return before(parent.body, child);
  if (parent.kind === 'switch') return before(parent.arms.flatMap((arm) => arm.body), child);
  if (parent.kind === 'preprocessor') return before(parent.arms.flatMap((arm) => (arm.active ? arm.body : [])), child);
  return [];
}

function before(list: readonly Stmt[], child: Node): readonly Stmt[] {
  const index = list.findIndex((statement) => statement === child);
  return index < 0 ? [] : list.slice(0, index);
}

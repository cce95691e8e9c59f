/**
 * What compactions themselves leave behind: a branch whose arm does nothing but mark an item, or put it at its place of a list. Such a branch was
 * compacted before, whoever wrote it, and is no region of any variant.
 */
import { walk } from '../../src/analysis/children.js';
import { strip, type AssignExpr, type IfStmt, type Stmt } from '../../src/syntax/tree.js';

/** An arm of the branch marks or lists items: it was compacted before, with that arm as the heavy one. */
export function isListed(stmt: IfStmt): boolean {
  return [stmt.then, stmt.else].some((arm) => arm !== null && isListing(arm.kind === 'compound' ? arm.body : [arm]));
}

/** The statements mark an item, or list it. */
export function isListing(list: readonly Stmt[]): boolean {
  const stores = list.filter((one) => one.kind !== 'return');
  const last = stores.at(-1);
  if (last === undefined || !stores.every((one) => storeOf(one) !== null)) return false;
  return isMark(last) || (stores.length === 1 && isRanked(last));
}

function storeOf(stmt: Stmt): AssignExpr | null {
  const store = stmt.kind === 'expression' ? strip(stmt.expression) : null;
  return store?.kind === 'assign' && store.op === null && strip(store.target).kind === 'index' ? store : null;
}

/** `flags[…] = 1;` for an array of bytes that is a parameter. */
function isMark(stmt: Stmt): boolean {
  const store = storeOf(stmt);
  if (store === null) return false;
  const target = strip(store.target);
  const value = strip(store.value);
  if (target.kind !== 'index' || value.kind !== 'literal' || value.value !== 1n) return false;
  const base = strip(target.base);
  return base.kind === 'ref' && base.decl?.kind === 'parameter' && base.type.kind === 'pointer' && base.type.to.kind === 'int' && base.type.to.bits === 8 && !base.type.to.signed;
}

/** `items[… + __popc(votes & below)] = …;`: the place comes from a ballot. */
function isRanked(stmt: Stmt): boolean {
  const store = storeOf(stmt);
  const target = store === null ? null : strip(store.target);
  if (target?.kind !== 'index') return false;
  let ranked = false;
  walk(target.index, (node) => { if (node.kind === 'call' && node.callee.kind === 'builtin' && node.callee.name === '__popc') ranked = true; });
  return ranked;
}

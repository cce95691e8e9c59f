/**
 * The value that a variable has where a region begins, if one statement on the way there gives it and nothing changes it in between:
 *
 *     float sum = 0.f;             sum is 0 for every item: nothing to carry, whatever the items make of it
 *     if (i < n) {
 *         m = lambda / n;          m can be computed again
 *         if (p(i)) sum += f(m);
 */
import type { Variable } from '../../src/analysis/facts.js';
import { strip, type DeclareStmt, type Expr, type Stmt } from '../../src/syntax/tree.js';
import type { TransformContext } from '../lib/types.js';
import { isInside, isLoop, type Region } from './region.js';

export interface EntryValue {
  readonly value: Expr;
  /** The declaration of this variable alone that the value stands in. */
  readonly declaration: DeclareStmt | null;
  readonly stmt: Stmt;
}

/** Null if the variable may have another value there, or one that no single statement gives. */
export function entryValue({ facts }: TransformContext, region: Region, decl: Variable): EntryValue | null {
  const { body } = facts.function;
  if (body === null || decl.kind !== 'variable' || decl.opaqueInit || facts.addressTaken(decl)) return null;
  if (decl.type.kind !== 'int' && decl.type.kind !== 'float' && decl.type.kind !== 'bool' && decl.type.kind !== 'pointer' && decl.type.kind !== 'enum') return null;
  for (let k = region.frames.length - 1; k >= 0; k--) {
    const frame = region.frames[k];
    for (let i = (frame?.index ?? 0) - 1; i >= 0; i--) {
      const stmt = frame?.list[i];
      const given = stmt === undefined ? null : givenBy(stmt, decl);
      if (given === null) continue;
      const others = facts.assignments(decl, body).filter((definition) => definition.kind !== 'declaration' && !('node' in definition && isInside(definition.node, [given.stmt])));
      const harmless = others.every((definition) => 'node' in definition && (isInside(definition.node, region.heavy.stmts) || isInside(definition.node, region.light?.stmts ?? []) || definition.node.span.start >= region.stmt.span.end));
      // A loop that begins behind the statement brings back what was made of the variable in its last round.
      const again = others.length > 0 && region.frames.slice(k + 1).some(({ owner }) => owner !== null && isLoop(owner));
      return harmless && !again ? given : null;
    }
  }
  return null;
}

/** `T v = e;` or `v = e;`. */
function givenBy(stmt: Stmt, decl: Variable): EntryValue | null {
  if (stmt.kind === 'declare') {
    const variable = stmt.variables.find((one) => one === decl);
    return variable === undefined || variable.init === null || variable.initStyle === 'brace' ? null : { value: variable.init, declaration: stmt.variables.length === 1 ? stmt : null, stmt };
  }
  if (stmt.kind !== 'expression') return null;
  const expr = strip(stmt.expression);
  if (expr.kind !== 'assign' || expr.op !== null) return null;
  const target = strip(expr.target);
  return target.kind === 'ref' && target.decl === decl ? { value: expr.value, declaration: null, stmt } : null;
}

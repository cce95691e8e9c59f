/**
 * May two accesses touch one byte? Decided by what they go through, never by their indices.
 *
 * Rules: distinct spaces are disjoint; distinct named objects are disjoint; an automatic object whose address never leaves is reached by
 * its name only; `__restrict__` on a parameter separates what is reached through it from everything reached through another
 * name (C99 6.7.3.1, as nvcc applies it); two kernel pointers may be declared disjoint by `// divmod: noalias`. Everything else may alias. Types
 * are not used to separate accesses: real kernels reinterpret memory.
 *
 * Not handled: fields of a union overlap (and are treated so); pointers that were stored in memory and loaded again are paths of their own,
 * which may alias whatever is not separated by one of the rules.
 */
import type { FunctionDecl, Program, RecordDecl } from '../syntax/tree.js';
import { annotationsOf } from './annotations.js';
import { placeKey, type Place } from './places.js';

/** Grants that separate pointers which the language does not. */
export interface AliasGrants {
  /** Pointer parameters of the kernel never overlap. */
  readonly noalias: boolean;
}

export const NO_GRANTS: AliasGrants = { noalias: false };

const grants = new WeakMap<FunctionDecl, AliasGrants>();

export function grantsOf(kernel: FunctionDecl | null, program: Program): AliasGrants {
  if (kernel === null) return NO_GRANTS;
  const known = grants.get(kernel);
  if (known !== undefined) return known;
  const made = annotationsOf(kernel, program).has('noalias') ? { noalias: true } : NO_GRANTS;
  grants.set(kernel, made);
  return made;
}

/** Spaces that a generic pointer into global memory cannot tell apart. */
function memory(space: Place['space']): 'global' | 'local' | 'shared' | 'unknown' {
  switch (space) {
    case 'device': case 'managed': case 'constant': case 'host': return 'global';
    case 'local': return 'local';
    case 'shared': return 'shared';
    case 'unknown': return 'unknown';
  }
}

/** `.a` and `.b` of one record are apart unless one is the beginning of the other or a union lies between. */
function stepsOverlap(a: string, b: string, base: Place['base']): boolean {
  if (a === b || a.startsWith(b) || b.startsWith(a)) return true;
  if (base === null || base === 'this' || (base.kind !== 'variable' && base.kind !== 'parameter')) return true;
  return holdsUnion(base.type.kind === 'record' ? base.type.decl : null, 0);
}

function holdsUnion(record: RecordDecl | null, depth: number): boolean {
  if (record === null || depth > 4) return true;
  if (record.sort === 'union' || record.overlaid === true) return true;
  return record.fields.some((field) => field.type.kind === 'record' && holdsUnion(field.type.decl, depth + 1));
}

function isObject(place: Place): boolean {
  return place.base !== null && !place.steps.includes('*');
}

/**
 * Do two declarations name one object? All `extern __shared__` arrays of a kernel are one memory, whatever they are called and wherever they are
 * declared; a name at namespace scope may be declared in several files.
 */
function sameObject(a: Place['base'], b: Place['base']): boolean {
  if (a === b) return true;
  if (a === null || b === null || a === 'this' || b === 'this' || a.kind !== 'variable' || b.kind !== 'variable') return false;
  if (a.dynamicShared && b.dynamicShared) return true;
  const shared = (storage: string): boolean => storage === 'namespace' || storage === 'extern';
  return a.name === b.name && shared(a.storage) && shared(b.storage);
}

export function placesAlias(a: Place, b: Place, grants: AliasGrants): boolean {
  const left = memory(a.space);
  const right = memory(b.space);
  if (left !== 'unknown' && right !== 'unknown' && left !== right) return false;
  const same = sameObject(a.base, b.base);
  if (isObject(a) && isObject(b)) return same && (a.base !== b.base || stepsOverlap(a.steps, b.steps, a.base));
  if (!same && ((a.hidden && isObject(a)) || (b.hidden && isObject(b)))) return false;
  if (placeKey(a) === placeKey(b)) return true;
  if (a.base !== null && b.base !== null && a.base !== b.base) {
    if (a.restrict || b.restrict) return false;
    if (grants.noalias && isParameterTarget(a) && isParameterTarget(b)) return false;
  }
  // An unknown pointer may have been derived from a restrict one; not so if nothing is written through that one at all, which its callers test.
  return true;
}

function isParameterTarget(place: Place): boolean {
  return place.base !== null && place.base !== 'this' && place.base.kind === 'parameter' && place.steps.startsWith('*');
}

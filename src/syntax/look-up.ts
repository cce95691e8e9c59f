/**
 * What a name would mean, were it written in a function: the look-up of lowering, kept for text that is written later.
 *
 * Names are looked up from the function's own scope: its template parameters, the record that it is a member of, the namespaces around it. What the body
 * declares in front of the place is the caller's to ask first. Where two declarations could be meant, or where a base that no file shows could hold the
 * name, the answer is null: a longer spelling has to be found.
 */
import { FunctionNode, type BodyLookup } from './function-node.js';
import { homeOf, memberScope, scopedEnumOf, type Found, type Names, type Scope } from './scope.js';
import type { Decl, FunctionDecl, RecordDecl, Type } from './tree.js';

/** The variable, enumerator, parameter or type that `spelling` (`R`, `na::R`, `::na::Cfg::R`; no template arguments) means in the function; null if that is not sure. */
export function meaningIn(fn: FunctionDecl, spelling: string): Decl | null {
  const from = fn instanceof FunctionNode ? fn.bodyLookup() : null;
  if (from === null) return null;
  const parts = spelling.split('::');
  const rooted = parts[0] === '';
  if (rooted) parts.shift();
  if (parts.some((part) => !/^[A-Za-z_$][\w$]*$/.test(part))) return null;
  const [first = ''] = parts;
  if (!rooted && parts.length === 1) return alone(from, first);
  let prefix: Prefix | null = { kind: 'namespace', path: '' };
  for (const [i, part] of parts.slice(0, -1).entries()) {
    prefix = i === 0 && !rooted ? firstPrefix(from, part) : nextPrefix(from.names, prefix, part);
    if (prefix === null) return null;
  }
  return memberIn(from.names, prefix, parts[parts.length - 1] ?? '');
}

/**
 * The shortest spelling of a declaration that means it in the function: its name, with as much of what it is a member of as that takes, from the global
 * scope at worst. `accepts` is asked about each first (what the place itself declares may stand in its way). Null if there is none: a member of a class
 * template, of a local class, or one that stands behind the function.
 */
export function spellingIn(fn: FunctionDecl, decl: Decl, accepts: (spelling: string) => boolean): string | null {
  const path = pathOf(decl);
  if (path === null || isBehind(fn, decl)) return null;
  const shorter = path.map((_, i) => path.slice(path.length - 1 - i).join('::'));
  return [...shorter, `::${path.join('::')}`].find((spelling) => accepts(spelling) && meaningIn(fn, spelling) === decl) ?? null;
}

/** Names before `::` from the outermost on, the declaration's own last; null if template arguments would have to stand among them, or for what a function declares. */
export function pathOf(decl: Decl, depth = 0): readonly string[] | null {
  if (decl.name === '' || depth > 16) return null;
  const inEnum = decl.kind === 'enumerator' ? scopedEnumOf(decl) : null;
  if (inEnum !== null) return joined(pathOf(inEnum, depth + 1), decl.name);
  const home = homeOf(decl);
  if (home === null) return null;
  if (home.kind === 'namespace') return home.path === '' ? [decl.name] : [...home.path.split('::'), decl.name];
  return home.record === null || home.record.template !== null ? null : joined(pathOf(home.record, depth + 1), decl.name);
}

function joined(path: readonly string[] | null, name: string): readonly string[] | null {
  return path === null ? null : [...path, name];
}

/** Members are known all through their class; what else stands behind the function's name in its file is not known there. */
function isBehind(fn: FunctionDecl, decl: Decl): boolean {
  return decl.file === fn.file && decl.span.start > fn.nameSpan.start && homeOf(decl)?.kind !== 'record';
}

// ------------------------------------------------------------------------------------------------------------ look-up

type Prefix = { readonly kind: 'namespace'; readonly path: string } | { readonly kind: 'type'; readonly type: Type };

function alone({ names, scope }: BodyLookup, name: string): Decl | null {
  for (let level: Scope | null = scope; level !== null; level = level.parent) {
    if (level.kind === 'namespace') return inNamespaces(names, level, name);
    if (level.kind === 'record' && level.record !== null) {
      const found = names.member(level.record, name);
      if (found !== null) return declOf(found);
      if (mayInherit(level.record)) return null;
      continue;
    }
    const own = level.values.get(name) ?? level.types.get(name);
    if (own !== undefined) return own;
    if (level.functions.has(name) || level.usings.length > 0) return null;
  }
  return null;
}

/** From a namespace outwards. Using-directives put their names beside those of a namespace further out, so that all of them count at once. */
function inNamespaces(names: Names, from: Scope, name: string): Decl | null {
  const used = new Set<string>();
  const levels: string[] = [];
  for (let level: Scope | null = from; level !== null; level = level.parent) if (level.kind === 'namespace') levels.push(level.path);
  const pending = [...levels];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const file of names.visible) {
      for (const other of file.spaces.get(path)?.usings ?? []) {
        if (used.has(other)) continue;
        used.add(other);
        pending.push(other);
      }
    }
  }
  const own = levels.map((path) => names.inNamespace(path, name)).find((found) => found !== null) ?? null;
  if (own === null) return null;
  const decl = declOf(own);
  const others = [...used].map((path) => names.inNamespace(path, name)).filter((found) => found !== null);
  return others.every((found) => declOf(found) === decl) ? decl : null;
}

function firstPrefix({ names, scope }: BodyLookup, name: string): Prefix | null {
  const path = names.namespacePath(scope, name);
  const type = names.lookupType(scope, name);
  if (path !== null) return type === null ? { kind: 'namespace', path } : null;
  return type === null ? null : asPrefix(type);
}

function nextPrefix(names: Names, prefix: Prefix | null, name: string): Prefix | null {
  if (prefix === null) return null;
  if (prefix.kind === 'namespace') {
    const path = names.child(prefix.path, name);
    if (path !== null) return { kind: 'namespace', path };
  }
  const found = memberIn(names, prefix, name);
  return found === null ? null : asPrefix(found);
}

function memberIn(names: Names, prefix: Prefix, name: string): Decl | null {
  if (prefix.kind === 'namespace') return declOf(names.inNamespace(prefix.path, name));
  const { type } = prefix;
  if (type.kind === 'enum') return type.decl.enumerators.find((enumerator) => enumerator.name === name) ?? null;
  // A template's name alone is no class.
  if (type.kind !== 'record' || type.decl.template !== null) return null;
  return declOf(names.memberOf(type.decl, name));
}

function asPrefix(decl: Decl): Prefix | null {
  switch (decl.kind) {
    case 'record': return { kind: 'type', type: { kind: 'record', decl } };
    case 'enum': return { kind: 'type', type: { kind: 'enum', decl } };
    case 'typedef': return { kind: 'type', type: decl.type };
    case 'variable': case 'parameter': case 'function': case 'enumerator': case 'template-parameter': return null;
    default: {
      const never: never = decl;
      return never;
    }
  }
}

function declOf(found: Found | null): Decl | null {
  return found === null || found.kind === 'functions' ? null : found.decl;
}

/** A base that no file shows may hold a member of any name. One that depends on a template parameter is not looked into. */
function mayInherit(record: RecordDecl, depth = 0): boolean {
  return depth > 8 || record.bases.some((base) => {
    if (base.kind === 'dependent') return false;
    return base.kind !== 'record' || !base.decl.complete || base.decl.specialised === true || memberScope(base.decl) === null || mayInherit(base.decl, depth + 1);
  });
}

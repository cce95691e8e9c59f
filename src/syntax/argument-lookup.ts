/**
 * Look-up by the types of a call's arguments (ISO C++ [basic.lookup.argdep]): functions of the namespaces of their classes and enumerations, of the bases and
 * template arguments of those, and their friends. What such a call means hangs on functions that the place of the call does not see.
 */
import { homeOf, memberScope, type Names, type Scope } from './scope.js';
import type { Expr, FunctionDecl, RecordDecl, Type } from './tree.js';

export interface Associated {
  readonly decls: readonly FunctionDecl[];
  /** There is a friend besides that only stands in one of the classes. */
  readonly hidden: boolean;
}

const NOTHING: Associated = { decls: [], hidden: false };

interface Reached { readonly paths: Set<string>; readonly records: Set<RecordDecl>; anywhere: boolean }

/** What a call of the name finds by its arguments. One of a template's own type may lead to any namespace. */
export function byArguments(names: Names, args: readonly Expr[], name: string): Associated {
  if (args.every((arg) => leadsNowhere(arg.type))) return NOTHING;
  const reached: Reached = { paths: new Set(), records: new Set(), anywhere: false };
  for (const arg of args) reach(arg.type, reached);
  const decls: FunctionDecl[] = [];
  let hidden = false;
  for (const record of reached.records) hidden ||= memberScope(record)?.hasFriend(name) === true;
  for (const file of names.visible) {
    if (reached.anywhere) for (const scope of file.spaces.values()) decls.push(...scope.functions.get(name) ?? []);
    else for (const path of reached.paths) decls.push(...file.spaces.get(path)?.functions.get(name) ?? []);
  }
  return { decls, hidden };
}

/** Most arguments are numbers, or lead to such. */
function leadsNowhere(type: Type): boolean {
  let t = type;
  while (t.kind === 'pointer' || t.kind === 'reference') t = t.to;
  return t.kind === 'int' || t.kind === 'float' || t.kind === 'bool' || t.kind === 'void' || t.kind === 'unknown';
}

/** Namespaces and classes that a type is associated with. */
function reach(type: Type, reached: Reached): void {
  switch (type.kind) {
    case 'record':
      if (!reached.records.has(type.decl)) reachRecord(type.decl, reached);
      for (const argument of type.templateArguments ?? []) if (argument.kind === 'type') reach(argument.type, reached);
      return;
    case 'enum': reachHome(homeOf(type.decl), reached); return;
    case 'pointer': case 'reference': reach(type.to, reached); return;
    case 'array': reach(type.of, reached); return;
    case 'function':
      reach(type.returns, reached);
      for (const parameter of type.parameters) reach(parameter, reached);
      return;
    case 'dependent': reached.anywhere = true; return;
    case 'void': case 'bool': case 'int': case 'float': case 'unknown': return;
  }
}

function reachRecord(record: RecordDecl, reached: Reached): void {
  reached.records.add(record);
  // CUDA's own types belong to the global namespace.
  if (record.vector !== null) reached.paths.add('');
  else reachHome(memberScope(record)?.parent ?? homeOf(record), reached);
  for (const base of record.bases) if (base.kind !== 'record' || !reached.records.has(base.decl)) reach(base, reached);
}

/** The namespace around a declaration; with a member of a class the class is associated too. */
function reachHome(home: Scope | null, reached: Reached): void {
  for (let level = home; level !== null; level = level.parent) {
    if (level.kind === 'namespace') { reached.paths.add(level.path); return; }
    if (level.kind === 'record' && level.record !== null) reached.records.add(level.record);
  }
  reached.anywhere = true;
}

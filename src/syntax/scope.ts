/**
 * Names and where they are visible: C++'s nested scopes inside a file, and the namespaces of all files that a file can see.
 *
 * Declarations at namespace scope are entered before any body is lowered, so a body sees the whole file (a name that is used
 * before its declaration and means something else in an enclosing scope would be resolved wrongly; nobody writes that).
 */
import type { FileDoubts, UnitDoubts } from './doubts.js';
import type {
  Decl, EnumDecl, EnumeratorDecl, FunctionDecl, ParameterDecl, RecordDecl, TemplateParameterDecl, Type, TypedefDecl, VariableDecl,
} from './tree.js';

export type ValueDecl = VariableDecl | ParameterDecl | EnumeratorDecl | TemplateParameterDecl;
export type TypeDecl = RecordDecl | EnumDecl | TypedefDecl | TemplateParameterDecl;

export type Found =
  | { readonly kind: 'value'; readonly decl: ValueDecl; /** The record, if it is a member found without an object. */ readonly member: RecordDecl | null }
  | { readonly kind: 'functions'; readonly decls: readonly FunctionDecl[]; readonly member: RecordDecl | null }
  | { readonly kind: 'type'; readonly decl: TypeDecl };

export type ScopeKind = 'namespace' | 'record' | 'template' | 'function' | 'block';

const NO_VALUES: ReadonlyMap<string, ValueDecl> = new Map();
const NO_FUNCTIONS: ReadonlyMap<string, FunctionDecl[]> = new Map();
const NO_TYPES: ReadonlyMap<string, TypeDecl> = new Map();
const NO_USINGS: readonly string[] = [];

/** One level of names. Most levels are blocks that declare little: tables are made when something is entered. */
export class Scope {
  #values: Map<string, ValueDecl> | null = null;
  #functions: Map<string, FunctionDecl[]> | null = null;
  #types: Map<string, TypeDecl> | null = null;
  #usings: string[] | null = null;
  #aliases: Map<string, string> | null = null;
  #dark = false;
  #usingAt: number[] | null = null;
  #friends: Set<string> | null = null;

  constructor(
    readonly kind: ScopeKind,
    readonly parent: Scope | null,
    /** For namespaces: `a::b`, empty for the global one. */
    readonly path: string,
    readonly record: RecordDecl | null,
  ) {}

  get values(): ReadonlyMap<string, ValueDecl> {
    return this.#values ?? NO_VALUES;
  }

  get functions(): ReadonlyMap<string, readonly FunctionDecl[]> {
    return this.#functions ?? NO_FUNCTIONS;
  }

  get types(): ReadonlyMap<string, TypeDecl> {
    return this.#types ?? NO_TYPES;
  }

  /** What this level itself declares by a name. Most levels declare nothing: their tables are not there to be asked. */
  own(name: string): Found | null {
    const value = this.#values?.get(name);
    if (value !== undefined) return { kind: 'value', decl: value, member: this.kind === 'record' ? this.record : null };
    const functions = this.#functions?.get(name);
    if (functions !== undefined) return { kind: 'functions', decls: functions, member: this.kind === 'record' ? this.record : null };
    const type = this.#types?.get(name);
    return type === undefined ? null : { kind: 'type', decl: type };
  }

  ownType(name: string): TypeDecl | undefined {
    return this.#types?.get(name);
  }

  /** Paths of namespaces named by using-directives at this level. */
  get usings(): readonly string[] {
    return this.#usings ?? NO_USINGS;
  }

  /** `at`: the offset of the directive. */
  use(path: string, at: number): void {
    (this.#usings ??= []).push(path);
    (this.#usingAt ??= []).push(at);
  }

  /** Where the using-directive of this index stands. */
  usingAt(index: number): number {
    return this.#usingAt?.[index] ?? 0;
  }

  /** `namespace name = path;` in a block: those of namespaces are kept with their file. */
  alias(name: string, path: string): void {
    (this.#aliases ??= new Map<string, string>()).set(name, path);
  }

  aliased(name: string): string | null {
    return this.#aliases?.get(name) ?? null;
  }

  /** Text that was not read stands in this block: behind it, a name that the block does not declare itself may be one that the text declares. */
  get isDark(): boolean {
    return this.#dark;
  }

  darken(): void {
    this.#dark = true;
  }

  /** For the members of a record: a function that is declared or defined as a friend there, which only the arguments of a call lead to. */
  befriend(name: string): void {
    (this.#friends ??= new Set()).add(name);
  }

  hasFriend(name: string): boolean {
    return this.#friends?.has(name) === true;
  }

  declare(decl: Decl): void {
    if (decl.name === '') return;
    if ((this.kind === 'namespace' || this.kind === 'record') && decl.kind !== 'function') setHome(decl, this);
    switch (decl.kind) {
      case 'function': {
        this.#functions ??= new Map<string, FunctionDecl[]>();
        const overloads = this.#functions.get(decl.name);
        if (overloads === undefined) this.#functions.set(decl.name, [decl]);
        else overloads.push(decl);
        break;
      }
      case 'record': {
        const known = this.types.get(decl.name);
        // A forward declaration after the definition names the same type.
        if (known?.kind === 'record' && known.complete && !decl.complete) break;
        this.#declareType(decl);
        break;
      }
      case 'enum': case 'typedef':
        this.#declareType(decl);
        break;
      case 'template-parameter':
        if (decl.sort === 'value') this.#declareValue(decl);
        else this.#declareType(decl);
        break;
      default:
        this.#declareValue(decl);
    }
  }

  #declareValue(decl: ValueDecl): void {
    (this.#values ??= new Map<string, ValueDecl>()).set(decl.name, decl);
  }

  #declareType(decl: TypeDecl): void {
    (this.#types ??= new Map<string, TypeDecl>()).set(decl.name, decl);
  }
}

const homes = new WeakMap<Decl, Scope>();

/** A using-declaration enters a declaration a second time: it stays where it was. Members of an anonymous record are those of the record around it. */
function setHome(decl: Decl, scope: Scope): void {
  const known = homes.get(decl);
  if (known === undefined || (known.kind === 'record' && known.record?.name === '')) homes.set(decl, scope);
}

/** The namespace or record that a declaration is a member of; null for what stands elsewhere, and for functions. */
export function homeOf(decl: Decl): Scope | null {
  return homes.get(decl) ?? null;
}

const scopedEnums = new WeakMap<EnumeratorDecl, EnumDecl>();

/** Tells of an enumerator of `enum class`, which is a name behind that of its enum only. */
export function setScopedEnum(enumerator: EnumeratorDecl, decl: EnumDecl): void {
  scopedEnums.set(enumerator, decl);
}

/** The `enum class` of an enumerator; null for an enumerator that stands beside its enum. */
export function scopedEnumOf(enumerator: EnumeratorDecl): EnumDecl | null {
  return scopedEnums.get(enumerator) ?? null;
}

/** The names of one file at namespace scope. */
export class FileNames {
  readonly spaces = new Map<string, Scope>();
  /** `namespace a = b::c;`, keyed by the alias's own path. */
  readonly aliases = new Map<string, string>();
  readonly global: Scope;
  /** Operators that it declares, those of classes too. */
  readonly operators: FunctionDecl[] = [];
  /** Names of methods. */
  readonly methods = new Set<string>();

  /** `doubts`: names that it declares for some of its includers only. */
  constructor(readonly doubts: FileDoubts['declared'] | null = null) {
    this.global = new Scope('namespace', null, '', null);
    this.spaces.set('', this.global);
  }

  /** The scope of a namespace in this file, made if it is not there. */
  space(path: string): Scope {
    const known = this.spaces.get(path);
    if (known !== undefined) return known;
    const cut = path.lastIndexOf('::');
    const made = new Scope('namespace', this.space(cut < 0 ? '' : path.slice(0, cut)), path, null);
    this.spaces.set(path, made);
    return made;
  }
}

const templateVariables = new WeakSet<ValueDecl>();

/** Marks a variable template: `name<…>` with it is no comparison. */
export function markTemplateVariable(decl: VariableDecl): void {
  templateVariables.add(decl);
}

export function isTemplateVariable(decl: ValueDecl): boolean {
  return templateVariables.has(decl);
}

const memberScopes = new WeakMap<RecordDecl, Scope>();

/** Tells where the members of a record are kept. */
export function setMemberScope(record: RecordDecl, scope: Scope): void {
  memberScopes.set(record, scope);
}

export function memberScope(record: RecordDecl): Scope | null {
  return memberScopes.get(record) ?? null;
}

function baseRecords(record: RecordDecl): RecordDecl[] {
  const bases: RecordDecl[] = [];
  for (const base of record.bases) {
    const decl = recordOf(base);
    if (decl !== null && decl !== record) bases.push(decl);
  }
  return bases;
}

function recordOf(type: Type): RecordDecl | null {
  return type.kind === 'record' ? type.decl : null;
}

/** The files a file can see, itself first, and look-ups over them. */
export class Names {
  /** `visible` may grow while files are loaded; it is read at every look-up. */
  constructor(readonly visible: readonly FileNames[], private readonly doubts: UnitDoubts | null = null, private readonly doubting = false) {}

  /** A name as written in `scope`, innermost declaration first. */
  lookup(scope: Scope, name: string): Found | null {
    for (let level: Scope | null = scope; level !== null; level = level.parent) {
      const found = this.atLevel(level, name, 0);
      if (found !== null) return found;
      if (level.isDark) return null;
      if (this.doubting && this.inDoubt(level, name)) return null;
    }
    return null;
  }

  /** A type's name as written in `scope`: values and functions of that name do not hide it. */
  lookupType(scope: Scope, name: string): TypeDecl | null {
    for (let level: Scope | null = scope; level !== null; level = level.parent) {
      const found = this.typeAtLevel(level, name, 0);
      if (found !== null) return found;
      if (level.isDark) return null;
      if (this.doubting && this.inDoubt(level, name)) return null;
    }
    return null;
  }

  /** The name is another one for other includers of the file: it is not found here, nor further out. */
  private inDoubt(level: Scope, name: string): boolean {
    if (level.kind === 'namespace') return this.doubted(level.path, name, 0);
    if (level.kind === 'record' && level.record !== null && [level.record, ...baseRecords(level.record)].some((record) => this.isSpecialisedMember(record, name))) return true;
    return level.usings.some((used) => this.doubted(used, name, 1));
  }

  /** A member of a template that some units specialise by itself: `template <> void S<int>::f() { … }`. */
  private isSpecialisedMember({ template }: RecordDecl, name: string): boolean {
    if (template === null || this.doubts?.named(name)?.paths.has('.') !== true) return false;
    this.doubts.meet(name);
    return true;
  }

  /** A name in doubt that is not found is none of the language's or of CUDA's either. */
  mayBeOther(name: string): boolean {
    return this.doubting && (this.doubts?.named(name) !== undefined || this.visible.some((file) => file.doubts?.has(name) === true));
  }

  private doubted(path: string, name: string, depth: number): boolean {
    if (!this.doubting) return false;
    const own = this.doubts?.named(name);
    let found = own !== undefined && (own.paths.has(path) || own.paths.has('*'));
    let any = own !== undefined;
    for (const file of this.visible) {
      const declared = file.doubts?.get(name);
      if (declared === undefined) continue;
      any = true;
      found ||= declared.paths.has(path);
    }
    if (!found && any && depth <= 8) found = this.visible.some((file) => file.spaces.get(path)?.usings.some((used) => this.doubted(used, name, depth + 1)) === true);
    if (found) this.doubts?.meet(name);
    return found;
  }

  /**
   * A member as seen from outside, through an object or `Record::`. Null where the record has specialisations: which of them an instance is, is not
   * decided here, and a member of another one is a wrong answer, where none is an unknown one.
   */
  memberOf(record: RecordDecl, name: string): Found | null {
    return record.specialised === true ? null : this.member(record, name);
  }

  /** A member of a record or of its bases. */
  member(record: RecordDecl, name: string, depth = 0): Found | null {
    if (this.doubting && this.isSpecialisedMember(record, name)) return null;
    const scope = memberScopes.get(record);
    if (scope !== undefined) {
      const own = scope.own(name);
      if (own !== null) return own;
    } else {
      const field = record.fields.find((f) => f.name === name);
      if (field !== undefined) return { kind: 'value', decl: field, member: record };
    }
    if (depth > 16) return null;
    for (const base of baseRecords(record)) {
      const found = base.specialised === true ? null : this.member(base, name, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }

  /** A member of the namespace with this path. */
  inNamespace(path: string, name: string, depth = 0): Found | null {
    if (this.doubted(path, name, depth)) return null;
    let functions: FunctionDecl[] | null = null;
    let rest: Found | null = null;
    for (const file of this.visible) {
      const scope = file.spaces.get(path);
      if (scope === undefined) continue;
      const found = scope.own(name);
      if (found === null) continue;
      if (found.kind === 'functions') functions = functions === null ? [...found.decls] : [...functions, ...found.decls];
      else if (rest === null || incomplete(rest)) rest = found;
    }
    if (functions !== null && rest?.kind !== 'value') return { kind: 'functions', decls: functions, member: null };
    if (rest !== null) return rest;
    if (depth > 8) return null;
    for (const file of this.visible) {
      for (const used of file.spaces.get(path)?.usings ?? []) {
        const found = this.inNamespace(used, name, depth + 1);
        if (found !== null) return found;
      }
    }
    return null;
  }

  /** The path of a namespace as named in `scope`, or null if there is none. */
  namespacePath(scope: Scope, name: string): string | null {
    for (let level: Scope | null = scope; level !== null; level = level.parent) {
      const path = level.kind === 'namespace' ? this.child(level.path, name) : level.aliased(name);
      if (path !== null) return path;
    }
    return null;
  }

  /** The path of namespace `name` inside `path`, or null. */
  child(path: string, name: string): string | null {
    const full = path === '' ? name : `${path}::${name}`;
    for (const file of this.visible) {
      const alias = file.aliases.get(full);
      if (alias !== undefined) return this.doubted(path, name, 0) ? null : alias;
      if (file.spaces.has(full)) return full;
    }
    return null;
  }

  private atLevel(level: Scope, name: string, depth: number): Found | null {
    if (level.kind === 'namespace') return this.inNamespace(level.path, name, depth);
    if (level.kind === 'record' && level.record !== null) return this.member(level.record, name);
    const own = level.own(name);
    if (own !== null) return own;
    for (const used of level.usings) {
      const found = this.inNamespace(used, name, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }

  private typeAtLevel(level: Scope, name: string, depth: number): TypeDecl | null {
    if (level.kind === 'namespace') return this.typeInNamespace(level.path, name, depth);
    const own = level.ownType(name);
    if (own !== undefined) return own;
    if (level.kind === 'record' && level.record !== null) {
      for (const base of baseRecords(level.record)) {
        const scope = memberScopes.get(base);
        const found = scope === undefined || depth > 16 ? null : this.typeAtLevel(scope, name, depth + 1);
        if (found !== null) return found;
      }
    }
    for (const used of level.usings) {
      const found = this.typeInNamespace(used, name, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }

  private typeInNamespace(path: string, name: string, depth: number): TypeDecl | null {
    if (this.doubted(path, name, depth)) return null;
    let best: TypeDecl | null = null;
    for (const file of this.visible) {
      const found = file.spaces.get(path)?.ownType(name);
      if (found !== undefined && (best === null || (best.kind === 'record' && !best.complete))) best = found;
    }
    if (best !== null || depth > 8) return best;
    for (const file of this.visible) {
      for (const used of file.spaces.get(path)?.usings ?? []) {
        const found = this.typeInNamespace(used, name, depth + 1);
        if (found !== null) return found;
      }
    }
    return null;
  }
}

function incomplete(found: Found): boolean {
  return found.kind === 'type' && found.decl.kind === 'record' && !found.decl.complete;
}

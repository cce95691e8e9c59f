/**
 * Whether a file that several units include (or one unit more than once) means the same in all of them. Each file is lowered once, as
 * the first unit sees it; what stands in front of its `#include` (macros, types, constants, functions, using-directives, options of
 * the command line) may be something else in another one. Names are compared, not text: a file that brings all that it uses, or that
 * gets it from the same headers everywhere, is in no doubt.
 */
import { sameDefinition } from '../source/macros.js';
import type { MacroDefinition, SourceFile } from '../source/types.js';
import { declaredIn, foundLateIn, specialisedIn, textOf, type DeclaredName } from './declared-names.js';
import type { FileDoubts, MacroDoubt, NameDoubt } from './doubts.js';
import { isInside, placeOf } from './include-place.js';
import type { FileNames } from './scope.js';
import { templateTextOf, type TemplateText } from './template-text.js';
import { walkUnit, wordsIn, wordsOf, type UnitFiles, type Visit } from './unit-walk.js';

export interface ViewFiles extends UnitFiles {
  /** The first files of all units. */
  readonly roots: readonly SourceFile[];
  source(realPath: string): SourceFile | null;
  names(realPath: string): FileNames | null;
}

/** The doubts of every file that has any, by real path. */
export function doubtsOf(files: ViewFiles): ReadonlyMap<string, FileDoubts> {
  const { shared, roots } = sharedFiles(files);
  const visits = new Map<string, Visit[]>();
  for (const root of roots) walkUnit(root, files, shared, visits);
  const found = new Map<string, FileDoubts>();
  for (const [file, list] of visits) {
    const source = list.length < 2 && !list.some(({ places }) => places.some(isInside)) ? null : files.source(file);
    if (source === null) continue;
    const doubts = new Comparison(source, list, files).doubts();
    if (doubts !== null) found.set(file, doubts);
  }
  return found;
}

/** Files that more than one include leads to, or one inside of braces, and the roots that reach them. */
function sharedFiles(files: ViewFiles): { readonly shared: ReadonlySet<string>; readonly roots: readonly SourceFile[] } {
  const ways = new Map<string, number>();
  const reached = new Map<SourceFile, ReadonlySet<string>>();
  const inside = new Set<SourceFile>();
  for (const root of files.roots) {
    const seen = new Set<SourceFile>([root]);
    for (const source of seen) {
      for (const [directive, included] of files.includesOf(source)) {
        ways.set(included.realPath, (ways.get(included.realPath) ?? 0) + 1);
        seen.add(included);
        if (isInside(placeOf(source, source.directives[directive]?.start ?? 0))) inside.add(included);
      }
    }
    ways.set(root.realPath, (ways.get(root.realPath) ?? 0) + 1);
    reached.set(root, new Set([...seen].map(({ realPath }) => realPath)));
  }
  const shared = new Set<string>([...ways].filter(([, count]) => count > 1).map(([file]) => file));
  for (const source of inside) {
    shared.add(source.realPath);
    for (const included of files.includesOf(source).values()) inside.add(included);
  }
  return { shared, roots: shared.size === 0 ? [] : files.roots.filter((root) => [...reached.get(root) ?? []].some((file) => shared.has(file))) };
}

/** What one of two visits sees of a name and the other does not. */
interface Sides { readonly first: DeclaredName[]; readonly other: DeclaredName[] }

class Comparison {
  readonly #macros = new Map<string, { readonly text: string; readonly readings: MacroDefinition[]; open: boolean }>();
  readonly #names = new Map<string, { readonly text: string; readonly paths: Set<string> }>();
  readonly #late = new Map<string, { readonly text: string; readonly paths: Set<string> }>();

  constructor(private readonly source: SourceFile, private readonly visits: readonly Visit[], private readonly files: ViewFiles) {}

  doubts(): FileDoubts | null {
    const [first, ...others] = this.visits;
    if (first === undefined) return null;
    for (const visit of this.visits) this.#compareInside(visit);
    for (const other of others) {
      this.#compareMacros(first, other);
      this.#compareNames(first, other);
    }
    const templates = templateTextOf(this.source);
    if (templates !== null) for (const other of others) this.#compareLate(first, other, templates);
    if (this.#macros.size === 0 && this.#names.size === 0 && this.#late.size === 0) return null;
    this.#macrosAround();
    for (const [name, doubt] of this.#macros) for (const visit of this.visits) addReading(doubt, visit.macros.get(name));
    const macros = new Map([...this.#macros].map(([name, { text, readings, open }]): [string, MacroDoubt] => [name, { name, sort: 'macro', text, readings, open }]));
    return { macros, names: asDoubts(this.#names), late: asDoubts(this.#late), declared: this.#declared(macros) };
  }

  #compareMacros(first: Visit, other: Visit): void {
    const { own } = wordsIn(this.source);
    for (const name of new Set([...first.macros.keys(), ...other.macros.keys()])) {
      const a = first.macros.get(name);
      const b = other.macros.get(name);
      const before = own.has(name) || same(a?.before ?? null, b?.before ?? null);
      if (before && same(a?.after ?? null, b?.after ?? null)) continue;
      this.#macro(name, `${name} is ${told(before ? a?.after : a?.before)} where ${place(first)} includes this file, and ${told(before ? b?.after : b?.before)} where ${place(other)} does`);
    }
  }

  /** Names that the file finds in braces around its include, and not where it is read. */
  #compareInside(visit: Visit): void {
    const { free } = wordsIn(this.source);
    const named = (name: string): boolean => free.has(name) || visit.behind.has(name);
    const doubt = (name: string, where: string): void => {
      if (named(name) && !this.#names.has(name)) this.#names.set(name, { text: `${name} is looked up ${where} first, inside of which ${place(visit)} includes this file`, paths: new Set(['*']) });
    };
    for (const { spaces, words } of visit.places) {
      for (const word of words) doubt(word, 'between the braces');
      for (const [file, limit] of spaces.length === 0 ? [] : seenBy(visit)) {
        const names = this.files.names(file);
        if (names === null || file === this.source.realPath) continue;
        for (const { name, path, at } of declaredIn(file, names)) if (at < limit && spaces.includes(path)) doubt(name, `in namespace ${path}`);
      }
    }
  }

  #macro(name: string, text: string): void {
    if (!this.#macros.has(name)) this.#macros.set(name, { text, readings: [], open: false });
  }

  /** Macros that are made of those in doubt are in doubt. */
  #macrosAround(): void {
    for (let more = true; more;) {
      more = false;
      for (const visit of this.visits) {
        for (const [name, { before, after }] of visit.macros) {
          if (this.#macros.has(name)) continue;
          const inside = [before, after].flatMap((definition) => (definition === null ? [] : wordsOf(definition))).find((word) => this.#macros.has(word) || this.#names.has(word));
          const text = inside === undefined ? undefined : (this.#macros.get(inside) ?? this.#names.get(inside))?.text;
          if (text === undefined || inside === undefined) continue;
          this.#macro(name, `${name} is made of ${inside}, and ${text}`);
          more = true;
        }
      }
    }
  }

  #compareNames(first: Visit, other: Visit): void {
    const { free } = wordsIn(this.source);
    const named = (name: string): boolean => free.has(name) || first.behind.has(name) || other.behind.has(name) || name.startsWith('operator');
    const sides = this.#sides(first, other, named);
    if (sides.size === 0) return;
    const wanted = new Set<string>();
    const pending: string[] = [];
    const want = (name: string): void => {
      if (!sides.has(name) || wanted.has(name)) return;
      wanted.add(name);
      pending.push(name);
    };
    for (const name of sides.keys()) if (named(name)) want(name);
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      const both = sides.get(name);
      if (both === undefined) continue;
      const one = both.first.filter((decl) => !this.#redeclares(decl, seenBy(first), seenBy(other)));
      const two = both.other.filter((decl) => !this.#redeclares(decl, seenBy(first), seenBy(other)));
      if (one.length === 0 && two.length === 0) continue;
      const inside = this.#inside(one, two);
      if (inside === null || [...inside].some((word) => !sameEver(first, other, word))) {
        const known = this.#names.get(name);
        const paths = known?.paths ?? new Set<string>();
        for (const decl of [...one, ...two]) paths.add(decl.path);
        if (known === undefined) this.#names.set(name, { text: this.#told(name, one[0], first, two[0], other), paths });
      } else {
        // The same text in two files: alike if all that it names is.
        for (const word of inside) want(word);
      }
    }
    // A name of which the text is alike, made of one in doubt, is in doubt as well.
    for (let more = true; more;) {
      more = false;
      for (const name of wanted) {
        const both = sides.get(name);
        if (both === undefined || this.#names.has(name)) continue;
        const inside = [...this.#inside(both.first, both.other) ?? []].find((word) => this.#names.has(word));
        const text = inside === undefined ? undefined : this.#names.get(inside)?.text;
        if (text === undefined || inside === undefined) continue;
        this.#names.set(name, { text: `${name} is made of ${inside}, and ${text}`, paths: new Set([...both.first, ...both.other].map(({ path }) => path)) });
        more = true;
      }
    }
  }

  /**
   * What instances of the file's templates find, which are made where each unit uses them: of all that only one of the two units declares, wherever it stands, functions that
   * the types of arguments lead to, friends and specialisations.
   */
  #compareLate(first: Visit, other: Visit, templates: TemplateText): void {
    const [a, b] = [unitOf(first), unitOf(other)];
    if (a === b) return;
    const sides = new Map<string, Sides>();
    const add = (files: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>, toFirst: boolean): void => {
      for (const file of files.keys()) {
        if (others.has(file) || file === this.source.realPath) continue;
        const names = this.files.names(file);
        const source = names === null ? null : this.files.source(file);
        if (names === null || source === null) continue;
        for (const decl of foundLateIn(source, names)) {
          if (!isFoundBy(decl, templates)) continue;
          let known = sides.get(decl.name);
          if (known === undefined) sides.set(decl.name, known = { first: [], other: [] });
          (toFirst ? known.first : known.other).push(decl);
        }
      }
    };
    add(a, b, true);
    add(b, a, false);
    for (const [name, both] of sides) {
      if (this.#names.get(name)?.paths.has('*') === true) continue;
      const one = both.first.filter((decl) => !this.#redeclares(decl, a, b));
      const two = both.other.filter((decl) => !this.#redeclares(decl, a, b));
      if (this.#areAlike(one, two, first, other, new Set([name]))) continue;
      const known = this.#late.get(name);
      const paths = known?.paths ?? new Set<string>();
      // A call finds functions by the types of its arguments; a specialised template is another one for whoever names it.
      for (const { function: isFunction, path } of [...one, ...two]) if (!isFunction) paths.add(path);
      if (known === undefined) this.#late.set(name, { text: `${this.#told(name, one[0], first, two[0], other)}: a template finds it there too`, paths });
    }
  }

  /** Declarations of two units read alike, and so does all of theirs that they name. */
  #areAlike(one: readonly DeclaredName[], two: readonly DeclaredName[], first: Visit, other: Visit, seen: Set<string>): boolean {
    if (one.length === 0 && two.length === 0) return true;
    const inside = this.#inside(one, two);
    if (inside === null) return false;
    const [a, b] = [unitOf(first), unitOf(other)];
    const only = (files: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>, name: string): DeclaredName[] => [...files.keys()].flatMap((file) => {
      const names = others.has(file) ? null : this.files.names(file);
      return names === null ? [] : declaredIn(file, names).filter((decl) => decl.name === name);
    });
    for (const word of inside) {
      if (seen.has(word)) continue;
      seen.add(word);
      if (!sameEver(first, other, word) || !this.#areAlike(only(a, b, word), only(b, a, word), first, other, seen)) return false;
    }
    return true;
  }

  /** Words of declarations that read alike on both sides; null if they do not. */
  #inside(one: readonly DeclaredName[], two: readonly DeclaredName[]): ReadonlySet<string> | null {
    if (one.length !== two.length) return null;
    const texts = (list: readonly DeclaredName[]): string[] => list.map((decl) => `${decl.path}\0${this.#text(decl)}`).sort();
    const a = texts(one);
    const b = texts(two);
    if (a.some((text, i) => text !== b[i])) return null;
    return new Set(a.flatMap((text) => text.match(/[A-Za-z_$][\w$]*/g) ?? []));
  }

  #text(decl: DeclaredName): string {
    const source = this.files.source(decl.file);
    return source === null ? '' : textOf(source, decl);
  }

  /** Names that stand in front of one of the two visits only, with the using-directives that differ taken for what they bring. */
  #sides(first: Visit, other: Visit, named: (name: string) => boolean): ReadonlyMap<string, Sides> {
    const sides = new Map<string, Sides>();
    const add = (decl: DeclaredName, toFirst: boolean): void => {
      let known = sides.get(decl.name);
      if (known === undefined) sides.set(decl.name, known = { first: [], other: [] });
      (toFirst ? known.first : known.other).push(decl);
    };
    const limits = [seenBy(first), seenBy(other)] as const;
    const parts: { readonly names: FileNames; readonly all: readonly DeclaredName[]; readonly from: number; readonly to: number; readonly toFirst: boolean }[] = [];
    let any = false;
    for (const file of new Set([...limits[0].keys(), ...limits[1].keys()])) {
      if (file === this.source.realPath) continue;
      const a = limits[0].get(file) ?? 0;
      const b = limits[1].get(file) ?? 0;
      const names = a === b ? null : this.files.names(file);
      const source = names === null ? null : this.files.source(file);
      if (names === null || source === null) continue;
      const part = { names, all: [...declaredIn(file, names), ...specialisedIn(source)], from: Math.min(a, b), to: Math.max(a, b), toFirst: a > b };
      parts.push(part);
      any ||= usingsOf(names).length > 0 || part.all.some(({ name, at }) => at >= part.from && at < part.to && named(name));
    }
    // Mostly the file uses nothing of all that.
    if (!any) return sides;
    for (const { names, all, from, to, toFirst } of parts) {
      for (const decl of all) if (decl.at >= from && decl.at < to) add(decl, toFirst);
      for (const { path, brings, at } of usingsOf(names)) {
        if (at < from || at >= to) continue;
        for (const brought of new Set([...limits[0].keys(), ...limits[1].keys()])) {
          const inside = this.files.names(brought);
          if (inside === null) continue;
          for (const decl of declaredIn(brought, inside)) if (decl.path === brings) add({ ...decl, path }, toFirst);
        }
      }
    }
    return sides;
  }

  /** A declaration of what this file, or one that both visits see, declares itself: it adds nothing. */
  #redeclares(decl: DeclaredName, first: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
    if (!decl.repeats && decl.function) return false;
    const there = [this.source.realPath, ...[...first.keys()].filter((file) => file !== decl.file && first.get(file) === Infinity && other.get(file) === Infinity)];
    return there.some((file) => {
      const names = this.files.names(file);
      return names !== null && declaredIn(file, names).some((known) => known.name === decl.name && known.path === decl.path && known.function === decl.function && (!decl.function || known.signature === decl.signature));
    });
  }

  #told(name: string, one: DeclaredName | undefined, first: Visit, two: DeclaredName | undefined, other: Visit): string {
    const what = (decl: DeclaredName | undefined): string => {
      const source = decl === undefined ? null : this.files.source(decl.file);
      return decl === undefined || source === null ? 'not declared' : `that of ${source.path}:${source.line(decl.at)}`;
    };
    return `${name} is ${what(one)} where ${place(first)} includes this file, and ${what(two)} where ${place(other)} does`;
  }

  /** Names that the file declares under a condition on a macro in doubt. */
  #declared(macros: ReadonlyMap<string, MacroDoubt>): ReadonlyMap<string, NameDoubt> {
    const found = new Map<string, NameDoubt>();
    const names = this.files.names(this.source.realPath);
    if (macros.size === 0 || names === null) return found;
    const all = declaredIn(this.source.realPath, names);
    const open: { readonly start: number; doubt: MacroDoubt | null }[] = [];
    for (const { kind, start, end, argument } of this.source.directives) {
      if (kind === 'if' || kind === 'ifdef' || kind === 'ifndef') open.push({ start, doubt: null });
      const top = open.at(-1);
      if (top === undefined) continue;
      if (kind === 'if' || kind === 'ifdef' || kind === 'ifndef' || kind === 'elif') {
        for (const word of argument.match(/[A-Za-z_$][\w$]*/g) ?? []) top.doubt ??= macros.get(word) ?? null;
      } else if (kind === 'endif') {
        open.pop();
        const { doubt } = top;
        if (doubt === null) continue;
        for (const { name, path, at } of all) {
          if (at < top.start || at >= end) continue;
          const known = found.get(name);
          found.set(name, { name, sort: 'declaration', text: `${name} is declared under a condition, and ${doubt.text}`, paths: new Set([...known?.paths ?? [], path]) });
        }
      }
    }
    return found;
  }
}

function addReading(doubt: { readonly readings: MacroDefinition[]; open: boolean }, reading: { readonly before: MacroDefinition | null; readonly after: MacroDefinition | null } | undefined): void {
  const definition = reading?.after ?? reading?.before ?? null;
  if (definition === null) doubt.open = true;
  else if (!doubt.readings.some((known) => sameDefinition(known, definition))) doubt.readings.push(definition);
}

function same(a: MacroDefinition | null, b: MacroDefinition | null): boolean {
  return a === b || (a !== null && b !== null && sameDefinition(a, b));
}

/** A word of a declaration in front of the include is no macro, or the same one in both units. */
function sameEver(first: Visit, other: Visit, word: string): boolean {
  const a = first.ever.get(word) ?? [];
  const b = other.ever.get(word) ?? [];
  return a === b || (a.length === b.length && a.every((definition, i) => same(definition, b[i] ?? null)));
}

/** How far each file is seen: to its end, or to the include that is followed. */
function seenBy(visit: Visit): ReadonlyMap<string, number> {
  const known = limits.get(visit);
  if (known !== undefined) return known;
  const made = new Map<string, number>();
  for (const { file, offset } of visit.open) made.set(file, offset);
  for (let i = 0; i < visit.done; i++) made.set(visit.closed[i] ?? '', Infinity);
  limits.set(visit, made);
  return made;
}

const limits = new WeakMap<Visit, ReadonlyMap<string, number>>();

/** All files of the visit's unit, to their ends. */
function unitOf({ closed }: Visit): ReadonlyMap<string, number> {
  let made = whole.get(closed);
  if (made === undefined) whole.set(closed, made = new Map(closed.map((file) => [file, Infinity])));
  return made;
}

const whole = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

/** Does a template's text hold what leads to the declaration? */
function isFoundBy({ name, path, byArguments }: DeclaredName, { called, names, operators }: TemplateText): boolean {
  if (name.startsWith('operator')) return operators.has(name.slice('operator'.length));
  return byArguments ? called.has(name) : (path === '*' || path === '.') && names.has(name);
}

function asDoubts(found: ReadonlyMap<string, { readonly text: string; readonly paths: Set<string> }>): ReadonlyMap<string, NameDoubt> {
  return new Map([...found].map(([name, { text, paths }]): [string, NameDoubt] => [name, { name, sort: 'declaration', text, paths }]));
}

function usingsOf(names: FileNames): readonly { readonly path: string; readonly brings: string; readonly at: number }[] {
  return [...names.spaces].flatMap(([path, space]) => space.usings.map((brings, i) => ({ path, brings, at: space.usingAt(i) })));
}

function told(definition: MacroDefinition | null | undefined): string {
  if (definition === null || definition === undefined) return 'not defined';
  const body = definition.body.replace(/\s+/g, ' ');
  return body === '' ? 'defined as nothing' : `\`${body.length <= 40 ? body : `${body.slice(0, 39)}…`}\``;
}

function place({ root, line, command }: Visit): string {
  return `${root.path}${line === 0 ? ' itself' : `:${line}`}${command === 0 ? '' : `, by another compile command,`}`;
}


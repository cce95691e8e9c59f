/**
 * A preprocessor's walk over one translation unit: which files it includes where, with which macros, and what stood in front of them.
 * Only directives are read. It notes the visits of files that several units, or one unit more than once, include (includer-views.ts).
 */
import { commandLineMacros } from '../source/macros.js';
import { evaluateCondition, evaluateDefined } from '../source/condition.js';
import { parseDefine } from '../source/define.js';
import { macroPragmaOf } from '../source/macro-pragmas.js';
import { tokensOf } from '../source/source-file.js';
import { TokenKind } from '../source/tokens.js';
import type { Directive, MacroDefinition, SourceFile } from '../source/types.js';
import { placeOf, type IncludePlace } from './include-place.js';

/** What a unit walk asks of who loads the files. */
export interface UnitFiles {
  /** The files that the `#include` lines of a file name, by the index of the directive; those that are not loaded left out. */
  includesOf(source: SourceFile): ReadonlyMap<number, SourceFile>;
  /** Macros of the command lines with which a file is compiled: of each command that differs in them. */
  commandsOf(source: SourceFile): readonly Readonly<Record<string, string>>[];
}

/** A macro in front of a file and behind it; null where it is not defined. */
export interface MacroReading { readonly before: MacroDefinition | null; readonly after: MacroDefinition | null }

/** One place of one unit that includes a file, and what the file sees there. */
export interface Visit {
  readonly root: SourceFile;
  /** Line of the root's own include that leads there; 0 for the root itself. */
  readonly line: number;
  /** Which of the root's compile commands; 0 for the first or the only one. */
  readonly command: number;
  /** Files that are being read, from the root on, each with the offset of the include that is followed. */
  readonly open: readonly { readonly file: string; readonly offset: number }[];
  /** Braces around the includes that lead there. */
  readonly places: readonly IncludePlace[];
  /** Files that the unit has read to their end, in order: the first `done` of them before the file ended. */
  readonly closed: readonly string[];
  readonly done: number;
  /** Those of the macros that the file's text, or a macro in it, names. */
  readonly macros: ReadonlyMap<string, MacroReading>;
  /** Names in the bodies of these macros. */
  readonly behind: ReadonlySet<string>;
  /** All definitions of the unit, by name. */
  readonly ever: ReadonlyMap<string, readonly MacroDefinition[]>;
}

/** Includes of one unit that are followed: more come of files that include each other without guards. */
const MOST_VISITS = 20_000;
const MOST_OPEN = 200;

interface Frame { readonly changed: Map<string, MacroDefinition | null> }

/** Walks the unit of `root`; `wanted` are the files whose visits are noted, by real path. `visits` receives them. */
export function walkUnit(root: SourceFile, files: UnitFiles, wanted: ReadonlySet<string>, visits: Map<string, Visit[]>): void {
  for (const [command, defines] of files.commandsOf(root).entries()) new UnitWalk(root, command, files, wanted, visits).run(defines);
}

class UnitWalk {
  readonly #table = new Map<string, MacroDefinition>();
  readonly #ever = new Map<string, MacroDefinition[]>();
  readonly #frames: Frame[] = [];
  readonly #open: { readonly source: SourceFile; offset: number }[] = [];
  readonly #closed: string[] = [];
  readonly #once = new Set<string>();
  readonly #kept = new Map<string, (MacroDefinition | null)[]>();
  readonly #visited = new Set<string>();
  #budget = MOST_VISITS;

  constructor(
    private readonly root: SourceFile, private readonly command: number, private readonly files: UnitFiles, private readonly wanted: ReadonlySet<string>,
    private readonly visits: Map<string, Visit[]>,
  ) {}

  run(defines: Readonly<Record<string, string>>): void {
    for (const macro of commandLineMacros(defines)) this.#set(macro.name, macro);
    this.#file(this.root);
  }

  readonly #lookup = (name: string): MacroDefinition | undefined => this.#table.get(name);

  #set(name: string, to: MacroDefinition | null): void {
    const old = this.#table.get(name) ?? null;
    for (const { changed } of this.#frames) if (!changed.has(name)) changed.set(name, old);
    if (to === null) {
      this.#table.delete(name);
      return;
    }
    this.#table.set(name, to);
    const all = this.#ever.get(name);
    if (all === undefined) this.#ever.set(name, [to]);
    else all.push(to);
  }

  /** A file where it is included, noted if it is wanted. */
  #include(source: SourceFile): void {
    if (this.#budget-- <= 0 || this.#open.length >= MOST_OPEN || this.#open.some((one) => one.source === source)) return;
    if (this.#once.has(source.realPath)) return;
    const guard = guardOf(source);
    if (guard !== null && this.#table.has(guard)) return;
    // Read again, a file whose guard ends early says nothing new between the guard's lines, and is no other file for that.
    const part = this.#visited.has(source.realPath) ? leadingGuardOf(source) : null;
    if (!this.wanted.has(source.realPath) || (part !== null && this.#table.get(part)?.file === source.realPath)) {
      this.#file(source);
      return;
    }
    const frame: Frame = { changed: new Map() };
    this.#frames.push(frame);
    this.#file(source);
    this.#frames.pop();
    this.#note(source, frame);
  }

  /** The arm is left out here, yet the file may be known by this very include. */
  #leftOut(source: SourceFile): void {
    if (!this.wanted.has(source.realPath) || this.#visited.has(source.realPath) || this.#open.some((one) => one.source === source)) return;
    this.#note(source, { changed: new Map() });
  }

  #note(source: SourceFile, { changed }: Frame): void {
    this.#visited.add(source.realPath);
    const macros = new Map<string, MacroReading>();
    const behind = new Set<string>();
    const pending: Iterable<string>[] = [wordsIn(source).all];
    for (let words = pending.pop(); words !== undefined; words = pending.pop()) {
      for (const word of words) {
        if (macros.has(word)) continue;
        const after = this.#table.get(word) ?? null;
        const before = changed.has(word) ? changed.get(word) ?? null : after;
        if (after === null && before === null) continue;
        macros.set(word, { before, after });
        for (const definition of before === after ? [after] : [before, after]) {
          if (definition === null) continue;
          const inside = wordsOf(definition);
          for (const one of inside) behind.add(one);
          pending.push(inside);
        }
      }
    }
    const list = this.visits.get(source.realPath);
    const first = this.#open[0];
    const visit: Visit = {
      root: this.root, line: first === undefined ? 0 : this.root.line(first.offset), command: this.command,
      open: this.#open.map(({ source: { realPath: file }, offset }) => ({ file, offset })), places: this.#open.map((one) => placeOf(one.source, one.offset)), closed: this.#closed, done: this.#closed.length, macros, behind, ever: this.#ever,
    };
    if (list === undefined) this.visits.set(source.realPath, [visit]);
    else list.push(visit);
  }

  #file(source: SourceFile): void {
    const here = { source, offset: 0 };
    this.#open.push(here);
    const includes = this.files.includesOf(source);
    const groups: { readonly reached: boolean; taken: boolean; active: boolean }[] = [];
    for (const [index, directive] of source.directives.entries()) {
      const group = groups[groups.length - 1];
      const active = group === undefined || (group.reached && group.active);
      switch (directive.kind) {
        case 'if': case 'ifdef': case 'ifndef': {
          const holds = active && this.#holds(directive);
          groups.push({ reached: active, taken: holds, active: holds });
          break;
        }
        case 'elif': case 'else':
          if (group === undefined) break;
          group.active = group.reached && !group.taken && (directive.kind === 'else' || this.#holds(directive));
          group.taken ||= group.active;
          break;
        case 'endif':
          groups.pop();
          break;
        case 'define': {
          const definition = active ? parseDefine(directive.argument, source.realPath, source.line(directive.start)) : null;
          if (definition !== null) this.#set(definition.name, definition);
          break;
        }
        case 'undef':
          if (active) this.#set(directive.argument.trim(), null);
          break;
        case 'pragma':
          if (active && /^once\b/.test(directive.argument)) this.#once.add(source.realPath);
          else if (active && directive.argument.includes('_macro')) this.#keep(directive.argument);
          break;
        case 'include': {
          const included = includes.get(index);
          if (included === undefined) break;
          here.offset = directive.start;
          if (active) this.#include(included);
          else this.#leftOut(included);
          break;
        }
        default:
      }
    }
    this.#open.pop();
    this.#closed.push(source.realPath);
  }

  /** `push_macro` and `pop_macro`. */
  #keep(argument: string): void {
    const pragma = macroPragmaOf(argument);
    if (pragma === null) return;
    const kept = this.#kept.get(pragma.name) ?? [];
    if (pragma.kind === 'push') this.#kept.set(pragma.name, [...kept, this.#table.get(pragma.name) ?? null]);
    else if (kept.length > 0) this.#set(pragma.name, kept.pop() ?? null);
  }

  #holds({ kind, argument }: Directive): boolean {
    if (kind === 'if' || kind === 'elif') return evaluateCondition(argument, this.#lookup).holds;
    const { holds } = evaluateDefined(/^[\w$]+/.exec(argument)?.[0] ?? '', this.#lookup);
    return kind === 'ifdef' ? holds : !holds;
  }
}

/** Names that a text spells. */
export interface Words {
  /** All of them, those of directives included. */
  readonly all: ReadonlySet<string>;
  /** Those that stand behind no `.` or `->` at one place at least. */
  readonly free: ReadonlySet<string>;
  /** Macros that the file defines or undefines, under no condition but its guard, before it uses them. */
  readonly own: ReadonlySet<string>;
}

const words = new WeakMap<SourceFile, Words>();

export function wordsIn(source: SourceFile): Words {
  const known = words.get(source);
  if (known !== undefined) return known;
  const all = new Set<string>();
  const free = new Set<string>();
  const own = new Set<string>();
  const tokens = tokensOf(source);
  const guarded = guardOf(source) === null ? 0 : 1;
  let directive = 0;
  let depth = 0;
  for (let i = 0; i < tokens.count; i++) {
    const kind = tokens.kind(i);
    if (kind === TokenKind.identifier) {
      const word = tokens.spelling(i);
      all.add(word);
      if (!tokens.is(i - 1, '.') && !tokens.is(i - 1, '->')) free.add(word);
    } else if (kind === TokenKind.directive) {
      const at = source.directives[directive++];
      if (at === undefined) continue;
      if (at.kind === 'if' || at.kind === 'ifdef' || at.kind === 'ifndef') depth++;
      else if (at.kind === 'endif') depth--;
      if (at.kind === 'include' || at.kind === 'pragma' && !/unroll|_macro/.test(at.argument)) continue;
      const found = at.argument.match(/[A-Za-z_$][\w$]*/g) ?? [];
      const [name] = found;
      if (name !== undefined && (at.kind === 'define' || at.kind === 'undef') && depth <= guarded && !all.has(name)) own.add(name);
      for (const word of found) {
        all.add(word);
        free.add(word);
      }
    }
  }
  const made: Words = { all, free, own };
  words.set(source, made);
  return made;
}

const bodies = new WeakMap<MacroDefinition, readonly string[]>();

/** Names in the body of a macro, its parameters left out. */
export function wordsOf(macro: MacroDefinition): readonly string[] {
  const known = bodies.get(macro);
  if (known !== undefined) return known;
  const made = (macro.body.match(/[A-Za-z_$][\w$]*/g) ?? []).filter((word) => macro.parameters?.includes(word) !== true);
  bodies.set(macro, made);
  return made;
}

const guards = new WeakMap<SourceFile, { readonly name: string | null }>();

/** The macro of an include guard around the whole file, null if there is none: `#ifndef X` or `#if !defined(X)`, then `#define X`, and nothing behind its `#endif`. */
export function guardOf(source: SourceFile): string | null {
  const known = guards.get(source);
  if (known !== undefined) return known.name;
  const made = { name: findGuard(source) };
  guards.set(source, made);
  return made.name;
}

/** The macro that a file's first conditional tests and then defines. */
function leadingGuardOf(source: SourceFile): string | null {
  const at = source.directives.findIndex(({ kind }) => kind === 'ifndef');
  const name = /^[\w$]+/.exec(source.directives[at]?.argument ?? '')?.[0];
  const next = source.directives[at + 1];
  return name !== undefined && next?.kind === 'define' && /^[\w$]+/.exec(next.argument)?.[0] === name ? name : null;
}

function findGuard(source: SourceFile): string | null {
  const directives = source.directives.filter(({ kind }) => kind !== 'pragma');
  const [first, second] = directives;
  if (first === undefined || second?.kind !== 'define') return null;
  const name = first.kind === 'ifndef' ? /^[\w$]+/.exec(first.argument)?.[0] : first.kind === 'if' ? /^!\s*defined\s*\(?\s*([\w$]+)\s*\)?\s*$/.exec(first.argument)?.[1] : undefined;
  if (name === undefined || /^[\w$]+/.exec(second.argument)?.[0] !== name) return null;
  const tokens = tokensOf(source);
  const last = directives.at(-1);
  if (last?.kind !== 'endif' || tokens.end(tokens.count - 1) > last.end) return null;
  for (let i = 0; i < tokens.count && tokens.start(i) < first.start; i++) if (tokens.kind(i) !== TokenKind.directive) return null;
  // The last `#endif` is the guard's own.
  let depth = 0;
  for (const directive of source.directives) {
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') depth++;
    else if (directive.kind === 'endif' && --depth === 0 && directive !== last) return null;
    else if ((directive.kind === 'else' || directive.kind === 'elif') && depth === 1) return null;
  }
  return name;
}

/**
 * Names whose meaning a build may choose, as one unit sees them: declared otherwise in an arm of `#if` (names-in-arms.ts) of the file, of what it includes or
 * of who includes it, and all that is declared with such names. Found once for a unit, by its tokens, when somebody asks.
 */
import { builtin } from '../cuda/builtins.js';
import { NameFilter } from '../source/interesting-names.js';
import { streamOf } from '../source/overlay.js';
import { tokensOf } from '../source/source-file.js';
import { TokenKind, type Tokens } from '../source/tokens.js';
import { declarationsOf, namesInArms, type NameInArms } from './names-in-arms.js';
import type { FunctionDecl, Program, Unit } from './tree.js';

export interface AmbiguousName {
  readonly name: string;
  readonly text: string;
  /** The arm that is left out. */
  readonly condition: string;
  readonly line: number;
  readonly path: string;
  /** A macro that decides. */
  readonly decides: string;
  /** A number or a type of numbers in every arm. */
  readonly plain?: true;
  /** Names in the bodies of macros that it is in some arm. */
  readonly mentions?: readonly string[];
}

export class AmbiguousNames {
  readonly #plain = new Map<string, AmbiguousName>();
  readonly #members = new Map<string, AmbiguousName>();
  readonly #locals: readonly NameInArms[];
  /** Of both tables: few names are in doubt, and tokens are many. */
  readonly #filter = new NameFilter();

  constructor(private readonly unit: Unit, units: readonly Unit[]) {
    this.#locals = namesInArms(unit).names.filter((one) => one.local && !one.forCallers);
    const seeds = units.flatMap((of) => namesInArms(of).names.filter((one) => !one.local || one.forCallers).map((one) => ({ one, of })));
    for (const { one, of } of seeds) if (one.onlyIn === null || isElsewhere(one, of, units)) this.#add(one.name, one.member, ambiguous(one, of));
    for (const macro of unit.macros.values()) if (macro.varies !== undefined) this.#add(macro.name, false, { name: macro.name, text: macro.varies, condition: macro.varies, line: 0, path: unit.source.path, decides: macro.name });
    if (this.#plain.size + this.#members.size > 0) this.#spread(units);
  }

  get isEmpty(): boolean {
    return this.#plain.size === 0 && this.#members.size === 0 && this.#locals.length === 0;
  }

  named(name: string): AmbiguousName | null {
    return this.#plain.get(name) ?? null;
  }

  member(name: string): AmbiguousName | null {
    return this.#members.get(name) ?? null;
  }

  /** Locals and parameters that arms in the function declare otherwise. */
  localsOf(fn: FunctionDecl): readonly NameInArms[] {
    return this.#locals.filter(({ group }) => fn.span.start <= group.start && group.end <= fn.span.end);
  }

  /** The first name in the function that a build gives its meaning; null if there is none. */
  firstIn(fn: FunctionDecl): { readonly name: AmbiguousName; readonly at: number } | null {
    if (this.isEmpty) return null;
    const tokens = tokensOf(this.unit.source);
    const locals = new Map(this.localsOf(fn).map((one) => [one.name, one]));
    if (this.#plain.size === 0 && this.#members.size === 0 && locals.size === 0) return null;
    const own = new Set([...fn.template ?? [], ...fn.owner?.template ?? []].map(({ name }) => name));
    const { arms } = namesInArms(this.unit);
    for (let i = tokens.at(fn.span.start); i < tokens.count && tokens.start(i) < fn.span.end; i++) {
      if (tokens.kind(i) !== TokenKind.identifier) continue;
      const name = tokens.spelling(i);
      const at = tokens.start(i);
      const local = locals.get(name);
      if (local !== undefined && at >= local.group.end && !isMember(tokens, i) && !arms.some((arm) => arm.start <= at && at < arm.end)) return { name: ambiguous(local, this.unit), at };
      // A function is what it is, whatever its callers think of it.
      if (own.has(name) || (fn.nameSpan.start <= at && at < fn.nameSpan.end)) continue;
      const found = this.meantAt(tokens, i, name);
      if (found !== null) return { name: found, at };
    }
    return null;
  }

  /** What a name of the text means, if a build chooses it. */
  meantAt(tokens: Tokens, i: number, name: string): AmbiguousName | null {
    const plain = this.#plain.get(name) ?? null;
    const member = this.#members.get(name) ?? null;
    if (plain === null && member === null) return null;
    return isMember(tokens, i) ? member ?? (tokens.is(i - 1, '::') ? plain : null) : plain;
  }

  #add(name: string, member: boolean, made: AmbiguousName): boolean {
    const table = member ? this.#members : this.#plain;
    if (table.has(name)) return false;
    table.set(name, made);
    this.#filter.add(name);
    return true;
  }

  /** What is declared with a name in doubt is in doubt: types of types, constants of constants, functions that use them. Records are what their members are. */
  #spread(units: readonly Unit[]): void {
    for (let isNew = true; isNew;) {
      isNew = false;
      for (const of of units) {
        const stream = streamOf(of.overlay);
        if (stream === null) continue;
        for (const decl of declarationsOf(of)) {
          if (decl.sort === 'record' || (decl.member ? this.#members : this.#plain).has(decl.name)) continue;
          for (let i = decl.first; i <= decl.last; i++) {
            if (i === decl.at || stream.tokens.kind(i) !== TokenKind.identifier || !this.#filter.mayHold(stream.tokens, i)) continue;
            const found = this.meantAt(stream.tokens, i, stream.tokens.spelling(i));
            if (found === null) continue;
            isNew = this.#add(decl.name, decl.member, spread(found, decl.name, `${decl.name} is declared with ${found.name}: ${found.text}`, decl.sort === 'function' && takesReferences(stream.tokens, decl.first, decl.last))) || isNew;
            break;
          }
        }
      }
      for (const macro of this.unit.macros.values()) {
        if (this.#plain.has(macro.name)) continue;
        const word = macro.body.match(/[A-Za-z_$][\w$]*/g)?.find((one) => this.#plain.has(one) && macro.parameters?.includes(one) !== true);
        const found = word === undefined ? undefined : this.#plain.get(word);
        if (found !== undefined) isNew = this.#add(macro.name, false, spread(found, macro.name, `${macro.name} is made of ${found.name}: ${found.text}`, false)) || isNew;
      }
    }
  }
}

function ambiguous(one: NameInArms, { source }: Unit): AmbiguousName {
  return { name: one.name, text: one.text, condition: one.condition, line: one.line, path: source.path, decides: one.decides, ...(one.plain === true ? { plain: true } : {}), ...(one.mentions === undefined || one.mentions.length === 0 ? {} : { mentions: one.mentions }) };
}

/** What is made of a name in doubt; a function that takes references may choose by a number, or a type of numbers, what it does with them. */
function spread({ plain, ...found }: AmbiguousName, name: string, text: string, chooses: boolean): AmbiguousName {
  return { ...found, name, text, ...(plain === true && !chooses ? { plain } : {}) };
}

function takesReferences(tokens: Tokens, first: number, last: number): boolean {
  for (let i = first; i <= last && !tokens.is(i, '{'); i++) if (tokens.is(i, '&') || tokens.is(i, '&&')) return true;
  return false;
}

function isMember(tokens: Tokens, i: number): boolean {
  return tokens.is(i - 1, '.') || tokens.is(i - 1, '->') || tokens.is(i - 1, '::');
}

/** Something of this name is declared outside of the arm, or comes with the compiler. */
function isElsewhere(one: NameInArms, home: Unit, units: readonly Unit[]): boolean {
  if (one.onlyIn === null || builtin(one.name) !== undefined) return true;
  const { start, end } = one.onlyIn;
  for (const of of units) {
    const stream = streamOf(of.overlay);
    if (stream === null) continue;
    const inArm = (at: number): boolean => of === home && start <= at && at < end;
    if (declarationsOf(of).some((decl) => decl.name === one.name && decl.member === one.member && decl.last > decl.at && !inArm(stream.tokens.start(decl.at)))) return true;
    if (!one.member && of.source.directives.some((directive) => directive.kind === 'define' && !inArm(directive.start) && /^[\w$]+/.exec(directive.argument)?.[0] === one.name)) return true;
  }
  return false;
}

const known = new WeakMap<Program, Map<Unit, AmbiguousNames | null>>();

/** Null if no name that the unit sees is in doubt. */
export function ambiguousNames(unit: Unit, program: Program): AmbiguousNames | null {
  let byUnit = known.get(program);
  if (byUnit === undefined) known.set(program, byUnit = new Map());
  let found = byUnit.get(unit);
  if (found === undefined) {
    const units = visibleFrom(unit, program);
    const isPlain = units.every((of) => namesInArms(of).names.length === 0) && ![...unit.macros.values()].some((macro) => macro.varies !== undefined);
    const made = isPlain ? null : new AmbiguousNames(unit, units);
    byUnit.set(unit, found = made === null || made.isEmpty ? null : made);
  }
  return found;
}

const includers = new WeakMap<Program, ReadonlyMap<string, readonly Unit[]>>();

/** The file, those that include it, and what any of them includes. */
function visibleFrom(unit: Unit, program: Program): readonly Unit[] {
  let above = includers.get(program);
  if (above === undefined) {
    const made = new Map<string, Unit[]>();
    for (const of of program.units.values()) for (const path of of.includes) made.set(path, [...made.get(path) ?? [], of]);
    includers.set(program, above = made);
  }
  const up = new Set<Unit>([unit]);
  for (const of of up) for (const includer of above.get(of.source.realPath) ?? []) up.add(includer);
  const all = new Set<Unit>(up);
  for (const of of all) for (const path of of.includes) { const next = program.units.get(path); if (next !== undefined) all.add(next); }
  return [...all];
}


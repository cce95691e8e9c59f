/**
 * Names that a file declares otherwise, or not at all, in another arm of `#if` that a build may choose: types, constants, enumerators, members, functions,
 * macros, parameters and locals. What rests on such a name holds for one configuration only.
 *
 * Platform arms (names that belong to the compiler) and arms that nothing but the file's own text decides are no choice of a build. Declarations that
 * differ in nothing that a verdict or an edit rests on (precision of floating point, `inline`, a positive count that is handled as any count) are the same.
 */
import { isWholeArm } from '../source/arms.js';
import type { Arm, Group } from '../source/conditionals.js';
import { parseDefine } from '../source/define.js';
import { streamOf } from '../source/overlay.js';
import type { Stream } from '../source/stream.js';
import { TokenKind } from '../source/tokens.js';
import type { Span } from '../source/types.js';
import { declarationsIn, typeName, type TokenDeclaration } from './token-declarations.js';
import type { Unit } from './tree.js';

export interface NameInArms {
  readonly name: string;
  readonly member: boolean;
  /** In words, with the lines of both arms. */
  readonly text: string;
  /** The arm that this configuration leaves out: its condition, and the line of its directive. */
  readonly condition: string;
  readonly line: number;
  /** A macro that decides which arm is compiled. */
  readonly decides: string;
  readonly group: Span;
  /** It is declared in a function: only text of that function behind it can mean it. */
  readonly local: boolean;
  /** What differs stands inside of the function, which looks at it itself: the name is in doubt for its callers. */
  readonly forCallers: boolean;
  /** The other arm has none: in doubt if something else of the name is declared outside of this arm. */
  readonly onlyIn: Span | null;
  /** A number or a type of numbers in every arm: whatever is given to it stays what it was. */
  readonly plain?: true;
  /** Names in the bodies of macros that it is in some arm, its parameters left out. */
  readonly mentions?: readonly string[];
}

export interface FileArms {
  readonly names: readonly NameInArms[];
  /** The text in arms of groups that a build decides. */
  readonly arms: readonly Span[];
}

const NOTHING: FileArms = { names: [], arms: [] };
const known = new WeakMap<Unit, FileArms>();

export function namesInArms(unit: Unit): FileArms {
  let found = known.get(unit);
  if (found === undefined) known.set(unit, found = search(unit));
  return found;
}

function search(unit: Unit): FileArms {
  const stream = streamOf(unit.overlay);
  if (stream === null || stream.groups.size === 0) return NOTHING;
  const open = [...stream.groups].filter(([, group]) => isOpen(group));
  return open.length === 0 ? NOTHING : new Search(unit, stream).run(open);
}

/** Names of the compiler and of the toolkit: no option of a build's own. */
export function isPlatform(name: string): boolean {
  return /^_[_A-Z]/.test(name) || PLATFORM.has(name) || /(?:^|_)(?:ROCM|HIP|HIPCC|AMD|SYCL|OPENCL)(?:_|$)/.test(name);
}

const PLATFORM = new Set(['WIN32', 'WIN64', 'LINUX', 'CUDA_VERSION', 'CUDART_VERSION', 'HIP_VERSION', 'NDEBUG']);

function isOpen({ arms }: Group): boolean {
  return arms.some((arm) => arm.assumed.some((name) => !isPlatform(name)));
}

/** What an arm says of a name: the words, and where. */
interface Said { text: string; readonly at: number }

class Search {
  readonly #names: NameInArms[] = [];
  readonly #arms: Span[] = [];
  readonly #seen = new Set<string>();
  #all: readonly TokenDeclaration[] | null = null;

  constructor(private readonly unit: Unit, private readonly stream: Stream) {}

  run(open: readonly (readonly [number, Group])[]): FileArms {
    for (const [opener, group] of open) this.#group(opener, group);
    return { names: this.#names, arms: this.#arms };
  }

  #group(opener: number, group: Group): void {
    const { stream } = this;
    const at = stream.directiveTokens[opener] ?? -1;
    const end = stream.directiveTokens[group.end] ?? stream.tokens.count;
    const possible = group.arms.filter((arm) => arm.active || arm.assumed.some((name) => !isPlatform(name)));
    for (const arm of possible) this.#arms.push(this.#spanOf(arm));
    const arms = possible.map((arm) => this.#range(arm));
    const last = group.arms[group.arms.length - 1];
    const isComplete = last !== undefined && stream.source.directives[last.directive]?.kind === 'else';
    const texts = new Set(arms.map(([first, to]) => this.#words(first, to)));
    if (isComplete && arms.length > 0 && texts.size === 1) return;

    const container = stream.container(at);
    const isLocal = this.#inFunction(at);
    // What this configuration leaves out; the place of the group if there is nothing to leave out.
    const out = possible.find((arm) => !arm.active) ?? null;
    const found = {
      condition: out?.condition ?? `!(${possible[0]?.condition ?? '1'})`, line: stream.source.line(stream.source.directives[out?.directive ?? opener]?.start ?? 0),
      decides: group.arms.flatMap((arm) => arm.assumed).find((name) => !isPlatform(name)) ?? '', group: { start: this.#offset(at), end: end >= stream.tokens.count ? stream.source.text.length : stream.tokens.end(end) }, local: isLocal, forCallers: false, onlyIn: null,
    };
    const told = (name: string, what: string): string => `${name} ${what} in the arms of the #if of line ${stream.source.line(found.group.start)}`;

    // Declarations that the group stands in the middle of.
    const harmless = [...texts].every(isSilent);
    if (!harmless) {
      for (const decl of isLocal ? this.#statementAround(at, end) : this.#covering(at)) {
        this.#add({ ...found, name: decl.name, member: decl.member, forCallers: decl.sort === 'function', text: told(decl.name, 'has other text') });
      }
      if ((container === 'namespace' || container === 'record' || container === 'block') && group.arms.some((arm) => !isWholeArm(stream, arm.directive) && this.#isCut(arm))) {
        const next = this.#nameBehind(end);
        if (next !== null) this.#add({ ...found, name: next, member: container === 'record', text: told(next, 'is declared otherwise') });
      }
    }
    if (container === 'enum') {
      const open = stream.brackets.enclosing[at] ?? -1;
      for (const decl of declarationsIn(stream, at, stream.match(open) - 1, 'enum')) this.#add({ ...found, name: decl.name, member: false, text: told(decl.name, 'has another value') });
      return;
    }
    if (container !== 'namespace' && container !== 'record' && container !== 'block' && container !== 'parenthesis') return;
    const said = arms.map(([first, to], i) => this.#said(possible[i], first, to, container, isLocal));
    if (!isComplete || arms.length === 1) said.push(new Map());
    const around = stream.brackets.enclosing[at] ?? -1;
    const record = container === 'record' ? typeName(stream, this.#statementStart(around), around) : -1;
    const recordName = record < 0 ? null : stream.tokens.spelling(record);
    for (const key of new Set(said.flatMap((map) => [...map.keys()]))) {
      const member = key.startsWith('.');
      const name = member ? key.slice(1) : key;
      const readings = said.map((map) => map.get(key));
      const present = readings.filter((reading) => reading !== undefined);
      const [one] = present;
      if (one === undefined) continue;
      if (name === 'operator' || name === recordName) {
        // Operators and constructors come into it wherever objects of the record do.
        if (present.length === readings.length && present.every((reading) => reading.text === one.text)) continue;
        if (record >= 0) this.#add({ ...found, name: stream.tokens.spelling(record), member: false, text: told(stream.tokens.spelling(record), 'has other operators') });
        continue;
      }
      const tested = new Set(group.arms.flatMap((arm) => arm.assumed));
      const plain = present.every((reading) => isPlain(reading.text, name)) ? { plain: true as const } : { mentions: present.flatMap((reading) => mentioned(reading.text)) };
      const other = present.find((reading) => !alike(reading.text, one.text, name, tested));
      if (other !== undefined) {
        const line = (reading: Said): number => stream.source.line(reading.at);
        this.#add({ ...found, ...plain, name, member, text: `${name} is declared in line ${line(one)} and otherwise in line ${line(other)}, in another arm of the #if of line ${stream.source.line(found.group.start)}` });
      } else if (present.length < readings.length && !group.arms.some((arm) => arm.assumed.includes(name))) {
        const home = possible.find((arm) => { const span = this.#spanOf(arm); return span.start <= one.at && one.at < span.end; });
        if (home === undefined) continue;
        this.#add({
          ...found, ...plain, name, member, onlyIn: this.#spanOf(home),
          text: `${name} is declared in line ${stream.source.line(one.at)} in one arm of the #if of line ${stream.source.line(found.group.start)} and elsewhere for the others`,
        });
      }
    }
  }

  #add(made: NameInArms): void {
    const key = `${made.member ? '.' : ''}${made.name} ${made.group.start} ${made.forCallers ? 1 : 0}`;
    if (made.name === '' || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#names.push(made);
  }

  /** What one arm declares, macros included. */
  #said(arm: Arm | undefined, first: number, to: number, container: 'namespace' | 'record' | 'block' | 'parenthesis', isLocal: boolean): Map<string, Said> {
    const found = new Map<string, Said>();
    const { stream } = this;
    const say = (key: string, text: string, at: number): void => {
      const before = found.get(key);
      if (before === undefined) found.set(key, { text, at });
      else before.text += ` ; ${text}`;
    };
    for (const decl of declarationsIn(stream, first, to, container === 'namespace' && isLocal ? 'block' : container)) {
      say((decl.member ? '.' : '') + decl.name, this.#words(decl.first, decl.last), stream.tokens.start(decl.at));
    }
    if (arm === undefined) return found;
    for (let i = arm.directive + 1; i < arm.closer; i++) {
      const directive = stream.source.directives[i];
      if (directive?.kind === 'undef') say(directive.argument.trim(), '#undef', directive.start);
      const macro = directive?.kind === 'define' ? parseDefine(directive.argument, '', 0) : null;
      if (macro !== null && directive !== undefined) say(macro.name, `#define ${macro.parameters === null ? '' : `(${macro.parameters.join()})`} ${macro.body.replace(/\s+/g, ' ').trim()}`, directive.start);
    }
    return found;
  }

  #declarations(): readonly TokenDeclaration[] {
    return this.#all ??= declarationsOf(this.unit);
  }

  /** Declarations at namespace or record scope, records left out, in which the token stands. */
  #covering(at: number): TokenDeclaration[] {
    return this.#declarations().filter((decl) => decl.sort !== 'record' && decl.first < at && at < decl.last);
  }

  /** What the statement of a function declares that the group cuts, and the function itself for its callers. */
  #statementAround(at: number, end: number): TokenDeclaration[] {
    const around = this.#covering(at).filter((decl) => decl.sort === 'function');
    const container = this.stream.container(at);
    if (container === 'parenthesis' && !this.#inBody(at)) return around;
    let start = this.#statementStart(at);
    if (start >= at) return around;
    while (start < at && this.stream.tokens.kind(start) === TokenKind.directive) start++;
    return [...around, ...declarationsIn(this.stream, start, Math.min(end, this.stream.tokens.count - 1), 'block').filter((decl) => decl.at < at)];
  }

  /** The first token of the statement that a token belongs to. */
  #statementStart(at: number): number {
    const { tokens, brackets } = this.stream;
    let i = at;
    for (let steps = 0; i > 0 && steps < 4000; steps++) {
      const before = i - 1;
      if (tokens.is(before, ';') || (tokens.kind(before) === TokenKind.directive && i !== at)) break;
      if (tokens.is(before, '{') && brackets.braces.get(before) !== 'initializer') break;
      if (tokens.is(before, '}')) {
        const open = this.stream.match(before);
        if (open < 0 || brackets.braces.get(open) !== 'initializer') break;
        i = open;
        continue;
      }
      i = before;
    }
    return i;
  }

  /** The arm ends in the middle of a declaration, not of the structure of statements. */
  #isCut(arm: Arm): boolean {
    const { tokens } = this.stream;
    const last = this.#range(arm)[1];
    return tokens.isIdentifier(last) || tokens.is(last, '*') || tokens.is(last, '&') || tokens.is(last, '>');
  }

  /** The name of the declaration that goes on behind a group. */
  #nameBehind(end: number): string | null {
    const { tokens } = this.stream;
    for (let i = end + 1; i < Math.min(tokens.count, end + 40); i++) {
      if (tokens.is(i, ';') || tokens.is(i, '{') || tokens.is(i, '}') || tokens.kind(i) === TokenKind.directive) return null;
      const next = tokens.spelling(i + 1);
      if (tokens.isIdentifier(i) && (next === ';' || next === '=' || next === '(' || next === '[' || next === ',' || next === '{')) return tokens.spelling(i);
    }
    return null;
  }

  /** A function's body, or its parameters, are around the token. */
  #inFunction(at: number): boolean {
    return this.#inBody(at) || this.stream.container(at) === 'parenthesis';
  }

  #inBody(at: number): boolean {
    const { brackets } = this.stream;
    for (let open = brackets.enclosing[at] ?? -1; open >= 0; open = brackets.enclosing[open] ?? -1) if (brackets.braces.get(open) === 'block') return true;
    return false;
  }

  #range(arm: Arm): readonly [number, number] {
    const { stream } = this;
    return [(stream.directiveTokens[arm.directive] ?? 0) + 1, (stream.directiveTokens[arm.closer] ?? stream.tokens.count) - 1];
  }

  #spanOf(arm: Arm): Span {
    const { directives, text } = this.stream.source;
    return { start: directives[arm.directive]?.end ?? 0, end: directives[arm.closer]?.start ?? text.length };
  }

  #offset(token: number): number {
    return token < 0 ? 0 : this.stream.tokens.start(token);
  }

  /** The words of a range; those of directives too. */
  #words(first: number, last: number): string {
    const { tokens } = this.stream;
    const parts: string[] = [];
    for (let i = first; i <= last; i++) parts.push(tokens.kind(i) === TokenKind.directive ? tokens.text.slice(tokens.start(i), tokens.end(i)) : tokens.spelling(i));
    return parts.join(' ');
  }
}

const declared = new WeakMap<Unit, readonly TokenDeclaration[]>();

/** What the file declares at namespace and record scope, in all arms. */
export function declarationsOf(unit: Unit): readonly TokenDeclaration[] {
  let found = declared.get(unit);
  if (found === undefined) {
    const stream = streamOf(unit.overlay);
    declared.set(unit, found = stream === null ? [] : declarationsIn(stream, 0, stream.tokens.count - 1, 'namespace'));
  }
  return found;
}

const SILENT = new Set([
  'inline', '__inline__', '__inline', '__forceinline__', '__noinline__', '__device__', '__host__', '__global__', 'constexpr', 'const', '#pragma', 'unroll',
]);

/** Words that change neither a value nor an effect. */
function isSilent(text: string): boolean {
  return text.replace(/"C"/g, '').split(/\s+/).every((word) => word === '' || SILENT.has(word));
}

const FLOATING = /^(?:float|double|half|__half|__nv_bfloat16|(?:float|double)[1-4])$/;
const COUNT = /^\(?\s*[1-9]\d{0,3}\s*\)?$/;

/** The two declarations of a name differ in nothing that matters. A macro that is a count, or is what the build gives (`tested`), is handled as any count. */
function alike(a: string, b: string, name: string, tested: ReadonlySet<string>): boolean {
  if (a === b || (isSilent(a.replace(/^#define /, '')) && isSilent(b.replace(/^#define /, '')))) return true;
  const [x, y] = [bare(a, name), bare(b, name)];
  if (x === y) return true;
  const isCount = (text: string): boolean => COUNT.test(text) || tested.has(text);
  if (a.startsWith('#define  ') && b.startsWith('#define  ') && isCount(x) && isCount(y)) return true;
  const [p, q] = [x.split(' '), y.split(' ')];
  return p.length === q.length && p.every((word, i) => word === q[i] || (isFloating(word) && isFloating(q[i] ?? '')));
}

function isFloating(word: string): boolean {
  return FLOATING.test(word) || /^(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fFlL]?$/.test(word);
}

function bare(text: string, name: string): string {
  return text.replace(/^#define /, '').split(' ').filter((word) => word !== name && !SILENT.has(word)).join(' ').trim();
}

const PLAIN = new Set([
  'typedef', 'using', '#define', 'constexpr', 'const', 'static', '__device__', '__constant__', 'inline', 'enum', 'bool', 'char', 'short', 'int', 'long', 'float', 'double', 'signed', 'unsigned', 'half',
  'size_t', 'int8_t', 'int16_t', 'int32_t', 'int64_t', 'uint8_t', 'uint16_t', 'uint32_t', 'uint64_t', 'true', 'false', '=', ';', '-', '+',
]);

/** A number, or a type of numbers, by the words of its declarations. */
function isPlain(text: string, name: string): boolean {
  return text.split(/\s+/).every((word) => word === '' || word === name || PLAIN.has(word) || /^\.?\d[\w.]*$/.test(word));
}

function mentioned(text: string): readonly string[] {
  const macro = /^#define (?:\(([^)]*)\))? (.*)$/s.exec(text);
  if (macro === null) return [];
  const parameters = new Set((macro[1] ?? '').split(','));
  return (macro[2]?.match(/[A-Za-z_$][\w$]*/g) ?? []).filter((word) => !parameters.has(word));
}

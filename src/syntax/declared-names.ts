/** What a file declares at namespace scope, as a list with places: for comparing what stands in front of an include. */
import { tokensOf } from '../source/source-file.js';
import { TokenKind, type Tokens } from '../source/tokens.js';
import type { SourceFile } from '../source/types.js';
import { isDefinition } from './lower-overload.js';
import { printType } from './types.js';
import type { FileNames } from './scope.js';
import type { Decl, Type } from './tree.js';

export interface DeclaredName {
  readonly name: string;
  /** Of the namespace; `*` for a specialisation, whose template may stand anywhere, `.` for that of a member of a class template. */
  readonly path: string;
  readonly file: string;
  /** Where the declaration is complete enough to be seen. */
  readonly at: number;
  readonly end: number;
  readonly function: boolean;
  /** It may be one more declaration of what is defined elsewhere. */
  readonly repeats: boolean;
  /** Of a function: the types of its parameters. */
  readonly signature: string;
  /** A function that the types of a call's arguments may lead to: it takes objects, enumerators or what a template says. */
  readonly byArguments: boolean;
}

const lists = new WeakMap<FileNames, readonly DeclaredName[]>();

/** To be asked for when all names of the file are known. */
export function declaredIn(file: string, names: FileNames): readonly DeclaredName[] {
  const known = lists.get(names);
  if (known !== undefined) return known;
  const made: DeclaredName[] = [];
  for (const [path, space] of names.spaces) {
    const add = (decl: Decl): void => {
      const isFunction = decl.kind === 'function';
      const repeats = isFunction ? !isDefinition(decl) : true;
      // What a using-declaration brings stands in another file.
      const at = decl.file === file ? decl.span.start : 0;
      const brought = decl.file === file ? '' : `${decl.file}:${decl.span.start} `;
      const signature = brought + (isFunction ? `${decl.template === null ? '' : 'template '}${decl.parameters.map((parameter) => printType(parameter.type)).join(', ')}` : '');
      made.push({ name: decl.name, path, file: decl.file, at, end: decl.file === file ? decl.span.end : 0, function: isFunction, repeats, signature, byArguments: isFunction && decl.parameters.some(({ type }) => mayLead(type)) });
    };
    for (const decl of space.values.values()) add(decl);
    for (const decls of space.functions.values()) decls.forEach(add);
    for (const decl of space.types.values()) add(decl);
  }
  for (const [full, target] of names.aliases) {
    const cut = full.lastIndexOf('::');
    made.push({ name: cut < 0 ? full : full.slice(cut + 2), path: cut < 0 ? '' : full.slice(0, cut), file, at: 0, end: 0, function: false, repeats: false, signature: target, byArguments: false });
  }
  lists.set(names, made);
  return made;
}

const specialisations = new WeakMap<SourceFile, readonly DeclaredName[]>();

/** Templates that the file specialises, in whole or in part: of them no scope holds a name. */
export function specialisedIn(source: SourceFile): readonly DeclaredName[] {
  const known = specialisations.get(source);
  if (known !== undefined) return known;
  const made: DeclaredName[] = [];
  if (source.text.includes('template')) {
    const tokens = tokensOf(source);
    for (let i = 0; i < tokens.count; i++) {
      if (!tokens.is(i, 'template') || !tokens.is(i + 1, '<')) continue;
      const close = angleEnd(tokens, i + 1);
      const whole = close === i + 2;
      const name = specialised(tokens, close + 1, whole);
      const paths = name < 0 ? [] : tokens.is(name - 1, '::') && !tokens.is(name + 1, '<') ? ['*', '.'] : ['*'];
      for (const path of paths) made.push({ name: tokens.spelling(name), path, file: source.realPath, at: tokens.start(i), end: bodyEnd(tokens, name), function: false, repeats: false, signature: '', byArguments: false });
      i = close;
    }
  }
  specialisations.set(source, made);
  return made;
}

/** Does a type have namespaces or classes that belong to it? Numbers and pointers to them have none. */
export function mayLead(type: Type): boolean {
  switch (type.kind) {
    case 'int': case 'float': case 'bool': case 'void': return false;
    case 'pointer': case 'reference': return mayLead(type.to);
    case 'array': return mayLead(type.of);
    default: return true;
  }
}

const behind = new WeakMap<FileNames, readonly DeclaredName[]>();

/** What templates of other files find although it stands behind them: functions by the types of arguments, friends, specialisations. */
export function foundLateIn(source: SourceFile, names: FileNames): readonly DeclaredName[] {
  let made = behind.get(names);
  if (made === undefined) behind.set(names, made = [...declaredIn(source.realPath, names).filter(({ byArguments }) => byArguments), ...specialisedIn(source), ...friendsIn(source)]);
  return made;
}

/** Functions that classes of the file name as their friends. */
function friendsIn(source: SourceFile): readonly DeclaredName[] {
  const made: DeclaredName[] = [];
  if (!source.text.includes('friend')) return made;
  const tokens = tokensOf(source);
  for (let i = 0; i < tokens.count; i++) {
    if (!tokens.is(i, 'friend')) continue;
    let at = i + 1;
    while (at < tokens.count && !tokens.is(at, '(') && !tokens.is(at, ';') && !tokens.is(at, '{')) at++;
    if (!tokens.is(at, '(')) continue;
    let name = tokens.spelling(at - 1);
    if (!tokens.isIdentifier(at - 1)) {
      let first = at - 1;
      while (first > i && !tokens.is(first, 'operator')) first--;
      name = Array.from({ length: at - first }, (_, k) => tokens.spelling(first + k)).join('');
    }
    made.push({ name, path: '*', file: source.realPath, at: tokens.start(i), end: bodyEnd(tokens, at), function: true, repeats: false, signature: '', byArguments: true });
  }
  return made;
}

/** The name that is specialised behind `template <…>`; -1 if what follows is a template of its own. */
function specialised(tokens: Tokens, from: number, whole: boolean): number {
  for (let i = from; i < from + 64 && i < tokens.count; i++) {
    if (tokens.is(i, '(') && ATTRIBUTES.has(tokens.spelling(i - 1))) {
      i = parenthesisEnd(tokens, i);
      continue;
    }
    // A function whose arguments are found by its parameters, or a static member.
    if (tokens.is(i, '{') || tokens.is(i, ';') || tokens.is(i, '(') || tokens.is(i, '=')) return whole && tokens.isIdentifier(i - 1) && (tokens.is(i, '(') || tokens.is(i - 2, '::')) ? i - 1 : -1;
    const named = tokens.isIdentifier(i) && tokens.is(i + 1, '<');
    if (!named) continue;
    const record = tokens.is(i - 1, 'struct') || tokens.is(i - 1, 'class') || tokens.is(i - 1, '::');
    if (record || (whole && tokens.is(angleEnd(tokens, i + 1) + 1, '('))) return i;
    i = angleEnd(tokens, i + 1);
  }
  return -1;
}

const ATTRIBUTES = new Set(['__launch_bounds__', '__maxnreg__', '__cluster_dims__', '__attribute__', '__declspec', 'alignas', 'decltype', '__align__']);

function parenthesisEnd(tokens: Tokens, open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.count; i++) {
    if (tokens.is(i, '(')) depth++;
    else if (tokens.is(i, ')') && --depth === 0) return i;
  }
  return tokens.count;
}

function angleEnd(tokens: Tokens, open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.count; i++) {
    if (tokens.is(i, '<')) depth++;
    else if (tokens.is(i, '>') && --depth <= 0) return i;
    else if (tokens.is(i, '>>') && (depth -= 2) <= 0) return i;
    else if (tokens.is(i, ';') || tokens.is(i, '{')) return i;
  }
  return tokens.count;
}

function bodyEnd(tokens: Tokens, from: number): number {
  let depth = 0;
  for (let i = from; i < tokens.count; i++) {
    if (tokens.is(i, '{')) depth++;
    else if (tokens.is(i, '}') && --depth <= 0) return tokens.end(i);
    else if (tokens.is(i, ';') && depth === 0) return tokens.end(i);
  }
  return tokens.end(tokens.count - 1);
}

/** The words of a declaration from the end of the one before it, comments and white space left out. */
export function textOf(source: SourceFile, { at, end, signature }: DeclaredName): string {
  if (end === 0) return signature;
  const tokens = tokensOf(source);
  let first = tokens.at(at);
  // An enumerator is what those in front of it make it: the text begins with its enum.
  const stops = (i: number): boolean => tokens.is(i, ';') || tokens.is(i, '}') || tokens.kind(i) === TokenKind.directive || (tokens.is(i, '{') && !opensEnum(tokens, i));
  while (first > 0 && !stops(first - 1)) first--;
  const parts: string[] = [];
  for (let i = first; i < tokens.count && tokens.start(i) < end; i++) if (tokens.kind(i) !== TokenKind.directive) parts.push(tokens.spelling(i));
  return parts.join(' ');
}

function opensEnum(tokens: Tokens, brace: number): boolean {
  for (let i = brace - 1; i >= Math.max(0, brace - 8); i--) {
    if (tokens.is(i, 'enum')) return true;
    if (tokens.is(i, ';') || tokens.is(i, '}') || tokens.is(i, '{')) return false;
  }
  return false;
}

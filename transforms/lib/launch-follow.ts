/**
 * What follows a kernel that becomes several: declarations, explicit instantiations, calls that set its attributes.
 */
import { TokenKind } from '../../src/source/tokens.js';
import type { Span } from '../../src/source/types.js';
import type { FunctionDecl, Unit } from '../../src/syntax/tree.js';
import { fileTokens } from './launch-mentions.js';
import type { KernelSites, LaunchSite, Obstacle } from './launch-sites.js';
import { indentAt, movedText, oneLine, textOf } from './text.js';
import type { Edit } from './types.js';

/** A parameter of a new kernel: one of the original's, or a new one with its text (`const int *active`). */
export type NewParameter = { readonly kind: 'kept'; readonly index: number } | { readonly kind: 'new'; readonly text: string };

export interface NewKernel {
  readonly name: string;
  readonly parameters: readonly NewParameter[];
}

export interface Following {
  readonly edits: readonly Edit[];
  readonly obstacles: readonly Obstacle[];
}

/** Edits of all that follows. With `keepOriginal` the old texts stay and the new ones stand behind them. */
export function follow(found: KernelSites, kernels: readonly NewKernel[], keepOriginal: boolean): Following {
  const edits: Edit[] = [];
  const obstacles: Obstacle[] = [];
  const put = (unit: Unit, span: Span, texts: readonly string[]): void => {
    const indent = indentAt(unit.source, span.start);
    const whole = [...(keepOriginal ? [textOf(unit.source, span)] : []), ...texts].join(`\n${indent}`);
    edits.push({ file: unit.source.realPath, span, text: whole });
  };
  for (const { unit, decl } of found.declarations) {
    const span = withSemicolon(unit, decl.span);
    if (span === null) obstacles.push({ path: unit.source.path, line: unit.source.line(decl.span.start), form: 'declared together with something else' });
    else put(unit, span, kernels.map((kernel) => `${headText(unit, decl, kernel)};`));
  }
  for (const { unit, name } of found.instantiations) {
    const parts = instantiation(unit, name, found.kernel.parameters.length);
    if (parts === null) {
      obstacles.push({ path: unit.source.path, line: unit.source.line(name.start), form: 'an explicit instantiation that was not understood' });
      continue;
    }
    if (kernels.some((kernel) => kernel.parameters.some((parameter) => parameter.kind === 'new'))) {
      obstacles.push({ path: unit.source.path, line: unit.source.line(name.start), form: 'an explicit instantiation: the types of the new parameters are not known there' });
      continue;
    }
    put(unit, parts.span, kernels.map((kernel) => parts.text(kernel)));
  }
  for (const { unit, statement, name } of found.attributes) {
    if (!standsAlone(unit, statement)) {
      obstacles.push({ path: unit.source.path, line: unit.source.line(statement.start), form: 'an attribute is set in a branch without braces' });
      continue;
    }
    put(unit, statement, kernels.map((kernel) => textOf(unit.source, { start: statement.start, end: name.start }) + kernel.name + textOf(unit.source, { start: name.end, end: statement.end })));
  }
  return { edits, obstacles };
}

/** Text of the declaration up to its `)` and what stands behind it, with another name and other parameters. */
export function headText(unit: Unit, decl: FunctionDecl, kernel: NewKernel): string {
  const { source } = unit;
  const list = parameterList(unit, decl);
  const before = textOf(source, { start: decl.headSpan.start, end: decl.nameSpan.start });
  if (list === null) return `${before}${kernel.name}()`;
  const behind = textOf(source, { start: list.end, end: decl.headSpan.end }).replace(/\s*;?\s*$/, '');
  return `${before}${kernel.name}(${parametersText(unit, decl, kernel)})${behind}`;
}

function parametersText(unit: Unit, decl: FunctionDecl, kernel: NewKernel): string {
  return parameterTexts(unit, decl, kernel).join(', ');
}

/** Parameters of a new kernel as they stood, each on one line; without their defaults where one without a default follows. */
export function parameterTexts(unit: Unit, decl: FunctionDecl, kernel: NewKernel): readonly string[] {
  const { source } = unit;
  const texts = kernel.parameters.map((parameter) => {
    if (parameter.kind === 'new') return { text: parameter.text, bare: parameter.text, optional: false };
    const kept = decl.parameters[parameter.index];
    if (kept === undefined) return { text: '', bare: '', optional: false };
    const whole = movedText(source, kept.span);
    return { text: whole, bare: kept.default === null ? whole : oneLine(source, { start: kept.span.start, end: kept.default.span.start }).replace(/\s*=\s*$/, ''), optional: kept.default !== null };
  });
  const lastBare = texts.map(({ optional }) => optional).lastIndexOf(false);
  return texts.map(({ text, bare }, i) => (i < lastBare ? bare : text));
}

/** The parenthesised list behind the name. */
export function parameterList(unit: Unit, decl: FunctionDecl): Span | null {
  const tokens = fileTokens(unit.source);
  let depth = 0;
  let start = -1;
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.start(i) < decl.nameSpan.end) continue;
    const text = tokens.spelling(i);
    if (text === '(') {
      if (depth++ === 0) start = tokens.start(i);
    } else if (text === ')') {
      if (--depth === 0) return { start, end: tokens.end(i) };
    } else if (depth === 0 && text !== '<' && tokens.kind(i) !== TokenKind.identifier) {
      return null;
    }
  }
  return null;
}

/** The declaration with its `;`; null if it goes on in another way. */
function withSemicolon(unit: Unit, span: Span): Span | null {
  const { text } = unit.source;
  if (text[span.end - 1] === ';') return span;
  const rest = /^\s*;/.exec(text.slice(span.end, span.end + 200));
  return rest === null ? null : { start: span.start, end: span.end + rest[0].length };
}

interface Instantiation { readonly span: Span; text(kernel: NewKernel): string }

function instantiation(unit: Unit, name: Span, arity: number): Instantiation | null {
  const { source } = unit;
  const tokens = fileTokens(source);
  let at = 0;
  while (at < tokens.count && tokens.start(at) < name.start) at++;
  let first = at;
  while (first > 0 && !/^[;{}]$/.test(tokens.spelling(first - 1)) && tokens.kind(first - 1) !== TokenKind.directive) first--;
  let open = at + 1;
  for (let angle = 0; open < tokens.count; open++) {
    const text = tokens.spelling(open);
    if (text === '<') angle++;
    else if (text === '>') angle--;
    else if (text === '(' && angle <= 0) break;
    else if (text === ';') return null;
  }
  const pieces: Span[] = [];
  let depth = 0;
  let from = tokens.end(open);
  for (let i = open; i < tokens.count; i++) {
    const text = tokens.spelling(i);
    if (text === '(' || text === '[' || text === '{' || text === '<') depth++;
    else if (text === ')' || text === ']' || text === '}' || text === '>') depth--;
    if ((text === ',' && depth === 1) || depth === 0) {
      if (tokens.start(i) > from || pieces.length > 0) pieces.push({ start: from, end: tokens.start(i) });
      from = tokens.end(i);
    }
    if (depth > 0) continue;
    if (tokens.spelling(i + 1) !== ';' || pieces.length !== arity) return null;
    const span = { start: tokens.start(first), end: tokens.end(i + 1) };
    return {
      span,
      text: (kernel) => `${textOf(source, { start: span.start, end: name.start })}${kernel.name}${textOf(source, { start: name.end, end: tokens.start(open) })}(${
        kernel.parameters.map((parameter) => (parameter.kind === 'new' ? parameter.text : oneLine(source, pieces[parameter.index] ?? name))).join(', ')});`,
    };
  }
  return null;
}

/** False below a head without braces, where a second statement would fall out of the branch. */
function standsAlone(unit: Unit, statement: Span): boolean {
  const tokens = fileTokens(unit.source);
  let i = 0;
  while (i < tokens.count && tokens.start(i) < statement.start) i++;
  const before = tokens.spelling(i - 1);
  return before === ';' || before === '{' || before === '}' || tokens.kind(i - 1) === TokenKind.directive;
}

/** Launches that leave template arguments to be deduced from an argument that a new kernel does not take. */
export function deductionObstacles(found: KernelSites, kernels: readonly NewKernel[]): readonly Obstacle[] {
  const { kernel, sites } = found;
  if (kernel.template === null) return [];
  const lost = (site: LaunchSite): string | null => {
    const given = site.launch.templateArguments?.length ?? 0;
    for (const parameter of kernel.template?.slice(given) ?? []) {
      if (parameter.pack) return parameter.name;
      if (parameter.default !== null) continue;
      const word = new RegExp(`\\b${parameter.name}\\b`);
      const source = kernel.parameters.map((p) => found.unit.source.text.slice(p.span.start, p.span.end));
      for (const made of kernels) {
        const deducible = made.parameters.some((p) => p.kind === 'kept' && word.test(source[p.index] ?? ''));
        if (!deducible) return parameter.name;
      }
    }
    return null;
  };
  return sites.flatMap((site) => {
    const name = lost(site);
    return name === null ? [] : [{ path: site.unit.source.path, line: site.line, form: `its template argument ${name} is deduced from an argument that one of the new kernels does not take` }];
  });
}

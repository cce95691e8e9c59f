/** The text of a kernel that runs one arm of a branch: the original's, with the arm in the place of the branch. */
import type { SourceFile, Span } from '../../src/source/types.js';
import type { ParameterDecl, Stmt } from '../../src/syntax/tree.js';
import { simplify, type Decisions } from '../lib/guards/simplify.js';
import { parameterList, parameterTexts, type NewKernel } from '../lib/launch-follow.js';
import { spelledIn } from '../lib/launch-mentions.js';
import { commentsIn, copyText, endsLine, extentOf, indentAt, lineEndOf, lineStartOf, startsLine, textOf, type Replacement, type Shift } from '../lib/text.js';
import type { TransformContext } from '../lib/types.js';
import { isLeft } from './emit.js';
import type { SplitBranch } from './shape.js';

export interface Rewriting {
  /** Declarations that the kernel does not need. */
  readonly dropped: ReadonlySet<Stmt>;
  readonly coordinates: readonly Replacement[];
  /** Other conditions that have one value in it. */
  readonly decisions: Decisions;
  /** Comments that have lost their place, for that of the branch. */
  readonly said: readonly string[];
}

/** The whole definition of a population's kernel. */
export function definitionText(context: TransformContext, branch: SplitBranch, arm: 'then' | 'else', made: NewKernel, rewriting: Rewriting): string {
  const { dropped, coordinates, decisions } = rewriting;
  const { facts, unit } = context;
  const { source } = unit;
  const { function: kernel } = facts;
  const { body } = kernel;
  if (body === null) return '';
  const replacements: Replacement[] = [...dropped].map((stmt) => ({ span: lineSpan(source, extentOf(source, stmt)), text: '' }));
  replacements.push(...branchReplacement(context, branch, arm, rewriting));
  const covered = replacements.map((replacement) => replacement.span);
  const decided = decisions.size === 0 ? [] : simplify(facts, body, decisions);
  for (const other of coordinates) if (!covered.some((span) => span.start <= other.span.start && other.span.end <= span.end)) replacements.push(other);
  replacements.push(...decided.flatMap((one) => beside(one, covered)));
  return headOf(context, made) + copyText(source, { start: body.span.start, end: body.span.end }, { from: '', to: '' }, replacements);
}

/** Qualifiers, template head and name as they are, the parameters in one line where they stood in one or fit. */
export function headOf({ facts, unit }: TransformContext, made: NewKernel): string {
  const { source } = unit;
  const { function: kernel } = facts;
  const list = parameterList(unit, kernel);
  const { body } = kernel;
  if (list === null || body === null) throw new Error('internal: a kernel without a list of parameters');
  const before = textOf(source, { start: kernel.headSpan.start, end: kernel.nameSpan.start }) + made.name;
  const texts = parameterTexts(unit, kernel, made);
  const column = before.length - (before.lastIndexOf('\n') + 1) + 1;
  const wrapped = textOf(source, list).includes('\n');
  const behind = textOf(source, { start: list.end, end: body.span.start });
  const first = kernel.parameters[0]?.span.start ?? list.end;
  const last = kernel.parameters.at(-1)?.span.end ?? list.end;
  // A list that begins on a line of its own goes on below its first parameter, and ends as it ended.
  const below = texts.length > 0 && startsLine(source, first);
  const indent = below ? indentAt(source, first) : ' '.repeat(column);
  const open = below ? `(\n${indent}` : '(';
  const close = below && /^\s*\n\s*$/.test(source.text.slice(last, list.end - 1)) ? `\n${indentAt(source, list.end - 1)}` : '';
  if (standAlone(source, kernel.parameters) && texts.length > 0) {
    const said = made.parameters.map((parameter) => (parameter.kind === 'kept' ? commentBehind(source, kernel.parameters[parameter.index]?.span.end ?? list.end) : ''));
    const lines = texts.map((text, i) => `${text}${i < texts.length - 1 ? ',' : ''}${said[i] ?? ''}`).join(`\n${indent}`);
    return `${before}${open}${lines}${(said.at(-1) ?? '') === '' ? close : `\n${close === '' ? indent : close.slice(1)}`})${behind}`;
  }
  const lines: string[] = [];
  for (const text of texts) {
    const line = lines.at(-1);
    if (line === undefined || (wrapped && indent.length + line.length + text.length + 2 > 110)) lines.push(text);
    else lines[lines.length - 1] = `${line}, ${text}`;
  }
  return `${before}${open}${lines.join(`,\n${indent}`)}${close})${behind}`;
}

/** Parameters stand each on a line of its own, the first one maybe behind the parenthesis. */
function standAlone(source: SourceFile, parameters: readonly ParameterDecl[]): boolean {
  return parameters.length > 1 && parameters.slice(1).every(({ span }) => startsLine(source, span.start));
}

/** The comment that the line of a parameter ends with, a blank in front of it. */
function commentBehind(source: SourceFile, end: number): string {
  const stop = lineEndOf(source, end);
  const [comment, other] = commentsIn(source, { start: end, end: stop });
  if (comment === undefined || other !== undefined || comment.end > stop || !/^\s*,?\s*$/.test(source.text.slice(end, comment.start)) || !endsLine(source, comment.end)) return '';
  return ` ${textOf(source, comment).trimEnd()}`;
}

/** What is left of a replacement beside spans that are replaced otherwise: lines that go may reach into one another. */
function beside({ span, text }: Replacement, covered: readonly Span[]): readonly Replacement[] {
  let { start, end } = span;
  for (const other of covered) {
    if (other.start <= start && end <= other.end) return [];
    if (text !== '') continue;
    if (other.start <= start && start < other.end) start = other.end;
    if (other.start < end && end <= other.end) end = other.start;
  }
  return start < end || span.start === span.end ? [{ span: { start, end }, text }] : [];
}

/** Whole lines, so that no empty line is left. */
export function lineSpan(source: SourceFile, span: Span): Span {
  if (!startsLine(source, span.start) || !endsLine(source, span.end)) return span;
  return { start: lineStartOf(source, span.start), end: lineEndOf(source, span.end) };
}

function branchReplacement(context: TransformContext, branch: SplitBranch, arm: 'then' | 'else', rewriting: Rewriting): readonly Replacement[] {
  const { source } = context.unit;
  const { stmt, list } = branch;
  const whole = extentOf(source, stmt);
  const taken = arm === 'then' ? stmt.then : stmt.else;
  const indent = indentAt(source, stmt.span.start);
  const said = rewriting.said.map((comment) => `${comment}\n${indent}`).join('');
  if (taken === null) {
    const span = list === null ? whole : lineSpan(source, whole);
    return [{ span, text: list === null ? `${said};` : rewriting.said.map((comment) => `${span.start === whole.start ? '' : indent}${comment}\n`).join('') }];
  }
  const left = list !== null && isLeft(branch, arm, list);
  // At the end of the kernel no `return` is needed. A comment behind the branch belongs to its last arm.
  const text = said + armText(context, branch, taken, rewriting, left && list === context.facts.function.body);
  return [{ span: { start: stmt.span.start, end: left ? Math.max(whole.end, endOfStatements(source, list)) : whole.end }, text }];
}

/** Behind the last statement of a block, comments on its line included. */
function endOfStatements(source: SourceFile, list: Extract<Stmt, { kind: 'compound' }>): number {
  const last = list.body.at(-1);
  return last === undefined ? list.span.end - 1 : extentOf(source, last).end;
}

/** An arm in the place of the branch: its statements, or a block where its names would meet others. */
function armText(context: TransformContext, branch: SplitBranch, arm: Stmt, { coordinates, decisions }: Rewriting, dropReturn: boolean): string {
  const { source } = context.unit;
  const { stmt, list } = branch;
  const to = indentAt(source, stmt.span.start);
  const insideAt = (shift: Shift): readonly Replacement[] => [
    ...coordinates.filter((replacement) => arm.span.start <= replacement.span.start && replacement.span.end <= arm.span.end),
    ...(decisions.size === 0 ? [] : simplify(context.facts, arm, decisions, shift)),
  ];
  if (arm.kind !== 'compound') {
    const shift = shiftOf(source, arm, to);
    return copyText(source, extentOf(source, arm), shift, insideAt(shift));
  }
  const last = arm.body.at(-1);
  const statements = dropReturn && last?.kind === 'return' ? arm.body.slice(0, -1) : arm.body;
  const [head] = statements;
  const tail = statements.at(-1);
  if (head === undefined || tail === undefined) return list === null ? ';' : '';
  if (list === null || meets(context, branch, arm)) {
    const shift = { from: indentAt(source, arm.span.end - 1), to };
    const inside = insideAt(shift);
    const replaced = dropReturn && last !== undefined && last.kind === 'return' ? [...inside, { span: lineSpan(source, extentOf(source, last)), text: '' }] : inside;
    return copyText(source, arm.span, shift, replaced);
  }
  // From the first line behind the brace, comments before the first statement included.
  const open = arm.span.start + 1;
  let from = endsLine(source, open) ? firstText(source, lineEndOf(source, open), head.span.start) : firstText(source, open, head.span.start);
  let end = dropReturn && last?.kind === 'return' ? extentOf(source, tail).end : lastText(source, extentOf(source, tail).end, arm.span.end - 1);
  const shift = shiftOf(source, head, to);
  const inside = insideAt(shift);
  // Statements that go at the edges of the arm, with their lines.
  for (const { span, text } of [...inside].sort((a, b) => a.span.start - b.span.start)) if (text === '' && span.start <= from && from < span.end) from = firstText(source, span.end, end);
  for (const { span, text } of [...inside].sort((a, b) => b.span.end - a.span.end)) if (text === '' && span.start < end && end <= span.end) end = lastText(source, from, span.start);
  if (from >= end) return list === null ? ';' : '';
  return copyText(source, { start: from, end }, shift, inside.filter(({ span }) => span.start >= from && span.end <= end));
}

function firstText(source: SourceFile, from: number, limit: number): number {
  let at = from;
  while (at < limit && /\s/.test(source.text[at] ?? '')) at++;
  return at;
}

/** Comments behind the last statement belong to the arm. */
function lastText(source: SourceFile, from: number, limit: number): number {
  const rest = source.text.slice(from, limit);
  return from + rest.trimEnd().length;
}

function shiftOf(source: SourceFile, stmt: Stmt, to: string): Shift {
  const from = indentAt(source, stmt.span.start);
  return startsLine(source, stmt.span.start) ? { from, to } : { from: to, to };
}

/** A name declared in the arm is declared beside it too. */
function meets(context: TransformContext, branch: SplitBranch, arm: Extract<Stmt, { kind: 'compound' }>): boolean {
  const own = new Set(arm.body.flatMap((stmt) => (stmt.kind === 'declare' ? [...stmt.variables, ...stmt.types].map((decl) => decl.name) : [])));
  if (arm.body.some((stmt) => stmt.kind === 'macro-statement' || stmt.kind === 'opaque' || stmt.kind === 'preprocessor')) return true;
  if (own.size === 0) return false;
  const { function: kernel, unit } = context.facts;
  const outsideText = (name: string): boolean => {
    const { body } = kernel;
    if (body === null) return true;
    return kernel.parameters.some((parameter) => parameter.name === name)
      || spelledIn(unit.source, { start: body.span.start, end: branch.stmt.span.start }, name) || spelledIn(unit.source, { start: branch.stmt.span.end, end: body.span.end }, name);
  };
  return [...own].some(outsideText);
}

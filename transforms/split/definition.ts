/** The text of a kernel that runs one arm of a branch: the original's, with the arm in the place of the branch. */
import type { SourceFile, Span } from '../../src/source/types.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { parameterList, parameterTexts, type NewKernel } from '../lib/launch-follow.js';
import { spelledIn } from '../lib/launch-mentions.js';
import { copyText, endsLine, extentOf, indentAt, lineEndOf, lineStartOf, startsLine, textOf, type Replacement, type Shift } from '../lib/text.js';
import type { TransformContext } from '../lib/types.js';
import type { SplitBranch } from './shape.js';

/** The whole definition of a population's kernel. */
export function definitionText(context: TransformContext, branch: SplitBranch, arm: 'then' | 'else', made: NewKernel, dropped: ReadonlySet<Stmt>, coordinates: readonly Replacement[]): string {
  const { facts, unit } = context;
  const { source } = unit;
  const { function: kernel } = facts;
  const { body } = kernel;
  if (body === null) return '';
  const replacements: Replacement[] = [...dropped].map((stmt) => ({ span: lineSpan(source, extentOf(source, stmt)), text: '' }));
  replacements.push(...branchReplacement(context, branch, arm, coordinates));
  const covered = replacements.map((replacement) => replacement.span);
  for (const coordinate of coordinates) if (!covered.some((span) => span.start <= coordinate.span.start && coordinate.span.end <= span.end)) replacements.push(coordinate);
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
  const lines: string[] = [];
  for (const text of texts) {
    const last = lines.at(-1);
    if (last === undefined || (wrapped && column + last.length + text.length + 2 > 110)) lines.push(text);
    else lines[lines.length - 1] = `${last}, ${text}`;
  }
  return `${before}(${lines.join(`,\n${' '.repeat(column)}`)})${textOf(source, { start: list.end, end: body.span.start })}`;
}

/** Whole lines, so that no empty line is left. */
export function lineSpan(source: SourceFile, span: Span): Span {
  if (!startsLine(source, span.start) || !endsLine(source, span.end)) return span;
  return { start: lineStartOf(source, span.start), end: lineEndOf(source, span.end) };
}

function branchReplacement(context: TransformContext, branch: SplitBranch, arm: 'then' | 'else', coordinates: readonly Replacement[]): readonly Replacement[] {
  const { source } = context.unit;
  const { stmt, list } = branch;
  const whole = extentOf(source, stmt);
  if (branch.form === 'return') {
    if (arm === 'else') return [{ span: lineSpan(source, whole), text: '' }];
    const end = list === null ? whole.end : endOfStatements(source, list);
    return [{ span: { start: stmt.span.start, end }, text: armText(context, branch, stmt.then, coordinates, true) }];
  }
  if (arm === 'else' && stmt.else === null) return [{ span: list === null ? whole : lineSpan(source, whole), text: list === null ? ';' : '' }];
  // A comment behind the branch belongs to its last arm.
  return [{ span: { start: stmt.span.start, end: whole.end }, text: armText(context, branch, arm === 'then' ? stmt.then : stmt.else ?? stmt.then, coordinates, false) }];
}

/** Behind the last statement of a block, comments on its line included. */
function endOfStatements(source: SourceFile, list: Extract<Stmt, { kind: 'compound' }>): number {
  const last = list.body.at(-1);
  return last === undefined ? list.span.end - 1 : extentOf(source, last).end;
}

/** An arm in the place of the branch: its statements, or a block where its names would meet others. */
function armText(context: TransformContext, branch: SplitBranch, arm: Stmt, coordinates: readonly Replacement[], dropReturn: boolean): string {
  const { source } = context.unit;
  const { stmt, list } = branch;
  const inside = coordinates.filter((replacement) => arm.span.start <= replacement.span.start && replacement.span.end <= arm.span.end);
  const to = indentAt(source, stmt.span.start);
  if (arm.kind !== 'compound') {
    return copyText(source, extentOf(source, arm), shiftOf(source, arm, to), inside);
  }
  const last = arm.body.at(-1);
  const statements = dropReturn && last?.kind === 'return' ? arm.body.slice(0, -1) : arm.body;
  const [head] = statements;
  const tail = statements.at(-1);
  if (head === undefined || tail === undefined) return list === null ? ';' : '';
  if (list === null || meets(context, branch, arm)) {
    const replaced = dropReturn && last !== undefined && last.kind === 'return' ? [...inside, { span: lineSpan(source, extentOf(source, last)), text: '' }] : inside;
    return copyText(source, arm.span, { from: indentAt(source, arm.span.end - 1), to }, replaced);
  }
  // From the first line behind the brace, comments before the first statement included.
  const open = arm.span.start + 1;
  const from = endsLine(source, open) ? firstText(source, lineEndOf(source, open), head.span.start) : firstText(source, open, head.span.start);
  const end = dropReturn && last?.kind === 'return' ? extentOf(source, tail).end : lastText(source, extentOf(source, tail).end, arm.span.end - 1);
  return copyText(source, { start: from, end }, shiftOf(source, head, to), inside);
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

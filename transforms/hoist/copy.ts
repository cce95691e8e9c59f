/**
 * The text of one copy of a loop: the loop as it stands, with each branch whose way is known replaced by the arm that is taken.
 *
 * Everything else is copied line by line. Comments inside and around an arm go with that arm, so that none is lost. A block's
 * braces go when its declarations meet no other name of the place where its statements come to stand.
 */
import { walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import type { IfStmt, Stmt, SwitchArm, SwitchStmt } from '../../src/syntax/tree.js';
import {
  blockText, commentsIn, copyText, endsLine, extentOf, indentAt, lineEndOf, lineStartOf, startsLine, statementStart, styleOf, wholeLines, withBlankLine, withTrailingComments,
  type Replacement, type Shift,
} from '../lib/text.js';
import { commentsAbove, commentsBehindBrace } from '../lib/branch-comments.js';
import { beginsWithMacro, elseFollows } from '../lib/lone-statement.js';
import { wordsOf, type Words } from '../lib/words.js';
import { armExpression, type ExprChoice } from './arm-expression.js';
import { bracesStay } from './braces.js';
import { headDroppable, restOf, withoutClosingBreak, type Outcome } from './empty-loop.js';
import { lastJump } from './shape.js';

interface Copier {
  readonly facts: FunctionFacts;
  /** The branch that leaves the loop: what is said of it goes with it. */
  readonly branch: Stmt;
  readonly source: SourceFile;
  readonly outcome: Outcome;
  readonly choice: ExprChoice | null;
}

/** The statements of an arm, the text that they stand in, and the comments that belong to them but lie outside. */
interface Arm {
  readonly statements: readonly Stmt[];
  /** From the first character to keep to the last; null if the arm is empty. */
  readonly inner: Span | null;
  /** The block or statement with its braces, for places where they must stay. */
  readonly whole: Stmt | null;
  readonly before: readonly Span[];
  readonly after: readonly Span[];
}

/** Text of a copy of `stmt` from its first pragma to its last comment. The first line is not indented. */
export function copyOf(facts: FunctionFacts, stmt: Stmt, branch: Stmt, shift: Shift, outcome: Outcome, choice: ExprChoice | null): string {
  const copier: Copier = { facts, branch, source: facts.unit.source, outcome, choice };
  return copyText(copier.source, extentOf(copier.source, stmt), shift, inside(copier, stmt, shift));
}

/** Replacements below a statement that is itself kept. */
function inside(copier: Copier, stmt: Stmt, shift: Shift): readonly Replacement[] {
  switch (stmt.kind) {
    case 'compound': return inList(copier, stmt.body, shift, stmt, loopAbove(copier, stmt));
    case 'if': return [...inPlace(copier, stmt.then, stmt.headSpan.end, shift), ...(stmt.else === null ? [] : inPlace(copier, stmt.else, stmt.elseSpan?.end ?? stmt.else.span.start, shift))];
    case 'for': case 'while': case 'range-for': return inPlace(copier, stmt.body, stmt.headSpan.end, shift);
    case 'do': return inPlace(copier, stmt.body, stmt.span.start + 2, shift);
    case 'switch': return stmt.arms.flatMap((arm) => inList(copier, arm.body, shift, null, null));
    case 'expression': case 'declare': return choiceIn(copier, stmt, shift);
    case 'label': return inside(copier, stmt.body, shift);
    case 'empty': case 'break': case 'continue': case 'return': case 'goto': case 'asm': case 'preprocessor': case 'macro-statement': case 'opaque':
      return [];
    default: {
      const never: never = stmt;
      return never;
    }
  }
}

/** The loop whose body is this very block. */
function loopAbove({ facts }: Copier, block: Stmt): Stmt | null {
  const parent = facts.parent(block);
  if (parent === null) return null;
  return (parent.kind === 'for' || parent.kind === 'while' || parent.kind === 'do' || parent.kind === 'range-for') && parent.body === block ? parent : null;
}

/** Replacements in a list of statements: of a block, or of an arm of a switch that stays. */
function inList(copier: Copier, list: readonly Stmt[], shift: Shift, block: Stmt | null, loop: Stmt | null): readonly Replacement[] {
  const result: Replacement[] = [];
  for (const [index, stmt] of list.entries()) {
    const arm = knownArm(copier, stmt);
    if (arm === null) {
      if (isGone(copier, stmt)) result.push(removal(copier.source, extentOf(copier.source, stmt)));
      else result.push(...inside(copier, stmt, shift));
      continue;
    }
    const before = list[index - 1];
    const floor = before !== undefined ? extentOf(copier.source, before).end : block?.span.start ?? statementStart(stmt);
    const above = movedAbove(copier, stmt, floor);
    if (above !== null) result.push({ span: above, text: '' });
    const later = list.slice(index + 1);
    const jump = lastJump(arm.statements);
    const rest = jump === null ? later : [];
    const kept = jump?.kind === 'continue' && loop !== null ? withoutLast(copier.source, arm) : arm;
    const extent = extentOf(copier.source, stmt);
    const last = later.at(-1);
    const dropped = jump !== null && last !== undefined ? { start: extent.start, end: extentOf(copier.source, last).end } : extent;
    const text = listText(copier, kept, shift, indentAt(copier.source, extent.start), wordsAround(copier, block, loop, list, stmt, rest), rest.length > 0);
    if (text === null) result.push(removal(copier.source, dropped));
    else result.push({ span: dropped, text: onItsLines(copier.source, dropped, text, shifted(shift, indentAt(copier.source, extent.start))) });
    if (jump !== null) break;
  }
  return result;
}

/** Lines of comments above a branch that say nothing of this copy: they go with the branch, or stand in the copy that they are true of. */
function movedAbove(copier: Copier, stmt: Stmt, floor: number): Span | null {
  const { source, outcome } = copier;
  if (stmt !== copier.branch && !(stmt.kind === 'if' && outcome.truth.get(stmt) === false)) return null;
  const [first] = commentsAbove(source, stmt, floor);
  return first === undefined ? null : { start: lineStartOf(source, first.start), end: lineStartOf(source, statementStart(stmt)) };
}

/** A statement that a copy does not hold: a declaration that moved, an inner loop that came to nothing. */
function isGone({ facts, outcome }: Copier, stmt: Stmt): boolean {
  if (stmt.kind === 'declare') return restOf(facts, stmt, outcome) === 'falls';
  if (stmt.kind === 'for' || stmt.kind === 'while' || stmt.kind === 'do' || stmt.kind === 'range-for') {
    return stmt.body.kind !== 'empty' && changes(outcome, stmt) && restOf(facts, stmt.body, outcome) !== 'something' && headDroppable(facts, stmt);
  }
  return false;
}

function changes(outcome: Outcome, stmt: Stmt): boolean {
  let found = false;
  walk(stmt, (node) => {
    if (node.kind === 'if' && outcome.truth.has(node)) found = true;
    if (node.kind === 'switch' && outcome.taken?.stmt === node) found = true;
    return !found;
  });
  return found;
}

/** Replacements for a statement that stands alone below a head which ends at `headEnd`. */
function inPlace(copier: Copier, stmt: Stmt, headEnd: number, shift: Shift): readonly Replacement[] {
  const { source, facts } = copier;
  const arm = knownArm(copier, stmt);
  if (arm === null) return inside(copier, stmt, shift);
  const parent = facts.parent(stmt);
  const isLoop = parent !== null && (parent.kind === 'for' || parent.kind === 'while' || parent.kind === 'do' || parent.kind === 'range-for');
  const kept = isLoop && lastJump(arm.statements)?.kind === 'continue' ? withoutLast(source, arm) : arm;
  const extent = extentOf(source, stmt);
  const above = movedAbove(copier, stmt, headEnd);
  const plainGap = source.text.slice(headEnd, above?.start ?? extent.start).trim() === '';
  const span = plainGap ? { start: headEnd, end: extent.end } : extent;
  const style = styleOf(source, facts.function);
  const outer = shifted(shift, indentAt(source, parent?.span.start ?? extent.start));
  const text = listText(copier, kept, shift, startsLine(source, extent.start) ? indentAt(source, extent.start) : indentAt(source, extent.start) + style.unit, wordsOf(facts.unit, parent === null ? [] : [{ start: parent.span.start, end: extent.start }]), false);
  const gone: readonly Replacement[] = above === null ? [] : [{ span: above, text: '' }];
  if (text === null) return [...(plainGap ? [] : gone), { span, text: plainGap ? ' {}' : '{}' }];
  // Alone below a head: one plain statement, which no `else` behind it and no directive in front of it can break.
  const single = kept.whole !== null && kept.whole.kind !== 'compound' && kept.before.length === 0 && kept.after.length === 0
    && !text.startsWith('#') && !beginsWithMacro(kept.whole) && (kept.whole.kind === 'expression' || !elseFollows(facts, stmt));
  if (single) return [...gone, { span: extent, text: onItsLines(source, extent, text, outer) }];
  const inner = shifted(shift, startsLine(source, extent.start) ? indentAt(source, extent.start) : indentAt(source, extent.start) + style.unit);
  return [...(plainGap ? [] : gone), { span, text: plainGap ? blockText(style, outer, '', inner + text, true).replace(/^\{/, style.bracesOnOwnLine ? `\n${outer}{` : ' {') : `{\n${inner}${text}\n${outer}}` }];
}

/** Text for a place that shares its line with other code: directives start a line, and nothing follows a line comment. */
function onItsLines(source: SourceFile, span: Span, text: string, indent: string): string {
  const first = text.startsWith('#') && !startsLine(source, span.start) ? `\n${indent}` : '';
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  const last = lastLine.includes('//') && !endsLine(source, span.end) ? `\n${indent}` : '';
  return first + text + last;
}

// -------------------------------------------------------------------------------------------------------------- arms

/** The arm that is taken at a statement, if this copy knows it. */
function knownArm(copier: Copier, stmt: Stmt): Arm | null {
  if (stmt.kind === 'if') {
    if (!copier.outcome.truth.has(stmt)) return null;
    const arm = armOfIf(copier, stmt);
    const ofBranch = stmt === copier.branch ? commentsBehindBrace(copier.source, stmt) : [];
    return { ...arm, after: arm.after.filter((comment) => !ofBranch.some(({ start }) => start === comment.start)) };
  }
  if (stmt.kind === 'switch' && copier.outcome.taken?.stmt === stmt) {
    const { arm } = copier.outcome.taken;
    const { source } = copier;
    // What stands behind the switch on its last line belongs to no arm: it goes with the branch, else it stays behind each.
    const beside = stmt === copier.branch ? [] : commentsBehindBrace(source, stmt);
    if (arm === null) return { ...EMPTY, after: beside };
    const body = lastJump(arm.body)?.kind === 'break' ? withoutClosingBreak(arm.body) : arm.body;
    const kept = armOfList(source, body, commentsOfLabels(source, arm).below);
    return { ...kept, after: [...commentsBehind(source, stmt, arm, kept), ...beside] };
  }
  return null;
}

/** Comments from the end of what is kept of an arm, such as those at its closing `break`, to where those of the next arm begin. */
function commentsBehind(source: SourceFile, stmt: SwitchStmt, arm: SwitchArm, kept: Arm): readonly Span[] {
  const last = arm.body.at(-1);
  const labelEnd = arm.labels.at(-1)?.span.end ?? arm.span.start;
  const start = kept.inner?.end ?? kept.before.at(-1)?.end ?? (last === undefined ? labelEnd : statementStart(last));
  const end = arm === stmt.arms.at(-1) || last === undefined ? stmt.bodySpan.end : withTrailingComments(source, last.span.end);
  return commentsIn(source, { start, end });
}

/** Comments of the arm that a copy takes at the branch: what remains to be written where the copy itself is not. */
export function commentsOfTaken(facts: FunctionFacts, branch: Stmt, outcome: Outcome): readonly Span[] {
  const arm = knownArm({ facts, branch, source: facts.unit.source, outcome, choice: null }, branch);
  if (arm === null) return [];
  return [...arm.before, ...(arm.inner === null ? [] : commentsIn(facts.unit.source, arm.inner)), ...arm.after];
}

const EMPTY: Arm = { statements: [], inner: null, whole: null, before: [], after: [] };

/** Comments between the labels of an arm and its first statement: on the line of the last label, and below it. */
export function commentsOfLabels(source: SourceFile, arm: SwitchArm): { readonly beside: readonly Span[]; readonly below: readonly Span[] } {
  const first = arm.body[0];
  if (first === undefined) return { beside: [], below: [] };
  const all = commentsIn(source, { start: arm.span.start, end: statementStart(first) });
  const line = source.line(arm.labels.at(-1)?.span.end ?? arm.span.start);
  const isBeside = (comment: Span): boolean => source.line(comment.start) === line && source.line(comment.end) === line;
  return { beside: all.filter(isBeside), below: all.filter((comment) => !isBeside(comment)) };
}

function armOfIf(copier: Copier, stmt: IfStmt): Arm {
  const { source, outcome } = copier;
  const thenEnd = extentOf(source, stmt.then).end;
  if (outcome.truth.get(stmt) === true) {
    const before = commentsIn(source, { start: stmt.headSpan.end, end: statementStart(stmt.then) });
    const after = stmt.then.kind === 'compound' ? commentsIn(source, { start: stmt.then.span.end, end: thenEnd }) : [];
    return armOf(source, stmt.then, before, after);
  }
  if (stmt.else === null) return EMPTY;
  const before = commentsIn(source, { start: thenEnd, end: statementStart(stmt.else) });
  if (stmt.else.kind === 'if' && outcome.truth.has(stmt.else)) {
    const deeper = armOfIf(copier, stmt.else);
    return { ...deeper, before: [...before, ...deeper.before] };
  }
  const after = stmt.else.kind === 'compound' ? commentsIn(source, { start: stmt.else.span.end, end: withTrailingComments(source, stmt.else.span.end) }) : [];
  return armOf(source, stmt.else, before, after);
}

function armOf(source: SourceFile, stmt: Stmt, before: readonly Span[], after: readonly Span[]): Arm {
  if (stmt.kind === 'empty') return { ...EMPTY, before, after };
  if (stmt.kind !== 'compound') return { statements: [stmt], inner: extentOf(source, stmt), whole: stmt, before, after };
  return { statements: stmt.body, inner: trimmed(source, { start: stmt.span.start + 1, end: stmt.span.end - 1 }), whole: stmt, before, after };
}

function armOfList(source: SourceFile, body: readonly Stmt[], before: readonly Span[]): Arm {
  const first = body[0];
  const last = body.at(-1);
  if (first === undefined || last === undefined) return { ...EMPTY, before };
  if (body.length === 1 && first.kind === 'compound') {
    const inner = first.body.at(-1);
    // A closing `break` inside the block was taken out of its list, not out of its text.
    const end = inner === undefined ? first.span.start + 1 : extentOf(source, inner).end;
    const closed = source.text.slice(end, first.span.end - 1).trim() !== '';
    return { statements: first.body, inner: trimmed(source, { start: first.span.start + 1, end }), whole: closed ? null : first, before, after: [] };
  }
  return { statements: body, inner: { start: statementStart(first), end: extentOf(source, last).end }, whole: null, before, after: [] };
}

function trimmed(source: SourceFile, span: Span): Span | null {
  const text = source.text.slice(span.start, span.end);
  const core = text.trim();
  if (core === '') return null;
  const start = span.start + text.indexOf(core);
  return { start, end: start + core.length };
}

/** The arm without its last statement, a jump that the end of the list makes needless. */
function withoutLast(source: SourceFile, arm: Arm): Arm {
  const last = arm.statements.at(-1);
  if (last === undefined || arm.inner === null || last.kind === 'compound') return arm;
  const behind = commentsIn(source, { start: last.span.end, end: Math.max(arm.inner.end, last.span.end) });
  return { ...arm, statements: arm.statements.slice(0, -1), inner: trimmed(source, { start: arm.inner.start, end: last.span.start }), whole: null, after: [...behind, ...arm.after] };
}

// -------------------------------------------------------------------------------------------------------------- text

/** What a line that was indented by `indent` is indented by in the copy. */
function shifted({ from, to }: Shift, indent: string): string {
  return indent.startsWith(from) ? to + indent.slice(from.length) : to.startsWith(from) ? indent + to.slice(from.length) : indent;
}

/** An arm as a list of statements for a place indented by `indent` in the original; null if it holds nothing, not even a comment. */
function listText(copier: Copier, arm: Arm, shift: Shift, indent: string, around: Words | null, followed: boolean): string | null {
  const { source } = copier;
  const to = shifted(shift, indent);
  const pieces = arm.before.map((comment) => commentText(source, comment, to));
  if (arm.inner !== null) {
    const braces = bracesStay(copier.facts.unit, arm.statements, arm.inner, around, followed);
    const block = arm.whole !== null && arm.whole.kind === 'compound' ? arm.whole : null;
    const span = braces && block !== null ? block.span : arm.inner;
    // A block whose last line is gone is written anew, as is one around a declaration that was an arm by itself.
    const fresh = braces && block === null;
    const own: Shift = { from: indentOfText(source, span), to: fresh ? to + styleOf(source, copier.facts.function).unit : to };
    const replacements = braces && block !== null ? inside(copier, block, own) : inList(copier, arm.statements, own, null, null);
    const text = copyText(source, span, own, replacements).trimEnd();
    pieces.push(fresh ? `{\n${own.to}${text}\n${to}}` : text);
  }
  for (const comment of arm.after) pieces.push(commentText(source, comment, to));
  const filled = pieces.filter((piece) => piece.trim() !== '');
  return filled.length === 0 ? null : filled.join(`\n${to}`);
}

/** A comment for a place indented by `to`. */
export function commentText(source: SourceFile, comment: Span, to: string): string {
  return copyText(source, comment, { from: indentAt(source, comment.start), to });
}

/** Indentation of the first line of a text that starts a line; of the line it stands on, if none does. */
function indentOfText(source: SourceFile, span: Span): string {
  if (startsLine(source, span.start)) return indentAt(source, span.start);
  for (let at = source.text.indexOf('\n', span.start); at >= 0 && at < span.end; at = source.text.indexOf('\n', at + 1)) {
    const indent = indentAt(source, at + 1);
    if (source.text.slice(at + 1 + indent.length, at + 2 + indent.length).trim() !== '') {
      // Behind `if (c) {` the block's lines tell; behind a statement, its own line does.
      return source.text[span.start] === '{' ? indentAt(source, span.start) : lineBelongsToBlock(source, span.start) ? indent : indentAt(source, span.start);
    }
  }
  return indentAt(source, span.start);
}

/** True if a `{` and nothing else but comments or white space stands before the text on its line. */
function lineBelongsToBlock(source: SourceFile, start: number): boolean {
  return /\{\s*$/.test(source.text.slice(Math.max(0, start - 80), start));
}

/** The last lines of a block go with the blank lines above them. */
function lastOfBlock(source: SourceFile, lines: Span): Span {
  const below = source.text.slice(lines.end).search(/\S/);
  if (below < 0 || source.text[lines.end + below] !== '}') return lines;
  const above = source.text.slice(0, lines.start).trimEnd();
  return { start: Math.min(lines.start, lineEndOf(source, above.length)), end: lines.end };
}

/** Takes a statement out. No blank line is left where it was the only thing between two, or the first thing of a block. */
function removal(source: SourceFile, extent: Span): Replacement {
  const lines = wholeLines(source, extent);
  if (lines !== extent) return { span: withBlankLine(source, lastOfBlock(source, lines)), text: '' };
  // Something else stands on the line: take the white space in front along.
  let { start, end } = extent;
  if (endsLine(source, extent.end)) while (start > 0 && (source.text[start - 1] === ' ' || source.text[start - 1] === '\t')) start--;
  if (start === extent.start) while (source.text[end] === ' ' || source.text[end] === '\t') end++;
  return { span: { start, end }, text: '' };
}

/** What is spelled next to a branch in its list, and in the head of the loop whose body the list is; null if not known. */
function wordsAround({ facts }: Copier, block: Stmt | null, loop: Stmt | null, list: readonly Stmt[], branch: Stmt, rest: readonly Stmt[]): Words | null {
  if (block === null) return null;
  let dark = false;
  const others = [...list.slice(0, list.indexOf(branch)), ...rest];
  for (const stmt of others) {
    walk(stmt, (node) => {
      if (node.kind === 'opaque' || (node.kind === 'call' && node.callee.kind === 'unknown')) dark = true;
      return !dark;
    });
  }
  if (dark) return null;
  const last = rest.at(-1);
  const spans: Span[] = [{ start: block.span.start, end: branch.span.start }];
  if (last !== undefined) spans.push({ start: branch.span.end, end: last.span.end });
  if (loop !== null) spans.push({ start: loop.span.start, end: block.span.start });
  return wordsOf(facts.unit, spans);
}

// ------------------------------------------------------------------------------------------------------------ ternary

function choiceIn(copier: Copier, stmt: Stmt, shift: Shift): readonly Replacement[] {
  const { choice, source } = copier;
  if (choice === null || choice.stmt !== stmt) return [];
  const text = copyText(source, choice.arm.span, shift);
  const lost = commentsIn(source, choice.outer.span).filter((comment) => comment.start >= choice.condition.span.end && (comment.start < choice.arm.span.start || comment.end > choice.arm.span.end));
  const result: Replacement[] = [{ span: choice.outer.span, text: armExpression(stmt, choice, text) }];
  if (lost.length > 0) {
    const to = shifted(shift, indentAt(source, stmt.span.start));
    result.push({ span: { start: stmt.span.start, end: stmt.span.start }, text: lost.map((comment) => `${commentText(source, comment, to)}\n${to}`).join('') });
  }
  return result;
}

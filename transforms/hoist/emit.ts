/**
 * The edit: the loop is replaced by one branch with a copy of the loop in each arm.
 *
 *     #pragma unroll 4                       if (flat) {
 *     for (…) {                                  #pragma unroll 4
 *         A                                      for (…) {
 *         if (flat) B                                A
 *         else C                                     B
 *         D                                          D
 *     }                                          }
 *                                            } else { … }
 *
 * Each condition is evaluated once, at the place of the edit. A copy that would do nothing is not written.
 */
import { tokenize } from '../../src/source/tokenizer.js';
import type { Edit, SourceFile, Span } from '../../src/source/types.js';
import { strip, type Expr, type IfStmt, type Stmt, type SwitchArm } from '../../src/syntax/tree.js';
import { bindingOf, BINDING, negated } from '../lib/operands.js';
import { attributesOf, commentsBehindBrace, oppositeAttributes } from '../lib/branch-comments.js';
import { placeOf } from '../lib/place.js';
import {
  chainText, commentsIn, copyText, endsLine, extentOf, indentAt, startsLine, styleOf, textOf, withTrailingComments,
  type ChainArm, type Shift, type Style,
} from '../lib/text.js';
import type { Change, TransformContext } from '../lib/types.js';
import { invariance } from './condition.js';
import type { ExprChoice } from './arm-expression.js';
import { commentsOfLabels, commentsOfTaken, commentText, copyOf } from './copy.js';
import { headDroppable, restOf, type Outcome } from './empty-loop.js';
import { needsParentheses } from './entry.js';
import type { Level } from './legal.js';
import { decidedBy, polarity, type Branch } from './shape.js';

/** The copies of a loop, in the order of the arms; false where nothing need be written. */
export interface Copies {
  readonly outcomes: readonly Outcome[];
  readonly written: readonly boolean[];
}

/** What the arms of the hoisted branch know, and which of their copies have anything to do. */
export function copiesOf(context: TransformContext, level: Level): Copies {
  const outcomes = outcomesOf(level);
  const { facts } = context;
  const written = outcomes.map((outcome) => restOf(facts, level.loop.body, outcome) === 'something' || !headDroppable(facts, level.loop));
  return { outcomes, written };
}

function outcomesOf(level: Level): readonly Outcome[] {
  const { branch, loop, shared } = level;
  const moved = new Set(shared.flatMap((stmt) => stmt.variables));
  switch (branch.kind) {
    case 'if': {
      // In copy k the first k tests failed and test k holds; in the last copy all failed.
      const outcomes: Outcome[] = [];
      for (let k = 0; k <= branch.links.length; k++) {
        const truth = new Map<IfStmt, boolean>();
        branch.links.slice(0, k + 1).forEach((link, j) => {
          for (const { stmt, negated } of decidedBy(link.condition, loop)) if (j === k || guarded(level, stmt)) truth.set(stmt, (j === k) !== negated);
        });
        outcomes.push({ truth, taken: null, moved });
      }
      return outcomes;
    }
    case 'switch': {
      const arms: (SwitchArm | null)[] = [...branch.stmt.arms];
      if (!branch.stmt.arms.some((arm) => arm.labels.includes(null))) arms.push(null);
      return arms.map((arm) => ({ truth: new Map(), taken: { stmt: branch.stmt, arm }, moved }));
    }
    case 'ternary':
      return [true, false].map((value) => {
        const truth = new Map<IfStmt, boolean>();
        for (const { stmt, negated } of decidedBy(branch.expr.condition, loop)) if (value || guarded(level, stmt)) truth.set(stmt, value !== negated);
        return { truth, taken: null, moved };
      });
    default: {
      const never: never = branch;
      return never;
    }
  }
}

/**
 * Where an entry test stands in front of the condition, its failing says nothing of the condition: only what runs inside the loop that the
 * entry test admits to knows then that the condition failed.
 */
function guarded({ guards }: Level, stmt: Stmt): boolean {
  const inner = guards.at(-1)?.loop;
  return inner === undefined || (inner.span.start <= stmt.span.start && stmt.span.end <= inner.span.end);
}

/** The edits for a legal level. */
export function emitHoist(context: TransformContext, level: Level): Change {
  const { loop, branch } = level;
  const { source } = context.unit;
  const { facts } = context;
  const style = styleOf(source, facts.function);
  const region = extentOf(source, loop);
  const place = placeOf(context, loop, false, level.shared.length > 0);
  const inner = place.indent + style.unit;
  const { outcomes, written } = copiesOf(context, level);
  if (!written.includes(true)) return { edits: [], reads: [] };

  const copies = outcomes.map((outcome, k) => {
    if (written[k] === false) return null;
    const depth = branch.kind === 'switch' ? place.indent + switchIndent(context, branch, style).body : inner;
    const shift: Shift = { from: indentAt(source, loop.span.start), to: depth };
    // A pragma at the edge of the page stays there.
    const first = region.start !== loop.span.start && startsLine(source, region.start) && indentAt(source, region.start) === '' ? '' : depth;
    return first + copyOf(facts, loop, branch.stmt, shift, outcome, choiceOf(branch, k));
  });
  const chain = branch.kind === 'switch' ? switchText(context, branch, outcomes, copies, place.indent, style) : ifText(context, level, copies, place.indent, style);
  const body = chain + behindChain(source, branch, region, place.indent);
  const shared = level.shared.map((stmt) => `${copyText(source, extentOf(source, stmt), { from: indentAt(source, stmt.span.start), to: place.indent })}\n${place.indent}`);
  const lost = lostComments(source, region, [...shared, body].join('\n')).map((comment) => `${commentText(source, comment, place.indent)}\n${place.indent}`);
  const edits: Edit[] = [...place.edits, { file: source.realPath, span: place.span, text: `${place.before}${shared.join('')}${lost.join('')}${body}${place.after}` }];
  const reads = [{ file: source.realPath, start: region.start, end: region.end }];
  for (const test of branch.kind === 'switch' ? [branch.stmt.condition] : branch.kind === 'ternary' ? [branch.expr.condition] : branch.links.map((link) => link.condition)) {
    for (const read of invariance(context, test, loop).reads) reads.push({ file: read.file, start: read.start, end: read.end });
  }
  return { edits, reads };
}

/** Comments of a region that a text does not hold: those of a test that is gone, or of what no copy reaches. They go in front. */
function lostComments(source: SourceFile, region: Span, text: string): readonly Span[] {
  const even = (comment: Span, from: string): string => from.slice(comment.start, comment.end).replace(/\s+/g, ' ');
  const there = new Map<string, number>();
  for (const comment of tokenize(text).comments) there.set(even(comment, text), (there.get(even(comment, text)) ?? 0) + 1);
  return commentsIn(source, region).filter((comment) => {
    const key = even(comment, source.text);
    const left = there.get(key) ?? 0;
    there.set(key, left - 1);
    return left <= 0;
  });
}

/** The comments behind the last brace of the branch, behind its last brace. */
function behindChain(source: SourceFile, branch: Branch, region: Span, indent: string): string {
  if (branch.kind === 'ternary') return '';
  const comments = commentsBehindBrace(source, branch.stmt);
  const text = comments.map((comment) => ` ${commentText(source, comment, indent).trimEnd()}`).join('');
  // What follows on the line must not become a part of it.
  return text.includes('//') && !endsLine(source, region.end) ? `${text}\n${indent}` : text;
}

function choiceOf(branch: Branch, k: number): ExprChoice | null {
  if (branch.kind !== 'ternary') return null;
  return { stmt: branch.stmt, outer: branch.outer, condition: branch.expr.condition, arm: k === 0 ? branch.expr.then : branch.expr.else };
}

// -------------------------------------------------------------------------------------------------------------- heads

function decidedStmts({ branch, loop }: Level): readonly IfStmt[] {
  const tests = branch.kind === 'switch' ? [] : branch.kind === 'ternary' ? [branch.expr.condition] : branch.links.map((link) => link.condition);
  return tests.flatMap((test) => decidedBy(test, loop).map(({ stmt }) => stmt));
}

function ifText(context: TransformContext, level: Level, copies: readonly (string | null)[], indent: string, style: Style): string {
  const heads = headsOf(context, level, indent, style);
  const { source } = context.unit;
  const inner = indent + style.unit;
  const outcomes = outcomesOf(level);
  // The comments of an arm of which nothing else is left.
  const comments = copies.map((copy, k) => {
    const outcome = outcomes[k];
    if (copy !== null || outcome === undefined) return '';
    return commentsOfTaken(context.facts, level.branch.stmt, outcome).map((comment) => `${inner}${commentText(source, comment, inner)}`).join('\n');
  });
  const last = copies.length - 1;
  const first = copies[0] ?? null;
  const only = copies[last] ?? null;
  // With an entry test the negation would also leave out what runs beside the inner loop.
  if (last === 1 && first === null && only !== null && decidedStmts(level).every((stmt) => guarded(level, stmt))) {
    return chainText(style, indent, [{ head: negatedHead(context, level, indent, style), lines: only }]);
  }
  const arms: ChainArm[] = [];
  copies.forEach((copy, k) => {
    if (k < last) arms.push({ head: heads[k] ?? null, lines: copy ?? comments[k] ?? '' });
    else if (copy !== null || comments[k] !== '') arms.push({ head: attributesOfElse(source, level.branch), lines: copy ?? comments[k] ?? '' });
  });
  // Trailing tests whose copies are empty decide nothing once no else is left.
  while (arms.length > 1 && arms.at(-1)?.lines === '') arms.pop();
  return chainText(style, indent, arms);
}

/** `if (…)` for each test. A condition that is taken over whole keeps its spelling. */
function headsOf(context: TransformContext, level: Level, indent: string, style: Style): readonly string[] {
  const { branch, guards } = level;
  const { source } = context.unit;
  if (branch.kind === 'switch') return [];
  if (branch.kind === 'ternary') return [`if${style.keywordSpace}(${joinTests(guards, conditionText(context, branch.expr.condition, indent), branch.expr.condition)})`];
  return branch.links.map((link) => {
    const attributes = attributesOf(source, link.headSpan.end, link.then);
    const behind = attributes === '' ? '' : ` ${attributes}`;
    if (guards.length === 0) return copyText(source, { start: link.span.start, end: link.headSpan.end }, { from: indentAt(source, link.span.start), to: indent }) + behind;
    return `if${style.keywordSpace}(${joinTests(guards, conditionText(context, link.condition, indent), link.condition)})${behind}`;
  });
}

function conditionText(context: TransformContext, condition: Expr, indent: string): string {
  const { source } = context.unit;
  return copyText(source, condition.span, { from: indentAt(source, condition.span.start), to: indent });
}

function joinTests(guards: Level['guards'], text: string, condition: Expr): string {
  const whole = guards.length > 0 && needsParentheses(condition) ? `(${text})` : text;
  return [...guards.map((guard) => guard.text), whole].join(' && ');
}

/** `if (!c)` in the shortest spelling that is surely right. */
function negatedHead(context: TransformContext, level: Level, indent: string, style: Style): string {
  const { branch, guards } = level;
  const condition = branch.kind === 'ternary' ? branch.expr.condition : branch.kind === 'if' ? branch.stmt.condition : null;
  if (condition === null) throw new Error('internal: a switch has no negation');
  const text = negation(context, condition, indent);
  const attributes = branch.kind === 'if' ? attributesOfElse(context.unit.source, branch) ?? oppositeAttributes(attributesOf(context.unit.source, branch.stmt.headSpan.end, branch.stmt.then)) : '';
  return `if${style.keywordSpace}(${[...guards.map((guard) => guard.text), text].join(' && ')})${attributes === '' ? '' : ` ${attributes}`}`;
}

/** What stands behind the last `else` of the links, such as `[[unlikely]]`; null if there is nothing. */
function attributesOfElse(source: SourceFile, branch: Branch): string | null {
  const last = branch.kind === 'if' ? branch.links.at(-1) : undefined;
  if (last === undefined || last.else === null || last.elseSpan === null) return null;
  const text = attributesOf(source, last.elseSpan.end, last.else);
  return text === '' ? null : text;
}

const OPPOSITE: Readonly<Record<string, string>> = { '==': '!=', '!=': '==', '<': '>=', '<=': '>', '>': '<=', '>=': '<' };

function negation(context: TransformContext, condition: Expr, indent: string): string {
  const { source } = context.unit;
  let plain = condition;
  while (plain.kind === 'paren') plain = plain.inner;
  if (plain.kind === 'unary' && plain.op === '!') {
    const { core, negated: turned } = polarity(plain);
    // `!x` negated is `x`, if `x` may stand beside `&&`.
    if (turned && strip(plain.operand) === core && (plain.operand.kind === 'paren' || isPrimary(plain.operand))) {
      return conditionText(context, plain.operand.kind === 'paren' && isPrimary(plain.operand.inner) ? plain.operand.inner : plain.operand, indent);
    }
  }
  if (plain.kind === 'binary') {
    const opposite = OPPOSITE[plain.op];
    const integers = [plain.left, plain.right].every((side) => side.type.kind === 'int' || side.type.kind === 'bool');
    // Of floating values only == and != have an opposite: NaN is neither less nor not less.
    const known = plain.left.type.kind !== 'record' && plain.right.type.kind !== 'record' && plain.left.type.kind !== 'unknown' && plain.right.type.kind !== 'unknown'
      && plain.left.type.kind !== 'dependent' && plain.right.type.kind !== 'dependent';
    if (opposite !== undefined && (integers || (known && (plain.op === '==' || plain.op === '!=')))) {
      const shift = { from: indentAt(source, plain.span.start), to: indent };
      return copyText(source, plain.span, shift, [{ span: plain.opSpan, text: opposite }]);
    }
  }
  const text = conditionText(context, plain, indent);
  return negated(text, plain);
}

function isPrimary(expr: Expr): boolean {
  return bindingOf(expr) >= BINDING.postfix;
}

// ------------------------------------------------------------------------------------------------------------- switch

/** How deep labels and bodies stand below the `switch`, as the source has it. */
function switchIndent(context: TransformContext, branch: Extract<Branch, { kind: 'switch' }>, style: Style): { readonly label: string; readonly body: string } {
  const { source } = context.unit;
  const outer = indentAt(source, branch.stmt.span.start);
  const arm = branch.stmt.arms[0];
  const own = arm !== undefined && startsLine(source, arm.span.start) ? indentAt(source, arm.span.start) : outer;
  const label = own.startsWith(outer) ? own.slice(outer.length) : '';
  return { label, body: label + style.unit };
}

function switchText(context: TransformContext, branch: Extract<Branch, { kind: 'switch' }>, outcomes: readonly Outcome[], copies: readonly (string | null)[], indent: string, style: Style): string {
  const { source } = context.unit;
  const { stmt } = branch;
  const depth = switchIndent(context, branch, style);
  const label = indent + depth.label;
  const body = indent + depth.body;
  const lines: string[] = [];
  copies.forEach((copy, k) => {
    const arm = stmt.arms[k];
    if (arm === undefined && copy === null) return;
    for (const comment of commentsAbove(context, branch, k)) lines.push(label + copyText(source, comment, { from: indentAt(source, comment.start), to: label }));
    for (const value of arm?.labels ?? [null]) lines.push(`${label}${value === null ? 'default' : `case ${textOf(source, value.span)}`}:`);
    if (arm !== undefined) for (const comment of commentsOfLabels(source, arm).beside) lines.push(`${lines.pop() ?? ''} ${textOf(source, comment)}`);
    const outcome = outcomes[k];
    if (copy !== null) lines.push(copy);
    else if (outcome !== undefined) lines.push(...commentsOfTaken(context.facts, stmt, outcome).map((comment) => body + commentText(source, comment, body)));
    lines.push(`${body}break;`);
  });
  const head = copyText(source, { start: stmt.span.start, end: stmt.headSpan.end }, { from: indentAt(source, stmt.span.start), to: indent });
  return `${head}${style.bracesOnOwnLine ? `\n${indent}` : ' '}{\n${lines.join('\n')}\n${indent}}`;
}

/** Comments between the end of the arm before and the labels of an arm. */
function commentsAbove(context: TransformContext, branch: Extract<Branch, { kind: 'switch' }>, k: number): readonly Span[] {
  const { source } = context.unit;
  const arm = branch.stmt.arms[k];
  if (arm === undefined) return [];
  const last = branch.stmt.arms[k - 1]?.body.at(-1);
  const start = last === undefined ? branch.stmt.bodySpan.start : withTrailingComments(source, last.span.end);
  return commentsIn(source, { start, end: arm.span.start });
}

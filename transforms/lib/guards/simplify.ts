/**
 * The body of a run in which some comparisons are decided: their conjuncts, dead arms and needless tests are left out, everything else
 * is copied as it stands.
 *
 * A `?:` gives way to its arm only if nothing around it can tell the two apart.
 */
import { forEachChild, isStmt, walk, type Node } from '../../../src/analysis/children.js';
import type { FunctionFacts } from '../../../src/analysis/facts.js';
import type { Span } from '../../../src/source/types.js';
import type { CompoundStmt, ConditionalExpr, DeclareStmt, Expr, ForStmt, IfStmt, Stmt, Type, WhileStmt } from '../../../src/syntax/tree.js';
import { armStands, isConverted } from '../arm-value.js';
import { commentsAbove, commentsBehindBrace, speaksOfTest } from '../branch-comments.js';
import { beginsWithMacro, elseFollows } from '../lone-statement.js';
import { BINDING, bindingOf } from '../operands.js';
import { commentsIn, copyText, endsLine, indentAt, joinLines, lineStartOf, startsLine, statementStart, textOf, wholeLines, withBlankLine, withTrailingComments, type Replacement, type Shift } from '../text.js';
import { diesSilently, headNames, mayDeclare } from './arm-names.js';
import { typeName } from './cpp.js';
import { isRepeatable } from './tested-loop.js';
import { ConditionFolder, isTight, type Decisions } from './conditions.js';
import { isUserCheck } from './user-checks.js';

/** The value of a condition under the decisions. */
export function valueOf(facts: FunctionFacts, expr: Expr, decisions: Decisions): boolean | null {
  return new Simplifier(facts, decisions, SAME).fold(expr).value;
}

const SAME: Shift = { from: '', to: '' };

/** Replacements that turn a copy of `node`, its lines shifted by `shift`, into what remains of it. */
export function simplify(facts: FunctionFacts, node: Node, decisions: Decisions, shift: Shift = SAME): readonly Replacement[] {
  return new Simplifier(facts, decisions, shift).rewrite(node);
}

/** Calls `visit` for every statement that is still there under the decisions, outermost first. */
export function visitLive(facts: FunctionFacts, stmt: Stmt, decisions: Decisions, visit: (stmt: Stmt) => void): void {
  visit(stmt);
  if (stmt.kind === 'if') {
    const value = valueOf(facts, stmt.condition, decisions);
    if (value !== false) visitLive(facts, stmt.then, decisions, visit);
    if (value !== true && stmt.else !== null) visitLive(facts, stmt.else, decisions, visit);
    return;
  }
  forEachChild(stmt, (child) => {
    if (isStmt(child)) visitLive(facts, child, decisions, visit);
  });
}

class Simplifier extends ConditionFolder {
  constructor(facts: FunctionFacts, decisions: Decisions, private readonly shift: Shift) {
    super(facts, decisions);
  }

  /** What follows a test that has become a jump is not reached. */
  private block(node: CompoundStmt): readonly Replacement[] {
    const jump = node.body.findIndex((stmt) => stmt.kind === 'if' && this.becomesJump(stmt));
    const live = jump < 0 ? node.body : node.body.slice(0, jump + 1);
    const edits = live.flatMap((stmt) => this.rewrite(stmt));
    const [last, end] = [live.at(-1), node.body.at(-1)];
    if (last === undefined || end === undefined || last === end) return edits;
    return [...edits, { span: { start: last.span.end, end: end.span.end }, text: '' }];
  }

  private becomesJump(node: IfStmt): boolean {
    const { value } = this.fold(node.condition);
    if (value === null) return false;
    let kept = value ? node.then : node.else;
    while (kept !== null && kept.kind === 'compound') kept = kept.body.length === 1 ? kept.body[0] ?? null : null;
    return kept !== null && (kept.kind === 'continue' || kept.kind === 'break' || kept.kind === 'return');
  }

  rewrite(node: Node): readonly Replacement[] {
    if (isStmt(node) && node.kind === 'declare' && this.isSpent(node)) return this.removed(node);
    if (isStmt(node) && (node.kind === 'for' || node.kind === 'while') && this.neverRuns(node)) return this.loopGone(node);
    if (isStmt(node)) return node.kind === 'if' ? this.branch(node) : node.kind === 'compound' ? this.block(node) : node.kind === 'macro-statement' ? [] : this.children(node);
    if (node.kind === 'macro' || isUserCheck(node)) return [];
    if (node.kind === 'conditional') return this.conditional(node);
    const { value, edits } = this.fold(node);
    return value === null ? edits : [{ span: node.span, text: node.type.kind === 'bool' ? String(value) : String(Number(value)) }];
  }

  /** The test of a loop inside is decided: it has no iteration. */
  private neverRuns(node: ForStmt | WhileStmt): boolean {
    if (node.conditionDecl !== null || node.condition === null || this.fold(node.condition).value !== false) return false;
    return node.kind === 'while' || node.init.kind !== 'declare' || node.init.variables.every(({ init }) => init === null || isRepeatable(this.facts, init));
  }

  /** What is left of it is what its head sets. */
  private loopGone(node: ForStmt | WhileStmt): readonly Replacement[] {
    const { source } = this.facts.unit;
    const set = node.kind === 'for' && node.init.kind === 'expression' ? `${joinLines(textOf(source, node.init.expression.span))};` : null;
    if (set === null) return this.removed(node);
    return [{ span: { start: statementStart(node), end: node.span.end }, text: set }];
  }

  protected conditional(node: ConditionalExpr): readonly Replacement[] {
    const { value, edits } = this.fold(node.condition);
    if (value === null) return [...edits, ...this.rewrite(node.then), ...this.rewrite(node.else)];
    const arm = value ? node.then : node.else;
    const cast = armStands(this.facts, node, arm) ? '' : castTo(node, arm);
    if (cast === null) return [{ span: node.condition.span, text: String(value) }, ...this.rewrite(node.then), ...this.rewrite(node.else)];
    if (cast !== '') {
      const tight = isTight(arm);
      return [
        { span: { start: node.span.start, end: arm.span.start }, text: tight ? cast : `${cast}(` }, ...this.rewrite(arm),
        { span: { start: arm.span.end, end: node.span.end }, text: tight ? '' : ')' },
      ];
    }
    const said = this.commentsBehind(arm, node);
    const whole = this.stripParens(node);
    const loose = bindingOf(arm) <= BINDING.assignment;
    const bare = !loose && (isTight(arm) || this.isWholeValue(whole));
    const span: Span = bare ? whole.span : node.span;
    const [open, close] = loose || (!bare && !this.standsInParens(node) && !isTight(arm)) ? ['(', ')'] : ['', ''];
    return [
      { span: { start: span.start, end: arm.span.start }, text: open },
      ...this.rewrite(arm),
      { span: { start: arm.span.end, end: span.end }, text: said + close },
      ...(arm.kind === 'paren' && bare && this.isWholeValue(whole) ? this.parensOf(arm) : []),
    ];
  }

  /** Comments right behind the first arm of a `?:`; those behind the second stand behind the whole. */
  private commentsBehind(arm: Expr, node: ConditionalExpr): string {
    const { source } = this.facts.unit;
    if (arm !== node.then) return '';
    let at = arm.span.end;
    let said = '';
    for (const comment of commentsIn(source, { start: arm.span.end, end: node.else.span.start })) {
      if (source.text.slice(at, comment.start).trim() !== '' || !source.text.startsWith('/*', comment.start)) break;
      said += ` ${textOf(source, comment)}`;
      at = comment.end;
    }
    return said;
  }

  /** The node with the parentheses directly around it. */
  private stripParens(node: Expr): Expr {
    let whole = node;
    for (let at = this.facts.parent(whole); at !== null && !isStmt(at) && at.kind === 'paren'; at = this.facts.parent(whole)) whole = at;
    return whole;
  }

  private standsInParens(node: Expr): boolean {
    const parent = this.facts.parent(node);
    return parent !== null && !isStmt(parent) && parent.kind === 'paren';
  }

  private branch(node: IfStmt): readonly Replacement[] {
    const { value, edits } = this.fold(node.condition);
    if (value === null || node.init !== null || node.conditionDecl !== null || node.constexpr) {
      return [...edits, ...(node.init === null ? [] : this.rewrite(node.init)), ...this.rewrite(node.then), ...(node.else === null ? [] : this.rewrite(node.else))];
    }
    const kept = value ? node.then : node.else;
    const goes = kept === null || isEmpty(kept);
    return [...this.commentsOfTest(node, kept, goes), ...(goes ? this.removed(node) : this.unwrapped(node, kept))];
  }

  /** What is said above a test that is gone, and behind its brace: of nothing that is left here. It stands on in the copy that keeps the test, or in front. */
  private commentsOfTest(node: IfStmt, kept: Stmt | null, goes: boolean): readonly Replacement[] {
    const { source } = this.facts.unit;
    const parent = this.facts.parent(node);
    if (parent === null || parent.kind !== 'compound') return [];
    const previous = parent.body[parent.body.indexOf(node) - 1];
    const above = commentsAbove(source, node, previous === undefined ? parent.span.start : withTrailingComments(source, previous.span.end));
    const [first] = above;
    // Behind the second arm it goes with that arm.
    const last = goes || (node.else !== null && kept === node.then) ? undefined : commentsBehindBrace(source, node).at(-1);
    return [
      ...(first === undefined || !(goes || above.some((comment) => speaksOfTest(source, comment))) ? [] : [{ span: { start: lineStartOf(source, first.start), end: lineStartOf(source, node.span.start) }, text: '' }]),
      ...(last === undefined ? [] : [{ span: { start: node.span.end, end: last.end }, text: '' }]),
    ];
  }

  /** Text of a statement that goes: with its lines, if it has them for itself. */
  private removed(node: IfStmt | DeclareStmt | ForStmt | WhileStmt): readonly Replacement[] {
    const { source } = this.facts.unit;
    const parent = this.facts.parent(node);
    const start = node.kind === 'for' || node.kind === 'while' ? statementStart(node) : node.span.start;
    if (parent !== null && parent.kind === 'if' && parent.else === node && !elseFollows(this.facts, parent)) return [{ span: { start: parent.then.span.end, end: node.span.end }, text: '' }];
    if (parent === null || parent.kind !== 'compound') return [{ span: { start, end: node.span.end }, text: ';' }];
    const extent = { start, end: withTrailingComments(source, node.span.end) };
    const lines = wholeLines(source, extent);
    // At the edges of its block the newline belongs to the brace.
    if (lines.start > parent.span.start && lines.end <= parent.span.end - 1) return [{ span: withBlankLine(source, lines), text: '' }];
    // Between two others on a line one blank goes along.
    const blank = /[ \t]/.test(source.text.charAt(node.span.end)) && /[ \t]/.test(source.text.charAt(start - 1)) && !startsLine(source, start);
    return [{ span: { start: blank ? start - 1 : start, end: node.span.end }, text: '' }];
  }

  private unwrapped(node: IfStmt, kept: Stmt): readonly Replacement[] {
    const { source } = this.facts.unit;
    const parent = this.facts.parent(node);
    const inBlock = parent !== null && parent.kind === 'compound';
    const to = this.moved(indentAt(source, node.span.start));
    // What stands behind the last arm on its line goes with it.
    const gone = { start: node.span.start, end: node.else !== null && kept === node.then ? withTrailingComments(source, node.span.end) : node.span.end };
    const behind = this.behindArm(node, kept, gone.end);
    const content = kept.kind === 'compound' ? contentSpan(source.text, kept.span) : kept.span;
    // A line comment at the end of the block must not swallow what follows the block on its line.
    const comments = endsLine(source, gone.end) || !source.text.slice(content.start, content.end).includes('//');
    if (kept.kind === 'compound' && inBlock && comments && this.mayMix(parent, kept)) {
      const lead = kept.body.find((stmt) => startsLine(source, statementStart(stmt)));
      const from = lead === undefined ? indentAt(source, kept.span.start) : indentAt(source, statementStart(lead));
      return [{ span: gone, text: copyText(source, content, { from, to }, this.inner({ from, to }).rewrite(kept)) + behind }];
    }
    // The block becomes the body of a loop that had none.
    if (kept.kind === 'compound' && parent !== null && (parent.kind === 'for' || parent.kind === 'while') && source.text.slice(parent.headSpan.end, node.span.start).trim() === '') {
      const shift = { from: indentAt(source, kept.span.start), to: this.moved(indentAt(source, parent.span.start)) };
      const own = startsLine(source, kept.span.start) ? `\n${shift.to}` : ' ';
      return [{ span: { start: parent.headSpan.end, end: gone.end }, text: own + copyText(source, kept.span, shift, this.inner(shift).rewrite(kept)) + behind }];
    }
    const from = indentAt(source, kept.span.start);
    const start = statementStart(kept);
    // Comments in front of an arm without braces; one on the line of the head speaks of the test, one behind `else` of the arm.
    const own = kept === node.then ? null : node.elseSpan;
    const front = { start: (own ?? node.headSpan).end, end: start };
    const above = kept.kind === 'compound' ? [] : commentsIn(source, front).filter((comment) => own !== null || startsLine(source, comment.start)).map((comment) => textOf(source, comment).trimEnd());
    const arm = copyText(source, { start, end: kept.span.end }, { from, to }, this.inner({ from, to }).rewrite(kept));
    const text = inBlock ? [...above, arm].join(`\n${to}`) : arm;
    const braced = kept.kind !== 'compound' && (inBlock ? mayDeclare(kept) : beginsWithMacro(kept) || elseFollows(this.facts, node));
    if (!braced) return [{ span: gone, text: text + behind }];
    return [{ span: gone, text: behind.includes('//') ? `{ ${text}${behind}\n${to}}` : `{ ${text}${behind} }` }];
  }

  /** Comments behind the first arm on its line, where the second one goes; `end` is where what goes ends. */
  private behindArm(node: IfStmt, kept: Stmt, end: number): string {
    const { source } = this.facts.unit;
    if (kept !== node.then || node.elseSpan === null) return '';
    const between = { start: kept.span.end, end: node.elseSpan.start };
    const line = commentsIn(source, between).filter((comment) => !source.text.slice(between.start, comment.start).includes('\n') && comment.end <= between.end);
    const fits = endsLine(source, end) || line.every((comment) => source.text.startsWith('/*', comment.start));
    return fits ? line.map((comment) => ` ${textOf(source, comment).trimEnd()}`).join('') : '';
  }

  /** What the block declares meets no other declaration or use where its braces are gone. */
  private mayMix(parent: CompoundStmt, kept: CompoundStmt): boolean {
    const stays = this.joined(kept);
    if (!stays.some(mayDeclare)) return true;
    if (stays.some((stmt) => stmt.kind !== 'declare' && mayDeclare(stmt))) return false;
    const declared = stays.flatMap((stmt) => (stmt.kind === 'declare' ? [...stmt.variables, ...stmt.types] : []));
    // What a head declares may not be declared again in the outermost block below it.
    const taken = headNames(this.facts.parent(parent));
    if (declared.some(({ name }) => taken.includes(name))) return false;
    if (parent.body.length === 1) return true;
    // At the end of the longer block they die at the same place, in the same order.
    const ends = parent.body.at(-1) === this.facts.parent(kept);
    // They live on to the end of the longer block: nobody may see it, nor be there for another of the name.
    return declared.every((decl) => decl.kind === 'variable' && (ends || diesSilently(decl.type)) && !this.isNamedOutside(decl.name, parent, kept));
  }

  /** The statements of a block, with those of arms in it that may join it themselves. */
  private joined(block: CompoundStmt): readonly Stmt[] {
    return block.body.flatMap((stmt) => {
      const value = stmt.kind === 'if' && stmt.init === null && stmt.conditionDecl === null && !stmt.constexpr ? this.fold(stmt.condition).value : null;
      const arm = stmt.kind !== 'if' || value === null ? null : value ? stmt.then : stmt.else;
      return arm !== null && arm.kind === 'compound' ? this.joined(arm) : [stmt];
    });
  }

  /** The name stands in the block besides the part, in its text or in what its macros say. */
  private isNamedOutside(name: string, block: CompoundStmt, part: CompoundStmt): boolean {
    const { text } = this.facts.unit.source;
    const word = new RegExp(`(?<![\\w$.])(?<!->)${name.replaceAll('$', '\\$&')}(?![\\w$])`);
    if (word.test(`${text.slice(block.span.start, part.span.start)} ${text.slice(part.span.end, block.span.end)}`)) return true;
    let found = false;
    walk(block, (node) => {
      if (node === part) return false;
      if (!isStmt(node) && node.kind === 'ref') found ||= node.name === name;
      if (isStmt(node) && node.kind === 'declare') found ||= node.variables.some((variable) => variable.name === name);
      if (isStmt(node) && (node.kind === 'opaque' || node.kind === 'preprocessor')) found = true;
      return !found;
    });
    return found;
  }

  private inner(shift: Shift): Simplifier {
    return new Simplifier(this.facts, this.decisions, shift);
  }

  private moved(indent: string): string {
    const { from, to } = this.shift;
    return indent.startsWith(from) ? to + indent.slice(from.length) : indent;
  }
}

/** `(double)` where the arm is narrower than the whole; null if a type is not a plain number. */
function castTo(node: ConditionalExpr, { type: arm }: Expr): string | null {
  const { type: whole } = node;
  if (!isConverted(node)) return null;
  const plain = (type: Type): boolean => type.kind === 'int' || (type.kind === 'float' && (type.format === 'float' || type.format === 'double'));
  if (!plain(whole) || !plain(arm)) return null;
  if (whole.kind === 'float') return `(${whole.format})`;
  return whole.kind === 'int' && whole.bits >= 32 ? `(${typeName(whole)})` : null;
}

/** True if dropping the arm that is not taken can be written for every `?:` of the decisions. */
export function arePlain(facts: FunctionFacts, node: ConditionalExpr, value: boolean): boolean {
  const arm = value ? node.then : node.else;
  return armStands(facts, node, arm) || castTo(node, arm) !== null;
}

function isEmpty(stmt: Stmt): boolean {
  return stmt.kind === 'empty' || (stmt.kind === 'compound' && stmt.body.every(isEmpty));
}

/** Between the braces, without white space at the ends. */
function contentSpan(text: string, block: Span): Span {
  let start = block.start + 1;
  let end = block.end - 1;
  while (start < end && /\s/.test(text[start] ?? '')) start++;
  while (end > start && /\s/.test(text[end - 1] ?? '')) end--;
  return { start, end };
}

export type { Decisions } from './conditions.js';

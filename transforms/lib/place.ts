/**
 * Where new statements for an old one go: into a list of statements as they are, or into braces of their own below a head without
 * braces (`if (c) for …`).
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Span } from '../../src/source/types.js';
import type { CompoundStmt, Stmt, VariableDecl } from '../../src/syntax/tree.js';
import { namesDeclared } from './local-names.js';
import { extentOf, indentAt, lineStartOf, startsLine, styleOf } from './text.js';
import type { Edit, TransformContext } from './types.js';

export interface Place {
  /** What the new text replaces. */
  readonly span: Span;
  /** Indentation of the new statements. */
  readonly indent: string;
  /** Text in front of the first new statement, and behind the last. */
  readonly before: string;
  readonly after: string;
  /** Further edits, such as a brace at the end of the head's line. */
  readonly edits: readonly Edit[];
}

/** Where text that takes the place of a statement goes; `braces` asks for a block even in a list of statements. Behind `case` and other labels there is one too, unless the text `declares` nothing: no jump may pass a declaration. */
export function placeOf(context: TransformContext, stmt: Stmt, braces = false, declares = true): Place {
  const { source } = context.unit;
  const style = styleOf(source, context.facts.function);
  const region = extentOf(source, stmt);
  const parent = context.facts.parent(stmt);
  const own = indentAt(source, stmt.span.start);
  const fresh = startsLine(source, region.start);
  // From the start of the line, so that a pragma with another indentation than its loop does not matter.
  const span = fresh ? { start: lineStartOf(source, region.start), end: region.end } : region;
  const headEnd = parent === null || !isStmt(parent) ? null : bareHeadEnd(parent, stmt);
  if (headEnd === null) {
    const labelled = declares && parent !== null && (parent.kind === 'switch' || parent.kind === 'label');
    if (!braces && !labelled) return { span, indent: own, before: fresh ? own : '', after: '', edits: [] };
    const indent = own + style.unit;
    return { span, indent, before: `${fresh ? own : ''}{\n${indent}`, after: `\n${own}}`, edits: [] };
  }
  const outer = indentAt(source, headEnd - 1);
  const open = style.bracesOnOwnLine ? `\n${outer}{` : ' {';
  const indent = startsLine(source, stmt.span.start) && own !== outer ? own : outer + style.unit;
  const after = `\n${outer}}`;
  if (source.text.slice(headEnd, region.start).trim() === '') {
    return { span: { start: headEnd, end: region.end }, indent, before: `${open}\n${indent}`, after, edits: [] };
  }
  // A comment stands between head and statement: a brace at the end of the line goes in front of it, one on its own line behind.
  if (!fresh) return { span, indent, before: `{\n${indent}`, after, edits: [] };
  if (style.bracesOnOwnLine) return { span, indent, before: `${outer}{\n${indent}`, after, edits: [] };
  return { span, indent, before: indent, after, edits: [{ file: source.realPath, span: { start: headEnd, end: headEnd }, text: open }] };
}

/** Where the head of a braceless parent ends; null if the statement stands in a list of statements. */
export function bareHeadEnd(parent: Stmt, stmt: Stmt): number | null {
  switch (parent.kind) {
    case 'if': return parent.then === stmt ? parent.headSpan.end : parent.elseSpan?.end ?? null;
    case 'for': case 'while': case 'range-for': return parent.headSpan.end;
    case 'do': return parent.span.start + 2;
    default: return null;
  }
}

/**
 * True if declarations of the head of a loop may stand in front of it in its block: no name is declared there, or below the head that
 * the block belongs to, and no use behind the loop would come to mean them.
 */
export function mayStandBefore(facts: FunctionFacts, loop: Stmt, variables: readonly VariableDecl[]): boolean {
  const parent = facts.parent(loop);
  if (parent === null || parent.kind !== 'compound') return false;
  const names = new Set(variables.map((variable) => variable.name));
  const { text } = facts.unit.source;
  const spelled = (span: Span): boolean => [...names].some((name) => new RegExp(`\\b${name}\\b`).test(text.slice(span.start, span.end)));
  for (const statement of parent.body) {
    if (statement === loop) continue;
    if (statement.kind === 'declare' && namesDeclared(statement).some((name) => names.has(name))) return false;
    if ((statement.kind === 'opaque' || statement.kind === 'macro-statement' || statement.kind === 'preprocessor') && spelled(statement.span)) return false;
  }
  if (headNames(facts, parent).some((name) => names.has(name))) return false;
  for (const statement of parent.body.slice(parent.body.indexOf(loop) + 1)) if (!keepsMeaning(statement, names, parent, loop, spelled)) return false;
  return true;
}

function keepsMeaning(statement: Stmt, names: ReadonlySet<string>, block: CompoundStmt, loop: Stmt, spelled: (span: Span) => boolean): boolean {
  let kept = true;
  walk(statement, (node: Node) => {
    if (!kept) return false;
    if (node.kind === 'opaque') kept = !spelled(node.span);
    if (node.kind === 'ref' && names.has(node.name)) {
      kept = node.decl !== null && node.decl.span.start > loop.span.end && node.decl.span.end <= block.span.end;
    }
    return kept;
  });
  return kept;
}

/**
 * A name that the head which the statement belongs to, without braces around it, declares too: in the block that it would get it may not be declared once
 * more (C++ forbids it in the outermost block of such a statement). Null if there is none.
 */
export function declaredByHead(facts: FunctionFacts, stmt: Stmt, variables: readonly VariableDecl[]): string | null {
  const parent = facts.parent(stmt);
  if (parent === null || parent.kind === 'compound') return null;
  const names = headNames(facts, stmt);
  return variables.find(({ name }) => names.includes(name))?.name ?? null;
}

/** Names that the head of the block's owner declares: parameters, the variable of a `for`. */
function headNames(facts: FunctionFacts, block: Stmt): readonly string[] {
  const owner = facts.parent(block);
  if (owner === null) return facts.function.parameters.map((parameter) => parameter.name);
  const names: string[] = [];
  if (owner.kind === 'for' && owner.init.kind === 'declare') names.push(...owner.init.variables.map((variable) => variable.name));
  if (owner.kind === 'range-for') names.push(owner.variable.name);
  if (owner.kind === 'lambda') names.push(...owner.parameters.map((parameter) => parameter.name));
  if ((owner.kind === 'if' || owner.kind === 'switch') && owner.init?.kind === 'declare') names.push(...owner.init.variables.map((variable) => variable.name));
  if ('conditionDecl' in owner && owner.conditionDecl !== null) names.push(owner.conditionDecl.name);
  return names;
}

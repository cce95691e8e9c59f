/**
 * Which arms of `#if` must go for the rest to parse.
 *
 * The C++ grammar takes a group whose arms hold whole statements or declarations. Whether they do is decided by structure alone:
 * what stands before the group, what bracket is open around it, whether each arm closes what it opens, and with which tokens it
 * starts and ends. Otherwise the group is *reduced*: its directives and all arms but the one that the default configuration keeps
 * become spaces. An arm that is broken while the kept one is whole is emptied alone.
 */
import type { Span } from './types.js';
import type { ArmShape } from './brackets.js';
import type { Arm, Group } from './conditionals.js';
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { TokenKind } from './tokens.js';

/** Blanks what must go; the result holds the spans of the arms that went, sorted and disjoint. */
export function reduceGroups(stream: Stream, patches: Patches): Span[] {
  return walkGroups(stream, patches, (group, opener) => mustReduce(stream, group, opener));
}

/** Reduces every group that lies in `range`, whole or not. */
export function reduceGroupsIn(stream: Stream, patches: Patches, range: Span): Span[] {
  return walkGroups(stream, patches, (group, opener) => startOf(stream, opener) >= range.start && endOf(stream, group.end) <= range.end);
}

function walkGroups(stream: Stream, patches: Patches, decide: (group: Group, opener: number) => boolean): Span[] {
  const gone: Span[] = [];
  const goneDirectives = new Set<number>();
  const openers = [...stream.groups.keys()].sort((a, b) => a - b);
  for (const opener of openers) {
    const group = stream.groups.get(opener);
    if (!group || goneDirectives.has(opener)) continue;
    const reduced = decide(group, opener);
    for (const arm of group.arms) {
      const remove = reduced ? !arm.active : !arm.active && !isWhole(stream, stream.brackets.arms.get(arm.directive));
      if (remove) removeArm(stream, patches, arm, gone, goneDirectives);
    }
    if (reduced) for (const directive of [...group.arms.map((arm) => arm.directive), group.end]) dropDirective(stream, patches, directive);
  }
  return gone.sort((a, b) => a.start - b.start);
}

function removeArm(stream: Stream, patches: Patches, arm: Arm, gone: Span[], goneDirectives: Set<number>): void {
  const span = { start: endOf(stream, arm.directive), end: startOf(stream, arm.closer) };
  for (let k = arm.directive + 1; k < arm.closer; k++) goneDirectives.add(k);
  gone.push(span);
  if (stream.brackets.arms.get(arm.directive)?.first === -1) {
    // Nothing is lost: comments may stay, and no verdict depends on the choice.
    for (let k = arm.directive + 1; k < arm.closer; k++) dropDirective(stream, patches, k);
    return;
  }
  patches.blank(span.start, span.end);
  patches.note({ kind: 'inactive', span, condition: arm.condition });
}

function dropDirective(stream: Stream, patches: Patches, index: number): void {
  const directive = stream.source.directives[index];
  if (directive) patches.drop(directive.start, directive.end);
}

/** True if the group cannot stay as it is. */
function mustReduce(stream: Stream, group: Group, opener: number): boolean {
  if (group.end >= stream.source.directives.length) return true;
  const at = stream.directiveTokens[opener] ?? -1;
  const container = stream.container(at);
  if (container !== 'namespace' && container !== 'record' && container !== 'block') return true;
  if (!stream.endsStatement(stream.previous(at))) return true;
  const after = stream.next(stream.directiveTokens[group.end] ?? stream.tokens.count);
  if (stream.tokens.is(after, 'else') || stream.tokens.is(after, 'catch')) return true;
  const kept = group.arms.find((arm) => arm.active);
  return kept !== undefined && !isWhole(stream, stream.brackets.arms.get(kept.directive));
}

/** True if the arm of this directive holds whole statements or declarations, or nothing. */
export function isWholeArm(stream: Stream, directive: number): boolean {
  return isWhole(stream, stream.brackets.arms.get(directive));
}

/** True if the arm holds whole statements or declarations, or nothing. */
function isWhole(stream: Stream, shape: ArmShape | undefined): boolean {
  if (!shape) return false;
  if (shape.first < 0) return true;
  return shape.balanced && mayStart(stream, shape.first) && stream.endsStatement(shape.last);
}

const STARTS = new Set(['{', '(', '*', '&', '+', '-', '++', '--', '!', '~', '::', '[', ';']);

function mayStart(stream: Stream, first: number): boolean {
  const { tokens } = stream;
  if (tokens.kind(first) === TokenKind.punctuation) return STARTS.has(tokens.spelling(first));
  return !tokens.is(first, 'else') && !tokens.is(first, 'catch');
}

/**
 * A conditional group beside a range of statements that, in some configuration, takes a part in their structure: an arm that ends in a head, in `else`
 * or in an open brace, or that is the body of a head in front of it. The offset of its directive; null if each stays by itself in all configurations.
 */
export function groupBoundTo(stream: Stream, { start, end }: Span): number | null {
  const { tokens } = stream;
  if (stream.groups.size === 0) return null;
  const first = tokens.at(start);
  let before = first - 1;
  let conditional = -1;
  while (before >= 0 && tokens.kind(before) === TokenKind.directive) {
    const opener = openerOf(stream, before);
    const directive = opener < 0 ? undefined : stream.source.directives[opener];
    if (directive === undefined) { before--; continue; }
    const at = stream.directiveTokens[opener] ?? -1;
    const isBehind = stream.source.directives[stream.directiveAt(before)]?.kind === 'endif';
    if (isBehind && !allWhole(stream, opener)) return directive.start;
    conditional = isBehind && alwaysThere(stream, opener) ? -1 : opener;
    before = at - 1;
  }
  if (conditional >= 0 && before >= 0 && !stream.endsStatement(before)) return startOf(stream, conditional);
  for (let after = tokens.at(end); after < tokens.count && tokens.kind(after) === TokenKind.directive;) {
    const index = stream.directiveAt(after);
    const group = stream.groups.get(index);
    if (group === undefined) { after++; continue; }
    if (!allWhole(stream, index)) return startOf(stream, index);
    after = (stream.directiveTokens[group.end] ?? tokens.count) + 1;
  }
  return null;
}

function allWhole(stream: Stream, opener: number): boolean {
  return stream.groups.get(opener)?.arms.every((arm) => isWhole(stream, stream.brackets.arms.get(arm.directive))) ?? true;
}

/** Whatever the configuration, a statement stands in the group. */
function alwaysThere(stream: Stream, opener: number): boolean {
  const arms = stream.groups.get(opener)?.arms ?? [];
  const last = arms[arms.length - 1];
  return last !== undefined && stream.source.directives[last.directive]?.kind === 'else' && arms.every((arm) => (stream.brackets.arms.get(arm.directive)?.first ?? -1) >= 0);
}

/** The directive that opens the group of a conditional directive; -1 for others. */
function openerOf(stream: Stream, token: number): number {
  return stream.source.directives[stream.directiveAt(token)]?.opener ?? -1;
}

function startOf(stream: Stream, directive: number): number {
  return stream.source.directives[directive]?.start ?? stream.source.text.length;
}

function endOf(stream: Stream, directive: number): number {
  return stream.source.directives[directive]?.end ?? stream.source.text.length;
}

/**
 * Functions that an error swallowed: a `__global__` that stands in the head of no lowered function begins one all the same. Its
 * text, cut out by the braces of the tokens, is parsed by itself, so an error costs the function it stands in and no other.
 */
import { TokenKind, tokensOf } from '../source/index.js';
import type { OverlayNote } from '../source/types.js';
import type { Lowering } from './context.js';
import { parseCst, everything } from './cst.js';
import { lowerItems } from './lower-unit.js';
import type { CppParser } from './parser.js';

function isKernelNote(note: OverlayNote): boolean {
  return (note.kind === 'qualifier' && note.name === 'global') || (note.kind === 'macro' && note.standsFor.some((meaning) => meaning.name === 'global'));
}

/** Lowers kernels that the tree of the whole file does not show. `ctx` stands at the file's global scope. */
export function recoverKernels(ctx: Lowering, parser: CppParser): void {
  const { unit } = ctx;
  const heads = unit.functions.map((decl) => decl.headSpan);
  const lost = ctx.notes.filter((note) => isKernelNote(note) && !heads.some((head) => head.start <= note.span.start && note.span.end <= head.end));
  let end = -1;
  for (const note of lost) {
    if (note.span.start < end) continue;
    const span = functionText(ctx, note.span.start);
    if (span === null) continue;
    end = span.end;
    const tree = parseCst(parser, ctx.text.slice(span.start, span.end), everything, span.start);
    lowerItems(ctx, tree.root.children, span.start);
    tree.release();
  }
}

/** From the end of what stands before the qualifier to the brace that closes the body; null for a mere declaration. */
function functionText(ctx: Lowering, at: number): { readonly start: number; readonly end: number } | null {
  const tokens = tokensOf(ctx.unit.source);
  let low = 0;
  let high = tokens.count;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (tokens.start(mid) < at) low = mid + 1;
    else high = mid;
  }
  let first = low;
  while (first > 0 && tokens.kind(first - 1) !== TokenKind.directive && !tokens.is(first - 1, ';') && !tokens.is(first - 1, '}') && !tokens.is(first - 1, '{')) first--;
  let parens = 0;
  let braces = 0;
  for (let i = low; i < tokens.count; i++) {
    if (tokens.is(i, '(')) parens++;
    else if (tokens.is(i, ')')) parens--;
    else if (tokens.is(i, '{')) braces++;
    else if (tokens.is(i, '}') && --braces <= 0) return { start: tokens.start(first), end: tokens.end(i) };
    else if (tokens.is(i, ';') && braces === 0 && parens <= 0) return null;
  }
  return braces === 0 ? null : { start: tokens.start(first), end: ctx.text.length };
}

/**
 * What the parser need not read: the overlay with comments, bodies that nobody asks for, and long initialiser lists exchanged for
 * spaces, and of bodies that are wanted what a slice leaves out. Offsets stay; the braces of what was emptied stay too.
 *
 * Host code that launches nothing is about a quarter of real CUDA sources; reading it only as far as its braces saves the time, and
 * what the grammar cannot read in it spoils nothing around it.
 */
import type { Overlay, SourceFile, Span } from './types.js';
import type { HostSlice } from './host-slices.js';
import { streamOf } from './overlay.js';
import type { Stream } from './stream.js';

export interface BlankOptions {
  /** Shorter bodies (in characters) are left as they are. */
  readonly body: number;
  /** Shorter initialiser lists are left as they are. */
  readonly list: number;
  /** Must the function that begins at `start`, with its body from the brace at `open` to `end`, be read with the file? */
  wanted(start: number, open: number, end: number): boolean;
  /** What may be left out of the body of a function that is wanted, which begins at the token `brace`; null to read it whole. */
  slice?(stream: Stream, brace: number, start: number, end: number): HostSlice | null;
}

export interface BlankedText {
  /** Same length as the overlay. */
  readonly text: string;
  /** Offsets of the `{` of bodies and lists that were emptied. */
  readonly emptied: ReadonlySet<number>;
  /** Bodies that were left out in parts, by the offset of their `{`. */
  readonly sliced: ReadonlyMap<number, HostSlice>;
}

export function blankBodies(source: SourceFile, overlay: Overlay, options: BlankOptions): BlankedText {
  const stream = streamOf(overlay);
  const emptied = new Set<number>();
  const sliced = new Map<number, HostSlice>();
  if (stream === null) return { text: overlay.text, emptied, sliced };
  const { tokens } = stream;
  const holes: Span[] = [];
  for (const [open, kind] of stream.brackets.braces) {
    if (kind !== 'block' && kind !== 'initializer') continue;
    const close = stream.match(open);
    const start = tokens.start(open);
    const end = tokens.start(close);
    if (close < 0 || end - start + 1 < (kind === 'block' ? options.body : options.list) || overlay.text[start] !== '{' || overlay.text[end] !== '}') continue;
    if (kind === 'block') {
      const head = headOf(stream, open);
      if (head < 0) continue;
      if (options.wanted(tokens.start(head), start, end + 1)) {
        const slice = options.slice?.(stream, open, tokens.start(head), end + 1) ?? null;
        if (slice !== null) {
          sliced.set(start, slice);
          for (const hole of slice.holes) holes.push(hole);
        }
        continue;
      }
    } else if (stream.container(open) === 'initializer') {
      continue;
    }
    if (!wholeGroups(source, start, end)) continue;
    emptied.add(start);
    holes.push({ start: start + 1, end });
  }
  for (const comment of source.comments) holes.push(comment);
  return { text: withoutHoles(source, overlay.text, holes), emptied, sliced };
}

/** First token of the function whose body this brace opens; -1 if it is none at namespace or class level, or not plainly one. */
function headOf(stream: Stream, open: number): number {
  const { tokens } = stream;
  const where = stream.container(open);
  if (where !== 'namespace' && where !== 'record') return -1;
  let at = stream.previous(open);
  while (tokens.is(at, 'const') || tokens.is(at, 'noexcept') || tokens.is(at, 'override')) at = stream.previous(at);
  if (!tokens.is(at, ')')) return -1;
  const name = nameBefore(stream, stream.match(at));
  if (name < 0) return -1;
  let first = name;
  for (at = name; at >= 0; at = stream.previous(at)) {
    if (tokens.is(at, ')') || tokens.is(at, ']')) {
      const opener = stream.match(at);
      if (opener < 0) return -1;
      at = opener;
    } else if (tokens.is(at, ';') || tokens.is(at, '{') || tokens.is(at, '}')) {
      break;
    } else if (tokens.is(at, '=') || tokens.is(at, '(') || tokens.is(at, '[')) {
      return -1;
    }
    first = at;
  }
  return first;
}

/** The name before a parameter list, `operator` for `operator+`; -1 if there is none. */
function nameBefore(stream: Stream, open: number): number {
  const { tokens } = stream;
  let at = stream.previous(open);
  if (tokens.isIdentifier(at)) return at;
  // `operator new[]` has the longest tail.
  for (let steps = 0; steps < 4 && at >= 0; steps++, at = stream.previous(at)) if (tokens.is(at, 'operator')) return at;
  return -1;
}

/** No conditional group reaches into the range or out of it. */
function wholeGroups(source: SourceFile, start: number, end: number): boolean {
  const { directives } = source;
  let low = 0;
  let high = directives.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((directives[middle]?.start ?? Infinity) < start) low = middle + 1;
    else high = middle;
  }
  let depth = 0;
  for (let i = low; i < directives.length; i++) {
    const directive = directives[i];
    if (directive === undefined || directive.start >= end) break;
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') depth++;
    else if (directive.kind === 'endif') depth--;
    else if ((directive.kind === 'else' || directive.kind === 'elif') && depth === 0) return false;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** A text with spaces for the holes. Comments inside of directives stay: a newline in one would end the directive. */
export function withoutHoles(source: SourceFile, text: string, given: readonly Span[]): string {
  const holes = [...given].sort((a, b) => a.start - b.start || b.end - a.end);
  const { directives } = source;
  let result = '';
  let at = 0;
  let directive = 0;
  for (const { start, end } of holes) {
    if (start < at) continue;
    while ((directives[directive]?.end ?? Infinity) <= start) directive++;
    const inside = directives[directive];
    if (inside !== undefined && inside.start < start && start < inside.end) continue;
    result += text.slice(at, start);
    // Lines do not matter to the parser's offsets, but a directive right behind the hole must begin a line.
    const line = text.indexOf('\n', start);
    result += line >= 0 && line < end ? `\n${spaces(end - start - 1)}` : spaces(end - start);
    at = end;
  }
  return result + text.slice(at);
}

const SPACES = ' '.repeat(1024);

function spaces(count: number): string {
  return count <= SPACES.length ? SPACES.slice(0, count) : ' '.repeat(count);
}

/**
 * A text that was edited several times, kept as pieces of the original and pieces that edits brought. From it come the edits that
 * lead from the original straight to the text as it is now (several rounds, one diff), and the place in the original that a place
 * of the text stems from.
 */
import type { Edit, Span } from '../source/types.js';

type Piece = { readonly from: 'original'; readonly start: number; readonly end: number } | { readonly from: 'edit'; readonly text: string };

const lengthOf = (piece: Piece): number => (piece.from === 'original' ? piece.end - piece.start : piece.text.length);

export class PieceText {
  private constructor(
    readonly original: string,
    private readonly pieces: readonly Piece[],
  ) {}

  static of(original: string): PieceText {
    return new PieceText(original, original === '' ? [] : [{ from: 'original', start: 0, end: original.length }]);
  }

  /** The text after further edits, given against the text as it is now: sorted, disjoint, with their final newlines. */
  edited(edits: readonly Edit[]): PieceText {
    const out: Piece[] = [];
    let at = 0;
    let index = 0;
    let used = 0;
    /** Moves on to an offset of the current text, keeping or dropping what lies before it. */
    const advance = (to: number, keep: boolean): void => {
      while (at < to) {
        const piece = this.pieces[index];
        if (piece === undefined) throw new RangeError('an edit lies outside the text');
        const take = Math.min(to - at, lengthOf(piece) - used);
        if (keep) push(out, slice(piece, used, used + take));
        at += take;
        used += take;
        if (used === lengthOf(piece)) {
          index++;
          used = 0;
        }
      }
    };
    for (const edit of edits) {
      advance(edit.span.start, true);
      if (edit.text !== '') push(out, { from: 'edit', text: edit.text });
      advance(edit.span.end, false);
    }
    advance(this.length, true);
    return new PieceText(this.original, out);
  }

  get length(): number {
    return this.pieces.reduce((n, piece) => n + lengthOf(piece), 0);
  }

  get changed(): boolean {
    return this.toString() !== this.original;
  }

  toString(): string {
    return this.pieces.map((piece) => (piece.from === 'original' ? this.original.slice(piece.start, piece.end) : piece.text)).join('');
  }

  /** Edits that make this text out of the original. */
  edits(file: string): readonly Edit[] {
    const edits: Edit[] = [];
    let done = 0;
    let fresh = '';
    const close = (to: number): void => {
      if (fresh !== '' || to > done) edits.push({ file, span: { start: done, end: to }, text: fresh });
      fresh = '';
    };
    for (const piece of this.pieces) {
      if (piece.from === 'edit') {
        fresh += piece.text;
      } else {
        close(piece.start);
        done = piece.end;
      }
    }
    close(this.original.length);
    return edits;
  }

  /** Where a character of this text stood in the original; for one that an edit brought, the original text around it. */
  origin(offset: number): { readonly kind: 'original'; readonly offset: number } | { readonly kind: 'edit'; readonly replaced: Span } {
    let at = 0;
    let before = 0;
    for (let i = 0; i < this.pieces.length; i++) {
      const piece = this.pieces[i];
      if (piece === undefined) break;
      const length = lengthOf(piece);
      if (offset < at + length) {
        if (piece.from === 'original') return { kind: 'original', offset: piece.start + offset - at };
        const next = this.pieces.slice(i + 1).find((later) => later.from === 'original');
        return { kind: 'edit', replaced: { start: before, end: next?.from === 'original' ? next.start : this.original.length } };
      }
      if (piece.from === 'original') before = piece.end;
      at += length;
    }
    return { kind: 'original', offset: this.original.length };
  }
}

function slice(piece: Piece, from: number, to: number): Piece {
  return piece.from === 'original'
    ? { from: 'original', start: piece.start + from, end: piece.start + to }
    : { from: 'edit', text: piece.text.slice(from, to) };
}

function push(out: Piece[], piece: Piece): void {
  const last = out.at(-1);
  if (last?.from === 'edit' && piece.from === 'edit') out[out.length - 1] = { from: 'edit', text: last.text + piece.text };
  else if (last?.from === 'original' && piece.from === 'original' && last.end === piece.start) out[out.length - 1] = { from: 'original', start: last.start, end: piece.end };
  else out.push(piece);
}

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits, landEdits } from '../../src/rewrite/apply-edits.js';
import { PieceText } from '../../src/rewrite/piece-text.js';
import type { Edit } from '../../src/source/types.js';
import { randomCase } from './random-edits.js';

const edit = (start: number, end: number, text: string): Edit => ({ file: 'k.cu', span: { start, end }, text });

describe('PieceText', () => {
  test('several rounds of edits are one set of edits to the original', () => {
    const rounds = fc.array(fc.record({ at: fc.nat(200), length: fc.nat(9), text: fc.constantFrom('', 'z', 'new\n') }), { maxLength: 8 });
    fc.assert(
      fc.property(randomCase, rounds, ({ text, edits, newline }, more) => {
        let pieces = PieceText.of(text).edited(landEdits(text, edits, newline));
        let expected = applyEdits(text, edits, newline);
        expect(pieces.toString()).toBe(expected);
        for (const { at, length, text: inserted } of more) {
          const start = Math.min(at, expected.length);
          const step = edit(start, Math.min(expected.length, start + length), inserted);
          expected = expected.slice(0, step.span.start) + inserted + expected.slice(step.span.end);
          pieces = pieces.edited([step]);
          expect(pieces.toString()).toBe(expected);
        }
        let straight = '';
        let from = 0;
        for (const e of pieces.edits('k.cu')) {
          straight += text.slice(from, e.span.start) + e.text;
          from = e.span.end;
        }
        expect(straight + text.slice(from)).toBe(expected);
      }),
    );
  });

  test('knows where a character comes from', () => {
    const pieces = PieceText.of('abcdef').edited([edit(2, 4, 'XY')]).edited([edit(1, 1, '-')]);
    expect(pieces.toString()).toBe('a-bXYef');
    expect(pieces.origin(2)).toEqual({ kind: 'original', offset: 1 });
    expect(pieces.origin(3)).toEqual({ kind: 'edit', replaced: { start: 2, end: 4 } });
    expect(pieces.origin(6)).toEqual({ kind: 'original', offset: 5 });
    expect(pieces.origin(1)).toEqual({ kind: 'edit', replaced: { start: 1, end: 1 } });
  });
});

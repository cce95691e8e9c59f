import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits, landEdits } from '../../src/rewrite/apply-edits.js';
import { EditConflictError } from '../../src/rewrite/plan.js';
import type { Edit } from '../../src/source/types.js';
import { randomCase } from './random-edits.js';

const edit = (start: number, end: number, text: string): Edit => ({ file: 'k.cu', span: { start, end }, text });

/** The same by slicing strings, the slow and certain way. */
function bySlicing(text: string, edits: readonly Edit[], newline: '\n' | '\r\n'): string {
  let out = '';
  let from = 0;
  for (const { span, text: inserted } of landEdits(text, edits, newline)) {
    out += text.slice(from, span.start) + inserted;
    from = span.end;
  }
  return out + text.slice(from);
}

describe('applyEdits', () => {
  test('equals slicing, in whatever order the edits come', () => {
    fc.assert(
      fc.property(randomCase, ({ text, edits, newline }) => {
        const expected = bySlicing(text, edits, newline);
        expect(applyEdits(text, edits, newline)).toBe(expected);
        expect(applyEdits(text, [...edits].reverse(), newline)).toBe(expected);
      }),
    );
  });

  test('text that an edit brings takes the newline of its line', () => {
    expect(applyEdits('a\r\nb\nc\r\n', [edit(1, 1, '\nx'), edit(4, 4, '\ny')], '\r\n')).toBe('a\r\nx\r\nb\ny\nc\r\n');
    expect(applyEdits('a\r\nb', [edit(4, 4, '\nx')], '\n')).toBe('a\r\nb\r\nx');
    expect(applyEdits('', [edit(0, 0, 'x\n')], '\r\n')).toBe('x\r\n');
  });

  test('an insertion in front of a replacement stands in front of it', () => {
    expect(applyEdits('abc', [edit(1, 2, 'X'), edit(1, 1, '<')], '\n')).toBe('a<Xc');
    expect(applyEdits('abc', [edit(0, 1, ''), edit(0, 0, '<'), edit(1, 1, '>')], '\n')).toBe('<>bc');
  });

  test('overlapping edits and edits outside the text are refused', () => {
    expect(() => applyEdits('abcdef', [edit(0, 3, 'x'), edit(2, 4, 'y')], '\n')).toThrow(EditConflictError);
    expect(() => applyEdits('abc', [edit(2, 9, 'x')], '\n')).toThrow(RangeError);
  });
});

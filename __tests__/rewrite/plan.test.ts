import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits } from '../../src/rewrite/apply-edits.js';
import { EditConflictError, EditPlan } from '../../src/rewrite/plan.js';
import type { Edit, FileSpan } from '../../src/source/types.js';

const edit = (start: number, end: number, text: string, file = 'k.cu'): Edit => ({ file, span: { start, end }, text });
const read = (start: number, end: number, file = 'k.cu'): FileSpan => ({ file, start, end });

describe('EditPlan', () => {
  test('takes changes apart from each other, sorted by place', () => {
    const plan = new EditPlan();
    expect(plan.offer({ edits: [edit(10, 12, 'b')], reads: [] })).toEqual({ accepted: true });
    expect(plan.offer({ edits: [edit(2, 4, 'a'), edit(0, 0, 'h', 'other.cuh')], reads: [] })).toEqual({ accepted: true });
    expect(plan.byFile().get('k.cu')?.map((e) => e.text)).toEqual(['a', 'b']);
    expect(plan.byFile().get('other.cuh')?.map((e) => e.text)).toEqual(['h']);
    expect(plan.size).toBe(2);
  });

  test('defers a change that overlaps, inserts at an edge, or breaks a proof', () => {
    const plan = new EditPlan();
    plan.offer({ edits: [edit(10, 20, 'x')], reads: [read(0, 5)] });
    for (const change of [
      { edits: [edit(15, 25, 'y')], reads: [] },
      { edits: [edit(20, 20, 'y')], reads: [] },
      { edits: [edit(10, 10, 'y')], reads: [] },
      { edits: [edit(4, 6, 'y')], reads: [] },
      { edits: [edit(30, 31, 'y')], reads: [read(12, 13)] },
    ]) {
      const admission = plan.offer(change);
      expect(admission.accepted).toBe(false);
    }
    expect(plan.size).toBe(1);
    // Replacements that touch, and reads that end where the edit begins, do not meet.
    expect(plan.offer({ edits: [edit(20, 21, 'z')], reads: [read(5, 10)] })).toEqual({ accepted: true });
  });

  test('a change that contradicts itself is a fault, and leaves no trace', () => {
    const plan = new EditPlan();
    expect(() => plan.offer({ edits: [edit(0, 4, 'x'), edit(3, 5, 'y')], reads: [] })).toThrow(EditConflictError);
    expect(plan.size).toBe(0);
    expect(plan.byFile().size).toBe(0);
  });

  test('accepted changes give one text in any order', () => {
    const change = fc.record({ start: fc.nat(40), length: fc.nat(5), text: fc.string({ maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (offers) => {
        const text = 'x'.repeat(50);
        const plan = new EditPlan();
        const accepted: Edit[] = [];
        for (const offer of offers) {
          const e = edit(offer.start, offer.start + offer.length, offer.text.replace(/[\r\n]/g, ''));
          if (plan.offer({ edits: [e], reads: [] }).accepted) accepted.push(e);
        }
        const once = applyEdits(text, plan.byFile().get('k.cu') ?? [], '\n');
        // One at a time, from the end to the front, so that offsets stay right.
        const bySteps = [...accepted]
          .sort((a, b) => b.span.start - a.span.start || b.span.end - a.span.end)
          .reduce((current, e) => applyEdits(current, [e], '\n'), text);
        expect(bySteps).toBe(once);
      }),
    );
  });
});

/** Templates of inline PTX taken apart. */
import { describe, expect, test } from '@jest/globals';
import { asmCollective, asmMeaning } from '../../src/analysis/asm-text.js';

const opcodes = (text: string): readonly string[] => asmMeaning(text).instructions.map((one) => one.opcode);

describe('instructions of a template', () => {
  test('declarations, labels, comments and braces are none', () => {
    expect(opcodes('{ .reg .pred p; // bar.sync 0;\n setp.ne.u32 p, %1, 0; /* vote.sync.all.pred p, q, 1; */ L1: @!p bra L1; mov.b32 {%0, %1}, %2; }')).toEqual(['setp.ne.u32', 'bra', 'mov.b32']);
  });
  test('predicates and operands', () => {
    const [only] = asmMeaning('@!p shfl.sync.bfly.b32 %0|q, %1, 0x1f, 31, 0xffffffff;').instructions;
    expect(only).toEqual({
      opcode: 'shfl.sync.bfly.b32', predicate: { kind: 'name', text: 'p' },
      operands: [{ kind: 'operand', index: 0 }, { kind: 'name', text: 'q' }, { kind: 'operand', index: 1 }, { kind: 'number', value: 31n }, { kind: 'number', value: 31n }, { kind: 'number', value: 0xffffffffn }],
    });
  });
  test('registers of the machine, numbers with signs, what is not read', () => {
    expect(asmMeaning('mov.u32 %0, %%laneid;').instructions[0]?.operands[1]).toEqual({ kind: 'name', text: '%laneid' });
    expect(asmMeaning('bar.warp.sync -1;').instructions[0]?.operands).toEqual([{ kind: 'number', value: -1n }]);
    expect(asmMeaning('ld.global.u32 %0, [%1+4];').instructions[0]?.operands[1]).toEqual({ kind: 'other' });
    expect(asmMeaning('mma.sync.aligned {%0, %1}, {%2}, %[a];').instructions[0]?.operands.map((one) => one.kind)).toEqual(['other', 'other', 'other']);
  });
  test('text that is no PTX is read to its end', () => {
    for (const text of ['', ';;', '@', '@p', '{{{', '}', 'a:', '%', '%%', '%[', '/*', '//', '\\', 'bar.sync', 'bar.sync ,,,', '| , !']) expect(Array.isArray(opcodes(text))).toBe(true);
  });
});

describe('whom an instruction needs', () => {
  const needs = (text: string) => asmMeaning(text).instructions.map(asmCollective);
  test.each([
    ['bar.sync 0;', [{ kind: 'block', which: { kind: 'number', value: 0n }, threads: null }]],
    ['barrier.cta.sync.aligned 3, 64;', [{ kind: 'block', which: { kind: 'number', value: 3n }, threads: { kind: 'number', value: 64n } }]],
    ['barrier.red.popc.u32 %0, 1, p;', [{ kind: 'block', which: { kind: 'number', value: 1n }, threads: null }]],
    ['bar.red.popc.u32 %0, 1, 32, p;', [{ kind: 'block', which: { kind: 'number', value: 1n }, threads: { kind: 'number', value: 32n } }]],
    ['bar.arrive 1, 64;', [null]],
    ['barrier.cluster.wait;', [null]],
    ['bar.warp.sync %0;', [{ kind: 'warp', mask: { kind: 'operand', index: 0 } }]],
    ['vote.sync.any.pred p, q, 0xff;', [{ kind: 'warp', mask: { kind: 'number', value: 255n } }]],
    ['match.all.sync.b32 %0|p, %1, m;', [{ kind: 'warp', mask: { kind: 'name', text: 'm' } }]],
    ['redux.sync.add.s32 %0, %1, %2;', [{ kind: 'warp', mask: { kind: 'operand', index: 2 } }]],
    ['mma.sync.aligned.m8n8k4.row.col.f32.f16 {%0}, {%1}, {%2}, {%3};', [{ kind: 'warp', mask: null }]],
    ['add.s32 %0, %1, %2;', [null]],
  ])('%s', (text, expected) => { expect(needs(text)).toEqual(expected); });
});

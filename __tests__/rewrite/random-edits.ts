import fc from 'fast-check';
import type { Edit } from '../../src/source/types.js';

export interface RandomCase {
  readonly text: string;
  readonly edits: readonly Edit[];
  readonly encoding: 'utf-8' | 'latin1';
  readonly bom: boolean;
  readonly newline: '\n' | '\r\n';
}

const FILE = 'k.cu';

/** A text in one of the shapes that files have, and disjoint edits to it, newlines in edits always `\n`. */
export const randomCase: fc.Arbitrary<RandomCase> = fc
  .record({
    lines: fc.array(fc.constantFrom('', '}', 'x = 1;', '  if (i < n) {', 'é', '"ÿ"', '\t', '-- a', '++ b', '\\ odd', '@@ -1 +1 @@'), { maxLength: 30 }),
    newline: fc.constantFrom('\n' as const, '\r\n' as const),
    mixed: fc.boolean(),
    last: fc.boolean(),
    encoding: fc.constantFrom('utf-8' as const, 'latin1' as const),
    bom: fc.boolean(),
    cuts: fc.array(fc.record({ at: fc.nat(1000), length: fc.nat(12), text: fc.constantFrom('', 'y', 'a\nb', '\n', 'x = 1;\n', 'ü();\n\n') }), { maxLength: 6 }),
  })
  .map(({ lines, newline, mixed, last, encoding, bom, cuts }) => {
    let text = lines.map((line, i) => line + (mixed && i % 3 === 0 ? '\n' : newline)).join('');
    if (!last) text = text.replace(/\r?\n$/, '');
    const edits: Edit[] = [];
    let free = 0;
    for (const cut of [...cuts].sort((a, b) => a.at - b.at)) {
      const start = Math.max(free, Math.min(cut.at % (text.length + 1), text.length));
      if (edits.length > 0 && start <= free) continue;
      const end = Math.min(text.length, start + cut.length);
      // An edit never cuts a CRLF pair in two: no token ends there.
      if (text[start - 1] === '\r' || text[end - 1] === '\r') continue;
      edits.push({ file: FILE, span: { start, end }, text: cut.text });
      free = end;
    }
    return { text, edits, encoding, bom: bom && encoding === 'utf-8', newline };
  });

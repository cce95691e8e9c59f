/** A step behind an operand with a sign steps the operand, not what the sign makes of it. */
import { beforeAll, expect, test } from '@jest/globals';
import { initParser, loadProgram } from '../../src/syntax/index.js';
import { walk } from '../../src/analysis/children.js';

beforeAll(async () => { await initParser(); });

test.each([
  ['-n++', 'n'], ['!n++', 'n'], ['~n--', 'n'], ['not n++', 'n'], ['!!n++', 'n'], ['- -n++', 'n'], ['1 + -n++', 'n'], ['(int)!n++', 'n'], ['-s.x++', 's.x'], ['-p[0]++', 'p[0]'], ['-(n)++', '(n)'], ['-(*p)++', '(*p)'], ['!p++', 'p'],
  ['*p++', 'p'], ['-*p++', 'p'], ['-++n', 'n'], ['-(n++)', 'n'], ['(int)n++', 'n'],
])('%s steps %s', (text, stepped) => {
  const code = `struct S { int x; };\n__global__ void k(int *p, int n, S s) { p[1] = ${text}; }\n`;
  const program = loadProgram(['/p/a.cu'], { realPath: (path) => (path === '/p/a.cu' ? path : null), readFile: () => new TextEncoder().encode(code) });
  const body = [...program.units.values()][0]?.kernels[0]?.body ?? null;
  if (body === null) throw new Error('no kernel');
  const targets: string[] = [];
  let opaque = false;
  walk(body, (node) => {
    if (node.kind === 'update') targets.push(code.slice(node.target.span.start, node.target.span.end));
    opaque ||= node.kind === 'opaque';
  });
  expect({ targets, opaque }).toEqual({ targets: [stepped], opaque: false });
});

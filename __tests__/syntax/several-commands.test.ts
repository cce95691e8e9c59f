/** A file that is compiled twice with other macros: none of the builds is the only one. */
import { expect, test } from '@jest/globals';
import { parseCompileCommands } from '../../src/source/index.js';
import { ambiguousNames } from '../../src/syntax/ambiguous-names.js';
import { initParser, loadProgram } from '../../src/syntax/index.js';

const TEXT = '#ifdef BIG\ntypedef unsigned S;\n#else\ntypedef int S;\n#endif\n__global__ void k(T *o, S n) { STEP(n); o[0] = SAME; }\n';

async function names(flags: readonly string[], given: Readonly<Record<string, string>> = {}): Promise<Readonly<Record<string, string>>> {
  await initParser();
  const compileCommands = parseCompileCommands(JSON.stringify(flags.map((line) => ({ directory: '/p', file: 'k.cu', command: `nvcc ${line} -c k.cu` }))));
  const program = loadProgram(['/p/k.cu'], { compileCommands, defines: given, realPath: (path) => (path === '/p/k.cu' ? path : null), readFile: () => new TextEncoder().encode(TEXT) });
  const unit = program.units.get('/p/k.cu');
  if (unit === undefined) throw new Error('no unit');
  const found = ambiguousNames(unit, program);
  return Object.fromEntries(['T', 'STEP', 'SAME', 'S', 'BIG'].flatMap((name) => { const one = found?.named(name) ?? null; return one === null ? [] : [[name, one.text]]; }));
}

test('macros that differ are in doubt, whichever command comes first', async () => {
  const one = "-DT=int -D'STEP(x)=(void)x' -DSAME=1 -DBIG";
  const two = "-DT=unsigned -D'STEP(x)=++x' -DSAME=1 -DBIG";
  expect(await names([one, two])).toEqual({
    T: 'T is `int` in one compile command of k.cu and `unsigned` in another one', STEP: 'STEP is `(void)x` in one compile command of k.cu and `++x` in another one',
  });
  expect(Object.keys(await names([two, one]))).toEqual(['T', 'STEP']);
  expect(await names([one, one])).toEqual({});
});

test('arms that such a macro decides are no longer certain', async () => {
  const same = "-DT=int -D'STEP(x)=(void)x' -DSAME=1";
  expect(Object.keys(await names([`${same} -DBIG`, same]))).toEqual(['S', 'BIG']);
  expect(Object.keys(await names([same, `${same} -DBIG`]))).toEqual(['S', 'BIG']);
  expect(await names([`${same} -DBIG`, `${same} -DBIG`])).toEqual({});
});

test('what the user says holds', async () => {
  expect(await names(['-DT=int -DSAME=1 -DBIG', '-DT=unsigned -DSAME=1 -DBIG'], { T: 'int' })).toEqual({});
});

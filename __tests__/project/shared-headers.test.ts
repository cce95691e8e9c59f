/** A header that several files include is one text that each of them may mean otherwise by what stands in front of the include. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Project, type ProjectOptions } from '../../src/project/project.js';
import { initParser } from '../../src/syntax/parser.js';
import { temporaryFolder } from '../helpers/temporary.js';

beforeAll(async () => {
  await initParser();
});

type Files = Readonly<Record<string, string>>;

function folder(files: Files): string {
  const made = temporaryFolder('divmod-shared-');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

async function applied(cwd: string, include: readonly string[], settings: ProjectOptions['settings'] = {}): Promise<Project> {
  const project = await Project.open({ include, cwd, settings });
  project.apply(['hoist', 'peel'], { evenIfItLoses: true });
  return project;
}

/** A kernel whose loop holds a test that hoist or peel takes out, if the rest of the text lets it. */
function kernel({ test: condition = 'lim > 2', before = 'int lim = m;', inside = '' }: { readonly test?: string; readonly before?: string; readonly inside?: string } = {}): string {
  return `__global__ void sum(float *o, const float *in, int n, int m) {
    float s = 0.f;
    ${before}
    for (int j = 0; j < n; ++j) {
        if (${condition}) s += in[j]; else s -= 2.f * in[j];
        ${inside}
    }
    o[threadIdx.x] = s;
}
`;
}

interface Case {
  readonly header: string;
  readonly a: string;
  readonly b: string;
  /** Files besides. */
  readonly more?: Files;
  /** The name that the refusal speaks of. */
  readonly name: string;
}

const STEP = kernel({ inside: 'STEP(lim);' });

const DIFFERENT: Readonly<Record<string, Case>> = {
  'a macro that is a type': { header: kernel({ before: 'T lim = m;', test: 'j - 1 < lim' }), a: '#define T int\n', b: '#define T unsigned\n', name: 'T' },
  'a typedef': { header: kernel({ before: 'T lim = m;', test: 'j - 1 < lim' }), a: 'typedef int T;\n', b: 'typedef unsigned T;\n', name: 'T' },
  'an alias of the same text, of a type that differs': { header: kernel({ before: 'Size lim = m;', test: 'j - 1 < lim' }), a: 'typedef int Base;\nusing Size = Base;\n', b: 'typedef unsigned Base;\nusing Size = Base;\n', name: 'Size' },
  'an alias of the same text, made of a macro that differs': { header: kernel({ before: 'Size lim = m;', test: 'j - 1 < lim' }), a: '#define BASE int\nusing Size = BASE;\n', b: '#define BASE unsigned\nusing Size = BASE;\n', name: 'Size' },
  'a constant': { header: kernel({ test: 'j + R < m && j + R >= 0' }), a: 'const int R = 2;\n', b: 'const int R = -2;\n', name: 'R' },
  'an enumerator': { header: kernel({ test: 'j - 1 < LIMIT' }), a: 'enum { ZERO, ONE, LIMIT };\n', b: 'enum { ZERO, ONE = 7, LIMIT };\n', name: 'LIMIT' },
  'a constant that one file lacks': { header: `const int R = 3;\nnamespace w {\n${kernel({ test: 'j < R' })}}\n`, a: '', b: 'namespace w { const int R = 2; }\n', name: 'R' },
  'a using-directive': { header: `namespace p { const int K = 2; }\n#include "use.cuh"\n${kernel({ test: 'j < K' })}`, a: '', b: '#include "use.cuh"\nconst int L = 3;\nnamespace p { const int K = 2; }\nusing namespace p;\n', more: { 'use.cuh': '#pragma once\n' }, name: 'K' },
  'a function': { header: kernel({ inside: 'upd(lim);' }), a: '__device__ void upd(int) {}\n', b: '__device__ void upd(int &x) { ++x; }\n', name: 'upd' },
  'one more overload': { header: `__device__ inline void upd(float) {}\n${kernel({ inside: 'upd(lim);' })}`, a: '', b: '__device__ void upd(int &x) { ++x; }\n', name: 'upd' },
  'a function of the same text that calls another': { header: kernel({ inside: 'upd(lim);' }), a: '__device__ void in(int) {}\n__device__ void upd(int &x) { in(x); }\n', b: '__device__ void in(int &x) { ++x; }\n__device__ void upd(int &x) { in(x); }\n', name: 'upd' },
  'an operator': { header: `struct V { int v; };\n${kernel({ before: 'int lim = m; V x{1};', inside: 'x << lim;' })}`, a: '', b: 'struct V;\n__device__ void operator<<(V &, int &x);\n', name: 'operator<<' },
  'a macro that is a statement': { header: STEP, a: '#define STEP(x) (void)(x)\n', b: '#define STEP(x) ++x\n', name: 'STEP' },
  'a macro that is a condition': { header: kernel({ test: 'COND(lim)' }), a: '#define COND(x) ((x) < 3)\n', b: '#define COND(x) ((x) < 3 || s > 9.f)\n', name: 'COND' },
  'a macro that one file does not define': { header: `#ifndef STEP\n#define STEP(x) (void)(x)\n#endif\n${STEP}`, a: '', b: '#define STEP(x) ++x\n', name: 'STEP' },
  'a macro that one file undefines': { header: `#ifndef STEP\n#define STEP(x) (void)(x)\n#endif\n${STEP}`, a: '#define STEP(x) ++x\n#undef STEP\n', b: '#define STEP(x) ++x\n', name: 'STEP' },
  'a macro that one file defines anew': { header: STEP, a: '#define STEP(x) ++x\n#undef STEP\n#define STEP(x) (void)(x)\n', b: '#define STEP(x) ++x\n', name: 'STEP' },
  'a macro through another': { header: STEP, a: '#define STEP(x) ONE(x)\n#define ONE(x) (void)(x)\n', b: '#define STEP(x) ONE(x)\n#define ONE(x) ++x\n', name: 'STEP' },
  'a macro of a header of its own, made of one that differs': { header: `#define STEP(x) ONE(x)\n${STEP}`, a: '#define ONE(x) (void)(x)\n', b: '#define ONE(x) ++x\n', name: 'STEP' },
  'an arm of #if in the kernel': { header: kernel({ inside: '\n#ifdef COUNTED\n        ++lim;\n#endif\n' }), a: '', b: '#define COUNTED\n', name: 'COUNTED' },
  'a function of an arm of #if': { header: `#ifdef BYREF\n__device__ inline void upd(int &x) { ++x; }\n#else\n__device__ inline void upd(int) {}\n#endif\n${kernel({ inside: 'upd(lim);' })}`, a: '', b: '#define BYREF\n', name: 'upd' },
  'a macro of a header between them': { header: STEP, a: '#include "config.cuh"\n', b: '#define DEBUG\n#include "config.cuh"\n', more: { 'config.cuh': '#pragma once\n#ifdef DEBUG\n#define STEP(x) ++x\n#else\n#define STEP(x) (void)(x)\n#endif\n' }, name: 'STEP' },
  'a qualifier': { header: kernel({ inside: 'upd(lim);' }) + 'KIND void upd(int);\n', a: '__device__ void upd(int) {}\n#define KIND __device__\n', b: '#define KIND static __device__\n__device__ void upd(int &x) { ++x; }\n', name: 'upd' },
};

const INCLUDE = '#include "k.cuh"\n';

describe('what differs in front of the include', () => {
  for (const [what, { header, a, b, more, name }] of Object.entries(DIFFERENT)) {
    test(`${what}: no edit, whichever file comes first`, async () => {
      const cwd = folder({ 'k.cuh': header, 'a.cu': a + INCLUDE, 'b.cu': b + INCLUDE, ...more });
      for (const include of [['a.cu', 'b.cu'], ['b.cu', 'a.cu'], ['.'], ['a.cu', 'b.cu', 'k.cuh']]) {
        const project = await applied(cwd, include);
        expect([include, project.diff()]).toEqual([include, '']);
        const told = [...project.sites('hoist'), ...project.sites('peel')].flatMap(({ refusals }) => refusals.filter(({ id }) => id === 'same-for-includers'))[0];
        // A body that is not the same text for all holds no site: the run says why.
        const lost = project.apply(['hoist'], { evenIfItLoses: true }).notUnderstood.map(({ message }) => message).find((message) => message.includes('not the same for all'));
        const text = told?.text ?? lost ?? '';
        expect([include, text]).toEqual([include, expect.stringMatching(new RegExp(`${name} is `))]);
        expect(text).toMatch(/a\.cu(?::\d+| itself)/);
        expect(text).toMatch(/b\.cu(?::\d+| itself)/);
        if (told !== undefined) expect(told.remedy).toContain(`give ${name} one meaning for all who include k.cuh`);
      }
    });

    test(`${what}: no edit either if one of the files was not given`, async () => {
      const cwd = folder({ 'k.cuh': header, 'a.cu': a + INCLUDE, 'b.cu': b + INCLUDE, ...more });
      for (const include of [['a.cu'], ['b.cu'], ['k.cuh']]) expect([include, (await applied(cwd, include)).diff()]).toEqual([include, '']);
    });
  }

  test('an edit is what the other file alone would allow or not: with the grant only what was given counts', async () => {
    const { header, a, b } = DIFFERENT['a macro that is a statement'] ?? { header: '', a: '', b: '' };
    const cwd = folder({ 'k.cuh': header, 'a.cu': a + INCLUDE, 'b.cu': b + INCLUDE });
    expect((await applied(cwd, ['a.cu'], { allow: ['all-launches-visible'] })).diff()).toContain('if (lim > 2)');
    expect((await applied(cwd, ['b.cu'], { allow: ['all-launches-visible'] })).diff()).toBe('');
    const site = (await applied(cwd, ['a.cu'])).sites('hoist')[0];
    expect(site?.refusals.map(({ id, text, remedy }) => [id, text, remedy])).toEqual([[
      'same-for-includers', 'STEP is `(void)(x)` where a.cu:2 includes this file, and `++x` where b.cu:2 does',
      'give STEP one meaning for all who include k.cuh, or --allow all-launches-visible if no file but those given is built',
    ]]);
  });

  test('through a header, and twice in one file', async () => {
    const through = folder({ 'k.cuh': STEP, 'h.cuh': INCLUDE, 'a.cu': '#define STEP(x) (void)(x)\n#include "h.cuh"\n', 'b.cu': '#define STEP(x) ++x\n#include "h.cuh"\n' });
    const twice = folder({ 'k.inc': STEP.replace('sum', 'NAME'), 'a.cu': '#define NAME one\n#define STEP(x) (void)(x)\n#include "k.inc"\n#undef NAME\n#undef STEP\n#define NAME two\n#define STEP(x) ++x\n#include "k.inc"\n' });
    for (const [cwd, include] of [[through, ['a.cu', 'b.cu']], [through, ['b.cu', 'a.cu']], [through, ['a.cu']], [twice, ['a.cu']], [twice, ['.']]] as const) expect([include, (await applied(cwd, include)).diff()]).toEqual([include, '']);
  });

  test('an include inside of braces', async () => {
    const header = kernel({ test: 'j + R < m && j + R >= 0' });
    for (const text of [`const int R = 3;\nnamespace w {\nconst int R = -2;\n${INCLUDE}}\n`, `const int R = 3;\nnamespace w { const int R = -2; }\nnamespace w::v {\n#include "h.cuh"\n}\n`, `const int R = 3;\nstruct S {\nenum { R = -2 };\n${INCLUDE}};\n`]) {
      const cwd = folder({ 'k.cuh': header, 'h.cuh': INCLUDE, 'a.cu': text });
      const project = await applied(cwd, ['a.cu']);
      expect([text, project.diff()]).toEqual([text, '']);
      expect(project.sites('peel').flatMap(({ refusals }) => refusals.filter(({ id }) => id === 'same-for-includers').map((one) => one.text))[0]).toMatch(/^R is looked up (?:in namespace w|between the braces) first, inside of which a\.cu:\d includes this file$/);
    }
    for (const text of [`extern "C" {\n${INCLUDE}}\n`, `namespace {\nconst int Q = 2;\n${INCLUDE}}\n`, `namespace w {\nconst int Q = 2;\n${INCLUDE}}\n`, `void f() {}\n${INCLUDE}`]) {
      const cwd = folder({ 'k.cuh': kernel(), 'a.cu': text });
      expect((await applied(cwd, ['a.cu'])).diff()).toMatch(/^\+ {4}if \(lim > 2\)/m);
    }
  });

  test('options of the command line', async () => {
    const cwd = folder({ 'k.cuh': `#ifndef STEP\n#define STEP(x) (void)(x)\n#endif\n${STEP}`, 'a.cu': INCLUDE, 'b.cu': INCLUDE });
    const commands = (b: string): string => {
      const path = join(cwd, 'compile_commands.json');
      writeFileSync(path, JSON.stringify([{ directory: cwd, file: 'a.cu', arguments: ['nvcc', 'a.cu'] }, { directory: cwd, file: 'b.cu', arguments: ['nvcc', ...(b === '' ? [] : [b]), 'b.cu'] }]));
      return path;
    };
    for (const include of [['a.cu', 'b.cu'], ['b.cu', 'a.cu'], ['a.cu']]) {
      expect((await applied(cwd, include, { compileCommands: commands('-DSTEP(x)=++x') })).diff()).toBe('');
      expect((await applied(cwd, include, { compileCommands: commands('') })).diff()).toContain('if (lim > 2)');
    }
  });
});

describe('what is the same', () => {
  const PLAIN = kernel();
  const same: Readonly<Record<string, Files>> = {
    'nothing in front': { 'a.cu': INCLUDE, 'b.cu': INCLUDE },
    'guards, and the header included again': { 'k.cuh': `#ifndef K_H\n#define K_H\n${PLAIN}#endif\n`, 'h.cuh': '#pragma once\n#include "k.cuh"\n', 'a.cu': INCLUDE + INCLUDE, 'b.cu': `#include "h.cuh"\n${INCLUDE}` },
    'the same macro in both': { 'k.cuh': STEP, 'a.cu': `#define STEP(x)  (void)(x)\n${INCLUDE}`, 'b.cu': `#define STEP(x) (void)(x) // nothing\n${INCLUDE}` },
    'the same types in both': { 'k.cuh': kernel({ before: 'T lim = m;' }), 'a.cu': `typedef int T;\n${INCLUDE}`, 'b.cu': `typedef  int  T;\n${INCLUDE}` },
    'a common header': { 'k.cuh': kernel({ before: 'T lim = m;' }), 't.cuh': '#pragma once\ntypedef int T;\n', 'a.cu': `#include "t.cuh"\n${INCLUDE}`, 'b.cu': `#define OTHER 2\n#include "t.cuh"\n${INCLUDE}` },
    'names that the header has of its own': { 'a.cu': `static int s, lim; const int m = 3;\n${INCLUDE}`, 'b.cu': `static float s; double j(int);\n${INCLUDE}` },
    'members and names behind the include': { 'k.cuh': `struct P { int x; };\n${kernel({ before: 'P p; p.x = m; int lim = p.x;' })}`, 'a.cu': `const int x = 2;\n${INCLUDE}#define lim 3\n`, 'b.cu': `const int x = 4;\n${INCLUDE}int p;\n` },
    'a declaration of what the header defines': { 'k.cuh': `__device__ inline void upd(int) {}\n${kernel({ inside: 'upd(lim);' })}`, 'a.cu': `__device__ void upd(int);\n${INCLUDE}`, 'b.cu': INCLUDE },
    'a macro that the header defines itself': { 'k.cuh': `#undef STEP\n#define STEP(x) (void)(x)\n${STEP}`, 'a.cu': `#define STEP(x) ++x\n${INCLUDE}`, 'b.cu': INCLUDE },
  };
  for (const [what, files] of Object.entries(same)) {
    test(`${what}: the edit is made in every order`, async () => {
      const cwd = folder({ 'k.cuh': PLAIN, ...files });
      const [first, second] = [await applied(cwd, ['a.cu', 'b.cu']), await applied(cwd, ['b.cu', 'a.cu'])];
      expect(first.diff()).toMatch(/^\+ {4}if \(lim > 2\)/m);
      expect(second.diff()).toBe(first.diff());
      expect((await applied(cwd, ['a.cu'])).diff()).toBe(first.diff());
    });
  }
});

describe('audit', () => {
  const HEADER = `__global__ void pick(float *o) {
    int id = IDX;
    if (id == 3) o[threadIdx.x] = 1.f;
    if (blockIdx.y == 0) o[threadIdx.x] = 2.f;
}
`;

  test('a condition that another includer makes divergent is not called uniform', async () => {
    const cwd = folder({ 'k.cuh': HEADER, 'a.cu': `#define IDX blockIdx.x\n${INCLUDE}`, 'b.cu': `#define IDX threadIdx.x\n${INCLUDE}` });
    for (const include of [['.'], ['b.cu', 'a.cu', 'k.cuh'], ['k.cuh', 'a.cu', 'b.cu']]) {
      const project = await Project.open({ include, cwd });
      const audit = project.audit().find(({ path }) => path.endsWith('k.cuh'));
      expect(audit?.kernels.flatMap(({ branches }) => branches.map((branch) => [branch.line, branch.class]))).toEqual([[3, 'unknown'], [4, 'uniform']]);
      expect(audit?.kernels[0]?.kernel.problems.map(({ line, message }) => [line, /IDX is `\w+\.x` where [ab]\.cu:2 includes this file, and `\w+\.x` where [ab]\.cu:2 does/.test(message)])).toEqual([[2, true]]);
    }
  });

  test('a name in doubt is no function or constant of CUDA either', async () => {
    const header = '__global__ void pick(float *o, int n) {\n    if (__ldg(n) == 3) o[threadIdx.x] = 1.f;\n    if (INT_MAX > n) o[threadIdx.x] = 2.f;\n}\n';
    const cwd = folder({ 'k.cuh': header, 'a.cu': INCLUDE, 'b.cu': `__device__ inline int __ldg(int x) { return x + threadIdx.x; }\n__device__ int INT_MAX;\n${INCLUDE}` });
    for (const include of [['a.cu', 'b.cu', 'k.cuh'], ['b.cu', 'a.cu', 'k.cuh']]) {
      const project = await Project.open({ include, cwd });
      expect(project.audit().flatMap(({ kernels }) => kernels.flatMap(({ branches }) => branches.map((branch) => [branch.line, branch.class])))).toEqual([[2, 'unknown'], [3, 'unknown']]);
    }
  });

  test('a number that differs is the same for all threads', async () => {
    const cwd = folder({ 'k.cuh': HEADER, 'a.cu': `#define IDX 16\n${INCLUDE}`, 'b.cu': `#define IDX (16 * 2)\n${INCLUDE}` });
    const project = await Project.open({ include: ['.'], cwd });
    const audit = project.audit().find(({ path }) => path.endsWith('k.cuh'));
    expect(audit?.kernels.flatMap(({ branches }) => branches.map((branch) => [branch.line, branch.class]))).toEqual([[3, 'uniform'], [4, 'uniform']]);
  });

  test('kernels of a header that was not given are counted', async () => {
    const cwd = folder({ 'k.cuh': kernel(), 'a.cu': INCLUDE });
    const project = await Project.open({ include: ['a.cu'], cwd });
    expect(project.audit().flatMap(({ kernels }) => kernels)).toEqual([]);
    expect([...project.kernelsBeside].map(([path, count]) => [path.slice(cwd.length - path.length), count])).toEqual([['/k.cuh', 1]]);
    expect(project.apply(['hoist'], { evenIfItLoses: true }).kernels).toBe(1);
  });
});

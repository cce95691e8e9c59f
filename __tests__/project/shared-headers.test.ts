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

describe('what stands behind the include', () => {
  /** A template with a loop that tests `lim`, which `inside` may change by what an instance finds. */
  const loop = (inside: string): string => `template <class Q>
__device__ inline float walk(const float *in, int n, Q q, int lim) {
    float s = 0.f;
    for (int j = 0; j < n; ++j) {
        if (lim > 2) s += in[j]; else s -= 2.f * in[j];
        ${inside}
    }
    return s;
}
`;
  const use = (q: string): string => `__global__ void go(float *o, const float *in, int n, int m) { o[threadIdx.x] = walk(in, n, ${q}, m); }\n`;
  const TAG = 'namespace lib { struct Tag { int v; }; }\n';
  const TOUCH = 'template <class Q> struct Touch { static __device__ void it(Q) {} __device__ void at(Q) const {} static constexpr int width = 2; };\n';

  interface Late { readonly header: string; readonly a: string; readonly b: string; readonly more?: Files; readonly name: string }
  const LATE: Readonly<Record<string, Late>> = {
    'overloads that the arguments lead to': { header: TAG + loop('touch(q, lim);'), a: `namespace lib { __device__ inline void touch(Tag, int) {} }\n${use('lib::Tag{1}')}`, b: `namespace lib { __device__ inline void touch(Tag, int &x) { ++x; } }\n${use('lib::Tag{1}')}`, name: 'touch' },
    'one more overload beside that of the header': { header: `template <class Q> __device__ void touch(Q, int) {}\n${TAG}${loop('touch(q, lim);')}`, a: use('lib::Tag{1}'), b: `namespace lib { __device__ inline void touch(Tag, int &x) { ++x; } }\n${use('lib::Tag{1}')}`, name: 'touch' },
    'an overload of the global scope': { header: `struct Tag { int v; };\n${loop('touch(q, lim);')}`, a: `__device__ inline void touch(Tag, int x) { ++x; }\n${use('Tag{1}')}`, b: `__device__ inline void touch(Tag, int &x) { ++x; }\n${use('Tag{1}')}`, name: 'touch' },
    'an overload of a header behind': { header: `template <class Q> __device__ void touch(Q, int) {}\n${TAG}${loop('touch(q, lim);')}`, a: use('lib::Tag{1}'), b: `#include "tag.cuh"\n${use('lib::Tag{1}')}`, more: { 'tag.cuh': '#pragma once\nnamespace lib { __device__ inline void touch(Tag, int &x) { ++x; } }\n' }, name: 'touch' },
    'an overload of the same text that calls another': { header: TAG + loop('touch(q, lim);'), a: `__device__ void deep(int) {}\nnamespace lib { __device__ inline void touch(Tag, int &x) { deep(x); } }\n${use('lib::Tag{1}')}`, b: `__device__ void deep(int &x) { ++x; }\nnamespace lib { __device__ inline void touch(Tag, int &x) { deep(x); } }\n${use('lib::Tag{1}')}`, name: 'touch' },
    'an operator': { header: `struct Tag { int v; };\n${loop('q << lim;')}`, a: `__device__ inline void operator<<(Tag, int x) { ++x; }\n${use('Tag{1}')}`, b: `__device__ inline void operator<<(Tag, int &x) { ++x; }\n${use('Tag{1}')}`, name: 'operator<<' },
    'an operator of assignment': { header: `struct Tag { int v; };\n${loop('q += lim;')}`, a: use('1'), b: `__device__ inline void operator+=(Tag, int &x) { ++x; }\n${use('Tag{1}')}`, name: 'operator\\+=' },
    'a friend': { header: `template <class Q> __device__ void touch(Q, int) {}\n${loop('touch(q, lim);')}`, a: use('1'), b: `struct Tag { int v; friend __device__ void touch(Tag, int &x) { ++x; } };\n${use('Tag{1}')}`, name: 'touch' },
    'a specialised class': { header: TOUCH + loop('Touch<Q>::it(lim);'), a: use('1'), b: `template <> struct Touch<int> { static __device__ void it(int &x) { ++x; } };\n${use('1')}`, name: 'Touch' },
    'a class specialised in part': { header: TOUCH + loop('Touch<Q>::it(lim);'), a: use('&o'), b: `template <class P> struct Touch<P *> { static __device__ void it(int &x) { ++x; } };\n${use('&o')}`, name: 'Touch' },
    'a member of a class, specialised': { header: TOUCH + loop('Touch<Q>::it(lim);'), a: use('1'), b: `template <> __device__ void Touch<int>::it(int) { asm volatile("bar.sync 0;"); }\n${use('1')}`, name: 'it' },
    'a method, specialised': { header: TOUCH + loop('Touch<Q> t; t.at(lim);'), a: use('1'), b: `template <> __device__ void Touch<int>::at(int) const { asm volatile("bar.sync 0;"); }\n${use('1')}`, name: 'at' },
    'a specialised function': { header: `template <class Q> __device__ void touch(Q) {}\n${loop('touch<Q>(lim);')}`, a: use('1'), b: `template <> __device__ void touch<int>(int) { asm volatile("bar.sync 0;"); }\n${use('1')}`, name: 'touch' },
    'a function of the header that calls on': { header: `__device__ int bound;\n${TAG}template <class Q> __device__ void pass(Q q) { touch(q); }\n${loop('pass(q);').replace('lim > 2', 'bound > 2')}`, a: `namespace lib { __device__ inline void touch(Tag) {} }\n${use('lib::Tag{1}')}`, b: `namespace lib { __device__ inline void touch(Tag) { ++bound; } }\n${use('lib::Tag{1}')}`, name: 'touch' },
    'a parameter of type auto': { header: `struct Tag { int v; };\n${loop('touch(q, lim);').replace('template <class Q>\n', '').replace('Q q', 'auto q')}`, a: `__device__ inline void touch(Tag, int x) { ++x; }\n${use('Tag{1}')}`, b: `__device__ inline void touch(Tag, int &x) { ++x; }\n${use('Tag{1}')}`, name: 'touch' },
  };
  for (const [what, { header, a, b, more, name }] of Object.entries(LATE)) {
    test(`${what}: no edit, whatever was given`, async () => {
      const cwd = folder({ 'k.cuh': `#pragma once\n${header}`, 'a.cu': INCLUDE + a, 'b.cu': INCLUDE + b, ...more });
      const told: string[] = [];
      for (const include of [['a.cu', 'b.cu'], ['b.cu', 'a.cu'], ['.'], ['a.cu'], ['b.cu'], ['k.cuh']]) {
        const project = await applied(cwd, include);
        expect([include, project.diff()]).toEqual([include, '']);
        told.push(...project.sites('hoist').flatMap(({ refusals }) => refusals.filter(({ id }) => id === 'same-for-includers').map(({ text }) => text)));
      }
      expect(told[0] ?? '').toMatch(new RegExp(`^${name} is `));
    });
  }

  const SAME: Readonly<Record<string, Late>> = {
    'overloads that numbers do not lead to': { header: `template <class Q> __device__ void touch(Q, int) {}\n${loop('touch(q, 1);').replace('Q q', 'int q')}`, a: '', b: '__device__ inline void touch(int, int &x) { ++x; }\n', name: '' },
    'overloads of a name that only text outside of templates calls': { header: `struct Tag { int v; };\n__device__ inline void touch(Tag) {}\n__device__ inline void other(Tag t) { touch(t); }\n${loop('')}`, a: '', b: 'struct More : Tag {};\n__device__ inline void touch(More) { asm volatile("bar.sync 0;"); }\n', name: '' },
    'a specialisation of another template': { header: loop(''), a: '', b: 'template <class Q> struct Own { int v; };\ntemplate <> struct Own<int> { int w; };\n', name: '' },
    'the same overload in both': { header: `${TAG}template <class Q> __device__ void touch(Q, int) {}\n${loop('touch(1, 2);')}`, a: 'namespace lib { __device__ inline void touch(Tag, int &x) { ++x; } }\n', b: 'namespace lib { __device__ inline void touch(Tag, int &x) { ++x; } }\n', name: '' },
    'an overload by the scope that is named': { header: `namespace lib { struct Tag { int v; }; template <class Q> __device__ void touch(Q, int) {} }\n${loop('lib::touch(q, 2);')}`, a: '', b: 'struct Mine { int v; };\n__device__ inline void touch(Mine, int &x) { ++x; }\n', name: '' },
  };
  for (const [what, { header, a, b }] of Object.entries(SAME)) {
    test(`${what}: the edit is made in every order`, async () => {
      const cwd = folder({ 'k.cuh': `#pragma once\n${header}`, 'a.cu': INCLUDE + a + use('1'), 'b.cu': INCLUDE + b + use('1') });
      const first = (await applied(cwd, ['a.cu', 'b.cu'])).diff();
      expect(first).toMatch(/^\+ {4}if \(lim > 2\)/m);
      for (const include of [['b.cu', 'a.cu'], ['a.cu'], ['b.cu']]) expect([include, (await applied(cwd, include)).diff()]).toEqual([include, first]);
    });
  }

  test('a condition of a template is not called uniform for what one of the files makes of it', async () => {
    const header = 'struct Tag { int v; };\ntemplate <class Q> __global__ void pick(float *o, Q q) {\n    if (index(q) == 3) o[threadIdx.x] = 1.f;\n    if (blockIdx.y == 0) o[threadIdx.x] = 2.f;\n}\n';
    const file = (at: string): string => `${INCLUDE}__device__ inline int index(Tag) { return ${at}.x; }\nvoid go(float *o) { pick<<<2, 64>>>(o, Tag{1}); }\n`;
    const cwd = folder({ 'k.cuh': header, 'a.cu': file('blockIdx'), 'b.cu': file('threadIdx') });
    for (const include of [['a.cu', 'b.cu', 'k.cuh'], ['b.cu', 'a.cu', 'k.cuh'], ['.']]) {
      const audit = (await Project.open({ include, cwd })).audit().find(({ path }) => path.endsWith('k.cuh'));
      expect([include, audit?.kernels.flatMap(({ branches }) => branches.map((branch) => [branch.line, branch.class]))]).toEqual([include, [[3, 'unknown'], [4, 'uniform']]]);
    }
  });
});

describe('what is built besides', () => {
  const commands = (cwd: string, list: readonly (readonly [string, ...string[]])[]): string => {
    const path = join(cwd, 'compile_commands.json');
    writeFileSync(path, JSON.stringify(list.map(([file, ...options]) => ({ directory: cwd, file, arguments: ['nvcc', ...options, file] }))));
    return path;
  };

  test('another command of a file that was not given', async () => {
    const cwd = folder({ 'k.cuh': kernel({ test: 'lim > LIM' }), 'a.cu': INCLUDE, 'b.cu': INCLUDE });
    for (const [second, edited] of [['-DLIM=lim++', false], ['-DLIM=4', true]] as const) {
      const compileCommands = commands(cwd, [['a.cu', '-DLIM=4'], ['a.cu', second], ['b.cu', '-DLIM=4']]);
      for (const include of [['b.cu'], ['a.cu'], ['a.cu', 'b.cu'], ['b.cu', 'a.cu']]) {
        const project = await applied(cwd, include, { compileCommands });
        expect([include, second, /^\+ {4}if \(lim > LIM\)/m.test(project.diff())]).toEqual([include, second, edited]);
      }
      if (edited) continue;
      const project = await applied(cwd, ['b.cu'], { compileCommands });
      expect(project.sites('hoist').flatMap(({ refusals }) => refusals.filter(({ id }) => id === 'same-for-includers').map(({ text }) => text))).toEqual([
        'LIM is `4` where b.cu:1 includes this file, and `lim++` where a.cu:1, by another compile command, does',
      ]);
    }
  });

  test('a source of the commands far from the header', async () => {
    const files = { 'lib/k.cuh': STEP, 'near/a.cu': '#define STEP(x) (void)(x)\n#include "k.cuh"\n', 'far/mid.cuh': '#pragma once\n#include "k.cuh"\n', 'far/b.cu': '#define STEP(x) ++x\n#include "mid.cuh"\n' };
    const cwd = folder(files);
    const both = commands(cwd, [['near/a.cu', '-I', join(cwd, 'lib')], ['far/b.cu', '-I', join(cwd, 'lib')]]);
    expect((await applied(cwd, ['near/a.cu'], { compileCommands: both })).diff()).toBe('');
    const one = commands(cwd, [['near/a.cu', '-I', join(cwd, 'lib')]]);
    expect((await applied(cwd, ['near/a.cu'], { compileCommands: one })).diff()).toMatch(/^\+ {4}if \(lim > 2\)/m);
  });

  test('what the edited function calls is something else for a file that was not given', async () => {
    const header = `__device__ int bound;\n__device__ inline void step() { STEP; }\n${kernel({ test: 'bound > 2', inside: 'step();' })}`;
    const cwd = folder({ 'k.cuh': header, 'a.cu': `#define STEP\n${INCLUDE}`, 'b.cu': `#define STEP ++bound\n${INCLUDE}` });
    for (const include of [['a.cu'], ['b.cu'], ['a.cu', 'b.cu'], ['b.cu', 'a.cu']]) expect([include, (await applied(cwd, include)).diff()]).toEqual([include, '']);
    const same = folder({ 'k.cuh': header, 'a.cu': `#define STEP\n${INCLUDE}`, 'b.cu': `#define STEP\n${INCLUDE}` });
    expect((await applied(same, ['a.cu'])).diff()).toMatch(/^\+ {4}if \(bound > 2\)/m);
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

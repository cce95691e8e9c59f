/** Types that a header declares are known where parameters, members and typedefs of the including file name them. */
import { describe, expect, it } from '@jest/globals';
import { initParser, loadProgram } from '../../src/syntax/index.js';

describe('included declarations', () => {
  it('resolves types of a header in signatures, members and typedefs that stand below the include', async () => {
    await initParser();
    const files = new Map<string, string>([
      ['/p/types.h', '#pragma once\ntypedef float2 pair_t;\nstruct Params { int n; float scale; };\n#if defined(HALF_STORAGE)\ntypedef half real;\n#else\ntypedef float real;\n#endif\n'],
      ['/p/k.cu', '#include "types.h"\ntypedef real* row_t;\nstruct Outer { Params inner; };\n__global__ void k(pair_t *p, Params q, row_t r, Outer o) { r[0] = p[0].x * q.scale * o.inner.scale; }\n'],
    ]);
    const program = loadProgram(['/p/k.cu'], {
      readFile: (path) => new TextEncoder().encode(files.get(path) ?? ''),
      realPath: (path) => (files.has(path) ? path : null),
    });
    const kernel = program.units.get('/p/k.cu')?.kernels[0];
    const [p, q, r, o] = kernel?.parameters.map((x) => x.type) ?? [];
    expect(p?.kind === 'pointer' && p.to.kind === 'record' ? p.to.decl.name : p).toBe('float2');
    expect(q?.kind === 'record' ? q.decl.name : q).toBe('Params');
    expect(r?.kind === 'pointer' ? r.to.kind : r).toBe('float');
    const inner = o?.kind === 'record' ? o.decl.fields[0]?.type : undefined;
    expect(inner?.kind === 'record' ? inner.decl.name : inner).toBe('Params');
  });

  it.each([['few', ''], ['many', `/*${'.'.repeat(8_200_000)}*/\n`]])('are judged alike with %s characters to read, whether bodies waited for their includers or not', async (_name, padding) => {
    await initParser();
    const files = new Map<string, string>([
      ['/p/step.h', '__device__ inline int step(int x) { return x + STEP; }\n__device__ inline int twice(int x) { return 2 * x; }\n'],
      ['/p/a.cu', `${padding}#define STEP 1\n#include "step.h"\n__global__ void a(int *o) { o[0] = step(1); }\n`],
      ['/p/b.cu', '#define STEP n\n__device__ int n;\n#include "step.h"\n__global__ void b(int *o) { o[0] = twice(step(1)); }\n'],
    ]);
    const program = loadProgram(['/p/a.cu', '/p/b.cu'], {
      readFile: (path) => new TextEncoder().encode(files.get(path) ?? ''),
      realPath: (path) => (files.has(path) ? path : null),
    });
    expect([...program.units].map(([path, unit]) => [path, unit.functions.map((fn) => fn.name), unit.functions.every((fn) => fn.body !== null)])).toEqual([
      ['/p/a.cu', ['a'], true], ['/p/step.h', ['step', 'twice'], true], ['/p/b.cu', ['b'], true],
    ]);
    const header = program.units.get('/p/step.h');
    expect([...header?.doubts?.file.macros.keys() ?? []]).toEqual(['STEP']);
    const body = header?.functions[0]?.body?.body[0];
    const sum = body?.kind === 'return' && body.value?.kind === 'binary' ? body.value.right : null;
    expect(sum).not.toBeNull();
    // Whatever STEP is read as, it is no number that one of the includers alone would see.
    expect(sum?.kind === 'ref' ? sum.decl : null).toBeNull();
    expect(sum?.kind).not.toBe('literal');
  });
});

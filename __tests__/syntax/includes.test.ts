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
});

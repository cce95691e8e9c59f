import { describe, expect, test } from '@jest/globals';
import { allBuiltins, builtin, isBuiltin } from '../../src/cuda/builtins.js';

describe('the table of built-ins', () => {
  test('knows the names that kernels use and no others', () => {
    for (const name of ['sqrtf', 'sin', '__expf', 'std::max', '::min', '__fmul_rn', '__float2int_rn', '__popcll', '__shfl_down_sync', '__ballot', 'atomicAdd_block', '__ldg', 'make_float4', '__half2float', 'printf', '__syncthreads_or']) {
      expect([name, isBuiltin(name)]).toEqual([name, true]);
    }
    for (const name of ['foo', 'std::atomicAdd', 'std::foo', 'mystd::max', '__shfl_up_down', 'sqrtg']) expect([name, isBuiltin(name)]).toEqual([name, false]);
  });

  test('collectives carry their mask, legacy forms have none', () => {
    expect(builtin('__shfl_sync')).toMatchObject({ mask: 0, collective: 'warp', legacy: false, optional: 1, scope: { kind: 'shuffle', value: 1, lane: 2, width: 3 } });
    expect(builtin('__shfl')).toMatchObject({ mask: null, collective: 'warp', legacy: true, scope: { kind: 'shuffle', value: 0, lane: 1, width: 2 } });
    expect(builtin('__syncwarp')).toMatchObject({ barrier: 'warp', mask: 0, optional: 1 });
    expect(builtin('__syncthreads')).toMatchObject({ barrier: 'block', collective: 'block' });
    expect(builtin('__syncthreads_count')).toMatchObject({ barrier: 'block', scope: { kind: 'fixed', scope: 'block' } });
    expect(builtin('__activemask')).toMatchObject({ collective: 'warp-query', scope: { kind: 'fixed', scope: 'lane' } });
  });

  test('every entry is consistent', () => {
    let count = 0;
    for (const b of allBuiltins()) {
      count++;
      expect(b.optional).toBeLessThanOrEqual(b.parameters.length);
      if (b.mask !== null) expect([b.name, b.collective]).toEqual([b.name, 'warp']);
      if (b.collective !== null || b.atomic || b.writes.length > 0 || b.output !== null || b.fence !== null || b.volatile) expect([b.name, b.pure]).toEqual([b.name, false]);
      for (const index of [...b.reads, ...b.writes]) expect(index).toBeLessThan(b.parameters.length);
      if (b.result.kind === 'argument' || b.result.kind === 'pointee') expect(b.result.index).toBeLessThan(b.parameters.length);
      expect(b.cost).toBeGreaterThanOrEqual(0);
    }
    expect(count).toBeGreaterThan(600);
  });

  test('cost weights follow the static model', () => {
    expect(builtin('sinf')?.cost).toBe(40);
    expect(builtin('__sinf')?.cost).toBe(2);
    expect(builtin('sqrtf')?.cost).toBe(9);
    expect(builtin('__fadd_rn')?.cost).toBe(1);
  });
});

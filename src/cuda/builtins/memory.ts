/** Atomics, loads and stores with a cache hint, device-side memory functions, surfaces and textures. */
import { define, type Builtin, type ScopeRule } from './model.js';

export function memoryBuiltins(): Builtin[] {
  const table: Builtin[] = [];
  const lane: ScopeRule = { kind: 'fixed', scope: 'lane' };
  const pointee = { kind: 'pointee', index: 0 } as const;
  for (const scope of ['', '_block', '_system']) {
    for (const op of ['Add', 'Sub', 'Exch', 'Min', 'Max', 'Inc', 'Dec', 'And', 'Or', 'Xor']) {
      table.push(define(`atomic${op}${scope}`, 'atomic', ['pointer', { pointee: 0 }], pointee, 4, { scope: lane, pure: false, reads: [0], writes: [0], atomic: true, mayFault: true }));
    }
    table.push(define(`atomicCAS${scope}`, 'atomic', ['pointer', { pointee: 0 }, { pointee: 0 }], pointee, 4, { scope: lane, pure: false, reads: [0], writes: [0], atomic: true, mayFault: true }));
  }
  table.push(define('__ldg', 'memory', ['pointer'], pointee, 1, { scope: { kind: 'load', address: 0 }, pure: false, reads: [0], mayFault: true }));
  for (const hint of ['ca', 'cg', 'cs', 'lu']) {
    table.push(define(`__ld${hint}`, 'memory', ['pointer'], pointee, 1, { scope: { kind: 'load', address: 0 }, pure: false, reads: [0], mayFault: true }));
  }
  table.push(define('__ldcv', 'memory', ['pointer'], pointee, 1, { scope: lane, pure: false, reads: [0], volatile: true, mayFault: true }));
  for (const hint of ['wb', 'cg', 'cs', 'wt']) {
    table.push(define(`__st${hint}`, 'memory', ['pointer', { pointee: 0 }], 'void', 1, { pure: false, writes: [0], mayFault: true }));
  }
  table.push(define('memcpy', 'memory', ['pointer', 'pointer', 'u64'], 'pointer', 20, { scope: { kind: 'unknown' }, pure: false, writes: [0], reads: [1], mayFault: true }));
  table.push(define('memset', 'memory', ['pointer', 'i32', 'u64'], 'pointer', 20, { scope: { kind: 'unknown' }, pure: false, writes: [0], mayFault: true }));
  table.push(define('malloc', 'memory', ['u64'], 'pointer', 100, { scope: lane, pure: false, volatile: true, mayFault: true }));
  table.push(define('free', 'memory', ['pointer'], 'void', 100, { pure: false, volatile: true, mayFault: true }));
  for (const space of ['Shared', 'Global', 'Local', 'Constant']) table.push(define(`__is${space}`, 'memory', ['pointer'], 'u32', 1));
  for (const space of ['shared', 'global', 'local', 'constant']) table.push(define(`__cvta_generic_to_${space}`, 'memory', ['pointer'], 'u64', 1));

  // Texture and surface reads: the object stands in for memory; contents are those of a load whose address is all the arguments.
  const read = (name: string, count: number): void => {
    table.push(define(name, 'texture', Array.from({ length: count }, () => 'any' as const), { kind: 'template' }, 2, { pure: false, reads: [0], scope: { kind: 'load', address: 0 } }));
  };
  for (const [name, count] of [
    ['tex1Dfetch', 2], ['tex1D', 2], ['tex2D', 3], ['tex3D', 4], ['tex1DLod', 3], ['tex2DLod', 4], ['tex3DLod', 5], ['tex1DGrad', 4], ['tex2DGrad', 5], ['tex1DLayered', 3],
    ['tex2DLayered', 4], ['tex2DLayeredLod', 5], ['texCubemap', 4], ['texCubemapLayered', 5], ['tex2Dgather', 4],
    ['surf1Dread', 2], ['surf2Dread', 3], ['surf3Dread', 4], ['surf2DLayeredread', 4],
  ] as const) {
    if (name.startsWith('surf')) {
      table.push(define(name, 'texture', [...Array.from({ length: count }, () => 'any' as const), 'any'], { kind: 'template' }, 2, { pure: false, reads: [0], optional: 1, scope: lane, mayFault: true }));
    } else read(name, count);
  }
  for (const [name, count] of [['surf1Dwrite', 3], ['surf2Dwrite', 4], ['surf3Dwrite', 5], ['surf2DLayeredwrite', 5]] as const) {
    table.push(define(name, 'texture', [...Array.from({ length: count }, () => 'any' as const), 'any'], 'void', 2, { pure: false, writes: [1], optional: 1, mayFault: true }));
  }
  return table;
}

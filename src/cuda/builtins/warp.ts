/** Warp intrinsics with and without `_sync`, block barriers and memory fences. */
import { define, type Builtin, type ParameterType, type ResultRule, type ScopeRule, type ValueType } from './model.js';

export function warpBuiltins(): Builtin[] {
  const table: Builtin[] = [];
  const named: ScopeRule = { kind: 'named-lanes' };
  const lane: ScopeRule = { kind: 'fixed', scope: 'lane' };

  /** A collective of a warp: `_sync` with the mask in front, and the legacy form without it where there was one. */
  const collective = (
    stem: string, parameters: readonly ParameterType[], result: (shift: number) => ResultRule | ValueType, scope: (shift: number) => ScopeRule,
    cost: number, optional: number, legacy: boolean,
  ): void => {
    table.push(define(`${stem}_sync`, 'warp', ['u32', ...parameters], result(1), cost, { scope: scope(1), pure: false, collective: 'warp', mask: 0, optional }));
    if (!legacy) return;
    table.push(define(stem, 'warp', parameters, result(0), cost, { scope: scope(0), pure: false, collective: 'warp', optional, legacy: true }));
  };
  const value = (shift: number): ResultRule => ({ kind: 'argument', index: shift });
  collective('__shfl', ['any', 'i32', 'i32'], value, (s) => ({ kind: 'shuffle', value: s, lane: s + 1, width: s + 2 }), 2, 1, true);
  for (const direction of ['up', 'down', 'xor']) {
    collective(`__shfl_${direction}`, ['any', direction === 'xor' ? 'i32' : 'u32', 'i32'], value, (s) => ({ kind: 'lane-shuffle', value: s, lane: s + 1, width: s + 2 }), 2, 1, true);
  }
  collective('__ballot', ['i32'], () => 'u32', () => named, 2, 0, true);
  collective('__any', ['i32'], () => 'i32', () => named, 2, 0, true);
  collective('__all', ['i32'], () => 'i32', () => named, 2, 0, true);
  collective('__uni', ['i32'], () => 'i32', () => named, 2, 0, false);
  collective('__match_any', ['any'], () => 'u32', () => lane, 8, 0, false);
  table.push(define('__match_all_sync', 'warp', ['u32', 'any', 'pointer'], 'u32', 4, { scope: named, pure: false, collective: 'warp', mask: 0, writes: [2] }));
  for (const op of ['add', 'min', 'max']) {
    table.push(define(`__reduce_${op}_sync`, 'warp', ['u32', 'any'], { kind: 'argument', index: 1 }, 2, { scope: named, pure: false, collective: 'warp', mask: 0 }));
  }
  for (const op of ['and', 'or', 'xor']) {
    table.push(define(`__reduce_${op}_sync`, 'warp', ['u32', 'u32'], 'u32', 2, { scope: named, pure: false, collective: 'warp', mask: 0 }));
  }
  table.push(define('__syncwarp', 'barrier', ['u32'], 'void', 1, { optional: 1, scope: { kind: 'fixed', scope: 'constant' }, pure: false, collective: 'warp', barrier: 'warp', mask: 0 }));
  table.push(define('__activemask', 'warp', [], 'u32', 1, { scope: lane, pure: false, collective: 'warp-query', volatile: true }));

  table.push(define('__syncthreads', 'barrier', [], 'void', 2, { scope: { kind: 'fixed', scope: 'constant' }, pure: false, collective: 'block', barrier: 'block' }));
  for (const op of ['count', 'and', 'or']) {
    table.push(define(`__syncthreads_${op}`, 'barrier', ['i32'], 'i32', 3, { scope: { kind: 'fixed', scope: 'block' }, pure: false, collective: 'block', barrier: 'block' }));
  }
  for (const [name, fence] of [['__threadfence', 'device'], ['__threadfence_block', 'block'], ['__threadfence_system', 'system']] as const) {
    table.push(define(name, 'fence', [], 'void', 4, { scope: { kind: 'fixed', scope: 'constant' }, pure: false, fence }));
  }
  return table;
}

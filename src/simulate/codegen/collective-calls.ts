/** Collectives: what the lanes of a warp, or the threads of a block, do together. */
import type { Builtin } from '../../cuda/builtins.js';
import type { Expr } from '../../syntax/tree.js';
import { BOOL, I32, pointerTo, U32, VOID, type SimType } from '../types.js';
import type { FunctionContext } from './context.js';
import { operands } from './expression.js';
import { convert, promoted, truth, type Val } from './operators.js';

type Call = Extract<Expr, { kind: 'call' }>;

export function collectiveCall(ctx: FunctionContext, e: Call, b: Builtin): Val {
  const site = ctx.compiler.site(ctx, e.span);
  if (b.collective === 'warp-query') {
    ctx.flush();
    return { t: U32, js: `(${ctx.mask}>>>0)` };
  }
  if (b.collective === 'block') return barrier(ctx, e, b, site);
  const values = operands(ctx, e.arguments);
  const at = (i: number): Val | undefined => values[i];
  const shift = b.mask === null ? 0 : 1;
  const keep = (v: Val | undefined, t: SimType): string => {
    if (v === undefined) return 'null';
    const array = ctx.array(t);
    ctx.lane(`${array}[l]=${t === BOOL ? truth(v) : convert(v, t)};`);
    return array;
  };
  // Without an argument `__syncwarp` names the whole warp.
  const mask = b.mask === null ? 'null' : keep(at(0) ?? (b.name === '__syncwarp' ? { t: U32, js: '4294967295' } : undefined), U32);
  const op = b.name.replace(/^__/, '').replace(/_sync$/, '');
  if (b.name === '__syncwarp') {
    finish(ctx, site, '"syncwarp"', mask, 'null', 'null', 'null', 'null');
    return { t: VOID, js: '' };
  }
  const value = at(shift);
  if (value === undefined) return ctx.unsupported(b.name, e.span);
  switch (op) {
    case 'ballot': case 'any': case 'all': case 'uni': {
      const result = ctx.array(op === 'ballot' ? U32 : I32);
      finish(ctx, site, JSON.stringify(op), mask, keep(value, BOOL), 'null', 'null', result);
      return { t: op === 'ballot' ? U32 : I32, js: `${result}[l]` };
    }
    case 'shfl': case 'shfl_up': case 'shfl_down': case 'shfl_xor': {
      const t = valueType(ctx, value, e);
      const result = ctx.array(t);
      finish(ctx, site, JSON.stringify(op), mask, keep(value, t), keep(at(shift + 1), I32), keep(at(shift + 2), I32), result);
      return { t, js: `${result}[l]` };
    }
    case 'match_any': {
      const result = ctx.array(U32);
      finish(ctx, site, '"match_any"', mask, keep(value, valueType(ctx, value, e)), 'null', 'null', result);
      return { t: U32, js: `${result}[l]` };
    }
    case 'match_all': {
      const result = ctx.array(U32);
      const pred = keep(at(2), pointerTo(I32));
      finish(ctx, site, '"match_all"', mask, keep(value, valueType(ctx, value, e)), 'null', 'null', result);
      ctx.lane(`D.sti32(${pred}[l],${result}[l]!==0?1:0,l,0);`);
      return { t: U32, js: `${result}[l]` };
    }
    default: {
      const t = op.endsWith('and') || op.endsWith('xor') || op.endsWith('_or') ? U32 : valueType(ctx, value, e);
      const result = ctx.array(t);
      finish(ctx, site, JSON.stringify(op), mask, keep(value, t), 'null', 'null', result);
      return { t, js: `${result}[l]` };
    }
  }
}

function valueType(ctx: FunctionContext, v: Val, e: Expr): SimType {
  if (v.t.k === 'scalar') return { k: 'scalar', s: promoted(v.t.s) };
  if (v.t.k === 'pointer') return v.t;
  return ctx.unsupported('a collective on a struct', e.span);
}

export function finish(ctx: FunctionContext, site: number, op: string, mask: string, value: string, lane: string, width: string, result: string): void {
  ctx.emit(`D.site=${site};if(!W.collective(${op},${ctx.mask},${mask},${value},${lane},${width},${result}))yield* W.arrival();`);
}

function barrier(ctx: FunctionContext, e: Call, b: Builtin, site: number): Val {
  const [p] = operands(ctx, e.arguments);
  let predicate = 'null';
  if (p !== undefined) {
    predicate = ctx.array(BOOL);
    ctx.lane(`${predicate}[l]=${truth(p)};`);
  }
  const op = b.name.replace('__syncthreads', '').replace('_', '');
  ctx.emit(`D.site=${site};yield* W.barrier(${site},"${op}",${ctx.mask},${predicate});`);
  if (op === '') return { t: VOID, js: '' };
  const result = ctx.array(I32);
  ctx.lane(`${result}[l]=W.barrierResult;`);
  return { t: I32, js: `${result}[l]` };
}

/**
 * Cooperative groups of the block and of tiles, whose header is not read: `this_thread_block`, `tiled_partition<N>`, their ranks,
 * `sync`, shuffles, votes and `cg::reduce`. Grid groups and coalesced groups are named and not simulated.
 */
import { strip, type Expr } from '../../syntax/tree.js';
import { evaluate } from '../constants.js';
import { BOOL, I32, U32, Unsupported, VOID, type GroupType, type SimType } from '../types.js';
import { finish } from './collective-calls.js';
import type { FunctionContext } from './context.js';
import { expression, operands, staticType } from './expression.js';
import { convert, promoted, truth, type Val } from './operators.js';

type Call = Extract<Expr, { kind: 'call' }>;

const FUNCTIONS = new Set(['this_thread_block', 'tiled_partition', 'sync', 'reduce']);

function bare(name: string): string {
  return name.replace(/^(::)?(cooperative_groups::|cg::)/, '');
}

export function isGroupFunction(name: string): boolean {
  return FUNCTIONS.has(bare(name));
}

function groupType(ctx: FunctionContext, e: Expr | undefined): GroupType | null {
  if (e === undefined) return null;
  const x = strip(e);
  if (x.kind === 'call' && x.callee.kind === 'unknown') {
    const name = bare(x.callee.name);
    if (name === 'this_thread_block') return { k: 'group', size: null };
    if (name === 'tiled_partition') return tileType(ctx, x);
    return null;
  }
  try {
    const t = staticType(ctx, x);
    return t.k === 'group' ? t : null;
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

function tileType(ctx: FunctionContext, e: Call): GroupType | null {
  const arg = e.templateArguments?.[0];
  // `tiled_partition(block, 16)` gives a `thread_group` of as many lanes.
  const given = arg === undefined ? e.arguments[1] : arg.kind === 'value' ? arg.value : undefined;
  const size = given === undefined ? null : evaluate(given, ctx.env);
  return size !== null && size !== undefined && [1, 2, 4, 8, 16, 32].includes(Number(size.value)) ? { k: 'group', size: Number(size.value) } : null;
}

/** Null if the call has nothing to do with groups. */
export function groupFunction(ctx: FunctionContext, e: Call, name: string): Val | null {
  switch (bare(name)) {
    case 'this_thread_block': return e.arguments.length === 0 ? { t: { k: 'group', size: null }, js: '0' } : null;
    case 'tiled_partition': {
      const t = tileType(ctx, e);
      return t === null ? null : { t, js: '0' };
    }
    case 'sync': {
      const t = groupType(ctx, e.arguments[0]);
      return t === null ? null : synchronise(ctx, t, e);
    }
    case 'reduce': {
      const t = groupType(ctx, e.arguments[0]);
      const value = e.arguments[1];
      const op = operatorName(e.arguments[2]);
      if (t === null || t.size === null || value === undefined || op === null) return null;
      const v = expression(ctx, value);
      const type: SimType = v.t.k === 'scalar' ? { k: 'scalar', s: promoted(v.t.s) } : v.t;
      return exchange(ctx, t.size, `group_${op}`, e, keep(ctx, v, type), 'null', type);
    }
    default: return null;
  }
}

function operatorName(e: Expr | undefined): string | null {
  if (e === undefined) return null;
  const x = strip(e);
  const name = x.kind === 'call' && x.callee.kind === 'unknown' ? bare(x.callee.name) : x.kind === 'construct' && x.type.kind === 'unknown' ? bare(x.type.text).replace(/<.*$/, '') : null;
  return name !== null && ['plus', 'less', 'greater', 'bit_and', 'bit_or', 'bit_xor'].includes(name) ? name : null;
}

const BLOCK_THREADS = '(D.blockx*D.blocky*D.blockz)';
const LINEAR = '((W.tz[l]*D.blocky+W.ty[l])*D.blockx+W.tx[l])';

export function groupMethod(ctx: FunctionContext, object: Expr, name: string, e: Call): Val | null {
  const t = groupType(ctx, object);
  if (t === null) return null;
  const u32 = (js: string): Val => ({ t: U32, js });
  switch (name) {
    case 'sync': return synchronise(ctx, t, e);
    case 'thread_rank': return u32(t.size === null ? LINEAR : `(l&${t.size - 1})`);
    case 'size': case 'num_threads': return u32(t.size === null ? BLOCK_THREADS : `${t.size}`);
    case 'meta_group_rank': return t.size === null ? null : u32(`Math.floor(${LINEAR}/${t.size})`);
    case 'meta_group_size': return t.size === null ? null : u32(`Math.ceil(${BLOCK_THREADS}/${t.size})`);
    case 'group_index': case 'thread_index':
      return t.size !== null ? null : expression(ctx, { kind: 'coordinate', base: name === 'group_index' ? 'blockIdx' : 'threadIdx', axis: null, span: e.span, type: e.type });
    default: break;
  }
  if (t.size === null) return null;
  const [value, other] = operands(ctx, e.arguments);
  if (value === undefined) return null;
  switch (name) {
    case 'shfl': case 'shfl_up': case 'shfl_down': case 'shfl_xor': {
      const type: SimType = value.t.k === 'scalar' ? { k: 'scalar', s: promoted(value.t.s) } : value.t;
      return other === undefined ? null : exchange(ctx, t.size, name, e, keep(ctx, value, type), keep(ctx, other, I32), type);
    }
    case 'any': case 'all': return exchange(ctx, t.size, name, e, keep(ctx, value, BOOL), 'null', I32);
    case 'ballot': {
      const bits = exchange(ctx, t.size, 'ballot', e, keep(ctx, value, BOOL), 'null', U32);
      return u32(t.size === 32 ? bits.js : `(${bits.js}>>>(l&${32 - t.size}))`);
    }
    default: return null;
  }
}

function keep(ctx: FunctionContext, v: Val, t: SimType): string {
  const array = ctx.array(t);
  ctx.lane(`${array}[l]=${t === BOOL ? truth(v) : convert(v, t)};`);
  return array;
}

/** The lanes of each lane's own tile. */
function tileMask(ctx: FunctionContext, size: number): string {
  const array = ctx.array(U32);
  ctx.lane(`${array}[l]=${size === 32 ? '4294967295' : `((${2 ** size - 1}<<(l&${32 - size}))>>>0)`};`);
  return array;
}

function exchange(ctx: FunctionContext, size: number, op: string, e: Call, value: string, lane: string, result: SimType): Val {
  const mask = tileMask(ctx, size);
  const width = ctx.array(I32);
  ctx.lane(`${width}[l]=${size};`);
  const out = ctx.array(result);
  finish(ctx, ctx.compiler.site(ctx, e.span), JSON.stringify(op), mask, value, lane, width, out);
  return { t: result, js: `${out}[l]` };
}

function synchronise(ctx: FunctionContext, t: GroupType, e: Call): Val {
  const site = ctx.compiler.site(ctx, e.span);
  if (t.size === null) ctx.emit(`D.site=${site};yield* W.barrier(${site},"",${ctx.mask},null);`);
  else finish(ctx, site, '"syncwarp"', tileMask(ctx, t.size), 'null', 'null', 'null', 'null');
  return { t: VOID, js: '' };
}

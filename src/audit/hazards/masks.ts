/** Where a mask comes from: variables, parameters and macros followed to the value that names the lanes. */
import { builtin } from '../../cuda/builtins.js';
import { strip } from '../../analysis/children.js';
import { isObject, soleDefinition } from '../../analysis/sole-value.js';
import type { CallExpr, Expr, Type } from '../../syntax/tree.js';
import type { Spot } from './scene.js';

export type Mask =
  /** All 32 lanes. */
  | { readonly kind: 'full' }
  | { readonly kind: 'constant'; readonly lanes: number }
  /** `__activemask()`, asked at `call`; `captured` if kept in a variable or parameter in between. */
  | { readonly kind: 'activemask'; readonly call: CallExpr; readonly spot: Spot; readonly captured: boolean }
  /** The result of a vote: the lanes named in `mask` for which `predicate` held. */
  | { readonly kind: 'vote'; readonly call: CallExpr; readonly mask: Expr | null; readonly predicate: Expr | null; readonly spot: Spot }
  /** `__match_any_sync`, or bits of other masks: some set of lanes. */
  | { readonly kind: 'computed' }
  | { readonly kind: 'not-a-mask'; readonly type: string }
  | { readonly kind: 'unknown' };

const UNKNOWN: Mask = { kind: 'unknown' };

/** A value followed through variables with one definition and through parameters. */
export interface Origin { readonly expr: Expr; readonly spot: Spot; readonly captured: boolean }

export function originOf(written: Expr, from: Spot): Origin {
  let expr = strip(written);
  let spot = from;
  let captured = false;
  for (let depth = 0; depth < 24; depth++) {
    if (expr.kind === 'cast') { expr = strip(expr.operand); continue; }
    if (expr.kind !== 'ref' || expr.decl === null || (expr.decl.kind !== 'variable' && expr.decl.kind !== 'parameter')) break;
    // What an object was made from is not what its conversion gives.
    const only = isObject(expr) ? null : soleDefinition(expr, spot.facts);
    if (only === null) break;
    if (only.kind === 'parameter') {
      const argument = spot.outer === null || spot.frame.call === null ? undefined : spot.frame.call.arguments[only.decl.index] ?? only.decl.default ?? undefined;
      if (argument === undefined || spot.outer === null) break;
      expr = strip(argument);
      spot = spot.outer;
    } else if (only.kind === 'declaration') {
      if (only.decl.init === null || only.decl.opaqueInit) break;
      expr = strip(only.decl.init);
    } else if (only.kind === 'assignment' && only.node.kind === 'assign' && only.node.op === null) expr = strip(only.node.value);
    else break;
    captured = true;
  }
  return { expr, spot, captured };
}

export function maskOf(written: Expr, from: Spot): Mask {
  const value = from.facts.constant(written);
  if (value !== null) return ofConstant(value);
  const given = strip(written);
  const { expr, spot, captured } = originOf(written, from);
  const later = spot.facts.constant(expr);
  if (later !== null && integral(expr.type)) return ofConstant(later);
  const strange = notAMask(given.type) ?? notAMask(expr.type);
  if (strange !== null) return { kind: 'not-a-mask', type: strange };
  if (expr.kind === 'call') return ofCall(expr, spot, captured);
  if (expr.kind === 'binary' && ['&', '|', '^', '<<', '>>', '-', '+'].includes(expr.op)) return { kind: 'computed' };
  if (expr.kind === 'unary' && expr.op === '~') return { kind: 'computed' };
  return UNKNOWN;
}

function ofConstant(value: bigint): Mask {
  const lanes = Number(BigInt.asUintN(32, value));
  return lanes === 0xffffffff ? { kind: 'full' } : { kind: 'constant', lanes };
}

function ofCall(call: CallExpr, spot: Spot, captured: boolean): Mask {
  if (call.callee.kind !== 'builtin') return UNKNOWN;
  const { name } = call.callee;
  if (name === '__activemask') return { kind: 'activemask', call, spot, captured };
  if (name === '__ballot_sync') return { kind: 'vote', call, mask: call.arguments[0] ?? null, predicate: call.arguments[1] ?? null, spot };
  if (name === '__ballot') return { kind: 'vote', call, mask: null, predicate: call.arguments[0] ?? null, spot };
  return builtin(name)?.family === 'warp' ? { kind: 'computed' } : UNKNOWN;
}

function integral(type: Type): boolean {
  return type.kind === 'int' || type.kind === 'bool' || type.kind === 'enum';
}

/** The type, in words, of something that cannot name lanes. */
function notAMask(type: Type): string | null {
  switch (type.kind) {
    case 'float': return type.format;
    case 'pointer': return 'a pointer';
    // Truth names lane 0 or nobody.
    case 'bool': return 'a truth value';
    case 'reference': return notAMask(type.to);
    default: return null;
  }
}

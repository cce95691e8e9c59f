/** Bytes of a variable with a constant initialiser. */
import { strip, type Expr } from '../syntax/tree.js';
import { bitsOfBfloat16, bitsOfHalf } from '../cuda/floats.js';
import { evaluate, toScalar } from './constants.js';
import type { Env } from './resolve.js';
import { sizeOf, type SimType } from './types.js';

/** Null if some part is not constant. What a list leaves out is zero. */
export function initialBytes(type: SimType, init: Expr, env: Env): Uint8Array | null {
  const bytes = new Uint8Array(sizeOf(type));
  return put(new DataView(bytes.buffer), 0, type, init, env) ? bytes : null;
}

function put(view: DataView, at: number, type: SimType, init: Expr, env: Env): boolean {
  const e = strip(init);
  switch (type.k) {
    case 'scalar': {
      const source = e.kind === 'init-list' ? e.elements[0] : e;
      if (source === undefined) return true;
      const folded = evaluate(source, env);
      if (folded === null) return false;
      const value = toScalar(folded, type.s).value;
      switch (type.s) {
        case 'bool': case 'i8': case 'u8': view.setInt8(at, Number(value)); break;
        case 'i16': case 'u16': view.setInt16(at, Number(value), true); break;
        case 'f16': view.setUint16(at, bitsOfHalf(Number(value)), true); break;
        case 'bf16': view.setUint16(at, bitsOfBfloat16(Number(value)), true); break;
        case 'i32': case 'u32': view.setInt32(at, Number(value), true); break;
        case 'f32': view.setFloat32(at, Number(value), true); break;
        case 'f64': view.setFloat64(at, Number(value), true); break;
        case 'i64': case 'u64': view.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true); break;
      }
      return true;
    }
    case 'array': {
      const of = type.of;
      const step = sizeOf(of);
      if (e.kind === 'literal' && typeof e.value === 'string') {
        if (step !== 1) return false;
        for (let i = 0; i < e.value.length && i < (type.length ?? 0); i++) view.setUint8(at + i, e.value.charCodeAt(i));
        return true;
      }
      if (e.kind !== 'init-list') return false;
      // Braces may be left out: a flat list then runs through the rows.
      if (of.k === 'array' && e.elements.every((x) => strip(x).kind !== 'init-list')) {
        const flat: SimType = { k: 'array', of: of.of, length: (type.length ?? 0) * (of.length ?? 0) };
        return put(view, at, flat, e, env);
      }
      return e.elements.every((x, i) => i < (type.length ?? 0) && put(view, at + i * step, of, x, env));
    }
    case 'record': {
      const elements = e.kind === 'init-list' ? e.elements : e.kind === 'construct' || (e.kind === 'call' && e.callee.kind === 'builtin' && e.callee.name.startsWith('make_')) ? e.arguments : null;
      if (elements === null) return false;
      return elements.every((x, i) => { const f = type.layout.fields[i]; return f !== undefined && put(view, at + f.offset, f.type, x, env); });
    }
    case 'pointer': {
      const folded = evaluate(e, env);
      return (e.kind === 'literal' && e.value === null) || (folded !== null && Number(folded.value) === 0);
    }
    case 'void': case 'callable': case 'reference': case 'group': return false;
  }
}

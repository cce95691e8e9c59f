/** What warp intrinsics compute, given who takes part. Source: CUDA C++ Programming Guide, "Warp vote, match, reduce, shuffle functions". */
import { addI, addU, type Wide } from './values.js';

export interface Exchange {
  readonly op: string;
  /** Lanes named, and lanes that take part. */
  readonly mask: number;
  readonly group: number;
  readonly value: (lane: number) => Wide;
  readonly lane: (lane: number) => number;
  readonly width: (lane: number) => number;
  readonly wide: boolean;
  readonly single: boolean;
  readonly unsigned: boolean;
  readonly real: boolean;
  readonly put: (lane: number, value: Wide) => void;
  readonly badSource: (lane: number, source: number) => void;
}

function each(mask: number, visit: (lane: number) => void): void {
  for (let l = 0; l < 32; l++) if (mask >>> l & 1) visit(l);
}

export function combine(x: Exchange): void {
  switch (x.op) {
    case 'ballot': {
      let bits = 0;
      each(x.group, (l) => { if (x.value(l)) bits |= 1 << l; });
      each(x.group, (l) => x.put(l, bits >>> 0));
      return;
    }
    case 'any': case 'all': case 'uni': {
      let yes = 0;
      let no = 0;
      each(x.group, (l) => { if (x.value(l)) yes++; else no++; });
      const result = x.op === 'any' ? yes > 0 : x.op === 'all' ? no === 0 : yes === 0 || no === 0;
      each(x.group, (l) => x.put(l, result ? 1 : 0));
      return;
    }
    case 'match_any':
      each(x.group, (l) => {
        let bits = 0;
        each(x.group, (m) => { if (Object.is(x.value(m), x.value(l))) bits |= 1 << m; });
        x.put(l, bits >>> 0);
      });
      return;
    case 'match_all': {
      let same = true;
      let first: Wide | null = null;
      each(x.group, (l) => { first ??= x.value(l); if (!Object.is(first, x.value(l))) same = false; });
      each(x.group, (l) => x.put(l, same ? x.mask >>> 0 : 0));
      return;
    }
    case 'shfl': case 'shfl_up': case 'shfl_down': case 'shfl_xor': return shuffle(x);
    default: return x.op.startsWith('group_') ? butterfly(x) : reduce(x);
  }
}

/** `cg::reduce` over a tile: pairs at halving distance, so that every lane has the same value. */
function butterfly(x: Exchange): void {
  const op = x.op.replace('group_', '');
  const width = x.width(31 - Math.clz32(x.group & -x.group));
  let values: Wide[] = [];
  each(x.group, (l) => { values[l] = x.value(l); });
  const round = (v: Wide): Wide => (x.wide || typeof v === 'bigint' ? v : x.single ? Math.fround(v) : x.real ? v : x.unsigned ? v >>> 0 : v | 0);
  const apply = (a: Wide, b: Wide): Wide => {
    switch (op) {
      case 'plus': return round(x.wide ? (x.unsigned ? addU(a, b) : addI(a, b)) : Number(a) + Number(b));
      case 'less': return b < a ? b : a;
      case 'greater': return b > a ? b : a;
      case 'bit_and': return round(Number(a) & Number(b));
      case 'bit_or': return round(Number(a) | Number(b));
      default: return round(Number(a) ^ Number(b));
    }
  };
  for (let o = width >> 1; o > 0; o >>= 1) {
    const next: Wide[] = [];
    each(x.group, (l) => {
      const own = values[l] ?? 0;
      const other = (x.group >>> (l ^ o) & 1) !== 0 ? values[l ^ o] : undefined;
      // The lower lane's value stands left, so that both compute one sum.
      next[l] = other === undefined ? own : (l & o) === 0 ? apply(own, other) : apply(other, own);
    });
    values = next;
  }
  each(x.group, (l) => x.put(l, values[l] ?? 0));
}

function reduce(x: Exchange): void {
  const op = x.op.replace('reduce_', '');
  let total: Wide | null = null;
  each(x.group, (l) => {
    const v = x.value(l);
    if (total === null) { total = v; return; }
    const t: Wide = total;
    switch (op) {
      case 'add': total = x.wide ? (x.unsigned ? addU(t, v) : addI(t, v)) : x.unsigned ? (Number(t) + Number(v)) >>> 0 : (Number(t) + Number(v)) | 0; break;
      case 'min': total = v < t ? v : t; break;
      case 'max': total = v > t ? v : t; break;
      case 'and': total = (Number(t) & Number(v)) >>> 0; break;
      case 'or': total = (Number(t) | Number(v)) >>> 0; break;
      case 'xor': total = (Number(t) ^ Number(v)) >>> 0; break;
      default: throw new Error(`internal: collective ${x.op}`);
    }
  });
  const result: Wide = total ?? 0;
  each(x.group, (l) => x.put(l, result));
}

/** Segments of `width` lanes; a source outside the segment gives the lane's own value, except for the indexed form, which wraps. */
function shuffle(x: Exchange): void {
  // All values are taken before any is replaced: result and value arrays may be one.
  const values: Wide[] = [];
  each(x.group, (l) => { values[l] = x.value(l); });
  each(x.group, (l) => {
    const width = x.width(l) & 31 || 32;
    const start = l & ~(width - 1);
    const operand = x.lane(l);
    let source: number;
    let inside = true;
    switch (x.op) {
      case 'shfl': source = start + (operand & (width - 1)); break;
      case 'shfl_up': source = l - (operand & 31); inside = source >= start; break;
      case 'shfl_down': source = l + (operand & 31); inside = source < start + width; break;
      default: source = l ^ (operand & 31); inside = source < start + width; break;
    }
    if (!inside) source = l;
    if ((x.group >>> source & 1) === 0) {
      x.badSource(l, source);
      x.put(l, 0);
      return;
    }
    x.put(l, values[source] ?? 0);
  });
}

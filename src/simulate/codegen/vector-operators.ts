/** Operators on vector types whose overloads stand in a header that is not read (HIP's vector types have them built in): component by component. */
import type { BinaryOperator, Expr } from '../../syntax/tree.js';
import { isFloating, type RecordType, type ScalarType, type SimType } from '../types.js';
import type { FunctionContext } from './context.js';
import { arithmetic, operands } from './expression.js';
import { accessName, convert, type Val } from './operators.js';
import { store, targetOf } from './places.js';

const OPERATORS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>']);

function vectorOf(t: SimType): RecordType | null {
  return t.k === 'record' && t.layout.decl.vector !== null && t.layout.fields.every((f) => f.type.k === 'scalar') ? t : null;
}

/** Null if the name is no such operator or the operands are no vectors. */
export function vectorOperator(ctx: FunctionContext, e: Extract<Expr, { kind: 'call' }>, name: string): Val | null {
  const op = /^operator\s*(.+)$/.exec(name)?.[1];
  const [first, second] = e.arguments;
  if (op === undefined || first === undefined || second === undefined) return null;
  const compound = op.endsWith('=') && OPERATORS.has(op.slice(0, -1));
  const plain = compound ? op.slice(0, -1) : op;
  if (!OPERATORS.has(plain)) return null;
  const [a, b] = operands(ctx, [first, second]);
  if (a === undefined || b === undefined) return null;
  const type = vectorOf(a.t) ?? (compound ? null : vectorOf(b.t));
  if (type === null) return null;
  const component = (v: Val, i: number): Val | null => {
    if (v.t.k === 'scalar') return v;
    const field = v.t.k === 'record' ? v.t.layout.fields[i] : undefined;
    return field === undefined || field.type.k !== 'scalar' ? null : { t: field.type, js: `D.ld${accessName(field.type)}((${v.js}+${field.offset}),l,0)` };
  };
  const address = ctx.frameAddress(ctx.frameSlot(type));
  const results: { offset: number; t: ScalarType; v: Val }[] = [];
  for (const [i, field] of type.layout.fields.entries()) {
    const x = component(a, i);
    const y = component(b, i);
    if (x === null || y === null || field.type.k !== 'scalar') return null;
    if (isFloating(field.type.s) && !['+', '-', '*', '/'].includes(plain)) return null;
    const v = arithmetic(ctx, plain as BinaryOperator, x, y, e);
    results.push({ offset: field.offset, t: field.type, v: ctx.hold({ t: field.type, js: convert(v, field.type) }) });
  }
  for (const r of results) ctx.lane(`D.st${accessName(r.t)}((${address}+${r.offset}),${r.v.js},l,0);`);
  const value: Val = { t: type, js: address };
  return compound ? store(ctx, targetOf(ctx, first), value) : value;
}

/** Lambdas are compiled where they are called: what they capture by reference is the variable itself. */
import type { Decl, Expr, LambdaExpr } from '../../syntax/tree.js';
import { resolve } from '../resolve.js';
import { alignOf, sizeOf, Unsupported, VOID, type SimType } from '../types.js';
import { walkStmt } from '../walk.js';
import { boundSlot, valueFor } from './calls.js';
import type { FunctionContext, Slot } from './context.js';
import { staticType } from './expression.js';
import { copyConstructorOf } from './lifetime.js';
import type { Val } from './operators.js';
import { load, slotPlace } from './places.js';

/** The slot of a variable initialised with a lambda. What is captured by copy is copied now. */
export function lambdaSlot(ctx: FunctionContext, lambda: LambdaExpr): Extract<Slot, { kind: 'lambda' }> {
  const captured = new Map<Decl, Slot>();
  const explicit = new Map<Decl, boolean>();
  for (const c of lambda.captures) if (c.decl !== null) explicit.set(c.decl, c.byReference);
  const own = new Set<Decl>(lambda.parameters);
  walkStmt(lambda.body, { variable: (v) => own.add(v) });
  walkStmt(lambda.body, {
    expr(e) {
      if (e.kind !== 'ref' || e.decl === null || own.has(e.decl) || captured.has(e.decl)) return;
      const slot = ctx.slotOf(e.decl);
      // Static and shared objects are not captured; of a callable there is nothing to copy.
      if (slot === undefined || slot.kind === 'fixed' || slot.kind === 'lambda' || slot.kind === 'function') return;
      const byReference = explicit.get(e.decl) ?? lambda.captures.find((c) => c.name === e.name)?.byReference ?? lambda.captureDefault === 'reference';
      if (byReference) return;
      if (slot.kind !== 'register') {
        if (slot.t.k === 'record' && copyConstructorOf(slot.t) !== null) return ctx.unsupported(`the copy constructor of ${slot.t.layout.name}`, e.span);
        const offset = ctx.frameSlot(slot.t);
        const from = slot.kind === 'frame' ? ctx.frameAddress(slot.offset) : `${slot.array}[l]`;
        ctx.lane(`D.copy(${ctx.frameAddress(offset)},${from},${sizeOf(slot.t)},${alignOf(slot.t)},l,0);`);
        captured.set(e.decl, { kind: 'frame', offset, t: slot.t, name: slot.name });
        return;
      }
      const array = ctx.array(slot.t);
      ctx.lane(`${array}[l]=${load(ctx, slotPlace(ctx, slot, e)).js};`);
      captured.set(e.decl, { kind: 'register', array, t: slot.t, set: null, name: slot.name });
    },
  });
  return { kind: 'lambda', lambda, captured };
}

export function inlineLambda(ctx: FunctionContext, slot: Extract<Slot, { kind: 'lambda' }>, args: readonly Expr[], at: Expr): Val {
  const { lambda } = slot;
  if (ctx.compiler.inlining.has(lambda)) return ctx.unsupported('a recursive lambda', at.span);
  const bindings = lambda.parameters.map((parameter, i) => {
    const given = args[i] ?? parameter.default;
    if (given === null || given === undefined) return ctx.unsupported(`missing argument ${parameter.name}`, at.span);
    let type: SimType;
    try {
      type = resolve(parameter.type, ctx.env);
    } catch (error) {
      const written = parameter.type.kind === 'reference' ? parameter.type.to : parameter.type;
      if (!(error instanceof Unsupported) || written.kind !== 'unknown' || !written.text.includes('auto')) throw error;
      const deduced = staticType(ctx, given);
      type = parameter.type.kind === 'reference' && deduced.k !== 'reference' ? { k: 'reference', to: deduced } : deduced;
    }
    const array = ctx.array(type);
    ctx.lane(`${array}[l]=${valueFor(ctx, given, type, parameter)};`);
    return { parameter, slot: boundSlot(ctx, parameter, type, array) };
  });
  const returns = returnType(ctx, lambda, bindings);
  const outer = new Map<Decl, Slot | undefined>();
  for (const [decl, copy] of slot.captured) { outer.set(decl, ctx.slots.get(decl)); ctx.slots.set(decl, copy); }
  ctx.compiler.inlining.add(lambda);
  const around = ctx.lambda;
  ctx.lambda = lambda;
  try {
    return ctx.compiler.inlineBody(ctx, lambda.body, bindings, returns, ctx.env, ctx.self, ctx.file, ctx.addressed);
  } finally {
    ctx.compiler.inlining.delete(lambda);
    ctx.lambda = around;
    for (const [decl, before] of outer) if (before !== undefined) ctx.slots.set(decl, before);
  }
}

/** The type that is written, else that of the first `return` with a value. */
function returnType(ctx: FunctionContext, lambda: LambdaExpr, bindings: readonly { parameter: Decl; slot: Slot }[]): SimType {
  if (lambda.returns !== undefined && !(lambda.returns.kind === 'unknown' && lambda.returns.text.includes('auto'))) return resolve(lambda.returns, ctx.env);
  let value: Expr | null = null;
  walkStmt(lambda.body, { stmt: (s) => { if (s.kind === 'return' && value === null) value = s.value; } });
  if (value === null) return VOID;
  const before = bindings.map((b) => [b.parameter, ctx.slots.get(b.parameter)] as const);
  for (const b of bindings) ctx.slots.set(b.parameter, b.slot);
  let type: SimType;
  try {
    type = staticType(ctx, value);
  } finally {
    for (const [decl, slot] of before) if (slot === undefined) ctx.slots.delete(decl); else ctx.slots.set(decl, slot);
  }
  return type.k === 'array' ? { k: 'pointer', to: type.of } : type.k === 'scalar' ? { k: 'scalar', s: type.s } : type;
}


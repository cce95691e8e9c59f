/**
 * Statements under a mask. Every block of code runs with a mask variable of its own; `return`, `break` and `continue` add lanes to
 * the mask of what they leave, and after a statement that may do so the current mask loses them. Lanes meet again after the
 * structured statement that parted them.
 */
import { builtin } from '../../cuda/builtins.js';
import { strip, unreachable, type Expr, type Stmt } from '../../syntax/tree.js';
import { alignOf, pointerTo, sizeOf } from '../types.js';
import { walkExpr, walkStmt } from '../walk.js';
import { wrap } from '../../cuda/integers.js';
import { evaluate, integerTypeOf } from '../constants.js';
import { UNROLLED, weightOf } from './weights.js';
import { inlineAssembly } from './assembly.js';
import { coerced } from './calls.js';
import { declare, declareElement } from './declarations.js';
import { initialise } from './construct.js';
import type { FunctionContext } from './context.js';
import { conditionMask, expression } from './expression.js';
import { convert, promoted, type Val } from './operators.js';
import { boundAddress, placeOf, type Place } from './places.js';

const exitCache = new WeakMap<Stmt, boolean>();

/** Whether control may leave the statement other than at its end. */
function mayExit(s: Stmt): boolean {
  let known = exitCache.get(s);
  if (known === undefined) {
    known = false;
    walkStmt(s, { stmt: (x) => { if (x.kind === 'return' || x.kind === 'break' || x.kind === 'continue') known = true; } });
    exitCache.set(s, known);
  }
  return known;
}

const switchCache = new WeakMap<Expr, boolean>();

/** Atomics, volatile accesses and collectives: another warp may run in between. */
function isSwitchPoint(e: Expr): boolean {
  let known = switchCache.get(e);
  if (known === undefined) {
    known = false;
    walkExpr(e, {
      expr(x) {
        if (x.kind === 'call' && x.callee.kind === 'builtin') {
          const b = builtin(x.callee.name);
          if (b !== undefined && (b.atomic || b.collective === 'warp' || b.fence !== null || b.volatile)) known = true;
        }
        if (x.type.volatile === true) known = true;
      },
    });
    switchCache.set(e, known);
  }
  return known;
}

export function switchPoint(ctx: FunctionContext, e: Expr): void {
  if (ctx.generator && isSwitchPoint(e)) ctx.emit('if(D.switches())yield 0;');
}

function collectsWarp(s: Stmt): boolean {
  let found = false;
  walkStmt(s, {
    expr(x) {
      if (x.kind !== 'call') return;
      if (x.callee.kind === 'builtin') { if (builtin(x.callee.name)?.collective === 'warp') found = true; }
    },
  });
  return found;
}

/** `body` as a block that lanes leave one by one: under a fresh label, with `mask` as its mask variable. */
export function block(ctx: FunctionContext, mask: string, body: () => void): void {
  const label = ctx.fresh('L');
  const outer = { mask: ctx.mask, label: ctx.label };
  ctx.flush();
  ctx.lines.push(`${label}:{`);
  ctx.mask = mask;
  ctx.label = label;
  body();
  ctx.flush();
  ctx.lines.push('}');
  ctx.mask = outer.mask;
  ctx.label = outer.label;
}

/** Takes lanes that have left out of the current mask and stops if none is left. */
function settle(ctx: FunctionContext): void {
  const gone = [ctx.returns.mask, ctx.jumps.breakMask, ctx.jumps.continueMask].filter((m): m is string => m !== null);
  ctx.emit(`${ctx.mask}&=~(${gone.join('|')});if(${ctx.mask}===0)break ${ctx.label};`);
}

export function statements(ctx: FunctionContext, list: readonly Stmt[]): void {
  for (const [i, s] of list.entries()) {
    statement(ctx, s);
    if (s.kind === 'return' || s.kind === 'break' || s.kind === 'continue') return; // what follows is dead
    if (mayExit(s) && (i < list.length - 1 || s.kind !== 'compound')) settle(ctx);
  }
}

/** Counts one issue of the statement at the head of `s`. */
export function count(ctx: FunctionContext, s: Stmt | Expr, cost: readonly (Expr | null)[], scale = 1): void {
  ctx.site = ctx.compiler.site(ctx, s.span);
  if (ctx.predicated) return; // counted where the arm's branch is
  const weight = Math.max(1, ctx.compiler.weight(cost)) * scale;
  const counter = ctx.compiler.counter(ctx, s, weight);
  if (counter !== null) ctx.emit(`D.count(${counter},${ctx.mask});`);
}

export function statement(ctx: FunctionContext, s: Stmt): void {
  switch (s.kind) {
    case 'compound': {
      statements(ctx, s.body);
      return;
    }
    case 'empty': return;
    case 'expression': {
      if (isVoidLiteral(s.expression)) return;
      count(ctx, s, [s.expression]);
      switchPoint(ctx, s.expression);
      discard(ctx, expression(ctx, s.expression));
      ctx.flush();
      return;
    }
    case 'declare': {
      for (const v of s.variables) declare(ctx, v, s);
      return;
    }
    case 'if': return ifStatement(ctx, s);
    case 'for': return forStatement(ctx, s);
    case 'while': {
      loop(ctx, s, {
        before: () => { if (s.conditionDecl !== null) declare(ctx, s.conditionDecl, s); },
        condition: s.condition, step: null, body: s.body, testFirst: true,
      });
      return;
    }
    case 'do': return loop(ctx, s, { before: () => undefined, condition: s.condition, step: null, body: s.body, testFirst: false });
    case 'switch': return switchStatement(ctx, s);
    case 'return': return returnStatement(ctx, s);
    case 'break': {
      if (ctx.jumps.breakMask === null) return ctx.unsupported('break outside a loop', s.span);
      ctx.emit(`${ctx.jumps.breakMask}|=${ctx.mask};break ${ctx.label};`);
      return;
    }
    case 'continue': {
      if (ctx.jumps.continueMask === null) return ctx.unsupported('continue outside a loop', s.span);
      ctx.emit(`${ctx.jumps.continueMask}|=${ctx.mask};break ${ctx.label};`);
      return;
    }
    case 'preprocessor': {
      for (const arm of s.arms) if (arm.active) statements(ctx, arm.body);
      return;
    }
    case 'macro-statement': return statement(ctx, s.expanded);
    case 'asm':
      count(ctx, s, []);
      return inlineAssembly(ctx, s);
    case 'label': return ctx.unsupported(`label ${s.name} (goto)`, s.span);
    case 'goto': return ctx.unsupported('goto', s.span);
    case 'range-for': return rangeFor(ctx, s);
    case 'opaque': return ctx.unsupported(s.reason, s.span);
    default: return unreachable(s);
  }
}

function isVoidLiteral(e: Expr): boolean {
  const x = strip(e);
  return (x.kind === 'literal') || (x.kind === 'cast' && x.type.kind === 'void' && strip(x.operand).kind === 'ref');
}

function discard(ctx: FunctionContext, v: Val): void {
  if (v.js !== '' && /[(]/.test(v.js)) ctx.lane(`${v.js};`);
}

// ------------------------------------------------------------------------------------------------------------ branches

function ifStatement(ctx: FunctionContext, s: Extract<Stmt, { kind: 'if' }>): void {
  if (s.init !== null) statement(ctx, s.init);
  if (s.conditionDecl !== null) declare(ctx, s.conditionDecl, s);
  if (s.constexpr) {
    const value = evaluate(s.condition, ctx.env);
    if (value !== null) {
      if (Number(value.value) !== 0) statement(ctx, s.then);
      else if (s.else !== null) statement(ctx, s.else);
      return;
    }
  }
  count(ctx, s, [s.condition]);
  switchPoint(ctx, s.condition);
  const branch = ctx.compiler.branch(ctx, s, 'if', s.condition);
  const c = conditionMask(ctx, s.condition);
  if (branch !== null) ctx.emit(`D.branch(${branch},${ctx.mask},${c});`);
  const yes = ctx.fresh('m');
  const no = ctx.fresh('m');
  ctx.emit(`let ${yes}=${ctx.mask}&${c},${no}=${ctx.mask}&~${c};`);
  const arm = (mask: string, body: Stmt): string[] => {
    // The compiler predicates a short arm: its instructions are issued whether or not a lane takes it.
    const short = ctx.predicated ? null : predicable(body);
    if (short !== null && ctx.compiler.counts) for (const x of short) ctx.emit(`D.count(${ctx.compiler.counter(ctx, x.stmt, ctx.compiler.weight([x.cost])) ?? 0},${mask});`);
    const outer = ctx.predicated;
    ctx.predicated = outer || short !== null;
    const lines = ctx.capture(() => block(ctx, mask, () => statements(ctx, body.kind === 'compound' ? body.body : [body])));
    ctx.predicated = outer;
    return lines;
  };
  const then = arm(yes, s.then);
  const otherwise = s.else === null ? null : arm(no, s.else);
  if (otherwise !== null && s.else !== null && ctx.generator && collectsWarp(s.then) && collectsWarp(s.else)) {
    // Lanes of one arm may be named by a collective of the other: the arms advance in turn.
    ctx.lines.push(`yield* W.fork(${yes}===0?null:(function*(){${then.join('\n')}})(),${no}===0?null:(function*(){${otherwise.join('\n')}})());`);
    return;
  }
  ctx.lines.push(`if(${yes}!==0){${then.join('\n')}}`);
  if (otherwise !== null) ctx.lines.push(`if(${no}!==0){${otherwise.join('\n')}}`);
}

/** The operations of an arm short enough to be predicated: plain expression statements, no calls of functions, no loops, about seven operations. */
function predicable(arm: Stmt): { readonly stmt: Stmt; readonly cost: Expr }[] | null {
  const body = arm.kind === 'compound' ? arm.body : [arm];
  const out: { stmt: Stmt; cost: Expr }[] = [];
  let total = 0;
  for (const s of body) {
    if (s.kind === 'empty') continue;
    if (s.kind !== 'expression') return null;
    let call = false;
    walkExpr(s.expression, { expr: (x) => { if (x.kind === 'call' && (x.callee.kind !== 'builtin' || (builtin(x.callee.name)?.pure !== true && builtin(x.callee.name)?.family !== 'memory'))) call = true; } });
    if (call) return null;
    total += weightOf(s.expression);
    if (total > PREDICATION_LIMIT) return null;
    out.push({ stmt: s, cost: s.expression });
  }
  return out;
}

/** Issue slots up to which arms are predicated. */
const PREDICATION_LIMIT = 8;

function switchStatement(ctx: FunctionContext, s: Extract<Stmt, { kind: 'switch' }>): void {
  if (s.init !== null) statement(ctx, s.init);
  if (s.conditionDecl !== null) declare(ctx, s.conditionDecl, s);
  count(ctx, s, [s.condition]);
  switchPoint(ctx, s.condition);
  const branch = ctx.compiler.branch(ctx, s, 'switch', s.condition);
  const broken = ctx.fresh('b');
  const current = ctx.fresh('m');
  const arms = s.arms.map(() => ctx.fresh('a'));
  const rest = ctx.fresh('a');
  ctx.emit(`let ${broken}=0,${current}=0,${rest}=0${arms.map((a) => `,${a}=0`).join('')};`);
  const value = ctx.hold(expression(ctx, s.condition));
  if (value.t.k !== 'scalar') return ctx.unsupported('switch on such a value', s.condition.span);
  let chain = '';
  let otherwise = rest;
  for (const [i, arm] of s.arms.entries()) {
    for (const label of arm.labels) {
      if (label === null) { otherwise = arms[i] ?? rest; continue; }
      const folded = evaluate(label, ctx.env);
      if (folded === null || folded.kind !== 'integer') return ctx.unsupported('a case label that is not constant', label.span);
      // A label is converted to the promoted type of the condition: `case -1` of an unsigned number is its largest one.
      const to = integerTypeOf(promoted(value.t.s));
      if (to === null) return ctx.unsupported('switch on such a value', s.condition.span);
      const text = wrap(folded.value, to);
      const wide = text > 9007199254740991n || text < -9007199254740991n;
      chain += `if(${value.t.s === 'bool' ? `+(${value.js})` : value.js}===${text}${wide ? 'n' : ''})${arms[i]}|=1<<l;else `;
    }
  }
  ctx.lane(`${chain}${otherwise}|=1<<l;`);
  ctx.flush();
  if (branch !== null) ctx.lines.push(`D.choice(${branch},${ctx.mask},[${[...arms, rest].join(',')}]);`);
  const outer = ctx.jumps;
  ctx.jumps = { breakMask: broken, continueMask: outer.continueMask };
  for (const [i, arm] of s.arms.entries()) {
    const gone = [broken, ctx.returns.mask, ...(outer.continueMask === null ? [] : [outer.continueMask])];
    ctx.emit(`${current}=(${current}|${arms[i]})&~(${gone.join('|')});`);
    const body = ctx.capture(() => block(ctx, current, () => statements(ctx, arm.body)));
    ctx.lines.push(`if(${current}!==0){${body.join('\n')}}`);
  }
  ctx.jumps = outer;
}

// --------------------------------------------------------------------------------------------------------------- loops

interface LoopShape {
  readonly before: () => void;
  readonly condition: Expr | null;
  readonly step: Expr | null;
  readonly body: Stmt;
  readonly testFirst: boolean;
}

function forStatement(ctx: FunctionContext, s: Extract<Stmt, { kind: 'for' }>): void {
  statement(ctx, s.init);
  loop(ctx, s, {
    before: () => { if (s.conditionDecl !== null) declare(ctx, s.conditionDecl, s); },
    condition: s.condition, step: s.step, body: s.body, testFirst: true,
  });
}

/** Over an array: the elements in order, by reference or copied. Ranges with iterators of their own are not run. */
function rangeFor(ctx: FunctionContext, s: Extract<Stmt, { kind: 'range-for' }>): void {
  const place = placeOf(ctx, s.range);
  if (place.kind !== 'memory' || place.t.k !== 'array' || place.t.length === null) return ctx.unsupported('range-based for over anything but an array', s.range.span);
  if (s.variable.name === '') return ctx.unsupported('structured bindings', s.variable.span);
  const { of, length } = place.t;
  const base = ctx.spill({ t: pointerTo(of), js: place.address });
  const index = ctx.fresh('i');
  ctx.emit(`let ${index}=-1;`);
  const element: Place = { ...place, address: `(${base.js}+${index}*${sizeOf(of)})`, t: of };
  loop(ctx, s, {
    before: () => {
      ctx.emit(`if(++${index}>=${length})break;`);
      declareElement(ctx, s.variable, element);
    },
    condition: null, step: null, body: s.body, testFirst: true,
  });
}

function holdsBarrier(body: Stmt): boolean {
  let found = false;
  walkStmt(body, { expr: (x) => { if (x.kind === 'call' && x.callee.kind === 'builtin' && (builtin(x.callee.name)?.barrier ?? null) !== null) found = true; } });
  return found;
}

function loop(ctx: FunctionContext, s: Extract<Stmt, { kind: 'for' | 'while' | 'do' | 'range-for' }>, shape: LoopShape): void {
  const live = ctx.fresh('m');
  const broken = ctx.fresh('b');
  const next = ctx.fresh('k');
  const inner = ctx.fresh('m');
  const outer = ctx.jumps;
  const site = ctx.compiler.site(ctx, s.span);
  ctx.emit(`let ${live}=${ctx.mask},${broken}=0,${next}=0;for(;;){D.turn(${site});`);
  const counted = shape.step !== null && shape.condition !== null && strip(shape.condition).kind === 'binary' && !holdsBarrier(shape.body);
  const test = (): void => {
    shape.before();
    if (shape.condition === null) return;
    count(ctx, shape.condition, [shape.condition], counted ? UNROLLED : 1);
    switchPoint(ctx, shape.condition);
    const branch = s.kind === 'range-for' ? null : ctx.compiler.branch(ctx, s, s.kind, shape.condition);
    const c = conditionMask(ctx, shape.condition);
    if (branch !== null) ctx.emit(`D.branch(${branch},${live},${c});`);
    ctx.emit(`${live}&=${c};if(${live}===0)break;`);
  };
  const saved = { mask: ctx.mask, label: ctx.label };
  ctx.mask = live;
  if (shape.testFirst) test();
  ctx.emit(`${next}=0;let ${inner}=${live};`);
  ctx.jumps = { breakMask: broken, continueMask: next };
  block(ctx, inner, () => statements(ctx, shape.body.kind === 'compound' ? shape.body.body : [shape.body]));
  ctx.jumps = outer;
  if (mayExit(shape.body)) ctx.emit(`${live}&=~(${broken}|${ctx.returns.mask});if(${live}===0)break;`);
  if (shape.step !== null) {
    count(ctx, shape.step, [shape.step], counted ? UNROLLED : 1);
    switchPoint(ctx, shape.step);
    discard(ctx, expression(ctx, shape.step));
    ctx.flush();
  }
  if (!shape.testFirst) test();
  ctx.emit('}');
  ctx.mask = saved.mask;
  ctx.label = saved.label;
}

// -------------------------------------------------------------------------------------------------------------- return

function returnStatement(ctx: FunctionContext, s: Extract<Stmt, { kind: 'return' }>): void {
  const target = ctx.returns;
  if (s.value !== null) {
    count(ctx, s, [s.value]);
    switchPoint(ctx, s.value);
    if (target.t.k === 'void') discard(ctx, expression(ctx, s.value));
    else if (target.t.k === 'reference') {
      if (target.array === null) return ctx.unsupported('a returned reference', s.span);
      ctx.lane(`${target.array}[l]=${boundAddress(ctx, s.value, target.t.to, false, 'that is returned')};`);
    } else if (target.t.k === 'record') {
      if (target.address === null) throw new Error('internal: no place for a returned object');
      const e = strip(s.value);
      if (e.kind === 'init-list') initialise(ctx, target.address, target.t, e);
      else {
        const value = expression(ctx, e);
        if (value.t.k === 'record') ctx.lane(`D.copy(${target.address},${value.js},${sizeOf(target.t)},${alignOf(target.t)},l,0);`);
        else initialise(ctx, target.address, target.t, e);
      }
    } else {
      const e = strip(s.value);
      const source = e.kind === 'init-list' ? e.elements[0] ?? e : e;
      const value = convert(coerced(ctx, expression(ctx, source), target.t, source), target.t);
      ctx.lane(`${target.array}[l]=${value};`);
    }
    ctx.flush();
  }
  ctx.emit(`${target.mask}|=${ctx.mask};${target.kernel ? `W.exit(${ctx.mask});` : ''}break ${ctx.label};`);
}


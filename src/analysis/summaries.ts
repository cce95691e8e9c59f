/**
 * What a call of a function may do, in terms of its parameters: a bottom-up summary per function, memoised, across files.
 *
 * The summary of a body is its effects with its own automatic variables dropped; places that start from a parameter are replaced at each
 * call by what the caller passes (Cooper & Kennedy's MOD/REF summaries, with access paths in place of names). Recursion is cut by
 * treating the inner call as unknown. All candidates of an overload set count.
 *
 * Not handled: functions passed as template arguments or pointers (unknown calls), and bodies that no loaded file holds.
 */
import type { CallExpr, Expr, FunctionDecl, LambdaExpr, ParameterDecl, Program, Stmt } from '../syntax/tree.js';
import { strip } from './children.js';
import { codeOf } from './function-code.js';
import { collectEffects } from './effects.js';
import { placeOfAccess, type EffectContext } from './effects-tables.js';
import type { Effects, Variable } from './facts.js';
import { indexBody, indexFunction, isAutomatic } from './function-index.js';
import { lambdaOf } from './lambdas.js';
import { extend, placeKey, placesOf, targetsOf, UNKNOWN_PLACE, variableTargets, type Place, type PlaceContext } from './places.js';

export interface Touch {
  readonly place: Place;
  readonly kind: 'read' | 'write' | 'atomic';
  readonly volatile: boolean;
  readonly node: Expr;
}

export interface Summary {
  readonly parameters: readonly ParameterDecl[];
  readonly touches: readonly Touch[];
  readonly effects: Pick<Effects, 'barriers' | 'collectives' | 'fences' | 'atomics' | 'unknownCalls' | 'visible' | 'asm' | 'opaque'>;
  readonly mayFault: boolean;
  /** Variables of an enclosing function that a lambda uses or assigns. */
  readonly captured: { readonly uses: readonly Variable[]; readonly assigns: readonly Variable[] };
}

const summaries = new WeakMap<object, Summary>();
const inProgress = new Set<object>();

/** The summary of a function with a body; null while it is being made (recursion). */
export function summaryOf(fn: FunctionDecl, program: Program): Summary | null {
  const code = codeOf(fn);
  if (code === null) return null;
  return summarise(fn, code, fn.parameters, { index: indexFunction(fn), function: fn, instance: fn, program });
}

/** `around` is the function that the lambda stands in. */
export function lambdaSummary(lambda: LambdaExpr, around: FunctionDecl | null, program: Program): Summary | null {
  return summarise(lambda, lambda.body, lambda.parameters, { index: indexBody(lambda.body), function: null, instance: around, program, ...(lambda.returns === undefined ? {} : { returns: lambda.returns }) });
}

function summarise(key: object, body: Stmt, parameters: readonly ParameterDecl[], context: EffectContext): Summary | null {
  const known = summaries.get(key);
  if (known !== undefined) return known;
  if (inProgress.has(key)) return null;
  inProgress.add(key);
  try {
    const made = make(body, parameters, context);
    summaries.set(key, made);
    return made;
  } finally {
    inProgress.delete(key);
  }
}

function make(body: Stmt, parameters: readonly ParameterDecl[], context: EffectContext): Summary {
  const effects = collectEffects(body, context);
  const own = (decl: Variable): boolean => context.index.declared.has(decl) || (decl.kind === 'parameter' && parameters.includes(decl));
  const touches = new Map<string, Touch>();
  for (const access of effects.accesses) {
    const place = placeOfAccess(access);
    const base = place.base;
    // The callee's own automatic objects end with the call; a by-value parameter without `*` is one of them.
    if (base !== null && base !== 'this' && isAutomatic(base) && own(base) && !place.steps.includes('*')) continue;
    const key = `${access.kind}${access.volatile ? '!' : ''}${placeKey(place)}`;
    if (!touches.has(key)) touches.set(key, { place, kind: access.kind, volatile: access.volatile, node: access.node });
  }
  return {
    parameters,
    touches: [...touches.values()],
    effects: {
      barriers: effects.barriers, collectives: effects.collectives, fences: effects.fences, atomics: effects.atomics, unknownCalls: effects.unknownCalls,
      visible: effects.visible, asm: effects.asm, opaque: effects.opaque,
    },
    mayFault: effects.faults.length > 0,
    captured: { uses: [...effects.uses].filter((decl) => !own(decl)), assigns: [...effects.assigns].filter((decl) => !own(decl)) },
  };
}

const outside = new WeakMap<FunctionDecl, boolean>();

/** May what a call runs write an object of the thread's own that it is not handed: through a pointer or reference in its own object, or by something unknown? */
export function mayWriteOutside(call: CallExpr, program: Program): boolean {
  const { callee } = call;
  if (callee.kind === 'unknown') return true;
  return (callee.kind === 'function' || callee.kind === 'method') && callee.candidates.some((fn) => writesOutside(fn, program));
}

function writesOutside(fn: FunctionDecl, program: Program): boolean {
  const known = outside.get(fn);
  if (known !== undefined) return known;
  outside.set(fn, true); // recursion
  const bodies = bodiesOf(fn, program);
  const made = bodies.length === 0 || bodies.some((body) => {
    const summary = summaryOf(body, program);
    if (summary === null || summary.effects.unknownCalls.length > 0 || summary.effects.opaque.length > 0 || summary.effects.asm.length > 0) return true;
    return summary.touches.some(({ kind, place: { base, steps } }) => kind !== 'read' && (base === null || (base === 'this' ? steps.includes('*', 1) : steps.includes('*'))));
  });
  outside.set(fn, made);
  return made;
}

/** The places in the caller that a place of the callee stands for. */
export function substitute(place: Place, parameters: readonly ParameterDecl[], call: CallExpr, caller: PlaceContext): readonly Place[] {
  const base = place.base;
  if (base === 'this') {
    if (call.callee.kind === 'method') {
      const { object, arrow } = call.callee;
      return arrow ? targetsOf(object, caller).map((target) => extend(target, place.steps.slice(1), place, caller)) : bound(object, place, caller);
    }
    // The object of a lambda is that of the method in which it is written.
    if (call.callee.kind === 'value') return lambdaOf(call.callee.value) !== null ? [place] : bound(call.callee.value, place, caller);
    // A method that calls another one of its object without naming it.
    return [place];
  }
  if (base === null || (base.kind !== 'parameter' && base.kind !== 'variable') || !isAutomatic(base)) return [place];
  const position = base.kind === 'parameter' ? parameters.indexOf(base) : -1;
  if (base.kind === 'variable' || position < 0) {
    // Captured by a lambda: a pointer of the enclosing function stands for what that function made it point to.
    return place.steps.startsWith('*') && base.type.kind === 'pointer' ? variableTargets(base, caller).map((target) => extend(target, place.steps.slice(1), place, caller)) : [place];
  }
  const argument = call.arguments[position] ?? base.default;
  if (argument === null || base.pack) return [UNKNOWN_PLACE];
  if (base.type.kind === 'reference') return bound(argument, place, caller);
  if (place.steps.startsWith('*')) return targetsOf(argument, caller).map((target) => extend(target, place.steps.slice(1), place, caller));
  const value = strip(argument);
  const holders = placesOf(value, caller);
  return holders.length === 0 ? [UNKNOWN_PLACE] : holders.map((holder) => extend(holder, place.steps, place, caller));
}

/** What a place stands for that starts from a reference to `object`, or from a method's own object. */
function bound(object: Expr, place: Place, caller: PlaceContext): readonly Place[] {
  const steps = place.steps.slice(1);
  const places = placesOf(object, caller);
  if (places.length > 0) return places.map((one) => extend(one, steps, place, caller));
  // A temporary ends with the call; what a pointer in it leads to does not.
  if (!steps.includes('*')) return [];
  const { type } = strip(object);
  if (!steps.startsWith('*') || (type.kind !== 'pointer' && type.kind !== 'array')) return [UNKNOWN_PLACE];
  return targetsOf(object, caller).map((target) => extend(target, steps.slice(1), place, caller));
}

const functions = new WeakMap<Program, ReadonlyMap<string, readonly FunctionDecl[]>>();

/** Functions by name; their bodies are not asked for, which would lower those of all headers. */
function functionsOf(program: Program): ReadonlyMap<string, readonly FunctionDecl[]> {
  const known = functions.get(program);
  if (known !== undefined) return known;
  const byName = new Map<string, FunctionDecl[]>();
  for (const unit of program.units.values()) {
    for (const fn of unit.functions) {
      const list = byName.get(fn.name);
      if (list === undefined) byName.set(fn.name, [fn]);
      else list.push(fn);
    }
  }
  functions.set(program, byName);
  return byName;
}

/** Bodies that a declaration may mean: its own, else those of the same name, owner and number of parameters anywhere in the program. */
export function bodiesOf(fn: FunctionDecl, program: Program): readonly FunctionDecl[] {
  if (fn.body !== null) return [fn];
  return (functionsOf(program).get(fn.name) ?? []).filter((other) => other.parameters.length === fn.parameters.length && other.owner?.name === fn.owner?.name && other.body !== null);
}

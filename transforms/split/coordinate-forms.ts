/**
 * Integer expressions of a kernel as `a * blockIdx + b * threadIdx + c` along one axis, where `a` is made of constants and `blockDim`, and `c` of what
 * the host can compute. The form is in mathematical integers; `ranges` lists what must hold of it for the C++ value to be the same.
 *
 * Arithmetic without a sign is exact modulo 2^bits, so that only where a value is seen (compared, widened, given a sign) must it lie in its type.
 */
import { strip } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr, IntType, RefExpr, Type } from '../../src/syntax/tree.js';
import { arithmeticType } from '../../src/syntax/types.js';
import type { Axis } from './condition.js';
import { provenanceOf } from '../lib/guards/named-constants.js';
import type { PlanConstant } from '../lib/types.js';
import { spelledIn, spelledName } from './spelled.js';
import { hostText, openMacro, soleValue, Stop, type HostText, type NotOnHost } from './host-text.js';

/** A value of the launch: text for the host, with the C++ type that it has there. */
export interface HostTerm {
  readonly coefficient: bigint;
  readonly host: HostText;
  readonly type: IntType;
  /** A parameter or something as simple. */
  readonly leaf: boolean;
}

export interface CoordinateForm {
  /** Null: no coordinate of the thread or the block in it. */
  readonly axis: Axis | null;
  /** Of `blockIdx`: `plain + perThread * blockDim`. */
  readonly plain: bigint;
  readonly perThread: bigint;
  /** Of `threadIdx`. */
  readonly thread: bigint;
  readonly constant: bigint;
  readonly terms: readonly HostTerm[];
  readonly type: IntType;
}

/** The form must lie between these, both included. */
export interface Within {
  readonly form: CoordinateForm;
  readonly low: bigint;
  readonly high: bigint;
}

/** Coefficients up to this, so that no product with a size of the launch leaves 64 bits. */
const MOST = 1n << 20n;

export function limitsOf(type: IntType): { readonly low: bigint; readonly high: bigint } {
  const bits = BigInt(type.bits);
  return type.signed ? { low: -(1n << (bits - 1n)), high: (1n << (bits - 1n)) - 1n } : { low: 0n, high: (1n << bits) - 1n };
}

/** Throws `Stop` where there is no form. */
export class FormReader {
  readonly ranges: Within[] = [];
  /** Named constants whose values the forms hold. */
  readonly folded = new Map<string, PlanConstant>();

  constructor(private readonly facts: FunctionFacts) {}

  read(expr: Expr, depth = 0): CoordinateForm {
    const macro = openMacro(this.facts, expr);
    if (macro !== null) throw new Stop({ sort: 'unknown', why: `another build may give ${macro} another value than the host's text would hold`, expr });
    const e = strip(expr);
    const known = this.#ofLaunch(this.#isOpen(expr) ? expr : e);
    if (known !== null) {
      if (known.terms.length === 0) this.#fold(expr);
      return known;
    }
    const stop = (sort: NotOnHost['sort'], why: string): Stop => new Stop({ sort, why, expr: e });
    switch (e.kind) {
      case 'coordinate': {
        if (e.axis === null) throw stop('unknown', 'it is no number of the launch');
        const type = intOf(e.type, e);
        return { axis: e.axis, plain: e.base === 'blockIdx' ? 1n : 0n, perThread: 0n, thread: e.base === 'threadIdx' ? 1n : 0n, constant: 0n, terms: [], type };
      }
      case 'ref': {
        if (e.decl?.kind !== 'variable') throw stop('data', `${e.name} is not known before the launch`);
        const value = depth > 8 ? null : valueAt(this.facts, e);
        if (value === null) throw stop('changes', `${e.name} has more than one value`);
        return this.#converted(this.read(value, depth + 1), intOf(e.decl.type, e));
      }
      case 'cast': return this.#converted(this.read(e.operand, depth), intOf(e.type, e));
      case 'unary': {
        if (e.op === '+') return this.#converted(this.read(e.operand, depth), intOf(e.type, e));
        if (e.op !== '-') break;
        return this.#scaled(this.#converted(this.read(e.operand, depth), intOf(e.type, e)), -1n, e);
      }
      case 'binary': {
        if (e.op === '+' || e.op === '-') {
          const type = intOf(e.type, e);
          const left = this.#converted(this.read(e.left, depth), type);
          const right = this.#converted(this.read(e.right, depth), type);
          return this.#sum(left, e.op === '-' ? this.#scaled(right, -1n, e) : right, e);
        }
        if (e.op === '*') return this.#product(e, depth);
        if (e.op === '<<') {
          const by = this.#constant(e.right);
          if (by === null || by < 0n || by > 20n) break;
          return this.#scaled(this.#converted(this.read(e.left, depth), intOf(e.type, e)), 1n << by, e);
        }
        break;
      }
      default: break;
    }
    const rendered = hostText(this.facts, e, { templates: true });
    if ('problem' in rendered && rendered.problem.sort === 'data') throw new Stop(rendered.problem);
    throw stop('unknown', 'it is no sum of a coordinate of the thread and of what the launch knows');
  }

  /** A whole expression that the host can compute; null if it cannot. */
  #ofLaunch(e: Expr): CoordinateForm | null {
    const nothing = { axis: null, plain: 0n, perThread: 0n, thread: 0n };
    const constant = this.#constant(e);
    if (constant !== null && e.type.kind === 'int') return { ...nothing, constant, terms: [], type: e.type };
    const rendered = hostText(this.facts, e, { templates: true });
    if ('problem' in rendered) return null;
    const type = intOf(e.type, e);
    return { ...nothing, constant: 0n, terms: [{ coefficient: 1n, host: rendered.host, type, leaf: e.kind === 'ref' || e.kind === 'member' || e.kind === 'coordinate' }], type };
  }

  #isOpen(expr: Expr): boolean {
    return provenanceOf(expr, this.facts.unit, this.facts.program) === 'open' && spelledName(this.facts, expr) !== null;
  }

  #fold(expr: Expr): void {
    for (const constant of spelledIn(this.facts, expr)) this.folded.set(constant.name, { ...constant, checked: true });
  }

  /** A value that all builds and instantiations give. */
  #constant(e: Expr): bigint | null {
    return provenanceOf(e, this.facts.unit, this.facts.program) === 'open' ? null : this.facts.constant(e);
  }

  #product(e: Extract<Expr, { kind: 'binary' }>, depth: number): CoordinateForm {
    const type = intOf(e.type, e);
    for (const [one, other] of [[e.left, e.right], [e.right, e.left]] as const) {
      const size = this.#blockSize(other);
      const factor = this.#constant(other);
      // Each launch says what its template arguments are: one that is its block's size is written as that.
      const meant = factor ?? (isTemplateParameter(other) ? this.facts.constant(other) : null);
      if (size === null && meant === null) continue;
      const form = this.#converted(this.read(one, depth), type);
      const whole = form.perThread === 0n && form.thread === 0n && form.constant === 0n && form.terms.length === 0;
      if (whole && form.axis !== null && (size === null ? meant === this.#sizeOfLaunches(form.axis) : size === form.axis)) return { ...form, plain: 0n, perThread: form.plain, type };
      if (factor === null) continue;
      this.#fold(other);
      return this.#scaled(form, factor, e);
    }
    throw new Stop({ sort: 'edge', why: 'a number of the block is multiplied with neither a constant nor blockDim', expr: e });
  }

  /** A side of the block that all launches have, so that a constant in its place means it. */
  #sizeOfLaunches(axis: Axis): bigint | null {
    const { value, origin } = this.facts.block;
    return value === null || origin !== 'launch' ? null : BigInt(value[axis]);
  }

  /** The axis of `blockDim.x`, as it is or through a variable. */
  #blockSize(expr: Expr, depth = 0): Axis | null {
    const e = strip(expr);
    if (e.kind === 'coordinate') return e.base === 'blockDim' ? e.axis : null;
    if (e.kind === 'cast') return e.type.kind === 'int' && e.type.bits >= 32 ? this.#blockSize(e.operand, depth) : null;
    if (e.kind !== 'ref' || e.decl?.kind !== 'variable' || depth > 4 || e.decl.type.kind !== 'int' || e.decl.type.bits < 32) return null;
    const value = soleValue(this.facts, e.decl);
    return value === null ? null : this.#blockSize(value, depth + 1);
  }

  #scaled(form: CoordinateForm, by: bigint, at: Expr): CoordinateForm {
    const scaled = {
      ...form, plain: form.plain * by, perThread: form.perThread * by, thread: form.thread * by, constant: form.constant * by,
      terms: by === 0n ? [] : form.terms.map((term) => ({ ...term, coefficient: term.coefficient * by })),
    };
    for (const part of [scaled.plain, scaled.perThread, scaled.thread, ...scaled.terms.map((term) => term.coefficient)]) {
      if (part > MOST || part < -MOST) throw new Stop({ sort: 'arithmetic', why: 'its factors are too large', expr: at });
    }
    return scaled;
  }

  #sum(a: CoordinateForm, b: CoordinateForm, at: Expr): CoordinateForm {
    if (a.axis !== null && b.axis !== null && a.axis !== b.axis) throw new Stop({ sort: 'edge', why: 'it mixes two axes: the blocks where it holds form no rectangle', expr: at });
    // `blockIdx.x + first`: what a division that was made before counts from.
    if ((isBlockNumber(a) && b.terms.length > 0) || (isBlockNumber(b) && a.terms.length > 0)) throw new Stop({ sort: 'block', why: 'the blocks are counted from one that the launch passes', expr: at });
    return {
      axis: a.axis ?? b.axis, plain: a.plain + b.plain, perThread: a.perThread + b.perThread, thread: a.thread + b.thread,
      constant: a.constant + b.constant, terms: [...a.terms, ...b.terms], type: a.type,
    };
  }

  /** The same value in another type; what must hold for that is noted. */
  #converted(form: CoordinateForm, to: IntType): CoordinateForm {
    const from = form.type;
    const widened = to.bits > from.bits && !from.signed;
    const signGiven = to.signed && (to.bits < from.bits || (to.bits === from.bits && !from.signed));
    const cut = to.bits < 32;
    if (form.axis !== null && (widened || signGiven || cut)) this.ranges.push({ form, ...limitsOf(widened ? from : to) });
    return { ...form, type: to };
  }

  /** The forms of both sides of a comparison in the type in which they are compared. */
  compared(left: Expr, right: Expr, at: Expr): readonly [CoordinateForm, CoordinateForm, IntType] {
    const [a, b] = [this.read(left), this.read(right)];
    const common = intOf(arithmeticType(a.type, b.type), at);
    const seen = (form: CoordinateForm): CoordinateForm => {
      const converted = form.axis === null ? form : this.#converted(form, common);
      if (!common.signed && form.axis !== null) this.ranges.push({ form: converted, ...limitsOf(common) });
      return converted;
    };
    return [seen(a), seen(b), common];
  }
}

function isTemplateParameter(expr: Expr): boolean {
  const e = strip(expr);
  return e.kind === 'ref' && e.decl?.kind === 'template-parameter';
}

/** `blockIdx.x` itself. */
function isBlockNumber(form: CoordinateForm): boolean {
  return form.plain === 1n && form.perThread === 0n && form.thread === 0n && form.constant === 0n && form.terms.length === 0;
}

/** What a variable holds at one use, if one definition alone reaches it. */
export function valueAt(facts: FunctionFacts, use: RefExpr): Expr | null {
  const { decl } = use;
  if (decl?.kind !== 'variable' || decl.space !== 'local' || decl.storage !== 'automatic' || decl.type.kind === 'reference' || facts.addressTaken(decl)) return null;
  const sole = soleValue(facts, decl);
  if (sole !== null) return sole;
  const [only, ...others] = facts.definitions(use);
  if (only === undefined || others.length > 0) return null;
  switch (only.kind) {
    case 'declaration': return only.decl.opaqueInit ? null : only.decl.init;
    case 'assignment': return only.node.kind === 'assign' && only.node.op === null ? only.node.value : null;
    case 'parameter': case 'unknown': return null;
    default: {
      const never: never = only;
      return never;
    }
  }
}

function intOf(type: Type, at: Expr): IntType {
  if (type.kind !== 'int') throw new Stop({ sort: 'type', why: 'it is no integer', expr: at });
  return type;
}

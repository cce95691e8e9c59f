/**
 * Terms over a kernel's inputs: what an expression is as a function of scalar parameters and of one element of a buffer, through local variables, parameters of
 * called functions, template values and functions that return one expression. Only test values depend on them, no verdict: a variable counts with its
 * initialiser whatever is stored in it later, and what is not such a function (a thread's place, memory that the kernel writes, unknown calls) is no term.
 */
import { strip, type Decl, type Expr, type FunctionDecl, type Type } from '../syntax/tree.js';
import { isArithmetic } from '../syntax/types.js';
import { evaluate, toScalar, type ConstantValue } from './constants.js';
import { callScope, madeWith, type Made } from './made-with.js';
import { resolve, type Env } from './resolve.js';
import type { Scope } from './term-scope.js';
import { Unsupported, type Scalar } from './types.js';

/** An input that a term depends on: a scalar parameter or its member by name, a scalar in `__constant__` memory, or an element of what a pointer points to. */
export interface Atom {
  readonly name: string;
  readonly scalar: Scalar;
  readonly of: 'parameter' | 'element';
  value: ConstantValue | null;
}

export interface Term {
  /** Equal for equal functions of equal inputs; names of parameters stand between `@`. */
  readonly key: string;
  readonly atoms: ReadonlySet<Atom>;
  /** Integers that the term is made of. */
  readonly constants: ReadonlySet<number>;
  /** The value for the values that the atoms hold; null where it has none. `moment` tells one choice of values from the next. */
  value(moment: number): ConstantValue | null;
}

const MOST_DEPTH = 12;
const MOST_KEY = 400;
const NONE: ReadonlySet<Atom> = new Set();

export function termOf(expr: Expr, scope: Scope, depth = 0): Term | null {
  if (depth > 40) return null;
  const e = strip(expr);
  switch (e.kind) {
    case 'literal': case 'sizeof': case 'coordinate': return constantTerm(evaluate(e, scope.env));
    case 'ref': return reference(e.decl, e, scope, depth);
    case 'member': case 'index': return inputTerm(e, scope) ?? partTerm(e, scope, depth);
    case 'unary':
      if (e.op === '*') return inputTerm(e, scope) ?? partTerm(e, scope, depth);
      return e.op === '&' ? null : composed(e, `${e.op}`, [e.operand], scope, depth);
    case 'binary': return e.op === ',' ? null : composed(e, e.op, [e.left, e.right], scope, depth);
    case 'conditional': return composed(e, '?', [e.condition, e.then, e.else], scope, depth);
    case 'cast': return e.reference !== undefined ? null : composed(e, `(${scalarOf(e.type, scope.env) ?? '?'})`, [e.operand], scope, depth);
    case 'construct': return e.arguments.length === 1 ? composed(e, `(${scalarOf(e.type, scope.env) ?? '?'})`, e.arguments, scope, depth) : null;
    case 'call':
      if (e.callee.kind === 'builtin') return builtinTerm(e, e.callee.name, scope, depth);
      if (e.callee.kind === 'function' || e.callee.kind === 'method') return returned(e, e.callee.candidates, scope, depth);
      return null;
    default: return null;
  }
}

function constantTerm(value: ConstantValue | null): Term | null {
  if (value === null) return null;
  const n = Number(value.value);
  return { key: `${n}${value.kind === 'float' ? 'f' : ''}`, atoms: NONE, constants: value.kind === 'integer' && Number.isSafeInteger(n) ? new Set([n]) : new Set(), value: () => value };
}

function composed(e: Expr, op: string, operands: readonly Expr[], scope: Scope, depth: number): Term | null {
  const terms: { readonly at: Expr; readonly term: Term }[] = [];
  for (const operand of operands) {
    const term = termOf(operand, scope, depth + 1);
    if (term === null) return null;
    terms.push({ at: strip(operand), term });
  }
  const key = `${op}(${terms.map(({ term }) => term.key).join()})`;
  if (key.length > MOST_KEY) return null;
  const atoms = new Set(terms.flatMap(({ term }) => [...term.atoms]));
  return {
    key, atoms, constants: new Set(terms.flatMap(({ term }) => [...term.constants])),
    value: remembered((moment) => {
      const values = new Map<Expr, ConstantValue>();
      for (const { at, term } of terms) {
        const v = term.value(moment);
        if (v === null) return null;
        values.set(at, v);
      }
      return evaluate(e, scope.env, (x) => values.get(x) ?? null);
    }),
  };
}

function remembered(compute: (moment: number) => ConstantValue | null): (moment: number) => ConstantValue | null {
  let at = -1;
  let held: ConstantValue | null = null;
  return (moment) => {
    if (moment !== at) { held = compute(moment); at = moment; }
    return held;
  };
}

/** The term as a variable of that type holds it. */
function held(term: Term | null, type: Type, scope: Scope): Term | null {
  const s = scalarOf(type, scope.env);
  if (term === null || s === null) return term;
  return { ...term, key: `${s}(${term.key})`, value: (moment) => { const v = term.value(moment); return v === null ? null : toScalar(v, s); } };
}

function reference(decl: Decl | null, e: Expr, scope: Scope, depth: number): Term | null {
  if (decl === null) return null;
  const known = scope.known.get(decl);
  if (known !== undefined) return known;
  scope.known.set(decl, null); // of a variable that stands in its own initialiser
  const term = named(decl, e, scope, depth);
  scope.known.set(decl, term);
  return term;
}

/** Variables outside of functions whose values only the host changes. */
function isHostSet(decl: Decl, stored: ReadonlySet<Decl>): boolean {
  return decl.kind === 'variable' && (decl.space === 'constant' || ((decl.space === 'device' || decl.space === 'managed') && !stored.has(decl)));
}

function named(decl: Decl, e: Expr, scope: Scope, depth: number): Term | null {
  if (decl.kind !== 'variable' && decl.kind !== 'parameter') return constantTerm(evaluate(e, scope.env));
  const bound = scope.bound.get(decl);
  if (bound !== undefined) return held(termOf(bound.expr, bound.scope, depth + 1), decl.type, scope);
  if (decl.kind === 'parameter') return inputTerm(e, scope);
  if (decl.storage === 'member' && scope.self !== null) return partTerm(e, scope, depth);
  const constant = constantTerm(evaluate(e, scope.env));
  if (constant !== null) return constant;
  if (decl.init === null && isHostSet(decl, scope.stored)) return inputTerm(e, scope);
  if (decl.space === 'shared' || decl.storage === 'static') return null;
  if (decl.init === null) return partTerm(e, scope, depth);
  return held(termOf(decl.init, scope, depth + 1), decl.type, scope);
}

/** A member of an object or an element of an array, as what it is made with. */
function partTerm(e: Expr, scope: Scope, depth: number): Term | null {
  const known = scope.known.get(e);
  if (known !== undefined) return known;
  scope.known.set(e, null);
  const made = scalarOf(e.type, scope.env) === null ? null : madeWith(e, [], scope, depth);
  const term = made === null ? e.kind === 'index' ? tableTerm(e, scope, depth) : null : held(madeTerm(made, e, scope, depth), e.type, scope);
  scope.known.set(e, term);
  return term;
}

function madeTerm(made: Made, e: Expr, scope: Scope, depth: number): Term | null {
  switch (made.kind) {
    case 'zero': return constantTerm({ kind: 'integer', value: 0n, type: { bits: 32, signed: true } });
    case 'made': return termOf(made.expr, made.scope, depth + 1);
    case 'input': {
      const root = made.path.length === 0 ? null : inputOf(made.expr, made.scope, 0);
      if (root === null || made.path.some((step) => typeof step === 'number')) return null;
      return inputOfType(root.of === 'parameter' ? { ...root, name: [root.name, ...made.path].join('.') } : { ...root, at: [root.at, ...made.path].join('.') }, e.type, scope);
    }
  }
}

/** Elements of a table that are looked through. */
const MOST_ELEMENTS = 64;

/** `T[m & 3]` of an array whose elements are known. */
function tableTerm(e: Extract<Expr, { kind: 'index' }>, scope: Scope, depth: number): Term | null {
  const at = termOf(e.index, scope, depth + 1);
  if (at === null) return null;
  const elements: Term[] = [];
  for (let i = 0; i < MOST_ELEMENTS; i++) {
    const index: Expr = { kind: 'literal', value: BigInt(i), span: e.index.span, type: { kind: 'int', bits: 32, signed: true } };
    const made = madeWith({ ...e, index }, [], scope, depth + 1);
    const term = made?.kind === 'made' ? held(termOf(made.expr, made.scope, depth + 1), e.type, scope) : null;
    if (term === null) break;
    elements.push(term);
  }
  const key = `[](${[at, ...elements].map((term) => term.key).join()})`;
  if (elements.length === 0 || key.length > MOST_KEY) return null;
  return {
    key, atoms: new Set([at, ...elements].flatMap((term) => [...term.atoms])), constants: new Set([at, ...elements].flatMap((term) => [...term.constants])),
    value: remembered((moment) => { const i = at.value(moment); return i === null ? null : elements[Number(i.value)]?.value(moment) ?? null; }),
  };
}

/** A scalar parameter, a member of one, or an element of a buffer. */
function inputTerm(e: Expr, scope: Scope): Term | null {
  const found = inputOf(e, scope, 0);
  return found === null ? null : inputOfType(found, e.type, scope);
}

function inputOfType(found: Input, type: Type, scope: Scope): Term | null {
  const s = scalarOf(type, scope.env);
  if (s === null) return null;
  const key = found.of === 'parameter' ? `@${found.name}@` : `@${found.name}@[${found.at}]`;
  let atom = scope.atoms.get(key);
  if (atom === undefined) scope.atoms.set(key, atom = { name: found.name, scalar: s, of: found.of, value: null });
  const own = atom;
  return { key, atoms: new Set([own]), constants: new Set(), value: () => own.value };
}

type Input = { readonly of: 'parameter' | 'element'; readonly name: string; readonly at: string };

function inputOf(expr: Expr, scope: Scope, depth: number): Input | null {
  if (depth > 20) return null;
  const e = strip(expr);
  switch (e.kind) {
    case 'ref': {
      const decl = e.decl;
      if (decl === null || (decl.kind !== 'parameter' && decl.kind !== 'variable')) return null;
      const bound = scope.bound.get(decl);
      if (bound !== undefined) return isConverted(decl.type, bound.expr) ? null : inputOf(bound.expr, bound.scope, depth + 1);
      if (decl.kind === 'parameter') return scope.kernel.parameters.includes(decl) ? { of: 'parameter', name: decl.name, at: '' } : null;
      // The host gives it a value, as it gives parameters theirs.
      if (isHostSet(decl, scope.stored)) return decl.init === null && (decl.type.kind === 'int' || decl.type.kind === 'float') ? { of: 'parameter', name: decl.name, at: '' } : null;
      return decl.init === null || decl.space === 'shared' || decl.type.kind === 'array' || isConverted(decl.type, decl.init) ? null : inputOf(decl.init, scope, depth + 1);
    }
    case 'member': {
      const object = inputOf(e.object, scope, depth + 1);
      if (object === null) return null;
      if (object.of === 'parameter' && !e.arrow) return { ...object, name: `${object.name}.${e.name}` };
      return { of: 'element', name: object.name, at: `${object.at}.${e.name}` };
    }
    case 'index': {
      const base = inputOf(e.base, scope, depth + 1);
      return base === null ? null : { of: 'element', name: base.name, at: `${base.at}[${spelled(e.index)}]` };
    }
    case 'unary':
      if (e.op !== '*') return null;
      return elementAt(inputOf(e.operand, scope, depth + 1), e);
    case 'binary': {
      if (e.op !== '+' && e.op !== '-') return null;
      const base = e.left.type.kind === 'pointer' ? e.left : e.right.type.kind === 'pointer' ? e.right : null;
      const from = base === null ? null : inputOf(base, scope, depth + 1);
      return from === null ? null : { ...from, at: `${from.at}+${spelled(base === e.left ? e.right : e.left)}` };
    }
    case 'cast': return e.type.kind === 'pointer' ? inputOf(e.operand, scope, depth + 1) : null;
    default: return null;
  }
}

/** An object that is made of a number. */
function isConverted(type: Type, init: Expr): boolean {
  return type.kind === 'record' && isArithmetic(strip(init).type);
}

function elementAt(base: Input | null, at: Expr): Input | null {
  return base === null ? null : { of: 'element', name: base.name, at: `${base.at}*${spelled(at)}` };
}

/** Equal for subscripts that are written alike. */
function spelled(expr: Expr): string {
  const e = strip(expr);
  switch (e.kind) {
    case 'ref': return e.name;
    case 'literal': return `${e.value ?? 'null'}`;
    case 'coordinate': return `${e.base}.${e.axis ?? ''}`;
    case 'unary': return `${e.op}${spelled(e.operand)}`;
    case 'binary': return `(${spelled(e.left)}${e.op}${spelled(e.right)})`;
    case 'member': return `${spelled(e.object)}.${e.name}`;
    case 'index': return `${spelled(e.base)}[${spelled(e.index)}]`;
    default: return `${e.span.start}`;
  }
}

/** Functions of one value, for which a value of the argument is looked for from a value of the result. */
const FUNCTIONS: ReadonlyMap<string, (x: number) => number> = new Map(Object.entries({
  sqrt: Math.sqrt, fabs: Math.abs, floor: Math.floor, ceil: Math.ceil, rint: Math.round, round: Math.round, trunc: Math.trunc, exp: Math.exp, exp2: (x: number) => 2 ** x, log: Math.log, log2: Math.log2, log10: Math.log10,
  rsqrt: (x: number) => 1 / Math.sqrt(x), sin: Math.sin, cos: Math.cos, tan: Math.tan, tanh: Math.tanh, atan: Math.atan,
}));

/** `sqrtf(x)`, `abs(i)`, `fminf(x, y)`. */
function builtinTerm(e: Extract<Expr, { kind: 'call' }>, name: string, scope: Scope, depth: number): Term | null {
  const [first, second] = e.arguments;
  if (first === undefined) return null;
  if (name === 'min' || name === 'max') return composed(e, name, e.arguments, scope, depth);
  const a = termOf(first, scope, depth + 1);
  if (a === null) return null;
  const double = !name.endsWith('f') && first.type.kind === 'float' && first.type.format === 'double';
  const real = (x: number): ConstantValue => ({ kind: 'float', value: double ? x : Math.fround(x), format: double ? 'double' : 'float' });
  const bare = name.replace(/f$/, '');
  if (/^(f?min|f?max)$/.test(bare) && second !== undefined) {
    const b = termOf(second, scope, depth + 1);
    if (b === null) return null;
    const choose = bare.endsWith('min') ? Math.min : Math.max;
    return { key: `${bare}(${a.key},${b.key})`, atoms: new Set([...a.atoms, ...b.atoms]), constants: new Set([...a.constants, ...b.constants]), value: remembered((moment) => { const x = a.value(moment); const y = b.value(moment); return x === null || y === null ? null : real(choose(Number(x.value), Number(y.value))); }) };
  }
  const absolute = bare === 'abs' || bare === 'llabs' || bare === 'labs';
  const of = absolute ? Math.abs : FUNCTIONS.get(bare);
  if (of === undefined || second !== undefined) return null;
  return {
    ...a, key: `${bare}(${a.key})`,
    value: remembered((moment) => {
      const x = a.value(moment);
      if (x === null) return null;
      if (absolute && x.kind === 'integer') return x.value < 0n ? { ...x, value: -x.value } : x;
      return real(of(Number(x.value)));
    }),
  };
}

/** A function that declares variables, stores in them and returns one expression. */
function returned(e: Extract<Expr, { kind: 'call' }>, candidates: readonly FunctionDecl[], scope: Scope, depth: number): Term | null {
  const [callee, other] = candidates;
  if (callee === undefined || other !== undefined || callee.body === null || callee.template !== null || scope.depth > MOST_DEPTH) return null;
  const last = callee.body.body.at(-1);
  if (last?.kind !== 'return' || last.value === null || !callee.body.body.slice(0, -1).every((s) => s.kind === 'declare' || s.kind === 'expression')) return null;
  const inner = callScope(e, callee, scope);
  return held(termOf(last.value, inner, depth + 1), callee.returns, inner);
}

export function scalarOf(type: Type, env: Env): Scalar | null {
  try {
    const t = resolve(type, env);
    return t.k === 'scalar' ? t.s : t.k === 'reference' && t.to.k === 'scalar' ? t.to.s : null;
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

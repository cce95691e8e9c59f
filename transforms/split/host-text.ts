/**
 * An expression of a kernel as text of a launch plan: what the host can compute before the launch, with the value that the device would get.
 *
 * Plans are evaluated by the C++ compiler and by the simulator, which computes in mathematical integers: where unsigned arithmetic could wrap
 * or a comparison converts a sign, the text says so with a cast that changes nothing in C++.
 */
import { strip } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { BinaryOperator, CoordinateExpr, Expr, ParameterDecl, Type, VariableDecl } from '../../src/syntax/tree.js';
import { whyNameless } from '../../src/syntax/tree.js';
import { arithmeticType, enumValues, promote } from '../../src/syntax/types.js';
import { provenanceOf } from '../lib/guards/named-constants.js';
import type { PlanConstant } from '../lib/types.js';
import { spelledName } from './spelled.js';

export interface HostText {
  readonly text: string;
  /** A name, a literal or something in parentheses. */
  readonly primary: boolean;
  readonly parameters: ReadonlySet<ParameterDecl>;
  /** Constants that the text calls by their names. */
  readonly constants: readonly PlanConstant[];
}

/** Why the host cannot know the value. */
export interface NotOnHost {
  readonly why: string;
  readonly expr: Expr;
  /** Only a compiler decides it: constants and template parameters. */
  readonly sort: 'data' | 'thread' | 'block' | 'edge' | 'compile-time' | 'changes' | 'arithmetic' | 'type' | 'unknown';
}

export type Rendered = { readonly host: HostText } | { readonly problem: NotOnHost };

export interface HostOptions {
  /** Template parameters that are integers stand by their names: each launch says what they are. */
  readonly templates?: boolean;
}

/** Text for the host, or the first thing that it cannot know. */
export function hostText(facts: FunctionFacts, expr: Expr, options: HostOptions = {}): Rendered {
  const writer = new Writer(facts, options);
  try {
    const { text, level } = writer.write(expr, 0);
    return { host: { text, primary: level === PRIMARY, parameters: writer.parameters, constants: [...writer.constants.values()] } };
  } catch (error) {
    if (error instanceof Stop) return { problem: error.problem };
    throw error;
  }
}

/** The macro in front of an expression whose value another build may set otherwise, and that host text cannot name; null if there is none. */
export function openMacro(facts: FunctionFacts, expr: Expr): string | null {
  let at = expr;
  while (at.kind === 'paren') at = at.inner;
  return at.kind === 'macro' && provenanceOf(at, facts.unit, facts.program) === 'open' && spelledName(facts, at) === null ? at.name : null;
}

/** The one value that a local variable ever has, if its initialiser is all that sets it. */
export function soleValue(facts: FunctionFacts, decl: VariableDecl): Expr | null {
  if (decl.init === null || decl.opaqueInit || decl.space !== 'local' || decl.storage !== 'automatic' || facts.addressTaken(decl)) return null;
  const { body } = facts.function;
  if (body === null || decl.type.kind === 'reference' || decl.type.volatile === true) return null;
  const definitions = facts.assignments(decl, body).filter((definition) => definition.kind !== 'declaration');
  return definitions.length === 0 ? decl.init : null;
}

/** The block's number along an axis, as it is or through a variable that holds nothing else; null if the expression is something else. */
export function blockIndexOf(facts: FunctionFacts, expr: Expr, depth = 0): CoordinateExpr | null {
  const e = strip(expr);
  if (e.kind === 'coordinate') return e.base === 'blockIdx' && e.axis !== null ? e : null;
  if (e.kind === 'cast') return holdsBlockIndex(e.type) ? blockIndexOf(facts, e.operand, depth) : null;
  if (e.kind !== 'ref' || e.decl?.kind !== 'variable' || depth > 4 || !holdsBlockIndex(e.decl.type)) return null;
  const value = soleValue(facts, e.decl);
  return value === null ? null : blockIndexOf(facts, value, depth + 1);
}

/** At most 2^31 - 1 blocks stand side by side. */
function holdsBlockIndex(type: Type): boolean {
  return type.kind === 'int' && type.bits >= 32;
}

export class Stop extends Error {
  constructor(readonly problem: NotOnHost) {
    super(problem.why);
  }
}

/** Text with the precedence of its outermost operator. */
interface Piece { readonly text: string; readonly level: number }

const PRIMARY = 20;
const PREFIX = 15;
const CONDITIONAL = 1;
const LEVELS: Readonly<Record<BinaryOperator, number>> = {
  ',': 0, '||': 2, '&&': 3, '|': 4, '^': 5, '&': 6, '==': 7, '!=': 7, '<': 8, '<=': 8, '>': 8, '>=': 8, '<<': 9, '>>': 9, '+': 10, '-': 10, '*': 11, '/': 11, '%': 11,
};

class Writer {
  readonly parameters = new Set<ParameterDecl>();
  readonly constants = new Map<string, PlanConstant>();

  constructor(private readonly facts: FunctionFacts, private readonly options: HostOptions) {}

  write(expr: Expr, depth: number): Piece {
    const stop = (sort: NotOnHost['sort'], why: string): Stop => new Stop({ sort, why, expr });
    switch (expr.kind) {
      case 'literal':
        if (typeof expr.value === 'string') throw stop('unknown', 'it is a string');
        return number(literal(expr.value, expr.type));
      case 'paren': return this.write(expr.inner, depth);
      case 'macro': {
        const named = this.#named(expr);
        if (named !== null) return named;
        const open = openMacro(this.facts, expr);
        if (open !== null) throw stop('unknown', `another build may give ${open} another value than the host's text would hold`);
        return this.write(expr.expanded, depth);
      }
      case 'ref': return this.#ref(expr, depth);
      case 'coordinate':
        if (expr.base === 'threadIdx') throw stop('thread', 'it differs between the threads of a block');
        if (expr.base === 'blockIdx') throw stop('block', 'it differs between blocks');
        if (expr.axis === null || expr.base === 'warpSize') throw stop('unknown', 'it is no number of the launch');
        return { text: `${expr.base}.${expr.axis}`, level: PRIMARY };
      case 'member': {
        const object = strip(expr.object);
        if (expr.arrow || object.kind !== 'ref' || object.decl?.kind !== 'parameter' || expr.field === null || object.decl.type.kind !== 'record') throw stop('data', 'it is read from memory');
        this.#parameter(object.decl, expr);
        return { text: `${object.decl.name}.${expr.name}`, level: PRIMARY };
      }
      case 'unary': return this.#unary(expr, depth);
      case 'binary': return this.#binary(expr, depth);
      case 'conditional': {
        const [c, a, b] = [expr.condition, expr.then, expr.else].map((part) => this.grouped(part, depth, CONDITIONAL + 1));
        return { text: `${c ?? ''} ? ${a ?? ''} : ${b ?? ''}`, level: CONDITIONAL };
      }
      case 'cast': {
        const to = arithmeticName(expr.type);
        if (to === null) throw stop('type', 'the host cannot repeat this conversion');
        return { text: `(${to})${this.grouped(expr.operand, depth, PRIMARY)}`, level: PREFIX };
      }
      case 'index': throw stop('data', 'it is read from memory');
      case 'call': throw stop('unknown', 'the host cannot repeat the call');
      case 'this': case 'update': case 'assign': case 'construct': case 'init-list': case 'sizeof': case 'lambda': case 'opaque':
        throw stop('unknown', 'the host cannot repeat it');
      default: {
        const never: never = expr;
        return never;
      }
    }
  }

  /** As an operand of an operator that takes operands of this level. */
  grouped(expr: Expr, depth: number, least: number): string {
    const { text, level } = this.write(expr, depth);
    return level >= least ? text : `(${text})`;
  }

  /** A constant by its name. */
  #named(expr: Expr): Piece | null {
    const constant = spelledName(this.facts, expr);
    if (constant === null) return null;
    this.constants.set(constant.name, constant);
    return { text: constant.name, level: PRIMARY };
  }

  #parameter(decl: ParameterDecl, expr: Expr): void {
    const { body } = this.facts.function;
    if (decl.pack || decl.name === '' || decl.type.kind === 'reference') throw new Stop({ sort: 'type', why: 'it is no parameter by value', expr });
    if (body === null || this.facts.addressTaken(decl) || this.facts.assignments(decl, body).some((definition) => definition.kind !== 'parameter')) {
      throw new Stop({ sort: 'changes', why: `${decl.name} is assigned in the kernel`, expr });
    }
    this.parameters.add(decl);
  }

  #ref(expr: Extract<Expr, { kind: 'ref' }>, depth: number): Piece {
    const stop = (sort: NotOnHost['sort'], why: string): Stop => new Stop({ sort, why, expr });
    const { decl } = expr;
    if (decl === null) throw stop('unknown', whyNameless(expr));
    if (decl.kind === 'template-parameter') {
      const own = this.options.templates === true && this.facts.function.template?.includes(decl) === true;
      if (own && decl.sort === 'value' && !decl.pack && decl.type !== null && decl.type.kind === 'int' && expr.type.kind === 'int') return { text: decl.name, level: PRIMARY };
      throw stop('compile-time', `${expr.name} is a template parameter`);
    }
    if (decl.kind === 'parameter') {
      if (decl.type.kind !== 'pointer' && arithmeticName(decl.type) === null && decl.type.kind !== 'enum') throw stop('type', `the type of ${decl.name} is not a number`);
      this.#parameter(decl, expr);
      // Enumerators are written as numbers, which a scoped enumeration does not compare with.
      if (decl.type.kind === 'enum') {
        const values = numberOf(decl.type);
        const to = values === null ? null : arithmeticName(values);
        if (to === null) throw stop('type', `the type of ${decl.name} is not known`);
        return { text: `(${to})${decl.name}`, level: PREFIX };
      }
      return { text: decl.name, level: PRIMARY };
    }
    const named = this.#named(expr);
    if (named !== null) return named;
    // Another build or instantiation may give it another value than the host's text would hold.
    const constant = provenanceOf(expr, this.facts.unit, this.facts.program) === 'open' ? null : this.facts.constant(expr);
    if (constant !== null) return number(literal(constant, expr.type));
    if (decl.kind !== 'variable') throw stop('unknown', `${expr.name} is no value`);
    if (decl.space !== 'local' || decl.storage !== 'automatic') throw stop('data', `${expr.name} is memory of the device`);
    const value = depth > 8 ? null : soleValue(this.facts, decl);
    if (value === null) throw stop('changes', `${expr.name} has more than one value`);
    const piece = this.write(value, depth + 1);
    const to = arithmeticName(decl.type);
    if (to === null) throw stop('type', `the type of ${expr.name} is not a number`);
    if (to === arithmeticName(value.type)) return piece;
    return { text: `(${to})${piece.level === PRIMARY ? piece.text : `(${piece.text})`}`, level: PREFIX };
  }

  #unary(expr: Extract<Expr, { kind: 'unary' }>, depth: number): Piece {
    if (expr.op === '*') throw new Stop({ sort: 'data', why: 'it is read from memory', expr });
    if (expr.op === '&') throw new Stop({ sort: 'unknown', why: 'it is an address', expr });
    const text = `${expr.op}${this.grouped(expr.operand, depth, PRIMARY)}`;
    if (expr.op === '!' || expr.op === '+') return { text, level: PREFIX };
    return wrapped(text, promote(expr.operand.type), expr, PREFIX);
  }

  #binary(expr: Extract<Expr, { kind: 'binary' }>, depth: number): Piece {
    const stop = (sort: NotOnHost['sort'], why: string): Stop => new Stop({ sort, why, expr });
    const level = LEVELS[expr.op];
    // Compilers warn of `a && b || c`.
    const least = expr.op === '||' ? LEVELS['|'] : level;
    const left = this.grouped(expr.left, depth, least);
    const right = this.grouped(expr.right, depth, least + 1);
    switch (expr.op) {
      case '&&': case '||': return { text: `${left} ${expr.op} ${right}`, level };
      case ',': throw stop('unknown', 'it is a sequence of expressions');
      case '<': case '<=': case '>': case '>=': case '==': case '!=': {
        const [a, b] = [strip(expr.left).type, strip(expr.right).type];
        if (a.kind === 'pointer' || b.kind === 'pointer') return { text: `${left} ${expr.op} ${right}`, level };
        const [x, y] = [numberOf(a), numberOf(b)];
        if (x === null || y === null) throw stop('type', 'the types of the comparison are not known');
        const common = arithmeticType(x, y);
        if (common.kind === 'unknown' || common.kind === 'dependent') throw stop('type', 'the types of the comparison are not known');
        return { text: `${converted(left, expr.left, common, stop)} ${expr.op} ${converted(right, expr.right, common, stop)}`, level };
      }
      case '/': case '%': {
        const divisor = provenanceOf(expr.right, this.facts.unit, this.facts.program) === 'open' ? null : this.facts.constant(expr.right);
        if (divisor === null || divisor === 0n || expr.type.kind !== 'int') throw stop('arithmetic', 'on the host a division by zero would end the program');
        return { text: `${left} ${expr.op} ${right}`, level };
      }
      case '+': case '-': case '*': case '<<': case '>>': case '&': case '|': case '^':
        if (expr.type.kind !== 'int') throw stop('arithmetic', 'host and device may round differently');
        return wrapped(`${left} ${expr.op} ${right}`, expr.type, expr, level);
      default: {
        const never: never = expr.op;
        return never;
      }
    }
  }
}

function number(text: string): Piece {
  return { text, level: text.startsWith('-') ? PREFIX : PRIMARY };
}

/** Unsigned arithmetic: the cast is what C++ does anyway. */
function wrapped(text: string, type: Type, expr: Expr, level: number): Piece {
  if (type.kind === 'int' && !type.signed && type.bits === 32) return { text: `(unsigned)(${text})`, level: PREFIX };
  if (type.kind === 'int' && (type.signed || type.bits === 64)) return { text, level };
  if (type.kind === 'float') return { text, level };
  throw new Stop({ sort: 'type', why: 'its type is not known', expr });
}

/** What the values of an enum are; other types as they stand. Null for an enum of which that is not known. */
function numberOf(type: Type): Type | null {
  return type.kind === 'enum' ? enumValues(type.decl) : type;
}

/** An operand of a comparison in the type in which it is compared, where its sign changes. */
function converted(text: string, operand: Expr, common: Type, stop: (sort: NotOnHost['sort'], why: string) => Stop): string {
  const e = strip(operand);
  const own = numberOf(e.type);
  if (common.kind !== 'int' || common.signed) return text;
  if (own?.kind !== 'int' || !own.signed) return text;
  if (e.kind === 'literal' && typeof e.value === 'bigint' && e.value >= 0n) return text;
  if (common.bits === 32) return `(unsigned)${/^[\w.]+$/.test(text) ? text : `(${text})`}`;
  throw stop('arithmetic', 'a signed number is compared as 64 bits without a sign');
}

/** Name of an arithmetic type as a cast; null if it is none. */
export function arithmeticName(type: Type): string | null {
  switch (type.kind) {
    case 'bool': return 'bool';
    case 'int':
      if (type.bits === 32) return type.signed ? 'int' : 'unsigned';
      if (type.bits === 64) return type.signed ? 'long long' : 'unsigned long long';
      return type.bits === 16 ? (type.signed ? 'short' : 'unsigned short') : type.signed ? 'char' : 'unsigned char';
    case 'float': return type.format === 'float' || type.format === 'double' ? type.format : null;
    case 'void': case 'pointer': case 'reference': case 'array': case 'record': case 'enum': case 'function': case 'dependent': case 'unknown': return null;
    default: {
      const never: never = type;
      return never;
    }
  }
}

function literal(value: bigint | number | boolean | null, written: Type): string {
  const type = numberOf(written) ?? written;
  if (value === null) return 'nullptr';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') {
    if (type.kind === 'bool') return value === 0n ? 'false' : 'true';
    const suffix = type.kind === 'int' && !type.signed && type.bits >= 32 ? 'u' : '';
    const long = type.kind === 'int' && type.bits === 64 ? 'll' : '';
    const text = `${value < 0n ? -value : value}${suffix}${long}`;
    return value < 0n ? `-${text}` : text;
  }
  const text = Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toFixed(1) : String(value);
  const whole = type.kind === 'float' && type.format === 'float' ? `${text}f` : text;
  return whole;
}

/**
 * Small C++ integer expressions that peel writes: printed as text, and evaluated in their C++ types by the tests, so that a bound is
 * checked as it will run, wrap-around included.
 */
import { isStmt } from '../../../src/analysis/children.js';
import { commonType, fits, INT32, INT64, promote, UINT32, UINT64, wrap, type IntegerType } from '../../../src/cuda/integers.js';
import { unreachable } from '../../../src/syntax/tree.js';
import type { Sym } from './polynomial.js';

export type Cpp =
  | { readonly kind: 'number'; readonly value: bigint }
  | { readonly kind: 'symbol'; readonly sym: Sym }
  /** A constant that was declared before; `value` is its initialiser. */
  | { readonly kind: 'name'; readonly name: string; readonly value: Cpp }
  | { readonly kind: 'cast'; readonly to: IntegerType; readonly operand: Cpp }
  | { readonly kind: 'binary'; readonly op: '+' | '-' | '*' | '/'; readonly left: Cpp; readonly right: Cpp }
  | { readonly kind: 'extreme'; readonly op: 'max' | 'min'; readonly left: Cpp; readonly right: Cpp }
  /** `left > right ? then : 0`, or with `>=`. */
  | { readonly kind: 'positive'; readonly op: '>' | '>='; readonly left: Cpp; readonly right: Cpp; readonly then: Cpp };

export function number(value: bigint): Cpp {
  return { kind: 'number', value };
}

export function binary(op: '+' | '-' | '*' | '/', left: Cpp, right: Cpp): Cpp {
  return { kind: 'binary', op, left, right };
}

/** Integer type of a literal as C++ reads it. */
function literalType(value: bigint): IntegerType {
  return fits(value, INT32) ? INT32 : INT64;
}

export function typeOf(expr: Cpp): IntegerType {
  switch (expr.kind) {
    case 'number': return literalType(expr.value);
    case 'symbol': return promote(expr.sym.type);
    case 'name': return typeOf(expr.value);
    case 'cast': return expr.to;
    case 'binary': case 'extreme': return commonType(typeOf(expr.left), typeOf(expr.right));
    case 'positive': return commonType(typeOf(expr.then), INT32);
    default: return unreachable(expr);
  }
}

/** What evaluation met that C++ leaves undefined, or that wraps where no wrap was meant. */
export class Overflow extends Error {}

/**
 * The value for given symbols (by key), in C++ types. Throws `Overflow` on signed overflow, on unsigned wrap-around, and where a
 * conversion changes the value: a bound is right only if none of these can happen.
 */
export function evaluate(expr: Cpp, values: ReadonlyMap<string, bigint>): bigint {
  const convert = (value: bigint, type: IntegerType): bigint => {
    if (wrap(value, type) !== value) throw new Overflow(`${value} does not fit ${typeName(type)}`);
    return value;
  };
  switch (expr.kind) {
    case 'number': return expr.value;
    case 'symbol': {
      const value = values.get(expr.sym.key);
      if (value === undefined) throw new Error(`no value for ${expr.sym.key}`);
      return value;
    }
    case 'name': return evaluate(expr.value, values);
    case 'cast': return convert(evaluate(expr.operand, values), expr.to);
    case 'binary': {
      const type = typeOf(expr);
      const left = convert(evaluate(expr.left, values), type);
      const right = convert(evaluate(expr.right, values), type);
      // Division truncates; the bounds divide by positive numbers only.
      switch (expr.op) {
        case '+': return convert(left + right, type);
        case '-': return convert(left - right, type);
        case '*': return convert(left * right, type);
        case '/': return left / right;
      }
    }
    case 'extreme': {
      const type = typeOf(expr);
      const left = convert(evaluate(expr.left, values), type);
      const right = convert(evaluate(expr.right, values), type);
      return (left > right) === (expr.op === 'max') ? left : right;
    }
    case 'positive': {
      const type = commonType(typeOf(expr.left), typeOf(expr.right));
      const left = convert(evaluate(expr.left, values), type);
      const right = convert(evaluate(expr.right, values), type);
      return left > right || (expr.op === '>=' && left === right) ? convert(evaluate(expr.then, values), typeOf(expr)) : 0n;
    }
    default: return unreachable(expr);
  }
}

export function typeName(type: IntegerType): string {
  if (type.bits === 64) return type.signed ? 'long long' : 'unsigned long long';
  return type.signed ? 'int' : 'unsigned int';
}

const SUM = 1;
const PRODUCT = 2;
const UNARY = 3;
const PRIMARY = 4;

function strength(expr: Cpp): number {
  switch (expr.kind) {
    case 'number': return expr.value < 0n ? UNARY : PRIMARY;
    case 'symbol': return /^[\w.]+$/.test(expr.sym.text) ? PRIMARY : expr.sym.product === true ? PRODUCT : strengthOfText(expr.sym);
    case 'name': case 'extreme': return PRIMARY;
    case 'cast': return UNARY;
    case 'binary': return expr.op === '+' || expr.op === '-' ? SUM : PRODUCT;
    case 'positive': return 0;
    default: return unreachable(expr);
  }
}

/** Text that is copied from the source, by what the source has there; what is weaker than a sum needs parentheses everywhere. */
function strengthOfText({ names, text }: Sym): number {
  const [copied, more] = names;
  // The name of a macro that stands for a sum has its parentheses already.
  if (copied?.kind === 'macro' && text === `(${copied.name})`) return PRIMARY;
  if (copied === undefined || more !== undefined || copied.kind !== 'copied' || isStmt(copied.node)) return 0;
  const { node } = copied;
  switch (node.kind) {
    case 'paren': case 'ref': case 'literal': case 'member': case 'call': case 'index': case 'coordinate': return PRIMARY;
    case 'unary': return UNARY;
    case 'binary': return node.op === '+' || node.op === '-' ? SUM : node.op === '*' || node.op === '/' || node.op === '%' ? PRODUCT : 0;
    default: return 0;
  }
}

/** The text as an operand of a comparison. */
export function printOperand(expr: Cpp, shadowed = false): string {
  const text = print(expr, shadowed);
  return strength(expr) < SUM ? `(${text})` : text;
}

/** C++ text; parentheses only where they are needed. `shadowed` tells that `min` and `max` are not CUDA's here. */
export function print(expr: Cpp, shadowed = false): string {
  const inner = (operand: Cpp, needed: number): string => {
    const text = print(operand, shadowed);
    return strength(operand) < needed ? `(${text})` : text;
  };
  switch (expr.kind) {
    case 'number': return literal(expr.value);
    case 'symbol': return expr.sym.text;
    case 'name': return expr.name;
    case 'cast': return `(${typeName(expr.to)})${inner(expr.operand, UNARY)}`;
    case 'binary': {
      const own = strength(expr);
      if (expr.op === '-' && expr.left.kind === 'number' && expr.left.value === 0n) return `-${inner(expr.right, UNARY)}`;
      return `${inner(expr.left, own)} ${expr.op} ${inner(expr.right, own + 1)}`;
    }
    case 'extreme': {
      const [left, right] = [print(expr.left, shadowed), print(expr.right, shadowed)];
      if (!shadowed) return `${expr.op}(${left}, ${right})`;
      return `(${inner(expr.left, SUM)} ${expr.op === 'max' ? '>' : '<'} ${inner(expr.right, SUM)} ? ${left} : ${right})`;
    }
    case 'positive': return `${inner(expr.left, SUM)} ${expr.op} ${inner(expr.right, SUM)} ? ${print(expr.then, shadowed)} : 0`;
    default: return unreachable(expr);
  }
}

function literal(value: bigint): string {
  if (fits(value, INT32)) return value.toString();
  return fits(value, INT64) ? `${value}LL` : `${value}ULL`;
}

export { INT32, INT64, UINT32, UINT64 };

/**
 * Small C++ integer expressions that peel writes: printed as text, and evaluated in their C++ types by the tests, so that a bound is
 * checked as it will run, wrap-around included.
 */
import { commonType, fits, INT32, INT64, minimum, promote, UINT32, UINT64, wrap, type IntegerType } from '../../../src/cuda/integers.js';
import { unreachable } from '../../../src/syntax/tree.js';
import { BINDING, bindingOfOperator, type Binding } from '../operands.js';
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

function bindingOf(expr: Cpp): Binding {
  switch (expr.kind) {
    case 'number': return literal(expr.value).includes(' ') ? BINDING.closed : expr.value < 0n ? BINDING.unary : BINDING.closed;
    case 'symbol': return expr.sym.binding ?? BINDING.closed;
    case 'name': case 'extreme': return BINDING.closed;
    case 'cast': return BINDING.unary;
    case 'binary': return expr.op === '-' && isZero(expr.left) ? BINDING.unary : bindingOfOperator(expr.op);
    case 'positive': return BINDING.assignment;
    default: return unreachable(expr);
  }
}

function isZero(expr: Cpp): boolean {
  return expr.kind === 'number' && expr.value === 0n;
}

/** The text as an operand that must bind as tightly as `least`: of a comparison, if nothing else is said. */
export function printOperand(expr: Cpp, shadowed = false, least: Binding = BINDING.shift): string {
  const text = print(expr, shadowed);
  return bindingOf(expr) < least ? `(${text})` : text;
}

/** C++ text; parentheses only where they are needed. `shadowed` tells that `min` and `max` are not CUDA's here. */
export function print(expr: Cpp, shadowed = false): string {
  const inner = (operand: Cpp, least: Binding): string => printOperand(operand, shadowed, least);
  switch (expr.kind) {
    case 'number': return literal(expr.value);
    case 'symbol': return expr.sym.text;
    case 'name': return expr.name;
    case 'cast': return `(${typeName(expr.to)})${inner(expr.operand, BINDING.unary)}`;
    case 'binary': {
      const [own, next] = expr.op === '+' || expr.op === '-' ? [BINDING.sum, BINDING.product] as const : [BINDING.product, BINDING.member] as const;
      if (expr.op === '-' && isZero(expr.left)) {
        const text = inner(expr.right, BINDING.unary);
        // Two of them would be a decrement.
        return text.startsWith('-') ? `-(${text})` : `-${text}`;
      }
      return `${inner(expr.left, own)} ${expr.op} ${inner(expr.right, next)}`;
    }
    case 'extreme': {
      const [left, right] = [inner(expr.left, BINDING.assignment), inner(expr.right, BINDING.assignment)];
      if (!shadowed) return `${expr.op}(${left}, ${right})`;
      return `(${inner(expr.left, BINDING.shift)} ${expr.op === 'max' ? '>' : '<'} ${inner(expr.right, BINDING.shift)} ? ${left} : ${right})`;
    }
    case 'positive': return `${inner(expr.left, BINDING.shift)} ${expr.op} ${inner(expr.right, BINDING.shift)} ? ${inner(expr.then, BINDING.assignment)} : 0`;
    default: return unreachable(expr);
  }
}

/** The smallest value of a type has no literal of that type: its digits are a number above the largest. */
function literal(value: bigint): string {
  if (value === minimum(INT32)) return `(${value + 1n} - 1)`;
  if (value === minimum(INT64)) return `(${value + 1n}LL - 1)`;
  if (fits(value, INT32)) return value.toString();
  return fits(value, INT64) ? `${value}LL` : `${value}ULL`;
}

export { INT32, INT64, UINT32, UINT64 };

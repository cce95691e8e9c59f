/**
 * Preprocessor conditions: `defined`, integers and their operators ([cpp.cond] of the C++ standard), in 64-bit arithmetic.
 *
 * divmod reads a file as nvcc's device pass for compute capability 9.0 would. What a condition took for granted is told: names that
 * nothing defines count as undefined and 0, as the standard says, but a build may define them; the architecture and the version
 * of the toolkit are choices too. Such names are listed in `assumed`.
 */
import type { MacroDefinition } from './types.js';
import { expandMacro } from './expand.js';
import { TokenKind, type Tokens } from './tokens.js';
import { tokenizeFragment } from './tokenizer.js';

export interface ConditionValue {
  readonly holds: boolean;
  /** Names that the answer depends on and that a build may set otherwise. */
  readonly assumed: readonly string[];
}

/** How to look a macro up at the place of the condition. */
export type MacroLookup = (name: string) => MacroDefinition | undefined;

/** What every CUDA build of a `.cu` file has. */
const CERTAIN: ReadonlyMap<string, bigint> = new Map([['__cplusplus', 201703n], ['__CUDACC__', 1n], ['__NVCC__', 1n]]);
/** What we take for granted, and say so. */
const ASSUMED: ReadonlyMap<string, bigint> = new Map([
  ['__CUDA_ARCH__', 900n], ['CUDART_VERSION', 13000n], ['CUDA_VERSION', 13000n], ['__CUDACC_VER_MAJOR__', 13n], ['__CUDACC_VER_MINOR__', 0n],
  ['__CUDA_API_VERSION', 13000n], ['__linux__', 1n], ['__linux', 1n], ['__unix__', 1n], ['__x86_64__', 1n], ['__LP64__', 1n], ['__GNUC__', 13n],
  ['__CUDACC_EXTENDED_LAMBDA__', 1n], ['__CUDACC_RTC__', 0n],
]);
/** Names that are in `ASSUMED` with a value but count as not defined. */
const UNDEFINED = new Set(['__CUDACC_RTC__']);

class Malformed extends Error {}

export function evaluateDefined(name: string, lookup: MacroLookup): ConditionValue {
  const macro = lookup(name);
  if (macro) return { holds: true, assumed: macro.varies === undefined ? [] : [name] };
  if (CERTAIN.has(name)) return { holds: true, assumed: [] };
  return { holds: ASSUMED.has(name) && !UNDEFINED.has(name), assumed: [name] };
}

/** A condition that cannot be read does not hold, and is itself what was assumed. */
export function evaluateCondition(text: string, lookup: MacroLookup): ConditionValue {
  const evaluator = new Evaluator(tokenizeFragment(text), lookup, new Set());
  try {
    const value = evaluator.whole();
    return { holds: value !== 0n, assumed: [...evaluator.assumed] };
  } catch (error) {
    if (error instanceof Malformed) return { holds: false, assumed: [...evaluator.assumed, text.trim()] };
    throw error;
  }
}

/** Binary operators by precedence; a higher number binds tighter. */
const PRECEDENCE: ReadonlyMap<string, number> = new Map([
  ['||', 1], ['&&', 2], ['|', 3], ['^', 4], ['&', 5], ['==', 6], ['!=', 6], ['<', 7], ['>', 7], ['<=', 7], ['>=', 7],
  ['<<', 8], ['>>', 8], ['+', 9], ['-', 9], ['*', 10], ['/', 10], ['%', 10],
]);

class Evaluator {
  #at = 0;

  constructor(
    private readonly tokens: Tokens,
    private readonly lookup: MacroLookup,
    private readonly expanding: Set<string>,
    readonly assumed: Set<string> = new Set(),
  ) {}

  whole(): bigint {
    const value = this.#conditional();
    if (this.#at < this.tokens.count) throw new Malformed();
    return value;
  }

  #conditional(): bigint {
    const condition = this.#binary(1);
    if (!this.#take('?')) return condition;
    const yes = this.#conditional();
    if (!this.#take(':')) throw new Malformed();
    const no = this.#conditional();
    return condition !== 0n ? yes : no;
  }

  #binary(least: number): bigint {
    let left = this.#unary();
    for (;;) {
      const operator = this.tokens.spelling(this.#at);
      const precedence = this.tokens.kind(this.#at) === TokenKind.punctuation ? PRECEDENCE.get(operator) : undefined;
      if (precedence === undefined || precedence < least) return left;
      this.#at++;
      if ((operator === '&&' && left === 0n) || (operator === '||' && left !== 0n)) {
        // The right side is read for its syntax, but what it assumes does not matter.
        const before = [...this.assumed];
        this.#binary(precedence + 1);
        this.assumed.clear();
        for (const name of before) this.assumed.add(name);
        left = operator === '&&' ? 0n : 1n;
      } else {
        left = apply(operator, left, this.#binary(precedence + 1));
      }
    }
  }

  #unary(): bigint {
    if (this.#take('!')) return this.#unary() === 0n ? 1n : 0n;
    if (this.#take('-')) return BigInt.asIntN(64, -this.#unary());
    if (this.#take('+')) return this.#unary();
    if (this.#take('~')) return ~this.#unary();
    return this.#primary();
  }

  #primary(): bigint {
    if (this.#take('(')) {
      const value = this.#conditional();
      if (!this.#take(')')) throw new Malformed();
      return value;
    }
    const index = this.#at++;
    const spelling = this.tokens.spelling(index);
    switch (this.tokens.kind(index)) {
      case TokenKind.number: return integer(spelling);
      case TokenKind.character: return BigInt(spelling.length === 3 ? spelling.charCodeAt(1) : 0);
      case TokenKind.identifier: return spelling === 'defined' ? this.#defined() : this.#name(spelling);
      default: throw new Malformed();
    }
  }

  #defined(): bigint {
    const parenthesised = this.#take('(');
    if (!this.tokens.isIdentifier(this.#at)) throw new Malformed();
    const { holds, assumed } = evaluateDefined(this.tokens.spelling(this.#at++), this.lookup);
    if (parenthesised && !this.#take(')')) throw new Malformed();
    for (const name of assumed) this.assumed.add(name);
    return holds ? 1n : 0n;
  }

  #name(name: string): bigint {
    if (name === 'true') return 1n;
    if (name === 'false') return 0n;
    const macro = this.expanding.has(name) ? undefined : this.lookup(name);
    if (macro) {
      if (macro.varies !== undefined) this.assumed.add(name);
      return this.#macro(macro);
    }
    const certain = CERTAIN.get(name);
    if (certain !== undefined) return certain;
    this.assumed.add(name);
    // `__has_include(<x>)` and the like: skipped, not answered.
    if (this.tokens.is(this.#at, '(')) this.#skipParentheses();
    return ASSUMED.get(name) ?? 0n;
  }

  #macro(macro: MacroDefinition): bigint {
    let text: string | null = macro.body;
    if (macro.parameters !== null) {
      if (!this.tokens.is(this.#at, '(')) return 0n;
      const start = this.tokens.end(this.#at);
      const close = this.#skipParentheses();
      text = expandMacro(macro.name, splitArguments(this.tokens.text.slice(start, this.tokens.start(close))), new Map([[macro.name, macro]]));
    }
    if (text === null) throw new Malformed();
    this.expanding.add(macro.name);
    const value = new Evaluator(tokenizeFragment(text), this.lookup, this.expanding, this.assumed).whole();
    this.expanding.delete(macro.name);
    return value;
  }

  /** From `(` to after its `)`; the index of the `)`. */
  #skipParentheses(): number {
    let depth = 0;
    for (; this.#at < this.tokens.count; this.#at++) {
      if (this.tokens.is(this.#at, '(')) depth++;
      else if (this.tokens.is(this.#at, ')') && --depth === 0) return this.#at++;
    }
    throw new Malformed();
  }

  #take(spelling: string): boolean {
    if (!this.tokens.is(this.#at, spelling)) return false;
    this.#at++;
    return true;
  }
}

function apply(operator: string, a: bigint, b: bigint): bigint {
  const truth = (value: boolean): bigint => (value ? 1n : 0n);
  switch (operator) {
    case '||': return truth(a !== 0n || b !== 0n);
    case '&&': return truth(a !== 0n && b !== 0n);
    case '|': return a | b;
    case '^': return a ^ b;
    case '&': return a & b;
    case '==': return truth(a === b);
    case '!=': return truth(a !== b);
    case '<': return truth(a < b);
    case '>': return truth(a > b);
    case '<=': return truth(a <= b);
    case '>=': return truth(a >= b);
    case '<<': return b < 0n || b > 63n ? 0n : BigInt.asIntN(64, a << b);
    case '>>': return b < 0n || b > 63n ? 0n : a >> b;
    case '+': return BigInt.asIntN(64, a + b);
    case '-': return BigInt.asIntN(64, a - b);
    case '*': return BigInt.asIntN(64, a * b);
    default:
      if (b === 0n) throw new Malformed();
      return operator === '/' ? a / b : a % b;
  }
}

function integer(spelling: string): bigint {
  const digits = spelling.replaceAll("'", '').replace(/[uUlLzZ]+$/, '');
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  try {
    return BigInt.asIntN(64, BigInt(octal));
  } catch {
    throw new Malformed();
  }
}

/** Argument texts between the parentheses of an invocation: split at commas outside of parentheses (only those group in a macro call). */
export function splitArguments(text: string): string[] {
  const tokens = tokenizeFragment(text);
  const result: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.is(i, '(')) depth++;
    else if (tokens.is(i, ')')) depth--;
    else if (tokens.is(i, ',') && depth === 0) {
      result.push(text.slice(from, tokens.start(i)).trim());
      from = tokens.end(i);
    }
  }
  result.push(text.slice(from).trim());
  return result;
}

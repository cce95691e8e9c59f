/**
 * Integer and floating expressions of a launch plan's host text: literals, names, arithmetic, comparisons, `&&`, `||`, `?:`, casts to
 * arithmetic types, `min`/`max`, `dim3(…)`. Integer arithmetic truncates as C++ does; wrap-around is not modelled, so a result outside
 * the safe integers is refused.
 */

export type HostValue =
  | { readonly kind: 'number'; readonly value: number; readonly floating: boolean }
  /** An address and the size of an element. */
  | { readonly kind: 'pointer'; readonly address: number; readonly size: number }
  | { readonly kind: 'shape'; readonly value: readonly [number, number, number] };

export type HostNames = (name: string) => HostValue | null;

export class HostExpressionError extends Error {}

type Token = { readonly kind: 'number'; readonly text: string } | { readonly kind: 'name'; readonly text: string } | { readonly kind: 'op'; readonly text: string };

const OPERATORS = ['<<', '>>', '<=', '>=', '==', '!=', '&&', '||', '+', '-', '*', '/', '%', '<', '>', '!', '?', ':', '(', ')', ',', '&', '|', '^', '~', '{', '}'];
const PRECEDENCE: Readonly<Record<string, number>> = { '||': 1, '&&': 2, '|': 3, '^': 4, '&': 5, '==': 6, '!=': 6, '<': 7, '<=': 7, '>': 7, '>=': 7, '<<': 8, '>>': 8, '+': 9, '-': 9, '*': 10, '/': 10, '%': 10 };
const TYPES = new Set(['int', 'unsigned', 'long', 'short', 'char', 'size_t', 'float', 'double', 'bool', 'const', 'signed', 'unsigned int', 'uint32_t', 'int64_t', 'uint64_t', 'int32_t']);

function tokens(text: string): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < text.length;) {
    const rest = text.slice(i);
    const space = /^\s+/.exec(rest);
    if (space !== null) { i += space[0].length; continue; }
    const number = /^(0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[uUlLfF]*/.exec(rest);
    if (number !== null) { out.push({ kind: 'number', text: number[0] }); i += number[0].length; continue; }
    const name = /^(?:::)?[A-Za-z_]\w*((\.|::)[A-Za-z_]\w*)*/.exec(rest);
    if (name !== null) { out.push({ kind: 'name', text: name[0] }); i += name[0].length; continue; }
    const op = OPERATORS.find((o) => rest.startsWith(o));
    if (op === undefined) throw new HostExpressionError(`cannot read ${JSON.stringify(rest.slice(0, 20))}`);
    out.push({ kind: 'op', text: op });
    i += op.length;
  }
  return out;
}

const int = (value: number): HostValue => {
  if (!Number.isSafeInteger(value)) throw new HostExpressionError('a value beyond 2^53');
  return { kind: 'number', value: value + 0, floating: false };
};

export function evaluateHost(text: string, names: HostNames): HostValue {
  const list = tokens(text);
  let at = 0;
  const peek = (): string => list[at]?.text ?? '';
  const expect = (t: string): void => { if (peek() !== t) throw new HostExpressionError(`expected ${t} in ${JSON.stringify(text)}`); at++; };

  const primary = (): HostValue => {
    const t = list[at];
    if (t === undefined) throw new HostExpressionError(`unexpected end of ${JSON.stringify(text)}`);
    at++;
    if (t.kind === 'number') {
      const hex = /^0[xX]/.test(t.text);
      const floating = !hex && /[.eE]|[fF]$/.test(t.text);
      const digits = t.text.replace(hex ? /[uUlL]+$/ : /[uUlLfF]+$/, '');
      const value = /^0[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
      return floating ? { kind: 'number', value: /[fF]$/.test(t.text) ? Math.fround(value) : value, floating } : int(value);
    }
    if (t.kind === 'name') {
      if (t.text === 'true' || t.text === 'false') return int(t.text === 'true' ? 1 : 0);
      if (t.text === 'nullptr') return int(0);
      if (peek() === '(' || peek() === '{') return call(t.text);
      const known = names(t.text);
      if (known === null) throw new HostExpressionError(`unknown name ${t.text}`);
      return known;
    }
    switch (t.text) {
      case '(': {
        const cast = castAhead();
        if (cast !== null) return convert(cast, unary());
        const inner = conditional();
        expect(')');
        return inner;
      }
      default: throw new HostExpressionError(`unexpected ${t.text} in ${JSON.stringify(text)}`);
    }
  };

  /** After `(`: the words of a type up to `)`, or null. */
  const castAhead = (): string | null => {
    let j = at;
    const words: string[] = [];
    while (list[j]?.kind === 'name' && TYPES.has((list[j]?.text ?? '').replace(/^std::/, ''))) words.push(list[j++]?.text ?? '');
    if (words.length === 0 || list[j]?.text !== ')') return null;
    at = j + 1;
    return words.join(' ');
  };

  const convert = (type: string, v: HostValue): HostValue => {
    if (v.kind !== 'number') return v;
    if (/float|double/.test(type)) return { kind: 'number', value: type.includes('float') ? Math.fround(v.value) : v.value, floating: true };
    if (type === 'bool') return int(v.value !== 0 ? 1 : 0);
    const whole = Math.trunc(v.value);
    if (/int64|uint64|size_t|long/.test(type)) return int(whole);
    return int(/unsigned|uint32/.test(type) ? whole >>> 0 : whole | 0);
  };

  const call = (name: string): HostValue => {
    const close = peek() === '(' ? ')' : '}';
    at++;
    const args: HostValue[] = [];
    while (peek() !== close) {
      args.push(conditional());
      if (peek() === ',') at++;
      else if (peek() !== close) throw new HostExpressionError(`expected , in ${JSON.stringify(text)}`);
    }
    at++;
    const numbers = args.map(numberOf);
    if (name === 'dim3') return { kind: 'shape', value: [numbers[0] ?? 1, numbers[1] ?? 1, numbers[2] ?? 1] };
    if (/(^|::)min$/.test(name)) return int(Math.min(...numbers));
    if (/(^|::)max$/.test(name)) return int(Math.max(...numbers));
    if (TYPES.has(name) && args[0] !== undefined) return convert(name, args[0]);
    throw new HostExpressionError(`call of ${name}`);
  };

  const unary = (): HostValue => {
    const t = peek();
    if (t === '-' || t === '+' || t === '!' || t === '~') {
      at++;
      const v = unary();
      if (t === '!') return int(truth(v) ? 0 : 1);
      const n = numberOf(v);
      const floating = v.kind === 'number' && v.floating;
      if (t === '~') return int(~n);
      return floating ? { kind: 'number', value: t === '-' ? -n : n, floating } : int(t === '-' ? -n : n);
    }
    return primary();
  };

  const binary = (least: number): HostValue => {
    let left = unary();
    for (;;) {
      const op = peek();
      const p = PRECEDENCE[op];
      if (p === undefined || p < least) return left;
      at++;
      left = apply(op, left, binary(p + 1));
    }
  };

  const conditional = (): HostValue => {
    const c = binary(1);
    if (peek() !== '?') return c;
    at++;
    const yes = conditional();
    expect(':');
    const no = conditional();
    return truth(c) ? yes : no;
  };

  let value = conditional();
  if (peek() === ',') {
    // `a, b, c` as a shape.
    const parts = [numberOf(value)];
    while (peek() === ',') { at++; parts.push(numberOf(conditional())); }
    value = { kind: 'shape', value: [parts[0] ?? 1, parts[1] ?? 1, parts[2] ?? 1] };
  }
  if (at !== list.length) throw new HostExpressionError(`unexpected ${peek()} in ${JSON.stringify(text)}`);
  return value;
}

function numberOf(v: HostValue): number {
  if (v.kind !== 'number') throw new HostExpressionError('a number is needed');
  return v.value;
}

/** A number or an address as a condition. */
export function truth(v: HostValue): boolean {
  return v.kind === 'pointer' ? v.address !== 0 : numberOf(v) !== 0;
}

function apply(op: string, a: HostValue, b: HostValue): HostValue {
  if (op === '&&') return int(truth(a) && truth(b) ? 1 : 0);
  if (op === '||') return int(truth(a) || truth(b) ? 1 : 0);
  if (b.kind === 'pointer' && a.kind === 'number' && (op === '==' || op === '!=')) return apply(op, b, a);
  if (a.kind === 'pointer' && b.kind === 'number' && (op === '+' || op === '-')) return { ...a, address: a.address + (op === '+' ? 1 : -1) * b.value * a.size };
  if (a.kind === 'pointer' && (op === '==' || op === '!=')) return int((a.address === (b.kind === 'pointer' ? b.address : numberOf(b))) === (op === '==') ? 1 : 0);
  const x = numberOf(a);
  const y = numberOf(b);
  const floating = (a.kind === 'number' && a.floating) || (b.kind === 'number' && b.floating);
  const number = (v: number): HostValue => (floating ? { kind: 'number', value: v, floating } : int(v));
  switch (op) {
    case '+': return number(x + y);
    case '-': return number(x - y);
    case '*': return number(x * y);
    case '/':
      if (floating) return number(x / y);
      if (y === 0) throw new HostExpressionError('division by zero');
      return int(Math.trunc(x / y));
    case '%':
      if (y === 0) throw new HostExpressionError('division by zero');
      return int(x % y);
    case '<<': return int(x * 2 ** y);
    case '>>': return int(Math.floor(x / 2 ** y));
    case '&': return int(x & y);
    case '|': return int(x | y);
    case '^': return int(x ^ y);
    case '<': return int(x < y ? 1 : 0);
    case '<=': return int(x <= y ? 1 : 0);
    case '>': return int(x > y ? 1 : 0);
    case '>=': return int(x >= y ? 1 : 0);
    case '==': return int(x === y ? 1 : 0);
    case '!=': return int(x !== y ? 1 : 0);
    default: throw new HostExpressionError(`operator ${op}`);
  }
}

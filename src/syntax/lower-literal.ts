/** Literals: the spelling of numbers, characters and strings to values and types. */
import type { IntType, Type } from './tree.js';
import { CHAR, DOUBLE, FLOAT, INT, LONG, UINT, ULONG, pointerTo, qualify } from './types.js';

export interface LiteralValue { readonly value: bigint | number | boolean | string | null; readonly type: Type }

const ESCAPES: Record<string, number> = { n: 10, t: 9, r: 13, '0': 0, a: 7, b: 8, f: 12, v: 11, '\\': 92, "'": 39, '"': 34, '?': 63 };

const MAX_KNOWN = 20_000;
const known = new Map<string, LiteralValue | null>();

/** A number with its suffix. Null if the spelling is none (user-defined suffixes). Few spellings make up most of a program. */
export function numberLiteral(spelling: string): LiteralValue | null {
  const old = known.get(spelling);
  if (old !== undefined) return old;
  if (known.size >= MAX_KNOWN) known.clear();
  const made = readNumber(spelling);
  known.set(spelling, made);
  return made;
}

function readNumber(spelling: string): LiteralValue | null {
  if (/^(?:[1-9]\d{0,8}|0)$/.test(spelling)) return { value: BigInt(spelling), type: INT };
  const text = spelling.replaceAll("'", '');
  const hex = /^0[xX]/.test(text);
  const floating = hex ? /[.pP]/.test(text) : !/^0[bB]/.test(text) && /[.eE]/.test(text);
  if (floating || (!hex && /[fF]$/.test(text))) {
    const match = /^(.*?)([fFlL]?)$/.exec(text);
    if (match === null) return null;
    const digits = match[1] ?? '';
    const value = hex ? hexFloat(digits) : /^[\d.]+([eE][+-]?\d+)?$/.test(digits) ? Number(digits) : NaN;
    if (Number.isNaN(value)) return null;
    return (match[2] ?? '').toLowerCase() === 'f' ? { value: Math.fround(value), type: FLOAT } : { value, type: DOUBLE };
  }
  const match = /^(0[xX][\da-fA-F]+|0[bB][01]+|\d+)([uUlLzZ]*)$/.exec(text);
  if (match === null) return null;
  const digits = match[1] ?? '0';
  const suffix = (match[2] ?? '').toLowerCase();
  const octal = /^0\d+$/.test(digits);
  if (octal && /[89]/.test(digits)) return null;
  const value = BigInt(octal ? `0o${digits.slice(1)}` : digits);
  const decimal = !octal && !hex && !/^0[bB]/.test(digits);
  return { value, type: integerType(value, decimal, suffix.includes('u'), suffix.includes('l') || suffix.includes('z')) };
}

/** The first type of the standard's list that holds the value. */
function integerType(value: bigint, decimal: boolean, unsigned: boolean, long: boolean): IntType {
  const fits = (bits: number): boolean => value < 1n << BigInt(bits);
  if (unsigned) return !long && fits(32) ? UINT : ULONG;
  if (!long && fits(31)) return INT;
  if (!long && !decimal && fits(32)) return UINT;
  return decimal || fits(63) ? LONG : ULONG;
}

function hexFloat(digits: string): number {
  const match = /^0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?$/.exec(digits);
  if (match === null) return NaN;
  const whole = match[1] ?? '';
  const fraction = match[2] ?? '';
  const mantissa = BigInt(`0x${whole}${fraction}` === '0x' ? '0x0' : `0x${whole}${fraction}`);
  return Number(mantissa) * 2 ** (Number(match[3] ?? 0) - 4 * fraction.length);
}

/** `'a'`, `'\n'`, `L'x'`. */
export function charLiteral(spelling: string): LiteralValue | null {
  const match = /^(u8|u|U|L)?'([\s\S]*)'$/.exec(spelling);
  if (match === null) return null;
  const codes = unescape(match[2] ?? '');
  const code = codes.length === 1 ? codes[0] : undefined;
  if (code === undefined) return null;
  if (match[1] === undefined) return { value: BigInt.asIntN(8, BigInt(code)), type: CHAR };
  return { value: BigInt(code), type: match[1] === 'L' ? INT : UINT };
}

/** The text of `"…"` with escapes resolved. */
export function stringValue(spelling: string): string {
  const raw = /^[uUL8]*R"([^(]*)\(([\s\S]*)\)\1"$/.exec(spelling);
  if (raw !== null) return raw[2] ?? '';
  const match = /^(?:u8|u|U|L)?"([\s\S]*)"$/.exec(spelling);
  return match === null ? spelling : String.fromCodePoint(...unescape(match[1] ?? '').slice(0, 60000));
}

export const STRING_TYPE: Type = pointerTo(qualify(CHAR, { const: true }));

function unescape(body: string): number[] {
  const codes: number[] = [];
  for (let i = 0; i < body.length; i++) {
    if (body[i] !== '\\') {
      const code = body.codePointAt(i) ?? 0;
      if (code > 0xffff) i++;
      codes.push(code);
      continue;
    }
    const rest = body.slice(i + 1);
    const number = /^(?:x([\da-fA-F]+)|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3}))/.exec(rest);
    if (number !== null) {
      const hex = number[1] ?? number[2] ?? number[3];
      const code = hex === undefined ? parseInt(number[4] ?? '0', 8) : parseInt(hex, 16);
      codes.push(code > 0x10ffff ? 0xfffd : code);
      i += number[0].length;
    } else if (rest.startsWith('\n')) {
      i += 1;
    } else {
      codes.push(ESCAPES[rest[0] ?? ''] ?? rest.codePointAt(0) ?? 0);
      i += 1;
    }
  }
  return codes;
}

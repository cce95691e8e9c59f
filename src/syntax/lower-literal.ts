/** Literals: the spelling of numbers, characters and strings to values and types. */
import type { Encoding } from '../source/types.js';
import type { IntType, Type } from './tree.js';
import { CHAR, CHAR16, CHAR32, DOUBLE, FLOAT, INT, LONG, LONGLONG, UINT, ULONG, ULONGLONG, WCHAR, pointerTo, qualify } from './types.js';

export interface LiteralValue { readonly value: bigint | number | boolean | string | null; readonly type: Type }

const ESCAPES: Record<string, number> = { n: 10, t: 9, r: 13, '0': 0, a: 7, b: 8, e: 27, f: 12, v: 11, '\\': 92, "'": 39, '"': 34, '?': 63 };

/** Those of one letter that stand for one character, whatever follows them (`\0` may go on). */
const SIMPLE_ESCAPES: Readonly<Record<string, string | undefined>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' };

const MAX_KNOWN = 20_000;
const known = new Map<string, LiteralValue | null>();

const ZERO = 0x30;
const DIGITS: readonly LiteralValue[] = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n].map((value) => ({ value, type: INT }));

/** A number with its suffix. Null if the spelling is none (user-defined suffixes). Few spellings make up most of a program. */
export function numberLiteral(spelling: string): LiteralValue | null {
  const digit = spelling.length === 1 ? DIGITS[spelling.charCodeAt(0) - ZERO] : undefined;
  if (digit !== undefined) return digit;
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
  return { value, type: integerType(value, decimal, suffix.includes('u'), suffix.includes('ll') ? 2 : suffix.includes('l') || suffix.includes('z') ? 1 : 0) };
}

/** The first type of the standard's list that holds the value. */
function integerType(value: bigint, decimal: boolean, unsigned: boolean, longs: 0 | 1 | 2): IntType {
  const fits = (bits: number): boolean => value < 1n << BigInt(bits);
  const [long, ulong] = longs === 2 ? [LONGLONG, ULONGLONG] : [LONG, ULONG];
  if (unsigned) return longs === 0 && fits(32) ? UINT : ulong;
  if (longs === 0 && fits(31)) return INT;
  if (longs === 0 && !decimal && fits(32)) return UINT;
  return decimal || fits(63) ? long : ulong;
}

function hexFloat(digits: string): number {
  const match = /^0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)(?:[pP]([+-]?\d+))?$/.exec(digits);
  if (match === null) return NaN;
  const whole = match[1] ?? '';
  const fraction = match[2] ?? '';
  const mantissa = BigInt(`0x${whole}${fraction}` === '0x' ? '0x0' : `0x${whole}${fraction}`);
  return Number(mantissa) * 2 ** (Number(match[3] ?? 0) - 4 * fraction.length);
}

/** How a character or string is coded: by its prefix. `width` is the bytes of a unit. */
interface Coding { readonly width: 1 | 2 | 4; readonly type: IntType }

const ORDINARY: Coding = { width: 1, type: CHAR };
const CODINGS: ReadonlyMap<string, Coding> = new Map([['u8', ORDINARY], ['u', { width: 2, type: CHAR16 }], ['U', { width: 4, type: CHAR32 }], ['L', { width: 4, type: WCHAR }]]);

/** `'a'`, `'\n'`, `L'x'`, in a source of the given encoding. Null for what is no single unit. */
export function charLiteral(spelling: string, encoding: Encoding): LiteralValue | null {
  const match = /^(u8|u|U|L)?'([\s\S]*)'$/.exec(spelling);
  if (match === null) return null;
  const coding = CODINGS.get(match[1] ?? '') ?? ORDINARY;
  const units = unitsOf(partsOf(match[2] ?? ''), coding, encoding);
  const [unit] = units ?? [];
  if (units === null || units.length !== 1 || unit === undefined) return null;
  return { value: coding.type.signed ? BigInt.asIntN(coding.width * 8, BigInt(unit)) : BigInt(unit), type: coding.type };
}

/** The text of `"…"` with escapes resolved, as people read it. */
export function stringValue(spelling: string): string {
  const found = bodyOf(spelling);
  return found === null ? spelling : textOf(found.raw ? [found.body] : partsOf(found.body).map(({ code }) => String.fromCodePoint(code > 0x10ffff ? 0xfffd : code)));
}

/**
 * The units of the array that adjacent string literals make, without the zero at its end, one character each: bytes for `"…"` and `u8"…"`. Null if a spelling is none or holds a unit that
 * does not fit.
 *
 * Escapes by number are one unit whatever they are (`"\x80"` is one byte); characters are coded: in UTF-8 for bytes. Those of a source that is not UTF-8 are bytes as they stand.
 */
export function stringLiteral(spellings: readonly string[], encoding: Encoding): LiteralValue | null {
  const plain = plainText(spellings);
  if (plain !== null) return { value: plain, type: STRING_TYPE };
  const pieces = spellings.map(bodyOf);
  // `"a" L"b"` is wide as a whole.
  const prefix = pieces.find((piece) => piece !== null && piece.prefix !== '')?.prefix ?? '';
  const coding = CODINGS.get(prefix) ?? ORDINARY;
  const units: number[] = [];
  for (const piece of pieces) {
    if (piece === null || (piece.prefix !== '' && piece.prefix !== prefix)) return null;
    const here = unitsOf(piece.raw ? [...piece.body].map((c) => ({ kind: 'character', code: c.codePointAt(0) ?? 0 })) : partsOf(piece.body), coding, encoding);
    if (here === null) return null;
    for (const unit of here) units.push(unit);
  }
  if (coding.width === 4 && units.some((unit) => unit > 0x10ffff)) return null;
  return { value: textOf(units.map((unit) => (coding.width === 4 ? String.fromCodePoint(unit) : String.fromCharCode(unit)))), type: coding === ORDINARY ? STRING_TYPE : pointerTo(qualify(coding.type, { const: true })) };
}

/** What nearly all literals are: ASCII between quotes, no escapes but `\\n` and its like, which is its own units in every encoding. */
function plainText(spellings: readonly string[]): string | null {
  let text = '';
  for (const spelling of spellings) {
    const end = spelling.length - 1;
    if (end < 1 || spelling.charCodeAt(0) !== QUOTE || spelling.charCodeAt(end) !== QUOTE) return null;
    let from = 1;
    for (let i = 1; i < end; i++) {
      const code = spelling.charCodeAt(i);
      if (code === QUOTE || code > 0x7f) return null;
      if (code !== BACKSLASH) continue;
      const escaped = i + 1 < end ? SIMPLE_ESCAPES[spelling.charAt(i + 1)] : undefined;
      if (escaped === undefined) return null;
      text += spelling.slice(from, i) + escaped;
      from = i + 2;
      i++;
    }
    text += spelling.slice(from, end);
  }
  return text;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export const STRING_TYPE: Type = pointerTo(qualify(CHAR, { const: true }));

function textOf(parts: readonly string[]): string {
  return parts.join('');
}

function bodyOf(spelling: string): { readonly prefix: string; readonly body: string; readonly raw: boolean } | null {
  const raw = /^(u8|u|U|L)?R"([^(]*)\(([\s\S]*)\)\2"$/.exec(spelling);
  if (raw !== null) return { prefix: raw[1] ?? '', body: raw[3] ?? '', raw: true };
  const match = /^(u8|u|U|L)?"([\s\S]*)"$/.exec(spelling);
  return match === null ? null : { prefix: match[1] ?? '', body: match[2] ?? '', raw: false };
}

/** `unit`: an escape by number, one unit of the array. `name`: `\u00e9`, a character whatever the source's encoding. */
interface Part { readonly kind: 'character' | 'unit' | 'name'; readonly code: number }

function unitsOf(parts: readonly Part[], { width }: Coding, encoding: Encoding): number[] | null {
  const units: number[] = [];
  for (const { kind, code } of parts) {
    if (kind === 'unit') {
      if (code >= 2 ** (8 * width)) return null;
      units.push(code);
    } else if (kind === 'character' && encoding === 'latin1' && code > 0x7f) {
      // Compilers pass bytes that are no UTF-8 through; what they make of them in wide literals is their own affair.
      if (width !== 1) return null;
      units.push(code);
    } else if (width === 1 && code > 0x7f) units.push(...UTF8.encode(String.fromCodePoint(code)));
    else if (width === 2 && code > 0xffff) units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    else units.push(code);
  }
  return units;
}

const UTF8 = new TextEncoder();

function partsOf(body: string): readonly Part[] {
  const parts: Part[] = [];
  for (let i = 0; i < body.length; i++) {
    if (body[i] !== '\\') {
      const code = body.codePointAt(i) ?? 0;
      if (code > 0xffff) i++;
      parts.push({ kind: 'character', code });
      continue;
    }
    const rest = body.slice(i + 1, i + 80);
    const number = /^(?:x([\da-fA-F]+)|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3}))/.exec(rest);
    if (number !== null) {
      const name = number[2] ?? number[3];
      const hex = number[1] ?? name;
      const code = hex === undefined ? parseInt(number[4] ?? '0', 8) : parseInt(hex, 16);
      parts.push(name === undefined ? { kind: 'unit', code: Math.min(code, 2 ** 32) } : { kind: 'name', code: code > 0x10ffff ? 0xfffd : code });
      i += number[0].length;
    } else if (/^\r?\n/.test(rest)) {
      i += rest.startsWith('\r') ? 2 : 1;
    } else {
      const code = rest.codePointAt(0) ?? 0;
      parts.push({ kind: 'character', code: ESCAPES[rest[0] ?? ''] ?? code });
      i += code > 0xffff ? 2 : 1;
    }
  }
  return parts;
}

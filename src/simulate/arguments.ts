/** Values of parameters as the command line spells them. */
import type { Distribution } from './contents.js';

/** What `--arg name=…` says. */
export type Argument =
  | { readonly kind: 'value'; readonly value: number | bigint }
  | { readonly kind: 'contents'; readonly distribution: Distribution; readonly length: number | null }
  /** The same buffer as another parameter, `offset` elements further. */
  | { readonly kind: 'alias'; readonly of: string; readonly offset: number };

export type Arguments = ReadonlyMap<string, Argument>;

/**
 * Parses `n=1000`, `x=uniform(-1,1)`, `flag=bernoulli(0.03)`, `y=alias(x,4)`, `a=[1,2,3]`, and `a=@numbers.txt` if `read` can read files (numbers parted
 * by spaces, commas or lines). Null if it is none of them; what `read` throws goes through.
 */
export function parseArgument(text: string, read: ((path: string) => string) | null = null): { readonly name: string; readonly argument: Argument } | null {
  const split = /^\s*([A-Za-z_][\w.]*)\s*=\s*(.+?)\s*$/.exec(text);
  const name = split?.[1];
  const value = split?.[2];
  if (name === undefined || value === undefined) return null;
  const call = /^(uniform|bernoulli|constant|alias)\(([^)]*)\)$/.exec(value);
  if (call !== null) {
    const parts = (call[2] ?? '').split(',').map((p) => p.trim());
    const numbers = parts.map(Number);
    const [a = NaN, b = NaN] = numbers;
    const contents = (distribution: Distribution): { name: string; argument: Argument } => ({ name, argument: { kind: 'contents', distribution, length: null } });
    switch (call[1]) {
      case 'uniform': return parts.length === 2 && !Number.isNaN(a) && !Number.isNaN(b) ? contents({ kind: 'uniform', low: a, high: b }) : null;
      case 'bernoulli': return parts.length >= 1 && a >= 0 && a <= 1 ? contents({ kind: 'bernoulli', p: a, ...(parts.length === 2 ? { value: b } : {}) }) : null;
      case 'constant': return parts.length === 1 && !Number.isNaN(a) ? contents({ kind: 'constant', value: a }) : null;
      default: return /^[A-Za-z_][\w.]*$/.test(parts[0] ?? '') && (parts.length === 1 || Number.isInteger(b)) ? { name, argument: { kind: 'alias', of: parts[0] ?? '', offset: parts.length === 1 ? 0 : b } } : null;
    }
  }
  const list = value.startsWith('[') && value.endsWith(']') ? value.slice(1, -1) : value.startsWith('@') && read !== null ? read(value.slice(1)) : null;
  if (list !== null) {
    const values = list.split(/[\s,]+/).filter((v) => v !== '').map(Number);
    return values.some(Number.isNaN) ? null : { name, argument: { kind: 'contents', distribution: { kind: 'values', values }, length: values.length } };
  }
  if (value === 'true' || value === 'false') return { name, argument: { kind: 'value', value: value === 'true' ? 1 : 0 } };
  if (/^-?\d{16,}$/.test(value)) return { name, argument: { kind: 'value', value: BigInt(value) } };
  const number = Number(value);
  return Number.isNaN(number) ? null : { name, argument: { kind: 'value', value: number } };
}

/** `x` values as text that `parseArgument` reads again. */
export function spellArgument(name: string, value: number | bigint): string {
  return `${name}=${value}`;
}

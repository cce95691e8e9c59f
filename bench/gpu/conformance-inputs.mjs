/** Inputs of conformance.cu: special values, then bit patterns of every exponent, then ordinary numbers. No NaN: its payload is not compared. */
import { hash } from './inputs.mjs';

export const ROWS = 4096;
const SPECIAL = [0, 1, -1, 2, -2, 3, 7, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2147483647, -2147483648, -2147483647, 8388607, 16777216, 16777217];
const SPECIAL_FLOATS = [0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, 1e-40, -1e-45, 1e-38, 3.4e38, -3.4e38, Infinity, -Infinity, 2147483648, -2147483904, 4294967296, 9.3e18, 1.9e19, -9.3e18, 65504, 65519, 65520, 6e-8, 6e-5, 0.99999994, 8388608.5, 16777217];
const view = new DataView(new ArrayBuffer(8));

export function int32(buffer, i) {
  const h = hash(buffer, i, 1) | 0;
  if (i < SPECIAL.length * SPECIAL.length) return SPECIAL[buffer === 0 ? i % SPECIAL.length : Math.floor(i / SPECIAL.length)];
  return i % 3 === 0 ? h : i % 3 === 1 ? h >> 20 : h >> (h & 31);
}
export function int64(buffer, i) {
  if (i < 900) return BigInt(int32(buffer, i)) * (i % 2 === 0 ? 1n : 4294967311n);
  const v = BigInt.asIntN(64, (BigInt(hash(buffer + 10, i, 2)) << 32n) | BigInt(hash(buffer + 20, i, 3)));
  return v >> BigInt(hash(buffer, i, 4) & 63);
}
export function float32(buffer, i) {
  const n = SPECIAL_FLOATS.length;
  if (i < n * n) return Math.fround(SPECIAL_FLOATS[(buffer === 0 ? i : buffer === 1 ? Math.floor(i / n) : i * 7) % n]);
  const h = hash(buffer + 30, i, 5);
  if (i % 3 === 0) {
    view.setUint32(0, h);
    const x = view.getFloat32(0);
    return Number.isNaN(x) ? 1.5 : x;
  }
  return Math.fround(i % 3 === 1 ? ((h & 0xffff) - 32768) / 1024 : ((h | 0) / 65536) * 2 ** ((h >>> 3) % 20 - 10));
}
export function float64(buffer, i) {
  const n = SPECIAL_FLOATS.length;
  if (i < n * n) return SPECIAL_FLOATS[(buffer === 0 ? i : buffer === 1 ? Math.floor(i / n) : i * 7) % n];
  if (i % 3 === 0) {
    view.setUint32(0, hash(buffer + 40, i, 6));
    view.setUint32(4, hash(buffer + 50, i, 7));
    const x = view.getFloat64(0);
    return Number.isNaN(x) ? 1.5 : x;
  }
  return ((hash(buffer + 40, i, 6) | 0) / 65536) * (1 + hash(buffer + 60, i, 8) / 4294967296) * 2 ** (hash(buffer, i, 9) % 40 - 20);
}

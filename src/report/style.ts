/** Colours and numbers of the text reports. */
import pc from 'picocolors';

export type Style = ReturnType<typeof pc.createColors>;

/** Colour functions that colour, or give their text back. */
export function styleFor(color: boolean): Style {
  return pc.createColors(color);
}

/** `1 branch`, `3 branches`, `2 kernels`. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;
}

/** A share between 0 and 1 with two digits; a difference from 1 or 0 is never rounded away. */
export function share(value: number): string {
  if (value > 0.995 && value < 1) return '>0.99';
  if (value > 0 && value < 0.005) return '<0.01';
  return value.toFixed(2);
}

/** A count of instructions or slots: whole from 10 on. */
export function quantity(value: number): string {
  return Math.abs(value) >= 10 || Number.isInteger(value) ? Math.round(value).toLocaleString('en-US') : value.toFixed(1);
}

/**
 * Expressions whose value is defined for every thread: no signed overflow (operands are masked or come from small ranges), no
 * division by zero, no shift by the width, no index outside its buffer. Floats use only correctly rounded operations, so that
 * results can be compared bit for bit with hardware when compiled with `-fmad=false`.
 */
import type { GenerateContext } from './context.js';

/** Elements of every global buffer; a power of two so that a mask keeps an index inside. */
export const ELEMENTS = 4096;

/** A small non-negative `int`. */
export function smallInt(c: GenerateContext, nest = 2): string {
  const counters = c.counters.map((k) => k.name);
  const leaf = c.choose.pick(['tid', 'lane', 'm', ...counters, 'warp', '(int)blockIdx.x', 'mode', '3', '7']);
  if (nest === 0) return leaf;
  switch (c.choose.below(6)) {
    case 1: return `${smallInt(c, nest - 1)} + ${smallInt(c, nest - 1)}`;
    case 2: return `(${smallInt(c, nest - 1)} * ${c.choose.pick(['2', '3', '5'])})`;
    case 3: return `((${smallInt(c, nest - 1)}) % ${c.choose.pick(['4', '7', '32'])})`;
    case 4: return `((${smallInt(c, nest - 1)}) >> 1)`;
    case 5: return `(key[(${smallInt(c, nest - 1)}) & ${ELEMENTS - 1}] & 15)`;
    default: return leaf;
  }
}

export function floatValue(c: GenerateContext, nest = 2): string {
  const leaf = (): string => c.choose.pick(['acc', 'w', 'v', '0.5f', '1.25f']);
  if (nest === 0) return leaf();
  const sub = (): string => floatValue(c, nest - 1);
  switch (c.choose.below(12)) {
    case 1: return `${sub()} + ${sub()}`;
    case 2: return `(${sub()}) * ${c.choose.pick(['0.5f', '0.75f', 'w'])}`;
    case 3: return `(${sub()}) - (${sub()})`;
    case 4: return `in[(${smallInt(c)}) & ${ELEMENTS - 1}]`;
    case 5: return `(float)(${smallInt(c)})`;
    case 6: return `fmaxf(${sub()}, ${sub()})`;
    case 7: return `fabsf(${sub()})`;
    case 8: return `sqrtf(fabsf(${sub()}) + 1.0f)`;
    case 9: return `(${sub()}) / (fabsf(${sub()}) + 1.0f)`;
    case 10: return `(${condition(c, 0)} ? ${sub()} : ${sub()})`;
    case 11: c.helpers.add('shape'); return `shape(${sub()}, ${smallInt(c, 1)})`;
    default: return leaf();
  }
}

/** Same for the whole grid, and invariant in every loop. */
export function gridCondition(c: GenerateContext): string {
  return c.choose.pick(['mode == 1', 'flag', 'w > 0.5f', '(m & 1) == 0', 'n > 100', '!flag', 'mode > 1 && flag', 'lut[0] > 0']);
}

/** Same for a block. */
export function blockCondition(c: GenerateContext): string {
  return c.choose.pick(['(blockIdx.x & 1) == 0', 'blockIdx.x < 2', 'lut[blockIdx.x & 7] > 0', 'blockIdx.x == gridDim.x - 1']);
}

export function warpCondition(c: GenerateContext): string {
  return c.choose.pick(['(warp & 1) == 0', 'warp == 0', 'warp < mode', 'lut[warp & 7] > 1']);
}

export function geometricCondition(c: GenerateContext): string {
  return c.choose.pick(['lane < 13', 'tid == 0', '(tid & 3) == 1', 'i < n', 'lane == 31', 'tid >= 40', 'n > i + 5']);
}

export function dataCondition(c: GenerateContext): string {
  return c.choose.pick(['v > 0.0f', '(key[i] & 1) != 0', 'acc < 2.0f', 'in[(i + 1) & 4095] > w', 'key[i & 4095] % 3 == 0']);
}

/** Any condition; `width` 0 gives a simple one, else it may be a conjunction or a disjunction. */
export function condition(c: GenerateContext, width = 1): string {
  const one = (): string => {
    switch (c.choose.below(6)) {
      case 1: return blockCondition(c);
      case 2: return warpCondition(c);
      case 3: return geometricCondition(c);
      case 4: return dataCondition(c);
      case 5: return `((${smallInt(c)}) & 1) == 0`;
      default: return gridCondition(c);
    }
  };
  if (width === 0 || !c.choose.rarely(3)) return one();
  const left = one();
  const right = one();
  return c.choose.rarely(2) ? `(${left}) || (${right})` : `${parenthesise(left)} && ${parenthesise(right)}`;
}

function parenthesise(text: string): string {
  return text.includes('||') ? `(${text})` : text;
}

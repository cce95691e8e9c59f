/**
 * A stream of decisions. A kernel is a function of its stream: fast-check generates and shrinks streams (shorter and smaller numbers
 * give simpler kernels, since 0 always picks the first and simplest alternative), and a fuzzing run makes them from a seed.
 */
export class Choices {
  private position = 0;

  constructor(private readonly stream: readonly number[]) {}

  /** An integer in [0, bound); 0 once the stream is used up. */
  below(bound: number): number {
    const value = this.stream[this.position++] ?? 0;
    return bound <= 1 ? 0 : value % bound;
  }

  /** True once in `outOf` times on a random stream; false on an empty one. */
  rarely(outOf: number): boolean {
    return this.below(outOf) === outOf - 1;
  }

  pick<T>(alternatives: readonly [T, ...T[]]): T {
    return alternatives[this.below(alternatives.length)] ?? alternatives[0];
  }

  /** True when nothing is left: builders stop growing. */
  get exhausted(): boolean {
    return this.position >= this.stream.length;
  }
}

/** `count` pseudo-random numbers below 2^31 (splitmix32), equal for equal seeds on every machine. */
export function streamFromSeed(seed: number, count: number): number[] {
  let state = seed >>> 0;
  return Array.from({ length: count }, () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 1;
  });
}

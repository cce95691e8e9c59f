/** Wrong kernels beside their right twins: what `audit` says of the marked line of the one, and does not say of the other. */
import { expect } from '@jest/globals';
import { auditFile } from '../../src/audit/audit.js';
import type { Hazard } from '../../src/audit/types.js';
import { Text } from '../analysis/program.js';

export interface Pair {
  readonly name: string;
  /** `severity id`. */
  readonly has: string;
  /** The line that ends in `// HERE` is the one that the hazard is said at. */
  readonly wrong: string;
  readonly right: readonly string[];
  /** What may be said of the right ones. */
  readonly may?: readonly string[];
}

/** A kernel of these lines, launched in blocks of `threads`. */
export function kernel(body: string, threads: number | string = 64): string {
  return `__global__ void k(int *x, int n) {\n${body}\n}\nvoid run(int *x, int n) { k<<<n, ${threads}>>>(x, n); }`;
}

export function hazardsIn(text: string): { readonly hazards: readonly Hazard[]; readonly lines: readonly string[] } {
  const whole = `#define FULL 0xffffffffu\n${text}\n`;
  const loaded = new Text(whole);
  return { hazards: auditFile(loaded.unit, loaded.analysis).kernels.flatMap((one) => one.hazards), lines: whole.split('\n') };
}

export function checkPair({ has, wrong, right, may = [] }: Pair): void {
  const said = hazardsIn(wrong);
  const marked = said.lines.findIndex((line) => line.endsWith('// HERE')) + 1;
  expect(marked).toBeGreaterThan(0);
  const found = said.hazards.map((hazard) => `${hazard.severity} ${hazard.id} ${hazard.line}`);
  expect(found).toContain(`${has} ${marked}`);
  const hazard = said.hazards.find((one) => `${one.severity} ${one.id}` === has && one.line === marked);
  expect(hazard?.because.length).toBeGreaterThan(0);
  expect(hazard?.repair.length).toBeGreaterThan(10);
  for (const text of right) {
    const others = hazardsIn(text).hazards.map((one) => `${one.severity} ${one.id}`).filter((one) => !may.includes(one));
    expect({ text, others }).toEqual({ text, others: [] });
  }
}

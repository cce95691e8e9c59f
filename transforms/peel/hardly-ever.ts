/**
 * Copies that are right and would hardly ever run: they are not worth their lines.
 */
import { walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Decl } from '../../src/syntax/tree.js';
import { add, constantValue, linearIn, multiply, symbolsOf, type Poly, type Sym } from '../lib/guards/polynomial.js';
import { Reader } from '../lib/guards/reading.js';
import type { PeelableLoop } from '../lib/guards/tested-loop.js';
import type { RangePlan } from './range.js';
import type { VersionPlan } from './version.js';

/** Some test holds only where a number that the loop runs up to is below one: `w / 2 <= 0` in front of a loop over `w`. */
export function needsEmptySize(facts: FunctionFacts, { loop, tests }: VersionPlan): boolean {
  const bounds = new Set<Decl>();
  if (loop.condition !== null) walk(loop.condition, (node) => { if (node.kind === 'ref' && node.decl !== null) bounds.add(node.decl); });
  return tests.some((test) => {
    const full = followed(facts, loop, test);
    const [sym, more] = symbolsOf(full);
    const split = sym === undefined || more !== undefined ? null : linearIn(full, sym);
    if (sym === undefined || split === null) return false;
    const [factor, rest] = [constantValue(split.coefficient), constantValue(split.rest)];
    // `factor * sym + rest < 0` at most for `sym <= 0`.
    return factor !== null && rest !== null && factor > 0n && factor + rest >= 0n && declsOf(sym).some((decl) => bounds.has(decl));
  });
}

/** The polynomial with variables replaced by what they are made of, once. */
function followed(facts: FunctionFacts, loop: PeelableLoop, poly: Poly): Poly {
  const reader = new Reader(facts, loop, null, false);
  let result = poly;
  for (const sym of symbolsOf(poly)) {
    const [name, more] = sym.names;
    if (name === undefined || more !== undefined || name.kind !== 'named' || name.decl.kind !== 'variable' || name.decl.init === null) continue;
    const split = linearIn(result, sym);
    const made = reader.read(name.decl.init);
    if (split !== null && made !== null) result = add(multiply(split.coefficient, made.poly), split.rest);
  }
  return result;
}

function declsOf(sym: Sym): readonly Decl[] {
  const decls: Decl[] = [];
  for (const name of sym.names) {
    if (name.kind === 'named') decls.push(name.decl);
    if (name.kind === 'copied') walk(name.node, (node) => { if (node.kind === 'ref' && node.decl !== null) decls.push(node.decl); });
  }
  return decls;
}

/** The first decided run begins once the counter is past all numbers of threads: `k > threadIdx.x` in a loop over what a block holds. */
export function beginsPastBlock({ runs }: RangePlan): boolean {
  const [first, second] = runs;
  if (first === undefined || second === undefined || first.decisions.size > 0 || first.test === null) return false;
  const syms = first.test.changes.flatMap(({ level, divisor }) => [...symbolsOf(level), ...symbolsOf(divisor)]).filter((sym) => sym.constant !== true);
  return syms.length > 0 && syms.every((sym) => sym.key.startsWith('blockDim.'));
}

/**
 * Classes of branches (SEMANTICS 2).
 *
 * `uniform` is exactly a scope of constant, grid, block or warp. What differs between lanes is `unknown` if something in it was not understood, `data`
 * if it depends on loaded values, else `geometry`; of that, a comparison of an index that covers the work with its extent is `boundary`. An
 * extent is one value for the lanes and comes from a parameter or from memory; a constant counts as one only for an index made of thread *and* block
 * position, because `lane < 16` and `threadIdx.x < 7` elect lanes.
 */
import { annotationValue } from '../analysis/annotations.js';
import { strip } from '../analysis/children.js';
import type { BranchSite, Verdict } from '../analysis/facts.js';
import { soleValue } from '../analysis/sole-value.js';
import type { Expr } from '../syntax/tree.js';
import type { Frame } from './frame.js';
import { sourcesOf, type Sources } from './sources.js';
import type { BranchClass } from './types.js';

/** A comparison that guards the work: the index, what it is compared with, and which outcome means inside. */
export interface Guard {
  readonly index: Expr;
  readonly extent: Expr;
  readonly frame: Frame;
  readonly sources: Sources;
  /** True if the comparison holds for positions inside the work. */
  readonly insideWhenTrue: boolean;
  /** True for `<=` and `>`: the position that equals the extent is inside too. */
  readonly inclusive: boolean;
  /** It guards the lower end of an index space. */
  readonly lower: boolean;
}

export interface Classification {
  readonly class: BranchClass;
  readonly verdict: Verdict;
  /** The guards, for `boundary`. */
  readonly guards: readonly Guard[];
}

/** The verdict that decides about a branch: for a loop, about when threads leave it. */
export function verdictOf(site: BranchSite, frame: Frame): Verdict {
  const { node } = site;
  const own = frame.facts.scope(site.condition);
  switch (node.kind) {
    case 'for': case 'while': case 'do': case 'range-for': {
      const exit = frame.facts.loopExit(node);
      // The condition alone explains itself better than the loop does.
      return exit.value === own.value && exit.known === own.known && exit.sources.data === own.sources.data && exit.sources.geometry === own.sources.geometry ? own : exit;
    }
    default: return own;
  }
}

export function classify(site: BranchSite, frame: Frame): Classification {
  const verdict = promised(site, frame, verdictOf(site, frame));
  if (!verdict.known) return { class: 'unknown', verdict, guards: [] };
  if (verdict.value !== 'lane') return { class: 'uniform', verdict, guards: [] };
  if (verdict.sources.data || !verdict.sources.geometry) return { class: 'data', verdict, guards: [] };
  const guards = site.kind === 'switch' ? [] : guardsOf(site.condition, frame, true, 0);
  return { class: guards.length > 0 ? 'boundary' : 'geometry', verdict, guards };
}

/** `// divmod: uniform`: the source promises that the lanes of a warp agree. It is named as what the verdict rests on; no edit is made on its strength. */
function promised(site: BranchSite, frame: Frame, verdict: Verdict): Verdict {
  if (verdict.known && verdict.value !== 'lane') return verdict;
  const { source } = frame.facts.unit;
  const line = source.line(site.node.span.start);
  if (annotationValue(source, line, 'uniform') === undefined) return verdict;
  return {
    value: 'warp', known: true, unknown: null, sources: { geometry: false, data: false }, because: verdict.because, reads: verdict.reads,
    under: [...verdict.under, `the lanes of a warp agree, as the source promises (line ${line})`],
  };
}

/** Comparisons with an extent among the parts of a condition, looked through `&&`, `||`, `!` and variables that hold a condition. */
export function guardsOf(condition: Expr, frame: Frame, polarity: boolean, depth: number): readonly Guard[] {
  if (depth > 16) return [];
  const expr = strip(condition);
  const below = (inner: Expr): readonly Guard[] => guardsOf(inner, frame, polarity, depth + 1);
  switch (expr.kind) {
    case 'unary': return expr.op === '!' ? guardsOf(expr.operand, frame, !polarity, depth + 1) : [];
    case 'cast': return below(expr.operand);
    case 'binary':
      if (expr.op === '&&' || expr.op === '||') return [...below(expr.left), ...below(expr.right)];
      // `(i < n) & (j < m)` on truth values.
      if (expr.op === '&' || expr.op === '|') return isTruth(expr.left) && isTruth(expr.right) ? [...below(expr.left), ...below(expr.right)] : [];
      return comparison(expr, frame, polarity);
    case 'call': {
      const first = expr.arguments[0];
      return expr.callee.kind === 'builtin' && expr.callee.name === '__builtin_expect' && first !== undefined ? below(first) : [];
    }
    case 'ref': {
      const { decl } = expr;
      if (decl === null || (decl.kind !== 'variable' && decl.kind !== 'parameter')) return [];
      if (decl.kind === 'parameter' && frame.outer !== null && frame.call !== null) {
        const argument = frame.call.arguments[decl.index];
        return argument === undefined ? [] : guardsOf(argument, frame.outer, polarity, depth + 1);
      }
      const value = soleValue(expr, frame.facts);
      return value === null ? [] : below(value);
    }
    default: return [];
  }
}

function isTruth(expr: Expr): boolean {
  const inner = strip(expr);
  return inner.type.kind === 'bool';
}

function comparison(expr: Expr & { readonly kind: 'binary' }, frame: Frame, polarity: boolean): readonly Guard[] {
  if (expr.op !== '<' && expr.op !== '<=' && expr.op !== '>' && expr.op !== '>=') return [];
  // The index is the side that differs between lanes; where guards around it made it one value, the side that thread positions enter.
  const left = frame.facts.scope(expr.left).value === 'lane';
  const right = frame.facts.scope(expr.right).value === 'lane';
  if (left && right) return [];
  const ofLeft = sourcesOf(expr.left, frame);
  const ofRight = sourcesOf(expr.right, frame);
  const leftIsIndex = left !== right ? left : ofLeft.thread.size > 0;
  if (left === right && (ofLeft.thread.size > 0) === (ofRight.thread.size > 0)) return [];
  const extent = leftIsIndex ? expr.right : expr.left;
  const sources = leftIsIndex ? ofLeft : ofRight;
  if (sources.thread.size === 0 || isPattern(leftIsIndex ? expr.left : expr.right, frame)) return [];
  const of = leftIsIndex ? ofRight : ofLeft;
  const covers = of.parameters.size > 0 || of.memory ? !of.other : sources.block && !of.other;
  if (!covers) return [];
  const less = expr.op === '<' || expr.op === '<=';
  // `x > 0` guards a lower end: inside is where it holds, whichever side the index stands on.
  const lower = isSmallConstant(extent, frame);
  const upperHolds = leftIsIndex === less;
  return [{ index: leftIsIndex ? expr.left : expr.right, extent, frame, sources, insideWhenTrue: (lower ? !upperHolds : upperHolds) === polarity, inclusive: (expr.op === '<=' || expr.op === '>') === leftIsIndex, lower }];
}

/** `i & 1`: single bits of an index, which come again and again along it; no end of the work lies behind a comparison with them. */
function isPattern(index: Expr, frame: Frame): boolean {
  const expr = strip(index);
  if (expr.kind === 'cast') return isPattern(expr.operand, frame);
  if (expr.kind !== 'binary' || (expr.op !== '&' && expr.op !== '%')) return false;
  const mask = frame.facts.constant(expr.right);
  return mask !== null && mask > 0n && mask <= 2n;
}

/** Constants such as 0 and 1 are where an index space begins. */
function isSmallConstant(extent: Expr, frame: Frame): boolean {
  const value = frame.facts.constant(extent);
  return value !== null && value >= -16n && value <= 16n;
}

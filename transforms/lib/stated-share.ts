/** The share of threads for which a condition holds, as far as somebody says: `// divmod: p=0.03` at its line, or `--assume p@LINE=0.03`. */
import type { Stmt, Expr } from '../../src/syntax/tree.js';
import type { TransformContext } from './types.js';

export interface Share {
  readonly share: number;
  readonly origin: 'annotation' | '--assume' | 'assumed';
}

/** What is said at the condition's line; null if nothing is. */
export function statedShare({ facts, unit }: TransformContext, node: Stmt | Expr): Share | null {
  const stated = facts.stated?.('p', unit.source.line(node.span.start)) ?? null;
  const share = stated === null ? null : probability(stated.text);
  return share === null || stated === null ? null : { share, origin: stated.origin };
}

/** The same for lanes that are active where the condition has the value `holds`; `usual` where nothing is said. */
export function activeShare(context: TransformContext, node: Stmt | Expr, holds: boolean, usual: number): Share {
  const stated = statedShare(context, node);
  if (stated === null) return { share: usual, origin: 'assumed' };
  return holds ? stated : { ...stated, share: 1 - stated.share };
}

function probability(text: string): number | null {
  const written = text.trim();
  const value = written === '' ? NaN : written.endsWith('%') ? Number(written.slice(0, -1)) / 100 : Number(written);
  return Number.isFinite(value) && value >= 0 && value <= 1 ? value : null;
}

/** `3%`, `12.5%`. */
export function percentOf(share: number): string {
  const percent = share * 100;
  return `${percent >= 10 || Number.isInteger(percent) ? Math.round(percent) : percent.toFixed(1)}%`;
}

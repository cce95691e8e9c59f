/**
 * Makers of obligations: the four states in one line each.
 */
import type { Fact } from '../../src/analysis/facts.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import { grantFor, isDefaultGrant } from './grants.js';
import { codeOnly } from './text.js';
import type { Obligation, TransformContext } from './types.js';

export function proved(id: string, line: number, text: string): Obligation {
  return { id, status: 'proved', grant: null, line, text, remedy: null };
}

export function refuted(id: string, line: number, text: string, remedy: string | null = null): Obligation {
  return { id, status: 'refuted', grant: null, line, text, remedy };
}

export function unknown(id: string, line: number, text: string, remedy: string | null = null): Obligation {
  return { id, status: 'unknown', grant: null, line, text, remedy };
}

export function assumed(id: string, grant: string, line: number, text: string): Obligation {
  return { id, status: 'assumed', grant, line, text, remedy: `--deny ${grant} withdraws the assumption` };
}

/** Proved if the fact rests on nothing; assumed under a grant if every assumption has one; else unknown. */
export function provedUnder(id: string, line: number, text: string, fact: Pick<Fact<unknown>, 'under'>): Obligation {
  if (fact.under.length === 0) return proved(id, line, text);
  const grants = fact.under.map(grantFor);
  const missing = fact.under.filter((_, i) => grants[i] === null);
  const grant = grants.find((name) => name !== null && !isDefaultGrant(name)) ?? grants.find((name) => name !== null) ?? null;
  if (missing.length > 0 || grant === null) return unknown(id, line, `${text}, but only if ${missing.join(' and ')}`, 'give the assumption with an option or an annotation');
  return assumed(id, grant, line, `${text}, if ${fact.under.join(' and ')}`);
}

export function lineOf(context: TransformContext, node: Span | { readonly span: Span }): number {
  const span = 'span' in node ? node.span : node;
  return context.unit.source.line(span.start);
}

/** Code of a node on one line, shortened for messages. */
export function excerpt(source: SourceFile, node: { readonly span: Span }): string {
  const text = codeOnly(source.text.slice(node.span.start, node.span.end)).replaceAll('\n', ' ');
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

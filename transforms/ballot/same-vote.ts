/**
 * A vote in front of the nest that asks the same of the same values:
 *
 *     if (__all_sync(lanes, i >= r && i + r < n)) { … } else { … }        const bool inside = __all_sync(lanes, i >= r && i + r < n);
 *     for (…) if (…) …                                             ->     if (inside) { … } else { … }
 *                                                                         if (inside) { … } else { … }
 *
 * All lanes that come to the nest took part in it, since it stands in a list around the nest, and they got one answer. It still holds if nothing in between gives one of its
 * variables another value.
 */
import { strip, walk } from '../../src/analysis/children.js';
import type { FunctionFacts, Variable } from '../../src/analysis/facts.js';
import type { Decl, Expr, Stmt } from '../../src/syntax/tree.js';
import type { Written } from '../lib/names-resolve.js';
import { codeOnly, indentAt, lineStartOf, startsLine, textOf } from '../lib/text.js';
import type { Edit, TransformContext } from '../lib/types.js';

export interface SameVote {
  /** The variable that keeps its answer. */
  readonly name: string;
  /** What makes that variable, if it is not there yet. */
  readonly edits: readonly Edit[];
}

/** `vote` is the text that would stand in front of the nest, made of `names`; `fresh` makes a name that is free. */
export function sameVote(context: TransformContext, nest: Stmt, vote: string, names: readonly Written[], fresh: (wish: string) => string): SameVote | null {
  const { facts, unit: { source } } = context;
  const wanted = codeOnly(vote);
  const meant = new Set<Decl>();
  for (const written of names) {
    if (written.kind === 'named') meant.add(written.decl);
    else if (written.kind === 'copied') walk(written.node, (node) => { if (node.kind === 'ref' && node.decl !== null) meant.add(node.decl); });
  }
  for (let at: Stmt = nest; ;) {
    const list = facts.parent(at);
    if (list === null || (list.kind !== 'compound' && list.kind !== 'if')) return null;
    if (list.kind === 'compound') {
      for (const stmt of list.body.slice(0, list.body.indexOf(at)).reverse()) {
        const asked = stmt.kind === 'if' && !stmt.constexpr && stmt.init === null && stmt.conditionDecl === null ? stmt.condition : null;
        if (asked !== null && codeOnly(textOf(source, asked.span)) === wanted && startsLine(source, stmt.span.start) && holdsStill(facts, asked, meant, stmt.span.start, nest)) {
          const name = fresh('inside');
          const line = lineStartOf(source, stmt.span.start);
          return {
            name, edits: [
              { file: source.realPath, span: { start: line, end: line }, text: `${indentAt(source, stmt.span.start)}const bool ${name} = ${textOf(source, asked.span)};\n` },
              { file: source.realPath, span: asked.span, text: name },
            ],
          };
        }
        const kept = stmt.kind === 'declare' && stmt.variables.length === 1 ? stmt.variables[0] : undefined;
        if (kept?.init != null && kept.type.kind === 'bool' && kept.type.const === true && codeOnly(textOf(source, kept.init.span)) === wanted && holdsStill(facts, kept.init, meant, kept.init.span.start, nest)) return { name: kept.name, edits: [] };
      }
    }
    at = list;
  }
}

/** The vote names variables of the thread alone, those that are meant, and none of them changes from there to the nest. */
function holdsStill(facts: FunctionFacts, vote: Expr, meant: ReadonlySet<Decl>, from: number, nest: Stmt): boolean {
  const { body } = facts.function;
  if (body === null) return false;
  let still = true;
  walk(vote, (node) => {
    switch (node.kind) {
      case 'ref': {
        const { decl } = node;
        if (decl === null || (!meant.has(decl) && !isMask(vote, node))) still = false;
        else if (decl.kind === 'variable' || decl.kind === 'parameter') still &&= isStill(facts, decl, from, nest.span.start);
        break;
      }
      case 'index': case 'assign': case 'update': case 'lambda': case 'opaque': case 'member': still = false; break;
      case 'call': if (node !== strip(vote)) still = false; break;
      case 'unary': if (node.op === '*' || node.op === '&') still = false; break;
      default: break;
    }
    return still;
  });
  return still;
}

/** The lanes that vote: whoever comes to the nest is among them. */
function isMask(vote: Expr, node: Expr): boolean {
  const call = strip(vote);
  return call.kind === 'call' && call.arguments.length === 2 && call.arguments[0] !== undefined && strip(call.arguments[0]) === node;
}

function isStill(facts: FunctionFacts, decl: Variable, from: number, to: number): boolean {
  const { body } = facts.function;
  if (decl.kind === 'variable' && decl.storage !== 'automatic') return decl.constexpr || decl.type.const === true;
  return body !== null && !facts.addressTaken(decl) && facts.assignments(decl, body).every((definition) =>
    definition.kind === 'parameter' || definition.kind === 'declaration' || (definition.kind === 'assignment' && (definition.node.span.end <= from || definition.node.span.start >= to)));
}

/**
 * Why a transform has no site on a line that was asked for by number: said about what stands there, in the words of the transform. Only for
 * messages; whether something is a site is the transform's business.
 */
import type { BranchFinding } from '../audit/types.js';
import type { FunctionFacts, Loop } from '../analysis/facts.js';
import type { Session } from './session.js';

export interface NothingThere {
  readonly path: string;
  readonly realPath: string;
  readonly kernel: string;
  readonly function: string;
  readonly text: string;
}

/** What is on a line on which `transform` (a name without variant) found nothing. */
export function nothingThere(session: Session, transform: string, line: number): NothingThere {
  const found = session.audit().flatMap((file) => file.kernels.flatMap((kernel) => kernel.branches.map((branch) => ({ kernel: kernel.name, branch }))))
    .filter(({ branch }) => branch.line === line);
  // The statement says more than the `&&` in its condition.
  const first = found.find(({ branch }) => branch.kind !== 'and' && branch.kind !== 'or') ?? found[0];
  if (first === undefined) return withoutBranch(session, line);
  const { branch } = first;
  return { path: branch.path, realPath: branch.facts.unit.source.realPath, kernel: first.kernel, function: branch.function, text: reason(branch, transform) };
}

function withoutBranch(session: Session, line: number): NothingThere {
  for (const { unit } of session.kernels()) {
    const { source } = unit;
    const around = unit.functions.filter((fn) => fn.body !== null && source.line(fn.span.start) <= line && line <= source.line(fn.span.end)).sort((a, b) => b.span.start - a.span.start)[0];
    if (around === undefined || line > source.lineCount) continue;
    const text = around.qualifiers.global || around.qualifiers.device ? `no branch of \`${around.name}\` begins there, or no kernel reaches it` : `\`${around.name}\` is a function of the host`;
    return { path: session.shownPath(source.realPath), realPath: source.realPath, kernel: '', function: around.name, text };
  }
  const file = session.files[0];
  return { path: file?.path ?? '', realPath: file?.realPath ?? '', kernel: '', function: '', text: 'the line is outside of every kernel' };
}

const WORD: Readonly<Record<BranchFinding['kind'], string>> = { if: 'if', switch: 'switch', ternary: '?:', and: '&&', or: '||', for: 'for', while: 'while', do: 'do' };

function reason(branch: BranchFinding, transform: string): string {
  const { facts, site } = branch;
  const what = `the \`${WORD[branch.kind]}\` on line ${branch.line}`;
  const isLoop = branch.kind === 'for' || branch.kind === 'while' || branch.kind === 'do';
  if (site.node.kind === 'if' && site.node.constexpr) return `${what} is decided at compile time (if constexpr)`;
  const [innermost] = facts.loops(site.node).filter((loop) => loop !== site.node);
  switch (transform) {
    case 'hoist':
      if (isLoop) return `${what} is a loop; hoist treats a branch in a loop, on the line of the branch`;
      if (innermost === undefined) return `${what} stands in no loop`;
      if (branch.scope === 'constant') return `${what} is decided at compile time: its condition is a constant`;
      if (branch.kind === 'and' || branch.kind === 'or') return `${what} is a part of a larger condition`;
      if (belowBranch(site.node, innermost, facts)) return `${what} stands below another branch of the loop on line ${lineOf(innermost, facts)}: whether it is reached depends on that one`;
      return `${what} in the loop on line ${lineOf(innermost, facts)} does not decide a whole statement`;
    case 'peel': {
      if (branch.kind === 'do') return `the loop on line ${branch.line} is a \`do\` loop, whose test stands behind its body`;
      if (isLoop) {
        const fixed = `the loop on line ${branch.line} has no guard that compares its counter with a fixed bound`;
        return branch.class === 'data' || branch.class === 'unknown' ? `${fixed}; its trip count is decided by ${branch.class === 'data' ? 'data' : 'what was not understood'}` : fixed;
      }
      if (innermost === undefined) return `${what} stands in no loop`;
      const loop = `the loop on line ${lineOf(innermost, facts)}`;
      if (innermost.kind === 'do') return `${what} stands in a \`do\` loop (line ${lineOf(innermost, facts)}), whose test stands behind its body`;
      if (innermost.kind === 'range-for') return `${loop} has no counter`;
      if (branch.class === 'data') return `${what} is decided by data, not by a counter of ${loop}`;
      return `${what} does not compare a counter of ${loop} with a fixed bound`;
    }
    default: return `${what} (${branch.class}, scope ${branch.scope})${innermost === undefined ? ' stands in no loop' : ` stands in the loop on line ${lineOf(innermost, facts)}`}`;
  }
}

function lineOf(loop: Loop, facts: FunctionFacts): number {
  return facts.unit.source.line(loop.span.start);
}

function belowBranch(node: BranchFinding['site']['node'], loop: Loop, facts: FunctionFacts): boolean {
  for (let up = facts.parent(node); up !== null && up !== loop; up = facts.parent(up)) {
    if (up.kind === 'if' || up.kind === 'switch' || up.kind === 'conditional') return true;
  }
  return false;
}

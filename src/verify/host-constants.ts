/**
 * Constants in the host text that was written from a launch plan. What runs is the plan, in which a constant has the value that the kernel sees; the
 * text calls it by a name, which is looked up from the launch. Here the names are read again, in the text as it came out.
 */
import { evaluate } from '../simulate/constants.js';
import type { Plan } from '../simulate/plan.js';
import { EMPTY_ENV } from '../simulate/resolve.js';
import { walkStmt } from '../simulate/walk.js';
import type { Expr, FunctionDecl, Program } from '../syntax/tree.js';
import type { Obstacle } from './compare-runs.js';

/** Names of the plan's constants, in functions that launch its kernels, that mean something else there. */
export function mistakenConstants(after: Program, plan: Plan): readonly Obstacle[] {
  const wanted = new Map((plan.constants ?? []).map(({ name, value }) => [name, BigInt(value)]));
  if (wanted.size === 0) return [];
  const kernels = new Set(plan.steps.flatMap((step) => (step.kind === 'kernel' ? [step.kernel] : [])));
  const found: Obstacle[] = [];
  const read = new Set<FunctionDecl>();
  for (const { source, launches } of after.units.values()) {
    for (const launch of launches) {
      const fn = launch.function;
      if (!kernels.has(launch.kernelName) || fn === null || fn.body === null || read.has(fn)) continue;
      read.add(fn);
      const told = new Set<string>();
      walkStmt(fn.body, {
        expr(e) {
          if (e.kind !== 'ref' && e.kind !== 'macro' && e.kind !== 'member') return;
          const text = source.text.slice(e.span.start, e.span.end).replace(/\s+/g, '');
          const value = wanted.get(text);
          // What a macro stands for has the macro's place in the text.
          if (value === undefined || told.has(text) || e.name !== text.replace(/^::/, '')) return;
          const why = otherThan(e, value);
          if (why === null) return;
          told.add(text);
          const line = source.line(e.span.start);
          found.push({ side: 'after', reason: `${text} ${why} at line ${line}: the launch plan, which is what runs, takes it for ${value}`, at: { file: fn.file, start: e.span.start, end: e.span.end }, lost: true });
        },
      });
    }
  }
  return found;
}

/** What the name means there, in words; null if it has the value, or is a constant whose value only a compiler knows. */
function otherThan(e: Extract<Expr, { kind: 'ref' | 'macro' | 'member' }>, wanted: bigint): string | null {
  if (e.kind === 'member') return 'is a member';
  const value = evaluate(e, EMPTY_ENV);
  if (value !== null) return value.kind === 'integer' && value.value === wanted ? null : `is ${value.value}`;
  if (e.kind === 'macro') return null;
  const { decl } = e;
  if (decl === null) return 'means nothing that is declared';
  const constant = decl.kind === 'variable' && (decl.constexpr || decl.type.const === true) && decl.init !== null;
  return constant ? null : `is another ${decl.kind.replaceAll('-', ' ')}`;
}

/** Launches that pass constants: the host need not choose. */
import { strip } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { convertAll, evaluate, single, type Values } from '../../src/analysis/integer-values.js';
import type { Expr } from '../../src/syntax/tree.js';
import type { Decide } from '../lib/launch-rewrite.js';
import type { LaunchSite } from '../lib/launch-sites.js';
import type { LaunchPlan } from '../lib/types.js';
import { soleValue } from './host-text.js';

/** Knows the plan's condition at sites where every argument in it is a literal. */
export function decider(facts: FunctionFacts, condition: Expr, plan: LaunchPlan): Decide {
  const kernels = plan.steps.filter((step) => step.kind === 'kernel');
  const positive = kernels.find((step) => step.unless?.startsWith('!(') !== true)?.unless ?? null;
  return (site, text) => {
    if (positive === null) return null;
    const leaf = (e: Expr): Values | null => {
      if (e.kind !== 'ref' || e.decl === null) return null;
      if (e.decl.kind === 'variable') {
        const init = soleValue(facts, e.decl);
        return init === null ? null : convertAll(evaluate(init, leaf), e.decl.type);
      }
      if (e.decl.kind !== 'parameter') return null;
      const argument = site.launch.arguments[e.decl.index];
      return argument === undefined || !isLiteral(argument) ? null : convertAll(evaluate(argument, () => null), e.decl.type);
    };
    const value = single(evaluate(condition, leaf)) ?? nullTest(site, condition);
    if (value === null) return null;
    return text === positive ? value !== 0n : value === 0n;
  };
}

/** A test of a pointer that is passed as `nullptr`; null for any other. */
function nullTest(site: LaunchSite, condition: Expr): bigint | null {
  const e = strip(condition);
  const absent = (side: Expr): boolean => {
    const s = strip(side);
    const argument = s.kind === 'ref' && s.decl?.kind === 'parameter' ? site.launch.arguments[s.decl.index] : undefined;
    return argument !== undefined && isNull(argument);
  };
  if (e.kind === 'unary' && e.op === '!') return absent(e.operand) ? 1n : null;
  if (e.kind === 'binary' && (e.op === '==' || e.op === '!=')) {
    const pointer = isNull(e.right) ? e.left : isNull(e.left) ? e.right : null;
    return pointer !== null && absent(pointer) ? (e.op === '==' ? 1n : 0n) : null;
  }
  return absent(e) ? 0n : null;
}

function isNull(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'cast') return isNull(e.operand);
  return e.kind === 'literal' && (e.value === null || (e.value === 0n && expr.kind === 'macro'));
}

function isLiteral(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'unary') return isLiteral(e.operand);
  return e.kind === 'literal' && (typeof e.value === 'bigint' || typeof e.value === 'boolean');
}

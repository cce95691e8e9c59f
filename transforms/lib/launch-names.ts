/**
 * Names in the texts of a launch plan: parameters of the kernel, `gridDim`/`blockDim` of the launch, values and temporaries. They are
 * exchanged for what stands for them at one launch site.
 */
import { strip, walk } from '../../src/analysis/children.js';
import type { Expr, Type } from '../../src/syntax/tree.js';
import type { LaunchPlan } from './types.js';

/** A name, with the members behind it: `gridDim.x`, `p.mode`. What stands behind `::` stands for itself. */
const NAME = /(?<![\w.]|::)[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*/g;
const LITERAL_OR_NAME = /^(?:[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*|\d[\w.]*|\([^()]*\))$/;

/** `text` in parentheses unless it is a name, a literal or in parentheses already. */
export function grouped(text: string): string {
  return LITERAL_OR_NAME.test(text) ? text : `(${text})`;
}

/** Puts `replace(base, members)` in the place of each name; null leaves it. A text that is one name needs no parentheses. */
export function exchangeNames(text: string, replace: (base: string, members: string) => string | null): string {
  const trimmed = text.trim();
  return trimmed.replace(NAME, (name) => {
    const [base = '', ...members] = name.split(/\s*\.\s*/);
    const tail = members.map((member) => `.${member}`).join('');
    const found = replace(base, tail);
    if (found === null) return name;
    return name === trimmed ? found : grouped(found);
  });
}

/** Bases of the names of a text. */
export function namesIn(text: string): readonly { readonly base: string; readonly members: string }[] {
  return [...text.matchAll(NAME)].map(([name]) => {
    const [base = '', ...members] = name.split(/\s*\.\s*/);
    return { base, members: members.map((member) => `.${member}`).join('') };
  });
}

/** Texts of a plan that are computed on the host, arguments that are no bare name included. */
export function hostTexts(plan: LaunchPlan): readonly string[] {
  return plan.steps.flatMap((step) => {
    switch (step.kind) {
      case 'value': return [step.value];
      case 'temporary': return [step.count];
      case 'fill': return [step.value, step.count, step.buffer];
      case 'kernel': return [step.grid, step.block, ...(step.unless === null ? [] : [step.unless]), ...(step.shared === undefined ? [] : [step.shared]), ...step.arguments.filter((text) => !isBareName(text))];
      case 'select': return [step.flags, step.output, step.count, step.selected];
      case 'scan': return [step.input, step.output, step.count];
      case 'sort': return [step.keys, step.values, step.count];
      default: {
        const never: never = step;
        return never;
      }
    }
  });
}

export function isBareName(text: string): boolean {
  return /^[A-Za-z_]\w*$/.test(text.trim());
}

/** Evaluating the expression twice, or not at all, is no different from once: it reads variables and computes. */
export function isRepeatable(expr: Expr): boolean {
  let good = true;
  walk(expr, (node) => {
    switch (node.kind) {
      case 'call': good &&= node.callee.kind === 'function' && /^(min|max)$/.test(node.callee.name); break;
      case 'update': case 'assign': case 'lambda': case 'opaque': good = false; break;
      case 'construct': good &&= node.type.kind === 'record' ? node.type.decl.vector !== null : node.type.kind !== 'unknown' && node.type.kind !== 'dependent'; break;
      case 'ref': good &&= node.type.volatile !== true; break;
      case 'member': good &&= node.type.volatile !== true; break;
      default: break;
    }
    return good;
  });
  return good;
}

/** A literal or a variable (a member of one): text that is as good as a name. */
export function isPlain(expr: Expr): boolean {
  const e = strip(expr);
  switch (e.kind) {
    case 'literal': case 'ref': return true;
    case 'member': return isPlain(e.object);
    default: return false;
  }
}

/** Types that a host variable of a parameter's type can be declared with where the parameter's own text stands. */
export function isArithmetic(type: Type): boolean {
  return type.kind === 'bool' || type.kind === 'int' || type.kind === 'float';
}

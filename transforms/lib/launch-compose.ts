/**
 * Plans in turn: a kernel is divided, and one of the two again. The plan of the first kernel then launches the last ones directly.
 */
import { exchangeNames, isBareName, namesIn } from './launch-names.js';
import type { LaunchPlan, LaunchStep } from './types.js';

/** A kernel that a plan took the place of, in the order of the edits. */
export interface PlannedKernel {
  readonly kernel: string;
  /** Names of its parameters. */
  readonly parameters: readonly string[];
  readonly plan: LaunchPlan;
}

/** One plan for each kernel of the beginning, in terms of its own parameters. */
export function composePlans(planned: readonly PlannedKernel[]): ReadonlyMap<string, LaunchPlan> {
  const plans = new Map<string, LaunchPlan>();
  let serial = 0;
  for (const next of planned) {
    let inner = false;
    for (const [kernel, plan] of plans) {
      if (!plan.steps.some((step) => step.kind === 'kernel' && step.kernel === next.kernel)) continue;
      inner = true;
      const constants = [...(plan.constants ?? []), ...(next.plan.constants ?? [])];
      const steps = plan.steps.flatMap((step) => (step.kind === 'kernel' && step.kernel === next.kernel ? expanded(step, next, ++serial) : [step]));
      plans.set(kernel, { steps, ...(constants.length === 0 ? {} : { constants }) });
    }
    if (!inner) plans.set(next.kernel, next.plan);
  }
  return plans;
}

type KernelStep = Extract<LaunchStep, { kind: 'kernel' }>;

/** The inner plan where the outer one launches its kernel. */
function expanded(outer: KernelStep, { parameters, plan }: PlannedKernel, serial: number): readonly LaunchStep[] {
  const own = new Map<string, string>();
  for (const step of plan.steps) if (step.kind === 'value' || step.kind === 'temporary') own.set(step.name, `${step.name}_${serial}`);
  const grid = sidesOf(outer.grid, 'gridDim');
  const block = sidesOf(outer.block, 'blockDim');
  const text = (inner: string): string => exchangeNames(inner, (base, members) => {
    const shape = base === 'gridDim' ? grid : base === 'blockDim' ? block : null;
    if (shape !== null) return shape.get(members) ?? null;
    const renamed = own.get(base);
    if (renamed !== undefined) return renamed + members;
    const at = parameters.indexOf(base);
    const argument = at < 0 ? undefined : outer.arguments[at];
    return argument === undefined ? null : members === '' ? argument : `${argument}${members}`;
  });
  const empty = outer.grid.trim() === 'gridDim' ? null : `(${grid.get('.x') ?? outer.grid}) <= 0 || (${grid.get('.y') ?? '1'}) <= 0 || (${grid.get('.z') ?? '1'}) <= 0`;
  const skip = [outer.unless, empty].filter((condition) => condition !== null);
  return plan.steps.map((step): LaunchStep => {
    switch (step.kind) {
      case 'value': return { ...step, name: own.get(step.name) ?? step.name, value: text(step.value) };
      case 'temporary': return { ...step, name: own.get(step.name) ?? step.name, count: text(step.count) };
      case 'fill': return { ...step, buffer: text(step.buffer), value: text(step.value), count: text(step.count) };
      case 'kernel': {
        const conditions = [...skip, ...(step.unless === null ? [] : [text(step.unless)])];
        const shared = step.shared === undefined ? outer.shared : text(step.shared);
        return {
          ...step, grid: text(step.grid), block: text(step.block), arguments: step.arguments.map(text),
          unless: conditions.length === 0 ? null : conditions.map((condition) => `(${condition})`).join(' || '), ...(shared === undefined ? {} : { shared }),
        };
      }
      case 'select': return { ...step, flags: text(step.flags), output: text(step.output), count: text(step.count), selected: text(step.selected) };
      case 'scan': return { ...step, input: text(step.input), output: text(step.output), count: text(step.count) };
      case 'sort': return { ...step, keys: text(step.keys), values: text(step.values), count: text(step.count) };
      default: {
        const never: never = step;
        return never;
      }
    }
  });
}

/** What `gridDim`, `gridDim.x`, … of the inner plan are in the outer one. */
function sidesOf(shape: string, name: string): ReadonlyMap<string, string> {
  const trimmed = shape.trim();
  const list = /^dim3\s*\((.*)\)$/s.exec(trimmed)?.[1];
  if (list === undefined && (isBareName(trimmed) && (trimmed === name || namesIn(trimmed)[0]?.base === 'gridDim' || namesIn(trimmed)[0]?.base === 'blockDim'))) {
    return new Map([['', trimmed], ['.x', `${trimmed}.x`], ['.y', `${trimmed}.y`], ['.z', `${trimmed}.z`]]);
  }
  const parts: string[] = [''];
  let depth = 0;
  for (const c of list ?? trimmed) {
    if (c === ',' && depth === 0) { parts.push(''); continue; }
    if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) depth--;
    parts[parts.length - 1] += c;
  }
  const [x = '1', y = '1', z = '1'] = parts.map((part) => part.trim());
  return new Map([['', trimmed], ['.x', x], ['.y', y], ['.z', z]]);
}

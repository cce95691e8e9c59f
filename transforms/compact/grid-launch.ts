/** Parameters of the new kernels, and the launch plan that takes the place of every launch. */
import type { NewKernel } from '../lib/launch-follow.js';
import type { LaunchPlan, LaunchStep, TransformContext } from '../lib/types.js';
import type { GridPlan } from './grid-legal.js';
import { carriedType } from './grid-slice.js';

/** A new parameter as the first kernel and as the kernel over the list declare it. */
export interface NewText { readonly written: string; readonly read: string }

export interface GridParameters {
  readonly carried: readonly NewText[];
  readonly items: NewText;
  readonly count: NewText;
  readonly flags: NewText;
  /** What the kernel over the list must know of the original grid, with what the launch passes for it. */
  readonly grid: readonly (NewText & { readonly name: string; readonly value: string })[];
}

/** Blocks of the kernel over the list: enough for every multiprocessor of a large device to be full twice. */
const MOST_BLOCKS = 2048;

function side(name: string, value: string): GridParameters['grid'][number] {
  return { name, value, written: `unsigned ${name}`, read: `unsigned ${name}` };
}

export function parametersOf({ index, names, slice, gridSides }: GridPlan): GridParameters {
  const pointer = (element: string, name: string): NewText => ({ written: `${element} *${name}`, read: `const ${element} *__restrict__ ${name}` });
  return {
    carried: slice.carried.map(({ decl }, i) => pointer(carriedType(decl.type) ?? 'int', names.carried[i] ?? '')),
    items: pointer(index.item, names.all.items),
    count: pointer(index.count, names.all.count),
    flags: pointer('unsigned char', names.all.flags),
    grid: [
      ...(index.axes === 1 ? [] : [side(names.all.width, 'gridDim.x * blockDim.x')]),
      ...gridSides.map((axis) => (axis === 'x' ? side(names.all.blocksX, 'gridDim.x') : side(names.all.blocksY, 'gridDim.y'))),
    ],
  };
}

/** Parameters of the new kernels, for declarations and instantiations that follow. */
export function newKernels(context: TransformContext, plan: GridPlan): readonly NewKernel[] {
  const { carried, items, count, flags, grid } = parametersOf(plan);
  const kept = context.facts.function.parameters.map((parameter) => ({ kind: 'kept' as const, index: parameter.index }));
  const added = (texts: readonly string[]): NewKernel['parameters'] => [...kept, ...texts.map((text) => ({ kind: 'new' as const, text }))];
  const first = plan.order === 'free' ? [items.written, count.written] : [flags.written];
  return [
    { name: plan.names.all.first, parameters: added([...carried.map((one) => one.written), ...first]) },
    { name: plan.names.all.heavy, parameters: added([...carried.map((one) => one.read), ...grid.map((one) => one.read), items.read, count.read]) },
  ];
}

export function launchPlanOf(context: TransformContext, plan: GridPlan): LaunchPlan {
  const { index, names, order, slice } = plan;
  const all = names.all;
  const own = context.facts.function.parameters.map((parameter) => parameter.name);
  const total = index.axes === 1 ? '(size_t)gridDim.x * blockDim.x' : '(size_t)gridDim.x * blockDim.x * gridDim.y * blockDim.y';
  // Spelled out: `min` may be a variable at the launch.
  const whole = index.axes === 1 ? 'gridDim.x' : '(size_t)gridDim.x * gridDim.y';
  const blocks = `${whole} < ${MOST_BLOCKS} ? ${index.axes === 1 ? whole : 'gridDim.x * gridDim.y'} : ${MOST_BLOCKS}`;
  const grid = all.heavyBlocks;
  const steps: LaunchStep[] = [{ kind: 'value', name: all.capacity, type: 'size_t', value: total }];
  const temporary = (name: string, element: string, count: string): LaunchStep => ({ kind: 'temporary', name, element, count });
  if (order === 'keep') steps.push(temporary(all.flags, 'unsigned char', all.capacity));
  steps.push(temporary(all.items, index.item, all.capacity), temporary(all.count, index.count, '1'));
  slice.carried.forEach(({ decl }, i) => steps.push(temporary(names.carried[i] ?? '', carriedType(decl.type) ?? 'int', all.capacity)));
  steps.push(order === 'keep'
    ? { kind: 'fill', buffer: all.flags, value: '0', count: all.capacity }
    : { kind: 'fill', buffer: all.count, value: '0', count: '1' });
  steps.push({ kind: 'kernel', kernel: all.first, grid: 'gridDim', block: 'blockDim', arguments: [...own, ...names.carried, ...(order === 'keep' ? [all.flags] : [all.items, all.count])], unless: null });
  if (order === 'keep') steps.push({ kind: 'select', flags: all.flags, output: all.items, count: all.capacity, selected: all.count });
  steps.push(
    { kind: 'value', name: grid, type: 'unsigned', value: blocks },
    {
      kind: 'kernel', kernel: all.heavy, grid, block: 'blockDim',
      arguments: [...own, ...names.carried, ...parametersOf(plan).grid.map((one) => one.value), all.items, all.count], unless: null, anyGrid: true, asFull: true,
    },
  );
  return { steps };
}

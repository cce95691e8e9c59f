/**
 * The kernels of interior and border, and the plan for their launches. The interior's kernel has one arm, and its blocks count from the first one
 * inside. The border's is the original with its test; it is launched once for each axis, over the blocks that lie outside along this axis
 * and inside along the ones before it: together they are the grid without its interior, each block once.
 *
 *     z:  gx        × gy        × (gz - iz)
 *     y:  gx        × (gy - iy) × iz
 *     x: (gx - ix)  × iy        × iz
 */
import type { Span } from '../../src/source/types.js';
import type { CoordinateExpr, Stmt } from '../../src/syntax/tree.js';
import { freshKernelName } from '../lib/kernel-names.js';
import type { NewKernel, NewParameter } from '../lib/launch-follow.js';
import { copyText, indentAt, startsLine, textOf, type Replacement } from '../lib/text.js';
import type { LaunchStep, TransformContext } from '../lib/types.js';
import type { AxisBox } from './block-bounds.js';
import type { Axis } from './condition.js';
import { definitionText, headOf } from './definition.js';
import { bindsTighter, coordinatesIn, freshInKernel, keptStatements, unneeded, usedIn, type Division, type Population } from './emit.js';
import type { Interior } from './interior.js';
import type { SplitBranch } from './shape.js';

/** Where the blocks of one launch of the border stand along an axis. */
type Place = 'outside' | 'inside' | 'all';

/** How the border's kernel finds a block's number along an axis: by two parameters, by one, or it is what it is. */
type Found = { readonly by: 'gap'; readonly before: string; readonly skip: string; readonly block: string } | { readonly by: 'skip'; readonly skip: string } | { readonly by: 'itself' };

export function divideFrame(context: TransformContext, branch: SplitBranch, interior: Interior): Division {
  const { function: kernel } = context.facts;
  const fresh = freshInKernel(context);
  const blocks = new Map<Axis, string>(interior.axes.map(({ axis }) => [axis, fresh(`blocks_${axis}`)]));
  // Of a kernel that lies inside along one axis, the part that does along another.
  const again = /_(?:interior|inside_[xyz]+)\d*$/.test(kernel.name);
  const axes = interior.axes.map((box) => box.axis).sort().join('');
  const inner = interiorKernel(context, branch, interior, freshKernelName(context, `${kernel.name}_${again ? `inside_${axes}` : 'interior'}`), fresh, blocks);
  const border = borderKernel(context, interior, freshKernelName(context, `${kernel.name}_${again ? `outside_${axes}` : 'border'}`), fresh, blocks);
  const steps: LaunchStep[] = [
    ...interior.values,
    step(inner, inner.passed, interior, interior.axes.map((): Place => 'inside')),
    ...interior.axes.map((_, outside) => {
      const places = interior.axes.map((__, i): Place => (i < outside ? 'inside' : i === outside ? 'outside' : 'all'));
      return step(border, [...border.passed, ...interior.axes.map((box, i) => border.placed(box, places[i] ?? 'all')).reverse().flat()], interior, places);
    }),
  ];
  return { then: inner, else: border, plan: { steps, ...(interior.constants.length === 0 ? {} : { constants: interior.constants }) }, names: [inner.kernel.name, border.kernel.name] };
}

function step({ kernel }: Population, passed: readonly string[], { axes }: Interior, places: readonly Place[]): LaunchStep {
  const side = (axis: Axis): string => {
    const at = axes.findIndex((box) => box.axis === axis);
    const box = axes[at];
    const place = places[at];
    if (box === undefined || place === undefined || place === 'all') return `gridDim.${axis}`;
    return place === 'inside' ? box.inside : `gridDim.${axis} - ${box.inside}`;
  };
  return { kind: 'kernel', kernel: kernel.name, grid: `dim3(${side('x')}, ${side('y')}, ${side('z')})`, block: 'blockDim', arguments: passed, unless: null };
}

function interiorKernel(context: TransformContext, branch: SplitBranch, interior: Interior, name: string, fresh: (base: string) => string, blocks: ReadonlyMap<Axis, string>): Population {
  const { facts, unit } = context;
  const { source } = unit;
  const arm = interior.thenInside ? 'then' : 'else';
  const kept = keptStatements(facts.function, branch, arm);
  const dropped = unneeded(facts, source, branch, kept);
  const live = kept.filter((stmt) => !dropped.has(stmt));
  const offsets = new Map<Axis, { readonly name: string; readonly passed: string }>();
  const coordinates: Replacement[] = [];
  const whole = new Set<Axis>();
  for (const coordinate of coordinatesIn(live)) {
    const box = interior.axes.find((one) => one.axis === coordinate.axis);
    if (box === undefined) continue;
    if (coordinate.base === 'gridDim') {
      whole.add(box.axis);
      coordinates.push({ span: coordinate.span, text: blocks.get(box.axis) ?? '' });
    } else if (box.before !== null) {
      let offset = /^\d+$/.test(box.before) ? box.before : offsets.get(box.axis)?.name;
      if (offset === undefined) {
        offset = fresh(`first_${box.axis}`);
        offsets.set(box.axis, { name: offset, passed: box.before });
      }
      coordinates.push(countedFrom(context, coordinate, offset));
    }
  }
  const parameters: NewParameter[] = facts.function.parameters.filter((parameter) => usedIn(source, live, dropped, parameter)).map((parameter) => ({ kind: 'kept', index: parameter.index }));
  const passed = parameters.map((parameter) => (parameter.kind === 'kept' ? facts.function.parameters[parameter.index]?.name ?? '' : ''));
  const add = (text: string, value: string): void => {
    parameters.push({ kind: 'new', text: `unsigned ${text}` });
    passed.push(value);
  };
  for (const offset of offsets.values()) add(offset.name, offset.passed);
  for (const axis of whole) add(blocks.get(axis) ?? '', `gridDim.${axis}`);
  const kernel: NewKernel = { name, parameters };
  return { kernel, text: definitionText(context, branch, arm, kernel, { dropped, coordinates, decisions: new Map(), said: [] }), passed, dropped };
}

function countedFrom({ facts, unit: { source } }: TransformContext, coordinate: CoordinateExpr, from: string): Replacement {
  const { start, end } = coordinate.span;
  const sum = `${textOf(source, coordinate.span)} + ${from}`;
  const closed = source.text[start - 1] === '(' && source.text[end] === ')';
  return { span: coordinate.span, text: !closed && bindsTighter(facts, coordinate) ? `(${sum})` : sum };
}

/** The original with another way to find the number of the block. `placed` are the arguments for that. */
function borderKernel(context: TransformContext, interior: Interior, name: string, fresh: (base: string) => string, blocks: ReadonlyMap<Axis, string>): Population & { placed(box: AxisBox, place: Place): readonly string[] } {
  const { facts, unit } = context;
  const { source } = unit;
  const { body, parameters: given } = facts.function;
  if (body === null) throw new Error('internal: a kernel without a body');
  const finds = new Map(interior.axes.map((box, i): [Axis, Found] => {
    const { axis } = box;
    if (box.before !== null && box.bounded) return [axis, { by: 'gap', before: fresh(`before_${axis}`), skip: fresh(`skip_${axis}`), block: fresh(`block_${axis}`) }];
    // Without a far edge the border lies where its blocks count from, but for those that are outside along another axis.
    return [axis, box.before === null || i < interior.axes.length - 1 ? { by: 'skip', skip: fresh(`skip_${axis}`) } : { by: 'itself' }];
  }));
  const coordinates: Replacement[] = [];
  const whole = new Set<Axis>();
  const statements: readonly Stmt[] = [body];
  for (const coordinate of coordinatesIn(statements)) {
    const found = coordinate.axis === null ? undefined : finds.get(coordinate.axis);
    if (found === undefined || coordinate.axis === null) continue;
    if (coordinate.base === 'gridDim') {
      whole.add(coordinate.axis);
      coordinates.push({ span: coordinate.span, text: blocks.get(coordinate.axis) ?? '' });
    } else if (found.by === 'gap') {
      coordinates.push({ span: coordinate.span, text: found.block });
    } else if (found.by === 'skip') {
      coordinates.push(countedFrom(context, coordinate, found.skip));
    }
  }
  const parameters: NewParameter[] = given.filter((parameter) => usedIn(source, statements, new Set(), parameter)).map((parameter) => ({ kind: 'kept', index: parameter.index }));
  const passed = parameters.map((parameter) => (parameter.kind === 'kept' ? given[parameter.index]?.name ?? '' : ''));
  for (const axis of whole) {
    parameters.push({ kind: 'new', text: `unsigned ${blocks.get(axis) ?? ''}` });
    passed.push(`gridDim.${axis}`);
  }
  const declarations: string[] = [];
  for (const { axis } of [...interior.axes].reverse()) {
    const found = finds.get(axis);
    if (found === undefined || found.by === 'itself') continue;
    if (found.by === 'gap') {
      parameters.push({ kind: 'new', text: `unsigned ${found.before}` });
      declarations.push(`const unsigned ${found.block} = blockIdx.${axis} < ${found.before} ? blockIdx.${axis} : blockIdx.${axis} + ${found.skip};`);
    }
    parameters.push({ kind: 'new', text: `unsigned ${found.skip}` });
  }
  const kernel: NewKernel = { name, parameters };
  return {
    kernel, text: headOf(context, kernel) + withDeclarations(context, body.span, declarations, coordinates), passed, dropped: new Set(),
    placed: (box, place) => {
      const before = box.before ?? '0';
      switch (finds.get(box.axis)?.by ?? 'itself') {
        case 'gap': return place === 'inside' ? ['0', before] : [before, place === 'outside' ? box.inside : '0'];
        case 'skip': return [box.before === null ? (place === 'outside' ? box.inside : '0') : place === 'inside' ? before : '0'];
        case 'itself': return [];
      }
    },
  };
}

/** The body with declarations in front of its first statement. */
function withDeclarations(context: TransformContext, body: Span, declarations: readonly string[], coordinates: readonly Replacement[]): string {
  const { source } = context.unit;
  const { function: kernel } = context.facts;
  const head = kernel.body?.kind === 'compound' ? kernel.body.body[0] : undefined;
  const indent = head !== undefined && startsLine(source, head.span.start) ? indentAt(source, head.span.start) : `${indentAt(source, body.start)}    `;
  const at = body.start + 1;
  const front: Replacement[] = declarations.length === 0 ? [] : [{ span: { start: at, end: at }, text: declarations.map((line) => `\n${indent}${line}`).join('') }];
  return copyText(source, body, { from: '', to: '' }, [...front, ...coordinates]);
}

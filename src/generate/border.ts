/**
 * Interior and border of an index space: a grid of one to three dimensions whose blocks lie inside its edges, outside, or across them. The tests are
 * spelled as in real code, also in ways that hold nowhere (radius larger than the space, negative, more blocks than elements).
 */
import type { Choices } from './choices.js';
import { deeper, type GenerateContext } from './context.js';
import { block, type Lines } from './statements.js';

export interface IndexSpace {
  readonly block: readonly [number, number, number];
  readonly grid: readonly [number, number, number];
  /** Declarations of `x`, `y`, `z`, and the number of the thread in the grid. */
  readonly coordinates: Lines;
  readonly index: string;
}

const AXES = ['x', 'y', 'z'] as const;

type Axis = (typeof AXES)[number];

export function indexSpace(choose: Choices): IndexSpace {
  const dimensions = 1 + choose.below(3);
  const shape = dimensions === 1 ? choose.pick<IndexSpace['block']>([[32, 1, 1], [64, 1, 1], [8, 1, 1]]) : dimensions === 2 ? choose.pick<IndexSpace['block']>([[8, 4, 1], [16, 2, 1], [4, 4, 1]]) : choose.pick<IndexSpace['block']>([[4, 2, 2], [4, 4, 2]]);
  const side = (): number => 1 + choose.below(dimensions === 1 ? 8 : dimensions === 2 ? 5 : 4);
  const grid = [side(), dimensions > 1 ? side() : 1, dimensions > 2 ? side() : 1] as const;
  const coordinates = AXES.slice(0, dimensions).map((axis, i) => {
    const threads = String(shape[i] ?? 1);
    const size = choose.rarely(4) ? threads : `blockDim.${axis}`;
    const value = choose.pick([
      `blockIdx.${axis} * ${size} + threadIdx.${axis}`, `threadIdx.${axis} + ${size} * blockIdx.${axis}`, `(blockIdx.${axis} * ${size} + threadIdx.${axis}) * 2`,
      `blockIdx.${axis} * ${Math.max(1, Number(threads) - 2)} + threadIdx.${axis} - 1`, `(int)(blockIdx.${axis} * ${size}) + (int)threadIdx.${axis}`,
    ]);
    const type = choose.pick(['int', 'const int', 'unsigned', 'long long', 'size_t']);
    // The tile that begins before the first element is a negative number there.
    return `    ${value.endsWith('- 1') && !type.endsWith('int') ? 'int' : type} ${axis} = ${value};`;
  });
  const whole = choose.rarely(3);
  const columns = whole ? 'gridDim.x' : String(grid[0]);
  const rows = whole ? 'gridDim.y' : String(grid[1]);
  const blockNumber = dimensions === 1 ? 'blockIdx.x' : dimensions === 2 ? `(blockIdx.y * ${columns} + blockIdx.x)` : `((blockIdx.z * ${rows} + blockIdx.y) * ${columns} + blockIdx.x)`;
  const thread = `(threadIdx.z * ${shape[1]} + threadIdx.y) * ${shape[0]} + threadIdx.x`;
  return { block: shape, grid, coordinates, index: `${blockNumber} * ${shape[0] * shape[1] * shape[2]} + ${thread}` };
}

/** What one axis is compared with. */
function conjuncts(choose: Choices, axis: Axis): readonly string[] {
  const radius = choose.pick(['2', '(m & 7)', '1', 'm', '(mode - 1)', '3u', '0', '-2', '(m & 3) * 2']);
  const edge = choose.pick(axis === 'x' ? ['n', 'n', '40', '(n + 3)', 'n / 2'] : ['n / 4', '9', 'm', '(n & 31)', '(int)gridDim.y * 4']);
  const small = radius === 'm' ? '(m & 7)' : radius;
  return choose.pick<readonly string[]>([
    [`${axis} >= ${radius}`, `${axis} < ${edge} - ${small}`], [`${axis} > 0`, `${axis} < ${edge} - 1`], [`${axis} >= ${radius}`, `${axis} + ${small} < ${edge}`],
    [`${axis} != 0`, `${axis} != ${edge} - 1`], [`(unsigned)(${axis} - ${small}) < (unsigned)(${edge} - 2 * ${small})`], [`${axis} < ${edge}`], [`${axis} - ${small} >= 0`, `${axis} < ${edge}`],
    [`!(${axis} < ${radius} || ${axis} >= ${edge} - ${small})`], [`${edge} - ${axis} > ${small}`, `${axis} >= ${small}`], [`${axis} * 2 + 1 < ${edge}`], [`${axis} >= ${radius}`],
    [`blockIdx.${axis} > 0`, `blockIdx.${axis} + 1 < gridDim.${axis}`], [`blockIdx.${axis} >= 1u`, `${axis} < ${edge}`], [`1 <= ${axis}`, `${edge} - ${small} >= ${axis}`], [`(${axis} << 1) < ${edge}`, `${axis} > ${small}`],
  ]);
}

/** The branch in one of the spellings of real code. `dimensions` are those of the grid. */
export function borderBranch(c: GenerateContext, dimensions: number): Lines {
  const { choose } = c;
  const tests = AXES.slice(0, dimensions).flatMap((axis) => (choose.rarely(5) && axis !== 'x' ? [] : conjuncts(choose, axis)));
  if (choose.rarely(4)) tests.push(choose.pick(['flag == true', 'n > 8', 'mode != 2', 'm + 1 < n', 'w > 0.5f']));
  if (choose.rarely(3)) tests.reverse();
  const inside = tests.join(' && ');
  // Without the conjunct: the opposite, as real code writes it.
  const outside = choose.rarely(2) ? `!(${inside})` : tests.map((test) => `!(${test})`).join(' || ');
  const inner = deeper(c, { arrival: 'lanes' });
  const [one, other] = [block(inner, 3), block(inner, 3)];
  const named = choose.rarely(4) ? c.fresh('inside') : null;
  const declared: Lines = named === null ? [] : [`${c.indent}const bool ${named} = ${inside};`];
  const test = named ?? inside;
  switch (choose.below(7)) {
    case 1: return [...declared, `${c.indent}if (${named === null ? outside : `!${named}`}) {`, ...one, `${c.indent}} else {`, ...other, `${c.indent}}`];
    case 2: return [...declared, `${c.indent}if (${test}) {`, ...one, `${c.indent}}`];
    case 3: return [...declared, `${c.indent}if (${named === null ? outside : `!${named}`}) {`, ...one, `${c.indent}}`];
    case 4: return [`${c.indent}if (i < n) {`, ...declared, `${c.indent}if (${test}) {`, ...one, `${c.indent}} else {`, ...other, `${c.indent}}`, `${c.indent}}`];
    case 5: return [...declared, `${c.indent}if (${named === null ? outside : `!${named}`}) {`, ...one, `${c.indent}    out[i] = acc;`, `${c.indent}    return;`, `${c.indent}}`, ...other];
    default: return [...declared, `${c.indent}if (${test}) {`, ...one, `${c.indent}} else {`, ...other, `${c.indent}}`];
  }
}

/**
 * What the launches of a kernel say about it: shape of its blocks and of its grid, values of template parameters and of scalar arguments.
 *
 * Sources, best first: `--block`, `// divmod: block=32x8`, `__block_size__`, all launches of the program joined. `__launch_bounds__` only
 * bounds the number of threads. What is said by hand (the first two) is held against the launches that are seen: where one has another shape, both
 * count, and the contradiction is told; where it has another one that is not wholly known, what was said counts for nothing. Else launches say nothing at all unless the program shows them all: one through a pointer, a wrapper or a macro
 * that was not understood may use any shape. That no other file launches the kernel is what every fact from launches rests on; a program
 * in which that is not to be assumed says so itself (`allLaunchesVisible`).
 *
 * Not handled: clusters.
 */
import type { Expr, FunctionDecl, Launch, ParameterDecl, Program, TemplateParameterDecl, Type } from '../syntax/tree.js';
import { annotationsOf } from './annotations.js';
import type { AnalysisOptions, BlockFact, BlockShape, Fact, Reason } from './facts.js';
import { hostDimensions, hostTemplateValues, hostValues, type DimensionValues, type HostPlace } from './host-constants.js';
import { lanesOfWarp } from './platform.js';
import { convertAll, evaluate, single, union, type Resolver, type Values } from './integer-values.js';

export const MAX_THREADS = 1024;
const MAX_SHAPES = 16;

function placeOf(launch: Launch): HostPlace {
  return { function: launch.function, offset: launch.span.start };
}

function reasonOf(launch: Launch, program: Program, text: string): Reason {
  return { path: launch.file, line: program.units.get(launch.file)?.source.line(launch.span.start) ?? 1, text };
}

function headReason(kernel: FunctionDecl, program: Program, text: string): Reason {
  return { path: kernel.file, line: program.units.get(kernel.file)?.source.line(kernel.nameSpan.start) ?? 1, text };
}

/** `32x8`, `256`, `8x8x4`; null if it is no shape. */
export function parseShape(text: string): BlockShape | null {
  const numbers = text.split(/[x,]/i).map((part) => Number(part.trim()));
  if (numbers.length === 0 || numbers.length > 3 || numbers.some((part) => !Number.isInteger(part) || part < 1)) return null;
  const [x = 1, y = 1, z = 1] = numbers;
  return { x, y, z };
}

export function threadsOf(shape: BlockShape): number {
  return shape.x * shape.y * shape.z;
}

function exact(kernel: FunctionDecl, program: Program, shape: BlockShape, origin: BlockFact['origin'], text: string): BlockFact {
  return {
    value: shape, alternatives: [shape], maxThreads: threadsOf(shape), xMultipleOf32: shape.x % lanesFor(kernel, program) === 0, oneDimensional: shape.y === 1 && shape.z === 1, origin,
    because: [headReason(kernel, program, text)], under: [], reads: [{ file: kernel.file, ...kernel.headSpan }],
  };
}

const blocks = new WeakMap<Program, Map<string, Map<FunctionDecl, BlockFact>>>();

export function blockFact(kernel: FunctionDecl, program: Program, options: AnalysisOptions): BlockFact {
  const { block } = options;
  if (block !== undefined && options.supposed === true) return exact(kernel, program, block, 'option', `blocks are ${shapeText(block)} (--block)`);
  let perProgram = blocks.get(program);
  if (perProgram === undefined) blocks.set(program, perProgram = new Map());
  const said = block === undefined ? '' : shapeText(block);
  let ofKernels = perProgram.get(said);
  if (ofKernels === undefined) perProgram.set(said, ofKernels = new Map());
  let made = ofKernels.get(kernel);
  if (made === undefined) ofKernels.set(kernel, made = block === undefined ? compute(kernel, program) : stated(kernel, program, block, 'option', '--block'));
  return made;
}

/** What was said by hand, as far as no launch that is seen says otherwise. */
function stated(kernel: FunctionDecl, program: Program, shape: BlockShape, origin: 'option' | 'annotation', by: string): BlockFact {
  const fact = exact(kernel, program, shape, origin, `blocks are ${shapeText(shape)} (${by === '--block' ? by : 'annotation'})`);
  const others = program.launchesOf(kernel).flatMap((launch) => {
    const seen = shapesSeen(launch);
    return isSaid(seen, shape) ? [] : [{ launch, shapes: shapesOf(hostDimensions(launch.block, placeOf(launch))), text: shapesOf(seen)?.map(shapeText).join(' or ') ?? 'blocks of another shape' }];
  });
  const [first] = others;
  if (first === undefined) return fact;
  const contradiction = `${by} says that blocks of ${kernel.name} are ${shapeText(shape)}, and the launch of ${placeText(first.launch, kernel, program)} has ${first.text}`;
  const bound = launchBound(kernel, program);
  const shapes = new Map([[shapeText(shape), shape]]);
  for (const launch of program.launchesOf(kernel)) for (const one of shapesOf(hostDimensions(launch.block, placeOf(launch))) ?? []) shapes.set(shapeText(one), one);
  // A launch of which only this build's shape is known may have any in another: nothing is left of what was said.
  if (shapes.size > MAX_SHAPES || others.some((other) => other.shapes === null)) return { ...fromLaunches(kernel, program, bound), contradiction: `${contradiction}; the first is passed over` };
  const alternatives = [...shapes.values()];
  const only = alternatives.length === 1 ? alternatives[0] ?? null : null;
  return {
    value: only, alternatives, maxThreads: Math.max(...alternatives.map(threadsOf)), xMultipleOf32: alternatives.every(({ x }) => x % lanesFor(kernel, program) === 0),
    oneDimensional: alternatives.every(({ y, z }) => y === 1 && z === 1), origin,
    because: [...fact.because, ...others.map(({ launch, text }) => reasonOf(launch, program, `launched with blocks of ${text}`))],
    reads: [...fact.reads, ...program.launchesOf(kernel).map((launch) => ({ file: launch.file, ...launch.span }))], under: [], contradiction: `${contradiction}; both are taken into account`,
  };
}

/** Sides that a launch has in every build; where that is not known, those of this one. */
function shapesSeen(launch: Launch): DimensionValues {
  const [all, here] = [hostDimensions(launch.block, placeOf(launch)), hostDimensions(launch.block, { ...placeOf(launch), thisBuild: true })];
  return { x: all.x ?? here.x, y: all.y ?? here.y, z: all.z ?? here.z };
}

/** No side that is known has another length than the shape. */
function isSaid(sides: DimensionValues, shape: BlockShape): boolean {
  return (['x', 'y', 'z'] as const).every((axis) => sides[axis] === null || sides[axis].every((value) => value.value === BigInt(shape[axis])));
}

function placeText(launch: Launch, kernel: FunctionDecl, program: Program): string {
  const line = program.units.get(launch.file)?.source.line(launch.span.start) ?? 1;
  return launch.file === kernel.file ? `line ${line}` : `${launch.file.slice(launch.file.lastIndexOf('/') + 1)}:${line}`;
}

/**
 * The shapes that blocks of the kernel surely have: what edits may rest on, and therefore what they are verified with. Empty if not known. Where launches
 * take a macro that another build may replace, those of this build: text that spells the macro holds its value in this build when it is verified.
 */
export function provedShapes(kernel: FunctionDecl, program: Program, options: AnalysisOptions = {}): readonly BlockShape[] {
  const fact = blockFact(kernel, program, options);
  if (fact.value !== null) return [fact.value];
  return fact.alternatives.length > 0 ? fact.alternatives : shapesOfThisBuild(kernel, program);
}

function shapesOfThisBuild(kernel: FunctionDecl, program: Program): readonly BlockShape[] {
  const shapes = new Map<string, BlockShape>();
  if (!program.allLaunchesVisible(kernel)) return [];
  for (const launch of program.launchesOf(kernel)) {
    const found = shapesOf(hostDimensions(launch.block, { ...placeOf(launch), thisBuild: true }));
    if (found === null) return [];
    for (const shape of found) shapes.set(shapeText(shape), shape);
  }
  return shapes.size > MAX_SHAPES ? [] : [...shapes.values()];
}

export function shapeText(shape: BlockShape): string {
  return `${shape.x}×${shape.y}×${shape.z}`;
}

function compute(kernel: FunctionDecl, program: Program): BlockFact {
  const annotated = annotationsOf(kernel, program).get('block');
  const shape = annotated === undefined || annotated === null ? null : parseShape(annotated);
  if (shape !== null) return stated(kernel, program, shape, 'annotation', 'the annotation');
  const attribute = blockSize(kernel, program);
  if (attribute !== null) return exact(kernel, program, attribute, 'block-size', `blocks are ${shapeText(attribute)} (__block_size__)`);
  const bound = launchBound(kernel, program);
  return fromLaunches(kernel, program, bound);
}

/** `__block_size__((32, 8, 1))` or `__block_size__(256)`. */
function blockSize(kernel: FunctionDecl, program: Program): BlockShape | null {
  const bounds = kernel.bounds.find((entry) => entry.name === 'block_size');
  const first = bounds?.arguments[0];
  if (first === undefined) return null;
  const sides: number[] = [];
  let rest = first;
  const parts = [];
  while (rest.kind === 'paren') rest = rest.inner;
  while (rest.kind === 'binary' && rest.op === ',') { parts.unshift(rest.right); rest = rest.left; }
  parts.unshift(rest);
  for (const part of parts) {
    const value = single(evaluate(part, templateLeaves(kernel, program)));
    if (value === null || value < 1n || value > 1024n) return null;
    sides.push(Number(value));
  }
  const [x = 1, y = 1, z = 1] = sides;
  return { x, y, z };
}

function templateLeaves(kernel: FunctionDecl, program: Program): Resolver {
  return Object.assign((leaf: Expr): Values | null => (
    leaf.kind === 'ref' && leaf.decl !== null && leaf.decl.kind === 'template-parameter' && program.allLaunchesVisible(kernel) ? templateValues(kernel, leaf.decl, program) : null
  ), { everyBuild: true } as const);
}

/** Upper bound on the threads of a block from `__launch_bounds__`; null if there is none. */
function launchBound(kernel: FunctionDecl, program: Program): number | null {
  const first = kernel.bounds.find((entry) => entry.name === 'launch_bounds')?.arguments[0];
  if (first === undefined) return null;
  const values = evaluate(first, templateLeaves(kernel, program));
  if (values === null || values.length === 0) return null;
  const largest = values.reduce((most, value) => (value.value > most ? value.value : most), 0n);
  return largest >= 1n && largest <= 1024n ? Number(largest) : null;
}

function fromLaunches(kernel: FunctionDecl, program: Program, bound: number | null): BlockFact {
  const launches = program.launchesOf(kernel);
  const boundReasons = bound === null ? [] : [headReason(kernel, program, `at most ${bound} threads a block (__launch_bounds__)`)];
  const reads = [{ file: kernel.file, ...kernel.headSpan }, ...launches.map((launch) => ({ file: launch.file, ...launch.span }))];
  if (!program.allLaunchesVisible(kernel)) {
    return {
      value: null, alternatives: [], maxThreads: bound ?? MAX_THREADS, xMultipleOf32: false, oneDimensional: false, origin: bound !== null ? 'launch-bounds' : 'unknown',
      because: [...boundReasons, ...launches.map((launch) => reasonOf(launch, program, 'launched here, and perhaps elsewhere with blocks of another shape'))], reads, under: [],
    };
  }
  const because: Reason[] = [...boundReasons];
  const shapes = new Map<string, BlockShape>();
  let known = launches.length > 0;
  let xMultipleOf32 = launches.length > 0;
  let oneDimensional = launches.length > 0;
  for (const launch of launches) {
    const sides = hostDimensions(launch.block, placeOf(launch));
    const found = shapesOf(sides);
    if (found === null) known = false;
    else for (const shape of found) shapes.set(shapeText(shape), shape);
    xMultipleOf32 &&= sides.x !== null && sides.x.every((value) => value.value % BigInt(lanesFor(kernel, program)) === 0n);
    oneDimensional &&= isOne(sides.y) && isOne(sides.z);
    because.push(reasonOf(launch, program, found === null ? 'the shape of the blocks of this launch is not known' : `launched with blocks of ${found.map(shapeText).join(' or ')}`));
  }
  if (shapes.size > MAX_SHAPES) known = false;
  const alternatives = known ? [...shapes.values()] : [];
  const only = alternatives.length === 1 ? alternatives[0] ?? null : null;
  const largest = known ? Math.max(...alternatives.map(threadsOf)) : MAX_THREADS;
  return {
    value: only, alternatives, maxThreads: Math.min(bound ?? MAX_THREADS, largest), xMultipleOf32, oneDimensional,
    origin: known || (launches.length > 0 && (xMultipleOf32 || oneDimensional)) ? 'launch' : bound !== null ? 'launch-bounds' : 'unknown',
    because, reads, under: [],
  };
}

function lanesFor(kernel: FunctionDecl, program: Program): 32 | 64 {
  const unit = program.units.get(kernel.file);
  return unit === undefined ? 32 : lanesOfWarp(program, unit);
}

function isOne(values: Values | null): boolean {
  return values !== null && values.every((value) => value.value === 1n);
}

/** All combinations; null if a side is not known or no block can have it. */
function shapesOf(sides: DimensionValues): BlockShape[] | null {
  if (sides.x === null || sides.y === null || sides.z === null) return null;
  if (sides.x.length * sides.y.length * sides.z.length > MAX_SHAPES) return null;
  const shapes: BlockShape[] = [];
  for (const x of sides.x) for (const y of sides.y) for (const z of sides.z) {
    const shape = { x: Number(x.value), y: Number(y.value), z: Number(z.value) };
    // Combinations that cannot be launched come from alternatives that do not occur together.
    if (shape.x >= 1 && shape.y >= 1 && shape.z >= 1 && threadsOf(shape) <= MAX_THREADS) shapes.push(shape);
  }
  return shapes.length === 0 ? null : shapes;
}

/** The shape of the grid, if every launch has the same constant one. */
export function gridFact(kernel: FunctionDecl, program: Program, options: AnalysisOptions): Fact<BlockShape | null> {
  // A launch that is seen to have another grid speaks for itself: then nothing is known of all.
  if (options.grid !== undefined && hasOtherGrid(kernel, program, options.grid)) return { value: null, because: [], under: [], reads: [] };
  if (options.grid !== undefined) return { value: options.grid, because: [headReason(kernel, program, 'the grid is given (--grid)')], under: [], reads: [] };
  let perProgram = grids.get(program);
  if (perProgram === undefined) grids.set(program, perProgram = new Map());
  let made = perProgram.get(kernel);
  if (made === undefined) perProgram.set(kernel, made = gridOfLaunches(kernel, program));
  return made;
}

function hasOtherGrid(kernel: FunctionDecl, program: Program, grid: BlockShape): boolean {
  return program.launchesOf(kernel).some((launch) => {
    const [all, here] = [hostDimensions(launch.grid, placeOf(launch)), hostDimensions(launch.grid, { ...placeOf(launch), thisBuild: true })];
    return !isSaid({ x: all.x ?? here.x, y: all.y ?? here.y, z: all.z ?? here.z }, grid);
  });
}

const grids = new WeakMap<Program, Map<FunctionDecl, Fact<BlockShape | null>>>();

function gridOfLaunches(kernel: FunctionDecl, program: Program): Fact<BlockShape | null> {
  const launches = program.allLaunchesVisible(kernel) ? program.launchesOf(kernel) : [];
  let shape: BlockShape | null = null;
  for (const launch of launches) {
    const sides = hostDimensions(launch.grid, placeOf(launch));
    const x = single(sides.x);
    const y = single(sides.y);
    const z = single(sides.z);
    const here = x === null || y === null || z === null ? null : { x: Number(x), y: Number(y), z: Number(z) };
    if (here === null || (shape !== null && shapeText(shape) !== shapeText(here))) { shape = null; break; }
    shape = here;
  }
  return {
    value: shape, because: launches.map((launch) => reasonOf(launch, program, 'launched here')), reads: launches.map((launch) => ({ file: launch.file, ...launch.span })), under: [],
  };
}

const inProgress = new Set<TemplateParameterDecl>();

/** Values of a template parameter of a kernel over all its launches; null if some launch does not tell. Rests on there being no other launches. */
export function templateValues(kernel: FunctionDecl, parameter: TemplateParameterDecl, program: Program): Values | null {
  if (kernel.template === null || !kernel.template.includes(parameter) || parameter.pack || inProgress.has(parameter)) return null;
  const launches = program.launchesOf(kernel);
  if (launches.length === 0) return null;
  inProgress.add(parameter);
  try {
    let values: Values | null = [];
    for (const launch of launches) {
      const argument = launch.templateArguments?.[parameter.index] ?? parameter.default ?? undefined;
      const here = hostTemplateValues(argument, placeOf(launch));
      const type = parameter.type === null ? null : launchedType(parameter.type, launch);
      values = union(values, parameter.type === null ? here : type === null ? null : convertAll(here, type));
      if (values === null) return null;
    }
    return values;
  } finally {
    inProgress.delete(parameter);
  }
}

/** The type of a template value in one launch: of `template <typename T, T N>` it is another argument. */
function launchedType(type: Type, launch: Launch): Type | null {
  if (type.kind !== 'dependent') return type;
  const argument = type.decl === null || type.text !== type.decl.name ? undefined : launch.templateArguments?.[type.decl.index] ?? type.decl.default ?? undefined;
  return argument?.kind === 'type' ? argument.type : null;
}

/** Values that all launches pass for a scalar parameter of a kernel; null if some launch does not tell. Rests on there being no other launches. */
export function argumentValues(kernel: FunctionDecl, parameter: ParameterDecl, program: Program): Values | null {
  if (!kernel.qualifiers.global || !kernel.parameters.includes(parameter)) return null;
  const launches = program.launchesOf(kernel);
  let values: Values | null = launches.length === 0 ? null : [];
  for (const launch of launches) {
    if (values === null) return null;
    const argument = launch.form === 'chevrons' ? launch.arguments[parameter.index] ?? parameter.default : null;
    values = argument === null ? null : union(values, convertAll(hostValues(argument, placeOf(launch)), parameter.type));
  }
  return values;
}

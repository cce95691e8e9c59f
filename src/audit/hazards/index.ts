/**
 * The hazard audit of a kernel: masks, barriers, shared memory (SEMANTICS 5).
 *
 * Before something is called an error it is looked at again in favourable light: in the shapes of all visible launches, or else in shapes as the kernel's coordinates suggest, and
 * with loads taken for one value where their address is one (a flag in shared memory, a length per block), though that could not be shown. What is not a hazard then is a
 * caution; what a launch in sight makes a hazard is one, whatever the other launches do.
 */
import { createAnalysis } from '../../analysis/analyse.js';
import type { Analysis, AnalysisOptions, BlockShape, FunctionFacts } from '../../analysis/facts.js';
import { forEachChild, type Node } from '../../analysis/children.js';
import type { Hazard } from '../types.js';
import { activeMasks } from './activemask.js';
import { afterExit } from './after-exit.js';
import { asmCollectives } from './asm-collectives.js';
import { barriers } from './barriers.js';
import { broadcasts } from './broadcasts.js';
import { configuration, faultyMasks } from './configuration.js';
import { fullMasks } from './full-masks.js';
import { maskValues } from './mask-values.js';
import { namedBarriers } from './named-barriers.js';
import { partialWarps } from './partial-warp.js';
import { races } from './races.js';
import { Report } from './report.js';
import { isScene } from './concerns.js';
import { sceneOf, type Scene } from './scene.js';
import { sharedOwners } from './shared-owners.js';
import { spins } from './spins.js';

const NONE: readonly Hazard[] = [];

/** The hazards of a kernel, in the order of files and lines. */
export function hazardsOf(facts: FunctionFacts, analysis: Analysis, options: AnalysisOptions = {}): readonly Hazard[] {
  // Most kernels hold nothing that hazards are about.
  if (!isScene(facts)) return NONE;
  const found = inOneShape(facts, analysis);
  const { block } = facts;
  const launched = block.value === null ? block.alternatives.slice(0, MAX_SHAPES) : [];
  const short = launched.some((shape) => (shape.x * shape.y * shape.z) % 32 !== 0);
  if (!short && !found.some((hazard) => hazard.severity === 'error')) return found;
  const doubted = [SYNCHRONISATION, MEMORY].filter((families) => found.some((hazard) => hazard.severity === 'error' && isOf(hazard, families))).flat();
  const known = block.value;
  const shapes = known !== null ? [known] : launched.length > 0 ? launched : usualShapes(facts);
  const tries: ReadonlyMap<string, Hazard>[] = [];
  // A shape that is launched settles what is an error in it, a usual one what is none: the next is asked only for what is left.
  let open = found.filter((hazard) => hazard.severity === 'error').map(keyOf);
  for (const shape of shapes) {
    if (!short && open.length === 0) break;
    const tried = inFavourableLight(analysis, options, shape);
    const errors = new Map(inOneShape(tried.kernel(facts.function), tried, short ? FAMILIES : doubted).filter((hazard) => hazard.severity === 'error').map((hazard) => [keyOf(hazard), hazard]));
    tries.push(errors);
    open = open.filter((key) => errors.has(key) !== launched.length > 0);
  }
  // The hazard as it is seen in favourable light: its reasons are those that stand.
  const lasting = (hazard: Hazard): Hazard | null => {
    const key = keyOf(hazard);
    const errors = tries.flatMap((of) => { const same = of.get(key); return same === undefined ? [] : [same]; });
    return (launched.length > 0 ? errors.length > 0 : errors.length === tries.length) ? errors[0] ?? null : null;
  };
  const why = known !== null ? 'unless memory that all read is one value for them' : 'depends on the block shape, or on memory that all read being one value for them';
  const kept = found.map((hazard) => (hazard.severity !== 'error' ? hazard : lasting(hazard) ?? { ...hazard, severity: 'caution' as const, message: `${hazard.message} (${why})` }));
  if (!short) return kept;
  // What only a shape that is launched shows: a last warp with fewer lanes.
  const said = new Set(found.map(keyOf));
  const more = tries.flatMap((of) => [...of].filter(([key]) => !said.has(key) && (said.add(key), true)).map(([, hazard]) => hazard));
  return [...kept, ...more].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}

const MAX_SHAPES = 4;

const favourable = new WeakMap<Analysis, WeakMap<AnalysisOptions, Map<string, Analysis>>>();

/** The analysis of the same program in which the block has this shape; the kernels of a run share it, and what it knows of their callees. */
function inFavourableLight(analysis: Analysis, options: AnalysisOptions, shape: BlockShape): Analysis {
  let ofOptions = favourable.get(analysis);
  if (ofOptions === undefined) favourable.set(analysis, ofOptions = new WeakMap());
  let ofShapes = ofOptions.get(options);
  if (ofShapes === undefined) ofOptions.set(options, ofShapes = new Map());
  const key = `${shape.x} ${shape.y} ${shape.z}`;
  const known = ofShapes.get(key);
  if (known !== undefined) return known;
  const made = createAnalysis(analysis.program, { ...options, block: shape, supposed: true, trustSharedLoads: true });
  ofShapes.set(key, made);
  return made;
}

function keyOf(hazard: Hazard): string {
  return `${hazard.id}\0${hazard.path}\0${hazard.line}\0${hazard.column}`;
}

type Family = (scene: Scene, report: Report) => void;

const SYNCHRONISATION: readonly Family[] = [fullMasks, activeMasks, afterExit, partialWarps, maskValues, barriers, asmCollectives, namedBarriers, spins, broadcasts, configuration, faultyMasks];
const MEMORY: readonly Family[] = [sharedOwners, races];
const FAMILIES: readonly Family[] = [...SYNCHRONISATION, ...MEMORY];
/** What the families of memory find; no other finds these. */
const OF_MEMORY: ReadonlySet<string> = new Set(['shared-race', 'lockstep-without-syncwarp', 'shared-uninitialised', 'exit-skips-shared-write']);

function isOf(hazard: Hazard, families: readonly Family[]): boolean {
  return OF_MEMORY.has(hazard.id) === (families === MEMORY);
}

function inOneShape(facts: FunctionFacts, analysis: Analysis, families: readonly Family[] = FAMILIES): readonly Hazard[] {
  const scene = sceneOf(facts, analysis);
  if (scene === null) return NONE;
  const report = new Report();
  for (const family of families) family(scene, report);
  return report.hazards;
}

/** Shapes that a kernel of these coordinates is most likely written for. */
function usualShapes(facts: FunctionFacts): readonly BlockShape[] {
  const axes = new Set<string>();
  const visit = (node: Node): void => {
    if (node.kind === 'coordinate' && node.base === 'threadIdx' && node.axis !== null) axes.add(node.axis);
    forEachChild(node, visit);
  };
  if (facts.function.body !== null) visit(facts.function.body);
  const most = facts.block.maxThreads;
  const fits = (shape: BlockShape): boolean => shape.x * shape.y * shape.z <= most;
  const flat = Math.max(32, Math.min(256, most - (most % 32)));
  const shapes = axes.has('z') ? [{ x: 8, y: 8, z: 4 }, { x: 32, y: 2, z: 2 }] : axes.has('y') ? [{ x: 32, y: 8, z: 1 }, { x: 16, y: 16, z: 1 }] : [{ x: flat, y: 1, z: 1 }];
  const usable = shapes.filter(fits);
  return usable.length > 0 ? usable : [{ x: flat, y: 1, z: 1 }];
}

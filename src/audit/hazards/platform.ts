/**
 * Sources for AMD's HIP are read as CUDA, but intrinsics without a mask are the right ones there and the lanes of a wavefront run in step. What is said of
 * NVIDIA devices of 7.0 and later does not hold of them.
 *
 * A file is HIP's if it includes HIP's headers, or is included by such a file, or includes one. A file that serves both is taken for HIP's: less is said then, never more.
 */
import type { Program, Unit } from '../../syntax/tree.js';
import type { Spot } from './scene.js';

const memo = new WeakMap<Program, ReadonlySet<Unit>>();

/** True if the file is HIP's. */
export function isHipSource(program: Program, unit: Unit): boolean {
  return unitsOf(program).has(unit);
}

function unitsOf(program: Program): ReadonlySet<Unit> {
  let units = memo.get(program);
  if (units === undefined) memo.set(program, units = hipUnits(program));
  return units;
}

export function isHip(spot: Spot): boolean {
  const units = unitsOf(spot.facts.program);
  if (units.size === 0) return false;
  for (let here: Spot | null = spot; here !== null; here = here.outer) if (units.has(here.facts.unit)) return true;
  return false;
}

function hipUnits(program: Program): ReadonlySet<Unit> {
  const found = new Set<Unit>();
  const includedBy = new Map<string, Unit[]>();
  for (const unit of program.units.values()) {
    for (const path of unit.includes) {
      const list = includedBy.get(path);
      if (list === undefined) includedBy.set(path, [unit]);
      else list.push(unit);
    }
  }
  const queue = [...program.units.values()].filter((unit) => unit.source.directives.some((directive) => directive.kind === 'include' && namesHip(directive.argument)));
  for (let unit = queue.pop(); unit !== undefined; unit = queue.pop()) {
    if (found.has(unit)) continue;
    found.add(unit);
    for (const path of unit.includes) { const inner = program.units.get(path); if (inner !== undefined) queue.push(inner); }
    queue.push(...(includedBy.get(unit.source.realPath) ?? []));
  }
  return found;
}

/** `<hip/hip_runtime.h>`, `<hipcub/hipcub.hpp>`: the first folder of the path. */
function namesHip(argument: string): boolean {
  const folder = argument.trim().slice(1).split('/')[0] ?? '';
  return folder === 'hip' || folder === 'hipcub' || folder === 'rocprim' || folder.startsWith('hip_');
}

/** Does a condition of `#if` ask for AMD's platform? */
export function asksForHip(condition: string): boolean {
  return HIP_NAMES.some((name) => condition.includes(name));
}

const HIP_NAMES: readonly string[] = ['__HIP', 'USE_ROCM', '__AMDGCN__', 'USE_HIP', 'ENABLE_HIP'];

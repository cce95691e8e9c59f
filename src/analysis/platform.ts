/**
 * Which platform a file is for, and how many lanes go together there.
 *
 * Sources for AMD's HIP are read as CUDA, but intrinsics without a mask are the right ones there and the lanes of a wavefront run in step. What is said of
 * NVIDIA devices of 7.0 and later does not hold of them. A wavefront has 32 or 64 lanes (HIP programming guide, "Warp size": 64 for GCN and CDNA, 32 for most
 * of RDNA): what aligned groups of 64 threads agree on, wavefronts of both sizes agree on; of what groups of 32 agree on only those of 32 do.
 *
 * A file is HIP's if it is named so (`.hip`), includes HIP's headers or names what only they declare (`hipLaunchKernelGGL`, `hipMalloc`), or is included by
 * such a file, or includes one. A file that serves both is taken for HIP's: less is said then, never more.
 */
import type { Program, Unit } from '../syntax/tree.js';

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

/** Threads that surely go together if they are consecutive and begin at a multiple of this number: the largest warp of the file's platform. */
export function lanesOfWarp(program: Program, unit: Unit): 32 | 64 {
  return isHipSource(program, unit) ? 64 : 32;
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
  const queue = [...program.units.values()].filter(isForHip);
  for (let unit = queue.pop(); unit !== undefined; unit = queue.pop()) {
    if (found.has(unit)) continue;
    found.add(unit);
    for (const path of unit.includes) { const inner = program.units.get(path); if (inner !== undefined) queue.push(inner); }
    queue.push(...(includedBy.get(unit.source.realPath) ?? []));
  }
  return found;
}

function isForHip({ source }: Unit): boolean {
  return /\.hip(?:\.\w+)?$/.test(source.realPath) || source.directives.some((directive) => directive.kind === 'include' && namesHip(directive.argument)) || HIP_API.test(source.text);
}

/** `<hip/hip_runtime.h>`, `<hipcub/hipcub.hpp>`: the first folder of the path. */
function namesHip(argument: string): boolean {
  const folder = argument.trim().slice(1).split('/')[0] ?? '';
  return HIP_FOLDERS.has(folder) || folder.startsWith('hip_');
}

const HIP_FOLDERS: ReadonlySet<string> = new Set(['hip', 'hipcub', 'hipblas', 'hipblaslt', 'hipfft', 'hiprand', 'hipsolver', 'hipsparse', 'rccl', 'rocblas', 'rocprim', 'rocrand', 'rocthrust', 'rocwmma']);

/** Calls that only HIP's headers declare, looked for in the text: the header may come in through one that is not loaded, the call through a macro. A mention in a comment costs precision only. */
const HIP_API = /\bhip(?:LaunchKernelGGL|LaunchKernel|Malloc|MallocManaged|MallocAsync|Memcpy|MemcpyAsync|MemcpyToSymbol|Memset|MemsetAsync|Free|DeviceSynchronize|StreamSynchronize|GetLastError|EventRecord|Success)\b/;

/** Does a condition of `#if` ask for AMD's platform? */
export function asksForHip(condition: string): boolean {
  return HIP_NAMES.some((name) => condition.includes(name));
}

const HIP_NAMES: readonly string[] = ['__HIP', 'USE_ROCM', '__AMDGCN__', 'USE_HIP', 'ENABLE_HIP'];

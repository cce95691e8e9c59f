/**
 * Host text of the steps of a plan that are no kernels: temporaries in the order of the stream, fills, and passes of CUB.
 */
import type { LaunchStep } from './types.js';

export interface PassNames {
  host(text: string): string;
  fresh(base: string): string;
  bind(name: string, as: string): void;
  /** Text of the stream; evaluating it twice is harmless. */
  readonly stream: string;
  /** Element type of a temporary of the plan; null for anything else. */
  element(name: string): string | null;
  /** The macro or function that the code around checks calls of the runtime with; null where it does not. */
  readonly check: string | null;
}

export interface HostPass {
  /** Lines in front of all work of the plan: memory is taken. */
  readonly before: readonly string[];
  /** Variables for memory that nobody checks: nothing may be done with it unless all of it is there. */
  readonly unchecked: readonly string[];
  readonly lines: readonly string[];
  /** Lines at the end of the plan: temporaries go back. */
  readonly after: readonly string[];
  /** Headers that the lines need. */
  readonly includes: readonly string[];
}

type Pass = Exclude<LaunchStep, { kind: 'kernel' | 'value' }>;

/** Null if the step cannot be written as host text. */
export function hostPass(step: Pass, names: PassNames): HostPass | null {
  const { stream } = names;
  const runtime = (call: string): string => checked(names, call);
  switch (step.kind) {
    case 'temporary': {
      const count = names.host(step.count);
      const name = names.fresh(step.name);
      names.bind(step.name, name);
      return {
        before: [`${step.element} *${name} = nullptr;`, runtime(`cudaMallocAsync(&${name}, ${bytes(step.element, count)}, ${stream})`)], unchecked: names.check === null ? [name] : [],
        lines: [], after: [runtime(`cudaFreeAsync(${name}, ${stream})`)], includes: [],
      };
    }
    case 'fill': {
      // Bytes: zero is zero in every type, and all ones is -1 in the integers.
      const value = names.host(step.value);
      if (!/^\(?-?\s*[01]\s*\)?$/.test(value) || /^\(?\s*1/.test(value)) return null;
      const buffer = names.host(step.buffer);
      return { before: [], unchecked: [], lines: [runtime(`cudaMemsetAsync(${buffer}, ${/1/.test(value) ? '0xff' : '0'}, ${sizeBytes(buffer, names.host(step.count))}, ${stream})`)], after: [], includes: [] };
    }
    case 'select': return library(names, '::cub::DeviceSelect::Flagged',
      `::thrust::make_counting_iterator(${zeroOf(names.element(step.output))}), ${names.host(step.flags)}, ${names.host(step.output)}, ${names.host(step.selected)}, ${names.host(step.count)}`,
      ['cub/device/device_select.cuh', 'thrust/iterator/counting_iterator.h']);
    case 'scan': return library(names, `::cub::DeviceScan::${step.exclusive ? 'ExclusiveSum' : 'InclusiveSum'}`,
      `${names.host(step.input)}, ${names.host(step.output)}, ${names.host(step.count)}`, ['cub/device/device_scan.cuh']);
    // In place, which the library does not offer; no transform asks for it yet.
    case 'sort': return null;
    default: {
      const never: never = step;
      return never;
    }
  }
}

/** A zero of the type that indices are kept in. */
function zeroOf(element: string | null): string {
  return element === null || element === 'int' ? '0' : element.startsWith('unsigned long') || element === 'size_t' ? '0ull' : element.startsWith('unsigned') ? '0u' : `${element}(0)`;
}

function checked({ check }: PassNames, call: string): string {
  return check === null ? `${call};` : `${check}(${call});`;
}

function bytes(element: string, count: string): string {
  return count === '1' ? `sizeof(${element})` : `sizeof(${element}) * ${/^\w+$/.test(count) ? count : `(${count})`}`;
}

function sizeBytes(buffer: string, count: string): string {
  return count === '1' ? `sizeof(*${buffer})` : `sizeof(*${buffer}) * ${/^\w+$/.test(count) ? count : `(${count})`}`;
}

/** A call of CUB: once for the size of its storage, once for the work. */
function library(names: PassNames, call: string, args: string, includes: readonly string[]): HostPass {
  const storage = names.fresh('storage');
  const size = names.fresh('storage_bytes');
  const { stream } = names;
  const take = [
    `void *${storage} = nullptr;`, `size_t ${size} = 0;`, checked(names, `${call}(${storage}, ${size}, ${args}, ${stream})`), checked(names, `cudaMallocAsync(&${storage}, ${size}, ${stream})`),
  ];
  const work = checked(names, `${call}(${storage}, ${size}, ${args}, ${stream})`);
  const free = checked(names, `cudaFreeAsync(${storage}, ${stream})`);
  // Without its storage the work would only ask for the size again. Where a check ends the function, memory is taken as late as can be.
  if (names.check === null) return { before: take, unchecked: [storage], lines: [work], after: [free], includes };
  return { before: [], unchecked: [], lines: [...take, work, free], after: [], includes };
}

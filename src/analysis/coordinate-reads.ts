/**
 * Is a node itself a question for where a thread stands, and what does it ask for: the thread's number in its block, the block's number, the numbers of blocks or threads?
 *
 *   threadIdx.x  blockIdx.y  gridDim.x               the variables that CUDA defines
 *   b.thread_rank()  cg::size(g)  grid_group::…      cooperative groups: methods, free functions, static members
 *   asm("mov.u32 %0, %%ctaid.x;" …)                  special registers of PTX
 *   __clusterIdx()  cuda::ptx::get_sreg_laneid()     what reads such registers under another name
 *
 * Whoever runs code on other threads, or as part of another grid, must keep what these give: a form that does not name `blockIdx` asks for it no less. Calls are not
 * followed; what a callee asks for is the business of whoever walks the calls. Sources: CUDA C++ Programming Guide, "Cooperative Groups"; PTX ISA, "Special Registers".
 */
import type { CallExpr, CoordinateExpr } from '../syntax/tree.js';
import type { Node } from './children.js';
import { machineRegisters } from './asm-text.js';
import { groupNamed, groupOf, isGroupQuery, isOpenGroup, type Participants } from './library-calls.js';

/** `thread`: its number in the block (or warp); `block`: the block's number; `threads`: of a block; `blocks`: of the grid; `machine`: where and when it runs. */
export type Asked = 'thread' | 'block' | 'threads' | 'blocks' | 'machine';

export interface CoordinateRead {
  readonly asks: ReadonlySet<Asked>;
  /** How the source says it, for messages: `threadIdx`, `group_index()`, `%ctaid`. */
  readonly name: string;
  /** What could stand there in its place. */
  readonly instead: string | null;
}

const NOTHING: readonly Asked[] = [];
const EVERYTHING: readonly Asked[] = ['thread', 'block', 'threads', 'blocks', 'machine'];

/** What the node itself asks for; null if it asks for nothing. */
export function coordinateRead(node: Node): CoordinateRead | null {
  switch (node.kind) {
    case 'coordinate': return ofVariable(node.base);
    case 'call': return ofCall(node);
    case 'asm': return ofAsm(node.text);
    default: return null;
  }
}

function ofVariable(base: CoordinateExpr['base']): CoordinateRead | null {
  switch (base) {
    case 'threadIdx': return read(['thread'], base, null);
    case 'blockIdx': return read(['block'], base, null);
    case 'blockDim': return read(['threads'], base, null);
    case 'gridDim': return read(['blocks'], base, null);
    case 'warpSize': return null;
    default: {
      const never: never = base;
      return never;
    }
  }
}

/** Does the node ask for one of these? */
export function asksFor(node: Node, ...what: readonly Asked[]): CoordinateRead | null {
  const found = coordinateRead(node);
  return found !== null && what.some((one) => found.asks.has(one)) ? found : null;
}

function read(asks: readonly Asked[], name: string, instead: string | null): CoordinateRead | null {
  return asks.length === 0 ? null : { asks: new Set(asks), name, instead };
}

// ------------------------------------------------------------------------------------------------------ cooperative groups

function ofCall(call: CallExpr): CoordinateRead | null {
  const { callee } = call;
  if (callee.kind === 'value') return null;
  const path = callee.name.split('<').map((part, i) => (i === 0 ? part : part.slice(part.lastIndexOf('>') + 1))).join('').split('::');
  const name = (path.at(-1) ?? '').trim();
  if (callee.kind === 'method') {
    const group = groupOf(callee.object);
    return group === null || !isGroupQuery(name) ? null : ofGroup(group, name, isOpenGroup(callee.object));
  }
  // A function of the program that happens to be called so is looked into.
  if (callee.kind === 'function' && callee.candidates.some((candidate) => candidate.body !== null)) return null;
  const register = registerOf(name);
  if (register !== null) return read(register, `${name}()`, insteadOf(register));
  if (!isGroupQuery(name)) return null;
  const [first] = call.arguments;
  const group = first === undefined ? null : groupOf(first);
  if (group !== null && first !== undefined) return ofGroup(group, name, isOpenGroup(first));
  const member = path.length > 1 ? groupNamed(callee.name.slice(0, callee.name.lastIndexOf('::'))) : null;
  return member === null ? null : ofGroup(member, name, false);
}

function ofGroup(group: Participants, name: string, open: boolean): CoordinateRead | null {
  const asks = askedOf(group, name, open);
  return read(asks, `${name}()`, insteadOf(asks));
}

function askedOf(group: Participants, name: string, open: boolean): readonly Asked[] {
  // Who is in the group is decided where it was made: by the lanes that were together, or by somebody else.
  if (open) return ['thread', 'threads', 'machine'];
  switch (group) {
    case 'warp':
      return name === 'size' || name === 'num_threads' ? NOTHING : name === 'meta_group_size' ? ['threads'] : ['thread', 'threads'];
    case 'block':
      switch (name) {
        case 'thread_rank': return ['thread', 'threads'];
        case 'thread_index': return ['thread'];
        case 'group_index': case 'block_index': case 'block_rank': return ['block'];
        case 'size': case 'num_threads': case 'group_dim': case 'dim_threads': return ['threads'];
        default: return EVERYTHING;
      }
    case 'grid':
      switch (name) {
        case 'block_rank': case 'block_index': case 'group_index': return ['block', 'blocks'];
        case 'num_blocks': case 'dim_blocks': case 'group_dim': return ['blocks'];
        case 'size': case 'num_threads': return ['threads', 'blocks'];
        case 'thread_rank': return ['thread', 'block', 'threads', 'blocks'];
        default: return EVERYTHING;
      }
    default: {
      const never: never = group;
      return never;
    }
  }
}

function insteadOf(asks: readonly Asked[]): string | null {
  const names = { thread: 'threadIdx', block: 'blockIdx', threads: 'blockDim', blocks: 'gridDim', machine: null } as const;
  const found = asks.map((one) => names[one]).filter((one) => one !== null);
  return found.length === 0 || asks.includes('machine') ? null : found.join(', ');
}

// -------------------------------------------------------------------------------------------------------- special registers

const REGISTERS: ReadonlyMap<string, readonly Asked[]> = new Map<string, readonly Asked[]>([
  ['tid', ['thread']], ['laneid', ['thread']], ['warpid', ['thread', 'machine']], ['ntid', ['threads']], ['nwarpid', ['threads', 'machine']],
  ['ctaid', ['block']], ['nctaid', ['blocks']], ['smid', ['machine']], ['nsmid', ['machine']], ['gridid', ['machine']],
]);

/** Names under which headers and the compiler read special registers. */
const READERS: ReadonlyMap<string, readonly Asked[]> = new Map<string, readonly Asked[]>([
  ['LaneId', ['thread']], ['WarpId', ['thread']], ['RowMajorTid', ['thread', 'threads']], ['__lane_id', ['thread']], ['__warpid', ['thread', 'machine']], ['__smid', ['machine']],
]);
const READER_PREFIXES: readonly string[] = ['get_sreg_', '__nvvm_read_ptx_sreg_', '__builtin_nvvm_read_ptx_sreg_'];

/** What a special register tells; everything for one of the clusters or masks, null for one that says nothing of the place (a clock). */
function ofRegister(name: string): readonly Asked[] | null {
  const stem = name.split('.')[0] ?? '';
  const known = REGISTERS.get(stem);
  if (known !== undefined) return known;
  if (stem.startsWith('lanemask')) return ['thread'];
  return stem.startsWith('cluster') || stem === 'is_explicit_cluster' ? EVERYTHING : null;
}

function registerOf(name: string): readonly Asked[] | null {
  const known = READERS.get(name);
  if (known !== undefined) return known;
  for (const prefix of READER_PREFIXES) {
    if (name.startsWith(prefix)) return ofRegister(name.slice(prefix.length).replaceAll('_', '.')) ?? null;
  }
  return name.startsWith('__cluster') && name !== '__cluster_dims__' ? EVERYTHING : null;
}

function ofAsm(text: string): CoordinateRead | null {
  const asks = new Set<Asked>();
  const names: string[] = [];
  for (const register of machineRegisters(text)) {
    const found = ofRegister(register.slice(1));
    if (found === null) continue;
    names.push(register);
    for (const one of found) asks.add(one);
  }
  return read([...asks], names.join(', '), insteadOf([...asks]));
}

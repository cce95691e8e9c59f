/**
 * Calls into cooperative groups and CUB whose meaning their types tell: who takes part, and whether they order memory.
 *
 * Headers of libraries are not read, so the objects have unknown types and only the spelling of the type (or of the call that made the object)
 * is left. Names are compared as whole identifiers of a qualified name, never as substrings. Source: CUDA C++ Programming Guide,
 * "Cooperative Groups"; CUB's block- and warp-wide collectives. Everything else stays an unknown call.
 */
import type { CallExpr, Expr, Type } from '../syntax/tree.js';
import { strip } from './children.js';

export type Participants = 'warp' | 'block' | 'grid';

export interface LibraryCall {
  readonly kind: 'query' | 'collective' | 'barrier';
  /** Who must take part; null for a query of a group. */
  readonly participants: Participants | null;
  /** True if arguments that are arrays or lvalues may be written. */
  readonly writesArguments: boolean;
}

const GROUP_TYPES: ReadonlyMap<string, Participants> = new Map([
  ['thread_block', 'block'], ['grid_group', 'grid'], ['multi_grid_group', 'grid'], ['cluster_group', 'grid'], ['thread_block_tile', 'warp'],
  ['coalesced_group', 'warp'], ['thread_group', 'block'],
]);

const GROUP_MAKERS: ReadonlyMap<string, Participants> = new Map([
  ['this_thread_block', 'block'], ['this_grid', 'grid'], ['this_multi_grid', 'grid'], ['this_cluster', 'grid'], ['tiled_partition', 'warp'],
  ['coalesced_threads', 'warp'], ['labeled_partition', 'warp'], ['binary_partition', 'warp'],
]);

/** Making one of these groups asks which lanes are together. */
const ASKING_MAKERS: ReadonlySet<string> = new Set(['coalesced_threads', 'labeled_partition', 'binary_partition']);

const GROUP_BARRIERS: ReadonlySet<string> = new Set(['sync', 'barrier_arrive', 'barrier_wait']);
const GROUP_COLLECTIVES: ReadonlySet<string> = new Set(['shfl', 'shfl_up', 'shfl_down', 'shfl_xor', 'any', 'all', 'ballot', 'match_any', 'match_all']);
const GROUP_QUERIES: ReadonlySet<string> = new Set([
  'thread_rank', 'size', 'num_threads', 'meta_group_rank', 'meta_group_size', 'group_index', 'thread_index', 'group_dim', 'dim_threads', 'is_valid',
  'block_rank', 'block_index', 'num_blocks', 'dim_blocks', 'cluster_rank', 'cluster_index', 'num_clusters', 'dim_clusters', 'grid_rank',
]);
const GROUP_FUNCTIONS: ReadonlySet<string> = new Set(['reduce', 'inclusive_scan', 'exclusive_scan', 'invoke_one', 'invoke_one_broadcast']);

const CUB_STEMS: readonly string[] = [
  'Reduce', 'Scan', 'Load', 'Store', 'Exchange', 'RadixSort', 'RadixRank', 'MergeSort', 'Histogram', 'Discontinuity', 'AdjacentDifference', 'Shuffle', 'RunLengthDecode',
];
const CUB_TYPES: ReadonlyMap<string, Participants> = new Map(CUB_STEMS.flatMap((stem) => [[`Block${stem}`, 'block'], [`Warp${stem}`, 'warp']] as const));

/** Identifiers of a spelling up to its template arguments: `cg::thread_block_tile<32>` gives `cg`, `thread_block_tile`. */
function identifiers(text: string): readonly string[] {
  let words = spellings.get(text);
  if (words === undefined) spellings.set(text, words = wordsOf(text));
  return words;
}

/** A program spells few types and many calls. */
const spellings = new Map<string, readonly string[]>();

function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let word = '';
  for (const c of `${text} `) {
    const part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c === '_';
    if (part) { word += c; continue; }
    if (word !== '') words.push(word);
    word = '';
    if (c === '<' || c === '(') break;
  }
  return words;
}

function lastIdentifier(text: string): string {
  return identifiers(text).at(-1) ?? '';
}

function spelled(type: Type): string {
  if (type.kind === 'reference') return spelled(type.to);
  if (type.kind === 'unknown' || type.kind === 'dependent') return type.text;
  return type.kind === 'record' ? type.decl.name : '';
}

function nameOfCallee(call: CallExpr): string {
  switch (call.callee.kind) {
    case 'value': return '';
    default: return call.callee.name;
  }
}

/** Is the object a cooperative group, and whose? By its type, by a template parameter named like one, or by what made it. */
export function groupOf(object: Expr): Participants | null {
  const expr = strip(object);
  const byType = GROUP_TYPES.get(lastIdentifier(spelled(expr.type)));
  if (byType !== undefined) return byType;
  if (expr.kind === 'call') return GROUP_MAKERS.get(lastIdentifier(nameOfCallee(expr))) ?? null;
  if (expr.kind === 'ref' && expr.decl !== null && (expr.decl.kind === 'variable' || expr.decl.kind === 'parameter')) {
    const declared = GROUP_TYPES.get(lastIdentifier(spelled(expr.decl.type)));
    if (declared !== undefined) return declared;
    if (expr.decl.kind === 'variable' && expr.decl.init !== null && expr.decl.init !== expr) return groupOf(expr.decl.init);
  }
  return null;
}

/** A group whose members are the lanes that were together where it was made, or that may be of any kind (`thread_group`). */
export function isOpenGroup(object: Expr): boolean {
  const expr = strip(object);
  const open = (type: Type): boolean => OPEN_TYPES.has(lastIdentifier(spelled(type)));
  if (open(expr.type)) return true;
  if (expr.kind === 'call') return ASKING_MAKERS.has(lastIdentifier(nameOfCallee(expr)));
  if (expr.kind !== 'ref' || expr.decl === null || (expr.decl.kind !== 'variable' && expr.decl.kind !== 'parameter')) return false;
  return open(expr.decl.type) || (expr.decl.kind === 'variable' && expr.decl.init !== null && expr.decl.init !== expr && isOpenGroup(expr.decl.init));
}

const OPEN_TYPES: ReadonlySet<string> = new Set(['thread_group', 'coalesced_group']);

/** The group that a type's name stands for (`cg::thread_block`); null for any other name. */
export function groupNamed(name: string): Participants | null {
  return GROUP_TYPES.get(lastIdentifier(name)) ?? null;
}

/** Does a group answer to this name without its threads waiting for each other? */
export function isGroupQuery(name: string): boolean {
  return GROUP_QUERIES.has(name);
}

/** Does the call make the handle of a group beyond the block: the grid, a cluster? */
export function makesGridGroup(call: CallExpr): boolean {
  return call.callee.kind !== 'method' && GROUP_MAKERS.get(lastIdentifier(nameOfCallee(call))) === 'grid';
}

/** A CUB object: `cub::BlockReduce<…>(temp)` or a variable or alias of such a type. */
function cubOf(object: Expr): Participants | null {
  const expr = strip(object);
  const names = [spelled(expr.type), expr.kind === 'call' ? nameOfCallee(expr) : '', expr.kind === 'ref' && expr.decl !== null && expr.decl.kind === 'variable' ? spelled(expr.decl.type) : ''];
  for (const name of names) {
    const found = CUB_TYPES.get(lastIdentifier(name));
    if (found !== undefined) return found;
  }
  return null;
}

/** Matrix fragments of a warp (`nvcuda::wmma`): every lane takes part. */
const MATRIX_CALLS: ReadonlySet<string> = new Set(['load_matrix_sync', 'store_matrix_sync', 'mma_sync', 'fill_fragment']);

/** Members of classes of constants: `std::numeric_limits<T>::max()`. */
const CONSTANT_CLASSES: ReadonlySet<string> = new Set(['numeric_limits', 'NumericLimits']);

/** What a library call means; null if its types do not tell. */
export function libraryCall(call: CallExpr): LibraryCall | null {
  const callee = call.callee;
  if (callee.kind === 'method') {
    const group = groupOf(callee.object);
    if (group !== null) {
      if (GROUP_BARRIERS.has(callee.name)) return { kind: 'barrier', participants: group, writesArguments: false };
      if (GROUP_COLLECTIVES.has(callee.name)) return { kind: 'collective', participants: group, writesArguments: callee.name === 'match_all' };
      if (GROUP_QUERIES.has(callee.name)) return { kind: 'query', participants: null, writesArguments: false };
      return null;
    }
    const cub = cubOf(callee.object);
    return cub === null ? null : { kind: 'barrier', participants: cub, writesArguments: true };
  }
  if (callee.kind !== 'unknown' && callee.kind !== 'function') return null;
  if (callee.kind === 'function' && callee.candidates.some((candidate) => candidate.body !== null)) return null;
  const path = identifiers(callee.name);
  const name = path.at(-1) ?? '';
  if (CONSTANT_CLASSES.has(name) && call.arguments.length === 0) return { kind: 'query', participants: null, writesArguments: false };
  if (MATRIX_CALLS.has(name) && path.length > 1) return { kind: 'collective', participants: 'warp', writesArguments: true };
  if (name === 'fragment' && path.includes('wmma')) return { kind: 'query', participants: null, writesArguments: false };
  const first = call.arguments[0];
  const group = first === undefined ? null : groupOf(first);
  if (group !== null && name === 'sync' && path.length > 1) return { kind: 'barrier', participants: group, writesArguments: false };
  if (group !== null && name === 'wait' && path.length > 1) return { kind: 'barrier', participants: group, writesArguments: false };
  if (group !== null && GROUP_FUNCTIONS.has(name)) return { kind: 'collective', participants: group, writesArguments: false };
  if (group !== null && GROUP_QUERIES.has(name)) return { kind: 'query', participants: null, writesArguments: false };
  if (GROUP_MAKERS.has(name)) return ASKING_MAKERS.has(name) ? { kind: 'collective', participants: 'warp', writesArguments: false } : { kind: 'query', participants: null, writesArguments: false };
  return CUB_TYPES.has(name) ? { kind: 'query', participants: null, writesArguments: false } : null;
}

/**
 * When the two arms of a branch are two populations that the launch can tell apart: by a value that the host passes, by the number of
 * the block, or by the edges of the index space.
 */
import { strip } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { BinaryOperator, Expr, ParameterDecl } from '../../src/syntax/tree.js';
import { arithmeticType } from '../../src/syntax/types.js';
import { provenanceOf } from '../lib/guards/named-constants.js';
import type { PlanConstant } from '../lib/types.js';
import { interiorOf, type Interior } from './interior.js';
import { blockIndexOf, hostText, type HostText, type NotOnHost } from './host-text.js';
import { spelledIn } from './spelled.js';

export type Axis = 'x' | 'y' | 'z';

export type LaunchCondition =
  /** One value for the whole grid: the host chooses the kernel. */
  | { readonly kind: 'choice'; readonly text: string; readonly parameters: ReadonlySet<ParameterDecl>; readonly constants: readonly PlanConstant[] }
  /** The first blocks along an axis take one arm, the rest the other. */
  | {
    readonly kind: 'role';
    readonly axis: Axis;
    /** Number of blocks of the first population, in terms of parameters and `gridDim`; at most `gridDim`. */
    readonly first: string;
    /** The first population takes the `then` arm. */
    readonly thenFirst: boolean;
    /** What a block of the second population subtracts to count from its first one; null if that is not always the same. */
    readonly start: Expr | 'one' | null;
    readonly parameters: ReadonlySet<ParameterDecl>;
    readonly constants: readonly PlanConstant[];
  }
  /** All threads of the blocks in a rectangle take one arm. */
  | Interior
  | { readonly kind: 'not-known'; readonly problem: NotOnHost };

export function launchCondition(facts: FunctionFacts, condition: Expr): LaunchCondition {
  const role = roleOf(facts, condition, false);
  if (role !== null && role.kind !== 'not-known') return role;
  const rendered = hostText(facts, condition);
  if (role !== null || 'problem' in rendered) {
    const problem = role?.kind === 'not-known' ? role.problem : 'problem' in rendered ? rendered.problem : null;
    const interior = interiorOf(facts, condition);
    if ('kind' in interior) return interior;
    return { kind: 'not-known', problem: problem === null || (interior.problem.sort !== 'unknown' && (problem.sort === 'thread' || problem.sort === 'block')) ? interior.problem : problem };
  }
  const { text, parameters, constants } = rendered.host;
  if (parameters.size === 0 && !/\b(gridDim|blockDim)\b/.test(text)) {
    return { kind: 'not-known', problem: { sort: 'compile-time', why: 'it is decided when the kernel is compiled', expr: condition } };
  }
  return { kind: 'choice', text, parameters, constants };
}

const MIRRORED: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' };

function roleOf(facts: FunctionFacts, condition: Expr, negated: boolean): LaunchCondition | null {
  const e = strip(condition);
  if (e.kind === 'unary' && e.op === '!') return roleOf(facts, e.operand, !negated);
  const whole = blockIndexOf(facts, e);
  // `if (blockIdx.x)`: all but the first.
  if (whole !== null) return { kind: 'role', axis: whole.axis ?? 'x', first: '1', thenFirst: negated, start: 'one', parameters: new Set(), constants: [] };
  if (e.kind !== 'binary') return null;
  for (const [side, other, op] of [[e.left, e.right, e.op], [e.right, e.left, MIRRORED[e.op] ?? e.op]] as const) {
    const index = blockIndexOf(facts, side);
    if (index === null) continue;
    const axis = index.axis ?? 'x';
    const rendered = hostText(facts, other);
    if ('problem' in rendered) return { kind: 'not-known', problem: rendered.problem };
    const boundary = boundaryOf(facts, axis, side, other, rendered.host, op);
    if (boundary === null) return { kind: 'not-known', problem: { sort: 'block', why: 'the blocks of one population do not stand together', expr: condition } };
    return { kind: 'role', axis, first: boundary.first, thenFirst: boundary.thenFirst !== negated, start: boundary.start, parameters: rendered.host.parameters, constants: boundary.first === '1' ? spelledIn(facts, other).map((constant) => ({ ...constant, checked: true })) : rendered.host.constants };
  }
  return null;
}

/** `side op bound` as a number of first blocks. */
function boundaryOf(facts: FunctionFacts, axis: Axis, side: Expr, bound: Expr, host: HostText, op: BinaryOperator): { readonly first: string; readonly thenFirst: boolean; readonly start: Expr | 'one' | null } | null {
  const all = `gridDim.${axis}`;
  const common = arithmeticType(strip(side).type, strip(bound).type);
  const { type } = strip(bound);
  if (common.kind !== 'int' || type.kind !== 'int') return null;
  const constant = provenanceOf(bound, facts.unit, facts.program) === 'open' ? null : facts.constant(bound);
  const text = host.primary ? host.text : `(${host.text})`;
  switch (op) {
    // Where the second population is not empty, the first is as large as the bound, unless that is negative.
    case '<': case '>=': return { first: count(text, constant, common.signed, type, all, false), thenFirst: op === '<', start: type.bits === 32 && (!common.signed || (constant !== null && constant >= 0n)) ? bound : null };
    case '<=': case '>': return { first: count(text, constant, common.signed, type, all, true), thenFirst: op === '<=', start: null };
    case '==': case '!=':
      if (constant === 0n) return { first: '1', thenFirst: op === '==', start: 'one' };
      // The last block is alone, all others come before it.
      if (isLast(bound, axis)) return { first: allButOne(axis), thenFirst: op === '!=', start: null };
      return null;
    case '+': case '-': case '*': case '/': case '%': case '<<': case '>>': case '&': case '|': case '^': case '&&': case '||': case ',': return null;
    default: {
      const never: never = op;
      return never;
    }
  }
}

/** Blocks below the bound (up to it, with `including`), compared in the common type: without a sign a negative bound is a large one. */
function count(text: string, constant: bigint | null, signed: boolean, type: { readonly bits: number; readonly signed: boolean }, all: string, including: boolean): string {
  const value = type.bits === 64 ? text : type.signed && constant === null ? `(unsigned)${text}` : text;
  const first = type.bits === 64 ? `(unsigned)${text}` : value;
  const cut = `${value} < ${all} ? ${first}${including ? ' + 1' : ''} : ${all}`;
  if (!signed || !type.signed || (constant !== null && constant > 0n)) return cut;
  return `${text} ${including ? '<' : '<='} 0 ? 0 : ${cut}`;
}

/** How many blocks come before the last one; meaningless for an empty grid. */
export function allButOne(axis: Axis): string {
  return `gridDim.${axis} - 1`;
}

/** `gridDim.x - 1`. */
function isLast(bound: Expr, axis: Axis): boolean {
  const e = strip(bound);
  if (e.kind !== 'binary' || e.op !== '-') return false;
  const [left, right] = [strip(e.left), strip(e.right)];
  return left.kind === 'coordinate' && left.base === 'gridDim' && left.axis === axis && right.kind === 'literal' && right.value === 1n;
}

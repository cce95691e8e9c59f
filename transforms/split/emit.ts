/**
 * The two kernels: each a copy of the original with one arm in place of the branch, without declarations that only the other arm used, and
 * with the parameters that are left in its text. Blocks of the second population know where they stand by a parameter.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import type { CoordinateExpr, DeclareStmt, Expr, FunctionDecl, ParameterDecl, Stmt, VariableDecl } from '../../src/syntax/tree.js';
import type { NewKernel, NewParameter } from '../lib/launch-follow.js';
import { sameExpr } from '../lib/equality.js';
import { spokenByMacros } from '../lib/launch-checks.js';
import { spelledIn } from '../lib/launch-mentions.js';
import { lostComments } from '../lib/lost-comments.js';
import { textOf, type Replacement } from '../lib/text.js';
import type { LaunchPlan, LaunchStep, TransformContext } from '../lib/types.js';
import { allButOne, type LaunchCondition } from './condition.js';
import { definitionText } from './definition.js';
import { kernelNames } from './names.js';
import { decisionsOf, goneWith } from './decided.js';
import { returns, type SplitBranch } from './shape.js';

export interface Population {
  readonly kernel: NewKernel;
  /** The whole definition. */
  readonly text: string;
  /** Parameters of the original that it takes, and the new ones with what the launch passes. */
  readonly passed: readonly string[];
  /** Declarations that it does not need. */
  readonly dropped: ReadonlySet<Stmt>;
}

export interface Division {
  readonly then: Population;
  readonly else: Population;
  readonly plan: LaunchPlan;
  readonly names: readonly string[];
}

type Known = Exclude<LaunchCondition, { kind: 'not-known' | 'interior' }>;

/** Everything that a split writes in the kernel's file, and the plan for its launches. */
export function divide(context: TransformContext, branch: SplitBranch, condition: Known): Division {
  const names = kernelNames(context, branch, condition);
  const fresh = freshInKernel(context);
  const first = condition.kind === 'role' ? fresh('first') : null;
  const blocks = condition.kind === 'role' ? fresh('blocks') : null;
  const make = (arm: 'then' | 'else', said: readonly string[] = []): Population => population(context, branch, condition, arm, names[arm], first, blocks, said);
  const { then, other } = withAllSaid(context, branch, make);
  return { then, else: other, plan: planOf(context, condition, then, other), names: [names.then, names.else] };
}

/** Names that stand nowhere in the kernel, each given once. */
export function freshInKernel(context: TransformContext): (base: string) => string {
  const taken = new Set<string>();
  return (base) => {
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}${n}`;
      if (taken.has(name) || spelledIn(context.unit.source, context.facts.function.span, name) || spokenByMacros(context.unit, name)) continue;
      taken.add(name);
      return name;
    }
  };
}

/** Both kernels, with comments that neither would hold in the one that they speak of. */
export function withAllSaid(context: TransformContext, branch: SplitBranch, make: (arm: 'then' | 'else', said?: readonly string[]) => Population): { readonly then: Population; readonly other: Population } {
  const { unit: { source }, facts: { function: kernel } } = context;
  const [then, other] = [make('then'), make('else')];
  if (kernel.body === null) return { then, other };
  const { stmt } = branch;
  const ofThen = lostComments(source, stmt.then.span, then.text + other.text);
  const ofRest = lostComments(source, { start: kernel.headSpan.start, end: kernel.body.span.end }, then.text + other.text).filter((comment) => !ofThen.includes(comment));
  return { then: ofThen.length === 0 ? then : make('then', ofThen), other: ofRest.length === 0 ? other : make('else', ofRest) };
}

function planOf(context: TransformContext, condition: Known, then: Population, other: Population): LaunchPlan {
  return { ...stepsOf(context, condition, then, other), ...(condition.constants.length === 0 ? {} : { constants: condition.constants }) };
}

function stepsOf(context: TransformContext, condition: Known, then: Population, other: Population): LaunchPlan {
  const step = ({ kernel, passed }: Population, grid: string, unless: string | null): LaunchStep => ({ kind: 'kernel', kernel: kernel.name, grid, block: 'blockDim', arguments: passed, unless });
  if (condition.kind === 'choice') return { steps: [step(then, 'gridDim', `!(${condition.text})`), step(other, 'gridDim', condition.text)] };
  const { axis, first, thenFirst } = condition;
  const all = `gridDim.${axis}`;
  const sides = (x: string): string => `dim3(${(['x', 'y', 'z'] as const).map((a) => (a === axis ? x : `gridDim.${a}`)).join(', ')})`;
  const [front, rest] = thenFirst ? [then, other] : [other, then];
  // One block alone: an empty grid has none, and one less than no blocks would be 2^32 - 1.
  if (isFixed(first)) return { steps: [step(front, sides(first), `${all} <= 0`), step(rest, sides(`${all} - ${first}`), `${all} <= ${first}`)] };
  if (first === allButOne(axis)) return { steps: [step(front, sides(first), `${all} <= 1`), step(rest, sides('1'), `${all} <= 0`)] };
  const boundary = firstName(context);
  return { steps: [{ kind: 'value', name: boundary, type: 'unsigned', value: first }, step(front, sides(boundary), null), step(rest, sides(`${all} - ${boundary}`), null)] };
}

function isFixed(first: string): boolean {
  return /^\d+$/.test(first);
}

/** Name of the plan's value, the number of blocks of the first population; sites where it is taken call it something else. What the kernel spells may be a constant of the plan's. */
function firstName({ facts, unit }: TransformContext): string {
  let name = 'first_blocks';
  while (spelledIn(unit.source, facts.function.span, name) || spokenByMacros(unit, name)) name += '_';
  return name;
}

// ----------------------------------------------------------------------------------------------------------- one kernel

function population(context: TransformContext, branch: SplitBranch, condition: Known, arm: 'then' | 'else', name: string, first: string | null, blocks: string | null, said: readonly string[]): Population {
  const { facts, unit } = context;
  const { source } = unit;
  const { function: kernel } = facts;
  const kept = keptStatements(kernel, branch, arm);
  const decisions = decisionsOf(context, branch, condition, arm);
  const gone: Span[] = [...goneWith(facts, decisions)];
  const dropped = unneeded(facts, source, branch, kept, gone);
  const live = kept.filter((stmt) => !dropped.has(stmt));
  const coordinates: Replacement[] = [];
  let offset = false;
  let whole = false;
  if (condition.kind === 'role') {
    const second = (arm === 'then') !== condition.thenFirst;
    for (const coordinate of coordinatesIn(live)) {
      if (coordinate.axis !== condition.axis) continue;
      if (coordinate.base === 'blockIdx' && second) {
        const counted = countedFromStart(facts, condition.start, coordinate);
        if (counted !== null) {
          coordinates.push({ span: counted, text: textOf(source, coordinate.span) });
          gone.push(counted);
          continue;
        }
        const fixed = isFixed(condition.first);
        offset ||= !fixed;
        const sum = `${textOf(source, coordinate.span)} + ${fixed ? condition.first : first ?? ''}`;
        coordinates.push({ span: coordinate.span, text: bindsTighter(facts, coordinate) ? `(${sum})` : sum });
      } else if (coordinate.base === 'gridDim') {
        whole = true;
        coordinates.push({ span: coordinate.span, text: blocks ?? '' });
      }
    }
  }
  const parameters: NewParameter[] = kernel.parameters.filter((parameter) => usedIn(source, live, dropped, parameter, gone)).map((parameter) => ({ kind: 'kept', index: parameter.index }));
  const passed = parameters.map((parameter) => (parameter.kind === 'kept' ? kernel.parameters[parameter.index]?.name ?? '' : ''));
  if (condition.kind === 'role') {
    if (offset) { parameters.push({ kind: 'new', text: `unsigned ${first ?? ''}` }); passed.push(condition.first === allButOne(condition.axis) ? condition.first : firstName(context)); }
    if (whole) { parameters.push({ kind: 'new', text: `unsigned ${blocks ?? ''}` }); passed.push(`gridDim.${condition.axis}`); }
  }
  const made: NewKernel = { name, parameters };
  return { kernel: made, text: definitionText(context, branch, arm, made, { dropped, coordinates, decisions, said }), passed, dropped };
}

/** `blockIdx.x - start`, with parentheses around it: the second kernel's own number of the block. */
function countedFromStart(facts: FunctionFacts, start: Expr | 'one' | null, coordinate: CoordinateExpr): Span | null {
  const parent = facts.parent(coordinate);
  if (start === null || parent?.kind !== 'binary' || parent.op !== '-' || parent.left !== coordinate) return null;
  if (!(start === 'one' ? facts.constant(parent.right) === 1n : sameExpr(parent.right, start)) || parent.type.kind !== 'int' || parent.type.bits !== 32 || parent.type.signed) return null;
  const outer = facts.parent(parent);
  return outer?.kind === 'paren' ? outer.span : parent.span;
}

/** True if what stands around a coordinate would take a part of a sum that is put in its place. */
export function bindsTighter(facts: FunctionFacts, coordinate: CoordinateExpr): boolean {
  const parent = facts.parent(coordinate);
  if (parent === null) return true;
  switch (parent.kind) {
    case 'declare': case 'paren': case 'call': case 'index': return false;
    case 'assign': return parent.value !== coordinate;
    case 'binary': return !(/^(<=?|>=?|==|!=|&&|\|\|)$/.test(parent.op) || ((parent.op === '+' || parent.op === '-') && parent.left === coordinate));
    default: return true;
  }
}

/** Innermost statements that the kernel of this arm consists of. */
export function keptStatements(kernel: FunctionDecl, branch: SplitBranch, arm: 'then' | 'else'): readonly Stmt[] {
  const { stmt } = branch;
  const out: Stmt[] = [];
  const visit = (node: Stmt): void => {
    if (node === stmt) {
      if (arm === 'then') out.push(node.then);
      else if (node.else !== null) out.push(node.else);
    } else if (node.kind === 'compound' && node.span.start <= stmt.span.start && stmt.span.end <= node.span.end) {
      for (const child of node.body) if (!(child.span.start >= stmt.span.end && isLeft(branch, arm, node))) visit(child);
    } else if (node.kind === 'if' && node.span.start <= stmt.span.start && stmt.span.end <= node.span.end) {
      heads.push(node);
      visit(node.then);
      if (node.else !== null) visit(node.else);
    } else {
      out.push(node);
    }
  };
  const heads: Stmt[] = [];
  if (kernel.body !== null) visit(kernel.body);
  return [...out, ...heads.flatMap((head) => (head.kind === 'if' ? [{ kind: 'expression' as const, span: head.headSpan, expression: head.condition }] : []))];
}

/** The arm ends in a `return`: what follows the branch in the list is not reached in its kernel. */
export function isLeft({ stmt, list, form }: SplitBranch, arm: 'then' | 'else', of: Stmt): boolean {
  if (form === 'return') return arm === 'then';
  const taken = arm === 'then' ? stmt.then : stmt.else;
  return of === list && taken !== null && returns(taken);
}

/** Declarations outside the branch whose variables nothing that is kept uses, and whose initialisers only compute. */
export function unneeded(facts: FunctionFacts, source: SourceFile, branch: SplitBranch, kept: readonly Stmt[], gone: readonly Span[] = []): ReadonlySet<Stmt> {
  const dropped = new Set<Stmt>();
  const candidates = kept.filter((stmt): stmt is DeclareStmt => stmt.kind === 'declare' && stmt.types.length === 0).reverse();
  for (let changed = true; changed; ) {
    changed = false;
    for (const stmt of candidates) {
      if (dropped.has(stmt) || !stmt.variables.every((variable) => droppable(facts, variable))) continue;
      if (stmt.variables.some((variable) => usedIn(source, kept.filter((other) => other !== stmt && !dropped.has(other)), dropped, variable, gone))) continue;
      // What the original does not use at all stays as it is.
      if (!stmt.variables.some((variable) => variableIn(branch.stmt, variable) || facts.uses(variable).length > 0)) continue;
      dropped.add(stmt);
      changed = true;
    }
  }
  return dropped;
}

function variableIn(root: Node, variable: VariableDecl): boolean {
  let found = false;
  walk(root, (node) => {
    if (node.kind === 'ref' && node.decl === variable) found = true;
    return !found;
  });
  return found;
}

function droppable(facts: FunctionFacts, variable: VariableDecl): boolean {
  if (variable.space === 'shared') return true;
  if (variable.storage !== 'automatic' || variable.space !== 'local' || variable.opaqueInit) return false;
  if (variable.type.kind === 'record' && variable.type.decl.vector === null) return false;
  if (variable.type.kind === 'unknown' || variable.type.kind === 'dependent') return variable.init === null;
  if (variable.init === null) return true;
  const effects = facts.effects(variable.init);
  return effects.assigns.size === 0 && effects.barriers.length + effects.collectives.length + effects.atomics.length + effects.fences.length + effects.unknownCalls.length
    + effects.visible.length + effects.asm.length + effects.opaque.length === 0 && effects.accesses.every((access) => access.kind === 'read' && !access.volatile);
}

/** By the tree, which sees through macros, and by the text, which shows operands of `sizeof` and lengths of arrays. */
export function usedIn(source: SourceFile, statements: readonly Stmt[], dropped: ReadonlySet<Stmt>, decl: VariableDecl | ParameterDecl, gone: readonly Span[] = []): boolean {
  return statements.some((stmt) => !dropped.has(stmt) && (spelledIn(source, stmt.span, decl.name, gone) || refersTo(stmt, decl, gone)));
}

function refersTo(root: Node, decl: VariableDecl | ParameterDecl, gone: readonly Span[]): boolean {
  let found = false;
  walk(root, (node) => {
    if (gone.some((span) => span.start <= node.span.start && node.span.end <= span.end)) return false;
    if (node.kind === 'ref' && node.decl === decl) found = true;
    return !found;
  });
  return found;
}

export function coordinatesIn(statements: readonly Stmt[]): readonly CoordinateExpr[] {
  const found: CoordinateExpr[] = [];
  for (const stmt of statements) {
    walk(stmt, (node) => {
      if (!isStmt(node) && node.kind === 'coordinate' && (node.base === 'blockIdx' || node.base === 'gridDim')) found.push(node);
      return true;
    });
  }
  return found;
}

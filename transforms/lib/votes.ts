/**
 * The mask of a vote at a statement: which lanes come there, and how they are named.
 *
 * Where every lane that has not exited comes, the mask is `0xffffffff`: lanes that left the kernel may be named in a vote. Inside a lane-varying `if` the
 * lanes are those for which its condition held, so the mask is a `__ballot_sync` in front of that `if`, taken by the lanes that come there; nested conditions
 * make a chain of them. Behind `if (c) continue;` the mask is taken in front of it, in every iteration. Nothing else is a mask: not where lanes left a
 * loop in earlier iterations, not in a `switch`, not in a function whose callers are not all known.
 */
import { arrivalSets, type Arrival, type Decision } from '../../src/analysis/arrival.js';
import { strip } from '../../src/analysis/children.js';
import { isHipSource } from '../../src/analysis/platform.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { Expr, IfStmt, Stmt } from '../../src/syntax/tree.js';
import { sameExpr } from './equality.js';
import { isRepeatable } from './guards/tested-loop.js';
import { excerpt, lineOf } from './obligation.js';
import { BINDING, grouped, negated } from './operands.js';
import { indentAt, lineStartOf, movedText, oneLine, startsLine } from './text.js';
import type { Edit, TransformContext } from './types.js';

export const EVERY_LANE = '0xffffffff';

/** One vote that a mask is made of. */
export interface MaskStep {
  readonly branch: IfStmt;
  readonly decision: Decision;
  /** The mask is there already, in a variable of this name. */
  readonly known: string | null;
  /** The condition may be written twice: it is made of variables only. */
  readonly repeatable: boolean;
}

export type MaskPlan =
  | { readonly kind: 'mask'; readonly arrival: Arrival; /** Outermost first; none: every lane. */ readonly steps: readonly MaskStep[] }
  | { readonly kind: 'problem'; readonly id: 'arrival-set-known' | 'exits-warp-uniform' | 'mask-names-arriving-lanes'; readonly line: number; readonly text: string; readonly remedy: string; readonly known: boolean };

/** How the lanes that come to a statement are named in a vote right before it. */
export function maskAt(context: TransformContext, stmt: Stmt): MaskPlan {
  const { facts } = context;
  if (isHipSource(facts.program, context.unit)) {
    return { kind: 'problem', id: 'arrival-set-known', line: lineOf(context, stmt), known: true, text: 'wavefronts of HIP have up to 64 lanes, and its votes take other masks', remedy: 'apply it to the CUDA source' };
  }
  const arrival = arrivalSets(facts).at(stmt);
  const { lanes, skips } = arrival;
  const loop = skips.find((skip) => skip.by === 'loop');
  if (loop !== undefined) {
    return {
      kind: 'problem', id: 'exits-warp-uniform', line: loop.facts.unit.source.line(loop.at.span.start), known: loop.known,
      text: `lanes leave the loop of line ${loop.facts.unit.source.line(loop.at.span.start)} at different times${loop.unless === null ? '' : `, unless ${loop.unless}`}`,
      remedy: 'give the loop a number of iterations that is one for the warp, and skip the work inside it',
    };
  }
  if (lanes.kind === 'full') return { kind: 'mask', arrival, steps: [] };
  if (lanes.kind === 'unknown') {
    const skip = skips[0];
    return {
      kind: 'problem', id: 'arrival-set-known', line: skip === undefined ? lineOf(context, stmt) : skip.facts.unit.source.line(skip.at.span.start), known: false,
      text: `which lanes come here is not known: ${lanes.because}`, remedy: 'move the loop to where the whole warp comes',
    };
  }
  const steps: MaskStep[] = [];
  for (const decision of lanes.decisions) {
    const step = stepOf(context, stmt, decision, steps);
    if (typeof step === 'string') {
      return { kind: 'problem', id: 'mask-names-arriving-lanes', line: lineOf(context, decision.condition), known: false, text: step, remedy: 'keep the condition in a variable, and test it in an `if` that stands in a list of statements' };
    }
    steps.push(step);
  }
  return { kind: 'mask', arrival, steps };
}

/** A step, or why no vote can stand in front of the branch. */
function stepOf(context: TransformContext, stmt: Stmt, decision: Decision, earlier: readonly MaskStep[]): MaskStep | string {
  const { facts, unit } = context;
  const { at, condition, holds } = decision;
  const said = excerpt(unit.source, condition);
  if (at.kind !== 'if' || holds === null) return `the lanes that come were chosen by ${said}, not by an \`if\``;
  if (at.constexpr || at.init !== null || at.conditionDecl !== null) return `the head of \`if (${said})\` declares something: a vote in front of it could not name that`;
  const list = facts.parent(at);
  if (list === null || list.kind !== 'compound' || list.span.start > stmt.span.start || list.span.end < stmt.span.end) return `no vote can stand in front of \`if (${said})\`: it stands in no list of statements around the loop`;
  if (!startsLine(unit.source, at.span.start)) return `\`if (${said})\` does not start its line`;
  if (isMadeByMacro(facts, at)) return `\`if (${said})\` comes out of a macro`;
  const { type } = condition;
  if (type.kind !== 'bool' && type.kind !== 'int' && type.kind !== 'float' && type.kind !== 'pointer') return `${said} is not a plain number`;
  const repeatable = isRepeatable(facts, condition) && facts.effects(condition).accesses.length === 0 && facts.effects(condition).faults.length === 0;
  return { branch: at, decision, repeatable, known: knownMask(facts, at, condition, holds, earlier) };
}

function isMadeByMacro(facts: FunctionFacts, stmt: Stmt): boolean {
  for (let at = facts.parent(stmt); at !== null; at = facts.parent(at)) if (at.kind === 'macro-statement' || at.kind === 'macro') return true;
  return false;
}

/** `const unsigned int mask = __ballot_sync(outer, c);` right in front of `if (c)`. */
function knownMask(facts: FunctionFacts, branch: IfStmt, condition: Expr, holds: boolean, earlier: readonly MaskStep[]): string | null {
  const list = facts.parent(branch);
  const { body } = facts.function;
  if (list === null || list.kind !== 'compound' || body === null) return null;
  const outer = earlier.at(-1);
  for (let i = list.body.indexOf(branch) - 1; i >= 0; i--) {
    const before = list.body[i];
    if (before === undefined || before.kind !== 'declare') return null;
    for (const variable of before.variables) {
      const init = variable.init === null ? null : strip(variable.init);
      if (init === null || init.kind !== 'call' || init.callee.kind !== 'builtin') {
        if (variable.init !== null && !isRepeatable(facts, variable.init)) return null;
        continue;
      }
      if (init.callee.name !== '__ballot_sync') return null;
      const [mask, vote] = init.arguments;
      if (mask === undefined || vote === undefined || facts.addressTaken(variable) || facts.assignments(variable, body).length !== 1) continue;
      const given = strip(mask);
      const sameOuter = outer === undefined ? facts.constant(mask) === 0xffffffffn : given.kind === 'ref' && given.name === outer.known;
      if (sameOuter && saysTheSame(vote, condition, holds)) return variable.name;
    }
  }
  return null;
}

function saysTheSame(vote: Expr, condition: Expr, holds: boolean): boolean {
  const given = strip(vote);
  if (holds) return sameExpr(given, condition);
  const plain = strip(condition);
  if (given.kind === 'binary' && plain.kind === 'binary' && FLIPPED[plain.op] === given.op && plain.left.type.kind !== 'float' && plain.right.type.kind !== 'float') {
    return sameExpr(given.left, plain.left) && sameExpr(given.right, plain.right);
  }
  return given.kind === 'unary' && given.op === '!' && sameExpr(given.operand, condition);
}

export interface MaskText {
  /** The mask as it is written in the vote. */
  readonly mask: string;
  readonly edits: readonly Edit[];
  readonly names: readonly string[];
}

/** The mask, and the votes in front of the branches that it is made of. */
export function writeMask(context: TransformContext, plan: Extract<MaskPlan, { kind: 'mask' }>, fresh: (wish: string) => string): MaskText {
  const { source } = context.unit;
  const edits: Edit[] = [];
  const names: string[] = [];
  const name = (wish: string): string => {
    const made = fresh(wish);
    names.push(made);
    return made;
  };
  let mask = EVERY_LANE;
  for (const { branch, decision, known, repeatable } of plan.steps) {
    if (known !== null) { mask = known; continue; }
    const { condition, holds } = decision;
    const indent = indentAt(source, branch.span.start);
    const lines: string[] = [];
    let held: string | null = null;
    if (!repeatable) {
      held = name('taken');
      lines.push(`const bool ${held} = ${grouped(movedText(source, condition.span), condition, BINDING.assignment)};`);
      edits.push({ file: source.realPath, span: condition.span, text: held });
    }
    const vote = holds === true ? held ?? grouped(oneLine(source, condition.span), condition, BINDING.assignment) : oppositeOf(context, condition, held);
    const made = name('lanes');
    lines.push(`const unsigned int ${made} = __ballot_sync(${mask}, ${vote});`);
    const at = lineStartOf(source, branch.span.start);
    edits.push({ file: source.realPath, span: { start: at, end: at }, text: lines.map((line) => `${indent}${line}\n`).join('') });
    mask = made;
  }
  return { mask, edits, names };
}

const FLIPPED: Readonly<Record<string, string>> = { '<': '>=', '>=': '<', '>': '<=', '<=': '>', '==': '!=', '!=': '==' };

/** `i < n` for `i >= n`: integers only, since a comparison with NaN has no opposite. `held` is the variable that keeps the condition's value. */
function oppositeOf(context: TransformContext, condition: Expr, held: string | null): string {
  const { source } = context.unit;
  if (held !== null) return `!${held}`;
  const isInteger = (expr: Expr): boolean => expr.type.kind === 'int' || expr.type.kind === 'bool';
  if (condition.kind === 'binary' && isInteger(condition.left) && isInteger(condition.right)) {
    const op = FLIPPED[condition.op];
    if (op !== undefined) return `${oneLine(source, condition.left.span)} ${op} ${oneLine(source, condition.right.span)}`;
  }
  return negated(oneLine(source, condition.span), condition);
}

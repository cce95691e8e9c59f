/**
 * Heavy regions: work that some lanes do and others skip, because of what was loaded.
 *
 *     if (p) heavy [else light]              an arm of an `if`; the costlier arm is the heavy one
 *     if (!p) { light; return; } heavy       a guard: the rest of the list is heavy (`continue` likewise)
 *     if (p) { heavy; return; } light        the same the other way round
 *
 * With the region comes the way to it: the lists of statements from the function's body inwards (frames), and what decides on that way
 * which threads arrive (gates): `if`s around it, and early exits `if (c) { …; return; }` in front of it.
 */
import { walk, type Node } from '../../src/analysis/children.js';
import type { Loop } from '../../src/analysis/facts.js';
import type { Span } from '../../src/source/types.js';
import type { CompoundStmt, Expr, IfStmt, Stmt } from '../../src/syntax/tree.js';
import type { TransformContext } from '../lib/types.js';

/** A list of statements on the way to a region, and the place in it where the way goes on. */
export interface Frame {
  readonly list: readonly Stmt[];
  readonly index: number;
  /** The block that holds the list; null for an arm or a loop body without braces. */
  readonly block: CompoundStmt | null;
  /** The `if` or loop whose arm or body the list is; a block for a block of its own; null for the function's body. */
  readonly owner: Stmt | null;
  /** For an `if`. */
  readonly arm: 'then' | 'else' | null;
}

/** Statements that belong together, and the text between the first and the last of them. */
export interface Part {
  readonly stmts: readonly Stmt[];
  /** The block around them, if they are all of its statements; null for a single statement or the rest of a list. */
  readonly block: CompoundStmt | null;
}

export interface Region {
  readonly stmt: IfStmt;
  readonly predicate: Expr;
  /** Lanes are active where the predicate has this value. */
  readonly holds: boolean;
  /** `arm`: an arm of the `if`; `rest`: one of the two parts is the rest of the list behind the `if`, up to its end. */
  readonly form: 'arm' | 'rest';
  readonly heavy: Part;
  /** What the other lanes do; null for nothing. Without the jump that ends it, where `jump` is set. */
  readonly light: Part | null;
  /** For `rest`: the `return` or `continue` at the end of the `if`'s arm. */
  readonly jump: Stmt | null;
  /** Outermost first; the last one holds `stmt`. */
  readonly frames: readonly Frame[];
}

/** Everything of a function that may be a heavy region, in the order of the text. Nothing is said yet of whether it may be moved. */
export function regionsIn(context: TransformContext): readonly Region[] {
  const { body } = context.facts.function;
  const found: Region[] = [];
  const visitList = (list: readonly Stmt[], block: CompoundStmt | null, owner: Stmt | null, arm: Frame['arm'], outer: readonly Frame[]): void => {
    list.forEach((stmt, index) => visit(stmt, [...outer, { list, index, block, owner, arm }]));
  };
  const visitBody = (stmt: Stmt, owner: Stmt, arm: Frame['arm'], frames: readonly Frame[]): void => {
    if (stmt.kind === 'compound') visitList(stmt.body, stmt, owner, arm, frames);
    else visitList([stmt], null, owner, arm, frames);
  };
  const visit = (stmt: Stmt, frames: readonly Frame[]): void => {
    switch (stmt.kind) {
      case 'compound': visitList(stmt.body, stmt, stmt, null, frames); return;
      case 'for': case 'while': case 'do': case 'range-for': visitBody(stmt.body, stmt, null, frames); return;
      case 'if': {
        const region = regionAt(context, stmt, frames);
        if (region !== null) found.push(region);
        visitBody(stmt.then, stmt, 'then', frames);
        if (stmt.else !== null) visitBody(stmt.else, stmt, 'else', frames);
        return;
      }
      case 'switch': for (const one of stmt.arms) visitList(one.body, null, stmt, null, frames); return;
      case 'label': visitBody(stmt.body, stmt, null, frames); return;
      case 'preprocessor': for (const one of stmt.arms) if (one.active) visitList(one.body, null, stmt, null, frames); return;
      case 'macro-statement': visitBody(stmt.expanded, stmt, null, frames); return;
      case 'declare': case 'expression': case 'empty': case 'break': case 'continue': case 'return': case 'goto': case 'asm': case 'opaque':
        return;
      default: {
        const never: never = stmt;
        return never;
      }
    }
  };
  if (body !== null) visitList(body.body, body, null, null, []);
  return found;
}

function regionAt(context: TransformContext, stmt: IfStmt, frames: readonly Frame[]): Region | null {
  if (stmt.constexpr || stmt.init !== null || stmt.conditionDecl !== null) return null;
  const frame = frames.at(-1);
  if (frame === undefined) return null;
  const then = partOf(stmt.then);
  const otherwise = stmt.else === null ? null : partOf(stmt.else);
  const base = { stmt, predicate: stmt.condition, frames } as const;
  const jump = otherwise === null ? lastJump(then.stmts) : null;
  if (jump !== null && jumpsOverRest(jump, frames)) {
    const rest = frame.list.slice(frame.index + 1);
    const arm: Part = { stmts: then.stmts.slice(0, -1), block: then.block };
    if (then.stmts.at(-1) !== jump) return null;
    if (rest.length > 0) {
      const restHeavy = costOf(context, rest) >= costOf(context, arm.stmts);
      const part: Part = { stmts: rest, block: null };
      if (restHeavy) return { ...base, form: 'rest', holds: false, heavy: part, light: isEmpty(arm.stmts) ? null : arm, jump };
      return { ...base, form: 'rest', holds: true, heavy: arm, light: isEmpty(rest) ? null : part, jump };
    }
    return isEmpty(arm.stmts) ? null : { ...base, form: 'rest', holds: true, heavy: arm, light: null, jump };
  }
  if (isEmpty(then.stmts) && (otherwise === null || isEmpty(otherwise.stmts))) return null;
  const heavyElse = otherwise !== null && costOf(context, otherwise.stmts) > costOf(context, then.stmts);
  const light = heavyElse ? then : otherwise;
  return {
    ...base, form: 'arm', holds: !heavyElse, heavy: heavyElse ? otherwise : then, light: light === null || isEmpty(light.stmts) ? null : light, jump: null,
  };
}

/** Statements of an arm. */
export function partOf(stmt: Stmt): Part {
  return stmt.kind === 'compound' ? { stmts: stmt.body, block: stmt } : { stmts: [stmt], block: null };
}

/** The `return` (without a value) or `continue` that the list ends with. */
function lastJump(list: readonly Stmt[]): Stmt | null {
  const last = list.at(-1);
  if (last === undefined) return null;
  return (last.kind === 'return' && last.value === null) || last.kind === 'continue' ? last : null;
}

/** True if nothing but the rest of the innermost list lies between the jump and where it leads. */
function jumpsOverRest(jump: Stmt, frames: readonly Frame[]): boolean {
  for (let i = frames.length - 1; i >= 0; i--) {
    const frame = frames[i];
    if (frame === undefined) return false;
    if (i < frames.length - 1 && frame.index < frame.list.length - 1) return false;
    if (frame.owner === null) return jump.kind === 'return';
    if (isLoop(frame.owner)) return jump.kind === 'continue';
    if (frame.owner.kind !== 'if' && frame.owner.kind !== 'compound') return false;
  }
  return false;
}

export function isLoop(stmt: Stmt): stmt is Loop {
  return stmt.kind === 'for' || stmt.kind === 'while' || stmt.kind === 'do' || stmt.kind === 'range-for';
}

export function isEmpty(list: readonly Stmt[]): boolean {
  return list.every((stmt) => stmt.kind === 'empty' || (stmt.kind === 'compound' && isEmpty(stmt.body)));
}

export function costOf(context: TransformContext, list: readonly Stmt[]): number {
  return list.reduce((sum, stmt) => sum + context.facts.cost(stmt).instructions, 0);
}

/** What decides on the way to a region which threads come: an `if` around it, or an early exit in front of it. */
export interface Gate {
  readonly kind: 'if' | 'exit';
  readonly stmt: IfStmt;
  /** The frame that holds `stmt` in its list, and where. */
  readonly frame: number;
  readonly index: number;
}

/** `if (c) { …; return; }`, or `continue`, without an `else`. */
export function isEarlyExit(stmt: Stmt): stmt is IfStmt {
  return stmt.kind === 'if' && !stmt.constexpr && stmt.init === null && stmt.conditionDecl === null && stmt.else === null && lastJump(partOf(stmt.then).stmts) !== null;
}

/** Gates on the way to a region from `base`, a frame, inwards, in the order in which they are met. */
export function gatesOf(region: Region, base = 0): readonly Gate[] {
  const gates: Gate[] = [];
  region.frames.forEach((frame, i) => {
    if (i < base) return;
    frame.list.slice(0, frame.index).forEach((stmt, index) => {
      if (isEarlyExit(stmt)) gates.push({ kind: 'exit', stmt, frame: i, index });
    });
    const inner = frame.list[frame.index];
    if (inner !== undefined && inner !== region.stmt && inner.kind === 'if') gates.push({ kind: 'if', stmt: inner, frame: i, index: frame.index });
  });
  return gates;
}

/** Statements behind the region in the frame's list: what follows once the region is done. */
export function behind(region: Region, frame: number): readonly Stmt[] {
  const at = region.frames[frame];
  if (at === undefined) return [];
  if (frame === region.frames.length - 1 && region.form === 'rest') return [];
  return at.list.slice(at.index + 1);
}

/** The span from the first statement to the last. */
export function spanOf(stmts: readonly Stmt[]): Span | null {
  const first = stmts[0];
  const last = stmts.at(-1);
  return first === undefined || last === undefined ? null : { start: first.span.start, end: last.span.end };
}

export function isInside(node: { readonly span: Span }, stmts: readonly Stmt[]): boolean {
  return stmts.some((stmt) => node.span.start >= stmt.span.start && node.span.end <= stmt.span.end);
}

/** Calls `visit` for every node of the statements, outermost first. */
export function walkAll(stmts: readonly Stmt[], visit: (node: Node) => boolean | void): void {
  for (const stmt of stmts) walk(stmt, visit);
}

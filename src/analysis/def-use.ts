/**
 * Values of automatic variables in single-assignment form, on the structured tree.
 *
 * Every place that gives a variable a value makes a `Value`; every use refers to exactly one. Where control flow meets, a value of its
 * own joins them, and says what decides between them:
 *
 *   join   after a branch, at the end of a loop's body (`continue`), at the end of the function: inputs and controls;
 *   head   at the head of a loop: the value on entry and the values that come back;
 *   exit   after a loop, for every variable the loop assigns: threads leave in different iterations (temporal divergence).
 *
 * Arrays and records are followed as a whole: storing an element joins the old contents with the new one. A variable whose address
 * escapes is one `cell`, whatever is stored in it anywhere (flow-insensitive). Source: Braun et al., "Simple and Efficient
 * Construction of SSA Form" (2013), without sealing, since the tree tells what a loop assigns before it is entered.
 *
 * Not handled: fields one by one; `goto` (see control-flow.ts), where every assigned variable becomes a cell.
 */
import type { Node } from './children.js';
import type { Control, LoopFlow } from './control-flow.js';
import type { Definition, Variable } from './facts.js';
import type { CallOutput } from './call-outputs.js';
import type { AssignExpr, CallExpr, Expr, ParameterDecl, RefExpr, Stmt, ThisExpr, UpdateExpr, VariableDecl } from '../syntax/tree.js';

export interface ValueBase {
  readonly id: number;
  readonly decl: Variable;
}

export type Value =
  | ValueBase & { readonly kind: 'parameter'; readonly decl: ParameterDecl }
  /** Declared without a value. */
  | ValueBase & { readonly kind: 'undefined'; readonly decl: VariableDecl }
  | ValueBase & { readonly kind: 'declaration'; readonly decl: VariableDecl; readonly init: Expr }
  /** `previous` is what is left in the variable when only a part is assigned, or the operand of a compound assignment; -1 if none. */
  | ValueBase & { readonly kind: 'assignment'; readonly node: AssignExpr | UpdateExpr; readonly previous: number; readonly whole: boolean; readonly control: Control | null }
  | ValueBase & { readonly kind: 'join'; readonly inputs: readonly number[]; readonly controls: readonly Control[]; readonly at: Node }
  | ValueBase & { readonly kind: 'head'; readonly inputs: number[]; readonly loop: LoopFlow }
  | ValueBase & { readonly kind: 'exit'; readonly inputs: readonly number[]; readonly loop: LoopFlow }
  /** What a call leaves in a variable that it was given. */
  | ValueBase & { readonly kind: 'output'; readonly call: CallExpr; readonly output: CallOutput; readonly previous: number; readonly control: Control | null }
  /** Read through a local reference: the object, and the place in it. */
  | ValueBase & { readonly kind: 'alias'; readonly inputs: readonly number[] }
  | ValueBase & { readonly kind: 'cell'; readonly inputs: number[]; readonly controls: Control[]; /** False in functions with `goto` for variables that are not addressed. */ readonly addressed: boolean }
  | ValueBase & { readonly kind: 'unknown'; readonly node: Expr | Stmt; readonly why: string; readonly previous: number };

/** A value or a control in the order in which their inputs become known; loops appear again behind their bodies. */
export type Step = { readonly value: Value; readonly control: null } | { readonly value: null; readonly control: Control };

/** The steps from `from` up to `to` (not included) of a loop that stands in no other. */
export interface Region { readonly from: number; readonly to: number }

export interface ReturnSite { readonly value: Expr | null; readonly control: Control | null; readonly node: Stmt }

/** An assignment to memory: through a pointer, to a shared or namespace-scope name. */
export interface StoreSite { readonly node: AssignExpr | UpdateExpr; readonly target: Expr; readonly control: Control | null }

/** Def-use of one function. */
export interface DefUse {
  readonly values: readonly Value[];
  readonly controls: readonly Control[];
  readonly steps: readonly Step[];
  /** The last step of each value, by its number. */
  readonly valueSteps: Int32Array;
  /** The last step of each control, by its number. */
  readonly controlSteps: Int32Array;
  /** The value that a use reads; for a plain assignment's target the value after it. Fields of a method's own object included. */
  readonly reads: ReadonlyMap<RefExpr | ThisExpr, number>;
  /** The control under which a statement, or the later operand of `&&`, `||`, `?:`, is reached. Nodes that are not in it are reached with their parents. */
  readonly controlOf: ReadonlyMap<Node, Control | null>;
  readonly loops: ReadonlyMap<Node, LoopFlow>;
  readonly returns: readonly ReturnSite[];
  readonly stores: readonly StoreSite[];
  /** What a parameter that is a reference holds at the end. */
  readonly finals: ReadonlyMap<Variable, number>;
  /** The object a method runs on, followed like a variable. */
  readonly self: ParameterDecl;
  /** Outermost loops, in order. */
  readonly regions: readonly Region[];
  /** Something is read before its step: a cell, whose contents may be stored anywhere, or text that stands in several places. */
  readonly cellular: boolean;
  /** Steps that must be repeated until nothing changes: there is a loop or a cell. */
  readonly cyclic: boolean;
  /** The function has `goto`: text from here on (an offset) depends on all conditions; null if structured. */
  readonly unstructuredFrom: number | null;
  /** Variables bound to an object in memory. */
  readonly memoryReferences: ReadonlySet<Variable>;
}

/** Definitions that reach a value, each once. */
export function definitionsOf(defUse: DefUse, id: number): readonly Definition[] {
  const seen = new Set<number>();
  const found: Definition[] = [];
  const follow = (v: number): void => {
    if (v < 0 || seen.has(v)) return;
    seen.add(v);
    const value = defUse.values[v];
    if (value === undefined) return;
    switch (value.kind) {
      case 'parameter': found.push({ kind: 'parameter', decl: value.decl }); return;
      case 'undefined': case 'declaration': found.push({ kind: 'declaration', decl: value.decl }); return;
      case 'assignment':
        found.push({ kind: 'assignment', decl: value.decl, node: value.node });
        if (!value.whole) follow(value.previous);
        return;
      case 'output': found.push({ kind: 'unknown', decl: value.decl, node: value.call }); follow(value.previous); return;
      case 'unknown': found.push({ kind: 'unknown', decl: value.decl, node: value.node }); follow(value.previous); return;
      case 'join': case 'head': case 'exit': case 'alias': case 'cell':
        for (const input of value.inputs) follow(input);
    }
  };
  follow(id);
  return found;
}

/**
 * What a walk over effects collects, and how an access to memory is noted: the tables behind effects.ts.
 */
import type { CallExpr, Expr, FunctionDecl, Program, Space, Stmt, Type } from '../syntax/tree.js';
import { strip } from './children.js';
import type { Effects, MemoryAccess, Variable } from './facts.js';
import { isAutomatic } from './function-index.js';
import { placesOf, UNKNOWN_PLACE, type Place, type PlaceContext } from './places.js';

export interface EffectContext extends PlaceContext {
  readonly program: Program;
  /** Whose template parameters the types depend on: the function, around a lambda too. */
  readonly instance: FunctionDecl | null;
  /** To what a lambda's results are converted. */
  readonly returns?: Type;
}

/** What happens to an lvalue: `address` if only its address is taken. */
export type Mode = 'read' | 'write' | 'both' | 'address';

const places = new WeakMap<MemoryAccess, Place>();

/** The place an access goes to. */
export function placeOfAccess(access: MemoryAccess): Place {
  return places.get(access) ?? { ...UNKNOWN_PLACE, base: access.base, space: access.space, steps: access.base !== null && access.base.kind === 'parameter' ? '*' : '' };
}

function isVolatile(type: Type): boolean {
  return type.volatile === true || (type.kind === 'array' && isVolatile(type.of));
}

/** Shared by the parts of the walk. */
export class EffectTables {
  protected readonly accesses: MemoryAccess[] = [];
  protected readonly assigns = new Set<Variable>();
  protected readonly uses = new Set<Variable>();
  protected readonly barriers = new Set<CallExpr>();
  protected readonly collectives = new Set<CallExpr>();
  protected readonly fences = new Set<CallExpr>();
  protected readonly atomics = new Set<CallExpr>();
  protected readonly unknownCalls = new Set<Expr>();
  protected readonly visible = new Set<Expr>();
  protected readonly exits: Stmt[] = [];
  protected readonly asm = new Set<Stmt>();
  protected readonly opaque = new Set<Stmt | Expr>();
  protected readonly faults = new Set<Expr>();
  protected loopDepth = 0;
  protected switchDepth = 0;
  protected lambdaDepth = 0;

  constructor(protected readonly context: EffectContext) {}

  effects(): Effects {
    return {
      accesses: this.accesses, assigns: this.assigns, uses: this.uses, barriers: [...this.barriers], collectives: [...this.collectives], fences: [...this.fences],
      atomics: [...this.atomics], unknownCalls: [...this.unknownCalls], visible: [...this.visible], exits: this.exits, asm: [...this.asm], opaque: [...this.opaque],
      faults: [...this.faults],
    };
  }

  /** Records what happens at every place that an lvalue may denote. */
  protected access(lvalue: Expr, mode: Mode): void {
    if (mode === 'address') return;
    const volatile = isVolatile(lvalue.type) || volatileThrough(lvalue);
    for (const place of placesOf(lvalue, this.context)) this.touch(place, mode, lvalue, null, volatile);
  }

  protected touch(place: Place, mode: Mode | 'atomic', node: Expr, through: CallExpr | null, volatile: boolean): void {
    const base = place.base;
    const object = base !== null && base !== 'this' && (base.kind === 'variable' || base.kind === 'parameter') && isAutomatic(base) && !place.steps.includes('*') ? base : null;
    if (object !== null) {
      if (mode !== 'write') this.uses.add(object);
      if (mode !== 'read') this.assigns.add(object);
      // What is volatile is read and written as often as the text says, in a thread's own variable too.
      if (object.type.kind !== 'array' && !volatile) return;
    }
    // A pointer that was read from memory may hold the address of any variable whose address was handed out.
    const followed = place.steps.indexOf('*') !== place.steps.lastIndexOf('*');
    if ((base === null || base === 'this' || followed) && mode !== 'read') this.writeExposed();
    if (mode === 'atomic') this.record(place, 'atomic', node, through, volatile);
    else {
      if (mode === 'read' || mode === 'both') this.record(place, 'read', node, through, volatile);
      if (mode === 'write' || mode === 'both') this.record(place, 'write', node, through, volatile);
    }
  }

  protected record(place: Place, kind: MemoryAccess['kind'], node: Expr, through: CallExpr | null, volatile: boolean): void {
    const base = place.base === 'this' ? null : place.base;
    const space: Space | 'unknown' = place.space;
    const access: MemoryAccess = { node, kind, space, base, volatile, through };
    places.set(access, place);
    this.accesses.push(access);
  }

  protected writeExposed(): void {
    for (const variable of this.context.index.exposed) this.assigns.add(variable);
  }

  protected writeUnknown(): void {
    this.writeExposed();
  }

  /** An operator on a record that is not one of CUDA's vectors calls a function that the tree does not name. */
  protected operatorCall(node: Expr, operands: readonly Expr[]): void {
    const overloaded = operands.some((operand) => {
      const type = strip(operand).type;
      return type.kind === 'record' && type.decl.methods.length > 0;
    });
    if (overloaded && node.kind !== 'index') this.unknownCalls.add(node);
    if (overloaded && node.kind === 'index') {
      const type = strip(node.base).type;
      const methods = type.kind === 'record' ? type.decl.methods.filter((method) => method.name === 'operator[]') : [];
      if (methods.length === 0) this.unknownCalls.add(node);
    }
  }

  protected fault(node: Expr, mode: Mode): void {
    if (mode === 'address') return;
    if (node.kind === 'index' && strip(node.index).kind === 'literal' && strip(node.base).type.kind === 'array') return;
    this.faults.add(node);
  }

  protected isLvalue(expr: Expr): boolean {
    const inner = strip(expr);
    return inner.kind === 'ref' || inner.kind === 'index' || inner.kind === 'member' || (inner.kind === 'unary' && inner.op === '*') || inner.kind === 'conditional' || inner.kind === 'assign' || inner.kind === 'cast';
  }
}

/** `volatile T *p`: what `p[i]` and `*p` access is volatile even if the type of the expression lost the word. */
function volatileThrough(lvalue: Expr): boolean {
  const inner = strip(lvalue);
  const pointer = inner.kind === 'index' ? strip(inner.base) : inner.kind === 'unary' && inner.op === '*' ? strip(inner.operand) : inner.kind === 'member' ? strip(inner.object) : null;
  if (pointer === null) return false;
  if (inner.kind === 'member' && !inner.arrow) return isVolatile(pointer.type) || volatileThrough(pointer);
  const type = pointer.type;
  return (type.kind === 'pointer' && isVolatile(type.to)) || (type.kind === 'array' && (isVolatile(type) || volatileThrough(pointer)));
}

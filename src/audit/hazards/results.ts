/**
 * Where the result of a call goes: followed through casts, arithmetic and variables to what is done with it.
 *
 * Not handled: results handed to functions or returned (`used`), values in a thread's own arrays and records (`used`).
 */
import { isStmt, strip, type Node } from '../../analysis/children.js';
import { structureOf } from '../../analysis/structure.js';
import type { Variable } from '../../analysis/facts.js';
import type { CallExpr, Expr } from '../../syntax/tree.js';
import type { Spot } from './scene.js';

/** `kept`: stored in memory that others see. `used`: something else that is not followed. `nothing`: only handed to atomics and to questions about lanes, or deciding which way to go. */
export type Whereabouts = 'kept' | 'used' | 'nothing';

const MAX_STEPS = 8;

/** `truth`: only what becomes of comparisons with it counts; its bits are lanes, which may go anywhere. */
export function resultOf(call: CallExpr, spot: Spot, kind: 'value' | 'truth'): Whereabouts {
  const isAnswer = call.callee.kind === 'builtin' && (call.callee.name === '__all_sync' || call.callee.name === '__any_sync');
  return new Walk(spot).follow(call, kind === 'value' || isAnswer, 0);
}

class Walk {
  private readonly seen = new Set<Expr>();

  constructor(private readonly spot: Spot) {}

  /** `matters`: what is followed depends on the whole group by now. */
  follow(from: Expr, matters: boolean, depth: number): Whereabouts {
    if (this.seen.has(from)) return 'nothing';
    this.seen.add(from);
    const used: Whereabouts = matters ? 'used' : 'nothing';
    if (depth > MAX_STEPS) return used;
    const { parents } = structureOf(this.spot.facts.function);
    let below: Node = from;
    for (let n = parents.get(from); n !== undefined; below = n, n = parents.get(n)) {
      if (isStmt(n)) {
        if (n.kind === 'return') return used;
        const inside = below;
        const variable = n.kind === 'declare' ? n.variables.find((one) => one.init !== null && one.init.span.start <= inside.span.start && one.init.span.end >= inside.span.end) : undefined;
        return variable === undefined ? 'nothing' : this.variable(variable, null, matters, depth);
      }
      switch (n.kind) {
        case 'assign': return n.value === below ? this.stored(n, matters, depth) : 'nothing';
        // Atomics put the pieces together again; questions about lanes are about the group.
        case 'call': return n.callee.kind === 'builtin' ? 'nothing' : used;
        case 'index': return 'nothing';
        // Which way to go may be a matter of speed alone.
        case 'conditional': if (n.condition === below) return 'nothing'; break;
        case 'binary': matters ||= n.op === '==' || n.op === '!='; break;
        default:
      }
    }
    return 'nothing';
  }

  private stored(assign: Expr & { readonly kind: 'assign' }, matters: boolean, depth: number): Whereabouts {
    const target = strip(assign.target);
    const decl = target.kind === 'ref' ? target.decl : null;
    if (decl !== null && (decl.kind === 'variable' || decl.kind === 'parameter') && decl.type.kind !== 'reference') {
      if (decl.kind === 'variable' && decl.space !== 'local') return matters ? 'kept' : 'nothing';
      return this.variable(decl, assign, matters, depth);
    }
    return !matters ? 'nothing' : isShared(target) ? 'kept' : 'used';
  }

  /** Uses that the value reaches: given by its declaration, or by an assignment. */
  private variable(decl: Variable, by: Expr | null, matters: boolean, depth: number): Whereabouts {
    const reached = (structureOf(this.spot.facts.function).uses.get(decl) ?? []).filter((use) => this.spot.facts.definitions(use).some((definition) => (by === null ? definition.kind === 'declaration' : definition.kind === 'assignment' && definition.node === by)));
    const found = reached.map((use) => this.follow(use, matters, depth + 1));
    return found.includes('kept') ? 'kept' : found.includes('used') ? 'used' : 'nothing';
  }
}

/** Memory that other threads see: through a pointer, or a shared or device variable. */
function isShared(target: Expr): boolean {
  let e = target;
  for (;;) {
    if (e.kind === 'index') e = strip(e.base);
    else if (e.kind === 'member') e = strip(e.object);
    else if (e.kind === 'unary' && e.op === '*') e = strip(e.operand);
    else break;
  }
  if (e.kind !== 'ref' || e.decl === null) return false;
  if (e.decl.kind === 'parameter') return e.decl.type.kind === 'pointer' || e.decl.type.kind === 'array';
  return e.decl.kind === 'variable' && e.decl.space !== 'local' && e.decl.space !== 'constant';
}

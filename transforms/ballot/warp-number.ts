/**
 * Values that lanes of a warp share in every block whose rows are whole warps: computed from `threadIdx.x / 32`, `>> 5` or `/ warpSize`. Of a block that is not known the
 * analyses call them lane-varying, since a row of 48 threads puts two numbers in one warp; who writes such a number means the warp's.
 */
import { isStmt, strip, walk } from '../../src/analysis/children.js';
import { atLeast, type FunctionFacts } from '../../src/analysis/facts.js';
import { unreachable, type Expr, type RefExpr } from '../../src/syntax/tree.js';

const LANES = 32n;

/** Lanes may differ in the expression, but only in blocks of which a warp holds more than one row. */
export function isOfWarpNumber(facts: FunctionFacts, expr: Expr): boolean {
  return !facts.block.xMultipleOf32 && facts.block.value === null && new WarpNumbers(facts).only(expr);
}

class WarpNumbers {
  /** Variables on the way, so that one which is computed from itself ends. */
  private readonly seen = new Set<unknown>();

  constructor(private readonly facts: FunctionFacts) {}

  only(expr: Expr): boolean {
    let only = true;
    walk(expr, (node) => {
      if (!only || isStmt(node)) return false;
      const verdict = this.facts.scope(node);
      if (verdict.known && atLeast(verdict.value, 'warp')) return false;
      switch (node.kind) {
        case 'ref': only = this.defined(node); return false;
        case 'binary': if (this.isQuotient(node)) return false; break;
        case 'paren': case 'cast': case 'macro': case 'unary': case 'conditional': break;
        // A coordinate, memory, a call: it may be another one for every lane.
        default: only = false;
      }
      return only;
    });
    return only;
  }

  /** `threadIdx.x / 32`, `(blockIdx.x * blockDim.x + threadIdx.x) >> 5`. */
  private isQuotient(node: Extract<Expr, { kind: 'binary' }>): boolean {
    const by = node.op === '/' || node.op === '>>' ? this.facts.constant(node.right) : null;
    const divisor = by === null ? (node.op === '/' && isWarpSize(node.right) ? LANES : null) : node.op === '/' ? by : by >= 0n && by < 32n ? 1n << by : null;
    if (divisor === null || divisor <= 0n || divisor % LANES !== 0n) return false;
    const form = this.facts.affine(node.left);
    return form !== null && form.terms.every(({ coefficient, atoms }) => atoms.every((atom) => atLeast(atom.scope, 'block'))
      || (coefficient === 1n && atoms.length === 1 && atoms.every((atom) => { const at = strip(atom.expr); return at.kind === 'coordinate' && at.base === 'threadIdx' && at.axis === 'x'; })));
  }

  private defined(ref: RefExpr): boolean {
    const { decl } = ref;
    if (decl === null || decl.kind !== 'variable') return false;
    if (this.seen.has(decl)) return true;
    this.seen.add(decl);
    return this.facts.definitions(ref).every((definition) => {
      switch (definition.kind) {
        case 'declaration': return definition.decl.init === null || (!definition.decl.opaqueInit && this.only(definition.decl.init));
        case 'assignment': return this.together(definition.node) && (definition.node.kind === 'update' || (definition.node.kind === 'assign' && this.only(definition.node.value)));
        case 'parameter': case 'unknown': return false;
        default: return unreachable(definition);
      }
    });
  }

  private together(node: Expr): boolean {
    const arrival = this.facts.arrival(node);
    return arrival.known && atLeast(arrival.value, 'warp');
  }
}

function isWarpSize(expr: Expr): boolean {
  const value = strip(expr);
  return value.kind === 'coordinate' && value.base === 'warpSize';
}

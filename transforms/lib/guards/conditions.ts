/**
 * Conditions of which some comparisons are decided: their value, or what is left of their text.
 *
 * Chains are folded left to right. What stands left of a conjunct that makes the chain false is still evaluated, unless it has no effects; both sides
 * of `&` and `|` are.
 */
import { forEachChild, isStmt, type Node } from '../../../src/analysis/children.js';
import type { FunctionFacts } from '../../../src/analysis/facts.js';
import type { BinaryExpr, ConditionalExpr, Decl, DeclareStmt, Expr, ParenExpr, RefExpr } from '../../../src/syntax/tree.js';
import { BINDING, bindingOf } from '../operands.js';
import type { Replacement } from '../text.js';
import { joinsTruths } from './guards.js';
import { isRepeatable } from './tested-loop.js';
import { expected, standsInCheck } from './user-checks.js';

export type Decisions = ReadonlyMap<Expr, boolean>;

export interface Folded {
  /** The value of the whole expression, if it is decided. */
  readonly value: boolean | null;
  /** Otherwise: what to change in its text. */
  readonly edits: readonly Replacement[];
}

const UNDECIDED: Folded = { value: null, edits: [] };

export abstract class ConditionFolder {
  private readonly flags = new Map<Decl, boolean | null>();

  constructor(protected readonly facts: FunctionFacts, protected readonly decisions: Decisions) {}

  abstract rewrite(node: Node): readonly Replacement[];

  protected abstract conditional(node: ConditionalExpr): readonly Replacement[];

  fold(expr: Expr): Folded {
    const decided = this.decisions.get(expr);
    if (decided !== undefined) return { value: decided, edits: [] };
    switch (expr.kind) {
      case 'paren': {
        const { value, edits } = this.fold(expr.inner);
        return { value, edits: value === null ? [...edits, ...this.bareLink(expr)] : edits };
      }
      case 'ref': return { value: this.flag(expr), edits: [] };
      case 'unary': {
        if (expr.op !== '!') return { value: null, edits: this.children(expr) };
        const { value, edits } = this.fold(expr.operand);
        if (value !== null) return { value: !value, edits };
        return { value: null, edits: [...edits, ...this.bareOperand(expr.operand)] };
      }
      case 'binary': {
        if (expr.op === '&&') return this.chain(expr.left, expr.right, true);
        if (expr.op === '||') return this.chain(expr.left, expr.right, false);
        if (joinsTruths(expr)) return this.truths(expr);
        return { value: null, edits: this.children(expr) };
      }
      case 'macro': return UNDECIDED;
      case 'call': {
        const inner = expected(expr);
        return inner === null ? { value: null, edits: this.children(expr) } : this.fold(inner);
      }
      case 'conditional': return { value: null, edits: this.conditional(expr) };
      default: return { value: null, edits: this.children(expr) };
    }
  }

  /** `left && right` (neutral true) or `left || right` (neutral false). */
  private chain(left: Expr, right: Expr, neutral: boolean): Folded {
    const a = this.fold(left);
    if (a.value === !neutral) return a;
    const b = this.fold(right);
    if (a.value === neutral) return b.value !== null ? b : { value: null, edits: [{ span: { start: left.span.start, end: right.span.start }, text: '' }, ...b.edits, ...this.withoutParens(right)] };
    if (b.value === neutral) return { value: null, edits: [...a.edits, { span: { start: left.span.end, end: right.span.end }, text: '' }, ...this.withoutParens(left)] };
    if (b.value === null) return { value: null, edits: [...a.edits, ...b.edits] };
    if (isRepeatable(this.facts, left)) return b;
    return { value: null, edits: [...a.edits, { span: right.span, text: String(b.value) }] };
  }

  /** `a & b` and `a | b` of truths: both sides are evaluated, so that one goes only if that has no effect. */
  private truths(expr: BinaryExpr): Folded {
    const neutral = expr.op === '&';
    const [a, b] = [this.fold(expr.left), this.fold(expr.right)];
    const other = a.value !== null ? b : a;
    const value = a.value ?? b.value;
    if (a.value !== null && b.value !== null) return { value: neutral ? a.value && b.value : a.value || b.value, edits: [] };
    if (value === null) return { value: null, edits: [...a.edits, ...b.edits] };
    const rest = a.value !== null ? expr.right : expr.left;
    if (value === !neutral && isRepeatable(this.facts, rest)) return { value, edits: [] };
    // Where a number is asked for, the one side that is left would be of another type.
    if (value === !neutral || !this.isCondition(expr)) return { value: null, edits: [...other.edits, { span: (a.value !== null ? expr.left : expr.right).span, text: String(value) }] };
    const gone = a.value !== null ? { start: expr.left.span.start, end: expr.right.span.start } : { start: expr.left.span.end, end: expr.right.span.end };
    return { value: null, edits: [...other.edits, { span: gone, text: '' }, ...this.withoutParens(rest)] };
  }

  /** Only the truth of the expression is asked. */
  private isCondition(expr: Expr): boolean {
    for (let at: Node = expr, parent = this.facts.parent(at); parent !== null; at = parent, parent = this.facts.parent(at)) {
      if (isStmt(parent)) return (parent.kind === 'if' || parent.kind === 'while' || parent.kind === 'for' || parent.kind === 'do') && parent.condition === at;
      if (parent.kind === 'conditional') return parent.condition === at;
      if (parent.kind !== 'paren' && (parent.kind !== 'unary' || parent.op !== '!') && (parent.kind !== 'binary' || (parent.op !== '&&' && parent.op !== '||' && !joinsTruths(parent)))) return false;
    }
    return false;
  }

  /** `const bool inside = i < n;`, decided where it is declared and never changed: decided wherever it is asked. */
  private flag(ref: RefExpr): boolean | null {
    const { decl } = ref;
    if (decl?.kind !== 'variable' || decl.type.kind !== 'bool' || decl.type.volatile === true || decl.init === null || decl.storage !== 'automatic' || this.facts.addressTaken(decl)) return null;
    const known = this.flags.get(decl);
    if (known !== undefined) return known;
    // A flag that is made of itself is none.
    this.flags.set(decl, null);
    const { body } = this.facts.function;
    const once = body !== null && this.facts.assignments(decl, body).every((definition) => definition.kind === 'declaration');
    const value = once ? this.fold(decl.init).value : null;
    this.flags.set(decl, value);
    return value;
  }

  /** A declaration of nothing but a decided flag, whose uses all lie in text that is rewritten. */
  protected isSpent(stmt: DeclareStmt): boolean {
    const [only] = stmt.variables;
    if (only === undefined || stmt.variables.length !== 1 || stmt.types.length > 0 || only.init === null) return false;
    const uses = this.facts.uses(only);
    const [use] = uses;
    if (use === undefined || this.flag(use) === null) return false;
    return uses.every((one) => {
      if (standsInCheck(this.facts, one)) return false;
      for (let at: Node | null = one; at !== null; at = this.facts.parent(at)) if (at.kind === 'macro' || at.kind === 'macro-statement' || at.kind === 'lambda') return false;
      return true;
    });
  }

  /** Parentheses around what is left of a chain where it stands alone. */
  private withoutParens(kept: Expr): readonly Replacement[] {
    return kept.kind === 'paren' && this.standsAlone(kept) ? this.parensOf(kept) : [];
  }

  protected parensOf(outer: Expr): readonly Replacement[] {
    let inner = outer;
    while (inner.kind === 'paren') inner = inner.inner;
    if (inner.kind === 'assign' || bindingOf(inner) < BINDING.assignment) return [];
    const { text } = this.facts.unit.source;
    const spans = [{ start: outer.span.start, end: inner.span.start }, { start: inner.span.end, end: outer.span.end }];
    return spans.every((span) => /^[()\s]*$/.test(text.slice(span.start, span.end))) ? spans.map((span) => ({ span, text: '' })) : [];
  }

  /** What is left of the chains around the node is the node alone, in the parentheses of a head or its own, or as a whole value. */
  private standsAlone(node: Expr): boolean {
    let at = node;
    for (;;) {
      const parent = this.facts.parent(at);
      if (parent === null) return false;
      if (isStmt(parent)) return parent.kind === 'if' || parent.kind === 'while' || parent.kind === 'do' || parent.kind === 'declare';
      if (parent.kind === 'paren') return true;
      if (parent.kind !== 'binary' || (parent.op !== '&&' && parent.op !== '||' && !joinsTruths(parent))) return this.isWholeValue(at);
      const other = parent.left === at ? parent.right : parent.left;
      if (this.fold(other).value !== (parent.op === '&&' || parent.op === '&')) return false;
      at = parent;
    }
  }

  /** `!(a)`, where `(a && b)` stood. */
  private bareOperand(operand: Expr): readonly Replacement[] {
    if (operand.kind !== 'paren' || operand.inner.kind === 'paren') return [];
    const left = this.leftOf(operand.inner);
    return left !== null && isTight(left) ? this.ownParens(operand) : [];
  }

  /** `a || (b)`, where `a || (b && c)` stood: what is left binds tighter than the chain around it. */
  private bareLink(link: ParenExpr): readonly Replacement[] {
    const parent = this.facts.parent(link);
    if (link.inner.kind === 'paren' || parent === null || isStmt(parent) || parent.kind !== 'binary' || (parent.op !== '&&' && parent.op !== '||')) return [];
    const other = parent.left === link ? parent.right : parent.left;
    const left = this.truth(other) === null ? this.leftOf(link.inner) : null;
    if (left === null || left.kind === 'paren') return [];
    const tight = bindingOf(left) > BINDING.and;
    return tight ? this.ownParens(link) : [];
  }

  /** The value alone, without what it takes to write the rest. */
  private truth(expr: Expr): boolean | null {
    const decided = this.decisions.get(expr);
    if (decided !== undefined) return decided;
    if (expr.kind === 'paren') return this.truth(expr.inner);
    if (expr.kind === 'ref') return this.flag(expr);
    if (expr.kind === 'unary' && expr.op === '!') { const value = this.truth(expr.operand); return value === null ? null : !value; }
    if (expr.kind !== 'binary' || (expr.op !== '&&' && expr.op !== '||')) return null;
    const neutral = expr.op === '&&';
    const a = this.truth(expr.left);
    if (a === !neutral) return a;
    const b = this.truth(expr.right);
    if (a === neutral) return b;
    return b === !neutral && isRepeatable(this.facts, expr.left) ? b : null;
  }

  /** The one operand that is left of chains, parentheses aside where they lie around a chain; null if nothing of them goes. */
  private leftOf(expr: Expr): Expr | null {
    let left = expr;
    let changed = false;
    for (;;) {
      let inner = left;
      while (inner.kind === 'paren') inner = inner.inner;
      if (inner.kind !== 'binary' || (inner.op !== '&&' && inner.op !== '||')) return changed ? inner : null;
      const neutral = inner.op === '&&';
      const [a, b] = [this.truth(inner.left), this.truth(inner.right)];
      if (a !== neutral && b !== neutral) return changed ? inner : null;
      left = a === neutral ? inner.right : inner.left;
      changed = true;
    }
  }

  /** Nothing if the text around would run into what is inside: `or(a)`. */
  private ownParens({ span, inner }: ParenExpr): readonly Replacement[] {
    const { text } = this.facts.unit.source;
    if (/\w/.test(text.charAt(span.start - 1)) || /\w/.test(text.charAt(span.end))) return [];
    const spans = [{ start: span.start, end: inner.span.start }, { start: inner.span.end, end: span.end }];
    return spans.every((one) => /^[()\s]*$/.test(text.slice(one.start, one.end))) ? spans.map((one) => ({ span: one, text: '' })) : [];
  }

  protected children(node: Node): readonly Replacement[] {
    const edits: Replacement[] = [];
    forEachChild(node, (child) => { edits.push(...this.rewrite(child)); });
    return edits;
  }

  /** True if the expression is a whole initialiser, right side or argument, so that it needs no parentheses. */
  protected isWholeValue(node: Expr): boolean {
    const parent = this.facts.parent(node);
    if (parent === null) return false;
    if (isStmt(parent)) return parent.kind !== 'if';
    return (parent.kind === 'assign' && parent.value === node) || (parent.kind === 'call' && parent.arguments.includes(node)) || (parent.kind === 'index' && parent.index === node);
  }
}

/** Stands anywhere without parentheses. */
export function isTight(expr: Expr): boolean {
  return bindingOf(expr) >= BINDING.postfix;
}

/**
 * Interior and border of an index space: a conjunction of comparisons between coordinates of the thread and values of the launch. Along each
 * axis the blocks all of whose threads pass stand together; the host works out where they begin and how many they are.
 *
 * The rectangle may be smaller than it could be, never larger: blocks outside of it run the test as before. So a sufficient condition will do
 * wherever the exact one would need more than the host can say simply.
 */
import { strip } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { BinaryOperator, Expr, ParameterDecl } from '../../src/syntax/tree.js';
import { rectangleOf, type Bound, type Rectangle } from './block-bounds.js';
import type { Axis } from './condition.js';
import { FormReader, limitsOf, valueAt, type CoordinateForm } from './coordinate-forms.js';
import { hostText, Stop, type HostText, type NotOnHost } from './host-text.js';
import type { PlanConstant } from '../lib/types.js';

export interface Interior extends Rectangle {
  readonly kind: 'interior';
  /** All threads of the interior's blocks take the `then` arm. */
  readonly thenInside: boolean;
  readonly parameters: ReadonlySet<ParameterDecl>;
  readonly constants: readonly PlanConstant[];
}

/** `condition` holds in a rectangle of blocks, or does not hold there; else why neither. */
export function interiorOf(facts: FunctionFacts, condition: Expr): Interior | { readonly problem: NotOnHost } {
  const inner = interiorKernelOf(facts);
  if (inner !== null) return { problem: { sort: 'edge', why: `${inner} runs the blocks that lie inside already`, expr: condition } };
  const inside = rectangleFor(facts, condition, false);
  if (!('problem' in inside)) return inside;
  const outside = rectangleFor(facts, condition, true);
  if (!('problem' in outside)) return outside;
  // The reading that got further tells more.
  return inside.depth >= outside.depth ? inside : outside;
}

/** The kernel that a division before this one made for the blocks inside, if this is the one for the others: where their blocks need no offset, only the names tell. */
function interiorKernelOf({ function: kernel, program }: FunctionFacts): string | null {
  const [, stem, sort, axes = ''] = /^(.*)_(border|outside_([xyz]+))\d*$/.exec(kernel.name) ?? [];
  if (stem === undefined) return null;
  const name = sort === 'border' ? `${stem}_interior` : `${stem}_inside_${axes}`;
  for (const unit of program.units.values()) {
    // It may have been divided again meanwhile.
    const found = unit.kernels.find((other) => other.name.startsWith(name) && /^\d*(?:_\w*)?$/.test(other.name.slice(name.length)));
    if (found !== undefined) return found.name;
  }
  return null;
}

function rectangleFor(facts: FunctionFacts, condition: Expr, negated: boolean): Interior | { readonly problem: NotOnHost; readonly depth: number } {
  const reader = new ConjunctReader(facts);
  try {
    reader.read(condition, negated, 0);
    const rectangle = rectangleOf(facts, reader.bounds, reader.forms.ranges, reader.gates, condition);
    return { kind: 'interior', ...rectangle, thenInside: !negated, parameters: reader.parameters, constants: [...reader.constants.values(), ...reader.forms.folded.values()] };
  } catch (error) {
    if (error instanceof Stop) return { problem: error.problem, depth: reader.bounds.length };
    throw error;
  }
}

const NEGATED: Readonly<Partial<Record<BinaryOperator, Comparison>>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' };
const MIRRORED: Readonly<Record<Comparison, Comparison>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' };

type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!=';

/** Conjuncts of a condition (of its opposite) as bounds of coordinate forms. */
class ConjunctReader {
  readonly bounds: Bound[] = [];
  /** What must hold for the whole launch. */
  readonly gates: string[] = [];
  readonly parameters = new Set<ParameterDecl>();
  readonly constants = new Map<string, PlanConstant>();
  readonly forms: FormReader;

  constructor(private readonly facts: FunctionFacts) {
    this.forms = new FormReader(facts);
  }

  read(expr: Expr, negated: boolean, depth: number): void {
    const e = strip(expr);
    const rendered = hostText(this.facts, e, { templates: true });
    if ('host' in rendered) {
      const { text, primary } = rendered.host;
      this.gates.push(negated ? `!${primary ? text : `(${text})`}` : primary ? text : `(${text})`);
      this.#uses(rendered.host);
      return;
    }
    if (e.kind === 'unary' && e.op === '!') return this.read(e.operand, !negated, depth);
    if (e.kind === 'binary') {
      const truth = isTruth(e.left) && isTruth(e.right);
      if (e.op === '&&' || e.op === '||' || (truth && (e.op === '&' || e.op === '|'))) {
        if ((e.op === '&&' || e.op === '&') === negated) throw new Stop({ sort: 'edge', why: 'part of it is a choice between conditions: the blocks where it holds form no rectangle', expr: e });
        this.read(e.left, negated, depth);
        this.read(e.right, negated, depth);
        return;
      }
      const op = negated ? NEGATED[e.op] : e.op;
      if (op !== undefined && isComparison(op)) return this.#comparison(e, op);
    }
    if (e.kind === 'ref' && e.decl?.kind === 'variable' && (e.type.kind === 'bool' || e.type.kind === 'int') && depth < 8) {
      const value = valueAt(this.facts, e);
      const truth = value !== null && (e.type.kind === 'bool' || isTruth(value));
      if (value !== null && truth) return this.read(value, negated, depth + 1);
    }
    throw new Stop(rendered.problem);
  }

  #uses({ parameters, constants }: HostText): void {
    for (const parameter of parameters) this.parameters.add(parameter);
    for (const constant of constants) this.constants.set(constant.name, constant);
  }

  #comparison(e: Extract<Expr, { kind: 'binary' }>, op: Comparison): void {
    const [left, right, common] = this.forms.compared(e.left, e.right, e);
    if (left.axis !== null && right.axis !== null) throw new Stop({ sort: 'edge', why: 'both sides of a comparison differ between threads', expr: e });
    const [form, side, turned, bound] = left.axis === null ? [right, left, MIRRORED[op], strip(e.left)] : [left, right, op, strip(e.right)];
    if (form.plain === 0n && form.perThread === 0n) throw new Stop({ sort: 'thread', why: 'it differs between the threads of a block', expr: e });
    for (const term of [...form.terms, ...side.terms]) this.#uses(term.host);
    const shifted = { ...side, constant: side.constant + 1n };
    const above = (edge: CoordinateForm): void => {
      this.bounds.push({ form, edge: this.#exactLower(edge, common.signed, bound), sort: 'at-least', high: null, weak: false, at: e });
    };
    const below = (edge: CoordinateForm, weak = false): void => {
      // A negative number as one without a sign is large: it is left out, which only makes the interior smaller.
      this.bounds.push({ form, edge, sort: 'less', high: limitsOf(common).high, weak, at: e });
    };
    switch (turned) {
      case '<': below(side); return;
      case '<=': below(shifted); return;
      case '>=': above(side); return;
      case '>': above(shifted); return;
      case '!=':
        if (side.terms.length === 0 && side.constant === lowest(form)) above(shifted);
        else below(side, true);
        return;
      case '==': throw new Stop({ sort: 'block', why: 'the blocks of one population do not stand together', expr: e });
      default: {
        const never: never = turned;
        return never;
      }
    }
  }

  /** A lower edge must not be taken for less than it is: compared without a sign, a negative number is a large one. */
  #exactLower(edge: CoordinateForm, signed: boolean, at: Expr): CoordinateForm {
    if (signed) return edge;
    const [term] = edge.terms;
    if (term === undefined) {
      if (edge.constant < 0n) throw new Stop({ sort: 'arithmetic', why: 'a negative number is compared without a sign', expr: at });
      return edge;
    }
    if (term.type.signed) this.gates.push(`${/^[\w.]+$/.test(term.host.text) ? term.host.text : `(${term.host.text})`} >= 0`);
    else if (term.type.bits === 64) throw new Stop({ sort: 'arithmetic', why: 'a number of 64 bits without a sign may be too large for the host’s arithmetic', expr: at });
    return edge;
  }
}

function isComparison(op: BinaryOperator): op is Comparison {
  return op === '<' || op === '<=' || op === '>' || op === '>=' || op === '==' || op === '!=';
}

/** The smallest value of a form without terms. */
function lowest(form: CoordinateForm): bigint | null {
  return form.terms.length === 0 && form.plain >= 0n && form.perThread >= 0n && form.thread >= 0n ? form.constant : null;
}

/** A comparison, or several: kept in an integer it is 0 or 1. */
function isTruth(expr: Expr): boolean {
  const e = strip(expr);
  if (e.kind === 'binary' && (e.op === '&' || e.op === '|')) return isTruth(e.left) && isTruth(e.right);
  return e.type.kind === 'bool' || (e.kind === 'binary' && (isComparison(e.op) || e.op === '&&' || e.op === '||')) || (e.kind === 'unary' && e.op === '!');
}

/** Along which axes the interior has two edges. */
export function twoSided(interior: Interior): readonly Axis[] {
  return interior.axes.filter((box) => box.twoSided).map((box) => box.axis);
}

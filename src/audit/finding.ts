/**
 * A finding whose chain of reasons and whose words of advice are found when they are read: they cost more than the verdict, and an audit that only counts asks for none.
 *
 * Both are properties like the others (listed, copied by `{...finding}`), of functions that all findings share: an object literal with `get` makes functions
 * and a layout of its own for every object, which costs ten times as much as the object and holds five times the memory.
 */
import type { Verdict } from '../analysis/facts.js';
import type { Advice } from './advice.js';
import type { BranchFinding } from './types.js';

/** What a finding says at once. */
export type Said = Omit<BranchFinding, 'because' | 'reason' | 'advice'>;

export class Finding implements BranchFinding {
  declare readonly id: BranchFinding['id'];
  declare readonly path: BranchFinding['path'];
  declare readonly function: BranchFinding['function'];
  declare readonly via: BranchFinding['via'];
  declare readonly line: BranchFinding['line'];
  declare readonly column: BranchFinding['column'];
  declare readonly endLine: BranchFinding['endLine'];
  declare readonly kind: BranchFinding['kind'];
  declare readonly exits: BranchFinding['exits'];
  declare readonly condition: BranchFinding['condition'];
  declare readonly class: BranchFinding['class'];
  declare readonly scope: BranchFinding['scope'];
  declare readonly because: BranchFinding['because'];
  declare readonly under: BranchFinding['under'];
  declare readonly divergence: BranchFinding['divergence'];
  declare readonly cost: BranchFinding['cost'];
  declare readonly advice: BranchFinding['advice'];
  declare readonly ignored?: true;
  declare readonly reason: BranchFinding['reason'];
  declare readonly site: BranchFinding['site'];
  declare readonly facts: BranchFinding['facts'];
  readonly #verdict: Verdict;
  readonly #advice: Advice;
  readonly #shown: (path: string) => string;
  #because: BranchFinding['because'] | null = null;

  constructor(said: Said, verdict: Verdict, advice: Advice, shown: (path: string) => string) {
    this.#verdict = verdict;
    this.#advice = advice;
    this.#shown = shown;
    this.id = said.id;
    this.path = said.path;
    this.function = said.function;
    this.via = said.via;
    this.line = said.line;
    this.column = said.column;
    this.endLine = said.endLine;
    this.kind = said.kind;
    this.exits = said.exits;
    this.condition = said.condition;
    this.class = said.class;
    this.scope = said.scope;
    Object.defineProperty(this, 'because', Finding.#BECAUSE);
    this.under = said.under;
    this.divergence = said.divergence;
    this.cost = said.cost;
    this.advice = advice.advice;
    if (said.ignored !== undefined) this.ignored = said.ignored;
    Object.defineProperty(this, 'reason', Finding.#REASON);
    this.site = said.site;
    this.facts = said.facts;
  }

  static readonly #BECAUSE: PropertyDescriptor & ThisType<Finding> = {
    enumerable: true, configurable: true,
    get() { return (this.#because ??= this.#verdict.because.map((step) => ({ ...step, path: this.#shown(step.path) }))); },
  };

  static readonly #REASON: PropertyDescriptor & ThisType<Finding> = { enumerable: true, configurable: true, get() { return this.#advice.reason(); } };
}

/**
 * Walks the directives of a file in order, as a preprocessor does, and says for every arm of every `#if` whether the default
 * configuration keeps it, what that rests on, and under which condition the arm would be kept.
 */
import type { Directive, MacroDefinition, SourceFile } from './types.js';
import { evaluateCondition, evaluateDefined, type ConditionValue } from './condition.js';
import { parseDefine } from './define.js';
import { macroPragmaOf } from './macro-pragmas.js';

export interface Arm {
  /** Index in `SourceFile.directives` of the directive that opens the arm (`if`, `elif`, `else`…). */
  readonly directive: number;
  /** Index of the directive that ends it; the number of directives if nothing does. */
  readonly closer: number;
  /** True if the default configuration keeps the arm (enclosing groups apart). */
  readonly active: boolean;
  /** As C++ text, e.g. `!(defined(A)) && (B > 2)`. */
  readonly condition: string;
  /** Names that a build may set otherwise and that the choice of arm depends on. */
  readonly assumed: readonly string[];
}

export interface Group {
  readonly arms: readonly Arm[];
  /** Index of the `#endif`; the number of directives if it is missing. */
  readonly end: number;
  /** True if every enclosing arm is active. */
  readonly reached: boolean;
}

export interface Visitor {
  /** `certainty`: `active`, `assumed-inactive` (a build may choose the arm) or `inactive` (no CUDA build does). */
  define?(definition: MacroDefinition, certainty: Certainty): void;
  undef?(name: string, certainty: Certainty): void;
  include?(argument: string, certainty: Certainty, directive: number): void;
}

export type Certainty = 'active' | 'assumed-inactive' | 'inactive';

interface OpenGroup {
  readonly opener: number;
  readonly reached: Certainty;
  readonly arms: { directive: number; closer: number; active: boolean; certain: boolean; condition: string; assumed: readonly string[] }[];
  /** Conditions of the earlier arms, as text and as values. */
  readonly earlier: string[];
  taken: boolean;
  assumed: readonly string[];
}

/**
 * Groups keyed by the index of their opening directive. `initial` holds the macros of the includes and the command line; those
 * that the file itself defines may be among them, but come into being only where they stand.
 */
export function walkConditionals(source: SourceFile, initial: ReadonlyMap<string, MacroDefinition>, visitor: Visitor = {}): ReadonlyMap<number, Group> {
  return new Walk(source, initial, visitor).run();
}

class Walk {
  readonly #groups = new Map<number, Group>();
  readonly #stack: OpenGroup[] = [];
  /** What the file itself has defined so far, and (null) undefined. */
  readonly #local = new Map<string, MacroDefinition | null>();
  /** What `push_macro` has kept, by name. */
  readonly #kept = new Map<string, (MacroDefinition | null | undefined)[]>();

  constructor(private readonly source: SourceFile, private readonly initial: ReadonlyMap<string, MacroDefinition>, private readonly visitor: Visitor) {}

  run(): ReadonlyMap<number, Group> {
    const { directives } = this.source;
    directives.forEach((directive, index) => this.#directive(directive, index));
    while (this.#stack.length > 0) this.#close(directives.length);
    return this.#groups;
  }

  #lookup = (name: string): MacroDefinition | undefined => {
    const local = this.#local.get(name);
    if (local !== undefined) return local ?? undefined;
    const inherited = this.initial.get(name);
    if (inherited === undefined || inherited.inactive || inherited.file === this.source.realPath || inherited.popped?.byOperator === true) return undefined;
    return inherited.undoneIn === undefined || inherited.undoneIn === this.source.realPath ? inherited : undefined;
  };

  #directive(directive: Directive, index: number): void {
    switch (directive.kind) {
      case 'if':
      case 'ifdef':
      case 'ifndef':
        this.#stack.push({ opener: index, reached: this.#certainty(), arms: [], earlier: [], taken: false, assumed: [] });
        this.#arm(directive, index);
        return;
      case 'elif':
      case 'else': {
        const open = this.#stack[this.#stack.length - 1];
        if (!open) return;
        this.#closeArm(open, index);
        this.#arm(directive, index);
        return;
      }
      case 'endif':
        this.#close(index);
        return;
      case 'define': {
        const definition = parseDefine(directive.argument, this.source.realPath, this.source.line(directive.start));
        const certainty = this.#certainty();
        if (!definition) return;
        if (certainty === 'active') this.#local.set(definition.name, definition);
        this.visitor.define?.(this.#isDefault(definition) ? { ...definition, replaceable: true } : definition, certainty);
        return;
      }
      case 'undef': {
        const certainty = this.#certainty();
        const name = directive.argument.trim();
        if (certainty === 'active') this.#local.set(name, null);
        this.visitor.undef?.(name, certainty);
        return;
      }
      case 'include':
        this.visitor.include?.(directive.argument, this.#certainty(), index);
        return;
      case 'pragma': this.#pragma(directive.argument); return;
      default:
    }
  }

  #pragma(argument: string): void {
    const pragma = argument.includes('_macro') ? macroPragmaOf(argument) : null;
    if (pragma === null || this.#certainty() !== 'active') return;
    const kept = this.#kept.get(pragma.name) ?? [];
    if (pragma.kind === 'push') {
      kept.push(this.#local.get(pragma.name));
      this.#kept.set(pragma.name, kept);
    } else if (kept.length > 0) {
      const before = kept.pop();
      if (before === undefined) this.#local.delete(pragma.name);
      else this.#local.set(pragma.name, before);
    }
  }

  /** It stands where nothing has defined its name yet. What is empty is an include guard. */
  #isDefault(definition: MacroDefinition): boolean {
    if (definition.body === '') return false;
    return this.#stack.some((open) => {
      const arm = open.arms[open.arms.length - 1];
      const directive = arm === undefined ? undefined : this.source.directives[arm.directive];
      if (arm === undefined || directive === undefined) return false;
      return arm.assumed.includes(definition.name) || (directive.kind === 'ifndef' && /^[\w$]+/.exec(directive.argument)?.[0] === definition.name);
    });
  }

  #arm(directive: Directive, index: number): void {
    const open = this.#stack[this.#stack.length - 1];
    if (!open) return;
    const { text, value } = this.#condition(directive, index);
    const condition = [...open.earlier.map((earlier) => `!(${earlier})`), ...(text === null ? [] : [open.earlier.length > 0 ? `(${text})` : text])].join(' && ');
    const active = !open.taken && value.holds;
    const assumed = [...new Set([...open.assumed, ...value.assumed])];
    open.arms.push({ directive: index, closer: -1, active, certain: assumed.length === 0, condition: condition || '1', assumed });
    if (text !== null) open.earlier.push(text);
    // Once an arm is taken for certain, the later ones are out for certain, whatever their own conditions say.
    open.assumed = open.taken ? open.assumed : assumed;
    open.taken ||= value.holds;
  }

  #condition(directive: Directive, index: number): { text: string | null; value: ConditionValue } {
    const { argument } = directive;
    switch (directive.kind) {
      case 'ifdef':
      case 'ifndef': {
        const name = /^[\w$]+/.exec(argument)?.[0] ?? '';
        const value = evaluateDefined(name, this.#lookup);
        if (directive.kind === 'ifdef') return { text: `defined(${name})`, value };
        // An include guard tests a name that it defines in the next line: no build sets it.
        const guard = this.source.directives[index + 1];
        const guarded = guard?.kind === 'define' && parseDefine(guard.argument, '', 0)?.name === name;
        return { text: `!defined(${name})`, value: { holds: !value.holds, assumed: guarded ? [] : value.assumed } };
      }
      case 'else': return { text: null, value: { holds: true, assumed: [] } };
      default: return { text: argument, value: evaluateCondition(argument, this.#lookup) };
    }
  }

  #closeArm(open: OpenGroup, index: number): void {
    const last = open.arms[open.arms.length - 1];
    if (last && last.closer < 0) last.closer = index;
  }

  #close(index: number): void {
    const open = this.#stack.pop();
    if (!open) return;
    this.#closeArm(open, index);
    this.#groups.set(open.opener, { arms: open.arms, end: index, reached: open.reached === 'active' });
  }

  /** Of the text that is being read. */
  #certainty(): Certainty {
    const open = this.#stack[this.#stack.length - 1];
    if (!open) return 'active';
    const arm = open.arms[open.arms.length - 1];
    if (!arm || open.reached === 'inactive') return open.reached;
    if (arm.active) return open.reached;
    return arm.certain ? 'inactive' : 'assumed-inactive';
  }
}

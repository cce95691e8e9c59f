/**
 * What a file does not mean alike wherever it is included: macros and names that stand in front of the `#include` and are others in
 * another unit. A file is lowered once, so nothing may rest on what the first unit says: such names are found nowhere, such macros
 * stand for something unknown, and functions that name them are edited by nobody.
 */
import { tokensOf } from '../source/source-file.js';
import { TokenKind } from '../source/tokens.js';
import type { MacroDefinition, SourceFile, Span } from '../source/types.js';
import { mayLead } from './declared-names.js';
import { touchesTemplate } from './template-text.js';
import type { Type } from './tree.js';

/** One macro or name, and two includes for which it differs. */
export interface Doubt {
  readonly name: string;
  readonly sort: 'macro' | 'declaration';
  /** What differs, in one sentence. */
  readonly text: string;
  /** It differs within the file: `pop_macro` makes the macro something else. */
  readonly popped?: true;
}

export interface MacroDoubt extends Doubt {
  readonly sort: 'macro';
  /** What it is in the several units. */
  readonly readings: readonly MacroDefinition[];
  /** Some unit does not define it. */
  readonly open: boolean;
}

export interface NameDoubt extends Doubt {
  readonly sort: 'declaration';
  /** Paths of the namespaces whose member of this name is in doubt; `*` for any, `.` for members of class templates. */
  readonly paths: ReadonlySet<string>;
}

export interface FileDoubts {
  readonly macros: ReadonlyMap<string, MacroDoubt>;
  /** Names as this file means them. */
  readonly names: ReadonlyMap<string, NameDoubt>;
  /** Names that templates of the file find in other declarations, behind the include, for others of its includers; no paths but of those that are specialised. */
  readonly late: ReadonlyMap<string, NameDoubt>;
  /** Names that this file declares under a condition that differs: in doubt for whoever sees them. */
  readonly declared: ReadonlyMap<string, NameDoubt>;
}

/** The doubts of one file while it is lowered, and which names were really asked for. */
export class UnitDoubts {
  /** Text of a template is being lowered. */
  inTemplate = false;

  constructor(private readonly source: SourceFile, readonly file: FileDoubts, private readonly met = new Set<string>()) {}

  /** The same for another state of the file. */
  of(source: SourceFile): UnitDoubts {
    return source === this.source ? this : new UnitDoubts(source, this.file, this.met);
  }

  /** A name was looked up and is in doubt. */
  meet(name: string): void {
    this.met.add(name);
  }

  /** The doubt of a name wherever it is looked up. */
  named(name: string): NameDoubt | undefined {
    const found = this.file.names.get(name);
    if (found !== undefined || !this.inTemplate || this.file.late.size === 0) return found;
    const late = this.file.late.get(name);
    return late === undefined || late.paths.size === 0 ? undefined : late;
  }

  /** The types of the arguments of a call lead to other functions of this name in other units: asked for calls without a scope. */
  isCalledOtherwise(name: string, args: readonly { readonly type: Type }[]): boolean {
    if (!this.inTemplate || !this.file.late.has(name) || !args.some(({ type }) => mayLead(type))) return false;
    this.meet(name);
    return true;
  }

  /** Lowers a part of the file, which may be a template's. */
  during<T>(isTemplate: boolean, lower: () => T): T {
    const before = this.inTemplate;
    this.inTemplate = isTemplate;
    try {
      return lower();
    } finally {
      this.inTemplate = before;
    }
  }

  macro(name: string): MacroDoubt | null {
    return this.file.macros.get(name) ?? null;
  }

  /** The doubts that a part of the file rests on, in the order of the text; `inDirective` for those that decide which text a unit sees. */
  within({ start, end }: Span): readonly { readonly doubt: Doubt; readonly at: number; readonly inDirective: boolean }[] {
    const found = new Map<string, { readonly doubt: Doubt; readonly at: number; readonly inDirective: boolean }>();
    const late = (word: string, at: number): NameDoubt | undefined => {
      const doubt = this.file.late.get(word);
      return doubt === undefined || !touchesTemplate(this.source, { start: at, end: at + 1 }) ? undefined : doubt;
    };
    const note = (word: string, at: number, inDirective: boolean): void => {
      const doubt = this.file.macros.get(word) ?? (inDirective || !this.met.has(word) ? undefined : this.file.names.get(word) ?? this.file.declared.get(word) ?? late(word, at));
      if (doubt !== undefined && (inDirective || !found.has(word))) found.set(word, { doubt, at, inDirective });
    };
    const operators = [...this.met].some((name) => name.startsWith('operator'));
    const tokens = tokensOf(this.source);
    for (let i = tokens.at(start); i < tokens.count && tokens.start(i) < end; i++) {
      const kind = tokens.kind(i);
      if (kind === TokenKind.identifier) note(tokens.spelling(i), tokens.start(i), false);
      else if (operators && kind === TokenKind.punctuation) note(`operator${tokens.spelling(i)}`, tokens.start(i), false);
    }
    for (const directive of this.source.directives) {
      if (directive.start < start || directive.end > end || !ARMS.has(directive.kind)) continue;
      for (const word of directive.argument.match(/[A-Za-z_$][\w$]*/g) ?? []) note(word, directive.start, true);
    }
    return [...found.values()];
  }
}

const ARMS = new Set(['if', 'ifdef', 'ifndef', 'elif']);

/**
 * Constants with a name as symbols: text spells the name, and what is decided about it holds for all values that it may have.
 *
 * A name with one value has that value as its range. One that other builds or instantiations may give another value (named-constants.ts) ranges
 * over the counts up to `MOST` if it is one here, which `stated` says and the certificate prints; else over its type, and what then cannot be
 * decided is refused.
 */
import { maximum, minimum, promote, type IntegerType } from '../../../src/cuda/integers.js';
import type { FunctionFacts } from '../../../src/analysis/facts.js';
import { COMMAND_LINE } from '../../../src/source/macros.js';
import { walk } from '../../../src/analysis/children.js';
import { scopedEnumOf } from '../../../src/syntax/scope.js';
import type { Expr, MacroExpr, RefExpr } from '../../../src/syntax/tree.js';
import { enumValues } from '../../../src/syntax/types.js';
import type { Written } from '../names-resolve.js';
import { BINDING, bindingOf, grouped, type Binding } from '../operands.js';
import { isInText, macroStands, referenceText, sourceSpelling, type TextPlace } from '../references.js';
import { typeName } from './cpp.js';
import { openRange, provenanceOf, restsOnOpen, MOST, type Provenance } from './named-constants.js';
import { symbol, type Sym } from './polynomial.js';
import { exactly, integerType, type Reading } from './values.js';

export class ConstantSymbols {
  /** What the ranges of open names rest on, in words. */
  readonly stated = new Set<string>();

  /** `place`: where the text will stand. */
  constructor(private readonly facts: FunctionFacts, private readonly place: TextPlace, private readonly intern: (sym: Sym) => Sym) {}

  provenance(expr: Expr): Provenance {
    return provenanceOf(expr, this.facts.unit, this.facts.program);
  }

  /** `TILE`, a macro without parameters that stands for a number. `value` is its value here, if it has one. */
  macro(expr: MacroExpr, value: bigint | null): Reading | null {
    const type = integerType(expr.type);
    if (type === null || !(isInText(this.facts, expr) || macroStands(this.facts, expr, this.place))) return null;
    const isOpen = restsOnOpen(expr.definition, this.facts.unit, this.facts.program);
    const { file, line } = expr.definition;
    const where = file === COMMAND_LINE ? '-D' : `${file === this.facts.unit.source.realPath ? 'line ' : `${base(file)}:`}${line}`;
    // `#define N 4 + 1` is one value only in parentheses.
    const text = grouped(expr.name, expr, BINDING.unary);
    return this.made(`macro:${expr.name}${this.namedIn(expr)}`, text, [{ kind: 'macro', expr }], type, value, isOpen, `${where}; a build may define it otherwise`);
  }

  /** `TILE`, an enumerator or a variable that nobody changes. */
  constant(expr: RefExpr, value: bigint): Reading | null {
    const { decl } = expr;
    const scoped = decl?.kind === 'enumerator' ? scopedEnumOf(decl) : null;
    const values = scoped === null ? null : enumValues(scoped);
    const type = scoped === null ? integerType(expr.type) : values === null ? null : promote(values);
    if (type === null || decl === null) return null;
    const found = referenceText(this.facts, expr, this.place);
    // Text that cannot be written is refused by name; what initialises a constant elsewhere is not asked for.
    if (found === null && !isInText(this.facts, expr)) return null;
    const name = found ?? sourceSpelling(expr);
    const [text, binding] = scoped !== null ? [`(${typeName(type)})${name}`, BINDING.unary] as const : [name, BINDING.closed] as const;
    return this.made(`constant:${decl.file}:${decl.span.start}`, text, [{ kind: 'reference', ref: expr, text: name }], type, value, this.provenance(expr) === 'open', 'it rests on what a build may define otherwise', binding);
  }

  /** `template <int R>`: one value in all threads, whatever it is. */
  templateValue(expr: RefExpr, type: IntegerType): Reading | null {
    // The parameter of a class template has no name outside of it.
    if (!isInText(this.facts, expr)) return null;
    const { low, high } = this.facts.range(expr);
    const values = low === null || high === null || (low === minimum(type) && high === maximum(type)) ? [] : [low, high];
    const range = openRange(values);
    if (range !== null) this.state(expr.name, values, 'where it is instantiated, and other instantiations may say otherwise');
    const [least, most] = range === null ? [minimum(type), maximum(type)] : [range.low, range.high < maximum(type) ? range.high : maximum(type)];
    return exactly(symbol(this.intern({ key: `template:${expr.name}`, role: 'uniform', constant: true, text: expr.name, names: expr.decl === null ? [] : [{ kind: 'named', decl: expr.decl }], type, low: least, high: most, extent: null })), type);
  }

  /** Any expression of constants, as it stands in the source, with a range for all values of the names in it. */
  spelled(expr: Expr, text: string, value: bigint | null, range: { readonly low: bigint; readonly high: bigint } | null): Reading | null {
    const type = integerType(expr.type);
    if (type === null) return null;
    const isOpen = this.provenance(expr) === 'open';
    const key = `text:${text}${this.namedIn(expr)}`;
    if (!isOpen && value !== null) return this.made(key, text, [{ kind: 'copied', node: expr }], type, value, false, '', bindingOf(expr));
    const { low, high } = range ?? { low: minimum(type), high: maximum(type) };
    return exactly(symbol(this.intern({ key, role: 'uniform', constant: true, text, names: [{ kind: 'copied', node: expr }], binding: bindingOf(expr), type, low, high, extent: null })), type);
  }

  /** One text stands for several values where a name of it is declared twice. */
  namedIn(expr: Expr): string {
    const found = new Set<string>();
    walk(expr, (node) => {
      if (node.kind === 'ref' && node.decl !== null) found.add(`@${node.decl.file}:${node.decl.span.start}`);
    });
    return [...found].join('');
  }

  private made(key: string, text: string, names: readonly Written[], type: IntegerType, value: bigint | null, isOpen: boolean, why: string, binding: Binding = BINDING.closed): Reading {
    const range = isOpen ? openRange(value === null ? [] : [value]) : null;
    if (range !== null && value !== null) this.state(text, [value], why);
    const [low, high] = isOpen || value === null ? [range?.low ?? minimum(type), range?.high ?? maximum(type)] : [value, value];
    return exactly(symbol(this.intern({ key, role: 'uniform', constant: true, text, names, binding, type, low, high: high > maximum(type) ? maximum(type) : high, extent: null })), type);
  }

  private state(name: string, values: readonly bigint[], why: string): void {
    const [low, high] = [values[0] ?? 0n, values.at(-1) ?? 0n];
    this.stated.add(`${name} is from 1 to ${MOST} (${low === high ? low : `${low} to ${high}`} here, ${why})`);
  }
}

function base(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
}

/**
 * Constants that host text may call by their names: macros that mean the same number wherever the kernel is launched, and constants outside of
 * functions. A number in their place would stay behind when the constant is changed, or be another one in another build.
 *
 * The host passes of a compiler see other macros than the device's: what stands under a test of `__CUDA_ARCH__` is not called by its name.
 */
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { evaluate, single } from '../../src/analysis/integer-values.js';
import { walk } from '../../src/analysis/children.js';
import type { MacroDefinition, SourceFile } from '../../src/source/types.js';
import type { Expr, Launch, Unit, VariableDecl } from '../../src/syntax/tree.js';
import { sayableAt } from '../lib/launch-scope.js';
import { provenanceOf } from '../lib/guards/named-constants.js';
import type { PlanConstant } from '../lib/types.js';

/** The name of a constant with its value in this build; null if host text must not use it. */
export function spelledName(facts: FunctionFacts, expr: Expr): PlanConstant | null {
  let e = expr;
  while (e.kind === 'paren') e = e.inner;
  const value = e.kind === 'macro' ? single(evaluate(e.expanded, () => null)) : e.kind === 'ref' ? single(evaluate(e, () => null)) : null;
  if (value === null || e.type.kind !== 'int') return null;
  const launches = facts.program.launchesOf(facts.function);
  if (launches.length === 0) return null;
  // Files that are compiled by themselves may be given other values.
  if (provenanceOf(e, facts.unit, facts.program) === 'open' && launches.some((launch) => !sameUnit(facts, launch))) return null;
  const name = e.kind === 'macro' ? macroName(facts, e.definition, launches) : e.kind === 'ref' && e.decl?.kind === 'variable' ? constantName(facts, e.decl, launches) : null;
  return name === null ? null : { name, value: String(value) };
}

/** Constants outside of everything, as they are said at all launches. */
function constantName(facts: FunctionFacts, decl: VariableDecl, launches: readonly Launch[]): string | null {
  if ((decl.storage !== 'namespace' && decl.storage !== 'static') || decl.init === null || !(decl.constexpr || decl.type.const === true)) return null;
  return launches.every((launch) => launch.file === decl.file) ? sayableAt(facts.program, decl, launches) : null;
}

function macroName(facts: FunctionFacts, definition: MacroDefinition, launches: readonly Launch[]): string | null {
  return launches.every((launch) => macroThere(facts, definition, launch)) ? definition.name : null;
}

/** Names of constants that a value was made of. */
export function spelledIn(facts: FunctionFacts, expr: Expr): readonly PlanConstant[] {
  const found = new Map<string, PlanConstant>();
  walk(expr, (node) => {
    if (node.kind !== 'macro' && node.kind !== 'ref') return true;
    const constant = spelledName(facts, node);
    if (constant !== null) found.set(constant.name, constant);
    return constant === null;
  });
  return [...found.values()];
}

/** The kernel is compiled with the file that launches it. */
function sameUnit({ function: kernel, program }: FunctionFacts, launch: Launch): boolean {
  return launch.file === kernel.file || program.units.get(launch.file)?.includes.includes(kernel.file) === true;
}

function macroThere(facts: FunctionFacts, definition: MacroDefinition, launch: Launch): boolean {
  const unit = facts.program.units.get(launch.file);
  const known = unit?.macros.get(definition.name);
  if (unit === undefined || known === undefined || known.file !== definition.file || known.line !== definition.line) return false;
  if (definition.parameters !== null || !isPlainNumber(facts, unit, definition, 0)) return false;
  return definition.file !== launch.file || definition.line < unit.source.line(launch.span.start);
}

function isUndone(facts: FunctionFacts, name: string): boolean {
  return [...facts.program.units.values()].some((one) => one.source.directives.some((directive) => directive.kind === 'undef' && directive.argument.trim() === name));
}

/** One operand, or something in parentheses, that consists of numbers and of macros of this kind. */
function isPlainNumber(facts: FunctionFacts, unit: Unit, definition: MacroDefinition, depth: number): boolean {
  const { body, ambiguous, inactive } = definition;
  if (ambiguous || inactive === true || depth > 6 || isUndone(facts, definition.name) || !/^(?:\w+|\([^()]*\))$/.test(body)) return false;
  const source = facts.program.units.get(definition.file)?.source;
  if (source === undefined || underArchitecture(source, definition.line)) return false;
  return (body.match(/[A-Za-z_]\w*|\d\w*/g) ?? []).every((word) => {
    if (/^\d/.test(word)) return true;
    const inner = unit.macros.get(word);
    return inner !== undefined && inner.parameters === null && isPlainNumber(facts, unit, inner, depth + 1);
  });
}

/** A conditional that asks for the device's architecture stands around the line. */
function underArchitecture(source: SourceFile, at: number): boolean {
  const groups: boolean[] = [];
  for (const directive of source.directives) {
    if (source.line(directive.start) >= at) break;
    const asks = directive.argument.includes('__CUDA_ARCH__');
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') groups.push(asks);
    else if (directive.kind === 'elif') groups.push(groups.pop() === true || asks);
    else if (directive.kind === 'endif') groups.pop();
  }
  return groups.includes(true);
}

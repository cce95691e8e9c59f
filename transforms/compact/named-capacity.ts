/**
 * The number of threads of a block in the source's own words: `BLOCK_SIZE`, if every launch says so by that macro, constant or template argument, or if
 * the launch bound does. A number in its place would stay behind when the constant is raised, or is another one in another build.
 */
import { indexFunction } from '../../src/analysis/function-index.js';
import { evaluate, single } from '../../src/analysis/integer-values.js';
import type { Expr, FunctionDecl, Launch, Program, VariableDecl } from '../../src/syntax/tree.js';
import { includedBefore } from '../lib/launch-includes.js';
import { sayableAt } from '../lib/launch-scope.js';
import type { TransformContext } from '../lib/types.js';

export interface NamedCapacity {
  /** Stands between brackets, and as an operand of `+`. */
  readonly text: string;
  /** In this build. */
  readonly threads: number;
  readonly from: 'launches' | 'bound';
}

interface Side { readonly text: string; readonly threads: number }

const MAX_THREADS = 1024;

export function namedCapacity(context: TransformContext): NamedCapacity | null {
  const { function: kernel, program } = context.facts;
  return fromLaunches(context, kernel, program) ?? fromBound(context, kernel, program);
}

function fromLaunches(context: TransformContext, kernel: FunctionDecl, program: Program): NamedCapacity | null {
  const launches = program.launchesOf(kernel);
  if (launches.length === 0 || !program.allLaunchesVisible(kernel)) return null;
  const parameters = kernel.template?.filter((parameter) => parameter.sort === 'value' && !parameter.pack) ?? [];
  // What every launch passes for a template parameter, and takes as its block.
  const parameter = parameters.find(({ index }) => launches.every((launch) => isArgument(launch, index)));
  let found: Side | null = null;
  for (const launch of launches) {
    const here = parameter === undefined ? capacityOf(context, launch, program) : { text: parameter.name, threads: valueOf(onlySide(launch)) };
    if (here === null) return null;
    if (found !== null && (here.text !== found.text || (parameter === undefined && here.threads !== found.threads))) return null;
    found = found !== null && found.threads > here.threads ? found : here;
  }
  return found !== null && found.threads >= 1 && found.threads <= MAX_THREADS ? { ...found, from: 'launches' } : null;
}

/** `__launch_bounds__(BLOCK_SIZE)`, where launches say nothing smaller. */
function fromBound(context: TransformContext, kernel: FunctionDecl, program: Program): NamedCapacity | null {
  const bound = kernel.bounds.find((entry) => entry.name === 'launch_bounds')?.arguments[0];
  const side = bound === undefined ? null : namedSide(context, bound, program);
  const { block } = context.facts;
  if (side === null || (block.alternatives.length > 0 && block.maxThreads < side.threads) || block.value !== null) return null;
  return { ...side, from: 'bound' };
}

/** The launch passes for the template parameter what it takes as its only side of the block. */
function isArgument(launch: Launch, index: number): boolean {
  const given = launch.templateArguments?.[index];
  const side = onlySide(launch);
  return given?.kind === 'value' && side !== null && valueOf(side) > 0 && sameConstant(bare(given.value), bare(side));
}

function onlySide(launch: Launch): Expr | null {
  const sides = sidesOf(launch.block, launch) ?? [bare(launch.block)];
  return sides.length === 1 ? sides[0] ?? null : null;
}

/** The same name, or the same number. */
function sameConstant(a: Expr, b: Expr): boolean {
  if (a.kind === 'macro' || b.kind === 'macro') return a.kind === 'macro' && b.kind === 'macro' && a.definition === b.definition && a.definition.parameters === null;
  if (a.kind === 'ref' && b.kind === 'ref') return a.decl !== null && a.decl === b.decl && a.decl.kind === 'variable' && isConstant(a.decl);
  return a.kind === 'literal' && b.kind === 'literal' && typeof a.value === 'bigint' && a.value === b.value;
}

function valueOf(side: Expr | null): number {
  const value = side === null ? null : single(evaluate(side, () => null));
  return value === null || value > BigInt(MAX_THREADS) ? 0 : Number(value);
}

function capacityOf(context: TransformContext, launch: Launch, program: Program): Side | null {
  const sides = sidesOf(launch.block, launch);
  const named = sides?.map((side) => namedSide(context, side, program)) ?? [];
  let threads = 1;
  const words: string[] = [];
  for (const side of named) {
    if (side === null) return null;
    threads *= side.threads;
    words.push(side.text);
  }
  return words.length === 0 ? null : { text: words.join(' * '), threads };
}

function bare(written: Expr): Expr {
  let expr = written;
  while (expr.kind === 'paren') expr = expr.inner;
  return expr;
}

/** The sides of the block that are given; null if they are not written out. */
function sidesOf(written: Expr, launch: Launch): readonly Expr[] | null {
  const expr = bare(written);
  if (expr.kind === 'construct' && expr.type.kind === 'record' && expr.type.decl.name === 'dim3') {
    const only = expr.arguments[0];
    return expr.arguments.length === 1 && only !== undefined && only.kind === 'construct' ? null : expr.arguments;
  }
  if (expr.kind === 'macro') return [expr];
  if (expr.kind !== 'ref' || expr.decl === null || expr.decl.kind !== 'variable' || launch.function === null) return null;
  return isConstant(expr.decl) ? [expr] : variableSides(expr.decl, launch);
}

/** `dim3 block(BLOCK_SIZE);`, `int threads = BLOCK_SIZE;`, which nothing else writes. */
function variableSides(decl: VariableDecl, launch: Launch): readonly Expr[] | null {
  if (launch.function === null || decl.init === null) return null;
  const writes = indexFunction(launch.function).writes.get(decl) ?? [];
  if (writes.length !== 1 || writes[0]?.kind !== 'init') return null;
  const init = bare(decl.init);
  if (isName(init)) return [init];
  return init.kind === 'construct' && init.type.kind === 'record' && init.type.decl.name === 'dim3' && init.arguments.every((argument) => isName(bare(argument))) ? init.arguments : null;
}

function isName(expr: Expr): boolean {
  return expr.kind === 'macro' || (expr.kind === 'ref' && expr.decl?.kind === 'variable' && isConstant(expr.decl));
}

/** `constexpr int THREADS = 128;` outside of functions and classes. */
function isConstant(decl: VariableDecl): boolean {
  return (decl.storage === 'namespace' || decl.storage === 'static') && (decl.space === 'host' || decl.space === 'local') && decl.init !== null && decl.type.kind === 'int' && (decl.constexpr || decl.type.const === true);
}

/** A constant that is known at the kernel, defined once, and that one operand names. */
function namedSide(context: TransformContext, side: Expr, program: Program): Side | null {
  const expr = bare(side);
  if (expr.kind === 'macro') return macroSide(context, expr, program);
  const { function: kernel } = context.facts;
  if (expr.kind !== 'ref' || expr.decl?.kind !== 'variable' || !isConstant(expr.decl)) return null;
  const { decl } = expr;
  const threads = valueOf(expr);
  if (threads < 1 || !isVisible(context, decl.file, decl.span.end, program)) return null;
  // Where the kernel sees another thing of the name, it is said from the global scope.
  const text = sayableAt(program, decl, [{ file: kernel.file, span: kernel.body?.span ?? kernel.span, function: kernel }]);
  return text === null ? null : { text, threads };
}

/** What is defined up to `end` of the file is known at the kernel: it stands above it, or in a header that its file includes above it. */
function isVisible({ facts, unit }: TransformContext, file: string, end: number, program: Program): boolean {
  const { file: own, headSpan } = facts.function;
  return file === own ? end <= headSpan.start : includedBefore(program, unit, file, headSpan.start);
}

function macroSide(context: TransformContext, expr: Extract<Expr, { kind: 'macro' }>, program: Program): Side | null {
  const { definition, name } = expr;
  const { unit, facts: { function: kernel } } = context;
  const own = definition.file === kernel.file ? definition.line < unit.source.line(kernel.headSpan.start) : isVisible(context, definition.file, 0, program);
  const known = unit.macros.get(name);
  if (definition.parameters !== null || definition.ambiguous || definition.inactive === true || !own || known?.file !== definition.file || known.line !== definition.line || known.ambiguous) return null;
  if (!/^(?:\w+|\([^()]*\))$/.test(definition.body)) return null;
  const undone = [...program.units.values()].some((one) => one.source.directives.some((directive) => directive.kind === 'undef' && directive.argument.trim() === name));
  const value = undone || expr.expanded.type.kind !== 'int' ? null : single(evaluate(expr.expanded, () => null));
  return value === null || value < 1n || value > BigInt(MAX_THREADS) ? null : { text: name, threads: Number(value) };
}

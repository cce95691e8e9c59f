/**
 * The number of threads of a block in the source's own words: `BLOCK_SIZE`, if every launch says so by that macro. A literal in its place
 * would stay behind when the macro is raised, or is another one in another build.
 */
import { indexFunction } from '../../src/analysis/function-index.js';
import { evaluate, single } from '../../src/analysis/integer-values.js';
import type { Expr, Launch, Program, VariableDecl } from '../../src/syntax/tree.js';
import type { TransformContext } from '../lib/types.js';

export interface NamedCapacity {
  /** Stands between brackets, and as an operand of `+`. */
  readonly text: string;
  /** In this build. */
  readonly threads: number;
}

const MAX_THREADS = 1024;

export function namedCapacity(context: TransformContext): NamedCapacity | null {
  const { function: kernel, program } = context.facts;
  const launches = program.launchesOf(kernel);
  if (launches.length === 0 || !program.allLaunchesVisible(kernel)) return null;
  let found: NamedCapacity | null = null;
  for (const launch of launches) {
    const here = capacityOf(context, launch, program);
    if (here === null || (found !== null && here.text !== found.text)) return null;
    found = here;
  }
  return found !== null && found.threads <= MAX_THREADS ? found : null;
}

function capacityOf(context: TransformContext, launch: Launch, program: Program): NamedCapacity | null {
  const sides = sidesOf(launch.block, launch);
  const named = sides?.map((side) => macroSide(context, side, program)) ?? [];
  let threads = 1;
  const words: string[] = [];
  for (const side of named) {
    if (side === null) return null;
    threads *= side.threads;
    words.push(side.text);
  }
  return words.length === 0 ? null : { text: words.join(' * '), threads };
}

/** The sides of the block that are given; null if they are not written out. */
function sidesOf(written: Expr, launch: Launch): readonly Expr[] | null {
  let expr = written;
  while (expr.kind === 'paren') expr = expr.inner;
  if (expr.kind === 'construct' && expr.type.kind === 'record' && expr.type.decl.name === 'dim3') {
    const only = expr.arguments[0];
    return expr.arguments.length === 1 && only !== undefined && only.kind === 'construct' ? null : expr.arguments;
  }
  if (expr.kind === 'macro') return [expr];
  if (expr.kind !== 'ref' || expr.decl === null || expr.decl.kind !== 'variable' || launch.function === null) return null;
  return variableSides(expr.decl, launch);
}

/** `dim3 block(BLOCK_SIZE);`, `int threads = BLOCK_SIZE;`, which nothing else writes. */
function variableSides(decl: VariableDecl, launch: Launch): readonly Expr[] | null {
  if (launch.function === null || decl.init === null) return null;
  const writes = indexFunction(launch.function).writes.get(decl) ?? [];
  if (writes.length !== 1 || writes[0]?.kind !== 'init') return null;
  let init = decl.init;
  while (init.kind === 'paren') init = init.inner;
  if (init.kind === 'macro') return [init];
  return init.kind === 'construct' && init.type.kind === 'record' && init.type.decl.name === 'dim3' && init.arguments.every((argument) => argument.kind === 'macro') ? init.arguments : null;
}

/** A macro of the kernel's file, defined once and above it, whose text is one operand. */
function macroSide({ unit, facts }: TransformContext, side: Expr, program: Program): NamedCapacity | null {
  let expr = side;
  while (expr.kind === 'paren') expr = expr.inner;
  if (expr.kind !== 'macro') return null;
  const { definition, name } = expr;
  const { function: kernel } = facts;
  if (definition.parameters !== null || definition.ambiguous || definition.replaceable === true || definition.file !== kernel.file || definition.line >= unit.source.line(kernel.headSpan.start)) return null;
  if (!/^(?:\w+|\([^()]*\))$/.test(definition.body)) return null;
  const undone = [...program.units.values()].some((one) => one.source.directives.some((directive) => directive.kind === 'undef' && directive.argument.trim() === name));
  const value = undone || expr.expanded.type.kind !== 'int' ? null : single(evaluate(expr.expanded, () => null));
  return value === null || value < 1n || value > BigInt(MAX_THREADS) ? null : { text: name, threads: Number(value) };
}

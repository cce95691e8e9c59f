/**
 * Names of kernels that a transform makes: `k_up`, `k_not_up`. Several kernels of a program may be taken apart in one run, each without seeing
 * what the others are called then: `k` and `k_not` both come to `k_not_up`. So a name that a later kernel in the order of their lengths may come
 * to is left to that one, and the number goes where no condition puts one: `k_2_not_up`.
 */
import type { FunctionDecl, Program } from '../../src/syntax/tree.js';
import { fileTokens, spelledIn } from './launch-mentions.js';
import type { TransformContext } from './types.js';

/** A name that stands nowhere in the program, nor among those given at once, and that no other kernel of the program comes to. `base` begins with the kernel's name. */
export function freshKernelName({ facts: { program, function: kernel } }: TransformContext, base: string, given: readonly string[] = []): string {
  const others = kernelsOf(program).filter((other) => other !== kernel);
  const taken = (name: string): boolean => given.includes(name) || [...program.units.values()].some((unit) => unit.macros.has(name) || (unit.source.text.includes(name) && spelledIn(unit.source, { start: 0, end: unit.source.text.length }, name)));
  const left = others.filter((other) => comesAfter(program, other, kernel));
  if (!left.some((other) => mayMake(program, other, base))) {
    for (let n = 1; n < 100; n++) {
      const name = n === 1 ? base : `${base}${n}`;
      if (!taken(name) && !left.some((other) => mayMake(program, other, name))) return name;
    }
  }
  // Kernels of one name count on from each other's numbers.
  const namesakes = others.filter((other) => other.name === kernel.name);
  const rank = namesakes.filter((other) => comesAfter(program, kernel, other)).length;
  const rest = base.startsWith(`${kernel.name}_`) ? base.slice(kernel.name.length + 1) : base;
  for (let n = 2 + rank, tries = 0; tries < 20; n += namesakes.length + 1, tries++) {
    const name = `${kernel.name}_${n}_${rest}`;
    if (!taken(name) && !left.some((other) => other.name !== kernel.name && mayMake(program, other, name))) return name;
  }
  // Two tails of one chain share all their words: a number in the first word, another one for each kernel.
  const before = others.filter((other) => comesAfter(program, kernel, other)).length;
  for (let n = 2 + before; ; n += others.length + 1) {
    const name = base.replace(/^_*[A-Za-z0-9]*/, (word) => word + String(n));
    if (!taken(name) && !others.some((other) => mayMake(program, other, name))) return name;
  }
}

/** Definitions that a transform may take apart. */
function kernelsOf(program: Program): readonly FunctionDecl[] {
  return [...program.units.values()].flatMap((unit) => unit.kernels.filter((kernel) => kernel.body !== null && kernel.specialises === null));
}

/** An order in which each of two kernels gives way to the other in one direction only: by length, then by place. */
function comesAfter(program: Program, a: FunctionDecl, b: FunctionDecl): boolean {
  if (a.name.length !== b.name.length) return a.name.length > b.name.length;
  const all = kernelsOf(program);
  return all.indexOf(a) > all.indexOf(b);
}

function mayMake(program: Program, kernel: FunctionDecl, name: string): boolean {
  return name.startsWith(`${kernel.name}_`) || chainStems(program, kernel).some((stem) => name.startsWith(`${stem}_`));
}

/** `k_mode` of `k_mode_not_0`: a chain of tests of one value goes on from there. */
function chainStems(program: Program, kernel: FunctionDecl): readonly string[] {
  const cuts = [...kernel.name.matchAll(/_(?:not_|other)/g)].map((match) => kernel.name.slice(0, match.index));
  if (cuts.length === 0) return [];
  const words = new Set(['block', 'block_y', 'block_z', 'grid', 'grid_y', 'grid_z']);
  for (const unit of program.units.values()) {
    if (!unit.kernels.includes(kernel)) continue;
    const tokens = fileTokens(unit.source);
    for (let i = 0; i < tokens.count; i++) {
      if (tokens.start(i) >= kernel.span.start && tokens.end(i) <= kernel.span.end) words.add(tokens.spelling(i).replace(/^_+|_+$/g, ''));
    }
  }
  return cuts.filter((cut) => [...cut.matchAll(/_/g)].some(({ index }) => words.has(cut.slice(index + 1))));
}

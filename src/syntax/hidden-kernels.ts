/** Macros that hold kernels or launches in their bodies: what no tree of the file shows. */
import { expandMacro } from '../source/expand.js';
import { splitArguments } from '../source/condition.js';
import { TokenKind, tokenizeFragment, tokensOf } from '../source/index.js';
import type { MacroDefinition } from '../source/types.js';
import type { UnitState } from './context.js';
import type { HiddenKernel } from './tree.js';

/** Macros whose body starts a kernel, also through other macros. */
export function launchMacros(macros: ReadonlyMap<string, MacroDefinition>): string[] {
  return namesWhose(macros, ({ body }) => /<<\s*</.test(body) || body.includes('cudaLaunch'));
}

/** Macros of which this is true, and all that are made of them. */
export function namesWhose(macros: ReadonlyMap<string, MacroDefinition>, holds: (macro: MacroDefinition) => boolean): string[] {
  const names = new Set<string>();
  for (const macro of macros.values()) if (holds(macro)) names.add(macro.name);
  for (let grown = names.size > 0; grown;) {
    grown = false;
    for (const macro of macros.values()) {
      if (names.has(macro.name) || macro.body.length < 2) continue;
      const words = macro.body.match(/[A-Za-z_]\w*/g) ?? [];
      if (words.some((word) => names.has(word))) {
        names.add(macro.name);
        grown = true;
      }
    }
  }
  return [...names];
}

/** Kernels that invocations of macros at any place of the file stand for. */
export function findHiddenKernels(unit: UnitState): HiddenKernel[] {
  // A macro that is only a qualifier is the overlay's business; one with a parameter list after `__global__` makes a kernel.
  const makers = new Set(namesWhose(unit.macros, ({ body }) => /__global__[^;]*\(/.test(body)));
  if (makers.size === 0) return [];
  const found: HiddenKernel[] = [];
  const tokens = tokensOf(unit.source);
  const text = unit.source.text;
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) !== TokenKind.identifier) continue;
    const name = text.slice(tokens.start(i), tokens.end(i));
    const macro = makers.has(name) ? unit.macros.get(name) : undefined;
    if (macro === undefined) continue;
    let args: string[] | null = null;
    if (macro.parameters !== null) {
      if (!tokens.is(i + 1, '(')) continue;
      let depth = 0;
      let end = i + 1;
      for (; end < tokens.count; end++) {
        if (tokens.is(end, '(')) depth++;
        else if (tokens.is(end, ')') && --depth === 0) break;
      }
      args = splitArguments(text.slice(tokens.end(i + 1), tokens.start(Math.min(end, tokens.count - 1))));
    }
    const expanded = expandMacro(name, args, unit.macros);
    if (expanded === null) continue;
    const line = unit.source.line(tokens.start(i));
    for (const kernel of kernelsIn(expanded)) found.push({ name: kernel, line, macro: name });
  }
  return found;
}

/** The name before the parameter list of every `__global__` in a text. */
function kernelsIn(text: string): string[] {
  const tokens = tokenizeFragment(text);
  const names: string[] = [];
  let inKernel = false;
  for (let i = 0; i < tokens.count; i++) {
    const word = text.slice(tokens.start(i), tokens.end(i));
    // An explicit instantiation names a kernel that is written elsewhere.
    if (word === 'template' && !tokens.is(i + 1, '<')) while (i + 1 < tokens.count && !tokens.is(i, ';')) i++;
    else if (word === '__global__') inKernel = true;
    else if (inKernel && word === '(') {
      const before = text.slice(tokens.start(i - 1), tokens.end(i - 1));
      if (before === '__launch_bounds__') {
        let depth = 0;
        for (; i < tokens.count; i++) {
          if (tokens.is(i, '(')) depth++;
          else if (tokens.is(i, ')') && --depth === 0) break;
        }
        continue;
      }
      names.push(before);
      inKernel = false;
    }
  }
  return names;
}

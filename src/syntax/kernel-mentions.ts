/** Which bodies name a kernel: one that does may pass its address on; and which names are functions of the files, not of a library. */
import { streamOf } from '../source/index.js';
import type { MacroDefinition, Overlay, Span } from '../source/types.js';
import { operatorHandsOut } from './handing-operators.js';
import { namesWhose } from './hidden-kernels.js';
import type { FileNames } from './scope.js';
import type { FunctionDecl } from './tree.js';

const known = new WeakMap<FileNames, ReadonlyMap<string, readonly FunctionDecl[]>>();

/** The kernels that a file declares at namespace scope, by name; asked for when all its names are known. */
function kernelsOf(file: FileNames): ReadonlyMap<string, readonly FunctionDecl[]> {
  const made = known.get(file);
  if (made !== undefined) return made;
  const kernels = new Map<string, FunctionDecl[]>();
  for (const { functions } of file.spaces.values()) {
    for (const [name, decls] of functions) {
      const here = decls.filter((decl) => decl.qualifiers.global);
      if (here.length > 0) kernels.set(name, [...kernels.get(name) ?? [], ...here]);
    }
  }
  known.set(file, kernels);
  return kernels;
}

export interface Mentions {
  /** Words that name a kernel: its name, and macros that may stand for it. */
  readonly words: ReadonlySet<string>;
  /** Does one of these words stand in this part of the text? */
  kernel(overlay: Overlay, span: Span): boolean;
  /** All kernels that are visible. */
  kernels(): readonly FunctionDecl[];
  /** Is one of the names a kernel's, or one of the callees declared in the files, or is there an operator that hands out its operands? */
  any(names: ReadonlySet<string>, callees: ReadonlySet<string>): boolean;
}

/** What of the files that are visible is mentioned in one with these macros. */
export function mentionsIn(visible: readonly FileNames[], macros: ReadonlyMap<string, MacroDefinition>): Mentions {
  const names = new Set(visible.flatMap((file) => [...kernelsOf(file).keys()]));
  let words: ReadonlySet<string> | null = null;
  let handsOut: boolean | null = null;
  const wordsFor = (): ReadonlySet<string> => words ??= names.size === 0 ? names : new Set([...names, ...namesWhose(macros, (macro) => mayName(macro, names))]);
  return {
    get words() { return wordsFor(); },
    kernel: (overlay, { start, end }) => {
      const text = overlay.text.slice(start, end);
      const found = [...wordsFor()].filter((word) => text.includes(word));
      if (found.length === 0) return false;
      const tokens = streamOf(overlay)?.tokens;
      if (tokens === undefined) return true;
      for (let i = tokens.at(start); i < tokens.count && tokens.start(i) < end; i++) if (tokens.isIdentifier(i) && found.some((word) => tokens.is(i, word))) return true;
      return false;
    },
    kernels: () => visible.flatMap((file) => [...kernelsOf(file).values()].flat()),
    any: (mentioned, callees) => {
      handsOut ??= operatorHandsOut(visible);
      if (handsOut) return true;
      for (const name of names) if (mentioned.has(name)) return true;
      for (const callee of callees) if (visible.some((file) => file.methods.has(callee) || [...file.spaces.values()].some(({ functions, values }) => functions.has(callee) || values.has(callee)))) return true;
      return false;
    },
  };
}

/** May the macro stand for one of these names by its own text, in one of its definitions, or by names that it pastes? */
function mayName(macro: MacroDefinition, names: ReadonlySet<string>): boolean {
  if (macro.ambiguous || macro.varies !== undefined || macro.popped !== undefined || macro.undoneIn !== undefined) return true;
  const { body, parameters } = macro;
  for (const name of names) if (body.includes(name) && parameters?.includes(name) !== true && new RegExp(`\\b${name}\\b`).test(body)) return true;
  return body.includes('##') && /##(?!\s*__VA_ARGS__)/.test(body);
}

/** Which texts name a kernel: a body that does may pass its address on; and which names are functions of the files, not of a library. */
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
  /** Does the text name a kernel? */
  kernel(text: string): boolean;
  /** Kernels that these names stand for. */
  kernelsAmong(names: ReadonlySet<string>): readonly FunctionDecl[];
  /** Is one of the names a kernel's, or one of the callees declared as a function? */
  any(names: ReadonlySet<string>, callees: ReadonlySet<string>): boolean;
}

/** What of these files is mentioned elsewhere. */
export function mentionsIn(visible: readonly FileNames[]): Mentions {
  const names = new Set(visible.flatMap((file) => [...kernelsOf(file).keys()]));
  const kernelsAmong = (mentioned: ReadonlySet<string>): readonly FunctionDecl[] => {
    const found: FunctionDecl[] = [];
    for (const name of names) if (mentioned.has(name)) for (const file of visible) found.push(...kernelsOf(file).get(name) ?? []);
    return found;
  };
  return {
    kernel: (text) => {
      for (const name of names) if (text.includes(name) && new RegExp(`\\b${name}\\b`).test(text)) return true;
      return false;
    },
    kernelsAmong,
    any: (mentioned, callees) => {
      for (const name of names) if (mentioned.has(name)) return true;
      for (const callee of callees) if (visible.some((file) => [...file.spaces.values()].some(({ functions }) => functions.has(callee)))) return true;
      return false;
    },
  };
}

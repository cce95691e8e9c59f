/** Which texts name a kernel: a body that does may pass its address on. */
import type { FileNames } from './scope.js';

const kernelNames = new WeakMap<FileNames, readonly string[]>();

/** The kernels that a file declares at namespace scope; asked for when all its names are known. */
function kernelsOf(file: FileNames): readonly string[] {
  const known = kernelNames.get(file);
  if (known !== undefined) return known;
  const names = [...file.spaces.values()].flatMap((space) => [...space.functions].filter(([, decls]) => decls.some((decl) => decl.qualifiers.global)).map(([name]) => name));
  kernelNames.set(file, names);
  return names;
}

/** Whether a text names any kernel that these files declare. */
export function mentionOfKernels(visible: readonly FileNames[]): (text: string) => boolean {
  const names = new Set(visible.flatMap(kernelsOf));
  return (text) => {
    for (const name of names) if (text.includes(name) && new RegExp(`\\b${name}\\b`).test(text)) return true;
    return false;
  };
}

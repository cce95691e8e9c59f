/** Whether a launch of the first version may be a launch of the second: parameters are matched by position, as a launch gives them. */
import { typeKey, type SimType } from '../simulate/types.js';
import type { FunctionDecl, ParameterDecl, Type } from '../syntax/tree.js';

/** What stands against it, in words; null if nothing does. */
export function signatureChange(before: FunctionDecl, beforeTypes: readonly SimType[], after: FunctionDecl, afterTypes: readonly SimType[]): string | null {
  if (beforeTypes.length !== afterTypes.length) return `the kernel takes ${afterTypes.length} parameters in place of ${beforeTypes.length}, and no launch plan says what they get`;
  for (const [i, type] of beforeTypes.entries()) {
    const other = afterTypes[i];
    if (other === undefined || typeKey(type) === typeKey(other)) continue;
    const [a, b] = [before.parameters[i]?.name ?? '', after.parameters[i]?.name ?? ''];
    return `parameter ${i + 1}${a === b ? ` (${a})` : ` (${a}, then ${b})`} has another type, and no launch plan says what it gets`;
  }
  return null;
}

/** Said where the same names stand in another order: the launches have to follow. */
export function reordered(before: FunctionDecl, after: FunctionDecl): string | null {
  const a = before.parameters.map((p) => p.name);
  const b = after.parameters.map((p) => p.name);
  if (a.join() === b.join() || [...a].sort().join() !== [...b].sort().join()) return null;
  return `parameters are matched by position: ${a.join(', ')} became ${b.join(', ')}`;
}

/** Pairs of pointer parameters that may hold the same address: of one element type, not `__restrict__`, one of them written through. */
export function aliasPairs(kernel: FunctionDecl, types: readonly SimType[]): (readonly [string, string])[] {
  const pointers = kernel.parameters.flatMap((p, i) => {
    const type = types[i];
    return type?.k === 'pointer' && p.type.kind === 'pointer' && p.type.restrict !== true ? [{ parameter: p, to: typeKey(type.to) }] : [];
  });
  const out: (readonly [string, string])[] = [];
  for (const [i, a] of pointers.entries()) {
    for (const b of pointers.slice(i + 1)) if (a.to === b.to && (writes(a.parameter) || writes(b.parameter))) out.push([a.parameter.name, b.parameter.name]);
  }
  return out;
}

function writes(p: ParameterDecl): boolean {
  const to: Type | null = p.type.kind === 'pointer' ? p.type.to : null;
  return to !== null && to.const !== true;
}

/** Whether a launch of the first version may be a launch of the second: parameters are matched by position, as a launch gives them. */
import { typeKey, type RecordLayout, type SimType } from '../simulate/types.js';
import { unreachable, type FunctionDecl, type ParameterDecl, type Type } from '../syntax/tree.js';

/** What stands against it, in words; null if nothing does. */
export function signatureChange(before: FunctionDecl, beforeTypes: readonly SimType[], after: FunctionDecl, afterTypes: readonly SimType[]): string | null {
  if (beforeTypes.length !== afterTypes.length) return `the kernel takes ${afterTypes.length} parameters in place of ${beforeTypes.length}, and no launch plan says what they get`;
  for (const [i, type] of beforeTypes.entries()) {
    const other = afterTypes[i];
    if (other === undefined || isSameType(type, other)) continue;
    const [a, b] = [before.parameters[i]?.name ?? '', after.parameters[i]?.name ?? ''];
    return `parameter ${i + 1}${a === b ? ` (${a})` : ` (${a}, then ${b})`} has another type, and no launch plan says what it gets`;
  }
  return null;
}

/** One type in both texts. Records are told by name and layout: the key of one names where it stands, which an edit above it moves. */
function isSameType(a: SimType, b: SimType, open: ReadonlySet<RecordLayout> = new Set()): boolean {
  switch (a.k) {
    case 'pointer': return b.k === 'pointer' && isSameType(a.to, b.to, open);
    case 'reference': return b.k === 'reference' && isSameType(a.to, b.to, open);
    case 'array': return b.k === 'array' && a.length === b.length && isSameType(a.of, b.of, open);
    case 'record': {
      if (b.k !== 'record' || a.layout.name !== b.layout.name || a.layout.size !== b.layout.size || a.layout.fields.length !== b.layout.fields.length) return false;
      // A list whose nodes point to nodes: the fields are being compared already.
      if (open.has(a.layout)) return true;
      const inner = new Set([...open, a.layout]);
      return a.layout.fields.every((field, i) => {
        const other = b.layout.fields[i];
        return other !== undefined && field.name === other.name && field.offset === other.offset && isSameType(field.type, other.type, inner);
      });
    }
    case 'scalar': case 'void': case 'callable': case 'group': return typeKey(a) === typeKey(b);
    default: return unreachable(a);
  }
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

/** Whether a launch of the first version may be a launch of the second: parameters are matched by position, as a launch gives them. */
import { fieldLeaves } from '../simulate/inputs.js';
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

/** A pointer that a launch passes: a parameter, or a member of one (`v.p`). */
interface Passed { readonly name: string; readonly to: string; readonly written: Type; readonly member: boolean }

function pointersOf(parameter: ParameterDecl, type: SimType | undefined): Passed[] {
  if (type?.k === 'pointer') return [{ name: parameter.name, to: typeKey(type.to), written: parameter.type, member: false }];
  if (type?.k !== 'record') return [];
  return fieldLeaves(type, parameter.name).flatMap((leaf) => (leaf.type.k === 'pointer' ? [{ name: leaf.name, to: typeKey(leaf.type.to), written: leaf.written ?? parameter.type, member: true }] : []));
}

/**
 * Pairs of pointers that a launch may give the same address: of one element type, not `__restrict__`, one of them written through. Pairs of parameters
 * come first, then those with a member of a parameter, then those of two members.
 */
export function aliasPairs(kernel: FunctionDecl, types: readonly SimType[]): (readonly [string, string])[] {
  const pointers = kernel.parameters.flatMap((p, i) => pointersOf(p, types[i])).filter(({ written }) => written.kind !== 'pointer' || written.restrict !== true);
  const out: { readonly pair: readonly [string, string]; readonly members: number }[] = [];
  for (const [i, a] of pointers.entries()) {
    for (const b of pointers.slice(i + 1)) if (a.to === b.to && (writes(a.written) || writes(b.written))) out.push({ pair: [a.name, b.name], members: Number(a.member) + Number(b.member) });
  }
  return out.sort((a, b) => a.members - b.members).map(({ pair }) => pair);
}

/** May it be written through? What a template's own type hides counts. */
function writes(type: Type): boolean {
  return type.kind === 'pointer' ? type.to.const !== true : type.kind === 'dependent' || type.kind === 'unknown';
}

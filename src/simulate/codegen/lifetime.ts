/**
 * What C++ does unasked when an object ends or is copied. Destructors are not run here, and copies are bytes: a type that does more is refused where an
 * object of it is made, instead of being simulated wrongly. What the program leaves to the compiler, or writes as the compiler would, is harmless.
 */
import { strip, type FunctionDecl, type RecordDecl } from '../../syntax/tree.js';
import type { RecordType, SimType } from '../types.js';

/** The destructor that would run on a device when an object of the type ends, its own or a part's; null if none does anything. */
export function destructorOf(t: SimType): FunctionDecl | null {
  switch (t.k) {
    case 'array': return destructorOf(t.of);
    case 'record': {
      const own = destructorIn(t.layout.decl, 0);
      if (own !== null) return own;
      for (const field of t.layout.fields) {
        const part = destructorOf(field.type);
        if (part !== null) return part;
      }
      return null;
    }
    default: return null;
  }
}

function destructorIn(decl: RecordDecl, depth: number): FunctionDecl | null {
  const own = decl.methods.find((m) => m.name.startsWith('~') && (m.qualifiers.device || m.qualifiers.constexpr) && m.defaulted !== true && (m.body === null || m.body.body.length > 0));
  if (own !== undefined) return own;
  for (const base of decl.bases) {
    const inherited = base.kind === 'record' && base.decl !== decl && depth < 16 ? destructorIn(base.decl, depth + 1) : null;
    if (inherited !== null) return inherited;
  }
  return null;
}

/** The copy constructor that the program writes and that does anything else than copy each member; null if copying bytes is right. */
export function copyConstructorOf(t: RecordType): FunctionDecl | null {
  const { decl } = t.layout;
  const own = decl.methods.find((m) => {
    const [from, ...rest] = m.parameters;
    if (m.name !== decl.name || m.defaulted === true || from === undefined || from.type.kind !== 'reference' || rest.some((p) => p.default === null)) return false;
    return from.type.to.kind === 'record' && from.type.to.decl === decl;
  });
  return own === undefined || copiesMembers(own, decl) ? null : own;
}

function copiesMembers(copy: FunctionDecl, decl: RecordDecl): boolean {
  const [from] = copy.parameters;
  if (copy.body === null || from === undefined) return false;
  const copied = new Set<string>();
  const take = (name: string, value: Parameters<typeof strip>[0] | undefined): boolean => {
    const x = value === undefined ? null : strip(value);
    if (x?.kind !== 'member' || x.name !== name) return false;
    const object = strip(x.object);
    if (object.kind !== 'ref' || object.decl !== from) return false;
    copied.add(name);
    return true;
  };
  for (const i of copy.initialisers ?? []) if (i.arguments.length !== 1 || !take(i.name, i.arguments[0])) return false;
  for (const s of copy.body.body) {
    if (s.kind === 'empty') continue;
    const e = s.kind === 'expression' ? strip(s.expression) : null;
    if (e?.kind !== 'assign' || e.op !== null) return false;
    const target = strip(e.target);
    const name = target.kind === 'member' && strip(target.object).kind === 'this' ? target.name : target.kind === 'ref' ? target.name : null;
    if (name === null || !take(name, e.value)) return false;
  }
  return decl.bases.length === 0 && decl.fields.every((f) => f.storage === 'static' || copied.has(f.name));
}

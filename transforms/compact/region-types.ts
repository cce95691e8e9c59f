/** Types of values that travel: their spelling in the source, and their size in shared memory. */
import type { Variable } from '../../src/analysis/facts.js';
import { walk } from '../../src/analysis/children.js';
import { enumValues, printType } from '../../src/syntax/types.js';
import type { RecordDecl, Type } from '../../src/syntax/tree.js';
import { typeText } from '../lib/references.js';
import type { TransformContext } from '../lib/types.js';

/** Bytes of a value; null if not known or if it has constructors that shared memory would not run. */
export function sizeOf(type: Type): number | null {
  return layoutOf(type)?.size ?? null;
}

interface Layout { readonly size: number; readonly align: number }

function layoutOf(type: Type): Layout | null {
  switch (type.kind) {
    case 'bool': return { size: 1, align: 1 };
    case 'int': return { size: type.bits / 8, align: type.bits / 8 };
    case 'float': {
      const size = type.format === 'double' ? 8 : type.format === 'float' ? 4 : 2;
      return { size, align: size };
    }
    case 'pointer': return { size: 8, align: 8 };
    case 'enum': {
      const values = enumValues(type.decl);
      return values === null ? null : layoutOf(values);
    }
    case 'record': return type.templateArguments === undefined ? recordLayout(type.decl) : null;
    case 'array': {
      const length = type.length;
      const element = layoutOf(type.of);
      if (element === null || length === null || length.kind !== 'literal' || typeof length.value !== 'bigint') return null;
      return { size: element.size * Number(length.value), align: element.align };
    }
    case 'void': case 'reference': case 'function': case 'dependent': case 'unknown': return null;
    default: {
      const never: never = type;
      return never;
    }
  }
}

function recordLayout(decl: RecordDecl): Layout | null {
  if (decl.vector !== null) {
    // The one vector with a constructor that does something.
    if (decl.name === 'dim3') return null;
    const element = layoutOf(decl.vector.element);
    if (element === null) return null;
    const size = element.size * decl.vector.lanes;
    return { size, align: decl.vector.lanes === 3 ? element.size : Math.min(size, 16) };
  }
  // Methods are fine, but a constructor, a base or a member initialiser makes the type unfit for __shared__.
  if (!decl.complete || decl.template !== null || decl.bases.length > 0 || decl.sort === 'union' || decl.overlaid === true) return null;
  if (decl.methods.some((method) => method.name === decl.name || method.name === `~${decl.name}` || method.name.startsWith('operator='))) return null;
  let size = 0;
  let align = 1;
  for (const field of decl.fields) {
    if (field.storage !== 'member') continue;
    const layout = field.init !== null || field.type.const === true ? null : layoutOf(field.type);
    if (layout === null) return null;
    size = Math.ceil(size / layout.align) * layout.align + layout.size;
    align = Math.max(align, layout.align);
  }
  return size === 0 || decl.alignment !== null ? null : { size: Math.ceil(size / align) * align, align };
}

/** The type as the source spells it, without `const` of the variable itself; null if no declaration of one variable could use it. */
export function spelledType(context: TransformContext, decl: Variable): string | null {
  if (sizeOf(decl.type) === null) return null;
  const { text } = context.unit.source;
  if (decl.file !== context.unit.source.realPath) return null;
  let start: number | null = decl.kind === 'parameter' ? decl.span.start : null;
  let base: number | null = null;
  if (decl.kind === 'variable' && context.facts.function.body !== null) {
    walk(context.facts.function.body, (node) => {
      if (node.kind === 'declare' && node.variables.includes(decl)) {
        start = node.span.start;
        base = node.variables[0]?.span.start ?? null;
      }
      return start === null;
    });
  }
  if (start === null) return null;
  const specifiers = base === null ? text.slice(start, decl.nameSpan.start) : `${text.slice(start, base)} ${text.slice(decl.span.start, decl.nameSpan.start)}`;
  if (!/^[\w\s:*<>,]*$/.test(specifiers)) return plainName(context, decl.type);
  const words: readonly string[] = specifiers.match(/\w+(?:\s*::\s*\w+)*(?:\s*<[^<>]*>)?|\*/g) ?? [];
  const stars = words.filter((word) => word === '*').length;
  if (words.includes('auto') || stars !== depthOf(decl.type)) return plainName(context, decl.type);
  const firstStar = words.indexOf('*');
  const kept = words.filter((word, i) => {
    if (word === '__restrict__' || word === '__restrict' || word === 'register') return false;
    // Of `const T *const p` the second one belongs to the variable; of `const T x` the only one does.
    return word !== 'const' || (firstStar >= 0 && i < firstStar);
  });
  if (kept.includes('static') || kept.includes('constexpr') || kept.includes('volatile')) return null;
  const plain = kept.filter((word) => word !== '*').join(' ');
  return plain === '' ? null : plain + (stars > 0 ? ` ${'*'.repeat(stars)}` : '');
}

function depthOf(type: Type): number {
  return type.kind === 'pointer' ? 1 + depthOf(type.to) : 0;
}

/** A type by its own name, where the source does not spell it. */
function plainName(context: TransformContext, type: Type): string | null {
  if (type.kind === 'pointer') {
    const inner = type.to.kind === 'pointer' ? plainName(context, type.to) : sizeOf(type.to) === null ? null : typeName(context, type.to);
    return inner === null ? null : `${inner}${inner.endsWith('*') ? '*' : ' *'}`;
  }
  if (type.kind === 'bool' || type.kind === 'int' || type.kind === 'float' || type.kind === 'record' || type.kind === 'enum') {
    const text = typeName(context, type)?.replace(/^(?:const |volatile )+/, '') ?? '';
    return /^[\w: ]+$/.test(text) ? text : null;
  }
  return null;
}

/** A class or an enum with what stands before its name, where its name alone means nothing, or something else. */
function typeName({ facts }: TransformContext, type: Type): string | null {
  if (type.kind !== 'record' && type.kind !== 'enum') return printType(type);
  const name = type.kind === 'record' && type.templateArguments !== undefined ? null : typeText(facts, type.decl);
  return name === null ? null : `${type.const === true ? 'const ' : ''}${type.volatile === true ? 'volatile ' : ''}${name}`;
}

/** The same for a copy of a variable that keeps its `const`: overloads, methods and `decltype` ask for it. */
export function declaredLike(decl: Variable, type: string): string {
  if (decl.type.const !== true) return declaredAs(type, decl.name);
  return type.endsWith('*') ? `${type}const ${decl.name}` : `const ${type} ${decl.name}`;
}

/** `float v`, `const float *p`: the declaration of a variable of a spelled type. */
export function declaredAs(type: string, name: string): string {
  return type.endsWith('*') ? `${type}${name}` : `${type} ${name}`;
}

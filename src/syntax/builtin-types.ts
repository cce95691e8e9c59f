/** Result types of CUDA built-ins from the types of their arguments, by the rules of the table in `src/cuda/`. */
import { builtin, type ResultRule, type ValueType } from '../cuda/builtins.js';
import type { TemplateArgument, Type } from './tree.js';
import {
  BFLOAT16, BOOL, CHAR, DOUBLE, FLOAT, HALF, INT, LONG, SHORT, UCHAR, UINT, ULONG, UNKNOWN, USHORT, VOID, arithmeticType, decay, dependentType,
  pointerTo, promote, sameType, stripReference, unqualified,
} from './types.js';
import { vectorType } from './vector-types.js';

function valueType(type: ValueType): Type {
  if (typeof type === 'object') return vectorType(type.vector) ?? UNKNOWN;
  switch (type) {
    case 'void': return VOID;
    case 'bool': return BOOL;
    case 'i8': return CHAR;
    case 'u8': return UCHAR;
    case 'i16': return SHORT;
    case 'u16': return USHORT;
    case 'i32': return INT;
    case 'u32': return UINT;
    // The table does not tell `long` from `long long`.
    case 'i64': return { ...LONG, named: 'uncertain' };
    case 'u64': return { ...ULONG, named: 'uncertain' };
    case 'half': return HALF;
    case 'bfloat16': return BFLOAT16;
    case 'float': return FLOAT;
    case 'double': return DOUBLE;
    case 'string': return pointerTo(CHAR);
    case 'pointer': return pointerTo(VOID);
    case 'any': return UNKNOWN;
  }
}

/** `float` if every argument is `float` or narrower, else `double`: how the overloads of <cmath> resolve. */
function floating(args: readonly Type[]): Type {
  let result: Type = FLOAT;
  for (const arg of args) {
    const type = unqualified(stripReference(arg));
    if (type.kind === 'dependent') return dependentType(null, '');
    if (type.kind === 'unknown' || type.kind === 'record') return UNKNOWN;
    if (type.kind === 'float') {
      if (type.format === 'double') result = DOUBLE;
      else if (type.format !== 'float') return type;
    } else {
      result = DOUBLE;
    }
  }
  return result;
}

function byRule(rule: ResultRule, args: readonly Type[], templateArguments: readonly TemplateArgument[] | null): Type {
  switch (rule.kind) {
    case 'fixed': return valueType(rule.type);
    // Overloads for int and wider: what is narrower is promoted to the one for int.
    case 'argument': return promote(decay(args[rule.index] ?? UNKNOWN));
    case 'pointee': {
      const pointer = decay(args[rule.index] ?? UNKNOWN);
      if (pointer.kind === 'dependent') return dependentType(null, '');
      return pointer.kind === 'pointer' ? unqualified(pointer.to) : UNKNOWN;
    }
    case 'arithmetic': {
      const first = args[0];
      return first === undefined ? UNKNOWN : args.slice(1).reduce(arithmeticType, promote(first));
    }
    case 'floating': return floating(args);
    case 'template': {
      const first = templateArguments?.[0];
      return first?.kind === 'type' ? first.type : UNKNOWN;
    }
  }
}

/** `std::`, `cuda::std::`: not one of CUDA's overloads. */
export function isStandard(name: string): boolean {
  return name.includes('std::');
}

/** The type of a call to a built-in; unknown if it is none or the arguments do not tell. */
export function builtinResult(name: string, args: readonly Type[], templateArguments: readonly TemplateArgument[] | null): Type {
  const entry = builtin(name);
  if (entry === undefined) return UNKNOWN;
  // `std::min` is a template of one type, which it gives back as it is.
  const [first, second] = args;
  const [explicit] = templateArguments ?? [];
  if (entry.result.kind === 'arithmetic' && explicit !== undefined) return explicit.kind === 'type' ? unqualified(stripReference(explicit.type)) : UNKNOWN;
  if (entry.result.kind === 'arithmetic' && isStandard(name) && first !== undefined && second !== undefined && sameType(decay(first), decay(second))) return decay(first);
  return byRule(entry.result, args, templateArguments);
}

/**
 * Declarations of CUDA's vector types (`int4`, `float2`, …), `dim3`, `half2` and `__nv_bfloat162`, as <vector_types.h> and
 * <cuda_fp16.h> have them. One record object per name for the whole process, so they compare by identity.
 */
import type { FloatType, IntType, RecordDecl, Type, VariableDecl } from './tree.js';
import { BFLOAT16, DOUBLE, FLOAT, HALF, INT, LONG, LONGLONG, SCHAR, SHORT, UCHAR, UINT, ULONG, ULONGLONG, USHORT, recordType } from './types.js';

const NOWHERE = { start: 0, end: 0 };
/** The file that built-in declarations claim to come from. */
export const BUILTIN_FILE = '<cuda>';

type Lanes = 1 | 2 | 3 | 4;

function vector(name: string, element: IntType | FloatType, lanes: Lanes): RecordDecl {
  const fields = ['x', 'y', 'z', 'w'].slice(0, lanes).map((field): VariableDecl => ({
    kind: 'variable', name: field, span: NOWHERE, nameSpan: NOWHERE, file: BUILTIN_FILE, type: element, space: 'local', storage: 'member',
    constexpr: false, dynamicShared: false, init: null, initStyle: 'none', opaqueInit: false,
  }));
  return {
    kind: 'record', sort: 'struct', name, span: NOWHERE, nameSpan: NOWHERE, file: BUILTIN_FILE, fields, methods: [], bases: [], template: null,
    complete: true, alignment: null, vector: { element, lanes },
  };
}

const RECORDS = new Map<string, RecordDecl>();
const ELEMENTS: readonly (readonly [string, IntType | FloatType])[] = [
  ['char', SCHAR], ['uchar', UCHAR], ['short', SHORT], ['ushort', USHORT], ['int', INT], ['uint', UINT], ['long', LONG], ['ulong', ULONG],
  ['longlong', LONGLONG], ['ulonglong', ULONGLONG], ['float', FLOAT], ['double', DOUBLE],
];
for (const [stem, element] of ELEMENTS) {
  for (const lanes of [1, 2, 3, 4] as const) RECORDS.set(`${stem}${lanes}`, vector(`${stem}${lanes}`, element, lanes));
}
RECORDS.set('dim3', vector('dim3', UINT, 3));
const half2 = vector('__half2', HALF, 2);
const bfloat162 = vector('__nv_bfloat162', BFLOAT16, 2);
for (const name of ['half2', '__half2']) RECORDS.set(name, half2);
for (const name of ['nv_bfloat162', '__nv_bfloat162']) RECORDS.set(name, bfloat162);

/** The record of a vector type's name, or null. */
export function vectorRecord(name: string): RecordDecl | null {
  return RECORDS.get(name) ?? null;
}

/** The type a vector type's name stands for, or null. */
export function vectorType(name: string): Type | null {
  const decl = RECORDS.get(name);
  return decl === undefined ? null : recordType(decl);
}

/** The type of `threadIdx` and `blockIdx`. */
export const UINT3: Type = recordType(RECORDS.get('uint3') ?? vector('uint3', UINT, 3));
/** The type of `blockDim` and `gridDim`. */
export const DIM3: Type = recordType(RECORDS.get('dim3') ?? vector('dim3', UINT, 3));

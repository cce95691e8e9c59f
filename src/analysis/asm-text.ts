/**
 * The little that is read of inline PTX: whether an instruction takes more than one lane, or orders memory. Opcodes are compared as the
 * first dotted part of each instruction, after labels and predicates. Everything else in `asm` stays opaque.
 */

export interface AsmMeaning {
  readonly collective: boolean;
  readonly barrier: boolean;
  /** Only arithmetic on its operands and reads of special registers: no memory, no control flow. */
  readonly pure: boolean;
}

const COLLECTIVE: ReadonlySet<string> = new Set(['shfl', 'vote', 'match', 'redux', 'activemask', 'elect', 'mma', 'wmma', 'ldmatrix', 'stmatrix', 'wgmma', 'movmatrix']);
const BARRIER: ReadonlySet<string> = new Set(['bar', 'barrier']);
const ARITHMETIC: ReadonlySet<string> = new Set([
  'mov', 'add', 'sub', 'mul', 'mad', 'mad24', 'mul24', 'fma', 'div', 'rem', 'abs', 'neg', 'min', 'max', 'and', 'or', 'xor', 'not', 'cnot', 'shl', 'shr', 'shf', 'lop3', 'prmt',
  'bfe', 'bfi', 'bfind', 'brev', 'clz', 'popc', 'fns', 'sad', 'addc', 'subc', 'madc', 'cvt', 'cvta', 'setp', 'set', 'selp', 'slct', 'rcp', 'rsqrt', 'sqrt', 'sin', 'cos', 'lg2', 'ex2', 'tanh',
  'copysign', 'dp4a', 'dp2a', 'vadd', 'vsub', 'vmin', 'vmax', 'vset', 'testp', 'isspacep', 'szext', 'bmsk',
]);

/** Opcodes of the instructions of a text: `{`, `}`, declarations (`.reg`), labels and predicates skipped. */
function opcodes(text: string): string[] {
  const found: string[] = [];
  for (const statement of text.replaceAll('{', ';').replaceAll('}', ';').replaceAll('\n', ' ').split(';')) {
    let words = statement.trim().split(' ').filter((word) => word !== '');
    while (words[0] !== undefined && (words[0].endsWith(':') || words[0].startsWith('@'))) words = words.slice(1);
    const first = words[0]?.trim();
    if (first === undefined || first.startsWith('.') || first.startsWith('//')) continue;
    found.push(first);
  }
  return found;
}

export function asmMeaning(text: string): AsmMeaning {
  let collective = false;
  let barrier = false;
  let pure = true;
  for (const opcode of opcodes(text.replaceAll('\\n', ' ').replaceAll('\\t', ' '))) {
    const stem = opcode.split('.')[0] ?? '';
    if (COLLECTIVE.has(stem)) collective = true;
    if (BARRIER.has(stem)) barrier = true;
    if (!ARITHMETIC.has(stem)) pure = false;
  }
  return { collective: collective || barrier, barrier, pure };
}

/**
 * The little that is read of inline PTX: the instructions of a template, with predicates and operands, and what of them takes more than one lane or orders memory.
 *
 *   {  .reg .pred p;  setp.ne.u32 p, %1, 0;  @p bar.sync 0;  }       declarations and labels skipped, `@p` kept with its instruction
 *
 * Templates are taken apart into tokens: comments, names with dots, numbers, `%1` (an operand of the statement), `%%laneid` (a register of the machine). What cannot be read is an
 * operand of kind `other`. Everything else in `asm` stays opaque. Source: PTX ISA, "Syntax", "Instruction Operands", "Parallel Synchronization and Communication Instructions".
 */

export type PtxOperand =
  /** `%1`: an operand of the `asm` statement, outputs counted first. */
  | { readonly kind: 'operand'; readonly index: number }
  | { readonly kind: 'number'; readonly value: bigint }
  /** A register of the template (`p`) or of the machine (`%laneid`). */
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'other' };

export interface PtxInstruction {
  /** With its dots: `shfl.sync.bfly.b32`. */
  readonly opcode: string;
  /** The register in front, if it runs under one. */
  readonly predicate: PtxOperand | null;
  /** `%0|p` is two operands. */
  readonly operands: readonly PtxOperand[];
}

export interface AsmMeaning {
  readonly collective: boolean;
  readonly barrier: boolean;
  /** Only arithmetic on its operands and reads of special registers: no memory, no control flow. */
  readonly pure: boolean;
  readonly instructions: readonly PtxInstruction[];
}

const COLLECTIVE: ReadonlySet<string> = new Set(['shfl', 'vote', 'match', 'redux', 'activemask', 'elect', 'mma', 'wmma', 'ldmatrix', 'stmatrix', 'wgmma', 'movmatrix']);
const BARRIER: ReadonlySet<string> = new Set(['bar', 'barrier']);
const ARITHMETIC: ReadonlySet<string> = new Set([
  'mov', 'add', 'sub', 'mul', 'mad', 'mad24', 'mul24', 'fma', 'div', 'rem', 'abs', 'neg', 'min', 'max', 'and', 'or', 'xor', 'not', 'cnot', 'shl', 'shr', 'shf', 'lop3', 'prmt',
  'bfe', 'bfi', 'bfind', 'brev', 'clz', 'popc', 'fns', 'sad', 'addc', 'subc', 'madc', 'cvt', 'cvta', 'setp', 'set', 'selp', 'slct', 'rcp', 'rsqrt', 'sqrt', 'sin', 'cos', 'lg2', 'ex2', 'tanh',
  'copysign', 'dp4a', 'dp2a', 'vadd', 'vsub', 'vmin', 'vmax', 'vset', 'testp', 'isspacep', 'szext', 'bmsk',
]);

const meanings = new Map<string, AsmMeaning>();

/** What a template means; templates recur, and each is read once. */
export function asmMeaning(text: string): AsmMeaning {
  const known = meanings.get(text);
  if (known !== undefined) return known;
  const instructions = instructionsOf(tokensOf(text));
  let collective = false;
  let barrier = false;
  let pure = true;
  for (const { opcode } of instructions) {
    const stem = stemOf(opcode);
    if (COLLECTIVE.has(stem)) collective = true;
    if (BARRIER.has(stem)) barrier = true;
    if (!ARITHMETIC.has(stem)) pure = false;
  }
  const made: AsmMeaning = { collective: collective || barrier, barrier, pure, instructions };
  meanings.set(text, made);
  return made;
}

function stemOf(opcode: string): string {
  return opcode.split('.')[0] ?? '';
}

// --------------------------------------------------------------------------------------------------------- collectives

export type AsmCollective =
  /** Waits until `threads` have come; all of the block for null. `which` is the number of the barrier. */
  | { readonly kind: 'block'; readonly which: PtxOperand; readonly threads: PtxOperand | null }
  /** The lanes that `mask` names; all of the warp for null. */
  | { readonly kind: 'warp'; readonly mask: PtxOperand | null };

/** Instructions whose last operand names the lanes. */
const MASKED: ReadonlySet<string> = new Set(['shfl', 'vote', 'match', 'redux', 'elect']);
/** Instructions of a whole warp. */
const WHOLE: ReadonlySet<string> = new Set(['mma', 'wmma', 'ldmatrix', 'stmatrix', 'wgmma', 'movmatrix']);

/** Whom an instruction needs; null if nobody else, or if it does not wait (`bar.arrive`) or is not known. */
export function asmCollective({ opcode, operands }: PtxInstruction): AsmCollective | null {
  const [stem = '', ...rest] = opcode.split('.');
  const last = operands[operands.length - 1];
  if (BARRIER.has(stem)) {
    if (rest.includes('warp')) return last === undefined ? null : { kind: 'warp', mask: last };
    if (rest.includes('cluster')) return null;
    const first = operands[0];
    if (rest.includes('sync')) return first === undefined ? null : { kind: 'block', which: first, threads: operands[1] ?? null };
    // bar.red.popc.u32 d, a, b, p: the number of threads may be left out.
    const which = operands[1];
    return rest.includes('red') && which !== undefined ? { kind: 'block', which, threads: operands.length > 3 ? operands[2] ?? null : null } : null;
  }
  if (!rest.includes('sync')) return null;
  if (WHOLE.has(stem)) return { kind: 'warp', mask: null };
  return MASKED.has(stem) && last !== undefined ? { kind: 'warp', mask: last } : null;
}

/** Registers of the machine that a template names, wherever they stand in it: `%laneid`, `%ctaid.x`. */
export function machineRegisters(text: string): readonly string[] {
  const found = new Set<string>();
  for (const token of tokensOf(text)) {
    const operand = token.kind === 'word' && token.text.startsWith('%') ? operandOf(token) : OTHER;
    if (operand.kind === 'name') found.add(operand.text);
  }
  return [...found];
}

// --------------------------------------------------------------------------------------------------------------- tokens

type Token = { readonly kind: 'word' | 'mark'; readonly text: string };

const isWordPart = (c: string): boolean => (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c === '_' || c === '$' || c === '.';

/** Words (names, numbers, `%1`, dotted opcodes) and marks; comments and white space skipped. Escapes that were left in the text are white space. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const c = text.charAt(i);
    const next = text.charAt(i + 1);
    if (c === '/' && next === '/') { while (i < text.length && text.charAt(i) !== '\n' && !(text.charAt(i) === '\\' && text.charAt(i + 1) === 'n')) i++; continue; }
    if (c === '/' && next === '*') { const end = text.indexOf('*/', i + 2); i = end < 0 ? text.length : end + 2; continue; }
    if (c === '\\') { i += 2; continue; }
    if (isWordPart(c) || c === '%') {
      let word = '';
      // `%%laneid` is the register `%laneid`; `%[name]` is an operand by name.
      if (c === '%') { word = '%'; i += next === '%' ? 2 : 1; if (next === '%') word = '%%'; }
      if (word === '%' && text.charAt(i) === '[') { const end = text.indexOf(']', i); word += text.slice(i, end < 0 ? text.length : end + 1); i += word.length - 1; }
      while (i < text.length && isWordPart(text.charAt(i))) word += text.charAt(i++);
      tokens.push({ kind: 'word', text: word });
      continue;
    }
    if (c.trim() !== '') tokens.push({ kind: 'mark', text: c });
    i++;
  }
  return tokens;
}

function instructionsOf(tokens: readonly Token[]): readonly PtxInstruction[] {
  const found: PtxInstruction[] = [];
  let i = 0;
  const mark = (text: string): boolean => tokens[i]?.kind === 'mark' && tokens[i]?.text === text;
  while (i < tokens.length) {
    if (mark('{') || mark('}') || mark(';')) { i++; continue; }
    let predicate: PtxOperand | null = null;
    if (mark('@')) {
      i++;
      if (mark('!')) i++;
      predicate = operandOf(tokens[i]);
      i++;
    }
    const head = tokens[i];
    if (head === undefined) break;
    if (tokens[i + 1]?.text === ':') { i += 2; continue; }
    i++;
    const operands: PtxOperand[] = [];
    let depth = 0;
    let parts: Token[] = [];
    const close = (): void => {
      if (parts.length === 0) return;
      // `!p` is told by the same register, `-1` is a number.
      const sign = parts[0]?.kind === 'mark' ? parts[0].text : '';
      const operand = parts.length === (sign === '' ? 1 : 2) ? operandOf(parts[parts.length - 1]) : OTHER;
      operands.push(sign === '-' ? (operand.kind === 'number' ? { kind: 'number', value: -operand.value } : OTHER) : sign === '' || sign === '!' ? operand : OTHER);
      parts = [];
    };
    for (; i < tokens.length && !(mark(';') || (depth === 0 && mark('}'))); i++) {
      const token = tokens[i];
      if (token === undefined) break;
      if (token.text === '[' || token.text === '{' || token.text === '(') depth++;
      if (token.text === ']' || token.text === '}' || token.text === ')') depth--;
      if (depth === 0 && token.kind === 'mark' && (token.text === ',' || token.text === '|')) close();
      else parts.push(token);
    }
    close();
    if (head.kind === 'word' && !head.text.startsWith('.')) found.push({ opcode: head.text, predicate, operands });
  }
  return found;
}

const OTHER: PtxOperand = { kind: 'other' };

function operandOf(token: Token | undefined): PtxOperand {
  if (token === undefined || token.kind === 'mark') return OTHER;
  const { text } = token;
  const first = text.charAt(text.startsWith('%') ? 1 : 0);
  const digits = first >= '0' && first <= '9';
  if (!digits) return text.startsWith('%[') ? OTHER : { kind: 'name', text: text.startsWith('%%') ? text.slice(1) : text };
  if (text.startsWith('%')) return { kind: 'operand', index: Number.parseInt(text.slice(1), 10) };
  const plain = text.endsWith('U') || text.endsWith('u') ? text.slice(0, -1) : text;
  try { return { kind: 'number', value: BigInt(plain) }; } catch { return OTHER; }
}

/**
 * Uniformity of arithmetic on thread coordinates, lane by lane: random conditions of narrowing and widening conversions, negative offsets, quotients,
 * remainders, masks and shifts are analysed as CUDA and evaluated, by arithmetic of this file's own, for every thread of several blocks, shapes and
 * arguments. No verdict may be contradicted. `CONDITIONS=20000 FIRST=1` goes on where the bounded run ends.
 */
import { beforeAll, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import type { Scope } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

beforeAll(async () => { await initParser(); });

// ------------------------------------------------------------------------------------------------------ C++ integers, once more

interface CType { readonly name: string; readonly bits: number; readonly signed: boolean }

const INT: CType = { name: 'int', bits: 32, signed: true };
const UNSIGNED: CType = { name: 'unsigned', bits: 32, signed: false };
const LONG: CType = { name: 'long long', bits: 64, signed: true };
const TYPES: readonly CType[] = [
  INT, UNSIGNED, LONG, { name: 'signed char', bits: 8, signed: true }, { name: 'unsigned char', bits: 8, signed: false }, { name: 'short', bits: 16, signed: true },
  { name: 'unsigned short', bits: 16, signed: false }, { name: 'unsigned long long', bits: 64, signed: false }, { name: 'signed char', bits: 8, signed: true },
];

interface Thread { readonly x: number; readonly y: number; readonly z: number; readonly block: number; readonly n: bigint; readonly u: bigint; readonly shape: Shape }
interface Shape { readonly text: string; readonly x: number; readonly y: number; readonly z: number }

/** What C++ leaves undefined: such a run says nothing. */
class Undefined extends Error {}
const UNDEFINED = new Undefined('undefined');

interface Node { readonly text: string; readonly type: CType; readonly at: (thread: Thread) => bigint }

function fit(value: bigint, type: CType): bigint {
  return type.signed ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
}

function exact(value: bigint, type: CType): bigint {
  const result = fit(value, type);
  if (type.signed && result !== value) throw UNDEFINED;
  return result;
}

function promoted(type: CType): CType {
  return type.bits < 32 ? INT : type;
}

function usual(left: CType, right: CType): CType {
  const a = promoted(left);
  const b = promoted(right);
  if (a.bits !== b.bits) return a.bits > b.bits ? a : b;
  return a.signed ? b : a;
}

function compute(op: string, left: Node, right: Node): Pick<Node, 'type' | 'at'> {
  if (op === '<<' || op === '>>') {
    const type = promoted(left.type);
    return {
      type,
      at: (thread) => {
        const value = left.at(thread);
        const by = right.at(thread);
        if (by < 0n || by >= BigInt(type.bits)) throw UNDEFINED;
        return op === '>>' ? value >> by : fit(value << by, type);
      },
    };
  }
  const common = usual(left.type, right.type);
  const compares = ['<', '<=', '>', '>=', '==', '!='].includes(op);
  return {
    type: compares ? INT : common,
    at: (thread) => {
      const a = fit(left.at(thread), common);
      const b = fit(right.at(thread), common);
      switch (op) {
        case '+': return exact(a + b, common);
        case '-': return exact(a - b, common);
        case '*': return exact(a * b, common);
        case '/': case '%':
          if (b === 0n) throw UNDEFINED;
          return op === '/' ? exact(a / b, common) : a % b;
        case '&': return fit(a & b, common);
        case '|': return fit(a | b, common);
        case '^': return fit(a ^ b, common);
        case '<': return a < b ? 1n : 0n;
        case '<=': return a <= b ? 1n : 0n;
        case '>': return a > b ? 1n : 0n;
        case '>=': return a >= b ? 1n : 0n;
        case '==': return a === b ? 1n : 0n;
        default: return a !== b ? 1n : 0n;
      }
    },
  };
}

// ------------------------------------------------------------------------------------------------------------ random conditions

class Choices {
  constructor(private state: number) {}

  /** A number below `limit`: mulberry32. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  }

  of<T>(all: readonly T[]): T {
    const one = all[this.below(all.length)];
    if (one === undefined) throw new Error('nothing to choose from');
    return one;
  }
}

const axis = (name: 'x' | 'y' | 'z'): Node => ({ text: `threadIdx.${name}`, type: UNSIGNED, at: (thread) => BigInt(thread[name]) });
const width: Node = { text: 'blockDim.x', type: UNSIGNED, at: (thread) => BigInt(thread.shape.x) };
const height: Node = { text: 'blockDim.y', type: UNSIGNED, at: (thread) => BigInt(thread.shape.y) };
const block: Node = { text: 'blockIdx.x', type: UNSIGNED, at: (thread) => BigInt(thread.block) };
const n: Node = { text: 'n', type: INT, at: (thread) => thread.n };
const u: Node = { text: 'u', type: UNSIGNED, at: (thread) => thread.u };

function number(value: bigint, suffix: '' | 'u' | 'LL' = ''): Node {
  const type = suffix === 'u' ? UNSIGNED : suffix === 'LL' || value > 0x7fffffffn ? LONG : INT;
  if (value < 0n) return { text: `(-${String(-value)}${suffix})`, type, at: () => fit(value, type) };
  return { text: `${String(value)}${suffix}`, type, at: () => value };
}

function binary(left: Node, op: string, right: Node): Node {
  return { text: `(${left.text} ${op} ${right.text})`, ...compute(op, left, right) };
}

function cast(operand: Node, type: CType): Node {
  return { text: `((${type.name})${operand.text})`, type, at: (thread) => fit(operand.at(thread), type) };
}

const globalIndex = binary(binary(block, '*', width), '+', axis('x'));
const linear = binary(binary(binary(axis('z'), '*', binary(width, '*', height)), '+', binary(axis('y'), '*', width)), '+', axis('x'));
const BASES: readonly Node[] = [axis('x'), axis('x'), globalIndex, globalIndex, linear, linear, cast(axis('x'), INT), cast(globalIndex, INT), binary(axis('x'), '/', number(2n))];
const OFFSETS: readonly Node[] = [
  ...[1n, 2n, 5n, 31n, 32n, 33n, 63n, 64n, 96n, 100n, 127n, 128n, 224n, 1024n, 0x7fffffe0n, -1n, -31n, -32n, -64n, -100n].map((value) => number(value)),
  ...[32n, 100n, 224n, 0xffffffe0n, 0x80000000n, 0xffffffffn].map((value) => number(value, 'u')), number(-64n, 'LL'), number(32n, 'LL'),
  binary(n, '*', number(32n)), binary(number(32n, 'u'), '*', u), binary(block, '*', number(32n)), width, n, u,
];
const BY: readonly Node[] = [number(32n), number(32n), number(64n), number(128n), number(32n, 'u'), number(32n, 'LL'), number(-32n), number(16n), number(0xffffffe0n, 'u')];
const MASKS: readonly Node[] = [number(31n), number(-32n), number(0xffffffe0n, 'u'), number(96n), number(64n), number(127n), number(0x80n), number(-1n), number(1n)];
const BOUNDS: readonly Node[] = [...[0n, 1n, 2n, 3n, -1n, -2n, -32n, -33n, 31n, 32n, 64n, 127n, -128n].map((value) => number(value)), n, number(32n, 'u'), binary(n, '*', number(32n)), width];

function arithmetic(of: Choices, depth: number): Node {
  let made = of.of(BASES);
  for (let step = of.below(3) + depth; step >= 0; step--) {
    switch (of.below(9)) {
      case 0: case 1: made = binary(made, of.of(['+', '-', '+']), of.of(OFFSETS)); break;
      case 2: made = binary(of.of(OFFSETS), of.of(['+', '-']), made); break;
      case 3: case 4: case 5: made = cast(made, of.of(TYPES)); break;
      case 6: made = binary(made, of.of(['|', '^', '&']), of.of(MASKS)); break;
      case 7: made = binary(made, of.of(['*', '<<']), number(of.of([1n, 2n, 3n, 4n]))); break;
      default: {
        const other = depth > 0 ? arithmetic(of, 0) : of.of(OFFSETS);
        const condition = binary(of.of([axis('x'), n, block]), of.of(['<', '>=']), of.of(BOUNDS));
        const type = usual(made.type, other.type);
        const one = made;
        made = { text: `(${condition.text} ? ${one.text} : ${other.text})`, type, at: (thread) => fit(condition.at(thread) !== 0n ? one.at(thread) : other.at(thread), type) };
      }
    }
  }
  return made;
}

interface Written { readonly body: string; readonly condition: Node }

/** A condition, perhaps over variables of narrow types that are assigned, added to and stepped. */
function written(of: Choices): Written {
  let inner = arithmetic(of, of.below(2));
  let body = '';
  if (of.below(2) === 0) {
    const type = of.of(TYPES);
    const start = inner;
    body += `    ${type.name} v = ${inner.text};\n`;
    inner = { text: 'v', type, at: (thread) => fit(start.at(thread), type) };
    const before = inner;
    if (of.below(3) === 0) {
      const step = of.of(OFFSETS);
      const op = of.of(['+', '-', '^', '|', '&']);
      body += `    v ${op}= ${step.text};\n`;
      const sum = compute(op, before, step);
      inner = { text: 'v', type, at: (thread) => fit(sum.at(thread), type) };
    } else if (of.below(4) === 0) {
      const sum = compute('+', before, number(1n));
      body += '    v++;\n';
      inner = { text: 'v', type, at: (thread) => fit(sum.at(thread), type) };
    }
    if (of.below(3) === 0) inner = binary(inner, of.of(['+', '-']), of.of(OFFSETS));
  }
  switch (of.below(6)) {
    case 0: case 1: inner = binary(inner, of.of(['/', '/', '%']), of.of(BY)); break;
    case 2: inner = binary(inner, of.of(['&', '|', '^']), of.of(MASKS)); break;
    case 3: inner = binary(inner, '>>', number(of.of([5n, 6n, 4n, 8n]))); break;
    case 4: inner = binary(inner, '-', binary(axis('x'), of.of(['&', '%']), number(of.of([31n, 32n])))); break;
    default:
  }
  if (of.below(4) === 0) inner = binary(inner, of.of(['*', '/', '&', '%']), number(of.of([2n, 32n, 1n, 3n])));
  return { body, condition: of.below(5) === 0 ? inner : binary(inner, of.of(['<', '<=', '>', '>=', '==', '!=']), of.of(BOUNDS)) };
}

// ------------------------------------------------------------------------------------------------------------------- the check

const SHAPES: readonly (Shape | null)[] = [
  { text: '256', x: 256, y: 1, z: 1 }, { text: 'dim3(16, 16)', x: 16, y: 16, z: 1 }, { text: 'dim3(64, 3)', x: 64, y: 3, z: 1 }, { text: 'dim3(8, 8, 4)', x: 8, y: 8, z: 4 },
  { text: '192', x: 192, y: 1, z: 1 }, { text: '1024', x: 1024, y: 1, z: 1 }, null, null,
];
const UNSEEN: readonly Shape[] = [{ text: '', x: 256, y: 1, z: 1 }, { text: '', x: 64, y: 4, z: 1 }, { text: '', x: 16, y: 16, z: 1 }, { text: '', x: 8, y: 4, z: 8 }, { text: '', x: 96, y: 1, z: 2 }];
const GRIDS = ['300', 'g', '4'];
const ARGUMENTS: readonly (readonly [bigint, bigint])[] = [[0n, 0n], [1n, 5n], [3n, 1n], [-1n, 0xffffffffn], [-7n, 0x7ffffffn], [40n, 77n], [67108863n, 0x80000000n], [128n, 4n]];

/** What contradicts the verdict; null if nothing does. Arguments and blocks that the condition does not read are not tried. */
function contradiction(scope: Scope, { body, condition }: Written, shapes: readonly Shape[], allBlocks: readonly number[]): string | null {
  const words = new Set(`${body}${condition.text}`.split(/\W+/));
  const given = words.has('n') || words.has('u') ? ARGUMENTS : ARGUMENTS.slice(0, 1);
  const blocks = words.has('blockIdx') || scope === 'grid' || scope === 'constant' ? allBlocks : allBlocks.slice(0, 1);
  for (const shape of shapes) {
    for (const [nValue, uValue] of given) {
      const run = (): string | null => {
        let ofGrid: bigint | null = null;
        for (const blockIndex of blocks) {
          let ofBlock: bigint | null = null;
          let ofWarp = 0n;
          for (let t = 0; t < shape.x * shape.y * shape.z; t++) {
            const value = condition.at({ x: t % shape.x, y: Math.floor(t / shape.x) % shape.y, z: Math.floor(t / (shape.x * shape.y)), block: blockIndex, n: nValue, u: uValue, shape });
            if (t % 32 === 0) ofWarp = value;
            ofBlock ??= value;
            ofGrid ??= value;
            const expected = scope === 'warp' ? ofWarp : scope === 'block' ? ofBlock : ofGrid;
            if (value !== expected) return `thread ${t} of block ${blockIndex} of ${shape.x}x${shape.y}x${shape.z}, n = ${String(nValue)}, u = ${String(uValue)}: ${String(value)}, not ${String(expected)}`;
          }
        }
        return null;
      };
      try {
        const found = run();
        if (found !== null) return found;
      } catch (error) {
        if (!(error instanceof Undefined)) throw error;
      }
    }
  }
  return null;
}

const PER_FILE = 100;

test('no verdict on a condition of coordinates is contradicted by a thread', () => {
  const wanted = Number(process.env.CONDITIONS ?? '1000');
  const of = new Choices(Number(process.env.FIRST ?? '1'));
  const wrong: string[] = [];
  const count = new Map<Scope, number>();
  for (let done = 0; done < wanted; done += PER_FILE) {
    const all: { readonly written: Written; readonly shape: Shape | null; readonly grid: string }[] = [];
    let text = '';
    let host = 'void host(int *o, int n, unsigned u, int g) {\n';
    for (let i = 0; i < PER_FILE; i++) {
      const one = { written: written(of), shape: of.of(SHAPES), grid: of.of(GRIDS) };
      all.push(one);
      text += `__global__ void k${i}(int *o, int n, unsigned u) {\n${one.written.body}    if (${one.written.condition.text}) o[0] = 1;\n}\n`;
      if (one.shape !== null) host += `    k${i}<<<${one.grid}, ${one.shape.text}>>>(o, n, u);\n`;
    }
    const { program, unit } = load(`${text}${host}}\n`);
    const analysis = createAnalysis(program, {});
    for (const [i, { written: { body, condition }, written: one, shape, grid }] of all.entries()) {
      const kernel = unit.kernels.find((fn) => fn.name === `k${i}`);
      const branch = kernel?.body?.body.find((stmt) => stmt.kind === 'if');
      if (kernel === undefined || branch?.kind !== 'if') throw new Error(`k${i} was not read: ${condition.text}`);
      const { value: scope, under } = analysis.kernel(kernel).scope(branch.condition);
      count.set(scope, (count.get(scope) ?? 0) + 1);
      if (scope === 'lane') continue;
      const shapes = shape !== null ? [shape] : UNSEEN.filter((any) => under.length === 0 || any.x % 32 === 0);
      const found = contradiction(scope, one, shapes, grid === '4' ? [0, 1, 3] : [0, 1, 3, 127, 129, 299]);
      if (found !== null) wrong.push(`called ${scope} (${shape?.text ?? 'unknown block'}, grid ${grid}):\n${body}    if (${condition.text})\n    ${found}`);
    }
  }
  process.stdout.write(`${[...count].map(([scope, times]) => `${scope} ${times}`).join(', ')}\n`);
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(count.get('warp') ?? 0).toBeGreaterThan(wanted / 50);
}, 3_600_000);

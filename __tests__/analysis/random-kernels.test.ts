/**
 * Uniformity of random kernels: small structured programs with loops, jumps and nested conditions are written out as CUDA, analysed, and run
 * thread by thread on the same program. No verdict and no arrival may be contradicted, whatever the block shape.
 */
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAnalysis } from '../../src/analysis/analyse.js';
import type { BlockShape, Scope } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';

// ---------------------------------------------------------------------------------------------------------------- programs

type Name = 'a' | 'b' | 'c';
type E =
  | { k: 'number'; v: number } | { k: 'variable'; v: Name } | { k: 'thread'; axis: 'x' | 'y' } | { k: 'block' } | { k: 'n' } | { k: 'data'; at: E }
  | { k: 'op'; op: '+' | '-' | '&' | '>>' | '<' | '=='; l: E; r: E } | { k: 'select'; c: E; l: E; r: E };
type S =
  | { k: 'set'; v: Name; e: E } | { k: 'add'; v: Name; e: E } | { k: 'element'; i: E; e: E } | { k: 'if'; c: E; t: S[]; f: S[] } | { k: 'loop'; c: E; limit: number; body: S[] }
  | { k: 'do'; c: E; limit: number; body: S[] } | { k: 'switch'; e: E; arms: { body: S[]; leaves: boolean }[]; other: boolean } | { k: 'break' } | { k: 'continue' } | { k: 'return' } | { k: 'both'; l: E; v: Name; e: E };

const { e: expression } = fc.letrec<{ e: E }>((tie) => ({
  e: fc.oneof({ maxDepth: 2, withCrossShrink: true },
    fc.constantFrom<E>({ k: 'variable', v: 'a' }, { k: 'variable', v: 'b' }, { k: 'variable', v: 'c' }, { k: 'thread', axis: 'x' }, { k: 'thread', axis: 'y' }, { k: 'block' }, { k: 'n' }, { k: 'number', v: 1 }, { k: 'number', v: 3 }),
    fc.record({ k: fc.constant('op' as const), op: fc.constantFrom('+' as const, '-' as const, '&' as const, '<' as const, '==' as const), l: tie('e'), r: tie('e') }),
    fc.record({ k: fc.constant('op' as const), op: fc.constant('>>' as const), l: tie('e'), r: fc.constant<E>({ k: 'number', v: 5 }) }),
    fc.record({ k: fc.constant('data' as const), at: tie('e') }),
    fc.record({ k: fc.constant('select' as const), c: tie('e'), l: tie('e'), r: tie('e') })),
}));

const name = fc.constantFrom<Name>('a', 'b', 'c');
const { list } = fc.letrec<{ s: S; list: S[] }>((tie) => ({
  s: fc.oneof({ maxDepth: 3, withCrossShrink: true },
    fc.record({ k: fc.constant('set' as const), v: name, e: expression }),
    fc.record({ k: fc.constant('add' as const), v: name, e: expression }),
    fc.record({ k: fc.constant('element' as const), i: expression, e: expression }),
    fc.record({ k: fc.constant('both' as const), l: expression, v: name, e: expression }),
    fc.constantFrom<S>({ k: 'break' }, { k: 'continue' }, { k: 'return' }),
    fc.record({ k: fc.constant('if' as const), c: expression, t: tie('list'), f: tie('list') }),
    fc.record({ k: fc.constant('if' as const), c: expression, t: tie('list'), f: fc.constant<S[]>([]) }),
    fc.record({ k: fc.constant('loop' as const), c: expression, limit: fc.integer({ min: 1, max: 4 }), body: tie('list') }),
    fc.record({ k: fc.constant('do' as const), c: expression, limit: fc.integer({ min: 1, max: 3 }), body: tie('list') }),
    fc.record({ k: fc.constant('switch' as const), e: expression, arms: fc.array(fc.record({ body: tie('list'), leaves: fc.boolean() }), { minLength: 1, maxLength: 3 }), other: fc.boolean() })),
  list: fc.array(tie('s'), { minLength: 1, maxLength: 4 }),
}));

// --------------------------------------------------------------------------------------------------------------- as CUDA

class Writer {
  private counter = 0;

  e(e: E): string {
    switch (e.k) {
      case 'number': return String(e.v);
      case 'variable': return e.v;
      case 'thread': return `(int)threadIdx.${e.axis}`;
      case 'block': return '(int)blockIdx.x';
      case 'n': return 'n';
      case 'data': return `data[(${this.e(e.at)}) & 63]`;
      case 'op': return `(${this.e(e.l)} ${e.op} ${this.e(e.r)})`;
      case 'select': return `((${this.e(e.c)}) ? ${this.e(e.l)} : ${this.e(e.r)})`;
    }
  }

  list(list: readonly S[], loops: number, breaks: boolean): string {
    return list.map((s) => this.s(s, loops, breaks)).join(' ');
  }

  /** Jumps that would stand outside of a loop become `return`. Loops count in a variable of their own, so that they end. */
  s(s: S, loops: number, breaks: boolean): string {
    switch (s.k) {
      case 'set': return `${s.v} = ${this.e(s.e)};`;
      case 'add': return `${s.v} += ${this.e(s.e)};`;
      case 'element': return `w[(${this.e(s.i)}) & 3] = ${this.e(s.e)}; c = w[1];`;
      case 'both': return `if ((${this.e(s.l)}) && (${s.v} = ${this.e(s.e)})) out[1] = 1;`;
      case 'break': return breaks ? 'break;' : 'return;';
      case 'continue': return loops > 0 ? 'continue;' : 'return;';
      case 'return': return 'return;';
      case 'if': return `if (${this.e(s.c)}) { ${this.list(s.t, loops, breaks)} }${s.f.length === 0 ? '' : ` else { ${this.list(s.f, loops, breaks)} }`}`;
      case 'loop': { const k = `k${this.counter++}`; return `for (int ${k} = 0; ${k} < ${s.limit} && (${this.e(s.c)}); ${k}++) { ${this.list(s.body, loops + 1, true)} }`; }
      case 'do': { const k = `k${this.counter++}`; return `int ${k} = 0; do { ${k}++; ${this.list(s.body, loops + 1, true)} } while (${k} < ${s.limit} && (${this.e(s.c)}));`; }
      case 'switch': return `switch ((${this.e(s.e)}) & 3) { ${s.arms.map((arm, i) => `case ${i}: ${this.list(arm.body, loops, true)} ${arm.leaves ? 'break;' : ''}`).join(' ')} ${s.other ? 'default: a = 7;' : ''} }`;
    }
  }
}

// ------------------------------------------------------------------------------------------------------------------- runs

interface Note { site: number; instance: string; value: number }

function operate(op: '+' | '-' | '&' | '>>' | '<' | '==', l: number, r: number): number {
  switch (op) {
    case '+': return (l + r) | 0;
    case '-': return (l - r) | 0;
    case '&': return l & r;
    case '>>': return l >> r;
    case '<': return Number(l < r);
    case '==': return Number(l === r);
  }
}

class Jump { constructor(readonly kind: 'break' | 'continue' | 'return') {} }

/** Runs one thread; branches are numbered in the order of the text by where they stand in the program. */
class Runner {
  readonly notes: Note[] = [];
  private readonly v: Record<Name, number> = { a: 0, b: 0, c: 0 };
  private readonly w = [0, 0, 0, 0];
  private readonly iterations: number[] = [];

  constructor(private readonly numbers: ReadonlyMap<object, readonly number[]>, private readonly x: number, private readonly y: number, private readonly b: number, private readonly n: number, private readonly data: readonly number[]) {}

  private note(site: object, offset: number, value: number): number {
    this.notes.push({ site: this.numbers.get(site)?.[offset] ?? -1, instance: this.iterations.join(','), value });
    return value;
  }

  private e(e: E): number {
    switch (e.k) {
      case 'number': return e.v;
      case 'variable': return this.v[e.v];
      case 'thread': return e.axis === 'x' ? this.x : this.y;
      case 'block': return this.b;
      case 'n': return this.n;
      case 'data': return this.data[this.e(e.at) & 63] ?? 0;
      case 'op': return operate(e.op, this.e(e.l), this.e(e.r));
      case 'select': return this.note(e, 0, Number(this.e(e.c) !== 0)) !== 0 ? this.e(e.l) : this.e(e.r);
    }
  }

  list(list: readonly S[], loops: number, breaks: boolean): void {
    for (const s of list) this.s(s, loops, breaks);
  }

  private s(s: S, loops: number, breaks: boolean): void {
    switch (s.k) {
      case 'set': this.v[s.v] = this.e(s.e); return;
      case 'add': this.v[s.v] = (this.v[s.v] + this.e(s.e)) | 0; return;
      case 'element': { const value = this.e(s.e); this.w[this.e(s.i) & 3] = value; this.v.c = this.w[1] ?? 0; return; }
      case 'both': {
        const left = this.e(s.l) !== 0;
        this.note(s, 1, Number(left));
        let both = left;
        if (left) { this.v[s.v] = this.e(s.e); both = this.v[s.v] !== 0; }
        this.note(s, 0, Number(both));
        return;
      }
      case 'break': throw new Jump(breaks ? 'break' : 'return');
      case 'continue': throw new Jump(loops > 0 ? 'continue' : 'return');
      case 'return': throw new Jump('return');
      case 'if': if (this.note(s, 0, Number(this.e(s.c) !== 0)) !== 0) this.list(s.t, loops, breaks); else this.list(s.f, loops, breaks); return;
      case 'loop':
        this.iterations.push(0);
        for (let k = 0; ; k++) {
          this.iterations[this.iterations.length - 1] = k;
          const left = this.note(s, 1, Number(k < s.limit)) !== 0;
          if (this.note(s, 0, Number(left && this.e(s.c) !== 0)) === 0) break;
          if (this.round(s.body, loops)) break;
        }
        this.iterations.pop();
        return;
      case 'do':
        this.iterations.push(0);
        for (let k = 1; ; k++) {
          this.iterations[this.iterations.length - 1] = k;
          if (this.round(s.body, loops)) break;
          const left = this.note(s, 1, Number(k < s.limit)) !== 0;
          if (this.note(s, 0, Number(left && this.e(s.c) !== 0)) === 0) break;
        }
        this.iterations.pop();
        return;
      case 'switch': {
        const value = this.note(s, 0, this.e(s.e) & 3);
        try {
          if (value < s.arms.length) {
            for (let i = value; i < s.arms.length; i++) {
              const arm = s.arms[i];
              if (arm === undefined) break;
              this.list(arm.body, loops, true);
              if (arm.leaves) return;
            }
            if (s.other) this.v.a = 7;
          } else if (s.other) this.v.a = 7;
        } catch (jump) {
          if (!(jump instanceof Jump) || jump.kind !== 'break') throw jump;
        }
      }
    }
  }

  /** One round of a loop; true if it was left. */
  private round(body: readonly S[], loops: number): boolean {
    const depth = this.iterations.length;
    try {
      this.list(body, loops + 1, true);
      return false;
    } catch (jump) {
      if (!(jump instanceof Jump) || jump.kind === 'return') throw jump;
      this.iterations.length = depth;
      return jump.kind === 'break';
    }
  }
}

/** Numbers the branches in the order in which divmod lists them: a statement's own first, then those in its head and its parts. */
function numbersOf(list: readonly S[]): { numbers: Map<object, readonly number[]>; count: number } {
  const numbers = new Map<object, readonly number[]>();
  let count = 0;
  const e = (expr: E): void => {
    switch (expr.k) {
      case 'data': e(expr.at); return;
      case 'op': e(expr.l); e(expr.r); return;
      case 'select': numbers.set(expr, [count++]); e(expr.c); e(expr.l); e(expr.r); return;
      default:
    }
  };
  const s = (one: S): void => {
    switch (one.k) {
      case 'set': case 'add': e(one.e); return;
      case 'element': e(one.e); e(one.i); return;
      case 'both': numbers.set(one, [count++, count++]); e(one.l); e(one.e); return;
      case 'if': numbers.set(one, [count++]); e(one.c); one.t.forEach(s); one.f.forEach(s); return;
      case 'loop': numbers.set(one, [count++, count++]); e(one.c); one.body.forEach(s); return;
      // The `&&` of its condition stands behind the body.
      case 'do': { const own = count++; one.body.forEach(s); numbers.set(one, [own, count++]); e(one.c); return; }
      case 'switch': numbers.set(one, [count++]); e(one.e); for (const arm of one.arms) arm.body.forEach(s); return;
      default:
    }
  };
  list.forEach(s);
  return { numbers, count };
}

// ------------------------------------------------------------------------------------------------------------------- test

const SHAPES: readonly BlockShape[] = [{ x: 64, y: 1, z: 1 }, { x: 8, y: 5, z: 1 }, { x: 32, y: 2, z: 1 }];

beforeAll(async () => { await initParser(); });

interface Decided { readonly value: number; readonly warp: string; readonly block: number; readonly thread: number }

function groupOf(decided: Decided, scope: Scope): string {
  return scope === 'warp' ? decided.warp : scope === 'block' ? String(decided.block) : scope === 'lane' ? `${decided.block}:${decided.thread}` : '';
}

test('random structured kernels', () => {
  fc.assert(fc.property(list, fc.integer({ min: 0, max: 6 }), fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 64, maxLength: 64 }), (program, n, data) => {
    const source = `__global__ void k(const int *__restrict__ data, int *out, int n)\n{ int a = 0, b = 0, c = 0; int w[4] = {0, 0, 0, 0}; ${new Writer().list(program, 0, false)} out[0] = a + b + c; }\n`;
    const { program: loaded, unit } = load(source);
    const kernel = unit.kernels[0];
    if (kernel === undefined) throw new Error('no kernel');
    const { numbers, count } = numbersOf(program);
    for (const shape of SHAPES) {
      const decisions = new Map<string, Decided[]>();
      for (let block = 0; block < 2; block++) {
        for (let thread = 0; thread < shape.x * shape.y; thread++) {
          const runner = new Runner(numbers, thread % shape.x, Math.floor(thread / shape.x), block, n, data);
          try {
            runner.list(program, 0, false);
          } catch (jump) {
            if (!(jump instanceof Jump)) throw jump;
          }
          for (const note of runner.notes) {
            const key = `${note.site}|${note.instance}`;
            const decided: Decided = { value: note.value, warp: `${block}:${thread >> 5}`, block, thread };
            const known = decisions.get(key);
            if (known === undefined) decisions.set(key, [decided]);
            else known.push(decided);
          }
        }
      }
      for (const options of [{}, { block: shape }]) {
        const facts = createAnalysis(loaded, options).kernel(kernel);
        expect(facts.branches.length).toBe(count);
        for (const [key, list2] of decisions) {
          const site = Number(key.split('|')[0]);
          const branch = facts.branches[site];
          if (branch === undefined) throw new Error(`no branch ${site}`);
          const scope = facts.scope(branch.condition);
          const arrival = facts.arrival(branch.condition);
          const first = new Map<string, number>();
          const arrived = new Map<string, number>();
          for (const decided of list2) {
            const group = groupOf(decided, scope.value);
            const value = first.get(group);
            if (value === undefined) first.set(group, decided.value);
            else if (value !== decided.value) throw new Error(`branch ${site} (${branch.kind}) is called ${scope.value} in ${shape.x}x${shape.y}, but differs in iteration ${key}\n${source}\n${scope.because.map((reason) => reason.text).join('\n')}`);
            const place = groupOf(decided, arrival.value);
            arrived.set(place, (arrived.get(place) ?? 0) + 1);
          }
          if (arrival.value === 'lane') continue;
          const threads = shape.x * shape.y;
          for (const [place, size] of arrived) {
            const full = arrival.value === 'warp' ? Math.min(32, threads - 32 * Number(place.split(':')[1])) : arrival.value === 'block' ? threads : 2 * threads;
            if (size !== full) throw new Error(`arrival at branch ${site} (${branch.kind}) is called ${arrival.value} in ${shape.x}x${shape.y}, but ${size} of ${full} arrive in iteration ${key}\n${source}`);
          }
        }
      }
    }
  }), { numRuns: Number(process.env['DIVMOD_RANDOM_KERNELS'] ?? 60), seed: Number(process.env['DIVMOD_SEED'] ?? 1), endOnFailure: false });
}, 600_000);

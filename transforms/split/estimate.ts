/**
 * What a split gains: registers. A kernel takes as many for all of its blocks as its hungriest arm needs; alone, the light arm keeps more
 * warps on a multiprocessor. A branch that the whole block takes costs next to nothing by itself.
 *
 * Measured on one H200: a light stencil divided into interior and border 0.93 to 0.95 (two launches, each with a tail of its own); a role by block
 * 0.88 (light) to 0.99; a choice by a parameter 1.01 where the arms are long, 1.16 where they are a handful of instructions, of which the test is a part.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import type { FunctionDecl, Type } from '../../src/syntax/tree.js';
import type { Estimate, TransformContext } from '../lib/types.js';
import type { SplitShape } from './legal.js';

/** 32-bit registers of a multiprocessor, and threads that it can hold. */
const REGISTERS = 65_536;
const THREADS = 2048;
/** Registers of a kernel that hardly does anything. */
const LEAST = 16;
/** More than this a thread cannot have: the rest is spilled. */
const MOST = 255;
/** Share of the threads above which more do not hide more latency. */
const ENOUGH = 0.5;
/** Share of the time that the light population takes: how large the populations are shows only when the program runs. */
const LIGHT_SHARE = 0.5;
/** Instructions of a test of a parameter: the comparison and the jump. */
const LEAST_TEST = 2;
/** Time of a second launch and of a second tail, as a share of a short kernel's. */
const SECOND_LAUNCH = 0.06;

export function estimateSplit(context: TransformContext, shape: SplitShape): Estimate {
  const { facts } = context;
  const { stmt } = shape.branch;
  const body = facts.function.body;
  const whole = body === null ? stmt : body;
  const around = Math.max(0, facts.cost(whole).instructions - facts.cost(stmt).instructions);
  const thenCost = facts.cost(stmt.then).instructions + around;
  const elseCost = (stmt.else === null ? 0 : facts.cost(stmt.else).instructions) + around;
  const [thenRegisters, elseRegisters] = [registersOf(facts, stmt.then), stmt.else === null ? LEAST : registersOf(facts, stmt.else)];
  const outer = registersOf(facts, whole, stmt) - LEAST;
  const hungry = Math.min(MOST, Math.max(thenRegisters, elseRegisters) + outer);
  const light = Math.min(MOST, Math.min(thenRegisters, elseRegisters) + outer);
  const together = Math.min(ENOUGH, occupancy(hungry));
  const alone = Math.min(ENOUGH, occupancy(light));
  const factor = together / alone;
  const role = shape.condition.kind === 'role';
  const gain = 1 / (1 - LIGHT_SHARE + LIGHT_SHARE * factor);
  // The test that every thread makes: a comparison and a jump at least.
  const after = Math.max(1, Math.round((thenCost + elseCost) / 2));
  const before = after + Math.max(LEAST_TEST, Math.round(facts.cost(stmt.condition).instructions));
  const speedup = round(role ? gain * (1 - SECOND_LAUNCH) : Math.max(before / after, gain));
  const base = {
    speedup, low: role ? 0.88 : 1, high: round(Math.max(speedup, 1 / factor)), instructionsBefore: before, instructionsAfter: after,
    traffic: 0, provider: facts.cost(stmt).provider,
    breakEven: `the light arm needs ${light} registers, the other ${hungry}: it pays where this keeps warps off the multiprocessor (above ${Math.floor(REGISTERS / (THREADS * ENOUGH))} a thread) and the light population takes a good part of the time (half is assumed)`,
  };
  if ((role ? speedup : gain) < 1.03) {
    const reason = role
      ? 'both arms fit the multiprocessor together, so that the second launch costs more than the branch (light arms measured 0.88 to 0.95)'
      : `all blocks take one way and both arms fit the multiprocessor as they are: what goes is the test, ${before - after} of ${before} instructions, where instructions are what limits`;
    return { ...base, pays: false, reason };
  }
  return { ...base, pays: true, reason: `blocks of the light arm need about ${light} registers a thread where the kernel takes ${hungry}: more warps hide latency` };
}

function occupancy(registers: number): number {
  return Math.min(1, REGISTERS / (Math.max(1, registers) * THREADS));
}

/** About as many registers as a region's variables take: scalars once, short arrays that stay in registers, the largest call inside. */
function registersOf(facts: FunctionFacts, root: Node, without: Node | null = null): number {
  return Math.min(MOST, LEAST + words(facts, root, without, new Set()));
}

function words(facts: FunctionFacts, root: Node, without: Node | null, active: Set<FunctionDecl>): number {
  let own = 0;
  let inner = 0;
  walk(root, (node) => {
    if (node === without) return false;
    if (node.kind === 'declare') {
      for (const variable of node.variables) if (variable.space === 'local') own += wordsOf(facts, variable.type);
    } else if (!isStmt(node) && node.kind === 'call' && (node.callee.kind === 'function' || node.callee.kind === 'method')) {
      for (const callee of node.callee.candidates) {
        if (callee.body === null || active.has(callee)) continue;
        active.add(callee);
        inner = Math.max(inner, words(facts, callee.body, null, active));
        active.delete(callee);
      }
    }
    return true;
  });
  return own + inner;
}

/** Elements of an array up to this many bytes can stay in registers. */
const LARGEST_ARRAY = 256;

function wordsOf(facts: FunctionFacts, type: Type): number {
  switch (type.kind) {
    case 'int': return type.bits === 64 ? 2 : 1;
    case 'float': return type.format === 'double' ? 2 : 1;
    case 'bool': case 'enum': return 1;
    case 'pointer': case 'reference': return 2;
    case 'array': {
      const length = type.length === null ? null : facts.constant(type.length);
      if (length === null) return 0;
      const all = Number(length) * wordsOf(facts, type.of);
      return all * 4 <= LARGEST_ARRAY * 4 ? all : 0;
    }
    case 'record': return type.decl.vector !== null ? type.decl.vector.lanes : type.decl.fields.reduce((sum, field) => sum + wordsOf(facts, field.type), 0);
    case 'void': case 'function': case 'dependent': case 'unknown': return 0;
    default: {
      const never: never = type;
      return never;
    }
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/**
 * Uniformity is sound: small kernels with models in plain TypeScript whose conditions are evaluated for all threads of several warps, blocks
 * and shapes. No condition that is called uniform at a scope ever differs inside that scope, nor does an arrival; exact lane sets agree lane
 * by lane; traps stay traps; and what must be called uniform is.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAnalysis } from '../../src/analysis/analyse.js';
import { atLeast, type BlockShape, type BranchSite, type FunctionFacts, type Scope, type Verdict } from '../../src/analysis/facts.js';
import { initParser } from '../../src/syntax/parser.js';
import { load } from '../helpers/transform.js';
import { Memory, run, type Decision } from './lockstep.js';
import { CONTROL, type Specimen } from './soundness-kernels-control.js';
import { MEMORY } from './soundness-kernels-memory.js';
import { OBJECTS } from './soundness-kernels-objects.js';
import { LVALUES } from './soundness-kernels-lvalues.js';
import { TEMPLATES } from './soundness-kernels-templates.js';

const SPECIMENS = [...CONTROL, ...MEMORY, ...OBJECTS, ...LVALUES, ...TEMPLATES];
const SHAPES: readonly BlockShape[] = [
  { x: 32, y: 1, z: 1 }, { x: 96, y: 1, z: 1 }, { x: 48, y: 1, z: 1 }, { x: 16, y: 8, z: 1 }, { x: 32, y: 3, z: 2 }, { x: 4, y: 4, z: 6 }, { x: 33, y: 2, z: 1 },
];
const BLOCKS = 3;

interface Site { readonly branch: BranchSite; readonly facts: FunctionFacts }

/** Branches of the kernel, then those of each call in order, in the context of the call. */
function sitesOf(facts: FunctionFacts, depth = 0): Site[] {
  const sites: Site[] = facts.branches.map((branch) => ({ branch, facts }));
  if (depth < 4) for (const { call, callees } of facts.calls) for (const callee of callees) sites.push(...sitesOf(facts.callee(call, callee), depth + 1));
  return sites;
}

function sourceOf(specimen: Specimen): string {
  const [before, body] = specimen.source.includes('\n---\n') ? specimen.source.split('\n---\n') : ['', specimen.source];
  return `${before}\n__global__ void k(const int *__restrict__ data, int *out, int n)\n{\n${body}\n}\n`;
}

const loaded = new Map<Specimen, ReturnType<typeof load>>();

function sitesIn(specimen: Specimen, block: BlockShape | null): Site[] {
  let known = loaded.get(specimen);
  if (known === undefined) loaded.set(specimen, known = load(sourceOf(specimen)));
  const kernel = known.unit.kernels[0];
  if (kernel === undefined) throw new Error('no kernel');
  return sitesOf(createAnalysis(known.program, block === null ? {} : { block }).kernel(kernel));
}

/** The group of threads that a scope speaks of. */
function group(decision: Decision, scope: Scope): string {
  switch (scope) {
    case 'constant': case 'grid': return '';
    case 'block': return String(decision.block);
    case 'warp': return decision.warp;
    case 'lane': return `${decision.block}:${decision.thread}`;
  }
}

function disagreement(decisions: readonly Decision[], scope: Scope): string | null {
  const seen = new Map<string, Decision>();
  for (const decision of decisions) {
    const key = `${group(decision, scope)}|${decision.instance}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, decision);
    else if (first.value !== decision.value) return `threads ${first.thread} and ${decision.thread} of blocks ${first.block}, ${decision.block}, iteration (${decision.instance})`;
  }
  return null;
}

/** Do all threads of a group arrive, or none? Only asked for groups that are complete in the grid. */
function partialArrival(decisions: readonly Decision[], scope: Scope, shape: BlockShape): string | null {
  const threads = shape.x * shape.y * shape.z;
  const sizes = new Map<string, number>();
  for (const decision of decisions) {
    const key = `${group(decision, scope)}|${decision.instance}`;
    sizes.set(key, (sizes.get(key) ?? 0) + 1);
  }
  const first = decisions[0];
  if (first === undefined || scope === 'lane') return null;
  for (const decision of decisions) {
    const key = `${group(decision, scope)}|${decision.instance}`;
    const warp = Number(decision.warp.split(':')[1]);
    const size = scope === 'warp' ? Math.min(32, threads - 32 * warp) : scope === 'block' ? threads : threads * BLOCKS;
    if (sizes.get(key) !== size) return `${sizes.get(key) ?? 0} of ${size} threads arrive in iteration (${decision.instance})`;
  }
  return null;
}

function text(verdict: Verdict): string {
  return verdict.because.map((reason) => `${reason.line}: ${reason.text}`).join('\n');
}

beforeAll(async () => { await initParser(); });

test('there are at least 60 kernels, each with a name of its own', () => {
  expect(SPECIMENS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(SPECIMENS.map((specimen) => specimen.name)).size).toBe(SPECIMENS.length);
});

describe.each(SPECIMENS.map((specimen) => [specimen.name, specimen] as const))('%s', (_name, specimen) => {
  test.each([null, ...SHAPES].map((shape) => [shape === null ? 'shape not known' : `${shape.x}x${shape.y}x${shape.z}`, shape] as const))('%s', (_shape, known) => {
    const sites = sitesIn(specimen, known);
    for (const shape of known === null ? SHAPES : [known]) {
      const runs = [3, 9].flatMap((n) => [false, true].map((backwards) => run(specimen.model, shape, BLOCKS, new Memory(n * 7 + 1, n), backwards)));
      for (const log of runs) {
        const bySite = new Map<number, Decision[]>();
        for (const decision of log) {
          const list = bySite.get(decision.site);
          if (list === undefined) bySite.set(decision.site, [decision]);
          else list.push(decision);
        }
        for (const [index, decisions] of bySite) {
          const site = sites[index];
          if (site === undefined) throw new Error(`the model decides branch ${index}, the kernel has ${sites.length}`);
          const verdict = site.facts.scope(site.branch.condition);
          if (verdict.value !== 'lane') {
            const found = disagreement(decisions, verdict.value);
            if (found !== null) throw new Error(`branch ${index} is called ${verdict.value}, but differs: ${found} (${shape.x}x${shape.y}x${shape.z})\n${text(verdict)}`);
          }
          const arrival = site.facts.arrival(site.branch.condition);
          const partial = partialArrival(decisions, arrival.value, shape);
          if (partial !== null) throw new Error(`arrival at branch ${index} is called ${arrival.value}, but ${partial} (${shape.x}x${shape.y}x${shape.z})\n${text(arrival)}`);
          const set = known === null ? null : site.facts.laneSet(site.branch.condition);
          if (set !== null) {
            for (const decision of decisions) {
              if (Boolean(set.holds[decision.thread]) !== Boolean(decision.value)) throw new Error(`lane set of branch ${index} is wrong for thread ${decision.thread}`);
            }
          }
        }
      }
    }
    const rows = known !== null && known.x % 32 === 0;
    for (const [index, scope] of [...Object.entries(specimen.atLeast ?? {}), ...(rows ? Object.entries(specimen.atLeastInRows ?? {}) : [])]) {
      const site = sites[Number(index)];
      const verdict = site?.facts.scope(site.branch.condition);
      if (verdict === undefined || !atLeast(verdict.value, scope)) throw new Error(`branch ${index} should be ${scope}, but is ${verdict?.value ?? 'missing'}\n${verdict === undefined ? '' : text(verdict)}`);
    }
    // In a block of one row of one warp a trap may be harmless: traps are asked for where the shape says nothing.
    if (known === null) {
      for (const index of specimen.never ?? []) {
        const site = sites[index];
        expect(site?.facts.scope(site.branch.condition).value).toBe('lane');
      }
    }
  });
});

test('unknown is named', () => {
  const specimen = SPECIMENS.find((candidate) => candidate.name === 'a name that nothing explains');
  if (specimen === undefined) throw new Error('no such kernel');
  const verdicts = sitesIn(specimen, null).map((site) => site.facts.scope(site.branch.condition));
  expect(verdicts.map((verdict) => verdict.known)).toEqual([false, false]);
  expect(verdicts[0]?.unknown).toContain('MYSTERY');
  expect(verdicts[1]?.unknown).toContain('mystery');
});

test('verdicts under a block shape name it, and lane-varying ones say what would change them', () => {
  const source = 'if (threadIdx.x / 32 == 1) out[0] = 1;';
  const specimen: Specimen = { name: '', source, *model() { /* not run */ } };
  const open = sitesIn(specimen, null)[0];
  expect(open?.facts.scope(open.branch.condition).value).toBe('lane');
  expect(open?.facts.scope(open.branch.condition).because.map((reason) => reason.text).join(' ')).toContain('multiple of 32');
});

/**
 * Which kernels show whether edits kept what the program does: every one that an edited function stands in or is called from, wherever
 * it stands. Each is run in the program of one file of the run and what that includes, as the compiler sees it; where the kernel and the
 *
 function come together only by linking, in that of all files known together. What no kernel reaches is left to `untried` (withheld.ts).
 */
import type { AnalysisOptions } from '../analysis/facts.js';
import type { Program } from '../syntax/tree.js';
import { composePlans } from '../../transforms/lib/launch-compose.js';
import type { InputFile } from './files.js';
import type { SiteResult } from './rounds.js';
import { callGraph, directCallees } from './scope.js';
import { verifyKernels, type SimulationRequest, type ToVerify, type Verification } from './simulation.js';
import { functionKey } from './withheld.js';
import type { Workspace } from './workspace.js';

/** Compares before and after, yielding after each program. */
export function* verifyEdited(workspace: Workspace, edited: readonly SiteResult[], request: SimulationRequest, options: AnalysisOptions): Generator<readonly Verification[], void, undefined> {
  const sites = edited.filter((site) => site.status === 'applied').sort((a, b) => a.sequence - b.sequence);
  /** Edited functions that no kernel has shown yet. */
  const open = new Set(sites.map((site) => functionKey(site.realPath, site.function)));
  if (open.size === 0) return;
  const touched = new Set(open);
  const changed = workspace.changedFiles().map(({ original }) => original.source.realPath);
  /** Kernels by file and name that were run: one of a header is seen by several files. */
  const ran = new Set<string>();

  const inOne = function* (files: readonly InputFile[]): Generator<readonly Verification[], void, undefined> {
    const before = workspace.originalProgram(files);
    if (!changed.some((path) => before.units.has(path))) return;
    const kernels = reaching(before, touched);
    const due = [...kernels].filter(([key]) => !ran.has(key));
    if (due.length === 0) return;
    const after = workspace.program(files);
    const planned = sites.filter((site) => before.units.has(site.realPath));
    const plans = composePlans(planned.flatMap((site) => site.launches ?? []));
    const apart = planned.some((site) => site.obligations.some((o) => o.status === 'assumed' && o.grant === 'noalias'));
    const wanted = due.map(([, { name, file, functions }]): ToVerify => ({ name, path: workspace.shownPath(file), plan: plans.get(name), apart, functions }));
    for (const [key, { functions }] of due) {
      ran.add(key);
      for (const fn of functions) open.delete(fn);
    }
    yield verifyKernels(before, after, wanted, request, options);
  };

  for (const file of unitsFirst(workspace)) yield* inOne([file]);
  for (const group of workspace.groups) if (open.size > 0) yield* inOne(group);
}

/** Files that others of the run include come last: a header alone lacks what its includers put in front of it. */
function unitsFirst(workspace: Workspace): readonly InputFile[] {
  const included = new Set(workspace.groups.flatMap((group) => [...workspace.program(group).units.values()].flatMap((unit) => unit.includes)));
  return [...workspace.inputs.filter((file) => !included.has(file.realPath)), ...workspace.inputs.filter((file) => included.has(file.realPath))];
}

interface Reaching { readonly name: string; readonly file: string; readonly functions: Set<string> }

/** Kernels that reach one of the functions, by file and name, with those they reach. */
function reaching(program: Program, touched: ReadonlySet<string>): ReadonlyMap<string, Reaching> {
  const found = new Map<string, Reaching>();
  const graph = callGraph(program, directCallees);
  for (const unit of program.units.values()) {
    for (const fn of unit.functions) {
      const key = functionKey(unit.source.realPath, fn.name);
      if (!touched.has(key)) continue;
      for (const kernel of graph.kernelsOf(fn)) {
        const id = functionKey(kernel.file, kernel.name);
        const known = found.get(id);
        if (known === undefined) found.set(id, { name: kernel.name, file: kernel.file, functions: new Set([key]) });
        else known.functions.add(key);
      }
    }
  }
  return found;
}

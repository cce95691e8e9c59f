/** What holds between units: definitions of functions declared elsewhere, launches of a kernel, whether all of them are seen. */
import type { OverlayNote } from '../source/types.js';
import type { OpenCall, UnitState } from './context.js';
import { admitsArity, isDefinition, sameSignature } from './lower-overload.js';
import { pastedAt } from './pasted-names.js';
import type { FunctionDecl, Launch, Unit } from './tree.js';

export class ProgramIndex {
  readonly #byName = new Map<string, FunctionDecl[]>();
  readonly #launches = new Map<FunctionDecl, Launch[]>();
  /** Kernels whose address goes somewhere, with their other declarations. */
  readonly #escaped = new Set<FunctionDecl>();
  /** Names before `<<<` that no lowered launch accounts for. */
  readonly #lost = new Set<string>();

  constructor(private readonly units: ReadonlyMap<string, Unit>, states: readonly UnitState[]) {
    for (const state of states) {
      for (const decl of state.functions) {
        const known = this.#byName.get(decl.name);
        if (known === undefined) this.#byName.set(decl.name, [decl]);
        else known.push(decl);
      }
    }
    for (const decls of this.#byName.values()) decls.sort((a, b) => Number(isDefinition(b)) - Number(isDefinition(a)));
    for (const state of states) {
      for (const call of state.openCalls) this.link(call);
      for (const launch of state.launches) this.#linkLaunch(launch);
      for (const decl of state.escapes) this.#escape(decl);
      for (const name of lostLaunches(state)) this.#lost.add(name);
    }
  }

  functionsNamed(name: string, arity?: number): readonly FunctionDecl[] {
    const all = this.#byName.get(name) ?? [];
    return arity === undefined ? all : all.filter((decl) => admitsArity(decl, arity));
  }

  launchesOf(kernel: FunctionDecl): readonly Launch[] {
    return this.#launches.get(kernel) ?? [];
  }

  allLaunchesVisible(kernel: FunctionDecl): boolean {
    if (this.#escaped.has(kernel) || this.#lost.has(kernel.name)) return false;
    const launches = this.launchesOf(kernel);
    if (launches.length === 0) return false;
    if (launches.some((launch) => launch.form === 'pointer' || launch.form === 'macro')) return false;
    return [...this.units.values()].every((unit) => unit.hiddenKernels.every((hidden) => hidden.name !== kernel.name) && pastedAt(unit, kernel.name) === null);
  }

  /** Replaces declarations by definitions that another unit holds. */
  link({ candidates }: OpenCall): void {
    for (let i = 0; i < candidates.length; i++) {
      const decl = candidates[i];
      if (decl === undefined || isDefinition(decl)) continue;
      const found = (this.#byName.get(decl.name) ?? []).filter((other) => isDefinition(other) && sameOwner(decl, other) && sameSignature(decl, other));
      const [only] = found;
      if (only !== undefined && found.length === 1 && !candidates.includes(only)) candidates[i] = only;
    }
  }

  #linkLaunch(launch: Launch): void {
    const candidates = launch.candidates as FunctionDecl[];
    if (candidates.length === 0 && launch.form !== 'pointer') {
      // The kernel stands in a file that the launching one does not visibly include.
      candidates.push(...(this.#byName.get(launch.kernelName) ?? []).filter((decl) => decl.qualifiers.global && isDefinition(decl) && admitsArity(decl, launch.arguments.length)));
    }
    for (const decl of candidates) {
      const known = this.#launches.get(decl);
      if (known === undefined) this.#launches.set(decl, [launch]);
      else known.push(launch);
    }
  }

  #escape(decl: FunctionDecl): void {
    this.#escaped.add(decl);
    for (const other of this.#byName.get(decl.name) ?? []) if (other.qualifiers.global && sameOwner(decl, other) && sameSignature(decl, other)) this.#escaped.add(other);
  }
}

function sameOwner(a: FunctionDecl, b: FunctionDecl): boolean {
  return a.owner === b.owner || (a.owner !== null && b.owner !== null && a.owner.name === b.owner.name);
}

/** Names of kernels at `<<<` that were never lowered (errors in the text, functions that were not understood). */
function lostLaunches(state: UnitState): string[] {
  const spans = state.launches.map((launch) => launch.span);
  const covered = (note: OverlayNote): boolean => spans.some((span) => span.start <= note.span.start && note.span.end <= span.end);
  return state.overlay.notes.flatMap((note) => {
    if (note.kind !== 'launch' || covered(note)) return [];
    const name = /([A-Za-z_]\w*)\s*(?:<[^;{}]*>)?\s*$/.exec(state.source.text.slice(Math.max(0, note.span.start - 200), note.span.start));
    return name?.[1] === undefined ? [] : [name[1]];
  });
}

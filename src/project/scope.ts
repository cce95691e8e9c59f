/** Which functions and sites a run is about: `--kernel`, `--at`, `// divmod: ignore`. */
import { walk } from '../analysis/children.js';
import { annotationsOf } from '../source/annotations.js';
import type { SourceFile } from '../source/types.js';
import type { FunctionDecl, Program, Unit } from '../syntax/tree.js';
import { UsageError } from './errors.js';
import type { InputFile } from './files.js';
import { didYouMean } from './suggest.js';

/** A test for kernel names: exact or with `*` and `?`. No patterns at all match everything. */
export function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true;
  const tests = patterns.map(globToRegExp);
  return (name) => tests.some((test) => test.test(name));
}

function globToRegExp(pattern: string): RegExp {
  const body = pattern.replace(/[\\^$.|+()[\]{}]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.');
  return new RegExp(`^(?:.*::)?${body}$`);
}

/** Throws `UsageError` for a pattern that no kernel of the run matches. */
export function checkKernelNames(patterns: readonly string[], names: Iterable<string>): void {
  const all = [...new Set(names)];
  for (const pattern of patterns) {
    if (all.some(nameMatcher([pattern]))) continue;
    const there = all.length === 0 ? 'there are no kernels here' : all.length <= 8 ? `there are ${all.join(', ')}` : `there are ${all.length} kernels`;
    throw new UsageError(`no kernel is called "${pattern}"${didYouMean(pattern, all)}; ${there}`);
  }
}

/** Lines that `// divmod: ignore` speaks about. */
export function ignoredLines(source: SourceFile): ReadonlySet<number> {
  const known = ignored.get(source);
  if (known !== undefined) return known;
  const lines = new Set<number>();
  if (source.text.includes('divmod:')) for (const annotation of annotationsOf(source)) if (annotation.key === 'ignore') lines.add(annotation.line);
  ignored.set(source, lines);
  return lines;
}

const ignored = new WeakMap<SourceFile, ReadonlySet<number>>();

/** Callers and callees of every function of a program, by the calls that syntax resolves. */
export interface CallGraph {
  /** Kernels that reach a function (itself, if it is one), in source order. */
  kernelsOf(fn: FunctionDecl): readonly FunctionDecl[];
  /** Functions that a function calls, directly or not, and those that call it; without itself. */
  relatives(fn: FunctionDecl): ReadonlySet<FunctionDecl>;
}

export function callGraph(program: Program, calleesOf: (fn: FunctionDecl) => Iterable<FunctionDecl>): CallGraph {
  const down = new Map<FunctionDecl, Set<FunctionDecl>>();
  const up = new Map<FunctionDecl, Set<FunctionDecl>>();
  const functions = [...program.units.values()].flatMap((unit) => unit.functions).filter((fn) => fn.body !== null);
  for (const fn of functions) {
    const callees = new Set(calleesOf(fn));
    down.set(fn, callees);
    for (const callee of callees) {
      const callers = up.get(callee);
      if (callers === undefined) up.set(callee, new Set([fn]));
      else callers.add(fn);
    }
  }
  const reach = (fn: FunctionDecl, edges: ReadonlyMap<FunctionDecl, ReadonlySet<FunctionDecl>>): Set<FunctionDecl> => {
    const seen = new Set<FunctionDecl>();
    const open = [fn];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const next of edges.get(at) ?? []) {
        if (!seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
      }
    }
    return seen;
  };
  return {
    kernelsOf(fn) {
      const callers = reach(fn, up).add(fn);
      return functions.filter((candidate) => candidate.qualifiers.global && callers.has(candidate));
    },
    relatives(fn) {
      const all = new Set([...reach(fn, down), ...reach(fn, up)]);
      all.delete(fn);
      return all;
    },
  };
}

/** Functions that a function calls, as far as names are resolved. */
export function directCallees(fn: FunctionDecl): Iterable<FunctionDecl> {
  const found = new Set<FunctionDecl>();
  if (fn.body !== null) {
    walk(fn.body, (node) => {
      if (node.kind === 'call' && (node.callee.kind === 'function' || node.callee.kind === 'method')) for (const callee of node.callee.candidates) found.add(callee);
      return true;
    });
  }
  return found;
}

/** Kernels of the group's own files, in order. */
export function kernelsOf(program: Program, group: readonly InputFile[]): readonly { readonly unit: Unit; readonly kernel: FunctionDecl }[] {
  return group.flatMap((file) => {
    const unit = program.units.get(file.realPath);
    return unit === undefined ? [] : unit.kernels.filter((kernel) => kernel.body !== null || !kernel.understood).map((kernel) => ({ unit, kernel }));
  });
}

/** Launches and the host code around them, before and after: kernels are compared under the same launches, so a changed launch is said. */
import type { Span } from '../source/types.js';
import type { FunctionDecl, Launch, Program } from '../syntax/tree.js';

function textOf(program: Program, file: string, span: Span): string {
  return (program.units.get(file)?.source.text.slice(span.start, span.end) ?? '').replace(/\s+/g, ' ').trim();
}

function lineOf(program: Program, launch: Launch): string {
  const source = program.units.get(launch.file)?.source;
  return source === undefined ? 'a line' : `line ${source.position(launch.span.start).line}`;
}

/** Notes about launches that differ; empty if all are the same. */
export function launchChanges(before: Program, kernel: FunctionDecl, after: Program, other: FunctionDecl): string[] {
  const olds = before.launchesOf(kernel);
  const news = after.launchesOf(other);
  const left = news.map((launch) => textOf(after, launch.file, launch.span));
  const gone: Launch[] = [];
  for (const launch of olds) {
    const at = left.indexOf(textOf(before, launch.file, launch.span));
    if (at < 0) gone.push(launch);
    else left.splice(at, 1);
  }
  if (news.length === 0 && olds.length > 0) return ['the second text holds no launch of the kernel: launches are not compared'];
  const notes: string[] = [];
  for (const launch of gone) notes.push(`the launch of ${lineOf(before, launch)} changed: kernels are compared under the same launches, so what this does to the result is not shown`);
  if (gone.length === 0 && left.length > 0) notes.push('the second text has further launches of the kernel: they are not compared');
  if (notes.length > 0) return notes;
  // The same words may launch something else if a variable they name changed.
  const around = (program: Program, launches: readonly Launch[]): string[] => [...new Set(launches.flatMap((l) => (l.function === null || l.function.body === null ? [] : [textOf(program, l.file, l.function.span)])))];
  const hosts = new Set(around(after, news));
  return around(before, olds).every((text) => hosts.has(text)) ? [] : ['the host code around a launch changed: it is not run, so what this does to the result is not shown'];
}

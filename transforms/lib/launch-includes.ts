/** Headers that the host text of a plan needs: where an include may stand that every configuration sees, outside of `extern "C"` and namespaces. */
import type { Directive, SourceFile } from '../../src/source/types.js';
import type { Program, Unit } from '../../src/syntax/tree.js';
import { fileTokens } from './launch-mentions.js';
import { lineEndOf } from './text.js';
import type { Edit } from './types.js';

/** Headers that are not included yet, behind the last include at the top level that comes before `limit`. */
export function includeEdits({ source }: Unit, headers: readonly string[], limit: number): readonly Edit[] {
  const open = topLevel(source).filter(({ start }) => start < limit);
  const includes = open.filter(({ kind }) => kind === 'include');
  const missing = headers.filter((header) => !includes.some((d) => source.text.slice(d.start, d.end).includes(`<${header}>`)));
  if (missing.length === 0) return [];
  const last = includes.at(-1);
  const at = last !== undefined ? lineEndOf(source, Math.max(last.start, last.end - 1)) : topOf(source, open);
  const behind = at > 0 && source.text[at - 1] !== '\n' ? '\n' : '';
  return [{ file: source.realPath, span: { start: at, end: at }, text: behind + missing.map((header) => `#include <${header}>\n`).join('') }];
}

/** Does the unit include the file, by itself or through others, in front of `limit` and whatever the build? Quoted includes only: of others the files are not known. */
export function includedBefore(program: Program, unit: Unit, file: string, limit = Infinity, seen: ReadonlySet<string> = new Set()): boolean {
  const { source, includes } = unit;
  if (seen.has(source.realPath)) return false;
  const within = new Set([...seen, source.realPath]);
  return topLevel(source).some(({ kind, argument, start }) => {
    const quoted = kind === 'include' && start < limit ? /^"(?:\.{1,2}\/)*([^"]+)"/.exec(argument.trim())?.[1] : undefined;
    return quoted !== undefined && includes.some((path) => {
      if (path !== quoted && !path.endsWith(`/${quoted}`)) return false;
      const included = program.units.get(path);
      return path === file || (included !== undefined && includedBefore(program, included, file, Infinity, within));
    });
  });
}

/** Directives outside of conditionals (an include guard around the whole file aside) and of braces. */
function topLevel(source: SourceFile): readonly Directive[] {
  const { directives } = source;
  const guard = guardOf(source);
  const tokens = fileTokens(source);
  const found: Directive[] = [];
  let conditionals = 0;
  let braces = 0;
  let at = 0;
  for (const directive of directives) {
    for (; at < tokens.count && tokens.start(at) < directive.start; at++) {
      if (tokens.is(at, '{')) braces++;
      else if (tokens.is(at, '}')) braces--;
    }
    if (directive.kind === 'endif') conditionals--;
    if (conditionals - (guard !== null && directive !== guard ? 1 : 0) === 0 && braces === 0) found.push(directive);
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') conditionals++;
  }
  return found;
}

/** `#ifndef NAME` around everything, with `#define NAME` behind it. */
function guardOf(source: SourceFile): Directive | null {
  const { directives, text } = source;
  const [first, second] = directives;
  const last = directives.at(-1);
  if (first?.kind !== 'ifndef' || second?.kind !== 'define' || second.argument.trim() !== first.argument.trim()) return null;
  if (last?.kind !== 'endif' || last.opener !== 0) return null;
  const tokens = fileTokens(source);
  const before = tokens.count > 0 && tokens.start(0) < first.start;
  return before || /[^\s]/.test(text.slice(last.end).replaceAll(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '')) ? null : first;
}

/** Behind what makes a header one of a kind, else in front of the first directive if the file begins with it, else at the very top. */
function topOf(source: SourceFile, open: readonly Directive[]): number {
  const once = open.find(({ kind, argument }) => kind === 'pragma' && argument.trim() === 'once');
  const guard = guardOf(source);
  const behind = once ?? (guard === null ? undefined : source.directives[1]);
  if (behind !== undefined) return lineEndOf(source, Math.max(behind.start, behind.end - 1));
  const [first] = source.directives;
  const tokens = fileTokens(source);
  if (first === undefined || (tokens.count > 0 && tokens.start(0) < first.start)) return 0;
  return source.text.lastIndexOf('\n', first.start) + 1;
}

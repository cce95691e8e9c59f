/**
 * `#pragma` lines in text that a transform moves, copies or passes over. Those of a loop go with it. What the compiler reports may be said anywhere, if what is
 * pushed is popped in the same text; everything else holds for the text behind it (`pack`, `push_macro`) or for the next statement (`omp`).
 */
import { macroPragmas } from '../../src/source/index.js';
import type { Directive, Span } from '../../src/source/types.js';
import type { FunctionDecl, Unit } from '../../src/syntax/tree.js';

/** Why a text must stay what and where it is; null if no pragma says so. `at` is an offset. `reports`: may what the compiler reports be said in it? */
export function boundByPragma(fn: FunctionDecl, unit: Unit, region: Span, reports: boolean): { readonly at: number; readonly text: string } | null {
  const own = fn.directives.filter(({ kind }) => kind === 'pragma');
  // What stands directly in front is taken along with a loop.
  let { start } = region;
  for (const directive of [...own].reverse()) {
    if (directive.start >= region.start) continue;
    if (unit.source.text.slice(directive.end, start).trim() !== '') break;
    ({ start } = directive);
  }
  for (const { kind, name, start: from, end } of macroPragmas(unit.source, unit.macros)) {
    if (end > start && from < region.end) return { at: from, text: `${kind}_macro of ${name ?? 'a macro'} stands in the text that would be moved` };
  }
  let pushed = 0;
  for (const { at, argument, shown } of pragmasIn(own, unit, region)) {
    const sort = sortOf(argument);
    if (sort === 'loop') continue;
    if (sort === 'other' || !reports) return { at, text: `${shown} stands in the text that would be moved` };
    if (/\bpush\b/.test(argument)) pushed++;
    if (/\bpop\b/.test(argument) && --pushed < 0) break;
  }
  if (pushed !== 0) return { at: region.start, text: '#pragmas push and pop what the compiler reports, and only some of them stand in the text that would be moved' };
  return null;
}

/** The `#pragma` lines of a region and what stands for such (`_Pragma`, macros of it), in the order of the text. */
function pragmasIn(own: readonly Directive[], unit: Unit, region: Span): readonly { readonly at: number; readonly argument: string; readonly shown: string }[] {
  const inside = ({ start, end }: Span): boolean => end > region.start && start < region.end;
  const lines = own.filter(inside).map(({ start, argument }) => ({ at: start, argument, shown: `#pragma ${argument.trim()}` }));
  const others = unit.overlay.notes.flatMap((note) => (note.kind === 'pragma' && inside(note.span) && !own.some(({ start }) => start === note.span.start)
    ? [{ at: note.span.start, argument: said(note.text), shown: unit.source.text.slice(note.span.start, note.span.end) }] : []));
  return [...lines, ...others].sort((a, b) => a.at - b.at);
}

/** What a pragma says, as a directive would: a note holds it as it was written, a macro's as it is expanded. */
function said(text: string): string {
  const operand = /^\s*_{1,2}[Pp]ragma\s*\(\s*(?:L?"(.*)"|(.*?))\s*\)\s*$/s.exec(text);
  return (operand?.[1] ?? operand?.[2] ?? text.replace(/^\s*#\s*pragma\b/, '')).replaceAll('\\"', '"').trim();
}

/** `loop`: of the loop behind it. `report`: what the compiler says. */
function sortOf(argument: string): 'loop' | 'report' | 'other' {
  const [first = '', second = ''] = argument.trim().split(/[^\w]+/);
  if (LOOP.has(first) || ((first === 'GCC' || first === 'clang') && LOOP.has(second))) return 'loop';
  if (REPORT.test(first) || ((first === 'GCC' || first === 'clang') && second === 'diagnostic')) return 'report';
  return 'other';
}

const LOOP: ReadonlySet<string> = new Set(['unroll', 'nounroll', 'unoll', 'ivdep', 'loop', 'vector', 'novector', 'omp', 'acc', 'simd']);
const REPORT = /^(?:nv_diag\w*|diag_\w+|nv_exec_check_disable|hd_warning_disable|warning|message|region|endregion|mark)$/;

/**
 * `#pragma` lines in text that a transform moves, copies or passes over. Those of a loop go with it. What the compiler reports may be said anywhere, if what is
 * pushed is popped in the same text; everything else holds for the text behind it (`pack`, `push_macro`) or for the next statement (`omp`).
 */
import { macroPragmas } from '../../src/source/index.js';
import type { Span } from '../../src/source/types.js';
import type { FunctionDecl, Unit } from '../../src/syntax/tree.js';

/** Why a text must stay what and where it is; null if no pragma says so. `at` is an offset. */
export function boundByPragma(fn: FunctionDecl, unit: Unit, region: Span): { readonly at: number; readonly text: string } | null {
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
  for (const directive of own) {
    if (directive.end <= region.start || directive.start >= region.end) continue;
    const sort = sortOf(directive.argument);
    if (sort === 'loop') continue;
    if (sort === 'other') return { at: directive.start, text: `#pragma ${directive.argument} stands in the text that would be moved` };
    if (/\bpush\b/.test(directive.argument)) pushed++;
    if (/\bpop\b/.test(directive.argument) && --pushed < 0) break;
  }
  if (pushed !== 0) return { at: region.start, text: '#pragmas push and pop what the compiler reports, and only some of them stand in the text that would be moved' };
  return null;
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

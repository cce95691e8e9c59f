/**
 * compact:loop, what is written:
 *
 *     unsigned int queued = 0, finished = 0;             items of this lane, put and run so far
 *     float v_queue[4];
 *     for (…) {
 *         float v = …;
 *         const bool active = v > t;
 *         if (__any_sync(…, active && queued - finished == 4)) {
 *             if (finished != queued) { float v = v_queue[finished % 4]; heavy; finished++; }
 *         }
 *         if (active) { v_queue[queued % 4] = v; queued++; }
 *     }
 *     while (finished != queued) { float v = v_queue[finished % 4]; heavy; finished++; }
 */
import type { Span } from '../../src/source/types.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { armText } from '../lib/arm-text.js';
import { namerFor, prefersUnderscores } from '../lib/guards/names.js';
import { BINDING, grouped, negated } from '../lib/operands.js';
import { placeOf } from '../lib/place.js';
import { blockText, chainText, copyText, extentOf, indentAt, lineStartOf, joinLines, startsLine, statementStart, styleOf, textOf, type Replacement } from '../lib/text.js';
import type { Change, Edit, TransformContext } from '../lib/types.js';
import { maskAt, writeMask, type MaskPlan } from '../lib/votes.js';
import type { LoopPlan } from './loop-shape.js';
import { partOf } from './region.js';
import { declaredLike } from './region-types.js';

export interface LoopTexts { readonly edits: readonly Edit[]; readonly names: readonly string[] }

export function emitLoop(context: TransformContext, plan: LoopPlan): Change {
  const mask = maskAt(context, plan.region.stmt);
  if (mask.kind === 'problem') return { edits: [], reads: [] };
  const { source } = context.unit;
  return { edits: loopTexts(context, plan, mask).edits, reads: [{ file: source.realPath, ...context.facts.function.span }] };
}

export function loopTexts(context: TransformContext, plan: LoopPlan, mask: Extract<MaskPlan, { kind: 'mask' }>): LoopTexts {
  const { source } = context.unit;
  const file = source.realPath;
  const style = styleOf(source, context.facts.function);
  const fresh = namerFor(context);
  const names: string[] = [];
  const name = (wish: string): string => {
    const made = fresh(wish);
    names.push(made);
    return made;
  };
  const written = writeMask(context, mask, name);
  const snake = prefersUnderscores(context);
  const [active, queued, finished] = [name('active'), name('queued'), name('finished')];
  const held = plan.held.map(({ decl, type }) => ({ name: decl.name, copy: declaredLike(decl, type), type, queue: name(snake ? `${decl.name}_queue` : `${decl.name}Queue`) }));
  const { region, loop, depth } = plan;
  const declare = (type: string, what: string): string => (type.endsWith('*') ? `${type}${what}` : `${type} ${what}`);
  const word = (keyword: string): string => keyword + style.keywordSpace;

  // ------------------------------------------------------------------------------------------------ in place of the branch
  const place = placeOf(context, region.stmt, region.frames.at(-1)?.owner?.kind === 'switch');
  const at = place.indent;
  const deep = at + style.unit;
  const work = (indent: string): string => [
    ...held.map(({ copy, queue }) => `${indent}${copy} = ${queue}[${finished} % ${depth}];`), heavyText(context, plan, indent), `${indent}${finished}++;`,
  ].join('\n');
  const said = joinLines(textOf(source, region.predicate.span));
  const condition = region.holds ? grouped(said, region.predicate, BINDING.assignment) : negated(said, region.predicate);
  const put = [...held.map(({ name: own, queue }) => `${deep}${queue}[${queued} % ${depth}] = ${own};`), `${deep}${queued}++;`].join('\n');
  const lines = [
    `const bool ${active} = ${condition};`,
    '// where a lane has no room for one more item, every lane runs its oldest',
    blockText(style, at, `${word('if')}(__any_sync(${written.mask}, ${active} && ${queued} - ${finished} == ${depth}))`, deep + blockText(style, deep, `${word('if')}(${finished} != ${queued})`, work(deep + style.unit))),
    chainText(style, at, [
      { head: `${word('if')}(${active})`, lines: put },
      ...(region.light === null ? [] : [{ head: null, lines: lightText(context, plan, deep) }]),
    ]),
  ];
  const end = region.form === 'rest' ? Math.max(place.span.end, extentOf(source, region.heavy.stmts.at(-1) ?? region.stmt).end, extentOf(source, region.stmt).end) : place.span.end;
  const inside: Edit[] = [...place.edits, { file, span: { start: place.span.start, end }, text: `${place.before}${lines.join(`\n${at}`)}${place.after}` }];

  // ------------------------------------------------------------------------------------------------ around the loop
  const declarations = [`unsigned int ${queued} = 0, ${finished} = 0;`, ...held.map(({ type, queue }) => `${declare(type, queue)}[${depth}];`)];
  const extent = extentOf(source, loop);
  const parent = context.facts.parent(loop);
  const inLoop = (edit: Edit): boolean => edit.span.start >= extent.start && edit.span.end <= extent.end;
  const steps = written.edits;
  const own = indentAt(source, loop.span.start);
  const drained = (indent: string): string => blockText(style, indent, `${word('while')}(${finished} != ${queued})`, work(indent + style.unit));
  if (parent !== null && parent.kind === 'compound' && startsLine(source, extent.start)) {
    const before = lineStartOf(source, extent.start);
    return {
      names,
      edits: [
        ...steps, { file, span: { start: before, end: before }, text: declarations.map((line) => `${own}${line}\n`).join('') }, ...inside,
        { file, span: { start: extent.end, end: extent.end }, text: `\n${own}${drained(own)}` },
      ],
    };
  }
  const around = placeOf(context, loop, true);
  const replaced: Replacement[] = [...steps.filter(inLoop), ...inside].map(({ span, text }) => ({ span, text: text.replaceAll(`\n${own}`, `\n${around.indent}`) }));
  const whole = copyText(source, extent, { from: own, to: around.indent }, replaced);
  const text = [...declarations, whole, drained(around.indent)].join(`\n${around.indent}`);
  return { names, edits: [...steps.filter((edit) => !inLoop(edit)), ...around.edits, { file, span: around.span, text: `${around.before}${text}${around.after}` }] };
}

function heavyText(context: TransformContext, { region }: LoopPlan, indent: string): string {
  const { source } = context.unit;
  const { heavy } = region;
  if (heavy.block !== null && region.form === 'arm') return armText(source, heavy.block, indent);
  return listText(context, heavy.stmts, indent, region.form === 'rest' && !region.holds ? extentOf(source, region.stmt).end : null);
}

function lightText(context: TransformContext, { region }: LoopPlan, indent: string): string {
  const { source } = context.unit;
  const { light } = region;
  if (light === null) return '';
  if (region.form === 'arm' && light.block !== null) return armText(source, light.block, indent);
  return listText(context, light.stmts, indent, null);
}

/** Statements of a list with what stands between them, and with the comments in front of the first from `from` on. */
function listText(context: TransformContext, stmts: readonly Stmt[], indent: string, from: number | null): string {
  const { source } = context.unit;
  const [first, last] = [stmts[0], stmts.at(-1)];
  if (first === undefined || last === undefined) return '';
  const start = statementStart(first);
  const lead = from === null ? '' : source.text.slice(from, start).trim();
  const span: Span = { start: lead === '' || from === null ? start : start - source.text.slice(from, start).trimStart().length, end: extentOf(source, last).end };
  const own = indentAt(source, start);
  return indent + copyText(source, span, { from: own, to: indent });
}

/** The arms of a region's branch, for what is copied. */
export function copiedParts({ region }: LoopPlan): readonly Stmt[] {
  return region.heavy.block !== null && region.form === 'arm' ? [region.heavy.block] : region.heavy.stmts.length > 0 ? region.heavy.stmts : partOf(region.stmt.then).stmts;
}

/**
 * The text of compact:grid. In the counter variant the kernel's own text becomes a device function that does the light part of one item and says
 * whether it is heavy, so that early returns need no rewriting and every thread comes to the ballots:
 *
 *     static __device__ bool k_is_heavy(…) { …; if (p) return true; …; return false; }
 *     __global__ void k_light(…, unsigned *items, unsigned *count)          ballots, one atomic a block, one index for each heavy item
 *     __global__ void k_heavy(…, const unsigned *items, const unsigned *count)          the heavy part, over the list
 *
 * With `order=keep` the kernel marks its heavy items, and cub::DeviceSelect makes the list of the marks.
 */
import type { Node } from '../../src/analysis/children.js';
import type { Span } from '../../src/source/types.js';
import type { Stmt } from '../../src/syntax/tree.js';
import { writePlanText } from '../lib/launch-edits.js';
import { parameterList } from '../lib/launch-follow.js';
import { fileTokens } from '../lib/launch-mentions.js';
import { behindBrace } from '../lib/lost-comments.js';
import { launchSites } from '../lib/launch-sites.js';
import { namesDeclared } from '../lib/local-names.js';
import { blockText, commentsIn, copyText, extentOf, indentAt, lineStartOf, startsLine, styleOf, textOf, wholeLines, type Replacement, type Style } from '../lib/text.js';
import type { Change, Edit, TransformContext } from '../lib/types.js';
import { isIndexVariable, rewriteCoordinates } from './grid-index.js';
import type { GridPlan } from './grid-legal.js';
import { launchPlanOf, newKernels, parametersOf } from './grid-launch.js';
import { endsInReturn, returnsIn } from './grid-shape.js';
import { carriedType } from './grid-slice.js';

/** The edits of a legal plan. */
export function emitGrid(context: TransformContext, plan: GridPlan): Change {
  const { facts, unit } = context;
  const { source } = unit;
  const kernel = facts.function;
  const { body } = kernel;
  if (body === null) return { edits: [], reads: [] };
  const base = indentAt(source, kernel.span.start);
  const style = { ...styleOf(source, kernel), base, bodyOnOwnLine: source.text.slice(kernel.headSpan.end, body.span.start).includes('\n') || source.text.slice(lineStartOf(source, body.span.start), body.span.start).trim() === '' };

  const first = plan.order === 'free' ? lightFunction(context, plan, style) : markingKernel(context, plan, style);
  const edits: Edit[] = [];
  const texts: string[] = [];
  if (plan.keepOriginal) texts.push(copyText(source, kernel.span, { from: base, to: base }, first));
  else edits.push(...first.map(({ span, text }) => ({ file: source.realPath, span, text })));
  if (plan.order === 'free') texts.push(listKernel(context, plan, style));
  texts.push(heavyKernels(context, plan, style));
  const end = kernel.span.end;
  edits.push({ file: source.realPath, span: { start: end, end }, text: texts.map((text) => `\n\n${text}`).join('') });

  const launches = launchPlanOf(context, plan);
  const writing = writePlanText(context, launchSites(context), launches, { kernels: newKernels(context, plan), keepOriginal: plan.keepOriginal });
  edits.push(...writing.edits);
  return { edits, launches, reads: [{ file: source.realPath, start: kernel.span.start, end: kernel.span.end }] };
}

interface KernelStyle extends Style {
  /** Indentation of the kernel itself. */
  readonly base: string;
  readonly bodyOnOwnLine: boolean;
}

// ---------------------------------------------------------------------------------------------------------- heads

/** The head of the kernel with another name and further parameters; its layout stays. */
function headWith(context: TransformContext, name: string, extra: readonly string[]): readonly Replacement[] {
  const { function: kernel } = context.facts;
  return [{ span: kernel.nameSpan, text: name }, ...moreParameters(context, extra)];
}

function moreParameters(context: TransformContext, extra: readonly string[]): readonly Replacement[] {
  const { facts, unit } = context;
  if (extra.length === 0) return [];
  const last = facts.function.parameters.at(-1);
  if (last !== undefined) return [{ span: { start: last.span.end, end: last.span.end }, text: `, ${extra.join(', ')}` }];
  const list = parameterList(unit, facts.function);
  return list === null ? [] : [{ span: list, text: `(${extra.join(', ')})` }];
}

function headText(context: TransformContext, name: string, extra: readonly string[]): string {
  const { facts, unit } = context;
  const { headSpan } = facts.function;
  const base = indentAt(unit.source, headSpan.start);
  return copyText(unit.source, headSpan, { from: base, to: base }, headWith(context, name, extra)).trimEnd();
}

/** `template <…>` of the kernel with the newline or space behind it; empty if it is none. */
function templateText(context: TransformContext): string {
  const { facts, unit } = context;
  const { headSpan, template } = facts.function;
  if (template === null) return '';
  const { text } = unit.source;
  const last = template.at(-1);
  let at = last === undefined ? text.indexOf('<', headSpan.start) + 1 : last.span.end;
  while (at < headSpan.end && text[at] !== '>') at++;
  at++;
  while (/\s/.test(text[at] ?? '')) at++;
  return textOf(unit.source, { start: headSpan.start, end: at });
}

function templateArguments(context: TransformContext): string {
  const { template } = context.facts.function;
  return template === null ? '' : `<${template.map((parameter) => parameter.name).join(', ')}>`;
}

/** `__grid_constant__` in the list of parameters, which only kernels may say. */
function kernelOnly(context: TransformContext, list: Span): readonly Replacement[] {
  const { source } = context.unit;
  const tokens = fileTokens(source);
  const found: Replacement[] = [];
  for (let i = 0; i < tokens.count && tokens.start(i) < list.end; i++) {
    if (tokens.start(i) < list.start || tokens.spelling(i) !== '__grid_constant__') continue;
    let end = tokens.end(i);
    while (/\s/.test(source.text[end] ?? '')) end++;
    found.push({ span: { start: tokens.start(i), end }, text: '' });
  }
  return found;
}

function parametersText(context: TransformContext, extra: readonly string[]): string {
  const { facts, unit } = context;
  const list = parameterList(unit, facts.function);
  const base = indentAt(unit.source, facts.function.headSpan.start);
  return list === null ? `(${extra.join(', ')})` : copyText(unit.source, list, { from: base, to: base }, [...kernelOnly(context, list), ...moreParameters(context, extra)]);
}

function functionText(style: KernelStyle, head: string, lines: readonly string[]): string {
  return blockText({ ...style, bracesOnOwnLine: style.bodyOnOwnLine }, style.base, head, lines.join('\n'));
}

// --------------------------------------------------------------------------------------------------- first kernel

/** Replacements that make the kernel's text the function of the light part. */
function lightFunction(context: TransformContext, plan: GridPlan, style: KernelStyle): readonly Replacement[] {
  const { facts, unit } = context;
  const { source } = unit;
  const { function: kernel } = facts;
  const { body, headSpan } = kernel;
  if (body === null) return [];
  const { names, shape } = plan;
  const carried = parametersOf(plan).carried.map((parameter) => parameter.written);
  const head = textOf(source, headSpan).trimEnd();
  const replacements: Replacement[] = [{
    span: { start: headSpan.start, end: headSpan.start + head.length },
    text: `${templateText(context)}static __device__ bool ${names.all.light}${parametersText(context, carried)}`,
  }];
  const moved = movedSpan(context, plan);
  for (const stmt of returnsIn([body])) {
    if (moved.start <= stmt.span.start && stmt.span.end <= moved.end) continue;
    replacements.push({ span: stmt.span, text: 'return false;' });
  }
  replacements.push(...leaving(context, plan), inPlaceOfHeavy(context, plan, style, [...carriedStores(context, plan), 'return true;']));
  const last = body.body.at(-1);
  const ends = last !== undefined && (endsInReturn(last) || (shape.arm === null && shape.heavy.includes(last)));
  if (!ends) replacements.push(atTheEnd(context, style, last ?? null, 'return false;'));
  return replacements;
}

/** Replacements that make the kernel mark its heavy items. */
function markingKernel(context: TransformContext, plan: GridPlan, style: KernelStyle): readonly Replacement[] {
  const { names } = plan;
  const { carried, flags } = parametersOf(plan);
  const lines = [...carriedStores(context, plan), `${names.all.flags}[${itemText(context, plan)}] = 1;`, ...(plan.shape.behind ? ['return;'] : [])];
  return [...headWith(context, names.all.first, [...carried.map((parameter) => parameter.written), flags.written]), ...leaving(context, plan), inPlaceOfHeavy(context, plan, style, lines)];
}

/** Declarations that only the heavy part needed: they go with it. A name that is still spelled anywhere in what stays keeps its declaration. */
function leaving(context: TransformContext, plan: GridPlan): readonly Replacement[] {
  const { source } = context.unit;
  const { body } = context.facts.function;
  if (body === null) return [];
  const gone: Span[] = [movedSpan(context, plan)];
  const written = [...carriedStores(context, plan), ...(plan.order === 'keep' ? [itemText(context, plan)] : [])].join(' ');
  const replacements: Replacement[] = [];
  for (const stmt of [...plan.slice.statements].reverse()) {
    if (stmt.kind !== 'declare' || stmt.brings !== undefined) continue;
    const own = extentOf(source, stmt);
    const rest = without(source.text, body.span, [...gone, own]);
    if (namesDeclared(stmt).some((name) => new RegExp(`\\b${name}\\b`).test(rest) || new RegExp(`\\b${name}\\b`).test(written))) continue;
    gone.push(own);
    replacements.push({ span: wholeLines(source, own), text: '' });
  }
  return replacements;
}

/** The text of a span with others cut out. */
function without(text: string, span: Span, cuts: readonly Span[]): string {
  let out = '';
  let at = span.start;
  for (const cut of [...cuts].sort((a, b) => a.start - b.start)) {
    if (cut.start > at) out += `${text.slice(at, cut.start)} `;
    at = Math.max(at, cut.end);
  }
  return out + text.slice(at, span.end);
}

/** The item of the thread: a variable of the kernel that holds it, or its sum. */
function itemText(context: TransformContext, plan: GridPlan): string {
  const { facts } = context;
  for (const stmt of [...plan.shape.before.flat()].reverse()) {
    if (stmt.kind !== 'declare' || plan.index.axes !== 1) continue;
    for (const variable of stmt.variables) if (isIndexVariable(facts, variable) && isVisible(plan, variable.name)) return variable.name;
  }
  return itemSum(plan);
}

/** No block inside declares the name again. */
function isVisible(plan: GridPlan, name: string): boolean {
  return plan.shape.before.flat().filter((stmt) => stmt.kind === 'declare' && [...stmt.variables, ...stmt.types].some((decl) => decl.name === name)).length === 1;
}

function itemSum({ index }: GridPlan): string {
  const wide = index.item === 'unsigned' ? '' : '(unsigned long long)';
  const x = 'blockIdx.x * blockDim.x + threadIdx.x';
  if (index.axes === 1) return wide + x;
  return `${wide}(blockIdx.y * blockDim.y + threadIdx.y) * (gridDim.x * blockDim.x) + ${x}`;
}

function carriedStores(context: TransformContext, plan: GridPlan): readonly string[] {
  return plan.slice.carried.map(({ decl }, i) => `${plan.names.carried[i] ?? ''}[${itemText(context, plan)}] = ${decl.name};`);
}

/** The text that is moved: the inside of the arm, or all behind the guard. */
function movedSpan(context: TransformContext, { shape }: GridPlan): Span {
  const { source } = context.unit;
  if (shape.arm !== null) return shape.arm.kind === 'compound' ? { start: shape.arm.span.start + 1, end: shape.arm.span.end - 1 } : extentOf(source, shape.arm);
  const first = shape.heavy[0] ?? shape.branch;
  const last = shape.heavy.at(-1) ?? shape.branch;
  const block = context.facts.parent(shape.branch);
  const end = block !== null && block.kind === 'compound' && block.body.at(-1)?.kind === 'return' ? block.body.at(-1) ?? last : last;
  return { start: extentOf(source, first).start, end: extentOf(source, end).end };
}

function inPlaceOfHeavy(context: TransformContext, plan: GridPlan, style: KernelStyle, lines: readonly string[]): Replacement {
  const { source } = context.unit;
  const { arm, branch } = plan.shape;
  const span = movedSpan(context, plan);
  const outer = indentAt(source, branch.span.start);
  if (arm === null) return { span, text: lines.join(`\n${indentAt(source, span.start)}`) };
  const inner = outer + style.unit;
  if (arm.kind === 'compound') {
    const oneLine = !source.text.slice(span.start, span.end).includes('\n');
    return { span, text: oneLine ? ` ${lines.join(' ')} ` : `\n${lines.map((line) => inner + line).join('\n')}\n${indentAt(source, arm.span.end - 1)}` };
  }
  if (lines.length === 1) return { span, text: lines[0] ?? '' };
  return { span, text: `{ ${lines.join(' ')} }` };
}

function atTheEnd(context: TransformContext, style: KernelStyle, last: Stmt | null, line: string): Replacement {
  const { source } = context.unit;
  const { body } = context.facts.function;
  const close = (body?.span.end ?? 1) - 1;
  if (startsLine(source, close)) {
    const at = lineStartOf(source, close);
    return { span: { start: at, end: at }, text: `${style.base}${style.unit}${line}\n` };
  }
  void last;
  return { span: { start: close, end: close }, text: ` ${line} ` };
}

/** The kernel that calls the light function and writes the list. */
function listKernel(context: TransformContext, plan: GridPlan, style: KernelStyle): string {
  const { names, index } = plan;
  const all = names.all;
  const kernel = context.facts.function;
  const { carried, items, count } = parametersOf(plan);
  const call = `${all.light}${templateArguments(context)}(${[...kernel.parameters.map((parameter) => parameter.name), ...names.carried].join(', ')})`;
  const in1 = style.base + style.unit;
  const in2 = in1 + style.unit;
  const in3 = in2 + style.unit;
  const k = style.keywordSpace;
  const threads = index.axes === 1 ? 'blockDim.x' : 'blockDim.x * blockDim.y';
  const linear = index.axes === 1 ? 'threadIdx.x' : 'threadIdx.y * blockDim.x + threadIdx.x';
  const block = (head: string, lines: readonly string[]): string => blockText(style, in1, head, lines.join('\n'));
  const lines = [
    `${in1}__shared__ unsigned ${all.counts}[32];`,
    `${in1}__shared__ ${index.count} ${all.slot};`,
    `${in1}const bool ${all.isHeavy} = ${call};`,
    '',
    `${in1}// Slots of the list: by ballot within the warp, by the warps before it, by one atomic a block. No thread has left before.`,
    `${in1}const unsigned ${all.votes} = __ballot_sync(0xffffffffu, ${all.isHeavy});`,
    `${in1}const unsigned ${all.thread} = ${linear};`,
    `${in1}if${k}(${all.thread} % 32 == 0)`,
    `${in2}${all.counts}[${all.thread} / 32] = __popc(${all.votes});`,
    `${in1}__syncthreads();`,
    in1 + block(`if${k}(${all.thread} == 0)`, [
      `${in2}unsigned ${all.sum} = 0;`,
      `${in2}${blockText(style, in2, `for${k}(unsigned ${all.warp} = 0; ${all.warp} * 32 < ${threads}; ++${all.warp})`, [
        `${in3}const unsigned ${all.own} = ${all.counts}[${all.warp}];`, `${in3}${all.counts}[${all.warp}] = ${all.sum};`, `${in3}${all.sum} += ${all.own};`,
      ].join('\n'))}`,
      `${in2}${all.slot} = ${all.sum} > 0 ? atomicAdd(${all.count}, ${index.count === 'unsigned' ? all.sum : `(unsigned long long)${all.sum}`}) : 0;`,
    ]),
    `${in1}__syncthreads();`,
    `${in1}if${k}(${all.isHeavy})`,
    `${in2}${all.items}[${all.slot} + ${all.counts}[${all.thread} / 32] + __popc(${all.votes} & ((1u << ${all.thread} % 32) - 1))] = ${itemSum(plan)};`,
  ];
  return `${style.base}// The light part for every thread; the items that are heavy go to a list.\n${style.base}${functionText(style, headText(context, all.first, [...carried.map((parameter) => parameter.written), items.written, count.written]), lines)}`;
}

// -------------------------------------------------------------------------------------------------- heavy kernel

function heavyKernels(context: TransformContext, plan: GridPlan, style: KernelStyle): string {
  const { index, names } = plan;
  const all = names.all;
  const { carried, items, count, grid } = parametersOf(plan);
  const kernel = context.facts.function;
  const in1 = style.base + style.unit;
  const in2 = in1 + style.unit;
  const k = style.keywordSpace;
  const extra = [...carried.map((parameter) => parameter.read), ...grid.map((one) => one.read)];
  const parts: string[] = [];
  let inner: readonly string[];
  if (plan.itemFunction) {
    const head = `${templateText(context)}static __device__ void ${all.itemFunction}${parametersText(context, [`${index.item} ${all.item}`, ...extra])}`;
    parts.push(`${style.base}// The heavy part of one item.\n${style.base}${functionText(style, head, itemLines(context, plan, style, in1, all.item))}`);
    const args = [...kernel.parameters.map((parameter) => parameter.name), `${all.items}[${all.at}]`, ...names.carried, ...grid.map((one) => one.name)];
    inner = [`${in2}${all.itemFunction}${templateArguments(context)}(${args.join(', ')});`];
  } else {
    inner = itemLines(context, plan, style, in2, null);
  }
  const start = index.axes === 1 ? 'blockIdx.x * blockDim.x + threadIdx.x' : '(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x';
  const stride = index.axes === 1 ? 'gridDim.x * blockDim.x' : 'gridDim.x * blockDim.x * blockDim.y';
  const loop = `for${k}(${index.count} ${all.at} = ${start}, ${all.end} = *${all.count}; ${all.at} < ${all.end}; ${all.at} += ${stride})`;
  const head = headText(context, all.heavy, [...extra, items.read, count.read]);
  const text = plan.itemFunction ? `${loop}\n${inner.join('\n')}` : blockText(style, in1, loop, inner.join('\n'));
  parts.push(`${style.base}// The heavy part, over the list.\n${style.base}${functionText(style, head, [in1 + text])}`);
  return parts.join('\n\n');
}

/** What is done with one item, at an indentation; `given` is the item's name where it is a parameter. */
function itemLines(context: TransformContext, plan: GridPlan, style: KernelStyle, indent: string, given: string | null): readonly string[] {
  const { facts, unit } = context;
  const { source } = unit;
  const { index, names, shape, slice } = plan;
  const all = names.all;
  const roots: readonly Node[] = [...slice.statements, ...shape.heavy, ...shape.tail.flat()];
  const texts = { type: index.item, axes: index.axes, width: all.width, blocks: { x: all.blocksX, y: all.blocksY } };
  const probe = rewriteCoordinates(facts, roots, { ...texts, item: all.item }).replacements;
  const asking = probe.filter((one) => one.text.includes(all.item));
  const direct = given === null && index.axes === 1 && slice.carried.length === 0 && asking.length === 1 && asking[0]?.text === all.item;
  const replacements: Replacement[] = [...rewriteCoordinates(facts, roots, { ...texts, item: direct ? `${all.items}[${all.at}]` : all.item }).replacements];
  if (given === null) for (const stmt of returnsIn(roots)) replacements.push({ span: stmt.span, text: 'continue;' });
  const lines: string[] = [];
  if (given === null && !direct && (asking.length > 0 || slice.carried.length > 0)) lines.push(`${indent}const ${index.item} ${all.item} = ${all.items}[${all.at}];`);
  slice.carried.forEach(({ decl }, i) => { lines.push(`${indent}${decl.type.const === true ? 'const ' : ''}${carriedType(decl.type) ?? ''} ${decl.name} = ${names.carried[i] ?? ''}[${all.item}];`); });
  const put = (span: Span, depth: string): void => { lines.push(depth + copyText(source, span, { from: indentAt(source, span.start), to: depth }, within(replacements, span))); };
  for (const stmt of slice.statements) put(extentOf(source, stmt), indent);
  const outer = new Set([...slice.statements, ...shape.tail.flat()].flatMap(declaredNames).concat(slice.carried.map(({ decl }) => decl.name), given === null ? [] : facts.function.parameters.map((parameter) => parameter.name)));
  const braces = shape.heavy.flatMap(declaredNames).some((name) => outer.has(name));
  if (braces) lines.push(`${indent}{`);
  for (const span of heavySpans(context, plan)) put(span, braces ? indent + style.unit : indent);
  if (braces) lines.push(`${indent}}`);
  for (const group of shape.tail) put(listSpan(context, group), indent);
  return lines;
}

/** The heavy statements with the comments around them in the arm; one behind its brace stands on a line of its own. */
function heavySpans(context: TransformContext, { shape }: GridPlan): readonly Span[] {
  const { source } = context.unit;
  const span = listSpan(context, shape.heavy);
  if (shape.arm === null || shape.arm.kind !== 'compound') return [span];
  const open = shape.arm.span.start + 1;
  const close = shape.arm.span.end - 1;
  const onlyComments = (from: number, to: number): boolean => without(source.text, { start: from, end: to }, commentsIn(source, { start: from, end: to })).trim() === '';
  let start = span.start;
  if (onlyComments(open, span.start)) {
    start = open;
    while (start < span.start && /\s/.test(source.text[start] ?? '')) start++;
  }
  const end = onlyComments(span.end, close) ? span.end + source.text.slice(span.end, close).trimEnd().length : span.end;
  const head = behindBrace(source, open, start);
  if (head === null || head.end > span.start) return [{ start, end }];
  let rest = head.end;
  while (rest < span.start && /\s/.test(source.text[rest] ?? '')) rest++;
  return [head, { start: rest, end }];
}

function listSpan(context: TransformContext, list: readonly Stmt[]): Span {
  const { source } = context.unit;
  const first = list[0];
  const last = list.at(-1);
  if (first === undefined || last === undefined) return { start: 0, end: 0 };
  return { start: extentOf(source, first).start, end: extentOf(source, last).end };
}

function within(replacements: readonly Replacement[], span: Span): readonly Replacement[] {
  return replacements.filter((one) => span.start <= one.span.start && one.span.end <= span.end);
}

function declaredNames(stmt: Stmt): readonly string[] {
  return stmt.kind === 'declare' ? namesDeclared(stmt) : [];
}

/**
 * compact:block, what is written:
 *
 *     const bool active = …;                             the predicate, once a thread; early exits are part of it
 *     const unsigned int votes = __ballot_sync(…);       ranks: lower lanes, and the totals of earlier warps
 *     …
 *     if (active) queue_i[slot] = i;                     what an item needs
 *     __syncthreads();
 *     if (thread < items) { int i = queue_i[thread]; heavy }
 *
 * The text of light and heavy parts is copied as it stands, at its new depth.
 */
import type { Span } from '../../src/source/types.js';
import type { DeclareStmt, Expr, IfStmt, Stmt } from '../../src/syntax/tree.js';
import { behindBrace, lostComments, saidAbove } from '../lib/lost-comments.js';
import { placeOf } from '../lib/place.js';
import {
  blockText, chainText, commentsIn, copyText, extentOf, indentAt, statementStart, styleOf, textOf, unixNewlines, type Replacement, type Style,
} from '../lib/text.js';
import type { Change, Edit, TransformContext } from '../lib/types.js';
import { isEmpty, partOf, type Frame, type Gate, type Part } from './region.js';
import { namesOf, type Names } from './block-names.js';
import { isVisibleBehind, restStays, staysInPlace } from './block-rest.js';
import { hasSlots, queued, type BlockPlan } from './block-shape.js';
import { capacityReason } from './capacity-reason.js';
import { linearThread } from './block-thread.js';
import { conditionText } from './condition-text.js';
import { declaredAs, declaredLike } from './region-types.js';

export function emitBlock(context: TransformContext, plan: BlockPlan): Change {
  const { source } = context.unit;
  const frame = plan.region.frames[plan.base];
  const firstStmt = frame?.list[plan.first];
  const lastStmt = frame?.list[plan.end - 1];
  if (frame === undefined || firstStmt === undefined || lastStmt === undefined) throw new Error('internal: a region without statements');
  const place = placeOf(context, firstStmt, frame.owner !== null && frame.owner.kind === 'switch');
  // The rest of the kernel stays where it is.
  const changed = staysInPlace(context, plan) ? plan.region.stmt : restStays(plan) ? frame.list[frame.index] ?? lastStmt : lastStmt;
  const first = new Writer(context, plan, place.indent);
  // What is said above the branch goes to its condition, not to the queue.
  const start = first.isFused && place.before === place.indent ? saidAbove(source, place.span.start) : place.span.start;
  const span: Span = { start, end: Math.max(changed === lastStmt ? place.span.end : 0, extentOf(source, changed).end) };
  const draft = first.text();
  const lost = lostComments(source, span, draft);
  const text = lost.length === 0 ? draft : new Writer(context, plan, place.indent, lost).text();
  const body = text.startsWith(place.indent) ? text.slice(place.indent.length) : text;
  return {
    edits: [...place.edits, { file: source.realPath, span, text: place.before + body + place.after }, ...ownersIn(context, plan, span)],
    reads: [{ file: source.realPath, ...context.facts.function.span }],
  };
}

/** In text that stays where it is, coordinates of the owner. */
function ownersIn(context: TransformContext, plan: BlockPlan, changed: Span): readonly Edit[] {
  const { source } = context.unit;
  const { owners } = namesOf(context, plan);
  return staysInPlace(context, plan)
    ? plan.values.coordinates.filter((node) => node.span.start >= changed.end).map((node) => ({ file: source.realPath, span: node.span, text: owners.get(node.axis ?? 'x') ?? '' }))
    : [];
}

class Writer {
  private readonly style: Style;
  private readonly names: Names;
  private readonly source;

  constructor(private readonly context: TransformContext, private readonly plan: BlockPlan, private readonly indent: string, private readonly lost: readonly string[] = []) {
    this.source = context.unit.source;
    this.style = styleOf(this.source, context.facts.function);
    this.names = namesOf(context, plan);
  }

  /** The condition of the items is one expression. */
  get isFused(): boolean {
    return this.fused() !== null;
  }

  text(): string {
    const { plan, indent } = this;
    return [
      ...this.declarations(), ...this.fused() ?? [...this.flags(), this.listText(plan.base, plan.first, indent)], ...this.pass(), ...this.items(), ...this.results(), ...this.rest(),
    ].join('\n');
  }

  // ---------------------------------------------------------------------------------------------------- declarations

  private get capacity(): string {
    return this.plan.capacityName ?? `${this.plan.capacity}`;
  }

  private get warps(): string {
    return this.plan.capacityName === null ? `${Math.ceil(this.plan.capacity / 32)}` : `(${this.plan.capacityName} + 31) / 32`;
  }

  private declarations(): string[] {
    const { indent, names, plan } = this;
    const lines: string[] = [...this.moved(), ...plan.capacityName === null && hasSlots(plan) ? [`${indent}// ${capacityReason(this.context.facts, plan.capacity)}`] : []];
    for (const travel of plan.values.travels) {
      const queue = names.queues.get(travel.decl.name);
      if (queued(travel) && queue !== undefined) lines.push(`${indent}__shared__ ${declaredAs(travel.type, queue)}[${this.capacity}];`);
    }
    for (const axis of names.owners.keys()) lines.push(`${indent}__shared__ unsigned int ${names.queues.get(`threadIdx.${axis}`) ?? ''}[${this.capacity}];`);
    if (hasSlots(plan)) lines.push(`${indent}__shared__ unsigned int ${names.counts}[${this.warps}];`);
    if (plan.knownThread === null) lines.push(`${indent}const unsigned int ${names.thread} = ${linearThread(this.context.facts.block)};`);
    for (const { stmt, types } of plan.hoisted) {
      const [first = ''] = types.values();
      const alike = !first.endsWith('*') && [...types.values()].every((type) => type === first);
      if (alike) lines.push(`${indent}${first} ${stmt.variables.map(({ name }) => name).join(', ')};`);
      else for (const variable of stmt.variables) lines.push(`${indent}${declaredAs(types.get(variable) ?? '', variable.name)};`);
    }
    return lines;
  }

  /** Types and constants that the items need, as they stand, with the comments in front of them. */
  private moved(): string[] {
    const { plan, indent } = this;
    return plan.region.frames.slice(plan.base).flatMap((frame, i) => frame.list.slice(i === 0 ? plan.first : 0, frame.index).flatMap((stmt, index) => {
      if (!isMoving(plan, stmt)) return [];
      return [...this.leading(frame, index + (i === 0 ? plan.first : 0), indent).filter((line) => line !== ''), indent + this.copy(extentOf(this.source, stmt), indent, [])];
    }));
  }

  // ------------------------------------------------------------------------------------------------------- the light part

  /** `active = a && b;`, where nothing stands between the gates and the region, and nothing is done for those that do not pass. */
  private fused(): string[] | null {
    const { plan, indent, names } = this;
    const { region } = plan;
    if (plan.flagged.size > 0 || region.light !== null) return null;
    const conditions: { readonly expr: Expr; readonly holds: boolean }[] = [];
    const comments: string[] = [];
    for (let i = plan.base; i < region.frames.length; i++) {
      const frame = region.frames[i];
      if (frame === undefined) return null;
      const from = i === plan.base ? plan.first : 0;
      for (let at = from; at <= frame.index; at++) {
        const stmt = frame.list[at];
        if (stmt === undefined) return null;
        if (isMoving(plan, stmt)) continue;
        if (i > plan.base || at > from) comments.push(...this.leading(frame, at, indent));
        if (stmt === region.stmt) conditions.push({ expr: region.predicate, holds: region.holds });
        else if (stmt.kind === 'compound' && at === frame.index) continue;
        else {
          const gate = plan.gates.find((one) => one.stmt === stmt);
          if (gate === undefined) return null;
          if (gate.kind === 'exit') {
            if (!isEmpty(partOf(gate.stmt.then).stmts.slice(0, -1))) return null;
            conditions.push({ expr: gate.stmt.condition, holds: false });
          } else {
            const inner = region.frames[i + 1];
            const other = inner?.arm === 'then' ? gate.stmt.else : gate.stmt.then;
            if (other !== null && !isEmpty([other])) return null;
            conditions.push({ expr: gate.stmt.condition, holds: inner?.arm === 'then' });
          }
        }
      }
    }
    const text = conditions.map(({ expr, holds }) => conditionText(this.source, expr, holds, conditions.length > 1)).join(' && ');
    return [...comments, ...this.lostLines(indent), `${indent}const bool ${names.active} = ${text};`];
  }

  /** Comments that lost their place. What is said at an early exit is said of the threads that leave there, and here the others are named. */
  private lostLines(to: string): string[] {
    const { names, plan, source } = this;
    const { region } = plan;
    const leaving = plan.gates.filter((gate) => gate.kind === 'exit').map((gate) => gate.stmt);
    if (region.form === 'rest' && !region.holds && region.light === null) leaving.push(region.stmt);
    const exits = leaving.flatMap((stmt) => commentsIn(source, { start: stmt.span.start, end: extentOf(source, stmt).end }))
      .map(({ start, end }) => unixNewlines(source.text.slice(start, end)).trimEnd());
    return this.lost.map((comment) => to + (exits.includes(comment) && !comment.includes('\n') ? comment.replace(/^(\/\/+|\/\*+)\s*/, `$1 not ${names.active}: `) : comment));
  }

  private flags(): string[] {
    const { indent, names, plan } = this;
    if (plan.gates.length === 0) return [];
    const made = [...names.flags].filter(([frame]) => !plan.knownFlags.has(frame)).map(([, name]) => name);
    return [`${indent}bool ${[...made, names.active].map((name) => `${name} = false`).join(', ')};`];
  }

  /** Statements of a frame from `from` up to the region, and what leads there. */
  private listText(index: number, from: number, to: string): string {
    const { plan, names } = this;
    const frame = plan.region.frames[index];
    if (frame === undefined) return '';
    const pieces: string[] = [];
    const exit = plan.gates.find((gate): gate is Gate => gate.kind === 'exit' && gate.frame === index && gate.index >= from);
    const stop = exit?.index ?? frame.index;
    for (let i = from; i < stop; i++) pieces.push(...this.statement(frame, i, to));
    const stmt = frame.list[stop];
    if (stmt === undefined) return pieces.join('\n');
    if (!(index === plan.base && stop === plan.first)) pieces.push(...this.leading(frame, stop, to));
    if (exit !== undefined) {
      const arm = partOf(exit.stmt.then);
      const other: Part = { stmts: arm.stmts.slice(0, -1), block: arm.block };
      const arms = [{ head: this.head(conditionText(this.source, exit.stmt.condition, false, false)), lines: atTheTop(this.listText(index, stop + 1, to + this.style.unit)) }];
      pieces.push(to + chainText(this.style, to, isEmpty(other.stmts) ? arms : [...arms, { head: null, lines: this.partText(other, to + this.style.unit, arm.stmts.at(-1)) }]));
      return pieces.join('\n');
    }
    const flag = names.flags.get(index);
    if (flag !== undefined && !plan.knownFlags.has(index)) pieces.push(`${to}${flag} = true;`);
    pieces.push(stmt === plan.region.stmt ? this.regionText(to) : this.inner(index, stmt, to));
    return pieces.join('\n');
  }

  private head(condition: string): string {
    return `if${this.style.keywordSpace}(${condition})`;
  }

  /** A gate that stays, or a block of its own, with the way to the region in it. */
  private inner(index: number, stmt: Stmt, to: string): string {
    const { plan, style } = this;
    const next = plan.region.frames[index + 1];
    const deeper = to + style.unit;
    if (stmt.kind === 'compound') return to + blockText(style, to, '', this.listText(index + 1, 0, deeper), false);
    if (stmt.kind !== 'if' || next === undefined) throw new Error('internal: the way to the region leads through something else');
    const head = this.head(unixNewlines(this.source.text.slice(stmt.condition.span.start, stmt.condition.span.end)));
    const way = this.listText(index + 1, 0, deeper);
    if (next.arm === 'then') {
      const arms = [{ head, lines: way }];
      return to + chainText(style, to, stmt.else === null || isEmpty([stmt.else]) ? arms : [...arms, { head: null, lines: this.partText(partOf(stmt.else), deeper) }]);
    }
    return to + chainText(style, to, [{ head, lines: this.partText(partOf(stmt.then), deeper) }, { head: null, lines: way }]);
  }

  /** The region's own `if`: what is left of it in the light part. */
  private regionText(to: string): string {
    const { plan, names, style } = this;
    const { region } = plan;
    const value = conditionText(this.source, region.predicate, region.holds, false);
    const lines = [...this.lostLines(to), plan.gates.length === 0 ? `${to}const bool ${names.active} = ${value};` : `${to}${names.active} = ${value};`];
    if (region.light !== null) {
      lines.push(to + chainText(style, to, [{ head: this.head(`!${names.active}`), lines: this.partText(region.light, to + style.unit, region.light.block === null ? undefined : region.jump ?? undefined) }]));
    }
    return lines.join('\n');
  }

  // -------------------------------------------------------------------------------------------------------- the pass

  private pass(): string[] {
    const { indent, names, plan } = this;
    const { unit } = this.style;
    if (!hasSlots(plan)) return [`${indent}// The first threads of the block do what the active ones would have done.`, `${indent}const unsigned int ${names.items} = __syncthreads_count(${names.active});`];
    const lines = [
      `${indent}// Number the active threads of the block: those of earlier warps first, then lower lanes.`,
      `${indent}const unsigned int ${names.votes} = __ballot_sync(0xffffffffu, ${names.active});`,
      `${indent}${this.head(`${names.thread} % 32 == 0`)}`,
      `${indent}${unit}${names.counts}[${names.thread} / 32] = __popc(${names.votes});`,
      `${indent}const unsigned int ${names.items} = __syncthreads_count(${names.active});`,
      `${indent}unsigned int ${names.slot} = __popc(${names.votes} & ((1u << (${names.thread} % 32)) - 1u));`,
      ...this.earlierWarps(),
    ];
    const stores = [
      ...plan.values.travels.filter((travel) => travel.how === 'carry').map((travel) => `${names.queues.get(travel.decl.name) ?? ''}[${names.slot}] = ${travel.decl.name};`),
      ...[...names.owners.keys()].map((axis) => `${names.queues.get(`threadIdx.${axis}`) ?? ''}[${names.slot}] = threadIdx.${axis};`),
    ];
    if (stores.length > 0) lines.push(this.under(names.active, stores));
    lines.push(`${indent}__syncthreads();`);
    return lines;
  }

  /**
   * Counts of the warps in front. A short row of them is walked whole, so that the compiler unrolls the loop and its loads do not wait for one another
   * (measured: up to a tenth of the kernel); a warp that the launch does not have is behind every other, and its count is not read.
   */
  private earlierWarps(): string[] {
    const { indent, names, plan } = this;
    const { unit, keywordSpace } = this.style;
    const earlier = `${names.warp} < ${names.thread} / 32`;
    const add = `${names.slot} += ${names.counts}[${names.warp}];`;
    if (plan.capacity > LONGEST_ROW) return [`${indent}for${keywordSpace}(unsigned int ${names.warp} = 0; ${earlier}; ++${names.warp})`, indent + unit + add];
    return [`${indent}for${keywordSpace}(unsigned int ${names.warp} = 0; ${names.warp} < ${this.warps}; ++${names.warp})`, `${indent}${unit}${this.head(earlier)}`, indent + unit + unit + add];
  }

  /** `if (c) s;`, with braces around several statements. */
  private under(condition: string, statements: readonly string[]): string {
    const { indent, style } = this;
    const deeper = indent + style.unit;
    const head = this.head(condition);
    if (statements.length === 1) return `${indent}${head}\n${deeper}${statements[0] ?? ''}`;
    return indent + blockText(style, indent, head, statements.map((statement) => deeper + statement).join('\n'));
  }

  private items(): string[] {
    const { indent, names, plan, style } = this;
    const deeper = indent + style.unit;
    const test = `${names.thread} < ${names.items}`;
    if (staysInPlace(this.context, plan)) return [this.leaveWith(`${names.thread} >= ${names.items}`, plan.region.stmt), ...this.taken(indent, true)];
    const coordinates = plan.values.coordinates.map((node): Replacement => ({ span: node.span, text: names.owners.get(node.axis ?? 'x') ?? '' }));
    const lines = [...this.taken(deeper, false), this.partText(plan.region.heavy, deeper, plan.region.heavy.block === null ? undefined : plan.region.jump ?? undefined, coordinates)];
    for (const travel of plan.values.travels) if (travel.result) lines.push(`${deeper}${names.queues.get(travel.decl.name) ?? ''}[${names.thread}] = ${travel.decl.name};`);
    return [indent + blockText(style, indent, this.head(test), lines.filter((line) => line !== '').join('\n'))];
  }

  /** `if (c) return;`, as a guard of the source is written that does nothing else. */
  private leaveWith(test: string, like: IfStmt | null): string {
    const { indent, source } = this;
    if (like === null || commentsIn(source, like.span).length > 0 || partOf(like.then).stmts.length !== 1) return this.under(test, ['return;']);
    return indent + copyText(source, like.span, { from: indentAt(source, like.span.start), to: indent }, [{ span: like.condition.span, text: test }]);
  }

  /** What an item needs, taken from the queue: into variables of its own, or, where the rest of the kernel is the item, into those that are there. */
  private taken(to: string, inPlace: boolean): string[] {
    const { names, plan } = this;
    const lines = [...names.owners].map(([axis, owner]) => `${to}const unsigned int ${owner} = ${names.queues.get(`threadIdx.${axis}`) ?? ''}[${names.thread}];`);
    for (const { decl, type, how, value, declaration } of plan.values.travels) {
      const there = inPlace && isVisibleBehind(plan, decl);
      const variable = there ? decl.name : declaredLike(decl, type);
      if (how === 'carry') lines.push(`${to}${variable} = ${names.queues.get(decl.name) ?? ''}[${names.thread}];`);
      else if (how === 'declare') lines.push(...(there ? [] : [`${to}${variable};`]));
      else if (declaration !== null && !there) lines.push(to + this.copy(extentOf(this.source, declaration), to, []));
      else if (value !== null) lines.push(`${to}${variable} = ${textOf(this.source, value.span)};`);
    }
    return lines;
  }

  private results(): string[] {
    const { indent, names, plan } = this;
    const results = plan.values.travels.filter((travel) => travel.result);
    if (results.length === 0 && !plan.barrierAfter) return [];
    return results.length === 0 ? [`${indent}__syncthreads();`] : [`${indent}__syncthreads();`, this.under(names.active, results.map((travel) => `${travel.decl.name} = ${names.queues.get(travel.decl.name) ?? ''}[${names.slot}];`))];
  }

  /** What the lists behind the region still hold, each for the threads that had come there. */
  private rest(): string[] {
    const { plan, indent, names, style } = this;
    const pieces: string[] = [];
    for (let i = plan.region.frames.length - 1; i >= plan.base; i--) {
      const flag = names.flags.get(i);
      const frame = plan.region.frames[i];
      if (flag === undefined || frame === undefined) continue;
      if (i === plan.base && restStays(plan)) { pieces.push(this.leaveWith(`!${flag}`, plan.gates.find((gate) => gate.kind === 'exit' && gate.frame === i)?.stmt ?? null)); continue; }
      const lines: string[] = [];
      for (let at = frame.index + 1; at < frame.list.length; at++) lines.push(...this.leading(frame, at, indent + style.unit), ...this.statement(frame, at, indent + style.unit, true));
      pieces.push(indent + chainText(style, indent, [{ head: this.head(flag), lines: atTheTop(lines.join('\n')) }]));
    }
    return pieces;
  }

  // ------------------------------------------------------------------------------------------------------------ copies

  /** One statement of a frame, with the comments in front of it; a declaration that moved leaves its initialiser. */
  private statement(frame: Frame, index: number, to: string, bare = false): string[] {
    const stmt = frame.list[index];
    if (stmt === undefined || this.plan.dead.has(stmt) || isMoving(this.plan, stmt)) return [];
    const before = bare ? [] : this.leading(frame, index, to);
    const hoisted = this.plan.hoisted.find((one) => one.stmt === stmt);
    if (hoisted === undefined) return [...before, to + this.copy(extentOf(this.source, stmt), to, [])];
    const assignments = this.assignments(hoisted.stmt);
    return assignments === '' ? before.filter((line) => line !== '') : [...before, `${to}${assignments}${this.trailing(stmt)}`];
  }

  private assignments(stmt: DeclareStmt): string {
    const parts = stmt.variables.flatMap((variable) => (variable.init === null ? [] : [`${variable.name} = ${textOf(this.source, variable.init.span)}`]));
    return parts.length === 0 ? '' : `${parts.join(', ')};`;
  }

  private trailing(stmt: Stmt): string {
    return unixNewlines(this.source.text.slice(stmt.span.end, extentOf(this.source, stmt).end));
  }

  /** Comments between a statement and the one before it, each on a line of its own, and the empty lines between them. */
  private leading(frame: Frame, index: number, to: string): string[] {
    const stmt = frame.list[index];
    if (stmt === undefined) return [];
    const previous = frame.list[index - 1];
    const start = previous !== undefined ? extentOf(this.source, previous).end : frame.block !== null ? frame.block.span.start + 1 : statementStart(stmt);
    const lines: string[] = [];
    let at = start;
    const emptyLines = (end: number): void => {
      const newlines = this.source.text.slice(at, end).split('\n').length - 1;
      if (previous !== undefined || lines.length > 0) lines.push(...Array.from({ length: Math.max(0, newlines - 1) }, () => ''));
    };
    for (const comment of commentsIn(this.source, { start, end: statementStart(stmt) })) {
      emptyLines(comment.start);
      const text = this.source.text.slice(comment.start, comment.end).trimEnd();
      lines.push(to + unixNewlines(text));
      at = comment.start + text.length;
    }
    emptyLines(statementStart(stmt));
    return lines;
  }

  /** The statements of a part at another depth; of a block all that stands between its braces. Without `without`, the jump at its end. */
  private partText(part: Part, to: string, without?: Stmt, replacements: readonly Replacement[] = []): string {
    const { text } = this.source;
    const first = part.stmts[0];
    const last = part.stmts.at(-1);
    if (first === undefined || last === undefined) return '';
    let start = statementStart(first);
    let end = extentOf(this.source, last).end;
    if (part.block !== null) {
      start = part.block.span.start + 1;
      end = without === undefined ? part.block.span.end - 1 : without.span.start;
      // A comment behind the brace belongs to the head.
      while (start < end && /\s/.test(text[start] ?? '')) start++;
      const head = behindBrace(this.source, part.block.span.start, start);
      if (head !== null && head.end < end) {
        let rest = head.end;
        while (rest < end && /\s/.test(text[rest] ?? '')) rest++;
        while (end > rest && /\s/.test(text[end - 1] ?? '')) end--;
        const comment = to + this.copy(head, to, []);
        return rest < end ? `${comment}\n${to}${this.copy({ start: rest, end }, to, replacements)}` : comment;
      }
      while (end > start && /\s/.test(text[end - 1] ?? '')) end--;
    } else if (part === this.plan.region.heavy || part === this.plan.region.light) {
      start = this.restStart(first, start);
    }
    return to + this.copy({ start, end }, to, replacements);
  }

  /** The rest of a list starts with the comments behind the `if`. */
  private restStart(first: Stmt, start: number): number {
    const { region } = this.plan;
    if (region.form !== 'rest' || first.span.start < region.stmt.span.end) return start;
    const comment = commentsIn(this.source, { start: extentOf(this.source, region.stmt).end, end: start })[0];
    return comment?.start ?? start;
  }

  private copy(span: Span, to: string, replacements: readonly Replacement[]): string {
    const from = indentAt(this.source, span.start);
    return copyText(this.source, span, { from, to }, replacements.filter((one) => one.span.start >= span.start && one.span.end <= span.end));
  }
}

function isMoving({ moving }: BlockPlan, stmt: Stmt): boolean {
  return stmt.kind === 'declare' && moving.stmts.includes(stmt);
}

/** Threads of a block whose warps' counts are all walked. */
const LONGEST_ROW = 512;

/** Empty lines that stood between two statements do not begin a block. */
function atTheTop(lines: string): string {
  return lines.replace(/^(?:[ \t]*\n)+/, '');
}

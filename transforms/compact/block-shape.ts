/**
 * compact:block, what is found: where in the kernel all threads of a block still come together (the base), which gates stand between
 * there and the region, what the queue holds and how large it may become.
 */
import { arrivalSets, type Partition } from '../../src/analysis/arrival.js';
import { walk } from '../../src/analysis/children.js';
import type { FunctionFacts } from '../../src/analysis/facts.js';
import { mayBeClass } from '../../src/analysis/implicit-calls.js';
import { endsOf } from '../../src/analysis/object-lives.js';
import { judge } from '../../src/analysis/template-types.js';
import type { Span } from '../../src/source/types.js';
import { strip, type Decl, type DeclareStmt, type Stmt, type Type, type VariableDecl } from '../../src/syntax/tree.js';
import { movesAlong, type Moving } from '../lib/moves-along.js';
import type { TransformContext } from '../lib/types.js';
import { behind, gatesOf, isInside, isLoop, spanOf, walkAll, type Frame, type Gate, type Region } from './region.js';
import { meetsAfterwards, surroundings } from './region-checks.js';
import { isPrivate, valuesOf, type Travel, type Trouble, type Values } from './region-values.js';
import { codeOnly, textOf } from '../lib/text.js';
import { linearThread } from './block-thread.js';
import { namedCapacity } from './named-capacity.js';
import { sizeOf, spelledType } from './region-types.js';

export const MAX_SHARED = 48 * 1024;

/** A declaration that moves in front of the gates; its initialiser stays behind as an assignment. */
export interface Hoisted {
  readonly stmt: DeclareStmt;
  readonly types: ReadonlyMap<VariableDecl, string>;
}

export interface BlockPlan {
  readonly region: Region;
  /** The frame in whose list all threads of the block come together. */
  readonly base: number;
  /** From the base inwards, from the first one on that threads do not share. */
  readonly gates: readonly Gate[];
  /** Index in the base's list of the first statement that changes. */
  readonly first: number;
  /** Index behind the last statement that changes. */
  readonly end: number;
  /** What keeps threads away that is no gate. */
  readonly kept: { readonly partition: Partition | null; readonly at: Stmt; readonly text: string } | null;
  readonly values: Values;
  readonly hoisted: readonly Hoisted[];
  /** Types and constants that move in front of the gates as they are. */
  readonly moving: Moving;
  /** Declarations on the way to the region of what only the items use, and compute again. */
  readonly dead: ReadonlySet<Stmt>;
  /** Declarations that would have to move in front of the gates and cannot. */
  readonly stuck: readonly { readonly decl: Decl; readonly text: string }[];
  /** Frames from the base inwards whose rest still has to run, under a flag of its own where gates lie before it. */
  readonly flagged: ReadonlySet<number>;
  /** Flags of those frames, and the number of the thread, that the kernel keeps already: it was compacted before, or its author did so. */
  readonly knownFlags: ReadonlyMap<number, string>;
  readonly knownThread: string | null;
  /** The base is the body of a loop: the region comes again. */
  readonly loops: boolean;
  /** A barrier must stand between the items and what their owners do next. */
  readonly barrierAfter: boolean;
  /** Threads a block may have at most. */
  readonly capacity: number;
  /** The same in the source's own words, if it has any. */
  readonly capacityName: string | null;
  /** What those words come from. */
  readonly capacityFrom: 'launches' | 'bound' | null;
}

export function planBlock(context: TransformContext, region: Region): BlockPlan {
  const { facts } = context;
  const { partitions } = arrivalSets(facts).at(region.stmt);
  const all = gatesOf(region);
  const matched = new Set<Gate>();
  let kept: BlockPlan['kept'] = null;
  for (const partition of partitions) {
    const gate = all.find((one) => one.stmt === partition.at || (one.kind === 'exit' && isInside(partition.at, [one.stmt])));
    if (gate === undefined) kept ??= { partition, at: region.stmt, text: keptText(context, partition) };
    else matched.add(gate);
  }
  const firstGate = all.find((gate) => matched.has(gate)) ?? null;
  const base = firstGate?.frame ?? region.frames.length - 1;
  const gates = firstGate === null ? [] : all.slice(all.indexOf(firstGate));
  region.frames.forEach((frame, i) => {
    if (i <= base || frame.owner === null) return;
    if (frame.owner.kind !== 'if' && frame.owner.kind !== 'compound') kept ??= { partition: null, at: frame.owner, text: `the ${frame.owner.kind} around it stands under a branch that threads do not share` };
  });
  const at = region.frames[base];
  if (at === undefined) throw new Error('internal: a region without frames');
  if (at.owner !== null && (at.owner.kind === 'preprocessor' || at.owner.kind === 'label')) kept ??= { partition: null, at: at.owner, text: 'it stands below a directive or a label' };
  const first = firstGate?.index ?? at.index;
  const openEnd = gates.some((gate) => gate.kind === 'exit' && gate.frame === base) || (base === region.frames.length - 1 && region.form === 'rest');
  const end = openEnd ? at.list.length : at.index + 1;
  const gated: Span = { start: at.list[first]?.span.start ?? region.stmt.span.start, end: at.list[end - 1]?.span.end ?? region.stmt.span.end };
  const found = valuesOf(context, region, gated);
  const early = gates.length === 0 ? null : endsEarly(context, region, base, first);
  const values = early === null ? found : { ...found, troubles: [...found.troubles, early] };
  const loops = insideLoop(region, base);
  const flagged = new Set<number>();
  for (let i = base; i < region.frames.length; i++) {
    if (behind(region, i).length === 0) continue;
    if (i > base || gates.some((gate) => gate.kind === 'exit' && gate.frame === base)) flagged.add(i);
  }
  const place = at.list[first] ?? region.stmt;
  const mover = { texts: textsMoved(region, values, flagged), place, end: at.block?.span.end ?? facts.parent(place)?.span.end ?? gated.end, where: 'the branches around it' };
  const ahead = gates.length === 0 ? null : movesAlong(context, { ...mover, words: wordsOfTypes(values.travels.map(({ type }) => type)) });
  const { hoisted, stuck } = hoist(context, region, base, gates, values, flagged, ahead?.stmts ?? []);
  const moving = ahead === null ? { stmts: [], stuck: null } : movesAlong(context, { ...mover, words: wordsOfTypes([...values.travels.map(({ type }) => type), ...hoisted.flatMap(({ types }) => [...types.values()])]) });
  const dead = unneeded(context, region, base, first, values);
  const results = values.travels.some((travel) => travel.result);
  const barrierAfter = !results && meetsAfterwards(context, region, [...surroundings(context, region).after]);
  const asked = facts.block.origin === 'option' || facts.block.origin === 'annotation' || facts.block.origin === 'block-size';
  const named = asked ? null : namedCapacity(context);
  const knownFlags = new Map([...flagged].flatMap((i) => { const name = knownFlag(context, region, gates, base, first, i); return name === null ? [] : [[i, name] as const]; }));
  const knownThread = threadBefore(context, at.list.slice(0, first));
  return { region, base, gates, first, end, kept, values, hoisted, stuck, moving, dead, flagged, knownFlags, knownThread, loops, barrierAfter, capacity: named?.threads ?? facts.block.maxThreads, capacityName: named?.text ?? null, capacityFrom: named?.from ?? null };
}

/** `live`, where `if (live)` is all that decides who comes to the frame, and nothing sets it from there on. */
function knownFlag(context: TransformContext, region: Region, gates: readonly Gate[], base: number, first: number, frame: number): string | null {
  const { facts } = context;
  const [gate, other] = gates.filter((one) => one.frame < frame || (one.kind === 'exit' && one.frame === frame));
  if (gate?.kind !== 'if' || other !== undefined || region.frames.find(({ owner }) => owner === gate.stmt)?.arm !== 'then') return null;
  const flag = strip(gate.stmt.condition);
  const decl = flag.kind === 'ref' ? flag.decl : null;
  const { body } = facts.function;
  if (decl === null || decl.kind !== 'variable' || decl.type.kind !== 'bool' || !isPrivate(decl) || facts.addressTaken(decl) || body === null || clashes(context, decl)) return null;
  if (!(region.frames[base]?.list.slice(0, first) ?? []).some((stmt) => stmt.kind === 'declare' && stmt.variables.includes(decl))) return null;
  return facts.assignments(decl, body).every((definition) => definition.kind === 'declaration' || ('node' in definition && definition.node.span.end <= gate.stmt.span.start)) ? decl.name : null;
}

/** `const unsigned int thread = threadIdx.x;` among the statements. */
function threadBefore(context: TransformContext, list: readonly Stmt[]): string | null {
  const { facts, unit } = context;
  const number = linearThread(facts.block);
  for (const stmt of list) {
    const decl = stmt.kind === 'declare' && stmt.variables.length === 1 ? stmt.variables[0] : undefined;
    if (decl?.init == null || decl.type.kind !== 'int' || decl.type.const !== true || decl.type.signed || decl.type.bits !== 32 || decl.storage !== 'automatic') continue;
    if (codeOnly(textOf(unit.source, decl.init.span)) === number && !clashes(context, decl)) return decl.name;
  }
  return null;
}

function keptText(context: TransformContext, partition: Partition): string {
  const line = context.unit.source.line(partition.at.span.start);
  switch (partition.by) {
    case 'loop': return `threads of a block run the loop on line ${line} for different numbers of rounds`;
    case 'jump': return `some threads of the block ${partition.kind === 'exit' ? 'return' : 'jump'} on line ${line}`;
    case 'branch': return `only some threads of the block come past line ${line}`;
    case 'goto': return `a goto on line ${line} leads past it`;
    case 'lambda': return 'it stands in a lambda';
    case 'caller': return 'only some threads call the function';
    default: {
      const never: never = partition.by;
      return never;
    }
  }
}

function insideLoop(region: Region, base: number): boolean {
  return region.frames.slice(0, base + 1).some((frame) => frame.owner !== null && isLoop(frame.owner));
}

/** Statements in front of the region that come to stand inside braces, or already do: what they declare is not seen by the items. */
function before(frame: Frame, index: number, from: number): readonly Stmt[] {
  return frame.list.slice(from, index);
}

function hoist(context: TransformContext, region: Region, base: number, gates: readonly Gate[], values: Values, flagged: ReadonlySet<number>, moving: readonly DeclareStmt[]): Pick<BlockPlan, 'hoisted' | 'stuck'> {
  if (gates.length === 0) return { hoisted: [], stuck: [] };
  const first = gates[0];
  const declared = new Map<Decl, DeclareStmt>();
  region.frames.forEach((frame, i) => {
    if (i < base) return;
    for (const stmt of before(frame, frame.index, i === base ? first?.index ?? 0 : 0)) {
      if (stmt.kind === 'declare' && !moving.includes(stmt)) for (const decl of [...stmt.variables, ...stmt.types]) declared.set(decl, stmt);
    }
  });
  const needed = new Map<DeclareStmt, Decl>();
  for (const travel of values.travels) {
    const stmt = declared.get(travel.decl);
    if (stmt !== undefined && (travel.how === 'carry' || travel.result)) needed.set(stmt, travel.decl);
  }
  const own = new Set<Decl>(declared.keys());
  for (const i of flagged) {
    walkAll(behind(region, i), (node) => {
      if (node.kind !== 'ref' || node.decl === null || !own.has(node.decl)) return;
      const stmt = declared.get(node.decl);
      if (stmt !== undefined) needed.set(stmt, node.decl);
    });
  }
  const hoisted: Hoisted[] = [];
  const stuck: { decl: Decl; text: string }[] = [];
  for (const [stmt, decl] of [...needed].sort((a, b) => a[0].span.start - b[0].span.start)) {
    const types = new Map<VariableDecl, string>();
    for (const variable of stmt.variables) {
      const type = fitToSplit(context, variable) ? spelledType(context, variable) : null;
      if (type === null) stuck.push({ decl: variable, text: `the declaration of ${variable.name} cannot be parted from its initialiser` });
      else if (clashes(context, variable)) stuck.push({ decl: variable, text: `the name ${variable.name} is used for something else in the kernel` });
      else types.set(variable, type);
    }
    if (stmt.types.length > 0) stuck.push({ decl, text: `${decl.name} is declared together with a type` });
    hoisted.push({ stmt, types });
  }
  return { hoisted, stuck };
}

/**
 * An object on the way to the region that ends by running code: what stands around it becomes a scope that closes in front of the items, and so does what an early return becomes, so that the
 * object would end before them and before what follows them.
 */
function endsEarly({ facts, unit }: TransformContext, region: Region, base: number, first: number): Trouble | null {
  for (const [i, frame] of region.frames.entries()) {
    if (i < base) continue;
    for (const stmt of before(frame, frame.index, i === base ? first : 0)) {
      const variable = stmt.kind === 'declare' ? stmt.variables.find((one) => one.storage === 'automatic' && runsAtEnd(one.type, facts)) : undefined;
      if (variable === undefined) continue;
      const text = `${variable.name} ends by running code, which would come before the items`;
      return { id: 'thread-free', known: true, line: unit.source.line(variable.span.start), text, remedy: `declare ${variable.name} in front of the branches` };
    }
  }
  return null;
}

/** May the end of an object of the type run code? A reference may keep an object alive that is made for it. */
function runsAtEnd(type: Type, facts: FunctionFacts): boolean {
  let inner = type.kind === 'reference' ? type.to : type;
  while (inner.kind === 'array') inner = inner.of;
  if (inner.kind === 'dependent') return judge(inner, facts.function, facts.program).foreign !== null;
  return mayBeClass(inner) || endsOf(inner).length > 0;
}

/** Text that comes to stand behind the gates, outside of the blocks around the region. */
function textsMoved(region: Region, values: Values, flagged: ReadonlySet<number>): readonly Span[] {
  const lists = [region.heavy.stmts, ...[...flagged].map((i) => behind(region, i))].map(spanOf).filter((span) => span !== null);
  return [...lists, ...values.travels.flatMap(({ value, declaration }) => (declaration !== null ? [declaration.span] : value !== null ? [value.span] : []))];
}

function wordsOfTypes(types: readonly string[]): readonly string[] {
  return types.flatMap((type) => type.match(/[A-Za-z_]\w*/g) ?? []);
}

/** Statements that change their place anyway, and are declarations of which nothing but the items is left to use them. */
function unneeded({ facts }: TransformContext, region: Region, base: number, first: number, { travels }: Values): ReadonlySet<Stmt> {
  const dead = new Set<Stmt>();
  const candidates = region.frames.flatMap((frame, i) => (i < base ? [] : before(frame, frame.index, i === base ? first : 0))).reverse();
  for (const stmt of candidates) {
    // One without variables (a `static_assert`, a function) says something of its own.
    if (stmt.kind !== 'declare' || stmt.types.length > 0 || stmt.variables.length === 0 || stmt.brings !== undefined) continue;
    const again = stmt.variables.every((variable) => travels.some(({ decl, how, result }) => decl === variable && how === 'recompute' && !result));
    if (again && stmt.variables.every((variable) => facts.uses(variable).every((use) => isInside(use, region.heavy.stmts) || isInside(use, [...dead])))) dead.add(stmt);
  }
  return dead;
}

/** `T v;`, `T v = e;`, `T v(e);` of a type that can be assigned. */
function fitToSplit(context: TransformContext, variable: VariableDecl): boolean {
  if (!isPrivate(variable) || variable.type.kind === 'array' || variable.type.kind === 'reference' || variable.opaqueInit || variable.type.volatile === true) return false;
  if (sizeOf(variable.type) === null) return false;
  if (variable.init === null) return variable.initStyle === 'none';
  // A constant may be the length of an array.
  if (variable.type.const === true && context.facts.constant(variable.init) !== null) return false;
  const init = strip(variable.init);
  return variable.initStyle === 'equals' && init.kind !== 'init-list';
}

/** Another declaration of the name in the function, or a use of the name that means something else. */
function clashes(context: TransformContext, variable: VariableDecl): boolean {
  const { function: fn } = context.facts;
  let found = fn.parameters.some((parameter) => parameter.name === variable.name);
  if (fn.body !== null) {
    walk(fn.body, (node) => {
      if (node.kind === 'declare') found ||= node.variables.some((other) => other !== variable && other.name === variable.name) || node.types.some((other) => other.name === variable.name);
      if (node.kind === 'range-for') found ||= node.variable.name === variable.name;
      if (node.kind === 'ref' && node.name === variable.name && node.decl !== variable) found = true;
      return !found;
    });
  }
  return found;
}

/** An item has a place in a queue: something goes to it, or comes back from it. Else only their number counts. */
export function hasSlots({ values }: BlockPlan): boolean {
  return values.coordinates.length > 0 || values.travels.some(queued);
}

/** Bytes of shared memory that the queue and the counts of the warps take. */
export function sharedBytes(plan: BlockPlan): number {
  if (!hasSlots(plan)) return 0;
  const warps = Math.ceil(plan.capacity / 32);
  const axes = new Set(plan.values.coordinates.map((node) => node.axis)).size;
  return plan.values.travels.filter(queued).reduce((sum, travel) => sum + travel.size * plan.capacity, 0) + axes * 4 * plan.capacity + warps * 4;
}

/** Has an array of its own in shared memory. */
export function queued(travel: Travel): boolean {
  return travel.how === 'carry' || travel.result;
}

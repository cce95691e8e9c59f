/** Namespace scope: everything a file declares outside of functions, and which parts of its tree are worth copying. */
import { blankBodies, hostSlice, type HostSlice } from '../source/index.js';
import type { MacroDefinition, Overlay, OverlayNote, SourceFile } from '../source/types.js';
import { fieldChild, namedChildren, type Cst, type Wanted } from './cst.js';
import type { Lowering } from './context.js';
import { declareVariables, lowerAlias, lowerTypedef, lowerUsing } from './lower-declaration.js';
import { lowerFunction } from './lower-function.js';
import { lowerTemplateParameters, templateScope } from './lower-parameters.js';
import { duringDoubts } from './lower-doubt.js';
import { preprocessorArms } from './lower-preprocessor.js';
import { lowerEnum } from './lower-enum.js';
import { lowerRecord } from './lower-record.js';
import { markLeftOut } from './lower-overload.js';
import { markTemplateVariable } from './scope.js';

/** Host functions shorter than this are lowered even if they launch nothing: launch shapes are computed in them. */
const SMALL_BODY = 300;
/** Bodies shorter than this are read with their file: by itself each would cost more. */
const TINY_BODY = 60;
/** Initialisers longer than this stay text. */
const LONG_LIST = 4000;

function isDeviceNote(note: OverlayNote): boolean {
  const device = (name: string): boolean => name === 'global' || name === 'device';
  return (note.kind === 'qualifier' && device(note.name)) || (note.kind === 'macro' && note.standsFor.some((m) => device(m.name)));
}

/** What of a file is worth reading: the text for the parser, and the choice of what to copy from its tree. */
export interface Selection {
  /** As long as the overlay, less what nobody asks for. */
  readonly text: string;
  readonly wanted: Wanted;
  /** Offsets of the `{` of bodies that the parser sees empty. */
  readonly emptied: ReadonlySet<number>;
  /** Those of them that are lowered when somebody asks for them; the others never are. */
  readonly late: ReadonlySet<number>;
  /** Bodies of which the text holds only what launches depend on, by the offset of their `{`. */
  readonly sliced: ReadonlyMap<number, HostSlice>;
  /** Is host code read in parts where they say all that is asked? */
  readonly inParts: boolean;
}

/** Sorted offsets, and the first of them that is not less than another. */
class Marks {
  readonly offsets: readonly number[];

  constructor(offsets: number[]) {
    this.offsets = offsets.sort((a, b) => a - b);
  }

  first(offset: number): number {
    let low = 0;
    let high = this.offsets.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.offsets[mid] ?? Infinity) < offset) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  within(start: number, end: number): boolean {
    return (this.offsets[this.first(start)] ?? Infinity) < end;
  }

  before(offset: number): number | undefined {
    return this.offsets[this.first(offset) - 1];
  }
}

/** Where words begin that begin with `start`. */
function wordsFrom(text: string, start: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) if (at === 0 || !/\w/.test(text.charAt(at - 1))) found.push(at);
  return found;
}

/**
 * Chooses what to parse and copy. The bodies of long host functions without launches and long initialiser lists are left out for
 * good. What is worth lowering is read with the file, or only when it is asked for: small host functions, and in files that are not read `whole` (headers)
 * every function that launches nothing. `launchNames` are macros that hold a launch. With `macros`, of host functions that launch only what the launches depend on is read.
 */
export function interesting(source: SourceFile, overlay: Overlay, launchNames: readonly string[], whole: boolean, macros: ReadonlyMap<string, MacroDefinition> | null): Selection {
  const launches = new Marks([
    ...overlay.notes.flatMap((note) => (note.kind === 'launch' ? [note.span.start] : [])),
    ...['cudaLaunch', ...launchNames].flatMap((word) => wordsFrom(overlay.text, word)),
  ]);
  const device = new Marks(overlay.notes.filter(isDeviceNote).map((note) => note.span.start));
  const conditionals = new Marks(source.directives.flatMap((directive) => (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef' ? [directive.start] : [])));
  const isDevice = (start: number, end: number): boolean => {
    if (device.within(start, end)) return true;
    // A qualifier that the overlay blanked may stand directly before the function.
    const before = device.before(start);
    return before !== undefined && start - before < 400 && /^\S*\s*$/.test(overlay.text.slice(before, start));
  };
  const marked = (start: number, end: number): boolean => launches.within(start, end) || isDevice(start, end);
  const late = new Set<number>();
  const { text, emptied, sliced } = blankBodies(source, overlay, {
    body: TINY_BODY, list: LONG_LIST,
    wanted: (start, open, end) => {
      const isMarked = marked(start, end);
      if (isMarked && (whole || launches.within(start, end))) return true;
      if (!isMarked && end - open >= SMALL_BODY) return false;
      // Errors around conditional groups are mended in the tree of the whole file.
      if (conditionals.within(open, end)) return true;
      late.add(open);
      return false;
    },
    ...(macros === null ? {} : {
      // Device code (a lambda in it, `__host__ __device__`) is read whole.
      slice: (stream, brace, start, end) => (isDevice(start, end) ? null : hostSlice(stream, brace, macros, (from, to) => launches.within(from, to))),
    }),
  });
  return {
    text, emptied, late, sliced, inParts: macros !== null,
    wanted: (type, start, end, parentType, parentStart) => {
      if (type === 'compound_statement') return !emptied.has(start) && (parentType !== 'function_definition' || end - start < SMALL_BODY || marked(parentStart, end));
      return type !== 'initializer_list' || end - start < LONG_LIST;
    },
  };
}

/** Declares what stands at namespace scope among these nodes, in order. */
export function lowerItems(ctx: Lowering, nodes: readonly Cst[], from: number): void {
  let before = from;
  for (const node of nodes) {
    lowerItem(ctx, node, before);
    before = node.end;
  }
}

interface PendingIncludes { readonly list: readonly (readonly [number, () => void])[]; next: number }

const pendingIncludes = new WeakMap<ReadonlyMap<number, () => void>, PendingIncludes>();

/** The overlay blanks directives, so no node stands for an include: what it declares must be known to all that follows it. */
function includeBefore(ctx: Lowering, at: number): void {
  const { includeAt } = ctx.unit;
  let pending = pendingIncludes.get(includeAt);
  if (pending === undefined) pendingIncludes.set(includeAt, pending = { list: [...includeAt].sort((a, b) => a[0] - b[0]), next: 0 });
  for (let entry = pending.list[pending.next]; entry !== undefined && entry[0] < at; entry = pending.list[pending.next]) {
    pending.next++;
    entry[1]();
  }
}

function lowerItem(ctx: Lowering, node: Cst, before: number): void {
  if (ctx.unit.includeAt.size > 0) includeBefore(ctx, node.start);
  switch (node.type) {
    case 'function_definition': lowerFunction(ctx, node, { before, template: null }); return;
    case 'declaration': declareVariables(ctx, node, before, 'namespace'); return;
    case 'template_declaration': duringDoubts(ctx.unit, ctx.span(node), () => lowerTemplate(ctx, node, before)); return;
    case 'namespace_definition': lowerNamespace(ctx, node); return;
    case 'linkage_specification': {
      const body = fieldChild(node, 'body');
      if (body?.type === 'declaration_list') lowerItems(ctx, body.children, body.start + 1);
      else if (body !== null) lowerItem(ctx, body, body.start);
      return;
    }
    case 'struct_specifier': case 'class_specifier': case 'union_specifier': lowerRecord(ctx, node, null); return;
    case 'enum_specifier': lowerEnum(ctx, node); return;
    case 'type_definition': lowerTypedef(ctx, node); return;
    case 'alias_declaration': lowerAlias(ctx, node, null); return;
    case 'using_declaration': case 'namespace_alias_definition': lowerUsing(ctx, node); return;
    case 'preproc_if': case 'preproc_ifdef':
      for (const arm of [...preprocessorArms(ctx, node)].sort((a, b) => Number(a.active) - Number(b.active))) {
        const from = ctx.unit.functions.length;
        lowerItems(ctx, arm.children, arm.node.start);
        if (!arm.active) ctx.unit.functions.slice(from).forEach(markLeftOut);
      }
      return;
    case 'ERROR':
      // Recovery often leaves whole functions inside of the error.
      lowerItems(ctx, node.children, node.start);
      return;
    default:
  }
}

function lowerTemplate(ctx: Lowering, node: Cst, before: number): void {
  const list = fieldChild(node, 'parameters');
  if (list === null) return;
  const outer = ctx.scope;
  ctx.inScope(templateScope(ctx), () => {
    const template = lowerTemplateParameters(ctx, list);
    for (const inner of namedChildren(node)) {
      switch (inner.type) {
        case 'function_definition': case 'declaration':
          if (lowerFunction(ctx, inner, { before, template, head: node, declareIn: outer }) === null && inner.type === 'declaration') {
            for (const decl of declareVariables(ctx, inner, before, 'namespace').variables) {
              markTemplateVariable(decl);
              outer.declare(decl);
            }
          }
          break;
        case 'struct_specifier': case 'class_specifier': case 'union_specifier': {
          const decl = lowerRecord(ctx, inner, template);
          if (decl !== null && fieldChild(inner, 'name')?.type === 'type_identifier') outer.declare(decl);
          break;
        }
        case 'alias_declaration':
          for (const alias of lowerAlias(ctx, inner, template)) outer.declare(alias);
          break;
        case 'template_declaration': lowerTemplate(ctx, inner, before); break;
        default:
      }
    }
  });
}

function lowerNamespace(ctx: Lowering, node: Cst): void {
  const body = fieldChild(node, 'body');
  if (body === null) return;
  const nameNode = fieldChild(node, 'name');
  const inline = node.children.some((child) => child.type === 'inline');
  if (nameNode === null || inline || ctx.scope.kind !== 'namespace') {
    // Names of unnamed and inline namespaces are visible in the namespace around them.
    lowerItems(ctx, body.children, body.start + 1);
    return;
  }
  const name = ctx.slice(nameNode).replace(/\s+/g, '');
  const path = ctx.scope.path === '' ? name : `${ctx.scope.path}::${name}`;
  ctx.inScope(ctx.unit.names.space(path), () => lowerItems(ctx, body.children, body.start + 1));
}

/** Kernel launches: chevrons (a curried call in the overlay), and the runtime's launch functions. */
import { fieldChild, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { expression, templateArguments, lowerInitList } from './lower-expression.js';
import { macroNamed, macroExpression } from './lower-macro.js';
import { findQualified } from './lower-name.js';
import { bestCandidates } from './lower-overload.js';
import type { CallExpr, Callee, Expr, FunctionDecl, Launch, TemplateArgument } from './tree.js';
import { strip } from './tree.js';
import { UNKNOWN, VOID } from './types.js';

export interface Configuration { readonly kernel: Cst; readonly list: Cst }

/** If this callee is `kernel<<<…>>>` in the overlay's spelling: its parts. */
export function launchConfiguration(ctx: Lowering, fn: Cst): Configuration | null {
  if (fn.type !== 'call_expression' || ctx.notes.length === 0) return null;
  const list = fieldChild(fn, 'arguments');
  const kernel = fieldChild(fn, 'function');
  if (list === null || kernel === null) return null;
  for (let i = ctx.noteIndex(list.start); i < ctx.notes.length; i++) {
    const note = ctx.notes[i];
    if (note === undefined || note.span.start > list.start) break;
    if (note.kind === 'launch') return { kernel, list };
  }
  return null;
}

interface KernelName {
  readonly name: string;
  readonly decls: readonly FunctionDecl[];
  readonly templateArguments: readonly TemplateArgument[] | null;
  readonly pointer: boolean;
}

function kernelName(ctx: Lowering, node: Cst): KernelName {
  switch (node.type) {
    case 'identifier': {
      const name = ctx.slice(node);
      const macro = macroNamed(ctx, node, false);
      if (macro !== null) {
        const expanded = macroExpression(ctx, node, macro, null);
        const target = expanded === null ? null : strip(expanded);
        if (target?.kind === 'ref') return named(ctx, target.name, null);
      }
      return named(ctx, name, null);
    }
    case 'template_function': {
      const nameNode = fieldChild(node, 'name');
      const args = templateArguments(ctx, fieldChild(node, 'arguments'));
      return named(ctx, nameNode === null ? ctx.slice(node) : ctx.slice(nameNode), args);
    }
    case 'qualified_identifier': {
      const { name, last, found } = findQualified(ctx, node);
      const args = last.type === 'template_function' ? templateArguments(ctx, fieldChild(last, 'arguments')) : null;
      return { name, decls: found?.kind === 'functions' ? found.decls : [], templateArguments: args, pointer: found?.kind === 'value' };
    }
    case 'parenthesized_expression': {
      const [inner] = namedChildren(node);
      if (inner !== undefined && inner.type !== 'parenthesized_expression') return kernelName(ctx, inner);
      return { name: ctx.slice(node), decls: [], templateArguments: null, pointer: true };
    }
    default: return { name: ctx.slice(node), decls: [], templateArguments: null, pointer: true };
  }
}

function named(ctx: Lowering, name: string, args: readonly TemplateArgument[] | null): KernelName {
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  if (found?.kind === 'functions') return { name, decls: found.decls, templateArguments: args, pointer: false };
  if (found?.kind !== 'value') return { name, decls: [], templateArguments: args, pointer: false };
  // `auto kernel = k<4>;`: what the variable was initialised with is a candidate, though it may be assigned again.
  const init = found.decl.kind === 'variable' && found.decl.init !== null ? strip(found.decl.init) : null;
  const target = init?.kind === 'unary' && init.op === '&' ? strip(init.operand) : init;
  const decls = target?.kind === 'ref' && target.decl?.kind === 'function' ? [target.decl] : [];
  return { name, decls, templateArguments: args, pointer: true };
}

function record(ctx: Lowering, launch: Pick<Launch, 'form' | 'kernelName' | 'candidates' | 'templateArguments' | 'grid' | 'block' | 'sharedBytes' | 'stream' | 'arguments'>, node: Cst, argumentsNode: Cst | null): void {
  const { kernelName, candidates, templateArguments, grid, block, sharedBytes, stream, arguments: args } = launch;
  ctx.unit.launches.push({
    span: ctx.span(node), file: ctx.unit.file,
    form: ctx.expanding.length > 0 ? 'macro' : launch.form,
    kernelName, candidates, templateArguments, grid, block, sharedBytes, stream, arguments: args,
    argumentsSpan: argumentsNode === null ? null : ctx.span(argumentsNode),
    function: ctx.fn?.decl ?? null,
    inLoop: (ctx.fn?.loops ?? 0) > 0,
    conditional: (ctx.fn?.conditions ?? 0) > 0,
  });
}

/** `kernel<<<grid, block, shared, stream>>>(arguments)` as a launch; the expression is a call of the kernel. */
export function launchCall(ctx: Lowering, node: Cst, { kernel, list }: Configuration, argumentList: Cst): Expr {
  const target = kernelName(ctx, kernel);
  const parts = configurationParts(ctx, list);
  const args = namedChildren(argumentList).map((child) => (child.type === 'initializer_list' ? lowerInitList(ctx, child, UNKNOWN) : expression(ctx, child)));
  const kernels = target.decls.filter((decl) => decl.qualifiers.global);
  const candidates = bestCandidates(kernels.length > 0 ? kernels : target.decls, args, target.templateArguments);
  const open = { candidates };
  ctx.openCall(open);
  const missing = ctx.opaque(list, 'missing launch configuration');
  record(ctx, {
    form: target.pointer ? 'pointer' : 'chevrons', kernelName: target.name, candidates, templateArguments: target.templateArguments,
    grid: parts[0] ?? missing, block: parts[1] ?? missing, sharedBytes: parts[2] ?? null, stream: parts[3] ?? null, arguments: args,
  }, node, argumentList);
  const callee: Callee = candidates.length > 0 ? { kind: 'function', name: target.name, candidates } : { kind: 'unknown', name: target.name };
  const call: CallExpr = {
    kind: 'call', span: ctx.span(node), callee, calleeSpan: ctx.span(kernel), arguments: args, templateArguments: target.templateArguments, type: VOID,
  };
  return call;
}

/** A macro may stand for several parts (`<<<CONFIG(n)>>>`): its comma is taken apart. */
function configurationParts(ctx: Lowering, list: Cst): Expr[] {
  return namedChildren(list).flatMap((child) => splitComma(child.type === 'initializer_list' ? lowerInitList(ctx, child, UNKNOWN) : expression(ctx, child)));
}

function splitComma(expr: Expr): Expr[] {
  if (expr.kind !== 'macro') return [expr];
  const parts: Expr[] = [];
  let rest = expr.expanded;
  while (rest.kind === 'binary' && rest.op === ',') {
    parts.unshift(rest.right);
    rest = rest.left;
  }
  return parts.length === 0 ? [expr] : [rest, ...parts];
}

/** Where the runtime's launch functions have kernel, grid, block, shared bytes and stream. */
const LAUNCHERS = new Map([
  ['cudaLaunchKernel', { kernel: 0, grid: 1, block: 2, shared: 4, stream: 5 }],
  ['cudaLaunchCooperativeKernel', { kernel: 0, grid: 1, block: 2, shared: 4, stream: 5 }],
]);
/** The configuration is a struct that is filled in elsewhere. */
const STRUCT_LAUNCHERS = new Set(['cudaLaunchKernelEx', 'cudaLaunchKernelExC']);
/** Functions that take a kernel's address and never start it. */
const HARMLESS = /^(cudaFunc(Set|Get)\w+|cudaOccupancy\w+|cudaGetFuncBySymbol)$/;

function kernelOf(expr: Expr | undefined): { readonly name: string; readonly decl: FunctionDecl | null; readonly variable: boolean } | null {
  if (expr === undefined) return null;
  let e = strip(expr);
  for (;;) {
    if (e.kind === 'cast') e = strip(e.operand);
    else if (e.kind === 'unary' && e.op === '&') e = strip(e.operand);
    else break;
  }
  if (e.kind !== 'ref') return null;
  if (e.decl?.kind === 'function') return { name: e.name, decl: e.decl, variable: false };
  return { name: e.name, decl: null, variable: e.decl !== null };
}

/** Takes back that the kernel's address escapes: this use of it is understood. */
function understood(ctx: Lowering, decl: FunctionDecl | null): FunctionDecl[] {
  if (decl === null) return [];
  const found = ctx.unit.lookup.lookup(ctx.scope, decl.name);
  const all = found?.kind === 'functions' && found.decls.includes(decl) ? found.decls : [decl];
  for (const one of all) {
    const at = ctx.unit.escapes.lastIndexOf(one);
    if (at >= 0) ctx.unit.escapes.splice(at, 1);
  }
  return bestCandidates(all.filter((one) => one.qualifiers.global), decl.parameters.map((p): Expr => ({ kind: 'opaque', span: p.span, type: p.type, reason: '' })), null);
}

/** Calls of the runtime that start a kernel or ask about one. Null if `name` is no launch; uses of kernels are accounted for. */
export function libraryLaunch(ctx: Lowering, node: Cst, name: string, list: Cst, args: readonly Expr[]): CallExpr | null {
  if (!name.startsWith('cuda')) return null;
  if (HARMLESS.test(name)) {
    for (const arg of args) understood(ctx, kernelOf(arg)?.decl ?? null);
    return null;
  }
  const launcher = LAUNCHERS.get(name);
  const missing = ctx.opaque(list, 'launch configuration');
  if (launcher !== undefined) {
    const kernel = kernelOf(args[launcher.kernel]);
    const candidates = understood(ctx, kernel?.decl ?? null);
    ctx.openCall({ candidates });
    record(ctx, {
      form: kernel?.decl === null || kernel === null ? 'pointer' : 'cudaLaunchKernel', kernelName: kernel?.name ?? name, candidates, templateArguments: null,
      grid: args[launcher.grid] ?? missing, block: args[launcher.block] ?? missing, sharedBytes: args[launcher.shared] ?? null,
      stream: args[launcher.stream] ?? null, arguments: [],
    }, node, null);
  } else if (STRUCT_LAUNCHERS.has(name)) {
    const kernel = kernelOf(args[1]);
    const candidates = understood(ctx, kernel?.decl ?? null);
    ctx.openCall({ candidates });
    record(ctx, {
      form: kernel?.decl === null || kernel === null ? 'pointer' : 'cudaLaunchKernel', kernelName: kernel?.name ?? name, candidates, templateArguments: null,
      grid: missing, block: missing, sharedBytes: null, stream: null, arguments: name === 'cudaLaunchKernelEx' ? args.slice(2) : [],
    }, node, null);
  }
  return null;
}

/**
 * The launches of a kernel in the whole program, what else follows it (declarations, explicit instantiations, attribute calls), and
 * what stands in the way of rewriting them. `launch-edits.ts` turns a launch plan into edits at these places.
 *
 *     const found = launchSites(context);                             // every mention of the kernel, explained or in the way
 *     launchObligations(context, found);                              // `all-launches-visible`
 *     const writing = writePlanText(context, found, plan, options);   // launch-edits.ts: edits of host text, declarations, instantiations, includes
 *     rewritable(context, found, writing);                            // `launches-rewritable`
 *
 * The kernel's own definition is the caller's to replace, or to keep (`keepsOriginal`).
 */
import { walk } from '../../src/analysis/children.js';
import { TokenKind } from '../../src/source/tokens.js';
import type { Span } from '../../src/source/types.js';
import { pastedAt } from '../../src/syntax/pasted-names.js';
import type { CallExpr, ExprStmt, FunctionDecl, Launch, Stmt, Unit } from '../../src/syntax/tree.js';
import { hasLinkageOfC } from './linkage.js';
import { fileTokens, functionAt, mentionsOf, statementOf, type Mention } from './launch-mentions.js';
import { remediesAt } from './launch-remedies.js';
import { assumed, lineOf, proved, refuted } from './obligation.js';
import type { Obligation, TransformContext } from './types.js';

/** A launch that can be rewritten: a statement of its own in host code. */
export interface LaunchSite {
  readonly launch: Launch;
  readonly unit: Unit;
  readonly line: number;
  readonly function: FunctionDecl;
  /** `k<<<…>>>(…);` with its semicolon. */
  readonly statement: ExprStmt;
  /** The statement around it; null only for a body that is no statement's part. */
  readonly parent: Stmt | null;
  readonly call: CallExpr;
}

/** `cudaFuncSetAttribute(k, …);` and the like, also in an error-check macro: a statement that is written once for each new kernel. */
export interface AttributeCall {
  readonly unit: Unit;
  readonly statement: Span;
  /** The kernel's name in it. */
  readonly name: Span;
}

export interface Obstacle {
  readonly path: string;
  readonly line: number;
  /** What stands there, in words: `through the macro RUN`. */
  readonly form: string;
  readonly remedy?: string;
}

export interface KernelSites {
  readonly kernel: FunctionDecl;
  /** The file of the kernel's definition. */
  readonly unit: Unit;
  readonly sites: readonly LaunchSite[];
  readonly obstacles: readonly Obstacle[];
  readonly declarations: readonly { readonly unit: Unit; readonly decl: FunctionDecl }[];
  readonly instantiations: readonly { readonly unit: Unit; readonly name: Span }[];
  readonly attributes: readonly AttributeCall[];
  /** No other file can launch it: it is static. */
  readonly internal: boolean;
  /** It has the linkage of C: a module loader finds it by its name. */
  readonly externC: boolean;
  /** It is declared or defined in a header, which other files may include. */
  readonly inHeader: boolean;
}

/** Calls that set a property of a kernel: repeated for each new one. */
const ATTRIBUTE_CALL = /^cudaFuncSet(Attribute|CacheConfig|SharedMemConfig)$/;

const SEVERAL = 'launched where several kernels of this name are possible';
/** In the way as long as names are followed by their spelling. */
const NAMESAKE = 'another kernel of the same name';

const known = new WeakMap<FunctionDecl, KernelSites>();

/** All about the launches of the function of the context, which is a kernel. */
export function launchSites(context: TransformContext): KernelSites {
  const kernel = context.facts.function;
  const made = known.get(kernel);
  if (made !== undefined) return made;
  const found = collect(context);
  known.set(kernel, found);
  return found;
}

function collect(context: TransformContext): KernelSites {
  const { function: kernel, program } = context.facts;
  const sites: LaunchSite[] = [];
  const obstacles: Obstacle[] = [];
  const declarations: { unit: Unit; decl: FunctionDecl }[] = [];
  const instantiations: { unit: Unit; name: Span }[] = [];
  const attributes: AttributeCall[] = [];
  const explained: { file: string; span: Span }[] = [];
  const block = (unit: Unit, offset: number, form: string): void => {
    const line = unit.source.line(offset);
    if (!obstacles.some((o) => o.path === unit.source.path && o.line === line)) obstacles.push({ path: unit.source.path, line, form });
  };

  for (const launch of program.launchesOf(kernel)) {
    const unit = program.units.get(launch.file);
    if (unit === undefined) continue;
    explained.push({ file: launch.file, span: launch.span });
    const site = siteOf(context, launch, unit);
    if (typeof site === 'string') block(unit, launch.span.start, site);
    else sites.push(site);
  }
  for (const mention of mentionsOf(kernel, program)) {
    const { unit, span } = mention;
    if (explained.some((done) => done.file === unit.source.realPath && done.span.start <= span.start && span.end <= done.span.end)) continue;
    switch (mention.kind) {
      case 'definition': case 'other': break;
      case 'declaration': {
        const decl = unit.functions.find((fn) => fn.nameSpan.start <= span.start && span.start < fn.nameSpan.end);
        if (decl !== undefined && decl.parameters.length === kernel.parameters.length) declarations.push({ unit, decl });
        else block(unit, span.start, NAMESAKE);
        break;
      }
      case 'instantiation': instantiations.push({ unit, name: span }); break;
      case 'namesake': block(unit, span.start, NAMESAKE); break;
      case 'directive': block(unit, span.start, 'a macro names it'); break;
      case 'use': {
        const other = unit.launches.some((launch) => launch.span.start <= span.start && span.end <= launch.span.end && !launch.candidates.includes(kernel));
        const call = other ? `${NAMESAKE} is launched` : attributeCall(mention);
        if (typeof call === 'string') block(unit, span.start, call);
        else attributes.push(call);
        break;
      }
      default: {
        const never: never = mention.kind;
        throw new Error(`internal: ${String(never)}`);
      }
    }
  }
  for (const unit of program.units.values()) {
    const pasted = pastedAt(unit, kernel.name);
    if (pasted !== null) block(unit, pasted, 'a macro makes its name of pieces');
    for (const hidden of unit.hiddenKernels) if (hidden.name === kernel.name) obstacles.push({ path: unit.source.path, line: hidden.line, form: `written again in the macro ${hidden.macro}` });
  }
  obstacles.sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1));
  if (kernel.owner !== null) block(context.unit, kernel.nameSpan.start, 'it is a member of a class');
  const header = (path: string): boolean => /\.(cuh|h|hh|hpp|hxx|inl|inc)$/i.test(path) || [...program.units.values()].some((unit) => unit.includes.includes(path));
  return {
    kernel, unit: context.unit, sites, obstacles, declarations, instantiations, attributes,
    internal: kernel.qualifiers.static,
    externC: [{ unit: context.unit, decl: kernel }, ...declarations].some(({ unit, decl }) => hasLinkageOfC(unit, decl)),
    inHeader: header(kernel.file) || declarations.some(({ unit }) => header(unit.source.realPath)),
  };
}

function siteOf(context: TransformContext, launch: Launch, unit: Unit): LaunchSite | string {
  switch (launch.form) {
    case 'pointer': return `launched through the pointer ${launch.kernelName}`;
    case 'cudaLaunchKernel': return 'launched with cudaLaunchKernel';
    case 'macro': return 'launched in a macro';
    case 'chevrons': break;
    default: {
      const never: never = launch.form;
      throw new Error(`internal: ${String(never)}`);
    }
  }
  const kernel = context.facts.function;
  if (launch.candidates.length !== 1) return SEVERAL;
  const fn = launch.function ?? functionAt(unit, launch.span.start);
  if (fn === null || !fn.understood) return 'launched in a function that was not understood';
  if (fn.qualifiers.global || (fn.qualifiers.device && !fn.qualifiers.host)) return 'launched from device code';
  if (launch.arguments.length !== kernel.parameters.length) return 'launched with default arguments left out';
  if (launch.grid.kind === 'opaque' || launch.block.kind === 'opaque') return 'launched with a configuration that was not understood';
  const found = statementOf(fn, launch.span);
  if (found === null && isLeftOut(fn, launch.span.start)) return 'launched in an arm of #if that this configuration leaves out';
  if (found === null || found.statement.kind !== 'expression') return 'launched inside a larger expression';
  const statement = found.statement;
  let call = statement.expression;
  while (call.kind === 'paren') call = call.inner;
  if (call.kind !== 'call') return 'launched inside a larger expression';
  if (unit.source.directives.some((directive) => directive.start < statement.span.end && directive.end > statement.span.start)) return 'launched across a preprocessor directive';
  if (!/;\s*$/.test(unit.source.text.slice(statement.span.start, statement.span.end))) return 'launched without a semicolon of its own';
  if (call.calleeSpan.start < statement.span.start) return 'launched inside a larger expression';
  const parent = found.parent !== null && isStatement(found.parent) ? found.parent : null;
  if (parent !== null && parent.kind === 'label') return 'launched behind a label';
  return { launch, unit, line: unit.source.line(launch.span.start), function: fn, statement, parent, call };
}

function isStatement(node: { readonly kind: string }): node is Stmt {
  return ['compound', 'if', 'for', 'range-for', 'while', 'do', 'switch', 'label', 'preprocessor', 'macro-statement'].includes(node.kind);
}

/** A statement that does nothing but set attributes of the kernel; else what the mention is, in words. */
function attributeCall({ unit, span }: Mention): AttributeCall | string {
  const fn = functionAt(unit, span.start);
  if (isUsed(unit, span)) return 'a using-declaration names it';
  if (fn?.body === null || fn === null) return 'named outside of the functions that are compiled here';
  if (isLeftOut(fn, span.start)) return 'named in an arm of #if that this configuration leaves out';
  let statement: Span | null = null;
  let callee: string | null = null;
  walk(fn.body, (node) => {
    if (span.start < node.span.start || span.end > node.span.end) return false;
    if (node.kind === 'expression' || node.kind === 'macro-statement') statement = statementSpan(unit, node.span);
    else if (node.kind === 'declare' || node.kind === 'return' || node.kind === 'assign') statement = null;
    if (node.kind === 'call' && (node.callee.kind === 'builtin' || node.callee.kind === 'unknown' || node.callee.kind === 'function')) {
      if (callee === null || node.callee.name.startsWith('cuda')) callee = node.callee.name;
    }
    return true;
  });
  const whole: Span | null = statement;
  const name: string | null = callee;
  if (name === null) return 'its address is taken';
  if (!ATTRIBUTE_CALL.test(name)) return `passed to ${name as string}`;
  if (whole === null) return `${name as string} in a larger statement`;
  const text = unit.source.text.slice((whole as Span).start, (whole as Span).end);
  // Written twice, it must hold nothing else.
  if (!text.endsWith(';') || /[{}]|\+\+|--|[^=!<>]=[^=]/.test(text)) return `${name as string} in a larger statement`;
  return { unit, statement: whole, name: span };
}

/** Does the offset stand in an arm that the configuration leaves out? */
function isLeftOut(fn: FunctionDecl, offset: number): boolean {
  let out = fn.inactive.some(({ span }) => span.start <= offset && offset < span.end);
  if (fn.body === null) return out;
  walk(fn.body, (node) => {
    if (node.kind === 'preprocessor') out ||= node.arms.some((arm) => !arm.active && arm.span.start <= offset && offset < arm.span.end);
    return !out && node.span.start <= offset && offset < node.span.end;
  });
  return out;
}

/** `using a::b::k;` */
function isUsed(unit: Unit, name: Span): boolean {
  const tokens = fileTokens(unit.source);
  let i = 0;
  while (i < tokens.count && tokens.start(i) < name.start) i++;
  if (tokens.spelling(i + 1) !== ';') return false;
  while (i > 0 && tokens.spelling(i - 1) === '::') i -= tokens.kind(i - 2) === TokenKind.identifier && tokens.spelling(i - 2) !== 'using' ? 2 : 1;
  return tokens.spelling(i - 1) === 'using';
}

/** The span with the `;` behind it. */
function statementSpan(unit: Unit, span: Span): Span {
  const { text } = unit.source;
  if (text[span.end - 1] === ';') return span;
  let end = span.end;
  while (text[end] === ' ' || text[end] === '\t') end++;
  return text[end] === ';' ? { start: span.start, end: end + 1 } : span;
}

function listed(places: readonly { readonly path: string; readonly line: number; readonly form: string }[]): string {
  return places.map(({ path, line, form }) => `${path}:${line} ${form}`).join('; ');
}

/**
 * `all-launches-visible`: every mention of the kernel is a launch that can be rewritten, or follows. The old kernel stays where other
 * files could launch it, so that files not seen keep working; `keepsOriginal` tells.
 */
export function launchObligations(context: TransformContext, found: KernelSites): readonly Obligation[] {
  const { kernel, sites, obstacles } = found;
  const line = lineOf(context, { start: kernel.nameSpan.start, end: kernel.nameSpan.end });
  const id = 'all-launches-visible';
  if (obstacles.length > 0) {
    const rest = sites.length === 0 ? '' : `; can be rewritten: ${sites.map((site) => `${site.unit.source.path}:${site.line}`).join(', ')}`;
    const first = obstacles[0];
    return [refuted(id, first !== undefined && first.path === context.unit.source.path ? first.line : line, `in the way: ${listed(obstacles)}${rest}`,
      remediesAt(obstacles, kernel.name))];
  }
  if (sites.length === 0) return [refuted(id, line, `no launch of ${kernel.name} is in the files that were given`, 'give the files that launch it in the same run')];
  const [only] = sites;
  const where = only === undefined || sites.length > 1 ? `${sites.length} launches` : only.unit === context.unit ? `the launch of line ${only.line}` : `the launch of ${only.unit.source.path}:${only.line}`;
  if (found.internal && !found.inHeader) return [proved(id, line, `${where}; ${kernel.name} is static, no other file can launch it`)];
  if (keepsOriginal(context, found)) return [proved(id, line, `${where} can be rewritten; ${kernel.name} stays for ${found.externC ? 'module loaders, which find what is extern "C" by its name' : found.inHeader ? 'other files that include its header; given in the same run, it goes' : 'files that are not in this run; given too, it goes'}`)];
  return [assumed(id, 'all-launches-visible', line, `${where} can be rewritten, and no file outside this run launches ${kernel.name}`)];
}

/**
 * True if the old kernel stays: other files could launch it, and nobody grants that they do not; or it is found by its name at run time, which no
 * file shows. A header is no other case: where a file that includes it was not given, the grant does not count.
 */
export function keepsOriginal(context: TransformContext, found: KernelSites): boolean {
  if (found.externC) return true;
  return (!found.internal || found.inHeader) && !context.grants.has('all-launches-visible');
}

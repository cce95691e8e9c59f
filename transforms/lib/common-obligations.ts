/**
 * Obligations that every transform has, as functions of the text that it moves, copies or drops. Each answers with one obligation
 * whose `text` says what was found and whose `remedy` says what would help.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import { undeclaredIn } from '../../src/analysis/implicit-calls.js';
import { templateOperands } from '../../src/analysis/template-types.js';
import { groupBoundTo, streamOf } from '../../src/source/index.js';
import type { Span } from '../../src/source/types.js';
import type { Expr, FunctionDecl, Stmt, VariableDecl } from '../../src/syntax/tree.js';
import { whyNameless } from '../../src/syntax/tree.js';
import { closuresIn, doubledByInstance } from './closure-instances.js';
import { isConstantHere } from './local-names.js';
import { boundByPragma } from './pragmas.js';
import { assumed, excerpt, lineOf, proved, refuted, unknown } from './obligation.js';
import type { Edit, Obligation, TransformContext } from './types.js';

/** Ids that any transform may state. */
export const COMMON_OBLIGATION_IDS: readonly string[] = [
  'parsed', 'types-known', 'no-goto', 'no-volatile-loop', 'no-directive-across', 'not-in-macro', 'names-free', 'names-resolve', 'operands-invariant', 'copy-safe',
  'already-done', 'edit-disjoint', 'head-declared', 'contraction-stable', 'same-for-includers', 'arms-agree',
];

// --------------------------------------------------------------------------------------------------------- whole function

/** No error or missing node lies in the function, and its kind of text was not taken out. */
export function parsed(context: TransformContext): Obligation {
  const { function: fn } = context.facts;
  const line = lineOf(context, fn);
  if (!fn.understood) {
    const problem = fn.problems[0];
    return unknown('parsed', problem?.line ?? line, `${fn.name} was not understood${problem === undefined ? '' : `: ${problem.message}`}`, 'make the text plain C++ there; --include and -D make macros and headers known');
  }
  return proved('parsed', line, `${fn.name} was understood as a whole`);
}

/** No `goto` and no label in the function. */
export function noGoto(context: TransformContext): Obligation {
  const jump = jumpOf(context.facts.function);
  const line = lineOf(context, jump ?? context.facts.function);
  if (jump === null) return proved('no-goto', line, 'no goto and no label in the function');
  return refuted('no-goto', line, jump.kind === 'goto' ? `goto ${jump.label}` : `label ${jump.kind === 'label' ? jump.name : ''}`, 'write the jump as structured code');
}

const jumps = new WeakMap<FunctionDecl, { readonly found: Stmt | null }>();

function jumpOf(fn: FunctionDecl): Stmt | null {
  const known = jumps.get(fn);
  if (known !== undefined) return known.found;
  let found: Stmt | null = null;
  if (fn.body !== null) {
    walk(fn.body, (node) => {
      if (found === null && (node.kind === 'goto' || node.kind === 'label') && isStmt(node)) found = node;
      return found === null;
    });
  }
  jumps.set(fn, { found });
  return found;
}

// ------------------------------------------------------------------------------------------------------------- regions

/**
 * No conditional or defining directive stands in the region, and no part of it was taken out with another configuration. Of pragmas `loops` lets pass what a loop
 * takes along, for transforms that write other statements anew; `copied` also what says only how the compiler reports, where all text goes along as it is.
 */
export function noDirectiveAcross(context: TransformContext, region: Span, pragmas: 'copied' | 'loops' = 'copied'): Obligation {
  const { facts, unit } = context;
  const line = lineOf(context, region);
  for (const directive of facts.function.directives) {
    if (directive.kind === 'pragma' || directive.end <= region.start || directive.start >= region.end) continue;
    return refuted('no-directive-across', unit.source.line(directive.start), `#${directive.kind} stands in the text that would be moved`, 'treat the configurations as separate functions');
  }
  for (const part of facts.function.inactive) {
    if (part.span.end <= region.start || part.span.start >= region.end) continue;
    return refuted('no-directive-across', unit.source.line(part.span.start), `text for ${part.condition} stands in what would be moved`, 'treat the configurations as separate functions');
  }
  const pragma = boundByPragma(facts.function, unit, region, pragmas === 'copied');
  if (pragma !== null) return refuted('no-directive-across', unit.source.line(pragma.at), pragma.text, 'put the pragmas around the whole function, or around text that stays as it is');
  const stream = streamOf(unit.overlay);
  const bound = stream === null ? null : groupBoundTo(stream, region);
  if (bound !== null) return refuted('no-directive-across', unit.source.line(bound), 'the #if beside the text makes it a part of another statement in one of its arms', 'put braces around the statement, so that each arm holds whole ones');
  return proved('no-directive-across', line, 'no directive cuts the text');
}

/** None of the nodes came out of a macro: each owns the text that its span covers. */
export function notInMacro(context: TransformContext, nodes: readonly Node[]): Obligation {
  for (const node of nodes) {
    for (let at: Node | null = context.facts.parent(node); at !== null; at = context.facts.parent(at)) {
      if (at.kind === 'macro' || at.kind === 'macro-statement') {
        return refuted('not-in-macro', lineOf(context, node), `the text comes out of the macro ${at.name}`, `expand ${at.name} by hand`);
      }
    }
  }
  const first = nodes[0];
  return proved('not-in-macro', first === undefined ? 0 : lineOf(context, first), 'the edited text is written out, not made by a macro');
}

/** Types of everything that a bound or a lane set rests on are known integers. */
export function typesKnown(context: TransformContext, exprs: readonly Expr[]): Obligation {
  let found: { readonly expr: Node; readonly why: string } | null = null;
  for (const expr of exprs) {
    walk(expr, (node) => {
      if (found !== null) return false;
      if (node.kind === 'opaque') found = { expr: node, why: node.reason };
      else if (isStmt(node)) return true;
      else if (node.kind === 'ref' && node.decl === null) found = { expr: node, why: whyNameless(node) };
      else if (node.type.kind === 'unknown' || node.type.kind === 'dependent') found = { expr: node, why: `the type of ${excerpt(context.unit.source, node)} is not known` };
      return found === null;
    });
  }
  const first = exprs[0];
  const hit: { readonly expr: Node; readonly why: string } | null = found;
  if (hit === null) return proved('types-known', first === undefined ? 0 : lineOf(context, first), 'all types are known');
  const { expr, why } = hit as { readonly expr: Node; readonly why: string };
  return unknown('types-known', lineOf(context, expr), why, 'make the declaration visible, e.g. with --include');
}

/** Text that holds for all values that other builds may give its constants; `stated` says which values were taken to be possible. */
export function constantsOpen(stated: readonly string[], line: number): Obligation {
  if (stated.length === 0) return proved('constants-open', line, 'the text holds for every value of the constants in it');
  return assumed('constants-open', 'positive-constants', line, `the text holds for other values of the constants in it, if ${stated.join(' and ')}`);
}

/**
 * Operators of a type that nothing declares, or of a template's type of which not all instances are known, are taken for those of numbers; those of a class
 * that is an instance, and reads of what an instance makes volatile, may do anything. Null if the function has none of these.
 */
export function typesDeclared(context: TransformContext): Obligation | null {
  const { function: fn, program } = context.facts;
  const id = 'types-known';
  const { foreign, open } = templateOperands(fn, program);
  if (foreign !== null) {
    const where = foreign.within === fn ? foreign.node : fn;
    const of = foreign.within === fn ? `\`${excerpt(context.unit.source, foreign.node)}\` has the type of a template parameter; ` : `in ${foreign.within.name}: `;
    return refuted(id, lineOf(context, where), `${of}${foreign.why}`, 'give the kernel a specialisation for that type');
  }
  const undeclared = [...undeclaredIn(fn)].sort();
  const dependent = [...open].sort();
  if (undeclared.length === 0 && dependent.length === 0) return null;
  const listed = (names: readonly string[]): string => `${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''}`;
  const parts: string[] = [];
  if (undeclared.length > 0) parts.push(undeclared.length === 1 ? `type ${listed(undeclared)} is not declared in any loaded file; taken for arithmetic` : `types ${listed(undeclared)} are not declared in any loaded file; taken for arithmetic`);
  if (dependent.length > 0) parts.push(`not all instances of ${listed(dependent)} are known; taken for arithmetic, and not volatile`);
  return assumed(id, 'arithmetic-types', lineOf(context, fn), parts.join('; '));
}

/** New names are used nowhere in the file. */
export function namesFree(context: TransformContext, names: readonly string[], line: number): Obligation {
  for (const name of names) {
    if (new RegExp(`\\b${name}\\b`).test(context.unit.source.text)) {
      return refuted('names-free', line, `the name ${name} is taken`, `rename ${name}`);
    }
  }
  return proved('names-free', line, names.length === 0 ? 'no name is added' : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} free`);
}

/** The operands that a dropped test rests on keep their values while `within` runs. */
export function operandsInvariant(context: TransformContext, exprs: readonly Expr[], within: Stmt): Obligation {
  for (const expr of exprs) {
    const fact = context.facts.invariant(expr, within);
    if (!fact.value) {
      const reason = fact.because.at(-1);
      return refuted('operands-invariant', reason?.line ?? lineOf(context, expr), reason?.text ?? `${excerpt(context.unit.source, expr)} may change`, 'copy it into a local variable in front of the loop');
    }
  }
  const first = exprs[0];
  return proved('operands-invariant', lineOf(context, first ?? within), 'what the test rests on does not change');
}

/** What in a text forbids a second copy of it; null if nothing does. */
export interface CopyHazard {
  readonly node: Node;
  readonly text: string;
  /** A `__shared__` array without initialiser: it may move in front of the copies. */
  readonly movable: VariableDecl | null;
}

/** Everything in the nodes that may not exist twice. */
export function copyHazards(roots: readonly Node[]): readonly CopyHazard[] {
  const hazards: CopyHazard[] = [];
  for (const root of roots) {
    const closures = closuresIn(root);
    walk(root, (node) => {
      if (node.kind === 'call') {
        const doubled = doubledByInstance(node, closures);
        if (doubled !== null) hazards.push({ node, text: `a copy of the lambda calls another instance of the template, with a second ${doubled}`, movable: null });
      }
      // A variable of a lambda or of a local class belongs to it: it has no place outside.
      if (node.kind === 'lambda') {
        hazards.push(...copyHazards([node.body]).map((hazard) => ({ ...hazard, movable: null })));
        return false;
      }
      if (node.kind === 'declare') {
        for (const type of node.types) {
          if (type.kind !== 'record') continue;
          for (const { body } of type.methods) if (body !== null) hazards.push(...copyHazards([body]).map((hazard) => ({ ...hazard, movable: null })));
        }
        for (const variable of node.variables) {
          if (variable.space === 'shared') {
            hazards.push({ node, text: `a copy of __shared__ ${variable.name} would be a second array`, movable: variable.init === null ? variable : null });
          } else if (variable.storage === 'static' && !isConstantHere(variable)) {
            hazards.push({ node, text: `a copy of static ${variable.name} would be a second variable`, movable: null });
          }
        }
      } else if (node.kind === 'label') {
        hazards.push({ node, text: `label ${node.name} may not exist twice`, movable: null });
      } else if (node.kind === 'asm' && definesLabel(node.text)) {
        hazards.push({ node, text: 'the asm defines a label', movable: null });
      } else if (node.kind === 'asm' && declaresRegister(node.text)) {
        hazards.push({ node, text: 'the asm declares a register outside of braces of its own', movable: null });
      } else if (node.kind === 'opaque') {
        hazards.push({ node, text: `not understood: ${node.reason}`, movable: null });
      } else if ((node.kind === 'macro' || node.kind === 'macro-statement') && placeDependent(node.definition.body)) {
        hazards.push({ node, text: `${node.name} depends on where it stands`, movable: null });
      } else if (node.kind === 'ref' && placeDependent(node.name)) {
        hazards.push({ node, text: `${node.name} depends on where it stands`, movable: null });
      }
      return true;
    });
  }
  return hazards;
}

/** A label in PTX is an identifier and a colon at the start of a statement; `%=` makes each copy's own. */
function definesLabel(text: string): boolean {
  return !text.includes('%=') && text.split(/[;{}\n]/).some((piece) => /^\s*[$\w%]+\s*:/.test(piece));
}

/** `.reg` and its like outside of `{ … }`: the function would hold two of one name. */
function declaresRegister(text: string): boolean {
  if (text.includes('%=')) return false;
  let depth = 0;
  for (const [piece] of text.matchAll(/[{}]|\.(?:reg|shared|local|pred)\s+\.(?:align|[a-z]\d|pred|v[24])/g)) {
    if (piece === '{') depth++;
    else if (piece === '}') depth--;
    else if (depth === 0) return true;
  }
  return false;
}

function placeDependent(text: string): boolean {
  return text.includes('__LINE__') || text.includes('__COUNTER__');
}

function copyRemedy(node: Node): string {
  switch (node.kind) {
    case 'declare': return 'declare it in front of the loop';
    case 'label': return 'write the jump as structured code';
    case 'asm': return 'end the name in %=, which makes each copy its own, or put the asm in braces';
    case 'call': return 'write the lambda in front of the loop';
    case 'opaque': return 'write it as plain C++, or move it into a __device__ function';
    default: return 'compute it in front of the loop, or in a __device__ function';
  }
}

/** The text may be copied. `moved` are declarations that the transform moves in front of the copies. */
export function copySafe(context: TransformContext, roots: readonly Node[], moved: ReadonlySet<VariableDecl> = new Set()): Obligation {
  const hazard = copyHazards(roots).find((found) => found.movable === null || !moved.has(found.movable));
  const first = roots[0];
  const line = lineOf(context, hazard?.node ?? first ?? context.facts.function);
  if (hazard === undefined) return proved('copy-safe', line, 'the copied text may exist twice');
  const known = hazard.node.kind !== 'opaque';
  return (known ? refuted : unknown)('copy-safe', line, hazard.text, copyRemedy(hazard.node));
}

/** Edits of one change do not touch each other. */
export function editDisjoint(edits: readonly Edit[], line: number): Obligation {
  const sorted = [...edits].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.span.start - b.span.start || a.span.end - b.span.end));
  for (let i = 1; i < sorted.length; i++) {
    const previous = sorted[i - 1];
    const next = sorted[i];
    if (previous !== undefined && next !== undefined && previous.file === next.file && next.span.start < previous.span.end) {
      return refuted('edit-disjoint', line, 'two edits of this change touch the same text');
    }
  }
  return proved('edit-disjoint', line, edits.length === 1 ? 'one edit' : `${edits.length} edits that do not touch each other`);
}

export { assumed, excerpt, lineOf, proved, provedUnder, refuted, unknown } from './obligation.js';
export { contractionStable } from './contraction.js';
export { sameExpr, sameType } from './equality.js';
export { namesResolve, type Written } from './names-resolve.js';
export { declarationsVisibleAt, declaredIn } from './scopes.js';

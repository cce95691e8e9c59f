/**
 * Values that are no masks, and intrinsics that take none: `mask-not-a-mask`, `prefix-mask`, `legacy-intrinsic`.
 *
 *   __shfl_down_sync(p, d, 32)                the value stands where the mask belongs
 *   votes & (0xffffffffu >> (32 - lane))      lane 0 shifts by 32: undefined in C++, whatever the hardware does
 *   __shfl_down(v, d)                         removed for 7.0 and later: acts on whoever is together
 *
 * What a macro spells is said at its definition; macros that the kernel uses are looked at in every arm of `#if`.
 */
import { builtin } from '../../cuda/builtins.js';
import { forEachChild, isStmt, strip, type Node } from '../../analysis/children.js';
import { structureOf } from '../../analysis/structure.js';
import type { SourceFile } from '../../source/types.js';
import { tokenizeFragment } from '../../source/tokenizer.js';
import { TokenKind } from '../../source/tokens.js';
import type { BinaryExpr, Expr } from '../../syntax/tree.js';
import { maskOf } from './masks.js';
import { asksForHip } from '../../analysis/platform.js';
import { isHip } from './platform.js';
import { macroOf, reason, textOf, type Report } from './report.js';
import type { Collective, Scene, Spot } from './scene.js';

export function maskValues(scene: Scene, report: Report): void {
  for (const call of scene.collectives) {
    if (call.builtin === null) continue;
    if (call.builtin.legacy) { if (!isHip(call.spot)) legacy(call, report); }
    else if (call.builtin.mask !== null) value(call, call.builtin.mask, report);
  }
  const bodies = new Set<object>();
  for (const spot of scene.spots) {
    const { body } = spot.facts.function;
    if (body === null || bodies.has(body)) continue;
    bodies.add(body);
    if (scene.collectives.some((call) => call.builtin !== null && call.builtin.mask !== null)) prefixes(body, spot, report);
  }
  legacyMacros(scene, report);
}

function legacy(call: Collective, report: Report): void {
  const macro = macroOf(call.node, call.spot);
  report.add(call.node, call.spot, legacyFinding(call.name, macro === null ? [] : [reason(call.node, call.spot, `used here through \`${macro.name}\``)]), macro);
}

function legacyFinding(name: string, because: ReturnType<typeof reason>[]): Parameters<Report['add']>[2] {
  return {
    id: 'legacy-intrinsic', severity: 'error', message: `\`${name}\` was removed for compute capability 7.0 and later: it acts on the lanes that happen to be together`,
    because, repair: `use \`${name}_sync\` with the mask of the lanes that should take part`,
  };
}

function value(call: Collective, position: number, report: Report): void {
  const given = call.node.arguments[position];
  if (given === undefined) return;
  const mask = maskOf(given, call.spot);
  const macro = macroOf(call.node, call.spot);
  const say = (message: string, because: string): void => {
    const used = macro === null ? [] : [reason(call.node, call.spot, `used here through \`${macro.name}\``)];
    report.add(call.node, call.spot, {
      id: 'mask-not-a-mask', severity: 'error', message, because: [reason(given, call.spot, because), ...used], repair: 'pass the mask of the lanes that take part first: `0xffffffff` where the whole warp comes',
    }, macro);
  };
  if (mask.kind === 'not-a-mask') { say(`\`${call.name}\` gets ${article(mask.type)} where its mask belongs`, `\`${textOf(given, call.spot)}\` is ${article(mask.type)}`); return; }
  if (mask.kind === 'constant' && mask.lanes === 0) { say(`\`${call.name}\` gets a mask that names no lane`, 'the mask is 0'); return; }
  // A value where the mask belongs moves every argument by one: the width stands where the distance belongs.
  const distance = call.name.startsWith('__shfl') ? call.node.arguments[2] : undefined;
  const far = distance === undefined || call.node.arguments.length !== 3 ? null : call.spot.facts.constant(distance);
  if (far === 32n && mask.kind !== 'full' && mask.kind !== 'activemask' && mask.kind !== 'vote' && call.name !== '__shfl_sync') {
    say(`the arguments of \`${call.name}\` look as if the mask was left out: its distance is ${far}`, `\`${textOf(given, call.spot)}\` stands where the mask belongs`);
  }
}

function article(type: string): string {
  return type.startsWith('a ') ? type : `a ${type}`;
}

// --------------------------------------------------------------------------------------------------------- prefix masks

/** `0xffffffff >> (32 - lane)` and `(1 << (lane + 1)) - 1`, where the amount reaches 32. */
function prefixes(body: Node, spot: Spot, report: Report): void {
  const visit = (node: Node): void => {
    if (!isStmt(node) && node.kind === 'binary' && (node.op === '>>' || node.op === '<<')) shift(node, spot, report);
    forEachChild(node, visit);
  };
  visit(body);
}

function shift(node: BinaryExpr, spot: Spot, report: Report): void {
  const { facts } = spot;
  if (node.type.kind !== 'int' || node.type.bits !== 32) return;
  const start = facts.constant(node.left);
  const ones = start !== null && BigInt.asUintN(32, start) === 0xffffffffn;
  if (!ones && !(node.op === '<<' && start === 1n)) return;
  const amount = facts.scope(node.right);
  const range = facts.range(node.right);
  if (!amount.known || amount.value !== 'lane' || range.high !== 32n || range.low === null || range.low < 0n) return;
  if (guarded(node, spot)) return;
  report.add(node, spot, {
    id: 'prefix-mask', severity: 'error', message: `a 32-bit value is shifted by ${range.low} to 32: shifting by 32 is undefined`,
    because: [reason(node.right, spot, `\`${textOf(node.right, spot)}\` is 32 for one lane`)], repair: 'lanes below: `(1u << lane) - 1`; lanes up to and with it: `0xffffffff >> (31 - lane)`',
  });
}

/** Is the lane that would shift by 32 kept away by a condition that names the same variable? Then the range says too much. */
function guarded(node: BinaryExpr, spot: Spot): boolean {
  const names = new Set<object>();
  const collect = (inner: Node): void => {
    if (inner.kind === 'ref' && inner.decl !== null) names.add(inner.decl);
    if (inner.kind === 'coordinate') names.add(COORDINATES);
    forEachChild(inner, collect);
  };
  collect(node.right);
  return spot.sets.at(node).partitions.some((partition) => partition.facts === spot.facts && partition.conditions.some((condition) => mentions(condition, names)));
}

const COORDINATES = {};

function mentions(condition: Expr, names: ReadonlySet<object>): boolean {
  let found = false;
  const visit = (node: Node): void => {
    if (node.kind === 'ref' && node.decl !== null && names.has(node.decl)) found = true;
    if (node.kind === 'coordinate' && names.has(COORDINATES)) found = true;
    forEachChild(node, visit);
  };
  visit(strip(condition));
  return found;
}

// ------------------------------------------------------------------------------------------------------- legacy in macros

/** Definitions, in every arm of `#if`, of the macros that the kernel uses. */
function legacyMacros(scene: Scene, report: Report): void {
  const used = new Map<string, { node: Node; spot: Spot }>();
  for (const spot of scene.spots) for (const node of structureOf(spot.facts.function).calls) {
    const macro = macroOf(node, spot);
    if (macro !== null && !used.has(macro.name)) used.set(macro.name, { node, spot });
  }
  if (used.size === 0 || isHip(scene.kernel)) return;
  for (const unit of scene.program.units.values()) {
    const { source } = unit;
    const defined = definitionsIn(source);
    for (const [name, use] of used) {
      for (const definition of defined.get(name) ?? NONE) {
        if (unit !== use.spot.facts.unit && use.spot.facts.unit.macros.get(name)?.file !== source.realPath) continue;
        const intrinsic = legacyCall(definition.text);
        if (intrinsic !== null) report.add(use.node, use.spot, legacyFinding(intrinsic, [reason(use.node, use.spot, `used here through \`${name}\``)]), { file: source.realPath, line: source.line(definition.start) });
      }
    }
  }
}

interface Definition { readonly start: number; /** Parameters and replacement. */ readonly text: string }

const NONE: readonly Definition[] = [];
const definitions = new WeakMap<SourceFile, ReadonlyMap<string, readonly Definition[]>>();

/** Macros of a file by name, in every arm of `#if` but those for AMD's platform (whichever arm that is: less is said, never more); read once for all kernels. */
function definitionsIn(source: SourceFile): ReadonlyMap<string, readonly Definition[]> {
  const known = definitions.get(source);
  if (known !== undefined) return known;
  const found = new Map<string, Definition[]>();
  const open: string[] = [];
  for (const directive of source.directives) {
    if (directive.kind === 'if' || directive.kind === 'ifdef' || directive.kind === 'ifndef') open.push(directive.argument);
    else if (directive.kind === 'endif') open.pop();
    if (directive.kind !== 'define' || open.some(asksForHip)) continue;
    const name = leadingName(directive.argument);
    const definition: Definition = { start: directive.start, text: directive.argument.slice(name.length) };
    const list = found.get(name);
    if (list === undefined) found.set(name, [definition]);
    else list.push(definition);
  }
  definitions.set(source, found);
  return found;
}

function leadingName(text: string): string {
  const tokens = tokenizeFragment(text);
  return tokens.kind(0) === TokenKind.identifier ? tokens.spelling(0) : '';
}

function legacyCall(text: string): string | null {
  const tokens = tokenizeFragment(text);
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) !== TokenKind.identifier) continue;
    const name = tokens.spelling(i);
    if (builtin(name)?.legacy === true && tokens.spelling(i + 1) === '(') return name;
  }
  return null;
}

/**
 * `depends-on-configuration`: what stands in an arm of `#if` that is not compiled was not looked at, and a mask that a faulty vote made is only as good as the vote.
 */
import { forEachChild, type Node } from '../../analysis/children.js';
import { builtin } from '../../cuda/builtins.js';
import { tokenizeFragment } from '../../source/tokenizer.js';
import { TokenKind } from '../../source/tokens.js';
import type { Span } from '../../source/types.js';
import type { Hazard } from '../types.js';
import { maskOf } from './masks.js';
import { reason, type Report } from './report.js';
import type { Scene } from './scene.js';

export function configuration(scene: Scene, report: Report): void {
  const seen = new Set<object>();
  for (const spot of scene.spots) {
    const fn = spot.facts.function;
    if (seen.has(fn) || fn.body === null) continue;
    seen.add(fn);
    const arms = [...fn.inactive];
    // Most functions hold no `#if`: they need no walk.
    if (fn.directives.some(({ kind }) => kind === 'if' || kind === 'ifdef' || kind === 'ifndef')) leftOut(fn.body, arms);
    for (const { span, condition } of arms) {
      const name = collectiveIn(spot.facts.unit.source.text.slice(span.start, span.end));
      if (name === null) continue;
      const node = { kind: 'empty', span } as const;
      report.add(node, spot, {
        id: 'depends-on-configuration', severity: 'note', message: `\`${name}\` stands in an arm that this configuration leaves out (${condition}), and was not looked at`,
        because: [reason(node, spot, 'not compiled in this configuration')], repair: 'audit with the other configuration too: `-D NAME=VALUE`',
      });
    }
  }
}

/** Arms of `#if` around whole statements. */
function leftOut(node: Node, into: { readonly span: Span; readonly condition: string }[]): void {
  if (node.kind === 'preprocessor') for (const arm of node.arms) if (!arm.active) into.push(arm);
  forEachChild(node, (child) => leftOut(child, into));
}

/** Masks made by votes that were found faulty. */
export function faultyMasks(scene: Scene, report: Report): void {
  const wrong = new Set(report.hazards.filter((hazard: Hazard) => hazard.severity === 'error' && hazard.id === 'mask-full-under-divergence').map((hazard) => `${hazard.path}:${hazard.line}:${hazard.column}`));
  if (wrong.size === 0) return;
  for (const call of scene.collectives) {
    const given = call.builtin === null || call.builtin.mask === null ? undefined : call.node.arguments[call.builtin.mask];
    const mask = given === undefined ? null : maskOf(given, call.spot);
    if (mask === null || mask.kind !== 'vote') continue;
    const { source } = mask.spot.facts.unit;
    const { line, column } = source.position(mask.call.span.start);
    if (!wrong.has(`${source.path}:${line}:${column}`)) continue;
    report.add(call.node, call.spot, {
      id: 'depends-on-configuration', severity: 'note', message: `the mask of \`${call.name}\` is the result of a vote that is itself at fault`,
      because: [reason(mask.call, mask.spot, 'the vote')], repair: 'repair the vote; this follows',
    });
  }
}

function collectiveIn(text: string): string | null {
  const tokens = tokenizeFragment(text);
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kind(i) !== TokenKind.identifier) continue;
    const name = tokens.spelling(i);
    const entry = builtin(name);
    if (entry !== undefined && entry.collective !== null && tokens.spelling(i + 1) === '(') return name;
  }
  return null;
}

/**
 * The overlay: CUDA spelled as C++ of exactly the same length, with notes for what was taken out.
 *
 * Offsets in a tree of the overlay are offsets in the file. The rules stand in files of their own, by what they read:
 * `arms` (conditional groups), `directive-rules` (pragmas and other lines in the middle of a statement), `word-rules` (qualifiers,
 * bounds, launches), `macro-rules` (macros of the unit), `stranger-rules` (names that no visible definition explains),
 * `dispatch-rules` (macros around launches), `comma-rules` and `grammar-rules` (C++ that the grammar lacks).
 */
import type { MacroDefinition, Overlay, SourceFile, Span } from './types.js';
import { reduceGroups, reduceGroupsIn } from './arms.js';
import { assignmentRule } from './comma-rules.js';
import { directiveRule } from './directive-rules.js';
import { dispatchRule } from './dispatch-rules.js';
import { grammarRule, pointerArgumentRule, stringRule } from './grammar-rules.js';
import { InterestingNames } from './interesting-names.js';
import { macroRule } from './macro-rules.js';
import { Patches } from './patches.js';
import { Stream } from './stream.js';
import { strangerRule } from './stranger-rules.js';
import { TokenKind } from './tokens.js';
import { launchRule, wordRule } from './word-rules.js';

const streams = new WeakMap<Overlay, Stream>();

/** The tokens and brackets that an overlay was made from; null if it was made elsewhere. */
export function streamOf(overlay: Overlay): Stream | null {
  return streams.get(overlay) ?? null;
}

export function makeOverlay(source: SourceFile, macros: ReadonlyMap<string, MacroDefinition>): Overlay {
  const stream = new Stream(source, macros);
  const patches = new Patches(source.text);
  const gone = reduceGroups(stream, patches);
  const macroUses = applyRules(stream, patches, gone, macros);
  const overlay: Overlay = macroUses.length === 0 ? patches.apply() : { ...patches.apply(), macroUses };
  streams.set(overlay, stream);
  return overlay;
}

/**
 * The overlay with every `#if` group that lies inside of `range` reduced to the arm of the default configuration: for a function
 * whose tree still holds errors. The same overlay if there is no such group.
 */
export function blankInactiveArms(source: SourceFile, overlay: Overlay, range: Span): Overlay {
  const stream = streams.get(overlay);
  if (!stream || !source.directives.some((directive) => directive.opener >= 0 && directive.start >= range.start && directive.end <= range.end)) return overlay;
  const patches = new Patches(overlay.text, source.text);
  const gone = reduceGroupsIn(stream, patches, range);
  const inside = (span: Span): boolean => gone.some((arm) => span.start >= arm.start && span.end <= arm.end);
  for (const note of overlay.notes) if (!inside(note.span)) patches.note(note);
  const uses = overlay.macroUses?.filter((at) => !gone.some((arm) => at >= arm.start && at < arm.end));
  const reduced: Overlay = uses === undefined ? patches.apply() : { ...patches.apply(), macroUses: uses };
  streams.set(reduced, stream);
  return reduced;
}

function applyRules(stream: Stream, patches: Patches, gone: readonly Span[], macros: ReadonlyMap<string, MacroDefinition>): readonly number[] {
  const { tokens } = stream;
  const uses: number[] = [];
  const interesting = new InterestingNames(macros);
  let directive = 0;
  let arm = 0;
  let next = 0;
  for (let i = 0; i < tokens.count; i++) {
    const kind = tokens.kind(i);
    const index = kind === TokenKind.directive ? directive++ : -1;
    if (i < next) continue;
    const start = tokens.start(i);
    while (arm < gone.length && (gone[arm]?.end ?? 0) <= start) arm++;
    if (arm < gone.length && (gone[arm]?.start ?? 0) <= start) continue;
    if (kind === TokenKind.directive) {
      directiveRule(stream, patches, i, index);
    } else if (kind === TokenKind.punctuation) {
      const code = tokens.code(i);
      if (stream.source.text.charCodeAt(tokens.end(i) - 1) === 61) assignmentRule(stream, patches, i);
      else if (code === 60 && tokens.end(i) - start >= 2) launchRule(stream, patches, i);
      else if (code === 42 || code === 38) pointerArgumentRule(stream, patches, i);
    } else if (kind === TokenKind.string) {
      stringRule(stream, patches, i);
    } else if (kind === TokenKind.identifier) {
      const name = interesting.spelling(tokens, i);
      // A rule that handled more than one token says where to go on; 0 means that it did not apply.
      if (name !== null) next = wordRule(stream, patches, i, name) || dispatchRule(stream, patches, i) || macroRule(stream, patches, i, name, uses) || grammarRule(stream, patches, i, name) || i + 1;
      else next = strangerRule(stream, patches, i) || dispatchRule(stream, patches, i) || i + 1;
    }
  }
  return uses;
}

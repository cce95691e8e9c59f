/** Snippets of CUDA through the overlay and the real grammar. */
import { expect } from '@jest/globals';
import { collectMacros, makeOverlay, sourceFromText, type MacroDefinition, type Overlay, type SourceFile } from '../../src/source/index.js';
import { initParser } from '../../src/syntax/parser.js';
import { parseCst, type Cst } from '../../src/syntax/cst.js';

const parser = await initParser();

export interface Overlaid {
  readonly source: SourceFile;
  readonly overlay: Overlay;
  readonly root: Cst;
  /** True if the tree has no error and no missing node. */
  readonly clean: boolean;
}

export function overlaid(text: string, inherited?: ReadonlyMap<string, MacroDefinition>): Overlaid {
  const source = sourceFromText('k.cu', '/p/k.cu', text);
  const overlay = makeOverlay(source, collectMacros(source, inherited));
  expect(overlay.text).toHaveLength(text.length);
  expect(overlay.text.split('\n').length).toBeLessThanOrEqual(text.split('\n').length);
  return { source, overlay, ...parsed(overlay.text) };
}

export function parsed(text: string): { root: Cst; clean: boolean } {
  const tree = parseCst(parser, text);
  tree.release();
  return { root: tree.root, clean: !tree.hasError };
}

/** Nodes of a type, in order. */
export function nodes(root: Cst, type: string): Cst[] {
  return [...(root.type === type ? [root] : []), ...root.children.flatMap((child) => nodes(child, type))];
}

/** The text under every note of a kind. */
export function noted({ source, overlay }: Overlaid, kind: Overlay['notes'][number]['kind']): string[] {
  return overlay.notes.filter((note) => note.kind === kind).map((note) => source.text.slice(note.span.start, note.span.end));
}

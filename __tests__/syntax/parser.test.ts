import { describe, expect, test } from '@jest/globals';
import { parseCst, type Cst } from '../../src/syntax/cst.js';
import { loadParser } from '../../src/syntax/parser.js';

const SOURCE = `
template <typename T, int N> [[global]] void k(const T *p, int n) {
  for (int i = 0; i < n; ++i) { if (p[i] > 0) continue; else p[i] = (T)-1; }
  auto f = [=](int é) -> int { return é * 2; };
  switch (n) { case 1: break; default: f("𝄞"); }
}
void broken() { int x = ; }
`;

function outline(node: Cst): unknown {
  return [node.type, node.start, node.end, node.field, node.missing, node.error, node.children.map(outline)];
}

describe('parser seam', () => {
  test('both back ends give the same tree', async () => {
    const native = parseCst(await loadParser('native'), SOURCE);
    const wasm = parseCst(await loadParser('wasm'), SOURCE);
    expect(outline(wasm.root)).toEqual(outline(native.root));
    expect(native.root.error).toBe(true);
    wasm.release();
  });

  test('texts longer than the addon\'s buffer parse', async () => {
    const text = 'int x = 1;\n'.repeat(20_000);
    for (const kind of ['native', 'wasm'] as const) {
      const tree = parseCst(await loadParser(kind), text);
      expect(tree.root.children).toHaveLength(20_000);
      tree.release();
    }
  });

  test('subtrees that are not wanted are filled in later', async () => {
    for (const kind of ['native', 'wasm'] as const) {
      const parser = await loadParser(kind);
      const lazy = parseCst(parser, SOURCE, (type) => type !== 'compound_statement');
      const full = parseCst(parser, SOURCE);
      const find = (node: Cst): Cst[] => (node.type === 'compound_statement' ? [node] : node.children.flatMap(find));
      for (const body of find(lazy.root)) {
        expect(body.pending).toBeGreaterThanOrEqual(0);
        lazy.expand(body);
      }
      expect(find(lazy.root).map(outline)).toEqual(find(full.root).map(outline));
      lazy.release();
      full.release();
    }
  });
});

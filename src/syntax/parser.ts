/**
 * The seam to tree-sitter: text in, a cursor over the C++ syntax tree out. Nothing outside `parser.ts` and `cst.ts` touches a
 * value of either parser.
 *
 * Two back ends give identical trees: the native addon (`tree-sitter`, an optional dependency) and `web-tree-sitter` with the
 * grammar's `.wasm`. The native one is tried first; `DIVMOD_PARSER=native|wasm` forces one. Loading is asynchronous and happens
 * once; parsing is synchronous.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The part of a tree cursor that both back ends share. Offsets are UTF-16 units. */
export interface TreeCursor {
  readonly nodeTypeId: number;
  readonly nodeType: string;
  readonly nodeIsNamed: boolean;
  readonly nodeIsMissing: boolean;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly currentFieldId: number;
  readonly currentFieldName: string | null | undefined;
  readonly currentDescendantIndex: number;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
  gotoDescendant(index: number): void;
}

/** A parsed text. `release` must be called when the cursor is no longer needed (frees memory of the WebAssembly heap). */
export interface ParsedText {
  readonly cursor: TreeCursor;
  readonly hasError: boolean;
  release(): void;
}

export type ParserKind = 'native' | 'wasm';

export interface CppParser {
  readonly kind: ParserKind;
  parse(text: string): ParsedText;
}

interface NativeTree { readonly rootNode: { readonly hasError: boolean }; walk(): TreeCursor }
interface NativeParser {
  setLanguage(language: unknown): void;
  parse(text: string, old: null, options: { bufferSize: number }): NativeTree | null;
}
type NativeModule = new () => NativeParser;

interface WasmTree { readonly rootNode: { readonly hasError: boolean }; walk(): TreeCursor & { delete(): void }; delete(): void }
interface WasmParser { setLanguage(language: unknown): void; parse(text: string): WasmTree | null }
interface WasmModule {
  readonly Parser: (new () => WasmParser) & { init(options: { locateFile(name: string): string }): Promise<void> };
  readonly Language: { load(path: string): Promise<unknown> };
}

const require = createRequire(import.meta.url);

function loadNative(): CppParser {
  const Parser = require('tree-sitter') as NativeModule;
  // The grammar's own entry also reads a table of its node types, from which the binding would make a class for each: a cursor needs none.
  const language = (require('node-gyp-build') as (folder: string) => unknown)(dirname(require.resolve('tree-sitter-cpp/package.json')));
  const parser = new Parser();
  parser.setLanguage(language);
  return {
    kind: 'native',
    parse(text) {
      // The addon copies its input through one buffer and fails with "Invalid argument" if the text is longer than that.
      const tree = parser.parse(text, null, { bufferSize: Math.max(32 * 1024, 2 * text.length + 64) });
      if (tree === null) throw new Error('the parser gave no tree');
      return { cursor: tree.walk(), hasError: tree.rootNode.hasError, release: () => undefined };
    },
  };
}

async function loadWasm(): Promise<CppParser> {
  const { Parser, Language } = require('web-tree-sitter') as WasmModule;
  const folder = dirname(require.resolve('web-tree-sitter'));
  await Parser.init({ locateFile: (name) => join(folder, name) });
  const language = await Language.load(require.resolve('tree-sitter-cpp/tree-sitter-cpp.wasm'));
  const parser = new Parser();
  parser.setLanguage(language);
  return {
    kind: 'wasm',
    parse(text) {
      const tree = parser.parse(text);
      if (tree === null) throw new Error('the parser gave no tree');
      const cursor = tree.walk();
      return {
        cursor,
        hasError: tree.rootNode.hasError,
        release: () => {
          cursor.delete();
          tree.delete();
        },
      };
    },
  };
}

/** Loads one particular back end. Throws if it is not there. */
export async function loadParser(kind: ParserKind): Promise<CppParser> {
  return kind === 'native' ? loadNative() : loadWasm();
}

let current: CppParser | null = null;
let loading: Promise<CppParser> | null = null;

async function choose(): Promise<CppParser> {
  const forced = process.env['DIVMOD_PARSER'];
  if (forced === 'native' || forced === 'wasm') return loadParser(forced);
  if (forced !== undefined && forced !== '') throw new Error(`DIVMOD_PARSER must be "native" or "wasm", not "${forced}"`);
  try {
    return loadNative();
  } catch {
    return loadWasm();
  }
}

/** Loads the parser once; must have settled before anything is parsed. Throws if neither back end can be loaded. */
export async function initParser(): Promise<CppParser> {
  loading ??= choose();
  current = await loading;
  return current;
}

/** The loaded parser. Throws before `initParser` has settled. */
export function cppParser(): CppParser {
  if (current === null) throw new Error('initParser() must be awaited before anything is parsed');
  return current;
}

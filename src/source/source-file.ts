/** Makes `SourceFile` values: text decoded once, tokenized once. */
import type { Comment, Directive, Encoding, Position, SourceFile } from './types.js';
import { decode, majorityNewline } from './decode.js';
import { LineTable } from './line-table.js';
import { tokenize } from './tokenizer.js';
import type { Tokens } from './tokens.js';

const tokensBySource = new WeakMap<SourceFile, Tokens>();

/** Reads a file's bytes; throws `SourceError` if they are not text. */
export function loadSource(path: string, realPath: string, bytes: Uint8Array): SourceFile {
  const { text, encoding, bom } = decode(bytes);
  return sourceFromText(path, realPath, text, { encoding, bom });
}

export function sourceFromText(path: string, realPath: string, text: string, format?: { readonly encoding?: Encoding; readonly bom?: boolean }): SourceFile {
  const { tokens, comments, directives } = tokenize(text);
  const source = new DecodedSource(path, realPath, text, format?.encoding ?? 'utf-8', format?.bom ?? false, comments, directives);
  tokensBySource.set(source, tokens);
  return source;
}

/** Tokens of the file, comments left out, each directive one token. */
export function tokensOf(source: SourceFile): Tokens {
  const known = tokensBySource.get(source);
  if (known) return known;
  const { tokens } = tokenize(source.text);
  tokensBySource.set(source, tokens);
  return tokens;
}

/** What is said of a file of which `endsInReturns` holds. */
export const IN_RETURNS = 'lines end in bare carriage returns, which are not read as line ends: convert them to newlines';

const endings = new WeakMap<SourceFile, boolean>();

/** Line ends of old Macintoshes: more lines end in a bare carriage return than in a newline. For C++ a comment or a directive takes the rest of the file with it, and an edit would mix both. */
export function endsInReturns(source: SourceFile): boolean {
  const known = endings.get(source);
  if (known !== undefined) return known;
  let bare = 0;
  let newlines = 0;
  const { text } = source;
  if (text.includes('\r')) {
    for (let at = 0; at < text.length; at++) {
      const c = text.charCodeAt(at);
      if (c === 10) newlines++;
      else if (c === 13 && at + 1 < text.length && text.charCodeAt(at + 1) !== 10) bare++;
    }
  }
  const made = bare > newlines;
  endings.set(source, made);
  return made;
}

class DecodedSource implements SourceFile {
  #newline: '\n' | '\r\n' | null = null;
  #lines: LineTable | null = null;

  constructor(
    readonly path: string,
    readonly realPath: string,
    readonly text: string,
    readonly encoding: Encoding,
    readonly bom: boolean,
    readonly comments: readonly Comment[],
    readonly directives: readonly Directive[],
  ) {}

  /** Only edits ask for it. */
  get newline(): '\n' | '\r\n' {
    return (this.#newline ??= majorityNewline(this.text));
  }

  get lineCount(): number {
    return this.#table().lineCount;
  }

  position(offset: number): Position {
    return this.#table().position(offset);
  }

  line(offset: number): number {
    return this.#table().line(offset);
  }

  lineStart(line: number): number {
    return this.#table().lineStart(line);
  }

  #table(): LineTable {
    this.#lines ??= new LineTable(this.text);
    return this.#lines;
  }
}

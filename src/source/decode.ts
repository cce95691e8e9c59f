/**
 * Bytes to text and back, losing nothing.
 *
 * Valid UTF-8 is read as UTF-8; anything else as Latin-1, where every byte is one character, so that `encode(decode(b)) = b` for
 * every file that is accepted. A byte-order mark is taken off (it would shift every offset) and put back.
 */
import type { Encoding } from './types.js';
import { SourceError } from './errors.js';

export interface Decoded {
  readonly text: string;
  readonly encoding: Encoding;
  readonly bom: boolean;
}

const MARK = [0xef, 0xbb, 0xbf] as const;

/** Text of a source file. Throws `SourceError` for bytes that hold a NUL: such a file is not text. */
export function decode(bytes: Uint8Array): Decoded {
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw new SourceError(binaryMessage(bytes, nul));
  const bom = MARK.every((byte, i) => bytes[i] === byte);
  const body = bom ? bytes.subarray(MARK.length) : bytes;
  const utf8 = decodeUtf8(body);
  const text = utf8 ?? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  return { text, encoding: utf8 === null ? 'latin1' : 'utf-8', bom };
}

/** Bytes of `text` in the encoding of the file it came from. Throws `SourceError` if an edit brought in a character that the encoding lacks. */
export function encode(source: { readonly encoding: Encoding; readonly bom: boolean }, text: string): Uint8Array {
  if (source.encoding === 'latin1') {
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) > 0xff) throw new SourceError(`cannot write ${JSON.stringify(text.charAt(i))} into a file that is not UTF-8`);
    }
  }
  const body = Buffer.from(text, source.encoding === 'latin1' ? 'latin1' : 'utf8');
  return Uint8Array.from(source.bom ? Buffer.concat([Buffer.from(MARK), body]) : body);
}

// ignoreBOM keeps a second mark as an ordinary character: only the first belongs to the encoding.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/** The newline that most lines end in; `\n` for a tie and for a file without any. */
export function majorityNewline(text: string): '\n' | '\r\n' {
  let windows = 0;
  let all = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) {
    all++;
    if (i > 0 && text.charCodeAt(i - 1) === 13) windows++;
  }
  return windows * 2 > all ? '\r\n' : '\n';
}

function binaryMessage(bytes: Uint8Array, nul: number): string {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return wide ? 'the file is UTF-16; divmod reads UTF-8 and single-byte text' : `the file is not text: byte ${nul} is zero`;
}

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SourceError, decode, encode } from '../../src/source/index.js';
import { majorityNewline } from '../../src/source/decode.js';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'utf8'));

describe('decoding loses nothing', () => {
  test('any bytes without NUL come back', () => {
    fc.assert(fc.property(fc.uint8Array({ min: 1, maxLength: 200 }), (given) => {
      const decoded = decode(given);
      expect([...encode(decoded, decoded.text)]).toEqual([...given]);
    }));
  });

  test('any Unicode text comes back as UTF-8', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), fc.boolean(), (text, bom) => {
      fc.pre(!text.includes('\0'));
      const given = utf8((bom ? '\ufeff' : '') + text);
      const decoded = decode(given);
      expect(decoded.encoding).toBe('utf-8');
      expect([...encode(decoded, decoded.text)]).toEqual([...given]);
    }));
  });
});

describe('what a file is', () => {
  test('UTF-8, with and without a mark', () => {
    expect(decode(utf8('// é\n'))).toEqual({ text: '// é\n', encoding: 'utf-8', bom: false });
    expect(decode(utf8('\ufeffint a;'))).toEqual({ text: 'int a;', encoding: 'utf-8', bom: true });
  });

  test('a second mark is text', () => {
    expect(decode(utf8('\ufeff\ufeffx')).text).toBe('\ufeffx');
  });

  test('bytes that are no UTF-8 are Latin-1, each byte a character', () => {
    expect(decode(bytes(0x2f, 0x2f, 0xe9, 0x85, 0x0a))).toEqual({ text: '//\u00e9\u0085\n', encoding: 'latin1', bom: false });
  });

  test('the newline is that of most lines', () => {
    expect(majorityNewline('a\r\nb\r\nc\n')).toBe('\r\n');
    expect(majorityNewline('a\r\nb\nc\n')).toBe('\n');
    expect(majorityNewline('a\rb')).toBe('\n');
  });

  test('an empty file is a file', () => {
    expect(decode(bytes())).toEqual({ text: '', encoding: 'utf-8', bom: false });
  });

  test('a file with NUL bytes is refused with a reason', () => {
    expect(() => decode(bytes(0x7f, 0x45, 0x4c, 0x46, 0))).toThrow(SourceError);
    expect(() => decode(bytes(0x7f, 0x45, 0x4c, 0x46, 0))).toThrow('the file is not text: byte 4 is zero');
    expect(() => decode(bytes(0xff, 0xfe, 0x61, 0))).toThrow('UTF-16');
  });

  test('a character that the encoding lacks is refused', () => {
    expect(() => encode({ encoding: 'latin1', bom: false }, 'a→b')).toThrow(SourceError);
  });
});

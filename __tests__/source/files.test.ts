/** Lines, includes, compile commands, annotations. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  SourceError, SourceStore, annotationsOf, collectMacros, compileCommandFor, loadSource, parseCompileCommands, resolveIncludes, sourceFromText, type IncludeReader,
} from '../../src/source/index.js';

const source = (text: string, path = '/p/k.cu'): ReturnType<typeof sourceFromText> => sourceFromText(path, path, text);

describe('lines', () => {
  test('offsets and positions agree', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom('a', 'bc', '\n', '\r\n', ''), { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      const file = source(text);
      expect(file.lineCount).toBe(text.split('\n').length);
      for (let offset = 0; offset <= text.length; offset++) {
        const { line, column } = file.position(offset);
        expect(line).toBe(text.slice(0, offset).split('\n').length);
        expect(file.lineStart(line) + column - 1).toBe(offset);
        expect(file.line(offset)).toBe(line);
      }
    }));
  });

  test('offsets outside count as the ends', () => {
    const file = source('a\nb');
    expect(file.position(-5)).toEqual({ line: 1, column: 1 });
    expect(file.position(99)).toEqual({ line: 2, column: 2 });
    expect(file.lineStart(0)).toBe(0);
    expect(file.lineStart(9)).toBe(3);
  });

  test('a mark does not shift them', () => {
    const file = loadSource('k.cu', '/p/k.cu', Uint8Array.from(Buffer.from('\ufeffint a;\r\nint b;\r\n')));
    expect(file).toMatchObject({ bom: true, encoding: 'utf-8', newline: '\r\n' });
    expect(file.position(file.text.indexOf('b'))).toEqual({ line: 2, column: 5 });
  });
});

/** Files by path; a value that is a path starting with `->` is a link. */
function reader(files: Readonly<Record<string, string>>): IncludeReader & { reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    realPath(path) {
      const text = files[path];
      return text === undefined ? null : text.startsWith('->') ? text.slice(2) : path;
    },
    readFile(path) {
      reads.push(path);
      return Uint8Array.from(Buffer.from(files[path] ?? ''));
    },
  };
}

describe('includes', () => {
  const files = reader({ '/p/a.h': 'x', '/inc/a.h': 'y', '/inc/sub/b.h': 'z', '/p/link.h': '->/real/link.h', '/real/link.h': 'w' });

  test('quoted ones are sought next to the file, then in the folders; angled ones only there', () => {
    const { found, missing } = resolveIncludes(source('#include "a.h"\n#include <a.h>\n#include "sub/b.h"\n#include <cuda.h>\n#include "none.h"\n#include "link.h"\n#include MACRO\n'), { directories: ['/other', '/inc'], reader: files });
    expect(found.map(({ name, quoted, realPath, directive }) => [name, quoted, realPath, directive])).toEqual([
      ['a.h', true, '/p/a.h', 0], ['a.h', false, '/inc/a.h', 1], ['sub/b.h', true, '/inc/sub/b.h', 2], ['link.h', true, '/real/link.h', 5],
    ]);
    expect(missing).toEqual(['none.h']);
  });

  test('arms that are not kept miss nothing', () => {
    const text = '#ifdef __HIPCC__\n#include "hip.h"\n#endif\n#if 0\n#include "a.h"\n#endif\n';
    expect(resolveIncludes(source(text), { reader: files })).toEqual({ found: [], missing: [] });
    const macros = collectMacros(source(''), undefined, { __HIPCC__: '1' });
    expect(resolveIncludes(source(text), { reader: files, macros }).missing).toEqual(['hip.h']);
  });

  test('a header is read once, whatever its names', () => {
    const store = new SourceStore(files);
    files.reads.length = 0;
    expect(store.load('/p/link.h')).toBe(store.load('/real/link.h'));
    expect(store.load('/nowhere.h')).toBeNull();
    expect(files.reads).toEqual(['/real/link.h']);
  });

  test('a header that is no text is refused each time', () => {
    const store = new SourceStore(reader({ '/b.h': 'a\0b' }));
    expect(() => store.load('/b.h')).toThrow(SourceError);
    expect(() => store.load('/b.h')).toThrow(SourceError);
  });
});

describe('compile commands', () => {
  test('options of a command line', () => {
    const [command] = parseCompileCommands(JSON.stringify([{
      directory: '/b', file: '../p/k.cu',
      command: 'nvcc -Iinc -I /abs,rel2 -isystem sys -DN=4 -D M "-DS=\\"a b\\"" -DGONE -UGONE -include pre.h -c ../p/k.cu -o k.o',
    }]));
    expect(command).toEqual({
      file: '/p/k.cu', includeDirectories: ['/b/inc', '/abs', '/b/rel2', '/b/sys'], defines: { N: '4', M: '1', S: '"a b"' }, forcedIncludes: ['/b/pre.h'],
    });
  });

  test('a list of arguments', () => {
    const commands = parseCompileCommands('[{"directory": "/b", "file": "k.cu", "arguments": ["nvcc", "-DF(x)=x+1", "--include-path=i"]}, {"file": 3}, null]');
    expect(compileCommandFor(commands, '/b/k.cu')).toEqual({ file: '/b/k.cu', includeDirectories: ['/b/i'], defines: { 'F(x)': 'x+1' }, forcedIncludes: [] });
    expect(compileCommandFor(commands, '/b/l.cu')).toBeNull();
  });

  test('anything else is refused', () => {
    expect(() => parseCompileCommands('{')).toThrow(SourceError);
    expect(() => parseCompileCommands('{}')).toThrow('not a list');
  });
});

describe('annotations', () => {
  const annotations = (text: string): unknown[] => annotationsOf(source(text)).map(({ line, key, value }) => [line, key, value]);

  test('beside code speak of their line, above it of the next line with code', () => {
    expect(annotations('// divmod: ignore\n\n// another\n  if (a) b(); // divmod: p=0.03\n/* divmod: uniform */ x();\n')).toEqual([
      [4, 'ignore', null], [4, 'p', '0.03'], [5, 'uniform', null],
    ]);
  });

  test('may be several, and carry a reason', () => {
    expect(annotations('f(); // divmod: block=32x8, trip=64, noalias\ng(); // divmod: ignore because it is cold, noalias or not\n')).toEqual([
      [1, 'block', '32x8'], [1, 'trip', '64'], [1, 'noalias', null], [2, 'ignore', null],
    ]);
  });

  test('are comments, and nothing else is an annotation', () => {
    expect(annotations('s = "// divmod: ignore"; // a divmod: ignore\n//divmod:ignore\nf();\n')).toEqual([[3, 'ignore', null]]);
  });
});

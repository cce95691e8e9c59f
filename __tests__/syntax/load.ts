/** Programs from texts in memory. */
import { initParser, loadProgram, type LoadedProgram } from '../../src/syntax/index.js';
import type { FunctionDecl, Unit } from '../../src/syntax/tree.js';

export async function program(files: Readonly<Record<string, string>>, paths: readonly string[] = Object.keys(files)): Promise<LoadedProgram> {
  await initParser();
  const full = new Map(Object.entries(files).map(([name, text]) => [`/p/${name}`, text]));
  return loadProgram(paths.map((path) => `/p/${path}`), {
    realPath: (path) => (full.has(normal(path)) ? normal(path) : null),
    readFile: (path) => new TextEncoder().encode(full.get(path) ?? ''),
  });
}

function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

export async function unit(text: string): Promise<Unit> {
  const loaded = await program({ 'a.cu': text });
  const made = loaded.units.get('/p/a.cu');
  if (made === undefined) throw new Error('no unit');
  return made;
}

export function functionNamed(from: Unit, name: string): FunctionDecl {
  const found = from.functions.find((decl) => decl.name === name && decl.body !== null) ?? from.functions.find((decl) => decl.name === name);
  if (found === undefined) throw new Error(`no function ${name}`);
  return found;
}

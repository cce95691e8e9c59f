/**
 * Every place in the loaded files that mentions a kernel by name, by tokens: what a tree does not show (text of another configuration,
 * macro bodies, functions that were not lowered) is found too. Comments and strings are no mentions.
 */
import { forEachChild, walk, type Node } from '../../src/analysis/children.js';
import { tokenize } from '../../src/source/tokenizer.js';
import { TokenKind, type Tokens } from '../../src/source/tokens.js';
import type { SourceFile, Span } from '../../src/source/types.js';
import type { FunctionDecl, Program, Stmt, Unit } from '../../src/syntax/tree.js';

export interface Mention {
  readonly unit: Unit;
  /** The name alone; for a directive the whole directive. */
  readonly span: Span;
  readonly line: number;
  readonly kind:
    /** The name of the kernel's definition. */
    | 'definition'
    /** A declaration without a body. */
    | 'declaration'
    /** `template __global__ void k<4>(float *);` */
    | 'instantiation'
    /** A member of an object, a name of another scope, a label of a `#include`: something else that is called the same. */
    | 'other'
    | 'directive'
  /** The definition of another kernel of that name: in another namespace, with other parameters, or a specialisation. */
  | 'namesake'
    /** To be explained by a launch or a call; else in the way. */
    | 'use';
}

const tokensOf = new WeakMap<SourceFile, Tokens>();

/** Tokens of a file, made once. */
export function fileTokens(source: SourceFile): Tokens {
  let tokens = tokensOf.get(source);
  if (tokens === undefined) tokensOf.set(source, tokens = tokenize(source.text).tokens);
  return tokens;
}

/** True if the name is a token of the span, members and texts in `gone` aside; macro bodies and other directives count by their text. */
export function spelledIn(source: SourceFile, span: Span, name: string, gone: readonly Span[] = []): boolean {
  if (!source.text.slice(span.start, span.end).includes(name)) return false;
  const tokens = fileTokens(source);
  const word = new RegExp(`\\b${name}\\b`);
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.end(i) <= span.start) continue;
    if (tokens.start(i) >= span.end) return false;
    if (gone.some((other) => other.start <= tokens.start(i) && tokens.end(i) <= other.end)) continue;
    if (tokens.kind(i) === TokenKind.identifier ? tokens.spelling(i) === name && !/^(\.|->)$/.test(tokens.spelling(i - 1)) : tokens.kind(i) === TokenKind.directive && word.test(tokens.spelling(i))) return true;
  }
  return false;
}

/** All mentions of the kernel's name in the program, in the order of the files. */
export function mentionsOf(kernel: FunctionDecl, program: Program): readonly Mention[] {
  const found: Mention[] = [];
  for (const unit of program.units.values()) {
    const { source } = unit;
    if (!source.text.includes(kernel.name)) continue;
    const tokens = fileTokens(source);
    const word = new RegExp(`\\b${kernel.name}\\b`);
    for (let i = 0; i < tokens.count; i++) {
      const span = { start: tokens.start(i), end: tokens.end(i) };
      const line = source.line(span.start);
      if (tokens.kind(i) === TokenKind.directive) {
        if (word.test(tokens.spelling(i)) && !/^#\s*(include|pragma|error|line)\b/.test(tokens.spelling(i))) found.push({ unit, span, line, kind: 'directive' });
        continue;
      }
      if (tokens.kind(i) !== TokenKind.identifier || tokens.spelling(i) !== kernel.name) continue;
      found.push({ unit, span, line, kind: kindOf(kernel, unit, tokens, i) });
    }
  }
  return found;
}

function kindOf(kernel: FunctionDecl, unit: Unit, tokens: Tokens, i: number): Mention['kind'] {
  const start = tokens.start(i);
  const named = unit.functions.find((fn) => fn.nameSpan.start <= start && start < fn.nameSpan.end);
  if (named !== undefined) {
    if (!named.qualifiers.global) return 'other';
    if (named === kernel) return 'definition';
    // A second body: which of them a launch means is not decided here.
    return named.body === null && named.specialises === null ? 'declaration' : 'namesake';
  }
  const before = tokens.spelling(i - 1);
  if (before === '.' || before === '->') return 'other';
  if (isInstantiation(tokens, i)) return 'instantiation';
  if (functionAt(unit, start) === null && declaresOther(tokens, i)) return 'other';
  // A local variable, a call of a host function or a method that is called the same: the tree knows.
  return meansOther(kernel, unit, start) ? 'other' : 'use';
}

/** A field or a variable of that name, by what stands around it outside of functions: `float gain;`. */
function declaresOther(tokens: Tokens, i: number): boolean {
  const before = tokens.kind(i - 1) === TokenKind.identifier ? tokens.spelling(i - 1) !== 'return' : tokens.spelling(i - 1) === '*';
  return before && /^[;,=[{:]$/.test(tokens.spelling(i + 1));
}

/** From the start of its declaration: `template` (or `extern template`) without `<`. */
function isInstantiation(tokens: Tokens, i: number): boolean {
  for (let j = i - 1; j >= 0; j--) {
    const text = tokens.spelling(j);
    if (text === ';' || text === '}' || text === '{' || tokens.kind(j) === TokenKind.directive) return false;
    if (text === 'template') return tokens.spelling(j + 1) !== '<';
  }
  return false;
}

function meansOther(kernel: FunctionDecl, unit: Unit, offset: number): boolean {
  const fn = functionAt(unit, offset);
  if (fn === null || fn.body === null) return false;
  if (fn.parameters.some((parameter) => parameter.nameSpan.start <= offset && offset < parameter.nameSpan.end)) return true;
  let other = false;
  walk(fn.body, (node) => {
    if (other || offset < node.span.start || offset >= node.span.end) return false;
    if (node.kind === 'declare') other = node.variables.some((variable) => variable.nameSpan.start <= offset && offset < variable.nameSpan.end);
    if (node.kind === 'ref' && node.name === kernel.name) other = node.decl !== null && !(node.decl.kind === 'function' && node.decl.qualifiers.global);
    if (node.kind === 'member' && node.name === kernel.name && offset >= node.object.span.end) other = true;
    if (node.kind === 'call' && offset >= node.calleeSpan.start && offset < node.calleeSpan.end) {
      if (node.callee.kind === 'function') other = node.callee.name === kernel.name && node.callee.candidates.every((candidate) => !candidate.qualifiers.global);
      if (node.callee.kind === 'method' && node.callee.name === kernel.name) other = true;
    }
    return !other;
  });
  return other;
}

/** The innermost function whose text holds the offset. */
export function functionAt(unit: Unit, offset: number): FunctionDecl | null {
  let found: FunctionDecl | null = null;
  for (const fn of unit.functions) {
    if (fn.span.start <= offset && offset < fn.span.end && (found === null || fn.span.start >= found.span.start)) found = fn;
  }
  return found;
}

/** A statement of a body with the statement around it, found by its span. */
export interface Found { readonly statement: Stmt; readonly parent: Node | null }

/** The statement that is nothing but the expression of this span (parentheses aside); null if it stands in something larger. */
export function statementOf(fn: FunctionDecl, span: Span): Found | null {
  let found: Found | null = null;
  const visit = (node: Node, parent: Node | null): void => {
    if (found !== null || span.start < node.span.start || span.end > node.span.end) return;
    if (node.kind === 'expression') {
      let inner = node.expression;
      while (inner.kind === 'paren') inner = inner.inner;
      if (inner.span.start === span.start && inner.span.end === span.end && inner.kind === 'call') found = { statement: node, parent };
    }
    forEachChild(node, (child) => visit(child, node));
  };
  if (fn.body !== null) visit(fn.body, null);
  return found;
}

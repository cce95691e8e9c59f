/**
 * What the body of a function declares besides values of its threads, and which text names it: types (typedefs, aliases, enums with their enumerators, structs), constants
 * that the length of an array or a template may ask for, and names that a block takes from elsewhere (`using a::f;`, `namespace q = a;`, `float f(float);`).
 *
 * Such names leave no reference in the tree where they stand in a type. So text names what its words spell, macros that it invokes included; members and
 * names behind `::` aside. A word that means something further in is taken to mean the outer declaration too: that is one declaration too many, never one too few.
 */
import { isStmt, walk, type Node } from '../../src/analysis/children.js';
import { TokenKind } from '../../src/source/tokens.js';
import type { Span } from '../../src/source/types.js';
import { strip, type Decl, type DeclareStmt, type Expr, type FunctionDecl, type Stmt, type Type, type Unit, type VariableDecl } from '../../src/syntax/tree.js';
import { fileTokens } from './launch-mentions.js';
import type { TransformContext } from './types.js';

/** A declaration statement of the function, and what it brings into scope. */
export interface LocalDeclaration {
  readonly stmt: DeclareStmt;
  /** `'any'` for a using-directive. */
  readonly names: readonly string[] | 'any';
  /** Only values of the thread: nothing but references can name them, `decltype` aside. */
  readonly plain: boolean;
  /** Why it cannot stand elsewhere with the same meaning; null if it can. */
  readonly tied: string | null;
  /** From the statement to the end of the block that it stands in. */
  readonly scope: Span;
}

const known = new WeakMap<FunctionDecl, readonly LocalDeclaration[]>();

/** All declaration statements of a function outside of its lambdas and local classes, in the order of the text. */
export function localDeclarations({ facts }: Pick<TransformContext, 'facts'>): readonly LocalDeclaration[] {
  const { function: fn } = facts;
  let found = known.get(fn);
  if (found === undefined) known.set(fn, found = fn.body === null ? [] : collect(fn.body));
  return found;
}

function collect(body: Stmt): readonly LocalDeclaration[] {
  const found: LocalDeclaration[] = [];
  const visit = (stmt: Stmt, block: Span, apart: string | null): void => {
    switch (stmt.kind) {
      case 'declare': found.push(declarationOf(stmt, { start: stmt.span.start, end: block.end }, apart)); return;
      case 'compound': for (const inner of stmt.body) visit(inner, stmt.span, null); return;
      case 'if': case 'switch':
        if (stmt.init !== null) visit(stmt.init, stmt.span, 'stands in the head of a statement');
        if (stmt.kind === 'switch') { for (const arm of stmt.arms) for (const inner of arm.body) visit(inner, stmt.span, 'stands behind a case label'); return; }
        visit(stmt.then, stmt.then.span, null);
        if (stmt.else !== null) visit(stmt.else, stmt.else.span, null);
        return;
      case 'for':
        visit(stmt.init, stmt.span, 'stands in the head of a loop');
        visit(stmt.body, stmt.body.span, null);
        return;
      case 'while': case 'do': case 'range-for': visit(stmt.body, stmt.body.span, null); return;
      case 'label': visit(stmt.body, block, 'stands behind a label'); return;
      case 'preprocessor': for (const arm of stmt.arms) if (arm.active) for (const inner of arm.body) visit(inner, block, 'stands below a directive'); return;
      case 'macro-statement': {
        const inner = stmt.expanded.kind === 'compound' ? stmt.expanded.body : [stmt.expanded];
        for (const one of inner) visit(one, block, 'stands in a macro');
        return;
      }
      case 'expression': case 'empty': case 'break': case 'continue': case 'return': case 'goto': case 'asm': case 'opaque': return;
      default: {
        const never: never = stmt;
        return never;
      }
    }
  };
  visit(body, body.span, null);
  return found;
}

function declarationOf(stmt: DeclareStmt, scope: Span, apart: string | null): LocalDeclaration {
  const own = stmt.variables.filter((variable) => !isConstantHere(variable));
  const names = stmt.brings === 'any' ? 'any' : namesDeclared(stmt);
  const plain = stmt.types.length === 0 && stmt.brings === undefined && own.length === stmt.variables.length && own.every(({ space, storage }) => space === 'local' && storage === 'automatic');
  const lasting = own.find(({ space, storage }) => space !== 'local' || storage !== 'automatic');
  const tied = lasting !== undefined ? 'lasts longer than the block it stands in' : own[0] !== undefined ? `stands in the declaration of ${own[0].name}, which is the thread's own` : apart;
  return { stmt, names, plain, tied, scope };
}

/** Names that a declaration brings into its scope, as far as they can be listed. */
export function namesDeclared(stmt: DeclareStmt): readonly string[] {
  const types = stmt.types.flatMap((type) => (type.kind === 'enum' ? [type.name, ...type.enumerators.map(({ name }) => name)] : [type.name]));
  return [...stmt.variables.map(({ name }) => name), ...types, ...stmt.brings === 'any' ? [] : stmt.brings ?? []].filter((name) => name !== '');
}

// ------------------------------------------------------------------------------------------------------------ constants

/** `constexpr`, or an integer constant that C++ lets stand for its value: `const int k = 2 * sizeof(float);`. Nothing of it belongs to a thread. */
export function isConstantHere(decl: VariableDecl): boolean {
  if (decl.space !== 'local' && !(decl.space === 'device' && decl.storage === 'static')) return false;
  if (decl.constexpr) return true;
  return decl.type.const === true && (decl.type.kind === 'int' || decl.type.kind === 'bool' || decl.type.kind === 'enum' || decl.type.kind === 'dependent' || decl.type.kind === 'unknown')
    && decl.init !== null && !decl.opaqueInit && isConstantExpression(decl.init, 0);
}

function isConstantExpression(expr: Expr, depth: number): boolean {
  let constant = depth < 8;
  walk(expr, (node) => {
    if (!constant) return false;
    switch (node.kind) {
      case 'literal': case 'paren': case 'macro': case 'unary': case 'binary': case 'conditional': case 'cast':
        if (node.kind === 'unary' && (node.op === '*' || node.op === '&')) constant = false;
        return constant;
      // Its operand is not evaluated.
      case 'sizeof': return false;
      case 'ref': constant = isConstantName(node.decl, node.name, depth); return constant;
      case 'call': constant = node.callee.kind === 'function' && node.callee.candidates.every(({ qualifiers }) => qualifiers.constexpr); return constant;
      default: constant = false; return false;
    }
  });
  return constant;
}

function isConstantName(decl: Decl | null, name: string, depth: number): boolean {
  // `Traits<T>::width`: what a class says of itself.
  if (decl === null) return name.includes('::');
  switch (decl.kind) {
    case 'enumerator': case 'template-parameter': return true;
    case 'variable':
      if (decl.constexpr) return true;
      return decl.type.const === true && decl.init !== null && !decl.opaqueInit && decl.type.kind !== 'float' && isConstantExpression(decl.init, depth + 1);
    case 'parameter': case 'function': case 'record': case 'enum': case 'typedef': return false;
    default: {
      const never: never = decl;
      return never;
    }
  }
}

/** Names in text that must be constants for it to compile, as far as the tree shows them: lengths of arrays, template arguments, `case` labels. */
export function constantsAskedFor(roots: readonly Node[], visit: (ref: Expr) => void): void {
  const inExpr = (expr: Expr): void => walk(expr, (node) => { if (!isStmt(node) && node.kind === 'ref') visit(node); });
  const inType = (type: Type, depth: number): void => {
    if (depth > 8) return;
    switch (type.kind) {
      case 'array': if (type.length !== null) inExpr(type.length); inType(type.of, depth + 1); return;
      case 'pointer': case 'reference': inType(type.to, depth + 1); return;
      case 'record': for (const argument of type.templateArguments ?? []) if (argument.kind === 'value') inExpr(argument.value); else inType(argument.type, depth + 1); return;
      case 'void': case 'bool': case 'int': case 'float': case 'enum': case 'function': case 'dependent': case 'unknown': return;
      default: {
        const never: never = type;
        return never;
      }
    }
  };
  for (const root of roots) {
    walk(root, (node) => {
      if (node.kind === 'declare') for (const variable of node.variables) inType(variable.type, 0);
      else if (node.kind === 'switch') { for (const arm of node.arms) for (const label of arm.labels) if (label !== null) inExpr(strip(label)); }
      else if (node.kind === 'call') for (const argument of node.templateArguments ?? []) if (argument.kind === 'value') inExpr(argument.value);
    });
  }
}

// ---------------------------------------------------------------------------------------------------------------- words

/** Where the words of a function's body stand. */
export interface Words {
  /** Offsets in ascending order; those in the body of a macro count where it is invoked. */
  readonly of: ReadonlyMap<string, readonly number[]>;
}

const spelled = new WeakMap<FunctionDecl, Words>();

export function wordsOf({ facts, unit }: TransformContext): Words {
  const { function: fn } = facts;
  let words = spelled.get(fn);
  if (words === undefined) spelled.set(fn, words = { of: fn.body === null ? new Map() : wordsIn(unit, fn.body.span) });
  return words;
}

function wordsIn(unit: Unit, span: Span): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const add = (word: string, at: number): void => {
    const list = found.get(word);
    if (list === undefined) found.set(word, [at]);
    else if (list[list.length - 1] !== at) list.push(at);
  };
  const tokens = fileTokens(unit.source);
  let low = 0;
  let high = tokens.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tokens.start(middle) < span.start) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < tokens.count && tokens.start(i) < span.end; i++) {
    const at = tokens.start(i);
    if (tokens.kind(i) === TokenKind.directive) { for (const [word] of tokens.spelling(i).matchAll(WORD)) add(word, at); continue; }
    if (tokens.kind(i) !== TokenKind.identifier) continue;
    const word = tokens.spelling(i);
    if (/^(?:\.|->|::)$/.test(tokens.spelling(i - 1))) continue;
    add(word, at);
    if (unit.macros.has(word)) for (const inner of macroWords(unit, word)) add(inner, at);
  }
  return found;
}

const WORD = /[A-Za-z_]\w*/g;

/** Words that a macro is replaced by in the end, its parameters aside. */
export function macroWords(unit: Unit, name: string): ReadonlySet<string> {
  const words = new Set<string>();
  const pending = [name];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const macro = unit.macros.get(next);
    if (macro === undefined) continue;
    for (const [word] of macro.body.matchAll(WORD)) {
      if (words.has(word) || macro.parameters?.includes(word) === true) continue;
      words.add(word);
      pending.push(word);
    }
  }
  return words;
}

/** The first place in the span where the word stands; null if it does not. */
export function wordIn(words: Words, word: string, { start, end }: Span): number | null {
  const list = words.of.get(word);
  if (list === undefined) return null;
  return list.find((at) => at >= start && at < end) ?? null;
}

/** Text that may name a variable without a reference: a type taken from it, or a capture. */
export function namesTypesOfValues(text: string, { start, end }: Span): boolean {
  return /\b(?:decltype|typeof|__typeof__|alignas)\b|\[[\s&=\w,]*\]\s*[({]/.test(text.slice(start, end));
}

/** The first name of the declaration that the text spells. A using-directive may explain any. */
export function namedIn(spelled: Words, { names, stmt }: LocalDeclaration, span: Span): string | null {
  if (names === 'any') return stmt.span.start < span.start ? 'a namespace' : null;
  return names.find((name) => wordIn(spelled, name, span) !== null) ?? null;
}

/** A word that no declaration of the function explains; null if there is none. */
export function unexplainedIn(context: TransformContext, spelled: Words, span: Span): string | null {
  const { function: fn } = context.facts;
  const own = new Set([...fn.parameters, ...fn.template ?? []].map(({ name }) => name));
  for (const { names } of localDeclarations(context)) if (names !== 'any') for (const name of names) own.add(name);
  for (const word of spelled.of.keys()) {
    if (!own.has(word) && !OWN_WORDS.has(word) && wordIn(spelled, word, span) !== null) return word;
  }
  return null;
}

/** Words that no namespace can give a meaning. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'if', 'else', 'for', 'while', 'do', 'switch', 'case', 'default', 'break', 'continue', 'return', 'const', 'constexpr', 'volatile', 'static', 'auto', 'unsigned', 'signed', 'int', 'char', 'short',
  'long', 'bool', 'float', 'double', 'void', 'true', 'false', 'nullptr', 'sizeof', 'struct', 'union', 'enum', 'typedef', 'using', 'namespace', 'typename', 'static_cast', 'reinterpret_cast',
  'threadIdx', 'blockIdx', 'blockDim', 'gridDim', '__restrict__', '__shared__',
]);

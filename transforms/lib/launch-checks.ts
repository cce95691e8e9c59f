/**
 * How the host code around a launch checks the runtime's answers: `CHECK(cudaMalloc(…));`. New calls of the runtime are checked the same way. Without
 * such a habit in the same function they stand bare, as its own do.
 */
import { walk } from '../../src/analysis/children.js';
import { tokenize } from '../../src/source/tokenizer.js';
import { TokenKind } from '../../src/source/tokens.js';
import type { Span } from '../../src/source/types.js';
import { strip, type Expr, type FunctionDecl, type Unit } from '../../src/syntax/tree.js';

/** A call of the runtime that answers with an error code. */
const RUNTIME = /^cuda[A-Z]\w*$/;

/** Name of the macro or function that wraps calls of the runtime as statements of their own; the nearest before `offset`, else the first behind it. Macros only where they fit. */
export function errorCheck(unit: Unit, fn: FunctionDecl, offset: number): string | null {
  const { body } = fn;
  if (body === null) return null;
  const lambdas: Span[] = [];
  walk(body, (node) => {
    if (node.kind === 'lambda') lambdas.push(node.span);
    return true;
  });
  const inLambda = (at: number): boolean => lambdas.some((span) => span.start <= at && at < span.end);
  let before: string | null = null;
  let behind: string | null = null;
  const note = (name: string, at: number): void => {
    if (inLambda(at) || !fits(unit, name, offset, inLambda(offset))) return;
    if (at < offset) before = name;
    else behind ??= name;
  };
  walk(body, (node) => {
    if (node.kind === 'macro-statement') {
      const name = wrapper(unit, node.span);
      if (name !== null) note(name, node.span.start);
      return false;
    }
    if (node.kind !== 'expression') return true;
    const name = node.expression.kind === 'macro' ? wrapper(unit, node.expression.span) : wrappingCall(node.expression);
    if (name !== null) note(name, node.span.start);
    return false;
  });
  return before ?? behind;
}

/** A statement of these words goes somewhere that the text around decides. */
const JUMPS: ReadonlySet<string> = new Set(['break', 'continue', 'goto', 'case', 'default', 'co_return', 'co_yield', 'co_await']);

/**
 * A macro means the same at the launch as where it is used: it does not jump, speaks of nothing that a function of the file declares, and if it
 * returns, then from the function itself. What is no macro of a loaded file is taken for a function, but not inside a lambda.
 */
function fits(unit: Unit, name: string, offset: number, lambda: boolean): boolean {
  const definition = unit.macros.get(name);
  if (definition === undefined) return !lambda || unit.functions.some((fn) => fn.name === name);
  if (definition.ambiguous || definition.inactive === true) return false;
  if (definition.file === unit.source.realPath && definition.line > unit.source.line(offset)) return false;
  const words = macroWords(unit, name);
  if (words === null || (lambda && words.has('return')) || [...words].some((word) => JUMPS.has(word))) return false;
  return ![...declaredInFunctions(unit)].some((declared) => words.has(declared));
}

/** Identifiers of a macro's replacement list and of those of the macros in it, its own parameters aside; null if one of these has several definitions. */
function macroWords(unit: Unit, name: string): ReadonlySet<string> | null {
  const words = new Set<string>();
  const seen = new Set<string>();
  const rest = [name];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const definition = unit.macros.get(next);
    if (definition === undefined || seen.has(next)) continue;
    seen.add(next);
    if (definition.ambiguous) return null;
    const { tokens } = tokenize(definition.body);
    for (let i = 0; i < tokens.count; i++) {
      if (tokens.kind(i) !== TokenKind.identifier) continue;
      const word = tokens.spelling(i);
      rest.push(word);
      if (definition.parameters?.includes(word) !== true) words.add(word);
    }
  }
  return words;
}

/** Parameters, local variables, types and labels of every function of the file. */
function declaredInFunctions(unit: Unit): ReadonlySet<string> {
  let names = declared.get(unit);
  if (names !== undefined) return names;
  declared.set(unit, names = new Set());
  const found = names;
  for (const fn of unit.functions) {
    for (const parameter of fn.parameters) found.add(parameter.name);
    if (fn.body === null) continue;
    walk(fn.body, (node) => {
      // What a macro declares for itself is gone at its end.
      if (node.kind === 'macro-statement' && node.expanded.kind !== 'declare') return false;
      if (node.kind === 'declare') for (const decl of [...node.variables, ...node.types]) found.add(decl.name);
      if (node.kind === 'label') found.add(node.name);
      if (node.kind === 'lambda') for (const parameter of node.parameters) found.add(parameter.name);
      return true;
    });
  }
  found.delete('');
  return found;
}

const declared = new WeakMap<Unit, Set<string>>();

/** A macro of the file has the name or speaks of it: a new variable of that name would be meant by it. */
export function spokenByMacros(unit: Unit, name: string): boolean {
  if (unit.macros.has(name)) return true;
  let words = spoken.get(unit);
  if (words === undefined) {
    spoken.set(unit, words = new Set());
    for (const { body } of unit.macros.values()) for (const [word] of body.matchAll(/[A-Za-z_]\w*/g)) words.add(word);
  }
  return words.has(name);
}

const spoken = new WeakMap<Unit, Set<string>>();

/** `NAME(cudaX(…))` in the text of an invocation. */
function wrapper(unit: Unit, span: { readonly start: number; readonly end: number }): string | null {
  const text = unit.source.text.slice(span.start, span.end);
  const match = /^([A-Za-z_]\w*)\s*\(\s*(cuda[A-Z]\w*)\s*\(/.exec(text);
  const name = match?.[1];
  if (name === undefined || match === null) return null;
  // One argument: what follows the inner call is the end of the outer one.
  const inner = match[0].length - 1;
  let depth = 0;
  for (let i = inner; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return /^\s*\)\s*;?\s*$/.test(text.slice(i + 1)) && answers(match[2] ?? '') ? name : null;
  }
  return null;
}

function wrappingCall(written: Expr): string | null {
  const call = strip(written);
  if (call.kind !== 'call' || call.arguments.length !== 1 || call.templateArguments !== null) return null;
  const inner = call.arguments[0] === undefined ? null : strip(call.arguments[0]);
  if (inner === null || inner.kind !== 'call' || !answers(nameOf(inner) ?? '')) return null;
  const name = nameOf(call);
  return name === null || RUNTIME.test(name) || !/^\w+$/.test(name) ? null : name;
}

function nameOf(call: Extract<Expr, { kind: 'call' }>): string | null {
  switch (call.callee.kind) {
    case 'function': case 'builtin': case 'unknown': return call.callee.name;
    case 'method': case 'value': return null;
    default: {
      const never: never = call.callee;
      return never;
    }
  }
}

function answers(name: string): boolean {
  return RUNTIME.test(name) && !/^cudaGetErrorString|^cudaGetErrorName/.test(name);
}

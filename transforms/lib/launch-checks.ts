/**
 * How the host code around a launch checks the runtime's answers: `CHECK(cudaMalloc(…));`. New calls of the runtime are checked the same way. Without
 * such a habit in the same function they stand bare, as its own do.
 */
import { walk } from '../../src/analysis/children.js';
import { strip, type Expr, type FunctionDecl, type Unit } from '../../src/syntax/tree.js';

/** A call of the runtime that answers with an error code. */
const RUNTIME = /^cuda[A-Z]\w*$/;

/** Name of the macro or function that wraps calls of the runtime as statements of their own; the nearest before `offset`, else the first behind it. */
export function errorCheck(unit: Unit, fn: FunctionDecl, offset: number): string | null {
  if (fn.body === null) return null;
  let before: string | null = null;
  let behind: string | null = null;
  const note = (name: string, at: number): void => {
    if (at < offset) before = name;
    else behind ??= name;
  };
  walk(fn.body, (node) => {
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

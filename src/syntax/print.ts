/** Text of nodes: as it stands in the file, and as a tree for tests and for looking at what lowering made. */
import type { Span } from '../source/types.js';
import type { Callee, Expr, FunctionDecl, Stmt, VariableDecl } from './tree.js';
import { unreachable } from './tree.js';
import { printType } from './types.js';
import { children, isExpr, isVariable, type Node } from './walk.js';

/** The source text of a node. */
export function textOf(node: { readonly span: Span }, unit: { readonly source: { readonly text: string } }): string {
  return unit.source.text.slice(node.span.start, node.span.end);
}

/** An indented outline: kind, what the node itself says, type of expressions. */
export function printTree(root: Node): string {
  const lines: string[] = [];
  const pending: { node: Node; depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    lines.push('  '.repeat(next.depth) + describe(next.node));
    const below = children(next.node);
    for (let i = below.length - 1; i >= 0; i--) {
      const node = below[i];
      if (node !== undefined) pending.push({ node, depth: next.depth + 1 });
    }
  }
  return lines.join('\n');
}

export function printFunction(decl: FunctionDecl): string {
  const words = Object.entries(decl.qualifiers).filter(([, on]) => on).map(([word]) => word);
  const template = decl.template === null ? '' : `template<${decl.template.map((p) => p.name).join(', ')}> `;
  const head = `${template}${words.join(' ')} ${printType(decl.returns)} ${decl.name}(${decl.parameters.map((p) => `${printType(p.type)} ${p.name}`).join(', ')})`;
  return decl.body === null ? `${head};` : `${head}\n${printTree(decl.body)}`;
}

function describe(node: Node): string {
  if (isVariable(node)) return variable(node);
  return isExpr(node) ? `${expression(node)} : ${printType(node.type)}` : statement(node);
}

function variable(decl: VariableDecl): string {
  const words = [decl.space === 'local' ? '' : decl.space, decl.storage === 'automatic' ? '' : decl.storage, decl.constexpr ? 'constexpr' : '', decl.opaqueInit ? 'opaque-init' : ''];
  return ['variable', ...words.filter((w) => w !== ''), `${decl.name} : ${printType(decl.type)}`].join(' ');
}

function expression(e: Expr): string {
  switch (e.kind) {
    case 'literal': return `literal ${typeof e.value === 'string' ? JSON.stringify(e.value) : String(e.value)}`;
    case 'ref': return `ref ${e.name}${e.decl === null ? ' ?' : ` @${e.decl.kind}`}`;
    case 'coordinate': return `coordinate ${e.base}${e.axis === null ? '' : `.${e.axis}`}`;
    case 'macro': return `macro ${e.name}`;
    case 'unary': return `unary ${e.op}`;
    case 'update': return `update ${e.prefix ? `${e.op}x` : `x${e.op}`}`;
    case 'binary': return `binary ${e.op}`;
    case 'assign': return `assign ${e.op ?? ''}=`;
    case 'call': return `call ${calleeText(e.callee)}`;
    case 'member': return `member ${e.arrow ? '->' : '.'}${e.name}${e.field === null ? ' ?' : ''}`;
    case 'cast': return `cast ${e.style}`;
    case 'construct': return `construct ${e.style}`;
    case 'sizeof': return `${e.alignof ? 'alignof' : 'sizeof'}${e.of === null ? '' : ` ${printType(e.of)}`}`;
    case 'lambda': return `lambda [${e.captureDefault}](${e.parameters.map((p) => p.name).join(', ')})`;
    case 'opaque': return `opaque (${e.reason})`;
    case 'this': case 'paren': case 'conditional': case 'index': case 'init-list': return e.kind;
    default: return unreachable(e);
  }
}

function calleeText(callee: Callee): string {
  switch (callee.kind) {
    case 'function': return `function ${callee.name}${callee.candidates.length > 1 ? ` (${callee.candidates.length} candidates)` : ''}`;
    case 'builtin': return `builtin ${callee.name}`;
    case 'method': return `method ${callee.name}${callee.candidates.length === 0 ? ' ?' : ''}`;
    case 'value': return 'value';
    case 'unknown': return `unknown ${callee.name}`;
    default: return unreachable(callee);
  }
}

function statement(s: Stmt): string {
  switch (s.kind) {
    case 'if': return `if${s.constexpr ? ' constexpr' : ''}${s.else === null ? '' : ' else'}`;
    case 'for': case 'while': case 'do': case 'range-for': return s.pragmas.length === 0 ? s.kind : `${s.kind} [${s.pragmas.map((p) => p.text).join('; ')}]`;
    case 'switch': return `switch ${s.arms.length} arms`;
    case 'goto': return `goto ${s.label}`;
    case 'label': return `label ${s.name}`;
    case 'asm': return `asm${s.volatile ? ' volatile' : ''} ${JSON.stringify(s.text)}`;
    case 'preprocessor': return `preprocessor ${s.arms.map((a) => `[${a.active ? '*' : ''}${a.condition}]`).join(' ')}`;
    case 'macro-statement': return `macro ${s.name}`;
    case 'opaque': return `opaque (${s.reason})`;
    case 'compound': case 'declare': case 'expression': case 'empty': case 'break': case 'continue': case 'return': return s.kind;
    default: return unreachable(s);
  }
}

/**
 * What a function body does to its own variables, without regard to order: one walk per body, memoised.
 *
 * Alias classes and effect summaries need an answer that holds at every point of a function and in every context, so this index is
 * flow-insensitive on purpose: a pointer stands for everything that is ever assigned to it. Values *at a point* are the work of the
 * definitions that the control-flow analyses offer. Not handled: writes through an alias of a variable whose address is taken; such a variable
 * is in `exposed`, and users treat its value as unknown.
 */
import type { CallExpr, CompoundStmt, Expr, FunctionDecl, LambdaExpr, Stmt, TextNames, Type, VariableDecl } from '../syntax/tree.js';
import { boundAt, isNamedIn, takes } from './binding.js';
import { forEachChild, isStmt, strip, walk, type Node } from './children.js';
import { codeOf } from './function-code.js';
import { conversionAt, isUndeclared, type Conversions } from './implicit-calls.js';
import type { Variable } from './facts.js';

export interface VariableWrite {
  /** `init`: declaration; `assign`: plain `=` to the whole variable; `update`: compound or `++`; `part`: a field or element; `escape`: by reference or address. */
  readonly kind: 'init' | 'assign' | 'update' | 'part' | 'escape';
  /** The value that is stored, for `init` and `assign`; the step for a compound assignment. */
  readonly value: Expr | null;
  readonly node: Expr | VariableDecl;
}

export interface FunctionIndex {
  readonly body: Stmt;
  readonly writes: ReadonlyMap<Variable, readonly VariableWrite[]>;
  /** Address taken, bound to a reference, or passed where a callee may write it. */
  readonly exposed: ReadonlySet<Variable>;
  /** Bound to `const` references of callees: nothing is written through them, but what they lead to may be read later. */
  readonly lent: ReadonlySet<Variable>;
  /** Variables declared inside the body, parameters of lambdas included. */
  readonly declared: ReadonlySet<Variable>;
  /** Calls in the order of the text. */
  readonly calls: readonly CallExpr[];
  readonly lambdas: readonly LambdaExpr[];
  /** Objects that are used as values of another type, and what may run there (implicit-calls.ts). */
  readonly conversions: ReadonlyMap<Expr, Conversions>;
}

/** Automatic storage of one thread: everything else that has a name is memory. */
export function isAutomatic(decl: { readonly kind: string } | null): decl is Variable {
  if (decl === null) return false;
  if (decl.kind === 'parameter') return true;
  if (decl.kind !== 'variable') return false;
  const variable = decl as VariableDecl;
  return variable.storage === 'automatic' && (variable.space === 'local' || variable.space === 'host');
}

export function isReference(type: Type): boolean {
  return type.kind === 'reference';
}

/** The variable that an lvalue is, or is a part of without going through a pointer; null for memory behind pointers. */
export function variableOf(lvalue: Expr): { readonly variable: Variable; readonly whole: boolean } | null {
  let expr = strip(lvalue);
  let whole = true;
  for (;;) {
    if (expr.kind === 'ref') return isAutomatic(expr.decl) ? { variable: expr.decl, whole } : null;
    if (expr.kind === 'member' && !expr.arrow) expr = strip(expr.object);
    else if (expr.kind === 'index' && isStorage(strip(expr.base))) expr = strip(expr.base);
    else if (expr.kind === 'cast') { expr = strip(expr.operand); continue; }
    else return null;
    whole = false;
  }
}

/** The array itself, not a parameter that is written like one. */
function isStorage(expr: Expr): boolean {
  return expr.type.kind === 'array' && !(expr.kind === 'ref' && expr.decl !== null && expr.decl.kind === 'parameter' && expr.decl.type.kind === 'array');
}

const indices = new WeakMap<Stmt, FunctionIndex>();

/** The index of a body; memoised by identity of the body. `returns` is what its function returns. */
export function indexBody(body: Stmt, returns: Type | null = null): FunctionIndex {
  const known = indices.get(body);
  if (known !== undefined) return known;
  const made = build(body, returns);
  indices.set(body, made);
  return made;
}

const EMPTY: CompoundStmt = { kind: 'compound', span: { start: 0, end: 0 }, body: [] };

export function indexFunction(fn: FunctionDecl): FunctionIndex {
  return indexBody(codeOf(fn) ?? EMPTY, fn.returns);
}

/** C functions that host code calls with launch sizes at hand: they take values and pointers, never references. */
const C_FUNCTIONS: ReadonlySet<string> = new Set([
  'printf', 'fprintf', 'sprintf', 'snprintf', 'puts', 'malloc', 'calloc', 'realloc', 'free', 'memset', 'memcpy', 'memmove', 'exit', 'abs', 'ceil', 'ceilf', 'floor', 'floorf', 'sqrt',
  'pow', 'log2', 'atoi', 'strlen', 'strcmp', 'fopen', 'fclose', 'fread', 'fwrite', 'fflush', 'srand', 'rand', 'gettimeofday', 'clock',
]);

/** The CUDA runtime's functions (`cudaMemcpy`) and the C library take no scalars by reference. */
function takesValues(name: string): boolean {
  const last = name.startsWith('std::') ? name.slice(5) : name.startsWith('::') ? name.slice(2) : name;
  return C_FUNCTIONS.has(last) || (last.startsWith('cuda') && last.charAt(4) >= 'A' && last.charAt(4) <= 'Z');
}

/** May the callee write its argument at this position? Unknown callees may. */
function mayWriteArgument(call: CallExpr, position: number): boolean {
  const callee = call.callee;
  if (callee.kind === 'builtin') return false;
  if (callee.kind === 'unknown') return !takesValues(callee.name);
  if (callee.kind === 'value') return true;
  if (callee.candidates.length === 0) return true;
  return callee.candidates.some((candidate) => takes(candidate, position, call) !== 'value');
}

/** May the making of an object of this type bind what it is given to a reference? */
function mayBind(type: Type): boolean {
  if (type.kind === 'unknown' || type.kind === 'dependent') return true;
  if (type.kind !== 'record' || type.decl.vector !== null) return false;
  const { decl } = type;
  return !decl.complete || decl.bases.length > 0 || decl.fields.some((field) => isReference(field.type))
    || decl.methods.some((method) => method.name === decl.name && method.parameters.some((parameter) => parameter.pack || isReference(parameter.type) || parameter.type.kind === 'unknown' || parameter.type.kind === 'dependent'));
}

function build(body: Stmt, returns: Type | null): FunctionIndex {
  const writes = new Map<Variable, VariableWrite[]>();
  const exposed = new Set<Variable>();
  const lent = new Set<Variable>();
  const declared = new Set<Variable>();
  const calls: CallExpr[] = [];
  const lambdas: LambdaExpr[] = [];
  const conversions = new Map<Expr, Conversions>();
  let parent: Node | null = null;
  let inLambda = 0;
  const unread: (TextNames | null)[] = [];

  const record = (variable: Variable, write: VariableWrite): void => {
    const list = writes.get(variable);
    if (list === undefined) writes.set(variable, [write]);
    else list.push(write);
  };
  const expose = (lvalue: Expr): void => {
    const target = variableOf(lvalue);
    if (target === null) return;
    exposed.add(target.variable);
    record(target.variable, { kind: 'escape', value: null, node: lvalue });
  };
  const declare = (variable: VariableDecl): void => {
    if (!isAutomatic(variable)) return;
    declared.add(variable);
    if (variable.opaqueInit) record(variable, { kind: 'escape', value: null, node: variable });
    else if (variable.init !== null) record(variable, { kind: 'init', value: variable.init, node: variable });
    if (isReference(variable.type) && variable.init !== null && !(variable.type.kind === 'reference' && variable.type.to.const === true)) expose(variable.init);
  };
  const assign = (target: Expr, write: VariableWrite): void => {
    const found = variableOf(target);
    if (found === null) return;
    record(found.variable, found.whole ? write : { kind: 'part', value: write.value, node: write.node });
  };

  /** An array whose name decays to a pointer hands out its address. */
  const decays = (expr: Expr): void => {
    const inner = strip(expr);
    if (isStorage(inner)) expose(inner);
  };

  const visit = (node: Node): void => {
    if (!isStmt(node) && (node.type.kind === 'record' || isUndeclared(node.type))) {
      const conversion = conversionAt(node, parent);
      if (conversion !== null) conversions.set(node, conversion);
    }
    if (node.kind !== 'ref') for (const value of boundAt(node, inLambda === 0 ? returns : null)) expose(value);
    if (node.kind === 'opaque') unread.push(node.names ?? null);
    if (isStmt(node)) {
      if (node.kind === 'declare') node.variables.forEach(declare);
      else if (node.kind === 'range-for') declare(node.variable);
      else if (node.kind === 'asm') node.outputs.forEach(expose);
      else if ((node.kind === 'if' || node.kind === 'for' || node.kind === 'while' || node.kind === 'switch') && node.conditionDecl !== null) declare(node.conditionDecl);
      if (node.kind === 'declare') for (const variable of node.variables) if (variable.init !== null) decays(variable.init);
      if (node.kind === 'return' && node.value !== null) decays(node.value);
    } else {
      switch (node.kind) {
        case 'assign':
          assign(node.target, { kind: node.op === null ? 'assign' : 'update', value: node.value, node });
          decays(node.value);
          break;
        case 'update': assign(node.target, { kind: 'update', value: null, node }); break;
        case 'unary': if (node.op === '&') expose(node.operand); break;
        case 'binary': if (node.op === '+' || node.op === '-' || node.op === ',') { decays(node.left); decays(node.right); } break;
        case 'conditional': decays(node.then); decays(node.else); break;
        case 'cast': decays(node.operand); break;
        case 'init-list': node.elements.forEach(decays); if (mayBind(node.type)) node.elements.forEach(expose); break;
        case 'construct': for (const argument of node.arguments) { decays(argument); if (mayBind(node.type)) expose(argument); } break;
        case 'call':
          calls.push(node);
          node.arguments.forEach((argument, position) => {
            decays(argument);
            if (mayWriteArgument(node, position)) expose(argument);
            else if (node.callee.kind !== 'builtin') { const target = variableOf(argument); if (target !== null) lent.add(target.variable); }
          });
          if (node.callee.kind === 'method' && !node.callee.arrow) expose(node.callee.object);
          break;
        case 'lambda':
          lambdas.push(node);
          for (const parameter of node.parameters) declared.add(parameter);
          break;
        default: break;
      }
    }
    const outer = parent;
    if (isStmt(node) || (node.kind !== 'paren' && node.kind !== 'macro')) parent = node;
    if (node.kind === 'lambda') inLambda++;
    forEachChild(node, visit);
    if (node.kind === 'lambda') inLambda--;
    parent = outer;
  };
  visit(body);
  // Text that is not understood may have kept the address of what it names.
  if (unread.length > 0) walk(body, (node) => { if (node.kind === 'ref' && isAutomatic(node.decl) && isNamedIn(node.decl, unread)) expose(node); });
  return { body, writes, exposed, lent, declared, calls, lambdas, conversions };
}

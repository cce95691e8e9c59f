/**
 * What a function body does to its own variables, without regard to order: one walk per body, memoised.
 *
 * Alias classes and effect summaries need an answer that holds at every point of a function and in every context, so this index is
 * flow-insensitive on purpose: a pointer stands for everything that is ever assigned to it. Values *at a point* are the work of the
 * definitions that the control-flow analyses offer. Not handled: writes through an alias of a variable whose address is taken; such a variable
 * is in `exposed`, and users treat its value as unknown.
 */
import { takesValues } from '../source/index.js';
import type { CallExpr, CompoundStmt, Expr, FunctionDecl, GotoStmt, LabelStmt, LambdaExpr, PreprocessorStmt, Stmt, TextNames, Type, VariableDecl } from '../syntax/tree.js';
import { boundAt, isNamedIn, takes } from './binding.js';
import { forEachChild, isStmt, strip, walk, type Node } from './children.js';
import { codeOf } from './function-code.js';
import { conversionAt, isHarmless, isUndeclared, type Conversions } from './implicit-calls.js';
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
  /** Statements and expressions that decide what runs next, in the order of the text. */
  readonly branching: readonly Node[];
  readonly gotos: readonly GotoStmt[];
  readonly labels: readonly LabelStmt[];
  readonly preprocessor: readonly PreprocessorStmt[];
  /** Values that may be bound where they become objects of another type, by the node at which they do (binding.ts). */
  readonly bound: ReadonlyMap<Node, readonly Expr[]>;
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
  return build(body, returns);
}

const EMPTY: CompoundStmt = { kind: 'compound', span: { start: 0, end: 0 }, body: [] };

export function indexFunction(fn: FunctionDecl): FunctionIndex {
  return indexBody(codeOf(fn) ?? EMPTY, fn.returns);
}

/** May the callee write its argument at this position? Unknown callees may. */
function mayWriteArgument(call: CallExpr, position: number, around: Stmt): boolean {
  const callee = call.callee;
  if (callee.kind === 'builtin') return false;
  if (callee.kind === 'unknown') return !takesValues(callee.name);
  if (callee.kind === 'value') return true;
  if (callee.candidates.length === 0) return true;
  return callee.candidates.some((candidate) => takes(candidate, position, call, around) !== 'value');
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
  const index = new IndexBuilder(body, returns);
  const stack: Node[] = [];
  const visit = (node: Node): void => {
    index.enter(node, stack);
    stack.push(node);
    forEachChild(node, visit);
    stack.pop();
  };
  visit(body);
  return index.finish();
}

/** Makes the index of the code of a function on a walk that is made for something else as well; null if the index is there already. */
export function indexAlong(fn: FunctionDecl): IndexBuilder | null {
  const body = codeOf(fn);
  return body === null || indices.has(body) ? null : new IndexBuilder(body, fn.returns);
}

/** `enter` gets every node of the body before what is below it, with the nodes around it, outermost first; then `finish`. */
export class IndexBuilder {
  private readonly writes = new Map<Variable, VariableWrite[]>();
  private readonly exposed = new Set<Variable>();
  private readonly lent = new Set<Variable>();
  private readonly declared = new Set<Variable>();
  private readonly calls: CallExpr[] = [];
  private readonly lambdas: LambdaExpr[] = [];
  private readonly branching: Node[] = [];
  readonly conversions = new Map<Expr, Conversions>();
  readonly bound = new Map<Node, readonly Expr[]>();
  readonly gotos: GotoStmt[] = [];
  readonly labels: LabelStmt[] = [];
  private readonly preprocessor: PreprocessorStmt[] = [];
  /** What text that is not understood names. */
  private readonly unread: (TextNames | null)[] = [];

  /** References to `const`: what they stand for is handed out if they are. */
  private readonly views: VariableDecl[] = [];

  constructor(private readonly body: Stmt, private readonly returns: Type | null) {}

  finish(): FunctionIndex {
    const { body, writes, exposed, lent, declared, calls, lambdas, branching, conversions, bound, gotos, labels, preprocessor, unread } = this;
    // Text that is not understood may have kept the address of what it names.
    if (unread.length > 0) {
      walk(body, (node) => { if (node.kind === 'ref' && isAutomatic(node.decl) && isNamedIn(node.decl, unread)) this.expose(node); });
      // A launch's configuration is no part of the tree.
      for (const variable of declared) {
        if (variable.kind !== 'variable' || exposed.has(variable) || !isNamedIn(variable, unread)) continue;
        exposed.add(variable);
        this.record(variable, { kind: 'escape', value: null, node: variable });
      }
    }
    for (const view of this.views.reverse()) if (view.init !== null && (exposed.has(view) || (writes.get(view)?.length ?? 0) > 1)) this.expose(view.init);
    const made: FunctionIndex = { body, writes, exposed, lent, declared, calls, lambdas, branching, conversions, bound, gotos, labels, preprocessor };
    indices.set(body, made);
    return made;
  }

  enter(node: Node, stack: readonly Node[]): void {
    if (!isStmt(node) && (node.type.kind === 'record' || isUndeclared(node.type))) {
      const conversion = conversionAt(node, holderIn(stack));
      if (conversion !== null) {
        this.conversions.set(node, conversion);
        // What it is converted to may lead into it.
        const { functions, unseen } = conversion;
        if (unseen || functions.some((fn) => !isSmall(fn.returns) || !isHarmless(fn))) {
          if (!unseen && functions.every((fn) => fn.constant === true && (isSmall(fn.returns) || leadsToConst(fn.returns)))) this.lend(node);
          else this.expose(node);
        }
      }
    }
    if (node.kind === 'ref') return;
    const values = boundAt(node, node.kind === 'return' && !stack.some((up) => up.kind === 'lambda') ? this.returns : null);
    if (values.length > 0) {
      this.bound.set(node, values);
      for (const value of values) this.expose(value);
    }
    switch (node.kind) {
      case 'binary':
        if (node.op === '&&' || node.op === '||') this.branching.push(node);
        else if (node.op === '>>' && isReadFrom(node.left)) this.expose(node.right);
        else if (node.op === '+' || node.op === '-' || node.op === ',') { this.decays(node.left); this.decays(node.right); }
        return;
      case 'assign':
        this.assign(node.target, { kind: node.op === null ? 'assign' : 'update', value: node.value, node });
        this.decays(node.value);
        return;
      case 'update': this.assign(node.target, { kind: 'update', value: null, node }); return;
      case 'unary': if (node.op === '&') this.expose(node.operand); return;
      case 'cast': this.decays(node.operand); return;
      case 'conditional': this.branching.push(node); this.decays(node.then); this.decays(node.else); return;
      case 'call': this.call(node); return;
      case 'init-list':
        for (const element of node.elements) this.decays(element);
        if (mayBind(node.type)) for (const element of node.elements) this.expose(element);
        return;
      case 'construct': for (const argument of node.arguments) { this.decays(argument); if (mayBind(node.type)) this.expose(argument); } return;
      case 'lambda':
        this.lambdas.push(node);
        for (const parameter of node.parameters) this.declared.add(parameter);
        for (const variable of node.made ?? []) this.declared.add(variable);
        return;
      case 'opaque': this.unread.push(node.names ?? null); return;
      case 'declare':
        for (const variable of node.variables) this.declare(variable);
        for (const { init } of node.variables) if (init !== null) this.decays(init);
        return;
      case 'if': case 'for': case 'while': case 'switch':
        this.branching.push(node);
        if (node.conditionDecl !== null) this.declare(node.conditionDecl);
        return;
      case 'do': this.branching.push(node); return;
      case 'range-for': {
        this.declare(node.variable);
        // Elements by reference, and what iterators of an object lead to.
        const { type } = node.variable;
        if (type.kind === 'reference' || node.range.type.kind !== 'array') { if (type.kind === 'reference' && type.to.const === true) this.lend(node.range); else this.expose(node.range); }
        return;
      }
      case 'return': if (node.value !== null) this.decays(node.value); return;
      case 'asm': for (const output of node.outputs) this.expose(output); return;
      case 'goto': this.gotos.push(node); return;
      case 'label': this.labels.push(node); return;
      case 'preprocessor': this.preprocessor.push(node); return;
      default:
    }
  }

  private record(variable: Variable, write: VariableWrite): void {
    const list = this.writes.get(variable);
    if (list === undefined) this.writes.set(variable, [write]);
    else list.push(write);
  }

  private expose(lvalue: Expr): void {
    for (const part of alternatives(lvalue)) {
      const target = variableOf(part);
      if (target === null) continue;
      this.exposed.add(target.variable);
      this.record(target.variable, { kind: 'escape', value: null, node: part });
    }
  }

  private lend(lvalue: Expr): void {
    for (const part of alternatives(lvalue)) {
      const target = variableOf(part);
      if (target !== null) this.lent.add(target.variable);
    }
  }

  private declare(variable: VariableDecl): void {
    const { type, init, storage } = variable;
    // A reference that outlives the call stands for a variable of it all the same.
    if (storage !== 'automatic' && type.kind === 'reference' && init !== null) this.expose(init);
    if (!isAutomatic(variable)) return;
    this.declared.add(variable);
    if (variable.opaqueInit) this.record(variable, { kind: 'escape', value: null, node: variable });
    else if (variable.init !== null) this.record(variable, { kind: 'init', value: variable.init, node: variable });
    if (variable.type.kind !== 'reference' || variable.init === null) return;
    if (variable.type.to.const === true) this.views.push(variable);
    else this.expose(variable.init);
  }

  private assign(target: Expr, write: VariableWrite): void {
    const found = variableOf(target);
    if (found !== null) {
      this.record(found.variable, found.whole ? write : { kind: 'part', value: write.value, node: write.node });
      return;
    }
    const lvalue = strip(target);
    // `(c ? a : b) = 1`, and a place that is not understood: what it names is written, if it is what is meant.
    if (lvalue.kind === 'conditional' || lvalue.kind === 'binary') this.expose(lvalue);
    else if (lvalue.kind === 'opaque') this.unread.push(lvalue.names === undefined ? null : { ...lvalue.names, plain: false });
  }

  /** An array whose name decays to a pointer hands out its address. */
  private decays(expr: Expr): void {
    const inner = strip(expr);
    if (isStorage(inner)) this.expose(inner);
  }

  private call(call: CallExpr): void {
    this.calls.push(call);
    const { callee } = call;
    for (const [position, argument] of call.arguments.entries()) {
      this.decays(argument);
      if (mayWriteArgument(call, position, this.body)) this.expose(argument);
      else if (callee.kind !== 'builtin') this.lend(argument);
    }
    if (callee.kind === 'method' && !callee.arrow) this.expose(callee.object);
  }
}

/** The objects that an lvalue may be, whichever it is in a run. */
function alternatives(lvalue: Expr): readonly Expr[] {
  const expr = strip(lvalue);
  switch (expr.kind) {
    case 'conditional': return [...alternatives(expr.then), ...alternatives(expr.else)];
    case 'binary': return expr.op === ',' ? alternatives(expr.right) : [expr];
    case 'assign': case 'update': return alternatives(expr.target);
    case 'member': return expr.arrow ? [expr] : alternatives(expr.object);
    default: return [expr];
  }
}

/** Is it a stream of the library, or what comes back from reading one: `std::cin >> n`? */
function isReadFrom(left: Expr): boolean {
  let expr = strip(left);
  while (expr.kind === 'binary' && expr.op === '>>') expr = strip(expr.left);
  const { type } = expr;
  if (type.kind !== 'unknown') return false;
  return /stream\b/.test(type.text) || (expr.kind === 'ref' && expr.decl === null && /(?:^|::)w?cin$/.test(expr.name));
}

/** A number that holds no address. */
function isSmall(type: Type): boolean {
  return type.kind === 'bool' || type.kind === 'float' || type.kind === 'enum' || (type.kind === 'int' && type.bits <= 32);
}

/** Is it a pointer or a reference through which nothing is written? */
function leadsToConst(type: Type): boolean {
  return (type.kind === 'pointer' || type.kind === 'reference') && type.to.const === true && (type.to.kind !== 'pointer' || leadsToConst(type.to));
}

/** The innermost node that is more than parentheses or the name of a macro. */
function holderIn(stack: readonly Node[]): Node | null {
  for (let depth = stack.length - 1; depth >= 0; depth--) {
    const node = stack[depth];
    if (node !== undefined && node.kind !== 'paren' && node.kind !== 'macro') return node;
  }
  return null;
}

/**
 * One walk over a function that records what every later question needs: parents, loops and what they may assign, calls, uses,
 * assignments, variables whose address escapes, jumps that break the structure.
 *
 * A variable *escapes* when its address is kept somewhere the walk cannot follow: stored, returned, bound to a reference that is not
 * an alias of one known object, captured by reference, passed to something unknown. An address that is used on the spot (`*&x`,
 * `(&x)[0]`) or passed straight to a visible function or built-in is no escape: the call then counts as an assignment.
 *
 * Not handled: a visible callee that keeps the address it is given. Inactive arms of `#if` are not part of the function: a verdict
 * belongs to the chosen configuration.
 */
import { builtin } from '../cuda/builtins.js';
import { isNamedIn } from './binding.js';
import { boundArguments, boundBy, changesCalled, outputsOf, rootsBoundTo, type CallOutput } from './call-outputs.js';
import { forEachChild, strip, walk, type Node } from './children.js';
import { hasMutable, isFixed } from './const-promise.js';
import type { Loop, Variable } from './facts.js';
import { codeOf } from './function-code.js';
import { dependentAmong, dependentIn, givenToInstances } from './instance-operands.js';
import { indexAlong, indexFunction, type FunctionIndex, type IndexBuilder } from './function-index.js';
import { callsIterators, givesOwnAddress, isHarmless, isUndeclared, mayBeClass } from './implicit-calls.js';
import { isReference, isTest, NO_ROOTS, rootOf, rootsOf, valueType, variableOf, type Root } from './lvalues.js';
import { assignsOwnObject, changesOwn, isOwnPart, isSurelyOwnPart, leadsToOwn } from './own-object.js';
import { isExpr } from '../syntax/walk.js';
import type { AsmStmt, CallExpr, Expr, FunctionDecl, GotoStmt, LabelStmt, RecordType, RefExpr, Stmt, TextNames, Type, VariableDecl } from '../syntax/tree.js';

export interface Assignment {
  readonly decl: Variable;
  readonly node: Expr | Stmt;
  readonly known: boolean;
}

export interface Structure {
  readonly function: FunctionDecl;
  readonly parents: ReadonlyMap<Node, Node>;
  readonly calls: readonly CallExpr[];
  readonly uses: ReadonlyMap<Variable, readonly RefExpr[]>;
  /** In the order of the walk. */
  readonly assignments: readonly Assignment[];
  /** Variables a loop (header included) may assign, declarations inside it left out. */
  readonly assignedIn: ReadonlyMap<Loop, ReadonlySet<Variable>>;
  /** Loops that hold opaque text: everything may be assigned there. */
  readonly opaqueLoops: ReadonlySet<Loop>;
  readonly escaped: ReadonlySet<Variable>;
  /** Escaped, or a reference to it is made, or its address passed to a call. */
  readonly addressed: ReadonlySet<Variable>;
  /** Local references that stand for one variable or a part of it. */
  readonly aliases: ReadonlyMap<Variable, Root>;
  readonly outputs: ReadonlyMap<CallExpr, readonly CallOutput[]>;
  /** Variables that the making of an object may bind, and so change now or later, and objects whose conversion or iterators may change them. */
  readonly bound: ReadonlyMap<Node, readonly Root[]>;
  readonly gotos: readonly GotoStmt[];
  readonly labels: readonly LabelStmt[];
  /** Inline assembler: what it is given it may keep, and it may write wherever it was given the way to. */
  readonly assembler: readonly AsmStmt[];
  /** Does the function (a method) assign fields of its own object? */
  readonly assignsThis: boolean;
  /**
   * Is the address of the method's own object, or of a part of it, kept somewhere that the walk cannot follow, or does a lambda change it? The object is then what
   * an escaped variable is.
   */
  readonly ownEscapes: boolean;
  /** Local references that stand for the method's own object or a part of it. */
  readonly ownAliases: ReadonlySet<Variable>;
  /** Where something that is made, converted or bound may change the method's own object. */
  readonly ownBound: ReadonlySet<Node>;
  /** Is a part of it given, as it is, to what makes or computes with objects of an instance's types? */
  readonly ownGiven: boolean;
  readonly opaque: boolean;
  readonly opaqueNodes: readonly Node[];
  /** What may write any object whose address or reference is held somewhere: assignments that do not name the variable they change. */
  readonly indirect: readonly Node[];
  /** Where functions run that no call names and that may do anything: conversions, iterators. */
  readonly hiddenCalls: readonly Node[];
  /** Is something here of a type that nothing declares? */
  readonly undeclared: boolean;
  /** Is a variable of such a type made, whose name is not that of a number (`index_t`)? */
  readonly makesUndeclared: boolean;
  /** Types of operands and variables that depend on a template's parameters, one of each spelling: an instance may run operators, constructors and destructors there. */
  readonly dependent: readonly Type[];
  /** Variables that are given, as they are, to what makes or computes with objects of such types: an instance's constructor or operator may take them by reference. */
  readonly given: ReadonlySet<Variable>;
  /** Types of objects made here that may be, or have for bases, instances of class templates. */
  readonly instances: readonly RecordType[];
}

const EMPTY: Stmt = { kind: 'compound', span: { start: 0, end: 0 }, body: [] };

const CACHE = new WeakMap<FunctionDecl, Structure>();

/** The structure of a function, computed once. */
export function structureOf(fn: FunctionDecl): Structure {
  const known = CACHE.get(fn);
  if (known !== undefined) return known;
  const structure = new Walk(fn).run();
  CACHE.set(fn, structure);
  return structure;
}

class Walk {
  /** The nodes around the one that is visited, outermost first. */
  private readonly stack: Node[] = [];
  private readonly parents = new Map<Node, Node>();
  /** The index that is made on this walk; null if there is one already. */
  private readonly along: IndexBuilder | null;
  private readonly index: Pick<FunctionIndex, 'bound' | 'conversions' | 'gotos' | 'labels'>;
  private readonly descend = (child: Node): void => this.visit(child);
  private readonly calls: CallExpr[] = [];
  private readonly uses = new Map<Variable, RefExpr[]>();
  private readonly assignments: Assignment[] = [];
  private readonly assignedIn = new Map<Loop, Set<Variable>>();
  private readonly opaqueLoops = new Set<Loop>();
  private readonly escaped = new Set<Variable>();
  private readonly addressed = new Set<Variable>();
  private readonly aliases = new Map<Variable, Root>();
  private readonly outputs = new Map<CallExpr, readonly CallOutput[]>();
  private readonly bound = new Map<Node, readonly Root[]>();
  private readonly hiddenCalls: Node[] = [];
  private readonly dependent = new Map<string, Type>();
  private readonly given = new Set<Variable>();
  private readonly instances: RecordType[] = [];
  private readonly assembler: AsmStmt[] = [];
  private readonly loopStack: Loop[] = [];
  private assignsThis = false;
  private ownEscapes = false;
  private ownGiven = false;
  private readonly ownAliases = new Set<Variable>();
  private readonly ownBound = new Set<Node>();
  private lambdaDepth = 0;
  private opaque = false;
  private undeclared = false;
  private makesUndeclared = false;
  private readonly opaqueNodes: Node[] = [];
  /** What text that is not understood names; null for anything. */
  private readonly unread: (TextNames | null)[] = [];
  private readonly indirect: Node[] = [];

  constructor(private readonly fn: FunctionDecl) {
    this.along = indexAlong(fn);
    this.index = this.along ?? indexFunction(fn);
  }

  run(): Structure {
    const body = codeOf(this.fn);
    if (body !== null) this.visit(body);
    this.along?.finish();
    for (const decl of this.uses.keys()) if (isNamedIn(decl, this.unread)) this.escape(decl);
    return {
      function: this.fn, parents: this.parents, calls: this.calls, uses: this.uses, assignments: this.assignments,
      assignedIn: this.assignedIn, opaqueLoops: this.opaqueLoops, escaped: this.escaped, addressed: this.addressed, aliases: this.aliases, outputs: this.outputs, bound: this.bound,
      gotos: this.index.gotos, labels: this.index.labels, assembler: this.assembler, assignsThis: this.assignsThis, ownEscapes: this.ownEscapes, ownAliases: this.ownAliases, ownBound: this.ownBound, ownGiven: this.ownGiven, opaque: this.opaque, opaqueNodes: this.opaqueNodes, indirect: this.indirect, hiddenCalls: this.hiddenCalls,
      undeclared: this.undeclared, makesUndeclared: this.makesUndeclared, dependent: [...this.dependent.values()], given: this.given, instances: this.instances,
    };
  }

  private visit(node: Node): void {
    const up = this.stack[this.stack.length - 1];
    if (up !== undefined) this.parents.set(node, up);
    this.along?.enter(node, this.stack);
    const loop = node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for' ? node : null;
    if (loop !== null) this.assignedIn.set(loop, new Set());
    this.enter(node);
    if (loop !== null) this.loopStack.push(loop);
    if (node.kind === 'lambda') this.lambdaDepth += 1;
    this.stack.push(node);
    forEachChild(node, this.descend);
    this.stack.pop();
    if (node.kind === 'lambda') this.lambdaDepth -= 1;
    if (loop !== null) this.loopStack.pop();
  }

  private enter(node: Node): void {
    if (node.kind !== 'ref') {
      this.implicit(node);
      for (const value of givenToInstances(node, this.fn.returns)) {
        const roots = rootsOf(value);
        for (const { decl } of roots) this.given.add(decl);
        if (roots.length === 0 && !this.ownGiven) this.ownGiven = isOwnPart(value);
      }
    }
    if ('type' in node) {
      const { type } = node;
      if (type.kind === 'record') this.converted(node);
      else if (isUndeclared(type)) { this.undeclared = true; this.converted(node); }
      else if (type.kind === 'dependent') this.dependent.set(type.text, type);
    }
    switch (node.kind) {
      case 'ref': this.use(node); return;
      case 'assign': this.assign(node.target, node); return;
      case 'update': this.assign(node.target, node); return;
      case 'call':
        if (node.templateArguments !== null) for (const one of dependentAmong(node.templateArguments)) this.dependent.set(one.text, one);
        this.call(node);
        return;
      case 'return':
        if (node.value !== null) for (const one of dependentIn(this.fn.returns)) this.dependent.set(one.text, one);
        return;
      case 'construct': case 'init-list': this.makes(node.type); this.construct(node); return;
      case 'unary':
        if (node.op === '&') this.address(node);
        return;
      case 'this': this.kept(node, null); return;
      case 'member':
        // An array in an object stands for its address; one that `this->` names was met there.
        if (node.type.kind === 'array' && strip(node.object).kind !== 'this') {
          for (const root of rootsOf(node)) this.kept(node, root.decl);
          if (isOwnPart(node)) this.kept(node, null);
        }
        return;
      case 'declare':
        for (const variable of node.variables) { this.declare(variable); this.makes(variable.type); }
        if (node.variables.some((variable) => variable.storage === 'automatic' && runsCode(variable.type))) this.indirect.push(node);
        return;
      case 'if': case 'for': case 'while': case 'switch':
        if (node.conditionDecl !== null) this.declare(node.conditionDecl);
        return;
      case 'range-for':
        this.declare(node.variable, node.range);
        if (callsIterators(node)) {
          // Where it begins and ends is asked once, before the loop; in each round the iterator is moved and read.
          this.loopStack.push(node);
          this.changes(node.range, node);
          this.loopStack.pop();
        }
        return;
      case 'asm':
        this.assembler.push(node);
        this.indirect.push(node);
        for (const output of node.outputs) this.asmOutput(output, node);
        return;
      case 'opaque':
        this.opaque = true;
        this.opaqueNodes.push(node);
        this.unread.push(node.names ?? null);
        for (const loop of this.loopStack) this.opaqueLoops.add(loop);
        return;
      case 'lambda':
        this.lambda(node);
        return;
      default:
    }
  }

  private makes(type: Type): void {
    let inner = type;
    while (inner.kind === 'array') inner = inner.of;
    // A reference to a constant may stand for an object that is made for it.
    for (const one of dependentIn(inner)) this.dependent.set(one.text, one);
    if (inner.kind === 'dependent') return;
    if (mayBeClass(inner)) this.makesUndeclared = true;
    else if (inner.kind === 'record' && (inner.templateArguments !== undefined || inner.decl.bases.length > 0)) this.instances.push(inner);
  }

  /** What is made into an object of another type may be bound by its constructor, which may change it now or keep a reference to it. */
  private implicit(node: Node): void {
    const values = this.index.bound.size === 0 ? undefined : this.index.bound.get(node);
    if (values === undefined) return;
    for (const value of values) {
      const roots = rootsBoundTo(value);
      if (roots.length === 0) {
        if (isOwnPart(value)) this.bindOwn(value);
        continue;
      }
      this.bound.set(value, [...this.bound.get(value) ?? NO_ROOTS, ...roots]);
      this.indirect.push(value);
      for (const root of roots) {
        this.record(root.decl, value, false);
        this.escape(root.decl);
      }
    }
  }

  /** An object whose conversion may change it, or anything that it leads to. */
  private converted(node: Expr): void {
    const conversions = this.index.conversions.get(node);
    if (conversions?.functions.some(givesOwnAddress) === true) for (const { decl } of rootsOf(node)) this.escape(decl);
    if (conversions !== undefined && (conversions.unseen || !conversions.functions.every(isHarmless))) this.changes(node, node);
  }

  private changes(object: Expr, at: Expr | Stmt): void {
    this.hiddenCalls.push(at);
    this.indirect.push(at);
    if (assignsOwnObject(object)) {
      this.changeOwn(isOwnPart(object));
      this.ownBound.add(at);
    }
    const roots = rootsOf(object);
    if (roots.length === 0) return;
    this.bound.set(at, [...this.bound.get(at) ?? NO_ROOTS, ...roots]);
    for (const root of roots) this.record(root.decl, at, false);
  }

  private use(ref: RefExpr): void {
    const decl = variableOf(ref.decl);
    if (decl === null) {
      // Fields by their bare names stand in what constructors run first.
      if (ref.type.kind === 'array' && isOwnPart(ref)) this.kept(ref, null);
      return;
    }
    const list = this.uses.get(decl);
    if (list === undefined) this.uses.set(decl, [ref]);
    else list.push(ref);
    // An array name that does not stay under an index, a dereference or a call has its address taken.
    if (decl.kind === 'variable' && decl.type.kind === 'array') this.kept(ref, decl);
  }

  private address(node: Expr & { kind: 'unary' }): void {
    for (const root of rootsOf(node.operand)) this.kept(node, root.decl);
    if (isOwnPart(node.operand)) this.kept(node, null);
  }

  /** Follows an address upwards to what consumes it. Null stands for the method's own object. */
  private kept(node: Expr, decl: Variable | null): void {
    let child: Node = node;
    for (let depth = this.stack.length - 1; depth >= 0; depth--) {
      const up = this.stack[depth];
      if (up === undefined) return;
      switch (up.kind) {
        case 'paren': case 'macro': child = up; continue;
        case 'cast':
          // The constructor that makes an object of it.
          if (up.type.kind === 'record' && up.type.decl.vector === null && up.reference === undefined) { this.escapes(decl); return; }
          child = up;
          continue;
        case 'index':
          if (up.base !== child) return; // the array is (in) the subscript: its elements are meant
          if (up.type.kind !== 'array') return;
          child = up; // a row of a matrix is an array again
          continue;
        case 'binary':
          if (up.op === '+' || up.op === '-') { child = up; continue; }
          if (up.op === ',' && up.right === child) { child = up; continue; }
          // An address as a number that goes on in another one (`(size_t)&x ^ key`); `new T *(&x)` reads as a product, too.
          if (up.op !== ',' && !isTest(up.op)) this.escapes(decl);
          return; // compared, or the value is dropped
        case 'unary':
          // A row of a matrix (`*m`) is an array again.
          if ((up.op === '*' && up.type.kind !== 'array') || up.op === '!') return;
          child = up;
          continue;
        case 'member':
          if (up.type.kind !== 'array') return;
          child = up;
          continue;
        case 'expression': return;
        case 'call': {
          // The call counts as a change of the object from there on (`call`).
          if (decl === null) return;
          this.addressed.add(decl);
          const callee = up.callee;
          // A value that is stored or exchanged, and the address that `memcpy` gives back.
          if (callee.kind === 'builtin' && keepsArgument(up, child, this.stack[depth - 1])) { this.escape(decl); return; }
          if (callee.kind === 'function' || callee.kind === 'builtin' || (callee.kind === 'method' && callee.candidates.length > 0)) return;
          this.escape(decl);
          return;
        }
        case 'return':
          // The object outlives the method, and whoever calls it goes by what it returns (address-fate.ts).
          if (decl === null && this.lambdaDepth === 0) return;
          this.escapes(decl);
          return;
        case 'range-for':
          if (decl === null && up.range === child) return; // told where its variable is declared
          this.escapes(decl);
          return;
        default:
          this.escapes(decl);
          return;
      }
    }
  }

  private escapes(decl: Variable | null): void {
    if (decl === null) this.ownEscapes = true;
    else this.escape(decl);
  }

  private escape(decl: Variable): void {
    this.escaped.add(decl);
    this.addressed.add(decl);
    if (this.ownAliases.has(decl)) this.ownEscapes = true;
    const alias = this.aliases.get(decl);
    if (alias !== undefined) this.escape(alias.decl);
  }

  /** The method's own object is assigned; `exactly`: it, and not only what a pointer in it leads to. The changes that a lambda makes come when it is called. */
  private changeOwn(exactly: boolean): void {
    this.assignsThis = true;
    if (exactly && this.lambdaDepth > 0) this.ownEscapes = true;
  }

  /** A part of the method's own object is bound by what may change it now or later. */
  private bindOwn(at: Node): void {
    this.assignsThis = true;
    this.ownEscapes = true;
    this.ownBound.add(at);
    this.indirect.push(at);
  }

  private declare(variable: VariableDecl, range: Expr | null = null): void {
    const init = range ?? variable.init;
    if (init === null) return;
    if (variable.opaqueInit && range === null) {
      this.escapeAll(init);
      if (bindsParts(variable) && isOwnPart(init)) this.bindOwn(init);
      return;
    }
    // Its constructor may keep a reference to what it is given.
    if (mayBeClass(variable.type) && range === null && isLvalueOfVariable(init)) { this.escapeAll(init); return; }
    if (mayBeClass(variable.type) && range === null && strip(init).type.kind === 'record' && isOwnPart(init)) this.bindOwn(init);
    if (variable.type.kind !== 'reference') return;
    const root = rootOf(init);
    if (root !== null && range === null) {
      this.addressed.add(root.decl);
      this.aliases.set(variable, root);
      return;
    }
    if (isOwnPart(init)) {
      if (range !== null) { if (variable.type.to.const !== true) this.bindOwn(init); }
      else if (isSurelyOwnPart(init)) { this.ownAliases.add(variable); return; }
      else this.ownEscapes = true;
    }
    // One of several objects, or a part of one.
    if (range === null) for (const { decl } of rootsOf(init)) this.escape(decl);
    const lvalue = strip(init);
    // A reference into memory keeps no variable; anything else might.
    if (range === null && (lvalue.kind === 'index' || lvalue.kind === 'member' || (lvalue.kind === 'unary' && lvalue.op === '*'))) return;
    this.escapeAll(init);
  }

  private escapeAll(node: Node): void {
    forEachRef(node, (ref) => {
      const decl = variableOf(ref.decl);
      if (decl !== null) this.escape(decl);
    });
  }

  private lambda(node: Expr & { kind: 'lambda' }): void {
    const copied = new Set(node.captures.filter((capture) => !capture.byReference).map((capture) => capture.name));
    const named = new Set(node.captures.filter((capture) => capture.byReference).map((capture) => capture.name));
    forEachRef(node.body, (ref) => {
      const decl = variableOf(ref.decl);
      if (decl === null || within(decl, node) || copied.has(ref.name)) return;
      if (node.captureDefault === 'reference' || named.has(ref.name) || isReference(decl)) this.escape(decl);
    });
  }

  private assign(target: Expr, node: Expr): void {
    const root = rootOf(target);
    if (root === null || this.leadsAway(target, root)) this.indirect.push(node);
    if (root !== null) { this.record(root.decl, node, true); return; }
    // One of several objects: which one is not known.
    for (const part of rootsOf(target)) this.record(part.decl, node, false);
    if (assignsOwnObject(target)) this.changeOwn(isOwnPart(target));
  }

  /** Does an lvalue that is spelled as a part of a variable lie somewhere else: behind a reference that is not followed, or behind an operator of an object? */
  private leadsAway(target: Expr, root: Root): boolean {
    const { decl } = root;
    if (decl.kind === 'variable' && decl.type.kind === 'reference') {
      const alias = this.aliases.get(decl);
      if (this.ownAliases.has(decl)) return true;
      if (alias === undefined || decl.init === null || this.leadsAway(decl.init, alias)) return true;
    }
    return leadsBehind(target);
  }

  private asmOutput(output: Expr, node: AsmStmt): void {
    for (const root of rootsOf(output)) this.record(root.decl, node, false);
    if (assignsOwnObject(output)) this.changeOwn(isOwnPart(output));
  }

  private call(call: CallExpr): void {
    this.calls.push(call);
    const outputs = outputsOf(call, codeOf(this.fn) ?? EMPTY);
    if (outputs.length > 0) this.outputs.set(call, outputs);
    for (const output of outputs) {
      this.record(output.root.decl, call, false);
      this.addressed.add(output.root.decl);
    }
    // A method on fields of the own object, or on the object itself, may assign it.
    if (call.callee.kind === 'method' && assignsOwnObject(call.callee.object)) this.assignsThis = true;
    else if (changesCalled(call)) this.assignsThis = true;
    for (const argument of call.arguments) if (assignsOwnObject(argument)) this.assignsThis = true;
    if (this.lambdaDepth > 0 && !this.ownEscapes && changesOwn(call, codeOf(this.fn) ?? EMPTY)) this.ownEscapes = true;
  }

  private construct(node: Expr & { kind: 'construct' | 'init-list' }): void {
    if (runsCode(node.type)) this.indirect.push(node);
    for (const { value, pointer } of boundArguments(node)) if (isOwnPart(value) || (pointer && leadsToOwn(value))) this.bindOwn(node);
    const roots = boundBy(node);
    if (roots.length === 0) return;
    this.bound.set(node, [...this.bound.get(node) ?? NO_ROOTS, ...roots]);
    for (const root of roots) {
      this.record(root.decl, node, false);
      this.escape(root.decl);
    }
  }

  private record(decl: Variable, node: Expr | Stmt, known: boolean): void {
    this.assignments.push({ decl, node, known });
    for (const loop of this.loopStack) this.assignedIn.get(loop)?.add(decl);
    if (this.ownAliases.has(decl)) this.changeOwn(true);
    const alias = this.aliases.get(decl);
    if (alias !== undefined) this.record(alias.decl, node, known);
  }
}

/** Does a built-in store this argument, or give it back to somebody? Only what it reads or writes through an address is left alone. */
function keepsArgument(call: CallExpr, argument: Node, parent: Node | undefined): boolean {
  const entry = call.callee.kind === 'builtin' ? builtin(call.callee.name) : undefined;
  // An address as a number may go on in the result.
  if (entry === undefined || (isExpr(argument) && argument.type.kind !== 'pointer' && argument.type.kind !== 'array' && parent?.kind !== 'expression')) return true;
  const position = call.arguments.findIndex((one) => one === argument);
  return (entry.writes.length > 0 && !entry.writes.includes(position) && !entry.reads.includes(position)) || (call.type.kind === 'pointer' && parent?.kind !== 'expression');
}

function isLvalueOfVariable(init: Expr): boolean {
  const root = rootOf(init);
  return root !== null && !isFixed(root.decl.type) && strip(init).type.kind !== 'unknown';
}

/** May the names of a structured binding be written to change what they are parts of? */
export function bindsParts({ type, opaqueInit, init }: VariableDecl): boolean {
  return opaqueInit && init !== null && type.kind === 'reference' && (type.to.const !== true || hasMutable(valueType(strip(init).type)));
}

/** A reference member, a member of a type that is not seen, a subscript of an object: what it denotes may lie outside. */
export function leadsBehind(target: Expr): boolean {
  for (let e = strip(target); ;) {
    switch (e.kind) {
      case 'member':
        if (e.field === null || e.field.type.kind === 'reference') return true;
        e = strip(e.object);
        break;
      case 'index': {
        const base = strip(e.base);
        if (base.type.kind !== 'array' && base.type.kind !== 'pointer') return true;
        e = base;
        break;
      }
      case 'unary': {
        const operand = strip(e.operand);
        // A pointer, or an object with an operator, as far as anything is known of it.
        if (e.op === '*' && operand.type.kind !== 'array' && operand.type.kind !== 'pointer') return true;
        e = operand;
        break;
      }
      case 'cast': e = strip(e.operand); break;
      case 'assign': case 'update': e = strip(e.target); break;
      case 'binary':
        if (e.op !== ',') return e.op !== '+' && e.op !== '-' ? true : leadsBehind(e.left) || leadsBehind(e.right);
        e = strip(e.right);
        break;
      default: return false;
    }
  }
}

/** Is making or ending an object of the type a call, which may write through any pointer that it finds? */
function runsCode(type: Type): boolean {
  if (type.kind === 'array') return runsCode(type.of);
  if (type.kind !== 'record' || type.decl.vector !== null) return false;
  return type.decl.bases.length > 0 || type.decl.methods.some((method) => method.defaulted !== true && (method.name === type.decl.name || method.name.startsWith('~')));
}

function within(decl: Variable, node: Node): boolean {
  return decl.span.start >= node.span.start && decl.span.end <= node.span.end;
}

export function forEachRef(node: Node, visit: (ref: RefExpr) => void): void {
  walk(node, (at) => { if (at.kind === 'ref') visit(at); });
}

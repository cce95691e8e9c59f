/**
 * What becomes of an object that a call is handed by address or by reference: does its address outlive the call?
 *
 *   stays      the callee only reads and writes the object;
 *   returned   the result may be its address or a reference to it (`return *this;`);
 *   kept       it may be stored: in memory, in another object, by something that is not understood.
 *
 * Flow-insensitive: every local variable that a part of the address may flow into carries it. Recursion, lambdas and calls that are not visible count as
 * kept. Not handled: addresses that a callee computes from other objects (pointer arithmetic out of an object is undefined).
 */
import { builtin } from '../cuda/builtins.js';
import { isStmt, walk, type Node } from './children.js';
import { constUse, isFixed } from './const-promise.js';
import { indexFunction } from './function-index.js';
import { codeOf } from './function-code.js';
import { conversionsOf } from './implicit-calls.js';
import { endsOf } from './object-lives.js';
import type { Variable } from './facts.js';
import { lambdaOf } from './lambdas.js';
import { libraryCall } from './library-calls.js';
import { isMember, isTest, mayHoldAddress, rootOf, rootsOf, variableOf, type Root } from './lvalues.js';
import type { CallOutput } from './call-outputs.js';
import { forEachRef, structureOf, type Structure } from './structure.js';
import type { CallExpr, Expr, FunctionDecl, ParameterDecl, RefExpr, Stmt, Type } from '../syntax/tree.js';

export type Fate = 'stays' | 'returned' | 'kept';

const fates = new WeakMap<FunctionDecl, Map<number, Fate>>();

const kept = new WeakMap<Structure, ReadonlySet<Variable>>();

/** Variables whose address outlives a call that was handed it: every store through a pointer or reference may change them from then on. */
export function keptIn(structure: Structure): ReadonlySet<Variable> {
  const known = kept.get(structure);
  if (known !== undefined) return known;
  const { outputs, aliases, parents } = structure;
  const made = new Set<Variable>();
  const keep = (from: Root): void => { for (let root: Root | undefined = from; root !== undefined; root = aliases.get(root.decl)) made.add(root.decl); };
  for (const [call, list] of outputs) for (const output of list) if (outlives(call, output, parents)) keep(output.root);
  for (const call of structure.calls) for (const output of lentTo(call)) if (outlives(call, output, parents)) keep(output.root);
  for (const [object, { functions, unseen }] of indexFunction(structure.function).conversions) {
    if (unseen || functions.some((fn) => fateIn(fn, -1) !== 'stays')) for (const root of rootsOf(object)) if (!isFixed(root.decl.type)) keep(root);
  }
  kept.set(structure, made);
  return made;
}

const NOTHING_LENT: readonly CallOutput[] = [];

/** Variables that a call binds to references to `const`, which it does not only read. */
function lentTo(call: CallExpr): readonly CallOutput[] {
  const { callee } = call;
  if (callee.kind !== 'function' && callee.kind !== 'method') return NOTHING_LENT;
  let found = NOTHING_LENT;
  for (const candidate of callee.candidates) {
    for (const [position, argument] of call.arguments.entries()) {
      const parameter = candidate.parameters[position] ?? candidate.parameters.at(-1);
      if (parameter === undefined || parameter.type.kind !== 'reference' || parameter.type.to.const !== true || constUse(candidate, position) === 'read') continue;
      for (const root of rootsOf(argument)) if (!isFixed(root.decl.type)) found = [...found, { root: { ...root, whole: false }, argument: position, how: 'reference' }];
    }
  }
  return found;
}

/** What the callees of a call do with the object that this output names, and what the caller does with what they return. */
export function outlives(call: CallExpr, output: CallOutput, parents: ReadonlyMap<Node, Node>): boolean {
  const { callee } = call;
  if (callee.kind === 'builtin') return false;
  // A callee that is not seen may give back what it was handed.
  // Groups and their like take values.
  if (libraryCall(call)?.writesArguments === false) return false;
  if (callee.kind === 'value' && takesNumber(lambdaOf(callee.value)?.parameters[output.argument])) return false;
  if (output.how === 'unknown' || (callee.kind !== 'function' && callee.kind !== 'method')) return !isDropped(call, mayBeAddress(call.type), parents, true);
  let returned = false;
  // A pointer, or an object returned by value, takes the address along; a reference is only one while it is used.
  let byValue = false;
  for (const candidate of callee.candidates) {
    const fate = candidate.body === null && mayHoldAddress(candidate.returns) ? 'returned' : fateIn(candidate, output.argument);
    if (fate === 'kept') return true;
    if (fate !== 'returned') continue;
    returned = true;
    byValue ||= candidate.returns.kind !== 'reference';
  }
  return returned && !isDropped(call, byValue, parents);
}

/**
 * A result that nobody keeps or writes through: a statement of its own, or a value that is only read. What a callee that is not seen returns may hold an address.
 * `isPointer`: the address itself; otherwise a reference to the object.
 */
function isDropped(call: CallExpr, isPointer: boolean, parents: ReadonlyMap<Node, Node>, unseen = false): boolean {
  let below: Expr = call;
  for (let up = parents.get(call); up !== undefined; up = parents.get(up)) {
    // An array in the object stands for its address.
    const address = isPointer || below.type.kind === 'array';
    switch (up.kind) {
      case 'paren': case 'macro': break;
      case 'expression': return !hasLife(call.type);
      case 'binary': return up.op !== ',' && (isTest(up.op) || (!address && !(unseen && !isSmall(up.type))));
      case 'unary': return !address && up.op !== '&' && up.op !== '*' && isNumber(up.type);
      case 'assign': return !address && up.value === below && takesValue(up.target.type, below) && !(unseen && up.target.type.kind !== 'dependent' && mayKeep(up.target.type));
      case 'declare': {
        const child = below;
        const variable = up.variables.find((one) => one.init === child);
        return !address && variable !== undefined && takesValue(variable.type, below) && !(unseen && mayKeep(variable.type));
      }
      case 'cast':
        if (address || !takesValue(up.type, below) || (unseen && mayKeep(up.type))) return false;
        break;
      case 'index':
        if (up.base !== below) return !address;
        if (isPointer) return false;
        break;
      case 'member':
        if (isPointer || up.arrow) return false;
        break;
      case 'conditional':
        if (up.condition === below) return !address;
        break;
      case 'construct': case 'init-list': return !address && !mayHoldAddress(up.type);
      case 'call': {
        if (address) return false;
        const passed = passedOn(up, below);
        if (passed !== 'returned') return passed === 'stays';
        break;
      }
      // What runs behind it finds the function's own objects gone.
      case 'return': return !isInLambda(up, parents);
      case 'if': case 'while': case 'for': case 'do': case 'switch': return !hasLife(call.type);
      default: return false;
    }
    below = up;
  }
  return false;
}

/** What a call does with a reference that it is given. */
function passedOn(call: CallExpr, reference: Expr): Fate {
  const { callee } = call;
  if (callee.kind === 'builtin') return isNumber(reference.type) ? 'stays' : 'kept';
  const position = call.arguments.indexOf(reference);
  if ((callee.kind !== 'function' && callee.kind !== 'method') || callee.candidates.length === 0 || position < 0) return 'kept';
  let fate: Fate = 'stays';
  for (const candidate of callee.candidates) {
    const parameter = candidate.parameters[position];
    if (parameter === undefined || parameter.pack) return 'kept';
    if (isNumber(parameter.type)) continue;
    const own = candidate.body === null ? 'kept' : fateIn(candidate, position);
    if (parameter.type.kind !== 'reference' || own === 'kept' || (own === 'returned' && candidate.returns.kind !== 'reference')) return 'kept';
    if (own === 'returned') fate = own;
  }
  return fate;
}

/** A parameter that gets a copy of a number. */
function takesNumber(parameter: ParameterDecl | undefined): boolean {
  return parameter !== undefined && isNumber(parameter.type);
}

/** May a number, or several, be an address? */
function mayBeAddress(type: Type): boolean {
  if (type.kind === 'record') return type.decl.vector !== null && type.decl.vector.element.kind === 'int' && type.decl.vector.lanes * type.decl.vector.element.bits >= 64;
  return type.kind === 'int' && type.bits === 64;
}

function mayKeep(type: Type): boolean {
  return mayHoldAddress(type) || mayBeAddress(type);
}

/** A number that no address fits into. */
function isSmall(type: Type): boolean {
  return type.kind === 'bool' || type.kind === 'float' || type.kind === 'enum' || (type.kind === 'int' && type.bits <= 32);
}

function isNumber({ kind }: Type): boolean {
  return kind === 'bool' || kind === 'int' || kind === 'float' || kind === 'enum';
}

/** Is an object of the type made of the value by copying it, so that no address goes along? A class may be made of a reference to something else. */
function takesValue(type: Type, value: Expr): boolean {
  switch (type.kind) {
    case 'reference': case 'pointer': return false;
    case 'record': return type.decl.vector !== null || (value.type.kind === 'record' && value.type.decl === type.decl);
    default: return true;
  }
}

function isInLambda(node: Node, parents: ReadonlyMap<Node, Node>): boolean {
  for (let up = parents.get(node); up !== undefined; up = parents.get(up)) if (up.kind === 'lambda') return true;
  return false;
}

/** Does an object of the type end, or become a value, by code that finds in it what it was handed? */
function hasLife(type: Type): boolean {
  return type.kind === 'record' && type.decl.vector === null && (endsOf(type).length > 0 || conversionsOf(type.decl).functions.length > 0);
}

/** Does the address of the object that a method runs on outlive the call, in what it returns or elsewhere? */
export function ownOutlives(method: FunctionDecl): boolean {
  return fateIn(method, -1) !== 'stays';
}

function fateIn(fn: FunctionDecl, argument: number): Fate {
  const code = codeOf(fn);
  if (code === null) return 'stays'; // a body that is not visible: the output counts as unknown anyway
  let ofFunction = fates.get(fn);
  if (ofFunction === undefined) fates.set(fn, ofFunction = new Map());
  const known = ofFunction.get(argument);
  if (known !== undefined) return known;
  ofFunction.set(argument, 'kept'); // recursion
  const parameter = argument < 0 ? null : fn.parameters[argument] ?? fn.parameters[fn.parameters.length - 1] ?? null;
  const made = argument >= 0 && (parameter === null || parameter.pack) ? 'kept' : new Walk(fn, parameter).fate();
  ofFunction.set(argument, made);
  return made;
}

const NO_USES: readonly RefExpr[] = [];

class Walk {
  /** Variables that a part of the address may flow into. */
  private readonly carriers = new Set<Variable>();
  private readonly parents: ReadonlyMap<Node, Node>;
  private readonly uses: ReadonlyMap<Variable, readonly RefExpr[]>;
  private result: Fate = 'stays';

  /** `start` null: the object that a method runs on. */
  constructor(private readonly fn: FunctionDecl, private readonly start: Variable | null) {
    const { parents, uses } = structureOf(fn);
    this.parents = parents;
    this.uses = uses;
    if (start !== null) this.carriers.add(start);
  }

  fate(): Fate {
    const code = codeOf(this.fn);
    if (code === null) return this.result;
    if (this.start === null) this.followOwn(code);
    // A set goes on with what is added to it meanwhile.
    for (const decl of this.carriers) {
      for (const ref of this.usesOf(decl, code)) {
        if (this.result === 'kept') return this.result;
        if (decl.type.kind === 'reference') this.object(ref, decl.type.to);
        else if (decl.type.kind === 'array' && decl.kind === 'variable') this.object(ref, decl.type);
        else this.address(ref);
      }
    }
    return this.result;
  }

  /** Where the function names the variable; of what it keeps between calls the structure has no list. */
  private usesOf(decl: Variable, code: Stmt): readonly RefExpr[] {
    if (variableOf(decl) !== null) return this.uses.get(decl) ?? NO_USES;
    const found: RefExpr[] = [];
    forEachRef(code, (ref) => { if (ref.decl === decl) found.push(ref); });
    return found;
  }

  /** Follows the object that a method runs on from where it, or a member of it, is named. */
  private followOwn(code: Stmt): void {
    walk(code, (at) => {
      if (this.result === 'kept') return false;
      if (at.kind === 'this') this.address(at);
      else if (at.kind === 'ref' && at.decl?.kind === 'variable' && isMember(at.decl)) this.object(at, at.decl.type);
      return true;
    });
  }

  private keep(): void { this.result = 'kept'; }
  private give(): void { if (this.result === 'stays') this.result = 'returned'; }
  private carry(decl: Variable): void { this.carriers.add(decl); }

  /** Follows the object (a part of it) upwards: only its address matters. */
  private object(node: Expr, type: Type): void {
    if (type.kind === 'array') { this.address(node); return; }
    const up = this.parents.get(node);
    if (up === undefined) return;
    switch (up.kind) {
      case 'paren': case 'macro': this.object(up, type); return;
      case 'member': if (!up.arrow) this.object(up, up.type); return;
      case 'index': if (up.base === node) this.object(up, up.type); return;
      case 'cast': if (up.type.kind === 'reference' || isLvalueCast(up.type, type)) this.object(up, up.type); return;
      case 'unary': if (up.op === '&') this.address(up); return;
      case 'conditional': if (up.condition !== node) this.object(up, type); return;
      case 'binary': if (up.op === ',' && up.right === node) this.object(up, type); return;
      case 'assign': if (up.target === node) this.object(up, type); return;
      case 'update': if (up.prefix) this.object(up, type); return;
      case 'return': if (this.fn.returns.kind === 'reference' || this.fn.returns.kind === 'unknown' || this.fn.returns.kind === 'dependent') this.give(); return;
      case 'declare': for (const variable of up.variables) if (variable.init === node && variable.type.kind === 'reference') this.carry(variable); return;
      case 'range-for': if (up.range === node) this.carry(up.variable); return;
      case 'call': this.handed(up, node, true); return;
      case 'construct': case 'init-list': this.keep(); return; // may be bound to a reference
      case 'lambda': this.keep(); return;
      default: return;
    }
  }

  /** Follows the address upwards. */
  private address(node: Expr): void {
    if (this.insideLambda(node)) { this.keep(); return; }
    const up = this.parents.get(node);
    if (up === undefined) return;
    switch (up.kind) {
      case 'paren': case 'macro': case 'construct': case 'init-list': this.address(up); return;
      case 'cast': if (up.type.kind === 'pointer' || up.type.kind === 'array' || up.type.kind === 'int' || up.type.kind === 'unknown' || up.type.kind === 'dependent' || up.type.kind === 'record') this.address(up); return;
      case 'binary':
        if (up.op === '+' || up.op === '-' || (up.op === ',' && up.right === node)) this.address(up);
        return;
      case 'conditional': if (up.condition !== node) this.address(up); return;
      case 'index': if (up.base === node) this.object(up, up.type); return;
      case 'member': this.object(up, up.type); return;
      case 'unary':
        if (up.op === '*') this.object(up, up.type);
        else if (up.op === '&') this.keep(); // the address of the pointer
        return;
      case 'update': this.address(up); return;
      case 'assign': {
        if (up.target === node) return; // a pointer moves
        const root = rootOf(up.target);
        if (root === null || root.decl.type.kind === 'reference') this.keep();
        else this.carry(root.decl);
        this.address(up);
        return;
      }
      case 'declare': for (const variable of up.variables) if (variable.init === node) { if (variableOf(variable) === null || variable.type.kind === 'reference') this.keep(); else this.carry(variable); } return;
      case 'return': this.give(); return;
      case 'call': this.handed(up, node, false); return;
      case 'expression': case 'if': case 'while': case 'do': case 'for': case 'switch': return;
      default: this.keep();
    }
  }

  private insideLambda(node: Node): boolean {
    for (let up = this.parents.get(node); up !== undefined && !(isStmt(up) && up === codeOf(this.fn)); up = this.parents.get(up)) if (up.kind === 'lambda') return true;
    return false;
  }

  private handed(call: CallExpr, node: Expr, asObject: boolean): void {
    const { callee } = call;
    if (callee.kind === 'builtin') {
      const entry = builtin(callee.name);
      // A pointer that is shuffled or exchanged comes out as a value.
      if (!asObject && entry !== undefined && node.type.kind !== 'pointer' && node.type.kind !== 'array' && mayCarry(call.type)) this.address(call); // a number that is worked on
      if (!asObject && (entry === undefined || (entry.atomic && call.arguments.indexOf(node) > 0) || call.type.kind === 'pointer')) this.keep();
      return;
    }
    if (callee.kind !== 'function' && callee.kind !== 'method') { this.keep(); return; }
    const position = callee.kind === 'method' && callee.object === node ? -1 : call.arguments.indexOf(node);
    if (callee.candidates.length === 0) { this.keep(); return; }
    for (const candidate of callee.candidates) {
      const parameter = position < 0 ? null : candidate.parameters[position];
      // By value: the object is read, an address is copied into the callee.
      if (asObject && parameter !== null && parameter !== undefined && parameter.type.kind !== 'reference' && parameter.type.kind !== 'unknown' && parameter.type.kind !== 'dependent') continue;
      const fate = candidate.body === null ? 'kept' : fateIn(candidate, position);
      if (fate === 'kept') { this.keep(); return; }
      if (fate === 'returned') { if (call.type.kind === 'pointer') this.address(call); else this.object(call, call.type); }
    }
  }
}

function mayCarry({ kind }: Type): boolean {
  return kind === 'int' || kind === 'record' || kind === 'unknown';
}

function isLvalueCast(to: Type, from: Type): boolean {
  return to.kind === 'record' && from.kind === 'record' && to.decl === from.decl;
}

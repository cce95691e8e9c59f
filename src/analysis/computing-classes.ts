/**
 * Classes as good as numbers: what their operators, constructors, conversions and destructors do is compute from what they are given, and nothing else.
 *
 * A class of which a part is not seen, with specialisations, volatile members or virtual operators is none, and neither is one whose default arguments or
 * default values of fields read anything but constants. Methods with a name of their own and calls of the object are calls of the tree: they do not count.
 */
import { builtin } from '../cuda/builtins.js';
import type { EnumDecl, Expr, FunctionDecl, Program, RecordDecl, VariableDecl } from '../syntax/tree.js';
import { forEachChild, isStmt, strip, type Node } from './children.js';
import { isAutomatic } from './function-index.js';
import { isMember, rootOf } from './lvalues.js';

/** Do all operators outside of classes that take such an operand only compute? */
export function operatorsCompute(decl: RecordDecl | EnumDecl, program: Program): boolean {
  return asked(decl, program, (visiting) => operatorsOnlyCompute(decl, program, visiting));
}

/** Is an object of the record as good as a number: no member of it does more than compute from what it is given? */
export function isComputing(record: RecordDecl, program: Program): boolean {
  return asked(record, program, (visiting) => recordComputes(record, program, visiting));
}

interface Tables {
  /** Operators outside of classes that device code may call. */
  readonly operators: readonly FunctionDecl[];
  readonly answers: Map<RecordDecl | EnumDecl, boolean>;
}

const tables = new WeakMap<Program, Tables>();

function tablesOf(program: Program): Tables {
  const known = tables.get(program);
  if (known !== undefined) return known;
  const operators: FunctionDecl[] = [];
  for (const unit of program.units.values()) {
    for (const fn of unit.functions) if (fn.owner === null && fn.name.startsWith('operator') && (fn.qualifiers.device || fn.qualifiers.constexpr)) operators.push(fn);
  }
  const made: Tables = { operators, answers: new Map() };
  tables.set(program, made);
  return made;
}

/** Whole answers are kept; those made on the way rest on what is still being looked at. */
function asked(decl: RecordDecl | EnumDecl, program: Program, find: (visiting: Set<object>) => boolean): boolean {
  const { answers } = tablesOf(program);
  let answer = answers.get(decl);
  if (answer === undefined) answers.set(decl, answer = find(new Set()));
  return answer;
}

function operatorsOnlyCompute(decl: RecordDecl | EnumDecl, program: Program, visiting: Set<object>): boolean {
  for (const fn of tablesOf(program).operators) {
    const takes = fn.parameters.some(({ type }) => {
      const value = type.kind === 'reference' ? type.to : type;
      return value.kind === 'dependent' || value.kind === 'unknown' || ((value.kind === 'record' || value.kind === 'enum') && value.decl === decl);
    });
    if (takes && !onlyComputes(fn, program, visiting)) return false;
  }
  return true;
}

function recordComputes(record: RecordDecl, program: Program, visiting: Set<object>): boolean {
  if (visiting.has(record)) return true;
  visiting.add(record);
  if (!operatorsOnlyCompute(record, program, visiting)) return false;
  if (record.vector !== null) return true;
  if (!record.complete || record.specialised === true) return false;
  for (const base of record.bases) if (base.kind !== 'record' || !recordComputes(base.decl, program, visiting)) return false;
  for (const { type, init, storage } of record.fields) {
    let inner = type;
    while (inner.kind === 'array') inner = inner.of;
    // Whoever makes an object takes what its fields are given there.
    if (storage === 'member' && init !== null && !computes(init, program, visiting, true)) return false;
    if (inner.volatile === true || (inner.kind === 'record' && !recordComputes(inner.decl, program, visiting))) return false;
  }
  for (const method of record.methods) {
    // A call of the object is a call of the tree, and so is one of a method that has a name.
    const special = method.name === record.name || method.name.startsWith('~') || (method.name.startsWith('operator') && method.name !== 'operator()');
    if (special && method.defaulted !== true && !onlyComputes(method, program, visiting)) return false;
  }
  return true;
}

/** Does the function do nothing but compute a value from its parameters, its object and constants? A constructor may set its members. */
function onlyComputes(fn: FunctionDecl, program: Program, visiting: Set<object>): boolean {
  if (visiting.has(fn)) return true;
  visiting.add(fn);
  if (fn.body === null || fn.virtual === true) return false;
  if (fn.parameters.some((parameter) => parameter.default !== null && !computes(parameter.default, program, visiting, false))) return false;
  const makes = fn.owner !== null && fn.name === fn.owner.name;
  if (makes && (fn.initialisers ?? []).some((one) => one.arguments.some((argument) => !computes(argument, program, visiting, makes)))) return false;
  return computes(fn.body, program, visiting, makes);
}

function computes(node: Node, program: Program, visiting: Set<object>, makes: boolean): boolean {
  if (!isStmt(node) && node.type.volatile === true) return false;
  switch (node.kind) {
    case 'assign': case 'update': {
      const target = rootOf(node.target)?.decl ?? memberOf(node.target);
      const own = target !== null && ((isAutomatic(target) && target.type.kind !== 'reference' && target.type.kind !== 'pointer') || (makes && isMember(target)));
      if (!own) return false;
      break;
    }
    case 'call': {
      const { callee } = node;
      if (callee.kind === 'builtin') { if (builtin(callee.name)?.pure !== true) return false; break; }
      if ((callee.kind !== 'function' && callee.kind !== 'method') || callee.candidates.length === 0 || callee.candidates.some((candidate) => !onlyComputes(candidate, program, visiting))) return false;
      break;
    }
    case 'construct': case 'init-list':
      if (node.type.kind === 'unknown' || node.type.kind === 'dependent' || (node.type.kind === 'record' && !recordComputes(node.type.decl, program, visiting))) return false;
      break;
    case 'ref': {
      const { decl } = node;
      if (decl === null) return false;
      if (decl.kind === 'variable' && !decl.constexpr && decl.storage !== 'member' && !isAutomatic(decl)) return false;
      break;
    }
    case 'unary': if (node.op === '*' && strip(node.operand).kind !== 'this') return false; break;
    case 'index': if (strip(node.base).type.kind !== 'array') return false; break;
    case 'member': if (node.arrow && strip(node.object).kind !== 'this') return false; break;
    case 'coordinate': case 'asm': case 'opaque': case 'lambda': case 'range-for': case 'goto': case 'macro-statement': return false;
    default:
  }
  let fine = true;
  forEachChild(node, (child) => { fine &&= computes(child, program, visiting, makes); });
  return fine;
}

function memberOf(target: Expr): VariableDecl | null {
  const e = strip(target);
  if (e.kind === 'ref' && e.decl !== null && e.decl.kind === 'variable' && isMember(e.decl)) return e.decl;
  return e.kind === 'member' && e.arrow && strip(e.object).kind === 'this' ? e.field : null;
}

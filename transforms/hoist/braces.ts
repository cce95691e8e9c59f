/**
 * Whether the braces of an arm may go where its statements come to stand between others.
 *
 * They go if the arm declares nothing at its own level, or if it declares variables only, whose names nothing around spells and whose end of
 * life nobody sees. Everything else keeps them: braces cost nothing.
 */
import { walk } from '../../src/analysis/children.js';
import type { Expr, Stmt, SwitchArm, Type, Unit, VariableDecl } from '../../src/syntax/tree.js';
import type { Span } from '../../src/source/types.js';
import { bringsNames, wordsOf, type Words } from '../lib/words.js';

/** What an arm declares at its own level. */
export type Declared =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'variables'; readonly variables: readonly VariableDecl[] }
  /** Types, enumerators, using-directives, functions, hidden objects, or what is not known. */
  | { readonly kind: 'other' };

const OTHER: Declared = { kind: 'other' };

/** `text` covers the statements: using-declarations are in no statement. */
export function declaredBy(unit: Unit, statements: readonly Stmt[], text: Span | null): Declared {
  const variables: VariableDecl[] = [];
  let other = false;
  const visit = (stmt: Stmt): void => {
    switch (stmt.kind) {
      case 'declare':
        if (isOfVariables(unit, stmt.variables, stmt)) variables.push(...stmt.variables);
        else other = true;
        return;
      case 'label': visit(stmt.body); return;
      case 'macro-statement':
        // The braces of a macro's body are not told from a list without any.
        if (stmt.expanded.kind === 'compound') stmt.expanded.body.forEach(visitExpanded);
        else visitExpanded(stmt.expanded);
        return;
      case 'preprocessor': case 'opaque': other = true; return;
      case 'empty': other ||= unit.source.text.slice(stmt.span.start, stmt.span.end) !== ';'; return;
      case 'expression': case 'if': case 'for': case 'range-for': case 'while': case 'do': case 'switch': case 'compound':
      case 'break': case 'continue': case 'return': case 'goto': case 'asm':
        return;
      default: {
        const never: never = stmt;
        return never;
      }
    }
  };
  const visitExpanded = (stmt: Stmt): void => {
    if (stmt.kind === 'declare' || stmt.kind === 'label' || stmt.kind === 'opaque' || stmt.kind === 'preprocessor') other = true;
    else if (stmt.kind !== 'empty') visit(stmt);
  };
  statements.forEach(visit);
  if (!other && text !== null && bringsNames(wordsOf(unit, [text]))) return OTHER;
  return other ? OTHER : variables.length > 0 ? { kind: 'variables', variables } : { kind: 'nothing' };
}

const TYPE_WORDS: readonly string[] = ['struct', 'class', 'union', 'enum', 'typedef', 'extern'];

function isOfVariables(unit: Unit, variables: readonly VariableDecl[], stmt: Extract<Stmt, { kind: 'declare' }>): boolean {
  if (stmt.types.length > 0 || variables.length === 0) return false;
  // A structured binding holds an object that has no name.
  if (variables.some((variable) => variable.opaqueInit || variable.storage === 'extern')) return false;
  const words = wordsOf(unit, [stmt.span]);
  return !words.dark && !TYPE_WORDS.some((word) => words.names.has(word));
}

/**
 * `around`: what the list spells in which the statements come to stand, and the head that the list belongs to; null if not known.
 * `followed`: statements of the list come behind.
 */
export function bracesStay(unit: Unit, statements: readonly Stmt[], text: Span | null, around: Words | null, followed: boolean): boolean {
  const declared = declaredBy(unit, statements, text);
  switch (declared.kind) {
    case 'nothing': return false;
    case 'other': return true;
    case 'variables':
      if (around === null || around.dark) return true;
      return declared.variables.some((variable) => around.names.has(variable.name) || (followed && endIsSeen(variable)));
    default: {
      const never: never = declared;
      return never;
    }
  }
}

/** The variable, or a temporary that lives as long as it, may have a destructor. */
export function endIsSeen(variable: VariableDecl): boolean {
  return mayOwnObject(variable.type, variable.init);
}

function mayOwnObject(type: Type, init: Expr | null): boolean {
  switch (type.kind) {
    case 'array': return mayOwnObject(type.of, init);
    case 'record': return type.decl.vector === null;
    case 'dependent': case 'unknown': return true;
    // A reference to something made on the spot keeps it, or the object that it is a part of.
    case 'reference': return init === null || makesObject(init);
    case 'void': case 'bool': case 'int': case 'float': case 'pointer': case 'enum': case 'function': return false;
    default: {
      const never: never = type;
      return never;
    }
  }
}

function makesObject(init: Expr): boolean {
  let made = false;
  walk(init, (node) => {
    if (node.kind === 'call' || node.kind === 'construct' || node.kind === 'init-list' || node.kind === 'lambda' || node.kind === 'opaque' || node.kind === 'cast') made = true;
    return !made;
  });
  return made;
}

/**
 * The arms of a `switch` share one scope. A name that one arm declares and a later one spells, with what the later one says about it; null if
 * each arm can do without those before it.
 */
export function sharedAmongArms(unit: Unit, arms: readonly SwitchArm[]): { readonly at: Stmt; readonly name: string | null } | null {
  for (const [index, arm] of arms.entries()) {
    const first = arm.body[0];
    const later = arms.slice(index + 1);
    if (first === undefined || later.length === 0) continue;
    const declared = declaredBy(unit, arm.body, arm.span);
    if (declared.kind === 'nothing') continue;
    if (declared.kind === 'other') return { at: first, name: null };
    const words = wordsOf(unit, later.map((other) => other.span));
    const met = declared.variables.find((variable) => words.dark || words.names.has(variable.name));
    if (met !== undefined) return { at: arm.body.find((stmt) => stmt.kind === 'declare' && stmt.variables.includes(met)) ?? first, name: met.name };
  }
  return null;
}

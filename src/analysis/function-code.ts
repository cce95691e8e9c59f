/**
 * What runs when a function is called: its body, and for a constructor first its member initialisers, which the tree keeps apart.
 *
 *   Box(int v) : width(v), end{width + at()} { end++; }        runs as        { width = v; end = {width + at()}; end++; }
 *
 * Members run in the order in which they are declared ([class.base.init]), bases before them. A reference member is bound, not assigned: only its
 * argument is evaluated. Default values of fields (`int n = 0;`) that no initialiser names are run too. A name that is neither a member, a base nor the
 * record itself (a dependent base) is text that is not understood.
 */
import type { CompoundStmt, Expr, FunctionDecl, MemberInitialiser, RecordDecl, Stmt, Type, VariableDecl } from '../syntax/tree.js';

const memo = new WeakMap<FunctionDecl, CompoundStmt>();

/** The statements of a function in the order in which they run; null without a body. */
export function codeOf(fn: FunctionDecl): CompoundStmt | null {
  const { body, owner } = fn;
  if (body === null || owner === null || fn.name !== owner.name) return body;
  const known = memo.get(fn);
  if (known !== undefined) return known;
  const first = initialisation(fn, owner);
  const made: CompoundStmt = first.length === 0 ? body : { kind: 'compound', span: body.span, body: [...first, ...body.body] };
  memo.set(fn, made);
  return made;
}

function initialisation(fn: FunctionDecl, owner: RecordDecl): readonly Stmt[] {
  const given = fn.initialisers ?? [];
  const fields = owner.fields.filter((field) => field.storage === 'member');
  const own = new Set(fields.map((field) => field.name));
  const statements: Stmt[] = given.filter((one) => !own.has(one.name)).map((one) => base(one, owner));
  // A constructor that delegates leaves the members to the other one.
  if (given.some((one) => one.name === owner.name)) return statements;
  for (const field of fields) {
    const named = given.find((one) => one.name === field.name);
    if (named !== undefined) statements.push(member(named, field));
    else if (field.init !== null) statements.push(assignment(field, field.init));
  }
  return statements;
}

function member(given: MemberInitialiser, field: VariableDecl): Stmt {
  const { span } = given;
  const only = given.arguments.length === 1 ? given.arguments[0] : undefined;
  if (field.type.kind === 'reference') {
    const bound: Expr = only === undefined ? opaque(given, field.type) : { kind: 'unary', op: '&', operand: only, span, type: { kind: 'pointer', to: field.type.to } };
    return { kind: 'expression', span, expression: bound };
  }
  if (field.type.kind === 'record' || field.type.kind === 'unknown' || field.type.kind === 'dependent') {
    return assignment(field, { kind: 'construct', style: given.style, arguments: given.arguments, span, type: field.type });
  }
  if (only !== undefined) return assignment(field, only);
  if (given.arguments.length === 0 && field.type.kind !== 'array') return assignment(field, { kind: 'literal', value: 0n, span, type: field.type });
  return assignment(field, { kind: 'init-list', elements: given.arguments, span, type: field.type });
}

function assignment(field: VariableDecl, value: Expr): Stmt {
  const { span } = value;
  return { kind: 'expression', span, expression: { kind: 'assign', op: null, span, type: field.type, value, target: { kind: 'ref', name: field.name, decl: field, span, type: field.type } } };
}

/** A base, or the record itself: a part of the object is made. */
function base(given: MemberInitialiser, owner: RecordDecl): Stmt {
  const { span } = given;
  const type: Type | undefined = given.name === owner.name ? { kind: 'record', decl: owner } : owner.bases.find((one) => one.kind === 'record' && one.decl.name === given.name);
  const whole: Type = { kind: 'unknown', text: owner.name };
  const value: Expr = type === undefined ? opaque(given, whole) : { kind: 'construct', style: given.style, arguments: given.arguments, span, type };
  const self: Expr = { kind: 'this', span, type: { kind: 'pointer', to: whole } };
  return { kind: 'expression', span, expression: { kind: 'assign', op: null, span, type: whole, value, target: { kind: 'unary', op: '*', operand: self, span, type: whole } } };
}

function opaque(given: MemberInitialiser, type: Type): Expr {
  return { kind: 'opaque', reason: `\`${given.name}\` is no member or base that is seen`, span: given.span, type };
}

/** Calls: functions, built-ins, methods, values, casts and constructions that look like calls, launches. */
import { splitArguments } from '../source/condition.js';
import { isBuiltin } from '../cuda/builtins.js';
import { byArguments } from './argument-lookup.js';
import { fieldChild, namedChildren, type Cst } from './cst.js';
import { NeedsPatch, type Lowering } from './context.js';
import { builtinResult } from './builtin-types.js';
import { expression, isTypeName, lowerInitList, templateArguments, thisType } from './lower-expression.js';
import { macroExpression, macroNamed, unreadOperand } from './lower-macro.js';
import { fieldName, findQualified, lowerMember, objectRecord } from './lower-name.js';
import { lowerInvoke } from './lower-partly.js';
import { bestCandidates, classArguments, isDispatched, isToldReference, mayFit, methodResult, operatorCall, pointerOf, resultOfAny } from './lower-overload.js';
import { comesApart, looseMacro, singleOperand } from './loose-macro.js';
import { descriptorType, lowerType, typeByName } from './lower-type.js';
import { launchCall, launchConfiguration, libraryLaunch } from './launch.js';
import { isTemplateVariable, type Found } from './scope.js';
import type { CallExpr, Callee, CastExpr, Expr, FunctionDecl, RecordDecl, TemplateArgument, Type } from './tree.js';
import { strip } from './tree.js';
import { UNKNOWN, decay, isArithmetic, referenceCast, stripReference } from './types.js';

const NAMED_CASTS = new Map<string, CastExpr['style']>([
  ['static_cast', 'static'], ['reinterpret_cast', 'reinterpret'], ['const_cast', 'const'], ['dynamic_cast', 'dynamic'],
]);

export function lowerCall(ctx: Lowering, node: Cst): Expr {
  const fn = fieldChild(node, 'function');
  const list = fieldChild(node, 'arguments');
  if (fn === null || list === null) return ctx.opaque(node, 'call');
  const configuration = launchConfiguration(ctx, fn);
  if (configuration !== null) return launchCall(ctx, node, configuration, list);
  switch (fn.type) {
    case 'identifier': return callByName(ctx, node, fn, list, null, fn);
    case 'template_function': return callTemplate(ctx, node, fn, list);
    case 'qualified_identifier': return callQualified(ctx, node, fn, list);
    case 'field_expression': return callMethod(ctx, node, fn, list);
    case 'primitive_type': case 'sized_type_specifier': return construct(ctx, node, lowerType(ctx, fn), list);
    case 'parenthesized_expression': return callParenthesised(ctx, node, fn, list);
    default: return callValue(ctx, node, expression(ctx, fn), fn, list, null);
  }
}

/** The texts of a macro's arguments, as the preprocessor splits them. */
export function argumentTexts(ctx: Lowering, list: Cst): string[] {
  const inner = ctx.original.slice(list.start + 1, list.end - 1);
  return inner.trim() === '' ? [] : splitArguments(inner);
}

export function lowerArguments(ctx: Lowering, list: Cst): Expr[] {
  return namedChildren(list).map((child) => (child.type === 'initializer_list' ? lowerInitList(ctx, child, UNKNOWN) : singleOperand(ctx, child, expression(ctx, child))));
}

function callByName(ctx: Lowering, node: Cst, nameNode: Cst, list: Cst, explicit: readonly TemplateArgument[] | null, calleeNode: Cst): Expr {
  const name = ctx.slice(nameNode);
  if (explicit === null) {
    const macro = macroNamed(ctx, nameNode, true);
    if (macro !== null) {
      const expanded = macroExpression(ctx, node, macro, argumentTexts(ctx, list));
      if (expanded !== null) return expanded;
      return unreadOperand(ctx, node, macro, argumentTexts(ctx, list)) ?? unknownCall(ctx, node, name, calleeNode, lowerArguments(ctx, list), null);
    }
    const alias = macroNamed(ctx, nameNode, false);
    if (alias !== null) {
      const target = macroExpression(ctx, nameNode, alias, null);
      if (target !== null) return throughAlias(ctx, node, target, nameNode, list);
    }
  }
  return callFound(ctx, node, name, ctx.unit.lookup.lookup(ctx.scope, name), list, explicit, calleeNode);
}

/** `#define F sqrtf` … `F(x)`: the name that the macro stands for is what is called. */
function throughAlias(ctx: Lowering, node: Cst, target: Expr, nameNode: Cst, list: Cst): Expr {
  const loose = looseMacro(target, 'postfix');
  if (loose !== null) return comesApart(ctx, node, loose);
  const inner = strip(target);
  if (inner.kind === 'ref' && inner.decl === null) {
    const made = callFound(ctx, node, inner.name, ctx.unit.lookup.lookup(ctx.scope, inner.name), list, null, nameNode);
    return made;
  }
  if (inner.kind === 'ref' && inner.decl?.kind === 'function') {
    return callFound(ctx, node, inner.name, ctx.unit.lookup.lookup(ctx.scope, inner.name), list, null, nameNode);
  }
  return callValue(ctx, node, target, nameNode, list, null);
}

function callFound(
  ctx: Lowering, node: Cst, name: string, found: Found | null, list: Cst, explicit: readonly TemplateArgument[] | null, calleeNode: Cst, qualified = false,
): Expr {
  if (found === null) {
    const type = explicit === null ? typeCalled(ctx, name, calleeNode) : null;
    if (type !== null) return construct(ctx, node, type, list);
    const args = lowerArguments(ctx, list);
    const associated = byArguments(ctx.unit.lookup, args, name);
    if (associated.hidden || (!qualified && ctx.unit.doubts?.isCalledOtherwise(name, args) === true)) return unknownCall(ctx, node, name, calleeNode, args, explicit);
    const decls = associated.decls.filter((one) => mayFit(one, args));
    return decls.length === 0 ? builtinOrUnknown(ctx, node, name, calleeNode, args, explicit) : callOneOf(ctx, node, name, decls, args, list, explicit, calleeNode, null);
  }
  // Inside a class its name stands for the class; what is found under it are the constructors.
  const own = found.kind === 'functions' && found.member !== null && found.member.name === name ? typeCalled(ctx, name, calleeNode) : null;
  if (own !== null) return construct(ctx, node, own, list);
  if (found.kind === 'type') return construct(ctx, node, lowerType(ctx, calleeNode), list);
  if (found.kind === 'value') {
    if (explicit !== null && !isTemplateVariable(found.decl)) throwTemplateReading(ctx, calleeNode);
    return callValue(ctx, node, expression(ctx, calleeNode), calleeNode, list, explicit);
  }
  const args = lowerArguments(ctx, list);
  const associated = qualified || found.member !== null ? null : byArguments(ctx.unit.lookup, args, name);
  if (associated?.hidden === true || (associated !== null && ctx.unit.doubts?.isCalledOtherwise(name, args) === true)) return unknownCall(ctx, node, name, calleeNode, args, explicit);
  const decls = associated === null || associated.decls.length === 0 ? found.decls : [...new Set([...found.decls, ...associated.decls])];
  return callOneOf(ctx, node, name, decls, args, list, explicit, calleeNode, found.member);
}

/** A call of one of these functions; `member` is the class that they were found in without an object. */
function callOneOf(
  ctx: Lowering, node: Cst, name: string, decls: readonly FunctionDecl[], args: Expr[], list: Cst, explicit: readonly TemplateArgument[] | null, calleeNode: Cst, member: RecordDecl | null,
): Expr {
  const candidates = bestCandidates(decls, args, explicit);
  const [best] = candidates;
  if (best === undefined) return builtinOrUnknown(ctx, node, name, calleeNode, args, explicit);
  // What is called is a function that is not among them, or an instance that takes references by what looks like values.
  if (isToldReference(explicit)) return unknownCall(ctx, node, name, calleeNode, args, explicit);
  if (!candidates.some((one) => mayFit(one, args))) {
    // An overload for vectors leaves the built-in function for numbers.
    const isClass = args.some(({ type }) => type.kind === 'record' && type.decl.vector === null);
    return isClass ? unknownCall(ctx, node, name, calleeNode, args, explicit) : builtinOrUnknown(ctx, node, name, calleeNode, args, explicit);
  }
  const library = libraryLaunch(ctx, node, name, list, args);
  if (library !== null) return library;
  let callee: Callee;
  if (member !== null && !best.qualifiers.static) {
    const at = ctx.span(calleeNode);
    const object: Expr = { kind: 'this', span: { start: at.start, end: at.start }, type: thisType(ctx) };
    callee = { kind: 'method', name, object, arrow: true, candidates: isDispatched(candidates, object, true) ? [] : candidates };
  } else {
    callee = { kind: 'function', name, candidates };
  }
  ctx.openCall({ candidates });
  return {
    kind: 'call', span: ctx.span(node), callee, calleeSpan: ctx.span(calleeNode), arguments: args, templateArguments: explicit,
    type: resultOfAny(candidates, args, explicit),
  };
}

/** `a < b && c > (d)` with a variable `a`: the angle brackets are comparisons. */
export function throwTemplateReading(ctx: Lowering, calleeNode: Cst): void {
  const args = fieldChild(calleeNode, 'arguments');
  if (args === null || ctx.patches.some((p) => p.at === args.start)) return;
  throw new NeedsPatch({ at: args.start, length: 1, replacement: '>', meaning: { kind: 'operator', op: '<' } });
}

function typeCalled(ctx: Lowering, name: string, at: Cst): Type | null {
  const type = typeByName(ctx, name, at);
  return type.kind === 'unknown' ? null : type;
}

function callTemplate(ctx: Lowering, node: Cst, fn: Cst, list: Cst): Expr {
  const nameNode = fieldChild(fn, 'name');
  const argsNode = fieldChild(fn, 'arguments');
  if (nameNode === null || argsNode === null) return ctx.opaque(node, 'call');
  const name = ctx.slice(nameNode);
  const style = NAMED_CASTS.get(name);
  if (style !== undefined) {
    const [target] = namedChildren(argsNode);
    const [operand, more] = namedChildren(list);
    if (target === undefined || operand === undefined || more !== undefined) return ctx.opaque(node, 'cast');
    const type = target.type === 'type_descriptor' ? descriptorType(ctx, target) : lowerType(ctx, target);
    return { kind: 'cast', style, span: ctx.span(node), type: stripReference(type), operand: expression(ctx, operand), ...referenceCast(type) };
  }
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  if ((found?.kind === 'value' && !isTemplateVariable(found.decl)) || (found === null && macroNamed(ctx, nameNode, false) !== null)) throwTemplateReading(ctx, fn);
  if (found?.kind === 'type') return construct(ctx, node, lowerType(ctx, fn), list);
  return callFound(ctx, node, name, found, list, templateArguments(ctx, argsNode), fn);
}

function callQualified(ctx: Lowering, node: Cst, fn: Cst, list: Cst): Expr {
  const { name, last, found, scopes, record } = findQualified(ctx, fn);
  const explicit = last.type === 'template_function' || last.type === 'template_type' ? templateArguments(ctx, fieldChild(last, 'arguments')) : null;
  if (found?.kind === 'type') return construct(ctx, node, lowerType(ctx, fn), list);
  if (found !== null) {
    const call = callFound(ctx, node, name, found, list, explicit, fn, true);
    if (call.kind === 'call' && record !== null && isToldReference(classArguments(record))) return { ...call, callee: { kind: 'unknown', name }, type: UNKNOWN };
    if (record === null || call.kind !== 'call' || call.callee.kind !== 'function' || found.kind !== 'functions') return call;
    const [best] = call.callee.candidates;
    return { ...call, callee: { ...call.callee, scope: record }, type: best === undefined ? call.type : methodResult(best, call.arguments, record) };
  }
  const type = lowerType(ctx, fn);
  if (type.kind !== 'unknown' && type.kind !== 'dependent') return construct(ctx, node, type, list);
  const full = [...scopes, name].join('::');
  const spelled = scopes.length === 0 ? name : full;
  return builtinOrUnknown(ctx, node, spelled, fn, lowerArguments(ctx, list), explicit);
}

function builtinOrUnknown(ctx: Lowering, node: Cst, name: string, calleeNode: Cst, args: readonly Expr[], explicit: readonly TemplateArgument[] | null): Expr {
  if (ctx.unit.lookup.mayBeOther(name)) return unknownCall(ctx, node, name, calleeNode, args, explicit);
  if (isBuiltin(name)) {
    return {
      kind: 'call', span: ctx.span(node), callee: { kind: 'builtin', name }, calleeSpan: ctx.span(calleeNode), arguments: args, templateArguments: explicit,
      type: builtinResult(name, args.map((a) => a.type), explicit),
    };
  }
  const list = fieldChild(node, 'arguments');
  const library = list === null ? null : libraryLaunch(ctx, node, name, list, args);
  return library ?? lowerInvoke(ctx, node, name, args) ?? unknownCall(ctx, node, name, calleeNode, args, explicit);
}

function unknownCall(ctx: Lowering, node: Cst, name: string, calleeNode: Cst, args: readonly Expr[], explicit: readonly TemplateArgument[] | null): CallExpr {
  return {
    kind: 'call', span: ctx.span(node), callee: { kind: 'unknown', name }, calleeSpan: ctx.span(calleeNode), arguments: args, templateArguments: explicit, type: UNKNOWN,
  };
}

/** `T(x)`: a conversion if `T` is arithmetic or a pointer, else the construction of an object. */
function construct(ctx: Lowering, node: Cst, type: Type, list: Cst): Expr {
  const args = lowerArguments(ctx, list);
  const [only] = args;
  const target = stripReference(type);
  if (only !== undefined && args.length === 1 && (isArithmetic(target) || target.kind === 'pointer' || target.kind === 'dependent')) {
    return { kind: 'cast', style: 'functional', span: ctx.span(node), type: target, operand: only };
  }
  return { kind: 'construct', style: 'paren', span: ctx.span(node), type: target, arguments: args };
}

/** `(T)(e)` that tree-sitter reads as a call, or `(f)(x)`. */
function callParenthesised(ctx: Lowering, node: Cst, fn: Cst, list: Cst): Expr {
  const [inner] = namedChildren(fn);
  if (inner !== undefined && isTypeName(ctx, inner)) {
    const [operand, more] = namedChildren(list);
    if (operand !== undefined && more === undefined) {
      const value = expression(ctx, operand);
      const paren: Expr = { kind: 'paren', span: ctx.span(list), type: value.type, inner: value };
      const type = lowerType(ctx, inner);
      return { kind: 'cast', style: 'c', span: ctx.span(node), type: stripReference(type), operand: paren, ...referenceCast(type) };
    }
  }
  return callValue(ctx, node, expression(ctx, fn), fn, list, null);
}

function callValue(ctx: Lowering, node: Cst, value: Expr, calleeNode: Cst, list: Cst, explicit: readonly TemplateArgument[] | null): Expr {
  const inner = strip(value);
  const args = lowerArguments(ctx, list);
  if (inner.kind === 'ref' && inner.decl?.kind === 'function') {
    const found = ctx.unit.lookup.lookup(ctx.scope, inner.name);
    const decls = found?.kind === 'functions' ? found.decls : [inner.decl];
    const candidates = bestCandidates(decls, args, explicit);
    const [best] = candidates;
    if (best !== undefined) {
      const callee = { kind: 'function' as const, name: inner.name, candidates };
      ctx.openCall(callee);
      return {
        kind: 'call', span: ctx.span(node), callee, calleeSpan: ctx.span(calleeNode), arguments: args, templateArguments: explicit, type: resultOfAny(candidates, args, explicit),
      };
    }
  }
  const object = operatorCall(ctx, node, calleeNode, '()', [value, ...args]);
  if (object !== null) return object;
  const type = decay(value.type);
  const result = type.kind === 'pointer' && type.to.kind === 'function' ? stripReference(type.to.returns) : UNKNOWN;
  return {
    kind: 'call', span: ctx.span(node), callee: { kind: 'value', value }, calleeSpan: ctx.span(calleeNode), arguments: args, templateArguments: explicit, type: result,
  };
}

function callMethod(ctx: Lowering, node: Cst, fn: Cst, list: Cst): Expr {
  const objectNode = fieldChild(fn, 'argument');
  const fieldNode = fieldChild(fn, 'field');
  const operator = fn.children.find((child) => !child.named && child.start >= (objectNode?.end ?? 0));
  if (objectNode === null || fieldNode === null) return ctx.opaque(node, 'method call');
  const arrow = operator?.type === '->';
  const object = arrow ? pointerOf(ctx, objectNode, operator, expression(ctx, objectNode)) : expression(ctx, objectNode);
  const name = fieldName(ctx, fieldNode);
  const templated = fieldNode.type === 'template_method' ? fieldNode : fieldNode.type === 'dependent_name' ? namedChildren(fieldNode)[0] ?? null : null;
  const explicit = templated?.type === 'template_method' ? templateArguments(ctx, fieldChild(templated, 'arguments')) : null;
  const owner = objectRecord(object.type, arrow);
  const found = owner === null ? null : ctx.unit.lookup.memberOf(owner.record, name);
  if (found?.kind === 'value') return callValue(ctx, node, lowerMember(ctx, fn), fn, list, null);
  const args = lowerArguments(ctx, list);
  const named = found?.kind === 'functions' ? bestCandidates(found.decls, args, explicit) : [];
  const uncertain = isDispatched(named, object, arrow) || isToldReference(explicit) || isToldReference(classArguments(object.type)) || !named.some((one) => mayFit(one, args));
  const candidates = uncertain ? [] : named;
  const callee = { kind: 'method' as const, name, object, arrow, candidates };
  if (candidates.length > 0) ctx.openCall(callee);
  return {
    kind: 'call', span: ctx.span(node), callee, calleeSpan: ctx.span(fn), arguments: args, templateArguments: explicit,
    type: resultOfAny(candidates, args, null, (decl) => methodResult(decl, args, object.type)),
  };
}

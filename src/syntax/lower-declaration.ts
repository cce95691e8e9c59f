/** Declarations of variables, typedefs, aliases and using-declarations; inside functions also what only looks like one. */
import { childOfType, fieldChild, fieldChildren, holdsError, namedChildren, type Cst } from './cst.js';
import type { Lowering, Mutable } from './context.js';
import { mayRefer } from './decltype.js';
import { lowerExpression, lowerInitList, rooted } from './lower-expression.js';
import { lowerArguments } from './lower-call.js';
import { declareFunction } from './lower-function.js';
import { singleOperand } from './loose-macro.js';
import { includeIn } from './lower-include.js';
import { deduceAuto, descriptorType, lowerDeclarator, lowerSpecifiers, namesType, qualifiedName, setAliasParameters, type Declarator, type Specifiers } from './lower-type.js';
import type { DeclareStmt, Expr, Space, Stmt, TemplateParameterDecl, Type, TypedefDecl, VariableDecl } from './tree.js';
import { UNKNOWN, isArithmetic, stripReference } from './types.js';

/** Where a declaration's words put its variables. */
function spaceOf(ctx: Lowering, node: Cst, from: number, specifiers: Specifiers): Space | null {
  const end = fieldChild(node, 'declarator')?.start ?? node.end;
  const notes = ctx.notesBetween(Math.min(from, node.start), end);
  if (notes.length === 0 && specifiers.attributes.size === 0) return null;
  const names = new Set(specifiers.attributes);
  for (const note of notes) {
    if (note.kind === 'qualifier') names.add(note.name);
    else if (note.kind === 'macro') for (const meaning of note.standsFor) names.add(meaning.name);
  }
  if (names.has('shared')) return 'shared';
  if (names.has('constant')) return 'constant';
  if (names.has('managed')) return 'managed';
  return names.has('device') ? 'device' : null;
}

export type Place = 'function' | 'namespace' | 'record';

/**
 * Declares the variables of a `declaration` (or `field_declaration`). `from` is where the text before it ended: words that the
 * overlay took out stand there. Function declarators are declared as functions.
 */
export function declareVariables(ctx: Lowering, node: Cst, from: number, place: Place): DeclareStmt {
  const specifiers = lowerSpecifiers(ctx, node);
  const space = spaceOf(ctx, node, from, specifiers);
  const variables: VariableDecl[] = [];
  const functions: string[] = [];
  const declarators = fieldChildren(node, 'declarator');
  for (const declaratorNode of declarators) {
    const initNode = declaratorNode.type === 'init_declarator' ? declaratorNode : null;
    const inner = initNode === null ? declaratorNode : fieldChild(initNode, 'declarator');
    if (inner === null) continue;
    const paren = place === 'function' && initNode === null && inner.type === 'function_declarator' && nestsDeclarator(inner) ? parenthesisedInit(ctx, inner) : null;
    const named = paren === null ? inner : fieldChild(inner, 'declarator') ?? inner;
    const declarator = lowerDeclarator(ctx, specifiers.type, named);
    // `int (&x)(m);`
    if (paren !== null) {
      variables.push(declareVariable(ctx, node, declaratorNode, declarator, specifiers, space, place, (decl) => initByArguments(ctx, paren, decl)));
      continue;
    }
    // `operator int() const;`: a conversion function without its body.
    if (inner.type === 'operator_cast' && place !== 'function') {
      declareFunction(ctx, node, null, specifiers, declarator, from, null);
      continue;
    }
    // A body of nested blocks only reads as a list of lists.
    if (declarator.functionNode !== null && (initNode === null || (place !== 'function' && fieldChild(initNode, 'value')?.type === 'initializer_list'))) {
      const given = place === 'function' && !specifiers.words.has('extern') ? parenthesisedInit(ctx, declarator.functionNode) : null;
      if (given === null) {
        if (place !== 'function') declareFunction(ctx, node, null, specifiers, declarator, from, null);
        else if (declarator.nameNode !== null) functions.push(lastName(ctx, declarator.nameNode));
        continue;
      }
      const type = declarator.type.kind === 'function' ? declarator.type.returns : declarator.type;
      variables.push(declareVariable(ctx, node, declaratorNode, { ...declarator, type }, specifiers, space, place, (decl) => initByArguments(ctx, given, decl)));
      continue;
    }
    const valueNode = initNode === null ? defaultValue(node, declaratorNode) : fieldChild(initNode, 'value');
    if (declarator.bindingNode !== null) {
      variables.push(...declareBindings(ctx, declaratorNode, declarator.bindingNode, declarator.type, valueNode));
      continue;
    }
    const equals = initNode === null ? true : childOfType(initNode, '=') !== null;
    variables.push(declareVariable(ctx, node, declaratorNode, declarator, specifiers, space, place, (decl) => initialise(ctx, valueNode, equals, decl)));
  }
  return { kind: 'declare', span: ctx.span(node), variables, types: specifiers.declared, ...(functions.length === 0 ? {} : { brings: functions }) };
}

/** Does a declarator stand in parentheses, or have subscripts, before what reads as parameters? */
function nestsDeclarator(node: Cst): boolean {
  const inner = fieldChild(node, 'declarator');
  return inner?.type === 'parenthesized_declarator' || inner?.type === 'array_declarator';
}

/** The value of a field or of a condition's declaration stands beside the declarator. */
function defaultValue(node: Cst, declarator: Cst): Cst | null {
  const value = fieldChild(node, 'default_value') ?? fieldChild(node, 'value');
  return value !== null && value.start >= declarator.end ? value : null;
}

type Init = (decl: Mutable<VariableDecl>) => void;

function declareVariable(
  ctx: Lowering, node: Cst, declaratorNode: Cst, declarator: Declarator, specifiers: Specifiers, space: Space | null, place: Place, init: Init,
): VariableDecl {
  const { words } = specifiers;
  const isStatic = words.has('static');
  const isExtern = words.has('extern');
  const nameNode = declarator.nameNode;
  const bitfield = childOfType(node, 'bitfield_clause') !== null;
  const storage = place === 'record' ? (isStatic ? 'static' : 'member') : isExtern ? 'extern' : isStatic ? 'static' : place === 'namespace' ? 'namespace' : 'automatic';
  const decl: Mutable<VariableDecl> = {
    kind: 'variable',
    name: nameNode === null ? '' : lastName(ctx, nameNode),
    span: ctx.spanBetween(declaratorNode.start, declaratorNode.end),
    nameSpan: ctx.span(nameNode ?? declaratorNode),
    file: ctx.unit.file,
    // The value of a bit-field wraps at its own width, which no type here expresses.
    type: bitfield ? UNKNOWN : declarator.type,
    space: space ?? (place === 'function' ? (isStatic && ctx.fn !== null && deviceSide(ctx) ? 'device' : 'local') : place === 'namespace' ? 'host' : 'local'),
    storage,
    constexpr: words.has('constexpr'),
    dynamicShared: isExtern && space === 'shared',
    init: null,
    initStyle: 'none',
    opaqueInit: false,
  };
  if (words.has('mutable')) decl.mutable = true;
  ctx.declare(decl);
  init(decl);
  // What the parser's recovery left beside it may be a part of its type or of its value.
  if (place === 'function' && (holdsError(node) || holdsError(declaratorNode))) decl.opaqueInit = true;
  if (specifiers.auto) decl.type = decl.init === null ? decl.type : deduceAuto(decl.type, decl.init.type);
  if (place === 'function' && mayRefer(node) && decl.type.kind !== 'pointer' && decl.type.kind !== 'reference') {
    decl.type = { kind: 'reference', to: UNKNOWN };
    decl.opaqueInit = true;
  }
  if (place === 'namespace') ctx.unit.variables.push(decl);
  return decl;
}

function deviceSide(ctx: Lowering): boolean {
  const q = ctx.fn?.decl.qualifiers;
  return q !== undefined && (q.global || q.device);
}

function lastName(ctx: Lowering, node: Cst): string {
  return ctx.slice(node.type === 'qualified_identifier' ? qualifiedName(ctx, node).last : node);
}

function initialise(ctx: Lowering, value: Cst | null, equals: boolean, decl: Mutable<VariableDecl>): void {
  if (value === null || value.missing) return;
  if (includeIn(ctx, value.start, value.end)) {
    decl.initStyle = value.type === 'argument_list' ? 'paren' : equals ? 'equals' : 'brace';
    decl.init = ctx.opaque(value, 'an #include stands in the initialiser');
    decl.opaqueInit = true;
  } else if (value.type === 'argument_list') {
    initByArguments(ctx, value, decl);
  } else if (value.type === 'initializer_list') {
    decl.initStyle = equals ? 'equals' : 'brace';
    const target = stripReference(decl.type);
    const elements = namedChildren(value);
    const [only] = elements;
    if (only !== undefined && elements.length === 1 && only.type !== 'initializer_list' && (isArithmetic(target) || target.kind === 'pointer')) {
      decl.init = singleOperand(ctx, only, lowerExpression(ctx, only));
    } else {
      decl.init = rooted(ctx, value, (root) => lowerInitList(ctx, root, decl.type)) ?? ctx.opaque(value, 'ambiguous expression', decl.type);
    }
  } else {
    decl.initStyle = 'equals';
    decl.init = singleOperand(ctx, value, lowerExpression(ctx, value));
  }
}

/** `T x(a, b)`. */
function initByArguments(ctx: Lowering, list: Cst, decl: Mutable<VariableDecl>): void {
  decl.initStyle = 'paren';
  const args = rooted(ctx, list, (root) => lowerArguments(ctx, root)) ?? [ctx.opaque(list, 'ambiguous expression')];
  const [only] = args;
  const target = stripReference(decl.type);
  if (only !== undefined && args.length === 1 && (isArithmetic(target) || target.kind === 'pointer' || target.kind === 'dependent' || decl.type.kind === 'reference')) {
    decl.init = only;
    return;
  }
  decl.init = { kind: 'construct', style: 'paren', span: ctx.span(list), type: target, arguments: args };
}

/**
 * `T x(e);` reads as the declaration of a function. The arguments, parsed again as such, if the first one names no type; null if
 * a function is declared indeed.
 */
function parenthesisedInit(ctx: Lowering, functionNode: Cst): Cst | null {
  const list = fieldChild(functionNode, 'parameters');
  const [first] = list === null ? [] : namedChildren(list);
  if (list === null || first === undefined) return null;
  const typeNode = fieldChild(first, 'type');
  if (typeNode !== null) {
    if (typeNode.type === 'type_identifier') {
      if (namesType(ctx, ctx.slice(typeNode))) return null;
    } else if (typeNode.type !== 'qualified_identifier' && typeNode.type !== 'template_type') {
      return null;
    }
  }
  const call = ctx.unit.snippets.slice(ctx.text.slice(list.start, list.end), list.start, 'f', '');
  return call?.type === 'call_expression' ? fieldChild(call, 'arguments') : null;
}

/**
 * The type of the names of a structured binding: a name of `auto &[a, b] = x` is a part of x itself, one of `auto [a, b] = x` a part of a copy, which only
 * for arrays and plain structs is known to hold nothing that leads elsewhere.
 */
export function bindingType(declared: Type, bound: Type): Type {
  const value = stripReference(bound);
  const own = declared.kind !== 'reference' && isPlain(value, 0);
  return own ? UNKNOWN : { kind: 'reference', to: declared.kind === 'reference' && declared.to.const === true ? { ...UNKNOWN, const: true } : UNKNOWN };
}

function isPlain(type: Type, depth: number): boolean {
  switch (type.kind) {
    case 'bool': case 'int': case 'float': case 'pointer': case 'enum': return true;
    case 'array': return isPlain(type.of, depth);
    case 'record': return depth < 4 && type.decl.complete && type.decl.specialised !== true && type.decl.bases.length === 0
      && type.decl.fields.every((field) => field.storage !== 'member' || isPlain(field.type, depth + 1));
    default: return false;
  }
}

function declareBindings(ctx: Lowering, declaratorNode: Cst, bindingNode: Cst, declared: Type, valueNode: Cst | null): VariableDecl[] {
  const init = valueNode === null ? null : lowerExpression(ctx, valueNode);
  const type = bindingType(declared, init === null ? UNKNOWN : init.type);
  return namedChildren(bindingNode).map((child, i): VariableDecl => {
    const decl: VariableDecl = {
      kind: 'variable', name: ctx.slice(child), span: ctx.span(i === 0 ? declaratorNode : child), nameSpan: ctx.span(child), file: ctx.unit.file,
      type, space: 'local', storage: 'automatic', constexpr: false, dynamicShared: false, init: i === 0 ? init : null, initStyle: 'equals',
      opaqueInit: true,
    };
    ctx.declare(decl);
    return decl;
  });
}

/** A declaration statement, or the expression that tree-sitter took for one (`a * b;`). */
export function lowerDeclaration(ctx: Lowering, node: Cst): Stmt {
  if (beginsWithValue(ctx, node)) {
    const text = ctx.text.slice(node.start, node.end).replace(/;\s*$/, '');
    const parsed = ctx.unit.snippets.slice(text, node.start, '', '');
    if (parsed === null) return ctx.opaqueStmt(node, 'ambiguous statement');
    return { kind: 'expression', span: ctx.span(node), expression: lowerExpression(ctx, parsed) };
  }
  return declareVariables(ctx, node, previousEnd(ctx, node), 'function');
}

/** `flag && x < n && x >= 1`, which tree-sitter takes for `flag &&x<n && x> = 1`: what stands in the place of the type is a value. */
function beginsWithValue(ctx: Lowering, node: Cst): boolean {
  const typeNode = fieldChild(node, 'type');
  return typeNode?.type === 'type_identifier' && isValueName(ctx, ctx.slice(typeNode)) && namedChildren(node)[0] === typeNode;
}

/** Notes directly before a statement, with only blanks between, belong to it. */
function previousEnd(ctx: Lowering, node: Cst): number {
  let start = node.start;
  for (let i = ctx.noteIndex(node.start) - 1; i >= 0; i--) {
    const note = ctx.notes[i];
    if (note === undefined || note.span.end > start || (note.kind !== 'qualifier' && note.kind !== 'macro' && note.kind !== 'bounds')) break;
    if (ctx.text.slice(note.span.end, start).trim() !== '') break;
    start = note.span.start;
  }
  return start;
}

function isValueName(ctx: Lowering, name: string): boolean {
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  return found !== null && found.kind === 'value';
}

/** `if (T x = e)`, or the expression that tree-sitter took for that. */
export function lowerConditionDeclaration(ctx: Lowering, node: Cst): { readonly declaration: VariableDecl | null; readonly condition: Expr } {
  if (beginsWithValue(ctx, node)) {
    const parsed = ctx.unit.snippets.slice(ctx.text.slice(node.start, node.end), node.start, '', '');
    return { declaration: null, condition: parsed === null ? ctx.opaque(node, 'ambiguous condition') : lowerExpression(ctx, parsed) };
  }
  const { variables } = declareVariables(ctx, node, node.start, 'function');
  const [declaration] = variables;
  if (declaration === undefined || variables.length !== 1) return { declaration: null, condition: ctx.opaque(node, 'condition declaration') };
  return { declaration, condition: { kind: 'ref', span: declaration.nameSpan, type: stripReference(declaration.type), name: declaration.name, decl: declaration } };
}

function declareTypedef(ctx: Lowering, node: Cst, nameNode: Cst, type: Type): TypedefDecl {
  const decl: TypedefDecl = { kind: 'typedef', name: ctx.slice(nameNode), span: ctx.span(node), nameSpan: ctx.span(nameNode), file: ctx.unit.file, type };
  // `typedef struct { … } S;` gives the record its only name; `typedef struct S S;` adds nothing.
  if (!(type.kind === 'record' && type.decl.name === decl.name)) ctx.declare(decl);
  return decl;
}

export function lowerTypedef(ctx: Lowering, node: Cst): DeclareStmt['types'] {
  const specifiers = lowerSpecifiers(ctx, node);
  const types: DeclareStmt['types'][number][] = [...specifiers.declared];
  for (const declaratorNode of fieldChildren(node, 'declarator')) {
    const declarator = lowerDeclarator(ctx, specifiers.type, declaratorNode);
    if (declarator.nameNode === null) continue;
    const name = ctx.slice(declarator.nameNode);
    const [only] = specifiers.declared;
    if (only !== undefined && only.name === '' && declarator.type === specifiers.type) {
      (only as Mutable<typeof only>).name = name;
      ctx.declare(only);
      continue;
    }
    types.push(declareTypedef(ctx, node, declarator.nameNode, declarator.type));
  }
  return types;
}

export function lowerAlias(ctx: Lowering, node: Cst, template: readonly TemplateParameterDecl[] | null): TypedefDecl[] {
  const nameNode = fieldChild(node, 'name');
  const typeNode = fieldChild(node, 'type');
  if (nameNode === null || typeNode === null) return [];
  const decl: TypedefDecl = {
    kind: 'typedef', name: ctx.slice(nameNode), span: ctx.span(node), nameSpan: ctx.span(nameNode), file: ctx.unit.file, type: descriptorType(ctx, typeNode),
  };
  if (template !== null) setAliasParameters(decl, template);
  else ctx.declare(decl);
  return [decl];
}

/** `using namespace a::b;`, `using a::f;`, `namespace c = a::b;`: the names that it brings into scope, `'any'` where they cannot be listed. */
export function lowerUsing(ctx: Lowering, node: Cst): readonly string[] | 'any' {
  if (node.type === 'namespace_alias_definition') {
    const nameNode = fieldChild(node, 'name');
    const target = namedChildren(node).find((child) => child !== nameNode);
    const path = target === undefined ? null : pathOf(ctx, ctx.slice(target));
    if (nameNode === null) return 'any';
    const alias = ctx.slice(nameNode);
    const own = ctx.scope.path === '' ? '' : `${ctx.scope.path}::`;
    if (path !== null && ctx.scope.kind === 'namespace') ctx.unit.names.aliases.set(own + alias, path);
    else if (path !== null) ctx.scope.alias(alias, path);
    return [alias];
  }
  const [target, another] = namedChildren(node);
  if (target === undefined) return 'any';
  if (node.children.some((child) => child.type === 'namespace')) {
    const path = pathOf(ctx, ctx.slice(target));
    if (path !== null && !ctx.scope.usings.includes(path)) ctx.scope.use(path, ctx.span(node).start);
    return 'any';
  }
  if (target.type !== 'qualified_identifier') return 'any';
  const { prefix, last } = qualifiedName(ctx, target);
  const name = ctx.slice(last);
  const found = prefix.kind === 'namespace' ? ctx.unit.lookup.inNamespace(prefix.path, name) : prefix.kind === 'record' ? ctx.unit.lookup.member(prefix.record, name) : null;
  if (found?.kind === 'functions') for (const decl of found.decls) ctx.scope.declare(decl);
  else if (found !== null) ctx.scope.declare(found.decl);
  return another === undefined ? [name] : 'any';
}

function pathOf(ctx: Lowering, text: string): string | null {
  let path: string | null = null;
  for (const part of text.split('::').map((p) => p.trim()).filter((p) => p !== '')) {
    path = path === null ? ctx.unit.lookup.namespacePath(ctx.scope, part) : ctx.unit.lookup.child(path, part);
    if (path === null) return null;
  }
  return path;
}

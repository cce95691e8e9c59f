/** Types and declarators: from the concrete tree to `Type`. */
import { childOfType, fieldChild, fieldChildren, namedChildren, type Cst } from './cst.js';
import type { Lowering } from './context.js';
import { decltypeOf } from './decltype.js';
import { lowerExpression, templateArguments } from './lower-expression.js';
import { lowerParameters } from './lower-parameters.js';
import { lowerEnum } from './lower-enum.js';
import { lowerRecord } from './lower-record.js';
import type { MacroDefinition } from '../source/types.js';
import type { TypeDecl } from './scope.js';
import { memberScope } from './scope.js';
import type { DependentType, EnumDecl, ParameterDecl, RecordDecl, TemplateArgument, Type, TypedefDecl } from './tree.js';
import {
  UNKNOWN, bindings, dependentType, enumType, namedType, pointerTo, qualify, recordType, referenceTo, sizedType, stripReference, substitute, unknownType,
  unqualified,
} from './types.js';
import { vectorType } from './vector-types.js';

/** A type specifier with what stands around it in a declaration. */
export interface Specifiers {
  readonly type: Type;
  /** `auto`: the type comes from the initialiser. */
  readonly auto: boolean;
  readonly words: ReadonlySet<string>;
  /** Names of `[[…]]` attributes, the overlay's CUDA qualifiers among them. */
  readonly attributes: ReadonlySet<string>;
  /** Types that the specifier itself declares. */
  readonly declared: readonly (RecordDecl | EnumDecl)[];
}

const NONE_DECLARED: readonly (RecordDecl | EnumDecl)[] = [];

/** Most declarations have none: it is never added to. */
const NO_WORDS: ReadonlySet<string> = new Set();

/** Sets of one word of the language, `const` nearly always: each is made once. */
const SINGLE_WORDS = new Map<string, ReadonlySet<string>>();

function withWord(words: ReadonlySet<string>, word: string): ReadonlySet<string> {
  if (words !== NO_WORDS) return new Set([...words, word]);
  let made = SINGLE_WORDS.get(word);
  if (made === undefined) SINGLE_WORDS.set(word, made = new Set([word]));
  return made;
}

const MAX_KNOWN = 1000;
const knownAttributes = new Map<string, ReadonlySet<string>>();

/** The names in `[[…]]`; few spellings make up nearly all. */
function attributesIn(text: string): ReadonlySet<string> {
  const old = knownAttributes.get(text);
  if (old !== undefined) return old;
  if (knownAttributes.size >= MAX_KNOWN) knownAttributes.clear();
  const made = new Set(text.slice(2, -2).split(',').map((attribute) => attribute.replace(/\(.*/s, '').trim()));
  knownAttributes.set(text, made);
  return made;
}

/** Everything before the declarators of a declaration, parameter, field or function. */
export function lowerSpecifiers(ctx: Lowering, node: Cst): Specifiers {
  let words = NO_WORDS;
  let attributes = NO_WORDS;
  let declared: readonly (RecordDecl | EnumDecl)[] = NONE_DECLARED;
  let typeNode: Cst | null = null;
  for (const child of node.children) {
    if (child.field === 'type') typeNode = child;
    else if (child.type === 'storage_class_specifier' || child.type === 'type_qualifier') words = withWord(words, ctx.slice(child));
    else if (child.type === 'attribute_declaration') {
      const names = attributesIn(ctx.slice(child));
      attributes = attributes === NO_WORDS ? names : new Set([...attributes, ...names]);
    } else if (child.type === 'virtual') words = withWord(words, 'virtual');
    else if (child.type === 'explicit_function_specifier') words = withWord(words, 'explicit');
  }
  let type: Type = UNKNOWN;
  let auto = false;
  if (typeNode !== null) {
    const record = typeNode.type === 'struct_specifier' || typeNode.type === 'class_specifier' || typeNode.type === 'union_specifier';
    if (record) {
      const decl = lowerRecord(ctx, typeNode, null);
      if (decl !== null) {
        if (childOfType(typeNode, 'field_declaration_list') !== null) declared = [decl];
        type = recordType(decl);
      } else {
        type = unknownType(ctx.slice(typeNode));
      }
    } else if (typeNode.type === 'enum_specifier') {
      const decl = lowerEnum(ctx, typeNode);
      if (decl !== null) {
        if (childOfType(typeNode, 'enumerator_list') !== null) declared = [decl];
        type = enumType(decl);
      }
    } else {
      auto = typeNode.type === 'placeholder_type_specifier';
      type = lowerType(ctx, typeNode);
    }
  }
  if (typeNode?.type === 'type_identifier' && ctx.override === null && partsOfDeclarator(ctx, node, typeNode, words)) ctx.unit.macroUses.lose(typeNode.start);
  type = qualify(type, { const: words.has('const') || words.has('constexpr'), volatile: words.has('volatile') });
  return { type, auto, words, attributes, declared };
}

/** `PTR a, b;`, `const PTR p;` with `#define PTR int*`: the star belongs to the first name alone, and what stands before it to the int. */
function partsOfDeclarator(ctx: Lowering, node: Cst, typeNode: Cst, words: ReadonlySet<string>): boolean {
  const macro = ctx.unit.macros.get(ctx.slice(typeNode));
  if (macro === undefined || !/[*&\])]\s*(?:const\s*)?$/.test(macro.body)) return false;
  return words.has('const') || words.has('volatile') || fieldChildren(node, 'declarator').length > 1;
}

/** A type specifier by itself. */
export function lowerType(ctx: Lowering, node: Cst): Type {
  switch (node.type) {
    case 'primitive_type': return namedType(ctx.slice(node)) ?? unknownType(ctx.slice(node));
    case 'sized_type_specifier': return sizedType(wordsOf(ctx.slice(node))) ?? unknownType(ctx.slice(node));
    case 'type_identifier': case 'identifier': case 'namespace_identifier': case 'field_identifier': return typeByName(ctx, ctx.slice(node), node);
    case 'template_type': case 'template_function': return templateType(ctx, node);
    case 'qualified_identifier': return qualifiedType(ctx, node);
    case 'dependent_type': case 'dependent_name': {
      const inner = namedChildren(node)[0];
      const type = inner === undefined ? UNKNOWN : lowerType(ctx, inner);
      return type.kind === 'unknown' ? dependentType(null, ctx.slice(node)) : type;
    }
    case 'type_descriptor': return descriptorType(ctx, node);
    case 'placeholder_type_specifier': return unknownType('auto');
    case 'decltype': {
      const operand = namedChildren(node)[0];
      return operand === undefined ? UNKNOWN : decltypeOf(lowerExpression(ctx, operand), operand.type === 'parenthesized_expression');
    }
    case 'struct_specifier': case 'class_specifier': case 'union_specifier': {
      const decl = lowerRecord(ctx, node, null);
      return decl === null ? unknownType(ctx.slice(node)) : recordType(decl);
    }
    case 'enum_specifier': {
      const decl = lowerEnum(ctx, node);
      return decl === null ? unknownType(ctx.slice(node)) : enumType(decl);
    }
    default: return unknownType(ctx.slice(node));
  }
}

/** The words of a leaf, which may hold comments: `unsigned`, a comment, `int`. */
function wordsOf(text: string): readonly string[] {
  const bare = text.includes('/') ? text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, ' ') : text;
  return bare.split(/\s+/).filter((word) => word !== '');
}

/** The type that a name stands for where lowering stands, macros included; `at` is where the file's text has the name. */
export function typeByName(ctx: Lowering, name: string, at: Cst): Type {
  const found = ctx.unit.lookup.lookupType(ctx.scope, name);
  if (found !== null) return typeOfDecl(found);
  const macro = ctx.unit.macros.get(name);
  const inFile = ctx.override === null && ctx.expanding.length === 0;
  if (ctx.unit.doubts !== null && ctx.unit.doubts.macro(name) !== null) {
    if (inFile) ctx.unit.macroUses.take(at);
    return unknownType(name);
  }
  const type = macro === undefined ? null : macroType(ctx, macro);
  if (type !== null) {
    if (inFile) ctx.unit.macroUses.take(at);
    return type;
  }
  return (ctx.unit.lookup.mayBeOther(name) ? null : vectorType(name) ?? namedType(name)) ?? unknownType(name);
}

/** The type that a macro stands for; null if that is none. */
function macroType(ctx: Lowering, macro: MacroDefinition): Type | null {
  if (macro.parameters !== null || ctx.expanding.includes(macro.name) || ctx.expanding.length >= 32) return null;
  const parsed = ctx.unit.snippets.type(macro.body);
  if (parsed === null) return null;
  const outer = ctx.text;
  ctx.text = parsed.text;
  ctx.expanding.push(macro.name);
  try {
    return standsForValue(ctx, parsed.root) ? null : descriptorType(ctx, parsed.root);
  } finally {
    ctx.expanding.pop();
    ctx.text = outer;
  }
}

/** Is the name of the type one of a value, or of a macro that is no type? */
function standsForValue(ctx: Lowering, descriptor: Cst): boolean {
  const node = descriptor.type === 'type_descriptor' ? fieldChild(descriptor, 'type') : descriptor;
  if (node?.type !== 'type_identifier') return false;
  const name = ctx.slice(node);
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  if (found !== null) return found.kind !== 'type';
  const inner = ctx.unit.macros.get(name);
  return inner !== undefined && !ctx.expanding.includes(name) && macroType(ctx, inner) === null;
}

export function typeOfDecl(decl: TypeDecl): Type {
  switch (decl.kind) {
    case 'record': return recordType(decl);
    case 'enum': return enumType(decl);
    case 'typedef': return decl.type;
    case 'template-parameter': return dependentType(decl, decl.name);
  }
}

/** Whether a name means a type here (and no value hides it). */
export function namesType(ctx: Lowering, name: string): boolean {
  const found = ctx.unit.lookup.lookup(ctx.scope, name);
  if (found !== null) return found.kind === 'type';
  if (vectorType(name) !== null || namedType(name) !== null) return true;
  const macro = ctx.unit.macros.get(name);
  if (macro === undefined || ctx.expanding.includes(name)) return false;
  const type = ctx.unit.doubts?.macro(name) == null ? macroType(ctx, macro) : null;
  return type !== null && type.kind !== 'unknown';
}

/** Templates that are aliases: their parameters, for substitution. */
const aliasParameters = new WeakMap<TypedefDecl, NonNullable<RecordDecl['template']>>();

export function setAliasParameters(decl: TypedefDecl, parameters: NonNullable<RecordDecl['template']>): void {
  aliasParameters.set(decl, parameters);
}

function withArguments(type: Type, decl: TypeDecl | null, args: readonly TemplateArgument[], text: string): Type {
  if (decl === null) return type.kind === 'unknown' ? unknownType(text) : type;
  if (decl.kind === 'record') return recordType(decl, args);
  if (decl.kind === 'typedef') {
    const parameters = aliasParameters.get(decl);
    return parameters === undefined ? type : substitute(type, bindings(parameters, args));
  }
  return decl.kind === 'template-parameter' ? dependentType(decl, text) : type;
}

function templateType(ctx: Lowering, node: Cst): Type {
  const name = fieldChild(node, 'name');
  if (name === null) return unknownType(ctx.slice(node));
  const decl = ctx.unit.lookup.lookupType(ctx.scope, ctx.slice(name));
  const args = templateArguments(ctx, fieldChild(node, 'arguments'));
  return withArguments(decl === null ? UNKNOWN : typeOfDecl(decl), decl, args, ctx.slice(node));
}

/** What stands before `::`. */
export type Prefix =
  | { readonly kind: 'namespace'; readonly path: string }
  | { readonly kind: 'record'; readonly record: RecordDecl; readonly type: Type }
  | { readonly kind: 'enum'; readonly decl: EnumDecl }
  /** Null: a member of a dependent type, which is not known to be a type. */
  | { readonly kind: 'dependent'; readonly type: DependentType | null }
  | { readonly kind: 'unknown' };

/** A qualified name taken apart: what it is looked up in, and the last name's node. */
export function qualifiedName(ctx: Lowering, node: Cst): { readonly prefix: Prefix; readonly last: Cst; readonly scopes: readonly string[] } {
  let prefix: Prefix | null = null;
  let current = node;
  const scopes: string[] = [];
  while (current.type === 'qualified_identifier') {
    const scope = fieldChild(current, 'scope');
    const name = fieldChild(current, 'name');
    prefix = scope === null ? prefix ?? { kind: 'namespace', path: '' } : nextPrefix(ctx, prefix, scope);
    if (scope !== null) scopes.push(ctx.slice(scope));
    if (name === null) break;
    current = name;
  }
  return { prefix: prefix ?? { kind: 'unknown' }, last: current, scopes };
}

function nextPrefix(ctx: Lowering, prefix: Prefix | null, scope: Cst): Prefix {
  const nameNode = scope.type === 'template_type' ? fieldChild(scope, 'name') ?? scope : scope;
  const name = ctx.slice(nameNode);
  if (prefix === null || prefix.kind === 'namespace') {
    const path = prefix === null ? ctx.unit.lookup.namespacePath(ctx.scope, name) : ctx.unit.lookup.child(prefix.path, name);
    if (path !== null) return { kind: 'namespace', path };
  }
  if (prefix !== null && prefix.kind !== 'namespace' && prefix.kind !== 'record') return prefix.kind === 'dependent' ? { kind: 'dependent', type: null } : { kind: 'unknown' };
  let type: Type;
  if (prefix === null) {
    type = scope.type === 'template_type' ? templateType(ctx, scope) : typeByName(ctx, name, nameNode);
  } else {
    const decl = memberType(ctx, prefix, name);
    type = decl === null ? UNKNOWN : typeOfDecl(decl);
  }
  if (type.kind === 'record') return { kind: 'record', record: type.decl, type };
  if (type.kind === 'enum') return { kind: 'enum', decl: type.decl };
  if (type.kind === 'dependent') return { kind: 'dependent', type };
  return { kind: 'unknown' };
}

function memberType(ctx: Lowering, prefix: Prefix, name: string): TypeDecl | null {
  if (prefix.kind === 'namespace') {
    const found = ctx.unit.lookup.inNamespace(prefix.path, name);
    return found?.kind === 'type' ? found.decl : null;
  }
  if (prefix.kind === 'record') {
    // Which of a template's specialisations an instance is, is not decided here.
    const found = prefix.record.specialised === true ? undefined : memberScope(prefix.record)?.types.get(name);
    return found ?? null;
  }
  return null;
}

function hangsOnParameter(argument: TemplateArgument): boolean {
  if (argument.kind === 'value') return argument.value.kind !== 'literal';
  const { type } = argument;
  return type.kind === 'dependent' || (type.kind === 'pointer' && hangsOnParameter({ kind: 'type', type: type.to }));
}

function qualifiedType(ctx: Lowering, node: Cst): Type {
  const { prefix, last, scopes } = qualifiedName(ctx, node);
  const nameNode = last.type === 'template_type' || last.type === 'template_function' ? fieldChild(last, 'name') ?? last : last;
  const name = ctx.slice(nameNode);
  const decl = memberType(ctx, prefix, name);
  if (decl !== null) {
    const type = typeOfDecl(decl);
    const args = last === nameNode ? null : templateArguments(ctx, fieldChild(last, 'arguments'));
    const made = args === null ? type : withArguments(type, decl, args, ctx.slice(node));
    if (prefix.kind === 'record' && prefix.type.kind === 'record' && prefix.type.templateArguments !== undefined && prefix.record.template !== null) {
      return substitute(made, bindings(prefix.record.template, prefix.type.templateArguments));
    }
    return made;
  }
  if (prefix.kind === 'record' && prefix.record.specialised === true && prefix.type.kind === 'record' && prefix.type.templateArguments?.some(hangsOnParameter) === true) return dependentType(null, ctx.slice(node));
  if (prefix.kind === 'dependent') {
    const made: DependentType = { kind: 'dependent', decl: null, text: ctx.slice(node) };
    return prefix.type === null || last !== nameNode ? made : { ...made, member: { of: prefix.type, name } };
  }
  // <cstdint> puts its names into `std` as well.
  const standard = scopes.join('::');
  if (standard === 'std' || standard === '' || standard === 'cuda::std') {
    const type = namedType(name) ?? (standard === '' ? vectorType(name) : null);
    if (type !== null) return type;
  }
  return unknownType(ctx.slice(node));
}

/** A type-id: specifier and abstract declarator. */
export function descriptorType(ctx: Lowering, node: Cst): Type {
  if (node.type !== 'type_descriptor' && node.type !== 'operator_cast') return lowerType(ctx, node);
  const { type } = lowerSpecifiers(ctx, node);
  const declarator = fieldChild(node, 'declarator');
  return declarator === null ? type : lowerDeclarator(ctx, type, declarator).type;
}

export interface Declarator {
  readonly type: Type;
  /** Null for an abstract declarator. */
  readonly nameNode: Cst | null;
  /** The function declarator that stands directly around the name. */
  readonly functionNode: Cst | null;
  readonly parameters: readonly ParameterDecl[];
  /** `[a, b]`. */
  readonly bindingNode: Cst | null;
  readonly pack: boolean;
}

const NAME_TYPES = new Set([
  'identifier', 'field_identifier', 'type_identifier', 'qualified_identifier', 'template_function', 'template_method', 'operator_name', 'destructor_name',
  'operator_cast', 'primitive_type',
]);

/** Applies a declarator to the type of its specifiers, outside in. */
export function lowerDeclarator(ctx: Lowering, base: Type, declarator: Cst): Declarator {
  let type = base;
  let node: Cst | null = declarator;
  let functionNode: Cst | null = null;
  let parameters: readonly ParameterDecl[] = [];
  let pack = false;
  let guard = 0;
  while (node !== null && guard++ < 1000) {
    if (NAME_TYPES.has(node.type)) return { type, nameNode: node, functionNode, parameters, bindingNode: null, pack };
    let next: Cst | null = fieldChild(node, 'declarator');
    switch (node.type) {
      case 'pointer_declarator': case 'abstract_pointer_declarator': case 'pointer_type_declarator':
        type = pointerQualifiers(ctx, node, pointerTo(type));
        functionNode = null;
        break;
      case 'reference_declarator': case 'abstract_reference_declarator':
        type = referenceTo(type, node.children[0]?.type === '&&');
        next = namedChildren(node)[0] ?? null;
        functionNode = null;
        break;
      case 'array_declarator': case 'abstract_array_declarator': {
        const size = fieldChild(node, 'size');
        type = { kind: 'array', of: type, length: size === null ? null : lowerExpression(ctx, size) };
        functionNode = null;
        break;
      }
      case 'function_declarator': case 'abstract_function_declarator': {
        const list = fieldChild(node, 'parameters');
        functionNode = node;
        const trailing = childOfType(node, 'trailing_return_type');
        const returned = trailing === null ? null : namedChildren(trailing)[0];
        if (returned !== null && returned !== undefined) type = descriptorType(ctx, returned);
        parameters = list === null ? [] : lowerParameters(ctx, list);
        type = { kind: 'function', returns: type, parameters: parameters.map((p) => p.type) };
        break;
      }
      case 'parenthesized_declarator': case 'abstract_parenthesized_declarator': case 'attributed_declarator':
        next = namedChildren(node).find((child) => child.type !== 'ms_call_modifier' && child.type !== 'attribute_declaration') ?? null;
        break;
      case 'variadic_declarator':
        pack = true;
        next = namedChildren(node)[0] ?? null;
        break;
      case 'init_declarator':
        break;
      case 'structured_binding_declarator':
        return { type, nameNode: null, functionNode: null, parameters, bindingNode: node, pack };
      default:
        next = null;
    }
    node = next;
  }
  return { type, nameNode: null, functionNode, parameters, bindingNode: null, pack };
}

function pointerQualifiers(ctx: Lowering, node: Cst, pointer: Type): Type {
  let type = pointer;
  for (const child of node.children) {
    if (child.type !== 'type_qualifier') continue;
    const word = ctx.slice(child);
    if (word === 'const' || word === 'volatile') type = qualify(type, { [word]: true });
    else if (type.kind === 'pointer' && (word === '__restrict__' || word === '__restrict' || word === 'restrict')) type = { ...type, restrict: true };
  }
  if (type.kind === 'pointer' && type.restrict !== true) {
    // A project's own spelling of `__restrict__` was blanked by the overlay.
    const inner = fieldChild(node, 'declarator');
    const end = inner?.start ?? node.end;
    for (const note of ctx.notesBetween(node.start, end)) {
      if (note.kind === 'macro' && note.standsFor.some((meaning) => /^(__)?restrict(__)?$/.test(meaning.name))) type = { ...type, restrict: true };
    }
  }
  return type;
}

/** The type of a variable declared `auto` (with the declarator's pointer or reference already applied) from its initialiser. */
export function deduceAuto(declared: Type, init: Type): Type {
  const value = unqualified(stripReference(init));
  switch (declared.kind) {
    case 'unknown': return qualify(value.kind === 'array' ? pointerTo(value.of) : value, { const: declared.const ?? false, volatile: declared.volatile ?? false });
    case 'pointer': return value.kind === 'pointer' ? { ...declared, to: deduceAuto(declared.to, value.to) } : declared;
    case 'reference': {
      const referred = stripReference(init);
      if (declared.to.kind !== 'unknown') return { ...declared, to: deduceAuto(declared.to, referred) };
      return { ...declared, to: qualify(referred, { const: declared.to.const ?? false }) };
    }
    default: return declared;
  }
}

/** A type specifier that stands alone as a statement (`struct S { … };`): the types it declares. */
export function typesOnly(ctx: Lowering, node: Cst): (RecordDecl | EnumDecl)[] {
  const decl = node.type === 'enum_specifier' ? lowerEnum(ctx, node) : lowerRecord(ctx, node, null);
  return decl === null ? [] : [decl];
}

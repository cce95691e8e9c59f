/** What the copy of a syntax tree must know about the grammar's node types: leaves, implied punctuation, fields, how a node ends. */
import type { TreeCursor } from './parser.js';

export interface TypeInfo {
  readonly name: string;
  readonly named: boolean;
  /** Its children are never looked at. */
  readonly leaf: boolean;
  /** Left out of the copy. */
  readonly skip: boolean;
  /** Read as text, never by its children; looked into only if the file holds errors. */
  readonly textual: boolean;
  /** Punctuation that the node's span implies. */
  readonly implied: ReadonlySet<string> | null;
  /** Its children stand in no fields. */
  readonly plain: boolean;
  /** Its first child is this token, which its span implies. */
  readonly opener: string | null;
  /** Its last child is this token, a single character. */
  readonly closer: string | null;
  /** That character; -1 without one. */
  readonly closerCode: number;
  /** A leaf that is a run of letters, digits and `_`. */
  readonly word: boolean;
  /** The tree does not show all of its tokens, or not by their spelling: positions in it are asked for. */
  readonly hidesTokens: boolean;
  /** Whether to copy it depends on its span. */
  readonly optional: boolean;
  /** Fields of all its children, in order, if their number is fixed. */
  readonly shape: readonly (string | null)[] | null;
}

export const ERROR_TYPE = 65535;

/** Leaves whose text is a word (if it holds anything else, the parser is asked for its end). */
const WORDS = new Set([
  'identifier', 'field_identifier', 'type_identifier', 'namespace_identifier', 'statement_identifier', 'primitive_type', 'true', 'false', 'this', 'auto',
]);

const LEAVES = new Set([
  ...WORDS,
  'number_literal', 'comment', 'preproc_arg', 'preproc_directive', 'string_content',
  'escape_sequence', 'character', 'raw_string_content', 'raw_string_delimiter', 'literal_suffix', 'system_lib_string',
  // What stands in these is read from the source room's tables, not from the tree.
  'preproc_def', 'preproc_function_def', 'preproc_call',
]);

const TEXTUAL = new Set([
  'break_statement', 'continue_statement', 'storage_class_specifier', 'type_qualifier', 'string_literal', 'char_literal', 'attribute_declaration',
  'preproc_include', 'gnu_asm_qualifier', 'sized_type_specifier', 'user_defined_literal',
]);

/** Left out unless the file holds errors (it may be missing then). */
const IMPLIED: Record<string, ReadonlySet<string>> = Object.fromEntries(Object.entries({
  argument_list: '( )', parameter_list: '( )', parenthesized_expression: '( )', condition_clause: '( )', subscript_argument_list: '[ ]',
  compound_statement: '{ }', initializer_list: '{ }', declaration_list: '{ }', field_declaration_list: '{ }', translation_unit: ';',
  declaration: ';', field_declaration: ';', return_statement: 'return ;', template_argument_list: '< >', template_parameter_list: '< >',
  if_statement: 'if', while_statement: 'while', template_declaration: 'template', array_declarator: '[ ]', conditional_expression: '? :',
}).map(([parent, tokens]) => [parent, new Set(tokens.split(' '))]));

const PLAIN = new Set([
  'translation_unit', 'compound_statement', 'declaration_list', 'field_declaration_list', 'argument_list', 'parameter_list', 'template_argument_list',
  'template_parameter_list', 'subscript_argument_list', 'parenthesized_expression', 'expression_statement', 'initializer_list', 'return_statement',
  'else_clause', 'type_qualifier', 'storage_class_specifier', 'string_literal', 'char_literal', 'enumerator_list', 'attribute_declaration',
]);

/** Parents whose last child is their closing token: no other child begins with it. */
const CLOSED_BY: Record<string, string> = {
  argument_list: ')', parameter_list: ')', parenthesized_expression: ')', condition_clause: ')', subscript_argument_list: ']', compound_statement: '}',
  expression_statement: ';', declaration: ';', return_statement: ';', break_statement: ';', continue_statement: ';', initializer_list: '}',
  declaration_list: '}', field_declaration_list: '}', field_declaration: ';', enumerator_list: '}', template_argument_list: '>', template_parameter_list: '>',
};

const OPENED_BY: Record<string, string> = {
  argument_list: '(', parameter_list: '(', parenthesized_expression: '(', condition_clause: '(', subscript_argument_list: '[', compound_statement: '{',
  initializer_list: '{', declaration_list: '{', field_declaration_list: '{', template_argument_list: '<', template_parameter_list: '<',
  return_statement: 'return', if_statement: 'if', while_statement: 'while', template_declaration: 'template',
};

/** Operators have a field too, but only that of a named child is ever asked for. */
const SHAPES: Record<string, readonly (string | null)[]> = {
  binary_expression: ['left', null, 'right'], assignment_expression: ['left', null, 'right'], call_expression: ['function', 'arguments'],
  subscript_expression: ['argument', 'indices'], field_expression: ['argument', null, 'field'], cast_expression: [null, 'type', null, 'value'],
  unary_expression: [null, 'argument'], pointer_expression: [null, 'argument'], template_function: ['name', 'arguments'],
};

/** A `0` and the ends of lines are tokens that the tree does not show; parts of raw strings may be empty. */
function hidesTokens(name: string): boolean {
  return name === 'pure_virtual_clause' || name === 'raw_string_literal' || name.startsWith('preproc_') || name.startsWith('#');
}

/** Of closing tokens that are known by their character alone. */
export const CLOSER: TypeInfo = {
  name: 'closer', named: false, leaf: true, skip: false, textual: false, implied: null, plain: false, opener: null, closer: null, closerCode: -1, word: false,
  hidesTokens: false, optional: false, shape: null,
};

/** By the parser's numbers, which are small but for that of errors. */
const typeInfos: (TypeInfo | undefined)[] = [];
let errorInfo: TypeInfo | undefined;
const fieldNames: (string | null | undefined)[] = [];

/** About the node that the cursor stands on; `id` is its type's number. */
export function infoOf(cursor: TreeCursor, id: number): TypeInfo {
  const known = id === ERROR_TYPE ? errorInfo : typeInfos[id];
  if (known !== undefined) return known;
  const name = id === ERROR_TYPE ? 'ERROR' : cursor.nodeType;
  const named = cursor.nodeIsNamed;
  const info: TypeInfo = {
    name, named, leaf: !named || LEAVES.has(name), skip: name === ',' || name === 'comment', textual: TEXTUAL.has(name), implied: IMPLIED[name] ?? null,
    plain: PLAIN.has(name), opener: named ? OPENED_BY[name] ?? null : null, closer: CLOSED_BY[name] ?? null, closerCode: CLOSED_BY[name]?.charCodeAt(0) ?? -1, word: WORDS.has(name), hidesTokens: hidesTokens(name),
    optional: name === 'compound_statement' || name === 'initializer_list', shape: named ? SHAPES[name] ?? null : null,
  };
  if (id !== ERROR_TYPE) typeInfos[id] = info;
  else errorInfo = info;
  return info;
}

/** The field that the cursor's node stands in. */
export function fieldOf(cursor: TreeCursor): string | null {
  const id = cursor.currentFieldId;
  if (id === 0) return null;
  const known = fieldNames[id];
  if (known !== undefined) return known;
  const name = cursor.currentFieldName ?? null;
  fieldNames[id] = name;
  return name;
}

/**
 * The concrete syntax tree as plain objects, copied from a tree-sitter cursor in one walk.
 *
 * Crossing into the parser costs about 0.1 µs a call, so the walk asks for as little as it can: punctuation has the length of its
 * spelling, leaves are known by their type, and bodies that nobody asked for stay unexpanded until `expand` is called.
 */
import type { CppParser, TreeCursor } from './parser.js';

export interface Cst {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly field: string | null;
  readonly named: boolean;
  /** Inserted by the parser's error recovery; zero wide. */
  readonly missing: boolean;
  /** An ERROR or missing node lies in here (only known for what is expanded). */
  error: boolean;
  /** Commas and comments are left out, and punctuation that the span of the node implies. Empty if not expanded. */
  children: readonly Cst[];
  /** -1 if the children are there; else the place to find them at. */
  pending: number;
}

/** Whether the subtree that begins here should be copied now. `parent` is the node it stands in. */
export type Wanted = (type: string, start: number, end: number, parentType: string, parentStart: number) => boolean;

export interface CstTree {
  readonly root: Cst;
  readonly hasError: boolean;
  /** Fills in the children of a node that was left unexpanded. */
  expand(node: Cst): void;
  release(): void;
}

interface TypeInfo {
  readonly name: string;
  readonly named: boolean;
  readonly leaf: boolean;
  readonly skip: boolean;
  readonly textual: boolean;
  readonly implied: ReadonlySet<string> | null;
  /** Its children stand in no fields. */
  readonly plain: boolean;
  /** Its last child is this token. */
  readonly closer: string | null;
}

const ERROR_TYPE = 65535;

const LEAVES = new Set([
  'identifier', 'field_identifier', 'type_identifier', 'namespace_identifier', 'statement_identifier', 'primitive_type',
  'number_literal', 'comment', 'true', 'false', 'this', 'auto', 'preproc_arg', 'preproc_directive', 'string_content',
  'escape_sequence', 'character', 'raw_string_content', 'raw_string_delimiter', 'literal_suffix', 'system_lib_string',
  // What stands in these is read from the source room's tables, not from the tree.
  'preproc_def', 'preproc_function_def', 'preproc_call',
]);

/** Read as text, never by their children; looked into only if the file holds errors. */
const TEXTUAL = new Set([
  'break_statement', 'continue_statement', 'storage_class_specifier', 'type_qualifier', 'string_literal', 'char_literal', 'attribute_declaration',
  'preproc_include', 'gnu_asm_qualifier', 'sized_type_specifier', 'user_defined_literal',
]);

/** Punctuation that its parent's span implies. It is left out unless the file holds errors (it may be missing then). */
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

/** By the parser's numbers, which are small but for that of errors. */
const typeInfos: (TypeInfo | undefined)[] = [];
let errorInfo: TypeInfo | undefined;
const fieldNames: (string | null | undefined)[] = [];

function infoOf(cursor: TreeCursor, id: number): TypeInfo {
  const known = id === ERROR_TYPE ? errorInfo : typeInfos[id];
  if (known !== undefined) return known;
  const name = id === ERROR_TYPE ? 'ERROR' : cursor.nodeType;
  const named = cursor.nodeIsNamed;
  const info = { name, named, leaf: !named || LEAVES.has(name), skip: name === ',' || name === 'comment', textual: TEXTUAL.has(name), implied: IMPLIED[name] ?? null, plain: PLAIN.has(name), closer: CLOSED_BY[name] ?? null };
  if (id !== ERROR_TYPE) typeInfos[id] = info;
  else errorInfo = info;
  return info;
}

function fieldOf(cursor: TreeCursor): string | null {
  const id = cursor.currentFieldId;
  if (id === 0) return null;
  const known = fieldNames[id];
  if (known !== undefined) return known;
  const name = cursor.currentFieldName ?? null;
  fieldNames[id] = name;
  return name;
}

interface OpenNode extends Cst { children: Cst[]; readonly info: TypeInfo }

const NONE: Cst[] = [];

/** Parents whose last child is their closing token, so that asking for one more sibling can be saved. */
const CLOSED_BY: Record<string, string> = {
  argument_list: ')', parameter_list: ')', parenthesized_expression: ')', condition_clause: ')', subscript_argument_list: ']', compound_statement: '}',
  expression_statement: ';', declaration: ';', return_statement: ';', break_statement: ';', continue_statement: ';', initializer_list: '}',
};

/** Copies the node the cursor stands on. Iterative: a tree may be tens of thousands of levels deep. */
function copy(cursor: TreeCursor, delta: number, hasError: boolean, wanted: Wanted): Cst {
  const stack: OpenNode[] = [];
  let parent: OpenNode | undefined;
  // A node begins where its first child begins.
  let firstStart = -1;
  for (;;) {
    const id = cursor.nodeTypeId;
    const info = infoOf(cursor, id);
    const { name, named } = info;
    const leaf = info.leaf || (info.textual && !hasError);
    let closes = false;
    let opened: OpenNode | null = null;
    if (!named && !hasError && parent?.info.implied?.has(name) === true) {
      if (parent.info.closer === name) closes = true;
    } else if (!info.skip) {
      const start = firstStart >= 0 ? firstStart : cursor.startIndex + delta;
      const missing = hasError && cursor.nodeIsMissing;
      const end = missing ? start : named ? cursor.endIndex + delta : start + name.length;
      const node: OpenNode = {
        type: name, start, end, field: named && parent !== undefined && !parent.info.plain ? fieldOf(cursor) : null, named, missing,
        error: missing || id === ERROR_TYPE, children: leaf ? NONE : [], pending: -1, info,
      };
      if (parent !== undefined) {
        parent.children.push(node);
        if (node.error) parent.error = true;
        if (!named && !hasError && parent.info.closer === name) closes = true;
      }
      if (!leaf) {
        if (parent === undefined || wanted(name, start, end, parent.type, parent.start)) opened = node;
        else node.pending = cursor.currentDescendantIndex;
      } else if (parent === undefined) {
        return node;
      }
    }
    if (opened !== null) {
      if (cursor.gotoFirstChild()) {
        stack.push(opened);
        parent = opened;
        firstStart = hasError ? -1 : opened.start;
        continue;
      }
      if (parent === undefined) return opened;
    }
    firstStart = -1;
    while (closes || !cursor.gotoNextSibling()) {
      closes = false;
      const closed = stack.pop();
      if (closed === undefined) throw new Error('internal: the walk lost its root');
      cursor.gotoParent();
      parent = stack[stack.length - 1];
      if (parent === undefined) return closed;
      if (closed.error) parent.error = true;
    }
  }
}

/** Everything is wanted. */
export const everything: Wanted = () => true;

/**
 * Parses a text and copies its tree, leaving out subtrees that are not `wanted`. Offsets are shifted by `delta`, so a slice of a
 * file may be parsed by itself and keep the file's offsets.
 */
export function parseCst(parser: CppParser, text: string, wanted: Wanted = everything, delta = 0): CstTree {
  const parsed = parser.parse(text);
  const { cursor, hasError } = parsed;
  const root = copy(cursor, delta, hasError, wanted);
  let released = false;
  return {
    root,
    hasError,
    expand(node) {
      if (node.pending < 0) return;
      if (released) throw new Error('internal: a released tree cannot be expanded');
      cursor.gotoDescendant(node.pending);
      // A cursor that stands inside the tree must not climb past the node it started from: copy() counts its own levels.
      const full = copy(cursor, delta, hasError, everything);
      node.children = full.children;
      node.error = node.error || full.error;
      node.pending = -1;
    },
    release() {
      if (released) return;
      released = true;
      parsed.release();
    },
  };
}

/** The child in a field, or null. */
export function fieldChild(node: Cst, field: string): Cst | null {
  for (const child of node.children) if (child.field === field) return child;
  return null;
}

/** All children in a field. */
export function fieldChildren(node: Cst, field: string): Cst[] {
  return node.children.filter((child) => child.field === field);
}

/** Named children (punctuation and keywords left out). */
export function namedChildren(node: Cst): Cst[] {
  return node.children.filter((child) => child.named);
}

/** The first child of a type, or null. */
export function childOfType(node: Cst, type: string): Cst | null {
  for (const child of node.children) if (child.type === type) return child;
  return null;
}

/**
 * A comparison of a loop's body as the head of the loop can say it: what the body declares is replaced by what it is made of.
 *
 *     for (int k = 0; k < n; k += T) { int i = k + tx; if (i < n) …      `i < n`   →   `k + tx < n`
 *
 * The value is that of the comparison in the body, bit for bit: initialisers are converted to the types of their variables.
 */
import { isStmt, walk } from '../../src/analysis/children.js';
import { commonType, INT32, promote, type IntegerType } from '../../src/cuda/integers.js';
import type { Expr, VariableDecl } from '../../src/syntax/tree.js';
import { typeName } from '../lib/guards/cpp.js';
import { integerType } from '../lib/guards/reading.js';
import type { Comparison, ComparisonOperator } from '../lib/guards/guards.js';
import { isRepeatable, type PeelableLoop } from '../lib/guards/tested-loop.js';
import type { Written } from '../lib/names-resolve.js';
import { commentsIn, joinLines, oneLine, textOf } from '../lib/text.js';
import type { TransformContext } from '../lib/types.js';

export interface HeadText {
  readonly text: string;
  /** What the text is made of. */
  readonly written: readonly Written[];
}

/** Characters of a side: longer ones are better read where they stand. */
const LONGEST_SIDE = 60;

const NEGATED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<', '==': '!=', '!=': '==' };

/**
 * The comparison, or (`holds` false) its opposite; null if the head cannot say it. `signed`: in `int`, block sizes and thread numbers converted,
 * which is the value that is meant where no sum leaves its type; null also if that is not what the sides are made of.
 */
export function headText(context: TransformContext, loop: PeelableLoop, comparison: Comparison, holds: boolean, signed = false): HeadText | null {
  const left = sideText({ context, loop, signed }, comparison.left);
  const right = sideText({ context, loop, signed }, comparison.right);
  if (left === null || right === null) return null;
  const said = holds ? comparison.op : NEGATED[comparison.op];
  const between = context.unit.source.text.slice(comparison.left.span.end, comparison.right.span.start);
  const spaced = between === comparison.op ? said : ` ${said} `;
  return { text: `${left.text}${spaced}${right.text}`, written: [...left.written, ...right.written] };
}

interface Setting { readonly context: TransformContext; readonly loop: PeelableLoop; readonly signed: boolean }

function sideText(setting: Setting, expr: Expr): HeadText | null {
  const side = rendered(setting, expr, []);
  if (side === null || side.text.length > LONGEST_SIDE || (setting.signed && !isInt(side.type))) return null;
  // What stands there as it stood keeps its place; sums, products and shifts bind tighter than a comparison.
  return side.as === 'loose' ? { ...side, text: `(${side.text})` } : side;
}

/** How the text binds: by itself, tighter than a comparison, or not known to. */
interface Rendered extends HeadText { readonly as: 'primary' | 'tight' | 'loose'; readonly type: IntegerType | null }

function rendered(setting: Setting, expr: Expr, within: readonly VariableDecl[]): Rendered | null {
  const { source } = setting.context.unit;
  if (commentsIn(source, expr.span).length > 0) return null;
  if (!namesLocal(setting.loop, expr) && !(setting.signed && holdsCoordinate(expr))) {
    const text = oneLine(source, expr.span);
    const type = integerType(expr.type);
    return { text, written: [{ kind: 'copied', node: expr }], as: within.length === 0 ? 'tight' : bindingOf(expr), type: type === null ? null : promote(type) };
  }
  switch (expr.kind) {
    case 'ref': return expr.decl?.kind === 'variable' ? initialiser(setting, expr.decl, within) : null;
    case 'coordinate': return SMALL.has(expr.base) ? { text: `(int)${textOf(source, expr.span)}`, written: [{ kind: 'copied', node: expr }], as: 'tight', type: INT32 } : null;
    case 'paren': return pieced(setting, expr, [expr.inner], within);
    case 'unary': return expr.op === '-' || expr.op === '+' ? pieced(setting, expr, [expr.operand], within) : null;
    case 'binary': return pieced(setting, expr, [expr.left, expr.right], within);
    // The tree keeps no text of types: those without a name need none.
    case 'cast':
      // A conversion to `int` that stands there already is the one that is meant.
      if (setting.signed && expr.operand.kind === 'coordinate' && SMALL.has(expr.operand.base) && isInt(integerType(expr.type))) {
        return { text: oneLine(source, expr.span), written: [{ kind: 'copied', node: expr }], as: 'tight', type: INT32 };
      }
      return expr.style === 'c' && BUILT_IN.test(source.text.slice(expr.span.start, expr.operand.span.start)) ? pieced(setting, expr, [expr.operand], within) : null;
    // Names in the text of a macro cannot be replaced; nothing else is a part of what a guard compares.
    default: return null;
  }
}

const BUILT_IN = /^\(\s*(?:(?:unsigned|signed|int|long)\s*)+\)\s*$/;

/** Numbers that any `int` holds. */
const SMALL: ReadonlySet<string> = new Set(['threadIdx', 'blockDim', 'warpSize']);

function isInt(type: IntegerType | null): boolean {
  return type !== null && type.bits === 32 && type.signed;
}

/** The text of `expr` with its parts written anew. */
function pieced(setting: Setting, expr: Expr, parts: readonly Expr[], within: readonly VariableDecl[]): Rendered | null {
  const { text } = setting.context.unit.source;
  const written: Written[] = [];
  let type: IntegerType | null = null;
  let result = '';
  let at = expr.span.start;
  for (const part of parts) {
    const piece = rendered(setting, part, within);
    if (piece === null) return null;
    const bare = piece.as === 'primary' || expr.kind === 'paren' || !isReplaced(setting.loop, part);
    result += text.slice(at, part.span.start) + (bare ? piece.text : `(${piece.text})`);
    at = part.span.end;
    written.push(...piece.written);
    type = type === null || piece.type === null ? piece.type : commonType(type, piece.type);
  }
  // A conversion to another type than `int` is not looked through where all is to be one.
  const own = expr.kind === 'cast' ? integerType(expr.type) : type;
  return { text: joinLines(result + text.slice(at, expr.span.end)), written, as: bindingOf(expr), type: own };
}

/** The part is a name that something else stands for. */
function isReplaced(loop: PeelableLoop, part: Expr): boolean {
  return part.kind === 'ref' && namesLocal(loop, part);
}

/** What a variable of the body is made of, in its own type. */
function initialiser(setting: Setting, decl: VariableDecl, within: readonly VariableDecl[]): Rendered | null {
  const { context: { facts }, loop, signed } = setting;
  const { init } = decl;
  if (init === null || decl.opaqueInit || within.includes(decl) || decl.storage !== 'automatic' || facts.addressTaken(decl)) return null;
  if (!facts.assignments(decl, loop).every((definition) => definition.kind === 'declaration') || !isRepeatable(facts, init)) return null;
  const [to, from] = [integerType(decl.type), integerType(init.type)];
  if (to === null || from === null || to.bits < 32) return null;
  const value = rendered(setting, init, [...within, decl]);
  // In sums that stay in their types an `unsigned` holds what the `int` does.
  if (signed) return value === null || to.bits !== 32 || !isInt(value.type) ? null : value;
  if (value === null || (to.bits === from.bits && to.signed === from.signed)) return value;
  return { text: `(${typeName(to)})${value.as === 'primary' ? value.text : `(${value.text})`}`, written: value.written, as: 'tight', type: to };
}

function bindingOf(expr: Expr): Rendered['as'] {
  switch (expr.kind) {
    case 'paren': case 'ref': case 'literal': case 'coordinate': case 'member': case 'index': case 'call': return 'primary';
    case 'unary': case 'cast': return 'tight';
    case 'binary': return ['+', '-', '*', '/', '%', '<<', '>>'].includes(expr.op) ? 'tight' : 'loose';
    default: return 'loose';
  }
}

function holdsCoordinate(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    found ||= node.kind === 'coordinate';
    return !found;
  });
  return found;
}

/** Something that the body of the loop declares is named in the expression. */
function namesLocal(loop: PeelableLoop, expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    found ||= !isStmt(node) && node.kind === 'ref' && node.decl !== null && node.decl.span.start >= loop.body.span.start && node.decl.span.end <= loop.body.span.end;
    return !found;
  });
  return found;
}

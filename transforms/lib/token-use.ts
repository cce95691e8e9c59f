/**
 * Whether a name in a text is surely used there, not declared, by the tokens around it: trees hold no reference for lengths of arrays, template
 * arguments and what stands in classes. "Surely" is one-sided: where both could be meant (`a * name`, `f(name)`), the answer is no.
 */
import { TokenKind, type Tokens } from '../../src/source/tokens.js';

/** What stands in front of an operand only. */
const OPERATORS: ReadonlySet<string> = new Set([
  '+', '-', '/', '%', '<', '<=', '>=', '==', '!=', '=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=', '?', ':', '!', '~', '|', '||', '^', '<<', '<<<', '.', '->', '.*', '->*',
]);
/** Words in front of an expression. */
const BEFORE_EXPRESSIONS: ReadonlySet<string> = new Set(['return', 'case', 'else', 'do', 'sizeof', 'throw', 'co_return', 'co_yield']);
/** Words in front of an expression in parentheses. */
const BEFORE_PARENTHESES: ReadonlySet<string> = new Set(['if', 'while', 'for', 'switch', 'sizeof', 'static_assert', '_Static_assert', 'return', '__launch_bounds__']);
const TYPES: ReadonlySet<string> = new Set(['bool', 'char', 'short', 'int', 'long', 'unsigned', 'signed', 'float', 'double', 'size_t']);

export function isSurelyUsed(tokens: Tokens, i: number): boolean {
  if (i === 0) return false;
  const before = tokens.spelling(i - 1);
  const after = tokens.spelling(i + 1);
  if (tokens.isIdentifier(i - 1)) return BEFORE_EXPRESSIONS.has(before);
  if (tokens.kind(i - 1) !== TokenKind.punctuation) return false;
  if (OPERATORS.has(before)) return true;
  switch (before) {
    case '::': return !isBroughtIn(tokens, i);
    case '[': return isOperand(tokens, i - 2);
    case '*': case '&': return isLeftOperand(tokens, i - 2);
    case '(': {
      if (after === '[' || after === '(') return false;
      return after !== ')' || BEFORE_PARENTHESES.has(tokens.spelling(i - 2)) || isOperator(tokens, i - 2) || tokens.is(i - 2, '(');
    }
    // The last of the arguments of a template.
    case ',': return after === '>' || after === '>>' || after === '>>>';
    // `(float)name`
    case ')': return TYPES.has(tokens.spelling(i - 2)) && tokens.is(i - 3, '(') && !tokens.isIdentifier(i - 4) && !tokens.is(i - 4, ')');
    default: return false;
  }
}

function isOperator(tokens: Tokens, i: number): boolean {
  return tokens.kind(i) === TokenKind.punctuation && OPERATORS.has(tokens.spelling(i));
}

/** A name or what ends in a bracket: what is indexed, or declared as an array. */
function isOperand(tokens: Tokens, i: number): boolean {
  if (tokens.is(i, ')') || tokens.is(i, ']')) return true;
  return tokens.isIdentifier(i) && !BEFORE_EXPRESSIONS.has(tokens.spelling(i)) && !/^(?:auto|const|volatile|delete|new|operator|mutable)$/.test(tokens.spelling(i));
}

/** A value, which is multiplied: not the type of a pointer. */
function isLeftOperand(tokens: Tokens, i: number): boolean {
  if (tokens.kind(i) === TokenKind.number) return true;
  if (!tokens.isIdentifier(i) || TYPES.has(tokens.spelling(i)) || /^(?:const|volatile|auto|struct|class|enum)$/.test(tokens.spelling(i))) return false;
  return tokens.is(i - 1, '[') ? isOperand(tokens, i - 2) : isOperator(tokens, i - 1) && !tokens.is(i - 1, '<') && !tokens.is(i - 1, ':') && !tokens.is(i - 1, '=');
}

/** `using a::b::name`, `namespace a::name {`, `class a::name;`: a declaration for all that it is qualified. */
function isBroughtIn(tokens: Tokens, i: number): boolean {
  let at = i;
  while (tokens.is(at - 1, '::')) at -= tokens.isIdentifier(at - 2) && !tokens.is(at - 2, 'using') && !tokens.is(at - 2, 'typename') ? 2 : 1;
  // Behind template arguments, what the name belongs to is not followed.
  return tokens.is(at - 1, '>') || tokens.is(at - 1, ',') || /^(?:using|typename|namespace|class|struct|union|enum)$/.test(tokens.spelling(at - 1));
}

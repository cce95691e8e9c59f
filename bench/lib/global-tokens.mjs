/**
 * Counts kernels in a text without divmod's own tokenizer, so that the two can be held against each other: `__global__` outside of
 * comments, literals and directives, parted into definitions (a body follows) and declarations (a semicolon comes first).
 * @param {Buffer} bytes
 */
export function globalTokens(bytes) {
  const text = blank(bytes.toString('latin1'));
  let definitions = 0;
  let declarations = 0;
  for (const match of text.matchAll(/\b__global__\b/g)) {
    let depth = 0;
    for (let k = match.index; k < text.length; k++) {
      const c = text[k];
      if (c === '(') depth++;
      else if (c === ')') depth--;
      else if (depth === 0 && c === ';') { declarations++; break; }
      else if (depth === 0 && c === '{') { definitions++; break; }
    }
  }
  return { definitions, declarations };
}

/** Comments, strings, characters and directives as spaces. */
function blank(text) {
  const out = [];
  let k = 0;
  let lineStart = true;
  const skip = (end) => {
    out.push(text.slice(k, end).replace(/[^\n]/g, ' '));
    k = end;
  };
  const until = (marker, from) => {
    const at = text.indexOf(marker, from);
    return at < 0 ? text.length : at + marker.length;
  };
  while (k < text.length) {
    const c = text[k];
    const two = text.slice(k, k + 2);
    if (two === '//') skip(endOfLine(text, k));
    else if (two === '/*') skip(until('*/', k + 2));
    else if (c === '#' && lineStart) skip(endOfDirective(text, k));
    else if (c === 'R' && text[k + 1] === '"' && !/\w/.test(text[k - 1] ?? '')) {
      const open = text.indexOf('(', k);
      skip(until(`)${text.slice(k + 2, open)}"`, open));
    } else if (c === '"' || (c === "'" && !/[0-9a-fA-F]/.test(text[k - 1] ?? ''))) skip(endOfLiteral(text, k, c));
    else {
      if (c === '\n') lineStart = true;
      else if (!/\s/.test(c)) lineStart = false;
      out.push(c);
      k++;
    }
  }
  return out.join('');
}

function endOfLine(text, from) {
  let k = from;
  for (;;) {
    const at = text.indexOf('\n', k);
    if (at < 0) return text.length;
    if (!/\\\r?$/.test(text.slice(from, at))) return at;
    k = at + 1;
  }
}

/** A directive ends with its line, but a block comment in it may hold newlines. */
function endOfDirective(text, from) {
  const end = endOfLine(text, from);
  const open = text.slice(from, end).lastIndexOf('/*');
  if (open < 0 || text.slice(from + open, end).includes('*/')) return end;
  const close = text.indexOf('*/', end);
  return close < 0 ? text.length : endOfLine(text, close);
}

function endOfLiteral(text, from, quote) {
  for (let k = from + 1; k < text.length; k++) {
    if (text[k] === '\\') k++;
    else if (text[k] === quote || text[k] === '\n') return k + 1;
  }
  return text.length;
}

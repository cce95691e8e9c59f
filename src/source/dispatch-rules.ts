/**
 * `DISPATCH(type, { kernel<T><<<…>>>(…); })`: a macro that takes statements as an argument, around a launch. The call becomes the
 * head of an `if` whose condition calls a function that nobody declares: the launch is seen, and that it is conditional.
 * A macro around statements without a launch (device code) is left, and the tree tells.
 */
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';
import { chevronsAt } from './word-rules.js';
import { KEYWORDS } from './words.js';

const HEAD = 'if(_())';

/** The index to go on from, or 0 if token `i` starts no such invocation. */
export function dispatchRule(stream: Stream, patches: Patches, i: number): number {
  const { tokens } = stream;
  const open = i + 1;
  // Nearly every call is refused by one of these; the arguments are gone through last.
  if (!tokens.is(open, '(') || stream.container(i) !== 'block' || !stream.startsStatement(stream.previous(i))) return 0;
  const name = tokens.spelling(i);
  if (KEYWORDS.has(name)) return 0;
  const close = stream.match(open);
  const brace = close < 0 ? -1 : statementsIn(stream, open, close);
  if (brace < 0) return 0;
  const end = stream.match(brace);
  const head = { start: tokens.start(i), end: tokens.start(brace) };
  if (end < 0 || head.end - head.start < HEAD.length || !holdsLaunch(stream, brace, end)) return 0;
  patches.replace(head.start, head.end, HEAD);
  patches.note({ kind: 'macro', span: head, name, argumentsSpan: { start: tokens.end(open), end: tokens.start(close) }, standsFor: [] });
  patches.drop(tokens.end(end), tokens.end(close));
  stream.remove(end + 1, close);
  return brace + 1;
}

/** The brace of a block that is a whole argument; -1 if there is none, or more than one. */
function statementsIn(stream: Stream, open: number, close: number): number {
  const { tokens } = stream;
  let found = -1;
  for (let at = open + 1; at < close; at++) {
    if (!tokens.is(at, '(') && !tokens.is(at, '[') && !tokens.is(at, '{')) continue;
    const end = stream.match(at);
    if (end < 0) return -1;
    const whole = (tokens.is(at - 1, ',') || tokens.is(at - 1, '(')) && (tokens.is(end + 1, ',') || tokens.is(end + 1, ')'));
    if (tokens.is(at, '{') && whole && stream.brackets.braces.get(at) === 'block') {
      if (found >= 0) return -1;
      found = at;
    }
    at = end;
  }
  return found;
}

function holdsLaunch(stream: Stream, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (chevronsAt(stream, at) >= 0) return true;
  return false;
}

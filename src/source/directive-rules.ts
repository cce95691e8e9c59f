/** Directives that the C++ grammar takes only between statements: elsewhere they become spaces. Conditional groups are in `arms`. */
import type { Patches } from './patches.js';
import type { Stream } from './stream.js';

/** `i` is the token, `index` its number in `SourceFile.directives`. */
export function directiveRule(stream: Stream, patches: Patches, i: number, index: number): void {
  const directive = stream.source.directives[index];
  if (!directive || directive.opener >= 0) return;
  const container = stream.container(i);
  const between = (container === 'block' || container === 'namespace' || container === 'record') && stream.endsStatement(stream.previous(i));
  // A pragma after a label is a statement to the grammar and would take the label's place before the loop.
  const labelled = stream.tokens.is(stream.previous(i), ':');
  if (between && !labelled) return;
  if (directive.kind === 'pragma') {
    const { start, end } = directive;
    patches.blank(start, end);
    patches.note({ kind: 'pragma', span: { start, end }, text: stream.source.text.slice(start, end) });
  } else {
    patches.drop(directive.start, directive.end);
  }
}

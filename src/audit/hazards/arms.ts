/**
 * Whether the threads that take the other arm of a condition make the same collective calls: since compute capability 7.0 a collective is met by name and
 * mask, not by the place in the text, so the same sequence of calls in both arms serves all lanes.
 *
 * Sequences are compared as texts: name and mask of each call, names of callees that hold some, loops with their heads. An arm that jumps away, or a switch, has no
 * sequence. Not handled: arms that make the same calls through different helpers.
 */
import { builtin } from '../../cuda/builtins.js';
import type { Partition } from '../../analysis/arrival.js';
import { asmMeaning } from '../../analysis/asm-text.js';
import { calleesOf } from '../../analysis/call-sites.js';
import { forEachChild, isStmt, type Node } from '../../analysis/children.js';
import { lambdaOf } from '../../analysis/lambdas.js';
import { libraryCall } from '../../analysis/library-calls.js';
import type { CallExpr } from '../../syntax/tree.js';
import { concerns } from './concerns.js';
import { calleeName } from './scene.js';
import { textIn } from './report.js';

/** Do both arms of the condition of this partition make one sequence of collective calls? */
export function sharedByArms(partition: Partition): boolean {
  const { at, facts } = partition;
  if (partition.by !== 'branch') return false;
  const arms: readonly [Node, Node] | null = at.kind === 'if' && at.else !== null ? [at.then, at.else] : at.kind === 'conditional' ? [at.then, at.else] : null;
  if (arms === null) return false;
  const first = sequence(arms[0], facts);
  return first !== null && first !== '' && first === sequence(arms[1], facts);
}

/** Of blocks, which are asked for once for each call and each condition around them; a block stands in one function. */
const sequences = new WeakMap<Node, { readonly sequence: string | null }>();

/** The collective calls of a node in order; null if they are not known. */
function sequence(node: Node, facts: Partition['facts']): string | null {
  if (node.kind !== 'compound') return sequenceOf(node, facts);
  const known = sequences.get(node);
  if (known !== undefined) return known.sequence;
  const made = sequenceOf(node, facts);
  sequences.set(node, { sequence: made });
  return made;
}

function sequenceOf(node: Node, facts: Partition['facts']): string | null {
  if (node.kind === 'call') return call(node, facts);
  if (node.kind === 'asm') return asmMeaning(node.text).collective ? `asm(${node.text.trim()})` : '';
  if (node.kind === 'break' || node.kind === 'continue' || node.kind === 'return' || node.kind === 'goto' || node.kind === 'opaque' || node.kind === 'lambda') return node.kind === 'lambda' ? '' : null;
  const parts: string[] = [];
  let known = true;
  const below = (child: Node): void => {
    const one = sequence(child, facts);
    if (one === null) known = false;
    else if (one !== '') parts.push(one);
  };
  if (node.kind === 'if') {
    below(node.condition);
    const then = sequence(node.then, facts);
    const other = node.else === null ? '' : sequence(node.else, facts);
    if (then === null || other === null) return null;
    if (then === other) { if (then !== '') parts.push(then); } else parts.push(`if(${textIn(node.condition, facts)}){${then}}{${other}}`);
  } else if (node.kind === 'for' || node.kind === 'while' || node.kind === 'do' || node.kind === 'range-for') {
    forEachChild(node, below);
    if (parts.length > 0) parts.splice(0, parts.length, `loop(${'headSpan' in node ? facts.unit.source.text.slice(node.headSpan.start, node.headSpan.end) : ''}){${parts.join(';')}}`);
  } else forEachChild(node, below);
  return known || (parts.length === 0 && !isStmt(node)) ? parts.join(';') : null;
}

function call(node: CallExpr, facts: Partition['facts']): string | null {
  const parts: string[] = [];
  forEachChild(node, (child) => {
    const one = sequence(child, facts);
    if (one !== null && one !== '') parts.push(one);
  });
  const entry = node.callee.kind === 'builtin' ? builtin(node.callee.name) : undefined;
  if (entry !== undefined) {
    if (entry.collective === 'warp' || entry.collective === 'block') {
      const mask = entry.mask === null ? undefined : node.arguments[entry.mask];
      parts.push(`${entry.name}(${mask === undefined ? '' : textIn(mask, facts)})`);
    }
  } else if (node.callee.kind === 'value' && lambdaOf(node.callee.value) !== null) parts.push(`${textIn(node.callee.value, facts)}()`);
  else {
    const library = libraryCall(node);
    if (library !== null && library.kind !== 'query') parts.push(`${calleeName(node)}()`);
    else if (calleesOf(node, facts.program).some((callee) => concerns(callee, facts.program))) parts.push(`${calleeName(node)}()`);
    // What the lambda holds runs in there.
    else if (node.arguments.some((argument) => lambdaOf(argument) !== null)) parts.push(textIn(node, facts));
  }
  return parts.join(';');
}

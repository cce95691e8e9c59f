/** Hazards as they are found: where, why, how sure, and what to do. Equal findings of several call paths are one. */
import type { Partition } from '../../analysis/arrival.js';
import { structureOf } from '../../analysis/structure.js';
import { isStmt, type Node } from '../../analysis/children.js';
import type { Reason } from '../../analysis/facts.js';
import type { Hazard, Severity } from '../types.js';
import type { Spot } from './scene.js';

export interface Finding {
  readonly id: string;
  readonly severity: Severity;
  readonly message: string;
  readonly repair: string;
  readonly because: readonly Reason[];
}

/** Collects the hazards of one kernel. */
export class Report {
  private readonly found = new Map<string, Hazard>();

  /** At a node, or at the definition of the macro whose text it is, with `atMacro`. */
  add(node: Node, spot: Spot, finding: Finding, atMacro: { readonly file: string; readonly line: number } | null = null): void {
    const source = spot.facts.unit.source;
    const position = source.position(node.span.start);
    const hazard: Hazard = {
      id: finding.id, path: atMacro === null ? source.path : this.pathOf(atMacro.file, spot), line: atMacro?.line ?? position.line, column: atMacro === null ? position.column : 1,
      severity: finding.severity, message: finding.message, because: [...(finding.because.length > 0 ? finding.because : [reason(node, spot, `\`${textOf(node, spot)}\``)]), ...callPath(spot)], repair: finding.repair,
    };
    const key = `${hazard.id}\0${hazard.path}\0${hazard.line}\0${hazard.column}`;
    const before = this.found.get(key);
    if (before === undefined || RANK[before.severity] > RANK[hazard.severity]) this.found.set(key, hazard);
  }

  private pathOf(file: string, spot: Spot): string {
    return spot.facts.program.units.get(file)?.source.path ?? file;
  }

  get hazards(): readonly Hazard[] {
    return [...this.found.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line || a.column - b.column || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)));
  }
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, caution: 1, note: 2 };

export function worse(a: Severity, b: Severity): Severity {
  return RANK[a] <= RANK[b] ? a : b;
}

/** The calls that lead to the function, innermost first. */
function callPath(spot: Spot): readonly Reason[] {
  const steps: Reason[] = [];
  for (let here: Spot = spot; here.outer !== null && here.frame.call !== null; here = here.outer) {
    steps.push(reason(here.frame.call, here.outer, `\`${here.facts.function.name}\` is called here`));
  }
  return steps;
}

export function reason(node: Node, spot: Spot, text: string): Reason {
  return reasonIn(node, spot.facts, text);
}

function reasonIn(node: Node, facts: Spot['facts'], text: string): Reason {
  const { source } = facts.unit;
  return { path: source.realPath, line: source.line(node.span.start), text };
}

/** The text of a node on one line. */
export function textOf(node: Node, spot: Spot): string {
  return textIn(node, spot.facts);
}

export function textIn(node: Node, facts: Spot['facts']): string {
  const text = facts.unit.source.text.slice(node.span.start, node.span.end).split(/\s+/).join(' ');
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

const worded = new WeakMap<Partition, readonly Reason[]>();

/** Why not all threads come, in words. Many collectives stand below one condition. */
export function reasonsOf(partitions: readonly Partition[]): readonly Reason[] {
  return partitions.flatMap((partition) => {
    let known = worded.get(partition);
    if (known === undefined) worded.set(partition, known = reasonsOfOne(partition));
    return known;
  });
}

function reasonsOfOne(partition: Partition): readonly Reason[] {
  const { facts } = partition;
  const condition = partition.conditions[0];
  const text = condition === undefined ? 'something that is not understood' : `\`${textIn(condition, facts)}\``;
  const others = partition.kind === 'exit' ? 'the others have left the kernel' : 'the others are alive and do not come';
  const how: Record<Partition['by'], string> = {
    branch: `only threads for which ${text} ${partition.decision?.holds === false ? 'fails' : partition.decision === null ? 'selects the arm' : 'holds'} come here`,
    loop: `threads leave the loop in different rounds (${text})`, jump: `threads jump away here (${text})`, goto: `a goto leads past it (${text})`,
    lambda: 'who runs the lambda is not known', caller: 'who calls the function is not known',
  };
  const first = reasonIn(partition.at, facts, `${how[partition.by]}; ${others}`);
  // The chain behind the condition: why it differs.
  const chain = condition === undefined ? [] : facts.scope(condition).because.slice(0, 3);
  return [first, ...chain];
}

/** The innermost macro whose text a node is. */
export function macroOf(node: Node, spot: Spot): { readonly name: string; readonly file: string; readonly line: number } | null {
  const { parents } = structureOf(spot.facts.function);
  for (let n = parents.get(node); n !== undefined; n = parents.get(n)) {
    if (n.kind === 'macro' || n.kind === 'macro-statement') return { name: n.name, file: n.definition.file, line: n.definition.line };
    if (isStmt(n) && n.kind !== 'compound' && n.kind !== 'expression' && n.kind !== 'declare') continue;
  }
  return null;
}

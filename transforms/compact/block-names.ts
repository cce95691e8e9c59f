/** Names of what compact:block adds to a kernel. */
import type { SourceFile } from '../../src/source/types.js';
import { spokenByMacros } from '../lib/launch-checks.js';
import type { TransformContext } from '../lib/types.js';
import { queued, type BlockPlan } from './block-shape.js';

export interface Names {
  readonly active: string;
  readonly thread: string;
  readonly votes: string;
  readonly counts: string;
  readonly slot: string;
  readonly items: string;
  readonly warp: string;
  readonly queues: ReadonlyMap<string, string>;
  readonly owners: ReadonlyMap<string, string>;
  readonly flags: ReadonlyMap<number, string>;
}

/** Names that stand nowhere in the file outside of comments, and that no macro speaks which may be defined where the file is compiled. */
export function namesOf({ facts, unit }: TransformContext, { values, flagged, knownFlags, knownThread }: BlockPlan): Names {
  const taken = new Set(words(unit.source));
  const spoken = (name: string): boolean => [...facts.program.units.values()].some((one) => spokenByMacros(one, name));
  const fresh = (base: string): string => {
    let name = base;
    for (let n = 2; taken.has(name) || spoken(name); n++) name = `${base}${n}`;
    taken.add(name);
    return name;
  };
  const axes = [...new Set(values.coordinates.map((node) => node.axis ?? 'x'))].sort();
  const scalars = { active: fresh('active'), thread: knownThread ?? fresh('thread'), votes: fresh('votes'), counts: fresh('activeInWarp'), slot: fresh('slot'), items: fresh('items'), warp: fresh('w') };
  return {
    ...scalars,
    queues: new Map([
      ...values.travels.filter(queued).map((travel) => [travel.decl.name, fresh(`queue_${travel.decl.name}`)] as const),
      ...axes.map((axis) => [`threadIdx.${axis}`, fresh(`queue_thread_${axis}`)] as const),
    ]),
    owners: new Map(axes.map((axis) => [axis, fresh(`owner_${axis}`)] as const)),
    flags: new Map([...flagged].sort((a, b) => a - b).map((frame, i) => [frame, knownFlags.get(frame) ?? fresh(i === 0 ? 'live' : 'inside')] as const)),
  };
}

/** Every word of the file that stands outside of comments: one of them may be a macro, or a name that is used further in. */
function words({ text, comments }: SourceFile): readonly string[] {
  const found: string[] = [];
  let at = 0;
  for (const comment of [...comments, { start: text.length, end: text.length }]) {
    found.push(...(text.slice(at, comment.start).match(/[A-Za-z_]\w*/g) ?? []));
    at = comment.end;
  }
  return found;
}

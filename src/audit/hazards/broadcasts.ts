/** `broadcast-uninitialised`: a value that one lane makes and a shuffle passes on, declared without a value: every other lane reads an indeterminate one (SEMANTICS 5.7). */
import { strip } from '../../analysis/children.js';
import { reason, type Report } from './report.js';
import type { Scene } from './scene.js';

export function broadcasts(scene: Scene, report: Report): void {
  for (const call of scene.collectives) {
    if (call.builtin === null || !call.name.startsWith('__shfl') || call.builtin.mask === null) continue;
    const given = call.node.arguments[1];
    const use = given === undefined ? null : strip(given);
    if (use === null || use.kind !== 'ref') continue;
    const definitions = call.spot.facts.definitions(use);
    const bare = definitions.find((definition) => definition.kind === 'declaration' && definition.decl.init === null && !definition.decl.opaqueInit && definition.decl.space === 'local' && isScalar(definition.decl.type.kind));
    if (bare === undefined || definitions.length < 2) continue;
    report.add(call.node, call.spot, {
      id: 'broadcast-uninitialised', severity: 'caution', message: `\`${use.name}\` has no value on the lanes that did not make one, and every lane passes it to \`${call.name}\``,
      because: [reason(use, call.spot, `\`${use.name}\` is declared without a value and assigned on some lanes only`)], repair: `initialise \`${use.name}\` where it is declared`,
    });
  }
}

function isScalar(kind: string): boolean {
  return kind === 'int' || kind === 'float' || kind === 'pointer' || kind === 'bool';
}

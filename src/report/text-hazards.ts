/**
 * The hazards of a kernel for people: those that say the same of several places are one entry with a list of lines, and what was said of a helper under one kernel
 * is not said again under the next, so that a helper that is called from forty places does not fill the screen. JSON, SARIF and `--explain` keep every one.
 */
import type { Hazard } from '../audit/types.js';
import type { TextAuditOptions } from './text-audit.js';
import { clip, place } from './text-places.js';
import { count, type Style } from './style.js';

/** More places than this are counted, not listed. */
const MAX_PLACES = 12;

/** `said` holds what was said under earlier kernels of the report, and takes what is said here. */
export function hazardsText(found: readonly Hazard[], path: string, said: Set<string>, style: Style, options: TextAuditOptions): string[] {
  const hazards = options.explain ? found : found.filter((hazard) => !said.has(placeKey(hazard)));
  for (const hazard of found) said.add(placeKey(hazard));
  const before = found.length - hazards.length;
  const groups = new Map<string, Hazard[]>();
  for (const hazard of hazards) {
    const key = options.explain ? `${groups.size}` : `${hazard.id}\0${hazard.severity}\0${hazard.message}\0${hazard.ignored === true}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [hazard]);
    else group.push(hazard);
  }
  const out = [...groups.values()].flatMap((group) => groupText(group, path, style, options));
  if (before > 0) out.push(`    ${style.dim(`and ${count(before, 'hazard')} said above, in functions that kernels share`)}`);
  return out;
}

function placeKey(hazard: Hazard): string {
  return `${hazard.path}\0${hazard.line}\0${hazard.column}\0${hazard.id}\0${hazard.severity}`;
}

function groupText(group: readonly Hazard[], path: string, style: Style, options: TextAuditOptions): string[] {
  const [hazard, ...others] = group;
  if (hazard === undefined) return [];
  const paint = hazard.severity === 'error' ? style.red : hazard.severity === 'caution' ? style.yellow : style.dim;
  const out = [`    ${style.bold(place(hazard, path).padStart(4))}  ${paint(hazard.severity)} ${hazard.id}: ${hazard.message}${hazard.ignored === true ? ` ${style.dim('(ignored by the source)')}` : ''}`];
  const code = options.lineOf(hazard.path, hazard.line);
  if (code !== null) out.push(`          ${style.dim('|')} ${clip(code)}`);
  const places = [...new Set(others.map((other) => place(other, path)))].filter((other) => other !== place(hazard, path));
  if (places.length > 0) {
    const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
    out.push(`          ${style.dim(`the same in line${places.length === 1 ? '' : 's'} ${places.slice(0, MAX_PLACES).join(', ')}${more}`)}`);
  }
  if (hazard.repair !== '') out.push(`          ${style.dim('repair')} ${hazard.repair}`);
  return out;
}

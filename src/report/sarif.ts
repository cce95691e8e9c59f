/** SARIF 2.1.0, for code-scanning services. */
import type { Severity } from '../audit/types.js';
import type { PlainFile } from '../project/plain-audit.js';
import type { SiteResult } from '../project/rounds.js';
import { holdsNot } from './site-words.js';
import { render } from './json.js';

type Level = 'error' | 'warning' | 'note';

const LEVEL: Readonly<Record<Severity, Level>> = { error: 'error', caution: 'warning', note: 'note' };

interface SarifResult {
  readonly ruleId: string;
  readonly level: Level;
  readonly message: { readonly text: string };
  readonly locations: readonly unknown[];
  readonly relatedLocations?: readonly unknown[];
  readonly partialFingerprints?: Readonly<Record<string, string>>;
}

const RULES: Readonly<Record<string, string>> = {
  'divergence-geometry': 'A branch on thread coordinates that lanes of a warp take differently',
  'divergence-boundary': 'A bounds guard that lanes of a warp take differently',
  'divergence-data': 'A branch on loaded data that lanes of a warp take differently',
  'divergence-unknown': 'A branch that was not understood',
};

function location(path: string, line: number, column?: number, endLine?: number): unknown {
  return {
    physicalLocation: {
      artifactLocation: { uri: path.split('/').map(encodeURIComponent).join('/') },
      region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }), ...(endLine === undefined ? {} : { endLine }) },
    },
  };
}

/** Hazards, and the branches that are worth a look. */
export function auditSarif(version: string, files: readonly PlainFile[]): string {
  const results: SarifResult[] = [];
  const rules = new Map<string, string>();
  for (const file of files) {
    for (const kernel of file.kernels) {
      for (const branch of kernel.branches) {
        if (branch.class === 'uniform' || (branch.advice !== 'consider' && branch.class !== 'unknown')) continue;
        const ruleId = `divergence-${branch.class}`;
        rules.set(ruleId, RULES[ruleId] ?? ruleId);
        results.push({
          ruleId, level: 'note',
          message: { text: `${branch.condition}: ${branch.class}, scope ${branch.scope}, in kernel ${kernel.name}. ${branch.reason}` },
          locations: [location(branch.path, branch.line, branch.column, branch.endLine)],
          relatedLocations: branch.because.map((reason, id) => ({ id, ...Object(location(reason.path, Math.max(1, reason.line))), message: { text: reason.text } })),
          partialFingerprints: { 'divmodId/v1': branch.id },
        });
      }
      for (const hazard of kernel.hazards) {
        rules.set(hazard.id, hazard.id);
        results.push({
          ruleId: hazard.id, level: LEVEL[hazard.severity],
          message: { text: hazard.repair === '' ? hazard.message : `${hazard.message}. Repair: ${hazard.repair}` },
          locations: [location(hazard.path, hazard.line, hazard.column)],
          ...(hazard.ignored === true ? { suppressions: [{ kind: 'inSource' }] } : {}),
          relatedLocations: hazard.because.map((reason, id) => ({ id, ...Object(location(reason.path, Math.max(1, reason.line))), message: { text: reason.text } })),
        });
      }
    }
    for (const problem of file.problems) {
      rules.set('not-understood', 'Text that was not understood');
      results.push({ ruleId: 'not-understood', level: 'note', message: { text: problem.message }, locations: [location(file.path, Math.max(1, problem.line))] });
    }
  }
  return log(version, rules, results);
}

/** One result a site. */
export function applySarif(version: string, sites: readonly SiteResult[]): string {
  const rules = new Map<string, string>();
  const results = sites.map((site): SarifResult => {
    rules.set(site.transform, `Sites of the transform ${site.transform}`);
    const why = site.status === 'applied' ? '' : `: ${site.reason ?? holdsNot(site)}`;
    return { ruleId: site.transform, level: 'note', message: { text: `${site.status}: ${site.summary}${why}` }, locations: [location(site.path, Math.max(1, site.line))] };
  });
  return log(version, rules, results);
}

function log(version: string, rules: ReadonlyMap<string, string>, results: readonly SarifResult[]): string {
  return render({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'divmod', version, rules: [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, text]) => ({ id, shortDescription: { text } })) } },
      columnKind: 'utf16CodeUnits',
      results,
    }],
  });
}

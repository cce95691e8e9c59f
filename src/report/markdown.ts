/** Markdown, for reviews and issue trackers. */
import type { PlainFile } from '../project/plain-audit.js';
import type { SiteResult } from '../project/rounds.js';
import { holdsNot } from './site-words.js';
import { quantity, share } from './style.js';
import { summarise } from './summary.js';

export function auditMarkdown(files: readonly PlainFile[]): string {
  const out = ['# Divergence audit', '', summarise(files).text, ''];
  for (const file of files) {
    if (file.kernels.length === 0 && file.problems.length === 0) continue;
    out.push(`## ${cell(file.path)}`, '');
    for (const problem of file.problems) out.push(`- line ${problem.line}: ${cell(problem.message)}`);
    if (file.problems.length > 0) out.push('');
    for (const kernel of file.kernels) {
      out.push(`### ${cell(kernel.name)} (line ${kernel.line})`, '');
      if (!kernel.understood) {
        out.push('Not understood.', '');
        continue;
      }
      if (kernel.branches.length > 0) {
        out.push('| line | kind | condition | class | scope | E | lost slots | advice |', '| --- | --- | --- | --- | --- | --- | --- | --- |');
        for (const b of kernel.branches) {
          out.push(`| ${b.line} | ${b.kind} | ${code(b.condition)} | ${b.class} | ${b.scope} | ${share(b.cost.efficiency)} | ${quantity(b.cost.lostSlots)} | ${b.advice}: ${cell(b.reason)} |`);
        }
        out.push('');
      }
      for (const hazard of kernel.hazards) out.push(`- **${hazard.severity}** ${hazard.id}, line ${hazard.line}: ${cell(hazard.message)}`);
      if (kernel.hazards.length > 0) out.push('');
    }
  }
  return `${out.join('\n').replace(/\n+$/, '')}\n`;
}

export function applyMarkdown(sites: readonly SiteResult[], diff: Uint8Array): string {
  const out = ['# Edits', '', '| place | transform | status | site | why |', '| --- | --- | --- | --- | --- |'];
  for (const site of sites) {
    const why = site.status === 'applied' ? site.estimate?.reason ?? '' : site.reason ?? holdsNot(site);
    out.push(`| ${cell(site.path)}:${site.line} | ${site.transform} | ${site.status} | ${cell(site.summary)} | ${cell(why)} |`);
  }
  if (diff.length > 0) out.push('', '```diff', Buffer.from(diff).toString('utf8').replace(/\n$/, ''), '```');
  return `${out.join('\n')}\n`;
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[|<>*_`\\]/g, '\\$&');
}

function code(text: string): string {
  const flat = text.replace(/\s+/g, ' ').replace(/\|/g, '\\|');
  return flat.includes('`') ? `\`\` ${flat} \`\`` : `\`${flat}\``;
}

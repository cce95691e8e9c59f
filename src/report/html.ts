/** One HTML page without scripts or outside parts. */
import type { PlainFile } from '../project/plain-audit.js';
import type { SiteResult } from '../project/rounds.js';
import { holdsNot } from './site-words.js';
import { quantity, share } from './style.js';
import { summarise } from './summary.js';

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{border-bottom:1px solid #d9dee3;padding:.3rem .6rem;text-align:left;vertical-align:top}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:#f5f7f9;padding:1rem;overflow:auto}
.uniform{color:#1a7f37}.boundary{color:#0550ae}.geometry{color:#1b7c83}.data{color:#a40e26}.unknown{color:#8250df}.muted{color:#6a737d}.add{color:#1a7f37}.del{color:#a40e26}`;

function page(title: string, body: string): string {
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title><style>${STYLE}</style></head><body>\n<h1>${escape(title)}</h1>\n${body}\n</body></html>\n`;
}

export function auditHtml(files: readonly PlainFile[]): string {
  const out = [`<p>${escape(summarise(files).text)}</p>`];
  for (const file of files) {
    if (file.kernels.length === 0 && file.problems.length === 0) continue;
    out.push(`<h2>${escape(file.path)}</h2>`);
    for (const problem of file.problems) out.push(`<p class="muted">line ${problem.line}: ${escape(problem.message)}</p>`);
    for (const kernel of file.kernels) {
      out.push(`<h3>${escape(kernel.name)} <span class="muted">line ${kernel.line}</span></h3>`);
      if (!kernel.understood) out.push('<p class="muted">not understood</p>');
      if (kernel.branches.length > 0) {
        out.push('<table><tr><th>line<th>kind<th>condition<th>class<th>scope<th>E<th>lost slots<th>advice</tr>');
        for (const b of kernel.branches) {
          out.push(`<tr><td>${b.line}<td>${b.kind}<td><code>${escape(b.condition)}</code><td class="${b.class}">${b.class}<td>${b.scope}<td>${share(b.cost.efficiency)}<td>${quantity(b.cost.lostSlots)}<td>${b.advice}: ${escape(b.reason)}</tr>`);
        }
        out.push('</table>');
      }
      for (const hazard of kernel.hazards) out.push(`<p><strong>${hazard.severity}</strong> ${escape(hazard.id)}, line ${hazard.line}: ${escape(hazard.message)}</p>`);
    }
  }
  return page('Divergence audit', out.join('\n'));
}

export function applyHtml(sites: readonly SiteResult[], diff: Uint8Array): string {
  const out = ['<table><tr><th>place<th>transform<th>status<th>site<th>why</tr>'];
  for (const site of sites) {
    const why = site.status === 'applied' ? site.estimate?.reason ?? '' : site.reason ?? holdsNot(site);
    out.push(`<tr><td>${escape(site.path)}:${site.line}<td>${escape(site.transform)}<td>${site.status}<td>${escape(site.summary)}<td>${escape(why)}</tr>`);
  }
  out.push('</table>');
  if (diff.length > 0) {
    const lines = Buffer.from(diff).toString('utf8').split('\n').map((line) => {
      const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : null;
      return kind === null ? escape(line) : `<span class="${kind}">${escape(line)}</span>`;
    });
    out.push(`<pre>${lines.join('\n')}</pre>`);
  }
  return page('Edits', out.join('\n'));
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

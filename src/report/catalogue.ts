/** `divmod transforms`: what there is, what it asks for, and an example. */
import type { Grant, Transform } from '../../transforms/lib/types.js';
import { styleFor } from './style.js';

export function catalogueText(transforms: readonly Transform[], grants: readonly Grant[], color: boolean): string {
  const style = styleFor(color);
  const width = Math.max(...transforms.map((transform) => transform.name.length));
  const out = transforms.flatMap((transform) => [
    `${style.bold(transform.name.padEnd(width))}  ${transform.summary}`,
    ...transform.variants.map((variant) => `${' '.repeat(width)}  ${transform.name}:${variant.name}  ${style.dim(variant.summary)}`),
  ]);
  out.push('', style.bold('grants'));
  const grantWidth = Math.max(...grants.map((grant) => grant.name.length));
  for (const grant of grants) out.push(`${grant.name.padEnd(grantWidth)}  ${grant.default ? 'given unless --deny  ' : 'only with --allow    '}  ${grant.summary}`);
  out.push('', style.dim('divmod transforms NAME shows obligations and an example.'));
  return `${out.join('\n')}\n`;
}

export function transformText(transform: Transform, common: readonly string[], color: boolean): string {
  const style = styleFor(color);
  const out = [`${style.bold(transform.name)}  ${transform.summary}`, ''];
  if (transform.variants.length > 0) {
    out.push(style.bold('variants'), ...transform.variants.map((variant) => `  ${transform.name}:${variant.name}  ${variant.summary}`), '');
  }
  const options = transform.options ?? [];
  if (options.length > 0) {
    out.push(style.bold('options'), ...options.map((option) => `  ${transform.name}${option.variant === null ? '' : `:${option.variant}`},${option.name}=${option.values.join('|')}  ${option.summary}`), '');
  }
  const own = transform.obligationIds.filter((id) => !common.includes(id));
  out.push(style.bold('obligations'), `  ${own.join(', ')}`, `  ${style.dim(`and those of every transform: ${common.join(', ')}`)}`, '');
  out.push(style.bold('before'), indent(transform.example.before), '', style.bold('after'), indent(transform.example.after));
  return `${out.join('\n')}\n`;
}

function indent(text: string): string {
  return text.replace(/\s+$/, '').split('\n').map((line) => (line === '' ? '' : `  ${line}`)).join('\n');
}

export function catalogueJson(transforms: readonly Transform[], grants: readonly Grant[]): unknown {
  return {
    transforms: transforms.map(({ name, summary, variants, options, obligationIds, example }) => ({ name, summary, variants, options: options ?? null, obligations: obligationIds, example })),
    grants,
  };
}

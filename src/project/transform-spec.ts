/** How transforms are asked for: `peel`, `hoist,peel`, `compact:grid,order=keep`, `./mine.mjs`, `all`. */
import type { Transform } from '../../transforms/lib/types.js';
import { UsageError } from './errors.js';
import { didYouMean } from './suggest.js';

export interface TransformRequest {
  readonly transform: Transform;
  readonly variant: string | null;
  readonly options: ReadonlyMap<string, string>;
}

export interface TransformSpec {
  readonly name: string;
  readonly variant: string | null;
  readonly options: ReadonlyMap<string, string>;
}

/** Takes the words apart. A `key=value` belongs to the transform before it. Throws `UsageError`. */
export function parseTransformSpecs(words: readonly string[]): readonly TransformSpec[] {
  const specs: { name: string; variant: string | null; options: Map<string, string> }[] = [];
  for (const word of words) {
    for (const part of word.split(',').map((p) => p.trim())) {
      if (part === '') continue;
      const option = /^([A-Za-z][\w-]*)=(.*)$/.exec(part);
      if (option !== null) {
        const last = specs.at(-1);
        if (last === undefined) throw new UsageError(`--transform ${word}: the option "${part}" follows no transform`);
        last.options.set(option[1] ?? '', option[2] ?? '');
        continue;
      }
      const at = isModule(part) ? -1 : part.indexOf(':');
      const rest = at < 0 ? null : part.slice(at + 1);
      const spec = { name: at < 0 ? part : part.slice(0, at), variant: rest, options: new Map<string, string>() };
      const equals = rest?.indexOf('=') ?? -1;
      if (rest !== null && equals > 0) {
        spec.variant = null;
        spec.options.set(rest.slice(0, equals), rest.slice(equals + 1));
      }
      specs.push(spec);
    }
  }
  if (specs.length === 0) throw new UsageError('--transform: which one? See divmod transforms');
  return specs;
}

export function isModule(name: string): boolean {
  return /^[./\\]/.test(name) || /\.(?:mjs|cjs|js)$/.test(name);
}

/** Finds the transforms. `all` stands for every one. Throws `UsageError` with a suggestion. */
export function resolveTransforms(specs: readonly TransformSpec[], known: readonly Transform[], modules: ReadonlyMap<string, readonly Transform[]>): readonly TransformRequest[] {
  const requests: TransformRequest[] = [];
  for (const spec of specs) {
    if (spec.name === 'all') {
      const [first] = spec.options.keys();
      if (first !== undefined) throw new UsageError(`"all" takes no options; give "${first}" to the transform that it is for`);
      for (const transform of known) requests.push({ transform, variant: null, options: spec.options });
      continue;
    }
    const own = modules.get(spec.name);
    if (own !== undefined) {
      for (const transform of own) {
        checkOptions(transform, spec);
        requests.push({ transform, variant: spec.variant, options: spec.options });
      }
      continue;
    }
    const transform = known.find((candidate) => candidate.name === spec.name);
    if (transform === undefined) {
      const names = known.map((candidate) => candidate.name);
      throw new UsageError(`unknown transform "${spec.name}"${didYouMean(spec.name, [...names, 'all'])}; there are ${names.join(', ')}`);
    }
    if (spec.variant !== null && !transform.variants.some((variant) => variant.name === spec.variant)) {
      const names = transform.variants.map((variant) => variant.name);
      throw new UsageError(names.length === 0
        ? `${transform.name} has no variants, so "${spec.name}:${spec.variant}" is unknown`
        : `unknown variant "${spec.variant}" of ${transform.name}${didYouMean(spec.variant, names)}; there are ${names.join(', ')}`);
    }
    checkOptions(transform, spec);
    requests.push({ transform, variant: spec.variant, options: spec.options });
  }
  return requests;
}

/** An option that nobody takes, or with a value that means nothing, would be passed over in silence. Throws `UsageError`. */
function checkOptions({ name, options, variants }: Transform, spec: TransformSpec): void {
  if (options === undefined) return;
  const asked = spec.variant ?? variants[0]?.name ?? null;
  const own = options.filter(({ variant }) => variant === null || variant === asked);
  const said = spec.variant === null ? name : `${name}:${spec.variant}`;
  for (const [key, value] of spec.options) {
    const option = own.find((one) => one.name === key);
    if (option === undefined) {
      const elsewhere = options.find((one) => one.name === key);
      if (elsewhere !== undefined) throw new UsageError(`"${key}" is an option of ${name}:${elsewhere.variant ?? ''}, not of ${said}`);
      throw new UsageError(own.length === 0 ? `${said} takes no options, so "${key}=${value}" means nothing` : `unknown option "${key}" of ${said}${didYouMean(key, own.map((one) => one.name))}; there ${own.length === 1 ? 'is' : 'are'} ${own.map((one) => one.name).join(', ')}`);
    }
    if (!option.values.includes(value)) throw new UsageError(`${said},${key}=${value}: expected ${option.values.map((one) => `${key}=${one}`).join(', ')}`);
  }
}

/** Does a value look like a transform? For modules of the user's own. */
export function isTransform(value: unknown): value is Transform {
  if (typeof value !== 'object' || value === null) return false;
  const has = (key: string, type: string): boolean => typeof Reflect.get(value, key) === type;
  return has('name', 'string') && has('match', 'function') && has('obligations', 'function') && has('estimate', 'function') && has('emit', 'function');
}

/** The transforms that a module of the user's own exports. Throws `UsageError`. */
export function transformsOfModule(module: unknown, path: string): readonly Transform[] {
  const values: unknown[] = typeof module === 'object' && module !== null ? Object.values(module).flatMap((value: unknown) => (Array.isArray(value) ? (value as unknown[]) : [value])) : [];
  const found = values.filter(isTransform);
  const unique = found.filter((transform, i) => found.indexOf(transform) === i).map((transform) => ({
    ...withDefaults(transform),
  }));
  if (unique.length === 0) throw new UsageError(`${path}: exports no transform (an object with name, match, obligations, estimate and emit)`);
  return unique;
}

/** The catalogue fields are optional for a transform of the user's own. Methods keep their receiver. */
function withDefaults(transform: Transform): Transform {
  return {
    name: transform.name,
    summary: transform.summary ?? '',
    variants: transform.variants ?? [],
    ...(transform.options === undefined ? {} : { options: transform.options }),
    obligationIds: transform.obligationIds ?? [],
    example: transform.example ?? { before: '', after: '' },
    match: (context) => transform.match(context),
    obligations: (site, context) => transform.obligations(site, context),
    estimate: (site, context) => transform.estimate(site, context),
    emit: (site, context) => transform.emit(site, context),
  };
}

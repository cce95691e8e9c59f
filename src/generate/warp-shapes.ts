/** Shapes that transforms of whole warps look for: nests of loops with guards on both edges, and loops with a rare branch. */
import { deeper, type GenerateContext } from './context.js';
import { dataCondition, floatValue, ELEMENTS } from './expressions.js';
import { block, update, type Lines } from './statements.js';

/** One or two loops around an index, its edges guarded, perhaps below branches that only some lanes take. */
export function guardedNest(c: GenerateContext): Lines {
  const around = c.choose.below(5);
  const inner = around === 0 ? c : deeper(c, { arrival: 'lanes' });
  const lines = nest(inner);
  switch (around) {
    case 1: return [`${c.indent}if (${c.choose.pick(['i < n', 'key[i] > 20', 'i < n && key[i] > 9', '(tid & 3) == 1'])}) {`, ...lines, `${c.indent}}`];
    case 2: return [`${c.indent}if (${dataCondition(c)}) {`, ...update(inner), `${c.indent}} else {`, ...lines, `${c.indent}}`];
    case 3: {
      const o = c.fresh('o');
      const skip = c.choose.pick(['i >= n', `key[i] > ${o}`, `i + ${o} >= n`]);
      return [`${c.indent}for (int ${o} = 0; ${o} < ${c.choose.pick(['m', '3'])}; ++${o}) {`, `${c.indent}    if (${skip}) continue;`, ...lines, `${c.indent}}`];
    }
    case 4: return [`${c.indent}if (i < n) {`, ...update(inner), `${inner.indent}if (key[i] > 12) {`, ...nest(deeper(inner)), `${inner.indent}}`, `${c.indent}}`];
    default: return lines;
  }
}

function nest(c: GenerateContext): Lines {
  const [a, b, j] = [c.fresh('a'), c.fresh('b'), c.fresh('j')];
  const radius = c.choose.pick(['1', '2', '4', 'm']);
  const place = c.choose.pick(['i', 'i', 'tid', '(i - 3)', '(n - i)']);
  const two = c.choose.rarely(2);
  const index = two ? `${place} + ${a} + ${b} * ${c.choose.pick(['2', '5', '-3'])}` : `${place} + ${a}`;
  const head = c.choose.pick([
    `for (int ${a} = -${radius}; ${a} <= ${radius}; ++${a})`, `for (int ${a} = 0; ${a} < ${radius}; ++${a})`, `for (int ${a} = ${radius}; ${a} > 0; --${a})`,
    `for (int ${a} = -${radius}; ${a} <= ${radius}; ${a} += 2)`, `for (unsigned ${a} = 0; ${a} < (unsigned)${radius}; ++${a})`,
  ]);
  const test = c.choose.pick([`${j} >= 0 && ${j} < n`, `(unsigned)${j} < (unsigned)n`, `${j} < n`, `${j} >= 0`, `n > ${j} && ${j} > -1`, `${j} >= 0 && ${j} <= n - 1 && key[${j} & ${ELEMENTS - 1}] > 7`]);
  const inner = deeper(deeper(c, { arrival: 'lanes', counters: [{ name: a, max: 8 }, ...c.counters] }));
  const value = `in[${j} & ${ELEMENTS - 1}]`;
  const body = ((): Lines => {
    switch (c.choose.below(4)) {
      case 1: return [`${inner.indent}acc += (${test}) ? ${value} : 0.0f;`];
      case 2: return [`${inner.indent}if (!(${test})) continue;`, `${inner.indent}acc = acc * 0.5f + ${value};`];
      case 3: return [`${inner.indent}if (${test}) {`, `${inner.indent}    acc += ${value} * w;`, `${inner.indent}    cnt++;`, `${inner.indent}}`, ...(c.choose.rarely(3) ? [`${inner.indent}if (acc > 6.0f) break;`] : [])];
      default: return [`${inner.indent}if (${test})`, `${inner.indent}    acc += ${value} * ${c.choose.pick(['w', '0.25f'])};`];
    }
  })();
  const outer = two ? [`${c.indent}for (int ${b} = -1; ${b} <= 1; ++${b})`] : [];
  return [...outer, `${c.indent}${head} {`, `${inner.indent}int ${j} = ${index};`, ...body, `${c.indent}}`];
}

/** A loop in which some lanes have expensive work now and then, into sums of their own. */
export function rareBranchLoop(c: GenerateContext): Lines {
  const [k, v, late, times] = [c.fresh('k'), c.fresh('v'), c.fresh('late'), c.fresh('h')];
  const inner = deeper(c, { arrival: 'lanes', counters: [{ name: k, max: 16 }, ...c.counters] });
  const heavy = deeper(inner);
  const trips = c.choose.pick(['m', '12', '7', '1']);
  const test = c.choose.pick([`${v} > 0.5f`, `key[(i + ${k}) & ${ELEMENTS - 1}] > 40`, `${v} > 0.0f && key[i] > 11`]);
  const work = [
    `${heavy.indent}float ${times} = ${v} + ${k};`, `${heavy.indent}for (int s = 0; s < ${c.choose.pick(['6', 'm'])}; ++s) ${times} = ${times} * 0.5f + sqrtf(fabsf(${times}) + s);`,
    `${heavy.indent}${late} ${c.choose.pick(['+=', '= 0.75f *'])} ${times}${c.choose.pick(['', ` + ${late}`])};`,
    ...(c.choose.rarely(4) ? [`${heavy.indent}atomicAdd(&total[key[i] & 7], 1);`] : []),
  ];
  const set = [`${inner.indent}float ${v} = in[(i + ${k} * ${c.choose.pick(['1', '7'])}) & ${ELEMENTS - 1}]${c.choose.rarely(4) ? ` + ${late}` : ''};`, ...(c.choose.rarely(2) ? [`${inner.indent}cnt += ${k};`] : [])];
  const body = ((): Lines => {
    switch (c.choose.below(4)) {
      case 1: return [`${inner.indent}if (!(${test}))`, `${inner.indent}    continue;`, ...work];
      case 2: return [`${inner.indent}if (${test}) {`, ...work, `${inner.indent}} else {`, `${heavy.indent}cnt++;`, `${inner.indent}}`];
      case 3: return [`${inner.indent}if (${test}) {`, ...work, `${inner.indent}}`, ...block({ ...inner, depth: 1 }, 1)];
      default: return [`${inner.indent}if (${test}) {`, ...work, `${inner.indent}}`];
    }
  })();
  const loop = [`${inner.indent.slice(4)}for (int ${k} = 0; ${k} < ${trips}; ++${k}) {`, ...set, ...body, `${inner.indent.slice(4)}}`];
  const declared = `${c.indent}float ${late} = ${floatValue({ ...c, counters: [] }, 1)};`;
  if (c.choose.rarely(3)) {
    const deep = loop.map((line) => `    ${line}`);
    return [declared, `${c.indent}if (${c.choose.pick(['i < n', 'key[i] > 5'])}) {`, ...deep, `${c.indent}}`, `${c.indent}acc += ${late};`];
  }
  return [declared, ...loop, `${c.indent}acc += ${late};`];
}

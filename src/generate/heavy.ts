/** Expensive work for some lanes, in the shapes in which it is written: arms, guards, nests of guards, rounds of a loop. */
import { deeper, type GenerateContext } from './context.js';
import { condition, dataCondition, floatValue, smallInt, ELEMENTS } from './expressions.js';
import { block, update, type Lines } from './statements.js';

export function heavyRegion(c: GenerateContext): Lines {
  switch (c.choose.below(6)) {
    case 1: return guardedNest(c);
    case 2: return heavyRounds(c);
    case 3: return leavingGuards(c);
    case 4: return valuesOnTheWay(c);
    default: return heavyArm(c);
  }
}

/** `if (p) heavy [else light]`. */
function heavyArm(c: GenerateContext): Lines {
  const inner = deeper(c, { arrival: 'lanes' });
  return [`${c.indent}if (${predicate(c)}) {`, ...heavyBody(inner), ...(c.choose.rarely(2) ? [`${c.indent}} else {`, ...update(inner)] : []), `${c.indent}}`];
}

function predicate(c: GenerateContext): string {
  return c.choose.rarely(2) ? `i < n && ${dataCondition(c)}` : c.choose.rarely(4) ? `(${dataCondition(c)}) || (${condition(c, 0)})` : dataCondition(c);
}

/** The long part itself: it reads and changes the thread's own variables, its elements of the buffers, and what its number tells. */
function heavyBody(c: GenerateContext): Lines {
  const k = c.fresh('k');
  const h = c.fresh('h');
  const inner = deeper(c, { counters: [{ name: k, max: 8 }, ...c.counters], arrival: 'lanes', inLoop: true, depth: 1 });
  const start = c.choose.pick(['v', 'acc', `in[(i + 3) & ${ELEMENTS - 1}]`, '(float)tid', '(float)threadIdx.x', '(float)cnt']);
  const stop = c.choose.rarely(4) ? [`${inner.indent}if (${h} > 40.0f)`, `${inner.indent}    ${c.choose.pick(['break;', 'continue;'])}`] : [];
  const more = c.choose.rarely(3) ? update(inner) : [];
  const lines = [
    `${c.indent}float ${h} = ${start};`, `${c.indent}for (int ${k} = 0; ${k} < ${c.choose.pick(['8', 'm', '(key[i] & 7) + 1'])}; ++${k}) {`,
    `${inner.indent}${h} = ${h} * 0.75f + sqrtf(fabsf(${h}) + ${floatValue({ ...c, counters: inner.counters }, 1)});`, ...stop, ...more, `${c.indent}}`,
  ];
  const results = [
    `acc = ${h};`, `acc += ${h};`, `out[i] = ${h};`, `cnt += (int)(${h}) & 7;`, `v = ${h};`, `hash ^= (unsigned)(${h});`, `atomicAdd(&total[lane & 7], (int)${h} & 3);`,
    `if (${h} > 1.5f) acc = ${h};`,
  ] as const;
  for (let n = 1 + c.choose.below(3); n > 0; n--) lines.push(c.indent + c.choose.pick(results));
  if (c.choose.rarely(4)) lines.push(...block(deeper(c, { depth: 1, inLoop: false, arrival: 'lanes' }), 2).map((line) => line.replace(/^ {4}/, '')));
  return lines;
}

/** Guards around it, with statements before, behind and beside. */
function guardedNest(c: GenerateContext): Lines {
  const outer = deeper(c, { arrival: 'lanes' });
  const inner = deeper(outer);
  const quiet = (at: GenerateContext): Lines => (c.choose.rarely(2) ? update(at) : []);
  return [
    `${c.indent}if (${c.choose.pick(['i < n', 'lane != 3', 'i < n && flag', 'tid < 50'])}) {`, ...quiet(outer), `${outer.indent}if (${predicate(c)}) {`, ...heavyBody(inner),
    ...(c.choose.rarely(2) ? [`${outer.indent}} else {`, ...update(inner)] : []), `${outer.indent}}`, ...quiet(outer),
    ...(c.choose.rarely(3) ? [`${c.indent}} else {`, ...update(outer)] : []), `${c.indent}}`, ...quiet(c),
  ];
}

/** Again and again, in a loop that all threads run for as many rounds. */
function heavyRounds(c: GenerateContext): Lines {
  const t = c.fresh('t');
  const inner = deeper(c, { counters: [{ name: t, max: 8 }, ...c.counters], arrival: 'lanes', inLoop: false });
  const u = c.fresh('u');
  const value = `${inner.indent}float ${u} = in[(i + ${t} * ${c.choose.pick(['17', '64', '5'])}) & ${ELEMENTS - 1}];`;
  const test = c.choose.pick([`${u} > 0.0f`, `${u} < acc`, `((key[i] >> (${t} & 31)) & 1) != 0`, `i < n && ${u} > 0.5f`]);
  const body = c.choose.rarely(3)
    ? [`${inner.indent}if (!(${test}))`, `${inner.indent}    continue;`, ...heavyBody({ ...inner, counters: inner.counters }), `${inner.indent}acc += ${u};`]
    : [`${inner.indent}if (${test}) {`, ...heavyBody(deeper(inner)), `${deeper(inner).indent}acc += ${u};`, `${inner.indent}}`, ...(c.choose.rarely(2) ? update(inner) : [])];
  return [`${c.indent}for (int ${t} = 0; ${t} < ${c.choose.pick(['m', '3', '2'])}; ++${t}) {`, value, ...body, `${c.indent}}`];
}

/** Threads that have nothing to do leave: only where nobody waits for them. */
function leavingGuards(c: GenerateContext): Lines {
  if (c.arrival !== 'lanes' || c.inLoop) return heavyArm(c);
  const inner = deeper(c);
  const light = c.choose.rarely(2) ? [`outi[i] = cnt;`] : [];
  const guard = (test: string, work: readonly string[]): Lines => [`${c.indent}if (${test}) {`, ...work.map((line) => inner.indent + line), `${inner.indent}return;`, `${c.indent}}`];
  return [
    ...(c.choose.rarely(2) ? guard(`lut[lane & 7] == 1`, []) : []), ...(c.choose.rarely(2) ? update(c) : []), ...guard(`!(${dataCondition(c)})`, light), ...heavyBody(c),
  ];
}

/** Variables of a guard's own, which the heavy part reads or changes and the rest goes on with. */
function valuesOnTheWay(c: GenerateContext): Lines {
  const outer = deeper(c, { arrival: 'lanes' });
  const inner = deeper(outer);
  const [q, r] = [c.fresh('q'), c.fresh('r')];
  return [
    `${c.indent}if (i < n) {`, `${outer.indent}float ${q} = ${floatValue(c, 1)};`, `${outer.indent}const int ${r} = ${smallInt(c, 1)} & 15;`, `${outer.indent}float4 four${q} = make_float4(${q}, v, acc, 1.0f);`,
    `${outer.indent}if (${predicate(c)}) {`, ...heavyBody(inner), `${inner.indent}${q} = ${q} + (float)${r};`, ...(c.choose.rarely(2) ? [`${inner.indent}four${q}.x += ${q} * 0.5f;`] : []),
    `${outer.indent}}`, `${outer.indent}acc += ${q} + four${q}.x;`, ...(c.choose.rarely(2) ? [`${outer.indent}cnt += ${r};`] : []), `${c.indent}}`,
  ];
}

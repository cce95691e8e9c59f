/** Statements of the dialect: updates, branches, loops in the many spellings of real code, jumps, shared memory and collectives. */
import { deeper, type Counter, type GenerateContext } from './context.js';
import {
  blockCondition, condition, dataCondition, floatValue, geometricCondition, gridCondition, smallInt, warpCondition, ELEMENTS,
} from './expressions.js';

export type Lines = readonly string[];

export function block(c: GenerateContext, most: number): Lines {
  const lines: string[] = [];
  for (let k = c.choose.below(most) + 1; k > 0; k--) {
    lines.push(...statement(c));
    if (c.choose.exhausted) break;
  }
  return lines;
}

export function statement(c: GenerateContext): Lines {
  if (c.depth <= 0) return update(c);
  switch (c.choose.below(10)) {
    case 1: return branch(c, condition(c));
    case 2: return loop(c, (inner) => block(inner, 3));
    case 3: return c.choose.rarely(3) && c.arrival !== 'lanes' ? branch(c, warpCondition(c), 'warp') : branch(c, gridCondition(c), 'keep');
    case 4: return cooperative(c);
    case 5: return [`${c.indent}if (${condition(c)})`, `${c.indent}    ${update(c)[0]?.trim() ?? ';'}`];
    case 6: return choice(c);
    case 7: return jump(c);
    case 8: return localArray(c);
    default: return update(c);
  }
}

export function update(c: GenerateContext): Lines {
  const text = ((): string => {
    switch (c.choose.below(8)) {
      case 1: return `acc = ${floatValue(c)};`;
      case 2: return `cnt += ${smallInt(c)};`;
      case 3: return `cnt ^= ${smallInt(c)};`;
      case 4: return `v = ${floatValue(c)};`;
      case 5: return `hash = hash * 1664525u + (unsigned)(${smallInt(c)});`;
      case 6: return `if (cnt > 1000000) cnt = cnt % 1000;`;
      case 7: c.helpers.add('bump'); return `bump(acc, cnt, ${smallInt(c, 1)});`;
      default: return `acc += ${floatValue(c)};`;
    }
  })();
  return [c.indent + text];
}

/** `arrival` 'keep' for a condition that the whole block shares, 'warp' for one that each warp shares. */
export function branch(c: GenerateContext, test: string, arrival: 'keep' | 'warp' | 'lanes' = 'lanes'): Lines {
  const inner = deeper(c, arrival === 'keep' ? {} : { arrival });
  const lines = [`${c.indent}if (${test}) {`, ...block(inner, 2)];
  if (c.choose.rarely(2)) lines.push(`${c.indent}} else {`, ...block(inner, 2));
  else if (c.choose.rarely(4)) lines.push(`${c.indent}} else if (${condition(c)}) {`, ...block(deeper(c, { arrival: 'lanes' }), 2));
  return [...lines, `${c.indent}}`];
}

/** One loop in one of many spellings; `body` gets the context inside. The trip count is the same for all threads unless said. */
export function loop(c: GenerateContext, body: (inner: GenerateContext) => Lines): Lines {
  const t = c.fresh('t');
  const bound = c.choose.pick(['m', '4', '7', '(n + 63) / 64', '1']);
  const counter: Counter = { name: t, max: 64 };
  // A jump of some threads past a barrier is undefined: only loops that some threads run alone have jumps.
  const inner = deeper(c, { counters: [counter, ...c.counters], inLoop: c.arrival === 'lanes' });
  const unroll = c.choose.rarely(8) ? [`${c.indent}#pragma unroll`] : [];
  const open = (head: string, tail = '}'): Lines => [...unroll, `${c.indent}${head} {`, ...body(inner), `${c.indent}${tail}`];
  switch (c.choose.below(8)) {
    case 1: return open(`for (int ${t} = 0; ${t} <= ${bound}; ++${t})`);
    case 2: return open(`for (int ${t} = ${bound} - 1; ${t} >= 0; --${t})`);
    case 3: return open(`for (int ${t} = 0; ${t} < ${bound}; ${t} += 2)`);
    case 4: return [`${c.indent}int ${t};`, ...open(`for (${t} = 0; ${t} < ${bound}; ${t}++)`), `${c.indent}cnt += ${t};`];
    case 5: {
      // No `continue` inside: the update stands at the end of the body.
      const plain = { ...inner, inLoop: false };
      return [`${c.indent}int ${t} = 0;`, `${c.indent}while (${t} < ${bound}) {`, ...body(plain), `${plain.indent}${t}++;`, `${c.indent}}`];
    }
    case 6: {
      const plain = { ...inner, inLoop: false };
      return [`${c.indent}int ${t} = 0;`, `${c.indent}do {`, ...body(plain), `${plain.indent}++${t};`, `${c.indent}} while (${t} < ${bound});`];
    }
    case 7: return open(`for (unsigned ${t} = 0; ${t} < (unsigned)${bound.includes('/') ? `(${bound})` : bound}; ++${t})`);
    default: return open(`for (int ${t} = 0; ${t} < ${bound}; ++${t})`);
  }
}

function choice(c: GenerateContext): Lines {
  const inner = deeper(deeper(c, { arrival: 'lanes', inLoop: false }));
  const subject = c.choose.pick(['mode', 'key[i] & 3', 'tid & 3', `(${smallInt(c)}) & 3`]);
  const arm = (label: string, falls: boolean): Lines => [`${c.indent}${label} {`, ...block(inner, 2), ...(falls ? [] : [`${inner.indent}break;`]), `${c.indent}}`];
  return [
    `${c.indent}switch (${subject}) {`, ...arm('case 0:', false), ...arm('case 1:', c.choose.rarely(3)), ...arm('case 2:', false),
    ...(c.choose.rarely(2) ? arm('default:', true) : []), `${c.indent}}`,
  ];
}

/** A jump for some threads. Only where nobody waits for them afterwards. */
function jump(c: GenerateContext): Lines {
  if (!c.inLoop || c.arrival !== 'lanes') return update(c);
  return [`${c.indent}if (${condition(c)})`, `${c.indent}    ${c.choose.pick(['continue;', 'break;'])}`];
}

/** Shared memory with barriers where the whole block arrives; shuffles and votes where whole warps do; else an atomic. */
export function cooperative(c: GenerateContext): Lines {
  if (c.arrival === 'block' && !c.choose.rarely(3)) {
    const offset = c.choose.pick(['1', '5', '31']);
    const flat = c.rows > 1 ? `threadIdx.y * ${c.threads} + tid` : 'tid';
    return [
      `${c.indent}tile[${flat}] = ${floatValue(c)};`, `${c.indent}__syncthreads();`,
      `${c.indent}acc += tile[(${flat} + ${offset}) % ${c.threads * c.rows}];`, `${c.indent}__syncthreads();`,
    ];
  }
  if (c.arrival !== 'lanes') {
    switch (c.choose.below(4)) {
      case 1: return [`${c.indent}cnt += __popc(__ballot_sync(0xffffffffu, ${dataCondition(c)}));`];
      case 2: return [`${c.indent}if (__any_sync(0xffffffffu, ${dataCondition(c)})) {`, ...update(deeper(c)), `${c.indent}}`];
      case 3: return [`${c.indent}cnt ^= __shfl_sync(0xffffffffu, cnt, ${c.choose.pick(['0', '7', '31'])});`];
      default: return [`${c.indent}acc += __shfl_xor_sync(0xffffffffu, acc, ${c.choose.pick(['1', '4', '16'])});`];
    }
  }
  return [`${c.indent}atomicAdd(&total[${c.choose.pick(['0', 'lane & 7', 'key[i] & 7'])}], ${c.choose.pick(['1', 'cnt & 7', 'lane'])});`];
}

function localArray(c: GenerateContext): Lines {
  const r = c.fresh('r');
  const k = c.fresh('k');
  return [
    `${c.indent}float ${r}[4];`, `${c.indent}for (int ${k} = 0; ${k} < 4; ++${k})`, `${c.indent}    ${r}[${k}] = ${floatValue({ ...c, counters: [{ name: k, max: 3 }, ...c.counters] })};`,
    `${c.indent}acc += ${r}[${c.choose.pick(['0', 'lane & 3', '3'])}] + ${r}[1];`,
  ];
}

// ------------------------------------------------------------------------------------------ shapes that transforms look for

/** A loop with an invariant condition in its body. */
export function invariantBranchLoop(c: GenerateContext): Lines {
  return loop(c, (inner) => {
    const shared = c.choose.below(4);
    const test = shared === 1 ? blockCondition(c) : shared === 2 ? warpCondition(c) : shared === 3 ? c.choose.pick(['lane < 9', 'key[i] > 5']) : gridCondition(c);
    const arms = deeper(inner, { arrival: shared === 0 || shared === 1 ? inner.arrival : 'lanes' });
    const before = c.choose.rarely(2) ? block(inner, 2) : [];
    const after = c.choose.rarely(2) ? block(inner, 2) : [];
    const lines = [`${inner.indent}if (${test}) {`, ...block(arms, 2)];
    if (c.choose.rarely(2)) lines.push(`${inner.indent}} else {`, ...block(arms, 2));
    return [...before, ...lines, `${inner.indent}}`, ...after];
  });
}

/** A loop over tiles whose loads are guarded against the extent. */
export function tileLoop(c: GenerateContext): Lines {
  const t = c.fresh('t');
  const T = c.threads;
  const guard = c.choose.pick([`${t} * ${T} + tid < n`, `n > tid + ${t} * ${T}`, `${t} * ${T} + tid <= n - 1`, `${t} * ${T} + tid < n && flag`, `i < n && ${t} * ${T} + tid < n`]);
  const inner = deeper(c, { counters: [{ name: t, max: 64 }, ...c.counters], inLoop: c.arrival === 'lanes' });
  const head = c.choose.pick([
    `for (int ${t} = 0; ${t} < (n + ${T - 1}) / ${T}; ++${t})`, `for (int ${t} = 0; ${t} < m; ++${t})`, `for (int ${t} = 0; ${t} * ${T} < n; ${t}++)`,
  ]);
  const load = c.choose.rarely(2)
    ? [`${inner.indent}float x = ${guard} ? in[(${t} * ${T} + tid) & ${ELEMENTS - 1}] : 0.0f;`]
    : [`${inner.indent}float x = 0.0f;`, `${inner.indent}if (${guard})`, `${inner.indent}    x = in[(${t} * ${T} + tid) & ${ELEMENTS - 1}];`];
  const use = c.arrival === 'block' && c.rows === 1 && c.choose.rarely(2)
    ? [`${inner.indent}tile[tid] = x;`, `${inner.indent}__syncthreads();`, `${inner.indent}for (int k = 0; k < 8; ++k)`, `${inner.indent}    acc += tile[(tid + k) % ${T}] * w;`, `${inner.indent}__syncthreads();`]
    : [`${inner.indent}acc += x * w;`, ...block({ ...inner, arrival: 'lanes' }, 2)];
  return [`${c.indent}${head} {`, ...load, ...use, `${c.indent}}`];
}

/** A neighbourhood with both edges guarded. */
export function windowLoop(c: GenerateContext): Lines {
  const k = c.fresh('k');
  const radius = c.choose.pick(['2', '4', 'm']);
  const j = c.fresh('j');
  const test = c.choose.pick([`${j} >= 0 && ${j} < n`, `(unsigned)${j} < (unsigned)n`, `${j} >= 0 && ${j} <= n - 1`]);
  return [
    `${c.indent}for (int ${k} = -${radius}; ${k} <= ${radius}; ++${k}) {`, `${c.indent}    int ${j} = i + ${k};`, `${c.indent}    if (${test})`,
    `${c.indent}        acc += in[${j} & ${ELEMENTS - 1}] * ${c.choose.pick(['w', '0.25f'])};`, `${c.indent}}`,
  ];
}

/** A loop one of whose iterations is special. */
export function specialIterationLoop(c: GenerateContext): Lines {
  const t = c.fresh('t');
  const bound = c.choose.pick(['m', '5', 'n / 8']);
  const test = c.choose.pick([`${t} == 0`, `${t} == ${bound} - 1`, `${t} != tid`, `${t} != i`, `${t} > 0`, `${t} + 1 < ${bound}`, `${t} != m / 2`]);
  const inner = deeper(deeper(c, { arrival: 'lanes', counters: [{ name: t, max: 64 }, ...c.counters] }));
  const body = [`${c.indent}    if (${test}) {`, ...block(inner, 2), ...(c.choose.rarely(2) ? [`${c.indent}    } else {`, ...block(inner, 1)] : []), `${c.indent}    }`];
  return [`${c.indent}for (int ${t} = 0; ${t} < ${bound}; ++${t}) {`, ...body, ...block({ ...inner, indent: c.indent + '    ' }, 1), `${c.indent}}`];
}

/** A role that is known when the kernel is launched: by an argument, or by the number of the block. */
export function roleBranch(c: GenerateContext): Lines {
  const inner = deeper(c);
  const test = c.choose.pick([
    'blockIdx.x < 2', 'mode == 1', 'flag', 'blockIdx.x == 0', '(int)blockIdx.x < mode', 'blockIdx.x >= 1', 'blockIdx.x == gridDim.x - 1', 'mode > 1 && flag', 'w > 0.5f || m == 3',
    'blockIdx.x < m', 'n - 40 > 0', 'blockIdx.x <= mode', '(unsigned)m > blockIdx.x', 'blockIdx.x != 0', '!flag', 'mode % 2 == 1', 'blockIdx.x + 1 > 2',
  ]);
  const head = [`${c.indent}if (${test}) {`, ...block(inner, 3)];
  if (c.choose.rarely(4)) {
    const second = c.choose.pick(['flag', 'blockIdx.x < 3', 'mode == 2', 'lane < 7']);
    const arms = second === 'lane < 7' ? deeper(c, { arrival: 'lanes' }) : inner;
    return [...head, `${c.indent}} else if (${second}) {`, ...block(arms, 2), `${c.indent}} else {`, ...block(arms, 2), `${c.indent}}`];
  }
  return [...head, `${c.indent}} else {`, ...block(inner, 3), `${c.indent}}`];
}

/** Lanes of one warp do different work by position. */
export function geometricBranch(c: GenerateContext): Lines {
  return branch(c, geometricCondition(c));
}

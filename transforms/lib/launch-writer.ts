/**
 * A launch plan as host text in the place of every launch of a kernel.
 *
 * The plan speaks of the kernel's parameters, of `gridDim` and `blockDim` of the launch that it replaces, of values and of temporaries. At a
 * site each of these is the argument's own text where that is the same, else a variable of the parameter's type that is set once. Two
 * launches of which the first is left out unless `c` and the second if `c` become `if (c) … else …`. A launch of another grid than the
 * original's is guarded by `if (grid > 0)`: the runtime calls a launch of nothing an error. Grids that the runtime refuses, negative numbers
 * among them, are none; a plan that takes memory is left out for them as a whole.
 */
import { strip } from '../../src/analysis/children.js';
import type { Span } from '../../src/source/types.js';
import type { Expr, ParameterDecl } from '../../src/syntax/tree.js';
import { sameType } from './equality.js';
import { errorCheck, spokenByMacros } from './launch-checks.js';
import { fileTokens, spelledIn } from './launch-mentions.js';
import { exchangeNames, hostTexts, isArithmetic, isBareName, isPlain, isRepeatable, namesIn } from './launch-names.js';
import { lostComments } from './lost-comments.js';
import { changes, diesWith } from './launch-order.js';
import { hostPass } from './launch-passes.js';
import type { KernelSites, LaunchSite } from './launch-sites.js';
import { placeAt } from './launch-place.js';
import { isNeverEmpty, mayBeRefused, MOST_BLOCKS } from './launch-grid.js';
import { AXES, coveredBy, dividedAxes, isChoice, onlyCounted, sizeDecides, SMALL_GRID, type KernelStep } from './launch-steps.js';
import { argumentsOf, balanced, negated, simpleShape, typeText } from './launch-text.js';
import { blockText, styleOf, unixNewlines, type Style } from './text.js';
import type { Edit, LaunchPlan, LaunchStep } from './types.js';

/** What a caller knows about a condition of the plan (a step's `unless`) at one site; null if it is decided at run time. */
export type Decide = (site: LaunchSite, condition: string) => boolean | null;

/** Types of variables that a value is copied to. */
const NUMBERS: ReadonlySet<string> = new Set(['bool', 'float', 'double', '__half', '__nv_bfloat16', ...['char', 'short', 'int', 'long long'].flatMap((type) => [type, `signed ${type}`, `unsigned ${type}`])]);

/** Why a site cannot be written; its message ends up in the list of obstacles. */
export class InTheWay extends Error {
  constructor(message: string, readonly remedy: string | null = null) {
    super(message);
  }
}

/** One launch site: names are bound, then the steps are written in order. */
export class SiteWriter {
  readonly includes = new Set<string>();
  readonly #lines: string[] = [];
  /** Declarations that stand in front of everything else. */
  readonly #locals: string[] = [];
  readonly #bound = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** What may stand in several launches as it is. */
  readonly #texts = new Map<'grid' | 'block' | 'shared' | 'stream', string>();
  readonly #steps: readonly LaunchStep[];
  /** Sides of grids of which it is known that they are not empty, in the plan's words. */
  readonly #full = new Set<string>();
  readonly #choice: boolean;
  /** Axes along which the blocks of the plan are not those of the original. */
  readonly #divided: ReadonlySet<string>;
  /** Memory is taken for the launch: nothing of the plan is done for a launch of no blocks. */
  readonly #guarded: boolean;
  /** Parts of the launch that go into variables because others change them, or they others: in the order of the launch. */
  readonly #kept: ReadonlySet<Expr>;
  readonly #style: Style;

  constructor(private readonly found: KernelSites, private readonly site: LaunchSite, plan: LaunchPlan, decide: Decide) {
    const known = (step: LaunchStep): boolean | null => (step.kind !== 'kernel' || step.unless === null ? false : sizeDecides(site.launch.grid, step.unless) ?? decide(site, step.unless));
    this.#steps = plan.steps.filter((step) => known(step) !== true).map((step) => {
      if (step.kind !== 'kernel' || known(step) === null) return step;
      for (const side of coveredBy(step.unless)) this.#full.add(side);
      return { ...step, unless: null };
    });
    const kernels = this.#steps.filter((step) => step.kind === 'kernel');
    this.#choice = kernels.length <= 1 || (kernels.length === 2 && isChoice(kernels[0], kernels[1]));
    this.#divided = dividedAxes(this.#steps);
    this.#guarded = this.#steps.some((step) => step.kind === 'temporary');
    this.#style = styleOf(site.unit.source, site.function, found.kernel);
    // A new variable must not hide what the plan's texts call by its name.
    for (const { name } of plan.constants ?? []) this.#taken.add(name);
    this.#kept = this.#inOrder();
    this.#check(plan);
    this.#bindConfiguration();
    this.#bindTemplate();
    this.#bindParameters();
    this.#write();
    if (this.#guarded) this.#guard();
  }

  edits(): readonly Edit[] {
    const { unit, statement, parent } = this.site;
    const written = [...this.#locals, ...this.#lines];
    const lines = [...lostComments(unit.source, statement.span, written.join('\n')), ...written];
    const [only] = lines;
    // One launch in the place of one: nothing around it changes.
    if (lines.length === 1 && only !== undefined && !only.includes('\n')) return [{ file: unit.source.realPath, span: statement.span, text: only }];
    const link = this.#locals.length === 0 && this.#lines.length === 1 && lines.length === 1 && /^if\b[^]*^else\b/m.test(only ?? '');
    const place = placeAt(unit.source, statement, parent, this.#locals.length > 0 || this.#needsScope(), this.#style.unit, link);
    const text = lines.map((line) => line.split('\n').map((piece) => (piece === '' ? piece : place.indent + piece)).join('\n')).join('\n');
    return [{ file: unit.source.realPath, span: place.span, text: place.before + text.slice(place.indent.length) + place.after }];
  }

  #needsScope(): boolean {
    return this.#lines.length > 1 || (!this.#guarded && this.#steps.some((step) => step.kind !== 'kernel'));
  }

  /** Puts the lines under `if (blocks > 0)`, where that is not known. */
  #guard(): void {
    const { launch } = this.site;
    const asked = AXES.filter((axis) => !isNeverEmpty(launch.grid, axis, this.site)).map((axis) => this.#bound.get(`gridDim${axis}`)).filter((side) => side !== undefined && side !== '1');
    if (asked.length === 0) return;
    this.#putUnder(asked.map((side) => `${side ?? ''} > 0`).join(' && '), 0);
  }

  /** Puts the lines from `start` on into a block below a condition. */
  #putUnder(condition: string, start: number): void {
    const style = this.#style;
    const inner = this.#lines.slice(start).flatMap((line) => line.split('\n')).map((line) => (line === '' ? line : this.#style.unit + line));
    this.#lines.splice(start, this.#lines.length, blockText(style, '', `if${style.keywordSpace}(${condition})`, inner.join('\n')));
  }

  // ------------------------------------------------------------------------------------------------------------ names

  /** A name that means nothing else at the site: the launch's own texts may use any name that is visible there. */
  fresh(base: string): string {
    const { unit, function: fn } = this.site;
    for (let n = 1; ; n++) {
      const name = n === 1 ? base : `${base}${n}`;
      if (this.#taken.has(name) || spelledIn(unit.source, fn.span, name) || spokenByMacros(unit, name)) continue;
      this.#taken.add(name);
      return name;
    }
  }

  /** A variable for a part of the launch, which is evaluated there once and for all. */
  #variable(type: string, base: string, part: Expr, value = this.textOf(part.span)): string {
    const wanted = type === 'unsigned' || type === 'dim3' || type === 'size_t' || this.#isNumber(type) ? 'number' : 'pointer';
    const why = diesWith(part, wanted, type === 'auto' && strip(part).type.kind === 'record');
    if (why !== null) throw new InTheWay(`${this.textOf(part.span)} cannot be kept for several launches: ${why}`, 'name the temporary in front of the launch');
    return this.local(type, base, value);
  }

  #isNumber(type: string): boolean {
    return NUMBERS.has(type);
  }

  local(type: string, base: string, value: string): string {
    const name = this.fresh(base);
    this.#locals.push(value.startsWith('{') ? `const ${type} ${name}${value};` : `const ${type} ${name} = ${value};`);
    return name;
  }

  textOf(span: Span): string {
    return unixNewlines(this.site.unit.source.text.slice(span.start, span.end));
  }

  /** A text of the plan with names exchanged for what stands for them here. */
  host(text: string): string {
    return exchangeNames(text, (base, members) => {
      if ((base === 'gridDim' || base === 'blockDim') && AXES.includes(members)) return this.#bound.get(base + members) ?? null;
      const bound = this.#bound.get(base);
      return bound === undefined ? null : bound + members;
    });
  }

  /** Values of constants that the texts hold: the compiler says where one has changed. */
  #check({ constants = [] }: LaunchPlan): void {
    for (const { name, value, checked } of constants) if (checked === true) this.#locals.push(`static_assert(${name} == ${value}, "the blocks are counted for this ${name.replace(/^::/, '')}");`);
  }

  /** `<<<…>>>` comes before the arguments, and each part is evaluated once. */
  #inOrder(): ReadonlySet<Expr> {
    const { launch, function: fn } = this.site;
    const kept = new Set<Expr>();
    const configuration = [launch.grid, launch.block, launch.sharedBytes, launch.stream].filter((part) => part !== null);
    const moved = this.found.kernel.parameters.flatMap((parameter) => {
      const argument = launch.arguments[parameter.index];
      return argument !== undefined && this.#leaves(parameter, argument) ? [argument] : [];
    });
    const meets = (a: Expr, b: Expr): boolean => changes(a, b, fn) || changes(b, a, fn);
    // What moves takes along what it meets.
    for (let size = -1; size !== moved.length; ) {
      size = moved.length;
      for (const argument of launch.arguments) {
        if (kept.has(argument) || !launch.arguments.some((other) => (moved.includes(argument) || moved.includes(other)) && meets(argument, other))) continue;
        kept.add(argument);
        if (!moved.includes(argument)) moved.push(argument);
      }
    }
    for (const part of configuration) {
      const others = [...moved, ...(this.#choice ? [] : configuration)];
      if (others.some((other) => meets(part, other))) kept.add(part);
    }
    return kept;
  }

  /** The argument is evaluated elsewhere than in the one launch that runs. */
  #leaves(parameter: ParameterDecl, argument: Expr): boolean {
    const kernels = this.#steps.filter((step) => step.kind === 'kernel');
    const computed = hostTexts({ steps: this.#steps }).flatMap(namesIn).some((name) => name.base === parameter.name);
    return computed || (!isRepeatable(argument) && !(this.#choice && this.#passes(parameter.name) === kernels.length));
  }

  #passes(name: string): number {
    return this.#steps.filter((step) => step.kind === 'kernel' && step.arguments.some((text) => text.trim() === name)).length;
  }

  #bindConfiguration(): void {
    const { launch } = this.site;
    const used = hostTexts({ steps: this.#steps }).flatMap(namesIn);
    const library = this.#steps.some((step) => step.kind !== 'kernel' && step.kind !== 'value');
    for (const [which, expr, variable, type, base] of [
      ['grid', launch.grid, 'gridDim', 'dim3', 'grid'], ['block', launch.block, 'blockDim', 'dim3', 'block'],
      ['shared', launch.sharedBytes, null, 'size_t', 'shared_bytes'], ['stream', launch.stream, null, 'cudaStream_t', 'launch_stream'],
    ] as const) {
      if (expr === null) continue;
      const computed = variable !== null && used.some((name) => name.base === variable && name.members !== '');
      const whole = this.textOf(expr.span);
      if (computed && variable !== null) {
        this.#bindShape(which, expr, variable, base);
        continue;
      }
      const again = !this.#kept.has(expr) && ((this.#choice && !(which === 'stream' && library)) || isRepeatable(expr));
      if (!again && variable !== null) {
        this.#bindShape(which, expr, variable, base);
        continue;
      }
      this.#texts.set(which, again ? whole : this.#variable(type, base, expr));
      if (variable !== null) this.#bound.set(variable, this.#texts.get(which) ?? whole);
    }
  }

  /** A shape of which the plan needs single sides. */
  #bindShape(which: 'grid' | 'block', expr: Expr, variable: string, base: string): void {
    const whole = this.textOf(expr.span);
    const counted = which === 'grid' ? AXES.filter((axis) => this.#divided.has(axis) && mayBeRefused(expr, axis, this.site)) : [];
    if (isArithmetic(expr.type) && expr.kind !== 'init-list') {
      const plain = !this.#kept.has(expr) && isPlain(expr) && expr.type.kind === 'int' && expr.type.bits === 32 ? expr.type : null;
      // A number of blocks that the runtime refuses is negative as an int, and the parts of it would be there.
      const signed = counted.includes('.x');
      const fixed = !signed || this.#guarded || onlyCounted(this.#steps, '.x');
      const name = plain?.signed === signed ? whole : this.#variable(signed ? 'int' : 'unsigned', which === 'block' ? 'threads' : fixed ? 'blocks' : 'grid', expr);
      const x = fixed ? name : this.local('unsigned', 'blocks', `${name} > 0 ? ${name} : 0`);
      this.#texts.set(which, name);
      this.#bound.set(variable, name).set(`${variable}.x`, x).set(`${variable}.y`, '1').set(`${variable}.z`, '1');
      return;
    }
    const same = !this.#kept.has(expr) && isPlain(expr) && expr.type.kind === 'record' && expr.type.decl.name === 'dim3';
    const name = same ? whole : this.#variable('dim3', base, expr, whole.startsWith('{') ? whole : `dim3(${whole})`.replace(/^dim3\((dim3\(.*\))\)$/s, (all, inner: string) => (balanced(inner) ? inner : all)));
    this.#texts.set(which, name);
    this.#bound.set(variable, name);
    for (const axis of AXES) {
      const side = name + axis;
      this.#bound.set(variable + axis, counted.includes(axis) ? this.local('unsigned', `blocks_${axis.slice(1)}`, `${side} <= ${MOST_BLOCKS[axis] ?? ''} ? ${side} : 0`) : side);
    }
  }

  #bindParameters(): void {
    const computed = new Set(hostTexts({ steps: this.#steps }).flatMap(namesIn).map((name) => name.base));
    const kernels = this.#steps.filter((step) => step.kind === 'kernel');
    for (const parameter of this.found.kernel.parameters) {
      const argument = this.site.launch.arguments[parameter.index];
      if (argument === undefined) throw new InTheWay('launched with default arguments left out');
      this.#bindParameter(parameter, argument, computed.has(parameter.name), this.#passes(parameter.name), kernels.length);
    }
  }

  /** Template parameters that the plan computes with: what the launch gives for them. */
  #bindTemplate(): void {
    const computed = new Set(hostTexts({ steps: this.#steps }).flatMap(namesIn).map((name) => name.base));
    for (const parameter of this.found.kernel.template ?? []) {
      if (!computed.has(parameter.name)) continue;
      const given = this.site.launch.templateArguments?.[parameter.index];
      if (given?.kind !== 'value' || parameter.type === null || !isArithmetic(parameter.type)) throw new InTheWay(`its template argument ${parameter.name} does not stand there`);
      const text = this.textOf(given.value.span);
      this.#bound.set(parameter.name, text === parameter.name ? text : this.#variable(typeText(parameter.type), parameter.name, given.value));
    }
  }

  #bindParameter(parameter: ParameterDecl, argument: Expr, computed: boolean, passed: number, kernels: number): void {
    const text = this.textOf(argument.span);
    const { name } = parameter;
    if (argument.kind === 'opaque') throw new InTheWay(`the argument ${text} was not understood`);
    if (computed) {
      if (!this.#kept.has(argument) && isPlain(argument) && sameType(argument.type, parameter.type) && argument.type.volatile !== true) this.#bound.set(name, text);
      else this.#bound.set(name, this.#variable(this.#localType(parameter, argument), name, argument));
      return;
    }
    // Evaluated exactly once as it stands.
    if (!this.#kept.has(argument) && (isRepeatable(argument) || (this.#choice && passed === kernels))) {
      this.#bound.set(name, text);
    } else if (passed === 0) {
      this.#locals.push(`(void)(${text});`);
    } else {
      this.#bound.set(name, this.#variable(isArithmetic(parameter.type) ? typeText(parameter.type) : text.startsWith('{') ? this.#localType(parameter, argument) : this.#held(parameter, argument), name, argument));
    }
  }

  /** `auto`, which must not make a variable of another class than the parameter's: its conversion may not be for constants, or give something of its own. */
  #held(parameter: ParameterDecl, argument: Expr): string {
    const { type } = strip(argument);
    if (type.kind === 'record' && type.decl.vector === null && !sameType(type, parameter.type)) throw new InTheWay(`no variable of the type of ${parameter.name} can be declared here`, 'name the converted value in front of the launch');
    return 'auto';
  }

  /** What a variable of the parameter's type is declared with: the type itself, or `auto` for an argument that has it. */
  #localType(parameter: ParameterDecl, argument: Expr): string {
    if (isArithmetic(parameter.type)) return typeText(parameter.type);
    // What is asked of a pointer on the host, whether it is null, no conversion between pointers changes.
    if (parameter.type.kind === 'pointer' && argument.type.kind === 'pointer' && argument.kind !== 'literal') return 'auto';
    if (this.found.kernel.template === null && sameType(argument.type, parameter.type)) return 'auto';
    throw new InTheWay(`no variable of the type of ${parameter.name} can be declared here`);
  }

  // ------------------------------------------------------------------------------------------------------------ steps

  #write(): void {
    const steps = [...this.#steps];
    const tail: string[] = [];
    const unchecked: string[] = [];
    // Where work begins that is done with the memory that was taken.
    let work = -1;
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      if (work < 0 && unchecked.length > 0 && step.kind !== 'temporary') work = this.#lines.length;
      if (step.kind === 'kernel') {
        const [next] = steps;
        if (next?.kind === 'kernel' && isChoice(step, next)) {
          steps.shift();
          this.#lines.push(`if (${this.host(next.unless ?? '')})\n${this.#style.unit}${this.#launch(step)}\nelse\n${this.#style.unit}${this.#launch(next)}`);
        } else {
          const guards = [...(step.unless === null ? [] : [this.#runsIf(step.unless)]), ...this.#nonEmpty(step)];
          const call = this.#launch(step);
          const [whole] = guards;
          const test = guards.length === 1 && whole !== undefined ? whole.replace(/^\((.*)\)$/s, (all, inner: string) => (balanced(inner) ? inner : all)) : guards.join(' && ');
          this.#lines.push(guards.length === 0 ? call : `if (${test})\n${this.#style.unit}${call}`);
        }
      } else if (step.kind === 'value') {
        const value = this.host(step.value);
        const name = this.fresh(step.name);
        this.#bound.set(step.name, name);
        this.#lines.push(`const ${step.type} ${name} = ${value};`);
      } else {
        const stream = this.#texts.get('stream') ?? '0';
        const check = errorCheck(this.site.unit, this.site.function, this.site.statement.span.start);
        const pass = hostPass(step, { host: (text) => this.host(text), fresh: (base) => this.fresh(base), bind: (name, as) => this.#bound.set(name, as), element: (name) => this.#element(name), stream, check });
        if (pass === null) throw new InTheWay(`a ${step.kind} pass of this kind cannot be written`);
        this.#lines.splice(work < 0 ? this.#lines.length : work, 0, ...pass.before);
        if (work >= 0) work += pass.before.length;
        unchecked.push(...pass.unchecked);
        this.#lines.push(...pass.lines);
        tail.unshift(...pass.after);
        for (const header of pass.includes) this.includes.add(header);
      }
    }
    // A failed allocation stays the answer of cudaGetLastError; what would write to it is left out.
    if (work >= 0) this.#putUnder(unchecked.map((name) => `${name} != nullptr`).join(' && '), work);
    this.#lines.push(...tail);
  }

  #element(name: string): string | null {
    const made = this.#steps.find((step) => step.kind === 'temporary' && step.name === name);
    return made?.kind === 'temporary' ? made.element : null;
  }

  /** `grid > 0` for each side of the grid that is not the original's, unless its condition says so. */
  #nonEmpty(step: KernelStep): readonly string[] {
    const grid = step.grid.trim();
    if (grid === 'gridDim' || (step.asFull === true && this.#guarded)) return [];
    const list = /^dim3\s*\((.*)\)$/s.exec(grid)?.[1];
    const sides = list === undefined ? [grid] : argumentsOf(list);
    const full = new Set([...this.#full, ...coveredBy(step.unless)]);
    return sides.flatMap((side, i) => (/^[1-9]\d*$/.test(side) || side === `gridDim${AXES[i] ?? ''}` || full.has(side) ? [] : [this.#isWhole(side, AXES[i] ?? '') ?? `${this.host(side)} > 0`]));
  }

  /** What others leave of the original's side: where they take nothing it is the original's, and raises the error of a launch of no blocks as that did. */
  #isWhole(side: string, axis: string): string | null {
    const taken = side.startsWith(`gridDim${axis} - `) ? side.slice(`gridDim${axis} - `.length) : '';
    return isBareName(taken) && !isNeverEmpty(this.site.launch.grid, axis, this.site) ? `(${this.host(taken)} == 0 || ${this.host(side)} > 0)` : null;
  }

  #runsIf(unless: string): string {
    const most = SMALL_GRID.exec(unless);
    return most === null ? negated(this.host(unless)) : `${this.host(most[1] ?? '')} > ${most[2] ?? ''}`;
  }

  #launch(step: KernelStep): string {
    const args = step.arguments.map((text) => (isBareName(text) ? this.#bound.get(text.trim()) ?? text.trim() : this.host(text)));
    return `${this.#callee(step)}${this.#configuration(step)}(${args.join(', ')});`;
  }

  /** `ns::k<4>` with the new name in it. */
  #callee(step: KernelStep): string {
    const { call, unit } = this.site;
    const tokens = fileTokens(unit.source);
    const span = call.calleeSpan;
    for (let i = 0; i < tokens.count; i++) {
      if (tokens.start(i) < span.start) continue;
      if (tokens.start(i) >= span.end) break;
      if (tokens.spelling(i) === this.found.kernel.name) {
        return this.textOf({ start: span.start, end: tokens.start(i) }) + step.kernel + this.textOf({ start: tokens.end(i), end: span.end });
      }
    }
    throw new InTheWay('the kernel is named by a macro');
  }

  #configuration(step: KernelStep): string {
    const { launch, call } = this.site;
    const { argumentsSpan } = launch;
    const asItIs = step.grid.trim() === 'gridDim' && step.block.trim() === 'blockDim' && step.shared === undefined;
    const untouched = [['grid', launch.grid], ['block', launch.block], ['shared', launch.sharedBytes], ['stream', launch.stream]] as const;
    if (asItIs && argumentsSpan !== null && untouched.every(([which, expr]) => expr === null || this.#texts.get(which) === this.textOf(expr.span))) {
      return this.textOf({ start: call.calleeSpan.end, end: argumentsSpan.start });
    }
    if (launch.grid.span.start === launch.block.span.start) throw new InTheWay('its configuration comes out of one macro');
    const shared = step.shared === undefined ? this.#texts.get('shared') ?? null : this.host(step.shared);
    const stream = this.#texts.get('stream') ?? null;
    const parts = [simpleShape(this.host(step.grid)), simpleShape(this.host(step.block))];
    if (shared !== null || stream !== null) parts.push(shared ?? '0');
    if (stream !== null) parts.push(stream);
    return `<<<${parts.join(', ')}>>>`;
  }
}

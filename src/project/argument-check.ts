/** Whether `--arg` names parameters of the kernels at hand and gives them values of their types: a slip is told before anything runs. */
import { instancesOf, parameterLeaves, fits, type Argument, type Arguments, type SimType } from '../simulate/index.js';
import type { FunctionDecl, Program } from '../syntax/tree.js';
import { UsageError } from './errors.js';
import { didYouMean } from './suggest.js';

interface Target { readonly kernel: string; readonly type: SimType }

/** Throws `UsageError`. What a kernel's types do not tell (an opaque type) is not judged. */
export function checkArguments(args: Arguments, kernels: readonly { readonly kernel: FunctionDecl; readonly program: Program }[]): void {
  if (args.size === 0) return;
  const targets = new Map<string, Target[]>();
  const order = new Map<FunctionDecl, readonly string[]>();
  for (const { kernel, program } of kernels) {
    const names: string[] = [];
    for (const { name, type } of namesOf(kernel, program)) {
      names.push(name);
      targets.set(name, [...targets.get(name) ?? [], { kernel: kernel.name, type }]);
    }
    order.set(kernel, names);
    // Variables of the device have values too.
    for (const unit of program.units.values()) for (const v of unit.variables) if ((v.space === 'device' || v.space === 'constant' || v.space === 'managed') && !targets.has(v.name)) targets.set(v.name, []);
  }
  for (const [name, argument] of args) {
    const found = targets.get(name);
    if (found === undefined) throw new UsageError(`--arg ${name}: no kernel here has such a parameter${didYouMean(name, targets.keys())}`);
    for (const target of found) {
      const problem = mismatch(argument, target.type);
      if (problem !== null) throw new UsageError(`--arg ${name}: ${problem} (parameter of ${target.kernel})`);
    }
    if (argument.kind !== 'alias') continue;
    if (!targets.has(argument.of)) throw new UsageError(`--arg ${name}=alias(${argument.of}): no kernel here has a parameter ${argument.of}${didYouMean(argument.of, targets.keys())}`);
    for (const names of order.values()) {
      const [own, other] = [names.indexOf(name), names.indexOf(argument.of)];
      if (own >= 0 && other > own) throw new UsageError(`--arg ${name}=alias(${argument.of}): the later parameter is an alias of the earlier one; write ${argument.of}=alias(${name})`);
    }
  }
}

function namesOf(kernel: FunctionDecl, program: Program): readonly { readonly name: string; readonly type: SimType }[] {
  try {
    const [instance] = instancesOf(program, kernel).instances;
    return instance === undefined ? [] : parameterLeaves(kernel, instance.environment);
  } catch {
    // A kernel that cannot be prepared says so when it is run; its names are still known.
    return kernel.parameters.map((p) => ({ name: p.name, type: { k: 'void' } }));
  }
}

function mismatch(argument: Argument, type: SimType): string | null {
  switch (type.k) {
    case 'pointer':
      return argument.kind === 'value' && Number(argument.value) !== 0 ? 'a pointer takes contents (uniform(-1,1), constant(2), [1,2,3], @FILE), alias(other), or 0 for null' : null;
    case 'scalar': {
      if (argument.kind === 'alias') return 'alias(…) is for pointers';
      const whole = !['f16', 'bf16', 'f32', 'f64'].includes(type.s);
      const values: readonly (number | bigint)[] = argument.kind === 'value' ? [argument.value] : argument.distribution.kind === 'values' ? argument.distribution.values : [];
      for (const value of values) {
        if (!whole) continue;
        if (typeof value === 'number' && !Number.isInteger(value)) return `${value} is no whole number`;
        if (type.s === 'bool' ? value !== 0 && value !== 1 : !fits(value, type.s)) return `${value} does not fit its type`;
      }
      return null;
    }
    case 'record': return argument.kind === 'value' ? 'it is a struct: give its members, such as NAME.member=3' : null;
    default: return null;
  }
}

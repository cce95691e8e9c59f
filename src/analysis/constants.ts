/**
 * Integer constants of device code at a use: literals, enumerators, `constexpr` and `const` variables, variables with one constant
 * definition, template values, `sizeof`, and what C++ computes from them.
 *
 * Values of variables come from the definitions that reach the use, so a variable that is assigned on some paths has several. Coordinates and
 * block dimensions count only where the shape is given (option, annotation, `__block_size__`) or every launch is visible and agrees:
 * callers rely on a constant without an assumption beside it.
 *
 * Not handled: values of parameters of device functions (their callers' arguments are asked where a kernel is known), floating point.
 */
import type { Expr, FunctionDecl, Program, RefExpr, TemplateParameterDecl } from '../syntax/tree.js';
import { callSitesBelow } from './call-sites.js';
import type { Env } from './env.js';
import { indexFunction, isAutomatic } from './function-index.js';
import { convertAll, evaluate, int, isConstant, single, union, type Resolver, type Values } from './integer-values.js';
import { lanesOfWarp } from './platform.js';
import { gridFact, templateValues } from './launch-facts.js';

interface State {
  readonly resolve: Resolver;
  readonly memo: Map<Expr, { readonly values: Values | null }>;
  readonly visiting: Set<Expr>;
}

const states = new WeakMap<Env, State>();

function stateOf(env: Env): State {
  const known = states.get(env);
  if (known !== undefined) return known;
  const made: State = { resolve: resolver(env), memo: new Map(), visiting: new Set() };
  states.set(env, made);
  return made;
}

/** The values that an integer expression may have where it stands, if they are few and known. */
export function valuesOf(expr: Expr, env: Env): Values | null {
  const state = stateOf(env);
  const known = state.memo.get(expr);
  if (known !== undefined) return known.values;
  if (state.visiting.has(expr)) return null;
  state.visiting.add(expr);
  const values = evaluate(expr, state.resolve);
  state.visiting.delete(expr);
  // What was cut off by recursion is not a property of the expression: remember results only outside of it.
  if (values !== null || state.visiting.size === 0) state.memo.set(expr, { values });
  return values;
}

/** The constant value of an integer expression in its C++ type, or null. */
export function constantOf(expr: Expr, env: Env): bigint | null {
  return single(valuesOf(expr, env));
}

function resolver(env: Env): Resolver {
  return (leaf) => {
    switch (leaf.kind) {
      case 'coordinate': return coordinate(leaf, env);
      case 'ref': return reference(leaf, env);
      default: return null;
    }
  };
}

function coordinate(leaf: Expr & { readonly kind: 'coordinate' }, env: Env): Values | null {
  if (leaf.base === 'warpSize') return lanesOfWarp(env.program, env.unit) === 32 ? [int(32)] : [int(32), int(64)];
  if (leaf.axis === null) return null;
  if (env.block.under.length > 0 || env.kernel === null) return null;
  const { value } = env.block;
  if (leaf.base === 'blockDim') {
    if (value !== null) return unsigned(value[leaf.axis]);
    return leaf.axis !== 'x' && env.block.oneDimensional ? unsigned(1) : null;
  }
  if (leaf.base === 'threadIdx') {
    const extent = value !== null ? value[leaf.axis] : leaf.axis !== 'x' && env.block.oneDimensional ? 1 : 0;
    return extent === 1 ? unsigned(0) : null;
  }
  const grid = env.kernel === null ? null : gridFact(env.kernel, env.program, env.options);
  if (grid === null || grid.value === null || grid.under.length > 0) return null;
  if (leaf.base === 'gridDim') return unsigned(grid.value[leaf.axis]);
  return grid.value[leaf.axis] === 1 ? unsigned(0) : null;
}

function unsigned(value: number): Values {
  return [{ value: BigInt(value), type: { bits: 32, signed: false } }];
}

function reference(leaf: RefExpr, env: Env): Values | null {
  const { decl } = leaf;
  if (decl === null) return null;
  if (decl.kind === 'template-parameter') return templateValue(decl, env);
  if (decl.kind === 'parameter') return null;
  if (decl.kind !== 'variable' || decl.type.volatile === true) return null;
  if (!isAutomatic(decl)) return null;
  if (env.addressTaken(decl) && !isConstant(decl)) return null;
  const definitions = env.definitions(leaf);
  if (definitions.length === 0) {
    return isConstant(decl) && decl.init !== null ? convertAll(evaluate(decl.init, resolver(env)), decl.type) : null;
  }
  const writes = indexFunction(env.function).writes.get(decl) ?? [];
  // A reference is another name of something that may change under it.
  if (decl.type.kind === 'reference' || writes.some((write) => write.kind === 'escape' || write.kind === 'part')) return null;
  let values: Values | null = [];
  for (const definition of definitions) {
    let here: Values | null = null;
    if (definition.kind === 'declaration') here = definition.decl.init === null ? null : valuesOf(definition.decl.init, env);
    else if (definition.kind === 'assignment' && definition.node.kind === 'assign' && definition.node.op === null) here = valuesOf(definition.node.value, env);
    values = union(values, convertAll(here, decl.type));
    if (values === null) return null;
  }
  return values;
}

/** Values of a template parameter of the function, over all ways it is instantiated under the kernel. */
function templateValue(parameter: TemplateParameterDecl, env: Env): Values | null {
  const { kernel, program } = env;
  if (kernel === null) return null;
  if (kernel.template?.includes(parameter) === true) return program.allLaunchesVisible(kernel) ? templateValues(kernel, parameter, program) : null;
  return calleeTemplate(parameter, env.function, kernel, env, 0);
}

/** Values of template parameters below a kernel, by depth: each way through a graph of templates would be walked for itself. */
const calleeTemplates = new WeakMap<Program, Map<FunctionDecl, Map<TemplateParameterDecl, (Values | null | undefined)[]>>>();

function calleeTemplate(parameter: TemplateParameterDecl, fn: FunctionDecl, kernel: FunctionDecl, env: Env, depth: number): Values | null {
  if (fn.template === null || !fn.template.includes(parameter) || parameter.pack || depth > 8) return null;
  let ofProgram = calleeTemplates.get(env.program);
  if (ofProgram === undefined) calleeTemplates.set(env.program, ofProgram = new Map());
  let ofKernel = ofProgram.get(kernel);
  if (ofKernel === undefined) ofProgram.set(kernel, ofKernel = new Map());
  let byDepth = ofKernel.get(parameter);
  if (byDepth === undefined) ofKernel.set(parameter, byDepth = []);
  const known = byDepth[depth];
  if (known !== undefined) return known;
  const values = calleeTemplateOf(parameter, fn, kernel, env, depth);
  byDepth[depth] = values;
  return values;
}

function calleeTemplateOf(parameter: TemplateParameterDecl, fn: FunctionDecl, kernel: FunctionDecl, env: Env, depth: number): Values | null {
  const sites = callSitesBelow(kernel, env.program).get(fn) ?? [];
  let values: Values | null = sites.length === 0 ? null : [];
  for (const site of sites) {
    const argument = site.call.templateArguments?.[parameter.index] ?? parameter.default;
    if (argument === null || argument.kind !== 'value' || values === null) return null;
    const caller = site.caller;
    const here = evaluate(argument.value, (leaf) => {
      if (leaf.kind !== 'ref' || leaf.decl === null || leaf.decl.kind !== 'template-parameter') return null;
      if (caller === kernel) return env.program.allLaunchesVisible(kernel) ? templateValues(kernel, leaf.decl, env.program) : null;
      return calleeTemplate(leaf.decl, caller, kernel, env, depth + 1);
    });
    values = union(values, parameter.type === null ? here : convertAll(here, parameter.type));
  }
  return values;
}

/**
 * Parameters of device functions that every call gives a constant. The compiler makes the function's text part of each caller (unless that is
 * forbidden, or the function calls itself), so a condition on such a parameter is decided when it is compiled.
 */
import { strip } from '../../src/analysis/children.js';
import { calleesOf } from '../../src/analysis/call-sites.js';
import { indexFunction } from '../../src/analysis/function-index.js';
import type { CallExpr, Decl, Expr, FunctionDecl, Program } from '../../src/syntax/tree.js';
import type { TransformContext } from '../lib/types.js';

const callsOf = new WeakMap<Program, ReadonlyMap<FunctionDecl, readonly CallExpr[]>>();

/** The function's parameters that are a literal at each of its calls; none for kernels, and where no call is seen. */
export function constantParameters(context: TransformContext): ReadonlySet<Decl> {
  const { facts, unit } = context;
  const { function: fn, program } = facts;
  const result = new Set<Decl>();
  if (fn.qualifiers.global || /noinline/.test(unit.source.text.slice(fn.headSpan.start, fn.headSpan.end))) return result;
  const calls = callsIn(program).get(fn) ?? [];
  if (calls.length === 0 || indexFunction(fn).calls.some((call) => calls.includes(call))) return result;
  for (const parameter of fn.parameters) {
    if (parameter.pack) continue;
    if (calls.every((call) => isConstant(call.arguments[parameter.index] ?? parameter.default))) result.add(parameter);
  }
  return result;
}

function isConstant(argument: Expr | null): boolean {
  if (argument === null) return false;
  const core = strip(argument);
  if (core.kind === 'cast' || core.kind === 'unary') return core.kind === 'unary' && (core.op === '&' || core.op === '*') ? false : isConstant(core.operand);
  return core.kind === 'literal' || (core.kind === 'ref' && core.decl !== null && core.decl.kind === 'enumerator');
}

function callsIn(program: Program): ReadonlyMap<FunctionDecl, readonly CallExpr[]> {
  const known = callsOf.get(program);
  if (known !== undefined) return known;
  const calls = new Map<FunctionDecl, CallExpr[]>();
  for (const { functions } of program.units.values()) {
    for (const caller of functions) {
      if (caller.body === null || !(caller.qualifiers.global || caller.qualifiers.device)) continue;
      for (const call of indexFunction(caller).calls) {
        for (const callee of calleesOf(call, program)) {
          const list = calls.get(callee);
          if (list === undefined) calls.set(callee, [call]);
          else list.push(call);
        }
      }
    }
  }
  callsOf.set(program, calls);
  return calls;
}

/**
 * May a variable be read after a statement before it is written again? Answered on demand, on the structured tree.
 *
 * From the statement the walk goes forward through what follows in each enclosing construct; a loop is also run once more from its
 * head. A construct is asked whether it may read the variable first (`read`), surely overwrites it whole before it may be read
 * (`kill`), or neither (`pass`). Jumps only ever turn `kill` into `pass`: a path that leaves early finds the variable unchanged.
 *
 * Not handled: variables whose address is taken and functions with `goto`; both count as live.
 */
import { forEachChild, isStmt, type Node } from './children.js';
import type { Variable } from './facts.js';
import { rootOf, variableOf } from './lvalues.js';
import type { Structure } from './structure.js';
import type { Expr, Stmt } from '../syntax/tree.js';

type Flow = 'read' | 'kill' | 'pass';

export function isLiveAfter(decl: Variable, stmt: Stmt, structure: Structure): boolean {
  if (structure.addressed.has(decl) || structure.gotos.length > 0 || structure.opaque || decl.type.kind === 'reference') return true;
  let child: Node = stmt;
  for (let up = structure.parents.get(child); up !== undefined; child = up, up = structure.parents.get(child)) {
    const flow = after(child, up, decl);
    if (flow === 'read') return true;
    if (flow === 'kill' || declares(up, decl)) return false;
  }
  return false;
}

/** The variable's scope ends with this construct. */
function declares(node: Node, decl: Variable): boolean {
  if (node.kind === 'compound') return node.body.some((inner) => inner.kind === 'declare' && inner.variables.some((variable) => variable === decl));
  if (node.kind === 'for') return node.init.kind === 'declare' && node.init.variables.some((variable) => variable === decl);
  return node.kind === 'range-for' && node.variable === decl;
}

/** What runs after `child` inside its parent. */
function after(child: Node, up: Node, decl: Variable): Flow {
  switch (up.kind) {
    case 'compound': return sequence(up.body, child, decl);
    case 'for': {
      if (child === up.init) return sequenceFlow([...(up.condition === null ? [] : [up.condition]), up.body], decl) === 'read' ? 'read' : 'pass';
      // The rest of this round, then the next one, then what follows the loop.
      const round: Node[] = [...(up.step === null || child === up.step ? [] : [up.step]), ...(up.condition === null ? [] : [up.condition]), up.body];
      return sequenceFlow(round, decl) === 'read' ? 'read' : 'pass';
    }
    case 'while': case 'do': return sequenceFlow(up.kind === 'do' ? [up.condition, up.body] : [up.condition, up.body], decl) === 'read' ? 'read' : 'pass';
    case 'range-for': return flowOf(up.body, decl) === 'read' ? 'read' : 'pass';
    case 'switch': {
      let found = false;
      for (const arm of up.arms) {
        for (const inner of arm.body) {
          if (found && flowOf(inner, decl) === 'read') return 'read';
          if (inner === child) found = true;
        }
      }
      return 'pass';
    }
    case 'if':
      if (child === up.init) return sequenceFlow([up.condition, up.then, ...(up.else === null ? [] : [up.else])], decl) === 'read' ? 'read' : 'pass';
      return 'pass';
    case 'preprocessor':
      for (const arm of up.arms) if (arm.body.some((inner) => inner === child)) return sequence(arm.body, child, decl);
      return 'pass';
    case 'lambda': return 'pass';
    default: return 'pass';
  }
}

function sequence(body: readonly Stmt[], child: Node, decl: Variable): Flow {
  const index = body.findIndex((inner) => inner === child);
  return sequenceFlow(body.slice(index + 1), decl);
}

function sequenceFlow(nodes: readonly Node[], decl: Variable): Flow {
  let jumped = false;
  for (const node of nodes) {
    const flow = flowOf(node, decl);
    if (flow === 'read') return 'read';
    if (flow === 'kill') return jumped ? 'pass' : 'kill';
    jumped ||= mayJump(node);
  }
  return 'pass';
}

function mayJump(node: Node): boolean {
  if (!isStmt(node)) return false;
  if (node.kind === 'break' || node.kind === 'continue' || node.kind === 'return' || node.kind === 'goto') return true;
  let found = false;
  forEachChild(node, (child) => { found ||= mayJump(child); });
  return found;
}

function flowOf(node: Node, decl: Variable): Flow {
  if (!isStmt(node)) return expressionFlow(node, decl);
  switch (node.kind) {
    case 'compound': return sequenceFlow(node.body, decl);
    case 'expression': return expressionFlow(node.expression, decl);
    case 'declare':
      for (const variable of node.variables) {
        const flow = variable.init === null ? 'pass' : expressionFlow(variable.init, decl);
        if (flow !== 'pass') return flow;
        if (variable === decl) return 'kill';
      }
      return 'pass';
    case 'if': {
      const head = sequenceFlow([...(node.init === null ? [] : [node.init]), ...(node.conditionDecl?.init ? [node.conditionDecl.init] : []), node.condition], decl);
      if (head !== 'pass') return head;
      const then = flowOf(node.then, decl);
      const other = node.else === null ? 'pass' : flowOf(node.else, decl);
      if (then === 'read' || other === 'read') return 'read';
      return then === 'kill' && other === 'kill' ? 'kill' : 'pass';
    }
    case 'for': {
      const head = sequenceFlow([node.init, ...(node.condition === null ? [] : [node.condition])], decl);
      if (head !== 'pass') return head;
      return sequenceFlow([node.body, ...(node.step === null ? [] : [node.step])], decl) === 'read' ? 'read' : 'pass';
    }
    case 'while': {
      const head = expressionFlow(node.condition, decl);
      return head !== 'pass' ? head : flowOf(node.body, decl) === 'read' ? 'read' : 'pass';
    }
    case 'do': return mayJump(node.body) ? (mentions(node, decl) ? 'read' : 'pass') : sequenceFlow([node.body, node.condition], decl);
    default: {
      let result: Flow = 'pass';
      const sure = node.kind === 'macro-statement' || node.kind === 'return' || node.kind === 'label';
      forEachChild(node, (child) => {
        if (result !== 'pass') return;
        const flow = flowOf(child, decl);
        if (flow === 'read' || (flow === 'kill' && sure)) result = flow;
      });
      return node.kind === 'opaque' ? 'read' : result;
    }
  }
}

function expressionFlow(expr: Expr, decl: Variable): Flow {
  switch (expr.kind) {
    case 'ref': return variableOf(expr.decl) === decl ? 'read' : 'pass';
    case 'paren': return expressionFlow(expr.inner, decl);
    case 'macro': return expressionFlow(expr.expanded, decl);
    case 'assign': {
      const value = expressionFlow(expr.value, decl);
      if (value !== 'pass') return value;
      const root = rootOf(expr.target);
      if (root !== null && root.decl === decl && root.whole) return expr.op === null ? 'kill' : 'read';
      // Storing a part neither reads nor kills; subscripts may read.
      return root !== null && root.decl === decl ? (expr.op !== null || readsBeside(expr.target, root.ref, decl) ? 'read' : 'pass') : expressionFlow(expr.target, decl);
    }
    case 'lambda': case 'opaque': return mentions(expr, decl) || expr.kind === 'opaque' ? 'read' : 'pass';
    case 'binary':
      if (expr.op === '&&' || expr.op === '||') {
        const left = expressionFlow(expr.left, decl);
        if (left !== 'pass') return left;
        return expressionFlow(expr.right, decl) === 'read' ? 'read' : 'pass';
      }
      break;
    case 'conditional': {
      const head = expressionFlow(expr.condition, decl);
      if (head !== 'pass') return head;
      const then = expressionFlow(expr.then, decl);
      const other = expressionFlow(expr.else, decl);
      if (then === 'read' || other === 'read') return 'read';
      return then === 'kill' && other === 'kill' ? 'kill' : 'pass';
    }
    default:
  }
  let result: Flow = 'pass';
  forEachChild(expr, (child) => { if (result === 'pass') result = isStmt(child) ? flowOf(child, decl) : expressionFlow(child, decl); });
  return result;
}

/** Is the variable named in the target besides as its root (`a[a[0]] = 1`)? */
function readsBeside(target: Expr, root: Expr, decl: Variable): boolean {
  let found = false;
  const visit = (node: Node): void => {
    if (node === root) return;
    if (!isStmt(node) && node.kind === 'ref' && variableOf(node.decl) === decl) found = true;
    forEachChild(node, visit);
  };
  visit(target);
  return found;
}

function mentions(node: Node, decl: Variable): boolean {
  if (!isStmt(node) && node.kind === 'ref' && variableOf(node.decl) === decl) return true;
  let found = false;
  forEachChild(node, (child) => { found ||= mentions(child, decl); });
  return found;
}

/** Programs from text, and nodes of their trees by the text they stand for. */
import { createAnalysis } from '../../src/analysis/analyse.js';
import { forEachChild, isStmt, type Node } from '../../src/analysis/children.js';
import type { Analysis, AnalysisOptions, FunctionFacts } from '../../src/analysis/facts.js';
import { loadProgram } from '../../src/syntax/program.js';
import type { Expr, FunctionDecl, Program, Stmt, Unit } from '../../src/syntax/tree.js';

export class Text {
  readonly program: Program;
  readonly unit: Unit;
  readonly analysis: Analysis;

  constructor(text: string, readonly options: AnalysisOptions = {}, others: Readonly<Record<string, string>> = {}) {
    const files = new Map<string, string>([['/p/k.cu', text], ...Object.entries(others).map(([name, body]) => [`/p/${name}`, body] as const)]);
    const roots = [...files.keys()].filter((name) => name.endsWith('.cu'));
    this.program = loadProgram(roots, { readFile: (path) => Buffer.from(files.get(path) ?? '', 'utf8'), realPath: (path) => (files.has(path) ? path : null) });
    const unit = this.program.units.get('/p/k.cu');
    if (unit === undefined) throw new Error('the text was not loaded');
    this.unit = unit;
    this.analysis = createAnalysis(this.program, options);
  }

  fn(name: string): FunctionDecl {
    for (const unit of this.program.units.values()) for (const fn of unit.functions) if (fn.name === name && fn.body !== null) return fn;
    throw new Error(`no function ${name}`);
  }

  kernel(name = 'k'): FunctionFacts {
    return this.analysis.kernel(this.fn(name));
  }

  /** The n-th outermost expression of a function whose text is exactly this. */
  expr(source: string, name = 'k', n = 0): Expr {
    return this.find(source, name, n, (node): node is Expr => !isStmt(node));
  }

  stmt(source: string, name = 'k', n = 0): Stmt {
    return this.find(source, name, n, (node): node is Stmt => isStmt(node));
  }

  private find<T extends Node>(source: string, name: string, n: number, fits: (node: Node) => node is T): T {
    const fn = this.fn(name);
    const text = this.program.units.get(fn.file)?.source.text ?? '';
    const found: T[] = [];
    const visit = (node: Node): void => {
      if (fits(node) && text.slice(node.span.start, node.span.end).trim() === source) found.push(node);
      else forEachChild(node, visit);
    };
    if (fn.body !== null) visit(fn.body);
    const wanted = found[n];
    if (wanted === undefined) throw new Error(`${name} holds no ${source} (${found.length} found)`);
    return wanted;
  }
}

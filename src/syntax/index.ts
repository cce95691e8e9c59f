/** The syntax room: files to typed trees with resolved names. */
export type * from './tree.js';
export { strip, unreachable } from './tree.js';
export { initParser, cppParser, loadParser, type CppParser, type ParserKind } from './parser.js';
export { loadProgram, type FailedFile, type LoadOptions, type LoadedProgram } from './program.js';
export * from './types.js';
export { DIM3, UINT3, vectorRecord, vectorType } from './vector-types.js';
export { children, exprChildren, forEachExpr, forEachStmt, isExpr, isStmt, isVariable, parents, stmtChildren, walk, type Node } from './walk.js';
export { printFunction, printTree, textOf } from './print.js';

/** The source room: bytes to `SourceFile`, macros, includes and the overlay. */
export type * from './types.js';
export { SourceError } from './errors.js';
export { decode, encode, type Decoded } from './decode.js';
export { loadSource, sourceFromText, tokensOf, endsInReturns, IN_RETURNS } from './source-file.js';
export { TokenKind, Tokens } from './tokens.js';
export { tokenize, tokenizeFragment, type Tokenized } from './tokenizer.js';
export { macroPragmas, macroPragmaOf, type MacroPragma } from './macro-pragmas.js';
export { collectMacros, mergeMacros, commandLineMacros, COMMAND_LINE } from './macros.js';
export { expandMacro, expandText, type ExpandOptions } from './expand.js';
export { evaluateCondition, evaluateDefined, splitArguments, type ConditionValue, type MacroLookup } from './condition.js';
export { walkConditionals, type Arm, type Group, type Certainty } from './conditionals.js';
export { groupBoundTo } from './arms.js';
export { makeOverlay, blankInactiveArms, streamOf } from './overlay.js';
export { blankBodies } from './blank-bodies.js';
export { annotationsOf } from './annotations.js';
export { resolveIncludes, SourceStore, nodeReader, type FoundInclude, type IncludeOptions, type IncludeReader, type ResolvedIncludes } from './includes.js';
export { compileCommandFor, varyingDefines, parseCompileCommands, type CompileCommand } from './compile-commands.js';

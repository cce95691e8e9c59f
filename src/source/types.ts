/**
 * What leaves the source room: text with its offsets, and what the C++ grammar cannot see in it.
 *
 * Every offset in divmod is a UTF-16 offset into `SourceFile.text`, the decoded text *without* a byte-order mark. The overlay
 * text has the same length, so an offset in the syntax tree is an offset in the file.
 */

/** Half-open range of UTF-16 offsets into the text of one file. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A span together with the real path of the file it lies in. */
export interface FileSpan extends Span {
  readonly file: string;
}

/** One-based line and one-based UTF-16 column. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One replacement of text; `span` empty means insertion, `text` empty means removal. A value: nothing is written by making one. */
export interface Edit {
  readonly file: string;
  readonly span: Span;
  readonly text: string;
}

export type Encoding = 'utf-8' | 'latin1';

/** A message to the user about a place in a file. */
export interface Problem {
  readonly line: number;
  readonly message: string;
}

export interface Comment extends Span {
  /** The text between the comment marks. */
  readonly text: string;
}

export type DirectiveKind =
  | 'include' | 'define' | 'undef' | 'if' | 'ifdef' | 'ifndef' | 'elif' | 'else' | 'endif' | 'pragma' | 'error' | 'line' | 'other';

/** One preprocessor directive, line continuations included. `span` covers `#` to the last character before the newline. */
export interface Directive extends Span {
  readonly kind: DirectiveKind;
  /** Everything after the directive's name, comments and continuations removed. */
  readonly argument: string;
  /** For `if`…`endif`: the index, in `SourceFile.directives`, of the directive that opened this group; else -1. */
  readonly opener: number;
}

/** A macro definition visible in a unit. */
export interface MacroDefinition {
  readonly name: string;
  /** Null for an object-like macro. */
  readonly parameters: readonly string[] | null;
  readonly variadic: boolean;
  /** Replacement list, comments removed, continuations joined by a space. */
  readonly body: string;
  readonly file: string;
  readonly line: number;
  /** True if the name has another, different definition in the unit (arms of `#if`, redefinition). */
  readonly ambiguous: boolean;
  /** Set if the definition stands only in an arm of `#if` that the default configuration leaves out. */
  readonly inactive?: true;
  /** Set if it is a default that a build may replace (`#ifndef BLOCK` around it), or is made of one that is. */
  readonly replaceable?: true;
  /** Set if compile commands of one file define it differently: which ones, in words. */
  readonly varies?: string;
  /** The file that undefines it and does not define it again: to whoever includes that, the name is an ordinary one. */
  readonly undoneIn?: string;
  /** Set if `pop_macro` brings back what the name meant before: in doubt wherever it stands. */
  readonly popped?: PoppedMacro;
}

export interface PoppedMacro {
  /** Where, in one sentence. */
  readonly text: string;
  /** All that the name stands for somewhere in the file that pops it. */
  readonly readings: readonly MacroDefinition[];
  /** A `_Pragma` pops it, whose place a walk over the directives does not see. */
  readonly byOperator: boolean;
}

/** What the overlay took out of the text, keyed by where it stood. */
export type OverlayNote =
  /** `__global__`, `__device__`, …, spelled without underscores in `name`; also in place of a qualifier macro. */
  | { readonly kind: 'qualifier'; readonly span: Span; readonly name: string }
  /** `__launch_bounds__(a, b)`, `__align__(n)`, …; `argumentsSpan` lies between the parentheses. */
  | { readonly kind: 'bounds'; readonly span: Span; readonly name: string; readonly argumentsSpan: Span }
  /** `<<<…>>>`; `configurationSpan` lies between the chevrons. */
  | { readonly kind: 'launch'; readonly span: Span; readonly configurationSpan: Span }
  /** A macro that stands for qualifiers, bounds or nothing; `standsFor` holds what it expands to, in order. */
  | { readonly kind: 'macro'; readonly span: Span; readonly name: string; readonly argumentsSpan: Span | null; readonly standsFor: readonly OverlayMeaning[] }
  /** `#pragma unroll` (or `_Pragma`) blanked because it stands between a statement and its loop. */
  | { readonly kind: 'pragma'; readonly span: Span; readonly text: string }
  /** An arm of `#if` blanked so that the rest parses; which configuration remains is part of every verdict inside. */
  | { readonly kind: 'inactive'; readonly span: Span; readonly condition: string }
  /** `#include` between braces: text that was not read where it stands. */
  | { readonly kind: 'include'; readonly span: Span; readonly text: string }
  /** An operator of assignment spelled as a comma (comma-rules.ts). */
  | { readonly kind: 'assignment'; readonly span: Span; readonly operator: string }
  /** Any other text exchanged for spaces or for C++ of the same length. */
  | { readonly kind: 'other'; readonly span: Span; readonly text: string };

export interface OverlayMeaning {
  readonly name: string;
  /** Argument text for bounds, else null. */
  readonly argument: string | null;
}

export interface Overlay {
  /** Same length as `SourceFile.text`. */
  readonly text: string;
  /** Sorted by `span.start`. */
  readonly notes: readonly OverlayNote[];
  /** Offsets of names of macros that the overlay left in the text, ascending: whoever reads the text by its spelling must look through them. */
  readonly macroUses?: readonly number[];
}

/** A decoded source file. Immutable. */
export interface SourceFile {
  /** The path as the user gave it (or as an include reached it). */
  readonly path: string;
  /** The key of the file everywhere: symbolic links resolved. */
  readonly realPath: string;
  readonly text: string;
  readonly encoding: Encoding;
  readonly bom: boolean;
  /** The newline that most lines use. */
  readonly newline: '\n' | '\r\n';
  readonly comments: readonly Comment[];
  readonly directives: readonly Directive[];
  /** Position of an offset. */
  position(offset: number): Position;
  /** One-based line of an offset. */
  line(offset: number): number;
  /** Offset of the first character of a one-based line. */
  lineStart(line: number): number;
  readonly lineCount: number;
}

/** `// divmod: key` or `// divmod: key=value`, with the line it speaks about (its own, or the next line of code). */
export interface Annotation {
  readonly line: number;
  readonly key: string;
  readonly value: string | null;
}

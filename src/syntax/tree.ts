/**
 * The typed tree: everything divmod knows about a program's text. Analyses, simulator and transforms work on it and on nothing
 * else; no native parser value is reachable from it. Nodes are immutable once a unit is lowered and are identified by object
 * identity (facts are kept in maps keyed by node).
 *
 * Spans are offsets in the original text of the unit's file. Nodes that come out of a macro expansion all have the span of the
 * invocation and stand below a `macro` node: their text must not be edited.
 */
import type { UnitDoubts } from './doubts.js';
import type { Directive, MacroDefinition, Overlay, Problem, SourceFile, Span } from '../source/types.js';

// ---------------------------------------------------------------------------------------------------------------- types

interface Qualified {
  readonly const?: true;
  readonly volatile?: true;
}

export type Type =
  | VoidType | BoolType | IntType | FloatType | PointerType | ReferenceType | ArrayType | RecordType | EnumType | FunctionType
  | DependentType | UnknownType;

export interface VoidType extends Qualified { readonly kind: 'void' }
export interface BoolType extends Qualified { readonly kind: 'bool' }
/**
 * Character types are `int` of 8 bits (`char` is signed, as on every host that nvcc supports with x86-64). `named`: a type of its own beside the usual one of that size (`char`, `short`, `int`, `long` and
 * their unsigned ones), which overloads and specialisations tell apart; `uncertain`: it is not known which of them.
 */
export interface IntType extends Qualified { readonly kind: 'int'; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean; readonly named?: IntName }
export type IntName = 'long long' | 'signed char' | 'wchar_t' | 'char8_t' | 'char16_t' | 'char32_t' | 'uncertain';
export interface FloatType extends Qualified { readonly kind: 'float'; readonly format: 'half' | 'bfloat16' | 'float' | 'double' }
export interface PointerType extends Qualified { readonly kind: 'pointer'; readonly to: Type; readonly restrict?: true }
export interface ReferenceType extends Qualified { readonly kind: 'reference'; readonly to: Type; readonly rvalue?: true }
/** `length` is null for `[]`; an expression otherwise (constant folding is the analyses' work). */
export interface ArrayType extends Qualified { readonly kind: 'array'; readonly of: Type; readonly length: Expr | null }
/** Structs, classes, unions and CUDA's vector types (whose declaration has `vector` set). */
export interface RecordType extends Qualified { readonly kind: 'record'; readonly decl: RecordDecl; readonly templateArguments?: readonly TemplateArgument[] }
export interface EnumType extends Qualified { readonly kind: 'enum'; readonly decl: EnumDecl }
export interface FunctionType extends Qualified { readonly kind: 'function'; readonly returns: Type; readonly parameters: readonly Type[] }
/** A type that depends on a template parameter. */
export interface DependentType extends Qualified {
  readonly kind: 'dependent';
  readonly decl: TemplateParameterDecl | null;
  readonly text: string;
  /** For `typename T::name`: of which type it is a member. */
  readonly member?: { readonly of: DependentType; readonly name: string };
}
/** A name that no visible declaration explains. */
export interface UnknownType extends Qualified { readonly kind: 'unknown'; readonly text: string }

// --------------------------------------------------------------------------------------------------------- declarations

/** Where an object lives. `local` is a thread's own automatic storage. */
export type Space = 'local' | 'shared' | 'constant' | 'device' | 'managed' | 'host';

export type Decl =
  | VariableDecl | ParameterDecl | FunctionDecl | RecordDecl | EnumDecl | EnumeratorDecl | TypedefDecl | TemplateParameterDecl;

interface DeclBase {
  readonly name: string;
  readonly span: Span;
  /** Span of the name alone. */
  readonly nameSpan: Span;
  /** Real path of the file that declares it. */
  readonly file: string;
}

export interface VariableDecl extends DeclBase {
  readonly kind: 'variable';
  readonly type: Type;
  readonly space: Space;
  readonly storage: 'automatic' | 'static' | 'extern' | 'namespace' | 'member';
  readonly constexpr: boolean;
  /** `extern __shared__ T name[]`. */
  readonly dynamicShared: boolean;
  readonly init: Expr | null;
  readonly initStyle: 'none' | 'equals' | 'paren' | 'brace';
  /** Structured bindings and range-for variables whose value is not an ordinary initialiser. */
  readonly opaqueInit: boolean;
  /** A `mutable` field: it is not const in a const object. */
  readonly mutable?: true;
}

export interface ParameterDecl extends DeclBase {
  readonly kind: 'parameter';
  readonly type: Type;
  readonly index: number;
  readonly default: Expr | null;
  /** A parameter pack or `...`. */
  readonly pack: boolean;
}

export interface TemplateParameterDecl extends DeclBase {
  readonly kind: 'template-parameter';
  readonly sort: 'type' | 'value' | 'template';
  /** For `value`. */
  readonly type: Type | null;
  readonly index: number;
  readonly default: TemplateArgument | null;
  readonly pack: boolean;
}

export type TemplateArgument =
  | { readonly kind: 'type'; readonly type: Type }
  | { readonly kind: 'value'; readonly value: Expr };

export interface FunctionDecl extends DeclBase {
  readonly kind: 'function';
  readonly qualifiers: {
    readonly global: boolean;
    readonly device: boolean;
    readonly host: boolean;
    readonly constexpr: boolean;
    readonly static: boolean;
    readonly inline: boolean;
    readonly extern: boolean;
  };
  readonly parameters: readonly ParameterDecl[];
  readonly returns: Type;
  /** Null if not a template; the parameters otherwise. */
  readonly template: readonly TemplateParameterDecl[] | null;
  /** For an explicit specialisation: its arguments. */
  readonly specialises: readonly TemplateArgument[] | null;
  /** The record it is a member of. */
  readonly owner: RecordDecl | null;
  /** `__launch_bounds__`, `__block_size__`, `__cluster_dims__`, `__maxnreg__`, name without underscores. */
  readonly bounds: readonly { readonly name: string; readonly arguments: readonly Expr[] }[];
  /** Null for a declaration, and for a host function that holds nothing of interest (no launch, not small). */
  readonly body: CompoundStmt | null;
  /** `= default` in place of a body. */
  readonly defaulted?: true;
  /** `virtual`, `override` or `final`: which function a call through a pointer or reference runs is known at run time only. */
  readonly virtual?: true;
  /** A `const` method: which of two overloads an object means may hang on it. */
  readonly constant?: true;
  /** A constructor's `: member(arguments), base{arguments}`, in source order; absent without one. */
  readonly initialisers?: readonly MemberInitialiser[] | undefined;
  /** Span of the text before the body: qualifiers, template head, return type, name, parameters. */
  readonly headSpan: Span;
  /** False if an error or missing node lies inside: nothing touches it. */
  readonly understood: boolean;
  readonly problems: readonly Problem[];
  /** Directives inside the function, in order. */
  readonly directives: readonly Directive[];
  /** Text taken out because it belongs to a configuration that was not chosen. */
  readonly inactive: readonly { readonly span: Span; readonly condition: string }[];
}

/** One member, base or (delegating) constructor of a constructor's initialiser list; `name` without template arguments. */
export interface MemberInitialiser { readonly name: string; readonly style: 'paren' | 'brace'; readonly arguments: readonly Expr[]; readonly span: Span }

export interface RecordDecl extends DeclBase {
  readonly kind: 'record';
  readonly sort: 'struct' | 'class' | 'union';
  readonly fields: readonly VariableDecl[];
  readonly methods: readonly FunctionDecl[];
  readonly bases: readonly Type[];
  /** `using Base::Base;` stands in it: objects of it are made by constructors of its bases too. */
  readonly inherits?: true;
  readonly template: readonly TemplateParameterDecl[] | null;
  /** False for a forward declaration or a body that was not understood. */
  readonly complete: boolean;
  /** A class template of which explicit or partial specialisations are seen: its own members tell nothing of an instance's. */
  readonly specialised?: true;
  /** A union without a name stands in it (or a struct without one in a union): `fields` lists what lies over each other beside what does not. */
  readonly overlaid?: true;
  readonly alignment: Expr | null;
  /** CUDA's built-in vector types and dim3. */
  readonly vector: { readonly element: IntType | FloatType; readonly lanes: 1 | 2 | 3 | 4 } | null;
}

export interface EnumDecl extends DeclBase {
  readonly kind: 'enum';
  /** The type that its values are kept and computed in, before promotion: the fixed one, else the first of int, unsigned, long and unsigned long that holds them all. `enumValues` reads it. */
  readonly underlying: IntType;
  readonly enumerators: readonly EnumeratorDecl[];
  /** `enum class`: its values become numbers only by a cast. */
  readonly scoped?: true;
  /**
   * `underlying` stands for a type that is not known: it hangs on `values` that were not understood or that a template parameter tells; or it is the `form`, attributes or `: bool`, to which
   * compilers convert otherwise than the standard says.
   */
  readonly uncertain?: 'values' | 'form';
}

export interface EnumeratorDecl extends DeclBase {
  readonly kind: 'enumerator';
  readonly enumName: string;
  /** The enum it belongs to. */
  readonly enumeration?: EnumDecl;
  /** Null if the value is the previous one plus one. */
  readonly value: Expr | null;
  /** Position in its enum, from 0. */
  readonly index: number;
  readonly previous: EnumeratorDecl | null;
}

export interface TypedefDecl extends DeclBase {
  readonly kind: 'typedef';
  readonly type: Type;
}

// ---------------------------------------------------------------------------------------------------------- expressions

export type Expr =
  | LiteralExpr | RefExpr | CoordinateExpr | ThisExpr | ParenExpr | MacroExpr | UnaryExpr | UpdateExpr | BinaryExpr | AssignExpr
  | ConditionalExpr | CallExpr | IndexExpr | MemberExpr | CastExpr | ConstructExpr | InitListExpr | SizeofExpr | LambdaExpr
  | OpaqueExpr;

interface ExprBase {
  readonly span: Span;
  /** The type before implicit conversions; `unknown` where syntax does not tell. References are stripped. */
  readonly type: Type;
}

export interface LiteralExpr extends ExprBase {
  readonly kind: 'literal';
  /** bigint for integers and characters, number for floating point (already rounded to its type); strings: one character for each unit of the array but its last zero, bytes unless the literal is wide; null is nullptr. */
  readonly value: bigint | number | boolean | string | null;
}

/** A name. `decl` is null when nothing visible declares it. */
export interface RefExpr extends ExprBase {
  readonly kind: 'ref';
  readonly name: string;
  readonly decl: Decl | null;
  /** The record before `::`, where its template arguments tell what the member is. */
  readonly scope?: RecordType;
  /** What stands before the name, up to its last `::`: text that names the declaration elsewhere needs it. Absent for a name that stands alone. */
  readonly qualifier?: string;
  /** The template parameter that it names, where what stands for that is an object of an argument (`template <int &R>`): which one, the template does not tell, so `decl` is null. */
  readonly argument?: TemplateParameterDecl;
}

/** `threadIdx.x`, `blockDim.y`, `warpSize` (axis null), or a bare `threadIdx` (axis null). */
export interface CoordinateExpr extends ExprBase {
  readonly kind: 'coordinate';
  readonly base: 'threadIdx' | 'blockIdx' | 'blockDim' | 'gridDim' | 'warpSize';
  readonly axis: 'x' | 'y' | 'z' | null;
}

export interface ThisExpr extends ExprBase { readonly kind: 'this' }

export interface ParenExpr extends ExprBase { readonly kind: 'paren'; readonly inner: Expr }

/** An invocation of a visible macro, looked through. */
export interface MacroExpr extends ExprBase {
  readonly kind: 'macro';
  readonly name: string;
  readonly definition: MacroDefinition;
  readonly expanded: Expr;
}

export interface UnaryExpr extends ExprBase {
  readonly kind: 'unary';
  readonly op: '+' | '-' | '!' | '~' | '*' | '&';
  readonly operand: Expr;
}

/** `++x`, `x--`. */
export interface UpdateExpr extends ExprBase {
  readonly kind: 'update';
  readonly op: '++' | '--';
  readonly prefix: boolean;
  readonly target: Expr;
}

export type BinaryOperator =
  | '+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '&' | '|' | '^' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '&&' | '||' | ',';

export interface BinaryExpr extends ExprBase {
  readonly kind: 'binary';
  readonly op: BinaryOperator;
  readonly left: Expr;
  readonly right: Expr;
  /** Span of the operator itself. */
  readonly opSpan: Span;
}

/** `=` and compound assignment; `op` is null for `=`. */
export interface AssignExpr extends ExprBase {
  readonly kind: 'assign';
  readonly op: '+' | '-' | '*' | '/' | '%' | '<<' | '>>' | '&' | '|' | '^' | null;
  readonly target: Expr;
  readonly value: Expr;
}

export interface ConditionalExpr extends ExprBase {
  readonly kind: 'conditional';
  readonly condition: Expr;
  readonly then: Expr;
  readonly else: Expr;
}

export type Callee =
  /** Overloads that the name and the number of arguments admit; at least one. */
  | { readonly kind: 'function'; readonly name: string; readonly candidates: readonly FunctionDecl[]; /** The record before `::` of a static method. */ readonly scope?: RecordType }
  /** A name of the table in `src/cuda/builtins.ts` that no visible declaration hides. */
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'method'; readonly name: string; readonly object: Expr; readonly arrow: boolean; readonly candidates: readonly FunctionDecl[] }
  /** A call through a value: function pointer, functor, lambda. */
  | { readonly kind: 'value'; readonly value: Expr }
  | { readonly kind: 'unknown'; readonly name: string };

export interface CallExpr extends ExprBase {
  readonly kind: 'call';
  readonly callee: Callee;
  readonly calleeSpan: Span;
  readonly arguments: readonly Expr[];
  readonly templateArguments: readonly TemplateArgument[] | null;
}

export interface IndexExpr extends ExprBase { readonly kind: 'index'; readonly base: Expr; readonly index: Expr }

export interface MemberExpr extends ExprBase {
  readonly kind: 'member';
  readonly object: Expr;
  readonly arrow: boolean;
  readonly name: string;
  /** The declaration of the field; null if the record is not known. */
  readonly field: VariableDecl | null;
}

export interface CastExpr extends ExprBase {
  readonly kind: 'cast';
  readonly style: 'c' | 'functional' | 'static' | 'reinterpret' | 'const' | 'dynamic';
  readonly operand: Expr;
  /** The type is written as a reference (`(int &)x`): the result may be the operand itself, seen as a `type`. Absent for values. */
  readonly reference?: 'lvalue' | 'rvalue';
}

/** `float4(a, b)`, `T{…}`, `dim3(16, 16)`: makes an object of `type`. */
export interface ConstructExpr extends ExprBase {
  readonly kind: 'construct';
  readonly style: 'paren' | 'brace';
  readonly arguments: readonly Expr[];
}

/** `{ a, b }` as an initialiser. Its type is that of what it initialises, where known. */
export interface InitListExpr extends ExprBase { readonly kind: 'init-list'; readonly elements: readonly Expr[] }

export interface SizeofExpr extends ExprBase { readonly kind: 'sizeof'; readonly operand: Expr | null; readonly of: Type | null; readonly alignof: boolean }

export interface LambdaExpr extends ExprBase {
  readonly kind: 'lambda';
  readonly captures: readonly { readonly name: string; readonly byReference: boolean; readonly decl: Decl | null }[];
  readonly captureDefault: 'none' | 'copy' | 'reference';
  readonly parameters: readonly ParameterDecl[];
  /** Variables that captures with initialisers make, `[p = &s]`: only lambdas among the parts of what is not understood have them. */
  readonly made?: readonly VariableDecl[];
  /** `-> T`, to which what it returns is converted; absent where the first `return` tells. */
  readonly returns?: Type;
  readonly body: CompoundStmt;
}

/** The identifiers in a text that is not understood, macros looked through. `plain`: nothing in it calls, binds or takes an address, so that of arrays alone may be kept. */
export interface TextNames { readonly all: readonly string[]; readonly plain: boolean }

/** Not understood: reads and writes unknown. `names` are those whose address it may keep; absent if any may be among them. */
export interface OpaqueExpr extends ExprBase {
  readonly kind: 'opaque';
  readonly reason: string;
  readonly names?: TextNames;
  /** Parts that are understood, in the order of the text. They run there, each as often as nobody tells; what they do is not all that is done. */
  readonly parts?: readonly Expr[];
  /** The parts run once for each element of the packs in them. */
  readonly packed?: true;
  /** An object that begins there (`new T(a)`: what its constructor is given) or ends (`delete p`: null). */
  readonly life?: { readonly type: Type; readonly given: readonly Expr[] | null };
}

// ----------------------------------------------------------------------------------------------------------- statements

export type Stmt =
  | CompoundStmt | DeclareStmt | ExprStmt | EmptyStmt | IfStmt | ForStmt | RangeForStmt | WhileStmt | DoStmt | SwitchStmt | BreakStmt
  | ContinueStmt | ReturnStmt | GotoStmt | LabelStmt | AsmStmt | PreprocessorStmt | MacroStmt | OpaqueStmt;

interface StmtBase { readonly span: Span }

export interface CompoundStmt extends StmtBase { readonly kind: 'compound'; readonly body: readonly Stmt[] }

/** A declaration statement. Local types and typedefs appear in `types`. */
export interface DeclareStmt extends StmtBase {
  readonly kind: 'declare';
  readonly variables: readonly VariableDecl[];
  readonly types: readonly (RecordDecl | EnumDecl | TypedefDecl)[];
  /**
   * Names that come into scope here and are declared elsewhere: `using a::f;`, `namespace q = a::b;`, `float f(float);`. `'any'` for `using namespace a;`, whose
   * names nothing lists; empty for a `static_assert`. Absent for what declares only `variables` and `types`.
   */
  readonly brings?: readonly string[] | 'any';
}

export interface ExprStmt extends StmtBase { readonly kind: 'expression'; readonly expression: Expr }
export interface EmptyStmt extends StmtBase { readonly kind: 'empty' }

export interface IfStmt extends StmtBase {
  readonly kind: 'if';
  readonly constexpr: boolean;
  readonly init: Stmt | null;
  /** `if (T x = e)`: the declaration; `condition` is then a reference to it. */
  readonly conditionDecl: VariableDecl | null;
  readonly condition: Expr;
  /** Span of the parentheses and what they hold. */
  readonly headSpan: Span;
  readonly then: Stmt;
  readonly else: Stmt | null;
  /** Span of the word `else`. */
  readonly elseSpan: Span | null;
}

/** `#pragma` lines that stand before a loop and belong to it. */
export interface LoopPragma { readonly span: Span; readonly text: string }

interface LoopBase extends StmtBase {
  readonly body: Stmt;
  readonly pragmas: readonly LoopPragma[];
  /** Span of the parentheses and what they hold. */
  readonly headSpan: Span;
}

export interface ForStmt extends LoopBase {
  readonly kind: 'for';
  /** A declaration, an expression statement or empty. */
  readonly init: DeclareStmt | ExprStmt | EmptyStmt;
  readonly conditionDecl: VariableDecl | null;
  readonly condition: Expr | null;
  readonly step: Expr | null;
}

export interface RangeForStmt extends LoopBase { readonly kind: 'range-for'; readonly variable: VariableDecl; readonly range: Expr }

export interface WhileStmt extends LoopBase { readonly kind: 'while'; readonly conditionDecl: VariableDecl | null; readonly condition: Expr }

export interface DoStmt extends LoopBase { readonly kind: 'do'; readonly condition: Expr }

/** Labels are only at the top level of the body, else the switch is opaque. */
export interface SwitchStmt extends StmtBase {
  readonly kind: 'switch';
  readonly init: Stmt | null;
  readonly conditionDecl: VariableDecl | null;
  readonly condition: Expr;
  readonly headSpan: Span;
  readonly bodySpan: Span;
  readonly arms: readonly SwitchArm[];
}

export interface SwitchArm {
  readonly span: Span;
  /** Case values in order; null is `default`. */
  readonly labels: readonly (Expr | null)[];
  /** Up to the next label. Falls into the next arm unless it ends in a jump. */
  readonly body: readonly Stmt[];
}

export interface BreakStmt extends StmtBase { readonly kind: 'break' }
export interface ContinueStmt extends StmtBase { readonly kind: 'continue' }
export interface ReturnStmt extends StmtBase { readonly kind: 'return'; readonly value: Expr | null }
export interface GotoStmt extends StmtBase { readonly kind: 'goto'; readonly label: string }
export interface LabelStmt extends StmtBase { readonly kind: 'label'; readonly name: string; readonly body: Stmt }

export interface AsmStmt extends StmtBase {
  readonly kind: 'asm';
  readonly volatile: boolean;
  /** The instruction text, string pieces joined. */
  readonly text: string;
  readonly outputs: readonly Expr[];
  readonly inputs: readonly Expr[];
}

/** `#if` … `#endif` around whole statements: every arm is here, `active` tells which one the chosen configuration keeps. */
export interface PreprocessorStmt extends StmtBase {
  readonly kind: 'preprocessor';
  readonly arms: readonly { readonly span: Span; readonly condition: string; readonly body: readonly Stmt[]; readonly active: boolean }[];
}

/** A macro invocation that expands to statements. */
export interface MacroStmt extends StmtBase {
  readonly kind: 'macro-statement';
  readonly name: string;
  readonly definition: MacroDefinition;
  readonly expanded: Stmt;
  /** A list of statements without braces of its own: where C++ expects one statement it takes the first alone. */
  readonly several?: true;
}

export interface OpaqueStmt extends StmtBase { readonly kind: 'opaque'; readonly reason: string; /** As for an expression. */ readonly names?: TextNames }

// -------------------------------------------------------------------------------------------------------------- program

/** One place in host (or device) code that starts a kernel. */
export interface Launch {
  readonly span: Span;
  readonly file: string;
  readonly form: 'chevrons' | 'cudaLaunchKernel' | 'macro' | 'pointer';
  /** The name as written; for a pointer the name of the variable. */
  readonly kernelName: string;
  readonly candidates: readonly FunctionDecl[];
  readonly templateArguments: readonly TemplateArgument[] | null;
  readonly grid: Expr;
  readonly block: Expr;
  readonly sharedBytes: Expr | null;
  readonly stream: Expr | null;
  readonly arguments: readonly Expr[];
  readonly argumentsSpan: Span | null;
  /** The function the launch stands in, if it was lowered. */
  readonly function: FunctionDecl | null;
  readonly inLoop: boolean;
  readonly conditional: boolean;
}

/** A kernel whose `__global__` stands in a macro's body or arguments, so that no tree of it exists. */
export interface HiddenKernel { readonly name: string; readonly line: number; readonly macro: string }

/** One file, lowered. */
export interface Unit {
  readonly source: SourceFile;
  readonly overlay: Overlay;
  readonly macros: ReadonlyMap<string, MacroDefinition>;
  /** Every function found, kernels and methods included, in source order. */
  readonly functions: readonly FunctionDecl[];
  readonly kernels: readonly FunctionDecl[];
  readonly variables: readonly VariableDecl[];
  readonly launches: readonly Launch[];
  readonly hiddenKernels: readonly HiddenKernel[];
  readonly problems: readonly Problem[];
  /** Real paths of the quoted includes that were resolved and lowered. */
  readonly includes: readonly string[];
  /** Quoted includes that were not found. */
  readonly missingIncludes: readonly string[];
  /** What differs between the units that include the file; absent if nothing does. An edit of what rests on it is an edit of several texts. */
  readonly doubts?: UnitDoubts;
}

/** All units that were loaded together. */
export interface Program {
  /** Keyed by real path. */
  readonly units: ReadonlyMap<string, Unit>;
  /** Launches in every unit that may start this kernel. */
  launchesOf(kernel: FunctionDecl): readonly Launch[];
  /** True if every file that can see the kernel is loaded and no launch goes through something not understood (`pointer`, `macro`). */
  allLaunchesVisible(kernel: FunctionDecl): boolean;
}

/** `expr` without parentheses and macro wrappers. */
export function strip(expr: Expr): Expr {
  let e = expr;
  while (e.kind === 'paren' || e.kind === 'macro') e = e.kind === 'paren' ? e.inner : e.expanded;
  return e;
}

/** Why a name without a declaration has none, in words. */
export function whyNameless({ name, argument }: RefExpr): string {
  return argument === undefined ? `nothing visible declares ${name}` : `${name} is the object of an argument, which the template does not tell`;
}

/** For `default:` of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new Error(`internal: unexpected ${JSON.stringify(value)}`);
}

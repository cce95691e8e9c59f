/** Spellings that the overlay knows: CUDA's qualifiers and bounds, and the C++ words that tell where a declaration starts. */

/** Qualifiers of CUDA without arguments, as written. All are exchanged for an attribute of the same length. */
export const QUALIFIERS: ReadonlySet<string> = new Set([
  '__global__', '__device__', '__host__', '__shared__', '__constant__', '__managed__', '__forceinline__', '__noinline__', '__grid_constant__',
  '__tile_global__', '__tile__', '__device_builtin__', '__cudart_builtin__', '__nv_pure__', '__inline_hint__', '__no_return__',
  '__device_builtin_texture_type__', '__device_builtin_surface_type__',
]);

/** Words of CUDA that take arguments in parentheses and say nothing to the C++ grammar; the values are the names in notes. */
export const BOUNDS: ReadonlyMap<string, string> = new Map([
  ['__launch_bounds__', 'launch_bounds'], ['__align__', 'align'], ['__builtin_align__', 'align'], ['__cluster_dims__', 'cluster_dims'],
  ['__block_size__', 'block_size'], ['__maxnreg__', 'maxnreg'], ['__local_maxnreg__', 'local_maxnreg'],
]);

/** Words of C++ and its dialects that may stand in a macro beside qualifiers; the values are the names in notes. */
export const SPECIFIERS: ReadonlyMap<string, string> = new Map([
  ['inline', 'inline'], ['__inline__', 'inline'], ['__inline', 'inline'], ['__forceinline', 'forceinline'], ['static', 'static'], ['extern', 'extern'],
  ['constexpr', 'constexpr'], ['const', 'const'], ['volatile', 'volatile'], ['__volatile__', 'volatile'], ['__restrict__', 'restrict'],
  ['__restrict', 'restrict'], ['restrict', 'restrict'], ['explicit', 'explicit'], ['virtual', 'virtual'], ['register', 'register'],
  ['noexcept', 'noexcept'], ['override', 'override'], ['final', 'final'], ['mutable', 'mutable'], ['friend', 'friend'], ['thread_local', 'thread_local'],
  ['__extension__', 'extension'], ['__cdecl', 'cdecl'], ['__stdcall', 'stdcall'], ['__fastcall', 'fastcall'],
]);

/** Words that a parenthesised argument belongs to and that mean nothing to the analyses. */
export const ATTRIBUTES: ReadonlySet<string> = new Set(['__attribute__', '__attribute', '__declspec', 'alignas', '_Alignas', '__nv_hdl_wrapper_t']);

export const PRIMITIVE_TYPES: ReadonlySet<string> = new Set([
  'void', 'bool', 'char', 'short', 'int', 'long', 'float', 'double', 'signed', 'unsigned', 'auto', 'wchar_t', 'char8_t', 'char16_t', 'char32_t',
  '__int128', '__signed__',
]);

/** Words that start a declaration and can follow nothing but a boundary, a specifier or an attribute. */
export const DECLARATION_WORDS: ReadonlySet<string> = new Set([
  'static', 'inline', '__inline__', '__inline', 'extern', 'constexpr', 'virtual', 'explicit', 'friend', 'typename', 'struct', 'class', 'union', 'enum',
  'template', 'typedef', 'using', 'namespace',
]);

/** Operators spelled as words: ISO C++ 17, [lex.digraph]. */
export const OPERATOR_WORDS: ReadonlyMap<string, string> = new Map([
  ['and', '&&'], ['or', '||'], ['not', '!'], ['xor', '^'], ['bitand', '&'], ['bitor', '|'], ['compl', '~'], ['not_eq', '!='], ['and_eq', '&='], ['or_eq', '|='], ['xor_eq', '^='],
]);

/** Words of the language that are neither a type nor a name. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...PRIMITIVE_TYPES, ...DECLARATION_WORDS, ...SPECIFIERS.keys(), ...ATTRIBUTES,
  'if', 'else', 'for', 'while', 'do', 'switch', 'case', 'default', 'break', 'continue', 'return', 'goto', 'try', 'catch', 'throw', 'new', 'delete',
  'sizeof', 'alignof', 'decltype', 'noexcept', 'static_assert', 'static_cast', 'reinterpret_cast', 'const_cast', 'dynamic_cast', 'typeid', 'operator',
  'public', 'private', 'protected', 'this', 'nullptr', 'true', 'false', 'asm', '__asm__', '__asm', 'requires', 'concept', 'co_return', 'co_await',
  'co_yield', 'export', ...OPERATOR_WORDS.keys(), 'typeof', '__typeof__', '_Pragma', '__pragma', '_Static_assert',
]);

/** Words that begin statements which are no expressions or declarations. */
export const CONTROL_WORDS: ReadonlySet<string> = new Set(['if', 'else', 'for', 'while', 'do', 'switch', 'case', 'default', 'return', 'break', 'continue', 'goto', 'try', 'catch']);

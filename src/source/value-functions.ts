/** C functions that host code calls with launch sizes at hand: they take values and pointers, never references. */
const C_FUNCTIONS: ReadonlySet<string> = new Set([
  'printf', 'fprintf', 'sprintf', 'snprintf', 'puts', 'malloc', 'calloc', 'realloc', 'free', 'memset', 'memcpy', 'memmove', 'exit', 'abs', 'ceil', 'ceilf', 'floor', 'floorf', 'sqrt',
  'pow', 'log2', 'atoi', 'strlen', 'strcmp', 'fopen', 'fclose', 'fread', 'fwrite', 'fflush', 'srand', 'rand', 'gettimeofday', 'clock',
]);

/** Does a function that no loaded file declares take its scalars as values? The CUDA runtime's (`cudaMemcpy`) and the C library's do; others are not known. */
export function takesValues(name: string): boolean {
  const last = name.startsWith('std::') ? name.slice(5) : name.startsWith('::') ? name.slice(2) : name;
  return C_FUNCTIONS.has(last) || (last.startsWith('cuda') && last.charAt(4) >= 'A' && last.charAt(4) <= 'Z');
}

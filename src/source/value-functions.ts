/** C functions that host code calls with launch sizes at hand: they take values and pointers, never references. */
const C_FUNCTIONS: ReadonlySet<string> = new Set([
  'printf', 'fprintf', 'sprintf', 'snprintf', 'puts', 'malloc', 'calloc', 'realloc', 'free', 'memset', 'memcpy', 'memmove', 'exit', 'abs', 'ceil', 'ceilf', 'floor', 'floorf', 'sqrt',
  'pow', 'log2', 'atoi', 'strlen', 'strcmp', 'fopen', 'fclose', 'fread', 'fwrite', 'fflush', 'srand', 'rand', 'gettimeofday', 'clock',
  'fabs', 'fabsf', 'sqrtf', 'powf', 'exp', 'expf', 'log', 'logf', 'log10', 'log10f', 'log2f', 'sin', 'sinf', 'cos', 'cosf', 'tan', 'tanf', 'atan2', 'atan2f', 'fmod', 'fmodf', 'round', 'roundf', 'fmin', 'fminf', 'fmax', 'fmaxf',
  'atof', 'atol', 'atoll', 'strtol', 'strtoul', 'strncmp', 'strcpy', 'strncpy', 'strcat', 'memcmp', 'perror', 'putchar', 'fputs', 'fgets', 'sscanf', 'scanf', 'fscanf', 'assert', 'srand48', 'drand48', 'lrand48', 'time', 'getenv', 'posix_memalign', 'aligned_alloc',
]);

/** Does a function that no loaded file declares take its scalars as values? The CUDA runtime's (`cudaMemcpy`), HIP's and the C library's do; others are not known. */
export function takesValues(name: string): boolean {
  const last = name.startsWith('std::') ? name.slice(5) : name.startsWith('::') ? name.slice(2) : name;
  return C_FUNCTIONS.has(last) || isOf('cuda', last) || (isOf('hip', last) && !last.startsWith('hipLaunch'));
}

function isOf(prefix: string, name: string): boolean {
  const next = name.charAt(prefix.length);
  return next >= 'A' && next <= 'Z' && name.startsWith(prefix);
}

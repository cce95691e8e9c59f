/** What helps where a kernel's launch, or a mention of it, is in the way: by what stands there. */

/** Beginnings of what is said of a place, and what would help there. `k` is the kernel's name. */
const REMEDIES: readonly (readonly [form: string, remedy: string])[] = [
  ['another kernel of the same name', 'give each kernel that is called k a name of its own'],
  ['launched where several kernels', 'give each kernel that is called k a name of its own'],
  ['launched with default arguments left out', 'give all arguments at the launch'],
  ['launched from device code', 'launch k from the host'],
  ['launched in a function that was not understood', 'write that function in a form that is understood'],
  ['launched in an arm of #if', 'keep what differs between the arms (grid, block, arguments) in variables, and launch k once behind the #endif'],
  ['named in an arm of #if', 'name k outside of the #if'],
  ['named outside of the functions', 'take that mention of k away, or compile it in this run, e.g. with -D'],
  ['launched across a preprocessor directive', 'put the whole launch on one side of the directive'],
  ['a macro names it', 'launch k outside of the macro'],
  ['a macro makes its name of pieces', 'write the name k where the macro makes it'],
  ['launched in a macro', 'launch k outside of the macro'],
  ['written again in the macro', 'write the kernel once, outside of the macro'],
  ['a using-declaration names it', 'take the using-declaration away, and name k with its namespace at the launch'],
  ['its address is taken', 'launch k by its name, where its address is taken'],
  ['it is a member of a class', 'move k out of the class'],
  ['declared together with something else', 'declare k by itself'],
  ['an explicit instantiation', 'take the explicit instantiation away, if every launch of k stands in files that see its definition'],
  ['an attribute is set in a branch without braces', 'put braces around the call that sets it'],
  ['its template argument', 'write all template arguments at the launch: k<…><<<…>>>(…)'],
  ['the kernel is named by a macro', 'write the name k at the launch'],
  ['its configuration comes out of one macro', 'write grid and block at the launch'],
];

const SET_BY_ITSELF = 'set the attribute in a statement of its own';
const BY_ITSELF = 'launch k with <<<…>>> as a statement of its own at each of these places';

/** What would help at a place of which this is said; null if nothing in particular. */
export function remedyAt(form: string, kernel: string): string | null {
  const named = (remedy: string): string => remedy.replaceAll(/\bk\b/g, kernel);
  if (form.endsWith('in a larger statement')) return named(SET_BY_ITSELF);
  const found = REMEDIES.find(([start]) => form.startsWith(start));
  return found === undefined ? null : named(found[1]);
}

/** What would help at all of them, each once. */
export function remediesAt(places: readonly { readonly form: string; readonly remedy?: string }[], kernel: string, other: string | null = null): string {
  return [...new Set(places.map(({ form, remedy }) => remedy ?? remedyAt(form, kernel) ?? other ?? BY_ITSELF.replaceAll(/\bk\b/g, kernel)))].join('; ');
}

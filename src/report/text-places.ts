/** Places and lines of code in reports for people. */

/** The line, with its file where that is another one than `path`. */
export function place(finding: { readonly path: string; readonly line: number }, path: string): string {
  return finding.path === path ? `${finding.line}` : `${finding.path}:${finding.line}`;
}

export function clip(code: string): string {
  const trimmed = code.trim();
  return trimmed.length > 110 ? `${trimmed.slice(0, 107)}…` : trimmed;
}

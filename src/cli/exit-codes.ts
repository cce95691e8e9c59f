/** Exit codes, and which of several wins. docs/interface.md is the contract. */
export const EXIT = {
  done: 0,
  findings: 1,
  usage: 2,
  incomplete: 3,
  different: 4,
  guarded: 5,
  internal: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const PRECEDENCE: readonly ExitCode[] = [130, 70, 2, 4, 5, 3, 1, 0];

/** The code that wins among those that hold. */
export function winningCode(codes: Iterable<ExitCode>): ExitCode {
  const holding = new Set(codes);
  return PRECEDENCE.find((code) => holding.has(code)) ?? EXIT.done;
}

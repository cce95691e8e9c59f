/** "Did you mean": the known name that is nearest to what was typed. */

/** Number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the other. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** The nearest of the names, if it is near enough to be what was meant. */
export function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 0.5;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > bestDistance && !candidate.startsWith(name)) continue;
    const distance = candidate.toLowerCase().startsWith(name.toLowerCase()) && name.length >= 3 ? 1 : editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean "x"?)`, or nothing. `prefix` stands before what is suggested: `--` of an option. */
export function didYouMean(name: string, known: Iterable<string>, prefix = ''): string {
  const guess = nearest(name, known);
  return guess === null ? '' : ` (did you mean "${prefix}${guess}"?)`;
}

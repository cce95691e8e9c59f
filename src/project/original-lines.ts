/**
 * Lines in the words of an outcome. Edits are judged on the text that earlier rounds left, so summaries, reasons and obligations name lines of that text; who
 * reads them has the file as it was. Every line is told as one of the original: where an edit brought the text, as the line that the edit stands at.
 *
 * Read: `line 7`, `lines 3 and 7`, `line 3, other.cu:8`, and `other.cu:8` anywhere. A line that the present text does not have is left as it is.
 */
import type { Estimate, Obligation } from '../../transforms/lib/types.js';

const NUMBER = String.raw`(?:[\w./+-]+\.\w+:)?\d+`;
const MENTION = new RegExp(String.raw`\b(lines? )(${NUMBER}(?:(?:, | and |, and |–)${NUMBER}(?=$|[,.;:)–]| and ))*)|([\w./+-]+\.\w+:)(\d+)`, 'g');
const ONE = /([\w./+-]+\.\w+:)?(\d+)/g;

/** What is asked of a workspace. */
export interface Texts {
  source(file: string): { readonly lineCount: number; lineStart(line: number): number } | null;
  originalLine(file: string, offset: number): { readonly line: number };
  fileNamed(path: string): string | null;
}

/** Turns lines of the present texts into lines of the originals, for outcomes of one file. */
export class OriginalLines {
  constructor(private readonly workspace: Texts, private readonly file: string) {}

  /** The line of the original that a line of the present text stems from. */
  line(present: number): number {
    return this.of(this.file, present);
  }

  text(words: string): string {
    return words.replace(MENTION, (_whole, word: string | undefined, list: string | undefined, path: string | undefined, line: string | undefined) => (
      word === undefined || list === undefined ? this.named(path, line ?? '') : `${word}${list.replace(ONE, (_one, of: string | undefined, at: string) => this.named(of, at))}`
    ));
  }

  obligation(obligation: Obligation): Obligation {
    const { line, text, remedy } = obligation;
    return { ...obligation, line: this.line(line), text: this.text(text), remedy: remedy === null ? null : this.text(remedy) };
  }

  estimate(estimate: Estimate): Estimate {
    return { ...estimate, reason: this.text(estimate.reason), breakEven: estimate.breakEven === null ? null : this.text(estimate.breakEven) };
  }

  private named(path: string | undefined, line: string): string {
    const file = path === undefined ? this.file : this.workspace.fileNamed(path.slice(0, -1));
    return `${path ?? ''}${file === null ? line : this.of(file, Number(line))}`;
  }

  private of(file: string, line: number): number {
    const source = this.workspace.source(file);
    return source !== null && line >= 1 && line <= source.lineCount ? this.workspace.originalLine(file, source.lineStart(line)).line : line;
  }
}

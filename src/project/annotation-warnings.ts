/** Annotations that say nothing: a word that none is called, or a value that its key cannot have. They would be passed over in silence. */
import { annotationsOf } from '../source/annotations.js';
import type { Annotation, SourceFile } from '../source/types.js';
import { didYouMean } from './suggest.js';

export interface AnnotationWarning { readonly line: number; readonly message: string }

/** What a value must be, in words, and the test for it; null where a key stands alone. */
const VALUES: Readonly<Record<string, { readonly of: string; readonly fits: (value: string) => boolean } | null>> = {
  ignore: null,
  uniform: null,
  noalias: null,
  p: { of: 'a share between 0 and 1, such as p=0.03', fits: (value) => value !== '' && Number(value) >= 0 && Number(value) <= 1 },
  trip: { of: 'a number of iterations, such as trip=64', fits: (value) => /^\d+$/.test(value) },
  block: { of: 'a shape, such as block=32x8', fits: (value) => /^\d+(?:x\d+){0,2}$/.test(value) },
};

export function annotationWarnings(source: SourceFile): readonly AnnotationWarning[] {
  return annotationsOf(source).flatMap((annotation) => {
    const message = complaint(annotation);
    return message === null ? [] : [{ line: lineOf(source, annotation), message }];
  });
}

/** The line that the annotation stands on: the last comment with its key up to the line that it speaks about. */
function lineOf(source: SourceFile, { line, key }: Annotation): number {
  const comment = source.comments.findLast(({ start, text }) => source.line(start) <= line && text.trim().startsWith('divmod:') && text.includes(key));
  return comment === undefined ? line : source.line(comment.start);
}

function complaint({ key, value }: Annotation): string | null {
  const wanted = Object.hasOwn(VALUES, key) ? VALUES[key] : undefined;
  if (wanted === undefined) return `no annotation is called "${key}"${didYouMean(key, Object.keys(VALUES))}; it has no effect`;
  if (wanted === null) return value === null ? null : `the annotation ${key} takes no value`;
  return value !== null && wanted.fits(value) ? null : `the annotation ${key} needs ${wanted.of}; it has no effect`;
}

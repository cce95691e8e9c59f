/** A file that divmod cannot take as source text; the message is meant for the user. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

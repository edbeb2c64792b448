// Parts of a prompt that are images or sound, and how they shift the positions of the tokens after them.

/** An image or sound in a prompt. Its tokens are embeddings, which are computed in separate steps. */
export interface MediaSpan {
  /** Index of its first token in the prompt. */
  readonly start: number;
  readonly tokens: number;
  /** How many positions it takes in the KV cache; not always as many as tokens. */
  readonly positions: number;
  /** Whether all of it must be computed in one step. */
  readonly whole: boolean;
}

/** Returns the position in the KV cache of the text token, or of a span's first token, at `index`. */
export function positionAt(media: readonly MediaSpan[], index: number): number {
  let position = index;
  for (const span of media) if (span.start < index) position += span.positions - span.tokens;
  return position;
}

/** Returns the last index up to `index` that is not inside a span: a sequence can be trimmed there. */
export function boundaryBefore(media: readonly MediaSpan[], index: number): number {
  return media.find(({ start, tokens }) => start < index && index < start + tokens)?.start ?? index;
}

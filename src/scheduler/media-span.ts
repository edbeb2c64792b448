// Parts of a prompt that are images or sound, and how they shift positions.

/** A medium in a prompt. Its tokens are embeddings, which are computed in steps of their own. */
export interface MediaSpan {
  /** Index of its first token in the prompt. */
  readonly start: number;
  readonly tokens: number;
  /** Positions that it takes; not always as many as tokens. */
  readonly positions: number;
  /** It must be computed in one step. */
  readonly whole: boolean;
}

/** Position in the KV cache of the text token at `index`, or of a span's first. */
export function positionAt(media: readonly MediaSpan[], index: number): number {
  let position = index;
  for (const span of media) if (span.start < index) position += span.positions - span.tokens;
  return position;
}

/** The last index up to `index` that is not inside a span: a sequence can be trimmed there. */
export function boundaryBefore(media: readonly MediaSpan[], index: number): number {
  return media.find(({ start, tokens }) => start < index && index < start + tokens)?.start ?? index;
}

// Parts of a prompt that are no text, and what they do to positions.

/** Its tokens are embeddings, decoded apart from everybody's. */
export interface MediaSpan {
  /** Index of its first token in the prompt. */
  readonly start: number;
  readonly tokens: number;
  /** By how much positions advance behind it; not always by its tokens. */
  readonly positions: number;
  /** It must be decoded whole. */
  readonly whole: boolean;
}

/** Position in the KV cache of the text token at `index`, or of a span's first. */
export function positionAt(media: readonly MediaSpan[], index: number): number {
  let position = index;
  for (const span of media) if (span.start < index) position += span.positions - span.tokens;
  return position;
}

/** The last place up to `index` that is not inside a span. */
export function cutBefore(media: readonly MediaSpan[], index: number): number {
  return media.find(({ start, tokens }) => start < index && index < start + tokens)?.start ?? index;
}

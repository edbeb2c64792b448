// Reports to clients that inputs were truncated.

import type { EmbeddingResult } from "../domain/embedding.ts";

/** Returns the header with the number of truncated inputs; none when there are none. */
export const truncationHeaders = ({ truncated }: EmbeddingResult): Record<string, string> =>
  truncated > 0 ? { "X-Embedding-Truncated": String(truncated) } : {};

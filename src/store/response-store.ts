// Answers that clients may fetch and continue: in memory, bounded by count and by size, the oldest out first.

import type { ChatMessage } from "../domain/generate.ts";

/** `Resource` is what is kept for fetching; only its owner knows its shape. */
export interface StoredResponse<Resource> {
  readonly resource: Resource;
  /** What the request said, as it said it. */
  readonly input: readonly unknown[];
  /** Everything up to and with this answer, for a next turn; undefined while it is being made. */
  readonly conversation: readonly ChatMessage[] | undefined;
}

interface Entry<Resource> extends StoredResponse<Resource> {
  readonly bytes: number;
}

export class ResponseStore<Resource> {
  /** In order of their last change. */
  private readonly entries = new Map<string, Entry<Resource>>();
  private bytes = 0;

  constructor(private readonly limits: { readonly count: number; readonly bytes: number }) {}

  get count(): number {
    return this.entries.size;
  }

  get(id: string): StoredResponse<Resource> | undefined {
    return this.entries.get(id);
  }

  /** Keeps an answer, in place of an earlier state of it; others go out where they must. */
  put(id: string, response: StoredResponse<Resource>): void {
    this.delete(id);
    const bytes = JSON.stringify([response.resource, response.input, response.conversation]).length;
    this.entries.set(id, { ...response, bytes });
    this.bytes += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.limits.count && this.bytes <= this.limits.bytes) return;
      this.delete(oldest);
    }
  }

  /** False when there is none. */
  delete(id: string): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    this.entries.delete(id);
    this.bytes -= entry.bytes;
    return true;
  }

  /** The newest first. */
  *values(): Generator<StoredResponse<Resource>, void, void> {
    yield* [...this.entries.values()].toReversed();
  }
}

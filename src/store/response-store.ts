// Answers that clients may fetch and continue: in memory, bounded by count and by size, the oldest out first.

import type { ChatMessage } from "../domain/generate.ts";

/** `Resource` and `Events` are what is kept for fetching; only their owner knows their shape. */
export interface StoredResponse<Resource, Events = unknown> {
  readonly resource: Resource;
  /** What the request said, as it said it. */
  readonly input: readonly unknown[];
  /** Everything up to and with this answer, for a next turn; undefined while it is being made. */
  readonly conversation: readonly ChatMessage[] | undefined;
  /** What its stream told and tells; absent where that is not kept. Its size is told by `grow`. */
  readonly events?: Events;
}

interface Entry<Resource, Events> extends StoredResponse<Resource, Events> {
  /** Of what is kept beside the events, and of these. */
  readonly bytes: number;
  eventBytes: number;
}

export class ResponseStore<Resource, Events = unknown> {
  /** In order of their last change. */
  private readonly entries = new Map<string, Entry<Resource, Events>>();
  private bytes = 0;

  constructor(private readonly limits: { readonly count: number; readonly bytes: number }) {}

  get count(): number {
    return this.entries.size;
  }

  get(id: string): StoredResponse<Resource, Events> | undefined {
    return this.entries.get(id);
  }

  /** Keeps an answer, in place of an earlier state of it; others go out where they must. */
  put(id: string, response: StoredResponse<Resource, Events>): void {
    const eventBytes = this.entries.get(id)?.eventBytes ?? 0;
    this.delete(id);
    const bytes = JSON.stringify([response.resource, response.input, response.conversation]).length;
    this.entries.set(id, { ...response, bytes, eventBytes });
    this.bytes += bytes + eventBytes;
    this.shrink();
  }

  /** The events of an answer have become larger by so many characters; others go out where they must. */
  grow(id: string, bytes: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    entry.eventBytes += bytes;
    this.bytes += bytes;
    this.shrink();
  }

  private shrink(): void {
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
    this.bytes -= entry.bytes + entry.eventBytes;
    return true;
  }

  /** The newest first. */
  *values(): Generator<StoredResponse<Resource, Events>, void, void> {
    yield* [...this.entries.values()].toReversed();
  }
}

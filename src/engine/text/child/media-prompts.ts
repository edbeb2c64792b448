// Takes prompts with images or sound through the media library: split into text and media, then encoded.

import type { Media as MediaLibrary, MediaChunk, MediaFailure, MediaJob } from "../../../../ffi/media/api.ts";
import type { Media } from "../../../domain/media.ts";
import type { MediaSpan } from "../../../scheduler/media-span.ts";

/** A prompt as the scheduler and the decode loop need it. */
export interface MediaPrompt {
  readonly job: MediaJob;
  /** One for each token; those of media are negative, and equal for equal content. */
  readonly tokens: Int32Array;
  readonly spans: readonly (MediaSpan & { readonly chunk: number })[];
}

/** The progress of a submitted prompt. `prepared`: its length is known; `encoded`: it can be computed. */
export type MediaUpdate<Tag> =
  | { readonly tag: Tag; readonly state: "prepared" | "encoded"; readonly prompt: MediaPrompt }
  | ({ readonly tag: Tag; readonly state: "failed" } & MediaFailure);

/** Makes a 32-bit number negative. */
const SIGN = 1 << 31;

/** `Tag` is what the caller gets back with the updates of its prompt. */
export class MediaPrompts<Tag> {
  private readonly waiting = new Map<MediaJob, { readonly tag: Tag; prompt?: MediaPrompt }>();

  constructor(
    private readonly library: Pick<MediaLibrary, "submit" | "encode" | "wait" | "state" | "chunks" | "release">,
  ) {}

  get busy(): boolean {
    return this.waiting.size > 0;
  }

  /** Throws MediaError when a medium is invalid. */
  submit(text: string, media: readonly Media[], tag: Tag, client?: string): void {
    this.waiting.set(this.library.submit(text, media, client), { tag });
  }

  /**
   * Yields what happened since the last call. `prepared` is followed by `encoded` unless the prompt is dropped, which a
   * caller may do as soon as it receives `prepared`, before the prompt is encoded.
   */
  *take(): Generator<MediaUpdate<Tag>, void, void> {
    if (!this.busy) return;
    for (let job = this.library.wait(0); job !== undefined; job = this.library.wait(0)) {
      const entry = this.waiting.get(job);
      if (!entry) continue;
      const { tag } = entry;
      const state = this.library.state(job);
      if (typeof state !== "string") {
        this.drop((other) => other === tag);
        yield { tag, state: "failed", ...state };
      } else if (entry.prompt) yield this.encoded(job, tag, entry.prompt);
      else {
        const prompt = (entry.prompt = this.read(job));
        yield { tag, state: "prepared", prompt };
        if (this.waiting.has(job) && !this.library.encode(job)) yield this.encoded(job, tag, prompt);
      }
    }
  }

  /** Drops prompts that are not encoded yet; returns their tags. */
  drop(which: (tag: Tag) => boolean): Tag[] {
    const dropped: Tag[] = [];
    for (const [job, { tag }] of this.waiting) {
      if (!which(tag)) continue;
      this.waiting.delete(job);
      this.library.release(job);
      dropped.push(tag);
    }
    return dropped;
  }

  private encoded(job: MediaJob, tag: Tag, prompt: MediaPrompt): MediaUpdate<Tag> {
    this.waiting.delete(job);
    return { tag, state: "encoded", prompt };
  }

  private read(job: MediaJob): MediaPrompt {
    const chunks = this.library.chunks(job);
    const length = chunks.reduce((sum, chunk) => sum + sizeOf(chunk), 0);
    const tokens = new Int32Array(length);
    const spans: MediaPrompt["spans"][number][] = [];
    let start = 0;
    for (const [index, chunk] of chunks.entries()) {
      if (chunk.kind === "text") tokens.set(chunk.tokens, start);
      else {
        const { tokens: count, positions, nonCausal } = chunk;
        spans.push({ start, tokens: count, positions, whole: nonCausal, chunk: index });
        for (let at = 0; at < count; at++) tokens[start + at] = tokenOf(chunk, at);
      }
      start += sizeOf(chunk);
    }
    return { job, tokens, spans };
  }
}

const sizeOf = (chunk: { readonly tokens: number | Int32Array }): number =>
  typeof chunk.tokens === "number" ? chunk.tokens : chunk.tokens.length;

/** Returns a token id that stands for one embedding of a medium. */
const tokenOf = ({ id, part }: MediaChunk, at: number): number =>
  Number(Bun.hash.wyhash(`${id} ${part} ${at}`) & 0x7fffffffn) | SIGN;

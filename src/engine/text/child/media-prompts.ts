// Takes prompts with images or sound through the media library: split into text and media, then encoded. Only prompts
// whose computation is near are encoded: prepared media and embeddings take many times the memory of the media.

import {
  MediaError,
  type Media as MediaLibrary,
  type MediaChunk,
  type MediaFailure,
  type MediaJob,
} from "../../../../ffi/media/api.ts";
import { contentOf, type Media } from "../../../domain/media.ts";
import type { MediaSpan } from "../../../scheduler/media-span.ts";
import { ClientTurns } from "../../process/client-turns.ts";
import { MemoryTurns, type Holder, type Owner } from "./memory-turns.ts";

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

/** Prompts that the scheduler does not know yet. */
export interface Coming {
  readonly prompts: number;
  readonly tokens: number;
}

interface Entry<Tag> extends Owner {
  readonly text: string;
  readonly media: readonly Media[];
  readonly tag: Tag;
  /** Its job in the library, if it has one now. */
  job?: MediaJob | undefined;
  /** Known once it was prepared; that job may have been released since. */
  prompt?: MediaPrompt;
}

type Library = Pick<MediaLibrary, "projector" | "submit" | "encode" | "wait" | "state" | "chunks" | "release">;

/** Makes a 32-bit number negative. */
const SIGN = 1 << 31;
/** Bytes of media whose lengths are being found out at the same time. */
const MOST_MEASURED = 64 * 2 ** 20;
/** Bytes of prepared media and embeddings of prompts whose computation has not begun. */
const MOST_AHEAD = 256 * 2 ** 20;
/**
 * Bytes of a prepared image for each of its own: they become floats. Compressed sounds take more, but mostly less than
 * their embeddings, which count too.
 */
const PREPARED = 4;

/** `Tag` is what the caller gets back with the updates of its prompt. */
export class MediaPrompts<Tag> {
  /** Prompts that are not encoded yet. */
  private readonly entries = new Set<Entry<Tag>>();
  private readonly unmeasured = new ClientTurns<Entry<Tag>>();
  /** Prompts of known length that wait until more may be encoded. */
  private readonly waiting = new MemoryTurns<Entry<Tag>>(MOST_AHEAD);
  /** Prompts that are encoded, or being encoded, and whose computation has not begun. */
  private readonly ahead = new Map<MediaJob, Holder>();
  private readonly width: number;

  constructor(private readonly library: Library) {
    this.width = library.projector().width;
  }

  get busy(): boolean {
    return this.entries.size > 0;
  }

  /** Prompts of known length that are not encoded yet, without background ones. */
  get coming(): Coming {
    const known = [...this.entries].flatMap(({ prompt, background }) => (prompt && !background ? [prompt] : []));
    return { prompts: known.length, tokens: sum(known.map(({ tokens }) => tokens.length)) };
  }

  /** Queues a prompt; `take` yields what becomes of it. */
  submit(text: string, media: readonly Media[], tag: Tag, { client, background }: Owner = {}): void {
    const entry = { text, media, tag, client, background };
    this.entries.add(entry);
    this.unmeasured.add(entry);
  }

  /**
   * Yields what happened since the last call. `prepared` is followed by `encoded` unless the prompt is dropped, which a
   * caller may do as soon as it receives `prepared`, before the prompt is encoded. It must then pass the prompt of
   * `encoded` to `begun` and `release`.
   */
  *take(): Generator<MediaUpdate<Tag>, void, void> {
    if (!this.busy) return;
    yield* this.measure();
    yield* this.encode();
    for (let job = this.library.wait(0); job !== undefined; job = this.library.wait(0)) {
      const entry = this.entries.values().find((one) => one.job === job);
      if (entry) yield* this.reported(entry, job);
    }
  }

  /** Notes that the computation of an encoded prompt has begun: others may be encoded. */
  begun({ job }: MediaPrompt): void {
    this.ahead.delete(job);
  }

  /** Frees an encoded prompt. */
  release({ job }: MediaPrompt): void {
    this.ahead.delete(job);
    this.library.release(job);
  }

  /** Drops prompts that are not encoded yet; returns their tags. */
  drop(which: (tag: Tag) => boolean): Tag[] {
    const dropped = [...this.entries].filter(({ tag }) => which(tag));
    for (const entry of dropped) this.forget(entry);
    return dropped.map(({ tag }) => tag);
  }

  private *measure(): Generator<MediaUpdate<Tag>, void, void> {
    const measured = () => this.entries.values().filter(({ job, prompt }) => job !== undefined && !prompt);
    while (sum(measured().map(bytesOf)) < MOST_MEASURED) {
      const entry = this.unmeasured.next();
      if (!entry) return;
      this.unmeasured.remove(entry);
      yield* this.start(entry);
    }
  }

  /** Encodes the prompts that are next, as far as there is memory for them. */
  private *encode(): Generator<MediaUpdate<Tag>, void, void> {
    const next = () => this.waiting.take(this.ahead.values());
    for (let entry = next(); entry; entry = next()) {
      if (entry.prompt && entry.job !== undefined) yield* this.begin(entry, entry.prompt);
      else yield* this.start(entry);
    }
  }

  /** Submits a prompt to the library. */
  private *start(entry: Entry<Tag>): Generator<MediaUpdate<Tag>, void, void> {
    const { text, media, client, tag, prompt } = entry;
    try {
      const job = (entry.job = this.library.submit(text, media, client));
      if (prompt) this.ahead.set(job, this.costOf(entry, prompt));
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      this.forget(entry);
      const { message, code, medium } = error;
      yield { tag, state: "failed", error: message, code, ...(medium !== undefined && { medium }) };
    }
  }

  private *reported(entry: Entry<Tag>, job: MediaJob): Generator<MediaUpdate<Tag>, void, void> {
    const { tag } = entry;
    const state = this.library.state(job);
    if (typeof state !== "string") {
      this.forget(entry);
      yield { tag, state: "failed", ...state };
    } else if (entry.prompt) {
      const prompt = { ...entry.prompt, job };
      if (state === "encoded") yield this.encoded(entry, prompt);
      else yield* this.begin(entry, prompt);
    } else {
      const prompt = this.read(job);
      yield { tag, state: "prepared", prompt };
      if (!this.entries.has(entry)) return;
      entry.prompt = prompt;
      this.waiting.add(entry);
      yield* this.encode();
      // It is prepared again when its turn is near.
      if (this.waiting.has(entry)) this.leave(entry);
    }
  }

  /** Encodes a prepared prompt. */
  private *begin(entry: Entry<Tag>, prompt: MediaPrompt): Generator<MediaUpdate<Tag>, void, void> {
    this.ahead.set(prompt.job, this.costOf(entry, prompt));
    if (!this.library.encode(prompt.job)) yield this.encoded(entry, prompt);
  }

  private encoded(entry: Entry<Tag>, prompt: MediaPrompt): MediaUpdate<Tag> {
    this.entries.delete(entry);
    return { tag: entry.tag, state: "encoded", prompt };
  }

  private costOf(entry: Entry<Tag>, { spans }: MediaPrompt): Holder {
    const embeddings = sum(spans.map(({ tokens }) => tokens)) * this.width * Float32Array.BYTES_PER_ELEMENT;
    const { client, background } = entry;
    return { bytes: embeddings + PREPARED * bytesOf(entry), client, background };
  }

  private forget(entry: Entry<Tag>): void {
    this.entries.delete(entry);
    this.unmeasured.remove(entry);
    this.waiting.remove(entry);
    this.leave(entry);
  }

  /** Frees what the library has of a prompt. */
  private leave(entry: Entry<Tag>): void {
    const { job } = entry;
    if (job === undefined) return;
    entry.job = undefined;
    this.ahead.delete(job);
    this.library.release(job);
  }

  private read(job: MediaJob): MediaPrompt {
    const chunks = this.library.chunks(job);
    const length = chunks.reduce((total, chunk) => total + sizeOf(chunk), 0);
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

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0);

const bytesOf = ({ media }: { readonly media: readonly Media[] }): number =>
  sum(media.map((one) => contentOf(one).length));

const sizeOf = (chunk: { readonly tokens: number | Int32Array }): number =>
  typeof chunk.tokens === "number" ? chunk.tokens : chunk.tokens.length;

/** Returns a token id that stands for one embedding of a medium. */
const tokenOf = ({ id, part }: MediaChunk, at: number): number =>
  Number(Bun.hash.wyhash(`${id} ${part} ${at}`) & 0x7fffffffn) | SIGN;

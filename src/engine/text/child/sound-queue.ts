// Decodes sounds that the media library does not read, so that models hear whatever is transcribed. One prompt after the
// other, as far as there is memory: decoded sounds take it until the library has encoded them.

import { isNative, openSound, type SoundLimits } from "../../../audio/decode/open-sound.ts";
import { openBytes } from "../../../audio/decode/sound-bytes.ts";
import { SAMPLE_RATE, type SoundTools } from "../../../audio/decode/sound-tools.ts";
import { BYTES_PER_SAMPLE, pcmEncoder } from "../../../audio/encode/pcm.ts";
import { wavHead } from "../../../audio/encode/wav.ts";
import { SvcError } from "../../../domain/errors.ts";
import { mediaOf, type GenerateRequest } from "../../../domain/generate.ts";
import { contentOf, withContent, type Media } from "../../../domain/media.ts";
import type { JobKey } from "../../process/protocol.ts";
import { messagesRead } from "../../process/client-turns.ts";
import { MemoryTurns, type Holder } from "./memory-turns.ts";

/** The sounds of one prompt. */
interface Job extends Holder {
  /** Of those that are decoded. */
  bytes: number;
  /** Lets `decoded` go on. */
  readonly begin: () => void;
  readonly stop: AbortController;
}

const HEAD = wavHead(SAMPLE_RATE);
/** Bytes of decoded sounds of prompts that are not encoded; half an hour takes 55 MiB. */
const MOST_DECODED = 64 * 2 ** 20;

export class SoundQueue {
  /** Of prompts that have not left. */
  private readonly jobs = new Map<JobKey, Job>();
  private readonly waiting: MemoryTurns<Job>;
  private decoding: Job | undefined;
  /** The latest decoded sounds, by id, for the further answers to a request; the latest is last. */
  private readonly kept = new Map<string, Uint8Array>();

  /**
   * `maxSeconds`: of all sounds of a request together. `mostBytes`: of decoded sounds, beyond which prompts wait; as much
   * is kept of the latest.
   */
  constructor(
    private readonly tools: SoundTools,
    private readonly maxSeconds: number,
    private readonly mostBytes = MOST_DECODED,
  ) {
    this.waiting = new MemoryTurns(mostBytes);
  }

  get busy(): boolean {
    return this.jobs.size > 0;
  }

  /** Whether the library cannot read all of these media. */
  isFor(media: readonly Media[] = []): boolean {
    return media.some(isUnread);
  }

  /**
   * Resolves with the request's media, of which the library reads all; they count as memory until the prompt leaves.
   * Resolves with undefined if it leaves before. Throws SvcError about the sound at fault.
   */
  async decoded(key: JobKey, request: GenerateRequest): Promise<readonly Media[] | undefined> {
    const { client, background } = request;
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const job: Job = { client, background, bytes: 0, begin, stop };
    this.jobs.set(key, job);
    this.waiting.add(job);
    this.beginNext();
    await begun;
    try {
      await messagesRead();
      const media = await this.readable(job, request);
      return stop.signal.aborted ? undefined : media;
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      this.leave(key);
      throw error;
    } finally {
      if (this.decoding === job) this.decoding = undefined;
      this.beginNext();
    }
  }

  /** Must be called when the library no longer needs the sounds of a prompt, or nobody does; may be called for any. */
  leave(key: JobKey): void {
    const job = this.jobs.get(key);
    if (!job) return;
    this.jobs.delete(key);
    this.waiting.remove(job);
    job.stop.abort();
    job.begin();
    this.beginNext();
  }

  private beginNext(): void {
    this.decoding ??= this.waiting.take(this.jobs.values().filter(({ bytes }) => bytes > 0));
    this.decoding?.begin();
  }

  private async readable(job: Job, { messages, media = [] }: GenerateRequest): Promise<readonly Media[]> {
    const { signal } = job.stop;
    const parts = messages.flatMap(mediaOf);
    let maxSeconds = this.maxSeconds;
    const readable: Media[] = [];
    for (const [index, medium] of media.entries()) {
      readable.push(medium);
      if (!isUnread(medium)) continue;
      const field = parts[index]?.param ?? "messages";
      const tooLong = tooLongTogether(field, this.maxSeconds);
      const limits = { field, maxSeconds, tooLong, signal };
      const wav = this.kept.get(medium.id) ?? (await wavOf(contentOf(medium), this.tools, limits));
      // Of a sound that was not decoded to its end, nothing may be kept.
      signal.throwIfAborted();
      maxSeconds -= (wav.length - HEAD.length) / BYTES_PER_SAMPLE / SAMPLE_RATE;
      if (maxSeconds < 0) throw tooLong;
      this.keep(medium.id, wav);
      job.bytes += wav.length;
      readable[index] = withContent(medium, wav);
    }
    return readable;
  }

  private keep(id: string, wav: Uint8Array): void {
    this.kept.delete(id);
    this.kept.set(id, wav);
    let bytes = this.kept.values().reduce((total, { length }) => total + length, 0);
    for (const [oldest, { length }] of this.kept) {
      if (bytes <= this.mostBytes) return;
      this.kept.delete(oldest);
      bytes -= length;
    }
  }
}

const isUnread = (medium: Media): boolean => medium.kind === "audio" && !isNative(openBytes(medium.bytes));

/** As the media library says it of the formats that it reads. */
const tooLongTogether = (param: string, seconds: number): SvcError =>
  new SvcError("invalid_value", `'${param}': the sounds of a request are longer than ${seconds} seconds together.`, {
    param,
  });

async function wavOf(file: Uint8Array, tools: SoundTools, limits: SoundLimits): Promise<Uint8Array> {
  const { windows } = await openSound(file, tools, limits);
  const parts = [HEAD];
  for await (const window of windows) parts.push(pcmEncoder.push(window));
  return Buffer.concat(parts);
}

// Decodes sounds that the media library does not read, so that models hear whatever is transcribed. One prompt after the
// other, clients in turns: decoded sounds take memory until the library has encoded them.

import { isNative, openSound, type SoundLimits } from "../../../audio/decode/open-sound.ts";
import { openBytes } from "../../../audio/decode/sound-bytes.ts";
import { SAMPLE_RATE, type SoundTools } from "../../../audio/decode/sound-tools.ts";
import { BYTES_PER_SAMPLE, pcmEncoder } from "../../../audio/encode/pcm.ts";
import { wavHead } from "../../../audio/encode/wav.ts";
import { SvcError } from "../../../domain/errors.ts";
import { mediaOf, type GenerateRequest } from "../../../domain/generate.ts";
import { contentOf, withContent, type Media } from "../../../domain/media.ts";
import type { JobKey } from "../../process/protocol.ts";
import { ClientTurns } from "../../process/client-turns.ts";

interface Waiting {
  readonly key: JobKey;
  readonly client: string | undefined;
  readonly begin: () => void;
  readonly stop: AbortController;
  /** Resolves when the prompt has left. */
  readonly left: Promise<void>;
}

export class SoundQueue {
  private readonly turns = new ClientTurns<Waiting>();

  /** `maxSeconds`: of all sounds of a request together. */
  constructor(
    private readonly tools: SoundTools,
    private readonly maxSeconds: number,
  ) {
    void this.turns.run(async () => {
      const next = this.turns.next();
      next?.begin();
      await next?.left;
    });
  }

  get busy(): boolean {
    return this.turns.find(() => true) !== undefined;
  }

  /** Whether the library cannot read all of these media. */
  isFor(media: readonly Media[] = []): boolean {
    return media.some(isUnread);
  }

  /**
   * Resolves with the request's media, of which the library reads all; other prompts then wait until this one leaves.
   * Resolves with undefined if it leaves before. Throws SvcError about the sound at fault.
   */
  async decoded(key: JobKey, request: GenerateRequest): Promise<readonly Media[] | undefined> {
    const stop = new AbortController();
    const begun = Promise.withResolvers<void>();
    const left = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
    this.turns.add({ key, client: request.client, begin: begun.resolve, stop, left });
    await Promise.race([begun.promise, left]);
    try {
      const media = await this.readable(request, stop.signal);
      return stop.signal.aborted ? undefined : media;
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      this.leave(key);
      throw error;
    }
  }

  /** Must be called when the library no longer needs the sounds of a prompt, or nobody does; may be called for any. */
  leave(key: JobKey): void {
    const job = this.turns.find((one) => one.key === key);
    this.turns.remove(job);
    job?.stop.abort();
  }

  private async readable({ messages, media = [] }: GenerateRequest, signal: AbortSignal): Promise<readonly Media[]> {
    const parts = messages.flatMap(mediaOf);
    let maxSeconds = this.maxSeconds;
    const readable: Media[] = [];
    for (const [index, medium] of media.entries()) {
      readable.push(medium);
      if (!isUnread(medium)) continue;
      const field = parts[index]?.param ?? "messages";
      const tooLong = tooLongTogether(field, this.maxSeconds);
      const wav = await wavOf(contentOf(medium), this.tools, { field, maxSeconds, tooLong, signal });
      maxSeconds -= wav.length / BYTES_PER_SAMPLE / SAMPLE_RATE;
      readable[index] = withContent(medium, wav);
    }
    return readable;
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
  const parts = [wavHead(SAMPLE_RATE)];
  for await (const window of windows) parts.push(pcmEncoder.push(window));
  return Buffer.concat(parts);
}

// A text of any length as one sound: the API says so much of it at once.

import { FORMATS } from "../audio/encode/formats.ts";
import { BYTES_PER_SAMPLE, HIGHEST } from "../audio/encode/pcm.ts";
import { dataView } from "../domain/data-view.ts";
import { newRequestId } from "../domain/ids.ts";
import { LONGEST_TEXT, PCM_RATE, type SpeechFormat } from "../domain/speech.ts";
import { portions } from "../speech/portions.ts";
import type { Api } from "./in-process.ts";

/** What the person typed for fields of the body. */
const OPTIONS = { voice: "--voice", locale: "--locale", speed: "--speed" };

export class LongSpeech {
  private readonly texts: readonly string[];
  /** Of the text that is being said, and what was said before it. */
  private id = "";
  private length = 0;
  private before = 0;
  private samples = 0;

  /** `wishes`: fields of the request beside the text and its format. */
  constructor(
    private readonly api: Pick<Api, "ask" | "signal"> & { readonly services: Pick<Api["services"], "speech"> },
    text: string,
    private readonly format: SpeechFormat,
    private readonly wishes: object,
  ) {
    this.texts = speechPortions(text);
  }

  /** Characters that are said, and that are to be. */
  get progress(): { readonly done: number; readonly total: number } {
    const progress = this.api.services.speech.progressOf(this.id);
    const share = progress ? progress.said / progress.of : 0;
    const total = this.texts.reduce((sum, { length }) => sum + length, 0);
    return { done: Math.round(this.before + share * this.length), total };
  }

  /** The file, as it comes. Throws ExitError. */
  async *file(): AsyncGenerator<Uint8Array, void, void> {
    if (this.texts.length === 1) return yield* this.sound(this.format);
    const encoder = await FORMATS[this.format].make(PCM_RATE);
    let rest = Buffer.alloc(0);
    for await (const bytes of this.sound("pcm")) {
      const all = Buffer.concat([rest, bytes]);
      const length = Math.floor(all.length / BYTES_PER_SAMPLE);
      rest = all.subarray(length * BYTES_PER_SAMPLE);
      const view = dataView(all);
      this.samples += length;
      yield encoder.push(
        Float32Array.from({ length }, (_, at) => view.getInt16(at * BYTES_PER_SAMPLE, true) / HIGHEST),
      );
    }
    yield encoder.finish();
  }

  /** Fills in how long the file is in its first bytes, when all of it is written. */
  complete(head: Uint8Array): void {
    if (this.samples > 0) FORMATS[this.format].complete?.(head, this.samples);
  }

  private async *sound(format: SpeechFormat): AsyncGenerator<Uint8Array, void, void> {
    for (const input of this.texts) {
      const id = newRequestId();
      [this.id, this.length] = [id, input.length];
      const body = { ...this.wishes, input, response_format: format };
      const response = await this.api.ask("/v1/audio/speech", body, { id, options: OPTIONS });
      for await (const bytes of response.body ?? []) yield bytes;
      this.before += input.length;
      this.length = 0;
    }
  }
}

/** A text in portions that are said at once; one that has nothing to say is left to the API to refuse. */
export function speechPortions(text: string): string[] {
  if (text.length <= LONGEST_TEXT) return [text];
  const spoken = portions(text, { first: LONGEST_TEXT, most: LONGEST_TEXT }).filter((one) => /[\p{L}\p{N}]/u.test(one));
  return spoken.length > 0 ? spoken : [text];
}

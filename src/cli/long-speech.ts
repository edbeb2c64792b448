// Speaks a text of any length as one sound file, in several requests, since the API limits the text of one.

import { FORMATS } from "../audio/encode/formats.ts";
import { BYTES_PER_SAMPLE, HIGHEST } from "../audio/encode/pcm.ts";
import { dataView } from "../domain/data-view.ts";
import { newRequestId } from "../domain/ids.ts";
import { LONGEST_TEXT, type SpeechFormat } from "../domain/speech.ts";
import { portions } from "../speech/portions.ts";
import type { Api } from "./in-process.ts";

/** What sets fields of the body, for errors. */
const OPTIONS = { input: "The text", voice: "--voice", locale: "--locale", speed: "--speed" };

export class LongSpeech {
  private readonly texts: readonly string[];
  /** Request id of the portion being spoken; `length`: its characters; `before`: characters already spoken. */
  private id = "";
  private length = 0;
  private before = 0;
  private samples = 0;

  /** `wishes`: fields of the request besides the text and its format. `isCompleted`: whether `complete` will be called. */
  constructor(
    private readonly api: Api,
    text: string,
    private readonly format: SpeechFormat,
    private readonly wishes: object,
    private readonly isCompleted: boolean,
  ) {
    this.texts = speechPortions(text);
  }

  /** Characters spoken so far, and in all. */
  get progress(): { readonly done: number; readonly total: number } {
    const { done = 0, of = 1 } = this.api.requests.progressOf(this.id) ?? {};
    const total = this.texts.reduce((sum, { length }) => sum + length, 0);
    return { done: Math.round(this.before + (done / of) * this.length), total };
  }

  /** Yields the sound file as it is generated. Throws ExitError. */
  async *file(): AsyncGenerator<Uint8Array, void, void> {
    const { make, complete } = FORMATS[this.format];
    // Only files that are made here can be completed: the number of samples is known.
    if (this.texts.length === 1 && !(this.isCompleted && complete)) return yield* this.sound(this.format);
    const encoder = await make();
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

  /** Fills in the length in the file's first bytes once the whole file is written. */
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

/** Splits a text into portions of one request each. A text without words is left for the API to refuse. */
export function speechPortions(text: string): string[] {
  if (text.length <= LONGEST_TEXT) return [text];
  const spoken = portions(text, { first: LONGEST_TEXT, most: LONGEST_TEXT }).filter((one) => /[\p{L}\p{N}]/u.test(one));
  return spoken.length > 0 ? spoken : [text];
}

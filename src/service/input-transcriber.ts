// Hears for models that cannot: sound in a conversation as text.

import { SvcError } from "../domain/errors.ts";
import type { ContentPart, GenerateRequest, TranscribedInput } from "../domain/generate.ts";
import { newRequestId } from "../domain/ids.ts";
import { spokenLanguage } from "../domain/languages.ts";
import type { MediaSource } from "../domain/media.ts";
import { wholeText, type SpeechSegment } from "../domain/transcription.ts";
import { inSlices } from "../media/slices.ts";
import type { TranscriptionService } from "./transcriptions.ts";

export type MediaPart = Extract<ContentPart, { type: "media" }>;
type SoundPart = MediaPart & { readonly source: Extract<MediaSource, { kind: "audio" }> };
export const isSound = (part: MediaPart): part is SoundPart => part.source.kind === "audio";

/** Of a request: whose turn it takes, and how long the text is wanted. */
type Turn = Pick<GenerateRequest, "client" | "deadline" | "background">;

type Heard = Omit<TranscribedInput, "param">;

/** Texts that are remembered: chats send their sounds again with each turn. */
const REMEMBERED = { count: 256, characters: 1_000_000 };

export class InputTranscriber {
  /** By the hash of sound and language; the one that was used last is last. */
  private readonly remembered = new Map<string, Heard>();
  private characters = 0;

  constructor(private readonly transcriptions: TranscriptionService) {}

  /**
   * The text of a sound. Throws SvcError about it that names its field (`invalid_value`, `payload_too_large`, `no_speech`), what
   * the transcription engine throws, or the signal's reason.
   */
  async transcribe({ source, param }: SoundPart, turn: Turn, signal: AbortSignal): Promise<TranscribedInput> {
    const language = spokenLanguage(source.language, param.replace(/data$/, "language"));
    const hasher = new Bun.CryptoHasher("sha256").update(`${language} `);
    const { data } = source;
    await inSlices(data.length, signal, (from, to) => hasher.update(data.slice(from, to)));
    const key = hasher.digest("base64");
    const heard = this.remembered.get(key) ?? (await this.hear(data, param, language, turn, signal));
    this.remember(key, heard);
    return { param, ...heard };
  }

  private async hear(
    data: string,
    param: string,
    language: string | undefined,
    { client, deadline, background }: Turn,
    signal: AbortSignal,
  ): Promise<Heard> {
    const { transcriptions } = this;
    const { name: model } = transcriptions.model();
    const recording = await transcriptions.recording({ kind: "base64", data }, signal, param);
    const run = {
      // It ends with the request that it is a part of, which alone is known by its id.
      id: newRequestId(),
      model,
      work: { translate: false, temperature: 0, words: false, ...(language !== undefined && { language }) },
      ...(client !== undefined && { client }),
      ...(deadline !== undefined && { deadline }),
      ...(background && { background }),
    };
    const segments: SpeechSegment[] = [];
    for await (const event of transcriptions.recognise(recording, run, signal, {})) {
      if (event.type === "segment") segments.push(event.segment);
      if (event.type !== "result") continue;
      const { language: spoken, seconds } = event.result;
      return { model, text: wholeText(segments), language: spoken, seconds };
    }
    throw new SvcError("internal_error", "The recognition ended without a result.");
  }

  private remember(key: string, heard: Heard): void {
    this.forget(key);
    this.remembered.set(key, heard);
    this.characters += heard.text.length;
    for (const oldest of this.remembered.keys()) {
      if (this.remembered.size <= REMEMBERED.count && this.characters <= REMEMBERED.characters) return;
      this.forget(oldest);
    }
  }

  private forget(key: string): void {
    this.characters -= this.remembered.get(key)?.text.length ?? 0;
    this.remembered.delete(key);
  }
}

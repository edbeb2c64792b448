// Reads sound in a conversation as text.

import { SvcError } from "../domain/errors.ts";
import { spokenLanguage } from "../domain/languages.ts";
import type { SoundSource } from "../domain/media.ts";
import { wholeText, type TranscriptionTask, type SpeechSegment } from "../domain/transcription.ts";
import type { InputReader, Readable, ReadText, Part } from "./input-readers.ts";
import type { TranscriptionService } from "./transcriptions.ts";

export class SoundReader implements InputReader<SoundSource> {
  constructor(private readonly transcriptions: TranscriptionService) {}

  /** Opens a sound. Reading it throws `invalid_value`, `payload_too_large` or `no_speech`. */
  async open({ data, language: named }: SoundSource, param: string): Promise<Readable> {
    const languageField = param.replace(/data$/, "language");
    const language = spokenLanguage(named, languageField);
    return {
      content: data,
      manner: language ?? "",
      read: (part, signal) =>
        this.read(data, param, language === undefined ? undefined : { language, languageField }, part, signal),
    };
  }

  private async read(
    data: string,
    param: string,
    spoken: Pick<TranscriptionTask, "language" | "languageField"> | undefined,
    part: Part,
    signal: AbortSignal,
  ): Promise<ReadText> {
    const { transcriptions } = this;
    const { name: model } = transcriptions.model();
    const recording = await transcriptions.recording({ kind: "data", data, field: param }, signal);
    const run = { ...part, model, work: { translate: false, temperature: 0, words: false, ...spoken } };
    const segments: SpeechSegment[] = [];
    for await (const event of transcriptions.transcribe(recording, run, signal, {})) {
      if (event.type === "segment") segments.push(event.segment);
      if (event.type !== "result") continue;
      const { language, seconds } = event.result;
      return { kind: "audio", model, text: wholeText(segments), language, seconds };
    }
    throw new SvcError("internal_error", "The recognition ended without a result.");
  }
}

// Reads sound in a conversation as text.

import { SvcError } from "../domain/errors.ts";
import { spokenLanguage } from "../domain/languages.ts";
import type { SoundSource } from "../domain/media.ts";
import { wholeText, type SpeechSegment } from "../domain/transcription.ts";
import type { InputReader, Readable } from "./input-readers.ts";
import type { TranscriptionService } from "./transcriptions.ts";

/** Reads sounds. Reading one throws `invalid_value`, `payload_too_large` or `no_speech`. */
export const soundReader = (transcriptions: TranscriptionService): InputReader<SoundSource> => ({
  open: async ({ data, language: named }, param) => {
    const languageField = param.replace(/data$/, "language");
    const spoken = spokenLanguage(named, languageField);
    const fields = spoken === undefined ? {} : { language: spoken, languageField };
    const work = { translate: false, temperature: 0, words: false, ...fields };
    const read: Readable["read"] = async (origin, signal) => {
      const { name: model } = transcriptions.model();
      const recording = await transcriptions.recording({ kind: "data", data, field: param }, signal);
      const segments: SpeechSegment[] = [];
      for await (const event of transcriptions.transcribe(recording, { ...origin, model, work }, signal, {})) {
        if (event.type === "segment") segments.push(event.segment);
        if (event.type !== "result") continue;
        const { language, seconds } = event.result;
        return { kind: "audio", model, text: wholeText(segments), language, seconds };
      }
      throw new SvcError("internal_error", "The recognition ended without a result.");
    };
    return { content: data, manner: spoken ?? "", read };
  },
});

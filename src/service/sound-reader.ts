// Reads sound in a conversation as text.

import { spokenLanguage } from "../domain/languages.ts";
import type { SoundSource } from "../domain/media.ts";
import { collectSpeech, wholeText } from "../domain/transcription.ts";
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
      const events = transcriptions.transcribe(recording, { ...origin, model, work }, signal, {});
      const { segments, result } = await collectSpeech(events);
      return { kind: "audio", model, text: wholeText(segments), language: result.language, seconds: result.seconds };
    };
    return { content: data, manner: spoken ?? "", read };
  },
});

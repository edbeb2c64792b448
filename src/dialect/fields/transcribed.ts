// Where answers tell that sound of their request became text.

import type { TranscribedInput as WireTranscript } from "../../contract/transcriptions.ts";
import type { AcceptedEvent } from "../../domain/generate.ts";
import { rounded } from "../transcriptions/encode.ts";

/** The field of an answer, or of the first chunk of a stream; none where nothing was transcribed. */
export function encodeTranscribed({ transcribed }: Pick<AcceptedEvent, "transcribed">): {
  svc_transcriptions?: WireTranscript[];
} {
  if (!transcribed) return {};
  return {
    svc_transcriptions: transcribed.map(({ param, model, text, language, seconds }) => ({
      param,
      model,
      text,
      locale: language,
      duration: rounded(seconds),
    })),
  };
}

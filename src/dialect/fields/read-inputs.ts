// Reports in an answer which media of its request were converted to text.

import type {
  RecognizedInput as WireRecognition,
  TranscribedInput as WireTranscript,
} from "../../contract/read-inputs.ts";
import type { AcceptedEvent } from "../../domain/generate.ts";
import { rounded } from "../transcriptions/encode.ts";

/** Returns the fields for an answer, or for the first chunk of a stream; none when no media were converted. */
export function encodeReadInputs({ readInputs = [] }: Pick<AcceptedEvent, "readInputs">): {
  svc_transcriptions?: WireTranscript[];
  svc_recognitions?: WireRecognition[];
} {
  const transcribed = readInputs.filter((one) => one.kind === "audio");
  const recognized = readInputs.filter((one) => one.kind === "image");
  return {
    ...(transcribed.length > 0 && {
      svc_transcriptions: transcribed.map(({ param, model, text, language, seconds }) => ({
        param,
        model,
        text,
        locale: language,
        duration: rounded(seconds),
      })),
    }),
    ...(recognized.length > 0 && {
      svc_recognitions: recognized.map(({ param, model, text, pageCount }) => ({
        param,
        model,
        text,
        page_count: pageCount,
      })),
    }),
  };
}

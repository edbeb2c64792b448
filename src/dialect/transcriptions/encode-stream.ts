// Recognised speech as a stream: the public convention's transcript events.

import { errorObject } from "../../contract/errors.ts";
import type { TranscriptionEvent } from "../../domain/transcription.ts";
import type { NamedEvent, Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import { durationUsage } from "./encode.ts";

/** Each segment's text as a delta, and the whole text at the end. */
export function transcriptWriter(
  put: Put<NamedEvent>,
  { requestId }: Pick<StreamedRequest, "requestId">,
): StreamWriter<TranscriptionEvent> {
  let text = "";
  const send = (type: string, rest: object) => put({ event: type, data: JSON.stringify({ type, ...rest }) });
  return {
    event(event) {
      if (event.type === "segment") {
        const delta = text === "" ? event.segment.text.trimStart() : event.segment.text;
        text += delta;
        if (delta !== "") send("transcript.text.delta", { delta });
      }
      if (event.type === "result") {
        send("transcript.text.done", { text: text.trimEnd(), usage: durationUsage(event.result) });
      }
    },
    failure(error) {
      send("error", { error: errorObject(error, requestId) });
    },
  };
}

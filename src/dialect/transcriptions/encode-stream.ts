// Encodes recognised speech as a stream of OpenAI's transcript events.

import { errorObject } from "../../contract/errors.ts";
import type { TranscriptionEvent, TranscriptionResult } from "../../domain/transcription.ts";
import type { NamedEvent, Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";

/** The encoder makes this many positions per second of speech. */
const AUDIO_TOKENS_A_SECOND = 50;

/** Writes each segment's text as a delta, and the whole text at the end. */
export function transcriptWriter(
  put: Put<NamedEvent>,
  { requestId }: Pick<StreamedRequest, "requestId">,
): StreamWriter<TranscriptionEvent> {
  let text = "";
  let tokens = 0;
  const send = (type: string, rest: object) => put({ event: type, data: JSON.stringify({ type, ...rest }) });
  return {
    event(event) {
      if (event.type === "segment") {
        const delta = text === "" ? event.segment.text.trimStart() : event.segment.text;
        text += delta;
        tokens += event.segment.tokens.length;
        if (delta !== "") send("transcript.text.delta", { delta });
      }
      if (event.type === "result") {
        send("transcript.text.done", { text: text.trimEnd(), usage: tokenUsage(event.result, tokens) });
      }
    },
    failure(error) {
      send("error", { error: errorObject(error, requestId) });
    },
  };
}

function tokenUsage({ speechSeconds }: TranscriptionResult, output: number) {
  const input = Math.ceil(speechSeconds * AUDIO_TOKENS_A_SECOND);
  return { type: "tokens", input_tokens: input, output_tokens: output, total_tokens: input + output };
}

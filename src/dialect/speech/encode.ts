// Encodes voices as the answer of /v1/audio/voices, and speech as OpenAI's events.

import { errorObject } from "../../contract/errors.ts";
import type { VoiceList } from "../../contract/speech.ts";
import type { SpeechEvent, Voice } from "../../domain/speech.ts";
import type { NamedEvent, Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";

/** A voice with the model that speaks it and its other names. */
type NamedVoice = Voice & { readonly model: string; readonly aliases: readonly string[] };

/** Returns the voices whose locale begins with `prefix`, ordered by locale and name. */
export function encodeVoices(voices: readonly NamedVoice[], prefix = ""): VoiceList {
  const wanted = prefix.toLowerCase().replaceAll("_", "-");
  const order = (a: NamedVoice, b: NamedVoice) =>
    a.locale === b.locale ? compare(a.name, b.name) : compare(a.locale, b.locale);
  return {
    voices: voices
      .filter(({ locale }) => locale.toLowerCase().startsWith(wanted))
      .toSorted(order)
      .map(({ id, name, locale, gender, quality, isSlow = false, model, aliases }) => {
        return { id, name, locale, gender, quality, realtime: !isSlow, model, aliases: [...aliases] };
      }),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Writes the sound in base64, piece by piece. */
export function speechWriter(
  put: Put<NamedEvent>,
  { requestId }: Pick<StreamedRequest, "requestId">,
): StreamWriter<SpeechEvent> {
  const send = (type: string, rest: object) => put({ event: type, data: JSON.stringify({ type, ...rest }) });
  return {
    event(event) {
      if (event.type === "audio") send("speech.audio.delta", { audio: event.bytes.toBase64() });
      if (event.type === "result") {
        const { phonemes } = event.result;
        // A voice reads phonemes and generates no tokens.
        send("speech.audio.done", { usage: { input_tokens: phonemes, output_tokens: 0, total_tokens: phonemes } });
      }
    },
    failure(error) {
      send("error", { error: errorObject(error, requestId) });
    },
  };
}

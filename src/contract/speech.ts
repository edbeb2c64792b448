// POST /v1/audio/speech and GET /v1/audio/voices

import { LONGEST_TEXT, SPEECH_FORMATS } from "../domain/speech.ts";
import { oneOf, opt, t, type Static } from "./schema.ts";

export const SpeechRequest = t.Object({
  input: t.String({
    minLength: 1,
    maxLength: LONGEST_TEXT,
    description: "What is said: plain text, sentence by sentence. Markup of any kind is text.",
  }),
  model: opt(
    t.String({
      description: "A speech model of GET /v1/models, whose voices then are all; another name stands for any.",
    }),
  ),
  voice: opt(
    t.Union([t.String(), t.Object({ id: t.String() })], {
      description:
        "Id of a voice of GET /v1/audio/voices, or one of OpenAI's names (alloy, ash, ballad, cedar, coral, echo, fable, marin, nova, onyx, sage, shimmer, verse), which stand for the voices that are here. Default: the first voice for the language.",
    }),
  ),
  locale: opt(
    t.String({
      description:
        "Language of the text, as en-US: the voice must speak it. Default: that of its script, where the script tells; else English.",
    }),
  ),
  response_format: opt(oneOf(...SPEECH_FORMATS)),
  speed: opt(t.Number({ minimum: 0.25, maximum: 4, description: "Default 1. The pitch stays." })),
  stream_format: opt(oneOf("audio", "sse")),
});

export type SpeechRequest = Static<typeof SpeechRequest>;

export const VoiceList = t.Object({
  voices: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      locale: t.String({ description: "Language tag." }),
      gender: oneOf("male", "female", "unspecified"),
      quality: oneOf("compact", "enhanced", "premium"),
      realtime: t.Boolean({ description: "false: what it says takes longer to compute than it plays." }),
      model: t.String({ description: "The speech model of GET /v1/models that it belongs to." }),
      aliases: t.Array(t.String(), { description: "OpenAI's names that select this voice." }),
    }),
  ),
});

export type VoiceList = Static<typeof VoiceList>;

// POST /v1/audio/speech and GET /v1/audio/voices

import { LONGEST_TEXT, SPEECH_FORMATS } from "../domain/speech.ts";
import { oneOf, opt, optText, t, type Static } from "./schema.ts";

export const SpeechRequest = t.Object({
  input: t.String({
    minLength: 1,
    maxLength: LONGEST_TEXT,
    description: "The text to speak. It is plain text; markup of any kind is not interpreted.",
  }),
  model: optText(
    "A speech model of GET /v1/models, which limits the choice to its voices. Default, also for unknown names: all speech models.",
  ),
  voice: opt(
    t.Union([t.String(), t.Object({ id: t.String() })], {
      description:
        "Id of a voice of GET /v1/audio/voices, or one of OpenAI's names (alloy, ash, ballad, cedar, coral, echo, fable, marin, nova, onyx, sage, shimmer, verse), which select the most similar voice of this server. Default: the first voice for the language.",
    }),
  ),
  locale: optText(
    "Language of the text, such as en-US; the voice must speak it. Default: the language that the script of the text implies, else English.",
  ),
  response_format: opt(oneOf(...SPEECH_FORMATS)),
  speed: opt(t.Number({ minimum: 0.25, maximum: 4, description: "Default 1. The pitch does not change." })),
  stream_format: opt(oneOf("audio", "sse")),
});

export const VoiceList = t.Object({
  voices: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      locale: t.String({ description: "Language tag." }),
      gender: oneOf("male", "female", "unspecified"),
      quality: oneOf("compact", "enhanced", "premium"),
      realtime: t.Boolean({ description: "false: speech of this voice takes longer to compute than to play." }),
      model: t.String({ description: "The speech model of GET /v1/models that the voice belongs to." }),
      aliases: t.Array(t.String(), { description: "Names of OpenAI's voices that select this voice." }),
    }),
  ),
});

export type VoiceList = Static<typeof VoiceList>;

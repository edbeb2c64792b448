// WebSocket /v1/realtime: the events that clients send, and the client secrets that can open sessions.

import { oneOf, opt, optInteger, t, type Static } from "./schema.ts";
import { LONGEST_PROMPT, voiceDetection } from "./transcriptions.ts";

/** Characters of an event's id; longer ones are refused, and not repeated to the client. */
export const LONGEST_ID = 512;

const Format = t.Object({ type: oneOf("audio/pcm", "audio/pcmu", "audio/pcma"), rate: opt(t.Integer()) });

const TranscriptionSettings = t.Object({
  model: opt(t.String()),
  language: opt(t.String()),
  prompt: opt(t.String({ maxLength: LONGEST_PROMPT })),
});

const TurnDetectionSettings = t.Object({
  type: opt(oneOf("server_vad", "semantic_vad")),
  ...voiceDetection,
});

const NoiseReduction = t.Object({ type: opt(oneOf("near_field", "far_field")) });

/** Fields of all client events. */
const named = { event_id: opt(t.String({ maxLength: LONGEST_ID })) };

const Include = opt(t.Array(t.String()));

const Session = t.Object({
  type: opt(oneOf("transcription", "realtime")),
  include: Include,
  audio: opt(
    t.Object({
      input: opt(
        t.Object({
          format: opt(Format),
          transcription: opt(TranscriptionSettings),
          turn_detection: opt(TurnDetectionSettings),
          noise_reduction: opt(NoiseReduction),
        }),
      ),
    }),
  ),
});

/** The session in the first form of OpenAI's API, without `type` and `audio`. */
const flatSession = {
  include: Include,
  input_audio_format: opt(oneOf("pcm16", "g711_ulaw", "g711_alaw")),
  input_audio_transcription: opt(TranscriptionSettings),
  turn_detection: opt(TurnDetectionSettings),
  input_audio_noise_reduction: opt(NoiseReduction),
};

export const SessionUpdate = t.Object({ ...named, session: Session });
export const FlatSessionUpdate = t.Object({ ...named, session: t.Object(flatSession) });

export const AudioAppend = t.Object({ ...named, audio: t.String() });
export const BufferEvent = t.Object(named);

/** Seconds for which a client secret can open sessions: bounds and default. */
export const SECRET_SECONDS = { least: 10, most: 7200, usual: 600 };

const ExpiresAfter = t.Object({
  anchor: opt(oneOf("created_at")),
  seconds: optInteger(
    { minimum: SECRET_SECONDS.least, maximum: SECRET_SECONDS.most },
    `Seconds until the secret expires; default ${SECRET_SECONDS.usual}.`,
  ),
});

export const ClientSecretRequest = t.Object({ expires_after: opt(ExpiresAfter), session: opt(Session) });
/** The request in the first form of OpenAI's API. */
export const FlatClientSecretRequest = t.Object({
  ...flatSession,
  client_secret: opt(t.Object({ expires_after: opt(ExpiresAfter) })),
});

const Secret = t.Object({
  value: t.String({ description: "The secret, which replaces an API key for opening sessions and for nothing else." }),
  expires_at: t.Integer({ description: "Unix time in seconds; sessions that are open at that time continue." }),
});
/** The session as server events describe it. */
const SessionInEffect = { id: t.String(), object: oneOf("realtime.transcription_session") };
const TranscriptionInEffect = t.Object({
  model: t.String(),
  language: t.Optional(t.String()),
  prompt: t.Optional(t.String()),
});
const TurnsInEffect = t.Union([
  t.Object({
    type: oneOf("server_vad"),
    threshold: t.Number(),
    prefix_padding_ms: t.Integer(),
    silence_duration_ms: t.Integer(),
  }),
  t.Null(),
]);

export const ClientSecret = t.Object({
  ...Secret.properties,
  session: t.Object({
    ...SessionInEffect,
    type: oneOf("transcription"),
    audio: t.Object({
      input: t.Object({
        format: t.Object({ type: oneOf("audio/pcm", "audio/pcmu", "audio/pcma"), rate: t.Optional(t.Integer()) }),
        transcription: TranscriptionInEffect,
        noise_reduction: t.Null(),
        turn_detection: TurnsInEffect,
      }),
    }),
  }),
});
export const FlatClientSecret = t.Object({
  ...SessionInEffect,
  input_audio_format: oneOf("pcm16", "g711_ulaw", "g711_alaw"),
  input_audio_transcription: TranscriptionInEffect,
  turn_detection: TurnsInEffect,
  input_audio_noise_reduction: t.Null(),
  client_secret: Secret,
});

export type TranscriptionSettings = Static<typeof TranscriptionSettings>;
export type TurnDetectionSettings = Static<typeof TurnDetectionSettings>;

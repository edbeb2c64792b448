// WebSocket /v1/realtime: what its clients send, and what they are sent.

import { oneOf, opt, t, type Static } from "./schema.ts";
import { LONGEST_PROMPT } from "./transcriptions.ts";

const LONGEST_ID = 512;
const LONGEST_PADDING_MS = 5000;
const LONGEST_SILENCE_MS = 10_000;

const Format = t.Object({ type: oneOf("audio/pcm", "audio/pcmu", "audio/pcma"), rate: opt(t.Integer()) });

const TranscriptionSettings = t.Object({
  model: opt(t.String()),
  language: opt(t.String()),
  prompt: opt(t.String({ maxLength: LONGEST_PROMPT })),
});

const TurnDetectionSettings = t.Object({
  type: opt(oneOf("server_vad", "semantic_vad")),
  threshold: opt(t.Number({ minimum: 0, maximum: 1 })),
  prefix_padding_ms: opt(t.Integer({ minimum: 0, maximum: LONGEST_PADDING_MS })),
  silence_duration_ms: opt(t.Integer({ minimum: 0, maximum: LONGEST_SILENCE_MS })),
});

const NoiseReduction = t.Object({ type: opt(oneOf("near_field", "far_field")) });

/** What all events of clients have. */
const named = { event_id: opt(t.String({ maxLength: LONGEST_ID })) };

const Include = opt(t.Array(t.String()));

export const SessionUpdate = t.Object({
  ...named,
  session: t.Object({
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
  }),
});

/** The convention's first form of it, without `type` and `audio`. */
export const FlatSessionUpdate = t.Object({
  ...named,
  session: t.Object({
    include: Include,
    input_audio_format: opt(oneOf("pcm16", "g711_ulaw", "g711_alaw")),
    input_audio_transcription: opt(TranscriptionSettings),
    turn_detection: opt(TurnDetectionSettings),
    input_audio_noise_reduction: opt(NoiseReduction),
  }),
});

export const AudioAppend = t.Object({ ...named, audio: t.String() });
export const BufferEvent = t.Object(named);

export type TranscriptionSettings = Static<typeof TranscriptionSettings>;
export type TurnDetectionSettings = Static<typeof TurnDetectionSettings>;

// Encodes updates of a live session as events of /v1/realtime, in both forms of OpenAI's API.

import { chatErrors } from "../../contract/errors.ts";
import { defined } from "../../domain/defined.ts";
import { renamed, type SvcError } from "../../domain/errors.ts";
import { newEventId, newSessionId } from "../../domain/ids.ts";
import type { ClientSecret, LiveEvent, LiveSettings, TurnDetection } from "../../domain/live.ts";
import type { RawFormat } from "../../domain/transcription.ts";

/** The form of events that the client expects. */
export interface Form {
  /** Whether the client uses the first form of OpenAI's API. */
  readonly isFlat: boolean;
  /** Prefix of the names of events about the session. */
  readonly session: "session" | "transcription_session";
}

interface ServerEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

const TRANSCRIPTION = "conversation.item.input_audio_transcription";

/** Returns the events, each a JSON text, that report this update to the client. */
export const encodeEvent = (event: LiveEvent, form: Form, sessionId: string): string[] =>
  eventsOf(event, form, sessionId).map(({ type, ...rest }) =>
    JSON.stringify({ type, event_id: newEventId(), ...rest }),
  );

function eventsOf(event: LiveEvent, form: Form, sessionId: string): ServerEvent[] {
  switch (event.type) {
    case "created":
    case "updated":
      return [{ type: `${form.session}.${event.type}`, session: sessionOf(event.settings, form, sessionId) }];
    case "speech-started":
      return [{ type: "input_audio_buffer.speech_started", audio_start_ms: event.atMs, item_id: event.item }];
    case "speech-stopped":
      return [{ type: "input_audio_buffer.speech_stopped", audio_end_ms: event.atMs, item_id: event.item }];
    case "committed":
      return committed(event.item, event.previous ?? null, form);
    case "cleared":
      return [{ type: "input_audio_buffer.cleared" }];
    case "delta":
      return [{ type: `${TRANSCRIPTION}.delta`, item_id: event.item, content_index: 0, delta: event.text }];
    case "completed": {
      const usage = { type: "duration", seconds: Math.round(event.seconds * 1000) / 1000 };
      const { item: item_id, text: transcript } = event;
      return [{ type: `${TRANSCRIPTION}.completed`, item_id, content_index: 0, transcript, usage }];
    }
    case "failed": {
      const { param, ...error } = faultOf(event.error, form);
      return [
        {
          type: `${TRANSCRIPTION}.failed`,
          item_id: event.item,
          content_index: 0,
          error: { ...error, ...(param !== null && { param }) },
        },
      ];
    }
    case "error":
      return [{ type: "error", error: { ...faultOf(event.error, form), event_id: event.cause ?? null } }];
  }
}

/** Encodes the answer to a request for a client secret. `isFlat`: in the first form of OpenAI's API. */
export function encodeClientSecret({ value, expiresAt: expires_at, settings }: ClientSecret, isFlat: boolean): object {
  const session = sessionOf(settings, { isFlat }, newSessionId());
  const secret = { value, expires_at };
  return isFlat ? { ...session, client_secret: secret } : { ...secret, session };
}

/** Where settings are in an event or a request for a client secret, by their names in errors about them. */
export const SETTING_PATHS = {
  format: "session.audio.input.format",
  turn_detection: "session.audio.input.turn_detection",
};
const FLAT_PATHS = { format: "session.input_audio_format", turn_detection: "session.turn_detection" };

function faultOf(error: SvcError, { isFlat }: Form) {
  const { code, details } = error;
  const { message, param = null } = renamed(
    { ...details, message: error.message },
    isFlat ? FLAT_PATHS : SETTING_PATHS,
  );
  return { type: chatErrors[code].type, code, message, param };
}

function committed(id: string, previous_item_id: string | null, { isFlat }: Form): ServerEvent[] {
  const content = [{ type: "input_audio" }];
  const item = { id, object: "realtime.item", type: "message", status: "completed", role: "user", content };
  const itemEvent = (type: string) => ({ type: `conversation.item.${type}`, previous_item_id, item });
  return [
    { type: "input_audio_buffer.committed", previous_item_id, item_id: id },
    ...(isFlat ? ["created"] : ["added", "done"]).map(itemEvent),
  ];
}

function sessionOf(settings: LiveSettings, { isFlat }: Pick<Form, "isFlat">, id: string): object {
  const { model, language, prompt, format, turns } = settings;
  const transcription = { model, ...defined({ language, prompt }) };
  const turn_detection = turns && detectionOf(turns);
  const known = { id, object: "realtime.transcription_session" };
  // Noise is not reduced: the model and the detector were trained with it.
  const noise = null;
  if (isFlat) {
    return {
      ...known,
      input_audio_format: FLAT_FORMATS[format.encoding],
      input_audio_transcription: transcription,
      turn_detection,
      input_audio_noise_reduction: noise,
      client_secret: null,
    };
  }
  const input = { format: FORMATS[format.encoding](format), transcription, noise_reduction: noise, turn_detection };
  return { ...known, type: "transcription", audio: { input } };
}

const detectionOf = ({ threshold, prefixMs, silenceMs }: TurnDetection) => ({
  type: "server_vad",
  threshold,
  prefix_padding_ms: prefixMs,
  silence_duration_ms: silenceMs,
});

const FLAT_FORMATS = { pcm16: "pcm16", ulaw: "g711_ulaw", alaw: "g711_alaw" } as const;

const FORMATS: Readonly<Record<RawFormat["encoding"], (format: RawFormat) => object>> = {
  pcm16: ({ rate }) => ({ type: "audio/pcm", rate }),
  ulaw: () => ({ type: "audio/pcmu" }),
  alaw: () => ({ type: "audio/pcma" }),
};

// Decodes client events of /v1/realtime, in both forms of OpenAI's API, into commands of a live session.

import {
  AudioAppend,
  BufferEvent,
  ClientSecretRequest,
  FlatClientSecretRequest,
  FlatSessionUpdate,
  LONGEST_ID,
  SECRET_SECONDS,
  SessionUpdate,
  type TranscriptionSettings,
  type TurnDetectionSettings,
} from "../../contract/realtime.ts";
import { checker, received, type Static } from "../../contract/schema.ts";
import { given } from "../../domain/defined.ts";
import { fieldError, invalidValue, SvcError } from "../../domain/errors.ts";
import { isObject, jsonOf } from "../../domain/json.ts";
import { JsonBounds } from "../../domain/json-bounds.ts";
import { spokenLanguage } from "../../domain/languages.ts";
import type { LiveChanges, LiveCommand } from "../../domain/live.ts";
import type { RawFormat } from "../../domain/transcription.ts";
import { always, each, notEmpty, refuseUnsupported, type Unsupported } from "../fields/unsupported.ts";
import { own } from "../../domain/own.ts";

/** An event before its fields are decoded. */
export interface ClientEvent {
  readonly type: string;
  /** The client's own id for the event. */
  readonly id: string | undefined;
  readonly body: object;
}

/** Shorter texts cannot hold too many values, so they are not checked. */
const SHORT_TEXT = 64 * 1024;
/** Long events consist of one string, so few values suffice. */
const MOST_VALUES = 10_000;

/** OpenAI's events that concern conversations. */
const CONVERSATION: ReadonlySet<string> = new Set([
  "response.create",
  "response.cancel",
  "conversation.item.create",
  "conversation.item.delete",
  "conversation.item.retrieve",
  "conversation.item.truncate",
  "output_audio_buffer.clear",
]);

const notText = (value: unknown): boolean => !(Array.isArray(value) && value.every((one) => one === "text"));

const CONVERSATION_FIELDS: Unsupported = {
  ...each(notEmpty, "include instructions model tools"),
  ...each(notText, "modalities output_modalities"),
  ...each(always, "max_output_tokens max_response_output_tokens output_audio_format prompt speed temperature"),
  ...each(always, "tool_choice tracing truncation voice"),
};
const TRANSCRIPTION_FIELDS: Unsupported = { delay: always, keywords: notEmpty, languages: notEmpty };
/** What to send instead of fields of the other form, which would not be looked at. */
const NESTED_INSTEAD = {
  input_audio_format: "must be 'session.audio.input.format' here",
  input_audio_transcription: "must be 'session.audio.input.transcription' here",
  input_audio_noise_reduction: "must be 'session.audio.input.noise_reduction' here",
  turn_detection: "must be 'session.audio.input.turn_detection' here",
};
const FLAT_INSTEAD = {
  audio: "must be input_audio_format, input_audio_transcription and turn_detection here",
  session: "must not enclose the settings here",
};
const TURN_FIELDS: Unsupported = { create_response: Boolean, interrupt_response: Boolean, idle_timeout_ms: always };

/** Parses an event. Throws SvcError `invalid_json` or `invalid_type`. */
export function parseEvent(text: string): ClientEvent {
  const excess =
    text.length > SHORT_TEXT ? new JsonBounds(MOST_VALUES, MOST_VALUES).push(Buffer.from(text)) : undefined;
  if (excess) throw new SvcError("invalid_json", `The event ${excess}.`);
  const body = jsonOf(text);
  if (body === undefined) {
    throw new SvcError("invalid_json", `An event must be JSON; got a text of length ${text.length} that is not.`);
  }
  if (!isObject(body)) {
    throw new SvcError("invalid_type", `An event must be a JSON object; got ${received(body)}.`);
  }
  const { type, event_id } = body;
  const id = typeof event_id === "string" && event_id.length <= LONGEST_ID ? event_id : undefined;
  return { type: typeof type === "string" ? type : "", id, body };
}

const flatUpdate = (body: object): LiveCommand => ({
  type: "update",
  changes: flatChanges(checkFlat(body).session, "session."),
});

const READERS: Readonly<Record<string, (body: object) => LiveCommand>> = {
  "session.update": (body) =>
    isFlat(body) ? flatUpdate(body) : { type: "update", changes: nestedChanges(checkNested(body).session) },
  "transcription_session.update": flatUpdate,
  "input_audio_buffer.append": (body) => ({ type: "append", audio: checkAppend(body).audio }),
  "input_audio_buffer.commit": (body) => (checkBuffer(body), { type: "commit" }),
  "input_audio_buffer.clear": (body) => (checkBuffer(body), { type: "clear" }),
};

/** Decodes an event. Throws SvcError naming the invalid field. */
export function decodeEvent({ type, body }: ClientEvent): LiveCommand {
  const read = own(READERS, type);
  if (read) return read(body);
  if (CONVERSATION.has(type)) {
    const message = `This route transcribes only: ${type} belongs to conversations, which it does not have.`;
    throw new SvcError("unsupported_parameter", message, { param: "type" });
  }
  const message = `'type' must be one of ${Object.keys(READERS).join(", ")}.`;
  throw new SvcError("invalid_value", message, { param: "type" });
}

/** Returns whether a session is in the first form of OpenAI's API. */
export function isFlat(body: object): boolean {
  const { session } = body as { readonly session?: unknown };
  return typeof session === "object" && session !== null && !("type" in session) && !("audio" in session);
}

/** Settings of a client secret. */
export interface SecretRequest {
  /** Settings of the sessions that the secret opens. */
  readonly changes: LiveChanges;
  /** Seconds for which the secret can open sessions. */
  readonly seconds: number;
}

/** Decodes the body of POST /v1/realtime/client_secrets. Throws SvcError naming the invalid field. */
export function decodeClientSecret(body: unknown): SecretRequest {
  const { session, expires_after } = checkSecret(body);
  return { changes: session ? nestedChanges(session) : {}, seconds: expires_after?.seconds ?? SECRET_SECONDS.usual };
}

/** Decodes the same body in the first form of OpenAI's API. */
export function decodeFlatClientSecret(body: unknown): SecretRequest {
  const session = checkFlatSecret(body);
  const { seconds } = session.client_secret?.expires_after ?? {};
  return { changes: flatChanges(session, ""), seconds: seconds ?? SECRET_SECONDS.usual };
}

const checkSecret = checker(ClientSecretRequest);
const checkFlatSecret = checker(FlatClientSecretRequest);
const checkNested = checker(SessionUpdate);
const checkFlat = checker(FlatSessionUpdate);
const checkAppend = checker(AudioAppend);
const checkBuffer = checker(BufferEvent);

function nestedChanges(session: Static<typeof SessionUpdate>["session"]): LiveChanges {
  if (session.type === "realtime") {
    throw fieldError("unsupported_parameter", "session.type", 'must be "transcription": this route transcribes only');
  }
  refuseOtherForm(session, "session.", NESTED_INSTEAD);
  refuseUnsupported(session, CONVERSATION_FIELDS, "session.");
  if (session.audio) refuseUnsupported(session.audio, { output: always }, "session.audio.");
  const { format, transcription, turn_detection } = session.audio?.input ?? {};
  return {
    ...(format && { format: formatOf(format) }),
    ...transcriptionChanges(transcription, "session.audio.input.transcription"),
    ...turnChanges(turn_detection, "session.audio.input.turn_detection"),
  };
}

/** Decodes a session. `path`: where the session is in the body. */
function flatChanges(session: Static<typeof FlatSessionUpdate>["session"], path: string): LiveChanges {
  refuseOtherForm(session, path, FLAT_INSTEAD);
  refuseUnsupported(session, CONVERSATION_FIELDS, path);
  const { input_audio_format: format, input_audio_transcription: transcription, turn_detection } = session;
  return {
    ...(format && { format: FLAT_FORMATS[format] }),
    ...transcriptionChanges(transcription, `${path}input_audio_transcription`),
    ...turnChanges(turn_detection, `${path}turn_detection`),
  };
}

function refuseOtherForm(session: object, path: string, instead: Readonly<Record<string, string>>): void {
  for (const [name, sentence] of Object.entries(instead)) {
    if ((session as Readonly<Record<string, unknown>>)[name] == null) continue;
    throw fieldError("unsupported_parameter", path + name, sentence);
  }
}

const PCM_RATES: readonly number[] = [24_000, 16_000];
const TELEPHONE_RATE = 8000;
const FLAT_FORMATS = {
  pcm16: { encoding: "pcm16", rate: 24_000 },
  g711_ulaw: { encoding: "ulaw", rate: TELEPHONE_RATE },
  g711_alaw: { encoding: "alaw", rate: TELEPHONE_RATE },
} as const satisfies Record<string, RawFormat>;

function formatOf({ type, rate }: { readonly type: string; readonly rate?: number | null }): RawFormat {
  const rates = type === "audio/pcm" ? PCM_RATES : [TELEPHONE_RATE];
  const chosen = rate ?? rates[0] ?? TELEPHONE_RATE;
  if (!rates.includes(chosen)) {
    const param = "session.audio.input.format.rate";
    throw invalidValue(param, `be ${rates.join(" or ")} for ${type}`, chosen);
  }
  return { encoding: type === "audio/pcm" ? "pcm16" : type === "audio/pcmu" ? "ulaw" : "alaw", rate: chosen };
}

function transcriptionChanges(settings: TranscriptionSettings | null | undefined, path: string): LiveChanges {
  if (settings === undefined) return {};
  if (settings === null) return { language: null, prompt: null };
  refuseUnsupported(settings, TRANSCRIPTION_FIELDS, `${path}.`);
  const { model, language, prompt } = settings;
  return {
    ...(model && { model }),
    ...(language !== undefined && { language: spokenLanguage(language, `${path}.language`) ?? null }),
    ...(prompt !== undefined && { prompt: prompt || null }),
  };
}

function turnChanges(settings: TurnDetectionSettings | null | undefined, path: string): LiveChanges {
  if (settings == null) return settings === null ? { turns: null } : {};
  if (settings.type === "semantic_vad") {
    throw fieldError("unsupported_parameter", `${path}.type`, "must be server_vad, or turn_detection null");
  }
  refuseUnsupported(settings, TURN_FIELDS, `${path}.`);
  const { threshold, prefix_padding_ms, silence_duration_ms } = settings;
  return { turns: given({ threshold, prefixMs: prefix_padding_ms, silenceMs: silence_duration_ms }) };
}

// Live sessions: settings, commands and events for speech that is recognised while it is spoken.

import type { SvcError } from "./errors.ts";
import type { RawFormat } from "./transcription.ts";

/** How the server detects where an utterance begins and ends. */
export interface TurnDetection {
  /** Probability, 0 to 1, from which sound counts as speech. */
  readonly threshold: number;
  /** Milliseconds before the detected speech that belong to the utterance. */
  readonly prefixMs: number;
  /** Milliseconds of silence that end the utterance. */
  readonly silenceMs: number;
}

export const USUAL_TURNS: TurnDetection = { threshold: 0.5, prefixMs: 300, silenceMs: 500 };

export interface LiveSettings {
  /** The model's name on this server. */
  readonly model: string;
  readonly format: RawFormat;
  /** Absent: detected in each utterance. */
  readonly language?: string;
  readonly prompt?: string;
  /** null: the client determines where utterances end. */
  readonly turns: TurnDetection | null;
}

/** A secret that opens sessions with these settings, instead of the API key with which it was created. */
export interface ClientSecret {
  readonly value: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly settings: LiveSettings;
  /** Name of that API key; absent if the server requires no keys. */
  readonly apiKey?: string;
}

/** Changes of settings; absent fields are unchanged. */
export interface LiveChanges {
  readonly model?: string;
  readonly format?: RawFormat;
  /** null: removes the setting. */
  readonly language?: string | null;
  readonly prompt?: string | null;
  readonly turns?: Partial<TurnDetection> | null;
}

export type LiveCommand =
  | { readonly type: "update"; readonly changes: LiveChanges }
  /** Sound in base64. */
  | { readonly type: "append"; readonly audio: string }
  | { readonly type: "commit" }
  | { readonly type: "clear" };

/** `item`: id of an utterance. `atMs`: milliseconds of sound since the session began. */
export type LiveEvent =
  | { readonly type: "created" | "updated"; readonly settings: LiveSettings }
  | { readonly type: "speech-started" | "speech-stopped"; readonly item: string; readonly atMs: number }
  /** The utterance is complete; `previous`: the utterance before. */
  | { readonly type: "committed"; readonly item: string; readonly previous: string | undefined }
  | { readonly type: "cleared" }
  | { readonly type: "delta"; readonly item: string; readonly text: string }
  /** `text`: the text of all deltas, without trailing spaces; `seconds`: duration of the utterance. */
  | { readonly type: "completed"; readonly item: string; readonly text: string; readonly seconds: number }
  | { readonly type: "failed"; readonly item: string; readonly error: SvcError }
  /** `cause`: the client's id of the event that failed. */
  | { readonly type: "error"; readonly error: SvcError; readonly cause?: string };

/** Why a session ends that did not fail: the client ended it · it reached a limit · the server stops. */
export const ORDERLY_ENDS = ["closed", "limit", "shutdown"] as const;
export type LiveEnd = (typeof ORDERLY_ENDS)[number] | "failed";

// Speech that is recognised while it is spoken: what the client of a live session asks for, and what it is told.

import type { SvcError } from "./errors.ts";
import type { RawFormat } from "./transcription.ts";

/** How the server finds out where an utterance begins and ends. */
export interface TurnDetection {
  /** Probability from which on a moment counts as speech, 0 to 1. */
  readonly threshold: number;
  /** How much of what is before the speech belongs to it. */
  readonly prefixMs: number;
  /** Silence after which the utterance is over. */
  readonly silenceMs: number;
}

export const USUAL_TURNS: TurnDetection = { threshold: 0.5, prefixMs: 300, silenceMs: 500 };

export interface LiveSettings {
  /** The model's name here. */
  readonly model: string;
  readonly format: RawFormat;
  /** Absent: it is detected in each utterance. */
  readonly language?: string;
  readonly prompt?: string;
  /** null: the client says where utterances end. */
  readonly turns: TurnDetection | null;
}

/** Opens sessions with these settings, in place of the API key that it was made with. */
export interface ClientSecret {
  readonly value: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly settings: LiveSettings;
  /** Name of that API key; absent where keys are not asked for. */
  readonly apiKey?: string;
}

/** What is absent stays as it is. */
export interface LiveChanges {
  readonly model?: string;
  readonly format?: RawFormat;
  /** null: none any more. */
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

/** `item`: the id of an utterance. Milliseconds are those of the sound, from the session's beginning. */
export type LiveEvent =
  | { readonly type: "created" | "updated"; readonly settings: LiveSettings }
  | { readonly type: "speech-started" | "speech-stopped"; readonly item: string; readonly atMs: number }
  /** The utterance is whole; `previous` is the one before it. */
  | { readonly type: "committed"; readonly item: string; readonly previous: string | undefined }
  | { readonly type: "cleared" }
  | { readonly type: "delta"; readonly item: string; readonly text: string }
  /** `text` is that of all deltas, without spaces at its end; `seconds` is how long the utterance plays. */
  | { readonly type: "completed"; readonly item: string; readonly text: string; readonly seconds: number }
  | { readonly type: "failed"; readonly item: string; readonly error: SvcError }
  /** `cause`: the id that the client gave its event. */
  | { readonly type: "error"; readonly error: SvcError; readonly cause?: string };

/** Why a session ends: as its client wished · it reached a limit · the server stops · something failed. */
export type LiveEnd = "wished" | "limit" | "shutdown" | "failed";

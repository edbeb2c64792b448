// The typed interface of the media shim; `binding.ts` implements it with bun:ffi, and tests implement it with a fake.

import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call failed; see svc_media_error in shim.h. */
export const MEDIA_ERRORS = ["failed", "bad-medium"] as const;
export type MediaErrorCode = (typeof MEDIA_ERRORS)[number];

/** A native call failed; the message is for the log, unless a medium is at fault. */
export class MediaError extends NativeError<MediaErrorCode> {
  override readonly name = "MediaError";
  /** Index of the medium at fault, where it is known. */
  medium?: number;
}

export const PROJECTOR_DEFAULTS = {
  gpu: true,
  flashAttention: "auto" as "auto" | "on" | "off",
  /** Maximum size of the embedding cache. */
  cacheBytes: 512 * 2 ** 20,
  /** Maximum length of all sounds of a prompt together. */
  audioSeconds: 30 * 60,
};

/** See svc_media_load_start in shim.h. */
export type ProjectorConfig = Readonly<typeof PROJECTOR_DEFAULTS> & { readonly path: string; readonly threads: number };

/** See svc_media_info in shim.h. */
export interface Projector {
  readonly vision: boolean;
  readonly audio: boolean;
  /** Floats of one token's embedding. */
  readonly width: number;
  /** The text that stands for a medium in a prompt. */
  readonly marker: string;
}

export type Medium =
  | {
      readonly kind: "image";
      /** Identifies exactly these pixels. */
      readonly id: string;
      readonly width: number;
      readonly height: number;
      /** Three bytes per pixel, rows from the top. */
      readonly rgb: Uint8Array;
    }
  | {
      readonly kind: "audio";
      /** Identifies exactly these bytes. */
      readonly id: string;
      /** A whole WAV, MP3 or FLAC file. */
      readonly bytes: Uint8Array;
    };

interface TextChunk {
  readonly kind: "text";
  readonly tokens: Int32Array;
}

/** See svc_media_describe in shim.h. */
export interface MediaChunk {
  readonly kind: "image" | "audio";
  /** Index among the chunks of the medium. */
  readonly part: number;
  readonly id: string;
  /** Number of embeddings. */
  readonly tokens: number;
  /** By how much the chunk advances the position. */
  readonly positions: number;
  /** Must be decoded in one micro-batch in which all tokens attend to each other. */
  readonly nonCausal: boolean;
}

export type PromptChunk = TextChunk | MediaChunk;

/** From "prepared" on, tokens and lengths are known; "encoded" has all embeddings. See svc_media_stage in shim.h. */
export const MEDIA_STAGES = ["open", "preparing", "prepared", "encoding", "encoded"] as const;
export type MediaState = (typeof MEDIA_STAGES)[number] | MediaFailure;

export interface MediaFailure extends NativeFailure<MediaErrorCode> {
  /** Index of the medium at fault, where it is known. */
  readonly medium?: number;
}

/** Branded so that it cannot be mistaken for a job of the llama shim. */
export type MediaJob = number & { readonly __media: unique symbol };

/** Image and audio input. Only `wait` blocks; every job must be released. */
export interface Media {
  projector(): Projector;
  /**
   * Queues a prompt: a rendered chat template with one marker per medium, in order. Clients take turns. Throws
   * MediaError, with "bad-medium" when a medium is at fault.
   */
  submit(text: string, media: readonly Medium[], client?: string): MediaJob;
  /** Queues the encoding of a prepared job. Returns false when it is already encoded; `wait` will not report it. */
  encode(job: MediaJob): boolean;
  /** Returns the next job whose preparation or encoding ended; blocks the whole thread for up to `timeoutMs`. */
  wait(timeoutMs: number): MediaJob | undefined;
  state(job: MediaJob): MediaState;
  /** Returns the chunks of a prepared job, in order. */
  chunks(job: MediaJob): PromptChunk[];
  /**
   * Returns the address of a media chunk's embeddings from token `offset` on, `width` floats for each, or 0 until it is
   * encoded. Valid until the job is released.
   */
  embeddings(job: MediaJob, chunk: number, offset?: number): bigint;
  /**
   * Returns the positions of `count` tokens of a media chunk from token `offset` on; `first` is the position of its
   * first token. With mrope each token has four numbers, returned as four runs.
   */
  positions(job: MediaJob, chunk: number, first: number, offset: number, count: number): Int32Array;
  /** May be called at any time; work on the job stops. */
  release(job: MediaJob): void;
}

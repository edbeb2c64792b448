// How much of a client's media is taken, and from where.

import type { SharedBytes } from "../domain/shared-bytes.ts";

export interface MediaLimits {
  /** Images and audio clips in one request. */
  readonly maxCount: number;
  /** Media of one request that are loaded at the same time. */
  readonly parallel: number;
  /** Bytes of one image file. */
  readonly maxImageBytes: number;
  /** Width times height of one image, before it is made smaller. */
  readonly maxPixels: number;
  /** Memory for decoding images, of all requests; absent: for as many at a time as there are. */
  readonly decoding?: SharedBytes;
  /** The longest side in pixels that reaches the engine, by the `detail` of the part. */
  readonly maxSide: { readonly low: number; readonly auto: number; readonly high: number };
  /** Bytes of one audio file. */
  readonly maxAudioBytes: number;
  readonly maxAudioSeconds: number;
  /** Whether http(s) URLs are fetched at all. */
  readonly fetch: boolean;
  /** Whether they may lead to loopback and private addresses. */
  readonly fetchPrivate: boolean;
  /** For a fetch as a whole, redirects included, in milliseconds. */
  readonly fetchTimeoutMs: number;
  readonly maxRedirects: number;
  /** The one folder whose files may be named by path or file: URL; absent: no file may. */
  readonly mediaRoot?: string;
}

export const defaultMediaLimits: MediaLimits = {
  maxCount: 32,
  parallel: 4,
  maxImageBytes: 20_000_000,
  maxPixels: 50_000_000,
  maxSide: { low: 512, auto: 1024, high: 2048 },
  maxAudioBytes: 25_000_000,
  maxAudioSeconds: 1800,
  fetch: true,
  fetchPrivate: false,
  fetchTimeoutMs: 10_000,
  maxRedirects: 3,
};

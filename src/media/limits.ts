// Limits on clients' media: how much, and from where.

import type { Semaphore } from "../domain/semaphore.ts";

export interface MediaLimits {
  /** Maximum number of images and audio clips in one request. */
  readonly maxCount: number;
  /** Media of one request that are loaded concurrently. */
  readonly parallel: number;
  /** Maximum size of an image file, in bytes. */
  readonly maxImageBytes: number;
  /** Maximum number of pixels in one image (width times height), before it is scaled down. */
  readonly maxPixels: number;
  /** Memory for decoding images, shared by all requests; absent: unlimited. */
  readonly decoding?: Semaphore;
  /** Longest side in pixels of an image for the engine, by the `detail` of the part. */
  readonly maxSide: { readonly low: number; readonly auto: number; readonly high: number };
  /** Maximum size of an audio file, in bytes. */
  readonly maxAudioBytes: number;
  /** Whether http(s) URLs are fetched at all. */
  readonly fetch: boolean;
  /** Whether these URLs may lead to loopback and private addresses. */
  readonly fetchPrivate: boolean;
  /** Milliseconds for a whole fetch, including redirects. */
  readonly fetchTimeoutMs: number;
  readonly maxRedirects: number;
  /** The one folder whose files may be named by path or file: URL; absent: no file may be named. */
  readonly mediaRoot?: string;
}

export const defaultMediaLimits: MediaLimits = {
  maxCount: 32,
  parallel: 4,
  maxImageBytes: 20_000_000,
  maxPixels: 50_000_000,
  maxSide: { low: 512, auto: 1024, high: 2048 },
  maxAudioBytes: 25_000_000,
  fetch: true,
  fetchPrivate: false,
  fetchTimeoutMs: 10_000,
  maxRedirects: 3,
};

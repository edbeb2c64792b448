// Loads a medium that a client sent: finds, bounds, checks and decodes it.

import { SOUND_FORMATS } from "../audio/decode/format.ts";
import { abortable } from "../domain/abortable.ts";
import { LONGEST_URL, urlScheme, type Media, type MediaSource } from "../domain/media.ts";
import { fetchImage } from "./fetch-image.ts";
import { decodeImage, measureImage } from "./image.ts";
import { readBase64, readDataUrl } from "./inline.ts";
import type { MediaLimits } from "./limits.ts";
import { readLocalFile } from "./local-file.ts";
import { atField, Refusal } from "./refusal.ts";
import { contentHash } from "./slices.ts";
import { audioFormat, describeType } from "./sniff.ts";

/**
 * Loads one medium: an image from a data:, http(s) or file: URL or a path, audio from base64 or a data: URL. Of audio
 * only the kind is checked; the engine decodes it. `param` is the request field that named it
 * (`messages.0.content.1.image_url.url`). Throws SvcError `invalid_value` for that field, or the signal's reason.
 */
export async function loadMedia(
  source: MediaSource,
  param: string,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<Media> {
  signal.throwIfAborted();
  return atField(param, async () => {
    if (source.kind === "audio") {
      const bytes = await inlineBytes(source.data, limits.maxAudioBytes, signal);
      if (!audioFormat(bytes)) throw new Refusal(`be ${SOUND_FORMATS}`, describeType(bytes));
      return { kind: "audio", id: await contentHash("audio ", bytes, signal), bytes };
    }
    const bytes = await imageBytes(source.url, limits, signal);
    return decodeImage(bytes, limits.maxSide[source.detail], limits, signal);
  });
}

/** Returns whether `imageBytes` would fetch the image. */
export const isWebUrl = (url: string): boolean => /^https?$/.test(urlScheme(url) ?? "");

/**
 * Fetches the image at an http(s) URL and returns it as a data: URL; only its header is checked. `param` and errors as
 * with `loadMedia`.
 */
export async function inlineImage(
  url: string,
  param: string,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  return atField(param, async () => {
    const bytes = await imageBytes(url, limits, signal);
    const { format } = measureImage(bytes, limits);
    return `data:image/${format};base64,${Buffer.from(bytes).toString("base64")}`;
  });
}

/** Decodes base64 or a data: URL to at most `limit` bytes. Throws Refusal, or the signal's reason. */
export async function inlineBytes(data: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  return urlScheme(data) === "data" ? readDataUrl(data, limit, signal) : readBase64(data, limit);
}

/** Reads the file that a data:, http(s) or file: URL or a path names. Throws Refusal, or the signal's reason. */
export async function imageBytes(url: string, limits: MediaLimits, signal: AbortSignal): Promise<Uint8Array> {
  const how = urlScheme(url);
  if (how === "data") return readDataUrl(url, limits.maxImageBytes, signal);
  if (url === "") throw new Refusal("be a URL", "an empty string");
  if (url.length > LONGEST_URL) {
    const rule = `be a data: URL, or another one of at most ${LONGEST_URL} characters`;
    throw new Refusal(rule, `a string of length ${url.length}`);
  }
  if (isWebUrl(url)) return fetchImage(url, limits, signal);
  if (how === undefined || how === "file") {
    return abortable(readLocalFile(url, limits.mediaRoot, limits.maxImageBytes), signal);
  }
  throw new Refusal("be a data:, http:, https: or file: URL", "a URL of another scheme");
}

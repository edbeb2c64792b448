// Reads media inside the request itself: data: URLs, base64 and percent-encoded.

import { checkSize, Refusal } from "./refusal.ts";
import { inSlices } from "./slices.ts";

/** A media type with its parameters is shorter than this. */
const LONGEST_LABEL = 1000;
/** Line breaks lengthen base64 by at most 2 characters in 60. */
const LINE_BREAKS = 1.05;

/** Returns a data: URL's bytes, at most `limit`, of whatever type. Throws Refusal, or the signal's reason. */
export async function readDataUrl(url: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const comma = url.slice(0, LONGEST_LABEL).indexOf(",");
  if (comma < 0) {
    const rule = `have a comma in its first ${LONGEST_LABEL} characters, before the data`;
    throw new Refusal(rule, "a data: URL without one");
  }
  const base64 = /;\s*base64\s*$/i.test(url.slice(0, comma));
  const data = url.slice(comma + 1);
  if (base64 && !data.includes("%")) return readBase64(data, limit, signal);
  // Each byte may take three characters when escaped; in base64, four characters hold three bytes.
  checkSize(Math.ceil(data.length / (base64 ? 4 : 3)), limit);
  const bytes = await percentDecoded(data, signal);
  if (base64) return readBase64(new TextDecoder().decode(bytes), limit, signal);
  checkSize(bytes.length, limit);
  return bytes;
}

/**
 * Decodes base64 (either alphabet, padding optional, line breaks allowed) to at most `limit` bytes. Throws Refusal, or
 * the signal's reason.
 */
export async function readBase64(text: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = leniently(text, limit);
  let digits = withoutPadding(text);
  if (bytes.length !== decodedLength(digits)) {
    digits = 0;
    await inSlices(text.length, signal, (from, to) => (digits += countDigits(text, from, to)));
  }
  return checked(bytes, digits, text, limit);
}

/** Does the same at once, for messages of a few megabytes whose order matters. Throws Refusal. */
export function readShortBase64(text: string, limit: number): Uint8Array {
  const bytes = leniently(text, limit);
  return checked(bytes, countDigits(text, 0, text.length), text, limit);
}

/** Decodes base64; skips whatever does not belong in it. */
function leniently(text: string, limit: number): Uint8Array {
  const estimate = decodedLength(withoutPadding(text));
  if (estimate > limit * LINE_BREAKS + 2) checkSize(estimate, limit);
  const { buffer, byteOffset, length } = Buffer.from(text, "base64");
  return new Uint8Array(buffer, byteOffset, length);
}

/** Throws Refusal when not all digits were decoded, or to too many bytes. */
function checked(bytes: Uint8Array, digits: number, text: string, limit: number): Uint8Array {
  if (bytes.length !== decodedLength(digits)) {
    throw new Refusal("be base64", `a string of length ${text.length} that is not`);
  }
  checkSize(bytes.length, limit);
  return bytes;
}

/** Returns the number of bytes; a fraction when the digits end in the middle of a byte. */
const decodedLength = (digits: number): number => (digits % 4 === 1 ? (digits * 3) / 4 : Math.floor((digits * 3) / 4));

const withoutPadding = (text: string): number => text.length - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);

/** Counts the characters that are neither white space nor padding. */
function countDigits(text: string, from: number, to: number): number {
  let count = to - from;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    // Tab, line feed, form feed, carriage return, space, and =.
    if (code === 0x3d || code === 0x20 || (code >= 9 && code <= 13 && code !== 11)) count--;
  }
  return count;
}

async function percentDecoded(text: string, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  // An escape may cross the end of a slice, so decoding continues at the text's position, not at the slice's.
  let at = 0;
  await inSlices(text.length, signal, (_, to) => {
    while (at < to) {
      const code = text.charCodeAt(at);
      if (code === 0x25) {
        bytes[length++] = escaped(text, at);
        at += 3;
      } else if (code < 0x80) {
        bytes[length++] = code;
        at++;
      } else throw new Refusal("be percent-encoded ASCII", "a data: URL with other characters");
    }
  });
  return bytes.subarray(0, length);
}

function escaped(text: string, at: number): number {
  const digits = text.slice(at + 1, at + 3);
  if (!/^[0-9a-f]{2}$/i.test(digits)) {
    throw new Refusal("be percent-encoded, two hexadecimal digits after each %", "a data: URL with a broken escape");
  }
  return Number.parseInt(digits, 16);
}

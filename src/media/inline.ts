// Reads media inside the request itself: data: URLs, base64 and percent-encoded.

import { checkSize, Refusal } from "./refusal.ts";
import { inSlices } from "./slices.ts";

/** A media type with its parameters is shorter than this. */
const LONGEST_LABEL = 1000;
/** Line breaks lengthen base64 by at most 2 characters in 60. */
const LINE_BREAKS = 1.05;
/** Two equals signs, with white space between them. */
const LONGEST_PADDING = 16;

/** Returns a data: URL's bytes, at most `limit`, of whatever type. Throws Refusal, or the signal's reason. */
export async function readDataUrl(url: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const comma = url.slice(0, LONGEST_LABEL).indexOf(",");
  if (comma < 0) {
    const rule = `have a comma in its first ${LONGEST_LABEL} characters, before the data`;
    throw new Refusal(rule, "a data: URL without one");
  }
  const base64 = /;\s*base64\s*$/i.test(url.slice(0, comma));
  const data = url.slice(comma + 1);
  if (base64 && !data.includes("%")) return readBase64(data, limit);
  // Each byte may take three characters when escaped; in base64, four characters hold three bytes.
  checkSize(Math.ceil(data.length / (base64 ? 4 : 3)), limit);
  const bytes = await percentDecoded(data, signal);
  if (base64) return readBase64(new TextDecoder().decode(bytes), limit);
  checkSize(bytes.length, limit);
  return bytes;
}

/** Decodes base64 (either alphabet, padding optional, white space allowed) to at most `limit` bytes. Throws Refusal. */
export function readBase64(text: string, limit: number): Uint8Array {
  const trimmed = text.trimEnd();
  // The decoder accepts the whole padding or none, but some clients send half of it.
  const [padding = ""] = /[=\s]*$/.exec(trimmed.slice(-LONGEST_PADDING)) ?? [];
  const digits = trimmed.slice(0, trimmed.length - padding.length);
  const estimate = Math.floor((digits.length * 3) / 4);
  if (estimate > limit * LINE_BREAKS) checkSize(estimate, limit);
  const bytes = decoded(digits, "base64") ?? decoded(digits, "base64url");
  if (!bytes) throw new Refusal("be base64", `a string of length ${text.length} that is not`);
  checkSize(bytes.length, limit);
  return bytes;
}

function decoded(digits: string, alphabet: "base64" | "base64url"): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(digits, { alphabet });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
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

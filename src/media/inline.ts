// Media that stand in the request itself: data: URLs, base64 and percent-encoded.

import { checkSize, Refusal } from "./refusal.ts";
import { inSlices } from "./slices.ts";

/** A media type with its parameters is shorter. */
const LONGEST_LABEL = 1000;
/** Line breaks make base64 longer than its bytes account for, by 2 characters in 60 at most. */
const LINE_BREAKS = 1.05;

/** The bytes of a data: URL of at most `limit` bytes, whatever type it claims. Throws Refusal. */
export async function readDataUrl(url: string, limit: number, signal: AbortSignal): Promise<Uint8Array> {
  const comma = url.slice(0, LONGEST_LABEL).indexOf(",");
  if (comma < 0) {
    const rule = `have a comma in its first ${LONGEST_LABEL} characters, before the data`;
    throw new Refusal(rule, "a data: URL without one");
  }
  const base64 = /;\s*base64\s*$/i.test(url.slice(0, comma));
  const data = url.slice(comma + 1);
  if (base64 && !data.includes("%")) return readBase64(data, limit);
  // Each byte may take three characters, and base64 four for three of these.
  checkSize(Math.ceil(data.length / (base64 ? 4 : 3)), limit);
  const bytes = await percentDecoded(data, signal);
  if (base64) return readBase64(new TextDecoder().decode(bytes), limit);
  checkSize(bytes.length, limit);
  return bytes;
}

/** The bytes of base64 text (either alphabet, padded or not, line breaks allowed), at most `limit`. Throws Refusal. */
export function readBase64(text: string, limit: number): Uint8Array {
  const estimate = decodedLength(text);
  if (estimate > limit * LINE_BREAKS + 2) checkSize(estimate, limit);
  const bytes = strictBase64(text) ?? base64WithSpaces(text);
  if (!bytes) throw new Refusal("be base64", `a string of length ${text.length} that is not`);
  checkSize(bytes.length, limit);
  return bytes;
}

/** Undefined when any character is not base64; Buffer alone would skip it. */
function strictBase64(text: string): Uint8Array | undefined {
  const { buffer, byteOffset, length } = Buffer.from(text, "base64");
  if (length !== decodedLength(text)) return undefined;
  return new Uint8Array(buffer, byteOffset, length);
}

/** In bytes; a broken number where text is cut off in the middle of a byte. */
function decodedLength(text: string): number {
  const characters = text.length - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  return characters % 4 === 1 ? (characters * 3) / 4 : Math.floor((characters * 3) / 4);
}

function base64WithSpaces(text: string): Uint8Array | undefined {
  const packed = text.replace(/[\t\n\f\r ]+/g, "");
  return packed.length < text.length ? strictBase64(packed) : undefined;
}

async function percentDecoded(text: string, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  // Escapes are wherever the last slice left off, so this goes by the text and not by the slice.
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

// Turns files in messages into parts of a prompt.

import type { ContentPart } from "../../domain/generate.ts";
import type { ImageSource } from "../../domain/media.ts";

/** The beginning of a file given as a data: URL in base64. */
const LABEL = /^data:([^,;]*)[^,]*;base64,/i;
/** Base64 digits that show whether a file may be text; a multiple of four. */
const HEAD = 1024;

/**
 * Returns the parts for a file given as a data: URL or in base64: text becomes text below the file's name, other files
 * become media. `param`: the file's field.
 */
export function fileParts(data: string, filename: unknown, param: string): ContentPart[] {
  const names = typeof filename === "string" && filename !== "" ? [filename] : [];
  const text = textIn(data);
  if (text !== undefined) return [textPart([...names, text].join("\n"))];
  const name = names.map(textPart);
  if (/^data:image\//i.test(data)) return [...name, imagePart(data, param)];
  // A data: URL, so that nothing a client sends as file content is taken for a path.
  return [...name, documentPart(/^data:/i.test(data) ? data : `data:;base64,${data}`, param)];
}

/** Returns the text of a file that is labelled as text or has only text: clients label JSON or code in many ways. */
function textIn(data: string): string | undefined {
  const [label = "", type = ""] = LABEL.exec(data.slice(0, 256)) ?? [];
  const base64 = data.slice(label.length);
  if (/^text\//i.test(type)) return Buffer.from(base64, "base64").toString("utf8");
  if (label === "" && (data === "" || /^data:/i.test(data))) return undefined;
  if (/^(?:image\/|application\/pdf$)/i.test(type)) return undefined;
  // Media may be long, and show at their beginning what they are.
  const head = utf8(base64.slice(0, HEAD), true);
  return head === undefined || head.startsWith("%PDF") ? undefined : utf8(base64, false);
}

/** Decodes text without NUL; undefined for everything else. `isCut`: the last character may be incomplete. */
function utf8(base64: string, isCut: boolean): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(base64, { lastChunkHandling: isCut ? "stop-before-partial" : "loose" });
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Returns an image. `url`: a data: or http(s) URL, or a path; `param`: its field. */
export const imagePart = (url: string, param: string, more: Partial<ImageSource> = {}): ContentPart => ({
  type: "media",
  source: { kind: "image", url, detail: "auto", ...more },
  param,
});

/** Returns a part that is converted to text for every model. `url`: as of an image. */
export const documentPart = (url: string, param: string): ContentPart => imagePart(url, param, { isDocument: true });

const textPart = (text: string): ContentPart => ({ type: "text", text });

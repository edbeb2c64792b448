// Turns files in messages into parts of a prompt.

import type { ContentPart } from "../../domain/generate.ts";
import type { ImageSource } from "../../domain/media.ts";

const TEXT = /^data:text\/[\w.+-]+(?:;charset=[\w-]+)?;base64,/i;

/**
 * Returns the parts for a file given as a data: URL or in base64: text becomes text below the file's name, other files
 * become media. `param`: the file's field.
 */
export function fileParts(data: string, filename: unknown, param: string): ContentPart[] {
  const names = typeof filename === "string" && filename !== "" ? [filename] : [];
  const [label] = TEXT.exec(data.slice(0, 256)) ?? [];
  if (label !== undefined) {
    const text = Buffer.from(data.slice(label.length), "base64").toString("utf8");
    return [textPart([...names, text].join("\n"))];
  }
  const name = names.map(textPart);
  if (/^data:image\//i.test(data)) return [...name, imagePart(data, param)];
  // A data: URL, so that nothing a client sends as file content is taken for a path.
  return [...name, documentPart(/^data:/i.test(data) ? data : `data:;base64,${data}`, param)];
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

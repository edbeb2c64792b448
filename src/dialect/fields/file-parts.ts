// Files in messages, as parts that a prompt can have.

import type { ContentPart } from "../../domain/generate.ts";

const TEXT = /^data:text\/[\w.+-]+(?:;charset=[\w-]+)?;base64,/i;

/** A file by its data: URL or in base64: text becomes text, below its name; others are media. `param`: its field. */
export function fileParts(data: string, filename: unknown, param: string): ContentPart[] {
  const names = typeof filename === "string" && filename !== "" ? [filename] : [];
  const [label] = TEXT.exec(data.slice(0, 256)) ?? [];
  if (label !== undefined) {
    const text = Buffer.from(data.slice(label.length), "base64").toString("utf8");
    return [textPart([...names, text].join("\n"))];
  }
  const name = names.map(textPart);
  if (/^data:image\//i.test(data)) {
    return [...name, { type: "media", source: { kind: "image", url: data, detail: "auto" }, param }];
  }
  // Nothing else that a client sends as a file's content may be taken for a path.
  return [...name, documentPart(/^data:/i.test(data) ? data : `data:;base64,${data}`, param)];
}

/** What is read whatever the model sees: by a data: or http(s) URL, or a path. */
export const documentPart = (url: string, param: string): ContentPart => ({
  type: "media",
  source: { kind: "image", url, detail: "auto", isDocument: true },
  param,
});

const textPart = (text: string): ContentPart => ({ type: "text", text });

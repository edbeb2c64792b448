// Decodes where a request's pictures and documents are.

import type { RecognitionRequest } from "../../contract/recognition.ts";
import { received } from "../../contract/schema.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import type { FileSource } from "../../domain/file-source.ts";
import { isObject, type JsonObject } from "../../domain/json.ts";
import { LONGEST_URL, urlScheme } from "../../domain/media.ts";

export interface NamedSource {
  readonly source: FileSource;
  readonly type: "file" | "data" | "image_url" | "message_image";
  /** The name of the document in answers. */
  readonly name: string;
}

const MOST_IMAGES = 32;

/** Throws SvcError when there are no sources, several kinds of them, or URLs that svc does not read. */
export function decodeSources({ file, data, filename, image_url, messages }: RecognitionRequest): NamedSource[] {
  refuseSeveral({ file, data, image_url, messages });
  if (file) return [{ source: { kind: "path", path: file, field: "file" }, type: "file", name: file }];
  if (data) return [{ source: { kind: "data", data, field: "data" }, type: "data", name: filename || "data" }];
  if (image_url) {
    const [url, field] = typeof image_url === "string" ? [image_url, "image_url"] : [image_url.url, "image_url.url"];
    return [{ source: urlSource(url, field), type: "image_url", name: filename || "image_url" }];
  }
  if (messages) return messageSources(messages);
  const sentence =
    "is required: an image or document, in a form or by its path; 'data' has it in base64, 'image_url' as a data: URL, 'messages' in chat messages";
  throw fieldError("missing_required_parameter", "file", sentence);
}

/** Throws SvcError when more than one of the sources is given. `path`: what precedes their names. */
export function refuseSeveral(sources: object, path = ""): void {
  const [first, second] = Object.entries(sources).flatMap(([name, value]) => (value == null ? [] : [name]));
  if (second === undefined) return;
  throw fieldError("invalid_value", path + second, `must be absent where '${first}' is given`);
}

/** Returns the source for a client's URL: a data: URL or a path. Throws SvcError about other URLs. */
export function urlSource(url: string, field: string): FileSource {
  const scheme = urlScheme(url);
  if (scheme === "data") return { kind: "data", data: url, field };
  if ((scheme === undefined || scheme === "file") && url.length <= LONGEST_URL)
    return { kind: "path", path: url, field };
  const got = scheme === undefined || scheme === "file" ? received(url) : `a URL of another scheme`;
  const what = scheme === "http" || scheme === "https" ? "an http(s) URL, which this server does not fetch here" : got;
  throw invalidValue(field, "be a data: URL, or a path in the server's media folder", what);
}

/** Returns the images and files in messages of any API. */
function messageSources(messages: readonly JsonObject[]): NamedSource[] {
  const found = messages.flatMap(({ content, images }, at) => [
    ...partSources(content, `messages.${at}.content`),
    ...imageSources(images, `messages.${at}.images`),
  ]);
  if (found.length === 0) {
    throw fieldError("missing_required_parameter", "messages", "must have an image part; got none");
  }
  if (found.length <= MOST_IMAGES) return found;
  throw invalidValue("messages", `have at most ${MOST_IMAGES} images`, found.length);
}

const partSources = (content: unknown, path: string): NamedSource[] =>
  Array.isArray(content) ? content.flatMap((part, index) => partSource(part, `${path}.${index}`)) : [];

/** Returns the images of a message in Ollama's form. */
const imageSources = (images: unknown, path: string): NamedSource[] =>
  Array.isArray(images)
    ? images.flatMap((data, index) => (typeof data === "string" ? [inMessage(inline(data, `${path}.${index}`))] : []))
    : [];

function partSource(part: unknown, path: string): NamedSource[] {
  if (!isObject(part)) return [];
  const { image_url: image, source, content } = part;
  if (typeof image === "string") return [inMessage(urlSource(image, `${path}.image_url`), path)];
  if (isObject(image) && typeof image["url"] === "string") {
    return [inMessage(urlSource(image["url"], `${path}.image_url.url`), path)];
  }
  if (isObject(source)) return blockSource(source, part["title"], path);
  // The part is the result of a tool call.
  if (content !== undefined) return partSources(content, `${path}.content`);
  const file = isObject(part["file"]) ? part["file"] : part;
  const { file_data: data, file_url: url, filename } = file;
  const field = file === part ? path : `${path}.file`;
  if (typeof url === "string") return [inMessage(urlSource(url, `${field}.file_url`), path)];
  return typeof data === "string" ? [inMessage(inline(data, `${field}.file_data`), path, filename)] : [];
}

/** Returns an image or document of the Messages API; text documents need no recognition. */
function blockSource({ type, url, data }: JsonObject, title: unknown, path: string): NamedSource[] {
  if (type === "url" && typeof url === "string") return [inMessage(urlSource(url, `${path}.source.url`), path, title)];
  if (type !== "base64" || typeof data !== "string") return [];
  return [inMessage(inline(data, `${path}.source.data`), path, title)];
}

const inline = (data: string, field: string): FileSource => ({ kind: "data", data, field });

const inMessage = (source: FileSource, path = source.field, name?: unknown): NamedSource => ({
  source,
  type: "message_image",
  name: typeof name === "string" && name !== "" ? name : path,
});

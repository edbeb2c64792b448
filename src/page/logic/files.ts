// Which files a model accepts as attachments.

import type { Attachment } from "./conversation.ts";
import { bytes } from "./format.ts";
import type { Model } from "./models.ts";

/** Maximum sizes in bytes; for media, those of the API. */
const LARGEST = { text: 512_000, image: 20_000_000, audio: 25_000_000, pdf: 25_000_000 };

const PDF = "application/pdf";
/** Types of images that the API takes, in chats and in edits. */
const SEEN = { chat: /^image\/(?:png|jpeg|webp|gif|bmp|x-ms-bmp)$/, image: /^image\/(?:png|jpeg|webp)$/ };
/** Types that --ocr-input reads for models that do not see; those are listed like the ones that do. */
const READ = /^image\/(?:tiff|hei[cf])$/;
/** The longest side in pixels of an image that is redrawn for a chat. */
const LONGEST_SIDE = 2048;
/** Size in bytes up to which a file is left as it is: a request may have 32 of them. */
const SMALL = 2_000_000;

/** Returns the file types that a model accepts, for the browser's file dialog. */
export function acceptedBy(model: Model | undefined): string {
  const kinds = [
    ...(takesImages(model) ? ["image/*"] : []),
    ...(takesDocuments(model) ? [PDF] : []),
    ...(model?.capabilities.has("audio") ? ["audio/*"] : []),
    ...(model?.use === "image"
      ? []
      : ["text/*", ".md", ".json", ".csv", ".log", ".ts", ".py", ".rs", ".go", ".c", ".h"]),
  ];
  return kinds.join(",");
}

/** Returns what a file is to a model. Throws Error with a message for the user when the model does not accept it. */
export function kindOf(
  { name, type, size }: Pick<File, "name" | "type" | "size">,
  model: Model | undefined,
): Attachment["kind"] {
  const kind = kindOfType(type);
  if (kind === "text" && model?.use === "image") throw refusal(model, "text files");
  if (type === PDF && !takesDocuments(model)) throw refusal(model, "documents", "--ocr-input");
  if (kind === "image" && !takesImages(model)) throw refusal(model, "images", "--ocr-input");
  if (kind === "audio" && !model?.capabilities.has("audio")) throw refusal(model, "sound", "--transcribe-input");
  if (kind !== "text") checkSize(name, size, LARGEST[type === PDF ? "pdf" : kind]);
  return kind;
}

/** Returns the error about what a model does not take; with `option`, the server can read it for a chat model. */
function refusal(model: Model | undefined, what: string, option?: string): Error {
  const reading = option !== undefined && model?.use !== "image" ? `, or start svc with ${option}` : "";
  return new Error(`${model?.id ?? "The model"} takes no ${what}. Choose another model${reading}.`);
}

function checkSize(name: string, size: number, most: number): void {
  if (size > most) throw new Error(`${name} has more than ${bytes(most).replace(".0", "")}.`);
}

function kindOfType(type: string): Attachment["kind"] {
  // The API takes no SVG, which models can read as the text that it is.
  if (type === "image/svg+xml") return "text";
  return type.startsWith("image/") || type === PDF ? "image" : type.startsWith("audio/") ? "audio" : "text";
}

/**
 * Returns by which factor an image is redrawn before it is sent; undefined when its file is sent as it is. `decoded` is
 * absent when the browser cannot decode it. Throws Error with a message for the user when the API cannot either.
 */
export function redrawing(
  { name, type, size }: Pick<File, "name" | "type" | "size">,
  decoded: { readonly width: number; readonly height: number } | undefined,
  use: Model["use"],
): number | undefined {
  const isSeen = SEEN[use].test(type);
  if (!decoded) {
    if (use === "chat" && READ.test(type)) return undefined;
    throw new Error(`${name} is damaged, too large, or not PNG, JPEG, WebP, GIF or BMP.`);
  }
  if (use === "image") return isSeen ? undefined : 1;
  // It may be animated, of which one picture would remain.
  if (type === "image/gif") return undefined;
  const scale = Math.min(1, LONGEST_SIDE / Math.max(decoded.width, decoded.height));
  return isSeen && scale === 1 && size <= SMALL ? undefined : scale;
}

/** Reads a text file. Throws Error with a message for the user when it is none or too large. */
export async function textOf(file: File): Promise<string> {
  // Browsers know only some types, and take TypeScript for video: the beginning tells films and documents from text.
  const beginning = decoded(await file.slice(0, LARGEST.text).arrayBuffer());
  if (beginning.includes("\0")) throw new Error(`${file.name} is neither text, an image nor sound.`);
  checkSize(file.name, file.size, LARGEST.text);
  return beginning;
}

/** Decodes UTF-16 with a byte order mark, UTF-8, and else what Windows programs write in Western Europe. */
function decoded(bytes: ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes, 0, Math.min(2, bytes.byteLength));
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

const takesImages = (model: Model | undefined): boolean =>
  takesDocuments(model) || (model?.capabilities.has("image_edits") ?? false);

/** Models that only edit images take no documents. */
const takesDocuments = (model: Model | undefined): boolean => model?.capabilities.has("vision") ?? false;

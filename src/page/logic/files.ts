// Which files a model accepts as attachments.

import type { Attachment } from "./conversation.ts";
import type { Model } from "./models.ts";

const LARGEST_TEXT = 512 * 1024;
const LARGEST_MEDIUM = 25_000_000;

const PDF = "application/pdf";

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
  const kind = type.startsWith("image/") || type === PDF ? "image" : type.startsWith("audio/") ? "audio" : "text";
  const who = model?.id ?? "The model";
  if (size > (kind === "text" ? LARGEST_TEXT : LARGEST_MEDIUM)) throw new Error(`${name} is too large.`);
  if (type === PDF && !takesDocuments(model)) throw new Error(`${who} takes no documents.`);
  if (kind === "image" && !takesImages(model)) throw new Error(`${who} takes no images.`);
  if (kind === "audio" && !model?.capabilities.has("audio")) throw new Error(`${who} takes no sound.`);
  return kind;
}

const takesImages = (model: Model | undefined): boolean =>
  takesDocuments(model) || (model?.capabilities.has("image_edits") ?? false);

/** Models that only edit images take no documents. */
const takesDocuments = (model: Model | undefined): boolean => model?.capabilities.has("vision") ?? false;

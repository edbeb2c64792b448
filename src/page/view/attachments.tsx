// Files attached to a message: which ones a model accepts, and how they are shown.

import type { Attachment } from "../logic/conversation.ts";
import type { Model } from "../logic/models.ts";
import { Act } from "./act.tsx";
import { dataUrl } from "./browser.ts";
import { Icon } from "./icons.tsx";

const LARGEST_TEXT = 512 * 1024;
const LARGEST_MEDIUM = 25_000_000;

/** Returns the file types that a model accepts, for the browser's file dialog. */
export function acceptedBy(model: Model | undefined): string {
  const kinds = [
    ...(takesImages(model) ? ["image/*", "application/pdf"] : []),
    ...(model?.capabilities.has("audio") ? ["audio/*"] : []),
    ...(model?.use === "image"
      ? []
      : ["text/*", ".md", ".json", ".csv", ".log", ".ts", ".py", ".rs", ".go", ".c", ".h"]),
  ];
  return kinds.join(",");
}

const takesImages = (model: Model | undefined): boolean =>
  (model?.capabilities.has("vision") || model?.capabilities.has("image_edits")) ?? false;

/** Reads a file as an attachment. Throws Error with a message for the user when the model does not accept the file. */
export async function attach(file: File, model: Model | undefined): Promise<Attachment> {
  const { name, type, size } = file;
  const kind =
    type.startsWith("image/") || type === "application/pdf" ? "image" : type.startsWith("audio/") ? "audio" : "text";
  if (size > (kind === "text" ? LARGEST_TEXT : LARGEST_MEDIUM)) throw new Error(`${name} is too large.`);
  if (kind === "image" && !takesImages(model)) throw new Error(`${model?.id ?? "The model"} takes no images.`);
  if (kind === "audio" && !model?.capabilities.has("audio"))
    throw new Error(`${model?.id ?? "The model"} takes no sound.`);
  if (kind !== "text") return { kind, name, data: await dataUrl(file) };
  const data = await file.text();
  if (data.includes("\0")) throw new Error(`${name} is neither text, an image nor sound.`);
  return { kind, name, data };
}

interface AttachmentsProps {
  readonly attachments: readonly Attachment[];
  readonly onRemove?: (index: number) => void;
}

export const Attachments = ({ attachments, onRemove }: AttachmentsProps) => (
  <ul class="attachments">
    {attachments.map((one, index) => (
      <li key={index}>
        <Shown attachment={one} />
        {onRemove && (
          <Act icon="close" class="icon-button remove" label={`Remove ${one.name}`} onClick={() => onRemove(index)} />
        )}
      </li>
    ))}
  </ul>
);

function Shown({ attachment: { kind, name, data } }: { readonly attachment: Attachment }) {
  if (kind === "image" && data.startsWith("data:image/")) return <img src={data} alt={name} />;
  if (kind === "audio") return <audio controls src={data} aria-label={name} />;
  return (
    <span class="file">
      <Icon name="file" />
      {name}
    </span>
  );
}

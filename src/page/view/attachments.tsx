// Files attached to a message: how they are read and shown.

import type { Attachment } from "../logic/conversation.ts";
import { kindOf, textOf } from "../logic/files.ts";
import type { Model } from "../logic/models.ts";
import { Act } from "./act.tsx";
import { dataUrl } from "./browser.ts";
import { Icon } from "./icons.tsx";
import { pictureOf } from "./picture.ts";

/** Reads a file as an attachment. Throws Error with a message for the user when the model does not accept the file. */
export async function attach(file: File, model: Model | undefined): Promise<Attachment> {
  const { name } = file;
  const kind = kindOf(file, model);
  if (kind === "text") return { kind, name, data: await textOf(file) };
  const isPicture = file.type.startsWith("image/");
  return { kind, name, data: await dataUrl(isPicture ? await pictureOf(file, model?.use ?? "chat") : file) };
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

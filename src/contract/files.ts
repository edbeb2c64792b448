// /v1/files: file objects and their list.

import { FILE_PURPOSES, UPLOAD_PURPOSES } from "../domain/file-purpose.ts";
import { pageOf } from "./list.ts";
import { nullable, oneOf, t, type Static } from "./schema.ts";

export const FileObject = t.Object({
  id: t.String(),
  object: t.Literal("file"),
  bytes: t.Integer(),
  created_at: t.Integer({ description: "Unix seconds, like all times." }),
  expires_at: nullable(t.Integer({ description: "When the file expires and is deleted; null: never." })),
  filename: t.String(),
  purpose: oneOf(...FILE_PURPOSES),
  status: t.Literal("processed"),
  status_details: t.Null(),
  sample_type: t.Optional(t.Literal("ocr_input", { description: "With the purpose `ocr`, as in Mistral's API." })),
  source: t.Optional(t.Literal("upload", { description: "With the purpose `ocr`, as in Mistral's API." })),
});

export const FileList = pageOf(FileObject);

export const DeletedFile = t.Object({ id: t.String(), object: t.Literal("file"), deleted: t.Boolean() });

/** The URL of a document, for /v1/ocr. */
export const FileAddress = t.Object({ url: t.String() });

/** The parts of an upload, for the API description: the server reads them one after another, not as one value. */
export const FileUpload = t.Object({
  file: t.String({
    format: "binary",
    description: "JSON Lines; or an image or document if the part purpose is `ocr`. The file name is kept.",
  }),
  purpose: t.Optional(oneOf(...UPLOAD_PURPOSES)),
  "expires_after[anchor]": t.Optional(t.Literal("created_at")),
  "expires_after[seconds]": t.Optional(t.Integer({ minimum: 3600, maximum: 2_592_000 })),
});

export type FileObject = Static<typeof FileObject>;
export type FileList = Static<typeof FileList>;

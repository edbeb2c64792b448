// Encodes stored files as clients see them.

import type { FileList, FileObject } from "../../contract/files.ts";
import type { FileRecord } from "../../store/file-records.ts";
import type { Page } from "../../store/page.ts";
import { listOf } from "../fields/page.ts";

export const encodeFile = ({ id, bytes, createdAt, expiresAt, filename, purpose }: FileRecord): FileObject => ({
  id,
  object: "file",
  bytes,
  created_at: createdAt,
  expires_at: expiresAt,
  filename,
  purpose,
  status: "processed",
  status_details: null,
  ...(purpose === "ocr" && { sample_type: "ocr_input", source: "upload" }),
});

export const encodeFiles = ({ rows, hasMore }: Page<FileRecord>): FileList => listOf(rows.map(encodeFile), hasMore);

// Decodes the fields of an upload, without its content.

import { received } from "../../contract/schema.ts";
import { fieldError, invalidValue, shownName } from "../../domain/errors.ts";
import { FILE_PURPOSES, UPLOAD_PURPOSES, type FilePurpose, type UploadPurpose } from "../../domain/file-purpose.ts";

/** Items on a page of the list of files. */
export const FILES_PAGE = { usual: 10_000, most: 10_000 };

/** Fields by name, from form parts or query parameters. */
type UploadFields = ReadonlyMap<string, string>;

interface UploadCall {
  readonly purpose: UploadPurpose;
  /** Seconds until the file is deleted; absent: the server's default. */
  readonly expiresSeconds?: number;
}

const KNOWN = new Set(["purpose", "expires_after[anchor]", "expires_after[seconds]", "filename"]);
const [LEAST_S, MOST_S] = [3600, 2_592_000];

/** Decodes the fields. `known`: the purpose, if it came before the file. Throws SvcError naming the field. */
export function decodeUpload(fields: UploadFields, known?: UploadPurpose): UploadCall {
  for (const name of fields.keys()) {
    if (KNOWN.has(name)) continue;
    throw fieldError("unsupported_parameter", shownName(name), "is not supported here");
  }
  const purpose = known ?? decodeUploadPurpose(fields) ?? "batch";
  const anchor = fields.get("expires_after[anchor]");
  const seconds = fields.get("expires_after[seconds]");
  if (anchor !== undefined && anchor !== "created_at") throw invalid("expires_after[anchor]", '"created_at"', anchor);
  if (seconds === undefined) {
    if (anchor === undefined) return { purpose };
    throw fieldError("missing_required_parameter", "expires_after[seconds]", "is required with an anchor");
  }
  const given = /^\d{1,12}$/.test(seconds) ? Number(seconds) : undefined;
  if (given !== undefined && given >= LEAST_S && given <= MOST_S) return { purpose, expiresSeconds: given };
  throw invalid("expires_after[seconds]", `an integer from ${LEAST_S} to ${MOST_S}`, given ?? seconds);
}

/** Returns the purpose of the file; undefined: there is none among these fields. Throws SvcError `invalid_value`. */
export const decodeUploadPurpose = (fields: UploadFields): UploadPurpose | undefined =>
  knownPurpose(fields.get("purpose"), UPLOAD_PURPOSES);

/** Returns the purpose by which to filter a list of files; undefined: any. Throws SvcError `invalid_value`. */
export const decodePurpose = (query: URLSearchParams): FilePurpose | undefined =>
  knownPurpose(query.get("purpose") ?? undefined, FILE_PURPOSES);

function knownPurpose<Purpose>(given: string | undefined, known: readonly Purpose[]): Purpose | undefined {
  const purpose = known.find((one) => one === given);
  if (purpose !== undefined || given === undefined) return purpose;
  throw invalid("purpose", `one of ${known.join(", ")}`, given);
}

const invalid = (param: string, rule: string, got: unknown) => invalidValue(param, `be ${rule}`, received(got));

// Fields that today's clients may send and that this server does not serve: refused by name, never ignored, because an
// answer that silently lacks what was asked for is worse than an error.

import { SvcError } from "../../domain/errors.ts";

/** Fields of the convention that have no schema here, with the test for "would have an effect". */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  audio: () => true,
  modalities: (value) => !Array.isArray(value) || value.some((modality) => modality !== "text"),
  web_search_options: () => true,
  moderation: () => true,
};

/** Throws SvcError `unsupported_parameter` about the first field that asks for something not served. */
export function refuseUnsupported(body: unknown): void {
  const fields = body as Readonly<Record<string, unknown>>;
  const field = Object.keys(UNSUPPORTED).find((name) => fields[name] != null && UNSUPPORTED[name]?.(fields[name]));
  if (field) throw new SvcError("unsupported_parameter", `'${field}' is not supported.`, { param: field });
}

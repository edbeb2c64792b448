// Checks the metadata that a client attaches to a stored object.

import { SvcError } from "../../domain/errors.ts";

type Metadata = Readonly<Record<string, string>>;

const LONGEST_KEY = 64;

/** Returns the metadata, or null without any. Throws SvcError `invalid_value` when a key is too long. */
export function checkedMetadata(metadata: Metadata | null | undefined): Metadata | null {
  const param = "metadata";
  const key = Object.keys(metadata ?? {}).find(({ length }) => length > LONGEST_KEY);
  if (key === undefined) return metadata ?? null;
  const message = `A key of '${param}' must have at most ${LONGEST_KEY} characters; one has ${key.length}.`;
  throw new SvcError("invalid_value", message, { param });
}

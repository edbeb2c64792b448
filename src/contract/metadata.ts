// Metadata that a client attaches to a stored object.

import { t } from "./schema.ts";

export const Metadata = t.Record(t.String(), t.String({ maxLength: 512 }), {
  maxProperties: 16,
  description: "Keys have at most 64 characters.",
});

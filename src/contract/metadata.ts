// What a client notes about something that is kept.

import { t } from "./schema.ts";

export const Metadata = t.Record(t.String(), t.String({ maxLength: 512 }), {
  maxProperties: 16,
  description: "Keys have at most 64 characters.",
});

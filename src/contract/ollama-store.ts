// Ollama's API for the models on disk: POST /api/pull and DELETE /api/delete.

import { optFlag, optText, t, type Static } from "./schema.ts";

const named = {
  model: optText("owner/repository or owner/repository:QUANT, with or without hf.co/ before it."),
  name: optText("The older name of `model`."),
};

export const OllamaPullRequest = t.Object({
  ...named,
  insecure: optFlag("No effect."),
  stream: optFlag("Default true."),
});

export const OllamaDeleteRequest = t.Object(named);

/** A line about a download; the status of the last line is `success`. */
export const OllamaPullStatus = t.Object({
  status: t.String(),
  digest: t.Optional(
    t.String({ description: "Name of the model that is downloaded; `total` and `completed` count all of its files." }),
  ),
  total: t.Optional(t.Integer({ description: "Bytes in all." })),
  completed: t.Optional(t.Integer({ description: "Bytes received so far." })),
});

export type OllamaPullStatus = Static<typeof OllamaPullStatus>;

// Fields that chat completions, completions and llama.cpp's routes share: how an answer is generated and sent.

import { lora } from "./lora.ts";
import { modelName } from "./model.ts";
import { runningFields, stream } from "./running.ts";
import { samplingFields, stop } from "./sampling.ts";
import { optFlag, optInteger, optText, t, type Static } from "./schema.ts";
import { structuredFields } from "./structured.ts";

/** A field of chat completions and completions alone. */
export const user = optText(
  "No effect on models of this server, and no boundary between users. Passed on to upstreams of no known kind.",
);

export const controlFields = {
  model: modelName,
  ...samplingFields,
  lora,
  stop,
  t_max_predict_ms: optInteger(
    { minimum: 0, maximum: 86_400_000 },
    "Milliseconds after the first token; when they have passed, the answer ends once it contains a line break. 0: off.",
  ),
  cache_prompt: optFlag("false: compute the whole prompt, without the prefix cache. Default true."),
  id_slot: optInteger(
    { minimum: -1 },
    "Number of the slot that holds the request's tokens afterwards, for POST /slots; -1 means 0. Cached prefixes are found whatever the slot.",
  ),
  ...structuredFields,
  stream,
  ...runningFields,
};

const ControlFields = t.Object(controlFields);
export type ControlFields = Static<typeof ControlFields>;

// Fields that chat completions, completions and llama.cpp's routes share: how an answer is generated and sent.

import { lora } from "./lora.ts";
import { modelName } from "./model.ts";
import { runningFields } from "./running.ts";
import { samplingFields, stop } from "./sampling.ts";
import { opt, t, type Static } from "./schema.ts";
import { structuredFields } from "./structured.ts";

export const controlFields = {
  model: modelName,
  ...samplingFields,
  lora,
  stop,
  t_max_predict_ms: opt(
    t.Integer({
      minimum: 0,
      maximum: 86_400_000,
      description:
        "Milliseconds after the first token; when they have passed, the answer ends once it contains a line break. 0: off.",
    }),
  ),
  cache_prompt: opt(
    t.Boolean({ description: "false: compute the whole prompt, without the prefix cache. Default true." }),
  ),
  id_slot: opt(
    t.Integer({
      minimum: -1,
      description:
        "Number of the slot that holds the request's tokens afterwards, for POST /slots; -1 means 0. Cached prefixes are found whatever the slot.",
    }),
  ),
  ...structuredFields,
  stream: opt(t.Boolean()),
  ...runningFields,
};

const ControlFields = t.Object(controlFields);
export type ControlFields = Static<typeof ControlFields>;

// LoRA adapters: the field with which llama.cpp's clients select them, and GET /lora-adapters.

import { opt, t } from "./schema.ts";

const Id = t.Integer({ minimum: 0, description: "Number of the adapter in GET /lora-adapters." });

const Scale = t.Object({ id: Id, scale: t.Number({ minimum: -100, maximum: 100 }) });

export const lora = opt(
  t.Array(Scale, {
    maxItems: 256,
    description:
      "Adapters for this request; all others are off. Absent or empty: the adapter that `model` names, else those that the server is set to.",
  }),
);

/** POST /lora-adapters: the scales for requests that select no adapter; adapters that are not listed are off. */
export const LoraScales = t.Array(Scale, { maxItems: 256 });
export const LoraScaled = t.Object({ success: t.Literal(true) });

export const LoraAdapters = t.Array(
  t.Object({
    id: Id,
    path: t.String({ description: "The file's name, without its folder." }),
    scale: t.Number({ description: "Scale for requests that select no adapter; 0: off." }),
    task_name: t.String(),
    prompt_prefix: t.String(),
  }),
);

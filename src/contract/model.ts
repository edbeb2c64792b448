// GET /v1/models

import { nullable, oneOf, optText, t, type Static } from "./schema.ts";

const Tokens = t.Integer({ minimum: 1, description: "Maximum tokens of the prompt plus the output of one request." });

/** Several names for the same number: clients look for different ones. */
export const CONTEXT_KEYS = ["max_context_length", "max_model_len", "context_length", "context_window", "n_ctx"];

/** The field `model` of requests. */
export const modelName = optText(
  "A model of GET /v1/models, including LoRA adapters. If the name is absent or unknown, the active model answers.",
);

export const Model = t.Object({
  id: t.String(),
  object: t.Literal("model"),
  created: t.Integer({
    description:
      "Unix time in seconds at which the model file was last changed, or the model was first seen here; it stays the same.",
  }),
  owned_by: t.String(),
  root: t.Optional(t.String({ description: "For a LoRA adapter: the base model." })),
  aliases: t.Optional(t.Array(t.String(), { description: "Additional names of the model." })),
  parent: t.Optional(t.String({ description: "The same as `root`." })),
  loaded: t.Boolean(),
  status: t.Object({ value: oneOf("loaded", "loading", "unloaded") }),
  meta: t.Optional(
    t.Object(
      {
        n_ctx: t.Optional(t.Integer()),
        n_ctx_train: t.Optional(t.Integer()),
        n_params: t.Optional(t.Integer()),
        size: t.Optional(t.Integer()),
      },
      {
        description:
          "llama.cpp's names for the context length, and for trained_context, parameters and bytes of `models`.",
      },
    ),
  ),
  ...Object.fromEntries(CONTEXT_KEYS.map((name) => [name, t.Optional(Tokens)])),
});

const ModelDetails = t.Object({
  name: t.String(),
  model: t.String(),
  capabilities: t.Array(t.String()),
  architecture: t.Optional(t.String()),
  description: t.Optional(t.String()),
  parameters: t.Optional(t.Integer()),
  bytes: t.Optional(t.Integer()),
  trained_context: t.Optional(t.Integer()),
  dimensions: t.Optional(t.Integer({ description: "Numbers per vector." })),
  device: t.Optional(t.String()),
  demonstration: t.Optional(
    t.Literal(true, { description: "true for a demonstration model, which is too small for real work." }),
  ),
});

export const ModelList = t.Object({
  object: t.Literal("list"),
  data: t.Array(Model),
  models: t.Array(ModelDetails, { description: "The capabilities of each model of `data`." }),
});

/** A model as clients of the Messages API expect it. Keys that are always null belong to features that svc lacks. */
export const MessagesModel = t.Object({
  id: t.String(),
  type: t.Literal("model"),
  display_name: t.String({ description: "The name in the model's file, else the id." }),
  created_at: t.String({ description: "`created` as RFC 3339." }),
  max_input_tokens: nullable(Tokens),
  max_tokens: t.Null({ description: "Always null: answers have no separate limit." }),
  lifecycle: t.Literal("active"),
  capabilities: t.Null(),
  line: t.Null(),
  deprecated_at: t.Null(),
  retires_at: t.Null(),
});

/** A page of these models. */
export const MessagesModelList = t.Object({
  data: t.Array(MessagesModel),
  has_more: t.Boolean({
    description:
      "Whether more models follow after `last_id`; for a page with before_id, whether more precede `first_id`.",
  }),
  first_id: nullable(t.String()),
  last_id: nullable(t.String()),
});

export type ModelList = Static<typeof ModelList>;
export type MessagesModel = Static<typeof MessagesModel>;
export type MessagesModelList = Static<typeof MessagesModelList>;

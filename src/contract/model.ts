// GET /v1/models

import { nullable, opt, t, type Static } from "./schema.ts";

const Tokens = t.Integer({ minimum: 1, description: "Largest prompt plus output of one request." });

/** Several names for the same number: clients look for different ones. */
const contextKeys = {
  max_context_length: Tokens,
  max_model_len: Tokens,
  context_length: Tokens,
  context_window: Tokens,
  n_ctx: Tokens,
};

/** The field `model` of requests. */
export const modelName = opt(
  t.String({
    description:
      "A model of GET /v1/models, LoRA adapters among them. The active model answers where the name is absent or unknown.",
  }),
);

export const Model = t.Object({
  id: t.String(),
  object: t.Literal("model"),
  created: t.Integer({
    description: "Unix time at which the model was last changed, or first seen here; it stays the same.",
  }),
  owned_by: t.String(),
  root: t.Optional(t.String({ description: "Of a LoRA adapter: the model that it is for." })),
  aliases: t.Optional(t.Array(t.String(), { description: "Further names of the model." })),
  parent: t.Optional(t.String({ description: "The same." })),
  loaded: t.Boolean(),
  status: t.Object({ value: t.Union([t.Literal("loaded"), t.Literal("unloaded")]) }),
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
          "llama.cpp's names of the context, and of what `models` has as trained_context, parameters and bytes.",
      },
    ),
  ),
  ...Object.fromEntries(Object.entries(contextKeys).map(([name, schema]) => [name, t.Optional(schema)])),
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
  dimensions: t.Optional(t.Integer({ description: "Numbers of a vector." })),
  device: t.Optional(t.String()),
  demonstration: t.Optional(t.Literal(true, { description: "It shows that it works, and is no model to work with." })),
});

export const ModelList = t.Object({
  object: t.Literal("list"),
  data: t.Array(Model),
  models: t.Array(ModelDetails, { description: "What each model of `data` can do." }),
});

/** A model as clients of the Messages API expect it. Keys that are always null belong to features that svc lacks. */
export const MessagesModel = t.Object({
  id: t.String(),
  type: t.Literal("model"),
  display_name: t.String({ description: "The name that the model's file has for it, else the id." }),
  created_at: t.String({ description: "`created` as RFC 3339." }),
  max_input_tokens: nullable(Tokens),
  max_tokens: t.Null({ description: "Answers have no limit of their own." }),
  lifecycle: t.Literal("active"),
  capabilities: t.Null(),
  line: t.Null(),
  deprecated_at: t.Null(),
  retires_at: t.Null(),
});

/** A page of these models. */
export const MessagesModelList = t.Object({
  data: t.Array(MessagesModel),
  has_more: t.Boolean({ description: "More follow after `last_id`; of a page before an id, before `first_id`." }),
  first_id: nullable(t.String()),
  last_id: nullable(t.String()),
});

export type ModelList = Static<typeof ModelList>;
export type MessagesModel = Static<typeof MessagesModel>;
export type MessagesModelList = Static<typeof MessagesModelList>;

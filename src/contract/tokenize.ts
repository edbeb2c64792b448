// POST /v1/tokenize and POST /v1/count_tokens

import { opt, t, type Static } from "./schema.ts";

export const TokenizeRequest = t.Object({
  model: opt(t.String({ description: "Any name: the loaded model's tokenizer answers." })),
  text: opt(t.String({ description: "Wins over `prompt`; one of the two is required and must not be empty." })),
  prompt: opt(t.String({ description: "Another name for `text`." })),
});

export type TokenizeRequest = Static<typeof TokenizeRequest>;

export const TokenizeResponse = t.Object({
  tokens: t.Array(t.Integer()),
  count: t.Integer(),
  model: t.String(),
  max_model_len: t.Optional(t.Integer({ description: "Largest prompt plus output of one request." })),
});

export type TokenizeResponse = Static<typeof TokenizeResponse>;

export const CountTokensResponse = t.Object({ input_tokens: t.Integer(), model: t.String() });

export type CountTokensResponse = Static<typeof CountTokensResponse>;

// Tokenizing and detokenizing in the forms of vLLM and llama.cpp, and what llama.cpp's server reports about itself.

import { JsonObject, nullable, opt, optFlag, optText, t, type Static } from "./schema.ts";
import { TokenId } from "./token-ids.ts";

export const TokenizeRequest = t.Object({
  model: optText("Any name; the tokenizer of the loaded model is used."),
  text: optText("Takes precedence over `prompt`; one of the two is required and must not be empty."),
  prompt: optText("Another name for `text`."),
  add_special_tokens: optFlag("Whether to add the tokens that begin and end a text; default true."),
  return_token_strs: optFlag("true: the answer also has the text of each token."),
});

export type TokenizeRequest = Static<typeof TokenizeRequest>;

export const TokenizeResponse = t.Object({
  tokens: t.Array(t.Integer()),
  count: t.Integer(),
  token_strs: t.Optional(t.Array(t.String())),
  model: t.String(),
  max_model_len: t.Optional(t.Integer({ description: "Maximum tokens of the prompt plus the output of one request." })),
});

export const CountTokensResponse = t.Object({ input_tokens: t.Integer(), model: t.String() });

export const DetokenizeRequest = t.Object({
  model: opt(t.String()),
  tokens: t.Array(TokenId, { maxItems: 1_000_000 }),
});

/** The text under the names that clients of different servers expect. */
export const DetokenizeResponse = t.Object({
  prompt: t.String(),
  text: t.String(),
  content: t.String(),
  model: t.String(),
});

/** llama.cpp's own forms, without the model's name. */
export const PlainTokenizeRequest = t.Object({
  content: t.String(),
  add_special: optFlag("Whether to add the tokens that begin and end a text; default false."),
  parse_special: optFlag("Whether special tokens written out in the text count as special tokens; default true."),
  with_pieces: optFlag("true: each token with its text, or with its bytes if they are not valid UTF-8."),
});
export const PlainTokenizeResponse = t.Object({
  tokens: t.Union([
    t.Array(t.Integer()),
    t.Array(t.Object({ id: t.Integer(), piece: t.Union([t.String(), t.Array(t.Integer())]) })),
  ]),
});

const textOrNull = nullable(t.String());

/** GET /tokenizer_info, as in vLLM: the special tokens in tokenizer_config.json; null where there is none. */
export const TokenizerInfo = t.Object({
  tokenizer_class: t.String(),
  bos_token: textOrNull,
  eos_token: textOrNull,
  chat_template: textOrNull,
});

export const RenderedPrompt = t.Object({ prompt: t.String() });

/** Properties of the server, in llama.cpp's layout. */
export const ServerProps = t.Object({
  default_generation_settings: t.Object({ n_ctx: t.Integer(), params: JsonObject }),
  total_slots: t.Integer(),
  model_alias: t.String(),
  model_path: t.String({ description: "The file's name, without its folder." }),
  chat_template: t.String({ description: "Jinja source." }),
  bos_token: t.String(),
  eos_token: t.String(),
  modalities: t.Object({ vision: t.Boolean(), audio: t.Boolean() }),
  build_info: t.String(),
});

/** One entry for each request that may run at once; the first entries are the running requests. */
export const ServerSlots = t.Array(
  t.Object({ id: t.Integer(), n_ctx: t.Integer(), is_processing: t.Boolean(), params: JsonObject }),
);

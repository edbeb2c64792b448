// POST /v1/tokenize and POST /v1/count_tokens

import { Elysia } from "elysia";
import { checker } from "../../contract/schema.ts";
import { CountTokensResponse, TokenizeRequest, TokenizeResponse } from "../../contract/tokenize.ts";
import { always, refuseUnsupported } from "../../dialect/fields/unsupported.ts";
import { SvcError } from "../../domain/errors.ts";
import type { TokenizerService } from "../../service/tokenizer.ts";
import type { AppDeps } from "../deps.ts";
import { detokenizing } from "../detokenize.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";

/** vLLM's: conversations are counted by the routes that answer them. */
const UNSUPPORTED = { messages: always, tools: always, chat_template: always };

/** Text to the model's own tokens, and their number. */
export const tokenizeRoutes = ({ bodies, engine, log }: AppDeps, tokenizer: TokenizerService) => {
  const check = checker(TokenizeRequest);
  const detokenize = detokenizing(engine, tokenizer, bodies);

  const tokenize = async (request: Request) => {
    const body = check(await bodies.read(request, bodyCeilings.tokenizer));
    const text = body.text || body.prompt;
    if (!text) {
      const message = "'text' is required: a string of at least 1 character ('prompt' is another name for it).";
      throw new SvcError("missing_required_parameter", message, { param: "text" });
    }
    refuseUnsupported(body, UNSUPPORTED);
    const options = { addSpecial: body.add_special_tokens ?? false };
    const tokens = await tokenizer.run(() => engine.tokenize(text, request.signal, options));
    const { modelId: model, model: info } = engine.status();
    if (body.model && body.model !== model)
      log.debug("tokenized by the active model instead of the named one", { model });
    const asked = body.return_token_strs === true;
    const pieces = asked ? await tokenizer.run(() => engine.pieces([...tokens], request.signal)) : [];
    const token_strs = pieces.map((piece) => (typeof piece === "string" ? piece : "\u{fffd}"));
    return { tokens, model, ...(asked && { token_strs }), ...(info && { max_model_len: info.maxModelLen }) };
  };

  return new Elysia({ name: "route.tokenize" })
    .post(
      "/v1/tokenize",
      async ({ request }) => {
        const { tokens, ...rest } = await tokenize(request);
        const answer: TokenizeResponse = { tokens: [...tokens], count: tokens.length, ...rest };
        return Response.json(answer);
      },
      jsonRoute(TokenizeRequest, TokenizeResponse),
    )
    .post("/v1/detokenize", detokenize.handler, detokenize.hooks)
    .post(
      "/v1/count_tokens",
      async ({ request }) => {
        const { tokens, model } = await tokenize(request);
        const answer: CountTokensResponse = { input_tokens: tokens.length, model };
        return Response.json(answer);
      },
      jsonRoute(TokenizeRequest, CountTokensResponse),
    );
};

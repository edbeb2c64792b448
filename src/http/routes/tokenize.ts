// POST /v1/tokenize and POST /v1/count_tokens

import { Elysia } from "elysia";
import {
  CountTokensResponse,
  DetokenizeRequest,
  DetokenizeResponse,
  TokenizeRequest,
  TokenizeResponse,
} from "../../contract/tokenize.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { answerTokenized, detokenize, tokenized } from "../tokenize.ts";

/** Converts text to the model's tokens and back, and counts tokens. */
export const tokenizeRoutes = (deps: AppDeps) => {
  const read = (request: Request) => deps.bodies.read(request, bodyCeilings.tokenizer);

  return new Elysia({ name: "route.tokenize" })
    .post(
      "/v1/tokenize",
      async ({ request }) => answerTokenized(deps, await read(request), request),
      jsonRoute(TokenizeRequest, TokenizeResponse),
    )
    .post(
      "/v1/detokenize",
      ({ request }) => detokenize(deps, request),
      jsonRoute(DetokenizeRequest, DetokenizeResponse),
    )
    .post(
      "/v1/count_tokens",
      async ({ request }) => {
        const { tokens, model } = await tokenized(deps, await read(request), request);
        return Response.json({ input_tokens: tokens.length, model });
      },
      jsonRoute(TokenizeRequest, CountTokensResponse),
    );
};

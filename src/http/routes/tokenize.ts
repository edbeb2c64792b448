// POST /v1/tokenize and POST /v1/count_tokens

import { Elysia } from "elysia";
import { CountTokensResponse, TokenizeRequest, TokenizeResponse } from "../../contract/tokenize.ts";
import type { AppDeps } from "../deps.ts";
import { detokenizing } from "../detokenize.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { jsonResponse } from "../json-response.ts";
import { tokenizing } from "../tokenize.ts";

/** Converts text to the model's tokens and back, and counts tokens. */
export const tokenizeRoutes = (deps: AppDeps) => {
  const tokenize = tokenizing(deps);
  const detokenize = detokenizing(deps);
  const read = (request: Request) => deps.bodies.read(request, bodyCeilings.tokenizer);

  return new Elysia({ name: "route.tokenize" })
    .post(
      "/v1/tokenize",
      async ({ request }) => jsonResponse(await tokenize(await read(request), request)),
      jsonRoute(TokenizeRequest, TokenizeResponse),
    )
    .post("/v1/detokenize", detokenize.handler, detokenize.hooks)
    .post(
      "/v1/count_tokens",
      async ({ request }) => {
        const { count, model } = await tokenize(await read(request), request);
        return Response.json({ input_tokens: count, model } satisfies CountTokensResponse);
      },
      jsonRoute(TokenizeRequest, CountTokensResponse),
    );
};

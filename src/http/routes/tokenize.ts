// POST /v1/tokenize and POST /v1/count_tokens

import { Elysia } from "elysia";
import { CountTokensResponse, TokenizeRequest, TokenizeResponse } from "../../contract/tokenize.ts";
import type { AppDeps } from "../deps.ts";
import { detokenizing } from "../detokenize.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { tokenizing } from "../tokenize.ts";

/** Converts text to the model's tokens and back, and counts tokens. */
export const tokenizeRoutes = (deps: AppDeps) => {
  const tokenize = tokenizing(deps);
  const detokenize = detokenizing(deps);
  const read = (request: Request) => deps.bodies.read(request, bodyCeilings.tokenizer);

  return new Elysia({ name: "route.tokenize" })
    .post(
      "/v1/tokenize",
      async ({ request }) => tokenize.answer(await read(request), request),
      jsonRoute(TokenizeRequest, TokenizeResponse),
    )
    .post("/v1/detokenize", detokenize.handler, detokenize.hooks)
    .post(
      "/v1/count_tokens",
      async ({ request }) => Response.json(await tokenize.count(await read(request), request)),
      jsonRoute(TokenizeRequest, CountTokensResponse),
    );
};

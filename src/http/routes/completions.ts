// POST /v1/completions

import { Elysia } from "elysia";
import { Completion, CompletionRequest } from "../../contract/completions.ts";
import { decodeCompletion } from "../../dialect/completions/decode.ts";
import { completionWriter } from "../../dialect/completions/encode-stream.ts";
import { encodeCompletion } from "../../dialect/completions/encode.ts";
import { reporterOf } from "../../dialect/chat/running-reports.ts";
import { DONE } from "../../dialect/stream/streamed.ts";
import { newCompletionId } from "../../domain/ids.ts";
import { answerOrigin } from "../answer-origin.ts";
import type { AppDeps } from "../deps.ts";
import { readGenerationBody } from "../generation-body.ts";
import { respond } from "../generation-response.ts";
import { jsonRoute } from "../json-content.ts";

/** Raw text completions, as JSON or as a stream. */
export const completionRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.completions" }).post(
    "/v1/completions",
    async ({ request }) => {
      const call = decodeCompletion(await readGenerationBody(deps, request), deps.settings);
      const answer = answerOrigin(deps, newCompletionId(), call.requests[0].model);
      return respond(deps, request, {
        requests: call.requests,
        stream: call.stream,
        json: (events) => encodeCompletion(events, answer, call),
        writer: (put, accepted) => {
          const promptTokens = Math.round(accepted.promptTokens / call.requests.length);
          return completionWriter(put, answer, call, accepted, reporterOf(call.running, promptTokens, deps.clock.now));
        },
        framing: { terminator: DONE },
      });
    },
    jsonRoute(CompletionRequest, Completion),
  );

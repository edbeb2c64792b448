// POST /v1/responses, and fetching, cancelling and deleting what it made.

import { Elysia } from "elysia";
import {
  CountResponseTokensRequest,
  CountResponseTokensResponse,
  DeletedResponse,
  InputItemList,
  ResponseResource,
  ResponsesRequest,
} from "../../contract/responses.ts";
import {
  decodeResponses,
  decodeResponsesPrompt,
  type History,
  type ResponsesCall,
} from "../../dialect/responses/decode.ts";
import { encodeResponse, encodeResponseStream, type ResponseContext } from "../../dialect/responses/encode.ts";
import { functionNames } from "../../dialect/responses/functions.ts";
import { decodePage, findOutputItem, inputItems, listItems } from "../../dialect/responses/items.ts";
import { newResource } from "../../dialect/responses/resource.ts";
import { SvcError } from "../../domain/errors.ts";
import { newResponseId } from "../../domain/ids.ts";
import type { GenerationReport } from "../../service/generation.ts";
import { ResponsesService } from "../../service/responses.ts";
import type { AppDeps } from "../app.ts";
import { respond, respondLater, type GenerationCall } from "../generation-response.ts";
import { bodyCeilings, readJson } from "../json-body.ts";
import { jsonContent } from "../json-content.ts";
import type { RequestContexts } from "../request-context.ts";

/** The responses convention: answers with an id of their own. */
export const responsesRoutes = (deps: AppDeps, contexts: RequestContexts) => {
  const { config, clock, engine } = deps;
  const kept = new ResponsesService<ResponseResource>(config.storedResponses);
  const history: History = {
    conversation: (id) => kept.get(id)?.conversation,
    item: (id) => findOutputItem(kept.resources(), id),
  };
  const seconds = () => Math.floor(clock.wall() / 1000);

  const stored = (id: string | undefined) => {
    const response = kept.get(id ?? "");
    if (response) return response;
    throw new SvcError("not_found", "No response with this id is stored.", { param: "response_id" });
  };

  /** Begins a response; its end is kept where the request wants that. */
  const begin = (call: ResponsesCall, report: GenerationReport): ResponseContext => {
    const id = newResponseId();
    const identity = { id, createdAt: seconds(), model: engine.status().modelId };
    const resource = newResource(identity, call.asked, engine.status().model?.sampling ?? config.sampling);
    kept.begin(id, () => report.cancel?.(), call.store ? { resource, input: inputItems(call.asked) } : undefined);
    return {
      resource,
      names: functionNames(call.asked.tools),
      now: seconds,
      onEnd: (end) => kept.end(id, end.resource, [...call.conversation, end.message]),
    };
  };

  return new Elysia({ name: "route.responses" })
    .post(
      "/v1/responses",
      async ({ request }) => {
        const asked = decodeResponses(await readJson(request, bodyCeilings.generation), config, history);
        const report: GenerationReport = {};
        const context = begin(asked, report);
        const call: GenerationCall = {
          report,
          requests: [asked.request],
          stream: asked.stream,
          json: (events) => encodeResponse(events, context),
          frames: (events, options) => encodeResponseStream(events, context, options),
        };
        try {
          if (!asked.background) return await respond(deps, contexts, request, call);
          const headers = await respondLater(deps, contexts, request, call);
          return Response.json(context.resource, { headers });
        } catch (error) {
          // Refused before it began: there is nothing to fetch.
          kept.forget(context.resource.id);
          throw error;
        }
      },
      {
        parse: "none",
        detail: { requestBody: jsonContent(ResponsesRequest), responses: { 200: jsonContent(ResponseResource) } },
      },
    )
    .post(
      "/v1/responses/input_tokens",
      async ({ request }) => {
        const body = await readJson(request, bodyCeilings.generation);
        const asked = decodeResponsesPrompt(body, config, history);
        const tokens = await engine.countTokens({ ...asked, id: contexts.of(request).id }, request.signal);
        return Response.json({ object: "response.input_tokens", input_tokens: tokens });
      },
      {
        parse: "none",
        detail: {
          requestBody: jsonContent(CountResponseTokensRequest),
          responses: { 200: jsonContent(CountResponseTokensResponse) },
        },
      },
    )
    .get("/v1/responses/:id", ({ params }) => Response.json(stored(params.id).resource), {
      detail: { responses: { 200: jsonContent(ResponseResource) } },
    })
    .delete(
      "/v1/responses/:id",
      ({ params }) => {
        stored(params.id);
        kept.delete(params.id);
        return Response.json({ id: params.id, object: "response.deleted", deleted: true });
      },
      { parse: "none", detail: { responses: { 200: jsonContent(DeletedResponse) } } },
    )
    .post(
      "/v1/responses/:id/cancel",
      async ({ params }) => {
        stored(params.id);
        await kept.cancel(params.id);
        return Response.json(stored(params.id).resource);
      },
      { parse: "none", detail: { responses: { 200: jsonContent(ResponseResource) } } },
    )
    .get(
      "/v1/responses/:id/input_items",
      ({ params, request }) => {
        const { input } = stored(params.id);
        return Response.json(listItems(input, decodePage(new URL(request.url).searchParams)));
      },
      { detail: { responses: { 200: jsonContent(InputItemList) } } },
    );
};

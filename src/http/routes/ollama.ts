// Ollama's API: /api/chat, /api/generate, /api/tags, /api/ps, /api/show, /api/version.

import { Elysia } from "elysia";
import {
  OllamaAnswer,
  OllamaChatRequest,
  OllamaGenerateRequest,
  OllamaModel,
  OllamaModels,
  OllamaShowRequest,
  OllamaVersion,
} from "../../contract/ollama.ts";
import { checker } from "../../contract/schema.ts";
import { decodeOllamaChat, decodeOllamaGenerate, type OllamaCall } from "../../dialect/ollama/decode.ts";
import { encodeOllama, encodeOllamaStream, loadedAnswer, type OllamaForm } from "../../dialect/ollama/encode.ts";
import { encodeRunning, encodeShow, encodeTags } from "../../dialect/ollama/models.ts";
import type { AppDeps } from "../app.ts";
import { respond } from "../generation-response.ts";
import { bodyCeilings, readJson } from "../json-body.ts";
import { jsonContent } from "../json-content.ts";
import { loadedModel } from "../loaded-model.ts";
import type { RequestContexts } from "../request-context.ts";

/** For tools that know no other API. */
export const ollamaRoutes = (deps: AppDeps, contexts: RequestContexts) => {
  const { config, engine, router, clock, version } = deps;
  const checkShow = checker(OllamaShowRequest);

  const answer = (request: Request, { request: asked, stream }: OllamaCall, form: OllamaForm) => {
    const context = { form, model: router.route(asked?.model).model, wall: clock.wall };
    if (!asked) return Response.json(loadedAnswer(context));
    return respond(deps, contexts, request, {
      requests: [asked],
      stream,
      json: (events) => encodeOllama(events, context),
      frames: (events, options) => encodeOllamaStream(events, context, options),
      format: "ndjson",
    });
  };

  return new Elysia({ name: "route.ollama" })
    .post(
      "/api/chat",
      async ({ request }) =>
        answer(request, decodeOllamaChat(await readJson(request, bodyCeilings.generation), config), "chat"),
      {
        parse: "none",
        detail: { requestBody: jsonContent(OllamaChatRequest), responses: { 200: jsonContent(OllamaAnswer) } },
      },
    )
    .post(
      "/api/generate",
      async ({ request }) =>
        answer(request, decodeOllamaGenerate(await readJson(request, bodyCeilings.generation), config), "generate"),
      {
        parse: "none",
        detail: { requestBody: jsonContent(OllamaGenerateRequest), responses: { 200: jsonContent(OllamaAnswer) } },
      },
    )
    .post(
      "/api/show",
      async ({ request }) => {
        checkShow(await readJson(request, bodyCeilings.tokenizer));
        return Response.json(encodeShow(loadedModel(engine)));
      },
      {
        parse: "none",
        detail: { requestBody: jsonContent(OllamaShowRequest), responses: { 200: jsonContent(OllamaModel) } },
      },
    )
    .get("/api/tags", () => Response.json(encodeTags(engine.status())), {
      detail: { responses: { 200: jsonContent(OllamaModels) } },
    })
    .get("/api/ps", () => Response.json(encodeRunning(engine.status().model)), {
      detail: { responses: { 200: jsonContent(OllamaModels) } },
    })
    .get("/api/version", () => Response.json({ version }), {
      detail: { responses: { 200: jsonContent(OllamaVersion) } },
    });
};

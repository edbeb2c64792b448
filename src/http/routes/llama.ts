// llama.cpp's own routes, for dashboards and scripts: /tokenize, /detokenize, /apply-template, /props, /slots.

import { Elysia } from "elysia";
import { ChatCompletionRequest } from "../../contract/chat.ts";
import { checker } from "../../contract/schema.ts";
import {
  DetokenizeRequest,
  DetokenizeResponse,
  PlainTokenizeRequest,
  PlainTokenizeResponse,
  RenderedPrompt,
  ServerProps,
  ServerSlots,
} from "../../contract/tokenize.ts";
import { decodeChat } from "../../dialect/chat/decode.ts";
import { SvcError } from "../../domain/errors.ts";
import type { AppDeps } from "../app.ts";
import { bodyCeilings, readJson } from "../json-body.ts";
import { jsonContent } from "../json-content.ts";
import type { RequestContexts } from "../request-context.ts";

/** Thin forms of what /v1 has, under the names that scripts for llama.cpp's server use. */
export const llamaRoutes = (deps: AppDeps, contexts: RequestContexts) => {
  const { config, engine, version } = deps;
  const checkTokenize = checker(PlainTokenizeRequest);
  const checkDetokenize = checker(DetokenizeRequest);
  const loaded = () => {
    const { model } = engine.status();
    if (model) return model;
    throw new SvcError("engine_unavailable", "The model is still loading.", { retryAfterSeconds: 1 });
  };

  return new Elysia({ name: "route.llama" })
    .post(
      "/tokenize",
      async ({ request }) => {
        const { content } = checkTokenize(await readJson(request, bodyCeilings.tokenizer));
        return Response.json({ tokens: [...(await engine.tokenize(content, request.signal))] });
      },
      {
        parse: "none",
        detail: {
          requestBody: jsonContent(PlainTokenizeRequest),
          responses: { 200: jsonContent(PlainTokenizeResponse) },
        },
      },
    )
    .post(
      "/detokenize",
      async ({ request }) => {
        const { tokens } = checkDetokenize(await readJson(request, bodyCeilings.tokenizer));
        const text = await engine.detokenize(tokens, request.signal);
        return Response.json({ prompt: text, text, content: text, model: engine.status().modelId });
      },
      {
        parse: "none",
        detail: { requestBody: jsonContent(DetokenizeRequest), responses: { 200: jsonContent(DetokenizeResponse) } },
      },
    )
    .post(
      "/apply-template",
      async ({ request }) => {
        const { request: asked } = decodeChat(await readJson(request, bodyCeilings.generation), config);
        const prompt = await engine.render({ ...asked, id: contexts.of(request).id }, request.signal);
        return Response.json({ prompt });
      },
      {
        parse: "none",
        detail: { requestBody: jsonContent(ChatCompletionRequest), responses: { 200: jsonContent(RenderedPrompt) } },
      },
    )
    .get(
      "/props",
      () => {
        const { id, path, parallel, maxModelLen, vision, audio } = loaded();
        return Response.json({
          default_generation_settings: { n_ctx: maxModelLen },
          total_slots: parallel,
          model_alias: id,
          model_path: path.split("/").at(-1) ?? "",
          modalities: { vision, audio },
          build_info: `svc ${version}`,
        });
      },
      { detail: { responses: { 200: jsonContent(ServerProps) } } },
    )
    .get(
      "/slots",
      () => {
        const { parallel, maxModelLen } = loaded();
        const { running } = engine.status().stats;
        const slot = (_: unknown, id: number) => ({ id, n_ctx: maxModelLen, is_processing: id < running });
        return Response.json(Array.from({ length: parallel }, slot));
      },
      { detail: { responses: { 200: jsonContent(ServerSlots) } } },
    );
};

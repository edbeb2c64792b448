// llama.cpp's own routes, for dashboards and scripts (/tokenize, /detokenize, /apply-template, /props, /slots,
// /lora-adapters), and vLLM's /tokenizer_info.

import { basename } from "node:path";
import { Elysia } from "elysia";
import type { Config } from "../../config/config.ts";
import { ChatCompletionRequest } from "../../contract/chat.ts";
import { LoraAdapters, LoraScaled, LoraScales } from "../../contract/lora.ts";
import { checker, t } from "../../contract/schema.ts";
import {
  DetokenizeRequest,
  DetokenizeResponse,
  PlainTokenizeRequest,
  PlainTokenizeResponse,
  RenderedPrompt,
  ServerProps,
  ServerSlots,
  TokenizerInfo,
  TokenizeRequest,
  TokenizeResponse,
} from "../../contract/tokenize.ts";
import { decodeChat } from "../../dialect/chat/decode.ts";
import { encodeSettings } from "../../dialect/llama/settings.ts";
import { encodeLoraAdapters } from "../../dialect/status.ts";
import { SvcError } from "../../domain/errors.ts";
import type { ModelInfo } from "../../domain/model.ts";
import { decodeLora } from "../../dialect/fields/adapters.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, jsonRoute } from "../json-content.ts";
import { loadedModel } from "../loaded-model.ts";
import { checkLocal } from "../plugins/origin.ts";
import { answerTokenized, detokenize, tokensAnswer } from "../tokenize.ts";

const checkScales = checker(LoraScales);
const checkTokenize = checker(PlainTokenizeRequest);

/** Returns whether the body of /tokenize has vLLM's fields. */
const isForVllm = (body: unknown): boolean => {
  const { content, prompt, messages } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return content == null && (prompt != null || messages != null);
};

/** Thin variants of /v1 routes under the names that scripts for llama.cpp's server use. */
export const llamaRoutes = (deps: AppDeps) => {
  const { engine } = deps;
  return new Elysia({ name: "route.llama" })
    .post(
      "/tokenize",
      async ({ request }) => {
        const body = await deps.bodies.read(request, bodyCeilings.tokenizer);
        // The tokenizers of Hugging Face, and therefore vLLM, parse special tokens.
        if (isForVllm(body)) return answerTokenized(deps, body, request, true);
        return tokenize(deps, checkTokenize(body), request);
      },
      jsonRoute(t.Union([PlainTokenizeRequest, TokenizeRequest]), t.Union([PlainTokenizeResponse, TokenizeResponse])),
    )
    .post("/detokenize", ({ request }) => detokenize(deps, request), jsonRoute(DetokenizeRequest, DetokenizeResponse))
    .get(
      "/tokenizer_info",
      async ({ request }) => Response.json(tokenizerInfo(await readyModel(deps, request.signal))),
      jsonAnswer(TokenizerInfo),
    )
    .post(
      "/apply-template",
      ({ request }) => applyTemplate(deps, request),
      jsonRoute(ChatCompletionRequest, RenderedPrompt),
    )
    .get(
      "/props",
      async ({ request }) => Response.json(props(deps, await readyModel(deps, request.signal))),
      jsonAnswer(ServerProps),
    )
    .get("/slots", ({ request }) => slots(deps, request), jsonAnswer(ServerSlots))
    .post("/lora-adapters", ({ request }) => scaleAdapters(deps, request), jsonRoute(LoraScales, LoraScaled))
    .get("/lora-adapters", () => Response.json(encodeLoraAdapters(engine.status().adapters)), jsonAnswer(LoraAdapters));
};

async function tokenize(deps: AppDeps, body: ReturnType<typeof checkTokenize>, request: Request): Promise<Response> {
  const { contexts, engine, tokenizer } = deps;
  const { signal } = request;
  const context = contexts.of(request);
  const { client } = context;
  const options = { addSpecial: body.add_special ?? false, parseSpecial: body.parse_special ?? true, client };
  const tokens = await tokenizer.run(() => engine.tokenize(body.content, signal, options));
  const named = body.with_pieces === true;
  return tokensAnswer(deps, tokens, { named, context }, (pieces) => ({
    tokens: named ? pieces.map((piece, at) => ({ id: tokens[at], piece })) : tokens,
  }));
}

/** Returns the model once it is loaded; throws what a generation request would throw. */
async function readyModel({ engine, tokenizer }: AppDeps, signal: AbortSignal): Promise<ModelInfo> {
  const { model, state } = engine.status();
  if (!model && state !== "none") await tokenizer.run(() => engine.tokenize(" ", signal));
  return loadedModel(engine);
}

const tokenizerInfo = ({ chatTemplate }: ModelInfo) => ({
  tokenizer_class: "llama.cpp",
  bos_token: chatTemplate?.bos || null,
  eos_token: chatTemplate?.eos || null,
  chat_template: chatTemplate?.source ?? null,
});

async function applyTemplate(deps: AppDeps, request: Request): Promise<Response> {
  const { bodies, contexts, engine, settings, tokenizer } = deps;
  const { request: generation } = decodeChat(await bodies.read(request, bodyCeilings.generation), settings);
  const { id, client } = contexts.of(request);
  return Response.json({
    prompt: await tokenizer.run(() => engine.render({ ...generation, id, client }, request.signal)),
  });
}

const props = ({ config, version }: AppDeps, model: ModelInfo) => {
  const { id, path, parallel, maxModelLen, vision, audio, chatTemplate } = model;
  return {
    default_generation_settings: { n_ctx: maxModelLen, params: defaultParams(config, model) },
    total_slots: parallel,
    model_alias: id,
    model_path: basename(path),
    chat_template: chatTemplate?.source ?? "",
    bos_token: chatTemplate?.bos ?? "",
    eos_token: chatTemplate?.eos ?? "",
    modalities: { vision: vision || config.ocrInput, audio: audio || config.transcribeInput },
    build_info: `svc ${version}`,
  };
};

const defaultParams = ({ stop, maxTokens }: Config, { defaults, sampling }: ModelInfo) =>
  encodeSettings({ sampling: {}, stop, ...(maxTokens !== undefined && { maxTokens }) }, defaults ?? sampling, true);

async function slots(deps: AppDeps, request: Request): Promise<Response> {
  const model = await readyModel(deps, request.signal);
  const { parallel, maxModelLen } = model;
  const { running } = deps.engine.status();
  if (new URL(request.url).searchParams.get("fail_on_no_slot") && running >= parallel) {
    throw new SvcError("server_busy", "All slots are computing.", { retryAfterSeconds: 1 });
  }
  const params = defaultParams(deps.config, model);
  const slot = (_: unknown, id: number) => ({ id, n_ctx: maxModelLen, is_processing: id < running, params });
  return Response.json(Array.from({ length: parallel }, slot));
}

async function scaleAdapters({ bodies, config, engine }: AppDeps, request: Request): Promise<Response> {
  checkLocal(request.headers, config, "Adapters are set for all requests");
  const scales = checkScales(await bodies.read(request, bodyCeilings.small));
  const { adapters } = engine.status();
  const chosen = new Map(decodeLora(scales, adapters.length, "").map(({ id, scale }) => [id, scale]));
  engine.scaleAdapters?.(adapters.map((_, id) => chosen.get(id) ?? 0));
  return Response.json({ success: true });
}

// Ollama's API: generation and models.

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
import { decodeOllamaChat, decodeOllamaGenerate } from "../../dialect/ollama/decode.ts";
import { encodeOllama, loadedAnswer, ollamaWriter, type OllamaForm } from "../../dialect/ollama/encode.ts";
import { encodeRunning, encodeShow, encodeTags } from "../../dialect/ollama/models.ts";
import { notEmpty, refuseUnsupported, unless } from "../../dialect/fields/unsupported.ts";
import { fieldError, withFieldNames } from "../../domain/errors.ts";
import type { Generation } from "../../domain/generate.ts";
import type { ListedModel } from "../../domain/model.ts";
import type { ProcessState } from "../../domain/process-status.ts";
import type { TextBackend } from "../../service/model-router.ts";
import type { AppDeps } from "../deps.ts";
import { isForwarded } from "../generation-headers.ts";
import { respond } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, jsonRoute } from "../json-content.ts";
import { loadedModel } from "../loaded-model.ts";

/** The version of Ollama whose API svc implements. */
const OLLAMA_LEVEL = "0.13.5";

/** A request to an engine in one of these states waits for its model to load. */
const LOADS: ReadonlySet<ProcessState> = new Set(["unloaded", "starting", "loading"]);

/** Fields that request more details than svc has, or the model as it would be with other settings. */
const SHOW_UNSUPPORTED = {
  verbose: unless(false),
  system: notEmpty,
  template: notEmpty,
  options: (options: unknown) => JSON.stringify(options) !== "{}",
};

const checkShow = checker(OllamaShowRequest);

const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Routes for tools that support no other API. */
export const ollamaRoutes = (deps: AppDeps) => {
  const { bodies, version } = deps;
  return new Elysia({ name: "route.ollama" })
    .post(
      "/api/chat",
      ({ request }) => answer(deps, request, decodeOllamaChat, "chat"),
      jsonRoute(OllamaChatRequest, OllamaAnswer),
    )
    .post(
      "/api/generate",
      ({ request }) => answer(deps, request, decodeOllamaGenerate, "generate"),
      jsonRoute(OllamaGenerateRequest, OllamaAnswer),
    )
    .post(
      "/api/show",
      async ({ request }) => {
        const body = checkShow(await bodies.read(request, bodyCeilings.small));
        const { model, name } = body;
        refuseUnsupported(body, SHOW_UNSUPPORTED);
        return Response.json(encodeShow(described(deps, request, model || name || undefined)));
      },
      jsonRoute(OllamaShowRequest, OllamaModel),
    )
    .get(
      "/api/tags",
      ({ request }) => Response.json(encodeTags(listed(deps, request), sha256)),
      jsonAnswer(OllamaModels),
    )
    .get(
      "/api/ps",
      ({ request }) => Response.json(encodeRunning(listed(deps, request), sha256)),
      jsonAnswer(OllamaModels),
    )
    .get("/api/version", () => Response.json({ version: OLLAMA_LEVEL, svc: version }), jsonAnswer(OllamaVersion));
};

/** Returns a request that continues from the tokens `before`, followed by those of its own conversation. */
async function continued(
  deps: AppDeps,
  generation: Generation,
  before: readonly number[],
  { engine: own, surface }: TextBackend,
  request: Request,
): Promise<Generation> {
  const { signal } = request;
  if (surface) throw surface.noTokenizer;
  const { id, client } = deps.contexts.of(request);
  const render = deps.tokenizer.run(() => own.render({ ...generation, id, client }, signal));
  const text = await render.catch((error: unknown) => {
    throw withFieldNames(error, generation.fieldNames);
  });
  const tokens = await deps.tokenizer.run(() => own.tokenize(text, signal, { parseSpecial: true, client }));
  return { ...generation, messages: [], prompt: [...before, ...tokens], promptField: "context" };
}

async function answer(deps: AppDeps, request: Request, decode: typeof decodeOllamaChat, form: OllamaForm) {
  const { bodies, clock, router, settings } = deps;
  const call = decode(await bodies.read(request, bodyCeilings.generation), settings);
  const { model, request: generation, stream, context: before } = call;
  if (!generation && call.unloads) {
    const { isUnloaded, ...named } = await router.unload(model);
    return Response.json(loadedAnswer({ form, ...named, wall: clock.wall }, isUnloaded));
  }
  const backend = router.find(model, "chat");
  const context = { form, model: backend.model, wall: clock.wall };
  if (!generation) return Response.json(loadedAnswer(context, false));
  const since = LOADS.has(backend.engine.status().state) ? clock.now() : undefined;
  // Called once the request was accepted: by then the model is loaded.
  const loaded = () => (since === undefined ? {} : { loadMs: clock.now() - since });
  return respond(deps, request, {
    requests: [before ? await continued(deps, generation, before, backend, request) : generation],
    stream,
    json: (events, { readInputs }) => encodeOllama(events, { ...context, ...loaded(), readInputs }),
    writer: (put, { readInputs }) => ollamaWriter(put, { ...context, ...loaded(), readInputs }),
    framing: { format: "ndjson" },
  });
}

function listed({ router }: AppDeps, request: Request) {
  router.refresh();
  return router.models(isForwarded(request.headers));
}

/** Returns the model that a chat of this name would go to, otherwise that of vectors, otherwise that of any chat. */
function described(deps: AppDeps, request: Request, name: string | undefined): ListedModel {
  const { engine, router } = deps;
  const found = router.describe(name, ["chat", "embeddings", "rerank"], listed(deps, request));
  if (!found) throw fieldError("model_not_found", "model", "names no model of this server");
  // Before the model is loaded, its capabilities are unknown.
  if (found.id === engine.status().modelId) loadedModel(engine);
  return found;
}

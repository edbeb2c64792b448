// The HTTP application: one Elysia plugin per feature, enclosed by the handling that every request needs.

import { Elysia, type AnyElysia } from "elysia";
import { settingsOf } from "../dialect/fields/settings.ts";
import { ByteBudget } from "../domain/byte-budget.ts";
import type { BatchesService } from "../service/batch/batches.ts";
import { ClientSecrets } from "../service/client-secrets.ts";
import { MultiplexService } from "../service/multiplex.ts";
import { RealtimeService } from "../service/realtime.ts";
import { FewAtOnce, MOST_TOKENIZER_REQUESTS } from "../service/few-at-once.ts";
import type { AppDeps, AppServices } from "./deps.ts";
import { createJobs } from "./jobs.ts";
import { JsonBodies } from "./json-body.ts";
import { ApiKeys } from "./plugins/api-keys.ts";
import { errors } from "./plugins/errors.ts";
import { KeyLimits } from "./plugins/key-limits.ts";
import { Lifecycle } from "./plugins/lifecycle.ts";
import { RequestContexts } from "./request-context.ts";
import { RouteTable } from "./route-table.ts";
import { batchRoutes } from "./routes/batches.ts";
import { cancelRoutes } from "./routes/cancel.ts";
import { chatRoutes } from "./routes/chat.ts";
import { completionRoutes } from "./routes/completions.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { embeddingRoutes } from "./routes/embeddings.ts";
import { fileRoutes } from "./routes/files.ts";
import { healthRoutes } from "./routes/health.ts";
import { imageRoutes } from "./routes/images.ts";
import { llamaCompletionRoutes } from "./routes/llama-completion.ts";
import { llamaRoutes } from "./routes/llama.ts";
import { messagesRoutes } from "./routes/messages.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { modelRoutes } from "./routes/models.ts";
import { multiplexRoutes } from "./routes/multiplex.ts";
import { ocrRoutes } from "./routes/ocr.ts";
import { ollamaRoutes } from "./routes/ollama.ts";
import { ollamaEmbedRoutes } from "./routes/ollama-embed.ts";
import { ollamaStoreRoutes } from "./routes/ollama-store.ts";
import { pageRoutes } from "./routes/pages.ts";
import { realtimeRoutes } from "./routes/realtime.ts";
import { recognitionRoutes } from "./routes/recognition.ts";
import { requestRoutes } from "./routes/requests.ts";
import { responsesRoutes } from "./routes/responses.ts";
import { sdapiRoutes } from "./routes/sdapi.ts";
import { slotRoutes } from "./routes/slots.ts";
import { speechRoutes } from "./routes/speech.ts";
import { transcriptionRoutes } from "./routes/transcriptions.ts";
import { tokenizeRoutes } from "./routes/tokenize.ts";
import { upstreamRoutes } from "./routes/upstreams.ts";
import { shortPaths } from "./short-paths.ts";
import { rehearse } from "./rehearsal.ts";
import type { SocketHandler } from "./socket.ts";
import { storedResponses } from "./stored-responses.ts";

export interface App {
  /** Handles a request. `connection` names its connection; `onLastBytes` is called with the last bytes of the answer. */
  readonly fetch: (request: Request, connection?: string, onLastBytes?: () => void) => Promise<Response>;
  /** Returns the handler for a connection whose request was answered with 101; undefined: it continues as HTTP. */
  readonly socketOf: (request: Request) => SocketHandler | undefined;
  /** Sessions on such connections. */
  readonly realtime: Pick<RealtimeService, "drain">;
  /** Background work that needs no request, once started. */
  readonly batches: Pick<BatchesService, "start" | "takeOver" | "stop">;
  /** Makes the first requests as fast as later ones. */
  readonly rehearse: () => Promise<unknown>;
  /** Every registered route with its hooks, for the API description and tests. */
  readonly routes: Elysia["routes"];
}

/** Compatibility APIs: routes of Ollama, llama.cpp and Stable Diffusion outside /v1, for tools without another. */
const compatibility = (deps: AppDeps) =>
  new Elysia({ name: "compatibility" })
    .use(ollamaRoutes(deps))
    .use(ollamaEmbedRoutes(deps))
    .use(ollamaStoreRoutes(deps))
    .use(llamaRoutes(deps))
    .use(slotRoutes(deps))
    .use(llamaCompletionRoutes(deps))
    .use(sdapiRoutes(deps));

/** Maximum bytes of all answers that are put together at the same time. */
const ANSWER_BYTES = 512 * 2 ** 20;

/** Returns the services together with the state that requests share. */
function depsOf(services: AppServices): AppDeps {
  const { bodyBudget = new ByteBudget(), clock, engine, metrics } = services;
  const subject = { kind: "text", model: engine.status().modelId };
  const tokenizer = new FewAtOnce(MOST_TOKENIZER_REQUESTS, { metrics: metrics.of(subject), clock });
  return {
    ...services,
    settings: settingsOf(services.config),
    bodyBudget,
    bodies: new JsonBodies(bodyBudget),
    answerBudget: new ByteBudget(ANSWER_BYTES, "answers held in memory"),
    contexts: new RequestContexts(services.log),
    tokenizer,
  };
}

/** Composes the application; nothing runs or listens yet. */
export function createApp(services: AppServices): App {
  const deps = depsOf(services);
  const { clock, config, contexts } = deps;
  let table: RouteTable | undefined;
  const routes = (): RouteTable => (table ??= new RouteTable(elysia.routes));

  const multiplex = new MultiplexService(deps.generation, deps.requests, config.parallel);
  const stored = storedResponses(deps);
  const realtime = new RealtimeService({
    ...deps,
    maxSessions: config.maxRealtimeSessions,
    maxSeconds: config.maxAudioMinutes * 60,
  });
  const clientSecrets = new ClientSecrets(clock);
  const jobs = createJobs(deps);
  const elysia: AnyElysia = new Elysia({
    name: "svc",
    // Where Elysia begins to look for the path: directly after "http://", because host names of fewer than four
    // characters such as "nas" are valid, or three characters after "https://".
    handler: { standardHostname: config.tls !== undefined },
  })
    .use(errors({ contexts, routes }))
    .use(chatRoutes(deps))
    .use(responsesRoutes(deps, stored))
    .use(conversationRoutes(deps, stored))
    .use(messagesRoutes(deps))
    .use(completionRoutes(deps))
    .use(config.compatibilityApis ? compatibility(deps) : new Elysia())
    .use(multiplexRoutes(deps, multiplex))
    .use(cancelRoutes(deps, deps.requests, multiplex))
    .use(requestRoutes(deps))
    .use(embeddingRoutes(deps))
    .use(transcriptionRoutes(deps))
    .use(realtimeRoutes(deps, { realtime, clientSecrets }))
    .use(speechRoutes(deps))
    .use(recognitionRoutes(deps))
    .use(ocrRoutes(deps, jobs.files))
    .use(imageRoutes(deps))
    .use(fileRoutes(jobs.files, deps))
    .use(batchRoutes(jobs.batches, deps))
    .use(modelRoutes(deps))
    .use(tokenizeRoutes(deps))
    .use(upstreamRoutes(deps))
    .use(healthRoutes(deps))
    .use(metricsRoutes(deps, { jobs: jobs.levels, sessions: () => realtime.openCount }))
    .use(pageRoutes(deps, async () => (await import("./openapi/document.ts")).describeApi(elysia)));

  if (config.compatibilityApis) elysia.use(shortPaths(elysia.routes));

  const handle = elysia.fetch;
  const lifecycle = new Lifecycle(handle, {
    ...deps,
    routes,
    policy: config,
    apiKeys: new ApiKeys(config.apiKeys),
    clientSecrets,
    keyLimits: new KeyLimits({ perMinute: config.keyRpm, concurrent: config.keyConcurrent, clock }),
  });
  return {
    fetch: lifecycle.fetch,
    socketOf: (request) => contexts.of(request).socket,
    realtime,
    batches: jobs.batches,
    rehearse: () => rehearse({ ...deps, handle }),
    routes: elysia.routes,
  };
}

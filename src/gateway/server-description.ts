// Finds out the kind and models of a server by querying it in the way that the server supports.

import type { MediaKind } from "../domain/media.ts";
import { own } from "../domain/own.ts";
import { fields, number, objects, text, type Fields } from "./fields.ts";
import type { JsonDocument, ServerClient } from "./server-client.ts";
import type { ServerKind } from "./server-kind.ts";
import { malformed, noListing, unreachable, UpstreamFailure } from "./upstream-failure.ts";

/** A model as its server describes it. Absent means unknown, except for lists. */
export interface RemoteModel {
  /** The model's name on its server. */
  readonly id: string;
  readonly created?: number | undefined;
  readonly owner?: string | undefined;
  readonly loaded: boolean;
  /** Empty: the model is known to serve a purpose that svc does not support for upstreams. */
  readonly capabilities: readonly string[];
  readonly contextLength?: number | undefined;
  /** Whether the model takes images, if known. */
  readonly vision?: boolean;
  /** Whether the model takes sound, if known. */
  readonly audio?: boolean;
}

/** Returns whether the model is known to take no media of this kind. */
export const lacksMedia = ({ vision, audio }: RemoteModel, kind: MediaKind): boolean =>
  (kind === "image" ? vision : audio) === false;

export interface ServerDescription {
  readonly kind: ServerKind;
  readonly models: readonly RemoteModel[];
}

/** Maximum number of models of one server, because each request searches them. */
const MOST_MODELS = 10_000;

type Get = (path: string) => Promise<JsonDocument | undefined>;

/** Capabilities of a chat model on any of these servers. */
export const CHAT = ["chat", "completion", "streaming"];
export const EMBEDDINGS = ["embeddings"];
/** Typical names of embedding models, for servers that do not report a model's purpose. */
const EMBEDDING_NAME = /embed|(^|[/_-])(bge|gte|e5)-|minilm/i;
const RERANKER_NAME = /rerank/i;

/**
 * Describes the server. `hint`: the kind that usually listens at this address. Throws UpstreamFailure when the server
 * does not answer as a model server.
 */
export async function describeServer(client: ServerClient, hint?: ServerKind): Promise<ServerDescription> {
  const get: Get = (path) => client.get(path).catch(() => undefined);
  try {
    const description = await describeListing(await client.get("/v1/models"), get, hint);
    if (description.kind === "vllm") await checkEngine(client);
    return bounded(description);
  } catch (error) {
    // A server that does not respond need not be queried further.
    const isGone = error instanceof UpstreamFailure && error.error.code === "upstream_unavailable";
    const ollama = isGone ? undefined : await describeOllama(get);
    if (ollama) return bounded(ollama);
    throw isMissing(error) ? noListing() : error;
  }
}

/** Returns whether the server has no such route. */
const isMissing = (error: unknown): boolean =>
  error instanceof UpstreamFailure && /^(model_not_found|unsupported_parameter)$/.test(error.error.code);

const bounded = ({ kind, models }: ServerDescription): ServerDescription => ({
  kind,
  models: models.slice(0, MOST_MODELS),
});

/** Throws UpstreamFailure when vLLM's engine is dead: vLLM reports that only here, and still lists its models. */
async function checkEngine(client: ServerClient): Promise<void> {
  const health = await client.get("/health").catch((error: unknown) => error);
  if (health instanceof UpstreamFailure && health.error.code === "server_busy") throw unreachable("has a dead engine");
}

async function describeListing(listing: JsonDocument, get: Get, hint?: ServerKind): Promise<ServerDescription> {
  const { data } = fields(listing.body);
  if (!Array.isArray(data)) throw malformed("lists no models at /v1/models: check its address");
  const entries = objects(data).filter(({ id }) => text(id) !== undefined);
  if (listing.headers.has("compat-request-id")) return { kind: "svc", models: describeSvc(entries, listing.body) };
  const owner = text(entries[0]?.["owned_by"]);
  if (owner === "llamacpp") return { kind: "llama.cpp", models: await describeLlama(entries, get) };
  if (owner === "vllm" || owner === "sglang") return { kind: owner, models: entries.map((entry) => byName(entry)) };
  if (owner === "library" || hint === "ollama") {
    const ollama = await describeOllama(get);
    if (ollama) return ollama;
  }
  const studio = owner === "organization_owner" || hint === "lm-studio" ? await describeLmStudio(get) : undefined;
  if (studio) return studio;
  const python = (listing.headers.get("server") ?? "").startsWith("BaseHTTP") && owner === undefined;
  const kind = python ? "mlx-lm" : hint === "jan" ? "jan" : "openai";
  return { kind, models: entries.map((entry) => byName(entry)) };
}

/** The end of the year 9999, the last year that dates on the wire can express. */
const LAST_SECOND = 253_402_300_799;

/** Returns whole Unix seconds; undefined for any other value, such as milliseconds. */
function seconds(value: unknown): number | undefined {
  const whole = Math.floor(number(value) ?? Number.NaN);
  return whole >= 0 && whole <= LAST_SECOND ? whole : undefined;
}

function plain(entry: Fields, capabilities: readonly string[] = CHAT): RemoteModel {
  return {
    id: text(entry["id"]) ?? "",
    loaded: entry["loaded"] !== false,
    capabilities,
    created: seconds(entry["created"]),
    owner: text(entry["owned_by"]),
    contextLength: ["max_model_len", "max_context_length", "context_length", "context_window", "n_ctx"]
      .map((key) => number(entry[key]))
      .find((length) => length !== undefined),
  };
}

/** Returns a model's capabilities, as far as its name shows them. */
const capabilitiesByName = (id: string, otherwise: readonly string[] = CHAT): readonly string[] =>
  EMBEDDING_NAME.test(id) && !RERANKER_NAME.test(id) ? EMBEDDINGS : otherwise;

/** Describes a model of a server that does not report its purpose. */
const byName = (entry: Fields, capabilities?: readonly string[]): RemoteModel =>
  plain(entry, capabilitiesByName(text(entry["id"]) ?? "", capabilities));

function describeSvc(entries: readonly Fields[], body: unknown): RemoteModel[] {
  const details = new Map(objects(fields(body)["models"]).map((model) => [text(model["name"]), model]));
  return entries.map((entry) => {
    const reported = details.get(text(entry["id"]))?.["capabilities"];
    const capabilities = Array.isArray(reported) ? reported.filter((one) => typeof one === "string") : CHAT;
    const [vision, audio] = [capabilities.includes("vision"), capabilities.includes("audio")];
    return { ...plain(entry, capabilities), vision, audio };
  });
}

async function describeLlama(entries: readonly Fields[], get: Get): Promise<RemoteModel[]> {
  const props = fields((await get("/props"))?.body);
  const { vision, audio } = fields(props["modalities"]);
  const caps = fields(props["chat_template_caps"]);
  const contextLength = number(fields(props["default_generation_settings"])["n_ctx"]);
  const capabilities = [
    ...CHAT,
    "logprobs",
    "penalties",
    "structured_output",
    "grammar",
    ...(caps["supports_tools"] === true || caps["supports_tool_calls"] === true ? ["tools"] : []),
    ...(vision === true ? ["vision"] : []),
    ...(audio === true ? ["audio"] : []),
  ];
  return entries.map((entry) => ({
    ...byName(entry, capabilities),
    ...(contextLength !== undefined && { contextLength }),
    ...(typeof vision === "boolean" && { vision }),
    ...(typeof audio === "boolean" && { audio }),
  }));
}

const OLLAMA_CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  completion: CHAT,
  embedding: EMBEDDINGS,
  tools: ["tools"],
  vision: ["vision"],
  thinking: ["reasoning"],
};

async function describeOllama(get: Get): Promise<ServerDescription | undefined> {
  const { models } = fields((await get("/api/tags"))?.body);
  if (!Array.isArray(models)) return undefined;
  const running = objects(fields((await get("/api/ps"))?.body)["models"]);
  const loaded = new Set(running.map(({ name }) => name));
  return {
    kind: "ollama",
    models: objects(models).flatMap((model) => {
      const id = text(model["name"]) ?? text(model["model"]);
      if (id === undefined) return [];
      const changed = Date.parse(text(model["modified_at"]) ?? "");
      const created = seconds(changed / 1000);
      return [{ id, created, loaded: loaded.has(id), capabilities: capabilitiesByName(id), audio: false }];
    }),
  };
}

/** Returns a model with the details that Ollama reports beyond the list; undefined when it does not answer. */
export async function describeOllamaModel(client: ServerClient, model: RemoteModel): Promise<RemoteModel | undefined> {
  const body = await client.ask("/api/show", { model: model.id }).catch(() => undefined);
  if (body === undefined) return undefined;
  const shown = fields(body);
  const reported = Array.isArray(shown["capabilities"]) ? shown["capabilities"] : [];
  const capabilities = reported.flatMap((one) => own(OLLAMA_CAPABILITIES, String(one)) ?? []);
  const info = fields(shown["model_info"]);
  return {
    ...model,
    ...(capabilities.length > 0 && { capabilities, vision: capabilities.includes("vision") }),
    contextLength: number(info[`${text(info["general.architecture"]) ?? ""}.context_length`]),
  };
}

async function describeLmStudio(get: Get): Promise<ServerDescription | undefined> {
  const { data } = fields((await get("/api/v0/models"))?.body);
  if (!Array.isArray(data)) return undefined;
  return {
    kind: "lm-studio",
    models: objects(data).map((entry) => {
      const type = text(entry["type"]);
      const reported = Array.isArray(entry["capabilities"]) ? entry["capabilities"] : [];
      const tools = reported.includes("tool_use") ? ["tools"] : [];
      const capabilities =
        type === "embeddings" ? EMBEDDINGS : [...CHAT, ...tools, ...(type === "vlm" ? ["vision"] : [])];
      const model = plain(entry, capabilities);
      return { ...model, loaded: entry["state"] === "loaded", vision: type === "vlm" };
    }),
  };
}

// Encodes what the server reports about itself: its models, its LoRA adapters and its health.

import type { Health, OpenHealth } from "../contract/health.ts";
import { CONTEXT_KEYS, type ModelList } from "../contract/model.ts";
import type { OfferedAdapter } from "../domain/adapters.ts";
import { defined } from "../domain/defined.ts";
import type { ListedModel } from "../domain/model.ts";
import { isOut, upstreamState, type UpstreamStatus } from "../domain/upstream.ts";
import type { ProcessStatus } from "../domain/process-status.ts";

/** Encodes GET /v1/models: the models, and in the same order what each of them can do. */
export const encodeModels = (models: readonly ListedModel[]): ModelList => ({
  object: "list",
  data: encodeEntries(models),
  models: models.map(encodeDetails),
});

/** Returns the models in their order. */
export const encodeEntries = (models: readonly ListedModel[]): ModelList["data"] => models.map(encodeEntry);

function encodeEntry({
  id,
  created,
  ownedBy,
  loaded,
  isLoading,
  contextLength,
  parent,
  aliases,
  file,
}: ListedModel): ModelList["data"][number] {
  return {
    id,
    object: "model",
    created,
    owned_by: ownedBy,
    ...(parent !== undefined && { root: parent, parent }),
    ...(aliases && { aliases: [...aliases] }),
    loaded,
    status: { value: loaded ? "loaded" : isLoading ? "loading" : "unloaded" },
    ...defined(Object.fromEntries(CONTEXT_KEYS.map((name) => [name, contextLength]))),
    ...(file && { meta: encodeMeta(file, contextLength) }),
  };
}

const encodeMeta = (
  { trainedContext, parameters, bytes }: NonNullable<ListedModel["file"]>,
  contextLength: number | undefined,
) => defined({ n_ctx: contextLength, n_ctx_train: trainedContext, n_params: parameters, size: bytes });

function encodeDetails({ id, capabilities, file, isDemo }: ListedModel): ModelList["models"][number] {
  const { architecture, description, parameters, bytes, trainedContext, dimensions, device } = file ?? {};
  return {
    name: id,
    model: id,
    capabilities: [...capabilities],
    ...defined({ architecture, description, parameters, bytes, trained_context: trainedContext, dimensions, device }),
    ...(isDemo && { demonstration: true }),
  };
}

/** Encodes GET /lora-adapters in llama.cpp's form. */
export const encodeLoraAdapters = (adapters: readonly OfferedAdapter[]) =>
  adapters.map(({ path, scale, taskName, promptPrefix }, id) => ({
    id,
    path: path.split(/[\\/]/).at(-1) ?? "",
    scale,
    task_name: taskName,
    prompt_prefix: promptPrefix,
  }));

interface HealthParts {
  /** The engine of the server's own model. */
  readonly engine: ProcessStatus;
  /** All engines. */
  readonly engines: readonly (ProcessStatus & { readonly kind: string; readonly model: string })[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly model: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly wall: number;
}

/**
 * Encodes GET /health for every caller. `healthy`: a request would be computed now; `degraded`: requests to some engine
 * or upstream are refused.
 */
export const encodeOpenHealth = ({ engine, engines, upstreams, version, wall }: HealthParts): OpenHealth => ({
  // Upstreams that were discovered on this machine may disappear again, so they do not count.
  status: upstreams.some((one) => one.isConfigured && upstreamState(one) !== "up")
    ? "degraded"
    : healthOf(engine, engines),
  timestamp: wall / 1000,
  version,
});

/** Encodes GET /health. */
export const encodeHealth = (parts: HealthParts): Health => ({
  ...encodeOpenHealth(parts),
  engine: stateOf(parts.engine),
  model: parts.model,
  engines: parts.engines.map((one) => ({
    kind: one.kind,
    model: one.model,
    ...stateOf(one),
    running: one.running,
    waiting: one.waiting,
    resident_bytes: one.residentBytes,
  })),
  upstreams: parts.upstreams.map((one) => ({
    name: one.name,
    state: upstreamState(one),
    replicas: one.replicas.length,
    down: one.replicas.filter(({ state }) => isOut(state)).map(({ url }) => url),
    slow: one.replicas.filter(({ state }) => state === "slow").map(({ url }) => url),
  })),
});

const HEALTHY: ReadonlySet<ProcessStatus["state"]> = new Set(["ready", "none"]);
const LOADING: ReadonlySet<ProcessStatus["state"]> = new Set(["starting", "loading"]);

function healthOf(engine: ProcessStatus, engines: readonly ProcessStatus[]): Health["status"] {
  if (engines.some(isFailing)) return "degraded";
  if (HEALTHY.has(engine.state)) return "healthy";
  return LOADING.has(engine.state) ? "loading" : "degraded";
}

const isFailing = ({ state, loadFails, stalledSince }: ProcessStatus): boolean =>
  state === "failed" || loadFails === true || stalledSince !== undefined;

const stateOf = ({ state, restarts, progress, stalledSince, lastError, device }: ProcessStatus): Health["engine"] => ({
  state,
  restarts,
  ...(progress !== undefined && { progress: Math.round(progress * 1000) / 1000 }),
  ...(stalledSince !== undefined && { stalled_since: Math.round(stalledSince) / 1000 }),
  ...defined({ last_error: lastError, device }),
});

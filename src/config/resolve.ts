// The one Config from everything the operator said: flags win over environment variables, these over the config file,
// and that over the defaults.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../domain/errors.ts";
import { prepareSchema } from "../json-schema/prepare.ts";
import { parseAdapters } from "./adapter-option.ts";
import type { Config } from "./config.ts";
import type { Environment } from "./environment.ts";
import type { OptionValue } from "./option.ts";
import { resolvePorts, resolveUpstreams } from "./gateway.ts";
import { options } from "./options.ts";
import { UsageError, type Values } from "./parse.ts";
import { defaultPaths } from "./paths.ts";

const KV_BITS: Readonly<Record<string, Config["kvType"]>> = { "4": "q4_0", "8": "q8_0", "16": "f16" };

/** Merges layers, the strongest first, over the defaults of the options table. */
export function mergeValues(layers: readonly Values[]): Map<string, OptionValue> {
  const merged = new Map<string, OptionValue>();
  const told = withVerbose(layers);
  for (const option of options) {
    const given = told.find((layer) => layer.has(option.name))?.get(option.name);
    const value = given ?? ("default" in option ? option.default : undefined);
    if (value !== undefined) merged.set(option.name, value);
  }
  return merged;
}

/** `verbose` is a log level by another name, as strong as the layer that says it; a stronger layer may take it back. */
function withVerbose(layers: readonly Values[]): readonly Values[] {
  const says = layers.find((layer) => layer.has("verbose"));
  if (says?.get("verbose") !== true) return layers;
  return layers.map((layer) => (layer === says ? new Map([...layer, ["log-level", "debug"]]) : layer));
}

/** Builds the Config from values that the options table parsed, so their types are known. Throws UsageError. */
export function resolveConfig(values: Values, environment: Environment): Config {
  const text = (name: string) => values.get(name) as string | undefined;
  const number = (name: string) => values.get(name) as number | undefined;
  const flag = (name: string) => values.get(name) === true;
  const list = (name: string) => (values.get(name) as readonly string[] | undefined) ?? [];
  const milliseconds = (name: string) => Math.round(1000 * (number(name) as number));
  const given = <T>(key: string, value: T | undefined) => (value === undefined ? {} : { [key]: value });
  const kvType = text("kv-type") as string;
  const dataDir = text("data-dir") ?? defaultPaths(environment).dataDir;
  return {
    ...given("model", text("model")),
    ...given("alias", text("alias")),
    ...given("mmproj", text("mmproj")),
    ...given("draft", text("draft")),
    lora: parseAdapters(list("lora")),
    ...given("mediaRoot", text("media-root")),
    mediaFetch: flag("media-fetch"),
    serveModel: serveModel({ model: text("model") !== undefined, lora: list("lora").length > 0 }, flag("no-model")),
    gateway: {
      discover: flag("gateway"),
      ports: resolvePorts(list("gateway-port")),
      upstreams: resolveUpstreams(list("upstream"), list("upstream-key")),
      timeoutMs: milliseconds("upstream-timeout"),
    },
    embeddingModels: list("embedding-model"),
    rerankModels: list("rerank-model"),
    embeddingCtx: number("embedding-ctx") as number,
    host: text("host") as string,
    port: number("port") as number,
    corsOrigins: list("cors-origin"),
    allowedHosts: list("allowed-host"),
    conveniences: flag("conveniences"),
    streaming: flag("streaming"),
    heartbeatMs: milliseconds("heartbeat"),
    drainTimeoutMs: milliseconds("drain-timeout"),
    loadTimeoutMs: milliseconds("load-timeout"),
    maxQueue: number("max-queue") as number,
    maxQueueTokens: number("max-queue-tokens") as number,
    queueTimeoutMs: milliseconds("queue-timeout"),
    storedResponses: {
      count: number("stored-responses") as number,
      bytes: (number("stored-responses-mb") as number) * 1_000_000,
    },
    files: {
      bytes: (number("max-file-mb") as number) * 2 ** 20,
      lines: number("max-batch-lines") as number,
      keepSeconds: (number("keep-files") as number) * 86_400 || null,
      keepBatchSeconds: (number("keep-batches") as number) * 86_400 || null,
    },
    ...given("ctx", number("ctx")),
    parallel: number("parallel") as number,
    ...given("threads", number("threads")),
    ...given("cacheRam", number("cache-ram")),
    ...given("kvDir", kvDir(values)),
    kvDirSize: number("kv-dir-size") as number,
    gpuLayers: number("gpu-layers") as number,
    flashAttention: text("flash-attention") as Config["flashAttention"],
    kvType: KV_BITS[kvType] ?? (kvType as Config["kvType"]),
    kvMode: text("kv-mode") as Config["kvMode"],
    prefixCache: flag("prefix-cache"),
    speculation: flag("speculation"),
    draftMax: number("draft-max") as number,
    draftPMin: number("draft-p-min") as number,
    draftAdaptive: flag("draft-adaptive"),
    batch: number("batch") as number,
    microBatch: Math.min(number("micro-batch") as number, number("batch") as number),
    mmap: flag("mmap"),
    mlock: flag("mlock"),
    warmup: flag("warmup"),
    stallBudgetMs: number("stall-budget") as number,
    sampling: {
      ...given("temperature", number("temperature")),
      ...given("topP", number("top-p")),
      ...given("topK", number("top-k")),
      ...given("minP", number("min-p")),
      ...given("repetitionPenalty", number("repetition-penalty")),
      ...given("presencePenalty", number("presence-penalty")),
      ...given("seed", number("seed")),
    },
    ...given("maxTokens", number("max-tokens")),
    maxLogprobs: number("max-logprobs") as number,
    stop: list("stop"),
    templateKwargs: (values.get("chat-template-kwargs") as Config["templateKwargs"] | undefined) ?? {},
    chatTemplate: chatTemplate(text("chat-template")),
    think: flag("think"),
    ...given("reasoningBudget", number("reasoning-budget")),
    ...given("guidedJson", guidedJson(values)),
    constrain: flag("grammar-constraints"),
    logLevel: text("log-level") as Config["logLevel"],
    logFormat: text("log-format") as Config["logFormat"],
    ...given("traceFile", text("trace-file")),
    cacheDir: text("cache-dir") ?? defaultPaths(environment).cacheDir,
    dataDir,
    modelsDir: text("models-dir") ?? join(dataDir, "models"),
  };
}

function serveModel(given: Readonly<Record<"model" | "lora", boolean>>, none: boolean): boolean {
  for (const [name, isGiven] of Object.entries(given)) {
    if (none && isGiven) throw new UsageError(`--${name} and --no-model contradict each other.`);
  }
  return !none;
}

/** What goes to disk and comes from there passes through host memory, where the prefix cache looks for it. */
function kvDir(values: Values): string | undefined {
  const folder = values.get("kv-dir") as string | undefined;
  if (folder === undefined) return undefined;
  if (values.get("cache-ram") === 0) throw new UsageError("--kv-dir needs host memory: --cache-ram must not be 0.");
  if (values.get("prefix-cache") !== true) throw new UsageError("--kv-dir and --no-prefix-cache exclude each other.");
  return folder;
}

/** Checked here, because no request could be answered with a schema that is none. */
function guidedJson(values: Values): Config["guidedJson"] {
  const schema = values.get("guided-json") as Config["guidedJson"];
  try {
    if (schema !== undefined) prepareSchema(schema, "--guided-json");
    return schema;
  } catch (error) {
    throw error instanceof SvcError ? new UsageError(error.message) : error;
  }
}

function chatTemplate(file: string | undefined): string {
  if (file === undefined) return "";
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new UsageError(`The chat template ${file} cannot be read (${code}).`);
  }
}

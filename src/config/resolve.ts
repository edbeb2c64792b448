// Resolves all sources to one Config: flags take precedence over environment variables, then the config file, then
// defaults. The meaning of a single option is in its row; rules about several options are here.

import { join } from "node:path";
import { parseApiKeys } from "./api-keys.ts";
import { fieldsOf, type Config } from "./config.ts";
import type { Environment } from "./environment.ts";
import { checkFolders } from "./folders.ts";
import { table } from "./options.ts";
import { isGiven, UsageError, type Values } from "./parse.ts";
import { readTls } from "./tls.ts";
import { withKeys } from "./upstream-option.ts";

/** Merges layers, the highest precedence first, over the defaults of the options table. Throws UsageError. */
export function resolveConfig(layers: readonly Values[], environment: Environment): Config {
  const ranked = withoutOverruled(withLogLevel(layers));
  const given = (name: string) => ranked.find((layer) => layer.has(name))?.get(name);
  const {
    configFile: _read,
    verbose: _verbose,
    quiet: _quiet,
    gateway,
    apiKeyFiles,
    tls: tlsFiles,
    ...fields
  } = fieldsOf(table, given, environment);
  const { keys, ...others } = gateway;
  const tls = readTls(tlsFiles);
  checkFolders(given);
  const config = {
    ...fields,
    ...(tls && { tls }),
    apiKeys: parseApiKeys(fields.apiKeys, apiKeyFiles),
    gateway: { ...others, upstreams: withKeys(others.upstreams, keys) },
    microBatch: Math.min(fields.microBatch, fields.batch),
    modelsDir: fields.modelsDir ?? join(fields.dataDir, "models"),
  };
  refuseContradictions(config);
  return config;
}

/** Options that are other names for log levels. */
const LOG_LEVELS = { verbose: "verbose", quiet: "warn" };

/**
 * Sets the log level in the layers with --verbose or --quiet; layers of higher precedence may override it. Throws
 * UsageError if one layer has both.
 */
function withLogLevel(layers: readonly Values[]): readonly Values[] {
  if (layers.some((layer) => layer.get("verbose") === true && layer.get("quiet") === true)) {
    throw new UsageError("--verbose and --quiet contradict each other.");
  }
  const given = Object.entries(LOG_LEVELS).flatMap(([name, level]) => {
    const says = layers.find((layer) => layer.has(name));
    return says?.get(name) === true ? [{ says, level }] : [];
  });
  return layers.map((layer) => {
    const level = given.find(({ says }) => says === layer)?.level;
    return level === undefined ? layer : new Map([...layer, ["log-level", level]]);
  });
}

/** Options of the model that --no-model does without. */
const OWN_MODEL = ["model", "lora", "worker"];

/**
 * Removes what the first layer with --no-model or --model overrules in those of lower precedence. Throws UsageError if
 * --no-model decides, but its layer or a higher one has an option of the model.
 */
function withoutOverruled(layers: readonly Values[]): readonly Values[] {
  const at = layers.findIndex((layer) => layer.has("no-model") || isGiven(layer.get("model")));
  const [deciding, lower] = [layers.slice(0, at + 1), layers.slice(at + 1)];
  const isWithout = layers[at]?.get("no-model") === true;
  if (isWithout) {
    const own = OWN_MODEL.find((name) => deciding.some((layer) => isGiven(layer.get(name))));
    if (own !== undefined) throw new UsageError(`--${own} and --no-model contradict each other.`);
  }
  const overruled = isWithout ? OWN_MODEL : ["no-model"];
  return [...deciding, ...lower.map((layer) => new Map([...layer].filter(([name]) => !overruled.includes(name))))];
}

/** Types of the KV cache whose blocks only flash attention reads. */
const QUANTIZED: ReadonlySet<string> = new Set(["q8_0", "q4_0"]);

function refuseContradictions(config: Config): void {
  const { workers, gpuLayers, splitMode, kvDir, slotSavePath, cacheRam } = config;
  const { prefixCache, kvType, flashAttention } = config;
  if (workers.length > 0 && gpuLayers === 0) {
    throw new UsageError(
      "--worker and --gpu-layers 0 contradict each other: workers compute the layers that this machine does not.",
    );
  }
  if (workers.length > 0 && splitMode === "row") {
    throw new UsageError("--split-mode row is for GPUs of one machine: with --worker it must be layer or none.");
  }
  if (flashAttention === "off" && QUANTIZED.has(kvType)) {
    throw new UsageError(`--kv-type ${kvType} needs flash attention: --flash-attention must not be off.`);
  }
  if (slotSavePath !== undefined && !prefixCache) {
    throw new UsageError("--slot-save-path and --no-prefix-cache exclude each other.");
  }
  if (kvDir === undefined) return;
  // All transfers to and from disk pass through host memory, where the prefix cache looks for entries.
  if (cacheRam === 0) throw new UsageError("--kv-dir needs host memory: --cache-ram must not be 0.");
  if (!prefixCache) throw new UsageError("--kv-dir and --no-prefix-cache exclude each other.");
}

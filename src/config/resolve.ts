// The one Config from everything the operator said: flags win over environment variables, these over the config file,
// and that over the defaults. What an option means alone is in its row, what options mean together is here.

import { join } from "node:path";
import { parseApiKeys } from "./api-keys.ts";
import { fieldsOf, type Config } from "./config.ts";
import type { Environment } from "./environment.ts";
import { checkFolders } from "./folders.ts";
import { withKeys } from "./gateway.ts";
import { table } from "./options.ts";
import { UsageError, type Values } from "./parse.ts";
import { readTls } from "./tls.ts";

/** Merges layers, the strongest first, over the defaults of the options table. Throws UsageError. */
export function resolveConfig(layers: readonly Values[], environment: Environment): Config {
  const ranked = withLogLevel(layers);
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

/** Log levels by another name. */
const LOG_LEVELS = { verbose: "verbose", quiet: "warn" };

/** Each is as strong as the layer that says it; a stronger layer may take it back. Throws UsageError about both in one. */
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

function refuseContradictions(config: Config): void {
  const {
    workers,
    gpuLayers,
    splitMode,
    serveModel,
    model,
    lora,
    kvDir,
    slotSavePath,
    cacheRam,
    prefixCache,
    apiKeys,
    keyRpm,
    keyConcurrent,
  } = config;
  if (apiKeys.length === 0 && (keyRpm > 0 || keyConcurrent > 0)) {
    throw new UsageError("--key-rpm and --key-concurrent limit API keys: define keys with --api-key-file.");
  }
  const given = { model: model !== undefined, lora: lora.length > 0, worker: workers.length > 0 };
  for (const [name, isGiven] of Object.entries(given)) {
    if (isGiven && !serveModel) throw new UsageError(`--${name} and --no-model contradict each other.`);
  }
  if (workers.length > 0 && gpuLayers === 0) {
    throw new UsageError(
      "--worker and --gpu-layers 0 contradict each other: workers compute the layers that this machine does not.",
    );
  }
  if (workers.length > 0 && splitMode === "row") {
    throw new UsageError("--split-mode row is for GPUs of one machine: with --worker it must be layer or none.");
  }
  if (slotSavePath !== undefined && !prefixCache) {
    throw new UsageError("--slot-save-path and --no-prefix-cache exclude each other.");
  }
  if (kvDir === undefined) return;
  // What goes to disk and comes from there passes through host memory, where the prefix cache looks for it.
  if (cacheRam === 0) throw new UsageError("--kv-dir needs host memory: --cache-ram must not be 0.");
  if (!prefixCache) throw new UsageError("--kv-dir and --no-prefix-cache exclude each other.");
}

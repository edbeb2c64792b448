// Everything a running svc consists of, put together from a Config: used by the server, the one-shot answer and the
// self-test.

import { nativeFiles } from "../../ffi/runtime/libraries.ts";
import type { Config } from "../config/config.ts";
import { engineEnvironment, processEnvironment } from "../config/environment.ts";
import { hubSettings } from "../config/hub.ts";
import { availableMemory, physicalCores } from "../config/memory.ts";
import type { Adapter, OfferedAdapter } from "../domain/adapters.ts";
import { systemClock } from "../domain/clock.ts";
import { EngineHost } from "../engine/text/host.ts";
import { LazyEngine } from "../engine/text/lazy-engine.ts";
import { NoEngine } from "../engine/text/none.ts";
import type { EnginePort } from "../engine/text/port.ts";
import { readAdapterFile } from "../model/adapter-file.ts";
import { chooseContext, type ContextChoice } from "../model/context.ts";
import { fileIdentity } from "../model/file-identity.ts";
import { ModelFileError } from "../model/gguf.ts";
import { readModelFile, type ModelFile } from "../model/model-file.ts";
import { GenerationService } from "../service/generation.ts";
import { localRouter } from "../service/local-model.ts";
import { ModelRouter } from "../service/model-router.ts";
import { StoredModels } from "../service/stored-models.ts";
import { SYSTEM_MODEL, SystemModel } from "../service/system-model.ts";
import { createLogger, type Logger } from "../telemetry/log.ts";
import { defaultMediaLimits } from "../media/limits.ts";
import { createTraceFile } from "../telemetry/trace-file.ts";
import { PrometheusMetrics } from "../telemetry/prometheus.ts";
import type { EngineOptions } from "../engine/text/protocol.ts";
import { EmbeddingModels } from "../service/embedding-models.ts";
import { EmbeddingService } from "../service/embeddings.ts";
import { embeddingEngines, readEmbeddingFiles } from "./embedding-engines.ts";
import { ExitError } from "./exit-codes.ts";
import { createGateway, type GatewayParts } from "./gateway.ts";
import { filesInUse, namedModel } from "./named-model.ts";
import { privateFolder } from "./private-folder.ts";

/** `created`: of svc-mini, for listings before it is unpacked. */
const SYSTEM_ENGINE = { parallel: 4, idleMs: 5 * 60_000, created: 1_767_225_600 } as const;

/** What the system model does not take from the options, which are about the model that was given. */
const SYSTEM_CONFIG = {
  alias: SYSTEM_MODEL,
  parallel: SYSTEM_ENGINE.parallel,
  ctx: 4096,
  kvMode: "unified",
  kvType: "f16",
  flashAttention: "auto",
  gpuLayers: 0,
  lora: [],
  sampling: {},
  chatTemplate: "",
} as const satisfies Partial<Config>;

/** What a server needs, with or without an engine. */
export interface Services {
  readonly config: Config;
  readonly log: Logger;
  readonly engine: EnginePort;
  /** Computes the system model; it may be `engine`. */
  readonly system: EnginePort;
  readonly router: ModelRouter;
  readonly generation: GenerationService;
  readonly embeddings: EmbeddingService;
  readonly storedModels: StoredModels;
  readonly metrics: PrometheusMetrics;
  readonly clock: typeof systemClock;
  /** Models of other servers; its `start` is the caller's. */
  readonly others?: GatewayParts;
}

export interface Runtime extends Services {
  readonly file: ModelFile;
  /** false: the embedded demonstration model serves. */
  readonly modelGiven: boolean;
  readonly context: ContextChoice;
  readonly engine: EngineHost;
}

/** The engine of one model, and what is known of it before it is started. */
interface PreparedEngine extends Pick<Runtime, "engine" | "file" | "modelGiven" | "context"> {
  readonly native: ReturnType<typeof unpack>;
}

/**
 * Checks the model file, unpacks the native libraries and prepares the engine; `engine.start()` is the caller's.
 * Throws ExitError when the model file or the cache folder cannot be used.
 */
export function createRuntime(config: Config): Runtime {
  const log = logger(config);
  // A bad file must fail before anything is unpacked.
  const embeddingFiles = readEmbeddingFiles(config);
  const { native, ...prepared } = prepareEngine(config, log);
  const { engine, modelGiven } = prepared;
  const system = modelGiven ? systemEngine(config, log) : engine;
  return { ...services({ config, log, engine, system, native, embeddingFiles }), ...prepared };
}

function prepareEngine(config: Config, log: Logger): PreparedEngine {
  const clock = systemClock;
  // A bad file must fail before anything is unpacked.
  const chosen = config.model === undefined ? undefined : namedModel(config.model, config.modelsDir);
  const given = chosen && modelFile(chosen.path);
  const mmproj = config.mmproj ?? chosen?.mmproj;
  const { draft: draftPath, draftMax: max, draftPMin: pMin, draftAdaptive: adaptive } = config;
  const drafts = draftPath !== undefined && config.speculation;
  const draft = drafts ? modelFile(namedModel(draftPath, config.modelsDir).path) : undefined;
  const native = unpack(config.cacheDir);
  if (native.warning) log.warn(native.warning);
  const file = given ?? modelFile(native.embeddedModel);
  const modelId = config.alias ?? (given ? file.id : "svc-mini");
  const adapters = config.lora.map((adapter) => offered(adapter, file.architecture, modelId));
  const context = chooseContext({
    model: file,
    kvType: config.kvType,
    kvMode: config.kvMode,
    parallel: config.parallel,
    ...(config.ctx !== undefined && { requested: config.ctx }),
    availableBytes: availableMemory() - adapters.reduce((sum, { bytes }) => sum + bytes, 0),
    ...(draft && { draft }),
  });
  const { batch, microBatch, gpuLayers, flashAttention, kvType, parallel, mmap, mlock, warmup, stallBudgetMs } = config;
  const engine = new EngineHost({
    engine: {
      libraries: native.libraries,
      modelPath: file.path,
      context: context.context,
      maxModelLen: context.maxModelLen,
      maxQueueTokens: config.maxQueueTokens,
      kvMode: context.kvMode,
      kvTokenBytes: context.tokenBytes,
      prefixCache: config.prefixCache,
      cacheRamBytes: hostMemory(config, context),
      ...(config.kvDir !== undefined && { kvDir: kvFolder(config.kvDir, { ...config, mmproj }, file) }),
      speculation: config.speculation,
      ...(draft && { draft: { path: draft.path, max, pMin, adaptive } }),
      threads: config.threads ?? physicalCores(),
      sampling: config.sampling,
      chatTemplate: config.chatTemplate,
      adapterPaths: adapters.map(({ path }) => path),
      ...(mmproj !== undefined && { mmprojPath: mmproj }),
      ...(config.traceFile !== undefined && { traceFile: startTrace(config.traceFile) }),
      constrain: config.constrain,
      batch,
      microBatch,
      gpuLayers,
      flashAttention,
      kvType,
      parallel,
      mmap,
      mlock,
      warmup,
      stallBudgetMs,
    },
    adapters,
    model: { id: modelId, path: file.path, created: file.modified },
    command: engineCommand("llama"),
    env: engineEnvironment(processEnvironment()),
    loadTimeoutMs: config.loadTimeoutMs,
    log,
    clock,
  });
  return { engine, native, file, modelGiven: given !== undefined, context };
}

/** The embedded model in an engine of its own, small and on the CPU, that is there while it is used. */
function systemEngine(config: Config, log: Logger): LazyEngine {
  const { model: _model, mmproj: _mmproj, draft: _draft, kvDir: _kvDir, traceFile: _traceFile, ...plain } = config;
  const own: Config = { ...plain, ...SYSTEM_CONFIG };
  return new LazyEngine({
    model: { id: SYSTEM_MODEL, created: SYSTEM_ENGINE.created },
    idleMs: SYSTEM_ENGINE.idleMs,
    start: () => {
      const { engine } = prepareEngine(own, log);
      engine.start();
      return engine;
    },
    onFailure: (error) => log.error("the system model cannot be started", { error: String(error) }),
  });
}

/** A server that has no model of its own. */
export function createGatewayServices(config: Config): Services {
  const log = logger(config);
  const embeddingFiles = readEmbeddingFiles(config);
  const native = unpack(config.cacheDir);
  if (native.warning) log.warn(native.warning);
  const system = systemEngine(config, log);
  return services({ config, log, engine: new NoEngine(), system, native, embeddingFiles });
}

interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly engine: EnginePort;
  readonly system: EnginePort;
  readonly native: ReturnType<typeof unpack>;
  readonly embeddingFiles: ReturnType<typeof readEmbeddingFiles>;
}

function services({ config, log, engine, system, native, embeddingFiles }: Parts): Services {
  const clock = systemClock;
  const metrics = new PrometheusMetrics(clock);
  const { parallel, maxQueue } = config;
  const launch = {
    native,
    command: engineCommand("embedding"),
    env: engineEnvironment(processEnvironment()),
    log,
    clock,
  };
  const engines = embeddingEngines(embeddingFiles, config, launch);
  const others = createGateway(config, clock, log);
  const gateway = others && { others: others.gateway };
  const embeddings = new EmbeddingService({ engines, ...gateway, metrics, clock, parallel, maxQueue });
  const systemModel = new SystemModel(system, system === engine ? parallel : SYSTEM_ENGINE.parallel);
  const sources = [new EmbeddingModels(embeddings), ...(others ? [others.gateway] : []), systemModel];
  const router = config.serveModel ? localRouter(engine, parallel, sources) : new ModelRouter(sources);
  const generation = new GenerationService({
    router,
    metrics,
    clock,
    maxQueue,
    queueTimeoutMs: config.queueTimeoutMs,
    mediaLimits: {
      ...defaultMediaLimits,
      fetch: config.mediaFetch,
      ...(config.mediaRoot !== undefined && { mediaRoot: config.mediaRoot }),
    },
  });
  const storedModels = new StoredModels({
    folder: config.modelsDir,
    hub: () => hubSettings(processEnvironment()),
    inUse: filesInUse(config),
    now: clock.wall,
  });
  const parts = { config, log, engine, system, router, generation, embeddings, storedModels, metrics, clock };
  return { ...parts, ...(others && { others }) };
}

const logger = (config: Config): Logger =>
  createLogger({
    level: config.logLevel,
    format: config.logFormat,
    write: (line) => process.stderr.write(line),
    now: systemClock.wall,
  });

/** This program again, as an engine: the executable itself, or Bun with the entry file. */
function engineCommand(kind: "llama" | "embedding"): string[] {
  const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  return [...program, "__engine", kind];
}

/** Bytes for what leaves the KV cache. What is to come from disk must find room for the longest conversation. */
function hostMemory({ cacheRam, kvDir }: Config, { spareBytes, maxModelLen, tokenBytes }: ContextChoice): number {
  if (cacheRam !== undefined) return cacheRam * 2 ** 20;
  return kvDir === undefined ? spareBytes : Math.max(spareBytes, maxModelLen * tokenBytes);
}

function kvFolder(
  folder: string,
  { kvDirSize, mmproj, lora }: Pick<Config, "kvDirSize" | "lora"> & { mmproj: string | undefined },
  file: ModelFile,
): EngineOptions["kvDir"] & object {
  const path = privateFolder(folder, "--kv-dir");
  return reading(() => ({
    path,
    limitBytes: kvDirSize * 2 ** 20,
    model: fileIdentity(file.paths),
    ...(mmproj !== undefined && { projector: fileIdentity([mmproj]) }),
    adapterHashes: lora.map((adapter) => fileIdentity([adapter.path]).hash),
  }));
}

const modelFile = (path: string): ModelFile => reading(() => readModelFile(path));

/** Checks the file of an adapter. Throws ExitError. */
function offered(adapter: Adapter, architecture: string, modelId: string): OfferedAdapter {
  if (adapter.name === modelId) {
    throw new ExitError(
      "usage",
      `The adapter ${adapter.name} has the model's name; --lora NAME=FILE gives it another.`,
    );
  }
  const { modified, ...known } = reading(() => readAdapterFile(adapter.path, architecture));
  return { ...adapter, ...known, created: modified };
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ModelFileError ? new ExitError("model", error.message) : error;
  }
}

/** A file that cannot be written is known at once, and not by an engine that restarts for ever. */
function startTrace(path: string): string {
  try {
    createTraceFile(path);
    return path;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unwritable";
    throw new ExitError("failure", `The trace file ${path} cannot be written (${code}).`);
  }
}

function unpack(cacheDir: string) {
  try {
    return nativeFiles(cacheDir);
  } catch (error) {
    throw new ExitError("failure", error instanceof Error ? error.message : String(error));
  }
}

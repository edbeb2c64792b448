// Checks the files of a text model and decides how it is loaded.

import { totalmem } from "node:os";
import { bytesOf, hasGpuBackend, type NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import type { Gpu } from "../domain/gpu.ts";
import { fileReason } from "../domain/system-error-code.ts";
import { availableMemory, physicalCores } from "../engine/process/machine.ts";
import type { Adapter, OfferedAdapter } from "../domain/adapters.ts";
import type { ComputeOptions } from "../engine/process/kind.ts";
import type { EngineOptions } from "../engine/text/protocol.ts";
import type { FoundWorker } from "../engine/worker/probe.ts";
import { readAdapterFile } from "../model/adapter-file.ts";
import { chooseContext, type ContextChoice } from "../model/context.ts";
import { fileIdentity } from "../model/file-identity.ts";
import { readModelFile, type ModelFile } from "../model/model-file.ts";
import { gpuCapacity, placeModel, type Capacity, type Placement } from "../model/placement.ts";
import { checkProjectorFile } from "../model/projector-file.ts";
import { isLogged } from "../telemetry/log.ts";
import { checkTraceFile } from "../telemetry/trace-file.ts";
import { checkContext } from "./context-check.ts";
import { ExitError, orExit } from "./exit-codes.ts";
import { namedModel } from "./named-model.ts";
import { privateFolder } from "./private-folder.ts";
import { roomOn } from "./workers.ts";

/** Returns the machine settings that every engine gets. */
export const computeOptions = (config: Config, { libraries }: NativeFiles): ComputeOptions => {
  const { threads = physicalCores(), gpuLayers, flashAttention, mmap, mlock, warmup } = config;
  return { libraries, threads, gpuLayers, flashAttention, mmap, mlock, warmup };
};

/** What is known of a text model before it is loaded. */
export interface PreparedModel {
  readonly id: string;
  readonly file: ModelFile;
  /** False when the embedded demonstration model is served. */
  readonly modelGiven: boolean;
  readonly context: ContextChoice;
  /** How the model is divided over RAM and GPUs; absent where it does not use GPUs of this machine alone. */
  readonly placement?: Placement;
  readonly adapters: readonly OfferedAdapter[];
  readonly options: EngineOptions;
  /** The workers that answered. */
  readonly workers: readonly FoundWorker[];
}

/** The files of a text model, which were checked. */
interface TextFiles {
  /** Absent for the embedded model. */
  readonly model?: ModelFile;
  readonly mmproj?: string;
  readonly draft?: ModelFile;
}

/** What a model is prepared for; by default, the files that the configuration names, and no other devices. */
interface Around {
  readonly files?: TextFiles;
  readonly workers?: readonly FoundWorker[];
  readonly gpus?: readonly Gpu[];
}

/** Checks the model's files. `read`: the model's own, if it was just read. Throws ExitError or ModelFileError. */
export function readTextFiles(config: Config, read?: ModelFile): TextFiles {
  const chosen = config.model === undefined ? undefined : namedModel(config.model, config.modelsDir);
  const model = read ?? (chosen && readModelFile(chosen.path));
  const mmproj = config.mmproj ?? chosen?.mmproj;
  if (mmproj !== undefined) checkProjectorFile(mmproj);
  const drafts = config.draft !== undefined && config.speculation;
  const draft = drafts ? readModelFile(namedModel(config.draft, config.modelsDir).path) : undefined;
  return { ...(model && { model }), ...(mmproj !== undefined && { mmproj }), ...(draft && { draft }) };
}

/**
 * Decides how the model is loaded. `unpacked` returns the native libraries; it is called once the files are known to be
 * good. Throws ExitError or ModelFileError when a file cannot be used.
 */
export function prepareModel(config: Config, unpacked: () => NativeFiles, around: Around = {}): PreparedModel {
  // A bad file must fail before anything is unpacked.
  const { files = readTextFiles(config), workers = [], gpus = [] } = around;
  const { model: given, mmproj, draft } = files;
  const { draftMax: max, draftPMin: pMin, draftAdaptive: adaptive } = config;
  const native = unpacked();
  const file = given ?? readModelFile(native.embeddedModel);
  const id = config.alias[0] ?? (given ? file.id : "svc-mini");
  const adapters = config.lora.map((adapter) => offered(adapter, file.architecture, id));
  const isHere = workers.length === 0;
  const needs = {
    model: file,
    kvType: config.kvType,
    kvMode: config.kvMode,
    parallel: config.parallel,
    canPage: isHere && canPage(config),
    ...(config.ctx !== undefined && { requested: config.ctx }),
    ...(draft && { draft }),
  };
  const isOnHost = config.gpuLayers === 0 || !hasGpuBackend(native.libraries);
  const beside = adapters.reduce((sum, { bytes }) => sum + bytes, 0);
  const memory = { config, workers, gpus, beside, mmproj };
  const placement =
    isHere && gpus.length > 0 && !isOnHost ? placeModel(needs, config.gpuLayers, capacityOf(memory)) : undefined;
  const context =
    placement?.context ?? chooseContext({ ...needs, canPage: needs.canPage && isOnHost, ...memoryFor(memory) });
  checkContext(context, config, isHere && isOnHost ? totalmem() : Infinity, file);
  const { batch, microBatch, kvType, parallel, stallBudgetMs, maxQueueTokens } = config;
  const { prefixCache, speculation, contextShift, sampling, chatTemplate, constrain } = config;
  const options: EngineOptions = {
    ...computeOptions(config, native),
    ...(placement && { gpuLayers: placement.gpuLayers }),
    ...(placement?.isDivided && { isDivided: true as const }),
    batch,
    microBatch,
    kvType,
    parallel,
    stallBudgetMs,
    maxQueueTokens,
    prefixCache,
    speculation,
    contextShift,
    sampling,
    chatTemplate,
    constrain,
    modelPath: file.path,
    context: context.context,
    maxModelLen: context.maxModelLen,
    kvMode: context.kvMode,
    kvTokenBytes: context.tokenBytes,
    cacheRamBytes: hostMemory(config, context),
    ...kvFolders({ ...config, mmproj }, file),
    ...(draft && { draft: { path: draft.path, max, pMin, adaptive } }),
    adapterPaths: adapters.map(({ path }) => path),
    ...(mmproj !== undefined && { mmprojPath: mmproj }),
    ...(isLogged("verbose", config.logLevel) && { logsDecisions: true as const }),
    ...(config.traceFile !== undefined && { traceFile: usableTrace(config.traceFile) }),
  };
  return {
    id,
    file,
    modelGiven: given !== undefined,
    context,
    ...(placement && { placement }),
    adapters,
    options,
    workers,
  };
}

/** Returns whether host memory for the KV cache can be allocated as it fills, with values laid out like keys. */
const canPage = ({ flashAttention }: Config): boolean => flashAttention !== "off" && process.platform === "linux";

/** What decides how much memory a model may take. */
interface Memory {
  readonly config: Config;
  readonly workers: readonly FoundWorker[];
  readonly gpus: readonly Gpu[];
  /** Bytes of the adapters. */
  readonly beside: number;
  readonly mmproj: string | undefined;
}

/** Returns the memory for weights and KV cache, and this machine's memory where workers make the two differ. */
function memoryFor({ config, workers, beside }: Memory) {
  const hostBytes = availableMemory();
  const availableBytes = roomOn(workers, config, hostBytes) - beside;
  return workers.length === 0 ? { availableBytes } : { availableBytes, hostBytes };
}

/** Returns the memory for weights and KV cache where GPUs hold them, the adapters and the projector. */
function capacityOf({ config, gpus, beside, mmproj }: Memory): Capacity {
  const host = availableMemory();
  const isShared = gpus.some((gpu) => gpu.isShared);
  const projector = mmproj === undefined ? 0 : bytesOf(mmproj);
  const left = Math.max(0, gpuCapacity(gpus, config) - beside - projector);
  return { host, gpus: isShared ? Math.min(left, host) : left, isShared };
}

/** Returns the size of the host cache in bytes. With a disk cache, the longest conversation must fit. */
function hostMemory({ cacheRam, kvDir }: Config, { spareBytes, maxModelLen, tokenBytes }: ContextChoice): number {
  if (cacheRam !== undefined) return cacheRam * 2 ** 20;
  return kvDir === undefined ? spareBytes : Math.max(spareBytes, maxModelLen * tokenBytes);
}

type KvFolderOptions = Pick<Config, "kvDir" | "kvDirSize" | "slotSavePath" | "lora"> & { mmproj: string | undefined };

function kvFolders(
  { kvDir, kvDirSize, slotSavePath, mmproj, lora }: KvFolderOptions,
  file: ModelFile,
): Pick<EngineOptions, "kvDir" | "slotDir" | "kvOrigin"> {
  if (kvDir === undefined && slotSavePath === undefined) return {};
  return {
    ...(kvDir !== undefined && { kvDir: { path: privateFolder(kvDir, "--kv-dir"), limitBytes: kvDirSize * 2 ** 20 } }),
    ...(slotSavePath !== undefined && { slotDir: privateFolder(slotSavePath, "--slot-save-path") }),
    kvOrigin: {
      model: fileIdentity(file.paths),
      ...(mmproj !== undefined && { projector: fileIdentity([mmproj]) }),
      adapterHashes: lora.map((adapter) => fileIdentity([adapter.path]).hash),
    },
  };
}

/** Checks an adapter's file. Throws ExitError or ModelFileError. */
function offered(adapter: Adapter, architecture: string, modelId: string): OfferedAdapter {
  if (adapter.name === modelId) {
    throw new ExitError(
      "usage",
      `The adapter ${adapter.name} has the model's name; --lora NAME=FILE gives it another.`,
    );
  }
  return { ...adapter, ...readAdapterFile(adapter.path, architecture) };
}

/** Checks the trace file, so that an unwritable path fails at once, not in an engine that then restarts forever. */
function usableTrace(path: string): string {
  const say = (error: unknown) => `The trace file ${path} cannot be written: ${fileReason(error)}.`;
  orExit(() => checkTraceFile(path), say);
  return path;
}

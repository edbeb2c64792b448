// Builds everything that a running svc consists of from a Config: for the server, the one-shot answer and the
// self-test.

import { tmpdir } from "node:os";
import type { NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { hubSettings } from "../config/hub.ts";
import { version } from "../config/version.ts";
import { ByteBudget } from "../domain/byte-budget.ts";
import { systemClock } from "../domain/clock.ts";
import { NoEngine } from "../engine/text/none.ts";
import type { TextEngine } from "../engine/text/text-engine.ts";
import type { ObservedEngine } from "../engine/process/status.ts";
import type { FoundWorker } from "../engine/worker/probe.ts";
import type { ModelFile } from "../model/model-file.ts";
import { localRouter, offeredChat, type ReadKinds } from "../service/local-model.ts";
import { ModelRouter } from "../service/model-router.ts";
import { modelServices } from "../service/model-services.ts";
import {
  offeredEmbeddings,
  offeredImages,
  OfferedModels,
  offeredRecognition,
  offeredUpscaling,
  offeredSpeech,
  offeredTranscription,
  type OfferedModel,
} from "../service/offered-models.ts";
import { RequestService } from "../service/request.ts";
import { StoredModels } from "../service/stored-models.ts";
import { SYSTEM_MODEL, systemModel } from "../service/system-model.ts";
import { uploadFolders } from "../store/upload-folders.ts";
import { createLogger, type Logger } from "../telemetry/log.ts";
import { PrometheusMetrics } from "../telemetry/prometheus.ts";
import {
  chatEngines,
  embeddingEngines,
  launchWith,
  readChatFiles,
  readEmbeddingFiles,
  readWhisperFiles,
  servedEngine,
  SYSTEM_ENGINE,
  systemEngine,
  transcriptionEngines,
  unpack,
  type Setup,
} from "./engines.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { AppServices } from "../http/deps.ts";
import { contextWarning } from "./context-check.ts";
import { ExitError } from "./exit-codes.ts";
import { createGateway } from "./gateway.ts";
import { logPlacement } from "./gpus.ts";
import { imageEngines, readImageFiles, readUpscaleFiles, upscaleEngines } from "./image-engines.ts";
import { pulledModels } from "./pulled-engines.ts";
import { findKokoro, findPpocr } from "./pulled-files.ts";
import { filesInUse } from "./named-model.ts";
import { prepareModel, readTextFiles, type PreparedModel } from "./prepare-model.ts";
import { recognitionEngine, textLanguages } from "./recognition-engine.ts";
import { speechEngines } from "./speech-engines.ts";
import { CLEAR_LINE, hasColours, isTerminal } from "./terminal.ts";

/** An engine that computes on this machine, in contrast to an upstream. */
type LocalEngine = ObservedEngine & { stop(): Promise<void> };

/** The services of a server, with or without a model of its own. */
export interface Services extends AppServices {
  readonly engines: () => readonly LocalEngine[];
  /** The libraries and the models inside this program. */
  readonly native: NativeFiles;
  /** Returns the names of the models of --chat-model and --pulled-models. */
  readonly furtherModels: () => readonly string[];
  /** The caller starts it. */
  readonly upstreams: Gateway;
}

export interface Runtime extends Services, Pick<PreparedModel, "file" | "modelGiven" | "context"> {
  readonly engine: TextEngine;
}

/**
 * Creates the services of a server with a model; the caller calls `engine.start()`. `workers`: those of the
 * configuration, if the model is to be loaded. Rejects with ExitError or ModelFileError when the files
 * of a model cannot be used.
 */
export async function createRuntime(
  config: Config,
  log = logger(config),
  workers: readonly FoundWorker[] = [],
  // A bad file must fail before anything is unpacked.
  files = givenFiles(config),
): Promise<Runtime> {
  let native: NativeFiles | undefined;
  const unpacked = () => (native ??= unpack(config, log));
  const launch = launchWith(config, log, unpacked);
  const own = readTextFiles(config);
  const { gpus } = launch.memory;
  await gpus.read();
  const prepared = prepareModel(config, unpacked, { files: own, workers, gpus: gpus.list });
  const { file, modelGiven, context } = prepared;
  const warning = contextWarning(context, config.ctx);
  if (warning !== undefined) log.warn(warning);
  logPlacement(prepared, log);
  const engine = servedEngine(prepared, config, launch);
  const setup = { config, launch, native: unpacked() };
  const system = modelGiven ? systemEngine(setup) : engine;
  return { ...services(files, setup, system, { engine, file }), engine, file, modelGiven, context };
}

/** Creates the services of a server without a model of its own. */
export async function createGatewayServices(
  config: Config,
  log = logger(config),
  files = givenFiles(config),
): Promise<Services> {
  const native = unpack(config, log);
  const launch = launchWith(config, log, () => native);
  // Commands that need no chat model need not wait.
  if (files.chat.length > 0 || config.pulledModels) await launch.memory.gpus.read();
  const setup = { config, launch, native };
  return services(files, setup, systemEngine(setup));
}

type GivenKind = "chat" | "embedding" | "whisper" | "images" | "upscalers" | "kokoro" | "ppocr";

/** Reads the files of models that are loaded on first use, or of `only` some. Throws when one is unusable. */
export function givenFiles(config: Config, only?: readonly GivenKind[]) {
  const needs = (kind: GivenKind) => only?.includes(kind) ?? true;
  return {
    chat: needs("chat") ? readChatFiles(config) : [],
    embedding: needs("embedding") ? readEmbeddingFiles(config) : [],
    whisper: needs("whisper") ? readWhisperFiles(config) : [],
    images: needs("images") ? readImageFiles(config) : [],
    upscalers: needs("upscalers") ? readUpscaleFiles(config) : [],
    kokoro: needs("kokoro") ? findKokoro(config) : undefined,
    ppocr: needs("ppocr") ? findPpocr(config) : undefined,
  } satisfies Record<GivenKind, unknown>;
}

/** Files that are checked before anything is unpacked. */
export type GivenFiles = Readonly<ReturnType<typeof givenFiles>>;

/** An engine that is loaded on first use, and its model as the router offers it. */
interface OnDemand {
  readonly engine: LocalEngine;
  readonly offered: OfferedModel;
}

/** Creates the engines; the first image model is the default one. `read`: the media that become text. */
function onDemand(files: GivenFiles, setup: Setup, read: ReadKinds): OnDemand[] {
  const { parallel } = setup.config;
  const each = <Engine extends LocalEngine>(engines: readonly Engine[], offer: (engine: Engine) => OfferedModel) =>
    engines.map((engine) => ({ engine, offered: offer(engine) }));
  return [
    ...each(chatEngines(files.chat, setup), (one) => offeredChat(one, parallel, read)[0]),
    ...each(embeddingEngines(files.embedding, setup), (one) => offeredEmbeddings(one, parallel)),
    ...each(transcriptionEngines(files.whisper, setup), (one) => offeredTranscription(one, one.parallel)),
    ...each(speechEngines(files.kokoro, setup), (one) => offeredSpeech(one, 1)),
    ...each([recognitionEngine(files.ppocr, setup)], (one) => offeredRecognition(one, one.parallel)),
    ...each(imageEngines(files.images, setup), offeredImages),
    ...each(upscaleEngines(files.upscalers, setup), offeredUpscaling),
  ];
}

/** Names by which clients select local models. */
interface LocalNames {
  /** Of the model of --model, if one is served. */
  readonly served?: string;
  /** Of those of --chat-model. */
  readonly chat: readonly string[];
  /** Of all that are loaded on first use. */
  readonly onDemand: readonly string[];
}

/** Throws ExitError when a chat model or an adapter is given a name by which clients select another model. */
function checkNames({ alias, lora }: Config, { served, chat, onDemand }: LocalNames): void {
  const check = (option: string, name: string, taken: readonly (string | undefined)[]) => {
    if (!taken.includes(name)) return;
    throw new ExitError("usage", `${option} cannot give the name ${name}: it selects another model of this server.`);
  };
  const taken = [SYSTEM_MODEL, ...onDemand];
  for (const name of chat) check("--chat-model", name, [SYSTEM_MODEL, served]);
  for (const name of alias) check("--alias", name, taken);
  for (const { name } of lora) check("--lora", name, [...taken, ...alias]);
}

/** Stops all engines; resolves when their processes have exited. */
export const stopEngines = ({ engines }: Pick<Services, "engines">) =>
  Promise.all(engines().map((engine) => engine.stop()));

/** The model that is loaded from the start. */
interface MainModel {
  readonly engine: TextEngine;
  readonly file: ModelFile;
}

/** Minimum size, in bytes, of the budget for recordings, documents and pictures in the folder for temporary files. */
const LEAST_RECEIVED_BYTES = 2 ** 30;

/** `system` runs the system model and may be that of `main`. Without `main`, no model is loaded from the start. */
function services(files: GivenFiles, setup: Setup, system: TextEngine, main?: MainModel): Services {
  const { config, launch, native } = setup;
  const { engine } = main ?? {};
  const { log } = launch;
  const read = { image: config.ocrInput, audio: config.transcribeInput };
  const others = onDemand(files, setup, read);
  const chatModels = files.chat.map(({ id }) => id);
  checkNames(config, {
    ...(engine && { served: engine.model }),
    chat: chatModels,
    onDemand: others.map((one) => one.offered.id),
  });
  const languages = textLanguages(config, native);
  const clock = systemClock;
  const { parallel, maxQueue, queueTimeoutMs } = config;
  const metrics = new PrometheusMetrics(clock, config.metricsNames);
  const upstreams = createGateway(config, clock, log);
  const own = systemModel(system, system === engine ? parallel : SYSTEM_ENGINE.parallel);
  const offered = new OfferedModels(others.map((one) => one.offered));
  const vectors = files.embedding.filter(({ isForVectors }) => isForVectors);
  const given = [...files.chat, ...vectors].map(({ path, id }) => [path, id] as const);
  if (main) given.push([main.file.path, main.engine.model]);
  const pulled = pulledModels(setup, new Map(given), read);
  const sources = [offered, ...(pulled ? [pulled] : []), upstreams, new OfferedModels([own])];
  const router = engine
    ? localRouter(engine, parallel, sources, read, config.alias.slice(1))
    : new ModelRouter(sources);
  const subject = { kind: "text", model: engine?.model ?? "" };
  const requests = new RequestService({ metrics, clock, maxQueue, queueTimeoutMs, subject });
  const { maxAudioBytes } = config;
  const received = new ByteBudget(Math.max(LEAST_RECEIVED_BYTES, 2 * maxAudioBytes), "files uploaded in requests");
  const folders = uploadFolders(tmpdir(), maxAudioBytes, received);
  const engines = [
    ...(engine ? [engine] : []),
    ...(system === engine ? [] : [system]),
    ...others.map((one) => one.engine),
  ];
  return {
    ...modelServices({ config, clock, router, requests, folders, languages }),
    config,
    log,
    clock,
    metrics,
    native,
    engines: () => [...engines, ...(pulled?.engines() ?? [])],
    furtherModels: () => [...chatModels, ...(pulled?.models() ?? []).map(({ id }) => id)],
    engine: engine ?? new NoEngine(),
    storedModels: new StoredModels({
      folder: config.modelsDir,
      hub: () => hubSettings(processEnvironment()),
      inUse: filesInUse(config),
      source: pulled,
      now: clock.wall,
    }),
    upstreams,
    version,
  };
}

export function logger({ logLevel: level, logFormat }: Config): Logger {
  const now = systemClock.wall;
  if (logFormat === "json" || !isTerminal()) {
    return createLogger({ level, format: logFormat, write: (line) => process.stderr.write(line), now });
  }
  const write = (line: string) => process.stderr.write(CLEAR_LINE + line);
  return createLogger({ level, format: "terminal", colours: hasColours(), write, now });
}

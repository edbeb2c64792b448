// The text engine's part in its own process: loads a model with its companions, and computes.

import { readdirSync } from "node:fs";
import { openAudio } from "../../../../ffi/audio/binding.ts";
import { SAMPLER_DEFAULTS, type Llama } from "../../../../ffi/llama/api.ts";
import { openLlama, type NativeLlama } from "../../../../ffi/llama/binding.ts";
import { PROJECTOR_DEFAULTS, type Media } from "../../../../ffi/media/api.ts";
import { openMedia } from "../../../../ffi/media/binding.ts";
import { hasGpuBackend } from "../../../../ffi/runtime/native-files.ts";
import { systemClock } from "../../../domain/clock.ts";
import { TraceFile } from "../../../telemetry/trace-file.ts";
import { untilLoaded } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { findProgram, runProgram } from "../../process/program.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import {
  withContents,
  type EngineOptions,
  type FromTextEngine,
  type TextEvent,
  type TextJob,
  type TextReady,
  type TextReport,
} from "../protocol.ts";
import { DecisionLog } from "./decision-log.ts";
import { Engine, type KvFolders } from "./engine.ts";
import { kvFingerprint } from "./kv-fingerprint.ts";
import { KvFolder } from "./kv-folder.ts";
import type { EngineObserver } from "./observer.ts";
import { promptLimits } from "./prompt-bounds.ts";
import { Profiler } from "./profiler.ts";
import { SlotFolder } from "./slot-folder.ts";
import type { SoundQueue } from "./sound-queue.ts";
import { StepCounter } from "./step-counter.ts";
import { Tracer } from "./tracer.ts";

/** Sequences in addition to the running ones, for prefixes of finished requests; and llama.cpp's limit. */
const IDLE_SEQUENCES = 64;
const MOST_SEQUENCES = 256;
/** Bytes that llama.cpp keeps about each cell of a paged sequence, used or not, and their limit for idle sequences. */
const NOTED_BYTES = 48;
const MOST_NOTED_BYTES = 64 * 2 ** 20;

type Send = (message: FromTextEngine) => void;

export const textKind: EngineKind<EngineOptions, TextReady, TextJob, TextEvent, TextReport> = {
  async load(options, send) {
    const llama = await loadModel(options, send);
    const media = options.mmprojPath === undefined ? undefined : await loadProjector(llama, options, send);
    const watching = observers(llama, options, send);
    const folders = kvFolders(llama, options);
    const sounds = media?.projector().audio ? await soundQueue(options, send) : undefined;
    const engine = new Engine(llama, options, send, systemClock, media, watching, folders, sounds);
    await folders.slots?.removeAbandoned();
    const onDisk = await engine.findStored();
    const mustEnd = onDisk !== undefined || options.traceFile !== undefined;
    return {
      ready: {
        model: describe(llama, media, options),
        limits: promptLimits(llama, options),
        ...(onDisk && { onDisk }),
      },
      loop: {
        submit: (key, job, contents) => engine.submit(key, withContents(job, contents)),
        cancel: (key, cause) => engine.cancel(key, cause),
        run: () => engine.run(),
        ...(mustEnd && { end: () => engine.end() }),
      },
    };
  },
};

function describe(llama: Llama, media: Media | undefined, options: EngineOptions): TextReady["model"] {
  const model = llama.model();
  const { architecture, description, parameters, bytes, trainedContext, context, template } = model;
  const { vision, audio } = media?.projector() ?? { vision: false, audio: false };
  const defaults = { ...SAMPLER_DEFAULTS, ...model.sampling, ...options.sampling };
  const { temperature, topP, presencePenalty } = defaults;
  return {
    path: options.modelPath,
    maxModelLen: options.maxModelLen,
    parallel: options.parallel,
    sampling: { temperature, topP, presencePenalty },
    defaults,
    architecture,
    description,
    parameters,
    bytes,
    trainedContext,
    context,
    template,
    device: [...workersOf(options).map(({ name }) => `worker ${name}`), model.device].join(", "),
    vision,
    audio,
    chatTemplate: { source: model.chatTemplate, bos: model.bosToken, eos: model.eosToken },
  };
}

function observers(
  llama: Llama,
  { kvTokenBytes, traceFile, logsDecisions }: EngineOptions,
  send: Send,
): EngineObserver[] {
  const counter = new StepCounter((steps) => send({ type: "report", report: { steps } }));
  const all: EngineObserver[] = [new Profiler({ ...llama.model(), kvTokenBytes }, systemClock), counter];
  if (logsDecisions) all.push(new DecisionLog((text, fields) => send({ type: "log", level: "verbose", text, fields })));
  if (traceFile === undefined) return all;
  const file = new TraceFile(traceFile, (reason) => {
    send({ type: "log", level: "warn", text: `the trace ends here: ${reason}` });
  });
  process.on("exit", () => file.flush());
  return [...all, new Tracer(file, systemClock, process.pid)];
}

/** Returns the folders of `--kv-dir` and `--slot-save-path`, where they are set. */
function kvFolders(llama: Llama, options: EngineOptions): KvFolders {
  const { kvDir, slotDir, kvOrigin } = options;
  if (!kvOrigin) return {};
  const fingerprint = kvFingerprint({ ...options, kvOrigin }, llama.model(), llama.version);
  return {
    ...(kvDir && { cache: new KvFolder({ ...kvDir, fingerprint }) }),
    ...(slotDir !== undefined && { slots: new SlotFolder(slotDir, fingerprint) }),
  };
}

async function loadProjector(llama: NativeLlama, options: EngineOptions, send: Send): Promise<Media> {
  if (!readdirSync(options.libraries).some((name) => name.startsWith("libsvc_media."))) {
    throw new Error("the library for images and sound is not built: run `npm run build:media`");
  }
  const media = openMedia(options.libraries);
  media.loadStart(llama.modelPointer(), {
    ...PROJECTOR_DEFAULTS,
    path: options.mmprojPath ?? "",
    threads: options.threads,
    // Without a GPU backend it would take a worker's device for a GPU of this machine.
    gpu: options.gpuLayers !== 0 && (workersOf(options).length === 0 || hasGpuBackend(options.libraries)),
    flashAttention: options.flashAttention,
  });
  // The projector's share of all loading is unknown: progress stays at that of the model, which is loaded.
  await untilLoaded(media, (notice) => send(notice.type === "progress" ? { ...notice, value: 1 } : notice));
  return media;
}

async function soundQueue({ libraries }: EngineOptions, send: Send): Promise<SoundQueue> {
  // The decoders take a while to load, which engines without ears save.
  const { SoundQueue } = await import("./sound-queue.ts");
  const note = (text: string) => send({ type: "log", level: "debug", text });
  const ffmpeg = findProgram("ffmpeg");
  const tools = { audio: openAudio(libraries), run: runProgram, note, ...(ffmpeg !== undefined && { ffmpeg }) };
  return new SoundQueue(tools, PROJECTOR_DEFAULTS.audioSeconds);
}

function sequencesOf({ parallel, kvMode, maxModelLen }: EngineOptions): number {
  const affordable = Math.floor(MOST_NOTED_BYTES / (NOTED_BYTES * maxModelLen));
  const idle = kvMode === "paged" ? Math.min(IDLE_SEQUENCES, affordable) : IDLE_SEQUENCES;
  return Math.min(parallel + idle, MOST_SEQUENCES);
}

const workersOf = ({ spread }: EngineOptions) => spread?.workers ?? [];

async function loadModel(options: EngineOptions, send: Send): Promise<NativeLlama> {
  const { parallel, threads, gpuLayers, mmap, mlock, warmup, draft, spread } = options;
  const llama = openLlama(options.libraries);
  llama.listenForAborts(ABORT_FD);
  llama.loadStart({
    threads,
    gpuLayers,
    flashAttention: flashAttentionOf(options),
    mmap,
    mlock,
    warmup,
    parallel,
    path: options.modelPath,
    context: options.context,
    sequences: sequencesOf(options),
    layout: options.kvMode,
    region: options.maxModelLen,
    batch: options.batch,
    microBatch: options.microBatch,
    kvType: options.kvType,
    chatTemplate: options.chatTemplate,
    adapters: options.adapterPaths,
    ...(spread && { spread: { ...spread, workers: spread.workers.map(({ endpoint }) => endpoint) } }),
    ...(draft && { draft: { path: draft.path, pMin: draft.pMin } }),
  });
  await untilLoaded(llama, (notice) => send(withoutAlarm(notice)));
  return llama;
}

/**
 * Returns whether flash attention is used. llama.cpp decides about `auto` with one token of each sequence. Those are so
 * many here that it would have GPUs compute them for the layers of the CPU, too; it then takes flash attention for
 * impossible, without which attention may take gigabytes.
 */
export const flashAttentionOf = ({
  flashAttention,
  isDivided,
}: Pick<EngineOptions, "flashAttention" | "isDivided">): EngineOptions["flashAttention"] =>
  flashAttention === "auto" && isDivided ? "on" : flashAttention;

type Notice = Parameters<Parameters<typeof untilLoaded>[1]>[0];

/** Lowers llama.cpp's warning of each tensor of an adapter that AMX cannot hold: it holds none, and nothing is wrong. */
const withoutAlarm = (notice: Notice): Notice =>
  notice.type === "log" && notice.text.includes("cannot use buft") ? { ...notice, level: "verbose" } : notice;

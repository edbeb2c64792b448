// Entry point of an engine process: loads the model it is told to, then serves until its parent goes away.

import { readdirSync } from "node:fs";
import { LlamaError, SAMPLER_DEFAULTS, type Llama } from "../../../../ffi/llama/api.ts";
import { openLlama, type NativeLlama } from "../../../../ffi/llama/binding.ts";
import { MediaError, PROJECTOR_DEFAULTS, type Media } from "../../../../ffi/media/api.ts";
import { openMedia } from "../../../../ffi/media/binding.ts";
import { systemClock } from "../../../domain/clock.ts";
import { TraceFile } from "../../../telemetry/trace-file.ts";
import { ABORT_FD, PROTOCOL_VERSION } from "../../process/protocol.ts";
import type { EngineOptions, FromEngine, ToEngine } from "../protocol.ts";
import { endUnloaded } from "../../process/end-unloaded.ts";
import { Engine } from "./engine.ts";
import { kvFingerprint } from "./kv-fingerprint.ts";
import { KvFolder } from "./kv-folder.ts";
import { Observers, type EngineObserver } from "./observer.ts";
import { Profiler } from "./profiler.ts";
import { StepCounter } from "./step-counter.ts";
import { Tracer } from "./tracer.ts";

const POLL_MS = 10;
/** Sequences beyond those that run, to keep what finished requests computed; and llama.cpp's limit. */
const IDLE_SEQUENCES = 64;
const MOST_SEQUENCES = 256;

type Send = (message: FromEngine) => void;

/** Runs the llama engine in this process; never returns. */
export async function runEngine(): Promise<never> {
  const send: Send = (message) => void process.send?.(message);
  process.on("disconnect", () => process.exit(0));
  // A Ctrl-C reaches the whole terminal group: the parent drains first and then ends this process.
  process.on("SIGINT", () => {});
  const early: ToEngine[] = [];
  let receive = (message: ToEngine): void => void early.push(message);
  const options = await new Promise<EngineOptions>((resolve) => {
    process.on("message", (message: ToEngine) => {
      if (message.type !== "load") {
        receive(message);
        return;
      }
      if (message.version !== PROTOCOL_VERSION) process.exit(70);
      resolve(message.options);
    });
  });

  let llama: NativeLlama;
  let media: Media | undefined;
  try {
    llama = await load(options, send);
    if (options.mmprojPath !== undefined) media = await loadProjector(llama, options, options.mmprojPath);
  } catch (error) {
    const known = error instanceof LlamaError || error instanceof MediaError;
    send({ type: "load-failed", message: known ? error.message : String(error) });
    return endUnloaded();
  }
  forwardLog(llama, send);
  const watching = observers(llama, options, send);
  const engine = new Engine(llama, options, send, systemClock, media, watching, kvFolder(llama, options));
  const onDisk = await engine.findStored();
  if (onDisk || options.traceFile !== undefined) {
    process.on("SIGTERM", () => void engine.end().finally(() => process.exit(0)));
  }
  receive = (message) => engine.receive(message);
  early.forEach(receive);
  const {
    canRemovePartial: _,
    canRollBack: _____,
    sampling: modelSampling,
    contextPerSequence: __,
    batch: ___,
    sequences: ____,
    ...model
  } = llama.model();
  const { vision, audio } = media?.projector() ?? { vision: false, audio: false };
  const { temperature, topP, presencePenalty } = { ...SAMPLER_DEFAULTS, ...modelSampling, ...options.sampling };
  const sampling = { temperature, topP, presencePenalty };
  send({ type: "ready", model: { ...model, vision, audio, sampling }, ...(onDisk && { onDisk }) });
  setInterval(() => forwardLog(llama, send), 1000).unref();
  return engine.run();
}

function observers(llama: Llama, { kvTokenBytes, traceFile }: EngineOptions, send: Send): EngineObserver {
  const all = [new Profiler({ ...llama.model(), kvTokenBytes }, systemClock), new StepCounter(send)];
  if (traceFile === undefined) return new Observers(all);
  const file = new TraceFile(traceFile, (reason) => {
    send({ type: "log", level: "warn", text: `the trace ends here: ${reason}` });
  });
  process.on("exit", () => file.flush());
  return new Observers([...all, new Tracer(file, systemClock, process.pid)]);
}

function kvFolder(llama: Llama, options: EngineOptions): KvFolder | undefined {
  const { kvDir } = options;
  if (!kvDir) return undefined;
  const fingerprint = kvFingerprint({ ...options, kvDir }, llama.model(), llama.version);
  return new KvFolder({ path: kvDir.path, limitBytes: kvDir.limitBytes, fingerprint });
}

async function loadProjector(llama: NativeLlama, options: EngineOptions, path: string): Promise<Media> {
  if (!readdirSync(options.libraries).some((name) => name.startsWith("libsvc_media."))) {
    throw new MediaError("the library for images and sound is not built: run `npm run build:media`");
  }
  const media = openMedia(options.libraries);
  media.loadStart(llama.modelPointer(), {
    ...PROJECTOR_DEFAULTS,
    path,
    threads: options.threads,
    gpu: options.gpuLayers !== 0,
    flashAttention: options.flashAttention,
  });
  for (;;) {
    const state = media.loadPoll();
    if (state.state === "ready") return media;
    if (state.state === "failed") throw new MediaError(state.error);
    await Bun.sleep(POLL_MS);
  }
}

async function load(options: EngineOptions, send: Send): Promise<NativeLlama> {
  const llama = openLlama(options.libraries);
  llama.listenForAborts(ABORT_FD);
  llama.loadStart({
    path: options.modelPath,
    context: options.context,
    parallel: options.parallel,
    sequences: Math.min(options.parallel + IDLE_SEQUENCES, MOST_SEQUENCES),
    unified: options.kvMode === "unified",
    batch: options.batch,
    microBatch: options.microBatch,
    threads: options.threads,
    gpuLayers: options.gpuLayers,
    flashAttention: options.flashAttention,
    kvType: options.kvType,
    mmap: options.mmap,
    mlock: options.mlock,
    warmup: options.warmup,
    chatTemplate: options.chatTemplate,
    adapters: options.adapterPaths,
    ...(options.draft && { draft: { path: options.draft.path, pMin: options.draft.pMin } }),
  });
  let reported = -1;
  for (;;) {
    const state = llama.loadPoll();
    if (state.state === "ready") return llama;
    forwardLog(llama, send);
    if (state.state === "failed") throw new LlamaError(state.error);
    if (state.progress - reported >= 0.01) send({ type: "progress", value: (reported = state.progress) });
    await Bun.sleep(POLL_MS);
  }
}

function forwardLog(llama: Llama, send: Send): void {
  for (const { level, text } of llama.drainLog()) send({ type: "log", level, text });
}

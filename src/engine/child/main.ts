// Entry point of an engine process: loads the model it is told to, then serves until its parent goes away.

import { LlamaError, type Llama } from "../../../ffi/llama/api.ts";
import { openLlama } from "../../../ffi/llama/binding.ts";
import { systemClock } from "../../domain/clock.ts";
import { ABORT_FD, PROTOCOL_VERSION, type EngineOptions, type FromEngine, type ToEngine } from "../protocol.ts";
import { Engine } from "./engine.ts";

const POLL_MS = 10;

/** Runs the llama engine in this process; never returns. */
export async function runEngine(): Promise<never> {
  const send = (message: FromEngine) => void process.send?.(message);
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

  let llama: Llama;
  try {
    llama = await load(options, send);
  } catch (error) {
    send({ type: "load-failed", message: error instanceof LlamaError ? error.message : String(error) });
    // Let the message leave before the process does.
    await Bun.sleep(50);
    process.exit(1);
  }
  forwardLog(llama, send);
  const engine = new Engine(llama, options, send, systemClock);
  receive = (message) => engine.receive(message);
  early.forEach(receive);
  const { canRemovePartial: _, sampling: __, contextPerSequence: ___, batch: ____, ...model } = llama.model();
  send({ type: "ready", model: { ...model, vision: false, audio: false } });
  setInterval(() => forwardLog(llama, send), 1000).unref();
  return engine.run();
}

async function load(options: EngineOptions, send: (message: FromEngine) => void): Promise<Llama> {
  const llama = openLlama(options.libraries);
  llama.listenForAborts(ABORT_FD);
  llama.loadStart({
    path: options.modelPath,
    context: options.context,
    parallel: options.parallel,
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

function forwardLog(llama: Llama, send: (message: FromEngine) => void): void {
  for (const { level, text } of llama.drainLog()) send({ type: "log", level, text });
}

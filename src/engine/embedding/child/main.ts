// Entry point of an embedding engine: loads the model it is told to, then serves until its parent goes away.

import { LlamaError } from "../../../../ffi/llama/api.ts";
import { openEmbedder, type Embedder } from "../../../../ffi/llama/embedder.ts";
import type { EmbedderOptions, FromEmbedder, ToEmbedder } from "../protocol.ts";
import { ABORT_FD, PROTOCOL_VERSION } from "../../process/protocol.ts";
import { endUnloaded } from "../../process/end-unloaded.ts";
import { EmbeddingWorker, TOKENS_AT_ONCE } from "./worker.ts";

const POLL_MS = 10;
/** Inputs at once; llama.cpp's limit is 256. */
const INPUTS_AT_ONCE = 64;

type Send = (message: FromEmbedder) => void;

/** Runs the embedding engine in this process; never returns. */
export async function runEmbedder(): Promise<never> {
  const send: Send = (message) => void process.send?.(message);
  process.on("disconnect", () => process.exit(0));
  // A Ctrl-C reaches the whole terminal group: the parent drains first and then ends this process.
  process.on("SIGINT", () => {});
  const early: ToEmbedder[] = [];
  let receive = (message: ToEmbedder): void => void early.push(message);
  const options = await new Promise<EmbedderOptions>((resolve) => {
    process.on("message", (message: ToEmbedder) => {
      if (message.type !== "load") return receive(message);
      if (message.version !== PROTOCOL_VERSION) process.exit(70);
      resolve(message.options);
    });
  });
  const embedder = await load(options, send);
  const worker = new EmbeddingWorker(embedder, options, send);
  receive = (message) => worker.receive(message);
  early.forEach(receive);
  const { architecture, description, parameters, bytes, dimensions, device } = embedder.model();
  send({ type: "ready", model: { architecture, description, parameters, bytes, dimensions, device } });
  setInterval(() => forwardLog(embedder, send), 1000).unref();
  return worker.run();
}

async function load(options: EmbedderOptions, send: Send): Promise<Embedder> {
  try {
    const embedder = openEmbedder(options.libraries);
    embedder.listenForAborts(ABORT_FD);
    const { modelPath: path, kind: embedding, maxTokens, threads, gpuLayers, flashAttention } = options;
    const { mmap, mlock, warmup } = options;
    const batch = Math.max(maxTokens, TOKENS_AT_ONCE);
    const sizes = { batch, sequences: INPUTS_AT_ONCE, threads };
    embedder.loadStart({ path, embedding, ...sizes, gpuLayers, flashAttention, mmap, mlock, warmup });
    for (;;) {
      const state = embedder.loadPoll();
      if (state.state === "ready") return embedder;
      forwardLog(embedder, send);
      if (state.state === "failed") throw new LlamaError(state.error);
      await Bun.sleep(POLL_MS);
    }
  } catch (error) {
    send({ type: "load-failed", message: error instanceof LlamaError ? error.message : String(error) });
    return endUnloaded();
  }
}

function forwardLog(embedder: Embedder, send: Send): void {
  for (const { level, text } of embedder.drainLog()) send({ type: "log", level, text });
}

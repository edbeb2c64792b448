// Options for how the engine computes.

import { boolean, choice, integer, list, number, path, seconds } from "../option-types.ts";
import { parseShares, parseWorkers } from "../worker-option.ts";

export const engineOptions = {
  parallel: integer(1, 256, {
    aliases: ["concurrent", "n-parallel"],
    default: 32,
    help: "Maximum concurrent requests for each chat, embedding or reranking model; further requests wait in its queue.",
  }),
  threads: integer(1, 512, {
    absent: "the physical cores, at most those that a container or service may use",
    example: 4,
    help: "Maximum CPU threads for inference; fewer are used while other programs need the cores.",
  }),
  gpuLayers: integer(-1, 10_000, {
    aliases: ["n-gpu-layers"],
    default: -1,
    help: "Model layers to run on GPUs, if the build supports them. -1: all; of chat models, as many as fit into the memory of the GPUs.",
  }),
  workers: list({
    name: "worker",
    aliases: ["rpc"],
    placeholder: "HOST[:PORT]",
    example: ["192.168.1.20"],
    to: parseWorkers,
    help: "Machine that runs svc worker; its devices compute layers of the model. Repeatable. Default port: 50052. Traffic is not encrypted.",
  }),
  splitMode: choice(["layer", "row", "none"], {
    default: "layer",
    help: "How the model is divided over several devices. layer: each device computes whole layers. row: each layer is split by rows, on GPUs of this machine that support it. none: everything runs on --main-gpu.",
  }),
  mainGpu: integer(0, 15, {
    default: 0,
    help: "Device that computes the model with --split-mode none. Devices are counted from 0: first the workers in their order, then the GPUs of this machine.",
  }),
  tensorSplit: list({
    placeholder: "SHARE",
    example: ["3", "1"],
    to: parseShares,
    help: "Share of the model for each device, workers first, such as 3,1. Default: in proportion to free memory.",
  }),
  flashAttention: choice(["auto", "on", "off"], { aliases: ["flash-attn"], default: "auto", help: "Flash attention." }),
  kvType: choice(["f16", "q8_0", "q4_0", "f32", "bf16", "8", "4", "16"], {
    aliases: ["kv-bits", "cache-type-k"],
    default: "f16",
    to: (type) => (type === "8" ? "q8_0" : type === "4" ? "q4_0" : type === "16" ? "f16" : type),
    help: "Data type of the KV cache; 4, 8 and 16 mean q4_0, q8_0 and f16.",
  }),
  kvMode: choice(["auto", "paged", "unified", "streams"], {
    default: "auto",
    help: "How requests share the KV cache. paged: each request has its own region, which grows as needed, so that requests do not slow each other down (only on the CPU under Linux). unified: all requests share one region. streams: each of the --parallel requests has a fixed share. auto: paged where it is possible; otherwise streams if the shares are large enough, else unified.",
  }),
  contextShift: boolean({
    default: false,
    help: "When prompt and answer fill the context, drop their older half and continue; the remaining tokens are computed again. The first token is kept, or the first n_keep tokens of a request to /completion. Without this option, such an answer ends with finish_reason length. Does not apply to requests with images or sound.",
  }),
  prefixCache: boolean({
    default: true,
    help: "Compute shared prefixes of prompts once and cache them for later requests; --no-prefix-cache computes every prompt in full.",
  }),
  cacheRam: integer(0, 16_777_216, {
    absent: "a quarter of the free memory, at most 8192",
    example: 4096,
    help: "Size of the host cache in MiB. Finished requests are offloaded to it when the KV cache is full. 0: no host cache.",
  }),
  kvDir: path({
    placeholder: "DIR",
    example: "kv-cache",
    help: "Folder of the disk cache. The host cache is offloaded to it when it is full and when the server stops, so that conversations continue after a restart. It holds prompts and answers, so only its owner may have access. Created if missing.",
  }),
  kvDirSize: integer(1, 16_777_216, {
    default: 8192,
    help: "Maximum size of the disk cache in MiB; the least recently used entries are evicted first.",
  }),
  slotSavePath: path({
    placeholder: "DIR",
    example: "slots",
    help: "Folder for slot files, which POST /slots/{id_slot} writes with action=save and reads with action=restore. They hold prompts and answers, so only the owner of the folder may have access. Created if missing.",
  }),
  speculation: boolean({
    default: true,
    help: "Speculative decoding: propose tokens where an answer repeats earlier text (with --draft also elsewhere) and verify them together. Answers do not change.",
  }),
  draftMax: integer(1, 32, { default: 8, help: "Maximum speculative tokens of the draft model per verification." }),
  draftPMin: number(0, 1, {
    default: 0,
    help: "Minimum probability of a draft token; a less probable token ends the draft.",
  }),
  draftAdaptive: boolean({
    default: true,
    help: "Draft only as many tokens as pay off, possibly none; --no-draft-adaptive always drafts --draft-max.",
  }),
  batch: integer(32, 16_384, { aliases: ["b", "batch-size"], default: 512, help: "Maximum tokens per step." }),
  microBatch: integer(32, 16_384, {
    aliases: ["ubatch-size"],
    default: 512,
    help: "Maximum tokens that kernels process at once; at most --batch.",
  }),
  stallBudgetMs: integer(1, 60_000, {
    name: "stall-budget",
    default: 50,
    help: "Maximum gap in milliseconds between tokens of running streams while another prompt is computed (chunked prefill). The gap may always be as long as two decode steps or a single operation of the model, and, on a GPU or with sliding-window or recurrent models, as the computation of 16 prompt tokens. Several waiting prompts may extend it to 1.5 seconds.",
  }),
  mmap: boolean({ default: true, help: "Memory-map the model file instead of reading it." }),
  mlock: boolean({ default: false, help: "Lock the model in memory." }),
  warmup: boolean({ default: true, help: "Run the model once at start, so that the first request is fast." }),
  engineTimeoutMs: seconds(0, 86_400, {
    name: "engine-timeout",
    default: 60,
    help: "Seconds without a sign of life from an engine process, or without progress while it loads, after which it is killed and restarted. Image models get 60 seconds more, Kokoro 120. 1 to 4 count as 5; 0: never.",
  }),
  // The maximum keeps the milliseconds below 2^31, the limit of timers.
  idleUnloadMs: number(0, 35_000, {
    name: "idle-unload",
    default: 5,
    to: (minutes) => Math.round(60_000 * minutes),
    help: "Minutes without a request after which a model that was loaded on first use is unloaded; 0: only when another model needs its memory.",
  }),
};

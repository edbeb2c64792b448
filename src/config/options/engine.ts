// Options for how the engine computes.

import { boolean, choice, integer, list, number, path, seconds } from "../option-types.ts";
import { parseShares, parseWorkers } from "../worker-option.ts";

export const engineOptions = {
  parallel: integer(1, 256, {
    aliases: ["concurrent", "n-parallel"],
    default: 32,
    help: "Maximum concurrent requests; the rest queue.",
  }),
  threads: integer(1, 512, {
    absent: "the physical cores, or what a container may use of them",
    help: "CPU threads for inference, at most: fewer compute while other programs want the cores.",
  }),
  gpuLayers: integer(-1, 10_000, {
    aliases: ["n-gpu-layers"],
    default: -1,
    help: "Model layers to run on a GPU, if the build supports one; -1: all.",
  }),
  workers: list({
    name: "worker",
    aliases: ["rpc"],
    placeholder: "HOST[:PORT]",
    to: parseWorkers,
    help: "Machine that runs svc worker, whose devices compute layers of the model. Repeatable; the default port is 50052. Not encrypted.",
  }),
  splitMode: choice(["layer", "row", "none"], {
    default: "layer",
    help: "How the model is divided over several devices. layer: whole layers each. row: each layer by rows, where GPUs of this machine can. none: all on --main-gpu.",
  }),
  mainGpu: integer(0, 15, {
    default: 0,
    help: "Device that computes the model with --split-mode none, counted from 0: workers first, in their order, then the GPUs of this machine.",
  }),
  tensorSplit: list({
    placeholder: "SHARE,…",
    to: parseShares,
    help: "Share of the model for each device, workers first, such as 3,1. Default: by their free memory.",
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
    help: "How requests share the KV cache. paged: each takes memory as it grows, in a region of its own, so that others do not slow it down (on the CPU, under Linux). unified: all in one piece. streams: each of --parallel has a fixed share. auto: paged; where that is not possible, streams if the shares are large enough, else unified.",
  }),
  contextShift: boolean({
    default: false,
    help: "Where prompt and answer fill the context, drop the older half of them and go on; the rest is computed again. The first token stays, or the first n_keep tokens of a request to /completion. Without it such an answer ends with finish_reason length. Not for requests with images or sound.",
  }),
  prefixCache: boolean({
    default: true,
    help: "Compute shared prefixes of prompts once and cache them for later requests; --no-prefix-cache computes every prompt in full.",
  }),
  cacheRam: integer(0, 16_777_216, {
    absent: "a quarter of the free memory, at most 8192",
    help: "Host cache in MiB, to which finished requests are offloaded when the KV cache is full; 0: none.",
  }),
  kvDir: path({
    placeholder: "DIR",
    help: "Folder of the disk cache, to which the host cache is offloaded when it is full and when the server stops: conversations continue after a restart. It holds prompts and answers, so only its owner may have access. Created if missing.",
  }),
  kvDirSize: integer(1, 16_777_216, {
    default: 8192,
    help: "Maximum size of the disk cache in MiB; the least recently used is evicted first.",
  }),
  slotSavePath: path({
    placeholder: "DIR",
    help: "Folder for slots, which POST /slots/{id_slot}?action=save writes there and restore reads. They hold prompts and answers, so only its owner may have access. Created if missing.",
  }),
  speculation: boolean({
    default: true,
    help: "Speculative decoding: propose tokens where an answer repeats earlier text, and with --draft elsewhere, and verify them together. Answers do not change.",
  }),
  draftMax: integer(1, 32, { default: 8, help: "Maximum speculative tokens of the draft model per verification." }),
  draftPMin: number(0, 1, {
    default: 0,
    help: "Minimum probability of a draft token; a less probable one ends the draft.",
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
    help: "Maximum gap in milliseconds between tokens of running streams while another prompt is computed (chunked prefill). At least two decode steps, or what a single operation of the model takes, or, on a GPU and with sliding windows or recurrent states, a chunk of 16 tokens; several waiting prompts may cause up to 1.5 seconds.",
  }),
  mmap: boolean({ default: true, help: "Memory-map the model file instead of reading it." }),
  mlock: boolean({ default: false, help: "Lock the model in memory." }),
  warmup: boolean({ default: true, help: "Run the model once at start, so that the first request is fast." }),
  engineTimeoutMs: seconds(0, 86_400, {
    name: "engine-timeout",
    default: 60,
    help: "Seconds without a sign of life of an engine process, or without progress while it loads, after which it is killed and restarted; 1 to 4 count as 5, 0: never.",
  }),
  // The maximum keeps the milliseconds below 2^31, the limit of timers.
  idleUnloadMs: number(0, 35_000, {
    name: "idle-unload",
    default: 5,
    to: (minutes) => Math.round(60_000 * minutes),
    help: "Minutes without a request after which a model that was loaded on first use is unloaded; 0: only when another one needs its memory.",
  }),
};

// How the engine computes.

import { boolean, choice, integer, number, path } from "../option-types.ts";

export const engineOptions = {
  parallel: integer(1, 256, {
    aliases: ["concurrent"],
    default: 32,
    help: "Requests that are computed at once; more wait.",
  }),
  threads: integer(1, 512, { absent: "the number of physical cores", help: "Threads that compute." }),
  gpuLayers: integer(-1, 10_000, {
    default: -1,
    help: "Layers to compute on a GPU, when the build has one; -1 is all.",
  }),
  flashAttention: choice(["auto", "on", "off"], { default: "auto", help: "Flash attention." }),
  kvType: choice(["f16", "q8_0", "q4_0", "f32", "bf16", "8", "4", "16"], {
    aliases: ["kv-bits"],
    default: "f16",
    to: (type) => (type === "8" ? "q8_0" : type === "4" ? "q4_0" : type === "16" ? "f16" : type),
    help: "Number format of the KV cache; 4, 8 and 16 mean q4_0, q8_0 and f16.",
  }),
  kvMode: choice(["auto", "unified", "streams"], {
    default: "auto",
    help: "unified: requests divide the context freely. streams: each of --parallel has a fixed share, which is faster with many at once. auto: streams where that leaves each enough, else unified.",
  }),
  prefixCache: boolean({
    default: true,
    help: "Compute what requests have in common once, and keep what they computed for later ones; --no-prefix-cache computes each whole prompt.",
  }),
  cacheRam: integer(0, 16_777_216, {
    absent: "a quarter of the free memory, at most 8192",
    help: "Memory in MiB for what finished requests computed and the KV cache has no room for; 0 is none.",
  }),
  kvDir: path({
    placeholder: "DIR",
    help: "Folder for what leaves that memory, and for all of it when the server stops: conversations go on after a restart. It holds prompts and answers, so it must be open to its owner alone; it is made when it is not there.",
  }),
  kvDirSize: integer(1, 16_777_216, {
    default: 8192,
    help: "Most MiB in that folder; what was not used for the longest time goes first.",
  }),
  speculation: boolean({
    default: true,
    help: "Guess next tokens where an answer repeats what was said before, and with --draft elsewhere, and check them together; the answers are the same without.",
  }),
  draftMax: integer(1, 32, { default: 8, help: "Most tokens that the draft model guesses ahead of one check." }),
  draftPMin: number(0, 1, {
    default: 0,
    help: "Least probability that the draft model must give a token; a less probable one ends the guesses.",
  }),
  draftAdaptive: boolean({
    default: true,
    help: "Draft as many tokens as pay, none included; --no-draft-adaptive always drafts --draft-max.",
  }),
  batch: integer(32, 16_384, { default: 512, help: "Most tokens in one step." }),
  microBatch: integer(32, 16_384, { default: 512, help: "Tokens that the kernels take at once." }),
  stallBudgetMs: integer(1, 60_000, {
    name: "stall-budget",
    default: 50,
    help: "Longest time in milliseconds between two tokens of running streams while another request's prompt is computed; at least two decode steps, and as far as operations of the model allow, or, on a GPU and with sliding windows or recurrent states, pieces of 16 tokens; several that wait together may cause up to 1.5 seconds.",
  }),
  mmap: boolean({ default: true, help: "Map the model file into memory instead of reading it." }),
  mlock: boolean({ default: false, help: "Keep the model in memory." }),
  warmup: boolean({ default: true, help: "Compute once at start, so that the first request is fast." }),
  idleUnloadMs: number(0, 100_000, {
    name: "idle-unload",
    default: 5,
    to: (minutes) => Math.round(60_000 * minutes),
    help: "Minutes without a request after which a model that was loaded on first use is unloaded; 0: never.",
  }),
};

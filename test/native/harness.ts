// The real library with svc-mini, and the basic operations of native tests.

import { toArrayBuffer, type Pointer } from "bun:ffi";
import { join } from "node:path";
import {
  LlamaError,
  SAMPLER_DEFAULTS,
  type Batch,
  type ChatPrompt,
  type LoadConfig,
  type PromptRequest,
  type SamplerConfig,
  type SamplerId,
} from "../../ffi/llama/api.ts";
import { openLlama, type NativeLlama } from "../../ffi/llama/binding.ts";
import type { Media, MediaJob } from "../../ffi/media/api.ts";
import { developmentLibraries } from "../../ffi/runtime/native-files.ts";

export const MODEL = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");

const GREEDY: SamplerConfig = { ...SAMPLER_DEFAULTS, temperature: 0, seed: 1 };

/** Opens the library built by `npm run build:native`, or the one that SVC_LIBRARIES names. */
export function library(): NativeLlama {
  return openLlama(process.env["SVC_LIBRARIES"] ?? developmentLibraries());
}

export function loadConfig(changes: Partial<LoadConfig> = {}): LoadConfig {
  return {
    path: MODEL,
    context: 2048,
    parallel: 4,
    sequences: 4,
    layout: "unified",
    region: changes.context ?? 2048,
    batch: 512,
    microBatch: 512,
    // Two threads would wait for each other at every operation when another process uses a core.
    threads: 1,
    gpuLayers: 0,
    flashAttention: "auto",
    kvType: "f16",
    mmap: true,
    mlock: false,
    warmup: true,
    chatTemplate: "",
    adapters: [],
    ...changes,
  };
}

/** Loads a model completely; resolves with the error message, or undefined. */
export async function load(llama: NativeLlama, changes: Partial<LoadConfig> = {}): Promise<string | undefined> {
  llama.loadStart(loadConfig(changes));
  for (;;) {
    const state = llama.loadPoll();
    if (state.state === "ready") return undefined;
    if (state.state === "failed") return state.error;
    await Bun.sleep(2);
  }
}

/** Returns tokens, answer format and sampler of one prompt. Throws LlamaError when it fails. */
export function prompt(llama: NativeLlama, request: PromptRequest) {
  const job = llama.submitPrompt(request);
  const result = llama.takePrompt(60_000);
  if (!result || result.job !== job) throw new Error("no result for this prompt");
  if ("error" in result) throw new LlamaError(result.error, result.code);
  return result;
}

/** Returns a conversation with default options. */
export function chat(messages: readonly object[], changes: Partial<ChatPrompt> = {}): ChatPrompt {
  return {
    messages,
    tools: [],
    enforced: (changes.tools ?? []).map((tool) => (tool as { function: { parameters: object } }).function.parameters),
    toolChoice: "auto",
    parallelToolCalls: true,
    constrain: true,
    kwargs: {},
    enableThinking: false,
    generationPrompt: true,
    continueLast: false,
    media: false,
    sampler: GREEDY,
    ...changes,
  };
}

export function question(llama: NativeLlama, content: string): Int32Array {
  const { tokens, sampler: slot } = prompt(llama, chat([{ role: "user", content }]));
  if (slot !== undefined) llama.freeSampler(slot);
  return tokens;
}

export function tokenize(llama: NativeLlama, text: string): Int32Array {
  return prompt(llama, { text, parseSpecial: false, addSpecial: false }).tokens;
}

/** Returns the text of tokens, with the bytes of their pieces joined. */
export function textOf(llama: NativeLlama, tokens: Iterable<number>): string {
  return Buffer.concat([...tokens].map((token) => llama.piece(token))).toString("utf8");
}

/** Returns a sampler whose repetition window holds `text`. */
export function sampler(llama: NativeLlama, changes: Partial<SamplerConfig> = {}, text = ""): SamplerId {
  const config = { ...GREEDY, ...changes };
  const { sampler: slot } = prompt(llama, { text, parseSpecial: false, addSpecial: false, sampler: config });
  if (slot === undefined) throw new Error("no sampler was made");
  return slot;
}

export interface Row {
  readonly token: number;
  readonly position: number;
  readonly sequence: number;
  readonly sampler?: SamplerId;
  /** The request that may abort the computation. */
  readonly owner?: number;
}

/** `owner`: of the rows that have none. */
function batchOf(rows: readonly Row[], owner = 0): Batch {
  const column = (value: (row: Row) => number) => Int32Array.from(rows, value);
  return {
    tokens: column((row) => row.token),
    positions: column((row) => row.position),
    sequences: column((row) => row.sequence),
    samplers: column((row) => row.sampler ?? -1),
    owners: column((row) => row.owner ?? owner),
  };
}

/** Begins a chunk that can be paused. */
export function chunkBegin(llama: NativeLlama, rows: readonly Row[], owner = 0): void {
  llama.chunkBegin(batchOf(rows, owner), rows.length);
}

/** Makes one decode call. Returns the sampled tokens, or the other result. */
export function decode(
  llama: NativeLlama,
  rows: readonly Row[],
  owner = 0,
  steps = 1,
  together = false,
): number[] | "no-capacity" | "aborted" {
  const sampled = new Int32Array(rows.length * steps);
  const result = llama.decode(batchOf(rows, owner), rows.length, { steps, together }, sampled);
  const wanted = rows.filter((row) => row.sampler !== undefined).length;
  return result === "done" ? [...sampled.subarray(0, wanted * steps)] : result;
}

/** Returns the rows of a whole prompt; the last one is sampled when there is a sampler. */
export function prefill(tokens: ArrayLike<number>, sequence: number, last?: SamplerId, from = 0): Row[] {
  return Array.from(tokens, (token, index) => ({
    token,
    position: from + index,
    sequence,
    ...(last !== undefined && index === tokens.length - 1 && { sampler: last }),
  }));
}

export interface Stream {
  readonly sequence: number;
  readonly tokens: ArrayLike<number>;
  readonly sampler: SamplerId;
}

/** Empties all sequences, and ends a chunk that is paused. */
export function clear(llama: NativeLlama): void {
  llama.chunkAbandon();
  for (let sequence = 0; sequence < llama.model().sequences; sequence++) llama.kvRemove(sequence, 0, -1);
}

/** Generates `count` tokens for each prompt, all in one batch per step, with the prompts in the first. */
export function generate(llama: NativeLlama, streams: readonly Stream[], count: number): number[][] {
  const out: number[][] = streams.map(() => []);
  let rows = streams.flatMap(({ sequence, tokens, sampler: last }) => prefill(tokens, sequence, last));
  for (let step = 0; step < count; step++) {
    const sampled = decode(llama, rows);
    if (typeof sampled === "string") throw new Error(sampled);
    rows = streams.map(({ sequence, tokens, sampler: last }, index) => {
      const token = sampled[index] as number;
      out[index]?.push(token);
      return { token, position: tokens.length + step, sequence, sampler: last };
    });
  }
  return out;
}

/** Returns the greedy answer to a question on an empty cache, up to the end token. */
export function answer(llama: NativeLlama, content: string, count = 40): string {
  clear(llama);
  const slot = sampler(llama);
  const [tokens = []] = generate(llama, [{ sequence: 0, tokens: question(llama, content), sampler: slot }], count);
  llama.freeSampler(slot);
  const end = tokens.findIndex((token) => llama.isEnd(token));
  return textOf(llama, end < 0 ? tokens : tokens.slice(0, end));
}

/** Returns a copy of the embeddings of a media chunk. */
export function copyEmbeddings(media: Media, job: MediaJob, chunk: number): Float32Array {
  const address = media.embeddings(job, chunk);
  if (address === 0n) throw new Error("the chunk is not encoded");
  const bytes = Number(media.chunks(job)[chunk]?.tokens) * media.projector().width * Float32Array.BYTES_PER_ELEMENT;
  return new Float32Array(toArrayBuffer(Number(address) as Pointer, 0, bytes).slice(0));
}

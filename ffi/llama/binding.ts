// The llama shim through bun:ffi: a typed API on top, no pointers and no JSON above this file.

import { dlopen } from "bun:ffi";
import { join } from "node:path";
import { allocate, release } from "./allocate.ts";
import {
  LlamaError,
  PLAIN_FORMAT,
  type AdapterScale,
  type AnswerFormat,
  type AnswerNews,
  type Batch,
  type ChunkResult,
  type DecodeResult,
  type Drafted,
  type DraftJob,
  type Embeddings,
  type Llama,
  type LoadConfig,
  type LoadedModel,
  type LoadState,
  type PromptRequest,
  type PromptResult,
  type SamplerId,
} from "./api.ts";
import { symbols } from "./symbols.ts";

/** What this file was written for; the library must say the same. */
const ABI_VERSION = 6;
/** Name of the shim in its folder. */
export const LIBRARY = process.platform === "darwin" ? "libsvc_llama.dylib" : "libsvc_llama.so";
const TEXT_BYTES = 64 * 1024;
const PIECE_BYTES = 256;
const GRAMMAR_BYTES = 4 * 1024 * 1024;
/** What svc_prompt_tokens_count says when the request's own grammar is at fault. */
const BAD_GRAMMAR = -2;
/** What svc_chunk_resume says when there is more to compute. */
const PAUSED = 3;
/** What svc_draft says when the draft model's KV cache is full. */
const NO_ROOM = -2;
/** A sampled token and its alternatives. */
const MOST_LOGPROBS = 1 + 1024;

/** The real library can also let go of its model. */
export interface NativeLlama extends Llama {
  /** Frees the model and everything made with it, so that another can be loaded. Throws LlamaError while one loads. */
  unload(): void;
  /** Address of the llama_model, for other native libraries in this process. */
  modelPointer(): bigint;
  /** The GBNF that llama.cpp makes of a JSON schema. Throws LlamaError when it cannot. */
  schemaGrammar(schema: unknown): string;
  /** Returns `result`, or throws LlamaError with the library's own sentence when it is negative. */
  check(result: number, action: string): number;
  /** Whether a whole text follows a grammar. Throws LlamaError when the grammar is invalid. */
  grammarAccepts(grammar: string, text: string): boolean;
}

type Native = ReturnType<typeof dlopen<typeof symbols>>["symbols"];

/**
 * Loads the library set in `directory` and its compute backends. Once a process.
 * Throws LlamaError naming the path when the set is missing, incomplete or of another version.
 */
export function openLlama(directory: string): NativeLlama {
  const path = join(directory, LIBRARY);
  const native = load(path);
  const version = native.svc_abi_version();
  if (version !== ABI_VERSION) {
    throw new LlamaError(`${path} has interface version ${version}, this program needs ${ABI_VERSION}: rebuild it`);
  }
  const binding = new Binding(native);
  binding.check(native.svc_init(directory), "initialise");
  return binding;
}

function load(path: string): Native {
  try {
    return dlopen(path, symbols).symbols;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LlamaError(`cannot load the native library ${path}: ${reason}`);
  }
}

type LogLine = ReturnType<Llama["drainLog"]>[number];

class Binding implements NativeLlama {
  private text = new Uint8Array(TEXT_BYTES);
  private readonly pieceBuffer = new Uint8Array(PIECE_BYTES);
  private pieces: Uint8Array[] = [];
  /** Prompts with media that are not taken yet. */
  private readonly mediaJobs = new Set<number>();
  private specialPieces: Uint8Array[] = [];
  private readonly logprobIds = new Int32Array(MOST_LOGPROBS);
  private readonly logprobValues = new Float32Array(MOST_LOGPROBS);
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();

  constructor(private readonly native: Native) {}

  get version(): string {
    return String(this.native.svc_library_version());
  }

  loadStart(config: LoadConfig): void {
    const json = this.json(config);
    this.check(this.native.svc_load_start(json, json.length), "start loading");
  }

  loadPoll(): LoadState {
    const state = this.native.svc_load_poll();
    if (state === 0) return { state: "loading", progress: this.native.svc_load_progress() };
    return state === 1 ? { state: "ready" } : { state: "failed", error: this.lastError() };
  }

  unload(): void {
    this.check(this.native.svc_unload(), "unload the model");
    this.pieces = [];
    this.specialPieces = [];
  }

  model(): LoadedModel {
    const length = this.check(this.native.svc_model_info(this.text, TEXT_BYTES), "describe the model");
    return this.parse(length) as LoadedModel;
  }

  submitPrompt(request: PromptRequest): number {
    const json = this.json(request);
    const job = this.check(this.native.svc_prompt_submit(json, json.length), "submit a prompt");
    if ("media" in request && request.media) this.mediaJobs.add(job);
    return job;
  }

  takePrompt(timeoutMs: number): PromptResult | undefined {
    const job = this.native.svc_prompt_wait(timeoutMs);
    if (job === 0) return undefined;
    const count = this.native.svc_prompt_tokens_count(job);
    if (count < 0) this.mediaJobs.delete(job);
    if (count < 0) return { job, error: this.lastError(), badGrammar: count === BAD_GRAMMAR };
    const text = this.mediaJobs.delete(job) ? this.promptText(job) : undefined;
    // One more than needed: an empty array has no address.
    const tokens = new Int32Array(count + 1);
    const length = this.check(
      this.native.svc_prompt_take(job, tokens, count, this.text, TEXT_BYTES),
      "take a rendered prompt",
    );
    const { sampler, ...format } = this.parse(length) as Partial<AnswerFormat> & { sampler?: SamplerId };
    return {
      job,
      tokens: tokens.subarray(0, count),
      format: { ...PLAIN_FORMAT, ...format },
      ...(text !== undefined && { text }),
      ...(sampler !== undefined && { sampler }),
    };
  }

  piece(token: number, special = false): Uint8Array {
    const known = special ? this.specialPieces : this.pieces;
    return (known[token] ??= this.readPiece(token, special));
  }

  isEnd(token: number): boolean {
    return this.native.svc_token_is_end(token) === 1;
  }

  freeSampler(sampler: SamplerId): void {
    this.native.svc_sampler_free(sampler);
  }

  isStuck(sampler: SamplerId): boolean {
    return this.native.svc_sampler_stuck(sampler) === 1;
  }

  pushAnswer(sampler: SamplerId, bytes: Uint8Array): void {
    if (bytes.length > 0) this.check(this.native.svc_answer_push(sampler, bytes, bytes.length), "push an answer");
  }

  readAnswer(sampler: SamplerId, final: boolean): AnswerNews | undefined {
    let length = this.native.svc_answer_read(sampler, Number(final), this.text, this.text.length);
    if (length < 0) {
      this.text = new Uint8Array(-length);
      length = this.native.svc_answer_read(sampler, Number(final), this.text, this.text.length);
    }
    return length === 0 ? undefined : (this.parse(length) as AnswerNews);
  }

  modelPointer(): bigint {
    return BigInt(this.native.svc_model_pointer());
  }

  schemaGrammar(schema: unknown): string {
    const json = this.json(schema);
    const out = new Uint8Array(GRAMMAR_BYTES);
    const length = this.native.svc_schema_grammar(json, json.length, out, out.length);
    return this.decoder.decode(out.subarray(0, this.check(length, "make a grammar of a schema")));
  }

  grammarAccepts(grammar: string, text: string): boolean {
    const source = this.encoder.encode(grammar);
    // One byte more: an empty array has no address.
    const words = this.encoder.encode(`${text}\n`);
    const result = this.native.svc_grammar_accepts(source, source.length, words, words.length - 1);
    return this.check(result, "use a grammar") === 1;
  }

  logprobs(sampler: SamplerId): { token: number; logprob: number }[] {
    const { logprobIds: ids, logprobValues: values } = this;
    const count = this.native.svc_sampler_logprobs(sampler, ids, values, MOST_LOGPROBS);
    return Array.from({ length: count }, (_, index) => ({
      token: ids[index] as number,
      logprob: values[index] as number,
    }));
  }

  decode(batch: Batch, count: number, owner: number, steps: number, sampled: Int32Array): DecodeResult {
    const { tokens, positions, sequences, samplers } = batch;
    return this.decoded(this.native.svc_decode(tokens, positions, sequences, samplers, count, owner, steps, sampled));
  }

  decodeEmbeddings({ address, positions, count, sequence, nonCausal }: Embeddings, owner: number): DecodeResult {
    const { native } = this;
    return this.decoded(native.svc_decode_embeddings(address, positions, count, sequence, Number(nonCausal), owner));
  }

  chunkBegin({ tokens, positions, sequences }: Batch, count: number): void {
    this.check(this.native.svc_chunk_begin(tokens, positions, sequences, count), "begin a chunk");
  }

  chunkResume(owner: number, ms: number): ChunkResult {
    const result = this.native.svc_chunk_resume(owner, ms);
    return result === PAUSED ? "paused" : this.decoded(result);
  }

  chunkAbandon(): void {
    this.native.svc_chunk_abandon();
  }

  draft(jobs: readonly DraftJob[]): Drafted | undefined {
    const numbers = Int32Array.from(
      jobs.flatMap(({ sequence, position, tokens, count }) => [sequence, position, tokens.length, count]),
    );
    // One more than needed: an empty array has no address.
    const fed = new Int32Array(jobs.reduce((sum, { tokens }) => sum + tokens.length, 1));
    let at = 0;
    for (const { tokens } of jobs) {
      fed.set(tokens, at);
      at += tokens.length;
    }
    const out = new Int32Array(jobs.reduce((sum, { count }) => sum + count, 1));
    const counts = new Int32Array(jobs.length);
    const rounds = this.native.svc_draft(numbers, jobs.length, fed, out, counts);
    if (rounds === NO_ROOM) return undefined;
    this.check(rounds, "draft");
    let start = 0;
    const tokens = jobs.map(({ count }, index) => {
      const drafted = counts[index] as number;
      start += count;
      return drafted < 0 ? undefined : out.subarray(start - count, start - count + drafted);
    });
    return { rounds, tokens };
  }

  listenForAborts(fd: number): void {
    this.check(this.native.svc_abort_listen(fd), "listen for aborts");
  }

  setAdapters(adapters: readonly AdapterScale[]): void {
    // One more than needed: an empty array has no address.
    const ids = new Int32Array(adapters.length + 1);
    const scales = new Float32Array(adapters.length + 1);
    for (const [at, { id, scale }] of adapters.entries()) [ids[at], scales[at]] = [id, scale];
    this.check(this.native.svc_adapters_set(ids, scales, adapters.length), "set the adapters");
  }

  kvRemove(sequence: number, from: number, to: number): boolean {
    return this.native.svc_kv_remove(sequence, from, to) === 1;
  }

  kvCopy(from: number, to: number, length: number): void {
    this.check(this.native.svc_kv_copy(from, to, length), "copy a sequence");
  }

  kvSave(sequence: number, from: number, to: number): Uint8Array | undefined {
    const size = this.native.svc_kv_save_begin(sequence, from, to);
    if (size <= 0) return undefined;
    const saved = allocate(size);
    if (!saved) return undefined;
    const written = this.native.svc_kv_save(saved, size);
    if (written > 0) return saved.subarray(0, written);
    release(saved);
    return undefined;
  }

  kvRestore(sequence: number, parts: readonly Uint8Array[]): boolean {
    const { native } = this;
    return parts.every((part, at) => native.svc_kv_restore(sequence, part, part.length, Number(at === 0)) === 1);
  }

  kvClear(): void {
    this.native.svc_kv_clear();
  }

  drainLog(): LogLine[] {
    const lines: LogLine[] = [];
    for (;;) {
      const length = this.native.svc_log_drain(this.text, TEXT_BYTES);
      if (length === 0) return lines;
      for (const line of this.decoder.decode(this.text.subarray(0, length)).trimEnd().split("\n")) {
        const tab = line.indexOf("\t");
        lines.push({ level: line.slice(0, tab) as LogLine["level"], text: line.slice(tab + 1) });
      }
    }
  }

  check(result: number, action: string): number {
    if (result < 0) throw new LlamaError(`cannot ${action}: ${this.lastError()}`);
    return result;
  }

  private decoded(result: number): DecodeResult {
    if (result === 0) return "done";
    if (result === 1) return "no-room";
    if (result === 2) return "aborted";
    throw new LlamaError(`cannot decode: ${this.lastError()}`);
  }

  private promptText(job: number): string {
    const length = this.native.svc_prompt_text(job, this.text, this.text.length);
    if (length >= 0) return this.decoder.decode(this.text.subarray(0, length));
    const larger = new Uint8Array(-length);
    return this.decoder.decode(larger.subarray(0, this.native.svc_prompt_text(job, larger, larger.length)));
  }

  private parse(length: number): unknown {
    return JSON.parse(this.decoder.decode(this.text.subarray(0, length)));
  }

  private lastError(): string {
    const length = this.native.svc_last_error(this.text, TEXT_BYTES);
    return this.decoder.decode(this.text.subarray(0, length));
  }

  private json(value: unknown): Uint8Array {
    return this.encoder.encode(JSON.stringify(value, wellFormed));
  }

  private readPiece(token: number, special: boolean): Uint8Array {
    const length = this.native.svc_token_piece(token, Number(special), this.pieceBuffer, PIECE_BYTES);
    if (length >= 0) return this.pieceBuffer.slice(0, length);
    const larger = new Uint8Array(-length);
    return larger.subarray(0, this.native.svc_token_piece(token, Number(special), larger, larger.length));
  }
}

/** Half a surrogate pair has no UTF-8, in a value or in a name; the native side would refuse its escape. */
function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (entries.every(([name]) => name.isWellFormed())) return value;
  return Object.fromEntries(entries.map(([name, inner]) => [name.toWellFormed(), inner]));
}

// Binds the llama shim through bun:ffi; callers above this file see a typed API, never pointers or JSON.

import { joined } from "../runtime/library.ts";
import { allocate, release } from "./allocate.ts";
import {
  CHUNK_RESULTS,
  DECODE_RESULTS,
  type AdapterScale,
  type AnswerUpdate,
  type Batch,
  type ChunkResult,
  type DecodeMode,
  type DecodeResult,
  type Drafted,
  type DraftJob,
  type Embeddings,
  type Llama,
  type LoadConfig,
  type LoadedModel,
  type SamplerId,
} from "./api.ts";
import { LlamaLibrary } from "./library.ts";

const PIECE_BYTES = 256;
/** Maximum entries per row: the sampled token and its alternatives. */
const MOST_LOGPROBS = 1 + 1024;

/**
 * Loads the library set in `directory` and its compute backends. Call it once per process.
 * Throws LlamaError naming the path when the set is missing, incomplete or has another version.
 */
export const openLlama = (directory: string): NativeLlama => new NativeLlama(directory);

export class NativeLlama extends LlamaLibrary<LoadConfig> implements Llama {
  private readonly pieceBuffer = new Uint8Array(PIECE_BYTES);
  private pieces: Uint8Array[] = [];
  private specialPieces: Uint8Array[] = [];
  private readonly logprobIds = new Int32Array(MOST_LOGPROBS);
  private readonly logprobValues = new Float32Array(MOST_LOGPROBS);

  get version(): string {
    return String(this.native.svc_library_version());
  }

  override unload(): void {
    super.unload();
    this.pieces = [];
    this.specialPieces = [];
  }

  model(): LoadedModel {
    return this.readJson(this.native.svc_model_info, "describe the model") as LoadedModel;
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

  readAnswer(sampler: SamplerId, final: boolean): AnswerUpdate | undefined {
    const json = this.read(
      (out, size) => this.native.svc_answer_read(sampler, Number(final), out, size),
      "read an answer",
    );
    return json === "" ? undefined : (JSON.parse(json) as AnswerUpdate);
  }

  /** Returns the address of the llama_model, for other native libraries in this process. */
  modelPointer(): bigint {
    return BigInt(this.native.svc_model_pointer());
  }

  /** Returns the GBNF that llama.cpp makes from a JSON schema. Throws LlamaError when llama.cpp cannot. */
  schemaGrammar(schema: unknown): string {
    const json = this.json(schema);
    return this.read(
      (out, size) => this.native.svc_schema_grammar(json, json.length, out, size),
      "make a grammar of a schema",
    );
  }

  /** Returns whether a whole text follows a grammar. Throws LlamaError when the grammar is invalid. */
  grammarAccepts(grammar: string, text: string): boolean {
    const source = this.bytes(grammar);
    const words = this.bytes(text);
    const result = this.native.svc_grammar_accepts(source, source.length - 1, words, words.length - 1);
    return this.check(result, "use a grammar") === 1;
  }

  logprobs(sampler: SamplerId): { token: number; logprob: number }[] {
    const { logprobIds: ids, logprobValues: values } = this;
    return logprobsIn(ids, values, 0, this.native.svc_sampler_logprobs(sampler, 0, ids, values, MOST_LOGPROBS));
  }

  scores(sampler: SamplerId, rows: number): { token: number; logprob: number }[][] {
    const capacity = rows * MOST_LOGPROBS;
    const [ids, values] = [new Int32Array(capacity), new Float32Array(capacity)];
    const count = this.native.svc_sampler_logprobs(sampler, 1, ids, values, capacity);
    const each = count / rows;
    return Array.from({ length: rows }, (_, row) => logprobsIn(ids, values, row * each, each));
  }

  decode(batch: Batch, count: number, { steps, together }: DecodeMode, sampled: Int32Array): DecodeResult {
    const { tokens, positions, sequences, samplers, owners } = batch;
    const columns = [tokens, positions, sequences, samplers, owners] as const;
    const result = this.native.svc_decode(...columns, count, steps, Number(together), sampled);
    return this.named(DECODE_RESULTS, result, "decode");
  }

  decodeEmbeddings({ address, positions, count, sequence, nonCausal }: Embeddings, owner: number): DecodeResult {
    const { native } = this;
    const result = native.svc_decode_embeddings(address, positions, count, sequence, Number(nonCausal), owner);
    return this.named(DECODE_RESULTS, result, "decode");
  }

  chunkBegin({ tokens, positions, sequences, owners }: Batch, count: number): void {
    this.check(this.native.svc_chunk_begin(tokens, positions, sequences, owners, count), "begin a chunk");
  }

  chunkResume(ms: number): ChunkResult {
    return this.named(CHUNK_RESULTS, this.native.svc_chunk_resume(ms), "decode");
  }

  chunkAbandon(): void {
    this.native.svc_chunk_abandon();
  }

  computeThreads(): number {
    return this.native.svc_compute_threads();
  }

  draft(jobs: readonly DraftJob[]): Drafted | undefined {
    const numbers = jobs.flatMap(({ sequence, position, tokens, count }) => [sequence, position, tokens.length, count]);
    const fed = joined(jobs.map(({ tokens }) => tokens));
    const out = new Int32Array(jobs.reduce((sum, { count }) => sum + count, 1));
    const counts = new Int32Array(jobs.length);
    const rounds = this.native.svc_draft(Int32Array.from(numbers), jobs.length, fed, out, counts);
    if (rounds < 0 && this.failure().code === "no-capacity") return undefined;
    this.check(rounds, "draft");
    let start = 0;
    const tokens = jobs.map(({ count }, index) => {
      const drafted = counts[index] as number;
      start += count;
      return drafted < 0 ? undefined : out.subarray(start - count, start - count + drafted);
    });
    return { rounds, tokens };
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

  kvRelease(sequence: number, cells: number): void {
    this.check(this.native.svc_kv_release(sequence, cells), "release cells");
  }

  kvCopy(from: number, to: number, length: number, cells: number): void {
    this.check(this.native.svc_kv_copy(from, to, length, cells), "copy a sequence");
  }

  kvMove(from: number, to: number): void {
    this.check(this.native.svc_kv_move(from, to), "move a sequence");
  }

  kvSave(sequence: number, from: number, to: number): Uint8Array | undefined {
    const { native } = this;
    const size = native.svc_kv_save_begin(sequence, from, to);
    if (size <= 0) return undefined;
    const saved = allocate(size);
    if (!saved) {
      // With no capacity it fails, and frees the extra sequence that holds the selected positions.
      native.svc_kv_save(new Uint8Array(1), 0);
      return undefined;
    }
    const written = native.svc_kv_save(saved, size);
    if (written > 0) return saved.subarray(0, written);
    release(saved);
    return undefined;
  }

  kvRestore(sequence: number, parts: readonly Uint8Array[]): boolean {
    const { native } = this;
    return parts.every((part, at) => native.svc_kv_restore(sequence, part, part.length, Number(at === 0)) === 1);
  }

  private readPiece(token: number, special: boolean): Uint8Array {
    const length = this.native.svc_token_piece(token, Number(special), this.pieceBuffer, PIECE_BYTES);
    if (length >= 0) return this.pieceBuffer.slice(0, length);
    const larger = new Uint8Array(-length);
    return larger.subarray(0, this.native.svc_token_piece(token, Number(special), larger, larger.length));
  }
}

/** Returns `count` entries, starting at index `from`. */
const logprobsIn = (
  ids: Int32Array,
  values: Float32Array,
  from: number,
  count: number,
): { token: number; logprob: number }[] =>
  Array.from({ length: count }, (_, at) => ({
    token: ids[from + at] as number,
    logprob: values[from + at] as number,
  }));

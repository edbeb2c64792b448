// A native library without a model, for tests of the engine loop. One token is one byte. A request's answer is the
// text after "say " in its prompt, then the end token.

import {
  LlamaError,
  PLAIN_FORMAT,
  type AdapterScale,
  type AnswerUpdate,
  type Batch,
  type ChunkResult,
  type ChatPrompt,
  type DecodeMode,
  type DecodeResult,
  type Drafted,
  type DraftJob,
  type Embeddings,
  type Llama,
  type LlamaErrorCode,
  type PromptRequest,
  type PromptResult,
  type SamplerConfig,
  type SamplerId,
  type TextPrompt,
  type TokenPrompt,
} from "../../ffi/llama/api.ts";
import type { NativeFailure } from "../../ffi/runtime/native-error.ts";

export const END = 256;
const encoder = new TextEncoder();
const textOf = (request: TextPrompt | TokenPrompt): string =>
  "text" in request ? request.text : String.fromCharCode(...request.tokens);

export class FakeLlama implements Llama {
  readonly version = "fake";
  readonly samplers = new Map<number, SamplerConfig>();
  readonly chats: ChatPrompt[] = [];
  /** Whether the cache can drop rejected speculative tokens. */
  canRollBack = true;
  /** The failure of the prompt "bad template". When this is an exception, submitting the prompt throws it. */
  complaint: NativeFailure<LlamaErrorCode> | LlamaError = { error: "template says no", code: "failed" };
  /** How many times a sequence was saved. */
  saves = 0;
  /** Whether restoring fails. */
  losesSaved = false;
  readonly copies: { from: number; to: number; length: number }[] = [];
  readonly decodes: { rows: number; owners: readonly number[]; adapters: readonly AdapterScale[] }[] = [];
  /** Tokens in the cache, by sequence. */
  readonly cache = new Map<number, number[]>();
  /** Tokens in the draft model's cache, by sequence. */
  readonly drafts = new Map<number, number[]>();
  /** Results to return from the next decode calls. */
  readonly forced: DecodeResult[] = [];
  /** How often each chunk pauses before it is done. */
  pauses = 2;
  /** Slices of chunks that were computed. */
  slices = 0;
  /** The chunk in progress, with its number of rows and its remaining pauses. */
  private chunk:
    | { readonly batch: Batch; readonly count: number; readonly adapters: readonly AdapterScale[]; pauses: number }
    | undefined;
  private adapters: readonly AdapterScale[] = [];
  /** Tokens are single bytes. A larger value makes some prompts turn out too long only after tokenization. */
  readonly longestToken = 4;
  private readonly finished: PromptResult[] = [];
  private nextJob = 1;
  private nextSampler = 0;

  constructor(
    private readonly context = 256,
    /** Duration of a decode call. */
    private readonly stepMs = 0,
    private readonly chunkRows = 0,
  ) {}

  model() {
    return {
      description: "fake",
      architecture: "fake",
      parameters: 1,
      bytes: 1,
      vocabulary: 257,
      trainedContext: this.context,
      context: this.context,
      contextPerSequence: this.context,
      layout: "unified" as const,
      sequences: 8,
      batch: 64,
      chunk: this.chunkRows,
      chatTemplate: "",
      bosToken: "",
      eosToken: "",
      template: { tools: true, thinking: true, system: true },
      device: "none",
      longestToken: this.longestToken,
      canRemovePartial: true,
      canRollBack: this.canRollBack,
      sampling: { temperature: 0.5 },
    };
  }
  submitPrompt(request: PromptRequest): number {
    const job = this.nextJob++;
    const last =
      "messages" in request ? (request.messages.at(-1) as { content: string }) : { content: textOf(request) };
    if ("messages" in request) this.chats.push(request);
    if (last.content === "bad template") {
      if (this.complaint instanceof LlamaError) throw this.complaint;
      this.finished.push({ job, ...this.complaint });
      return job;
    }
    const tokens = Int32Array.from(encoder.encode(last.content));
    const sampler = request.sampler && this.makeSampler(request.sampler);
    this.finished.push({ job, tokens, format: PLAIN_FORMAT, ...(sampler !== undefined && { sampler }) });
    return job;
  }
  cancelPrompt(): void {
    // Prompts are finished as soon as they are submitted.
  }
  takePrompt(): PromptResult | undefined {
    return this.finished.shift();
  }
  piece(token: number): Uint8Array {
    return token === END ? new Uint8Array() : Uint8Array.of(token);
  }
  isEnd(token: number): boolean {
    return token === END;
  }
  freeSampler(sampler: SamplerId): void {
    if (!this.samplers.delete(sampler)) throw new Error("sampler freed twice");
  }
  isStuck(): boolean {
    return false;
  }
  pushAnswer(): void {}
  readAnswer(): AnswerUpdate | undefined {
    return undefined;
  }
  logprobs(): { token: number; logprob: number }[] {
    return [
      { token: 65, logprob: -0.5 },
      { token: 66, logprob: -1 },
    ];
  }
  scores(_: SamplerId, rows: number): { token: number; logprob: number }[][] {
    return Array.from({ length: rows }, () => this.logprobs());
  }
  decode(batch: Batch, count: number, { steps }: DecodeMode, sampled: Int32Array): DecodeResult {
    const result = this.decodeStep(batch, count, sampled);
    const rows = [...batch.sequences.subarray(0, count)];
    let ended = result !== "done";
    for (let step = 1; step < steps; step++) {
      const before = sampled.subarray((step - 1) * count, step * count);
      const out = sampled.subarray(step * count, (step + 1) * count);
      ended ||= before.includes(END);
      rows.forEach((sequence, row) => {
        if (ended) return void (out[row] = -1);
        const cells = this.cache.get(sequence) ?? [];
        cells.push(before[row] as number);
        out[row] = this.answer(cells);
      });
    }
    return result;
  }
  private decodeStep(batch: Batch, count: number, sampled: Int32Array, adapters = this.adapters): DecodeResult {
    Bun.sleepSync(this.stepMs);
    const forced = this.forced.shift();
    if (forced && forced !== "done") return forced;
    this.decodes.push({ rows: count, owners: [...batch.owners.subarray(0, count)], adapters });
    let next = 0;
    let wrong = false;
    for (let row = 0; row < count; row++) {
      const sequence = batch.sequences[row] as number;
      const sampler = batch.samplers[row] as number;
      const guess = row > 0 && sampler >= 0 && sampler === batch.samplers[row - 1];
      wrong = guess && (wrong || sampled[next - 1] === END || sampled[next - 1] !== batch.tokens[row]);
      const cells = this.cache.get(sequence) ?? [];
      if (batch.positions[row] !== cells.length) throw new Error(`sequence ${sequence} has a hole or a stale cell`);
      cells.push(batch.tokens[row] as number);
      this.cache.set(sequence, cells);
      if (sampler >= 0) sampled[next++] = wrong ? -1 : this.answer(cells);
    }
    return "done";
  }
  chunkBegin(batch: Batch, count: number): void {
    if (this.chunk) throw new Error("two chunks at once");
    const none = new Int32Array(count).fill(-1);
    const { tokens, positions, sequences, owners } = structuredClone(batch);
    const { adapters, pauses } = this;
    this.chunk = { batch: { tokens, positions, sequences, owners, samplers: none }, count, adapters, pauses };
  }
  chunkResume(): ChunkResult {
    if (!this.chunk) throw new Error("no chunk is begun");
    this.slices++;
    if (this.chunk.pauses-- > 0) return "paused";
    const { batch, count, adapters } = this.chunk;
    this.chunk = undefined;
    return this.decodeStep(batch, count, new Int32Array(0), adapters);
  }
  computeThreads(): number {
    return 1;
  }

  chunkAbandon(): void {
    this.chunk = undefined;
  }
  decodeEmbeddings({ sequence, count }: Embeddings): DecodeResult {
    this.cache.set(sequence, [...(this.cache.get(sequence) ?? []), ...Array.from({ length: count }, () => 0)]);
    return "done";
  }
  draft(jobs: readonly DraftJob[]): Drafted {
    const tokens = jobs.map(({ sequence, position, tokens: fed, count }) => {
      const held = [...(this.drafts.get(sequence) ?? []).slice(0, position), ...fed];
      if (held.length !== position + fed.length) throw new Error(`draft sequence ${sequence} has a hole`);
      const written = Array.from({ length: count }, (_, at) => {
        if (at > 0) held.push(this.answer(held));
        return this.answer(held);
      }).filter((token) => token !== END);
      this.drafts.set(sequence, held);
      return Int32Array.from(written);
    });
    return { rounds: Math.max(1, ...tokens.map(({ length }) => length)), tokens };
  }
  setAdapters(adapters: readonly AdapterScale[]): void {
    this.adapters = adapters;
  }
  kvRemove(sequence: number, from: number): boolean {
    const kept = (this.cache.get(sequence) ?? []).slice(0, from);
    if (kept.length > 0) this.cache.set(sequence, kept);
    else this.cache.delete(sequence);
    return true;
  }
  kvRelease(): void {}
  kvCopy(from: number, to: number, length: number): void {
    this.copies.push({ from, to, length });
    this.cache.set(to, (this.cache.get(from) ?? []).slice(0, length));
  }
  kvMove(from: number, to: number): void {
    this.cache.set(to, this.cache.get(from) ?? []);
    this.cache.delete(from);
  }
  kvSave(sequence: number, from: number, to: number): Uint8Array | undefined {
    this.saves++;
    return Uint8Array.from((this.cache.get(sequence) ?? []).slice(from, to < 0 ? undefined : to));
  }
  kvRestore(sequence: number, parts: readonly Uint8Array[]): boolean {
    if (this.losesSaved) return false;
    this.cache.set(
      sequence,
      parts.flatMap((part) => [...part]),
    );
    return true;
  }

  private makeSampler(config: SamplerConfig): SamplerId {
    this.samplers.set(this.nextSampler, config);
    return this.nextSampler++ as SamplerId;
  }

  private answer(cells: readonly number[]): number {
    const text = new TextDecoder("latin1").decode(Uint8Array.from(cells));
    const wanted = text.slice(text.lastIndexOf("say ") + 4);
    const [question = "", said = ""] = wanted.split("|", 2);
    return said.length < question.length ? question.charCodeAt(said.length) : END;
  }
}

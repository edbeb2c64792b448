// Turns a request into a prompt that can be computed: rendered and tokenized on the prompt threads, media split and
// encoded by the media library, and checked for length. Until a prompt is ready, its resources are freed here.

import {
  LlamaError,
  type AnswerFormat,
  type Llama,
  type LlamaErrorCode,
  type PromptRequest,
  type PromptResult,
  type SamplerConfig,
  type SamplerId,
} from "../../../../ffi/llama/api.ts";
import type { Media as MediaLibrary, MediaFailure } from "../../../../ffi/media/api.ts";
import type { NativeFailure } from "../../../../ffi/runtime/native-error.ts";
import { errorMessage } from "../../../domain/error-message.ts";
import { fieldError, SvcError, withFieldNames, type ErrorCode } from "../../../domain/errors.ts";
import { mediaOf, type GenerateRequest, type TokenIds } from "../../../domain/generate.ts";
import { nextTurn } from "../../../domain/next-turn.ts";
import { fieldOfPrompt, tooManyTokens, type PromptLimits } from "../../../domain/prompt-size.ts";
import { joinTurns } from "../../../domain/turns.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { TokenPiece } from "../port.ts";
import type { EngineOptions, TextJob } from "../protocol.ts";
import { promptOf, withoutGrammars } from "./prompt.ts";
import { promptLimits, tooMuchToRender } from "./prompt-bounds.ts";
import { MediaPrompts, type Coming, type MediaUpdate, type MediaPrompt } from "./media-prompts.ts";
import { unknownToken, unknownTokenOf } from "./token-ids.ts";
import { samplerConfig } from "./sampler-config.ts";
import type { SoundQueue } from "./sound-queue.ts";

/** A prompt of acceptable length, with the sampler for its answer. */
export interface ReadyPrompt {
  readonly key: JobKey;
  readonly request: GenerateRequest;
  readonly tokens: Int32Array;
  readonly format: AnswerFormat;
  readonly sampler: SamplerId;
  /** Once encoded, the receiver must pass it to `begun` and `release`. */
  readonly media?: MediaPrompt;
}

export interface IntakeHandlers {
  /**
   * Offers a prompt. Unless it returns false, the request is accepted and the receiver owns the sampler; with media,
   * `encoded` follows later.
   */
  ready(prompt: ReadyPrompt): boolean;
  encoded(prompt: ReadyPrompt): void;
  /** May also follow `ready`, when the media cannot be encoded. */
  refused(key: JobKey, error: SvcError): void;
  /** Delivers the result of a job that generates nothing. */
  answered(key: JobKey, answer: Int32Array | string): void;
  warn(text: string): void;
}

type PromptJob =
  | { readonly kind: "generate"; readonly key: JobKey; readonly request: GenerateRequest; readonly counts: boolean }
  | { readonly kind: "show"; readonly key: JobKey; readonly request: GenerateRequest }
  | { readonly kind: "tokenize"; readonly key: JobKey };

type JobOf<Type extends TextJob["type"]> = Extract<TextJob, { type: Type }>;

type WithMedia = Omit<ReadyPrompt, "tokens" | "media"> & { counts?: true; accepted?: true };
type Prepared = ReadyPrompt & { readonly counts?: true };
type Rendered = Extract<PromptResult, { tokens: Int32Array }>;

/** Token ids looked up between two steps; reading one for the first time takes about a microsecond. */
const DETOKENIZED_AT_ONCE = 4096;
/** Placeholder for a medium in a prompt that is only shown. */
const MEDIUM = "<__media__>";

/** Refusals of prompts that are impossible because of the request itself. */
const REFUSALS: Readonly<Partial<Record<LlamaErrorCode, readonly [code: ErrorCode, param: string, message: string]>>> =
  {
    "no-infill": ["unsupported_parameter", "suffix", "'suffix': the loaded model cannot fill gaps."],
    "bad-grammar": ["invalid_value", "grammar", "'grammar' must be a GBNF grammar with a rule named root."],
    "prefill-too-deep": [
      "invalid_value",
      "messages",
      "The last message has more than 200 values inside one another; the answer cannot go on from it.",
    ],
    "prefill-ambiguous": [
      "invalid_value",
      "messages",
      "The schema can be read in too many ways behind the last message; the answer cannot go on from it.",
    ],
    "prompt-too-slow": [
      "invalid_value",
      "messages",
      "This prompt takes more than 20 seconds to be rendered and tokenized.",
    ],
  };

export class Intake {
  /** Grows with each generation that is received and each prompt that is finished. */
  progress = 0;
  private readonly jobs = new Map<number, PromptJob>();
  /** Jobs whose token ids are being looked up. */
  private readonly lookups = new Set<JobKey>();
  private readonly media: MediaPrompts<WithMedia> | undefined;
  private readonly marker: string;
  private readonly samplerDefaults: Partial<SamplerConfig>;
  private readonly vocabulary: number;
  private readonly limits: PromptLimits;

  constructor(
    private readonly llama: Llama,
    media: MediaLibrary | undefined,
    private readonly options: EngineOptions,
    private readonly handlers: IntakeHandlers,
    private readonly sounds?: SoundQueue,
  ) {
    this.media = media && new MediaPrompts(media);
    this.marker = media?.projector().marker ?? "";
    const { sampling, vocabulary } = llama.model();
    this.samplerDefaults = sampling;
    this.vocabulary = vocabulary;
    this.limits = promptLimits(llama, options);
  }

  /** Whether the prompt threads have work. */
  get rendering(): boolean {
    return this.jobs.size > 0;
  }

  get busy(): boolean {
    return this.rendering || this.media?.busy || this.sounds?.busy || false;
  }

  /** Accepted prompts that are still here, because their media are not encoded. */
  get coming(): Coming {
    return this.media?.coming ?? { prompts: 0, tokens: 0 };
  }

  submit(key: JobKey, request: GenerateRequest): void {
    this.progress++;
    this.render(key, request, false);
  }

  /** Renders the prompt of a request only to count its tokens. */
  count(key: JobKey, request: GenerateRequest): void {
    this.render(key, request, true);
  }

  /** Renders the prompt of a request only to show its text. */
  show(key: JobKey, request: GenerateRequest): void {
    const tooMuch = tooMuchToRender(request, this.limits);
    if (tooMuch) return this.handlers.refused(key, tooMuch);
    const sampler = samplerConfig(request, this.options.sampling, this.samplerDefaults);
    const prompt = promptOf(request, sampler, false, MEDIUM);
    this.start({ ...prompt, media: true }, { kind: "show", key, request }, request.client);
  }

  /** Looks up tokens in pieces, so that decode steps can run in between. */
  async detokenize(key: JobKey, { tokens, apart }: JobOf<"detokenize">): Promise<void> {
    const { vocabulary } = this;
    const unknown = unknownToken(tokens, "tokens", vocabulary);
    if (unknown) return this.handlers.refused(key, unknown);
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const pieces: TokenPiece[] = [];
    let text = "";
    this.lookups.add(key);
    for (let from = 0; from < tokens.length; from += DETOKENIZED_AT_ONCE) {
      if (from > 0) await nextTurn();
      if (!this.lookups.has(key)) return;
      const part: TokenIds = tokens.slice(from, from + DETOKENIZED_AT_ONCE);
      const bytes = Array.from(part, (token) => this.llama.piece(token, true));
      if (apart) pieces.push(...bytes.map(pieceOf));
      else text += decoder.decode(Buffer.concat(bytes), { stream: true });
    }
    this.lookups.delete(key);
    this.handlers.answered(key, apart ? JSON.stringify(pieces) : text + decoder.decode());
  }

  private render(key: JobKey, request: GenerateRequest, counts: boolean): void {
    if (request.media && !this.media) {
      return this.refuse(key, "The loaded model takes no images or sound.", "unsupported_media_input");
    }
    // A prompt that is only counted may have any number of tokens; its length as text was checked before.
    const limits = counts ? { ...this.limits, mostPromptBytes: Infinity } : this.limits;
    const tooMuch = tooMuchToRender(request, limits);
    const unenforced = this.options.constrain ? undefined : withoutGrammars(request);
    const error = tooMuch ?? unknownTokenOf(request, this.vocabulary) ?? unenforced;
    if (error) return this.handlers.refused(key, error);
    const sampler = samplerConfig(request, this.options.sampling, this.samplerDefaults);
    const prompt = promptOf(request, sampler, this.options.constrain, this.marker);
    this.start(prompt, { kind: "generate", key, request, counts }, request.client);
  }

  submitText(key: JobKey, { text, parseSpecial = false, addSpecial = false, client }: JobOf<"tokenize">): void {
    this.start({ text, parseSpecial, addSpecial }, { kind: "tokenize", key }, client);
  }

  /** Submits a prompt. When the library cannot even accept it, only that request is at fault. */
  private start(prompt: PromptRequest, job: PromptJob, client?: string): void {
    try {
      this.jobs.set(this.llama.submitPrompt(prompt, job.key, client), job);
    } catch (error) {
      if (!(error instanceof LlamaError)) throw error;
      this.handlers.warn(`the native library refused a request: ${error.message}`);
      this.refuse(job.key, "This request cannot be handed to the model.");
    }
  }

  /** Forgets a request as far as it is here. */
  cancel(key: JobKey): void {
    this.lookups.delete(key);
    this.sounds?.leave(key);
    for (const { accepted, sampler } of this.media?.drop((entry) => entry.key === key) ?? []) {
      if (!accepted) this.llama.freeSampler(sampler);
    }
    // A result that still comes finds no job and is freed.
    for (const [number, job] of this.jobs) {
      if (job.key !== key) continue;
      this.jobs.delete(number);
      this.llama.cancelPrompt(number);
    }
  }

  /** Notes that the first computation of a prompt with media has begun. */
  begun(prompt: MediaPrompt): void {
    this.media?.begun(prompt);
  }

  /** Frees the media of a prompt that was encoded. */
  release(prompt: MediaPrompt): void {
    this.media?.release(prompt);
  }

  /** Hands over finished prompts; blocks this thread for up to `waitMs` milliseconds while the prompt threads work. */
  collect(waitMs: number): void {
    const first = this.rendering ? this.llama.takePrompt(waitMs) : undefined;
    for (let done = first; done; done = this.llama.takePrompt(0)) this.rendered(done);
    for (const update of this.media?.take() ?? []) this.receive(update);
  }

  private rendered(done: PromptResult): void {
    this.progress++;
    const job = this.jobs.get(done.job);
    this.jobs.delete(done.job);
    if ("error" in done) {
      if (job) this.refuseRendering(job, done);
    } else if (job?.kind === "generate" && done.sampler !== undefined) {
      this.prepare(job, done, done.sampler);
    } else {
      if (job?.kind === "show") this.handlers.answered(job.key, done.text ?? "");
      else if (job) this.handlers.answered(job.key, done.tokens);
      // Its request was cancelled meanwhile.
      if (done.sampler !== undefined) this.llama.freeSampler(done.sampler);
    }
  }

  private prepare(job: Extract<PromptJob, { kind: "generate" }>, done: Rendered, sampler: SamplerId): void {
    const { key, request, counts } = job;
    const prompt = { key, request, format: done.format, sampler, ...(counts && { counts }) };
    if (done.text === undefined) this.check({ ...prompt, tokens: done.tokens });
    else if (this.sounds?.isFor(request.media)) void this.decodeFirst(this.sounds, done.text, prompt);
    else this.media?.submit(done.text, request.media ?? [], prompt, request);
  }

  private async decodeFirst(sounds: SoundQueue, text: string, entry: WithMedia): Promise<void> {
    const { key, request, sampler } = entry;
    try {
      const media = await sounds.decoded(key, request);
      if (media) return this.media?.submit(text, media, entry, request);
      this.llama.freeSampler(sampler);
    } catch (error) {
      if (!(error instanceof SvcError)) return this.refuseMedia(entry, { error: errorMessage(error), code: "failed" });
      this.llama.freeSampler(sampler);
      this.handlers.refused(key, error);
    }
  }

  private receive(update: MediaUpdate<WithMedia>): void {
    const entry = update.tag;
    // Until it is encoded, its decoded sounds are needed, perhaps to prepare it once more.
    if (update.state !== "prepared") this.sounds?.leave(entry.key);
    if (update.state === "failed") return this.refuseMedia(entry, update);
    const prompt = { ...entry, tokens: update.prompt.tokens, media: update.prompt };
    if (update.state === "encoded") return this.handlers.encoded(prompt);
    if (this.check(prompt)) entry.accepted = true;
    else {
      this.sounds?.leave(entry.key);
      this.media?.drop((other) => other === entry);
    }
  }

  /** Hands over a computable prompt, or its number of tokens if only counted. Returns whether it was accepted. */
  private check(prompt: Prepared): boolean {
    const { key, tokens, counts } = prompt;
    const error = this.errorOf(prompt);
    if (!error && !counts && this.handlers.ready(prompt)) return true;
    this.llama.freeSampler(prompt.sampler);
    if (error) this.handlers.refused(key, error);
    else if (counts) this.handlers.answered(key, String(tokens.length));
    return false;
  }

  /** Returns why a prompt cannot be computed. A prompt that is only counted may have any length. */
  private errorOf({ request, tokens, media, counts }: Prepared): SvcError | undefined {
    const { maxModelLen: limit, microBatch } = this.options;
    if (!counts && tokens.length === 0) return fieldError("invalid_value", fieldOfPrompt(request), "has no tokens");
    const tooMany = counts ? undefined : tooManyTokens(request, tokens.length, limit);
    if (tooMany) return tooMany;
    const block = Math.max(0, ...(media?.spans ?? []).filter(({ whole }) => whole).map((span) => span.tokens));
    if (block <= microBatch) return undefined;
    const message =
      `An image of ${block} tokens does not fit a step of this server, which is ${microBatch} tokens.` +
      " Send it smaller, or start svc with a larger --batch and --micro-batch.";
    return new SvcError("invalid_value", message, { param: "messages" });
  }

  private refuseRendering(job: PromptJob, { error, code }: NativeFailure<LlamaErrorCode>): void {
    const { key } = job;
    const refusal = REFUSALS[code];
    if (refusal) {
      const [type, param, message] = refusal;
      const names = "request" in job ? { messages: fieldOfPrompt(job.request) } : undefined;
      return this.handlers.refused(key, withFieldNames(new SvcError(type, message, { param }), names));
    }
    if ("request" in job) {
      const joined = withJoinedTurns(job.request);
      if (joined) return job.kind === "show" ? this.show(key, joined) : this.render(key, joined, job.counts);
    }
    this.handlers.warn(`the model's chat template refused a request: ${error}`);
    this.refuse(key, "The model's chat template cannot render these messages.");
  }

  private refuseMedia(
    { key, request, sampler, accepted }: WithMedia,
    { error, code, medium = -1 }: MediaFailure,
  ): void {
    if (!accepted) this.llama.freeSampler(sampler);
    if (code === "bad-medium") {
      const { param } = request.messages.flatMap(mediaOf)[medium] ?? { param: "messages" };
      return this.handlers.refused(key, new SvcError("invalid_value", `'${param}': ${error}.`, { param }));
    }
    this.handlers.warn(`media could not be prepared: ${error}`);
    this.refuse(key, "The media of this request could not be prepared for the model.");
  }

  private refuse(key: JobKey, message: string, code: ErrorCode = "invalid_value"): void {
    this.handlers.refused(key, new SvcError(code, message, { param: "messages" }));
  }
}

/**
 * Returns a request with its turns joined, or undefined where nothing changes by that. Many templates refuse two turns
 * of a role in a row, or a system turn that is not the first.
 */
function withJoinedTurns(request: GenerateRequest): GenerateRequest | undefined {
  // Joined turns have no place for an image that Ollama's API lets a system turn have.
  if (request.messages.some((message) => message.role === "system" && mediaOf(message).length > 0)) return undefined;
  const messages = joinTurns(request.messages);
  const isSame =
    messages.length === request.messages.length &&
    messages.every(({ role }, at) => role === request.messages[at]?.role);
  return isSame ? undefined : { ...request, messages };
}

const strictDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Returns a token's text, or its bytes if they are not valid UTF-8 by themselves. */
function pieceOf(bytes: Uint8Array): TokenPiece {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return [...bytes];
  }
}

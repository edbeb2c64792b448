// Runs a text model in a process of its own.

import type { OfferedAdapter } from "../../domain/adapters.ts";
import { cancelledReason, type CancelCause } from "../../domain/cancel.ts";
import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent, GenerateRequest, TokenIds } from "../../domain/generate.ts";
import type { ModelInfo } from "../../domain/model.ts";
import { tooLargePrompt, tooLongToCount, tooLongToTokenize, type PromptLimits } from "../../domain/prompt-size.ts";
import type { SlotAction, SlotOutcome } from "../../domain/slots.ts";
import { noUsage, type PromptLogprob } from "../../domain/usage.ts";
import type { Metric } from "../../telemetry/exposition.ts";
import type { Started } from "../process/jobs.ts";
import { processMetrics, type ObservedEngine } from "../process/status.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { SupervisorOptions } from "../process/supervisor-options.ts";
import type { TextPort, TextStatus, TokenizeOptions, TokenPiece } from "./port.ts";
import {
  contentsOf,
  withoutContents,
  withTokens,
  type AnswerValue,
  type EngineOptions,
  type TextEvent,
  type TextJob,
  type TextReady,
  type TextReport,
} from "./protocol.ts";
import { TextStats } from "./stats.ts";

export interface TextEngineOptions extends Pick<
  SupervisorOptions<EngineOptions, never, never, never>,
  "load" | "prepare" | "launch" | "start" | "idleMs" | "needBytes" | "onGpus" | "files"
> {
  /** What is known of the model before it is loaded. */
  readonly model: Pick<ModelInfo, "id" | "created" | "parallel"> & {
    /** The maker's name of the model. */
    readonly name?: string | undefined;
    readonly expected?: TextStatus["expected"];
  };
  /** In the order of the engine's `adapterPaths`. */
  readonly adapters: readonly OfferedAdapter[];
  /** Whether conversations are written to disk before the process ends. */
  readonly stores: boolean;
}

/** Milliseconds that writing conversations to disk may take when the process is to end. */
const STORE_GRACE_MS = 30_000;

export class TextEngine implements TextPort, ObservedEngine {
  readonly kind = "text";
  readonly model: string;
  private readonly supervisor: Supervisor<EngineOptions, TextReady, TextJob, TextEvent, TextReport>;
  private readonly stats: TextStats;
  private info: ModelInfo | undefined;
  private limits: PromptLimits | undefined;
  private adapters: readonly OfferedAdapter[];

  constructor(private readonly options: TextEngineOptions) {
    const { model, adapters, stores, ...rest } = options;
    const { id, created } = model;
    const { launch } = rest;
    this.model = id;
    this.adapters = adapters;
    this.stats = new TextStats(launch.clock);
    this.supervisor = new Supervisor({
      ...rest,
      kind: this.kind,
      model: id,
      ...(stores && { stopGraceMs: STORE_GRACE_MS }),
      onReady: ({ model: loaded, limits, onDisk }) => {
        this.info = { ...loaded, id, created };
        this.limits = limits;
        if (onDisk) launch.log.info("conversations on disk", { ...onDisk });
      },
      onReport: (report) => this.stats.update(report),
      onExit: () => this.stats.processEnded(),
      placeFreeMs: () => this.stats.placeFreeMs(),
      neverComputed,
    });
  }

  /** Starts the first process of an eager engine. */
  start(): void {
    this.supervisor.start();
  }

  /** Resolves when the model is loaded for the first time; rejects when that failed: it is not retried. */
  async ready(): Promise<ModelInfo> {
    await this.supervisor.ready();
    if (!this.info) throw new Error("a model that is ready is known");
    return this.info;
  }

  status(): TextStatus {
    const { model } = this.options;
    const { adapters } = this;
    const status = this.supervisor.status();
    // The scheduler knows how many of its requests run; others wait for the model.
    const { running, waiting } = this.stats.levels;
    return {
      ...status,
      running,
      waiting: Math.max(waiting, status.running + status.waiting - running),
      modelId: model.id,
      ...(model.name !== undefined && { modelName: model.name }),
      ...(model.expected && { expected: model.expected }),
      created: model.created,
      adapters,
      ...(this.info && { model: this.info, device: this.info.device }),
    };
  }

  scaleAdapters(scales: readonly number[]): void {
    this.adapters = this.adapters.map((adapter, id) => ({ ...adapter, scale: scales[id] ?? 0 }));
  }

  placeFreeMs(): number | undefined {
    return this.stats.placeFreeMs();
  }

  metrics(): Metric[] {
    return [
      ...processMetrics(this.status()),
      ...this.stats.metrics(this.options.model.parallel, this.info?.context ?? 0),
    ];
  }

  generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    this.refuseTooLarge(request);
    this.refuseUnknownAdapters(request);
    const events = this.run({ type: "generate", request }, signal, request.id);
    // A job of this type yields no other events.
    return (request.promptLogprobs ? withScores(events) : events) as AsyncGenerator<EngineEvent>;
  }

  cancel(id: string, cause: CancelCause): boolean {
    return this.supervisor.cancel(id, cause);
  }

  async tokenize(text: string, signal: AbortSignal, options: TokenizeOptions = {}): Promise<Int32Array> {
    refuse(tooLongToTokenize(text.length));
    return this.answer({ type: "tokenize", text, ...options }, signal, isTokens);
  }

  async countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number> {
    refuse(tooLongToCount(request));
    return Number(await this.answer({ type: "count", request }, signal, isText));
  }

  detokenize(tokens: TokenIds, signal: AbortSignal): Promise<string> {
    return this.answer({ type: "detokenize", tokens }, signal, isText);
  }

  async pieces(tokens: TokenIds, signal: AbortSignal): Promise<readonly TokenPiece[]> {
    return JSON.parse(await this.answer({ type: "detokenize", tokens, apart: true }, signal, isText)) as TokenPiece[];
  }

  async render(request: GenerateRequest, signal: AbortSignal): Promise<string> {
    this.refuseTooLarge(request);
    return this.answer({ type: "render", request }, signal, isText);
  }

  slot(action: SlotAction, signal: AbortSignal): Promise<SlotOutcome> {
    return this.answer({ type: "slot", action }, signal, isOutcome);
  }

  unloadIdle(): Promise<boolean> {
    return this.supervisor.unloadIdle();
  }

  /** Ends the process once it has no jobs: its model is not offered any more. */
  retire(): void {
    this.supervisor.retire();
  }

  stop(): Promise<void> {
    return this.supervisor.stop();
  }

  private run(job: TextJob, signal: AbortSignal, id?: string): AsyncGenerator<TextEvent | Started, void, void> {
    return this.supervisor.run(withTokens(withoutContents(job)), signal, id, contentsOf(job));
  }

  private refuseTooLarge(request: GenerateRequest): void {
    if (this.limits) refuse(tooLargePrompt(request, this.limits));
  }

  /** A request may number adapters of another model of the server; in the engine process that would be fatal. */
  private refuseUnknownAdapters({ adapters = [] }: GenerateRequest): void {
    const unknown = adapters.find(({ id }) => id >= this.adapters.length);
    if (!unknown) return;
    const message = `'lora': the model ${this.model} has ${this.adapters.length} adapters; got ${unknown.id}.`;
    throw new SvcError("invalid_value", message, { param: "lora" });
  }

  private async answer<T extends AnswerValue>(
    job: TextJob,
    signal: AbortSignal,
    is: (answer: AnswerValue) => answer is T,
  ): Promise<T> {
    for await (const event of this.run(job, signal)) {
      if (event.type === "answer" && is(event.answer)) return event.answer;
    }
    throw new SvcError("internal_error", "The engine gave no answer.");
  }
}

function refuse(error: SvcError | undefined): void {
  if (error) throw error;
}

const isTokens = (answer: AnswerValue): answer is Int32Array => answer instanceof Int32Array;
const isText = (answer: AnswerValue): answer is string => typeof answer === "string";
const isOutcome = (answer: AnswerValue): answer is SlotOutcome => !isTokens(answer) && !isText(answer);

/** Puts the log probabilities of the prompt, which come in parts, into the last event. */
async function* withScores(
  events: AsyncIterable<TextEvent | Started>,
): AsyncGenerator<TextEvent | Started, void, void> {
  const promptLogprobs: PromptLogprob[] = [];
  for await (const event of events) {
    if (event.type === "scored")
      for (const [at, token] of event.tokens.entries()) promptLogprobs[event.from + at] = token;
    else yield event.type === "finish" ? { ...event, promptLogprobs } : event;
  }
}

function neverComputed(cause: CancelCause, accepted: boolean): TextEvent[] {
  const finish: TextEvent = { type: "finish", reason: cancelledReason(cause), usage: noUsage() };
  return accepted ? [finish] : [{ type: "accepted", promptTokens: 0, downgraded: false }, finish];
}

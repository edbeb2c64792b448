// A text engine in memory that follows a script: for tests of everything above its port.

import type { OfferedAdapter } from "../../src/domain/adapters.ts";
import { cancelledReason, type CancelCause } from "../../src/domain/cancel.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { EngineEvent, FinishEvent, GenerateRequest, OutputEvent, TokenIds } from "../../src/domain/generate.ts";
import type { ModelInfo } from "../../src/domain/model.ts";
import type { SlotAction, SlotOutcome } from "../../src/domain/slots.ts";
import type { FinishReason, TokenLogprob, Usage } from "../../src/domain/usage.ts";
import type { ProcessState } from "../../src/domain/process-status.ts";
import type { TextPort, TextStatus, TokenizeOptions } from "../../src/engine/text/port.ts";

/**
 * `accept` marks where the request is accepted; without it, that happens at the beginning. The first output marks the
 * start.
 */
export type FakeStep =
  | "accept"
  | OutputEvent
  | { readonly text: string; readonly logprobs?: readonly TokenLogprob[] }
  | { readonly wait: Promise<unknown> }
  | { readonly fail: Error };

export interface FakeScript {
  readonly steps: readonly FakeStep[];
  /** Defaults to `stop`. */
  readonly reason?: FinishReason;
  readonly usage?: Partial<Usage>;
  /** More fields of the finish event. */
  readonly finish?: Pick<FinishEvent, "stopSequence" | "contextFull" | "profile" | "tokens" | "promptLogprobs">;
}

interface FakeJob {
  readonly id: string;
  readonly ended: PromiseWithResolvers<void>;
  cancelled: CancelCause | undefined;
}

export const fakeModel: ModelInfo = {
  id: "fake-model",
  path: "/models/fake-model.gguf",
  architecture: "llama",
  description: "fake 1B Q8_0",
  parameters: 1_000_000_000,
  bytes: 1_000_000,
  trainedContext: 4096,
  context: 8192,
  maxModelLen: 4096,
  parallel: 4,
  vision: false,
  audio: false,
  template: { tools: true, thinking: true },
  sampling: { temperature: 0.8, topP: 0.95, presencePenalty: 0 },
  device: "CPU (fake)",
  created: 1_700_000_000,
};

export class FakeEngine implements TextPort {
  state: ProcessState = "ready";
  model: ModelInfo | undefined = fakeModel;
  adapters: readonly OfferedAdapter[] = [];
  /** The requests received, in order. */
  readonly requests: GenerateRequest[] = [];
  /** Ids of requests whose signal was aborted while they ran, and ids passed to `cancel`, in order. */
  readonly aborted: string[] = [];
  readonly cancelled: string[] = [];
  readonly slotActions: SlotAction[] = [];
  /** Texts that were tokenized, and conversations that were rendered, in order. */
  readonly tokenized: { readonly text: string; readonly options: TokenizeOptions }[] = [];
  readonly rendered: GenerateRequest[] = [];
  slotOutcome: (action: SlotAction) => SlotOutcome | Promise<SlotOutcome> = () => ({
    tokens: 84,
    bytes: 1234,
    ms: 1.5,
  });
  private readonly jobs = new Set<FakeJob>();

  /** `script` returns the steps of a request. */
  constructor(private readonly script: (request: GenerateRequest) => FakeScript) {}

  /** How many generations are running. */
  get live(): number {
    return this.jobs.size;
  }

  status(): TextStatus {
    return {
      state: this.state,
      modelId: fakeModel.id,
      modelName: "Fake 1B",
      created: fakeModel.created,
      adapters: this.adapters,
      ...(this.model && { model: this.model }),
      restarts: 0,
      running: this.live,
      waiting: 0,
      residentBytes: 0,
    };
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    const job: FakeJob = { id: request.id, ended: Promise.withResolvers(), cancelled: undefined };
    const abort = () => {
      this.aborted.push(job.id);
      job.ended.resolve();
    };
    this.requests.push(request);
    this.jobs.add(job);
    signal.addEventListener("abort", abort);
    try {
      signal.throwIfAborted();
      yield* this.play(job, request, signal);
    } finally {
      signal.removeEventListener("abort", abort);
      this.jobs.delete(job);
    }
  }

  cancel(id: string, cause: CancelCause): boolean {
    this.cancelled.push(id);
    const job = [...this.jobs].findLast((candidate) => candidate.id === id);
    if (!job) return false;
    job.cancelled = cause;
    job.ended.resolve();
    return true;
  }

  /** Returns one token for each character. */
  async tokenize(text: string, _signal?: AbortSignal, options: TokenizeOptions = {}): Promise<Int32Array> {
    this.tokenized.push({ text, options });
    return Int32Array.from(text, (character) => character.codePointAt(0) ?? 0);
  }

  async countTokens(request: GenerateRequest): Promise<number> {
    return JSON.stringify(request.messages).length;
  }

  async detokenize(tokens: readonly number[]): Promise<string> {
    return String.fromCodePoint(...tokens);
  }

  async pieces(tokens: TokenIds): Promise<string[]> {
    return Array.from(tokens, (token) => String.fromCodePoint(token));
  }

  async render(request: GenerateRequest): Promise<string> {
    this.rendered.push(request);
    return request.messages.map(({ role, content }) => `<${role}>${String(content)}`).join("");
  }

  scaleAdapters(scales: readonly number[]): void {
    this.adapters = this.adapters.map((adapter, id) => ({ ...adapter, scale: scales[id] ?? 0 }));
  }

  async slot(action: SlotAction): Promise<SlotOutcome> {
    this.slotActions.push(action);
    return this.slotOutcome(action);
  }

  private async *play(
    job: FakeJob,
    request: GenerateRequest,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent, void, void> {
    const script = this.script(request);
    const { steps, reason = "stop" } = script;
    const usage = { ...fakeUsage, ...script.usage };
    let completionTokens = 0;
    let accepted = false;
    let started = false;
    const accept = (): EngineEvent => {
      accepted = true;
      return {
        type: "accepted",
        promptTokens: usage.promptTokens,
        downgraded: request.constraint?.inexpressible === true,
      };
    };
    if (!steps.includes("accept")) yield accept();
    for (const step of steps) {
      if (job.cancelled) break;
      if (!started && step !== "accept" && ("type" in step || "text" in step)) {
        started = true;
        yield { type: "started" };
      }
      if (step === "accept") yield accept();
      else if ("fail" in step) throw step.fail;
      else if ("wait" in step) await Promise.race([step.wait, job.ended.promise]);
      else if ("type" in step) {
        completionTokens++;
        yield step;
      } else {
        completionTokens += step.logprobs?.length ?? 1;
        yield { type: "text", ...step };
      }
      signal.throwIfAborted();
      if (this.state === "stopped") throw new SvcError("shutting_down", "The server is shutting down.");
    }
    // A request that was cancelled before its acceptance has computed nothing.
    if (!accepted) yield { type: "accepted", promptTokens: (usage.promptTokens = 0), downgraded: false };
    const end = { type: "finish", ...script.finish, usage: { ...usage, completionTokens } } as const;
    yield { ...end, reason: job.cancelled ? cancelledReason(job.cancelled) : reason };
  }
}

/** Completes each answer before the first part of it is read, as an engine in another process may. */
export class EarlyEngine extends FakeEngine {
  override async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    yield* await Array.fromAsync(super.generate(request, signal));
  }
}

const fakeUsage = {
  promptTokens: 12,
  cachedTokens: 4,
  completionTokens: 0,
  reasoningTokens: 0,
  queueMs: 0,
  promptMs: 40,
  completionMs: 50,
  peakMemoryBytes: 512 * 1024 * 1024,
};

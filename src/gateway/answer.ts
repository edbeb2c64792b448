// Converts the pieces of an upstream's answer to the events of a generation.

import { cancelledReason, type CancelCause } from "../domain/cancel.ts";
import type { FinishEvent, OutputEvent } from "../domain/generate.ts";
import { own } from "../domain/own.ts";
import type { FinishReason, TokenLogprob } from "../domain/usage.ts";
import { Unfenced } from "../text/unfenced.ts";
import type { Piece, UpstreamUsage } from "./output.ts";
import { ThinkTags } from "./think-tags.ts";
import { ToolCalls, type ToolCallOptions } from "./tool-calls.ts";
import { lost, malformed } from "./upstream-failure.ts";

interface AnswerOptions extends ToolCallOptions {
  /** Whether the server may leave `<think>` tags in the text. */
  readonly splitThinking: boolean;
  /** The assistant prefill, which the server may repeat at the start; the repetition is not part of the answer. */
  readonly beginning: string;
  /** Stop sequences of the request. */
  readonly stop: readonly string[];
  readonly maxTokens?: number | undefined;
  /** Whether the server was asked to count tokens before the end. */
  readonly counts: boolean;
  /** Whether the answer must be JSON, and the server only asks the model for it. */
  readonly asksForJson: boolean;
}

/** Times of an answer in milliseconds, measured by svc. */
interface AnswerTimes {
  readonly promptMs: number;
  readonly completionMs: number;
}

/** Finish reasons other than `stop`; `finish` makes that `tool_calls` if there are calls. */
const REASONS: Readonly<Record<string, FinishReason>> = {
  length: "length",
  model_length: "length",
  max_tokens: "length",
  cancelled: "cancelled",
  content_filter: "content_filter",
  // An answer that a server cut off is incomplete, whatever the reason.
  repetition: "length",
};

/** Finish reasons of an answer that may have filled the context. */
const PERHAPS_FULL: ReadonlySet<string | undefined> = new Set(["length", "model_length"]);

/** Finish reasons of a server that aborted the answer. */
const ABORTED: ReadonlySet<string> = new Set(["abort", "error"]);

/** Maximum characters of an answer and the data beside its text, as a whole answer is held in memory. */
const LARGEST_ANSWER = 32 * 2 ** 20;
/** Minimum size of each, in characters. */
const SIZE = { piece: 16, call: 256, alternative: 32 } as const;

export class RemoteAnswer {
  /** Whether the server sent a finish reason. */
  isFinished = false;
  private reason: FinishReason = "stop";
  /** The finish reason as the server sent it. */
  private givenReason: string | undefined;
  private stopSequence: string | undefined;
  private usage: UpstreamUsage | undefined;
  private pieces = 0;
  /** Tokens as counted by the server. */
  private counted = 0;
  private prompt: Piece["progress"];
  /** Characters of the prefill repeated so far; undefined once the answer continues. */
  private repeated: number | undefined = 0;
  /** Log probabilities of the text that is held back. */
  private heldLogprobs: TokenLogprob[] = [];
  /** Size in the sense of `LARGEST_ANSWER`. */
  private size = 0;
  private readonly thinking: ThinkTags | undefined;
  private readonly unfenced: Unfenced | undefined;
  private readonly calls: ToolCalls;

  constructor(private readonly options: AnswerOptions) {
    this.calls = new ToolCalls(options);
    if (options.splitThinking) this.thinking = new ThinkTags();
    if (options.asksForJson) this.unfenced = new Unfenced();
  }

  /**
   * Returns the events that the piece adds to the answer. Throws UpstreamFailure about a call that the client did not
   * allow, an abort, or an answer that is too long.
   */
  add(piece: Piece): readonly OutputEvent[] {
    this.size += sizeOf(piece);
    if (this.size > LARGEST_ANSWER) throw malformed("sent an answer that is too long");
    const { count = 1 } = piece;
    const added: OutputEvent[] = [];
    if (piece.reasoning !== undefined) {
      this.pieces += count;
      this.calls.say({ type: "reasoning", text: piece.reasoning }, added);
    }
    if (piece.text !== undefined) {
      this.pieces += count;
      this.addText(piece.text, piece.logprobs, added);
    } else if (piece.logprobs && this.holdsText) this.heldLogprobs.push(...piece.logprobs);
    else if (piece.logprobs) this.calls.say({ type: "text", text: "", logprobs: piece.logprobs }, added);
    for (const call of piece.calls ?? []) {
      const before = this.calls.count;
      this.calls.add(call, added);
      this.pieces += this.calls.count - before;
    }
    if (piece.usage) this.usage = piece.usage;
    if (piece.stopSequence !== undefined && this.options.stop.includes(piece.stopSequence)) {
      this.stopSequence = piece.stopSequence;
    }
    if (piece.reason !== undefined) {
      if (ABORTED.has(piece.reason)) throw lost("aborted the answer");
      this.givenReason = piece.reason;
      this.reason = own(REASONS, piece.reason) ?? "stop";
      if (this.reason === "length" || this.reason === "content_filter") this.calls.cutOff();
      this.addRest(added);
      this.calls.end(added);
      this.isFinished = true;
    }
    const shown = this.unfenced?.push(added, this.isFinished) ?? added;
    if (count > 1) assign(count, shown);
    this.count(piece, shown);
    return shown;
  }

  /** Whether the answer is cut because it has everything requested; the server may want to continue. */
  get isCut(): boolean {
    return this.calls.isCut;
  }

  /** The usage so far. Without the server's counts, pieces count as tokens: these servers send one per token. */
  get tokens(): UpstreamUsage {
    if (this.usage) return this.usage;
    const { total: promptTokens = 0, cached: cachedTokens = 0 } = this.prompt ?? {};
    return { promptTokens, completionTokens: this.pieces, cachedTokens, reasoningTokens: 0, peakMemoryBytes: 0 };
  }

  /** Returns what still waits for the end of a tool call, when the answer is stopped before its end. */
  takeHeld(): readonly OutputEvent[] {
    const held: OutputEvent[] = [];
    this.calls.release(held);
    return held.length > 0 ? (this.unfenced?.push(held, true) ?? held) : held;
  }

  /** Returns the last event. */
  finish(cancelled: CancelCause | undefined, times: AnswerTimes): FinishEvent {
    const usage = this.tokens;
    const called = this.calls.count > 0 && this.reason === "stop";
    const reason = cancelled ? cancelledReason(cancelled) : called ? "tool_calls" : this.reason;
    const contextFull = !cancelled && PERHAPS_FULL.has(this.givenReason) && this.isBelowLimit;
    return {
      type: "finish",
      reason,
      ...(reason === "stop" && this.stopSequence !== undefined && { stopSequence: this.stopSequence }),
      ...(contextFull && { contextFull }),
      usage: { ...usage, queueMs: 0, ...times },
    };
  }

  /** Whether the answer is known to be shorter than the limit, by the server's counts: a piece may have several tokens. */
  private get isBelowLimit(): boolean {
    const { maxTokens } = this.options;
    const counted = this.usage?.completionTokens ?? this.counted;
    return maxTokens === undefined || (counted > 0 && counted < maxTokens);
  }

  /** Adds counts that the server sends before the end: tokens of the answer, and the processed part of the prompt. */
  private count({ progress, usage, tokens }: Piece, added: OutputEvent[]): void {
    if (this.options.counts && tokens !== undefined) {
      if (added.length > 0) this.countTokens(tokens, added);
      // The counts of the answer include the prompt's length, but not the time that it took.
      if (usage && !this.prompt) {
        const { promptTokens: total, cachedTokens: cached } = usage;
        this.addProgress({ total, cached, processed: total, ms: 0 }, added);
      }
    }
    if (progress) this.addProgress(progress, added);
  }

  private countTokens(tokens: number, added: OutputEvent[]): void {
    assign(Math.max(tokens - this.counted, 0), added);
    this.pieces = this.counted = tokens;
  }

  private addProgress(progress: NonNullable<Piece["progress"]>, added: OutputEvent[]): void {
    this.prompt = progress;
    added.unshift({ type: "progress", ...progress });
  }

  private addText(piece: string, logprobs: Piece["logprobs"] = [], added: OutputEvent[]): void {
    const { reasoning, text } = this.thinking?.push(piece) ?? { reasoning: "", text: piece };
    if (reasoning !== "") this.calls.say({ type: "reasoning", text: reasoning }, added);
    const fresh = this.withoutBeginning(text);
    this.heldLogprobs.push(...logprobs);
    if (this.holdsText) return;
    // Held text that is not released was part of a tag or of the prefill.
    const isReleased = fresh.length > piece.length;
    this.emit(fresh, isReleased ? this.heldLogprobs : logprobs, added);
    this.heldLogprobs = [];
  }

  /** Adds the text that was held back. */
  private addRest(added: OutputEvent[]): void {
    const { reasoning, text } = this.thinking?.end() ?? { reasoning: "", text: "" };
    if (reasoning !== "") this.calls.say({ type: "reasoning", text: reasoning }, added);
    this.emit(this.options.beginning.slice(0, this.repeated ?? 0) + text, this.heldLogprobs, added);
    this.repeated = undefined;
  }

  private emit(text: string, logprobs: readonly TokenLogprob[], added: OutputEvent[]): void {
    if (text !== "") this.calls.say({ type: "text", text, ...(logprobs.length > 0 && { logprobs }) }, added);
  }

  /** Whether text is held back that may turn out to be part of the answer. */
  private get holdsText(): boolean {
    return this.thinking?.holdsText === true || (this.repeated ?? 0) > 0;
  }

  private withoutBeginning(text: string): string {
    const said = this.repeated;
    if (said === undefined) return text;
    const { beginning } = this.options;
    const rest = beginning.length - said;
    const isSame = beginning.startsWith(text.slice(0, rest), said);
    if (isSame && text.length < rest) {
      this.repeated = said + text.length;
      return "";
    }
    this.repeated = undefined;
    return isSame ? text.slice(rest) : beginning.slice(0, said) + text;
  }
}

/** Assigns the new tokens of all events to the last one. */
function assign(tokens: number, added: OutputEvent[]): void {
  const counted = added.map((event, at) => ({ ...event, sampled: at < added.length - 1 ? 0 : tokens }));
  added.splice(0, added.length, ...counted);
}

function sizeOf({ text = "", reasoning = "", calls = [], logprobs = [], count = 1 }: Piece): number {
  let size = SIZE.piece * count + text.length + reasoning.length;
  for (const { id = "", name, arguments: json } of calls)
    // A call begins with its name; pieces without a name continue it.
    size += (name === undefined ? SIZE.piece : SIZE.call + name.length) + id.length + json.length;
  for (const { top } of logprobs) size += SIZE.alternative * (1 + top.length);
  return size;
}

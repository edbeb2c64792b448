// Turns a request's tokens into output events: as plain text, or parsed by the model's answer format.

import type { AnswerUpdate } from "../../../../ffi/llama/api.ts";
import { newToolCallId } from "../../../domain/ids.ts";
import type { OutputEvent } from "../../../domain/generate.ts";
import type { TokenLogprob } from "../../../domain/usage.ts";
import { closeJson } from "../../../text/json-close.ts";
import { JsonText } from "../../../text/json-text.ts";
import { VisibleText, type Released } from "../../../text/visible-text.ts";
import { WordWatch } from "../../../text/word-watch.ts";

/** Turns the tokens of one answer into events; an emitted event is never taken back. */
export interface Answer {
  /** Whether the answer is complete, so that no more tokens are needed. */
  readonly complete: boolean;
  /** The stop sequence that completed it. */
  readonly stopSequence: string | undefined;
  /** Whether a tool was called. */
  readonly called: boolean;
  /** How many tokens so far are reasoning. */
  readonly reasoningTokens: number;
  /** Takes a token's text. `more`: further tokens were sampled already and follow at once. */
  push(bytes: Uint8Array, more: boolean, logprob?: TokenLogprob): OutputEvent[];
  /** The generation is over; `whole`: the model itself ended it. */
  end(whole: boolean): OutputEvent[];
}

/** An answer that is plain text. */
export class PlainAnswer implements Answer {
  stopSequence: string | undefined;
  readonly called = false;
  readonly reasoningTokens = 0;
  /** Holds incomplete characters back until they are complete; invalid bytes become U+FFFD. */
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly visible: VisibleText;

  constructor(stops: readonly string[]) {
    this.visible = new VisibleText(stops);
  }

  push(bytes: Uint8Array, _more: boolean, logprob?: TokenLogprob): OutputEvent[] {
    const text = bytes.length === 0 ? "" : this.decoder.decode(bytes, { stream: true });
    // A token without text is invisible, so its log probability is not reported.
    const released = this.visible.push(text, logprob && bytes.length > 0 ? [logprob] : []);
    this.stopSequence = released.stop;
    return textEvents(released);
  }

  get complete(): boolean {
    return this.stopSequence !== undefined;
  }

  end(): OutputEvent[] {
    return this.complete ? [] : textEvents(this.visible.end(this.decoder.decode()));
  }
}

/** llama.cpp's parser for the model's format. */
interface AnswerParser {
  push(bytes: Uint8Array): void;
  read(final: boolean): AnswerUpdate | undefined;
}

export interface ParsedAnswerOptions {
  readonly stops: readonly string[];
  /** Names of the tools that may be called. */
  readonly tools: readonly string[];
  /** Texts that end reasoning. */
  readonly thinkingEnds: readonly string[];
  readonly parallelToolCalls: boolean;
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number;
  /** Returns how many answers are read at present. */
  readonly readers: () => number;
}

/**
 * Each read parses the answer from its first token. Once that is slow, one answer and all together may take these shares
 * of the time; more when something was found that may end the answer, and as much as it needs at the end of reasoning,
 * whose tokens count.
 */
const READING_SHARE = { usual: { one: 1 / 30, all: 1 / 10 }, expected: { one: 1 / 4, all: 1 / 4 } } as const;
/** Reads that together take no longer than this are not slow. */
const SLOW_READING_MS = 0.25;
/** Bytes that the parser may need behind an element before it reports it. */
const PARSER_LAG = 256;

/** An answer of reasoning, text and tool calls. */
export class ParsedAnswer implements Answer {
  complete = false;
  stopSequence: string | undefined;
  reasoningTokens = 0;
  private readonly visible: VisibleText;
  private readonly calls: { readonly id: string; readonly json: JsonText; arguments: string }[] = [];
  /** White space at the start of the text; it is dropped when a tool call follows. */
  private blank = "";
  private written = false;
  private reasoned = false;
  /** Tokens that the parser has not reported yet, and their log probabilities. */
  private unreported = 0;
  private logprobs: TokenLogprob[] = [];
  private readonly thinkingEnds: WordWatch;
  private readonly stops: WordWatch;
  private readonly names: WordWatch;
  /** Whether a text was found that the parser has not reported yet, and that may end the reasoning, or the answer. */
  private reasoningMayEnd = false;
  private answerMayEnd = false;
  private readAt = Number.NEGATIVE_INFINITY;
  private lastCost = 0;
  private readCost = 0;

  constructor(
    private readonly parser: AnswerParser,
    private readonly options: ParsedAnswerOptions,
  ) {
    this.visible = new VisibleText(options.stops);
    this.thinkingEnds = new WordWatch(options.thinkingEnds, PARSER_LAG);
    this.stops = new WordWatch(options.stops, PARSER_LAG);
    this.names = new WordWatch(options.parallelToolCalls ? [] : options.tools, PARSER_LAG);
  }

  get called(): boolean {
    return this.calls.length > 0;
  }

  push(bytes: Uint8Array, more: boolean, logprob?: TokenLogprob): OutputEvent[] {
    this.parser.push(bytes);
    this.unreported++;
    if (logprob && bytes.length > 0) this.logprobs.push(logprob);
    this.watch(bytes);
    // Where reasoning may begin or end, each token is read in order to count the reasoning tokens.
    const within = this.written || this.called || (this.reasoned && this.options.thinkingEnds.length > 0);
    if (more && within && !this.answerMayEnd && !this.reasoningMayEnd) return [];
    const before = this.options.now();
    const readers = Math.max(1, this.options.readers());
    const { one, all } = this.answerMayEnd ? READING_SHARE.expected : READING_SHARE.usual;
    const share = Math.min(one, all / readers);
    if (!this.reasoningMayEnd && before - this.readAt < this.readCost / share) return [];
    const update = this.parser.read(false);
    this.readAt = this.options.now();
    // One read may have taken long because the system gave other programs a turn within it.
    const took = this.readAt - before;
    const cost = Math.min(took, this.lastCost);
    this.lastCost = took;
    this.readCost = cost > SLOW_READING_MS / readers ? cost : 0;
    if (!update) return [];
    this.reasoningMayEnd = false;
    this.answerMayEnd = false;
    return this.emit(update);
  }

  /** Searches the next token for texts that may end what is being written: reasoning, text or the only call. */
  private watch(bytes: Uint8Array): void {
    const ended = this.thinkingEnds.push(bytes);
    const stopped = this.stops.push(bytes);
    const named = this.names.push(bytes);
    const begun = this.written || this.called;
    // Stop sequences in reasoning do not end it.
    const inReasoning = !begun && this.reasoned && this.options.thinkingEnds.length > 0;
    if (ended && !begun) this.reasoningMayEnd = true;
    if ((stopped && !inReasoning) || (named && this.called)) this.answerMayEnd = true;
  }

  end(whole: boolean): OutputEvent[] {
    if (this.complete) return [];
    const update = this.parser.read(true);
    const events = update ? this.emit(update) : [];
    if (this.complete) return events;
    if (!this.written && !this.called && this.reasoned) this.reasoningTokens += this.unreported;
    if (!this.called) events.push(...this.release(this.visible.push(this.takeBlank(), this.logprobs)));
    // In a stream, nothing may interrupt a call: text that was held back comes after its end.
    if (whole) events.push(...this.closeCall());
    events.push(...this.release(this.visible.end()));
    return events;
  }

  private emit({ reasoning, content, calls = [] }: AnswerUpdate): OutputEvent[] {
    // A read may cover the end of a call and what follows it; in a stream, nothing may interrupt the call.
    const events = calls.filter(({ name }) => name === undefined).flatMap((call) => this.call(call));
    if (reasoning !== undefined) {
      this.reasoned = true;
      events.push({ type: "reasoning", text: reasoning });
    }
    const answered = content !== undefined || calls.length > 0;
    if (this.reasoned && !this.written && !this.called) this.reasoningTokens += this.unreported - Number(answered);
    this.unreported = 0;
    if (content !== undefined) events.push(...this.write(content));
    if (reasoning !== undefined || calls.length > 0) this.logprobs = [];
    for (const call of calls.filter(({ name }) => name !== undefined)) {
      if (this.complete) break;
      events.push(...this.call(call));
    }
    return events;
  }

  private write(content: string): OutputEvent[] {
    if (this.options.tools.length > 0 && !this.written && content.trim() === "") {
      this.blank += content;
      return [];
    }
    const followsReasoning = this.reasoned && !this.written;
    const text = this.takeBlank() + content;
    // After reasoning, the tokens before the first token of the text are markup.
    if (followsReasoning) this.logprobs = fromText(this.logprobs, text);
    return this.show(text);
  }

  /** Emits text: token by token, as far as it consists of the tokens whose log probabilities have not been emitted. */
  private show(text: string): OutputEvent[] {
    const decoder = new TextDecoder();
    const events: OutputEvent[] = [];
    let [shown, count] = [0, 0];
    for (const one of this.logprobs.length > 1 ? this.logprobs : []) {
      const characters = decoder.decode(Uint8Array.from(one.bytes), { stream: true });
      if (shown === text.length || !text.startsWith(characters, shown)) break;
      events.push(...this.release(this.visible.push(characters, [one])));
      if (this.complete) return events;
      shown += characters.length;
      count++;
    }
    // The others are tokens of markup that follows the text.
    const rest = this.logprobs.slice(count);
    this.logprobs = shown === text.length ? rest : [];
    if (shown < text.length) events.push(...this.release(this.visible.push(text.slice(shown), rest)));
    return events;
  }

  private takeBlank(): string {
    const blank = this.blank;
    this.blank = "";
    this.written = true;
    return blank;
  }

  private release(released: Released): OutputEvent[] {
    this.stopSequence ??= released.stop;
    this.complete ||= released.stop !== undefined;
    return textEvents(released);
  }

  private call({ index, name, id, arguments: piece }: NonNullable<AnswerUpdate["calls"]>[number]): OutputEvent[] {
    if (index > 0 && !this.options.parallelToolCalls) {
      this.complete = true;
      return this.closeCall();
    }
    const events: OutputEvent[] = [];
    if (name !== undefined) {
      events.push(...this.closeCall());
      const call = { id: id || newToolCallId(), json: new JsonText(), arguments: "" };
      this.calls[index] = call;
      events.push({ type: "tool_call", index, id: call.id, name });
    }
    const call = this.calls[index];
    const text = call && piece !== undefined ? call.json.push(piece) : "";
    if (call && text !== "") {
      call.arguments += text;
      events.push({ type: "tool_arguments", index, text });
    }
    return events;
  }

  /** Completes the last call's arguments to valid JSON: what the model left open is closed. */
  private closeCall(): OutputEvent[] {
    const index = this.calls.length - 1;
    const call = this.calls[index];
    if (!call) return [];
    const text = call.arguments.trim() === "" ? "{}" : closeJson(call.arguments);
    if (!text) return [];
    call.arguments += text;
    return [{ type: "tool_arguments", index, text }];
  }
}

/** Returns the entries from the token with which a text begins; the last one if the text is not that of the tokens. */
function fromText(logprobs: readonly TokenLogprob[], text: string): TokenLogprob[] {
  let left = Buffer.concat(logprobs.map(({ bytes }) => Uint8Array.from(bytes))).lastIndexOf(text);
  if (left < 0) return logprobs.slice(-1);
  return logprobs.slice(logprobs.findIndex(({ bytes }) => (left -= bytes.length) < 0));
}

function textEvents({ text, logprobs }: Released): OutputEvent[] {
  if (text === "" && logprobs.length === 0) return [];
  return [{ type: "text", text, ...(logprobs.length > 0 && { logprobs }) }];
}

// The events of one generation → answers of Ollama's API: one JSON object, or one a line.

import type { OllamaAnswer } from "../../contract/ollama.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import type { TokenLogprob } from "../../domain/usage.ts";
import { encodeLogprobs } from "../chat/encode.ts";
import { objectOf } from "../fields/json-object.ts";
import type { StreamContext } from "../fields/stream.ts";
import { typedError } from "../fields/typed-error.ts";

/** `chat` answers have a message, `generate` answers a response. */
export type OllamaForm = "chat" | "generate";

export interface OllamaContext {
  readonly form: OllamaForm;
  readonly model: string;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
}

type Call = { function: { name: string; arguments: Record<string, unknown> } };

interface Piece {
  readonly content?: string;
  readonly thinking?: string;
  readonly calls?: readonly Call[];
  readonly logprobs?: readonly TokenLogprob[];
}

/** The answer to a request that only wants the model to be there. */
export const loadedAnswer = (context: OllamaContext): OllamaAnswer => ({
  ...piece(context, {}),
  done: true,
  done_reason: "load",
});

/** Collects the whole answer. Throws what the generation throws. */
export async function encodeOllama(
  events: AsyncIterable<GenerateEvent>,
  context: OllamaContext,
): Promise<OllamaAnswer> {
  const calls = new CallCollector();
  let content = "";
  let thinking = "";
  const tokens: TokenLogprob[] = [];
  for await (const event of events) {
    if (event.type === "text") {
      content += event.text;
      tokens.push(...(event.logprobs ?? []));
    } else if (event.type === "reasoning") thinking += event.text;
    else if (event.type === "finish") {
      const made = [...calls.done, ...calls.take()];
      const logprobs = tokens.length > 0 && { logprobs: tokens };
      const all = { content, ...(thinking !== "" && { thinking }), calls: made, ...logprobs };
      return { ...piece(context, all), ...ending(event) };
    } else calls.add(event);
  }
  throw new SvcError("internal_error", "The generation ended without a finish.");
}

/** Yields one line for each piece; calls whole, as that API knows no parts of them. Never throws. */
export async function* encodeOllamaStream(
  events: AsyncIterator<GenerateEvent>,
  context: OllamaContext,
  { signal, onUnexpected }: Pick<StreamContext, "signal" | "onUnexpected">,
): AsyncGenerator<string, void, void> {
  const calls = new CallCollector();
  const line = (answer: object) => `${JSON.stringify(answer)}\n`;
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const event = next.value;
      if (event.type === "text") {
        const { text: content, logprobs } = event;
        yield line({ ...piece(context, { content, ...(logprobs && { logprobs }) }), done: false });
      } else if (event.type === "reasoning") {
        yield line({ ...piece(context, { thinking: event.text }), done: false });
      } else if (event.type !== "finish") {
        for (const call of calls.add(event)) yield line({ ...piece(context, { calls: [call] }), done: false });
      } else {
        for (const call of calls.take()) yield line({ ...piece(context, { calls: [call] }), done: false });
        yield line({ ...piece(context, {}), ...ending(event) });
      }
    }
  } catch (error) {
    if (!signal.aborted) yield line({ error: typedError(error, onUnexpected).message });
  } finally {
    await events.return?.();
  }
}

function piece(context: OllamaContext, { content = "", thinking, calls = [], logprobs }: Piece): OllamaAnswer {
  const { form, model, wall } = context;
  const tokens = logprobs && { logprobs: encodeLogprobs(logprobs).content };
  const head = { model, created_at: new Date(wall()).toISOString(), ...tokens };
  const thoughts = thinking === undefined ? {} : { thinking };
  if (form === "generate") return { ...head, response: content, ...thoughts, done: false };
  const tool_calls = calls.map((call) => ({ ...call }));
  const message = { role: "assistant" as const, content, ...thoughts, ...(calls.length > 0 && { tool_calls }) };
  return { ...head, message, done: false };
}

const nanoseconds = (ms: number): number => Math.round(ms * 1e6);

function ending({ reason, usage }: FinishEvent) {
  return {
    done: true,
    // A call is an ordinary end to that API.
    done_reason: reason === "tool_calls" || reason === "cancelled" ? "stop" : reason,
    total_duration: nanoseconds(usage.queueMs + usage.promptMs + usage.completionMs),
    load_duration: 0,
    prompt_eval_count: usage.promptTokens,
    prompt_eval_duration: nanoseconds(usage.promptMs),
    eval_count: usage.completionTokens,
    eval_duration: nanoseconds(usage.completionMs),
  };
}

/** Puts calls together; one is done when the next begins. */
class CallCollector {
  readonly done: Call[] = [];
  private open: { readonly name: string; json: string } | undefined;

  /** Takes an event; returns calls that are done by it. */
  add(event: GenerateEvent): Call[] {
    if (event.type === "tool_arguments" && this.open) this.open.json += event.text;
    if (event.type !== "tool_call") return [];
    const finished = this.take();
    this.done.push(...finished);
    this.open = { name: event.name, json: "" };
    return finished;
  }

  /** The call that is open, as nothing more comes to it. */
  take(): Call[] {
    const { open } = this;
    this.open = undefined;
    return open ? [{ function: { name: open.name, arguments: objectOf(open.json) } }] : [];
  }
}

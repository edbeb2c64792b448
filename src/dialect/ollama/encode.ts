// Encodes the events of one generation as answers of Ollama's API: one JSON object, or one per line.

import type { OllamaAnswer } from "../../contract/ollama.ts";
import type { AcceptedEvent, FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import type { FinishReason } from "../../domain/usage.ts";
import { encodeLogprob, type EncodedLogprob } from "../chat/encode.ts";
import { objectOf } from "../fields/json-object.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { collect, CollectedAnswer } from "../stream/collect.ts";
import type { Put, StreamWriter } from "../stream/streamed.ts";

/** `chat` answers have a `message`, `generate` answers a `response`. */
export type OllamaForm = "chat" | "generate";

interface OllamaContext extends Pick<AcceptedEvent, "readInputs"> {
  readonly form: OllamaForm;
  readonly model: string;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds that the request waited for the model. */
  readonly loadMs?: number;
}

type Call = NonNullable<NonNullable<OllamaAnswer["message"]>["tool_calls"]>[number];

interface Piece {
  readonly content?: string;
  readonly thinking?: string;
  readonly calls?: readonly Call[];
  readonly logprobs?: EncodedLogprob[];
}

/** Returns the answer to a request that only loads or unloads the model. */
export const loadedAnswer = (context: OllamaContext, isUnloaded: boolean): OllamaAnswer => ({
  ...piece(context, {}),
  done: true,
  done_reason: isUnloaded ? "unload" : "load",
});

/** Collects the whole answer. Throws what the generation throws. */
export async function encodeOllama(
  events: AsyncIterable<GenerateEvent>,
  context: OllamaContext,
): Promise<OllamaAnswer> {
  const { text, reasoning, calls, logprobs, finish } = await collect(events, new CollectedAnswer(encodeLogprob));
  const whole = {
    content: text,
    ...(reasoning !== "" && { thinking: reasoning }),
    calls: calls.map((call, index) => encodeCall({ ...call, index })),
    ...(logprobs.length > 0 && { logprobs }),
  };
  return { ...piece(context, whole), ...ending(finish, context), ...encodeReadInputs(context) };
}

/**
 * Writes one line per piece; calls are whole, as Ollama's API has no partial ones. A failure becomes a line with
 * `error`; otherwise the last line lists media that were converted to text.
 */
export function ollamaWriter(put: Put<string>, context: OllamaContext): StreamWriter<GenerateEvent> {
  const line = (answer: object) => put(`${JSON.stringify(answer)}\n`);
  let open: WrittenCall | undefined;
  const endCall = () => {
    if (open) line(piece(context, { calls: [encodeCall(open)] }));
    open = undefined;
  };
  return {
    event(event) {
      switch (event.type) {
        case "text": {
          endCall();
          const { text: content, logprobs } = event;
          return line(piece(context, { content, ...(logprobs && { logprobs: logprobs.map(encodeLogprob) }) }));
        }
        case "reasoning":
          endCall();
          return line(piece(context, { thinking: event.text }));
        case "tool_call":
          endCall();
          open = { ...event, arguments: "" };
          return;
        case "tool_arguments":
          if (open) open.arguments += event.text;
          return;
        case "finish":
          endCall();
          line({ ...piece(context, {}), ...ending(event, context), ...encodeReadInputs(context) });
      }
    },
    failure: ({ message }) => line({ error: message }),
  };
}

interface WrittenCall {
  readonly id: string;
  readonly index: number;
  readonly name: string;
  arguments: string;
}

const encodeCall = ({ id, index, name, arguments: text }: WrittenCall): Call => ({
  id,
  function: { index, name, arguments: objectOf(text) },
});

function piece(context: OllamaContext, { content = "", thinking, calls = [], logprobs }: Piece): OllamaAnswer {
  const { form, model, wall } = context;
  const head = { model, created_at: new Date(wall()).toISOString(), ...(logprobs && { logprobs }) };
  const thoughts = thinking === undefined ? {} : { thinking };
  if (form === "generate") return { ...head, response: content, ...thoughts, done: false };
  const tool_calls = calls.map((call) => ({ ...call }));
  const message = { role: "assistant" as const, content, ...thoughts, ...(calls.length > 0 && { tool_calls }) };
  return { ...head, message, done: false };
}

const nanoseconds = (ms: number): number => Math.round(ms * 1e6);

/** Returns the reason in this API, which has no others for an answer that ends with a call or was cut. */
function doneReason(reason: FinishReason): string {
  if (reason === "tool_calls") return "stop";
  return reason === "content_filter" ? "length" : reason;
}

function ending({ reason, usage, tokens }: FinishEvent, { form, loadMs = 0 }: OllamaContext) {
  return {
    done: true,
    done_reason: doneReason(reason),
    ...(form === "generate" && tokens && { context: [...tokens.prompt, ...tokens.answer] }),
    total_duration: nanoseconds(loadMs + usage.queueMs + usage.promptMs + usage.completionMs),
    load_duration: nanoseconds(loadMs),
    prompt_eval_count: usage.promptTokens,
    prompt_eval_duration: nanoseconds(usage.promptMs),
    eval_count: usage.completionTokens,
    eval_duration: nanoseconds(usage.completionMs),
  };
}

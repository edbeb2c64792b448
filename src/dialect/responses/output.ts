// The events of one generation → output items, and the semantic events that tell of their making.

import type { OutputItem } from "../../contract/responses.ts";
import type { GenerateEvent, ChatMessage, FinishEvent } from "../../domain/generate.ts";
import { newItemId } from "../../domain/ids.ts";
import { encodeLogprobs } from "../chat/encode.ts";
import { jsonArguments } from "../fields/json-object.ts";
import { flatName, type FunctionNames } from "./functions.ts";

/** A semantic event without its number in the stream. */
export interface SemanticEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

type Reasoning = Extract<OutputItem, { type: "reasoning" }>;
type Message = Extract<OutputItem, { type: "message" }>;
type FunctionCall = Extract<OutputItem, { type: "function_call" }>;

/** Builds the items of one answer; each method yields what a stream tells of it. Item ids stay the same throughout. */
export class OutputBuilder {
  /** In the order of their making; the last one may still be in progress. */
  readonly items: OutputItem[] = [];
  private open: OutputItem | undefined;

  constructor(private readonly names: FunctionNames) {}

  *add(event: GenerateEvent): Generator<SemanticEvent, void, void> {
    switch (event.type) {
      case "reasoning":
        return yield* this.think(event.text);
      case "text":
        return yield* this.write(event);
      case "tool_call":
        return yield* this.call(event.id, event.name);
      case "tool_arguments":
        return yield* this.append(event.text);
    }
  }

  /** Ends the item in progress. A generation that was cut leaves it incomplete. */
  *end(finish: FinishEvent): Generator<SemanticEvent, void, void> {
    yield* this.close(finish.reason === "length" || finish.reason === "cancelled" ? "incomplete" : "completed");
    // An answer of nothing is still an answer.
    if (this.items.length > 0 || finish.reason === "cancelled") return;
    yield* this.write({ text: "" });
    yield* this.close("completed");
  }

  /** Ends the item in progress as incomplete: nothing more comes. */
  *abandon(): Generator<SemanticEvent, void, void> {
    yield* this.close("incomplete");
  }

  /** The turn as a next request goes on from it. */
  get message(): ChatMessage {
    const texts = this.items.flatMap((item) => (item.type === "message" ? item.content.map(({ text }) => text) : []));
    const thoughts = this.items.flatMap((item) =>
      item.type === "reasoning" ? item.summary.map(({ text }) => text) : [],
    );
    const calls = this.items.flatMap((item) => (item.type === "function_call" ? [item] : []));
    return {
      role: "assistant",
      content: texts.join("\n"),
      ...(thoughts.length > 0 && { reasoning: thoughts.join("\n") }),
      ...(calls.length > 0 && {
        toolCalls: calls.map((call) => ({
          id: call.call_id,
          name: flatName(call),
          arguments: jsonArguments(call.arguments),
        })),
      }),
    };
  }

  private *think(text: string): Generator<SemanticEvent, void, void> {
    const item =
      this.open?.type === "reasoning"
        ? this.open
        : yield* this.begin<Reasoning>(
            { id: newItemId("rs"), type: "reasoning", summary: [], status: "in_progress" },
            { summary: [] },
          );
    const place = { item_id: item.id, output_index: this.index, summary_index: 0 };
    let [part] = item.summary;
    if (!part) {
      part = { type: "summary_text", text: "" };
      item.summary.push(part);
      yield { type: "response.reasoning_summary_part.added", ...place, part: { ...part } };
    }
    part.text += text;
    yield { type: "response.reasoning_summary_text.delta", ...place, delta: text };
  }

  private *write(event: Pick<Extract<GenerateEvent, { type: "text" }>, "text" | "logprobs">) {
    const item =
      this.open?.type === "message"
        ? this.open
        : yield* this.begin<Message>(
            { id: newItemId("msg"), type: "message", status: "in_progress", role: "assistant", content: [] },
            { content: [] },
          );
    const place = { item_id: item.id, output_index: this.index, content_index: 0 };
    let [part] = item.content;
    if (!part) {
      part = { type: "output_text", text: "", annotations: [], logprobs: [] };
      item.content.push(part);
      yield { type: "response.content_part.added", ...place, part: { ...part, logprobs: [] } };
    }
    const logprobs = encodeLogprobs(event.logprobs ?? []).content;
    part.text += event.text;
    part.logprobs.push(...logprobs);
    if (event.text !== "" || logprobs.length > 0) {
      yield { type: "response.output_text.delta", ...place, delta: event.text, logprobs };
    }
  }

  private *call(callId: string, name: string): Generator<SemanticEvent, void, void> {
    yield* this.close("completed");
    yield* this.begin<FunctionCall>(
      {
        id: newItemId("fc"),
        type: "function_call",
        call_id: callId,
        ...(this.names.get(name) ?? { name }),
        arguments: "",
        status: "in_progress",
      },
      {},
    );
  }

  private *append(text: string): Generator<SemanticEvent, void, void> {
    const item = this.open;
    if (item?.type !== "function_call") return;
    item.arguments += text;
    const type = "response.function_call_arguments.delta";
    yield { type, item_id: item.id, output_index: this.index, delta: text };
  }

  private get index(): number {
    return this.items.length - 1;
  }

  private *begin<Item extends OutputItem>(item: Item, empty: Partial<Item>): Generator<SemanticEvent, Item, void> {
    yield* this.close("completed");
    this.items.push(item);
    this.open = item;
    yield { type: "response.output_item.added", output_index: this.index, item: { ...item, ...empty } };
    return item;
  }

  private *close(status: "completed" | "incomplete"): Generator<SemanticEvent, void, void> {
    const item = this.open;
    if (!item) return;
    this.open = undefined;
    item.status = status;
    const place = { item_id: item.id, output_index: this.index };
    if (item.type === "reasoning") {
      for (const [summary_index, part] of item.summary.entries()) {
        const { text } = part;
        yield { type: "response.reasoning_summary_text.done", ...place, summary_index, text };
        yield { type: "response.reasoning_summary_part.done", ...place, summary_index, part };
      }
    } else if (item.type === "message") {
      for (const [content_index, part] of item.content.entries()) {
        const { text, logprobs } = part;
        yield { type: "response.output_text.done", ...place, content_index, text, logprobs };
        yield { type: "response.content_part.done", ...place, content_index, part };
      }
    } else {
      const { name, arguments: text } = item;
      yield { type: "response.function_call_arguments.done", ...place, name, arguments: text };
    }
    yield { type: "response.output_item.done", output_index: this.index, item };
  }
}

// Builds output items from the events of one generation, and emits semantic events meanwhile.

import type { OutputItem } from "../../contract/responses.ts";
import type { ChatMessage, FinishEvent, GenerateEvent, TextEvent } from "../../domain/generate.ts";
import { newItemId } from "../../domain/ids.ts";
import { encodeLogprobs } from "../chat/encode.ts";
import { jsonArguments } from "../fields/json-object.ts";
import { inputOf } from "./custom-tools.ts";
import { flatName, type ClientTools } from "./functions.ts";

/** A semantic event without its sequence number. */
export interface SemanticEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

type Reasoning = Extract<OutputItem, { type: "reasoning" }>;
type Message = Extract<OutputItem, { type: "message" }>;
type FunctionCall = Extract<OutputItem, { type: "function_call" }>;
type CustomCall = Extract<OutputItem, { type: "custom_tool_call" }>;

/** Builds the items of one answer and emits the events of a stream. Item ids stay the same throughout. */
export class OutputBuilder {
  /** The items in the order in which they began; the last one may still be in progress. */
  readonly items: OutputItem[] = [];
  private open: OutputItem | undefined;
  /** The arguments of the open call of a custom tool, from which its input is taken at the end. */
  private customArguments = "";

  constructor(
    private readonly tools: ClientTools,
    private readonly emit: (event: SemanticEvent) => void,
  ) {}

  add(event: GenerateEvent): void {
    switch (event.type) {
      case "reasoning":
        return this.think(event.text);
      case "text":
        return this.write(event);
      case "tool_call":
        return this.call(event.id, event.name);
      case "tool_arguments":
        return this.append(event.text);
    }
  }

  /** Ends the item in progress. After a limit, a filter or a cancellation it is incomplete. */
  end(finish: FinishEvent): void {
    const isWhole = finish.reason === "stop" || finish.reason === "tool_calls";
    this.close(isWhole ? "completed" : "incomplete");
    // An empty answer still needs an item.
    if (this.items.length > 0 || finish.reason === "cancelled") return;
    this.write({ text: "" });
    this.close("completed");
  }

  /** Ends the item in progress as incomplete: no more events come. */
  abandon(): void {
    this.close("incomplete");
  }

  /** The turn from which a next request continues. */
  get message(): ChatMessage {
    const texts = this.items.flatMap((item) => (item.type === "message" ? item.content.map(({ text }) => text) : []));
    const thoughts = this.items.flatMap((item) =>
      item.type === "reasoning" ? item.summary.map(({ text }) => text) : [],
    );
    const calls = this.items.flatMap((item) =>
      item.type === "function_call" || item.type === "custom_tool_call" ? [item] : [],
    );
    return {
      role: "assistant",
      content: texts.join("\n"),
      ...(thoughts.length > 0 && { reasoning: thoughts.join("\n") }),
      ...(calls.length > 0 && {
        toolCalls: calls.map((call) => ({
          id: call.call_id,
          name: flatName(call),
          arguments: jsonArguments(
            call.type === "function_call" ? call.arguments : JSON.stringify({ input: call.input }),
          ),
        })),
      }),
    };
  }

  private think(text: string): void {
    const item =
      this.open?.type === "reasoning"
        ? this.open
        : this.begin<Reasoning>(
            { id: newItemId("rs"), type: "reasoning", summary: [], status: "in_progress" },
            { summary: [] },
          );
    const place = { item_id: item.id, output_index: this.index, summary_index: 0 };
    let [part] = item.summary;
    if (!part) {
      part = { type: "summary_text", text: "" };
      item.summary.push(part);
      this.emit({ type: "response.reasoning_summary_part.added", ...place, part: { ...part } });
    }
    part.text += text;
    this.emit({ type: "response.reasoning_summary_text.delta", ...place, delta: text });
  }

  private write(event: Pick<TextEvent, "text" | "logprobs">): void {
    const item =
      this.open?.type === "message"
        ? this.open
        : this.begin<Message>(
            { id: newItemId("msg"), type: "message", status: "in_progress", role: "assistant", content: [] },
            { content: [] },
          );
    const place = { item_id: item.id, output_index: this.index, content_index: 0 };
    let [part] = item.content;
    if (!part) {
      part = { type: "output_text", text: "", annotations: [], logprobs: [] };
      item.content.push(part);
      this.emit({ type: "response.content_part.added", ...place, part: { ...part, logprobs: [] } });
    }
    const logprobs = encodeLogprobs(event.logprobs ?? []).content;
    part.text += event.text;
    part.logprobs.push(...logprobs);
    if (event.text !== "" || logprobs.length > 0) {
      this.emit({ type: "response.output_text.delta", ...place, delta: event.text, logprobs });
    }
  }

  private call(callId: string, name: string): void {
    this.close("completed");
    const { type, ...client } = this.tools.get(name) ?? { type: "function", name };
    const call = { call_id: callId, ...client };
    const status = "in_progress";
    this.customArguments = "";
    if (type === "function") {
      this.begin<FunctionCall>({ id: newItemId("fc"), type: "function_call", ...call, arguments: "", status }, {});
    } else this.begin<CustomCall>({ id: newItemId("ctc"), type: "custom_tool_call", ...call, input: "", status }, {});
  }

  private append(text: string): void {
    const item = this.open;
    if (item?.type === "custom_tool_call") this.customArguments += text;
    if (item?.type !== "function_call") return;
    item.arguments += text;
    const type = "response.function_call_arguments.delta";
    this.emit({ type, item_id: item.id, output_index: this.index, delta: text });
  }

  private get index(): number {
    return this.items.length - 1;
  }

  private begin<Item extends OutputItem>(item: Item, empty: Partial<Item>): Item {
    this.close("completed");
    this.items.push(item);
    this.open = item;
    this.emit({ type: "response.output_item.added", output_index: this.index, item: { ...item, ...empty } });
    return item;
  }

  private close(status: "completed" | "incomplete"): void {
    const item = this.open;
    if (!item) return;
    this.open = undefined;
    item.status = status;
    const place = { item_id: item.id, output_index: this.index };
    if (item.type === "reasoning") {
      for (const [summary_index, part] of item.summary.entries()) {
        const { text } = part;
        this.emit({ type: "response.reasoning_summary_text.done", ...place, summary_index, text });
        this.emit({ type: "response.reasoning_summary_part.done", ...place, summary_index, part });
      }
    } else if (item.type === "message") {
      for (const [content_index, part] of item.content.entries()) {
        const { text, logprobs } = part;
        this.emit({ type: "response.output_text.done", ...place, content_index, text, logprobs });
        this.emit({ type: "response.content_part.done", ...place, content_index, part });
      }
    } else if (item.type === "function_call") {
      const { name, arguments: text } = item;
      this.emit({ type: "response.function_call_arguments.done", ...place, name, arguments: text });
    } else {
      const input = inputOf(this.customArguments);
      item.input = input;
      if (input !== "") this.emit({ type: "response.custom_tool_call_input.delta", ...place, delta: input });
      this.emit({ type: "response.custom_tool_call_input.done", ...place, input });
    }
    this.emit({ type: "response.output_item.done", output_index: this.index, item });
  }
}

// The state machine of a response stream: numbered events, one open item at a time, and at the end a resource that
// holds exactly what the events reported.

import { strict as assert } from "node:assert";
import { OutputItem, ResponseResource } from "../../../src/contract/responses.ts";
import { checker } from "../../../src/contract/schema.ts";
import { serverSentEvents, withoutTerminator, type Assembled } from "./events.ts";

export type ResponseBody = ReturnType<typeof checkResource>;
type Item = ReturnType<typeof checkItem>;

interface Told {
  readonly type: string;
  readonly sequence_number: number;
  readonly response: ResponseBody;
  readonly output_index: number;
  readonly item: Item;
  readonly item_id: string;
  readonly content_index?: number;
  readonly summary_index?: number;
  readonly part: { readonly text: string };
  readonly delta: string;
  readonly text: string;
  readonly arguments: string;
  readonly input: string;
  readonly name: string;
  readonly logprobs: readonly unknown[];
}

const checkResource = checker(ResponseResource);
const checkItem = checker(OutputItem);
const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Assembles a stream into its answer. Throws where the stream breaks a rule of its API. */
export function assembleResponse(text: string): Assembled<ResponseBody> {
  const told = withoutTerminator(serverSentEvents(text)).map(({ event, data }, index) => {
    const fields = JSON.parse(data) as Told;
    assert.equal(fields.type, event, "an event's name is its type");
    assert.equal(fields.sequence_number, index, "events are numbered from 0");
    return fields;
  });
  const [created, begun, ...rest] = told;
  assert.deepEqual([created?.type, begun?.type], ["response.created", "response.in_progress"]);
  assert.deepEqual(created?.response, begun?.response);
  assert.deepEqual([created?.response.status, created?.response.output], ["in_progress", []]);
  const end = rest.pop();
  assert(end && TERMINAL.has(end.type), "the last event has the whole response");
  assert(
    rest.every(({ type }) => !TERMINAL.has(type)),
    "a response ends once",
  );
  const response = checkResource(end.response);
  assert.equal(response.id, created?.response.id, "the id stays the same");
  const items = new Items();
  for (const event of rest) items.take(event);
  assert.deepEqual(items.finished(), response.output, "what was told is what the resource has");
  const stated = end.type === "response.incomplete" && response.status === "cancelled" ? "cancelled" : undefined;
  assert.equal(end.type, `response.${stated ? "incomplete" : response.status}`, "the event's name is the status");
  return response.error ? { error: response.error } : { body: response };
}

/** Tracks the items of one stream. */
class Items {
  private readonly done: Item[] = [];
  private open:
    { readonly item: Item; parts: number; openPart: boolean; text: string; logprobs: unknown[] } | undefined;

  take(event: Told): void {
    if (event.type === "response.output_item.added") return this.begin(event);
    const { open } = this;
    assert(open, `${event.type} needs an open item`);
    assert.equal(event.output_index, this.done.length, "an event is about the open item");
    if (event.type === "response.output_item.done") return this.end(event.item);
    assert.equal(event.item_id, open.item.id, "the item's id stays the same");
    const [, kind, step] = /^response\.(.+)\.(added|delta|done)$/.exec(event.type) ?? [];
    switch (kind) {
      case "content_part":
      case "reasoning_summary_part":
        return this.part(event, step === "added");
      case "output_text":
      case "reasoning_summary_text":
        assert(open.openPart, "text needs an open part");
        if (step === "done") assert.equal(event.text, open.text, "the deltas are the text");
        else open.text += event.delta;
        if (kind === "reasoning_summary_text") return;
        if (step === "done") assert.deepEqual(event.logprobs, open.logprobs);
        else open.logprobs.push(...event.logprobs);
        return;
      case "function_call_arguments":
        assert.equal(open.item.type, "function_call");
        if (step === "delta") open.text += event.delta;
        else assert.equal(event.arguments, open.text, "the deltas are the arguments");
        return;
      case "custom_tool_call_input":
        assert.equal(open.item.type, "custom_tool_call");
        if (step === "delta") open.text += event.delta;
        else assert.equal(event.input, open.text, "the deltas are the input");
        return;
      default:
        assert.fail(`an unknown event: ${event.type}`);
    }
  }

  finished(): readonly Item[] {
    assert(!this.open, "every item is closed");
    return this.done;
  }

  private begin({ output_index, item }: Told): void {
    assert(!this.open, "one item is open at a time");
    assert.equal(output_index, this.done.length, "items are numbered from 0");
    assert.equal(checkItem(item).status, "in_progress");
    this.open = { item, parts: 0, openPart: false, text: "", logprobs: [] };
  }

  private part({ part, content_index, summary_index }: Told, added: boolean): void {
    const { open } = this;
    assert(open);
    assert.equal(open.openPart, !added, "one part is open at a time");
    assert.equal(content_index ?? summary_index, added ? open.parts : open.parts - 1);
    if (added) open.parts++;
    else assert.equal(part.text, open.text, "the part has the text");
    open.openPart = added;
    if (added) open.text = "";
  }

  private end(item: Item): void {
    const { open } = this;
    assert(open && !open.openPart, "every part is closed");
    const { id, type } = open.item;
    assert.deepEqual([item.id, item.type], [id, type], "an item stays what it is");
    assert.notEqual(checkItem(item).status, "in_progress");
    if (item.type === "function_call") assert.equal(item.arguments, open.text);
    if (item.type === "custom_tool_call") assert.equal(item.input, open.text);
    if (item.type === "message")
      assert.deepEqual(
        item.content.map(({ text }) => text),
        [open.text],
      );
    this.done.push(item);
    this.open = undefined;
  }
}

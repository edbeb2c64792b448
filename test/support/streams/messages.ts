// The state machine of a message stream: the message begins, its blocks follow one after another, the message ends.

import { strict as assert } from "node:assert";
import { MessagesResponse } from "../../../src/contract/messages.ts";
import { checker } from "../../../src/contract/schema.ts";
import { serverSentEvents, type Assembled } from "./events.ts";

export type MessageBody = ReturnType<typeof checkMessage>;
type Block = MessageBody["content"][number];

interface Told {
  readonly type: string;
  readonly index: number;
  readonly message: MessageBody;
  readonly content_block: Block;
  readonly delta: Pick<MessageBody, "stop_reason" | "stop_sequence" | "stop_details" | "container"> & BlockDelta;
  readonly usage: MessageBody["usage"];
  readonly error: { readonly message: string };
}

interface BlockDelta {
  readonly type: "text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta";
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
}

const checkMessage = checker(MessagesResponse);
/** The types of deltas that each type of block may have. */
const DELTAS = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
} as const satisfies Readonly<Record<Block["type"], readonly BlockDelta["type"][]>>;

/** Assembles a stream into its answer. Throws where the stream breaks a rule of its API. */
export function assembleMessage(text: string): Assembled<MessageBody> {
  const told = serverSentEvents(text).map(({ event, data }) => {
    const fields = JSON.parse(data) as Told;
    assert.equal(fields.type, event, "an event's name is its type");
    return fields;
  });
  const events = told.filter(({ type }) => type !== "ping");
  const [start, ...rest] = events;
  assert.equal(start?.type, "message_start");
  checkMessage(start?.message);
  const failure = rest.find(({ type }) => type === "error");
  if (failure) {
    assert.equal(rest.at(-1), failure, "an error is the last event");
    return { error: failure.error };
  }
  assert.deepEqual(
    rest.slice(-2).map(({ type }) => type),
    ["message_delta", "message_stop"],
  );
  const content = assembleBlocks(rest.slice(0, -2));
  const { delta, usage } = rest.at(-2) as Told;
  const counted = (start as Told).message.usage;
  assert(usage.output_tokens >= counted.output_tokens, "output tokens are cumulative");
  assert.equal(
    usage.input_tokens + usage.cache_read_input_tokens,
    counted.input_tokens + counted.cache_read_input_tokens,
    "the prompt is as long at the end as at the beginning",
  );
  return { body: checkMessage({ ...(start as Told).message, content, ...delta, usage: { ...counted, ...usage } }) };
}

function assembleBlocks(events: readonly Told[]): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  let json = "";
  for (const { type, index, content_block, delta } of events) {
    if (type === "content_block_start") {
      assert(!open, "one block is open at a time");
      assert.equal(index, blocks.length, "blocks are numbered from 0");
      open = structuredClone(content_block);
      json = "";
      blocks.push(open);
      continue;
    }
    assert(open, `${type} needs an open block`);
    assert.equal(index, blocks.length - 1, "an event is about the open block");
    if (type === "content_block_stop") {
      if (open.type === "tool_use") open.input = parsed(json);
      open = undefined;
      continue;
    }
    assert.equal(type, "content_block_delta");
    assert((DELTAS[open.type] as readonly string[]).includes(delta.type), `${delta.type} in a block of ${open.type}`);
    if (open.type === "text") open.text += delta.text ?? "";
    else if (open.type === "thinking") open.thinking += delta.thinking ?? "";
    else json += delta.partial_json ?? "";
  }
  assert(!open, "every block is closed");
  return blocks;
}

/** Parses arguments; incomplete JSON counts as no arguments. */
function parsed(json: string): Record<string, unknown> {
  try {
    return json === "" ? {} : JSON.parse(json);
  } catch {
    return {};
  }
}

// The state machine of a chat stream: for each choice a role, deltas and one finish; then the usage; then the end
// marker.

import { strict as assert } from "node:assert";
import { ChatCompletionChunk, Usage, type ChatCompletion } from "../../../src/contract/chat.ts";
import { checker } from "../../../src/contract/schema.ts";
import { byIndex, readChunks, type Assembled } from "./events.ts";

type Chunk = ReturnType<typeof checkChunk>;
type Delta = Chunk["choices"][number];
type Choice = ChatCompletion["choices"][number];
type Call = NonNullable<Choice["message"]["tool_calls"]>[number];
export type ChatBody = Pick<ChatCompletion, "choices"> & Partial<Pick<ChatCompletion, "usage" | "timings">>;

const checkChunk = checker(ChatCompletionChunk);
const checkUsage = checker(Usage);

/** Assembles a stream into its answer. Throws where the stream breaks a rule of its API. */
export function assembleChat(text: string): Assembled<ChatBody> {
  const { chunks, error } = readChunks(text, checkChunk);
  if (error) {
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, "error");
    return { error };
  }
  const usage = chunks.filter((chunk) => chunk.usage && chunk.choices.length === 0);
  assert(usage.length <= 1 && (usage.length === 0 || chunks.at(-1) === usage[0]), "one usage, at the end");
  const deltas = chunks.filter((chunk) => chunk !== usage[0]).map(({ choices }) => choices);
  assert(
    deltas.every(({ length }) => length === 1),
    "a chunk is about one choice",
  );
  const choices = byIndex(deltas.flat()).map((own, index) => assembleChoice(index, own));
  const [last] = usage;
  const total = last?.usage && checkUsage(last.usage);
  return { body: { choices, ...(total && { usage: total }), ...(last?.timings && { timings: last.timings }) } };
}

function assembleChoice(index: number, deltas: readonly Delta[]): Choice {
  const [first] = deltas;
  assert.equal(first?.delta.role, "assistant", "a choice begins with its role");
  const finish = deltas.at(-1)?.finish_reason;
  assert(finish && finish !== "error", "a choice ends with its finish");
  assert(
    deltas.slice(0, -1).every((delta) => delta.finish_reason === null),
    "a choice finishes once",
  );
  assert.deepEqual(deltas.at(-1)?.delta, {}, "the delta of a finish is empty");
  const text = (key: "content" | "reasoning_content") => deltas.map(({ delta }) => delta[key] ?? "").join("");
  const calls = assembleCalls(deltas);
  const reasoning = text("reasoning_content");
  const logprobs = deltas.flatMap((delta) => delta.logprobs?.content ?? []);
  return {
    index,
    message: {
      role: "assistant",
      content: calls.length > 0 ? null : text("content"),
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    logprobs: logprobs.length > 0 && calls.length === 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finish,
  };
}

function assembleCalls(deltas: readonly Delta[]): Call[] {
  const calls: Call[] = [];
  for (const { index, id, type, function: called } of deltas.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    const call = calls[index];
    if (call) {
      assert(id === undefined && type === undefined && called.name === undefined, "a call is named once");
      call.function.arguments += called.arguments ?? "";
    } else {
      assert.equal(index, calls.length, "calls are numbered from 0");
      assert(id && type && called.name, "a call begins with id, type and name");
      calls.push({ id, type, function: { name: called.name, arguments: called.arguments ?? "" } });
    }
  }
  assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length, "calls have ids of their own");
  return calls;
}

import { expect, test } from "bun:test";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { join } from "node:path";
import { TEXT } from "../contract/scripts.ts";
import { noAnswer, withChunk, type Chunk } from "../../src/page/logic/answer.ts";

/** Returns the chunks of a recorded stream of the server. */
async function chunksOf(recorded: string): Promise<Chunk[]> {
  const file = Bun.file(join(import.meta.dir, "../fixtures/wire", recorded));
  const events = file
    .stream()
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream());
  const data = (await Array.fromAsync(events)).map((event) => event.data);
  return data.filter((text) => text !== "[DONE]").map((text) => JSON.parse(text) as Chunk);
}

/** Returns the turn of the answer of a recorded stream, with a chunk every 100 ms. */
const answerOf = async (recorded: string, media = new Map<string, string>()) =>
  (await chunksOf(recorded)).reduce((answer, chunk, at) => withChunk(answer, chunk, (at + 1) * 100, media), noAnswer)
    .turn;

test("text, the model that wrote it, finish reason and counts are read from the server's stream", async () => {
  const { text, model, finish, stats, reasoning, toolCalls } = await answerOf("chat-text.sse");
  expect([text, model, finish]).toEqual([TEXT, "fake-model", "stop"]);
  expect([reasoning, toolCalls]).toEqual([undefined, undefined]);
  expect(stats).toMatchObject({ promptTokens: 12, cachedTokens: 4, completionTokens: 2, firstTokenMs: 200 });
  expect(stats?.tokensPerSecond).toBeGreaterThan(0);
});

test("reasoning is separate from the answer, with its duration", async () => {
  const answer = await answerOf("chat-reasoning.sse");
  expect([answer.reasoning, answer.text]).toEqual(["Let me see…", "42"]);
  expect(answer.reasoningMs).toBe(200);
});

test("tool calls are assembled from their pieces", async () => {
  const { text, toolCalls, finish } = await answerOf("chat-tool-call.sse");
  expect([text, finish]).toEqual(["I look.", "tool_calls"]);
  expect(toolCalls).toEqual([{ id: "call_1", name: "weather", arguments: '{"city": "Zürich"}' }]);
  expect((await answerOf("chat-two-tool-calls.sse")).toolCalls).toHaveLength(2);
});

test("a failure is shown as an error next to the text so far", async () => {
  const { text, finish, error } = await answerOf("chat-failed.sse");
  expect([text, finish]).toEqual(["Hel", "error"]);
  expect(error).toContain("The model engine was killed");
});

test("text read from a picture or a sound is kept with the file's name, unless an earlier message had it", async () => {
  const media = new Map([["messages.0.content.0", "invoice.pdf"]]);
  const { readInputs, readNames } = await answerOf("chat-recognized.sse", media);
  expect([readInputs?.[0]?.slice(0, 9), readNames]).toEqual(["Invoice 7", ["invoice.pdf"]]);
  expect((await answerOf("chat-transcribed.sse", media)).readInputs).toHaveLength(1);
  const later = new Map([["messages.2.content.0", "else.png"]]);
  expect(await answerOf("chat-recognized.sse", later)).not.toHaveProperty("readInputs");
});

test("an answer in progress shows the prompt's progress, then its tokens and their rate", async () => {
  const chunks = await chunksOf("chat-running.sse");
  const seen = chunks.map((_, at) =>
    chunks.slice(0, at + 1).reduce((answer, chunk) => withChunk(answer, chunk, 100, new Map()), noAnswer),
  );
  expect(seen.find(({ prompt }) => prompt)?.prompt).toMatchObject({ total: 12, processed: 8 });
  expect(seen.flatMap(({ running }) => running?.tokens ?? [])).toContain(1);
  expect(seen.at(-1)).toMatchObject({ running: { tokens: 4 }, turn: { stats: { completionTokens: 4 } } });
});

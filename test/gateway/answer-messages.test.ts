// Data of upstreams must be read in few turns of the event loop, as a busy process has few of them.

import { expect, test } from "bun:test";
import { TurnLimit } from "../../src/domain/turn-limit.ts";
import { AnswerMessages } from "../../src/gateway/answer-messages.ts";
import { parseLong } from "../../src/gateway/long-json.ts";

const BYTES_IN_A_TURN = 64 * 1024;

function messagesOf(type: string, pieces: readonly string[], turns = new TurnLimit(BYTES_IN_A_TURN)): AnswerMessages {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
  const response = new Response(body, { headers: { "content-type": type } });
  const { signal } = new AbortController();
  return new AnswerMessages({ response, silenceMs: 1000, signal, now: () => 0, turns, onHeard: () => {} });
}

async function all(messages: AnswerMessages): Promise<string[]> {
  const found: string[] = [];
  for (let some = await messages.next(); some; some = await messages.next()) found.push(...some);
  await messages.end();
  return found;
}

/** Returns how many turns of the event loop the work takes. */
async function turnsOf<T>(work: Promise<T>): Promise<{ result: T; turns: number }> {
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work;
  isOver = true;
  return { result, turns };
}

test("embeddings of thousands of numbers are read without hundreds of turns of the event loop", async () => {
  const row = Array.from({ length: 1024 }, (_, at) => at / 3);
  const json = JSON.stringify({ data: Array.from({ length: 128 }, () => ({ embedding: row })) });
  const read = await turnsOf(all(messagesOf("application/json", [json])));
  expect(read.result).toEqual([json]);
  const parsed = await turnsOf(parseLong(json, 1_000_000));
  expect(parsed.result).toEqual(JSON.parse(json));
  expect(read.turns + parsed.turns).toBeLessThan(json.length / 50_000);
});

test("an empty piece is not the end of an answer", async () => {
  expect(await all(messagesOf("text/event-stream", ['data: {"a":1}\n\n', "", 'data: {"a":2}\n\n']))).toEqual([
    '{"a":1}',
    '{"a":2}',
  ]);
});

test("a hundred answers at the same time do not block the event loop", async () => {
  const turns = new TurnLimit(BYTES_IN_A_TURN);
  const piece = 'data: {"a":1}\n\n'.repeat(1000);
  const answers = Array.from({ length: 100 }, () => all(messagesOf("text/event-stream", [piece], turns)));
  const read = await turnsOf(Promise.all(answers));
  expect(read.result.map(({ length }) => length)).toEqual(answers.map(() => 1000));
  expect(read.turns).toBeGreaterThanOrEqual(Math.floor((100 * piece.length) / (BYTES_IN_A_TURN + piece.length)));
});

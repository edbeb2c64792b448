// Many streams at the same time: the tokens of some milliseconds are read, joined and passed on together.

import { expect, spyOn, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import type { EngineEvent } from "../../src/domain/generate.ts";
import { ReadPace } from "../../src/gateway/read-pace.ts";
import { plainRequest } from "../support/request.ts";
import { until } from "../support/until.ts";
import { chatServer, delta, usage } from "./fixture-server.ts";
import { finishOf, generate, remote, textOf } from "./remote.ts";

const TOKENS = 30;
const encoder = new TextEncoder();
const event = (chunk: unknown) => encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
const wordsOf = (tokens: number) => Array.from({ length: tokens }, (_, at) => ` word${at}`);
const words = wordsOf(TOKENS);

/** A server whose answers begin when `streams` requests have come; each token is a write of its own. */
function tokenServer(
  streams: number,
  fieldOf: (word: string, at: number) => Record<string, unknown>,
  said: readonly string[] = words,
) {
  let asked = 0;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  return chatServer(() => {
    if (++asked === streams) resolve();
    const body = new ReadableStream({
      async start(controller) {
        await all;
        for (const [at, word] of said.entries()) {
          controller.enqueue(event(delta(fieldOf(word, at))));
          await Bun.sleep(1);
        }
        controller.enqueue(event(delta({}, "length")));
        controller.enqueue(event(usage(7, TOKENS)));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
}

async function answers(streams: number, fieldOf: (word: string, at: number) => Record<string, unknown>) {
  const far = await remote([tokenServer(streams, fieldOf).url]);
  return Promise.all(Array.from({ length: streams }, () => generate(far)));
}

const sampled = (events: readonly EngineEvent[]) =>
  events.reduce((sum, one) => sum + (one.type === "text" || one.type === "reasoning" ? (one.sampled ?? 1) : 0), 0);

test("many streams at the same time pass several tokens on at once, and count each", async () => {
  for (const events of await answers(8, (content) => ({ content }))) {
    expect(textOf(events)).toBe(words.join(""));
    expect(sampled(events)).toBe(TOKENS);
    expect(events.filter(({ type }) => type === "text").length).toBeLessThan(TOKENS / 2);
    expect(finishOf(events)).toMatchObject({ reason: "length", usage: { promptTokens: 7, completionTokens: TOKENS } });
  }
});

test("the order of reasoning and text is kept", async () => {
  const fieldOf = (word: string, at: number): Record<string, unknown> =>
    at < 10 ? { reasoning: word } : { content: word };
  for (const events of await answers(4, fieldOf)) {
    const said = events.flatMap((one) => (one.type === "reasoning" || one.type === "text" ? [one] : []));
    expect(said.map(({ text }) => text).join("")).toBe(words.join(""));
    expect(said.findLastIndex(({ type }) => type === "reasoning")).toBeLessThan(
      said.findIndex(({ type }) => type === "text"),
    );
  }
});

test.each([1, 3])("%i streams pass on each token as it comes", async (streams) => {
  for (const events of await answers(streams, (content) => ({ content })))
    expect(events.flatMap((one) => (one.type === "text" ? [one.text] : []))).toEqual(words);
});

test("what has come already is read at once, however much it is", async () => {
  const waits = spyOn(ReadPace.prototype, "next");
  try {
    const long = "word ".repeat(200_000);
    for (const events of await answers(4, (word, at) => ({ content: at === 1 ? long : word }))) {
      expect(textOf(events)).toBe(words.with(1, long).join(""));
    }
    // A wait for each part that is parsed would be more than 60 for each stream.
    expect(waits.mock.calls.length).toBeLessThan(4 * (TOKENS + 20));
  } finally {
    waits.mockRestore();
  }
});

test("what came before a failure is passed on", async () => {
  let asked = 0;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const server = chatServer(() => {
    if (++asked === 4) resolve();
    const body = new ReadableStream({
      async start(controller) {
        await all;
        controller.enqueue(event(delta({ content: words[0] })));
        await Bun.sleep(5);
        for (const word of words.slice(1)) controller.enqueue(event(delta({ content: word })));
        controller.enqueue(event({ error: { message: "died" } }));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const far = await remote([server.url]);
  const failed = async () => {
    let text = "";
    try {
      for await (const one of far.engine.generate(plainRequest("hi"), new AbortController().signal)) {
        if (one.type === "text") text += one.text;
      }
    } catch (error) {
      return [text, error instanceof SvcError && error.code];
    }
    return [text];
  };
  const failure = [words.join(""), "upstream_error"];
  expect(await Promise.all([failed(), failed(), failed(), failed()])).toEqual([failure, failure, failure, failure]);
});

test.each(["cancelled", "left by its client"])(
  "a stream that is %s meanwhile ends, and counts no more",
  async (how) => {
    const all = wordsOf(300);
    const server = tokenServer(4, (content) => ({ content }), all);
    const far = await remote([server.url]);
    const ended = async (id: string) => {
      const client = new AbortController();
      const events: EngineEvent[] = [];
      try {
        for await (const one of far.engine.generate(plainRequest("hi", { id }), client.signal)) {
          events.push(one);
          if (events.filter(({ type }) => type === "text").length !== 2) continue;
          if (how === "cancelled") far.engine.cancel(id, "id");
          else client.abort();
        }
      } catch (error) {
        if (!client.signal.aborted) throw error;
      }
      return events;
    };
    for (const events of await Promise.all(["a", "b", "c", "d"].map(ended))) {
      expect(all.join("").startsWith(textOf(events))).toBe(true);
      expect(textOf(events).length).toBeLessThan(all.join("").length);
      expect(finishOf(events)?.reason).toBe(how === "cancelled" ? "cancelled" : undefined);
    }
    await until(() => server.left.length === 4);
    const single = await generate(far);
    expect(single.flatMap((one) => (one.type === "text" ? [one.text] : []))).toEqual(all);
  },
);

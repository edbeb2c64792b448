// Small and large JSON responses.

import { expect, spyOn, test } from "bun:test";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { nextTurn } from "../../src/domain/next-turn.ts";
import { jsonResponse, wholeAnswer } from "../../src/http/json-response.ts";
import { RequestContexts } from "../../src/http/request-context.ts";
import { HeldAnswer } from "../../src/service/held-answer.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { until } from "../support/until.ts";
import { serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

const deep = { a: { b: [{ c: [{ d: [{ e: { f: [1, "ü\ud83d\ude00", null] } }] }] }] } };

test("a JSON response equals that of Response.json, whatever its content", async () => {
  const values = [
    null,
    "text",
    5,
    [],
    {},
    [[], [{}], [undefined], [1, { a: 2 }], [{ a: undefined, b: null }, 3, undefined, "x"]],
    { a: undefined, b: [undefined, { c: "\ud800" }], d: new Date(0), 'quo"te': [1.5, true] },
    deep,
    { data: Array.from({ length: 3000 }, (_, index) => ({ index, text: "é\ud83d\ude00".repeat(40), deep })) },
  ];
  for (const value of values) {
    const headers = { "X-Own": "1" };
    const [made, expected] = [jsonResponse(request().context, value, headers), Response.json(value, { headers })];
    expect([made.status, made.headers.get("x-own")]).toEqual([200, "1"]);
    expect(made.headers.get("content-type")).toBe(expected.headers.get("content-type"));
    expect(await made.text()).toBe(await expected.text());
  }
});

/** Opens a request; records the end of its answer's body. */
function request() {
  const client = new AbortController();
  const context = new RequestContexts(new RecordingLog()).open(
    new Request("http://localhost", { signal: client.signal }),
    0,
  );
  const seen: string[] = [];
  context.onLastBytes = () => void seen.push("body ends");
  return { context, seen, leave: () => client.abort() };
}

const large = { data: Array.from({ length: 20_000 }, (_, index) => ({ index, text: "x".repeat(500) })) };

test("writing a large response does not block the event loop", async () => {
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  expect(await jsonResponse(request().context, large).json()).toEqual(large);
  isOver = true;
  await others;
  expect(turns).toBeGreaterThan(20);
});

test("a large response is written only as fast as it is read, and its end is told once it is read or left", async () => {
  let writes = 0;
  const watched = {
    data: large.data.map((one) => ({
      ...one,
      get seen() {
        return ++writes;
      },
    })),
  };
  const [left, read] = [request(), request()];
  const reader = jsonResponse(left.context, watched).body?.getReader();
  await reader?.read();
  await Bun.sleep(20);
  expect(writes).toBeLessThan(10_000);
  expect(left.seen).toEqual([]);
  await reader?.cancel();
  await left.context.bodyClosed;
  const { body } = jsonResponse(read.context, large);
  expect(read.seen).toEqual([]);
  await new Response(body).arrayBuffer();
  await read.context.bodyClosed;
  expect([left.seen, read.seen]).toEqual([["body ends"], ["body ends"]]);
});

test("a reader of a large response that takes less than 640 KiB in 5 minutes counts as disconnected", async () => {
  let time = 0;
  const now = spyOn(performance, "now").mockImplementation(() => time);
  /** Reads one piece of 64 KiB each `everyMs`; returns the bytes read until the end. */
  const readSlowly = async (everyMs: number) => {
    const reader = jsonResponse(request().context, large).body?.getReader();
    let bytes = 0;
    for (; ; time += everyMs) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) return bytes;
      bytes += value.length;
    }
  };
  try {
    expect(await readSlowly(29_000)).toBe(JSON.stringify(large).length);
    await expect(readSlowly(290_000)).rejects.toThrow();
  } finally {
    now.mockRestore();
  }
});

test("a large answer whose client disconnects while it is put together keeps no memory", async () => {
  const { context, leave } = request();
  const budget = new ByteBudget(1000, "answers");
  await wholeAnswer(budget, context, async (held) => {
    held.add({ type: "text", text: "x".repeat(400) });
    leave();
    return jsonResponse(context, large);
  });
  await context.bodyClosed;
  expect(() => new HeldAnswer(budget).add({ type: "text", text: "x".repeat(400) })).not.toThrow();
});

test("a large stored response is logged when its client has read it or has disconnected", async () => {
  // More than the buffers of a connection hold.
  const text = "x".repeat(16_000_000);
  const server = serve({ steps: [{ text }] }, { storedResponses: { count: 1, bytes: 100_000_000 } });
  const { id } = (await (await server.post("/v1/responses", { input: "hi" })).json()) as { id: string };
  const logged = () => server.log.lines.filter(({ fields }) => fields["route"] === "/v1/responses/:id").length;
  for (const how of ["reads", "leaves"]) {
    const before = logged();
    const client = await RawClient.connect(server.port);
    client.socket.once("data", () => client.socket.pause());
    client.socket.write(`GET /v1/responses/${id} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until(() => client.received !== "");
    expect(logged()).toBe(before);
    if (how === "leaves") client.leave();
    else client.socket.resume();
    await until(() => logged() === before + 1);
    client.leave();
  }
});

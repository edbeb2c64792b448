// X-Svc-Deadline-Ms and --queue-timeout, on the routes that generate text.

import { describe, expect, test } from "bun:test";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { errorOf } from "../support/fault.ts";
import { serverSentEvents, withoutTerminator } from "../support/streams/events.ts";
import { until } from "../support/until.ts";
import { messages, serve, type TestServer } from "./harness.ts";

const never = new Promise<void>(() => {});
const waiting: FakeScript = { steps: [{ wait: never }, { text: "late" }] };
const slow: FakeScript = { steps: [{ text: "Hel" }, { text: "lo" }, { wait: never }, { text: "late" }] };
const MINUTE = 60_000;
const deadline = { "x-svc-deadline-ms": String(MINUTE) };

interface Route {
  readonly path: string;
  readonly body: object;
  /** What a whole answer has at its end; `content` is the place of its text. */
  readonly end: object;
  readonly content: object;
  /** Words of the event that ends a stream, at the deadline and on an error. */
  readonly lastEvent: string;
  readonly errorEvent: string;
  readonly done: boolean;
}

const routes: readonly Route[] = [
  {
    path: "/v1/chat/completions",
    body: { messages },
    end: { choices: [{ finish_reason: "length" }] },
    content: { choices: [{ message: { content: "Hello" } }] },
    lastEvent: '"finish_reason":"length"',
    errorEvent: '"error"',
    done: true,
  },
  {
    path: "/v1/responses",
    body: { input: "hi" },
    end: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    content: { output: [{ content: [{ text: "Hello" }] }] },
    lastEvent: "response.incomplete",
    errorEvent: "response.failed",
    done: true,
  },
  {
    path: "/v1/messages",
    body: { messages, max_tokens: 100 },
    end: { stop_reason: "max_tokens" },
    content: { content: [{ text: "Hello" }] },
    lastEvent: '"stop_reason":"max_tokens"',
    errorEvent: '"type":"error"',
    done: false,
  },
  {
    path: "/v1/completions",
    body: { prompt: "hi" },
    end: { choices: [{ finish_reason: "length" }] },
    content: { choices: [{ text: "Hello" }] },
    lastEvent: '"finish_reason":"length"',
    errorEvent: '"error"',
    done: true,
  },
];

/**
 * Returns the answer to a request whose deadline passes after the first words, or after the start if `hasWords` is
 * false.
 */
async function atDeadline(server: TestServer, response: Promise<Response>, hasWords: boolean): Promise<Response> {
  await until(() => (hasWords ? server.metrics.calls.includes("first") : server.engine.live > 0));
  server.clock.pass(MINUTE);
  return response;
}

/** Returns the data of a stream's events, without the terminator, which must be there. */
function told(body: string, done: boolean): string[] {
  const events = serverSentEvents(body);
  return (done ? withoutTerminator(events) : events).map(({ data }) => data);
}

async function expectNothingLeft(server: TestServer): Promise<void> {
  await until(() => server.metrics.connections === 0);
  expect([server.engine.live, server.requests.activeCount, server.requests.registeredCount]).toEqual([0, 0, 0]);
}

describe.each(routes)("the deadline on $path", ({ path, body, end, content, lastEvent, errorEvent, done }) => {
  test("ends an answer that has begun with the text so far, as a token limit does", async () => {
    const server = serve(slow);
    const response = await atDeadline(server, server.post(path, body, deadline), true);
    expect(response.status).toBe(200);
    const answer = await response.json();
    expect(answer).toMatchObject(end);
    expect(answer).toMatchObject(content);
    expect(server.metrics.calls.at(-1)).toBe("finished length");
    await expectNothingLeft(server);
  });

  test("ends a stream in the same way", async () => {
    const server = serve(slow);
    const response = await atDeadline(server, server.post(path, { ...body, stream: true }, deadline), true);
    const events = told(await response.text(), done);
    expect(events.some((data) => data.includes("lo"))).toBe(true);
    expect(events.filter((data) => data.includes(lastEvent))).toHaveLength(1);
    expect(events.some((data) => data.includes("deadline_exceeded") || data.includes("cancelled"))).toBe(false);
    await expectNothingLeft(server);
  });

  test("is an error when there is no text yet", async () => {
    const server = serve(waiting);
    const response = await atDeadline(server, server.post(path, body, deadline), false);
    expect(response.status).toBe(504);
    expect(response.headers.get("x-should-retry")).toBe("false");
    const { error } = (await response.json()) as { error: object };
    expect(error).toMatchObject({ code: "deadline_exceeded", type: "timeout_error" });
    expect(server.metrics.calls.at(-1)).toBe("failed deadline_exceeded");
    await expectNothingLeft(server);
  });

  test("is an error event in a stream, which then ends as usual", async () => {
    const server = serve(waiting);
    const response = await atDeadline(server, server.post(path, { ...body, stream: true }, deadline), false);
    expect(response.status).toBe(200);
    const events = told(await response.text(), done);
    expect(events.at(-1)).toContain(errorEvent);
    expect(events.at(-1)).toContain("X-Svc-Deadline-Ms");
    await expectNothingLeft(server);
  });

  test("changes nothing when it is not reached", async () => {
    const server = serve();
    const response = await server.post(path, body, { "x-svc-deadline-ms": "86400000" });
    expect(await response.json()).toMatchObject(content);
    expect(server.metrics.calls.at(-1)).toBe("finished stop");
    await expectNothingLeft(server);
  });

  test.each(["0", "-5", "1.5", "soon", "", "86400001", "1e3", "60, 60"])("of %p is refused", async (value) => {
    const server = serve();
    const response = await server.post(path, body, { "x-svc-deadline-ms": value });
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: "invalid_value", param: "X-Svc-Deadline-Ms" });
    expect(error.message).toContain("from 1 to 86400000; got ");
    expect(server.engine.requests).toEqual([]);
  });
});

test("the OpenAPI document describes the deadline for the routes that generate text, and web pages may send it", async () => {
  const server = serve();
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, { post?: { parameters: { name: string }[]; responses: object } }>;
  };
  for (const { path } of routes) {
    const parameters = paths[path]?.post?.parameters.map(({ name }) => name);
    expect(parameters).toContain("X-Svc-Deadline-Ms");
    expect(paths[path]?.post?.responses).toHaveProperty("504");
  }
  const preflight = await fetch(`${server.url}/v1/chat/completions`, {
    method: "OPTIONS",
    headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-headers")).toContain("X-Svc-Deadline-Ms");
});

test("a deadline includes the time before the request reached an engine", async () => {
  const server = serve(waiting);
  const before = Date.now();
  const response = server.chat({}, deadline);
  await until(() => server.engine.live === 1);
  const [request] = server.engine.requests;
  // The times that form a deadline are rounded by two different clocks.
  expect(request?.deadline).toBeGreaterThanOrEqual(before + MINUTE - 2);
  expect(request?.deadline).toBeLessThanOrEqual(Date.now() + MINUTE + 2);
  server.clock.pass(MINUTE);
  expect((await response).status).toBe(504);
});

test("all answers to one request end at the same deadline", async () => {
  const server = serve(slow);
  const response = server.chat({ n: 2 }, deadline);
  await until(() => server.engine.live === 2);
  const { choices } = (await (await atDeadline(server, response, true)).json()) as { choices: object[] };
  expect(choices).toMatchObject([{ finish_reason: "length" }, { finish_reason: "length" }]);
  await expectNothingLeft(server);
});

describe("the queue timeout", () => {
  test.each(routes)("refuses a request that has not started, on $path", async ({ path, body }) => {
    const server = serve(waiting, { queueTimeoutMs: 50 });
    const response = await server.post(path, body);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const error = await errorOf(response);
    expect(error.code).toBe("server_busy");
    expect(error.message).toContain("0.05 s");
    expect(server.metrics.calls.slice(-2)).toEqual(["rejected queue_timeout", "failed server_busy"]);
    await expectNothingLeft(server);
  });

  test.each(routes)("ends a stream with an error, on $path", async ({ path, body, errorEvent, done }) => {
    const server = serve(waiting, { queueTimeoutMs: 50 });
    const events = told(await (await server.post(path, { ...body, stream: true })).text(), done);
    expect(events.at(-1)).toContain(errorEvent);
    expect(events.at(-1)).toContain("waited in the queue");
    await expectNothingLeft(server);
  });

  test("does not apply to a request that has started, or to loading", async () => {
    const gate = Promise.withResolvers<void>();
    const steps: FakeScript["steps"] = [
      { wait: Bun.sleep(150) },
      "accept",
      { text: "a" },
      { wait: gate.promise },
      { text: "b" },
    ];
    const server = serve({ steps }, { queueTimeoutMs: 50 });
    const answer = server.chat({});
    await Bun.sleep(300);
    gate.resolve();
    expect(await (await answer).json()).toMatchObject({ choices: [{ message: { content: "ab" } }] });
    await expectNothingLeft(server);
  });

  test("no longer applies when any answer of a request has started", async () => {
    let asked = 0;
    const gate = Promise.withResolvers<void>();
    // The second answer waits for the place of the first.
    const script = (): FakeScript => ({ steps: [...(asked++ > 0 ? [{ wait: gate.promise }] : []), { text: "a" }] });
    const server = serve(script, { queueTimeoutMs: 50 });
    const answer = server.chat({ n: 2 });
    await Bun.sleep(150);
    gate.resolve();
    expect((await answer).status).toBe(200);
    await expectNothingLeft(server);
  });
});

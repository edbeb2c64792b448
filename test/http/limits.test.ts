import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { nextTurn } from "../../src/domain/next-turn.ts";
import { bodyCeilings, JsonBodies } from "../../src/http/json-body.ts";
import { until } from "../support/until.ts";
import { messages, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

setDefaultTimeout(30_000);

const MB = 1024 * 1024;
const path = "/v1/chat/completions";
const never = new Promise<void>(() => {});
const readJson = (request: Request, ceiling: number) => new JsonBodies(new ByteBudget()).read(request, ceiling);
const checkError = checker(ErrorEnvelope);

test.each([64 * 1024, 6 * MB])("bodies that arrive at once are checked in many turns: %d", async (chunkBytes) => {
  const bodies = new JsonBodies(new ByteBudget());
  const bytes = Buffer.concat([Buffer.from('{"x":"'), Buffer.alloc(10 * MB, "a"), Buffer.from(`"${"[".repeat(200)}`)]);
  const arriving = () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, (at += chunkBytes)));
      },
    });
    return new Request("http://localhost/", { method: "POST", body });
  };
  let [turns, isOver] = [0, false];
  const counting = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  const checks = [arriving(), arriving()].map((request) => bodies.read(request, bodyCeilings.generation));
  const outcomes = await Promise.allSettled(checks);
  isOver = true;
  await counting;
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(turns).toBeGreaterThan(15);
});

test.each([
  ["bodies that are not JSON", `{"x":"${"a".repeat(5 * MB)}`],
  ["bodies that are refused while they arrive", `{"x":"${"a".repeat(5 * MB)}"${"[".repeat(200)}`],
])("garbage is collected after large %s", async (_, body) => {
  using collect = spyOn(Bun, "gc");
  // `rejects` waits in an event loop of its own, in which a turn never comes when the test before ended in one.
  const refusal = (text: string) =>
    readJson(new Request("http://localhost/", { method: "POST", body: text }), 10 * MB).catch(
      (error: unknown) => error,
    );
  expect(await refusal("[")).toMatchObject({ code: "invalid_json" });
  expect(collect).not.toHaveBeenCalled();
  expect(await refusal(body)).toMatchObject({ code: "invalid_json" });
  expect(collect).toHaveBeenCalledTimes(1);
});

describe("the limit of a body's size", () => {
  test.each([path, "/v1/batch/completions", "/v1/completions", "/v1/messages", "/v1/responses"])(
    "is checked against Content-Length before anything is read: %s",
    async (route) => {
      const server = serve();
      const client = await RawClient.connect(server.port);
      const length = bodyCeilings.generation + 1;
      client.socket.write(
        `POST ${route} HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: big\r\nContent-Length: ${length}\r\n\r\n`,
      );
      await until(() => client.received.includes("payload_too_large"));
      expect(client.received).toStartWith("HTTP/1.1 413 ");
      expect(client.received).toContain("X-Request-ID: big");
      expect(client.received).toContain("Compat-Request-ID: big");
      expect(client.received).toContain('"request_id":"big"');
      client.leave();
    },
  );

  test("is checked while reading when there is no length", async () => {
    const server = serve();
    const client = await RawClient.connect(server.port);
    client.socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const piece = `${(1 << 20).toString(16)}\r\n${" ".repeat(1 << 20)}\r\n`;
    for (let sent = 0; sent <= bodyCeilings.generation && !client.received; sent += 1 << 20) {
      if (!client.socket.write(piece)) await new Promise((resolve) => client.socket.once("drain", resolve));
    }
    await until(() => client.received.includes("payload_too_large"));
    expect(client.received).toStartWith("HTTP/1.1 413 ");
    client.leave();
  });

  test("allows a large body below it, whole or in chunks", async () => {
    const server = serve();
    const content = "x".repeat(20 << 20);
    expect((await server.chat({ messages: [{ role: "user", content }] })).status).toBe(200);
    const bytes = new TextEncoder().encode(
      JSON.stringify({ messages: [{ role: "user", content: "é".repeat(100_000) }] }),
    );
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 777) controller.enqueue(bytes.subarray(at, at + 777));
        controller.close();
      },
    });
    const response = await fetch(server.url + path, { method: "POST", body: pieces });
    expect(response.status).toBe(200);
    expect(server.engine.requests[1]?.messages[0]?.content).toBe("é".repeat(100_000));
  });

  test("is exact to the byte", async () => {
    const request = (length: number) =>
      new Request("http://localhost/", { method: "POST", body: `"${"x".repeat(length - 2)}"` });
    expect(await readJson(request(100), 100)).toBe("x".repeat(98));
    await expect(readJson(request(101), 100)).rejects.toThrow(SvcError);
  });
});

describe("nesting", () => {
  const parse = (text: string) => readJson(new Request("http://localhost/", { method: "POST", body: text }), 1 << 20);

  test("is allowed up to the limit, and brackets in strings do not count", async () => {
    expect(await parse("[".repeat(128) + "]".repeat(128))).toBeArray();
    const text = '[{"\\\\\\"[['.repeat(100);
    expect(await parse(JSON.stringify([text]))).toEqual([text]);
    expect(await parse(`[${"[],".repeat(1000)}[]]`)).toHaveLength(1001);
  });

  test.each([
    ["arrays", "[".repeat(129) + "]".repeat(129)],
    ["objects and arrays", `${'{"a":['.repeat(65)}${"]}".repeat(65)}`],
    ["what is not closed", "[".repeat(129)],
  ])("one more of %s is refused", async (_, text) => {
    await expect(parse(text)).rejects.toThrow("nests deeper than 128 levels");
  });
});

describe("arguments of calls that are objects", () => {
  const half = { ["n".repeat(1_000_000)]: ["\n".repeat(1_000_000)] };
  const call = { id: "1", type: "function", function: { name: "f", arguments: half } };
  const chat = { role: "assistant", tool_calls: [call, call] };
  const use = { type: "tool_use", id: "1", name: "f", input: half };

  test.each([
    ["/v1/chat/completions", chat],
    ["/api/chat", chat],
    ["/v1/messages", { role: "assistant", content: [use, use] }],
  ])("have a limit of length in all of a conversation: %s", async (route, message) => {
    const post = (...more: object[]) =>
      serve().post(route, { max_tokens: 1, messages: [{ role: "user", content: "x" }, message, ...more] });
    expect((await post()).status).toBe(200);
    const response = await post(message);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("must have at most 4000000 characters; got at least 6000000");
  });
});

describe("media type", () => {
  test.each([
    undefined,
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/vnd.x+json",
  ])("%p is JSON", async (type) => {
    const server = serve();
    const client = await RawClient.connect(server.port);
    const body = JSON.stringify({ messages });
    const header = type ? `Content-Type: ${type}\r\n` : "";
    client.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${header}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => client.received.includes("}"));
    expect(client.received).toStartWith("HTTP/1.1 200 ");
    client.leave();
  });

  test("a byte order mark is ignored", async () => {
    expect((await serve().post(path, `\ufeff${JSON.stringify({ messages })}`)).status).toBe(200);
  });
});

describe("capacity", () => {
  test("a request beyond the running and waiting ones gets a Retry-After, and places are freed", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, { text: "a" }] }, { parallel: 2, maxQueue: 1 });
    const admitted = [server.chat({}), server.chat({ stream: true }), server.chat({})];
    await until(() => server.requests.activeCount === 3);
    for (const stream of [false, true]) {
      const response = await server.chat({ stream }, { "x-request-id": "late" });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      expect(response.headers.get("x-request-id")).toBe("late");
      const { error } = checkError(await response.json());
      expect(error).toMatchObject({ type: "server_busy", code: "server_busy", request_id: "late" });
    }
    expect(server.metrics.calls.filter((call) => call === "rejected queue_full")).toHaveLength(2);
    gate.resolve();
    for (const response of await Promise.all(admitted)) {
      expect(response.status).toBe(200);
      await response.text();
    }
    expect((await server.chat({})).status).toBe(200);
  });

  test("one client has all places only until another is refused", async () => {
    const apiKeys = ["ada", "eve"].map((name) => ({ name, key: `${name}-key` }));
    const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
    let begun = 0;
    const script = () => ({ steps: [{ wait: gates[begun++]?.promise ?? never }, { text: "a" }] });
    const server = serve(script, { parallel: 2, maxQueue: 2, apiKeys });
    const ask = (name: string) => server.chat({}, { authorization: `Bearer ${name}-key` });
    const greedy = Array.from({ length: 4 }, () => ask("ada"));
    await until(() => server.requests.activeCount === 4);
    expect((await ask("eve")).status).toBe(503);
    gates[0]?.resolve();
    await Promise.race(greedy);
    await until(() => server.requests.activeCount === 3);
    const again = await ask("ada");
    expect([again.status, again.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    expect(checkError(await again.json()).error).toMatchObject({ code: "server_busy" });
    const late = ask("eve");
    await until(() => server.requests.activeCount === 4);
    for (const gate of gates) gate.resolve();
    expect((await late).status).toBe(200);
    for (const answer of greedy) expect((await answer).status).toBe(200);
  });

  test("an address counts as one client, whatever names and connections its requests have", async () => {
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const script = () => ({ steps: [{ wait: begun++ === 0 ? gate.promise : never }, { text: "a" }] });
    const server = serve(script, { parallel: 2, maxQueue: 2 });
    const ask = (client: string) => server.chat({}, { "x-svc-client": client });
    const held = Array.from({ length: 4 }, () => ask("10.0.0.1_5432"));
    await until(() => server.requests.activeCount === 4);
    expect((await ask("10.0.0.1_5433")).status).toBe(503);
    gate.resolve();
    await Promise.race(held);
    const again = ask("10.0.0.1_5432");
    await until(() => server.requests.activeCount === 4);
    server.requests.cancelAll();
    await Promise.all([again, ...held].map(async (answer) => (await answer).text()));
  });

  test.each([
    ["/v1/audio/speech", { input: "Hello." }],
    ["/v1/audio/transcriptions", { data: "aaaa" }],
  ])("a request beyond those of its model gets a Retry-After: %s", async (route, body) => {
    const server = serve(undefined, { parallel: 1, maxQueue: 0 });
    server.speaker.gate = server.transcriber.gate = never;
    const held = server.post(route, body);
    await until(() => server.requests.activeCount === 1);
    const refused = await server.post(route, body);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    expect(checkError(await refused.json()).error).toMatchObject({ type: "server_busy", code: "server_busy" });
    server.requests.cancelAll();
    await (await held).text().catch(() => {});
  });

  test.each([path, "/v1/completions", "/v1/messages", "/v1/responses"])(
    "a request that has no place is turned away before anything of it is looked at: %s",
    async (route) => {
      const server = serve({ steps: [{ wait: never }] }, { parallel: 1, maxQueue: 0 });
      const held = server.chat({}, { "x-request-id": "held" });
      await until(() => server.requests.activeCount === 1);
      for (const body of [{}, [], null, { model: 1 }]) {
        expect((await server.post(route, JSON.stringify(body))).status).toBe(503);
      }
      expect((await server.post(route, "{")).status).toBe(400);
      await server.post("/v1/chat/completions/held/cancel", "");
      await held;
      expect((await server.post(route, "{}")).status).toBe(400);
    },
  );
});

describe("the client of a request", () => {
  test("is named by X-Svc-Client, otherwise by the connection", async () => {
    const server = serve();
    await server.chat({}, { "x-svc-client": "nightly-batch" });
    await server.chat({});
    const [named, unnamed] = server.engine.requests.map(({ client }) => client);
    expect(named).toBe("nightly-batch");
    expect(unnamed).toMatch(/^127\.0\.0\.1 \d+$/);
  });

  test("is refused when the name is too long", async () => {
    const response = await serve().chat({}, { "x-svc-client": "a".repeat(129) });
    expect(response.status).toBe(400);
    const { error } = checkError(await response.json());
    expect(error).toMatchObject({ param: "X-Svc-Client", code: "invalid_value" });
    expect(error.message).toContain("129");
  });
});

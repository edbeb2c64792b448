import { describe, expect, test } from "bun:test";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { until } from "../support/until.ts";
import { messages, serve, type TestServer } from "./harness.ts";
import { RawClient } from "./raw.ts";

const never = new Promise<void>(() => {});
const path = "/v1/chat/completions";

const phases: readonly (readonly [name: string, script: FakeScript, begun: boolean])[] = [
  ["before the engine accepts", { steps: [{ wait: never }, "accept", { text: "a" }] }, false],
  ["during prefill", { steps: [{ wait: never }, { text: "a" }] }, true],
  ["during decode", { steps: [{ text: "a" }, { wait: never }, { text: "b" }] }, true],
];

/** Expects that nothing of the request is left. */
async function expectLevel(server: TestServer, id: string): Promise<void> {
  await until(() => server.engine.live === 0 && server.requests.activeCount === 0 && server.metrics.connections === 0);
  expect(server.engine.aborted).toContain(id);
  expect(server.requests.registeredCount).toBe(0);
}

describe.each([true, false])("a client that disconnects (stream: %p)", (stream) => {
  test.each(phases)("%s stops the engine's work", async (_, script, begun) => {
    const server = serve(script);
    const client = await RawClient.connect(server.port);
    client.post(path, JSON.stringify({ messages, stream }), ["X-Request-ID: leaver"]);
    await until(() => server.engine.live === 1);
    if (stream && begun) await until(() => client.received.includes("data: "));
    client.leave();
    await expectLevel(server, "leaver");
    expect(server.metrics.calls.at(-1)).toBe("finished cancelled");
    expect((await server.post("/v1/chat/completions/leaver/cancel", "")).status).toBe(404);
  });
});

test("a client that shuts down its half of the connection counts as disconnected", async () => {
  const server = serve(({ id }) => ({ steps: id === "leaver" ? [{ text: "a" }, { wait: never }] : [{ text: "a" }] }));
  const client = await RawClient.connect(server.port);
  client.post(path, JSON.stringify({ messages }), ["X-Request-ID: leaver"]);
  await until(() => server.engine.live === 1);
  client.socket.end();
  await expectLevel(server, "leaver");
  await until(() => client.closed);
  expect((await server.chat({})).status).toBe(200);
});

test("a second request on a connection before the first is answered ends both; other clients are served", async () => {
  const server = serve(({ id }) => ({ steps: id === "first" ? [{ wait: never }] : [{ text: "a" }] }));
  const client = await RawClient.connect(server.port);
  const body = JSON.stringify({ messages });
  client.post(path, body, ["X-Request-ID: first"]);
  client.post(path, body, ["X-Request-ID: second"]);
  await until(() => client.closed);
  await until(() => server.engine.live === 0 && server.requests.activeCount === 0 && server.metrics.connections === 0);
  expect(server.engine.requests.map(({ id }) => id)).not.toContain("second");
  expect((await server.chat({})).status).toBe(200);
});

test("a client that disconnects while uploading starts nothing", async () => {
  const server = serve();
  const client = await RawClient.connect(server.port);
  client.socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"messages"`);
  await until(() => server.metrics.connections === 1);
  client.leave();
  await until(() => server.metrics.connections === 0);
  expect(server.engine.requests).toBeEmpty();
});

test("64 clients that disconnect at different points leave nothing behind, and the others are served", async () => {
  const gate = Promise.withResolvers<void>();
  const script = ({ id }: { id: string }): FakeScript => ({
    steps: [
      { text: "a" },
      { wait: id === "stays" ? gate.promise : Bun.sleep(Number(id) % 7) },
      { text: "b" },
      { wait: gate.promise },
    ],
  });
  const server = serve(script, { parallel: 65, maxQueue: 0 });
  const stays = server.chat({}, { "x-request-id": "stays" });
  const clients = await Promise.all(
    Array.from({ length: 64 }, async (_, index) => {
      const client = await RawClient.connect(server.port);
      client.post(path, JSON.stringify({ messages, stream: index % 2 === 0 }), [`X-Request-ID: ${index}`]);
      return client;
    }),
  );
  for (const [index, client] of clients.entries()) setTimeout(() => client.leave(), index % 9);
  await until(() => clients.every((client) => client.closed) && server.engine.live === 1);
  await until(() => server.requests.activeCount === 1 && server.metrics.connections === 1);
  expect(server.requests.registeredCount).toBe(1);
  gate.resolve();
  expect((await stays).status).toBe(200);
});

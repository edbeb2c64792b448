import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { ListenError } from "../../src/http/server.ts";
import { until } from "../support/until.ts";
import { messages, serve, testConfig, type TestServer } from "./harness.ts";
import { RawClient } from "./raw.ts";

const never = new Promise<void>(() => {});

describe("listening", () => {
  test("a port in use is an error that says so", () => {
    const { port } = serve();
    let error: unknown;
    try {
      serve(undefined, { port });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({ reason: "in-use", message: expect.stringContaining(String(port)) });
  });

  test.each(["192.0.2.1", "no.such.host.invalid"])(
    "%s is no address of this machine, and the error says so",
    (host) => {
      expect(() => serve(undefined, { host })).toThrow(`${host} is not an address of this machine.`);
    },
  );

  test("the server answers at the reported address", async () => {
    const server = serve();
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect((await fetch(`${server.url}/nowhere`)).status).toBe(404);
  });
});

test.each([
  ["/v1/chat/completions", "application/json", "this route accepts"],
  ["/v1/audio/transcriptions", "multipart/form-data; boundary=x", "--max-audio-mb"],
  ["/v1/files", "application/jsonl", "--max-file-mb"],
])("a body that is too long for its route is refused with a reason, however long: %s", async (path, type, reason) => {
  for (const length of [3e9, 1e15]) {
    const client = await RawClient.connect(serve().port);
    const head = [`POST ${path} HTTP/1.1`, "Host: localhost", "X-Request-ID: long", `Content-Type: ${type}`];
    client.socket.write(`${head.join("\r\n")}\r\nContent-Length: ${length}\r\n\r\n{`);
    await until(() => client.received.includes("\r\n\r\n{"));
    expect(client.received).toStartWith("HTTP/1.1 413 ");
    expect(client.received).toContain("X-Request-ID: long");
    expect(client.received).toContain(reason);
    client.leave();
  }
});

/** Advances the clock beyond the waits for cancelled requests and for requests that arrive after them. */
async function passWaits({ clock }: Pick<TestServer, "clock">): Promise<void> {
  for (let wait = 0; wait < 3; wait++) {
    await Bun.sleep(10);
    clock.pass(1200);
  }
  await Bun.sleep(10);
}

describe("stopping", () => {
  test("lets requests finish, accepts no new ones, and then frees the port", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(
      { steps: [{ text: "Hel" }, { wait: gate.promise }, { text: "lo" }] },
      { drainTimeoutMs: 5000 },
    );
    const stream = await server.chat({ stream: true });
    const json = server.chat({});
    await until(() => server.engine.live === 2);
    const stopped = server.stop();
    await expect(fetch(`${server.url}/nowhere`)).rejects.toThrow();
    gate.resolve();
    expect(await stream.text()).toEndWith("data: [DONE]\n\n");
    expect((await json).status).toBe(200);
    await stopped;
    expect(serve(undefined, { port: server.port }).port).toBe(server.port);
  });

  test("lets embeddings finish", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(undefined, { drainTimeoutMs: 60_000 });
    const [embedder] = server.embedders;
    if (!embedder) throw new Error("no embedder");
    embedder.gate = gate.promise;
    const answer = server.post("/v1/embeddings", { input: "hi" });
    await until(() => embedder.asked.length === 1);
    const stopped = server.stop();
    await passWaits(server);
    gate.resolve();
    expect((await answer).status).toBe(200);
    await stopped;
  });

  test("lets a download finish", async () => {
    const bytes = 32 * 2 ** 20;
    const files = { ...testConfig.files, bytes, lines: 1 };
    const server = serve(undefined, { drainTimeoutMs: 60_000, files });
    const content = JSON.stringify({ text: "x".repeat(bytes - 12) });
    const made = (await (await fetch(`${server.url}/v1/files`, { method: "POST", body: content })).json()) as {
      id: string;
    };
    const socket = connect(server.port, "127.0.0.1").pause();
    socket.write(`GET /v1/files/${made.id}/content HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await once(socket, "readable");
    const stopped = server.stop();
    await passWaits(server);
    let received = 0;
    const ended = new Promise((resolve) => socket.on("end", resolve));
    socket.on("data", (chunk) => void (received += chunk.length)).resume();
    await Promise.all([stopped, ended]);
    expect(received).toBeGreaterThan(bytes);
  });

  test("cancels what remains after the drain timeout; streams still end properly", async () => {
    const server = serve({ steps: [{ text: "Hel" }, { wait: never }] }, { drainTimeoutMs: 30 });
    const stream = await server.chat({ stream: true });
    const json = server.chat({});
    await until(() => server.engine.live === 2);
    await server.stop();
    const text = await stream.text();
    expect(text).toContain('"finish_reason":"cancelled"');
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(await (await json).json()).toMatchObject({
      choices: [{ finish_reason: "cancelled", message: { content: "Hel" } }],
    });
    expect(server.engine.live).toBe(0);
  });

  test("refuses a request whose body arrives after that with a shutdown error", async () => {
    const server = serve({ steps: [{ wait: never }] }, { drainTimeoutMs: 200 });
    const running = server.chat({});
    const client = await RawClient.connect(server.port);
    const body = JSON.stringify({ messages });
    client.post("/v1/chat/completions", body.slice(0, 5), [`Content-Length: ${body.length}`]);
    await until(() => server.metrics.connections === 2);
    const stopped = server.stop();
    client.socket.write(body.slice(5));
    await until(() => client.received.includes("shutting_down"));
    expect(client.received).toStartWith("HTTP/1.1 503 ");
    await stopped;
    await running;
  });
});

import { describe, expect, jest, test } from "bun:test";
import { eventStream, type Frame } from "../../src/http/sse.ts";
import { until } from "../support/until.ts";
import { messages, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

function open(source: AsyncIterator<Frame>, heartbeatMs = 60_000) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const stream = eventStream(source, { heartbeatMs, signal: controller.signal, abort });
  return { ...stream, reader: stream.body.getReader(), abort, signal: controller.signal };
}

const textOf = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk);

describe("the event stream", () => {
  test("writes events that are ready together in one chunk, in order", async () => {
    async function* source() {
      yield "1";
      yield "2";
      await Bun.sleep(10);
      yield "3";
    }
    const { reader, ended } = open(source());
    expect(textOf((await reader.read()).value)).toBe("data: 1\n\ndata: 2\n\n");
    expect(textOf((await reader.read()).value)).toBe("data: 3\n\n");
    expect((await reader.read()).done).toBe(true);
    await ended;
  });

  test("reports its end while the body is still open", async () => {
    const order: string[] = [];
    async function* source() {
      yield "1";
    }
    const { signal } = new AbortController();
    const ends = () => void order.push("ends");
    const stream = eventStream(source(), { heartbeatMs: 60_000, signal, abort: () => {}, ends });
    const reader = stream.body.getReader();
    void reader.closed.then(() => order.push("closed"));
    expect(textOf((await reader.read()).value)).toBe("data: 1\n\n");
    expect((await reader.read()).done).toBe(true);
    await stream.ended;
    expect(order).toEqual(["ends", "closed"]);
  });

  test("does not read ahead without limit for a slow reader", async () => {
    let produced = 0;
    const event = "x".repeat(1000);
    async function* source() {
      while (true) {
        produced++;
        yield event;
      }
    }
    const { reader, abort, ended } = open(source());
    await Bun.sleep(20);
    const ahead = produced;
    expect(ahead).toBeLessThan(100);
    await Bun.sleep(20);
    expect(produced).toBe(ahead);
    expect((await reader.read()).value?.length).toBeGreaterThan(50_000);
    await until(() => produced > ahead);
    abort();
    await ended;
  });

  test("makes the parts of a long event only as fast as the reader takes them", async () => {
    let made = 0;
    function* parts() {
      for (; made < 1000; made++) yield "x".repeat(1000);
    }
    async function* source() {
      yield { event: "long", data: parts() };
      yield { data: ["1", "2"] };
      yield "3";
    }
    const { reader, ended } = open(source());
    let text = textOf((await reader.read()).value);
    await Bun.sleep(10);
    expect(made).toBeLessThan(200);
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += textOf(part.value);
    expect(text === `event: long\ndata: ${"x".repeat(1_000_000)}\n\ndata: 12\n\ndata: 3\n\n`).toBe(true);
    await ended;
  });

  test("has no heartbeat while text flows", async () => {
    jest.useFakeTimers();
    try {
      const texts = ["1", "2", "3"].map((text) => ({ text, ...Promise.withResolvers<void>() }));
      async function* source() {
        for (const { text, promise } of texts) yield promise.then(() => text);
        await new Promise(() => {});
      }
      const { reader } = open(source(), 400);
      for (const { text, resolve } of texts) {
        const next = reader.read();
        jest.advanceTimersByTime(300);
        resolve();
        expect(textOf((await next).value)).toBe(`data: ${text}\n\n`);
      }
      const next = reader.read();
      jest.advanceTimersByTime(400);
      expect(textOf((await next).value)).toBe(": ping\n\n");
    } finally {
      jest.useRealTimers();
    }
  });

  test("treats a reader that stops reading as disconnected", async () => {
    let released = false;
    const controller = new AbortController();
    async function* source() {
      try {
        for (;;) yield "x".repeat(1000);
      } finally {
        released = true;
      }
    }
    const abort = () => controller.abort();
    let ended = false;
    const ends = () => void (ended = true);
    const options = { heartbeatMs: 1, readerPatienceMs: 5, signal: controller.signal, abort, ends };
    const stream = eventStream(source(), options);
    await stream.ended;
    expect([released, ended]).toEqual([true, true]);
    await expect(stream.body.getReader().read()).rejects.toThrow();
  });

  test.each([
    [300, undefined, false],
    [300, 640 * 1024, true],
    [50, 640 * 1024, false],
  ])(
    "a reader that takes 64 KiB each %i ms, of which it must take %p in 1000 ms, is cut: %p",
    async (ms, leastRead, isCut) => {
      jest.useFakeTimers();
      try {
        async function* source() {
          for (;;) yield "x".repeat(1000);
        }
        const controller = new AbortController();
        const abort = () => controller.abort();
        const options = { heartbeatMs: 100, readerPatienceMs: 1000, leastRead, signal: controller.signal, abort };
        const stream = eventStream(source(), options);
        const reader = stream.body.getReader();
        for (let passed = 0; passed < 3000 && !controller.signal.aborted; passed += ms) {
          await reader.read();
          // Until the source has filled the buffer again.
          for (let turn = 0; turn < 500; turn++) await Promise.resolve();
          jest.advanceTimersByTime(ms);
        }
        expect(controller.signal.aborted).toBe(isCut);
        abort();
        await stream.ended;
      } finally {
        jest.useRealTimers();
      }
    },
  );

  test("aborts and releases the source when the reader disconnects", async () => {
    let released = false;
    const { reader, signal, ended } = open(
      (async function* () {
        try {
          yield "1";
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        } finally {
          released = true;
        }
      })(),
    );
    await reader.read();
    await reader.cancel();
    await ended;
    expect(signal.aborted).toBe(true);
    expect(released).toBe(true);
  });

  test("releases the source when it is aborted before the first read", async () => {
    let released = false;
    const { abort, ended } = open(
      (async function* () {
        try {
          yield "1";
          yield "2";
        } finally {
          released = true;
        }
      })(),
    );
    abort();
    await ended;
    expect(released).toBe(true);
  });
});

test("a stream whose reader disconnected before it began ends and releases its source", async () => {
  const controller = new AbortController();
  controller.abort();
  let released = false;
  const source = (async function* () {
    try {
      yield "1";
    } finally {
      released = true;
    }
  })();
  const { signal } = controller;
  const { body, ended } = eventStream(source, { heartbeatMs: 60_000, signal, abort: () => controller.abort() });
  await ended;
  expect(released).toBe(true);
  await expect(body.getReader().read()).rejects.toThrow();
});

describe("a silent stream over HTTP", () => {
  test("carries heartbeats that clients skip, until the text comes", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, { text: "Hello" }] }, { heartbeatMs: 10 });
    const client = await RawClient.connect(server.port);
    client.post("/v1/chat/completions", JSON.stringify({ messages, stream: true }));
    await until(() => client.received.split(": ping\n\n").length > 3);
    gate.resolve();
    await until(() => client.received.includes("data: [DONE]\n\n"));
    const events = client.received.split("\r\n").join("").split("\n\n");
    expect(events.filter((event) => event.includes("[DONE]"))).toHaveLength(1);
    expect(client.received.indexOf('"role":"assistant"')).toBeLessThan(client.received.indexOf(": ping"));
    client.leave();
  });
});

test("data for a reader that does not read is buffered only up to a limit", async () => {
  const text = "x".repeat(10_000);
  let produced = 0;
  const steps = Array.from({ length: 5000 }, () => ({
    get text() {
      produced++;
      return text;
    },
  }));
  const server = serve({ steps });
  const client = await RawClient.connect(server.port);
  client.socket.pause();
  client.post("/v1/chat/completions", JSON.stringify({ messages, stream: true }));
  await until(() => produced > 0);
  let before: number;
  do {
    before = produced;
    await Bun.sleep(60);
  } while (produced > before);
  expect(produced).toBeLessThan(2000);
  client.leave();
  await until(() => server.engine.live === 0 && server.metrics.connections === 0);
});

// Servers that answer as no model server does: every request ends with an error of ours, and no connection stays open.

import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import type { Socket } from "node:net";
import { systemClock } from "../../src/domain/clock.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { serve } from "../http/harness.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { plainRequest } from "../support/request.ts";
import { until } from "../support/until.ts";
import { chatServer, delta, eventStream, fixtureServer, helloStream, modelList } from "./fixture-server.ts";
import { head, rawServer } from "./raw-server.ts";
import { finishOf, generate, remote, textOf, type Remote } from "./remote.ts";

const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const half = (text: string) => text.slice(0, text.length / 2);
const hello = event(delta({ content: "Hello" }));
const line = (content: string, done: boolean) => `${JSON.stringify({ message: { content }, done })}\n`;
/** Milliseconds of silence that end a request: soon where an upstream hangs, else late, because this machine may be busy. */
const [SOON, LATE] = [200, 10_000];
const openFiles = () => readdirSync("/dev/fd").length;

const fails = (far: Remote, id = "r") => generate(far, { id }).then(textOf, (error: unknown) => error);

test("a server is not silent while nobody reads what it says", async () => {
  const silenceMs = 1000;
  const tokens = Array.from({ length: 20 }, () => delta({ content: "a" }));
  const slowly = async function* () {
    for (const token of tokens) {
      yield event(token);
      await Bun.sleep(20);
    }
    yield event(delta({}, "stop"));
  };
  const server = chatServer(() => new Response(slowly(), { headers: { "content-type": "text/event-stream" } }));
  const far = await remote([server.url], { silenceMs });
  const events = [];
  for await (const one of far.engine.generate(plainRequest("hi", {}), new AbortController().signal)) {
    if (one.type === "text" && events.length === 2) await Bun.sleep(1.5 * silenceMs);
    events.push(one);
  }
  expect(textOf(events)).toBe("a".repeat(tokens.length));
  expect([...(far.replicas[0]?.stats.failures ?? [])]).toEqual([]);
});

describe("an upstream that", () => {
  test.each([
    ["hangs after accepting", () => {}, "upstream_unavailable", SOON],
    ["closes without a word", (socket: Socket) => socket.end(), "upstream_unavailable", LATE],
    ["resets the connection", (socket: Socket) => socket.resetAndDestroy(), "upstream_unavailable", LATE],
    ["speaks no HTTP", (socket: Socket) => socket.end("220 smtp ready\r\n"), "upstream_unavailable", LATE],
    [
      "ends after half an event",
      (socket: Socket) => socket.end(head("text/event-stream") + half(hello)),
      "upstream_unavailable",
      LATE,
    ],
    [
      "ends after an event and a half",
      (socket: Socket) => socket.end(head("text/event-stream") + hello + half(hello)),
      "upstream_error",
      LATE,
    ],
    [
      "ends after half a line",
      (socket: Socket) => socket.end(head("application/x-ndjson") + half(line("Hello", false))),
      "upstream_unavailable",
      LATE,
    ],
    [
      "hangs in the middle of an event",
      (socket: Socket) => socket.write(head("text/event-stream") + hello + half(hello)),
      "upstream_error",
      SOON,
    ],
    [
      "answers with a web page",
      (socket: Socket) => socket.end(`${head("text/html; charset=utf-8")}<html>\n<p>hello</p></html>`),
      "upstream_error",
      LATE,
    ],
    [
      "answers with a web page that does not end",
      (socket: Socket) => socket.write(`${head("text/html")}<html>`),
      "upstream_error",
      LATE,
    ],
    [
      "answers with half a JSON text",
      (socket: Socket) => socket.end(`${head("application/json")}{"choices":[`),
      "upstream_error",
      LATE,
    ],
  ])(
    "%s ends the request with an error, and no connection stays",
    async (_, answer, code, silenceMs) => {
      const sockets = new Set<Socket>();
      const url = await rawServer((socket) => {
        sockets.add(socket);
        answer(socket);
      });
      const far = await remote([url], { silenceMs });
      // Whoever asks again knows that the request may be what broke it.
      const details = code === "upstream_unavailable" ? { sent: true } : {};
      expect(await fails(far)).toMatchObject({ code, details });
      const before = openFiles();
      far.replicas[0]?.breaker.succeeded();
      const failures = await Promise.all(Array.from({ length: 5 }, (_none, number) => fails(far, `r${number}`)));
      for (const failure of failures) expect(failure).toMatchObject({ code });
      expect(far.replicas[0]?.inFlight).toBe(0);
      await until(() => [...sockets].every(({ readyState }) => readyState !== "open"));
      await until(() => openFiles() <= before);
    },
    90_000,
  );

  test("answers with a web page is passed over for a replica that answers as it should", async () => {
    const page = chatServer(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
    const far = await remote([page.url, chatServer(helloStream).url]);
    const answers = ["a", "b", "c", "d", "e"].map((content) =>
      generate(far, { id: content, messages: [{ role: "user", content }] }),
    );
    expect((await Promise.all(answers)).map(textOf)).toEqual(answers.map(() => "Hello"));
  });

  test("breaks on a request is told of although another replica is busy", async () => {
    const busy = chatServer(() => Response.json({}, { status: 503, headers: { "retry-after": "60" } }));
    const far = await remote([await rawServer((socket) => socket.resetAndDestroy()), busy.url]);
    expect(await fails(far)).toMatchObject({ code: "server_busy", details: { sent: true } });
  });

  test("ends with a request is told apart from one that was gone before", async () => {
    const url = await rawServer((socket, server) => {
      server.close();
      socket.resetAndDestroy();
    });
    const far = await remote([url]);
    expect(await fails(far)).toMatchObject({ code: "upstream_unavailable", details: { sent: true } });
    far.replicas[0]?.breaker.succeeded();
    const gone = await fails(far);
    expect(gone).toMatchObject({ code: "upstream_unavailable" });
    expect(gone).not.toHaveProperty("details.sent");
  });

  test.each([
    ["without a line break", event(delta({}, "stop")).trimEnd()],
    ["in the middle of its counts", `${event(delta({}, "stop"))}data: {"usage":`],
    ["with an error", event(delta({}, "stop")) + event({ error: { message: "no counts" } })],
  ])("ends %s after its last word has all of its answer", async (_, end) => {
    const url = await rawServer((socket) => socket.end(head("text/event-stream") + hello + end));
    const far = await remote([url]);
    expect(textOf(await generate(far))).toBe("Hello");
    expect(far.replicas[0]?.stats.requests).toBe(1);
  });

  test.each([
    ["text", event(delta({ content: "a".repeat(2 ** 20) }))],
    ["white space in small pieces", event(delta({ content: " ".repeat(16) })).repeat(1000)],
    ["calls", event(delta({ tool_calls: [{ id: "", function: { name: "f", arguments: "{}" } }] })).repeat(1000)],
    ["probabilities", event({ choices: [{ delta: { content: "a" }, logprobs: { content: Array(1000).fill({}) } }] })],
  ])("sends %s without an end is given up", async (_, piece) => {
    let isOpen = true;
    const bytes = Buffer.from(piece);
    const endless = () =>
      new ReadableStream({ pull: (controller) => controller.enqueue(bytes), cancel: () => void (isOpen = false) });
    const server = chatServer(() => new Response(endless(), { headers: { "content-type": "text/event-stream" } }));
    const { engine } = await remote([server.url]);
    const reading = async () => {
      for await (const _event of engine.generate(plainRequest("hi", {}), new AbortController().signal));
    };
    expect(await reading().catch((error: unknown) => error)).toMatchObject({ code: "upstream_error" });
    await until(() => !isOpen);
  });

  test.each([
    ["values", `{"choices":[${"[],".repeat(400_000)}[]]}`],
    ["levels", `{"choices":${"[".repeat(100_000)}`],
  ])("sends a message of too many %s is given up, and nobody waits for that", async (_, message) => {
    const server = chatServer(
      () => new Response(`data: ${message}\n\n`, { headers: { "content-type": "text/event-stream" } }),
    );
    const failure = await fails(await remote([server.url]));
    expect(failure).toMatchObject({ code: "upstream_error", message: expect.stringContaining("holds too much") });
  });

  test("sends thousands of messages at once lets others come between", async () => {
    const count = 5000;
    const tokens = Array.from({ length: count }, () => delta({ content: "a" }));
    const body = [...tokens, delta({}, "stop")].map(event).join("");
    const server = chatServer(() => new Response(body, { headers: { "content-type": "text/event-stream" } }));
    const far = await remote([server.url]);
    let [turns, isOver] = [0, false];
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    const longest = { events: 0, since: 0 };
    setImmediate(turn);
    let before = turns;
    for await (const one of far.engine.generate(plainRequest("hi", {}), new AbortController().signal)) {
      if (one.type !== "text") continue;
      if (turns !== before) longest.since = 0;
      before = turns;
      longest.events = Math.max(longest.events, ++longest.since);
    }
    isOver = true;
    expect(longest.events).toBeLessThan(1000);
  });

  test("says that it counted more than can be counted is not believed", async () => {
    const usage = { prompt_tokens: 1e308, completion_tokens: -1e308, peak_memory_gib: 1e250 };
    const server = chatServer(() => eventStream([delta({ content: "a" }), { ...delta({}, "stop"), usage }]));
    const { usage: told } = finishOf(await generate(await remote([server.url]))) ?? {};
    const most = Number.MAX_SAFE_INTEGER;
    expect(told).toMatchObject({ promptTokens: most, completionTokens: 0, peakMemoryBytes: most });
  });

  test("says that more of the prompt was cached than it has is not believed", async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } };
    const server = chatServer(() => eventStream([delta({ content: "a" }), { ...delta({}, "stop"), usage }]));
    const { post } = serve(undefined, {}, [(await remote([server.url])).gateway]);
    const messages = [{ role: "user", content: "hi" }];
    const answer = await post("/v1/messages", { model: "up/far", max_tokens: 5, messages });
    expect(await answer.json()).toMatchObject({ usage: { input_tokens: 0, cache_read_input_tokens: 5 } });
  });

  test("lists more models than anybody has is believed of the first of them", async () => {
    const ids = Array.from({ length: 20_000 }, (_, number) => `m${number}`);
    const server = fixtureServer(({ path }) => (path === "/v1/models" ? Response.json(modelList(...ids)) : undefined));
    const far = await remote([server.url]);
    expect(far.gateway.models()).toHaveLength(10_000);
  });

  test("sends a list of models without an end is read no further than a list may be long", async () => {
    let isOpen = true;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(2 ** 20).fill(32)),
      cancel: () => {
        isOpen = false;
      },
    });
    const server = fixtureServer(({ path }) => (path === "/v1/models" ? new Response(endless) : undefined));
    const far = await remote([server.url]);
    expect(far.gateway.models()).toEqual([]);
    await until(() => !isOpen);
  });

  test.each([1e18, -1e18, 1_700_000_000_000])(
    "says that a model is of the second %d is listed all the same",
    async (created) => {
      const data = [{ id: "far", created }];
      const server = fixtureServer(({ path }) => (path === "/v1/models" ? Response.json({ data }) : undefined));
      const { gateway } = await remote([server.url]);
      const { url } = serve(undefined, {}, [gateway]);
      const headers = { "anthropic-version": "2023-06-01" };
      const listed = (await (await fetch(`${url}/v1/models/up/far`, { headers })).json()) as { created_at: string };
      expect(listed.created_at).toMatch(/^\d{4}-/);
      expect((await fetch(`${url}/api/tags`)).status).toBe(200);
    },
  );

  test("lists its models late is served as soon as it has, and asked before as well", async () => {
    const gate = Promise.withResolvers<void>();
    const server = fixtureServer(async ({ path }) => {
      if (path === "/v1/chat/completions") return helloStream();
      await gate.promise;
      return path === "/v1/models" ? Response.json(modelList("far")) : undefined;
    });
    const replica = new Replica({ url: server.url }, { connectMs: 1000, silenceMs: 1000 }, systemClock);
    const upstream = new Upstream("up", [replica], true);
    const gateway = new Gateway({ configured: [upstream], clock: systemClock, log: new RecordingLog() });
    const started = gateway.start();
    const engine = gateway.find("up/far")?.chat?.engine;
    if (!engine) throw new Error("no backend");
    expect(textOf(await generate({ engine }))).toBe("Hello");
    expect(gateway.models()).toEqual([]);
    gate.resolve();
    await started;
    gateway.stop();
    expect(gateway.models().map(({ id }) => id)).toEqual(["up/far"]);
  });

  test("was not reached yet gets no request with fields that it may not know, but it may later", async () => {
    let isThere = false;
    const server = fixtureServer(({ path }) => {
      if (path === "/v1/chat/completions") return helloStream();
      if (!isThere) return new Response("starting", { status: 503 });
      return path === "/v1/models" ? Response.json({ data: [{ id: "far", owned_by: "vllm" }] }) : undefined;
    });
    const far = await remote([server.url]);
    const ask = () => generate(far, { sampling: { topK: 5 } }).then(textOf, (error: unknown) => error);
    expect(await ask()).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("not listed") });
    expect(far.replicas[0]?.isWell).toBe(true);
    isThere = true;
    await far.replicas[0]?.refresh(0);
    expect(await ask()).toBe("Hello");
  });

  test("could not be reached at the start is asked again at once, not after the usual time", async () => {
    let isThere = false;
    const server = fixtureServer(({ path }) =>
      path === "/v1/models" && isThere ? Response.json(modelList("far")) : new Response("starting", { status: 500 }),
    );
    const far = await remote([server.url]);
    expect(far.gateway.models()).toEqual([]);
    isThere = true;
    await far.replicas[0]?.refresh();
    expect(far.gateway.models().map(({ id }) => id)).toEqual(["up/far"]);
  });
});

test("a name that a local model has is that model; the other server's goes by its listed name", async () => {
  const server = fixtureServer(({ path }) => {
    if (path === "/v1/models") return Response.json(modelList("fake-model"));
    return path === "/v1/chat/completions" ? eventStream([delta({ content: "far" }, "stop")]) : undefined;
  });
  const { gateway } = await remote([server.url]);
  const near = serve(undefined, {}, [gateway]);
  const modelOf = async (model: string) => ((await (await near.chat({ model })).json()) as { model: string }).model;
  expect([await modelOf("fake-model"), await modelOf("up/fake-model")]).toEqual(["fake-model", "up/fake-model"]);
  const listed = (await (await fetch(`${near.url}/v1/models`)).json()) as { data: { id: string }[] };
  expect(listed.data.map(({ id }) => id).filter((id) => id.endsWith("fake-model"))).toEqual([
    "fake-model",
    "up/fake-model",
  ]);
});

describe("an upstream behind a proxy", () => {
  const before = process.env["http_proxy"];
  afterEach(() => {
    if (before === undefined) delete process.env["http_proxy"];
    else process.env["http_proxy"] = before;
  });

  test("is asked through it alone, and a proxy that is gone is told", async () => {
    const proxy = chatServer(helloStream);
    process.env["http_proxy"] = proxy.url;
    const address = { url: "http://far.invalid:8000", proxy: proxy.url };
    const replica = new Replica(address, { connectMs: 1000, silenceMs: 1000 }, systemClock);
    const gateway = new Gateway({
      configured: [new Upstream("up", [replica], true)],
      clock: systemClock,
      log: new RecordingLog(),
    });
    await gateway.start();
    gateway.stop();
    const engine = gateway.find("up/far")?.chat?.engine;
    if (!engine) throw new Error("no backend");
    expect(textOf(await generate({ engine }))).toBe("Hello");
    expect(proxy.asked.map(({ headers }) => headers.get("host"))).toEqual(["far.invalid:8000", "far.invalid:8000"]);
    await proxy.stop();
    await expect(generate({ engine })).rejects.toMatchObject({ code: "upstream_unavailable" });
    await until(() => !replica.isWell);
  });
});

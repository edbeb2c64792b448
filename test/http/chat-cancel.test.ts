import { describe, expect, test } from "bun:test";
import { ChatCompletion } from "../../src/contract/chat.ts";
import { checker } from "../../src/contract/schema.ts";
import { fakeModel, type FakeScript } from "../support/fake-text-engine.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { messages, serve, type TestServer } from "./harness.ts";

const never = new Promise<void>(() => {});
const queued: FakeScript = { steps: [{ wait: never }, "accept", { text: "a" }] };
const prefilling: FakeScript = { steps: [{ wait: never }, { text: "a" }] };
const decoding: FakeScript = { steps: [{ text: "Hel" }, { wait: never }, { text: "lo" }] };
const checkCompletion = checker(ChatCompletion);

const cancel = (server: TestServer, id: string) =>
  server.post(`/v1/chat/completions/${encodeURIComponent(id)}/cancel`, "");

describe("cancelling", () => {
  test.each([
    ["queued", queued, "", 0],
    ["prefilling", prefilling, "", 12],
    ["decoding", decoding, "Hel", 12],
  ] as const)("a %s JSON request answers 200 with what there is", async (_, script, content, promptTokens) => {
    const server = serve(script);
    const answer = server.chat({}, { "x-request-id": "c1" });
    await until(() => server.engine.live === 1);
    const cancelled = await cancel(server, "c1");
    expect(cancelled.status).toBe(200);
    expect(await cancelled.json()).toEqual({ id: "c1", object: "chat.completion.cancellation", cancelled: true });
    const response = await answer;
    expect(response.status).toBe(200);
    const { choices, usage } = checkCompletion(await response.json());
    expect(choices).toEqual([
      { index: 0, message: { role: "assistant", content, refusal: null }, logprobs: null, finish_reason: "cancelled" },
    ]);
    expect(usage.prompt_tokens).toBe(promptTokens);
    expect(usage.completion_tokens).toBe(content === "" ? 0 : 1);
    expect((await cancel(server, "c1")).status).toBe(404);
  });

  test.each([
    ["queued", queued, "chat-cancelled-queued.sse"],
    ["prefilling", prefilling, "chat-cancelled-queued.sse"],
    ["decoding", decoding, "chat-cancelled.sse"],
  ] as const)("a %s stream ends with its finish chunk and [DONE], without usage", async (_, script, golden) => {
    const server = serve(script);
    const answer = server.chat({ stream: true }, { "x-request-id": "c2" });
    await until(() => server.engine.live === 1);
    expect((await cancel(server, "c2")).status).toBe(200);
    await expectGolden(golden, await (await answer).text());
    await until(() => server.requests.activeCount === 0 && server.metrics.connections === 0);
    expect(server.requests.registeredCount).toBe(0);
    expect(server.metrics.calls.at(-1)).toBe("finished cancelled");
  });

  test("an id that is unknown, finished or malformed answers 404 in the same shape", async () => {
    const server = serve();
    await (await server.chat({}, { "x-request-id": "done" })).text();
    for (const id of ["never", "done"]) {
      const response = await cancel(server, id);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ id, object: "chat.completion.cancellation", cancelled: false });
    }
    const broken = await server.post("/v1/chat/completions/%zz/cancel", "");
    expect([broken.status, await broken.json()]).toMatchObject([404, { id: "%zz", cancelled: false }]);
  });

  test("a second cancel of a request that is still ending answers 404", async () => {
    const server = serve(decoding);
    const answer = server.chat({}, { "x-request-id": "twice" });
    await until(() => server.engine.live === 1);
    const [first, second] = await Promise.all([cancel(server, "twice"), cancel(server, "twice")]);
    expect([first.status, second.status].toSorted()).toEqual([200, 404]);
    await answer;
  });

  test("with API keys, ends only a request of the caller's key, though another client chose the same id later", async () => {
    const apiKeys = ["ada", "eve"].map((name) => ({ name, key: `${name}-key` }));
    const server = serve(decoding, { apiKeys });
    const [ada, eve] = apiKeys.map(({ key }) => ({ "x-api-key": key, "x-request-id": "same" }));
    const cancelBy = async (headers = {}) => {
      const response = await server.post("/v1/chat/completions/same/cancel", "", headers);
      return response.status;
    };
    const first = server.chat({}, ada);
    await until(() => server.engine.live === 1);
    const second = server.chat({}, eve);
    await until(() => server.engine.live === 2);
    expect([await cancelBy(ada), await cancelBy(ada)]).toEqual([200, 404]);
    const reasonOf = async (response: Promise<Response>) =>
      checkCompletion(await (await response).json()).choices[0]?.finish_reason;
    expect(await reasonOf(first)).toBe("cancelled");
    expect(server.engine.live).toBe(1);
    expect(await cancelBy(eve)).toBe(200);
    expect(await reasonOf(second)).toBe("cancelled");
  });

  test("works for an id with characters that URLs escape", async () => {
    const server = serve(decoding);
    const id = "a/b?c#d%e";
    const answer = server.chat({}, { "x-request-id": id });
    await until(() => server.engine.live === 1);
    expect((await cancel(server, id)).status).toBe(200);
    expect((await answer).headers.get("x-request-id")).toBe(id);
  });

  test("stops the newest of two requests with one id first, then the other", async () => {
    const script = ({ sampling }: { sampling: { seed?: number } }): FakeScript => ({
      steps: [{ text: `seed ${sampling.seed}` }, { wait: never }],
    });
    const server = serve(script);
    const same = { "x-request-id": "same" };
    const older = server.chat({ seed: 1 }, same);
    await until(() => server.engine.live === 1);
    const newer = server.chat({ seed: 2 }, same);
    await until(() => server.engine.live === 2);

    expect((await cancel(server, "same")).status).toBe(200);
    const first = await newer;
    expect(first.headers.get("x-request-id")).toBe("same");
    expect(checkCompletion(await first.json()).choices[0]?.message.content).toBe("seed 2");
    expect(server.engine.live).toBe(1);
    expect((await cancel(server, "same")).status).toBe(200);
    expect(checkCompletion(await (await older).json()).choices[0]?.finish_reason).toBe("cancelled");
    expect((await cancel(server, "same")).status).toBe(404);
  });

  test("stops a batch and a single chat with one id in the same order", async () => {
    const server = serve(decoding);
    const same = { "x-request-id": "same" };
    const chat = () => server.chat({}, same);
    const batch = () =>
      server.post("/v1/batch/completions", { requests: [{ custom_id: "a", body: { messages } }] }, same);
    for (const [older, newer] of [
      [chat, batch],
      [batch, chat],
    ] as const) {
      const kept = older();
      await until(() => server.engine.live === 1);
      const ended = newer();
      await until(() => server.engine.live === 2);
      expect((await cancel(server, "same")).status).toBe(200);
      expect(await (await ended).text()).toContain('"finish_reason":"cancelled"');
      expect(server.engine.live).toBe(1);
      expect((await cancel(server, "same")).status).toBe(200);
      expect(await (await kept).text()).toContain('"finish_reason":"cancelled"');
      expect((await cancel(server, "same")).status).toBe(404);
    }
  });

  test("does not affect other requests", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ text: "Hel" }, { wait: gate.promise }, { text: "lo" }] });
    const victim = server.chat({ stream: true }, { "x-request-id": "victim" });
    const neighbour = server.chat({}, { "x-request-id": "neighbour" });
    await until(() => server.engine.live === 2);
    await cancel(server, "victim");
    await (await victim).text();
    gate.resolve();
    const { choices } = checkCompletion(await (await neighbour).json());
    expect(choices[0]).toMatchObject({ message: { content: "Hello" }, finish_reason: "stop" });
  });
});

describe("cancelling while an image is fetched", () => {
  /** Starts a server with a vision model, and prepares a request whose image never arrives. */
  function setUp() {
    const left = Promise.withResolvers<void>();
    const state = { asked: 0 };
    const pictures = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        state.asked++;
        request.signal.addEventListener("abort", () => left.resolve());
        await left.promise;
        return new Response();
      },
    });
    const server = serve();
    server.engine.model = { ...fakeModel, vision: true };
    const url = `http://127.0.0.1:${pictures.port}/a.png`;
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
    const fetching = () => until(() => state.asked === 1);
    const over = async () => {
      await left.promise;
      await until(() => server.requests.activeCount === 0);
      expect([server.engine.requests.length, server.requests.registeredCount]).toEqual([0, 0]);
      expect(server.metrics.calls.at(-1)).toBe("finished cancelled");
      await pictures.stop(true);
    };
    return { server, messages, fetching, over };
  }

  test("ends all answers at once, and nothing is computed", async () => {
    const { server, messages, fetching, over } = setUp();
    const answer = server.chat({ messages, n: 2 }, { "x-request-id": "seen" });
    await fetching();
    expect((await cancel(server, "seen")).status).toBe(200);
    const response = await answer;
    expect(response.status).toBe(200);
    const { choices, usage } = checkCompletion(await response.json());
    expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, "cancelled"],
      [1, "cancelled"],
    ]);
    expect(usage.total_tokens).toBe(0);
    expect((await cancel(server, "seen")).status).toBe(404);
    await over();
  });

  test("ends a stream in the same way as in the queue", async () => {
    const { server, messages, fetching, over } = setUp();
    const answer = server.chat({ messages, stream: true }, { "x-request-id": "c2" });
    await fetching();
    expect((await cancel(server, "c2")).status).toBe(200);
    await expectGolden("chat-cancelled-queued.sse", await (await answer).text());
    await over();
  });

  test("ends an item of a batch", async () => {
    const { server, messages, fetching, over } = setUp();
    const requests = [{ custom_id: "one", body: { messages } }];
    const answer = server.post("/v1/batch/completions", { requests });
    await fetching();
    expect((await cancel(server, "one")).status).toBe(200);
    expect(await (await answer).text()).toContain('"finish_reason":"cancelled"');
    await over();
  });

  test("also happens when the server stops", async () => {
    const { server, messages, fetching, over } = setUp();
    const answer = server.chat({ messages });
    await fetching();
    server.requests.cancelAll();
    expect(checkCompletion(await (await answer).json()).choices[0]?.finish_reason).toBe("cancelled");
    await over();
  });
});

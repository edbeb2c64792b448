// Responses made in the background whose events are told as well: to whoever asks, from any event on, at any time.

import { expect, test } from "bun:test";
import { expectGolden } from "../http/golden.ts";
import { serve, type TestServer, until } from "../http/harness.ts";
import { scripts } from "./scripts.ts";

const asked = { input: "hi", background: true, stream: true };

interface Told {
  readonly sequence_number: number;
  readonly type: string;
  readonly response?: { readonly id: string; readonly status: string };
}

const toldIn = (text: string): Told[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Told);

const fetchText = async (server: TestServer, id: string, query: string) => {
  const response = await fetch(`${server.url}/v1/responses/${id}${query}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return response.text();
};

/** Reads until `count` events are there, and leaves. */
async function readEvents(response: Response, count: number): Promise<Told[]> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
    if (toldIn(whole).length >= count) return toldIn(whole);
  }
  throw new Error(`only ${toldIn(text).length} events`);
}

test("the whole stream, as any other; and again, from any event on", async () => {
  const server = serve(scripts.reasoning);
  const text = await (await server.post("/v1/responses", asked)).text();
  await expectGolden("responses-background.sse", text);
  const told = toldIn(text);
  const id = told[0]?.response?.id ?? "";
  expect(await fetchText(server, id, "?stream=true")).toBe(text);
  expect(toldIn(await fetchText(server, id, "?stream=true&starting_after=4"))).toEqual(told.slice(5));
  expect(await fetchText(server, id, "?stream=true&starting_after=1000")).toBe("data: [DONE]\n\n");
  const resource = await (await fetch(`${server.url}/v1/responses/${id}?stream=false`)).json();
  expect(resource).toEqual(told.at(-1)?.response);
});

test("it goes on when its client leaves, and is taken up where that was", async () => {
  const gate = Promise.withResolvers<void>();
  const server = serve({ steps: [{ text: "a" }, { wait: gate.promise }, { text: "b" }, { text: "c" }] });
  const first = await readEvents(await server.post("/v1/responses", asked), 5);
  const id = first[0]?.response?.id ?? "";
  expect(server.requests.activeCount).toBe(1);
  const last = first.at(-1)?.sequence_number ?? 0;
  // Two who wait for what is still to come.
  const rest = [0, 1].map(() => fetchText(server, id, `?stream=true&starting_after=${last}`));
  gate.resolve();
  const [one = "", two] = await Promise.all(rest);
  expect(two).toBe(one);
  const all = [...first, ...toldIn(one)];
  expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
  expect(all.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
});

test("cancelled or deleted, its streams end", async () => {
  for (const [method, path] of [
    ["POST", "/cancel"],
    ["DELETE", ""],
  ] as const) {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const id = (await readEvents(await server.post("/v1/responses", asked), 5))[0]?.response?.id ?? "";
    const following = await fetch(`${server.url}/v1/responses/${id}?stream=true`);
    expect((await fetch(`${server.url}/v1/responses/${id}${path}`, { method })).status).toBe(200);
    expect(toldIn(await following.text()).at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "cancelled" },
    });
    await until(() => server.requests.activeCount === 0);
  }
});

test("a failure is told, and told again", async () => {
  const server = serve(scripts.failed);
  const text = await (await server.post("/v1/responses", asked)).text();
  const told = toldIn(text);
  expect(told.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
  expect(await fetchText(server, told[0]?.response?.id ?? "", "?stream=true")).toBe(text);
});

test("events count for how much is kept", async () => {
  const steps = Array.from({ length: 200 }, () => ({ text: "word " }));
  const server = serve({ steps }, { storedResponses: { count: 100, bytes: 60_000 } });
  const idOf = async () => toldIn(await (await server.post("/v1/responses", asked)).text())[0]?.response?.id ?? "";
  const [first, second] = [await idOf(), await idOf()];
  const status = async (id: string) => (await fetch(`${server.url}/v1/responses/${id}`)).status;
  expect([await status(first), await status(second)]).toEqual([404, 200]);
});

test.each([
  ["?stream=yes", "stream"],
  ["?stream=true&starting_after=-1", "starting_after"],
  ["?stream=true&starting_after=x", "starting_after"],
])("%s is refused by name", async (query, param) => {
  const server = serve(scripts.text);
  const id = toldIn(await (await server.post("/v1/responses", asked)).text())[0]?.response?.id;
  const response = await fetch(`${server.url}/v1/responses/${id}${query}`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_value", param } });
});

test("without kept events there is no stream", async () => {
  const server = serve(scripts.text);
  const { id } = (await (await server.post("/v1/responses", { input: "hi" })).json()) as { id: string };
  const response = await fetch(`${server.url}/v1/responses/${id}?stream=true`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_value", param: "stream" } });
  expect((await fetch(`${server.url}/v1/responses/resp_none?stream=true`)).status).toBe(404);
  const unkept = await server.post("/v1/responses", { ...asked, store: false });
  expect(await unkept.json()).toMatchObject({ error: { param: "background" } });
});

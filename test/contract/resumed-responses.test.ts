// Background responses with a stream: any client can read the events, from any event on, at any time.

import { expect, test } from "bun:test";
import { expectGolden } from "../http/golden.ts";
import { serve, type TestServer } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { scripts } from "./scripts.ts";

const asked = { input: "hi", background: true, stream: true };

interface Told {
  readonly sequence_number: number;
  readonly type: string;
  readonly response?: { readonly id: string; readonly status: string };
}

const toldIn = (text: string): Told[] =>
  [...text.matchAll(/^data: (\{[^\n]*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Told);

const fetchText = async (server: TestServer, id: string, query: string) => {
  const response = await fetch(`${server.url}/v1/responses/${id}${query}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return response.text();
};

/** Reads until `count` events have arrived, then disconnects. */
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

test("a stream is complete, and can be read again from any event on", async () => {
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

test("a response continues when its client disconnects, and its stream can be resumed there", async () => {
  const gate = Promise.withResolvers<void>();
  const server = serve({ steps: [{ text: "a" }, { wait: gate.promise }, { text: "b" }, { text: "c" }] });
  const first = await readEvents(await server.post("/v1/responses", asked), 5);
  const id = first[0]?.response?.id ?? "";
  expect(server.requests.activeCount).toBe(1);
  const last = first.at(-1)?.sequence_number ?? 0;
  // Two clients that wait for the remaining events.
  const rest = [0, 1].map(() => fetchText(server, id, `?stream=true&starting_after=${last}`));
  gate.resolve();
  const [one = "", two] = await Promise.all(rest);
  expect(two).toBe(one);
  const all = [...first, ...toldIn(one)];
  expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
  expect(all.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
});

test("HEAD of a stream is answered at once, and follows nothing", async () => {
  const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
  const id = (await readEvents(await server.post("/v1/responses", asked), 5))[0]?.response?.id ?? "";
  const { status, headers } = await fetch(`${server.url}/v1/responses/${id}?stream=true`, { method: "HEAD" });
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  await until(() => server.metrics.connections === 0);
});

test("streams end when the response is cancelled or deleted", async () => {
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

test("a failure is streamed, and again when the stream is read again", async () => {
  const server = serve(scripts.failed);
  const text = await (await server.post("/v1/responses", asked)).text();
  const told = toldIn(text);
  expect(told.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
  expect(await fetchText(server, told[0]?.response?.id ?? "", "?stream=true")).toBe(text);
});

test("stored events count towards the storage limit", async () => {
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

test("a response without stored events has no stream", async () => {
  const server = serve(scripts.text);
  const { id } = (await (await server.post("/v1/responses", { input: "hi" })).json()) as { id: string };
  const response = await fetch(`${server.url}/v1/responses/${id}?stream=true`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_value", param: "stream" } });
  expect((await fetch(`${server.url}/v1/responses/resp_none?stream=true`)).status).toBe(404);
  const unkept = await server.post("/v1/responses", { ...asked, store: false });
  expect(await unkept.json()).toMatchObject({ error: { param: "background" } });
});

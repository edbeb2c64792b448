import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { Api } from "../../src/page/state/api.ts";
import { Kept } from "../../src/page/state/kept.ts";

afterEach(() => mock.restore());

test("a key that no request can have is refused at once and not kept, so that another can be entered", async () => {
  const kept = new Kept("sessionStorage");
  const api = new Api(kept);
  for (const key of ["“a-key”", "a key", "clé", "ключ", ""]) {
    expect([api.useKey(key), api.needsKey.value]).toEqual([false, "refused"]);
  }
  expect(new Api(kept).useKey("a-key")).toBe(true);
  const asked = spyOn(globalThis, "fetch").mockResolvedValueOnce(Response.json({}));
  await api.json("/v1/models");
  expect(asked.mock.lastCall?.[1]?.headers).toEqual({ Authorization: "Bearer a-key" });
});

test("a missing key is told without the headers that programs send it in", async () => {
  const message = "An API key is required, as Authorization: Bearer KEY or x-api-key: KEY.";
  spyOn(globalThis, "fetch").mockResolvedValueOnce(Response.json({ error: { message } }, { status: 401 }));
  const api = new Api();
  await expect(api.json("/v1/models")).rejects.toThrow("This server needs an API key.");
  expect(api.needsKey.value).toBe("missing");
});

test("a stream that breaks off says that the connection was lost", async () => {
  const body = new ReadableStream({
    pull(stream) {
      stream.enqueue(new TextEncoder().encode("data: 1\n\n"));
      stream.error(new TypeError("network error"));
    },
  });
  spyOn(globalThis, "fetch").mockResolvedValueOnce(new Response(body));
  const events = Array.fromAsync(new Api().events("/v1/chat/completions", {}, {}));
  await expect(events).rejects.toThrow("The connection to the server was lost.");
});

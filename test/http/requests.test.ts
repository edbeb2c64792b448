import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "bun:test";
import { RequestList } from "../../src/contract/requests.ts";
import { expectGolden } from "./golden.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { hello, serve, type TestServer } from "./harness.ts";

const list = async ({ url }: TestServer, headers: Record<string, string> = {}) =>
  ((await (await fetch(`${url}/v1/requests`, { headers })).json()) as RequestList).data;
/** Resolves with the list once `isSo` accepts it. */
async function untilListed(server: TestServer, isSo: (all: RequestList["data"]) => boolean) {
  for (;;) {
    const all = await list(server);
    if (isSo(all)) return all;
    await Bun.sleep(5);
  }
}

const named = (id: string) => ({ "X-Request-ID": id });

describe("GET /v1/requests", () => {
  test("lists running requests, which can be cancelled by their id", async () => {
    const server = serve({ steps: [{ text: "secret " }, { text: "words" }, { wait: new Promise(() => {}) }] });
    const answer = server.chat({ stream: true }, named("mine"));
    const [found] = await untilListed(server, ([one]) => one?.completion_tokens === 2);
    expect(found).toMatchObject({
      object: "request",
      id: "mine",
      engine: "text",
      model: "fake-model",
      state: "running",
      prompt_tokens: 12,
    });
    expect(Math.abs((found?.created ?? 0) - Date.now() / 1000)).toBeLessThan(60);
    expect(JSON.stringify(found)).not.toContain("secret");
    expect((await server.post("/v1/chat/completions/mine/cancel", {})).status).toBe(200);
    await (await answer).text();
    const [ended, ...others] = await list(server);
    expect([ended?.state, ended?.finish_reason, ended?.id, others]).toEqual(["ended", "cancelled", "mine", []]);
  });

  test("reports prompt progress only while the prompt is computed", async () => {
    const gate = Promise.withResolvers<void>();
    const progress = { type: "progress", total: 12, cached: 4, processed: 8, ms: 5 } as const;
    const server = serve({ steps: [progress, { wait: gate.promise }, { text: "Hello" }] });
    const answer = server.chat({ stream: true }, named("mine"));
    const [found] = await untilListed(server, ([one]) => one?.processed_prompt_tokens !== undefined);
    const stable = { ...found, created: 0, total_time: 0 };
    await expectGolden("requests-running.json", `${JSON.stringify({ object: "list", data: [stable] })}\n`);
    expect(found).toMatchObject({ state: "running", prompt_tokens: 12, processed_prompt_tokens: 8 });
    gate.resolve();
    await (await answer).text();
    const [ended] = await list(server);
    expect(ended).not.toHaveProperty("processed_prompt_tokens");
  });

  test("lists waiting requests", async () => {
    const server = serve({ steps: ["accept", { wait: new Promise(() => {}) }] });
    const answer = server.chat({ stream: true }, named("mine"));
    const [found] = await untilListed(server, ([one]) => one?.prompt_tokens === 12);
    expect([found?.state, found?.completion_tokens]).toEqual(["waiting", 0]);
    await server.post("/v1/chat/completions/mine/cancel", {});
    await (await answer).text();
  });

  test("lists ended requests with counts and times, and the error code of failed ones", async () => {
    const crash = new SvcError("engine_crashed", "The engine ended.");
    const server = serve(({ id }) => (id === "broken" ? { steps: [{ text: "Hel" }, { fail: crash }] } : hello));
    await (await server.chat({}, named("whole"))).text();
    await (await server.chat({}, named("broken"))).text();
    await (await server.post("/v1/audio/speech", { input: "Hello." }, named("spoken"))).arrayBuffer();
    const times = { created: 0, total_time: 0, time_to_first_token: 0 };
    const stable = (await list(server)).map((one) => ({
      ...one,
      ...Object.fromEntries(Object.entries(times).filter(([name]) => name in one)),
    }));
    expect(new Ajv2020({ strict: false }).validate(RequestList, { object: "list", data: stable })).toBe(true);
    await expectGolden("requests.json", `${JSON.stringify({ object: "list", data: stable })}\n`);
  });

  test("keeps the last hundred, newest first", async () => {
    const server = serve();
    for (let count = 0; count < 103; count++) await (await server.chat({}, named(`r${count}`))).text();
    const ids = (await list(server)).map(({ id }) => id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, "r102", "r3"]);
  });

  test("lists a request as cancelled when its client stops reading", async () => {
    const server = serve({ steps: [{ text: "Hel" }, { wait: new Promise(() => {}) }] });
    const leaving = new AbortController();
    const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }], stream: true });
    const answer = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body, signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    const [ended] = await untilListed(server, ([one]) => one?.state === "ended");
    expect(ended?.finish_reason).toBe("cancelled");
  });

  test("lists only the requests of the API key that asks", async () => {
    const apiKeys = [
      { name: "ada", key: "ada-key" },
      { name: "eve", key: "eve-key" },
    ];
    const server = serve(hello, { apiKeys });
    const [ada, eve] = [{ "x-api-key": "ada-key" }, { "x-api-key": "eve-key" }];
    await (await server.chat({}, { ...ada, ...named("of-ada"), "X-Svc-Client": "eve" })).text();
    await (await server.chat({}, { ...eve, ...named("of-eve") })).text();
    expect((await list(server, ada)).map(({ id }) => id)).toEqual(["of-ada"]);
    expect((await list(server, eve)).map(({ id }) => id)).toEqual(["of-eve"]);
    expect((await fetch(`${server.url}/v1/requests`)).status).toBe(401);
  });

  test("hides ids from other machines when there are no keys", async () => {
    const server = serve(hello, { host: "0.0.0.0" });
    await (await server.chat({}, named("mine"))).text();
    const [ended] = await list(server);
    expect([ended?.model, ended && "id" in ended]).toEqual(["fake-model", false]);
  });
});

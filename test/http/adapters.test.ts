// LoRA adapters as models of the router: which requests use them, next to models of other servers and in batches.

import { describe, expect, test } from "bun:test";
import { fixtureServer, helloStream, modelList } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { until } from "../support/until.ts";
import { hello, messages, serve, type TestServer } from "./harness.ts";

const body = async (response: Response) => (await response.json()) as Record<string, any>;
const lora = [
  { name: "tone", path: "/a/tone.gguf", scale: 0.5 },
  { name: "style", path: "/a/style.gguf", scale: 0 },
];
const [TONE, STYLE] = [[{ id: 0, scale: 0.5 }], [{ id: 1, scale: 1 }]];
const adaptersOf = ({ engine }: TestServer) => engine.requests.map(({ adapters }) => adapters);

async function besideUpstream() {
  const far = fixtureServer(({ path }) => {
    if (path === "/v1/models") return Response.json(modelList("far", "style"));
    return path === "/v1/chat/completions" ? helloStream() : undefined;
  });
  const { gateway } = await remote([far.url], { key: "secret" });
  return { far, server: serve(hello, { lora }, [gateway]) };
}

describe("an adapter's name", () => {
  test("is a model in every API, and the answer reports it", async () => {
    const server = serve(hello, { lora });
    const model = "style";
    expect(await body(await server.chat({ model }))).toMatchObject({ model });
    expect(await body(await server.post("/v1/completions", { model, prompt: "hi" }))).toMatchObject({ model });
    expect(await body(await server.post("/v1/responses", { model, input: "hi" }))).toMatchObject({ model });
    const message = { model, max_tokens: 5, messages };
    expect(await body(await server.post("/v1/messages", message))).toMatchObject({ model });
    expect(await body(await server.post("/api/chat", { model, messages, stream: false }))).toMatchObject({ model });
    expect(adaptersOf(server)).toEqual([STYLE, STYLE, STYLE, STYLE, STYLE]);
  });

  test("is listed with the model that the adapter is for", async () => {
    const server = serve(hello, { lora });
    const { data, models } = await body(await fetch(`${server.url}/v1/models`));
    const { id, ...same } = data.find(({ parent }: { parent?: string }) => parent === undefined);
    const lineage = { parent: id, root: id };
    expect(data).toContainEqual({ ...same, id: "tone", created: 2, ...lineage });
    expect(models.map(({ name }: { name: string }) => name)).toEqual(data.map((model: { id: string }) => model.id));
    expect(await body(await fetch(`${server.url}/v1/models/style`))).toMatchObject({ id: "style", ...lineage });
  });

  test("takes places from the same limit as its model", async () => {
    const server = serve({ steps: [{ wait: new Promise<void>(() => {}) }] }, { lora, parallel: 1, maxQueue: 1 });
    const left = new AbortController();
    for (const model of ["style", "tone"]) {
      void fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, messages }),
        signal: left.signal,
      }).catch(() => {});
    }
    await until(() => server.requests.activeCount === 2);
    expect((await server.chat({ model: "fake-model" })).status).toBe(503);
    left.abort();
    await until(() => server.requests.activeCount === 0);
  });

  test("selects the adapter for a line of a batch, and the answer there reports it", async () => {
    const server = serve(hello, { lora });
    const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body: { model: "style", messages } };
    const upload = await fetch(`${server.url}/v1/files`, { method: "POST", body: `${JSON.stringify(line)}\n` });
    const { id: input_file_id } = await body(upload);
    const job = { input_file_id, endpoint: "/v1/chat/completions" };
    let batch = await body(await server.post("/v1/batches", job));
    for (let tries = 0; batch["status"] !== "completed" && tries < 500; tries++) {
      await Bun.sleep(10);
      batch = await body(await fetch(`${server.url}/v1/batches/${batch["id"]}`));
    }
    const answers = await body(await fetch(`${server.url}/v1/files/${batch["output_file_id"]}/content`));
    expect(answers).toMatchObject({ custom_id: "a", response: { body: { model: "style" } } });
    expect(adaptersOf(server)).toEqual([STYLE]);
  });
});

describe("a request that selects no adapter", () => {
  test.each([{}, { model: "gpt-4o" }, { model: "fake-model" }, { lora: [] }])("%j gets the defaults", async (asked) => {
    const server = serve(hello, { lora });
    expect(await body(await server.chat(asked))).toMatchObject({ model: "fake-model" });
    expect(adaptersOf(server)).toEqual([TONE]);
    expect(server.metrics.calls).toContain("adapter tone");
  });

  test("can switch a default adapter off with a scale of 0", async () => {
    const server = serve(hello, { lora });
    await server.chat({ lora: [{ id: 0, scale: 0 }] });
    expect(adaptersOf(server)).toEqual([[]]);
  });
});

describe("next to models of another server", () => {
  test("an adapter's name has priority over the same name there, which remains available under its server's prefix", async () => {
    const { server, far } = await besideUpstream();
    expect(await body(await server.chat({ model: "style" }))).toMatchObject({ model: "style" });
    expect(adaptersOf(server)).toEqual([STYLE]);
    expect(await body(await server.chat({ model: "up/style" }))).toMatchObject({ model: "up/style" });
    expect(far.asked.at(-1)?.body).toMatchObject({ model: "style" });
    expect(server.engine.requests).toHaveLength(1);
  });

  test("requests to the other server's models get no local adapters, and selecting one is refused", async () => {
    const { server, far } = await besideUpstream();
    expect((await server.chat({ model: "up/far" })).status).toBe(200);
    expect(far.asked.at(-1)?.body).not.toHaveProperty("lora");
    const refused = await server.chat({ model: "up/far", lora: [{ id: 1, scale: 1 }] });
    expect(refused.status).toBe(400);
    expect(await body(refused)).toMatchObject({ error: { code: "unsupported_parameter", param: "lora" } });
    expect(server.metrics.calls.filter((call) => call.startsWith("adapter"))).toEqual([]);
  });
});

describe("POST /lora-adapters", () => {
  test("sets the adapters for requests that select none, and switches off those that it leaves out", async () => {
    const server = serve(hello, { lora });
    const set = async (scales: unknown) => (await server.post("/lora-adapters", scales)).status;
    expect(await set([{ id: 1, scale: 0.25 }])).toBe(200);
    await server.chat({});
    expect(await set([])).toBe(200);
    await server.chat({});
    await server.chat({ lora: [{ id: 0, scale: 2 }] });
    expect(adaptersOf(server)).toEqual([[{ id: 1, scale: 0.25 }], [], [{ id: 0, scale: 2 }]]);
    const listed = (await (await fetch(`${server.url}/lora-adapters`)).json()) as { scale: number }[];
    expect(listed.map(({ scale }) => scale)).toEqual([0, 0]);
  });

  test.each([
    [[{ id: 2, scale: 1 }], "0.id"],
    [
      [
        { id: 0, scale: 1 },
        { id: 0, scale: 1 },
      ],
      "1.id",
    ],
    [[{ id: 0 }], "0.scale"],
  ])("%j is refused with the name of the field", async (scales, param) => {
    const response = await serve(hello, { lora }).post("/lora-adapters", scales);
    expect([response.status, (await body(response))["error"].param]).toEqual([400, param]);
  });

  test("is refused for other machines", async () => {
    const server = serve(hello, { lora, allowedHosts: ["nas"] });
    expect((await server.post("/lora-adapters", [], { host: "nas" })).status).toBe(403);
    // A proxy on this machine that replaces Host, or passes the Host that its client chose.
    for (const added of [{ "x-forwarded-for": "192.0.2.1" }, { "x-forwarded-proto": "https" }]) {
      expect((await server.post("/lora-adapters", [], added)).status).toBe(403);
    }
  });
});

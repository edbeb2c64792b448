// Embeddings of upstream models, requested from svc.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { fixtureServer, modelList, type Asked, type FixtureServer } from "./fixture-server.ts";
import { remote } from "./remote.ts";

setDefaultTimeout(60_000);

const MODEL = "bge-m3";
const body = async (response: Response) => (await response.json()) as Record<string, any>;

/** Not of length 1, so that a test can see whether the vectors were changed. */
const VECTORS = [
  [0.1, -2.5, 3],
  [4, 5e-7, 6],
];

const vectors = ({ body: { input } }: Asked) => {
  const count = Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
  const data = VECTORS.slice(0, count).map((embedding, index) => ({ object: "embedding", index, embedding }));
  return Response.json({ object: "list", data, model: MODEL, usage: { prompt_tokens: 7, total_tokens: 7 } });
};

type Answer = (asked: Asked, request: Request) => Response | Promise<Response>;

/** Starts an OpenAI-compatible server with an embedding model and a chat model. */
const embeddingServer = (answer: Answer = vectors, port?: number) =>
  fixtureServer((asked, request) => {
    if (asked.path === "/v1/models") return Response.json(modelList("far", MODEL));
    return asked.path === "/v1/embeddings" ? answer(asked, request) : undefined;
  }, port);

const embeddingsAsked = ({ asked }: FixtureServer) => asked.filter(({ path }) => path === "/v1/embeddings");

async function behind(...servers: readonly FixtureServer[]) {
  const far = await remote(servers.map(({ url }) => url));
  return { ...far, server: serve(undefined, {}, [far.gateway]) };
}

describe("an embedding model of an upstream", () => {
  test("is listed as one, and returns unchanged vectors under its listed name and the name without prefix", async () => {
    const far = embeddingServer();
    const { server } = await behind(far);
    const { models } = await body(await fetch(`${server.url}/v1/models`));
    expect(models).toContainEqual({ name: `up/${MODEL}`, model: `up/${MODEL}`, capabilities: ["embeddings"] });
    for (const model of [`up/${MODEL}`, MODEL]) {
      const answer = await server.post("/v1/embeddings", { model, input: ["a", "b"] }, { "x-request-id": "mine" });
      expect(await body(answer)).toEqual({
        object: "list",
        data: VECTORS.map((embedding, index) => ({ object: "embedding", index, embedding })),
        model: `up/${MODEL}`,
        usage: { prompt_tokens: 7, total_tokens: 7 },
      });
    }
    const [asked] = embeddingsAsked(far);
    expect(asked?.body).toEqual({ model: MODEL, input: ["a", "b"], encoding_format: "float" });
    expect([asked?.headers.get("x-request-id"), asked?.headers.get("via")]).toEqual(["mine", "1.1 svc"]);
    expect(server.embedders[0]?.asked).toEqual([]);
  });

  test.each([
    ["a text", "a"],
    ["token ids", [[5, 6]]],
    ["several arrays of them", [[5, 6], [7]]],
  ])("receives %s", async (_, input) => {
    const far = embeddingServer();
    const { server } = await behind(far);
    const answer = await server.post("/v1/embeddings", { model: MODEL, input });
    expect(answer.status).toBe(200);
    expect(embeddingsAsked(far)[0]?.body["input"]).toEqual(input);
  });

  test("returns base64, and vectors in the order of their inputs", async () => {
    const far = embeddingServer(() =>
      Response.json({ data: VECTORS.map((embedding, index) => ({ index, embedding })).toReversed() }),
    );
    const { server } = await behind(far);
    const { data } = await body(
      await server.post("/v1/embeddings", { model: MODEL, input: ["a", "b"], encoding_format: "base64" }),
    );
    const decoded = data.map(({ embedding }: { embedding: string }) => {
      const bytes = Buffer.from(embedding, "base64");
      return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
    });
    expect(decoded).toEqual(VECTORS.map((vector) => [...Float32Array.from(vector)]));
    expect(embeddingsAsked(far)[0]?.body["encoding_format"]).toBe("float");
  });

  test("receives the dimensions: longer vectors are truncated by svc, and dimensions that it lacks are 400", async () => {
    const far = embeddingServer();
    const { server } = await behind(far);
    const ask = (dimensions: number) => server.post("/v1/embeddings", { model: MODEL, input: "a", dimensions });
    const { data } = await body(await ask(2));
    const length = Math.hypot(0.1, -2.5);
    expect(data[0].embedding[0]).toBeCloseTo(0.1 / length, 6);
    expect(data[0].embedding[1]).toBeCloseTo(-2.5 / length, 6);
    expect(data[0].embedding).toHaveLength(2);
    expect((await body(await ask(3)))["data"][0].embedding).toEqual(VECTORS[0]);
    const more = await ask(4);
    expect([more.status, (await body(more))["error"].param]).toEqual([400, "dimensions"]);
    expect(embeddingsAsked(far).map(({ body: { dimensions } }) => dimensions)).toEqual([2, 3, 4]);
  });

  test("is refused an answer that contains more than the vectors of its inputs", async () => {
    const bodies = [`{"data":[${"[],".repeat(100_000)}[]]}`, `{"data":"${"a".repeat(2_000_000)}"}`];
    const far = embeddingServer(() => new Response(bodies.pop(), { headers: { "content-type": "application/json" } }));
    const { server } = await behind(far);
    for (let left = bodies.length; left > 0; left--) {
      const refused = await server.post("/v1/embeddings", { model: MODEL, input: "a" });
      expect([refused.status, (await body(refused))["error"].code]).toEqual([502, "upstream_error"]);
    }
  });

  test("receives fields of its own kind of server, while those of other kinds are refused by name", async () => {
    const own = { truncate_prompt_tokens: 5, use_activation: false };
    const vllm = fixtureServer((asked) =>
      asked.path === "/v1/models"
        ? Response.json({ data: [{ id: MODEL, owned_by: "vllm" }] })
        : asked.path === "/v1/embeddings"
          ? vectors(asked)
          : undefined,
    );
    const far = await behind(vllm);
    expect((await far.server.post("/v1/embeddings", { model: MODEL, input: "a", ...own })).status).toBe(200);
    expect(embeddingsAsked(vllm)[0]?.body).toMatchObject(own);
    const { server } = await behind(embeddingServer());
    for (const model of [MODEL, "fake-embedding"]) {
      const refused = await server.post("/v1/embeddings", { model, input: "a", ...own });
      expect([refused.status, (await body(refused))["error"]]).toMatchObject([
        400,
        { code: "unsupported_parameter", param: "truncate_prompt_tokens" },
      ]);
    }
  });

  test("may have any name when the server does not report capabilities", async () => {
    const { server } = await behind(embeddingServer());
    expect((await server.post("/v1/embeddings", { model: "up/far", input: "a" })).status).toBe(200);
  });

  test("is 404 when unknown, without a request to any upstream", async () => {
    const far = embeddingServer();
    const { server } = await behind(far);
    for (const model of ["up/other", "other/far", "up/", "/", "nobody"]) {
      const refused = await server.post("/v1/embeddings", { model, input: "a" });
      expect([refused.status, (await body(refused))["error"].code]).toEqual([404, "model_not_found"]);
    }
    expect(embeddingsAsked(far)).toEqual([]);
    expect((await server.post("/v1/rerank", { model: MODEL, query: "a", documents: ["b"] })).status).toBe(404);
  });

  test("is not available to another svc, which should ask the upstream itself", async () => {
    const { server } = await behind(embeddingServer());
    const looped = await server.post("/v1/embeddings", { model: MODEL, input: "a" }, { via: "1.1 svc" });
    expect([looped.status, (await body(looped))["error"].code]).toEqual([508, "loop_detected"]);
    expect((await server.post("/v1/embeddings", { input: "a" }, { via: "1.1 svc" })).status).toBe(200);
  });

  test("has places of its own", async () => {
    const gate = Promise.withResolvers<void>();
    const far = embeddingServer((asked) => gate.promise.then(() => vectors(asked)));
    const { server } = await behind(far);
    const waiting = Array.from({ length: 20 }, () => server.post("/v1/embeddings", { model: MODEL, input: "a" }));
    await until(() => embeddingsAsked(far).length === 20);
    expect((await server.post("/v1/embeddings", { input: "a" })).status).toBe(200);
    gate.resolve();
    for (const response of await Promise.all(waiting)) expect(response.status).toBe(200);
  });

  test("is sent a disconnect when the client disconnects", async () => {
    const far = embeddingServer(() => new Promise<Response>(() => {}));
    const { server, replicas } = await behind(far);
    const leave = new AbortController();
    const asked = fetch(`${server.url}/v1/embeddings`, {
      method: "POST",
      body: JSON.stringify({ model: MODEL, input: "a" }),
      signal: leave.signal,
    }).catch(() => "left");
    await until(() => embeddingsAsked(far).length === 1);
    leave.abort();
    expect(await asked).toBe("left");
    await until(() => far.left.length === 1 && replicas[0]?.inFlight === 0);
    expect(replicas[0]?.isWell).toBe(true);
  });
});

test("a silent upstream times out, and its request is ended", async () => {
  const far = embeddingServer(() => new Promise<Response>(() => {}));
  const { gateway } = await remote([far.url], { silenceMs: 200 });
  const server = serve(undefined, {}, [gateway]);
  const answer = await server.post("/v1/embeddings", { model: MODEL, input: "a" });
  expect([answer.status, (await body(answer))["error"].code]).toEqual([503, "upstream_unavailable"]);
  await until(() => far.left.length === 1);
});

describe("a failure of the upstream", () => {
  const failing = (error: object, status: number, headers = {}) =>
    embeddingServer(() => Response.json({ error: { ...error, message: "private words" } }, { status, headers }));
  const llamaCpp = "input (600 tokens) is too large to process. increase the physical batch size";

  test.each([
    ["a field that it refuses", failing, [{ param: "dimensions" }, 400], 400, "invalid_value", "dimensions"],
    ["an input too long", failing, [{ code: "exceed_context_size" }, 400], 400, "context_length_exceeded", "input"],
    ["a key that it does not take", failing, [{}, 401], 502, "upstream_error", null],
    ["a model that it does not have", failing, [{}, 404], 404, "model_not_found", "model"],
    ["a model that gives no vectors", failing, [{}, 501], 400, "unsupported_parameter", "model"],
    ["being busy", failing, [{}, 503, { "retry-after": "7" }], 503, "server_busy", null],
    ["a bug", failing, [{}, 500], 502, "upstream_error", null],
  ] as const)("%s becomes ours, without its words", async (_, start, args, status, code, param) => {
    const { server } = await behind(start(...(args as unknown as Parameters<typeof failing>)));
    const answer = await server.post("/v1/embeddings", { model: MODEL, input: "a" });
    const text = await answer.text();
    expect([answer.status, JSON.parse(text).error.code, JSON.parse(text).error.param]).toEqual([status, code, param]);
    expect(text).not.toContain("private");
    if (status === 503) expect(answer.headers.get("retry-after")).toBe("7");
  });

  test("errors of a client's request do not mark an upstream as failed", async () => {
    let status = 500;
    const far = embeddingServer(() => Response.json({ error: { code: 500, message: llamaCpp } }, { status }));
    const { server, replicas } = await behind(far);
    for (status of [500, 500, 501, 501, 501]) {
      expect((await server.post("/v1/embeddings", { model: MODEL, input: "a" })).status).toBe(400);
    }
    expect(replicas[0]?.isWell).toBe(true);
  });

  test.each([
    ["no JSON", () => new Response("oops", { headers: { "content-type": "application/json" } })],
    ["nothing", () => new Response("", { headers: { "content-type": "application/json" } })],
    ["a vector too few", () => Response.json({ data: [{ index: 0, embedding: [1] }] })],
    ["a text", () => Response.json({ data: [{ embedding: "AAAA" }, { embedding: "AAAA" }] })],
    ["other lengths", () => Response.json({ data: [{ embedding: [1] }, { embedding: [1, 2] }] })],
    ["holes", () => Response.json({ data: [{ embedding: [1] }, { embedding: [null] }] })],
    [
      "an index too far",
      () =>
        Response.json({
          data: [
            { index: 0, embedding: [1] },
            { index: 9, embedding: [1] },
          ],
        }),
    ],
  ])("an answer with %s is 502", async (_, answer) => {
    const { server } = await behind(embeddingServer(answer));
    const response = await server.post("/v1/embeddings", { model: MODEL, input: ["a", "b"] });
    expect([response.status, (await body(response))["error"].code]).toEqual([502, "upstream_error"]);
  });

  test.each([
    ["without vectors", { data: [] }, 502],
    ["that reports an error", { error: { code: 503, message: "private words" } }, 503],
  ])("an answer %s does not mark the upstream, which may also chat, as failed", async (_, answer, status) => {
    const { server, replicas } = await behind(embeddingServer(() => Response.json(answer)));
    const three = ["a", "b", "c"].map((input) => server.post("/v1/embeddings", { model: MODEL, input }));
    for (const answer of three) expect((await answer).status).toBe(status);
    expect(replicas[0]?.isWell).toBe(true);
  });

  test("another replica takes over for one that died, and the loss of both is reported", async () => {
    const servers = [embeddingServer(), embeddingServer()] as const;
    const { server, replicas } = await behind(...servers);
    const ask = (input: string) => server.post("/v1/embeddings", { model: MODEL, input });
    for (const input of "abcdefghijklmnopqrstuvwxyz") expect((await ask(input)).status).toBe(200);
    expect(Math.min(...servers.map((one) => embeddingsAsked(one).length))).toBeGreaterThan(0);
    await servers[0].stop();
    for (const input of "abcdefghijklmnopqrstuvwxyz") expect((await ask(input)).status).toBe(200);
    expect(replicas[0]?.isWell).toBe(false);
    await servers[1].stop();
    const gone = await ask("a");
    expect([gone.status, (await body(gone))["error"].code]).toEqual([503, "upstream_unavailable"]);
    expect(gone.headers.get("retry-after")).not.toBeNull();
  });
});

describe("an upstream with only Ollama's API", () => {
  const name = "nomic-embed-text:latest";
  const ollama = () =>
    fixtureServer(({ path, body: asked }) => {
      if (path === "/api/tags") return Response.json({ models: [{ name }, { name: "llama3:latest" }] });
      if (path === "/api/ps") return Response.json({ models: [] });
      if (path === "/api/show") {
        return Response.json({ capabilities: [asked["model"] === name ? "embedding" : "completion"] });
      }
      if (path !== "/api/embed") return undefined;
      const embeddings = VECTORS.slice(0, (asked["input"] as string[]).length);
      return Response.json({ model: name, embeddings, prompt_eval_count: 9 });
    });

  test("receives texts at /api/embed", async () => {
    const far = ollama();
    const { server } = await behind(far);
    const answer = await server.post("/v1/embeddings", { model: "nomic-embed-text", input: ["a", "b"], dimensions: 3 });
    expect(await body(answer)).toMatchObject({
      data: VECTORS.map((embedding) => ({ embedding })),
      model: `up/${name}`,
      usage: { prompt_tokens: 9 },
    });
    expect(far.asked.at(-1)).toMatchObject({
      path: "/api/embed",
      body: { model: name, input: ["a", "b"], dimensions: 3 },
    });
  });

  test("is told that texts must not be truncated, as an svc is", async () => {
    const far = ollama();
    const { server } = await behind(far);
    expect((await server.post("/v1/embeddings", { model: name, input: "a", truncate: false })).status).toBe(200);
    expect(far.asked.find(({ path }) => path === "/api/embed")?.body["truncate"]).toBe(false);
    const near = await behind({ url: serve().url } as FixtureServer);
    const long = { model: "up/fake-embedding", input: "x".repeat(40) };
    expect((await near.server.post("/v1/embeddings", long)).status).toBe(200);
    const refused = await near.server.post("/v1/embeddings", { ...long, truncate: false });
    expect([refused.status, (await body(refused))["error"].code]).toEqual([400, "context_length_exceeded"]);
  });

  /** Starts a server that makes each text, a number, a vector. */
  const numbering = (vectorOf: (number: number) => readonly number[]) =>
    fixtureServer(({ path, body: asked }) => {
      if (path === "/api/tags") return Response.json({ models: [{ name, capabilities: ["embedding"] }] });
      if (path !== "/api/embed") return undefined;
      const embeddings = (asked["input"] as string[]).map((text) => vectorOf(Number(text)));
      return Response.json({ model: name, embeddings, prompt_eval_count: embeddings.length });
    });

  test("receives the many texts of an /api/embed in parts, whose vectors are joined in order", async () => {
    const far = numbering((number) => [number, 1]);
    const { server } = await behind(far);
    const input = Array.from({ length: 5000 }, (_, at) => String(at));
    const answer = await body(await server.post("/api/embed", { model: name, input }));
    expect(answer["embeddings"]).toEqual(input.map((text) => [Number(text), 1]));
    expect(answer["prompt_eval_count"]).toBe(5000);
    const sizes = far.asked.filter(({ path }) => path === "/api/embed").map(({ body: sent }) => sent["input"]);
    expect(sizes.map((texts) => (texts as string[]).length)).toEqual([2048, 2048, 904]);
  });

  test("whose vectors of one part are longer than those of another is 502", async () => {
    const { server } = await behind(numbering((number) => (number < 2048 ? [1] : [1, 2])));
    const input = Array.from({ length: 2049 }, (_, at) => String(at));
    expect((await server.post("/api/embed", { model: name, input })).status).toBe(502);
  });

  test("does not accept token ids, and reports what its models are for", async () => {
    const { server } = await behind(ollama());
    const ids = await server.post("/v1/embeddings", { model: name, input: [1, 2] });
    expect([ids.status, (await body(ids))["error"]]).toMatchObject([
      400,
      { code: "unsupported_parameter", param: "input" },
    ]);
    expect((await server.post("/v1/embeddings", { model: "up/llama3:latest", input: "a" })).status).toBe(404);
  });
});

test("an svc upstream reports how many inputs it truncated", async () => {
  const near = serve();
  const { server } = await behind({ url: near.url } as FixtureServer);
  const answer = await server.post("/v1/embeddings", { model: "up/fake-embedding", input: ["short", "x".repeat(40)] });
  expect([answer.status, answer.headers.get("x-embedding-truncated")]).toEqual([200, "1"]);
  expect(near.embedders[0]?.asked).toHaveLength(1);
  expect(server.embedders[0]?.asked).toHaveLength(0);
});

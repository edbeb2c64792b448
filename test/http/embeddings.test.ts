import { describe, expect, test } from "bun:test";
import { EmbeddingList, RerankList } from "../../src/contract/embeddings.ts";
import { checker } from "../../src/contract/schema.ts";
import { FAKE_MAX_TOKENS } from "../support/fake-embedding-engine.ts";
import { errorOf } from "../support/fault.ts";
import { serve } from "./harness.ts";

const checkList = checker(EmbeddingList);
const checkRerank = checker(RerankList);
const long = "x".repeat(FAKE_MAX_TOKENS + 1);

describe("POST /v1/embeddings", () => {
  test.each([
    ["a text", "hello", ["hello"]],
    ["texts", ["a", "bc"], ["a", "bc"]],
    ["token ids", [5, 6, 7], [[5, 6, 7]]],
    ["arrays of token ids", [[1], [2, 3]], [[1], [2, 3]]],
  ])("takes %s", async (_, input, inputs) => {
    const { post, embedders } = serve();
    const response = await post("/v1/embeddings", { input, user: "someone", model: null, dimensions: null });
    const body = checkList(await response.json());
    expect(response.status).toBe(200);
    expect(embedders[0]?.asked).toEqual([{ kind: "embed", inputs }]);
    expect(body.data.map(({ object, index }) => [object, index])).toEqual(
      inputs.map((_one, index) => ["embedding", index]),
    );
    const tokens = inputs.reduce((sum: number, one) => sum + one.length, 0);
    expect(body).toMatchObject({ model: "fake-embedding", usage: { prompt_tokens: tokens, total_tokens: tokens } });
    expect(response.headers.get("x-embedding-truncated")).toBeNull();
  });

  test("base64 has the same numbers as float, in little-endian single precision", async () => {
    const { post } = serve();
    const ask = async (encoding_format?: string) =>
      checkList(await (await post("/v1/embeddings", { input: ["hello", "hi"], encoding_format })).json()).data;
    const floats = (await ask("float")).map(({ embedding }) => embedding as number[]);
    expect(await ask()).toEqual(await ask("float"));
    const decoded = (await ask("base64")).map(({ embedding }) => {
      const bytes = Buffer.from(embedding as string, "base64");
      return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
    });
    expect(decoded).toEqual(floats);
  });

  test("dimensions shorten a vector to its first numbers and scale it back to length 1 unless it is zero", async () => {
    const { post, embedders } = serve();
    const [engine = expect.unreachable()] = embedders;
    const ask = async (dimensions: number) =>
      checkList(await (await post("/v1/embeddings", { input: "hello", dimensions })).json()).data[0]?.embedding;
    expect(await ask(2)).toEqual([expect.closeTo(0.6, 6), expect.closeTo(0.8, 6)]);
    engine.vectorOf = () => [0, 0, 0, 1];
    expect(await ask(2)).toEqual([0, 0]);
    expect(await ask(4)).toEqual([0, 0, 0, 1]);
    expect(engine.asked).toMatchObject([{ dimensions: 2 }, { dimensions: 2 }, { dimensions: 4 }]);
  });

  test.each([true, false])(
    "more dimensions than there are are refused, before any computation if their number is known: %s",
    async (knowsSize) => {
      const { post, embedders } = serve();
      const [engine = expect.unreachable()] = embedders;
      engine.knowsSize = knowsSize;
      const response = await post("/v1/embeddings", { input: "a", dimensions: 5 });
      const { code, param, message } = await errorOf(response);
      expect([response.status, code, param]).toEqual([400, "invalid_value", "dimensions"]);
      expect(message).toContain("from 1 to 4");
      expect(engine.asked).toHaveLength(knowsSize ? 0 : 1);
    },
  );

  test.each([{ truncate: false }, { truncate: "NONE" }, { truncation: false }])(
    "inputs that are too long are refused on request, before anything is computed: %j",
    async (field) => {
      const { post } = serve();
      const refused = await post("/v1/embeddings", { input: ["short", long], ...field });
      const { code, param, message } = await errorOf(refused);
      expect([refused.status, code, param]).toEqual([400, "context_length_exceeded", "input"]);
      expect(message).toContain(`at most ${FAKE_MAX_TOKENS} tokens for this model; number 1`);
      expect((await post("/v1/embeddings", { input: "short", ...field })).status).toBe(200);
    },
  );

  test("names of other APIs mean the same, and what they would change is refused by name", async () => {
    const { post } = serve();
    const ask = async (more: object) => (await post("/v1/embeddings", { input: "hello", ...more })).json();
    const own = await ask({ dimensions: 2, encoding_format: "base64" });
    expect(
      await ask({ output_dimension: 2, embedding_type: "base64", output_dtype: "float", normalized: true }),
    ).toEqual(own);
    for (const [field, value] of Object.entries({ output_dtype: "int8", normalized: false, late_chunking: true })) {
      const refused = await post("/v1/embeddings", { input: "hello", [field]: value });
      const { code, param } = await errorOf(refused);
      expect([refused.status, code, param]).toEqual([400, "unsupported_parameter", field]);
    }
  });

  test("a header says how many inputs were truncated, and web pages can read it", async () => {
    const { post } = serve();
    const headers = { origin: "http://localhost:5173" };
    for (const [path, body] of Object.entries({
      "/api/embed": { input: [long, "short"] },
      "/api/embeddings": { prompt: long },
    })) {
      expect((await post(path, body)).headers.get("x-embedding-truncated")).toBe("1");
    }
    const response = await post("/v1/embeddings", { input: ["short", long, long] }, headers);
    expect(response.headers.get("x-embedding-truncated")).toBe("2");
    expect(response.headers.get("access-control-expose-headers")).toContain("X-Embedding-Truncated");
    const { usage } = checkList(await response.json());
    expect(usage.prompt_tokens).toBe(5 + 2 * FAKE_MAX_TOKENS);
  });

  test.each([
    ["no input", {}, "input"],
    ["null", { input: null }, "input"],
    ["an empty text", { input: "" }, "input"],
    ["a blank text", { input: " \n\t" }, "input"],
    ["a blank text among others", { input: ["a", "  "] }, "input.1"],
    ["no texts", { input: [] }, "input"],
    ["no token ids", { input: [[]] }, "input"],
    ["negative token ids", { input: [-1] }, "input"],
    ["fractions of token ids", { input: [1.5] }, "input"],
    ["texts and token ids", { input: ["a", 1] }, "input"],
    ["too many inputs", { input: Array.from({ length: 2049 }, () => "a") }, "input"],
    ["an object", { input: { text: "a" } }, "input"],
    ["another encoding", { input: "a", encoding_format: "hex" }, "encoding_format"],
    ["no dimension", { input: "a", dimensions: 0 }, "dimensions"],
    ["half a dimension", { input: "a", dimensions: 1.5 }, "dimensions"],
    ["a number for a model", { input: "a", model: 7 }, "model"],
  ])("%s is 400 and names the field", async (_, body, param) => {
    const response = await serve().post("/v1/embeddings", body);
    const error = await errorOf(response);
    expect([response.status, error.type]).toEqual([400, "invalid_request_error"]);
    expect(error.param?.startsWith(param)).toBe(true);
    expect(error.message).toContain(param.split(".")[0] ?? "");
  });

  test("too many lists of token ids are refused as such", async () => {
    const { message } = await errorOf(
      await serve().post("/v1/embeddings", { input: Array.from({ length: 2049 }, () => [1]) }),
    );
    expect(message).toBe("'input' must be an array of 1 to 2048 arrays; got an array of length 2049.");
  });

  test("an unknown model is 404, and so is a reranker", async () => {
    const { post } = serve();
    for (const model of ["text-embedding-nobody", "fake-reranker", "fake-model"]) {
      const response = await post("/v1/embeddings", { input: "a", model });
      const error = await errorOf(response);
      expect([response.status, error.code, error.param]).toEqual([404, "model_not_found", "model"]);
      expect(error.message).not.toContain("nobody");
    }
  });

  test("more than 8 MiB is 413 while it is read, and a thousand texts of a thousand letters are less", async () => {
    const { post } = serve();
    const response = await post("/v1/embeddings", { input: "x".repeat(8 * 1024 * 1024) });
    expect([response.status, (await errorOf(response)).code]).toEqual([413, "payload_too_large"]);
    const texts = Array.from({ length: 2000 }, () => "x".repeat(1100));
    expect((await post("/v1/embeddings", { input: texts })).status).toBe(200);
    for (const body of [{ documents: texts }, { texts }]) {
      expect((await post("/v1/rerank", { query: "x", ...body })).status).toBe(200);
    }
  });

  test("vectors of more numbers than one answer may hold are refused before they are computed", async () => {
    const { post, embedders } = serve();
    const [engine] = embedders;
    if (engine) engine.dimensions = 2 ** 14;
    const response = await post("/api/embed", { input: Array.from({ length: 1025 }, () => "a") });
    expect([response.status, engine?.asked]).toEqual([400, []]);
    expect(((await response.json()) as { error: string }).error).toContain("at most 1024 texts for this model");
  });

  test("neither inputs nor vectors are logged", async () => {
    const { post, log } = serve();
    await post("/v1/embeddings", { input: "a very private sentence" });
    await post("/v1/embeddings", { input: ["another private one", 5] });
    expect(log.lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(log.lines)).not.toContain("private");
    expect(log.lines.find(({ fields }) => fields["status"] === 200)?.fields).toMatchObject({
      model: "fake-embedding",
      prompt: 23,
    });
  });
});

test.each([
  ["/v1/embeddings", { input: "hello", truncate: false }, { input: long, truncate: false }],
  ["/api/embed", { input: "hello", truncate: false }, { input: long, truncate: false }],
  ["/v1/rerank", { query: "h", texts: ["hello"], truncate: false }, { query: "h", texts: [long], truncate: false }],
])("the log line of %s says which model and replica answered, and how", async (path, body, tooLong) => {
  const { post, log, embedders } = serve();
  for (const one of embedders) one.servedBy = { replica: "first", retries: 2 };
  const model = path === "/v1/rerank" ? "fake-reranker" : "fake-embedding";
  expect((await post(path, body)).status).toBe(200);
  expect((await post(path, tooLong)).status).toBe(400);
  const lines = log.lines.filter(({ message }) => message === "request").map(({ fields }) => fields);
  expect(lines).toMatchObject([
    { model, finish: "stop", replica: "first", retries: 2, prompt: expect.any(Number) },
    { model, finish: "context_length_exceeded" },
  ]);
});

describe("POST /v1/rerank", () => {
  const documents = ["grass", "blue sky", { text: "sky" }];

  test("returns the documents sorted by score, the best first", async () => {
    const { post, embedders } = serve();
    const response = await post("/v1/rerank", { query: "blue sky", documents, return_documents: true });
    const body = checkRerank(await response.json());
    expect(embedders[1]?.asked).toEqual([{ kind: "rank", query: "blue sky", documents: ["grass", "blue sky", "sky"] }]);
    expect(body.results.map(({ index }) => index)).toEqual([1, 2, 0]);
    expect(body.results[0]?.document).toEqual({ text: "blue sky" });
    const scores = body.results.map(({ relevance_score }) => relevance_score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(body).toMatchObject({
      object: "list",
      model: "fake-reranker",
      usage: { prompt_tokens: 16, total_tokens: 16 },
    });
  });

  test("is answered alike on the path of Cohere's clients, whose other fields are refused unless null", async () => {
    const { post } = serve();
    const none = { max_tokens_per_doc: null, max_chunks_per_doc: null, rank_fields: null, priority: 0 };
    const asked = { model: "fake-reranker", query: "blue sky", documents: ["grass", "blue sky"], ...none };
    const answers = ["/v1/rerank", "/v2/rerank"].map(async (path) => (await post(path, asked)).text());
    const [first = "", second] = await Promise.all(answers);
    expect(second).toBe(first);
    expect(checkRerank(JSON.parse(first)).results.map(({ index }) => index)).toEqual([1, 0]);
    for (const [field, value] of Object.entries({
      max_chunks_per_doc: 10,
      rank_fields: ["text"],
      relevant_spans: { max_spans: 1 },
    })) {
      const response = await post("/v2/rerank", { ...asked, [field]: value });
      const { code, param } = await errorOf(response);
      expect([response.status, code, param]).toEqual([400, "unsupported_parameter", field]);
    }
  });

  test("top_n limits the answer to the best documents", async () => {
    const asked = { query: "blue sky", documents: ["grass", "blue sky"], top_n: 1 };
    const { results } = checkRerank(await (await serve().post("/v1/rerank", asked)).json());
    expect(results.map(({ index, document }) => [index, document])).toEqual([[1, undefined]]);
  });

  test("top_k is another name for it, and raw_scores false returns scores from 0 to 1", async () => {
    const asked = { query: "blue sky", documents: ["grass", "blue sky"], top_k: 1, raw_scores: false };
    const { results } = checkRerank(await (await serve().post("/v1/rerank", asked)).json());
    expect(results).toHaveLength(1);
    expect(results[0]?.relevance_score).toBeGreaterThan(0.5);
    expect(results[0]?.relevance_score).toBeLessThan(1);
  });

  test("scores that are probabilities stay as they are", async () => {
    const { post, embedders } = serve();
    if (embedders[1]) embedders[1].probabilities = [0.25, 0.75];
    for (const raw_scores of [true, false]) {
      const response = await post("/v1/rerank", { query: "blue sky", documents: ["grass", "sky"], raw_scores });
      const { results } = checkRerank(await response.json());
      expect(results.map(({ relevance_score }) => relevance_score)).toEqual([0.75, 0.25]);
    }
  });

  test("`texts` are answered as text-embeddings-inference does: a list, with scores from 0 to 1", async () => {
    const server = serve();
    const ask = async (more: object) =>
      (await (
        await server.post("/v1/rerank", { query: "blue sky", texts: ["grass", "blue sky"], ...more })
      ).json()) as {
        index: number;
        score: number;
        text?: string;
      }[];
    const scores = await ask({});
    expect(scores.map(({ index }) => index)).toEqual([1, 0]);
    for (const { score } of scores) expect(score > 0 && score < 1).toBe(true);
    const raw = await ask({ raw_scores: true, return_text: true });
    expect(raw.map(({ text }) => text)).toEqual(["blue sky", "grass"]);
    expect(raw[0]?.score).toBeCloseTo(Math.log((scores[0]?.score ?? 0) / (1 - (scores[0]?.score ?? 0))), 5);
  });

  test.each([
    ["no query", { documents }, "query", 400],
    ["a blank query", { query: " ", documents }, "query", 400],
    ["no documents", { query: "a" }, "documents", 400],
    ["an empty list", { query: "a", documents: [] }, "documents", 400],
    ["a number", { query: "a", documents: [1] }, "documents", 400],
    ["top_n of 0", { query: "a", documents, top_n: 0 }, "top_n", 400],
    ["another model", { query: "a", documents, model: "fake-embedding" }, "model", 404],
  ])("%s is refused and named", async (_, body, param, status) => {
    const response = await serve().post("/v1/rerank", body);
    const error = await errorOf(response);
    expect([response.status, error.param?.split(".")[0]]).toEqual([status, param]);
  });
});

test("models for embeddings are listed before they are loaded", async () => {
  const { url, post } = serve();
  const list = async () => (await (await fetch(`${url}/v1/models`)).json()) as { data: object[]; models: object[] };
  const before = await list();
  const entry = {
    id: "fake-embedding",
    object: "model",
    owned_by: "svc",
    created: 1_700_000_000,
    n_ctx: FAKE_MAX_TOKENS,
  };
  expect(before.data[1]).toMatchObject({ ...entry, loaded: false, status: { value: "unloaded" } });
  expect(before.models.slice(1, 3)).toMatchObject([
    { name: "fake-embedding", capabilities: ["embeddings"] },
    { name: "fake-reranker", capabilities: ["rerank"] },
  ]);
  await post("/v1/embeddings", { input: "a" });
  expect((await list()).data[1]).toMatchObject({ ...entry, loaded: true, status: { value: "loaded" } });
  expect((await fetch(`${url}/v1/models/fake-embedding`)).status).toBe(200);
});

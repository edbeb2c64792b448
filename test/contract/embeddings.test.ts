// The answers of /v1/embeddings and /v1/rerank, byte for byte. Requests and answers match the published schemas and
// together contain all of their fields.

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "bun:test";
import { FAKE_MAX_TOKENS } from "../support/fake-embedding-engine.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { schemaFields, valueFields, type FieldSchema } from "../support/schema-fields.ts";

interface Refusal {
  readonly body: unknown;
  readonly status: number;
  /** Set when the request matches the schema, because its error is detected later. */
  readonly isShaped?: true;
}

interface Route {
  readonly answered: Readonly<Record<string, object>>;
  readonly refused: Readonly<Record<string, Refusal>>;
  /** Fields of a request as the contract names them, and the required ones. */
  readonly fields: readonly string[];
  readonly required: readonly string[];
}

const id = { "x-request-id": "golden" };
const long = "x".repeat(FAKE_MAX_TOKENS + 1);
const input = 'Grüße, "世界" 👋';
const query = "blue sky";

const routes: Readonly<Record<string, Route>> = {
  embeddings: {
    answered: {
      text: { input },
      texts: { input: [input, "the sky"], model: "fake-embedding", encoding_format: "float" },
      "token-ids": { input: [101, 7592, 102] },
      "token-id-lists": {
        input: [[101, 102], [101]],
        model: null,
        encoding_format: null,
        dimensions: null,
        user: null,
      },
      base64: { input: [input, "the sky"], encoding_format: "base64", user: "someone" },
      dimensions: { input, dimensions: 2 },
      truncated: { input: ["short", long] },
      "other-names": { input, output_dimension: 2, embedding_type: "base64", truncate: "NONE", truncation: true },
    },
    refused: {
      missing: { body: {}, status: 400 },
      type: { body: { input: 5 }, status: 400 },
      mixed: { body: { input: ["a", 5] }, status: 400 },
      size: { body: { input: Array.from({ length: 2049 }, () => "a") }, status: 400 },
      nothing: { body: { input: "" }, status: 400 },
      blank: { body: { input: ["a", " \n"] }, status: 400, isShaped: true },
      encoding: { body: { input, encoding_format: "int8" }, status: 400 },
      "no-dimensions": { body: { input, dimensions: 0 }, status: 400 },
      dimensions: { body: { input, dimensions: 5 }, status: 400, isShaped: true },
      model: { body: { input, model: "nobody" }, status: 404, isShaped: true },
      long: { body: { input: ["a", long], truncate: false }, status: 400, isShaped: true },
      bits: { body: { input, embedding_type: "binary" }, status: 400 },
      large: { body: { input: "x".repeat(8 * 1024 * 1024) }, status: 413, isShaped: true },
    },
    fields: [
      "dimensions",
      "embedding_type",
      "encoding_format",
      "input",
      "model",
      "output_dimension",
      "truncate",
      "truncation",
      "user",
    ],
    required: ["input"],
  },
  rerank: {
    answered: {
      documents: { query, documents: ["grass", "blue sky", { text: "sky" }] },
      texts: { query, texts: ["grass", "sky"], model: "fake-reranker" },
      empty: { query, documents: ["", { text: "" }, " ", "sky"], return_documents: true },
      "empty-texts": { query, texts: ["", "sky"] },
      "raw-texts": { query, texts: ["grass", "sky"], return_text: true, raw_scores: true, truncate: false },
      best: { query, documents: ["grass", { text: "blue sky" }, "sky"], top_n: 2, return_documents: true },
      "other-names": { query, documents: ["grass", "sky"], top_k: 1, truncation: false, raw_scores: false },
      truncated: { query, documents: ["sky", long], model: null, top_n: null, return_documents: null },
    },
    refused: {
      missing: { body: { query }, status: 400, isShaped: true },
      "no-query": { body: { documents: ["a"] }, status: 400 },
      blank: { body: { query: " ", documents: ["a"] }, status: 400, isShaped: true },
      type: { body: { query, documents: ["a", 5] }, status: 400 },
      empty: { body: { query, documents: [] }, status: 400 },
      best: { body: { query, documents: ["a"], top_n: 0 }, status: 400 },
      model: { body: { query, documents: ["a"], model: "fake-embedding" }, status: 404, isShaped: true },
      truncated: { body: { query, texts: ["a", long], truncate: false }, status: 400, isShaped: true },
      direction: { body: { query, texts: ["a"], truncation_direction: "Left" }, status: 400, isShaped: true },
    },
    fields: [
      "documents",
      "documents.*.text",
      "model",
      "query",
      "raw_scores",
      "return_documents",
      "return_text",
      "texts",
      "top_k",
      "top_n",
      "truncate",
      "truncation",
    ],
    required: ["query"],
  },
};

type Published = FieldSchema & { readonly required?: readonly string[] };

async function published(name: string): Promise<{ readonly request: Published; readonly answer: Published }> {
  const { paths } = (await (await fetch(`${serve().url}/openapi.json`)).json()) as OpenApiDocument;
  const { requestBody, responses } = paths[`/v1/${name}`]?.["post"] ?? {};
  const request = requestBody?.content["application/json"]?.schema as Published;
  return { request, answer: responses?.["200"]?.content?.["application/json"]?.schema as Published };
}

const validator = (schema: object) => new Ajv2020({ strict: false }).compile(schema);

for (const [name, { answered, refused, fields, required }] of Object.entries(routes)) {
  describe(name, () => {
    const ask = (body: unknown) => serve().post(`/v1/${name}`, body, id);

    test.each(Object.entries(answered))("%s", async (row, body) => {
      const response = await ask(body);
      const cut = response.headers.get("x-embedding-truncated");
      expect([response.status, cut]).toEqual([200, row === "truncated" ? "1" : null]);
      await expectGolden(`${name}-${row}.json`, await response.text());
    });

    test.each(Object.entries(refused))("refused: %s", async (row, { body, status }) => {
      const response = await ask(body);
      expect(response.status).toBe(status);
      await expectGolden(`${name}-${row}-refused.json`, await response.text());
    });

    test("a full server matches the recorded refusal", async () => {
      const { post, embedders } = serve(undefined, { parallel: 1, maxQueue: 0 });
      const gate = Promise.withResolvers<void>();
      for (const embedder of embedders) embedder.gate = gate.promise;
      const [body] = Object.values(answered);
      const first = post(`/v1/${name}`, body, id);
      while (embedders.every(({ asked }) => asked.length === 0)) await Bun.sleep(1);
      const response = await post(`/v1/${name}`, body, id);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      await expectGolden("embeddings-busy-refused.json", await response.text());
      gate.resolve();
      expect((await first).status).toBe(200);
    });

    test("the published schemas match these requests and answers, and have no other fields", async () => {
      const { request, answer } = await published(name);
      const answers = await Promise.all(Object.values(answered).map(async (body) => (await ask(body)).json()));
      const [takes, gives] = [validator(request), validator(answer)];
      expect(Object.values(answered).filter((body) => !takes(body))).toEqual([]);
      expect(answers.filter((body) => !gives(body))).toEqual([]);
      expect(schemaFields(request)).toEqual([...fields]);
      expect(valueFields(Object.values(answered))).toEqual([...fields]);
      expect(valueFields(answers)).toEqual(schemaFields(answer));
      expect(request.required).toEqual([...required]);
    });

    test("the published schema rejects requests of the wrong shape", async () => {
      const takes = validator((await published(name)).request);
      for (const [row, { body, isShaped = false }] of Object.entries(refused))
        expect([row, takes(body)]).toEqual([row, isShaped]);
    });
  });
}

// The requests from Ollama's API page, as printed there: with curl's default content type and the models named there.

import { expect, test } from "bun:test";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { serve } from "../http/harness.ts";

const script: FakeScript = {
  steps: [{ text: '{"age": 22, "available": true}' }],
  finish: { tokens: { prompt: [1], answer: [2] } },
};
const age = { type: "object", properties: { age: { type: "integer" }, available: { type: "boolean" } } };
const schema = { ...age, required: ["age", "available"] };
const sky = { role: "user", content: "why is the sky blue?" };
const options = {
  num_keep: 5,
  seed: 42,
  num_predict: 100,
  top_k: 20,
  top_p: 0.9,
  min_p: 0.0,
  typical_p: 0.7,
  repeat_last_n: 33,
  temperature: 0.8,
  repeat_penalty: 1.2,
  presence_penalty: 1.5,
  frequency_penalty: 1.0,
  mirostat: 1,
  mirostat_tau: 0.8,
  mirostat_eta: 0.6,
  penalize_newline: true,
  stop: ["\n", "user:"],
  numa: false,
  num_ctx: 1024,
  num_batch: 2,
  num_gpu: 1,
  main_gpu: 0,
  low_vram: false,
  vocab_only: false,
  use_mmap: true,
  use_mlock: false,
  num_thread: 8,
};
const weather = {
  type: "object",
  properties: { location: { type: "string" }, format: { type: "string", enum: ["celsius", "fahrenheit"] } },
  required: ["location", "format"],
};
const tools = [{ type: "function", function: { name: "get_current_weather", description: "x", parameters: weather } }];
const model = "llama3.2";

/** The fields in the last object of each answer, in addition to `done`. */
const examples: readonly (readonly [path: string, body: object, has: readonly string[]])[] = [
  ["/api/generate", { model, prompt: "Why is the sky blue?" }, ["context", "eval_count", "load_duration"]],
  ["/api/generate", { model, prompt: "Why is the sky blue?", stream: false }, ["response", "context"]],
  [
    "/api/generate",
    {
      model: "codellama:code",
      prompt: "def gcd(a, b):",
      suffix: " return x",
      options: { temperature: 0 },
      stream: false,
    },
    ["response"],
  ],
  [
    "/api/generate",
    { model: "llama3.1:8b", prompt: "Respond using JSON", stream: false, format: schema },
    ["response"],
  ],
  ["/api/generate", { model, prompt: "Respond using JSON", format: "json", stream: false }, ["response"]],
  ["/api/generate", { model: "mistral", prompt: "[INST] why? [/INST]", raw: true, stream: false }, ["response"]],
  ["/api/generate", { model: "mistral", prompt: "Why is the sky blue?", options: { seed: 123 } }, ["eval_count"]],
  ["/api/generate", { model, prompt: "Why is the sky blue?", stream: false, options }, ["response", "context"]],
  ["/api/generate", { model }, ["response"]],
  ["/api/generate", { model, keep_alive: 0 }, ["done_reason"]],
  ["/api/chat", { model, messages: [sky] }, ["message", "eval_count"]],
  ["/api/chat", { model, messages: [sky], stream: false }, ["message"]],
  [
    "/api/chat",
    { model: "llama3.1", messages: [sky], stream: false, format: schema, options: { temperature: 0 } },
    ["message"],
  ],
  ["/api/chat", { model, messages: [sky, { role: "assistant", content: "rayleigh" }, sky] }, ["message"]],
  ["/api/chat", { model, messages: [sky], options: { seed: 101, temperature: 0 } }, ["message"]],
  ["/api/chat", { model, messages: [sky], stream: false, tools }, ["message"]],
  ["/api/chat", { model, messages: [] }, ["message", "done_reason"]],
  ["/api/chat", { model, messages: [], keep_alive: 0 }, ["message", "done_reason"]],
];

test.each(examples)("%s %j", async (path, body, has) => {
  const response = await serve(script).post(path, body, { "content-type": "application/x-www-form-urlencoded" });
  const lines = (await response.text()).trim().split("\n");
  expect([response.status, response.headers.get("content-type")?.includes("ndjson")]).toEqual([
    200,
    (body as { stream?: boolean }).stream !== false && lines.length > 1,
  ]);
  const last = JSON.parse(lines.at(-1) ?? "");
  expect(last.done).toBe(true);
  expect(Object.keys(last)).toEqual(expect.arrayContaining(["model", "created_at", ...has]));
});

test.each([
  ["/api/embed", { input: "Why is the sky blue?" }],
  ["/api/embed", { input: ["Why is the sky blue?", "Why is the grass green?"] }],
  ["/api/embeddings", { prompt: "Here is an article about llamas..." }],
])("%s accepts a short name of the model", async (path, body) => {
  // The fake model stands in for all-minilm.
  const response = await serve().post(path, { model: "fake:latest", ...body });
  expect(response.status).toBe(200);
});

/** The fields that the page shows for listed and described models. */
const DETAILS = ["parent_model", "format", "family", "families", "parameter_size", "quantization_level"];
const listed: readonly (readonly [method: string, path: string, at: string, fields: readonly string[]])[] = [
  ["GET", "/api/tags", "models.0", ["name", "model", "modified_at", "size", "digest", "details"]],
  ["GET", "/api/tags", "models.0.details", DETAILS],
  ["GET", "/api/ps", "models.0", ["name", "model", "size", "digest", "details", "expires_at", "size_vram"]],
  ["GET", "/api/ps", "models.0.details", DETAILS],
  ["POST", "/api/show", "", ["modelfile", "parameters", "template", "details", "model_info", "capabilities"]],
  ["POST", "/api/show", "details", DETAILS],
  ["GET", "/api/version", "", ["version"]],
];

test.each(listed)("%s %s: %p has what the page shows", async (method, path, at, fields) => {
  const { url, engine } = serve();
  const body = method === "POST" ? { body: JSON.stringify({ model: engine.model?.id }) } : {};
  const response = await fetch(url + path, { method, ...body });
  expect(response.status).toBe(200);
  const answer: unknown = await response.json();
  const found = at.split(".").reduce((value, name) => (name === "" ? value : (value as never)[name]), answer);
  expect(Object.keys(found as object)).toEqual(expect.arrayContaining([...fields]));
});

const durations = [
  "total_duration",
  "load_duration",
  "prompt_eval_count",
  "prompt_eval_duration",
  "eval_count",
  "eval_duration",
];
test.each([
  ["/api/generate", { model, prompt: "why?" }, ["model", "created_at", "response", "done", "context", ...durations]],
  ["/api/chat", { model, messages: [sky] }, ["model", "created_at", "message", "done", ...durations]],
  ["/api/embed", { model: "fake", input: "why?" }, ["model", "embeddings", ...durations.slice(0, 3)]],
] as const)("the end of %s has every field of the page", async (path, body, fields) => {
  const lines = (await (await serve(script).post(path, body)).text()).trim().split("\n");
  expect(Object.keys(JSON.parse(lines.at(-1) ?? ""))).toEqual(expect.arrayContaining([...fields]));
});

test.each([
  ["POST", "/api/create"],
  ["POST", "/api/copy"],
  ["POST", "/api/push"],
  ["POST", "/api/push/"],
  ["HEAD", "/api/blobs/sha256:29fdb92e57cf0827ded04ae6461b5931d01fa595843f55d36f5b275a52087dd2"],
])("%s %s would create or copy models: the error says what svc offers instead", async (method, path) => {
  const response = await fetch(serve().url + path, { method, ...(method === "POST" && { body: "{}" }) });
  expect(response.status).toBe(404);
  if (method === "HEAD") return;
  expect(await response.json()).toEqual({ error: expect.stringMatching(/svc pull.*--alias/) });
});

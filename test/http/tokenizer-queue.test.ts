// Routes of the tokenizer share a limited number of places; a request that finds all taken is told when to retry.

import { expect, test } from "bun:test";
import { errorOf } from "../support/fault.ts";
import { until } from "../support/until.ts";
import { messages, serve } from "./harness.ts";

const PLACES = 128;
const chat = { model: "fake-model", messages };
const ROUTES: readonly (readonly [path: string, body: object])[] = [
  ["/v1/tokenize", { text: "a" }],
  ["/v1/count_tokens", { text: "a" }],
  ["/v1/detokenize", { tokens: [97] }],
  ["/v1/messages/count_tokens", chat],
  ["/v1/responses/input_tokens", { model: "fake-model", input: "a" }],
  ["/tokenize", { content: "a" }],
  ["/detokenize", { tokens: [97] }],
  ["/apply-template", chat],
];

test("when all places are taken, every tokenizer route is busy but generations are not, until places are free again", async () => {
  const server = serve();
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  server.engine.tokenize = async () => {
    asked++;
    await gate.promise;
    return new Int32Array([97]);
  };
  const waiting = Array.from({ length: PLACES }, () => server.post("/v1/tokenize", { text: "a" }));
  await until(() => asked === PLACES);
  for (const [path, body] of ROUTES) {
    const refused = await server.post(path, body);
    const error = await errorOf(refused);
    expect([path, refused.status, error.code]).toEqual([path, 503, "server_busy"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(server.metrics.calls).toEqual(ROUTES.map(() => "rejected queue_full"));
  expect(asked).toBe(PLACES);
  expect((await server.chat({})).status).toBe(200);
  gate.resolve();
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
  for (const [path, body] of ROUTES) expect([path, (await server.post(path, body)).status]).toEqual([path, 200]);
});

test("a client that disconnects frees its place, and so does a failure", async () => {
  const server = serve();
  let [asked, left] = [0, 0];
  server.engine.tokenize = (_, signal?: AbortSignal) =>
    new Promise((_, reject) => {
      asked++;
      signal?.addEventListener("abort", () => {
        left++;
        reject(signal.reason);
      });
    });
  const controllers = Array.from({ length: PLACES }, () => new AbortController());
  const waiting = controllers.map(({ signal }) =>
    fetch(`${server.url}/v1/tokenize`, { method: "POST", body: '{"text":"a"}', signal }).catch(() => undefined),
  );
  await until(() => asked === PLACES);
  for (const controller of controllers) controller.abort();
  await Promise.all(waiting);
  await until(() => left === PLACES);
  server.engine.tokenize = () => Promise.reject(new Error("a bug"));
  for (let tries = 0; tries <= PLACES; tries++) {
    expect((await server.post("/v1/tokenize", { text: "a" })).status).toBe(500);
  }
});

test("the texts of a client take turns with those of others", async () => {
  const server = serve();
  const headers = { "x-svc-client": "ada" };
  for (const [path, body] of ROUTES) await server.post(path, body, headers);
  const { tokenized, rendered } = server.engine;
  expect(tokenized.map(({ options }) => options.client)).toEqual(["ada", "ada", "ada"]);
  expect(rendered.map(({ client }) => client)).toEqual(["ada"]);
});

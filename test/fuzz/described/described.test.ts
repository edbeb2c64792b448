// Requests that are generated from the API description: the check of their answers finds each kind of wrong answer, and
// a few requests for every operation of the app with scripted engines are answered as described.

import { expect, test } from "bun:test";
import { describedApi } from "../../../docs/generate/http-api.ts";
import { serve } from "../../http/harness.ts";
import { dice } from "../../support/dice.ts";
import { MARK } from "../seed-parts.ts";
import { checkOf, type Answered } from "./answer.ts";
import { operationsOf, type Document } from "./operation.ts";
import { requestOf, type Asked } from "./request.ts";
import { fuzzDescribed, report } from "./run.ts";
import { Supply } from "./supply.ts";

const document = (await describedApi()) as Document;
const operations = operationsOf(document);
const check = checkOf(document);

test("a few requests for every operation are answered as described", async () => {
  const { url } = serve();
  const supply = await Supply.of(url);
  const outcome = await fuzzDescribed({ url, operations, check, supply }, { seed: 1, first: 0, count: 4 });
  expect(outcome.failures.size === 0 || report(outcome)).toBe(true);
  const answered = [...outcome.statuses.values()].reduce((sum, count) => sum + count, 0);
  expect(answered).toBe(4 * operations.length);
  expect(outcome.statuses.get(200)).toBeGreaterThan(answered / 4);
});

test("the same dice give the same request, whatever was answered before", async () => {
  const supply = await Supply.of(serve().url);
  const requests = (seed: number) => operations.map((operation) => requestOf(operation, dice(seed), supply));
  const withoutIds = (asked: readonly Asked[]) => JSON.stringify(asked).replaceAll(/(?<=[_-])[0-9a-f]{24,32}/g, "");
  const first = [1, 2, 3, 4].map((seed) => withoutIds(requests(seed)));
  for (const kind of ["resp_", "conv_", "msg_", "file-", "batch_"]) supply.learn("", `${kind}${"a".repeat(32)}`);
  expect([1, 2, 3, 4].map((seed) => withoutIds(requests(seed)))).toEqual(first);
  expect(new Set(first).size).toBe(4);
});

const REQUEST_ID = "req_0123456789ab";
const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [] };
const stream = `data: ${JSON.stringify(chunk)}\n\n`;
const error = { message: "No.", type: "invalid_request_error", param: null, code: "invalid_value" };
const refusal = (changes: object = {}) => ({ error: { ...error, request_id: REQUEST_ID, ...changes } });

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: unknown;
}
const wrong: Readonly<Record<string, readonly [operation: string, answer: Answer, problem: RegExp]>> = {
  "a fault of the server, though described": [
    "POST /v1/embeddings",
    { status: 500, body: refusal({ code: "internal_error", type: "server_error" }) },
    /status 500/,
  ],
  "a status that is not described": ["GET /health", { status: 409, body: refusal() }, /409 is not described/],
  "another type": ["GET /health", { type: "text/html", body: "" }, /text\/html, which is not described/],
  "a body that the schema excludes": ["GET /v1/models", { body: { object: "list" } }, /schema excludes/],
  "a body where there is none": ["DELETE /api/delete", { body: {} }, /has a body/],
  "an error without its id": ["POST /v1/embeddings", { status: 400, body: refusal({ request_id: null }) }, /equal/],
  "an error with another status": ["POST /v1/embeddings", { status: 404, body: refusal() }, /404 !== 400/],
  "an error that repeats the request": [
    "POST /v1/embeddings",
    { status: 400, body: refusal({ message: MARK }) },
    /repeats the request/,
  ],
  "a stream without its end": [
    "POST /v1/chat/completions",
    { type: "text/event-stream", body: stream },
    /the last event is the terminator/,
  ],
  "a stream that is cut off": [
    "POST /v1/audio/speech",
    { type: "text/event-stream", body: stream.slice(0, -9) },
    /cut off/,
  ],
};

test.each(Object.entries(wrong))("%s is found", (_, [name, { status = 200, type, body }, problem]) => {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`${name} is not described`);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answered: Answered = {
    status,
    headers: new Headers({
      "content-type": type ?? "application/json",
      "x-request-id": REQUEST_ID,
      "compat-request-id": REQUEST_ID,
    }),
    body: text,
    bytes: text.length,
  };
  expect(() => check({ operation, target: operation.path, headers: {} }, answered)).toThrow(problem);
});

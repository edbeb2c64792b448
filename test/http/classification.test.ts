// POST /v1/vision/ocr with mode classify: the chat model describes a picture with labels.

import { describe, expect, test } from "bun:test";
import { FoundAnything, FoundLabels } from "../../src/contract/recognition.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { fault } from "../support/fault.ts";
import { drawn, pngOf } from "../support/pages.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { isDraining, leftovers, serve } from "./harness.ts";

const PATH = "/v1/vision/ocr";
const data = Buffer.from(await pngOf(await drawn({ lines: [], paper: [30, 20] }))).toString("base64");
const body = { data, mode: "classify" };

/** A token that the model generates with this probability. */
const token = (text: string, probability = 1) => ({
  text,
  logprobs: [{ token: text, logprob: Math.log(probability), bytes: [...Buffer.from(text)], top: [] }],
});

/** Starts a server with a vision model that gives this answer. A plain text stands for tokens of probability 1. */
function seeing(...said: readonly (string | ReturnType<typeof token>)[]) {
  const server = serve(() => ({ steps: said.map((one) => (typeof one === "string" ? token(one) : one)) }));
  server.engine.model = { ...fakeModel, vision: true };
  return server;
}

test("labels are sorted by probability without duplicates, next to the salient regions", async () => {
  const dog = [token("D", 0.9), token("og", 0.5)];
  const whole = seeing('{"labels": ["', token("grass", 0.4), '", "', ...dog, '", "', token("dog", 0.2), '"]}');
  const text = await (await whole.post(PATH, { ...body, origin: "top-left" })).text();
  checker(FoundLabels)(JSON.parse(text));
  await expectGolden("ocr-classify.json", text);
  const [request] = whole.engine.requests;
  expect(request?.media?.map(({ kind }) => kind)).toEqual(["image"]);
  expect(request?.sampling).toEqual({ temperature: 0 });
  expect(request?.constraint?.schema).toMatchObject({ properties: { labels: { maxItems: 5 } } });
  expect(leftovers(whole)).toEqual([]);
});

test("there are at most `max_labels` labels", async () => {
  const server = seeing('{"labels": ["', token("a", 0.9), '", "', token("b", 0.8), '", "', token("c", 0.7), '"]}');
  const answer = (await (await server.post(PATH, { ...body, max_labels: 2 })).json()) as FoundLabels;
  expect(answer.labels.map(({ label }) => label)).toEqual(["a", "b"]);
});

test("mode auto adds labels when the model has vision and still works when it does not", async () => {
  const found = async (server: ReturnType<typeof serve>) => {
    const answer: FoundAnything = checker(FoundAnything)(
      await (await server.post(PATH, { data, mode: "auto" })).json(),
    );
    return [answer.modes_run, answer.labels?.map(({ label }) => label)];
  };
  const sees = seeing('{"labels": ["dog"]}');
  expect(await found(sees)).toEqual([["text", "barcode", "classify"], ["dog"]]);
  expect(await found(serve())).toEqual([["text", "barcode"], undefined]);
  expect(await found(seeing("I see a dog."))).toEqual([["text", "barcode"], undefined]);
});

test("mode auto still works when the model cannot label now", async () => {
  const server = serve(() => ({ steps: [{ wait: new Promise(() => {}) }] }), { parallel: 1, maxQueue: 0 });
  server.engine.model = { ...fakeModel, vision: true };
  const held = server.chat({}, { "x-request-id": "held" });
  await until(() => server.engine.live === 1);
  const answer = (await (await server.post(PATH, { data, mode: "auto" })).json()) as FoundAnything;
  expect(answer.modes_run).toEqual(["text", "barcode"]);
  expect(await fault(await server.post(PATH, body))).toEqual([503, "server_busy", null]);
  await server.post("/v1/chat/completions/held/cancel", {});
  await held;
});

test("the model gets a picture of the first page, whatever the kind of document", async () => {
  const server = seeing('{"labels": ["letter"]}');
  for (const mode of ["classify", "auto"]) {
    const pdf = Buffer.from("%PDF-1.7").toString("base64");
    const answer = (await (await server.post(PATH, { data: pdf, mode })).json()) as FoundLabels;
    expect(answer.labels).toEqual([{ label: "letter", confidence: 1 }]);
  }
  expect(server.engine.requests.map(({ media }) => media)).toMatchObject([
    [{ kind: "image", width: 1, height: 1 }],
    [{ kind: "image", width: 1, height: 1 }],
  ]);
});

test("only the page that gets labels is read: the first one that is requested", async () => {
  const server = seeing('{"labels": ["letter"]}');
  for (const pages of [undefined, "5-,3,9"]) await server.post(PATH, { ...body, pages });
  await server.post(PATH, { data, mode: "auto", pages: "5-,3" });
  expect(server.reader.asked.map(({ pages }) => pages)).toEqual([
    [{ first: 1, last: 1 }],
    [{ first: 3, last: 3 }],
    [{ first: 5 }, { first: 3, last: 3 }],
  ]);
});

test("a request is completed even when the server stops meanwhile", async () => {
  const gate = Promise.withResolvers<void>();
  const steps = [{ wait: gate.promise }, token('{"labels": ["dog"]}')];
  const server = serve({ steps }, { drainTimeoutMs: 5000 });
  server.engine.model = { ...fakeModel, vision: true };
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } };
  const messages = [{ role: "user", content: [image, image] }];
  const answer = server.post(PATH, { messages, mode: "auto" });
  await until(() => server.engine.live === 1);
  const stopped = server.stop();
  await until(() => isDraining(server));
  gate.resolve();
  expect((await answer).status).toBe(200);
  expect(server.engine.requests).toHaveLength(2);
  await stopped;
});

describe("refusals", () => {
  test("without a vision model the mode is reported as unavailable", async () => {
    const server = serve();
    expect(await fault(await server.post(PATH, body))).toEqual([501, "mode_unavailable", "mode"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("without a model the mode is reported as unavailable", async () => {
    const server = serve(undefined, { serveModel: false });
    expect(await fault(await server.post(PATH, body))).toEqual([501, "mode_unavailable", "mode"]);
  });

  test.each(["I see a dog.", "{}", '{"labels": [1, ""]}', '{"labels": ["dog", "ca'])(
    "an answer without labels is the picture's fault: %s",
    async (said) => {
      expect(await fault(await seeing(said).post(PATH, body))).toEqual([422, "unprocessable_media", "data"]);
    },
  );

  test("the work for an answer does not grow with the square of its length", async () => {
    expect((await seeing("{".repeat(4_000_000)).post(PATH, body)).status).toBe(422);
  });

  test("a document that is not a picture is not sent to the model", async () => {
    const server = seeing("{}");
    server.reader.refusal = new SvcError("unsupported_media_input", "It is a text.", { param: "data" });
    for (const mode of ["classify", "auto"]) {
      expect(await fault(await server.post(PATH, { data, mode }))).toEqual([400, "unsupported_media_input", "data"]);
    }
    expect(server.engine.requests).toEqual([]);
    expect(leftovers(server)).toEqual([]);
  });
});

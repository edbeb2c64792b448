// What the failure of one replica means for a request that another could answer, and which of several failures is
// reported.

import { describe, expect, test } from "bun:test";
import type { SvcError } from "../../src/domain/errors.ts";
import { chatServer, fixtureServer, helloStream, type FixtureServer } from "./fixture-server.ts";
import { conversationOf, generate, remote, textOf, type Remote } from "./remote.ts";

const failing =
  (status: number, headers = {}) =>
  () =>
    Response.json({ error: { message: "no" } }, { status, headers });
const busy = (seconds: number) => failing(503, { "retry-after": String(seconds) });
const asked = ({ asked: all }: FixtureServer) => all.filter(({ path }) => path === "/v1/chat/completions").length;
const ask = (far: Remote, replica = far.replicas[0]) =>
  generate(far, conversationOf(far, replica)).then(textOf, (error: unknown) => error);

describe("an upstream that refuses", () => {
  test.each([
    [401, "upstream_error", true],
    [402, "upstream_error", true],
    [407, "upstream_error", true],
    [302, "upstream_error", true],
    [508, "loop_detected", true],
    [403, "upstream_error", false],
    [404, "model_not_found", false],
  ])("with %d is not down: every refusal is reported", async (status, code, needsOperator) => {
    const far = await remote([chatServer(failing(status)).url]);
    const first = await ask(far);
    expect(first).toMatchObject({ code });
    expect("needsOperator" in (first as SvcError).details).toBe(needsOperator);
    for (let time = 0; time < 4; time++) expect(await ask(far)).toEqual(first);
    expect(far.replicas[0]?.isWell).toBe(true);
  });

  test("to list its models still receives requests, and the operator is told why", async () => {
    const server = fixtureServer(failing(401));
    const far = await remote([server.url]);
    for (let time = 0; time < 3; time++) await far.replicas[0]?.refresh(0);
    for (let time = 0; time < 3; time++) {
      expect(await ask(far)).toMatchObject({ code: "upstream_error", message: expect.stringContaining("key (401)") });
    }
    const fields = { upstream: "up", well: 0, of: 1, why: expect.stringContaining("key (401)") };
    expect(far.log.lines.filter(({ level }) => level !== "verbose")).toMatchObject([{ level: "warn", fields }]);
  });

  test("with a 404 that is no JSON lacks the route, not the model, and another replica is tried", async () => {
    const lacking = chatServer(() => new Response("Not Found", { status: 404 }));
    const alone = await remote([lacking.url]);
    expect(await ask(alone)).toMatchObject({ code: "unsupported_parameter", details: { param: "model" } });
    expect(await ask(await remote([lacking.url, chatServer(helloStream).url]))).toBe("Hello");
  });

  test.each([402, 403, 404, 405, 408, 409, 302])("with %d is tried once, and then another replica", async (status) => {
    const [refusing, healthy] = [chatServer(failing(status)), chatServer(helloStream)];
    const far = await remote([refusing.url, healthy.url]);
    for (let time = 1; time <= 3; time++) {
      expect(await ask(far)).toBe("Hello");
      expect([asked(refusing), asked(healthy)]).toEqual([time, time]);
    }
  });
});

describe("the reported failure", () => {
  const gone = failing(502);
  test.each([
    ["busy before gone", [busy(60), gone], { code: "server_busy", details: { retryAfterSeconds: 60 } }],
    ["the shortest wait", [busy(60), busy(9)], { code: "server_busy", details: { retryAfterSeconds: 9 } }],
    ["busy before a refused key", [failing(401), busy(60)], { code: "server_busy" }],
    ["gone before a missing model", [failing(404), gone], { code: "upstream_unavailable" }],
    ["a refused key before a missing model", [failing(401), failing(404)], { code: "upstream_error" }],
    ["what both say", [failing(404), failing(404)], { code: "model_not_found" }],
  ] as const)("%s is told, whoever is asked first", async (_, answers, expected) => {
    for (const order of [answers, answers.toReversed()]) {
      const servers = order.map((answer) => chatServer(answer));
      const far = await remote(servers.map(({ url }) => url));
      expect(await ask(far)).toMatchObject(expected);
    }
  });

  test("an invalid request is refused at once: no other replica is tried", async () => {
    const other = chatServer(helloStream);
    const far = await remote([chatServer(failing(400)).url, other.url]);
    expect(await ask(far)).toMatchObject({ code: "invalid_value" });
    expect(asked(other)).toBe(0);
  });

  test.each([
    ["temperature", "temperature"],
    ["a text of the client", undefined],
    [7, undefined],
  ])("names the field that FastAPI found invalid: %p", async (field, param) => {
    const detail = [{ type: "less_than_equal", loc: ["body", field], msg: "no" }];
    const far = await remote([chatServer(() => Response.json({ detail }, { status: 422 })).url]);
    const { code, details } = (await ask(far)) as SvcError;
    expect([code, details.param]).toEqual(["invalid_value", param]);
  });

  test("is temporary when a replica was skipped, since that one may have the model", async () => {
    const far = await remote([chatServer(failing(404)).url, chatServer(helloStream).url]);
    const conversation = conversationOf(far, far.replicas[0]);
    for (let time = 0; time < 2; time++) far.replicas[1]?.breaker.failed("request");
    expect(await generate(far, conversation).catch((error: unknown) => error)).toMatchObject({
      code: "upstream_unavailable",
      details: { retryAfterSeconds: 1 },
    });
  });

  test("a replica that asks for a long wait is not tried again, and others are", async () => {
    let count = 0;
    const waiting = chatServer(busy(60));
    const recovering = chatServer(() => (count++ === 0 ? failing(503, { "retry-after": "0" })() : helloStream()));
    const far = await remote([waiting.url, recovering.url]);
    expect(await ask(far)).toBe("Hello");
    expect([asked(waiting), asked(recovering)]).toEqual([1, 2]);
  });
});

describe("replicas with contexts of different lengths", () => {
  const limited = (context: number, answer: () => Response) =>
    fixtureServer(({ path }) => {
      if (path === "/v1/models") return Response.json({ data: [{ id: "far", max_model_len: context }] });
      return path === "/v1/chat/completions" ? answer() : undefined;
    });
  const refusing = (context: number) =>
    limited(context, () =>
      Response.json(
        { error: { type: "exceed_context_size_error", n_prompt_tokens: 9000, n_ctx: context } },
        { status: 400 },
      ),
    );

  test("pass a prompt that is too long for one to one with a longer context, which is the listed length", async () => {
    const [short, long] = [refusing(4096), limited(16_384, helloStream)];
    const far = await remote([short.url, long.url]);
    expect(await ask(far)).toBe("Hello");
    expect([asked(short), asked(long)]).toEqual([1, 1]);
    expect(far.gateway.models()).toMatchObject([{ id: "up/far", contextLength: 16_384 }]);
  });

  test("are not tried with the same or a shorter context, and the longest limit is reported", async () => {
    const servers = [refusing(4096), refusing(4096), refusing(8192)];
    const far = await remote(servers.map(({ url }) => url));
    expect(await ask(far)).toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringContaining("maximum context length is 8192"),
    });
    expect(servers.map(asked).toSorted()).toContain(0);
    expect(await ask(far, far.replicas[2])).toMatchObject({ code: "context_length_exceeded" });
    expect(far.replicas.map(({ isWell }) => isWell)).toEqual([true, true, true]);
  });

  test("of the same length that are unreachable do not turn the refusal into a temporary one", async () => {
    const far = await remote([refusing(4096).url, refusing(4096).url]);
    const conversation = conversationOf(far, far.replicas[0]);
    for (let time = 0; time < 2; time++) far.replicas[1]?.breaker.failed("request");
    expect(await generate(far, conversation).catch((error: unknown) => error)).toMatchObject({
      code: "context_length_exceeded",
    });
  });
});
